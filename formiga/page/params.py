"""Sliders for the <param>s of a world: each writes `param NAME VALUE`, a moment after it was last moved."""

from __future__ import annotations

import threading
from math import floor, log10
from typing import TYPE_CHECKING, Any, NamedTuple

from formiga.console import quote
from formiga.world.kinds import QUANTITY, SPACE

if TYPE_CHECKING:
    from formiga.page.panels import Panels

SETTLED = 0.25         # s without a move, after which a slider is taken to stand where it should
STEPS = 100            # of a slider's way, about


class Range(NamedTuple):
    """Where a slider goes. unit: as it stands behind the number in the file."""

    low: float
    high: float
    step: float
    unit: str
    whole: bool


class Params:
    """The folder of a world's params; hidden if it has none."""

    def __init__(self, panels: Panels) -> None:
        self._panels, self.folder = panels, panels.gui.add_folder("Parameters", visible=False)
        self._widgets: dict[str, Any] = {}
        self._ranges: dict[str, Range | None] = {}         # of the sliders; None: a field to type in
        self._file = ""
        self._waiting: dict[str, threading.Timer] = {}     # moved, and not taken yet

    def show(self) -> None:
        """Follow the session: other params if another world was opened, other values if the console set them."""
        document = self._panels.session.document
        params = dict(document.params) if document is not None else {}
        file = document.file if document is not None else ""
        if file != self._file or list(params) != list(self._widgets):
            self._file = file
            self._make(params)
        for name, text in params.items():
            widget, within = self._widgets[name], self._ranges[name]
            if name in self._waiting or name in self._panels.typing:
                continue
            value: Any = text
            if within is not None:
                number, unit = split(text) or (within.low, "")
                if unit != within.unit or not within.low <= number <= within.high:  # set in the console, beyond the slider
                    self._make(params)
                    return
                value = round(number) if within.whole else number
            self._panels.set(widget, "value", value)

    def _make(self, params: dict[str, str]) -> None:
        for widget in self._widgets.values():
            self._panels.drop(widget)
        self.folder.visible = bool(params)
        self._ranges = {name: range_of(text) for name, text in params.items()}
        with self.folder:
            self._widgets = {name: self._made(name, text, self._ranges[name]) for name, text in params.items()}

    def _made(self, name: str, text: str, within: Range | None) -> Any:
        if within is None:
            return self._panels.typed(name, ("param", name), text)
        number, _ = split(text) or (within.low, "")
        label = f"{name} ({within.unit})" if within.unit else name
        cast: Any = int if within.whole else float
        slider = self._panels.gui.add_slider(label, cast(within.low), cast(within.high), cast(within.step), cast(number))
        slider.on_update(lambda event: self._moved(name, within, event))
        return slider

    def _moved(self, name: str, within: Range, event: Any) -> None:
        if event.client is None:
            return
        if name in self._waiting:
            self._waiting[name].cancel()
        timer = self._waiting[name] = threading.Timer(SETTLED, self._take, [name, within, event])
        timer.daemon = True
        timer.start()

    def _take(self, name: str, within: Range, event: Any) -> None:
        value = event.target.value
        self._waiting.pop(name, None)
        self._panels.run(quote(["param", name, f"{value:.10g}{within.unit}"]), event)


def split(text: str) -> tuple[float, str] | None:
    """'30cm' -> (30.0, 'cm'); None for a text that is no number."""
    match = QUANTITY.fullmatch(text.strip(SPACE))
    return (float(match.group(1)), match.group(2)) if match else None


def range_of(text: str) -> Range | None:
    """From zero to twice the value that a world begins with, in steps that a person would take."""
    known = split(text)
    if known is None:
        return None
    number, unit = known
    whole = number == round(number) and not any(sign in text for sign in ".eE") and abs(number) < 1e9
    size = abs(number) or 1.0
    raw = 2.0 * size / STEPS
    power = 10.0 ** floor(log10(raw))
    step = next(nice * power for nice in (1.0, 2.0, 5.0, 10.0) if nice * power >= raw * (1.0 - 1e-9))
    if whole:
        step, size = max(1.0, round(step)), max(size, 2.0)
    return Range(-2.0 * size if number < 0.0 else 0.0, 0.0 if number < 0.0 else 2.0 * size, step, unit, whole)


__all__ = ["Params", "Range", "range_of", "split"]
