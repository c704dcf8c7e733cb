"""Commands that change the world: set, spawn, remove, enable, disable, move, controller, drive, undo."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.console import Call, CommandSpec
from formiga.errors import FormigaError, suggest
from formiga.session import edit, names
from formiga.session.values import get
from formiga.units import DEG
from formiga.world.elements import registered

if TYPE_CHECKING:
    from formiga.session.session import Session


def commands(session: Session) -> list[CommandSpec]:
    """Those of a session."""

    def poses() -> tuple[Any, Any]:
        return session.sim.state.position[0].copy(), session.sim.state.heading[0].copy()

    def use(world: Any, **how: Any) -> None:
        session.change(edit.same_robots(world, *poses()), **how)

    def set_(call: Call) -> None:
        call.least(2)
        path, text = call.args[0], call.rest(1)
        name, _, attribute = path.rpartition(".")
        if not name:
            raise call.wrong(f"'{path}' is not NAME.ATTRIBUTE, such as lamp.intensity or swarm.proximity.noise.")
        target = names.find(session.world, name)
        if target.kind == "robot":
            place(call, target.index, attribute, text)
        elif target.kind == "group" and attribute == "count":
            count(call, target.index, text)
        else:
            use(edit.with_attribute(session.world, target, attribute, text))
            if path == "world.dt":
                session.reset()  # the clock counts steps

    def place(call: Call, robot: int, attribute: str, text: str) -> None:
        position, heading = poses()
        try:
            value = float(text.removesuffix("deg")) * (DEG if attribute == "heading" and text.endswith("deg") else 1.0)
        except ValueError as wrong:
            raise call.wrong(f"'{text}' is not a number.") from wrong
        if attribute == "heading":
            heading[robot] = value
        elif attribute in ("x", "y"):
            position[robot, "xy".index(attribute)] = value
        else:
            raise call.wrong(f"of a robot x, y and heading can be set, not '{attribute}'.{suggest(attribute, ('x', 'y', 'heading'))}")
        put(robot, float(position[robot, 0]), float(position[robot, 1]), float(heading[robot]))

    def put(robot: int, x: float, y: float, ahead: float, **how: Any) -> None:
        position, heading = poses()
        radius = session.robot(robot).radius
        if not np.isfinite([x, y, ahead]).all() or max(abs(x), abs(y)) > 1e6:
            raise FormigaError("a robot needs a place that is a number, within 1000 km.")
        if way := session.in_the_way(x, y, radius, robot):
            raise FormigaError(f"{names.robot_name(session.world, robot)} cannot stand at ({x:g}, {y:g}): {way} is in the way.")
        position[robot], heading[robot] = (x, y), ahead
        session.change(edit.same_robots(session.world, position, heading), try_out=False, **how)

    def count(call: Call, index: int, text: str) -> None:
        group = session.world.groups[index]
        if not text.isdecimal() or not 1 <= int(text) <= 100_000:
            raise call.wrong(f"'{text}' is not a number of robots from 1 to 100000.")
        while session.world.groups[index].count < int(text):
            x, y = session.free_place(group.robot.radius + group.robot.clearance)
            ahead = 2.399963 * session.world.groups[index].count  # the golden angle: all directions, none twice
            session.change(edit.with_robot(session.world, *poses(), index, x, y, ahead), try_out=False)
        if (surplus := session.world.groups[index].count - int(text)) > 0:
            stop = session.world.slices[index].stop
            session.change(edit.without_robots(session.world, *poses(), np.arange(stop - surplus, stop)), try_out=False)

    def get_(call: Call) -> None:
        call.exactly(1)
        call.say(get(session, call.args[0]))

    def spawn(call: Call) -> None:
        call.least(1)
        what, numbers, written = _arguments(call)
        known = {**registered("robot"), **registered("thing")}
        group = next((number for number, each in enumerate(session.world.groups) if each.name == what), None)
        if group is None and what not in known:
            allowed = [each.name for each in session.world.groups] + list(known)
            raise call.wrong(f"'{what}' is neither a group nor a kind of robot or thing.{suggest(what, allowed)} "
                             f"There are: {', '.join(allowed)}.")
        if group is None and known[what].role == "thing":
            for name, number in zip(("x", "y"), numbers):
                written.setdefault(name, number)
            if len(numbers) > 2:
                raise call.wrong("a thing has x and y; give the rest as NAME=VALUE.")
            use(edit.with_thing(session.world, what, written))
            call.say(names.thing_names(session.world)[-1])
            return
        if group is not None and written:
            raise call.wrong(f"robots of '{what}' are all alike; `set {what}.NAME VALUE` changes them.")
        robot = session.world.groups[group].robot if group is not None else edit.make(
            what, "robot", {name: text for name, text in written.items() if name != "name"})
        x, y, ahead = _pose(call, numbers, session, robot)
        if group is not None:
            session.change(edit.with_robot(session.world, *poses(), group, x, y, ahead))
            call.say(f"{what}.{session.world.groups[group].count - 1}")
        else:
            session.change(edit.with_group(session.world, *poses(), what, written, x, y, ahead))
            call.say(f"{session.world.groups[-1].name}.0")

    def remove(call: Call) -> None:
        call.least(1)
        for name in call.args:
            target = names.find(session.world, name)
            if target.kind == "thing":
                use(edit.without_thing(session.world, target.index))
            elif target.kind in ("robot", "group"):
                gone = session.world.slices[target.index] if target.kind == "group" else slice(target.index, target.index + 1)
                session.change(edit.without_robots(session.world, *poses(), np.arange(gone.start, gone.stop)), try_out=False)
            else:
                raise call.wrong(f"'{name}' cannot be removed; robots, groups and things can.")

    def switch(call: Call, on: bool) -> None:
        call.least(1)
        for name in call.args:
            target = names.find(session.world, name)
            if target.kind == "thing":
                attribute = "walls" if target.name == "arena" else "on"
                use(edit.with_attribute(session.world, target, attribute, "true" if on else "false"))
            elif target.kind in ("robot", "group"):
                position, heading = poses()
                chosen = session.world.slices[target.index] if target.kind == "group" else target.index
                session.change(edit.same_robots(session.world, position, heading), try_out=False)
                session.sim.state.alive[0, chosen] = on
            else:
                raise call.wrong(f"'{name}' cannot be switched; things, robots and groups can.")

    def toggle(call: Call) -> None:
        call.exactly(1)
        target = names.find(session.world, call.args[0])
        thing = names.element(session.world, target)
        if target.kind in ("robot", "group"):
            first = session.world.slices[target.index].start if target.kind == "group" else target.index
            switch(call, not session.sim.state.alive[0, first])
        else:
            switch(call, not getattr(thing, "on", getattr(thing, "walls", True)))

    def move(call: Call) -> None:
        call.least(3)
        call.most(4)
        target = names.find(session.world, call.args[0])
        x, y = call.number(1, "X", -1e6, 1e6), call.number(2, "Y", -1e6, 1e6)
        if target.kind == "thing":
            new = edit.moved(session.world, target.index, x, y)
            if len(call.args) > 3:
                new = edit.with_attribute(new, target, "heading", call.args[3])
            use(new, try_out=False)
        else:
            robot = names.robot(session.world, call.args[0])
            put(robot, x, y, _angle(call, 3, float(session.sim.state.heading[0, robot])))

    def controller(call: Call) -> None:
        call.least(2)
        target = names.find(session.world, call.args[0])
        if target.kind != "group":
            raise call.wrong(f"'{call.args[0]}' is not a group; there are: {', '.join(group.name for group in session.world.groups)}.")
        written = _written(call, call.args[2:])
        use(edit.with_controller(session.world, target.index, call.args[1], written))

    def drive(call: Call) -> None:
        call.least(2)
        call.most(3)
        robot = names.robot(session.world, call.args[0])
        if call.args[1] == "off":
            call.most(2)
            session.drive(robot, None)
        else:
            session.drive(robot, (call.number(1, "LEFT", -1, 1), call.number(2, "RIGHT", -1, 1)))

    def undo(call: Call) -> None:
        call.most(0)
        session.undo()

    def things(args: list[str]) -> Iterable[str]:
        return [*names.all_names(session.world), *_robots(session, args[-1])]

    def paths(args: list[str]) -> Iterable[str]:
        return _paths(session, args[0]) if len(args) == 1 else ()

    def kinds(args: list[str]) -> Iterable[str]:
        if len(args) == 1:
            return [*(group.name for group in session.world.groups), *registered("robot"), *registered("thing")]
        found = {**registered("robot"), **registered("thing")}.get(args[0])
        return [f"{name}=" for name in found.kinds] if found else ()

    def controllers(args: list[str]) -> Iterable[str]:
        if len(args) == 1:
            return [group.name for group in session.world.groups]
        known = registered("controller")
        if len(args) == 2:
            return [*known, "none"]
        return [f"{name}=" for name in known[args[1]].kinds] if args[1] in known else ()

    return [
        CommandSpec("set", "set NAME.ATTRIBUTE VALUE", SET, set_, complete=paths),
        CommandSpec("get", "get NAME.ATTRIBUTE", GET, get_, complete=paths),
        CommandSpec("spawn", "spawn KIND [X Y [HEADING]] [NAME=VALUE...]", SPAWN, spawn, complete=kinds),
        CommandSpec("remove", "remove NAME...", "Takes robots, groups or things out of the world.", remove, complete=things),
        CommandSpec("enable", "enable NAME...", "Switches lamps and other things on; lets robots drive again.",
                    lambda call: switch(call, True), complete=things),
        CommandSpec("disable", "disable NAME...", "Switches lamps and other things off, as if they were not there; stops robots.",
                    lambda call: switch(call, False), complete=things),
        CommandSpec("toggle", "toggle NAME", "Switches it on if it is off, and off if it is on.", toggle, complete=things),
        CommandSpec("move", "move NAME X Y [HEADING]", "Puts a robot or a thing somewhere else, in metres; headings in radians, or 90deg.",
                    move, complete=things),
        CommandSpec("controller", "controller GROUP KIND [NAME=VALUE...]", "Gives a group another controller; none: none.", controller,
                    complete=controllers),
        CommandSpec("drive", "drive ROBOT LEFT RIGHT | drive ROBOT off", DRIVE, drive, complete=things),
        CommandSpec("undo", "undo", "Goes back to the moment before the last edit.", undo),
    ]


SET = """Changes an attribute of the world while it runs.
set lamp.intensity 0.5, set swarm.proximity.noise 0.3, set swarm.controller.pull 2, set contact.model stop,
set swarm.0.x 0.3 puts a robot somewhere else, set swarm.count 30 makes it 30 robots."""

GET = """Tells an attribute, or what is true now: get swarm.0.x, get swarm.0.proximity, get lamp.on, get time."""

SPAWN = """Adds a robot to a group, a new kind of robot, or a thing. Without a place it goes where there is room.
spawn swarm, spawn sbot 0.2 0 90deg, spawn cylinder 0.5 0.5 radius=0.1, spawn lamp 1 0 name=sun"""

DRIVE = """Takes a robot's two wheels, each from -1 to 1 of its top speed; off gives them back to its controller.
bind w +go; alias +go 'drive 0 1 1'; alias -go 'drive 0 0 0'"""


# -- arguments --------------------------------------------------------------------------------------------------------
def _arguments(call: Call) -> tuple[str, list[str], dict[str, str]]:
    """What, the plain numbers behind it, and the NAME=VALUE pairs."""
    plain = [each for each in call.args[1:] if "=" not in each]
    return call.args[0], plain, _written(call, [each for each in call.args[1:] if "=" in each])


def _written(call: Call, pairs: list[str]) -> dict[str, str]:
    written = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise call.wrong(f"'{pair}' is not NAME=VALUE.")
        written[name] = value
    return written


def _pose(call: Call, numbers: list[str], session: Session, robot: Any) -> tuple[float, float, float]:
    if len(numbers) not in (0, 2, 3):
        raise call.wrong("a place is X Y, or X Y HEADING.")
    there = replace(call, args=[call.args[0], *numbers])
    if not numbers:
        x, y = session.free_place(robot.radius + getattr(robot, "clearance", 0.0))
    else:
        x, y = there.number(1, "X", -1e6, 1e6), there.number(2, "Y", -1e6, 1e6)
        if way := session.in_the_way(x, y, robot.radius):
            raise FormigaError(f"a robot cannot stand at ({x:g}, {y:g}): {way} is in the way.")
    return x, y, _angle(there, 3, 0.0)


def _angle(call: Call, index: int, default: float) -> float:
    if index >= len(call.args):
        return default
    text = call.args[index]
    scale = DEG if text.endswith("deg") else 1.0
    return replace(call, args=[*call.args[:index], text.removesuffix("deg")]).number(index, "HEADING", -1e6, 1e6) * scale


def _robots(session: Session, typed: str) -> Iterable[str]:
    for group in session.world.groups:
        if typed.startswith(f"{group.name}."):
            yield from (f"{group.name}.{number}" for number in range(min(group.count, 200)))


def _paths(session: Session, typed: str) -> Iterable[str]:
    yield from ("time", "step", "seed", "speed", "robots")
    for name in names.all_names(session.world):
        yield from (f"{name}.{attribute}" for attribute in names.kinds(names.element(session.world, names.find(session.world, name))))
    for robot in _robots(session, typed):
        yield from (f"{robot}.{each}" for each in ("x", "y", "heading", "left", "right", "crashes"))
