"""The places after a call: as the teams wish, if that is allowed and no two bodies overlap.

A wish is refused with a reason, which the referee's log keeps. Robots that are refused, or for which there is no wish, go
to their default places; if one stands there by then, to the nearest place that is free and allowed. Rules that are strict say
where a robot may stand after which call; others refuse a wish only where robots collide, as VSSReferee does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from math import cos, hypot, sin
from typing import Any, NamedTuple

import numpy as np

from formiga.errors import FormigaError
from formiga.soccer import league
from formiga.soccer.league import Pose
from formiga.soccer.talk import BLUE, NAMES, YELLOW, Call, Foul
from formiga.state import Floats
from formiga.units import CM, MM
from formiga.world.field import Field

GAP = 1.0 * MM      # that is left between bodies
STEP = 2.0 * CM     # between places that are tried
FAR = 4.0           # m; nothing on a field is further away
ON_A_LINE = 1.0e-9  # m: a body on a line is on the right side of it


class Shape(NamedTuple):
    """An outline in its own frame, and how far the body reaches beyond it: a disc is a point that reaches far."""

    points: Floats                 # (k, 2), in order
    reach: float = 0.0

    def at(self, x: float, y: float, heading: float = 0.0) -> Shape:
        """The body at a pose."""
        c, s = cos(heading), sin(heading)
        turned = self.points @ np.array([[c, s], [-s, c]])
        return Shape(turned + (x, y), self.reach)


def shape_of(robot: Any) -> Shape:
    """The true outline of a robot."""
    if robot.outline is None:
        return disc(robot.radius)
    return Shape(np.array(robot.outline, np.float64))


def disc(radius: float) -> Shape:
    """A round body."""
    return Shape(np.zeros((1, 2)), radius)


class Board:
    """What is inside the board of a field."""

    def __init__(self, field: Field) -> None:
        self.outline = Shape(np.array(field.board, np.float64))
        self._half = field.length / 2, field.width / 2
        self._corner = field.length / 2 + field.width / 2 - field.corner

    def holds(self, body: Shape) -> bool:
        """Whether a body is wholly inside; quickly, unless it is near a wall or in a goal."""
        x, y = np.abs(body.points).T
        reach = 1.5 * body.reach
        if x.max() + reach < self._half[0] and y.max() + reach < self._half[1] and (x + y).max() + reach < self._corner:
            return True
        return contains(self.outline, body)


class Remark(NamedTuple):
    """A wish that was not followed, or not to the letter."""

    team: int
    robot: int
    text: str                      # 'blue 1 may not stand at (0.1, 0.2): yellow 0 is there'


class Placed(NamedTuple):
    """Where everything is put."""

    ball: tuple[float, float]
    robots: Floats                 # (2, P, 3) x y heading
    remarks: list[Remark]          # why a wish was not followed


def settle(field: Field, robot: Any, ball_radius: float, players: int, call: Call, wishes: tuple[Any, Any] = (None, None),
           keepers: tuple[int, int] = (0, 0), *, strict: bool = True, corner: int = 0) -> Placed:
    """The places after a call. wishes: for each team (P, 3) x y heading, NaN where it has none; or None.

    strict: a wish that breaks a rule is refused. Otherwise one is refused only if it is not on the field or if robots collide;
    one that overlaps the ball or the board gets the nearest place that is free. corner: of a goal kick, as league.ball_place
    takes it; the kicking team moves it to the half in which it wants a robot in its goal area. [VSSReferee]
    """
    if corner and call.foul == Foul.GOAL_KICK:
        corner = _kicked_from(field, call.team, wishes[call.team], corner)
    ball, default = league.places(field, players, call, robot.side, keepers, corner)
    standing = _Standing(field, shape_of(robot), call, ball, disc(ball_radius).at(*ball), strict)
    remarks = []
    order = (YELLOW, BLUE) if call.team == YELLOW else (BLUE, YELLOW)  # whose ball it is chooses first
    for team in order:
        for number, wish in enumerate([] if wishes[team] is None else np.asarray(wishes[team], np.float64)[:players]):
            if np.isnan(wish[:2]).any():
                continue
            x, y, heading = (float(each) for each in wish)
            pose = (x, y, heading if np.isfinite(heading) else default[team][number][2])
            name = f"{NAMES[team]} {number}"
            if reason := standing.forbids(team, number, pose):
                remarks.append(Remark(team, number, f"{name} may not stand at ({x:.3g}, {y:.3g}): {reason}"))
                continue
            put = nearest(field, pose, partial(standing.refuses, team, number))
            if put != pose:
                why = standing.refuses(team, number, pose)
                remarks.append(Remark(team, number, f"{name} stands at ({put[0]:.3g}, {put[1]:.3g}) instead of ({x:.3g}, "
                                                    f"{y:.3g}): {why}"))
            standing.put(team, number, put)
    for team in order:
        for number in range(players):
            if (team, number) not in standing.poses:
                standing.put(team, number, nearest(field, default[team][number], partial(standing.refuses, team, number)))
    robots = np.array([[standing.poses[team, number] for number in range(players)] for team in (BLUE, YELLOW)])
    return Placed(ball, robots, remarks)


def _kicked_from(field: Field, team: int, wishes: Any, otherwise: int) -> int:
    """The half (1: positive y, -1: negative y) in which a team wants a robot in its own goal area; of several the last."""
    for x, y in [] if wishes is None else np.asarray(wishes, np.float64)[:, :2].tolist():
        if league.in_goal_area(field, league.side(team) * x, league.side(team) * y):
            otherwise = 1 if y >= 0.0 else -1
    return otherwise


class _Standing:
    """The robots that stand already, and what the rules say about the next one."""

    def __init__(self, field: Field, shape: Shape, call: Call, ball: tuple[float, float], ball_shape: Shape,
                 strict: bool) -> None:
        self.field, self.shape, self.call, self.ball, self.strict = field, shape, call, ball, strict
        self.board = Board(field)
        self.poses: dict[tuple[int, int], Pose] = {}
        self._bodies: list[tuple[str, Shape]] = [("the ball", ball_shape)]
        self._special: dict[int, int] = {}  # team -> the one robot that is where only one may be

    def put(self, team: int, number: int, pose: Pose) -> None:
        """Let it stand there."""
        self.poses[team, number] = pose
        self._bodies.append((f"{NAMES[team]} {number}", self.shape.at(*pose)))
        if self.strict and self._rule(team, number, pose)[1]:
            self._special[team] = number

    def forbids(self, team: int, number: int, pose: Pose) -> str:
        """Why a team's wish is not followed; empty if it is."""
        if self.strict:
            return self.refuses(team, number, pose)
        return elsewhere(pose) or meets(self.shape.at(*pose), self._bodies[1:])

    def refuses(self, team: int, number: int, pose: Pose) -> str:
        """Why it may not stand there; empty if it may."""
        if (reason := blocked(self.board, self.shape, pose, self._bodies)) or not self.strict:
            return reason
        reason, special = self._rule(team, number, pose)
        if not reason and special and self._special.get(team, number) != number:
            return f"only one robot may be {special}, and {NAMES[team]} {self._special[team]} is"
        return reason

    def _rule(self, team: int, number: int, pose: Pose) -> tuple[str, str]:
        """(why the rules forbid it, where it is that only one of its team may be); in the team's own frame."""
        field, foul, taker = self.field, self.call.foul, self.call.team == team
        x, y, heading = league.turned(pose, team)
        body = self.shape.at(x, y, heading)
        front = float(body.points[:, 0].max()) + body.reach
        if foul == Foul.KICKOFF:
            if front > ON_A_LINE:
                return "at a kick-off it must be in its own half", ""
            centre = disc(0.0)
            in_circle = _apart(body, centre) < field.circle and gap(body, centre) < field.circle - ON_A_LINE
            if in_circle and not taker:
                return "at the other team's kick-off it must be outside the centre circle", ""
            return "", "in the centre circle" if in_circle else ""
        own_area = league.in_goal_area(field, x, y)
        if foul == Foul.FREE_BALL:
            if league.quadrant(pose[0], pose[1]) != self.call.quadrant or own_area:
                return "", ""
            if hypot(pose[0] - self.ball[0], pose[1] - self.ball[1]) < league.FREE_BALL_GAP - ON_A_LINE:
                return f"it must be {league.FREE_BALL_GAP / CM:.0f} cm from a free ball", ""
            return "", "in the quadrant of the free ball"
        if foul == Foul.PENALTY_KICK and taker:
            if x <= 0.0:
                return "", ""
            return ("" if x < field.penalty_spot else "it must be behind the ball"), "in the other half"
        if foul == Foul.PENALTY_KICK:
            if x >= 0.0:
                return "", ""
            return ("" if own_area else "at a penalty it must be at its goal or behind the half-way line"), "at the goal"
        if foul == Foul.GOAL_KICK and taker:
            return "", "in its goal area" if own_area else ""
        if foul == Foul.GOAL_KICK and x > 0.0:
            return "at the other team's goal kick it must be in its own half", ""
        return "", ""


# -- room -----------------------------------------------------------------------------------------------------------------
def blocked(board: Board, shape: Shape, pose: Pose, bodies: Iterable[tuple[str, Shape]]) -> str:
    """What is in the way of a body there; empty if nothing is. bodies: all others, with their names."""
    if reason := elsewhere(pose):
        return reason
    body = shape.at(*pose)
    if not board.holds(body):
        return "that is not inside the board"
    return meets(body, bodies)


def elsewhere(pose: Pose) -> str:
    """Whether a pose is so far off that no field has it, in words; empty if it is not."""
    if not np.isfinite(pose).all() or max(abs(pose[0]), abs(pose[1])) > FAR:
        return "that is not on the field"
    return ""


def meets(body: Shape, bodies: Iterable[tuple[str, Shape]]) -> str:
    """The first of several bodies that is closer than GAP, in words; empty if none is."""
    for name, other in bodies:
        if _apart(body, other) < GAP and gap(body, other) < GAP:
            return f"{name} is there"
    return ""


def nearest(field: Field, pose: Pose, refuses: Callable[[Pose], str]) -> Pose:
    """The place that is nearest to this one and not refused; mostly this one."""
    if not refuses(pose):
        return pose
    reach = np.arange(-int(FAR / STEP), int(FAR / STEP) + 1) * STEP
    dx, dy = (each.ravel() for each in np.meshgrid(reach, reach))
    near = np.hypot(dx, dy)
    near[(abs(pose[0] + dx) > field.length / 2 + field.goal_depth) | (abs(pose[1] + dy) > field.width / 2)] = np.inf
    for at in np.argsort(near, kind="stable")[:np.count_nonzero(near < np.inf)]:
        other = (pose[0] + float(dx[at]), pose[1] + float(dy[at]), pose[2])
        if not refuses(other):
            return other
    raise FormigaError(f"there is no room near ({pose[0]:.3g}, {pose[1]:.3g}) or anywhere else on the field.")


# -- outlines: any polygons, also with dents ------------------------------------------------------------------------------
def gap(a: Shape, b: Shape) -> float:
    """The distance between two bodies; 0 if they touch or overlap."""
    reach = a.reach + b.reach
    if _cross(a.points, b.points) or inside(b.points[0], a.points) or inside(a.points[0], b.points):
        return 0.0
    return max(0.0, min(_nearest(a.points, b.points), _nearest(b.points, a.points)) - reach)


def contains(outer: Shape, body: Shape) -> bool:
    """Whether a body is wholly inside an outline."""
    if not all(inside(point, outer.points) for point in body.points) or _cross(outer.points, body.points):
        return False
    return min(_nearest(outer.points, body.points), _nearest(body.points, outer.points)) >= body.reach


def inside(point: Floats, polygon: Floats) -> bool:
    """Whether a point is inside a polygon: a ray from it crosses the outline an odd number of times."""
    if len(polygon) < 3:
        return False
    (x, y), (x0, y0), (x1, y1) = point, polygon.T, _next(polygon).T
    crossing = (y0 > y) != (y1 > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        right = x < x0 + (y - y0) / (y1 - y0) * (x1 - x0)
    return bool(np.count_nonzero(crossing & right) % 2)


def _next(outline: Floats) -> Floats:
    """The corner after each one."""
    return np.concatenate((outline[1:], outline[:1]))


def _apart(a: Shape, b: Shape) -> float:
    """The distance between the boxes around two bodies: never more than that between the bodies, and quickly known."""
    between = np.maximum(a.points.min(axis=0) - b.points.max(axis=0), b.points.min(axis=0) - a.points.max(axis=0))
    return float(between.max()) - a.reach - b.reach


def _nearest(points: Floats, outline: Floats) -> float:
    """The smallest distance from any of the points to the sides of an outline."""
    start, end = outline, _next(outline)
    along = end - start
    square = np.maximum((along**2).sum(axis=-1), 1e-300)  # a single point is a side without length
    share = np.clip(((points[:, None] - start) * along).sum(axis=-1) / square, 0.0, 1.0)
    return float(np.linalg.norm(points[:, None] - start - share[..., None] * along, axis=-1).min())


def _cross(a: Floats, b: Floats) -> bool:
    """Whether a side of one outline crosses a side of the other."""
    p, r = a[:, None], (_next(a) - a)[:, None]
    q, s = b[None], (_next(b) - b)[None]
    between = q - p
    den = r[..., 0] * s[..., 1] - r[..., 1] * s[..., 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (between[..., 0] * s[..., 1] - between[..., 1] * s[..., 0]) / den
        u = (between[..., 0] * r[..., 1] - between[..., 1] * r[..., 0]) / den
    return bool(((den != 0.0) & (t > 0.0) & (t < 1.0) & (u > 0.0) & (u < 1.0)).any())


__all__ = ["Board", "Placed", "Remark", "Shape", "blocked", "contains", "disc", "gap", "inside", "nearest", "settle",
           "shape_of"]
