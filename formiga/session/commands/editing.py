"""Commands that change the world: set, get, spawn, remove, move, controller, param, solver, undo."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from math import hypot
from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.console import Call, CommandSpec
from formiga.console.errors import brief
from formiga.errors import FormigaError, suggest
from formiga.session import edit, names, rereading
from formiga.session.commands import arguments
from formiga.session.values import get
from formiga.world.elements import REQUIRED, of, registered
from formiga.world.model import Physics, World

if TYPE_CHECKING:
    from formiga.session.session import Session

SOLVERS = of(Physics()).kinds["solver"].options
MOST_ROBOTS = 10_000    # of a group, by `set swarm.count`; a world file may have more
GOLDEN = 2.399963       # rad, the golden angle: multiples of it as headings point in all directions, none twice


def commands(session: Session) -> list[CommandSpec]:
    """Those of a session."""
    return [
        CommandSpec("set", "set NAME.ATTRIBUTE VALUE", SET, partial(set_, session), complete=partial(_paths, session)),
        CommandSpec("get", "get NAME.ATTRIBUTE", GET, partial(get_, session), complete=partial(_paths, session)),
        CommandSpec("spawn", "spawn KIND [X Y [HEADING]] [NAME=VALUE...]", SPAWN, partial(spawn, session),
                    complete=partial(_kinds, session)),
        CommandSpec("remove", "remove NAME...", "Takes robots, groups or things out of the world.", partial(remove, session),
                    complete=partial(_names, session)),
        CommandSpec("move", "move NAME X Y [HEADING]", MOVE, partial(move, session), complete=partial(_names, session)),
        CommandSpec("controller", "controller GROUP KIND [NAME=VALUE...]", "Gives a group another controller; none: none.",
                    partial(controller, session), complete=partial(_controllers, session)),
        CommandSpec("param", "param [NAME [VALUE]]", PARAM, partial(param, session), complete=partial(_params, session)),
        CommandSpec("solver", "solver [auto|direct|iterative]", SOLVER, partial(solver, session),
                    complete=lambda args: SOLVERS),
        CommandSpec("undo", "undo", "Goes back to the moment before the last edit.", partial(undo, session)),
    ]


SET = """Changes an attribute of the world while it runs.
set lamp.intensity 0.5, set swarm.proximity.noise 0.3, set swarm.controller.pull 2, set contact.model stop,
set nest.colour '#ff0000' (in quotes: a # begins a comment),
set swarm.0.x 0.3 puts a robot somewhere else, set swarm.count 30 makes it 30 robots."""

GET = """Tells an attribute, or what is true now: get swarm.0.x, get swarm.0.proximity, get lamp.on, get time."""

SPAWN = """Adds a robot to a group, a new kind of robot, or a thing. Without a place it goes where there is room.
spawn swarm, spawn sbot 0.2 0 90deg, spawn cylinder 0.5 0.5 radius=0.1, spawn lamp 1 0 name=sun"""

SOLVER = """How forces are solved in space; without an argument tells it. The same as `set physics.solver`."""

PARAM = """Gives a <param> of the world another value; without VALUE tells it, without NAME all.
The world is read again with it. The run goes on if the same robots are there and have room, and starts again otherwise."""

MOVE = """Puts a robot or a thing somewhere else in the arena: metres or 30cm, radians or 90deg."""


# -- attributes -------------------------------------------------------------------------------------------------------
def set_(session: Session, call: Call) -> None:
    call.least(2)
    path, text = call.args[0], call.rest(1)
    name, _, attribute = path.rpartition(".")
    if not name:
        raise call.wrong(f"'{brief(path)}' is not NAME.ATTRIBUTE, such as lamp.intensity or swarm.proximity.noise.")
    target = names.find(session.world, name)
    if target.kind == "robot":
        _place(session, call, target.index, attribute, text)
    elif target.kind == "group" and attribute == "count":
        _count(session, call, target.index, text)
    else:
        known = names.kinds(names.element(session.world, target))
        text = arguments.found(call, {attribute: text}, known)[attribute]
        _use(session, edit.with_attribute(session.world, target, attribute, text))
        if target.kind == "world" and attribute == "dt":
            session.reset()  # the clock counts steps


def get_(session: Session, call: Call) -> None:
    call.exactly(1)
    call.say(get(session, call.args[0]))


def _place(session: Session, call: Call, robot: int, attribute: str, text: str) -> None:
    position, heading = session.poses()
    (x, y), ahead = position[robot].tolist(), float(heading[robot])
    if attribute == "x":
        x = arguments.length(call, text, "x")
    elif attribute == "y":
        y = arguments.length(call, text, "y")
    elif attribute == "heading":
        ahead = arguments.angle(call, text, "heading")
    else:
        raise call.wrong(f"of a robot x, y and heading can be set, not '{brief(attribute)}'."
                         f"{suggest(brief(attribute), ('x', 'y', 'heading'))}")
    _put(session, robot, x, y, ahead)


def _count(session: Session, call: Call, index: int, text: str) -> None:
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and 1 <= int(text) <= MOST_ROBOTS):
        raise call.wrong(f"'{brief(text)}' is not a number of robots from 1 to {MOST_ROBOTS}.")
    group, robots, (position, heading) = session.world.groups[index], session.world.slices[index], session.poses()
    more = int(text) - group.count
    if more < 0:
        gone = range(robots.stop + more, robots.stop)
        session.changes.apply(edit.without_robots(session.world, position, heading, gone), try_out=False)
    elif more > 0:
        robot = group.robot
        places = session.ground.free_places(position, robot.radius, robot.clearance, more, _draws(session))
        ahead = GOLDEN * np.arange(group.count, int(text), dtype=np.float64)
        session.changes.apply(edit.with_robots(session.world, position, heading, index, places, ahead), try_out=False)


# -- places -----------------------------------------------------------------------------------------------------------
def move(session: Session, call: Call) -> None:
    call.least(3)
    call.most(4)
    target = names.find(session.world, call.args[0])
    x, y = arguments.length(call, call.args[1], "X"), arguments.length(call, call.args[2], "Y")
    if target.kind == "thing" and (number := names.movable_number(session.world, target.index)) >= 0:
        ahead = arguments.angle(call, call.args[3]) if len(call.args) == 4 else None
        _push(session, number, x, y, ahead)
    elif target.kind == "thing":
        new = edit.moved(session.world, target.index, x, y)
        session.ground.refuse_outside(target.name, x, y)
        if len(call.args) == 4:
            new = edit.with_attribute(new, target, "heading", call.args[3])
        _use(session, new, try_out=False)
    else:
        robot = names.robot(session.world, call.args[0])
        ahead = arguments.angle(call, call.args[3]) if len(call.args) == 4 else float(session.sim.state.heading[0, robot])
        _put(session, robot, x, y, ahead)


def _put(session: Session, robot: int, x: float, y: float, ahead: float) -> None:
    position, heading = session.poses()
    if (x, y) != tuple(position[robot]):  # in a crowd a robot may turn on the spot
        session.ground.refuse_outside(names.robot_name(session.world, robot), x, y)
        radius = names.group_of(session.world, robot).robot.radius
        if way := session.ground.in_the_way(position, x, y, radius, robot):
            raise FormigaError(f"{names.robot_name(session.world, robot)} cannot stand at ({x:g}, {y:g}): {way} is in the way.")
    position[robot], heading[robot] = (x, y), ahead
    session.changes.apply(edit.same_robots(session.world, position, heading), try_out=False)


def _push(session: Session, number: int, x: float, y: float, ahead: float | None) -> None:
    (position, heading), ground, movables = session.poses(), session.ground, session.sim.state.movables[0]
    ground.refuse_outside(session.world.movables[number].name, x, y)
    if way := ground.in_the_way(position, x, y, ground.size[number], thing=number):
        raise FormigaError(f"{session.world.movables[number].name} cannot lie at ({x:g}, {y:g}): {way} is in the way.")
    session.changes.apply(edit.pushed(session.world, position, heading, movables, number, x, y, ahead), try_out=False)


# -- what is there ----------------------------------------------------------------------------------------------------
def spawn(session: Session, call: Call) -> None:
    call.least(1)
    what, plain = call.args[0], [word for word in call.args[1:] if "=" not in word]
    written = arguments.pairs(call, [word for word in call.args[1:] if "=" in word])
    groups = [group.name for group in session.world.groups]
    known = {**registered("robot"), **registered("thing")}
    if what in groups:
        if written:
            raise call.wrong(f"robots of '{what}' are all alike; `set {what}.NAME VALUE` changes them.")
        _spawn_alike(session, call, groups.index(what), plain)
    elif what not in known:
        allowed = [*groups, *known]
        raise call.wrong(f"'{brief(what)}' is neither a group nor a kind of robot or thing.{suggest(brief(what), allowed)} "
                         f"There are: {', '.join(allowed)}.")
    elif known[what].role == "thing":
        _spawn_thing(session, call, what, plain, arguments.found(call, written, known[what].kinds))
    else:
        _spawn_new(session, call, what, plain, arguments.found(call, written, known[what].kinds))


def _spawn_thing(session: Session, call: Call, tag: str, plain: list[str], written: dict[str, str]) -> None:
    if len(plain) > 2:
        raise call.wrong("a thing has x and y; give the rest as NAME=VALUE.")
    for name, text in zip(("x", "y"), plain):
        if name in written:
            raise call.wrong(f"'{name}' is given twice.")
        written[name] = text
    known = registered("thing")[tag]
    if not {"x", "y"} & set(written) and all(name in known.kinds and known.default(name) is REQUIRED for name in ("x", "y")):
        thing = edit.make(tag, "thing", {**written, "x": "0", "y": "0"})
        radius, width, depth = (names.attribute(thing, name, 0.0) for name in ("radius", "width", "depth"))
        size = max(radius, 0.5 * hypot(width, depth), 0.05)
        x, y = session.ground.free_places(session.sim.state.position[0], size, 0.0, 1, _draws(session))[0].tolist()
        written |= {"x": repr(x), "y": repr(y)}
    _use(session, edit.with_thing(session.world, tag, written))
    call.say(names.thing_names(session.world)[-1])


def _spawn_alike(session: Session, call: Call, index: int, plain: list[str]) -> None:
    x, y, ahead = _pose(session, call, plain, session.world.groups[index].robot)
    session.changes.apply(edit.with_robots(session.world, *session.poses(), index, np.array([(x, y)]), np.array([ahead])))
    call.say(names.robot_name(session.world, session.world.slices[index].stop - 1))


def _spawn_new(session: Session, call: Call, tag: str, plain: list[str], written: dict[str, str]) -> None:
    robot = edit.make(tag, "robot", {name: text for name, text in written.items() if name != "name"})
    x, y, ahead = _pose(session, call, plain, robot)
    session.changes.apply(edit.with_group(session.world, *session.poses(), tag, written, x, y, ahead))
    call.say(names.robot_name(session.world, session.world.robots - 1))


def _pose(session: Session, call: Call, plain: list[str], robot: Any) -> tuple[float, float, float]:
    """Where a new robot goes: as the words say, or where there is room."""
    if len(plain) not in (0, 2, 3):
        raise call.wrong("a place is X Y, or X Y HEADING.")
    position = session.sim.state.position[0]
    if not plain:
        x, y = session.ground.free_places(position, robot.radius, robot.clearance, 1, _draws(session))[0].tolist()
        return x, y, 0.0
    x, y = arguments.length(call, plain[0], "X"), arguments.length(call, plain[1], "Y")
    session.ground.refuse_outside("a robot", x, y)
    if way := session.ground.in_the_way(position, x, y, robot.radius):
        raise FormigaError(f"a robot cannot stand at ({x:g}, {y:g}): {way} is in the way.")
    return x, y, arguments.angle(call, plain[2]) if len(plain) == 3 else 0.0


def remove(session: Session, call: Call) -> None:
    """All at once: names do not change while some of them are gone already, and one that is wrong leaves all of them."""
    call.least(1)
    things, robots = set(), set()
    for name in call.args:
        target = names.find(session.world, name)
        if target.kind == "thing":
            things.add(target.index)
        elif target.kind == "robot":
            robots.add(target.index)
        elif target.kind == "group":
            gone = session.world.slices[target.index]
            robots.update(range(gone.start, gone.stop))
        else:
            raise call.wrong(f"'{brief(name)}' cannot be removed; robots, groups and things can.")
    left = edit.without_things(session.world, things)
    session.changes.apply(edit.without_robots(left, *session.poses(), robots))


def controller(session: Session, call: Call) -> None:
    call.least(2)
    target, tag = names.find(session.world, call.args[0]), call.args[1]
    if target.kind != "group":
        groups = ", ".join(group.name for group in session.world.groups)
        raise call.wrong(f"'{brief(call.args[0])}' is not a group; there are: {groups or 'none'}.")
    known = registered("controller")
    written = arguments.found(call, arguments.pairs(call, call.args[2:]), known[tag].kinds if tag in known else {})
    _use(session, edit.with_controller(session.world, target.index, tag, written))


def solver(session: Session, call: Call) -> None:
    call.most(1)
    physics = next((each for each in session.world.settings if isinstance(each, Physics)), Physics())
    if not call.args:
        call.say(physics.solver)
        return
    chosen = call.word(0, "SOLVER", SOLVERS)
    if not session.sim.model.solves_forces:
        raise FormigaError("the planar engine solves no forces; `set world.engine spatial` goes on in three dimensions.")
    _use(session, edit.with_setting(session.world, replace(physics, solver=chosen)))


def param(session: Session, call: Call) -> None:
    call.most(2)
    known = session.document.params if session.document is not None else {}
    if len(call.args) == 2:
        call.say(rereading.set_param(session, *call.args))
        return
    if not call.args and not known:
        call.say("this world has no params.")
    for name in [call.word(0, "NAME", tuple(known))] if call.args else known:
        call.say(f"{name} = {known[name]}")


def undo(session: Session, call: Call) -> None:
    call.most(0)
    session.changes.undo()


def _use(session: Session, world: World, try_out: bool = True) -> None:
    session.changes.apply(edit.same_robots(world, *session.poses()), try_out=try_out)


def _draws(session: Session) -> np.random.Generator:
    """For places: the same again for the same run at the same moment."""
    return np.random.default_rng([session.seed, int(session.sim.state.step[0]), session.world.robots])


# -- typing -----------------------------------------------------------------------------------------------------------
def _names(session: Session, args: list[str]) -> Iterable[str]:
    return arguments.completed_names(session.world, args[-1])


def _paths(session: Session, args: list[str]) -> Iterable[str]:
    return arguments.completed_paths(session.world, args[0]) if len(args) == 1 else ()


def _kinds(session: Session, args: list[str]) -> Iterable[str]:
    if len(args) == 1:
        return [*(group.name for group in session.world.groups), *registered("robot"), *registered("thing")]
    kind = {**registered("robot"), **registered("thing")}.get(args[0])
    return [f"{name}=" for name in kind.kinds] if kind else ()


def _params(session: Session, args: list[str]) -> Iterable[str]:
    return session.document.params if session.document is not None and len(args) == 1 else ()


def _controllers(session: Session, args: list[str]) -> Iterable[str]:
    if len(args) == 1:
        return [group.name for group in session.world.groups]
    known = registered("controller")
    if len(args) == 2:
        return [*known, "none"]
    return [f"{name}=" for name in known[args[1]].kinds] if args[1] in known else ()
