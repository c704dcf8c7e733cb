"""Robots that slide over a flat floor as their two treels pull them: no wheels, no contacts with the floor, real forces.

On a level floor a robot has three degrees of freedom; to hold up its weight by four contacts would cost more than all the
rest of its motion (docs/space.md). What the floor does along itself is here: each treel pulls towards the speed that its
motor turns at, and slips above its share of friction times weight.
"""

from __future__ import annotations

from math import cos, sin, sqrt

from formiga.kernels import kernel


@kernel()
def pull_all(robots, qpos, qvel, wheels, step, gravity, force):
    """Write the floor's forces on all sliding robots into `force` (nv,), from speeds `wheels` (N, 2) of the treels.

        F = m (v* - v) / h,  S = -m s / h,  T = I (w* - w) / h:   what reaches the speeds of the treels within a step
        each treel: (F/2 -+ T/b, S/2), cut to the friction circle  mu m g / 2
    v, s: speed of the chassis ahead and sideways; w: its turning rate; b: distance of the treels; h: the step.
    """
    for k in range(robots.number.shape[0]):
        a, chassis = robots.first[k], robots.chassis[k]
        theta, w = qpos[robots.place[k] + 2], qvel[a + 2]
        if chassis >= 0:  # the turret is what slides, and the chassis turns under it
            theta += qpos[robots.under[k]]
            w += qvel[chassis]
        c, s = cos(theta), sin(theta)
        ahead, aside = c * qvel[a] + s * qvel[a + 1], c * qvel[a + 1] - s * qvel[a]
        left, right = wheels[robots.number[k], 0], wheels[robots.number[k], 1]
        base, mass = robots.base[k], robots.mass[k]
        drive = mass * (0.5 * (left + right) - ahead) / step
        hold = -mass * aside / step
        turn = robots.inertia[k] * ((right - left) / base - w) / step
        limit = 0.5 * robots.friction[k] * mass * gravity
        along, across, torque = 0.0, 0.0, 0.0
        for side in (-1.0, 1.0):
            f, g = 0.5 * drive + side * turn / base, 0.5 * hold
            size = sqrt(f * f + g * g)
            share = limit / size if size > limit else 1.0
            along += share * f
            across += share * g
            torque += side * 0.5 * base * share * f
        force[a], force[a + 1], force[a + 2] = c * along - s * across, s * along + c * across, torque
        if chassis >= 0:
            force[chassis] = torque
