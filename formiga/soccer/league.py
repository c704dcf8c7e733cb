"""The leagues: the field, the ball and the robots of a game, as a world.

Blue plays from left to right: it defends the goal at negative x, and the teams keep their sides at half-time. What is told
about a team is told in its own frame, in which its own goal is on the left: yellow's is the field turned by half a turn.
"""

from __future__ import annotations

from math import atan2, copysign, pi, sqrt
from typing import Any

from formiga.errors import FormigaError, suggest, whole
from formiga.soccer.talk import BLUE, NAMES, YELLOW, Call, Foul
from formiga.units import CM
from formiga.world.elements import profiled
from formiga.world.field import Field
from formiga.world.model import Contact, Group, World
from formiga.world.movables import Ball
from formiga.world.placement import At
from formiga.world.robots import MiroSot

COLOURS = ("#1f6feb", "#f2c200")  # of blue and yellow
MOST_PLAYERS = 5
PERIODS = {"mirosot": 0.033, "golf": 0.033, "firasim": 0.016}  # s between two pictures [Klancar et al. 2003; FIRASim]

# What a preset changes about the field. FIRASim's goals are 10 cm deep where three play, and 15 cm where five do; the walls in
# its corners are 12.5 cm long. [measured on a running FIRASim; the goals of five against five read in its source]
# Where five play, a penalty is 37.5 cm before the goal line, so 72.5 cm from the centre, and a free ball 55 cm before the goal
# line and 30 cm from the side, so at (0.55, 0.60). [VSSReferee, src/world/entities/replacer and field_default_5v5]
FIRASIM_FIELD: dict[int, dict[str, Any]] = {
    3: {"goal_depth": 10.0 * CM, "corner": 12.5 * CM / sqrt(2.0)},
    5: {"goal_depth": 15.0 * CM, "corner": 12.5 * CM / sqrt(2.0), "penalty_spot": 72.5 * CM,
        "crosses": (55.0 * CM, 60.0 * CM)},
}

COLLISIONS = ("square", "circle")  # the robots' true outline; the old, simple model: discs of half a side in radius
KICKER = 10.0 * CM            # a robot that kicks off, or takes a penalty, stands this far behind the ball (our choice)
KEEPER = 5.0 * CM             # a goalkeeper stands this far in front of its goal line (our choice)
CORNER_KEEPER = 7.5 * CM, 8.0 * CM  # at a goal kick from a corner: from the goal line, and inward of the ball [VSSReferee]
FREE_BALL_GAP = 20.0 * CM     # of the two robots from a free ball [VSSS; FIRA has 25 cm]

Pose = tuple[float, float, float]


class LeagueError(FormigaError):
    """A game that there is not."""


def world(players: int = 3, preset: str = "mirosot", dt: float | None = None, tyres: str = "nonholonomic",
          shape: str = "square", *, seconds: float = 600.0, name: str = "soccer") -> World:
    """The world of a game, ready for blue's kick-off.

    players: in each team; up to three play on the small field, four and five on the middle one. preset: `mirosot` is the
    paper's robot and ball, `golf` has the masses of real ones, `firasim` what that simulator has. dt: between two pictures;
    33 ms, or FIRASim's 16 ms. tyres: as <mirosot> has them. shape: the robots as bodies, `square` or, as in the simulators
    before the paper's, `circle`: discs of half a side in radius, with the same masses and restitution; an impulse acts along
    the line of centres and turns none of them. [named, not described, in Klancar et al. 2003; reconstructed]
    """
    players = whole("players", players, 1, MOST_PLAYERS)
    if preset not in PERIODS:
        raise LeagueError(f"there is no preset '{preset}'.{suggest(preset, PERIODS)} There are: {', '.join(PERIODS)}.")
    if shape not in COLLISIONS:
        raise LeagueError(f"there are no collisions '{shape}'.{suggest(shape, COLLISIONS)} There are: {', '.join(COLLISIONS)}.")
    size = 3 if players <= 3 else 5
    field: Field = profiled(Field, "small" if size == 3 else "middle", **(FIRASIM_FIELD[size] if preset == "firasim" else {}))
    robots: list[MiroSot] = [profiled(MiroSot, preset, tyres=tyres, shape=shape, colour=colour) for colour in COLOURS]
    _, standing = places(field, players, Call(Foul.KICKOFF, BLUE, 0, 1, 0.0), robots[0].side)
    groups = [Group(robot, players, name=NAMES[team], place=tuple(At(*pose) for pose in standing[team]))
              for team, robot in enumerate(robots)]
    return World(name=name, doc=f"Robot soccer, {players} against {players}", topic="Robot soccer",
                 dt=PERIODS[preset] if dt is None else dt, seconds=seconds, contact=Contact(model="impulse"),
                 things=(field, profiled(Ball, preset)), groups=tuple(groups))


def teams(given: World) -> tuple[Field, Ball, int]:
    """The field, the ball and how many play in each team; a clear complaint if it is no world of soccer."""
    field, balls = given.pitch, [thing for thing in given.movables if isinstance(thing, Ball)]
    groups = {group.name: group for group in given.groups}
    if field is None or len(balls) != 1 or any(name not in groups for name in NAMES):
        raise LeagueError(f"'{given.name}' is no world of robot soccer: it needs a <field>, one <ball>, and a group of robots "
                          "named blue and one named yellow.")
    counts = [groups[name].count for name in NAMES]
    if counts[BLUE] != counts[YELLOW]:
        raise LeagueError(f"'{given.name}': {counts[BLUE]} blue robots against {counts[YELLOW]} yellow ones; both teams have "
                          "the same number.")
    return field, balls[0], counts[BLUE]


# -- the field, seen by a team -----------------------------------------------------------------------------------------
def side(team: int) -> float:
    """1 for the team whose goal is on the left, -1 for the other: field = side * own frame."""
    return 1.0 if team == BLUE else -1.0


def turned(pose: Pose, team: int) -> Pose:
    """A pose from a team's own frame to the field's, or back: it is the same half turn."""
    if team == BLUE:
        return pose
    x, y, heading = pose
    return -x, -y, heading - pi if heading > 0.0 else heading + pi


def quadrant(x: float, y: float) -> int:
    """1 top right, then counter-clockwise."""
    return (1 if x >= 0.0 else 2) if y >= 0.0 else (3 if x < 0.0 else 4)


def cross(field: Field, number: int) -> tuple[float, float]:
    """The free-ball cross of a quadrant."""
    x, y = field.cross
    return (x if number in (1, 4) else -x), (y if number in (1, 2) else -y)


def in_goal_area(field: Field, x: float, y: float) -> bool:
    """Whether a point is in the own goal area, or in the goal behind it; in the team's own frame."""
    deep = x + field.length / 2  # behind the goal line if it is negative
    return deep <= field.area_depth and abs(y) <= (field.area_width if deep >= 0.0 else field.goal_width) / 2


# -- where the robots stand after a call ---------------------------------------------------------------------------------
def places(field: Field, players: int, call: Call, robot_side: float = 7.5 * CM, keepers: tuple[int, int] = (0, 0),
           corner: int = 0) -> tuple[tuple[float, float], list[list[Pose]]]:
    """The ball's place, and the default places of both teams' robots, in the field's frame.

    keepers: which robot of each team is the goalkeeper. The attacker is the next in number, then the others. corner: as of
    `ball_place`.
    """
    ball = ball_place(field, call, corner)
    return ball, [[turned(pose, team) for pose in _formation(field, players, call, team, ball, robot_side, keepers[team])]
                  for team in (BLUE, YELLOW)]


def ball_place(field: Field, call: Call, corner: int = 0) -> tuple[float, float]:
    """Where the ball lies after a call.

    corner: of a goal kick. 1, -1: the corner of the goal area at positive or negative y, as VSSReferee has it; so
    (-+0.60, +-0.35) in the small league. 0: before the middle of the goal.
    """
    if call.foul == Foul.FREE_BALL:
        return cross(field, call.quadrant or 1)
    if call.foul == Foul.PENALTY_KICK:
        return side(call.team) * field.penalty_spot, 0.0
    if call.foul == Foul.GOAL_KICK and corner:
        return side(call.team) * (field.area_depth - field.length / 2), copysign(field.area_width / 2, corner)
    if call.foul == Foul.GOAL_KICK:
        return side(call.team) * (KEEPER + 8.0 * CM - field.length / 2), 0.0
    return 0.0, 0.0


def _formation(field: Field, players: int, call: Call, team: int, ball: tuple[float, float], robot_side: float,
               keeper: int) -> list[Pose]:
    """Poses of one team in its own frame, in the order of its robots."""
    half, broad = field.length / 2, field.width / 2
    taker = call.team == team
    goal: Pose = (KEEPER - half, 0.0, 0.0)
    back = [(-0.6 * half, 0.35 * broad, 0.0), (-0.6 * half, -0.35 * broad, 0.0)]
    ours: list[Pose]  # the attacker, the supporter, and two defenders
    if call.foul == Foul.FREE_BALL:
        x, y = side(team) * ball[0], side(team) * ball[1]
        away = -1.0 if y > 0.0 else 1.0  # the others leave the quadrant
        ours = [(x - FREE_BALL_GAP, y, 0.0), (-0.25 * half, 0.35 * away * broad, 0.0),
                (-0.6 * half, 0.3 * away * broad, 0.0), (-0.6 * half, 0.6 * away * broad, 0.0)]
    elif call.foul == Foul.PENALTY_KICK:
        if taker:
            ours = [(field.penalty_spot - KICKER, 0.0, 0.0), *((-12.0 * CM, share * broad, 0.0) for share in (0.2, 0.4, 0.6))]
        else:  # the keeper is on its line, the others are behind the half-way line
            goal = (robot_side / 2 - half, 0.0, 0.0)
            ours = [(12.0 * CM, share * broad, 0.0) for share in (0.2, 0.4, 0.6, 0.8)]
    elif call.foul == Foul.GOAL_KICK and taker:
        if ball[1]:  # the keeper stands behind the ball and faces it
            x, y = side(team) * ball[0], side(team) * ball[1]
            deep, inward = CORNER_KEEPER[0] - half, y - copysign(CORNER_KEEPER[1], y)
            goal = (deep, inward, atan2(y - inward, x - deep))
        ours = [(-0.2 * half, 0.4 * broad, 0.0), (-0.2 * half, -0.4 * broad, 0.0), *back]
    elif call.foul == Foul.GOAL_KICK:
        ours = [(-12.0 * CM, 0.0, 0.0), (-0.35 * half, 0.5 * broad, 0.0), *back]
    else:
        ahead = KICKER if taker else field.circle + robot_side / 2 + 1.0 * CM
        ours = [(-ahead, 0.0, 0.0), (-0.35 * half, 0.4 * broad, 0.0), *back]
    if players == 1:
        return [goal if call.foul == Foul.PENALTY_KICK and not taker else ours[0]]
    others = iter(ours)
    return [goal if number == keeper else next(others) for number in range(players)]


__all__ = ["COLOURS", "LeagueError", "PERIODS", "ball_place", "cross", "in_goal_area", "places", "quadrant", "side", "teams",
           "turned", "world"]
