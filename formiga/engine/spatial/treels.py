"""Robots that slide over a flat floor as their drives pull them: no wheels, no contacts with the floor, real forces.

On a level floor a robot has three degrees of freedom; to hold up its weight by four contacts would cost more than all the
rest of its motion (docs/reference/space.md). What the floor does along itself is here: each treel pulls towards the speed that
its motor turns at, and slips above its share of friction times weight. As dry friction does, it pulls harder and harder at what
does not follow, up to that share, and lets go at once when it is overtaken.
"""

from __future__ import annotations

from math import cos, sin, sqrt

from formiga.kernels import kernel


@kernel()
def pull_all(number, facts, qpos, qvel, twist, step, gravity, strain, force):
    """Write the floor's forces on all sliding robots into `force` (nv,), from the twists (1, N, 3) of their drives.

    number, facts: `robots.Sliding`.

        F = m (v* - v) / h,  S = m (s* - s) / h,  T = I (w* - w) / h:   what reaches the twist within a step
        strain += F / 4, S / 4, T / 4, and 0 when its sign is not that of F, S, T: what still pulls if it does not follow
        each treel: (F/2 -+ T/b, S/2), strain added, cut to the friction circle  mu m g / 2
    v, s: speed of the chassis ahead and sideways; w: its turning rate; b: distance of the treels (of another drive, of two
    treels that hold a turn as its wheels do); h: the step. With a quarter
    of each step's force in the strain, the speed of a free robot that was held back settles without swinging.
    strain (3 n,): kept from step to step.
    """
    for k in range(number.shape[0]):
        i, place, first, under, chassis = number[k, 0], number[k, 1], number[k, 2], number[k, 3], number[k, 4]
        base, mass, inertia, friction = facts[k, 0], facts[k, 1], facts[k, 2], facts[k, 3]
        theta, w = qpos[place + 2], qvel[first + 2]
        if chassis >= 0:  # the turret is what slides, and the chassis turns under it
            theta += qpos[under]
            w += qvel[chassis]
        c, s = cos(theta), sin(theta)
        ahead, aside = c * qvel[first] + s * qvel[first + 1], c * qvel[first + 1] - s * qvel[first]
        drive = mass * (twist[0, i, 0] - ahead) / step
        hold = mass * (twist[0, i, 1] - aside) / step
        turn = inertia * (twist[0, i, 2] - w) / step
        limit = 0.5 * friction * mass * gravity
        strain[3 * k] = kept(strain[3 * k], drive, 2.0 * limit)
        strain[3 * k + 1] = kept(strain[3 * k + 1], hold, 2.0 * limit)
        strain[3 * k + 2] = kept(strain[3 * k + 2], turn, limit * base)
        drive, hold, turn = drive + strain[3 * k], hold + strain[3 * k + 1], turn + strain[3 * k + 2]
        along, across, torque = 0.0, 0.0, 0.0
        for side in (-1.0, 1.0):
            f, g = 0.5 * drive + side * turn / base, 0.5 * hold
            size = sqrt(f * f + g * g)
            share = limit / size if size > limit else 1.0
            along += share * f
            across += share * g
            torque += side * 0.5 * base * share * f
        force[first], force[first + 1], force[first + 2] = c * along - s * across, s * along + c * across, torque
        if chassis >= 0:
            force[chassis] = torque


@kernel()
def kept(strain, force, most):
    """A strain after another step: it grows by a quarter of the force that is wanted, and goes when that turns round."""
    return 0.0 if strain * force < 0.0 else max(-most, min(most, strain + 0.25 * force))
