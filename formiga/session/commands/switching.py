"""Commands that switch things on and off, and take robots by their motors: enable, disable, toggle, drive, out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from formiga.console import Call, CommandSpec
from formiga.console.errors import brief
from formiga.session import edit, names
from formiga.session.commands import arguments
from formiga.session.drives import WHEELS
from formiga.session.drives import names as output_names
from formiga.world.model import Arena

if TYPE_CHECKING:
    from formiga.session.session import Session


def commands(session: Session) -> list[CommandSpec]:
    """Those of a session."""
    typed = partial(_names, session)
    return [
        CommandSpec("enable", "enable NAME...", "Switches lamps and other things on; lets robots drive again.",
                    partial(enable, session), complete=typed),
        CommandSpec("disable", "disable NAME...", "Switches things off, as if they were not there; stops robots.",
                    partial(disable, session), complete=typed),
        CommandSpec("toggle", "toggle NAME", "Switches it on if it is off, and off if it is on.", partial(toggle, session),
                    complete=typed),
        CommandSpec("drive", "drive ROBOT LEFT RIGHT | drive ROBOT off", DRIVE, partial(drive, session), complete=typed),
        CommandSpec("out", "out [ROBOT.]NAME VALUE | out [ROBOT.]NAME off", OUT, partial(out, session),
                    complete=partial(_outputs, session)),
    ]


DRIVE = """Takes a robot's two wheels, each from -1 to 1 of its top speed; off gives them back to its controller.
bind w +go; alias +go 'drive 0 1 1'; alias -go 'drive 0 0 0'"""


OUT = """Tells one motor of a robot something: wheel_l and wheel_r a share of the top speed, and in space what else it has.
out grip 1 closes the gripper of the selected robot, or of the only one; out swarm.0.turret 0.5 turns that turret by 0.5 rad/s;
out swarm.grip 0 opens those of a group; off gives it back to the controller. bind UP 'out wheel_l 1; out wheel_r 1'"""


def enable(session: Session, call: Call) -> None:
    _switch(session, call, True)


def disable(session: Session, call: Call) -> None:
    _switch(session, call, False)


def toggle(session: Session, call: Call) -> None:
    call.exactly(1)
    target = names.find(session.world, call.args[0])
    if target.kind in ("robot", "group"):
        first = session.world.slices[target.index].start if target.kind == "group" else target.index
        _switch(session, call, not session.sim.state.alive[0, first])
    else:
        thing = names.element(session.world, target)
        _switch(session, call, not getattr(thing, _flag(thing), False))


def _switch(session: Session, call: Call, on: bool) -> None:
    """All at once: if one of the names is wrong, nothing is switched."""
    call.least(1)
    world, alive = session.world, session.sim.state.alive[0].copy()
    for name in call.args:
        target = names.find(world, name)
        if target.kind == "thing":
            flag = _flag(names.element(world, target))
            world = edit.with_attribute(world, target, flag, "true" if on else "false")
        elif target.kind in ("robot", "group"):
            alive[world.slices[target.index] if target.kind == "group" else target.index] = on
        else:
            raise call.wrong(f"'{brief(name)}' cannot be switched; things, robots and groups can.")
    session.changes.apply(edit.same_robots(world, *session.poses(), alive), try_out=world is not session.world)


def _flag(thing: object) -> str:
    """The attribute that switches a thing: an arena keeps its region, and loses its walls."""
    return "walls" if isinstance(thing, Arena) else "on"


def drive(session: Session, call: Call) -> None:
    call.least(2)
    robot = names.robot(session.world, call.args[0])
    if call.args[1] == "off":
        call.most(2)
        session.drive(robot, None)
    else:
        call.most(3)
        session.drive(robot, (call.number(1, "LEFT", -1, 1), call.number(2, "RIGHT", -1, 1)))


def out(session: Session, call: Call) -> None:
    """All at once: a group's robots are alike."""
    call.exactly(2)
    who, _, name = call.args[0].rpartition(".")
    robots = _told(session, call, who)
    value = None
    if call.args[1] != "off":
        limit = 1.0 if name in WHEELS else inf
        value = call.number(1, "VALUE", -limit, limit)
    for robot in robots:
        session.actuate(robot, name, value)


def _told(session: Session, call: Call, who: str) -> Iterable[int]:
    """The robots that a name in front of an output means; without one, the selected robot, or the only one."""
    world = session.world
    if who:
        target = names.find(world, who)
        if target.kind == "group":
            robots = world.slices[target.index]
            return range(robots.start, robots.stop)
        return [names.robot(world, who)]
    if session.selected >= 0:
        return [session.selected]
    if world.robots != 1:
        example = f"{names.robot_name(world, 0)}.{call.args[0]}" if world.robots else "swarm.0.grip"
        raise call.wrong(f"no robot is selected; click one, or name it, such as {brief(example)}.")
    return [0]


def _outputs(session: Session, args: list[str]) -> Iterator[str]:
    if len(args) != 1:
        yield "off"
        return
    world, joints = session.world, session.sim.model.moves_joints
    for group in world.groups:
        known = output_names(group.robot, joints)
        yield from known
        yield from (f"{group.name}.{name}" for name in known)
        number = args[0].removeprefix(f"{group.name}.").partition(".")[0]
        if args[0].startswith(f"{group.name}.") and number.isdecimal():
            yield from (f"{group.name}.{number}.{name}" for name in known)


def _names(session: Session, args: list[str]) -> Iterable[str]:
    return arguments.completed_names(session.world, args[-1])
