"""6. Readings -> beliefs, which join the readings.

An estimator is an element of role 'estimator' with a `name` and a method `estimate(view)`, which returns an array whose first
two axes are (worlds, robots of the group). Those of a group run in the order of the file; each sees the readings and the
beliefs of those before it.
"""

from __future__ import annotations

from formiga.errors import WorldError
from formiga.estimate.view import RobotView, view_of
from formiga.sense import Readings, taken
from formiga.state import State
from formiga.world.elements import complaint, discover, where
from formiga.world.model import World


def update_all(world: World, state: State, readings: Readings) -> None:
    """Let each group's estimators add their beliefs to its readings."""
    for group, robots in zip(world.groups, world.slices, strict=True):
        for estimator in group.estimators:
            view = view_of(world, state, group, robots, readings[group.name], estimator)
            try:
                belief = estimator.estimate(view)
            except WorldError as wrong:
                raise complaint(estimator, wrong) from wrong
            readings[group.name][estimator.name] = found = taken(estimator, belief, view.shape)
            if estimator.locates and (found.ndim != 3 or found.shape[2] < 3):
                raise WorldError(f"{where(estimator)}estimator '{estimator.name}' locates the robots: it must return rows "
                                 f"(worlds, robots, 3 or more) of x, y, heading ..., not of the shape {found.shape}.")


discover(__name__)

__all__ = ["RobotView", "update_all", "view_of"]
