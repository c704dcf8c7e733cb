"""How a robot gets somewhere, and where a ball will be: what the programs here share.

A soccer robot has two wheels and no front: it drives as well backwards. Every move gives (v, omega) for `team.drive`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, cos, hypot, pi, remainder, sin, sqrt

from formiga.soccer.team import Ball, Pitch, Robot

TURN = 9.0         # rad/s for each radian that it looks aside
FASTEST_TURN = 20.0  # rad/s
BRAKE = 3.0        # m/s^2 that it counts on to come to a stand
CLOSE = 8.0        # 1/s: never faster than this times the way that is left; the motors are late by 0.06 s, the camera by 0.03 s
SLOWS = 0.14       # m/s^2: dry friction of the rolling ball, K_c g/1.4 [Klancar et al. 2003]
DRAGS = 0.08       # 1/s: its viscous friction
BOUNCE = 0.7       # what a board leaves of the ball's speed

Drive = tuple[float, float]
Point = tuple[float, float]


# -- driving ----------------------------------------------------------------------------------------------------------
def clip(value: float, least: float, most: float) -> float:
    """The nearest number that is in between."""
    return max(least, min(most, value))


def limited(v: float, omega: float, pitch: Pitch) -> Drive:
    """What the wheels can do of it. They turn first and drive with what is left."""
    omega = clip(omega, -FASTEST_TURN, FASTEST_TURN)
    left = pitch.top_speed - abs(omega) * pitch.wheel_base / 2
    return clip(v, -left, left), omega


def go(me: Robot, x: float, y: float, pitch: Pitch, *, arrive: float = 0.0, fastest: float = 9.0) -> Drive:
    """To a point, front or back first. arrive: the speed (m/s) to have there; 0 is to stop."""
    away, aside, way = me.distance(x, y), me.bearing(x, y), 1.0
    if abs(aside) > pi / 2:
        aside, way = remainder(aside - pi, 2 * pi), -1.0
    if away < 0.01 and arrive == 0.0:
        return 0.0, 0.0
    if abs(aside) > 0.3 and (free := leave_board(me, x, y, pitch)):
        return free
    speed = min(fastest, sqrt(arrive**2 + 2 * BRAKE * away), arrive + CLOSE * away)  # so that it can still stop
    return limited(way * speed * max(cos(aside), 0.0)**2, TURN * aside, pitch)


def leave_board(me: Robot, x: float, y: float, pitch: Pitch) -> Drive | None:
    """Away from a board that the robot lies along, on its way to a point; None if it lies along none.

    A square that touches a board with its whole side cannot turn on the spot: its corners are in the way. It must drive while
    it turns.
    """
    sx, sy, slope = copysign(1.0, me.x), copysign(1.0, me.y), sqrt(0.5)
    gap, nx, ny = min(  # to the nearest board, and the way from it
        (pitch.width / 2 - abs(me.y), 0.0, -sy),
        (pitch.length / 2 - abs(me.x), -sx, 0.0),
        (slope * (pitch.length / 2 + pitch.width / 2 - pitch.corner - abs(me.x) - abs(me.y)), -slope * sx, -slope * sy))
    if gap > pitch.side / 2 + 0.012:
        return None
    hx, hy = cos(me.heading), sin(me.heading)
    if abs(hx * nx + hy * ny) > 0.4 or (x - me.x) * nx + (y - me.y) * ny < 0.02:
        return None  # it does not lie along it, or does not want to leave
    way = copysign(1.0, (x - me.x) * hx + (y - me.y) * hy)
    return limited(0.45 * way, copysign(5.0, way * (hx * ny - hy * nx)), pitch)


def face(me: Robot, heading: float, pitch: Pitch) -> Drive:
    """Turn on the spot until the robot lies along `heading`; which end is ahead does not matter."""
    return limited(0.0, TURN * remainder(heading - me.heading, pi), pitch)


def slide(me: Robot, x: float, y: float, pitch: Pitch) -> Drive:
    """Along the line at `x`, across the field, to `y`: how a goalkeeper moves, always with its side to the ball."""
    if abs(me.x - x) > 0.03:
        return go(me, x, y, pitch)
    up = 1.0 if sin(me.heading) > 0.0 else -1.0
    lean = remainder(me.heading - up * pi / 2, 2 * pi)  # how far from straight up (or down)
    if abs(lean) > 0.5:
        return face(me, pi / 2, pitch)
    speed = copysign(min(sqrt(2 * BRAKE * abs(y - me.y)), CLOSE * abs(y - me.y)), y - me.y)
    back = clip(8.0 * (me.x - x), -0.3, 0.3)  # lean towards the line while it moves
    return limited(up * speed, -TURN * (lean - back * copysign(1.0, speed) * up) if abs(speed) > 0.05 else -TURN * lean, pitch)


def spin(left: bool) -> Drive:
    """On the spot, as fast as it goes: the corners hit a ball away."""
    return 0.0, copysign(3 * FASTEST_TURN, 1.0 if left else -1.0)


# -- the ball ---------------------------------------------------------------------------------------------------------
def rolled(ball: Ball, after: float, pitch: Pitch) -> Point:
    """Where the ball is after some seconds, if no robot touches it: it slows down, and the boards send it back."""
    speed = hypot(ball.vx, ball.vy)
    if speed < 0.02:
        return ball.x, ball.y
    slower = SLOWS + DRAGS * speed
    t = min(after, speed / slower)
    way = (speed * t - 0.5 * slower * t * t) / speed
    x = bounced(ball.x + ball.vx * way, pitch.length / 2 - pitch.ball_radius)
    return x, bounced(ball.y + ball.vy * way, pitch.width / 2 - pitch.ball_radius)


def bounced(at: float, board: float) -> float:
    """A coordinate that went through the board, sent back."""
    over = abs(at) - board
    return at if over <= 0.0 else copysign(board - BOUNCE * min(over, board), at)


def meet(ball: Ball, arrival: Callable[[float, float], float], pitch: Pitch) -> Point:
    """The first place on the ball's way that can be reached in time. arrival(x, y): s until one is there."""
    for tenths in range(16):
        x, y = rolled(ball, 0.1 * tenths, pitch)
        if arrival(x, y) <= 0.1 * tenths:
            break
    return x, y


def crossing(ball: Ball, x: float, pitch: Pitch) -> float | None:
    """Where (y) the ball will cross the line at `x`; None if it does not come there."""
    if (x - ball.x) * ball.vx <= 0.0 or abs(ball.vx) < 0.05:
        return None
    after = (x - ball.x) / ball.vx
    if 0.5 * SLOWS * after > hypot(ball.vx, ball.vy):  # it stops before
        return None
    return bounced(ball.y + ball.vy * after, pitch.width / 2 - pitch.ball_radius)


def towards(x: float, y: float, to_x: float, to_y: float) -> Point:
    """The direction from one point to another, of length 1."""
    away = hypot(to_x - x, to_y - y)
    return ((to_x - x) / away, (to_y - y) / away) if away > 1e-9 else (1.0, 0.0)
