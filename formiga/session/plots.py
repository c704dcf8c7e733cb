"""Quantities of a run as numbers, to be plotted over time: of robots, of things, and what a user's own code remembers.

    swarm.3.proximity    a robot's reading, a line for each of its numbers
    swarm.proximity      the mean over its group
    swarm.3.belief_error how far its belief is off, in m, if an estimator of that name locates it
    swarm.3.energy       what its controller or one of its sensors remembers under that name
    ball.vx              how a thing moves, or an attribute of it
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.console.errors import brief
from formiga.errors import FormigaError, suggest
from formiga.estimate.belief import located
from formiga.session import names
from formiga.session.space import in_space
from formiga.session.values import get
from formiga.session.watch import own_readings, speeds
from formiga.state import Floats

if TYPE_CHECKING:
    from formiga.session.session import Session

MOST = 8                # plots at the same time
MOST_LINES = 24         # in one plot


def quantity(session: Session, path: str) -> Floats:
    """The numbers (k,) at a path, as they are now; FormigaError if there is nothing of that name, or no number."""
    name, _, what = path.rpartition(".")
    if not name:
        raise FormigaError(f"'{brief(path)}' is not NAME.QUANTITY, such as swarm.3.proximity or swarm.speed.")
    target = names.find(session.world, name)
    if target.kind not in ("robot", "group"):
        return _numbers(path, get(session, path).split(" "))
    world = session.world
    index = target.index if target.kind == "group" else next(
        number for number, robots in enumerate(world.slices) if robots.start <= target.index < robots.stop)
    known = quantities(session, index)
    row = target.index - world.slices[index].start if target.kind == "robot" else None
    space = in_space(session, target.index) if row is not None and what not in known else {}
    if what not in known and what not in space:
        raise FormigaError(f"robots of '{world.groups[index].name}' have no '{brief(what)}'.{suggest(brief(what), known)} "
                           f"They have: {', '.join([*known, *space])}.")
    if what in space:
        return _numbers(path, np.ravel(space[what]).tolist())
    table = known[what].reshape(len(known[what]), -1)
    return np.asarray(table.mean(axis=0) if row is None else table[row], np.float64)[:MOST_LINES]


def quantities(session: Session, index: int) -> dict[str, Any]:
    """Name -> numbers (n, ...) of everything that the robots of a group have."""
    world, state = session.world, session.sim.state
    group, robots = world.groups[index], world.slices[index]
    known: dict[str, Any] = {}
    for (owner, name), values in state.memory.items():
        if owner.startswith(f"{group.name}/") and values.ndim >= 2 and values.dtype.kind in "fiub" and values[0].size:
            known[name] = values[0]
    for name, values in own_readings(session, group).items():
        if values[0].size:
            known[name] = np.asarray(values[0], np.float64)
    off = located(group, known, state.position[0, robots], state.heading[0, robots])
    known |= {f"{name}_error": errors[0] for name, errors in off.items()}
    drive, moved = group.robot.drive, state.drive[0, robots]
    driven = {} if drive is None else {name: moved[:, k] for k, name in enumerate(drive.channels)}
    return known | driven | {
        "x": state.position[0, robots, 0], "y": state.position[0, robots, 1], "heading": state.heading[0, robots],
        "speed": speeds(session)[robots], "crashes": state.crashes[0, robots],
        "crashed": state.crashed[0, robots], "alive": state.alive[0, robots]}


def sampled(session: Session) -> dict[str, Floats]:
    """Path -> numbers of all that is plotted; what is not there at the moment is left out."""
    found = {}
    for path in session.plots:
        try:
            found[path] = quantity(session, path)
        except FormigaError:
            continue
    return found


def _numbers(path: str, words: Any) -> Floats:
    try:
        return np.array([{"true": 1.0, "false": 0.0}.get(word, word) for word in words], np.float64)[:MOST_LINES]
    except ValueError as wrong:
        raise FormigaError(f"'{brief(path)}' is no number, so it cannot be plotted.") from wrong


__all__ = ["MOST", "quantities", "quantity", "sampled"]
