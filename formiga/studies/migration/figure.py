"""The study's figure: paths and errors on both plants, and the curves of the sensor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from formiga.sense.sharp import distance_of, variance_of, voltage_of
from formiga.studies import harness
from formiga.studies.migration import processes
from formiga.studies.migration.processes import Course
from formiga.units import MM

SIMULATED, REAL, GREY = "#0072b2", "#d55e00", "#999999"


def draw(path: Path, simulated: Course, real: Course, distances: Any, volts: Any) -> None:
    """One run on each plant, and the identification."""
    with harness.canvas(path, 2, 3, (13.2, 7.2)) as (_, axes):
        paths(axes[0, 0], simulated, real)
        errors(axes[0, 1], simulated, "Error of x on the simulator, and 3 sigma", SIMULATED)
        errors(axes[0, 2], real, "Error of x on the robot, and 3 sigma", REAL)
        inverse(axes[1, 0], distances, volts)
        spread(axes[1, 1], distances, volts)
        off_place(axes[1, 2], simulated, real)


def paths(panel: Any, simulated: Course, real: Course) -> None:
    """Where the robot was."""
    from matplotlib.patches import Rectangle

    panel.add_patch(Rectangle((-1.0, -0.75), 2.0, 1.5, fill=False, color=GREY))
    panel.add_patch(Rectangle((-0.3, -0.2), 0.6, 0.4, color=GREY))
    for course, colour, name in ((simulated, SIMULATED, "simulator"), (real, REAL, "robot")):
        panel.plot(*course.truth[:, :2].T, color=colour, label=name, linewidth=1.0)
    panel.set_aspect("equal")
    panel.set(title="Two laps of the same program", xlabel="x (m)", ylabel="y (m)")
    panel.legend(loc="center")


def errors(panel: Any, course: Course, title: str, colour: str) -> None:
    """What it believed minus what was true."""
    error, covariance = course.errors
    clock, sigma = course.log[:, processes.CLOCK], 3.0 * np.sqrt(covariance[:, 0, 0]) / MM
    panel.fill_between(clock, -sigma, sigma, color=GREY, alpha=0.35, linewidth=0.0)
    panel.plot(clock, error[:, 0] / MM, color=colour, linewidth=1.0)
    panel.set(title=title, xlabel="time (s)", ylabel="mm", ylim=(-70.0, 70.0))


def inverse(panel: Any, distances: Any, volts: Any) -> None:
    """1/v is nearly a line."""
    panel.plot(100.0 * distances, 1.0 / voltage_of(distances), color=GREY, label="1/v = k1 + k2 d")
    panel.plot(100.0 * distances, (1.0 / volts).mean(axis=1), "o", color=SIMULATED, markersize=4, label="measured")
    panel.set(title="Inverse voltage", xlabel="d (cm)", ylabel="1/V")
    panel.legend()


def spread(panel: Any, distances: Any, volts: Any) -> None:
    """The standard deviation of d grows a hundredfold."""
    panel.semilogy(100.0 * distances, np.sqrt(variance_of(distances)) / MM, color=GREY, label="eq. 5")
    panel.semilogy(100.0 * distances, distance_of(volts).std(axis=1) / MM, "o", color=SIMULATED, markersize=4, label="measured")
    panel.set(title="Standard deviation of d", xlabel="d (cm)", ylabel="mm")
    panel.legend()


def off_place(panel: Any, simulated: Course, real: Course) -> None:
    """The belief's error in place, on both."""
    for course, colour, name in ((simulated, SIMULATED, "simulator"), (real, REAL, "robot")):
        error, _ = course.errors
        off = np.hypot(error[:, 0], error[:, 1]) / MM
        panel.plot(course.log[:, processes.CLOCK], off, color=colour, label=name, linewidth=1.0)
    panel.set(title="Error in place", xlabel="time (s)", ylabel="mm")
    panel.legend()


__all__ = ["draw"]
