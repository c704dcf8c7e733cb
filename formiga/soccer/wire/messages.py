"""What we say, as bytes of FIRASim and VSSReferee, and what their bytes say, in our words.

Nothing here trusts what it reads: a packet may be garbage, or a message full of absurd numbers. What comes out is finite,
clamped, on the field and about robots that there are; what was wrong comes out beside it.
"""

from __future__ import annotations

from math import copysign, hypot, isfinite, pi, radians, remainder
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from formiga.soccer.talk import BLUE, YELLOW, Call, Game, Sight
from formiga.soccer.wire import common_pb2, fira_pb2, vssref_pb2

LONGEST = 1024          # bytes of a picture: team programs read with a buffer of this size
MOST_BYTES = 4096       # of a packet that we read; commands and places for two teams of 11 are half of that
MOST_ITEMS = 64         # commands or places in a packet
FASTEST_BALL = 5.0      # m/s that a trainer can give it
ALMOST = 1e-12          # m, m/s, rad, rad/s: sent in place of 0, see `_sent`


class Limits(NamedTuple):
    """What can be asked for: robots 0 to players - 1, speeds of wheels, places on the field."""

    players: int
    wheel_radius: float    # m
    top_speed: float       # m/s at the rim
    x: float               # m from the centre: the far end of a goal
    y: float               # m from the centre: the board


class Place(NamedTuple):
    """Where a trainer puts a robot. x, y and heading are NaN for one that stays where it is."""

    team: int              # BLUE or YELLOW
    robot: int
    x: float               # m
    y: float
    heading: float         # rad
    on: bool               # false: it is switched off: not in pictures, and its wheels stand still


class Replacement(NamedTuple):
    """What a trainer or a referee's program puts somewhere else."""

    ball: tuple[float, float, float, float] | None     # x y vx vy
    robots: tuple[Place, ...]


class Packet(NamedTuple):
    """What a packet asks for, as far as it can be done."""

    wheels: list[tuple[int, int, float, float]]        # team, robot, left and right in m/s at the rim
    replacement: Replacement | None
    answered: int                                      # the picture that it answers, 0 if it does not say
    wrong: str                                         # what was left out because it makes no sense; '' if nothing was
    strangers: bool                                    # whether it speaks of robots that no team has


class Garbage(Exception):
    """Bytes that say nothing to us. The message completes 'this packet ...'."""


# -- what we say ------------------------------------------------------------------------------------------------------
def field(there: Any) -> common_pb2.Field:
    """A world's <field> as a message.

    penalty_point: of the penalty mark from the goal line; 0.375 m on both of FIRASim's fields.
    """
    return common_pb2.Field(width=there.width, length=there.length, goal_width=there.goal_width, goal_depth=there.goal_depth,
                            center_radius=there.circle, penalty_width=there.area_width, penalty_depth=there.area_depth,
                            penalty_point=round(there.length / 2 - there.penalty_spot, 9))


def picture(sight: Sight, game: Game, there: common_pb2.Field, ball_radius: float) -> bytes:
    """What the camera saw. What it did not see, or what is switched off, is not in it.

    The ball rests on the floor, so its z is its radius (m), as FIRASim has it.
    """
    message = fira_pb2.Environment(step=round(1000 * sight.time) % 2**32, field=there, goals_blue=game.score[BLUE],
                                   goals_yellow=game.score[YELLOW], lockstep=number(sight.frame))
    x, y, vx, vy = map(float, sight.ball)
    message.frame.SetInParent()
    if isfinite(x + y + vx + vy):
        message.frame.ball.MergeFrom(common_pb2.Ball(x=_sent(x), y=_sent(y), z=ball_radius, vx=_sent(vx), vy=_sent(vy)))
    lists = (message.frame.robots_blue, message.frame.robots_yellow)
    for seen, robots, present in zip(lists, sight.robots, sight.present, strict=True):
        for robot, (row, there_is) in enumerate(zip(robots, present, strict=True)):
            x, y, heading, vx, vy, spin = map(float, row)
            if there_is and isfinite(x + y + heading + vx + vy + spin):
                seen.add(robot_id=robot, x=_sent(x), y=_sent(y), orientation=_sent(wrapped(heading)), vx=_sent(vx),
                         vy=_sent(vy), vorientation=_sent(spin))
    return message.SerializeToString()


def _sent(value: float) -> float:
    """The value, or ALMOST for 0.

    proto3 leaves a number that is 0 out of a message, and programs that turn messages into dictionaries index every field.
    In FIRASim nothing is ever at exactly 0 for long, so they work there. A negative zero would be kept by recent versions of
    protobuf only.
    """
    return value or ALMOST


def number(frame: int) -> int:
    """The number of a picture in lock-step: from 1 on, because 0 is not written on the wire; 2^32 - 1 means 'not yet'."""
    return frame % (2**32 - 2) + 1


def longest(players: int) -> int:
    """How many bytes a picture of two teams of so many robots can have."""
    x = -1.0 / 3.0                                     # any number but 0 takes 8 bytes
    robots = [[(x,) * 6] * players] * 2
    game = Game((2**32 - 1,) * 2, 2, x, None, 0)       # type: ignore[arg-type]  # nothing here looks at the call
    there = common_pb2.Field(width=x, length=x, goal_width=x, goal_depth=x, center_radius=x, penalty_width=x, penalty_depth=x,
                             penalty_point=x)
    return len(picture(Sight(2**32 - 4, 4e6, (x,) * 4, robots, [[True] * players] * 2), game, there, x))


def call(what: Call) -> bytes:
    """What the referee called."""
    return vssref_pb2.VSSRef_Command(foul=int(what.foul), teamcolor=what.team, foulQuadrant=what.quadrant,
                                     timestamp=_sent(what.time), gameHalf=what.half).SerializeToString()


# -- what they say ----------------------------------------------------------------------------------------------------
def read_packet(data: bytes, limits: Limits) -> Packet:
    """Commands and replacements; both can be in one packet."""
    message = _parsed(fira_pb2.Packet, data)
    commands, replaces = message.cmd.robot_commands, message.HasField("replace")
    if len(commands) > MOST_ITEMS:
        raise Garbage(f"has {len(commands):,} commands in it")
    if not (commands or replaces):
        raise Garbage("has neither commands nor replacements in it")
    wheels, wrong, strangers = [], "", False
    for each in commands:
        robot, left, right = each.id, each.wheel_left, each.wheel_right
        if robot >= limits.players:
            strangers = True
        elif isfinite(left) and isfinite(right):
            wheels.append((YELLOW if each.yellowteam else BLUE, robot, _rim(left, limits), _rim(right, limits)))
        else:
            wrong = "asks for a wheel speed that is no number"
    replacement = None
    if replaces:
        replacement, complaint, unknown = _replacement(message.replace, limits)
        wrong, strangers = complaint or wrong, unknown or strangers
    return Packet(wheels, replacement, message.answered, wrong, strangers)


def _replacement(message: Any, limits: Limits) -> tuple[Replacement | None, str, bool]:
    """What is to be put somewhere, what is wrong with it, and whether it is about robots that no team has."""
    if len(message.robots) > MOST_ITEMS:
        raise Garbage(f"puts {len(message.robots):,} robots somewhere")
    ball, wrong = _ball(message.ball, limits) if message.HasField("ball") else (None, "")
    found: list[Place] = []
    for each in message.robots:
        place, complaint = _place(YELLOW if each.yellowteam else BLUE, each.position, each.turnon, limits)
        wrong = complaint or wrong
        if place:
            found.append(place)
    strangers = any(each.position.robot_id >= limits.players for each in message.robots)
    return Replacement(ball, tuple(found)) if ball or found else None, wrong, strangers


def read_placement(data: bytes, limits: Limits) -> tuple[list[Place], str]:
    """Where a team wants its robots, and what was left out because it makes no sense."""
    message = _parsed(vssref_pb2.VSSRef_Placement, data)
    if len(message.world.robots) > MOST_ITEMS:
        raise Garbage(f"is about {len(message.world.robots):,} robots")
    if message.world.teamColor not in (BLUE, YELLOW) or not message.HasField("world"):
        raise Garbage("is a placement of no team")
    found, wrong = [], ""
    for each in message.world.robots:
        place, complaint = _place(message.world.teamColor, each, True, limits)
        wrong = complaint or wrong
        if place:
            found.append(place)
    return found, wrong


def _parsed(kind: Any, data: bytes) -> Any:
    if len(data) > MOST_BYTES:
        raise Garbage(f"is longer than {MOST_BYTES:,} bytes")
    try:
        return kind.FromString(data)
    except DecodeError as wrong:
        raise Garbage(f"is no {kind.DESCRIPTOR.name} of {'FIRASim' if kind is fira_pb2.Packet else 'VSSReferee'}") from wrong


def _rim(wheel: float, limits: Limits) -> float:
    """rad/s of a wheel -> m/s at its rim, as fast as it can."""
    speed = wheel * limits.wheel_radius
    return speed if abs(speed) <= limits.top_speed else copysign(limits.top_speed, speed)


def _place(team: int, there: Any, on: bool, limits: Limits) -> tuple[Place | None, str]:
    """A robot's place, if there is such a robot and the place makes sense; else what is wrong. Degrees become radians."""
    if there.robot_id >= limits.players:
        return None, ""
    complaint = ""
    if not isfinite(there.x + there.y + there.orientation):
        complaint = "puts a robot at a place that is no number"
    elif abs(there.x) > limits.x or abs(there.y) > limits.y:
        complaint = "puts a robot beside the field"
    if not complaint:
        return Place(team, there.robot_id, there.x, there.y, wrapped(radians(there.orientation)), on), ""
    if on:
        return None, complaint
    nowhere = float("nan")                             # many switch a robot off by sending it far away; it may go where it is
    return Place(team, there.robot_id, nowhere, nowhere, nowhere, on), ""


def _ball(there: Any, limits: Limits) -> tuple[tuple[float, float, float, float] | None, str]:
    if not isfinite(there.x + there.y + there.vx + there.vy):
        return None, "puts the ball at a place, or gives it a speed, that is no number"
    if abs(there.x) > limits.x or abs(there.y) > limits.y:
        return None, "puts the ball beside the field"
    slower = FASTEST_BALL / max(hypot(there.vx, there.vy), FASTEST_BALL)
    return (there.x, there.y, there.vx * slower, there.vy * slower), ""


def wrapped(angle: float) -> float:
    """The same direction in (-pi, pi]."""
    turned = remainder(angle, 2.0 * pi)
    return turned if turned > -pi else pi


__all__ = ["Garbage", "LONGEST", "Limits", "MOST_BYTES", "Packet", "Place", "Replacement", "call", "field", "longest",
           "number", "picture", "read_packet", "read_placement", "wrapped"]
