"""What motors and the floor do to bodies between two impacts. Each leaves the speed at the end, and the way in between."""

from __future__ import annotations

from math import cos, exp, expm1, sin, sqrt

from formiga.engine.planar.impulse.bodies import BALL, NODES, SLAB, SLIDING, WHEELS
from formiga.geometry import TINY
from formiga.kernels import kernel

WEIGHTS = (5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0)  # of the NODES
ROLLED = 0.05      # s: longest time over which a ball's way is taken from its first and its last speed


@kernel(forceinline=True)
def slowed(speed, dry, viscous, slow, h):
    """Speed of a ball after h: dry friction, which below `slow` grows with the speed, and viscous friction.

        dv/dt = -(F_c min(1, v/k) + f_v v)/(1.4 m)                     [Klancar et al. 2003, eq. 8-9]
    It comes to rest and never turns round.
    """
    if speed > slow:
        later = speed - (dry + viscous * speed) * h * (-expm1(-viscous * h) / (viscous * h) if viscous * h > 0.0 else 1.0)
        if later >= slow:
            return later
        h -= (speed - slow) / (dry + viscous * speed)
        speed = slow
    return speed * exp(-(viscous + dry / slow) * max(h, 0.0))


@kernel(forceinline=True)
def roll(b, h, floor, speed, rolling, shift):
    """A ball: slides until it rolls, if it can slide at all; then it slows. Both keep its direction.

        sliding: dv/dt = -mu g s/|s|, du/dt = 5/2 mu g s/|s|, s = v - u      (a solid ball; so it ends at 5/7 of v, from u = 0)
    """
    dry, viscous, slow, grip = floor[b, 0], floor[b, 1], floor[b, 2], floor[b, 4]
    vx, vy = speed[b, 0], speed[b, 1]
    wx = wy = 0.0                          # the way
    if grip > 0.0:
        sx, sy = vx - rolling[b, 0], vy - rolling[b, 1]
        slip = sqrt(sx * sx + sy * sy)
        if slip > 1e-9:
            time = min(h, slip / (3.5 * grip))
            dx, dy = -grip * time * sx / slip, -grip * time * sy / slip
            wx, wy = (vx + 0.5 * dx) * time, (vy + 0.5 * dy) * time
            vx, vy = vx + dx, vy + dy
            rolling[b, 0] -= 2.5 * dx
            rolling[b, 1] -= 2.5 * dy
            h -= time
    if h > 0.0:
        if floor[b, 3] > 0.0:              # each axis by itself, as printed: a ball at 45 degrees slows too fast
            fx, fy = slowed(abs(vx), dry, viscous, slow, h), slowed(abs(vy), dry, viscous, slow, h)
            ex, ey = (fx if vx >= 0.0 else -fx), (fy if vy >= 0.0 else -fy)
        else:
            fast = sqrt(vx * vx + vy * vy)
            share = slowed(fast, dry, viscous, slow, h) / fast if fast > 0.0 else 0.0
            ex, ey = vx * share, vy * share
        wx, wy = wx + 0.5 * (vx + ex) * h, wy + 0.5 * (vy + ey) * h
        vx, vy = ex, ey
        rolling[b, 0], rolling[b, 1] = vx, vy
    speed[b, 0], speed[b, 1] = vx, vy
    shift[b, 0], shift[b, 1], shift[b, 2] = wx, wy, speed[b, 2] * h


@kernel(forceinline=True)
def drive(b, h, usual, left, right, bodies, pose, speed, shift):
    """Two wheels with first-order motors. Forward speed and spin follow the wheels' orders:

        d omega/dt = (u - omega)/T, so omega(h) = u + (omega - u) exp(-h/T)          [Klancar et al. 2003, eq. 2]
    On sliding tyres what is left of a sideways speed is braked by mu g.
    """
    c, s = pose[b, 3], pose[b, 4]
    lag, kept = bodies.lag[b], bodies.kept[b, 0]
    if h != usual and lag > 0.0:
        kept = exp(-h / lag)
    mean = (1.0 - kept) * lag / h
    ahead, spin = speed[b, 0] * c + speed[b, 1] * s, speed[b, 2]
    wanted, turn = 0.5 * (left + right), (right - left) / bodies.base[b]
    way, angle = (wanted + (ahead - wanted) * mean) * h, (turn + (spin - turn) * mean) * h
    ahead, spin = wanted + (ahead - wanted) * kept, turn + (spin - turn) * kept
    half = 0.5 * angle
    sh, ch = sin(half), cos(half)
    way *= (sh + TINY) / (half + TINY)
    dx, dy = c * ch - s * sh, s * ch + c * sh
    shift[b, 0], shift[b, 1], shift[b, 2] = way * dx, way * dy, angle
    if bodies.kind[b] == SLIDING:
        aside = speed[b, 1] * c - speed[b, 0] * s
        later, way = braked(aside, bodies.floor[b, 0], h)
        shift[b, 0] -= s * way
        shift[b, 1] += c * way
        speed[b, 0], speed[b, 1], speed[b, 2] = ahead * c - later * s, ahead * s + later * c, spin
    else:
        speed[b, 0], speed[b, 1], speed[b, 2] = ahead * c, ahead * s, spin


@kernel(forceinline=True)
def braked(speed, grip, h):
    """Speed after h of dry friction, and the way until then; it stops and stays."""
    fast = abs(speed)
    if grip * h < fast:
        later = fast - grip * h
        way = 0.5 * (fast + later) * h
    else:
        later, way = 0.0, (0.5 * fast * fast / grip if fast > 0.0 else 0.0)
    return (later, way) if speed >= 0.0 else (-later, -way)


@kernel(forceinline=True)
def slide(b, h, floor, speed, shift):
    """A slab on the floor: dry friction against its motion and its spin."""
    vx, vy = speed[b, 0], speed[b, 1]
    fast = sqrt(vx * vx + vy * vy)
    later, way = braked(fast, floor[b, 0], h)
    ux, uy = (vx / fast, vy / fast) if fast > 0.0 else (0.0, 0.0)
    shift[b, 0], shift[b, 1], speed[b, 0], speed[b, 1] = way * ux, way * uy, later * ux, later * uy
    speed[b, 2], shift[b, 2] = braked(speed[b, 2], floor[b, 1], h)


@kernel(forceinline=True)
def forces(b, h, usual, w, orders, alive, bodies, room):
    """Motors and floor, for one body: its speed after h, and its way until then, if it meets nothing."""
    kind = bodies.kind[b]
    if kind == BALL:
        roll(b, h, bodies.floor, room.speed, room.roll, room.shift)
    elif kind == SLAB:
        slide(b, h, bodies.floor, room.speed, room.shift)
    elif alive[w, b]:
        drive(b, h, usual, orders[w, b, 0], orders[w, b, 1], bodies, room.pose, room.speed, room.shift)
    else:
        drive(b, h, usual, 0.0, 0.0, bodies, room.pose, room.speed, room.shift)


@kernel(forceinline=True)
def leap(b, h, rules, w, orders, alive, bodies, room):
    """A body that meets nothing, all the way at once: on wheels by the integral of its speed along its heading,

        x += int v(t) cos phi(t) dt,  phi(t) = phi + u t + (omega - u) T (1 - exp(-t/T)),
    with Gauss and Legendre's three points. The rest as in a substep.
    """
    pose, speed, shift = room.pose, room.speed, room.shift
    if h <= 0.0:
        return
    if bodies.kind[b] == SLIDING:
        while h > 1e-12:
            part = min(h, rules.substep)
            pose[b, 3], pose[b, 4] = cos(pose[b, 2]), sin(pose[b, 2])
            forces(b, part, rules.substep, w, orders, alive, bodies, room)
            for k in range(3):
                pose[b, k] += shift[b, k]
            h -= part
        return
    if bodies.kind[b] != WHEELS:
        while h > 1e-12:
            part = min(h, ROLLED)
            forces(b, part, rules.substep, w, orders, alive, bodies, room)
            for k in range(3):
                pose[b, k] += shift[b, k]
            h -= part
        return
    left, right = (orders[w, b, 0], orders[w, b, 1]) if alive[w, b] else (0.0, 0.0)
    lag, kept, heading, spin = bodies.lag[b], bodies.kept, pose[b, 2], speed[b, 2]
    c, s = cos(heading), sin(heading)
    ahead = speed[b, 0] * c + speed[b, 1] * s
    wanted, turn = 0.5 * (left + right), (right - left) / bodies.base[b]
    whole = h == rules.dt
    x = y = 0.0
    for k in range(3):
        t = NODES[k] * h
        left_over = kept[b, 2 + k] if whole else exp(-t / lag) if lag > 0.0 else 0.0
        angle = heading + turn * t + (spin - turn) * lag * (1.0 - left_over)
        way = WEIGHTS[k] * h * (wanted + (ahead - wanted) * left_over)
        x, y = x + way * cos(angle), y + way * sin(angle)
    left_over = kept[b, 1] if whole else exp(-h / lag) if lag > 0.0 else 0.0
    heading += turn * h + (spin - turn) * lag * (1.0 - left_over)
    ahead, spin = wanted + (ahead - wanted) * left_over, turn + (spin - turn) * left_over
    pose[b, 0], pose[b, 1], pose[b, 2] = pose[b, 0] + x, pose[b, 1] + y, heading
    speed[b, 0], speed[b, 1], speed[b, 2] = ahead * cos(heading), ahead * sin(heading), spin
