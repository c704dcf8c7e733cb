"""What the promise of an engine asks for and a plane does not have: no events, no forces, no grips, no images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from formiga.engine.events import Event, Pull
from formiga.errors import WorldError
from formiga.state import Floats, State
from formiga.world.mount import CHASSIS

if TYPE_CHECKING:
    from formiga.engine.planar.pipeline import Model


def put_down(model: Model, state: State) -> None:
    """Nothing: a step goes on from positions and headings alone."""


def as_it_stands(model: Model, state: State) -> dict[int, dict[str, Any] | None]:
    """Nothing: the state has all that moves."""
    return {}


def events(model: Model, state: State) -> list[Event]:
    """None."""
    return []


def forces(model: Model, state: State) -> Floats:
    """None (0, 7): there are no grips, and couplings do not say what they hold with."""
    return np.zeros((0, Pull.COLUMNS))


def holding(model: Model, state: State) -> NDArray[Any]:
    """No grips (0, 2)."""
    return np.zeros((0, 2), np.int64)


def in_jaw(model: Model, state: State, robots: slice) -> NDArray[Any]:
    """False (W, n): there are no grippers."""
    return np.zeros((state.worlds, robots.stop - robots.start), np.bool_)


def inspect(model: Model, state: State, robot: int) -> dict[str, Any]:
    """Nothing beside what a robot has in the plane."""
    return {}


def inspect_thing(model: Model, state: State, index: int) -> dict[str, Any]:
    """Nothing: solids and their joints are in space."""
    return {}


def paint(model: Model, state: State, width: int, height: int, field: float, eye: Floats, robots: slice,
          on: str = CHASSIS) -> Any:
    """Refused."""
    raise WorldError("the planar engine renders no images; choose engine=\"spatial\".")


__all__ = ["as_it_stands", "events", "forces", "holding", "in_jaw", "inspect", "inspect_thing", "paint", "put_down"]
