"""What is true now, in words: for `get`, `info` and the page."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.console.errors import brief
from formiga.errors import FormigaError, suggest
from formiga.session import names
from formiga.session.edit import kind_of
from formiga.session.space import thing_in_space
from formiga.session.watch import inspect
from formiga.world.kinds import Kind
from formiga.world.sources import Switched, on_at

if TYPE_CHECKING:
    from formiga.session.session import Session

POSE, ROBOT = ("x", "y", "heading"), ("crashes", "crashed", "alive", "driven", "controller")
IN_SPACE = ("z", "tilt", "pull", "holds", "grip_force", "held_by")  # and its joints, see `in_space`
MOVABLES = ("x", "y", "heading", "vx", "vy", "spin")  # of a thing that can be pushed
SOLID = ("x", "y", "z", "roll", "pitch", "yaw")  # of one that moves: as it is now
JOINT = ("at", "speed", "order", "effort", "force", "torque", "force_one", "torque_one", "force_other", "torque_other", "holds")
VARIABLES = ("seed", "speed", "step", "robots", "playing", "selected", "factor")  # $seed ...; $time is the console's own


def get(session: Session, path: str) -> str:
    """The value at a path."""
    run = {"time": session.time, "step": int(session.sim.state.step[0]), "seed": session.seed,
           "speed": "max" if session.speed == inf else f"{session.speed:g}", "robots": session.world.robots,
           "playing": session.playing, "factor": session.factor,
           "selected": "none" if session.selected < 0 else session.selected}
    if path in run:
        return written(run[path])
    name, _, attribute = path.rpartition(".")
    if not name and path in names.all_names(session.world):
        raise FormigaError(f"'{path}' has several values; give one of them, such as {path}.ATTRIBUTE. `info {path}` shows all.")
    if not name:
        raise FormigaError(f"there is no '{brief(path)}'.{suggest(brief(path), run)} Give NAME.ATTRIBUTE, or one of: "
                           f"{', '.join(run)}.")
    target = names.find(session.world, name)
    if target.kind == "robot":
        robot = inspect(session, target.index)
        own = _own(robot)
        known = own | robot["memory"] | robot["readings"] | robot["space"] | own  # a sensor may be named x
        if attribute not in known:
            raise FormigaError(f"a robot has no '{brief(attribute)}'.{suggest(brief(attribute), known)} "
                               f"It has: {', '.join(known)}.")
        return written(known[attribute])
    if target.kind == "group" and attribute == "count":
        return str(session.world.groups[target.index].count)
    if attribute in (own := _present(session, target)):
        return written(own[attribute])
    thing = names.element(session.world, target)
    known = dict.fromkeys([*own, *names.kinds(thing)])
    if attribute not in known:
        raise FormigaError(f"'{name}' has no '{brief(attribute)}'.{suggest(brief(attribute), known)} "
                           f"It has: {', '.join(known)}.")
    now = on_at(thing, session.time) if attribute == "on" and isinstance(thing, Switched) else None
    return _written(kind_of(thing, attribute, f"'{name}'"), getattr(thing, attribute) if now is None else now)


def _own(robot: dict[str, Any]) -> dict[str, Any]:
    """What every robot has, with the channels of its drive, from `inspect`."""
    return {each: robot[each] for each in POSE} | robot["channels"] | {each: robot[each] for each in ROBOT}


def describe(session: Session, name: str | None) -> str:
    """Several lines about a robot, a group, a thing, or the run."""
    if name is None:
        world, engine = session.world, session.sim.engine.NAME
        return "\n".join([f"{world.name}: {world.doc}" if world.doc else world.name,
                          f"{world.robots} robots, {len(world.things)} things, {engine} engine, steps of {world.dt:g} s",
                          f"{session.time:g} s, seed {session.seed}, {'playing' if session.playing else 'paused'}"])
    target = names.find(session.world, name)
    if target.kind == "robot":
        robot = inspect(session, target.index)
        found: dict[str, Any] = _own(robot) | robot["space"]
        found |= robot["readings"] | robot["memory"]
        return "\n".join(f"{name}.{each}  {written(value)}" for each, value in found.items())
    thing, own = names.element(session.world, target), _present(session, target)
    lines = [f"{name}.count  {session.world.groups[target.index].count}"] if target.kind == "group" else []
    lines += [f"{name}.{each}  {written(value)}" for each, value in own.items()]
    for attribute, kind in names.kinds(thing).items():
        if attribute not in own:
            doc = f"   ({kind.doc})" if kind.doc else ""
            lines.append(f"{name}.{attribute}  {_written(kind, getattr(thing, attribute))}{doc}")
    return "\n".join(lines)


def _present(session: Session, target: names.Target) -> dict[str, Any]:
    """What is true now of a thing, and not only as the world file has it: where a thing that can be pushed is and how it
    moves, where a solid is, what a joint bears; nothing of anything else."""
    if target.kind != "thing":
        return {}
    number = names.movable_number(session.world, target.index)
    if number >= 0:
        return dict(zip(MOVABLES, session.sim.state.movables[0, number].tolist()))
    return thing_in_space(session, target.index)


def written(value: Any) -> str:
    """A value as text: floats so that they read back to the same bits."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, np.ndarray):
        return " ".join(written(each) for each in value.ravel().tolist())
    return repr(value) if isinstance(value, float) else str(value)


def _written(kind: Kind, value: Any) -> str:
    return "none" if value is None else kind.format(value)


__all__ = ["VARIABLES", "describe", "get", "written"]
