"""What is true now, in words: for `get`, `info` and the page."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.errors import FormigaError, suggest
from formiga.session import names
from formiga.session.watch import inspect

if TYPE_CHECKING:
    from formiga.session.session import Session

ROBOT = ("x", "y", "heading", "left", "right", "crashes", "crashed", "alive", "driven", "controller")


def get(session: Session, path: str) -> str:
    """The value at a path."""
    run = {"time": session.time, "step": int(session.sim.state.step[0]), "seed": session.seed,
           "speed": "max" if session.speed == inf else session.speed, "robots": session.world.robots,
           "playing": session.playing, "factor": session.factor, "selected": session.selected}
    if path in run:
        return written(run[path])
    name, _, attribute = path.rpartition(".")
    if not name:
        raise FormigaError(f"there is no '{path}'.{suggest(path, run)} Give NAME.ATTRIBUTE, or one of: {', '.join(run)}.")
    target = names.find(session.world, name)
    if target.kind == "robot":
        robot = inspect(session, target.index)
        known = {each: robot[each] for each in ROBOT} | robot["readings"]
        if attribute not in known:
            raise FormigaError(f"a robot has no '{attribute}'.{suggest(attribute, known)} It has: {', '.join(known)}.")
        return written(known[attribute])
    if target.kind == "group" and attribute == "count":
        return str(session.world.groups[target.index].count)
    thing = names.element(session.world, target)
    kinds = names.kinds(thing)
    if attribute not in kinds:
        raise FormigaError(f"'{name}' has no '{attribute}'.{suggest(attribute, kinds)} It has: {', '.join(kinds)}.")
    value = getattr(thing, attribute)
    return "none" if value is None else kinds[attribute].format(value)


def describe(session: Session, name: str | None) -> str:
    """Several lines about a robot, a group, a thing, or the run."""
    if name is None:
        world = session.world
        return "\n".join([f"{world.name}: {world.doc}" if world.doc else world.name,
                          f"{world.robots} robots, {len(world.things)} things, {world.engine} engine, steps of {world.dt:g} s",
                          f"{session.time:g} s, seed {session.seed}, {'playing' if session.playing else 'paused'}"])
    target = names.find(session.world, name)
    if target.kind == "robot":
        robot = inspect(session, target.index)
        found: dict[str, Any] = {each: robot[each] for each in ROBOT} | robot["readings"] | robot["memory"]
        return "\n".join(f"{name}.{each}  {written(value)}" for each, value in found.items())
    thing = names.element(session.world, target)
    lines = []
    for attribute, kind in names.kinds(thing).items():
        value = getattr(thing, attribute)
        lines.append(f"{name}.{attribute}  {'none' if value is None else kind.format(value)}{f'   ({kind.doc})' if kind.doc else ''}")
    return "\n".join(lines)


def written(value: Any) -> str:
    """A value as text: floats so that they read back to the same bits."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, np.ndarray):
        return " ".join(repr(each) for each in value.ravel().tolist())
    return repr(value) if isinstance(value, float) else str(value)


__all__ = ["describe", "get", "written"]
