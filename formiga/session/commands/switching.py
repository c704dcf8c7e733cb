"""Commands that switch things on and off, and drive robots by hand: enable, disable, toggle, drive, steer, out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from formiga.console import Call, CommandSpec
from formiga.console.errors import brief
from formiga.errors import suggest
from formiga.session import edit, names
from formiga.session.commands import arguments
from formiga.session.drives import AXES, WHEELS, channel_names, limits
from formiga.session.drives import names as known_names
from formiga.world.model import Arena
from formiga.world.sources import Switched, on_at

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
        CommandSpec("drive", "drive ROBOT LEFT RIGHT | drive ROBOT SHARE... | drive ROBOT off", DRIVE, partial(drive, session),
                    complete=typed),
        CommandSpec("steer", "steer ROBOT ahead|aside|turn SHARE | steer ROBOT off", STEER, partial(steer, session),
                    complete=partial(_axes, session)),
        CommandSpec("out", "out [ROBOT.]NAME VALUE | out [ROBOT.]NAME off | out JOINT VALUE", OUT, partial(out, session),
                    complete=partial(_ordered_names, session)),
    ]


DRIVE = """Takes a robot's two wheels, each from -1 to 1 of its top speed; off gives them back to its controller.
A robot with another drive takes a share for each of its channels: an omni one for each wheel, a car speed and steering.
bind w +go; alias +go 'drive 0 1 1'; alias -go 'drive 0 0 0'"""


STEER = """Drives any robot as a driver does, in shares of its top speeds from -1 to 1: ahead, aside (to the left), turn (left).
The other two stay as they are, so that keys add up; off gives the robot back to its controller. What a drive cannot do it
leaves out: two wheels do not go aside, a car turns only as it drives.
bind ArrowUp +go; alias +go 'steer 0 ahead 1'; alias -go 'steer 0 ahead 0'"""


OUT = """Orders one part of a robot: a wheel, a joint (in space), a light or a sound.
wheel_l and wheel_r take a share of the top speed, joints a number; red, green and blue of all LEDs 0 to 1, red_1 of the first;
sound (m^2) and frequency (Hz) are those of the first loudspeaker, sound_2 and frequency_2 of the second.
out grip 1 closes the gripper of the selected robot, or of the only one; out swarm.0.turret 0.5 turns that turret by 0.5 rad/s;
out swarm.grip 0 opens those of a group; off gives it back to the controller. bind UP 'out wheel_l 1; out wheel_r 1'
The motor of a <joint> has the joint's name, that of its second axis NAME.2; such names come before those of a robot's parts.
out axle 8 orders 8 in the unit of the motor's mode, within its limits: rad/s, rad or N m. off: as at the start of the world."""


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
        on = on_at(thing, session.time) if isinstance(thing, Switched) else names.attribute(thing, _flag(thing), False)
        _switch(session, call, not on)


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
        known = channel_names(names.group_of(session.world, robot).robot)
        words = ("LEFT", "RIGHT") if known == WHEELS else tuple(name.upper() for name in known)
        if words:
            call.most(1 + len(words))
        session.drive(robot, tuple(call.number(1 + k, word, -1, 1) for k, word in enumerate(words)) or (0.0,))


def steer(session: Session, call: Call) -> None:
    call.least(2)
    robot = names.robot(session.world, call.args[0])
    if call.args[1] == "off":
        call.most(2)
        session.drive(robot, None)
        return
    call.exactly(3)
    if (axis := call.args[1]) not in AXES:
        raise call.wrong(f"'{brief(axis)}' is no way to steer.{suggest(brief(axis), AXES)} There are: {', '.join(AXES)}, off.")
    session.steer(robot, axis, call.number(2, "SHARE", -1, 1))


def out(session: Session, call: Call) -> None:
    """Of a joint of the world, of one robot, or of all robots of a group."""
    call.exactly(2)
    motors = [motor.name for motor in session.world.motors]
    if call.args[0] in motors:
        session.order(call.args[0], None if call.args[1] == "off" else call.number(1, "VALUE"))
        return
    owner, _, name = call.args[0].rpartition(".")
    if motors and not _means_robots(session, owner):
        raise call.wrong(f"there is no motor '{brief(call.args[0])}'.{suggest(brief(call.args[0]), motors)} There are: "
                         f"{', '.join(motors)}.")
    robots = _ordered(session, call, owner)
    value = None
    if call.args[1] != "off":
        ends = [limits(names.group_of(session.world, robot), name) for robot in robots]
        low, high = max((low for low, _ in ends), default=-inf), min((high for _, high in ends), default=inf)
        value = call.number(1, "VALUE", low, high)
    for robot in robots:
        session.actuate(robot, name, value)


def _means_robots(session: Session, owner: str) -> bool:
    """Whether what stands in front of a joint's name is a robot or a group; without a name, the selected or only robot."""
    if not owner:
        return session.selected >= 0 or session.world.robots == 1
    return owner.isdecimal() or any(f"{owner}.".startswith(f"{group.name}.") for group in session.world.groups)


def _ordered(session: Session, call: Call, owner: str) -> Iterable[int]:
    """The robots that a name in front of a joint means; without one, the selected robot, or the only one."""
    world = session.world
    if owner:
        target = names.find(world, owner)
        if target.kind == "group":
            robots = world.slices[target.index]
            return range(robots.start, robots.stop)
        return [names.robot(world, owner)]
    if session.selected >= 0:
        return [session.selected]
    if world.robots != 1:
        example = f"{names.robot_name(world, 0)}.{call.args[0]}" if world.robots else "swarm.0.grip"
        raise call.wrong(f"no robot is selected; click one, or name it, such as {brief(example)}.")
    return [0]


def _ordered_names(session: Session, args: list[str]) -> Iterator[str]:
    if len(args) != 1:
        yield "off"
        return
    world, joints = session.world, session.sim.model.moves_joints
    yield from (motor.name for motor in world.motors)
    for group in world.groups:
        known = known_names(group, joints)
        yield from known
        yield from (f"{group.name}.{name}" for name in known)
        number = args[0].removeprefix(f"{group.name}.").partition(".")[0]
        if args[0].startswith(f"{group.name}.") and number.isdecimal():
            yield from (f"{group.name}.{number}.{name}" for name in known)


def _axes(session: Session, args: list[str]) -> Iterable[str]:
    return (*AXES, "off") if len(args) == 2 else _names(session, args)


def _names(session: Session, args: list[str]) -> Iterable[str]:
    return arguments.completed_names(session.world, args[-1])
