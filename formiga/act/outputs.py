"""Motors besides the wheels: turrets, arms, grippers, and whatever a robot of the user's own has."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.control import Orders
from formiga.errors import WorldError
from formiga.state import Floats, State
from formiga.world.elements import where
from formiga.world.model import Group, World


def tell(world: World, state: State, orders: dict[str, Orders]) -> None:
    """Write orders for the motors that `robot.outputs` names into the state, where the engine finds them.

    Orders of the wrong shape are refused in every engine. In the plane nobody has a turret to turn, so they are checked and
    change nothing: a controller that was written for space drives in both. Worlds that have ended keep what they had.
    """
    for group, robots in zip(world.groups, world.slices, strict=True):
        if group.name not in orders or orders[group.name].outputs is None:
            continue
        told = checked(group, state.worlds, orders[group.name].outputs, where(group.controller))
        if not np.isfinite(told).all():
            robot = int(np.argwhere(~np.isfinite(told))[0, 1])
            raise WorldError(f"{where(group.controller)}the outputs of '{group.name}' must be numbers; robot {robot} has one "
                             "that is not.")
        if state.outputs.size:
            state.outputs[~state.done, robots, : told.shape[2]] = told[~state.done]


def checked(group: Group, worlds: int, given: Any, place: str = "") -> Floats:
    """Outputs (worlds, robots, K) of a group; a clear complaint if they are something else."""
    names = getattr(group.robot, "outputs", ())
    if not names:
        raise WorldError(f"{place}the robots of '{group.name}' have wheels and no further outputs to be told.")
    try:
        outputs = np.asarray(given, np.float64)
    except (TypeError, ValueError) as wrong:
        raise WorldError(f"{place}the outputs of '{group.name}' must be an array of numbers, not "
                         f"{type(given).__name__}.") from wrong
    if outputs.shape != (worlds, group.count, len(names)):
        raise WorldError(f"{place}the outputs of '{group.name}' ({', '.join(names)}) must have the shape (worlds, robots, "
                         f"{len(names)}) = ({worlds}, {group.count}, {len(names)}), not {outputs.shape}.")
    return outputs


__all__ = ["checked", "tell"]
