"""Every game of a batch at once: what the others do, what is seen, what is earned, where the robots start.

A team sees the field as if it played from left to right: yellow's is turned by half a turn, about which a robot's left
wheel stays its left wheel.
"""

from __future__ import annotations

from math import cos, isnan, log, pi, sin, sqrt
from typing import Any, NamedTuple

from formiga.kernels import kernel
from formiga.noise import channel, either, stream, unit

MOTORS = channel("motors")         # the same noise as in act/wheels.py
DRIFT, PLACES = channel("soccer", "drift"), channel("soccer", "places")
LEARNS, STILL, RANDOM, CHASE = -1, 0, 1, 2

CUT = 1.2                          # observations go no further [rSoccer]
PULL, SPREAD = 0.17, 0.5           # 1/s and 1/sqrt(s), of the random walk of wheel speeds in top speeds [rSoccer]
STEEP, FAST, MOST = 3.0, 0.4, 5.0  # factor of the ball's way; m/s that count as 1; where both terms are cut [rSoccer]
GAP = 1e-3                         # m that are left between bodies at the start
TRIES = 1000


class Game(NamedTuple):
    """What never changes. N = 2 P robots, of which A learn."""

    dt: float
    limit: int             # steps of an episode
    players: int           # P
    first: Any             # (2,) the first robot of blue, of yellow
    agents: Any            # (A,) robots that learn
    role: Any              # (N,) LEARNS, STILL, RANDOM, CHASE
    top: Any               # (N,) m/s
    base: Any              # (N,) m, between the wheels
    motor_noise: Any       # (N,)
    radius: Any            # (N,) m, of the circle around it
    ball: int              # its number among the movables
    ball_radius: float
    half: float            # m, half of the field's length
    broad: float           # m, half of its width
    depth: float           # m, of the goals
    goal: float            # m, half of their width
    corner: float          # m, side of the triangle in a corner
    weight: Any            # (4,) of goal, ball, move, energy
    kickoff: Any           # (2, N, 3) poses at a kick-off of blue, of yellow
    anywhere: bool         # whether an episode starts anywhere, and not with a kick-off


class Now(NamedTuple):
    """Arrays of the state."""

    position: Any
    heading: Any
    velocity: Any
    movables: Any
    done: Any
    step: Any
    key: Any


class Book(NamedTuple):
    """What is written down about W worlds."""

    actions: Any           # (W, A, 2) in top speeds
    orders: Any            # (W, N, 2) m/s
    drift: Any             # (W, N, 2) random walks, in top speeds
    potential: Any         # (W,) of the ball
    ended: Any             # (W,) a goal was scored
    late: Any              # (W,) none was, and the time is over
    inputs: Any            # (W, A, 4 + 12 P) what each agent sees
    terms: Any             # (W, A, 4) what each agent earned in the last step
    reward: Any            # (W, A) their sum


# -- orders -----------------------------------------------------------------------------------------------------------
@kernel()
def drive(game, now, book):
    """Orders of all robots, from the actions and from what the others do; nothing if an action is not a number.

    Returns whether all are.
    """
    for w in range(now.done.shape[0]):
        for a in range(game.agents.shape[0]):
            if isnan(book.actions[w, a, 0]) or isnan(book.actions[w, a, 1]):
                return False
    for w in range(now.done.shape[0]):
        if now.done[w]:
            continue
        for a in range(game.agents.shape[0]):
            book.orders[w, game.agents[a], 0], book.orders[w, game.agents[a], 1] = book.actions[w, a, 0], book.actions[w, a, 1]
        for i in range(game.role.shape[0]):
            left, right = book.orders[w, i, 0], book.orders[w, i, 1]
            if game.role[i] == STILL:
                left = right = 0.0
            elif game.role[i] == RANDOM:
                left, right = walk(w, i, game.dt, now, book.drift)
            elif game.role[i] == CHASE:
                left, right = chase(w, i, game.ball, now)
            left, right = cut(left, 1.0) * game.top[i], cut(right, 1.0) * game.top[i]
            if game.motor_noise[i] > 0.0:
                start = stream(now.key[w], i, now.step[w], MOTORS)
                left *= 1.0 + either(start, 0, game.motor_noise[i])
                right *= 1.0 + either(start, 1, game.motor_noise[i])
            book.orders[w, i, 0], book.orders[w, i, 1] = left, right
    return True


@kernel()
def walk(w, i, dt, now, drift):
    """Two wheels that wander: x' = x - 0.17 x dt + 0.5 sqrt(dt) n, an Ornstein-Uhlenbeck process. [rSoccer]"""
    start = stream(now.key[w], i, now.step[w], DRIFT)
    far, angle = sqrt(-2.0 * log(1.0 - unit(start, 0))), 2.0 * pi * unit(start, 1)  # two normal numbers: Box and Muller
    drift[w, i, 0] += -PULL * drift[w, i, 0] * dt + SPREAD * sqrt(dt) * far * cos(angle)
    drift[w, i, 1] += -PULL * drift[w, i, 1] * dt + SPREAD * sqrt(dt) * far * sin(angle)
    return drift[w, i, 0], drift[w, i, 1]


@kernel()
def chase(w, i, ball, now):
    """Straight at the ball, forwards or backwards."""
    dx, dy = now.movables[w, ball, 0] - now.position[w, i, 0], now.movables[w, ball, 1] - now.position[w, i, 1]
    c, s, far = cos(now.heading[w, i]), sin(now.heading[w, i]), max(sqrt(dx * dx + dy * dy), 1e-9)
    ahead, turn = (dx * c + dy * s) / far, (dy * c - dx * s) / far
    if ahead < 0.0:
        turn = -turn
    return ahead - turn, ahead + turn


@kernel(inline="always")
def cut(value, most):
    """Between -most and most."""
    return min(most, max(-most, value))


# -- what is seen -----------------------------------------------------------------------------------------------------
@kernel()
def see(w, game, now, book):
    """Write the inputs of all learning robots in world w."""
    P, far = game.players, game.half + game.depth
    ball = now.movables[w, game.ball]
    for a in range(game.agents.shape[0]):
        me, row = game.agents[a], book.inputs[w, a]
        blue = game.first[0] <= me < game.first[0] + P
        side = 1.0 if blue else -1.0
        ours, theirs = (game.first[0], game.first[1]) if blue else (game.first[1], game.first[0])
        fast = 2.0 * game.top[me]  # a kicked ball is faster than any robot
        row[0], row[1] = cut(side * ball[0] / far, CUT), cut(side * ball[1] / far, CUT)
        row[2], row[3] = cut(side * ball[3] / fast, CUT), cut(side * ball[4] / fast, CUT)
        k = 4
        for turn in range(P):  # it itself, then the others in their order
            i = me if turn == 0 else (ours + turn - 1 if ours + turn - 1 < me else ours + turn)
            row[k], row[k + 1] = cut(side * now.position[w, i, 0] / far, CUT), cut(side * now.position[w, i, 1] / far, CUT)
            row[k + 2], row[k + 3] = side * sin(now.heading[w, i]), side * cos(now.heading[w, i])
            moving(w, i, side, game, now, row, k + 4)
            k += 7
        for i in range(theirs, theirs + P):
            row[k], row[k + 1] = cut(side * now.position[w, i, 0] / far, CUT), cut(side * now.position[w, i, 1] / far, CUT)
            moving(w, i, side, game, now, row, k + 2)
            k += 5


@kernel()
def moving(w, i, side, game, now, row, k):
    """Velocity in top speeds; spin in that of two wheels at full speed against each other."""
    top = game.top[i]
    row[k], row[k + 1] = cut(side * now.velocity[w, i, 0] / top, CUT), cut(side * now.velocity[w, i, 1] / top, CUT)
    row[k + 2] = cut(now.velocity[w, i, 2] * game.base[i] / (2.0 * top), CUT)


# -- what is earned ---------------------------------------------------------------------------------------------------
@kernel()
def potential(w, game, now):
    """How much nearer the ball is to the right goal than to the left one, in lengths of the field. [rSoccer]

        ( |ball, left goal| - |ball, right goal| ) / 2 length,     |dx, dy| = sqrt(dx^2 + 2 dy^2)

    from the middle of each goal's back wall; dy counts more, so that a ball in front of a goal is better than one beside it.
    """
    x, y, far = now.movables[w, game.ball, 0], now.movables[w, game.ball, 1], game.half + game.depth
    left, right = sqrt((far + x) ** 2 + 2.0 * y * y), sqrt((far - x) ** 2 + 2.0 * y * y)
    return (left - right) / (4.0 * game.half)


@kernel()
def judge(game, now, book):
    """After a step: rewards, goals, worlds whose time is over, and what each agent sees."""
    for w in range(now.done.shape[0]):
        x, y = now.movables[w, game.ball, 0], now.movables[w, game.ball, 1]
        if book.ended[w]:  # in an earlier step
            for a in range(game.agents.shape[0]):
                book.reward[w, a] = 0.0
                for k in range(4):
                    book.terms[w, a, k] = 0.0
            continue
        scored = 0.0
        if abs(x) > game.half and abs(y) < game.goal:
            scored = 1.0 if x > 0.0 else -1.0
            now.done[w] = True
        book.ended[w] = now.done[w]
        book.late[w] = now.step[w] >= game.limit and not now.done[w]
        here = potential(w, game, now)
        gained = cut(STEEP * (here - book.potential[w]) / game.dt, MOST)
        book.potential[w] = here
        for a in range(game.agents.shape[0]):
            i, terms = game.agents[a], book.terms[w, a]
            side = 1.0 if game.first[0] <= i < game.first[0] + game.players else -1.0
            dx, dy = x - now.position[w, i, 0], y - now.position[w, i, 1]
            closing = (dx * now.velocity[w, i, 0] + dy * now.velocity[w, i, 1]) / max(sqrt(dx * dx + dy * dy), 1e-9)
            terms[0] = game.weight[0] * side * scored
            terms[1] = game.weight[1] * side * gained
            terms[2] = game.weight[2] * cut(closing / FAST, MOST)
            terms[3] = -game.weight[3] * 0.5 * (abs(cut(book.actions[w, a, 0], 1.0)) + abs(cut(book.actions[w, a, 1], 1.0)))
            book.reward[w, a] = terms[0] + terms[1] + terms[2] + terms[3]
        see(w, game, now, book)


# -- how it starts ----------------------------------------------------------------------------------------------------
@kernel()
def begin(chosen, game, now, book):
    """Put all bodies in the chosen worlds (a mask) where their keys say. Returns whether there was room."""
    fits = True
    for w in range(chosen.shape[0]):
        if not chosen[w]:
            continue
        if not game.anywhere:
            kick_off(w, game, now)
        elif not scatter(w, game, now):
            fits = False
        for i in range(game.role.shape[0]):
            book.drift[w, i, 0] = book.drift[w, i, 1] = 0.0
    return fits


@kernel()
def look(chosen, game, now, book):
    """See the chosen worlds as they are; the ball's way is counted from here."""
    for w in range(chosen.shape[0]):
        if chosen[w]:
            book.ended[w], book.late[w] = now.done[w], now.step[w] >= game.limit and not now.done[w]
            book.potential[w] = potential(w, game, now)
            see(w, game, now, book)


@kernel()
def kick_off(w, game, now):
    """Either team's, as the coin falls."""
    taker = 0 if unit(stream(now.key[w], 0, 0, PLACES), 0) < 0.5 else 1
    for i in range(game.role.shape[0]):
        pose = game.kickoff[taker, i]
        now.position[w, i, 0], now.position[w, i, 1], now.heading[w, i] = pose[0], pose[1], pose[2]
    now.movables[w, game.ball, 0] = now.movables[w, game.ball, 1] = 0.0


@kernel()
def scatter(w, game, now):
    """The ball, then one robot after another, anywhere on the field that is free; False if no place was found."""
    for n in range(game.role.shape[0] + 1):
        i = n - 1  # -1 is the ball
        reach = (game.ball_radius if i < 0 else game.radius[i]) + GAP
        start, found = stream(now.key[w], n, 0, PLACES), False
        for k in range(TRIES):
            x, y = either(start, 3 * k, game.half - reach), either(start, 3 * k + 1, game.broad - reach)
            if free(w, x, y, i, reach, game, now):
                found = True
                if i < 0:
                    now.movables[w, game.ball, 0], now.movables[w, game.ball, 1] = x, y
                else:
                    now.position[w, i, 0], now.position[w, i, 1] = x, y
                    now.heading[w, i] = either(start, 3 * k + 2, pi)
                break
        if not found:
            return False
    return True


@kernel()
def free(w, x, y, i, reach, game, now):
    """Whether a circle is clear of the corners, of the ball and of the robots before i. Board and goals are not near."""
    if abs(x) + abs(y) > game.half + game.broad - game.corner - sqrt(2.0) * reach:
        return False
    if i < 0:
        return True
    if apart(x, y, now.movables[w, game.ball]) < reach + game.ball_radius:
        return False
    for j in range(i):
        if apart(x, y, now.position[w, j]) < reach + game.radius[j]:
            return False
    return True


@kernel(inline="always")
def apart(x, y, other):
    """The distance to another's centre."""
    return sqrt((x - other[0]) ** 2 + (y - other[1]) ** 2)
