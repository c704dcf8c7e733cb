"""One robot in words and pictures: pose, wheels, images, sensors as numbers, as polar pictures and over time, every neuron.

A pure function of what `session.watch.inspect` tells, and of what it told before: it draws SVG and knows no browser.
"""

from __future__ import annotations

from base64 import b64encode
from collections import deque
from html import escape
from math import cos, degrees, pi, sin
from typing import Any

import numpy as np

from formiga.estimate.belief import TURN, XX, YY
from formiga.page.export import png

SOFT, LINE = "#8a867f", "#e2dfd9"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555")  # [Okabe & Ito 2008]
HINT = "Click a robot to look inside it: its pose, its sensors, its controller. Drag robots and obstacles to move them."
SAMPLES = 120          # that the plots over time remember
MOST_LINES = 24        # in one plot
MOST_PIXELS = 320      # along an edge of an image; every second, third ... pixel of a larger one is shown


class Inspector:
    """Remembers the last readings of the robot that is looked at."""

    def __init__(self) -> None:
        self._past: dict[str, deque[tuple[float, Any]]] = {}
        self._whose = ""

    def html(self, robot: dict[str, Any] | None, time: float) -> str:
        """What to show: a hint without a selection."""
        if robot is None:
            return f'<div style="color:{SOFT};font-size:13px;padding:6px 14px">{HINT}</div>'
        self._remember(robot, time)
        parts = [_head(robot)]
        for name, reading in robot["readings"].items():
            values = np.asarray(reading)
            if name in robot["inboxes"]:
                parts.append(_talk(name, robot["inboxes"][name]))
                continue
            if name in robot["located"]:
                parts.append(self._belief(name, values, robot))
                continue
            parts.append(_image(name, values) if _is_image(values)
                         else self._sensor(name, np.asarray(values, np.float64).ravel(), robot["sensors"].get(name)))
        if robot["layers"]:
            parts.append(_title("network") + "".join(_bars(name, values) for name, values in robot["layers"].items()))
        elif robot["memory"]:
            parts.append(_title("controller's memory") + "".join(
                _numbers(name, np.asarray(values).ravel()) for name, values in robot["memory"].items()))
        whose = escape(robot["name"])
        return f'<div class="formiga-inspector" style="padding:2px 14px 8px" data-robot="{whose}">{"".join(parts)}</div>'

    def forget(self) -> None:
        """Begin anew with the next moment."""
        self._past = {}

    def _remember(self, robot: dict[str, Any], time: float) -> None:
        if robot["name"] != self._whose or any(past and past[-1][0] > time for past in self._past.values()):
            self._whose, self._past = robot["name"], {}
        for name, reading in robot["readings"].items():
            if _is_image(np.asarray(reading)) or name in robot["inboxes"]:
                continue
            shown = robot["located"][name][0] if name in robot["located"] else reading
            past = self._past.setdefault(name, deque(maxlen=SAMPLES))
            if not past or past[-1][0] < time:
                past.append((time, np.asarray(shown, np.float64).ravel()[:MOST_LINES]))

    def _sensor(self, name: str, values: Any, sensor: Any) -> str:
        finite = values[np.isfinite(values)]
        full = float((sensor is not None and sensor.full) or 0.0) or float(np.abs(finite).max(initial=0.0)) or 1.0
        angles = sensor.angles if sensor is not None else None
        polar = _polar(angles, values, full) if angles is not None and len(angles) == len(values) else ""
        return (f'{_title(name)}<div style="display:flex;gap:8px;align-items:center">{polar}{self._plot(name, full)}</div>'
                f"{_numbers('', values)}")

    def _belief(self, name: str, belief: Any, robot: dict[str, Any]) -> str:
        """Where it believes to be beside where it is, how far off that is, and how that went."""
        away, turned = robot["located"][name]
        rows = [("belief", belief[0], belief[1], belief[2]), ("truth", robot["x"], robot["y"], robot["heading"])]
        table = "".join(f'<tr><td style="color:{SOFT};padding-right:8px">{what}</td><td>{x:.3f}, {y:.3f} m, '
                        f"{degrees(turn) % 360:.0f}°</td></tr>" for what, x, y, turn in rows)
        sure = ""
        if len(belief) > TURN:
            sure = f" ± {1.96 * max(0.0, 0.5 * (belief[XX] + belief[YY])) ** 0.5:.2f}"
        return (f'{_title(name)}<div style="display:flex;gap:8px;align-items:center"><div style="flex:none">'
                f'<table style="font:11px/1.4 ui-monospace,monospace">{table}</table><div style="font-size:11.5px">off '
                f'<b id="formiga-error-{escape(name)}">{float(away):.3f}</b>{sure} m, {degrees(float(turned)):.1f}°</div></div>'
                f"{self._plot(name, 0.1)}</div>")

    def _plot(self, name: str, full: float) -> str:
        """Readings over the last moments, a line for each."""
        past = [(time, values) for time, values in self._past[name]]
        width, height = 150, 84
        table = np.array([values for _, values in past])
        times = np.array([time for time, _ in past])
        if len(past) < 2:
            lines = ""
        else:
            x = (times - times[0]) / max(times[-1] - times[0], 1e-9) * width
            top = max(full, float(np.nanmax(np.where(np.isfinite(table), table, np.nan), initial=0.0)))
            low = min(0.0, float(np.nanmin(np.where(np.isfinite(table), table, np.nan), initial=0.0)))
            y = height - (np.clip(np.nan_to_num(table, posinf=top), low, top) - low) / max(top - low, 1e-9) * height
            lines = "".join(
                f'<polyline fill="none" stroke="{COLOURS[k % len(COLOURS)]}" stroke-width="1" points="'
                + " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y[:, k], strict=True)) + '"/>' for k in range(table.shape[1]))
        return (f'<svg viewBox="0 -2 {width} {height + 4}" style="flex:1;min-width:0" aria-label="{escape(name)} over time">'
                f'<rect width="{width}" height="{height}" fill="none" stroke="{LINE}"/>{lines}</svg>')


def _drive(robot: dict[str, Any]) -> list[tuple[str, str]]:
    """What the drive did in the last step: speeds of wheels, then angles. One alone has the name of its channel."""
    wheels: dict[str, str] = {}
    angles: dict[str, str] = {}
    for (name, value), rolls in zip(robot["channels"].items(), robot["rolls"], strict=True):
        shown = f"{100 * value:.2f}" if rolls else f"{degrees(value):.1f}"
        (wheels if rolls else angles)[escape(name)] = f'<b id="formiga-{escape(name)}">{shown}</b>'
    rows = [("wheels", wheels, " cm/s"), ("angles", angles, "°")]
    return [(what if len(values) > 1 else next(iter(values)), ", ".join(values.values()) + unit)
            for what, values, unit in rows if values]


def _head(robot: dict[str, Any]) -> str:
    flags = {"touching": robot["crashed"], "stopped": not robot["alive"], "driven by hand": robot["driven"]}
    about = " · ".join([escape(robot["robot"]), *(word for word, on in flags.items() if on)])
    rows = [("x, y", f'<b id="formiga-x">{robot["x"]:.4f}</b>, <b id="formiga-y">{robot["y"]:.4f}</b> m'),
            ("heading", f'<b id="formiga-heading">{degrees(robot["heading"]) % 360:.1f}</b>°'),
            *_drive(robot),
            ("crashes", f'<b id="formiga-crashes">{robot["crashes"]}</b> steps'),
            ("controller", escape(robot["controller"]))]
    rows[2:2] = _space(robot.get("space") or {})
    table = "".join(f'<tr><td style="color:{SOFT};padding-right:10px">{name}</td><td>{text}</td></tr>' for name, text in rows)
    return (f'<div style="font-size:15px;font-weight:600">{escape(robot["name"])} '
            f'<span style="font-weight:400;color:{SOFT}">{about}</span></div>'
            f'<table style="font-size:12.5px;font-variant-numeric:tabular-nums;margin:4px 0">{table}</table>')


def _space(known: dict[str, Any]) -> list[tuple[str, str]]:
    """Rows about what a robot has only in space: see session/space.py. Positions of joints are in degrees, as of hinges."""
    if not known:
        return []
    rows = [("z, tilt", f'<b>{known["z"]:.4f}</b> m, <b>{degrees(known["tilt"]):.1f}</b>°')]
    joints = [name.removesuffix("_at") for name in known if name.endswith("_at")][:MOST_LINES]
    if joints:
        rows.append(("joints", ", ".join(f'{escape(name)} <b>{degrees(known[f"{name}_at"]):.1f}</b>°' for name in joints)))
    if "pull" in known:
        rows.append(("pull", f'<b>{float(np.linalg.norm(known["pull"])):.2f}</b> N'))
    holds, held_by = known.get("holds", "nothing"), known.get("held_by", "nothing")
    if holds != "nothing":
        rows.append(("holds", f'<b>{escape(holds)}</b>, {known["grip_force"]:.2f} N'))
    if held_by != "nothing":
        rows.append(("held by", f"<b>{escape(held_by)}</b>"))
    return rows


def _title(text: str) -> str:
    return f'<div style="font-size:12px;font-weight:600;color:{SOFT};margin-top:8px">{escape(text)}</div>'


def _polar(angles: Any, values: Any, full: float) -> str:
    """Each sensor as a wedge in its direction, as long as its reading; the robot looks up."""
    size, inner, outer = 92, 15.0, 44.0
    half = min(0.5 * pi / max(len(angles), 1), 0.2) if len(angles) > 1 else 0.2
    wedges = []
    for number, (angle, value) in enumerate(zip(angles, values, strict=True)):
        share = float(np.clip(value / full, 0.0, 1.0)) if np.isfinite(value) else 0.0
        for length, colour in ((outer, "#efece6"), (inner + (outer - inner) * share, "#d55e00")):
            if colour == "#d55e00" and share == 0.0:
                continue
            a, b = angle - half, angle + half
            points = [(-sin(a) * inner, -cos(a) * inner), (-sin(a) * length, -cos(a) * length),
                      (-sin(b) * length, -cos(b) * length), (-sin(b) * inner, -cos(b) * inner)]
            wedges.append(f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="{colour}">'
                          f"<title>{number}: {value:.4g}</title></polygon>")
    return (f'<svg viewBox="-46 -46 92 92" width="{size}" height="{size}" style="flex:none" role="img" aria-label="polar">'
            f'{"".join(wedges)}<circle r="12" fill="#fff" stroke="{SOFT}"/><path d="M0-8 5 4H-5Z" fill="{SOFT}"/></svg>')


def _is_image(reading: Any) -> bool:
    """Whether a reading is the image of a camera: colours (height, width, 3) from 0 to 255."""
    return reading.dtype == np.uint8 and reading.ndim == 3 and reading.shape[-1] == 3 and reading.size > 0


def _image(name: str, picture: Any) -> str:
    """The image as the camera sees it, as wide as the panel."""
    height, width, _ = picture.shape
    apart = -(-max(height, width) // MOST_PIXELS)
    data = b64encode(png(np.ascontiguousarray(picture[::apart, ::apart]))).decode()
    return (f'{_title(name)}<img src="data:image/png;base64,{data}" alt="{escape(name)}: {width} x {height} pixels" '
            f'style="width:100%;image-rendering:pixelated;border:1px solid {LINE}"/>')


def _talk(name: str, link: dict[str, Any]) -> str:
    """What a robot sends and hears over a link: a row for each message, nearest first, and its account."""
    inbox, cell = link["inbox"], f'style="padding-right:8px;color:{SOFT}"'
    rows = []
    for k, sender in enumerate(link["senders"][:MOST_LINES]):
        where = "" if inbox.range is None else f"{inbox.range[k]:.2f} m, {degrees(inbox.bearing[k]):.0f}°"
        rows.append(f"<tr><td {cell}>{escape(sender)}</td><td {cell}>{where}</td><td>{_words(inbox.message[k])}</td></tr>")
    sent = "nothing" if np.isnan(link["sent"]).any() else _words(link["sent"])
    counts = ", ".join(f"{count:,} {what}" for what, count in link["counts"].items() if count or what in ("sent", "heard"))
    return (f'{_title(name)}<div style="font-size:11.5px">sends <b>{sent}</b>, hears <b>{len(link["senders"])}</b></div>'
            f'<table style="font:11px/1.4 ui-monospace,monospace">{"".join(rows)}</table>'
            f'<div style="font-size:11px;color:{SOFT}">{counts}</div>')


def _words(message: Any) -> str:
    return " ".join(f"{value:.3g}" for value in message[:16].tolist()) + (" ..." if len(message) > 16 else "")


def _numbers(name: str, values: Any) -> str:
    shown = " ".join(f"{value:.3g}" for value in values[:48].tolist()) + (" ..." if len(values) > 48 else "")
    label = f"{escape(name)}: " if name else ""
    return f'<div style="font:11px/1.4 ui-monospace,monospace;color:{SOFT};overflow-wrap:anywhere">{label}{shown}</div>'


def _bars(name: str, values: Any) -> str:
    """Activations from 0 to 1 as bars."""
    width, height, count = 240, 26, max(1, len(values))
    each = width / count
    bars = "".join(
        f'<rect x="{k * each:.1f}" y="{height * (1 - v):.1f}" width="{max(each - 1.0, 0.6):.1f}" height="{height * v:.1f}" '
        f'fill="#0072b2"><title>{escape(name)} {k}: {v:.3f}</title></rect>'
        for k, v in enumerate(np.clip(values, 0.0, 1.0).tolist()))
    return (f'<div style="display:flex;align-items:center;gap:8px;font-size:11px;color:{SOFT};margin-top:3px">'
            f'<span style="width:52px;flex:none">{escape(name)}</span>'
            f'<svg viewBox="0 0 {width} {height}" style="flex:1;min-width:0" preserveAspectRatio="none" height="{height}">'
            f'<rect width="{width}" height="{height}" fill="#f4f2ee"/>{bars}</svg></div>')


__all__ = ["Inspector"]
