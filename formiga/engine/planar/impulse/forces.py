"""What motors and the floor do to bodies between two impacts. Each leaves the speed at the end, and the way in between."""

from __future__ import annotations

from math import cos, exp, expm1, sin, sqrt

from formiga.geometry import TINY
from formiga.kernels import kernel

# Names of columns; one on each line would fill a page.
# isort: off
from formiga.engine.planar.impulse.bodies import (
    BALL, BEGAN, COS, FLOOR, FREE, HEADING, INVERSE_INERTIA, INVERSE_MASS, KEPT, LAG, LOAD, NODES, OMNI, ROLL_X, ROLL_Y,
    SHIFT_HEADING, SHIFT_X, SHIFT_Y, SIN, SLAB, SLIDING, SLIPS, SPIN, VX, VY, WHEELS, X, Y, YIELDS)
# isort: on

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


@kernel(inner=True, forceinline=True)
def roll(b, h, fact, moving):
    """A ball: slides until it rolls, if it can slide at all; then it slows. Both keep its direction.

        sliding: dv/dt = -mu g s/|s|, du/dt = 5/2 mu g s/|s|, s = v - u      (a solid ball; so it ends at 5/7 of v, from u = 0)
    """
    dry, viscous, slow, grip = fact[b, FLOOR], fact[b, FLOOR + 1], fact[b, FLOOR + 2], fact[b, FLOOR + 4]
    vx, vy = moving[b, VX], moving[b, VY]
    wx = wy = 0.0                          # the way
    if grip > 0.0:
        sx, sy = vx - moving[b, ROLL_X], vy - moving[b, ROLL_Y]
        slip = sqrt(sx * sx + sy * sy)
        if slip > 1e-9:
            time = min(h, slip / (3.5 * grip))
            dx, dy = -grip * time * sx / slip, -grip * time * sy / slip
            wx, wy = (vx + 0.5 * dx) * time, (vy + 0.5 * dy) * time
            vx, vy = vx + dx, vy + dy
            moving[b, ROLL_X] -= 2.5 * dx
            moving[b, ROLL_Y] -= 2.5 * dy
            h -= time
    if h > 0.0:
        if fact[b, FLOOR + 3] > 0.0:              # each axis by itself, as printed: a ball at 45 degrees slows too fast
            fx, fy = slowed(abs(vx), dry, viscous, slow, h), slowed(abs(vy), dry, viscous, slow, h)
            ex, ey = (fx if vx >= 0.0 else -fx), (fy if vy >= 0.0 else -fy)
        else:
            fast = sqrt(vx * vx + vy * vy)
            share = slowed(fast, dry, viscous, slow, h) / fast if fast > 0.0 else 0.0
            ex, ey = vx * share, vy * share
        wx, wy = wx + 0.5 * (vx + ex) * h, wy + 0.5 * (vy + ey) * h
        vx, vy = ex, ey
        moving[b, ROLL_X], moving[b, ROLL_Y] = vx, vy
    moving[b, VX], moving[b, VY] = vx, vy
    moving[b, FREE], moving[b, FREE + 1], moving[b, FREE + 2], moving[b, YIELDS] = vx, vy, moving[b, SPIN], 1.0
    moving[b, SHIFT_X], moving[b, SHIFT_Y], moving[b, SHIFT_HEADING] = wx, wy, moving[b, SPIN] * h


@kernel(inner=True, forceinline=True)
def drive(b, h, usual, wanted, turn, slides, fact, moving):
    """Wheels with first-order motors that cannot go aside. Speed ahead and spin follow what their orders would give:

        d omega/dt = (u - omega)/T, so omega(h) = u + (omega - u) exp(-h/T)          [Klancar et al. 2003, eq. 2]
    If it slides on its tyres, what is left of a sideways speed is braked by mu g.
    """
    c, s = moving[b, COS], moving[b, SIN]
    lag, kept = fact[b, LAG], fact[b, KEPT]
    if h != usual and lag > 0.0:
        kept = exp(-h / lag)
    mean = (1.0 - kept) * lag / h
    ahead, spin = moving[b, VX] * c + moving[b, VY] * s, moving[b, SPIN]
    way, angle = (wanted + (ahead - wanted) * mean) * h, (turn + (spin - turn) * mean) * h
    ahead, spin = wanted + (ahead - wanted) * kept, turn + (spin - turn) * kept
    half = 0.5 * angle
    sh, ch = sin(half), cos(half)
    way *= (sh + TINY) / (half + TINY)
    dx, dy = c * ch - s * sh, s * ch + c * sh
    moving[b, SHIFT_X], moving[b, SHIFT_Y], moving[b, SHIFT_HEADING] = way * dx, way * dy, angle
    moving[b, FREE], moving[b, FREE + 1], moving[b, FREE + 2], moving[b, YIELDS] = ahead, 0.0, spin, mean
    if slides:
        aside = moving[b, VY] * c - moving[b, VX] * s
        later, way = braked(aside, fact[b, FLOOR], h)
        moving[b, SHIFT_X] -= s * way
        moving[b, SHIFT_Y] += c * way
        moving[b, VX], moving[b, VY], moving[b, SPIN] = ahead * c - later * s, ahead * s + later * c, spin
    else:
        moving[b, VX], moving[b, VY], moving[b, SPIN] = ahead * c, ahead * s, spin


@kernel(inner=True, forceinline=True)
def roam(b, h, usual, vx, vy, turn, fact, moving):
    """Wheels that go any way: all three speeds in the body's frame follow the twist that was ordered, as in `drive`.

    What changes the velocity is the friction of the wheels: by at most mu g, and the spin by at most mu g m d/I.
    """
    c, s = moving[b, COS], moving[b, SIN]
    lag, kept = fact[b, LAG], fact[b, KEPT]
    if h != usual and lag > 0.0:
        kept = exp(-h / lag)
    mean = (1.0 - kept) * lag / h
    was_x, was_y, spin = moving[b, VX], moving[b, VY], moving[b, SPIN]
    ahead, aside = was_x * c + was_y * s, was_y * c - was_x * s
    way, across, angle = (vx + (ahead - vx) * mean) * h, (vy + (aside - vy) * mean) * h, (turn + (spin - turn) * mean) * h
    ahead, aside, later = vx + (ahead - vx) * kept, vy + (aside - vy) * kept, turn + (spin - turn) * kept
    moving[b, FREE + 2] = later
    if abs(later - spin) > fact[b, FLOOR + 1] * h:
        later = spin + (fact[b, FLOOR + 1] * h if later > spin else -fact[b, FLOOR + 1] * h)
        angle = 0.5 * (spin + later) * h
    half = 0.5 * angle
    sh, ch = sin(half), cos(half)
    stretch = (sh + TINY) / (half + TINY)
    mc, ms = c * ch - s * sh, s * ch + c * sh          # heading in the middle of the way, and at its end
    ec, es = mc * ch - ms * sh, ms * ch + mc * sh
    dx, dy = stretch * (way * mc - across * ms), stretch * (way * ms + across * mc)
    ex, ey = ahead * ec - aside * es, ahead * es + aside * ec
    moving[b, FREE], moving[b, FREE + 1], moving[b, YIELDS] = ex, ey, mean
    change = sqrt((ex - was_x) ** 2 + (ey - was_y) ** 2)
    if change > fact[b, FLOOR] * h:                    # the wheels slip
        share = fact[b, FLOOR] * h / change
        ex, ey = was_x + share * (ex - was_x), was_y + share * (ey - was_y)
        dx, dy = 0.5 * (was_x + ex) * h, 0.5 * (was_y + ey) * h
    moving[b, SHIFT_X], moving[b, SHIFT_Y], moving[b, SHIFT_HEADING] = dx, dy, angle
    moving[b, VX], moving[b, VY], moving[b, SPIN] = ex, ey, later


@kernel(inner=True, forceinline=True)
def braked(speed, grip, h):
    """Speed after h of dry friction, and the way until then; it stops and stays."""
    fast = abs(speed)
    if grip * h < fast:
        later = fast - grip * h
        way = 0.5 * (fast + later) * h
    else:
        later, way = 0.0, (0.5 * fast * fast / grip if fast > 0.0 else 0.0)
    return (later, way) if speed >= 0.0 else (-later, -way)


@kernel(inner=True, forceinline=True)
def slide(b, h, fact, moving):
    """A slab on the floor: dry friction against its motion and its spin."""
    vx, vy = moving[b, VX], moving[b, VY]
    fast = sqrt(vx * vx + vy * vy)
    later, way = braked(fast, fact[b, FLOOR], h)
    ux, uy = (vx / fast, vy / fast) if fast > 0.0 else (0.0, 0.0)
    moving[b, SHIFT_X], moving[b, SHIFT_Y], moving[b, VX], moving[b, VY] = way * ux, way * uy, later * ux, later * uy
    moving[b, SPIN], moving[b, SHIFT_HEADING] = braked(moving[b, SPIN], fact[b, FLOOR + 1], h)


@kernel(inner=True, forceinline=True)
def forces(b, h, usual, w, orders, alive, kind, fact, moving):
    """Motors and floor, for one body: its speed after h, and its way until then, if it meets nothing.
    orders (W, N, 3): twists."""
    if kind[b] == BALL:
        roll(b, h, fact, moving)
    elif kind[b] == SLAB:
        slide(b, h, fact, moving)
    elif kind[b] == OMNI:
        on = 1.0 if alive[w, b] else 0.0
        roam(b, h, usual, on * orders[w, b, 0], on * orders[w, b, 1], on * orders[w, b, 2], fact, moving)
    elif alive[w, b]:
        drive(b, h, usual, orders[w, b, 0], orders[w, b, 2], kind[b] == SLIDING, fact, moving)
    else:
        drive(b, h, usual, 0.0, 0.0, kind[b] == SLIDING, fact, moving)


@kernel(inner=True, forceinline=True)
def held_within(speed, goal, most):
    """`goal`, or as near to it as a change of `speed` by at most `most` comes."""
    return min(max(goal, speed - most), speed + most)


@kernel(inner=True, forceinline=True)
def settle(b, h, kind, fact, moving, mark):
    """Speed of a body after h, in which contacts and joints give it the impulses LOAD, and motors and floor act with them.

    Motors: a force F all through h leaves the speed of a wheel with the lag T behind what it would be by

        M dv/dt = M (u - v)/T + F,  so  v(h) = v_free(h) + F h/M Y,  Y = (1 - exp(-h/T)) T/h
    and in the long run by F T/M: a motor pushes with M (u - v)/T, whatever the substep. Without a lag, the wheels keep their
    speed with at most mu M g. Slabs, and tyres that slide: dry friction takes mu g h from what they would have without it, so
    what is pushed by less than mu M g stands.
    """
    m, i, was = fact[b, INVERSE_MASS], fact[b, INVERSE_INERTIA], BEGAN
    px, py, turn = m * moving[b, LOAD], m * moving[b, LOAD + 1], i * moving[b, LOAD + 2]
    if kind[b] == WHEELS or kind[b] == SLIDING:
        c, s, yields = moving[b, COS], moving[b, SIN], moving[b, YIELDS]
        along, across = px * c + py * s, py * c - px * s
        if yields > 0.0:
            ahead, spin = moving[b, FREE] + yields * along, moving[b, FREE + 2] + yields * turn
        else:
            ahead = held_within(moving[b, was] * c + moving[b, was + 1] * s + along, moving[b, FREE], fact[b, FLOOR + 2] * h)
            spin = held_within(moving[b, was + 2] + turn, moving[b, FREE + 2], fact[b, FLOOR + 3] * h)
        aside = 0.0
        if kind[b] == SLIDING:
            aside = held_within(moving[b, was + 1] * c - moving[b, was] * s + across, 0.0, fact[b, FLOOR] * h)
        elif mark[b, SLIPS]:
            aside = across
        moving[b, VX], moving[b, VY], moving[b, SPIN] = ahead * c - aside * s, ahead * s + aside * c, spin
        return
    vx, vy, spin = moving[b, was] + px, moving[b, was + 1] + py, moving[b, was + 2] + turn
    gx = gy = gw = 0.0                                 # where floor or motors would have it
    most, most_spin = fact[b, FLOOR] * h, fact[b, FLOOR + 1] * h
    if kind[b] == OMNI:
        y = moving[b, YIELDS]
        gx, gy, gw = moving[b, FREE] + y * px, moving[b, FREE + 1] + y * py, moving[b, FREE + 2] + y * turn
        most, most_spin = fact[b, FLOOR + 2] * h, fact[b, FLOOR + 3] * h
    off = sqrt((gx - vx) ** 2 + (gy - vy) ** 2)
    if off > most:
        gx, gy = vx + (gx - vx) * most / off, vy + (gy - vy) * most / off
    moving[b, VX], moving[b, VY], moving[b, SPIN] = gx, gy, held_within(spin, gw, most_spin)


@kernel(inner=True)
def leap(b, h, rules, w, orders, alive, kind, fact, moving):
    """A body that meets nothing, all the way at once: on wheels by the integral of its speed along its heading,

        x += int v(t) cos phi(t) dt,  phi(t) = phi + u t + (omega - u) T (1 - exp(-t/T)),
    with Gauss and Legendre's three points. The rest as in a substep.
    """
    if h <= 0.0:
        return
    if kind[b] == SLIDING or kind[b] == OMNI:
        while h > 1e-12:
            part = min(h, rules.substep)
            moving[b, COS], moving[b, SIN] = cos(moving[b, HEADING]), sin(moving[b, HEADING])
            forces(b, part, rules.substep, w, orders, alive, kind, fact, moving)
            for k in range(3):
                moving[b, X + k] += moving[b, SHIFT_X + k]
            h -= part
        return
    if kind[b] != WHEELS:
        while h > 1e-12:
            part = min(h, ROLLED)
            forces(b, part, rules.substep, w, orders, alive, kind, fact, moving)
            for k in range(3):
                moving[b, X + k] += moving[b, SHIFT_X + k]
            h -= part
        return
    wanted, turn = (orders[w, b, 0], orders[w, b, 2]) if alive[w, b] else (0.0, 0.0)
    lag, heading, spin = fact[b, LAG], moving[b, HEADING], moving[b, SPIN]
    c, s = cos(heading), sin(heading)
    ahead = moving[b, VX] * c + moving[b, VY] * s
    whole = h == rules.dt
    x = y = 0.0
    for k in range(3):
        t = NODES[k] * h
        left_over = fact[b, KEPT + 2 + k] if whole else exp(-t / lag) if lag > 0.0 else 0.0
        angle = heading + turn * t + (spin - turn) * lag * (1.0 - left_over)
        way = WEIGHTS[k] * h * (wanted + (ahead - wanted) * left_over)
        x, y = x + way * cos(angle), y + way * sin(angle)
    left_over = fact[b, KEPT + 1] if whole else exp(-h / lag) if lag > 0.0 else 0.0
    heading += turn * h + (spin - turn) * lag * (1.0 - left_over)
    ahead, spin = wanted + (ahead - wanted) * left_over, turn + (spin - turn) * left_over
    moving[b, X], moving[b, Y], moving[b, HEADING] = moving[b, X] + x, moving[b, Y] + y, heading
    moving[b, VX], moving[b, VY], moving[b, SPIN] = ahead * cos(heading), ahead * sin(heading), spin
