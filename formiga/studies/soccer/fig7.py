"""Acceptance 8: three collisions of two robots, as in the paper's figure 7, with the new model and with circles.

The paper shows real robots, its new simulator and its old, simpler one, as prints every 33 ms. It gives no numbers, neither
speeds nor places; these scenes are ours. What must come out is in closed form where there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from formiga.studies.harness import Row, at_least, definition
from formiga.studies.soccer.bench import drive, lab
from formiga.studies.soccer.overlap import square
from formiga.world.movables import GRAVITY
from formiga.world.robots import MiroSot

PERIOD = 0.033         # s
PRINTS = 10            # so 0.33 s
LONG = 60              # 2 s: everything has settled
WHERE = "the model: no arm in a circle, no sideways state in wheels"
SPEED = 0.9            # m/s, of A before the hit; B stands
HALF = MiroSot().side / 2
BLUE, ORANGE = "#0072b2", "#d55e00"


class Encounter(NamedTuple):
    """Where A and B stand at the start (x, y, heading), and what it is called."""

    name: str
    a: tuple[float, float, float]
    b: tuple[float, float, float]
    middle: tuple[float, float]        # of the picture


ENCOUNTERS = (
    Encounter("1  rear-end push, centred", (-0.10, 0.0, 0.0), (0.0, 0.0, 0.0), (0.10, 0.0)),
    Encounter("2  hit with 3 cm offset", (-0.10, 0.0, 0.0), (0.0, 0.03, 0.0), (0.10, 0.015)),
    Encounter("3  hit from the side", (0.0, -0.10, pi / 2), (0.0, 0.0, 0.0), (0.0, 0.02)),
)
MODELS: dict[str, dict[str, Any]] = {
    "polygons (new)": {"shape": "square"},
    "circles (old)": {"shape": "circle"},
    "polygons, sliding tyres": {"shape": "square", "tyres": "sliding"},
}


def track(case: Encounter, model: str, count: int = PRINTS) -> Any:
    """Prints (count + 1, 2, 3) of both robots: x, y, heading. A drives on, B brakes."""
    robot = MiroSot(**MODELS[model])
    simulation = lab(robots=((robot, case.a), (robot, case.b)))
    state = simulation.state
    state.velocity[0, 0, :2] = SPEED * np.cos(case.a[2]), SPEED * np.sin(case.a[2])
    prints = [np.column_stack([state.position[0], state.heading[0]])]
    for _ in range(count):
        drive(simulation, SPEED, 0.0)
        prints.append(np.column_stack([state.position[0], state.heading[0]]))
    return np.array(prints)


def turned(prints: Any) -> Any:
    """How far A and B have turned, degrees."""
    return np.degrees(prints[-1, :, 2] - prints[0, :, 2])


def aside(prints: Any) -> float:
    """How far B was moved across its heading, cm."""
    _, y = prints[-1, 1, :2] - prints[0, 1, :2]  # B looks along x
    return float(100.0 * abs(y))


def pace(prints: Any) -> float:
    """How fast both go at the end, m/s: the mean over the last ten prints."""
    way = prints[-1, :, :2] - prints[-11, :, :2]
    return float(np.linalg.norm(way, axis=-1).mean() / (10 * PERIOD))


def rows() -> Iterator[Row]:
    """Acceptance 8. What one robot gives, the other gets, and the motors of both are alike; so in row 1, whatever contacts do,

        d(v_a + v_b)/dt = (u - v_a - v_b)/T,  and v_a + v_b = u from the start on.
    In the long run a pair goes with u/2 against brakes of the same motors, and with u - mu g T against tyres that slide.
    """
    push, offset, side = ENCOUNTERS
    new, old, sliding = MODELS
    for model in (new, old):
        prints, name = track(push, model, LONG), f"Fig. 7, row 1, rear-end push, {model}"
        both = (prints[PRINTS, :, 0] - prints[0, :, 0]).sum()
        yield Row(f"{name}: ways of both after 0.33 s, together (cm)", 100.0 * SPEED * PRINTS * PERIOD, 100.0 * float(both),
                  1e-12, "law")
        yield Row(f"{name}: in the long run both go at (m/s)", 0.5 * SPEED, pace(prints), 1e-13, "law")
    for name, angle in zip("AB", np.abs(turned(track(offset, new)))):
        yield at_least(f"Fig. 7, row 2, 3 cm offset, {new}: turns {name} by (deg)", 10.0, float(angle),
                       note="The paper gives no numbers; this one is ours.")
    yield definition(f"Fig. 7, row 2, 3 cm offset, {old}: turns either by (deg)", 0.0, WHERE,
                     "A force on a circle has no arm.")
    yield definition(f"Fig. 7, row 3, hit from the side, {new}: moves sideways by (cm)", 0.0, WHERE,
                     "The state of a robot is its two wheel rates.")
    robot = MiroSot(**MODELS[sliding])
    yield Row(f"Fig. 7, row 3, hit from the side, {sliding}: in the long run both go at (m/s)",
              SPEED - robot.tyre_friction * GRAVITY * robot.motor_lag, pace(track(side, sliding, LONG)), 2e-7, "law")


# -- the picture --------------------------------------------------------------------------------------------------------------
def figure(path: Path) -> None:
    """Prints every 33 ms, all to one scale: a row for each collision, a column for each model."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context({"font.size": 9, "axes.titlesize": 10, "axes.titleweight": "bold"}):
        picture, axes = plt.subplots(3, 3, figsize=(11.5, 9.2), layout="constrained")
        new, old, sliding = MODELS
        for row, case in enumerate(ENCOUNTERS):
            for column, model in enumerate((new, old)):
                draw(axes[row, column], case, model)
            axes[row, 0].set_ylabel(case.name, fontweight="bold")
        draw(axes[2, 2], ENCOUNTERS[2], sliding)
        speeds(axes[0, 2], ENCOUNTERS[0])
        headings(axes[1, 2], ENCOUNTERS[1])
        for column, title in enumerate((new, old)):
            axes[0, column].set_title(title)
        axes[2, 2].set_title(sliding)
        picture.suptitle(f"Two robots of 7.5 cm: A (blue) at {SPEED:g} m/s hits B (orange), which stands. A print every 33 ms, "
                         "for 0.33 s.\nAfter figure 7 of Klancar et al. 2003, which has no numbers; these are ours.",
                         fontsize=9)
        picture.savefig(path, dpi=160, format="png")
        plt.close(picture)


def draw(axes: Any, case: Encounter, model: str) -> None:
    """The prints of one collision."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Circle, Polygon

    prints = track(case, model)
    circle = MODELS[model]["shape"] == "circle"
    for robot, colour in ((0, BLUE), (1, ORANGE)):
        axes.plot(*prints[:, robot, :2].T, color=colour, lw=0.8, alpha=0.6, zorder=3)
        for k in range(PRINTS + 1):
            x, y, heading = prints[k, robot]
            last = k == PRINTS
            strength = 1.0 if last else 0.2 + 0.5 * k / PRINTS
            style: dict[str, Any] = {
                "facecolor": to_rgba(colour, 0.22 if last else 0.0), "edgecolor": to_rgba(colour, strength),
                "lw": 1.8 if last else 0.9, "zorder": 2, "ls": ":" if k == 0 else "-"}
            corners = square(np.array([x, y]), np.array(heading), HALF)
            axes.add_patch(Circle((x, y), HALF, **style) if circle else Polygon(corners, **style))
            if k in (0, PRINTS):
                axes.plot([x, x + HALF * np.cos(heading)], [y, y + HALF * np.sin(heading)], color=colour, zorder=4,
                          lw=1.6 if last else 0.9, alpha=1.0 if last else 0.4)
    mx, my = case.middle
    axes.set(xlim=(mx - 0.24, mx + 0.24), ylim=(my - 0.18, my + 0.18), xticks=[], yticks=[], aspect="equal")
    axes.plot([mx - 0.22, mx - 0.12], [my - 0.165, my - 0.165], color="black", lw=1.5)
    axes.text(mx - 0.17, my - 0.16, "10 cm", ha="center", va="bottom", fontsize=7)
    a, b = (round(float(angle)) + 0 for angle in turned(prints))
    said = f"turned: A {a}°, B {b}°" if case is not ENCOUNTERS[2] else f"B sideways:\n{aside(prints):.1f} cm"
    axes.text(0.03, 0.965, said, ha="left", va="top", transform=axes.transAxes, fontsize=8, color="#333333")
    for spine in axes.spines.values():
        spine.set_color("#d0d4d8")


def _both(axes: Any, case: Encounter, value: Any, title: str, unit: str) -> None:
    time = 33.0 * np.arange(PRINTS + 1)
    for model, style in zip(MODELS, ("-", "--")):
        for robot, colour in ((0, BLUE), (1, ORANGE)):
            axes.plot(time, value(track(case, model), robot), style, color=colour, lw=(3.6, 1.4)[robot],
                      label=f"{'AB'[robot]}, {model.split()[0]}")
    axes.set(title=title, xlabel="time (ms)", ylabel=unit)
    axes.grid(color="#e4e7ea", lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=7, ncols=2)


def speeds(axes: Any, case: Encounter) -> None:
    """Row 1 is about places: how far both have gone, with either model."""
    _both(axes, case, lambda prints, robot: 100.0 * (prints[:, robot, 0] - prints[0, robot, 0]), "row 1: way gone", "cm")


def headings(axes: Any, case: Encounter) -> None:
    """Row 2 is about turning."""
    _both(axes, case, lambda prints, robot: np.degrees(prints[:, robot, 2] - prints[0, robot, 2]), "row 2: turned", "degrees")
