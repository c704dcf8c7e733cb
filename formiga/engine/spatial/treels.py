"""Robots that slide over a flat floor as their drives pull them: no wheels, no contacts with the floor, real forces.

On a level floor a robot has three degrees of freedom; to hold up its weight by four contacts would cost more than all the
rest of its motion (docs/reference/space.md). What the floor does along itself is here: each treel pulls towards the speed that
its motor turns at, and slips above its share of friction times weight. As dry friction does, it pulls harder and harder at what
does not follow, up to that share, and lets go at once when it is overtaken.
"""

from __future__ import annotations

from math import cos, sin, sqrt

from formiga.kernels import kernel

SHALLOW = 1e-9  # m: contacts count as at least so deep
UPRIGHT = 0.8   # cosine of the angle to the ground's normal, from which on a robot has fallen over
SLIPS = 0.05    # m/s: if it slips faster then, forces of treels that would do work are replaced by dry friction


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


@kernel()
def eased(strain, force, most):
    """The same of treels that bear weight: it goes as fast as the force that turned round asks for. What hardly moves, or moves
    steadily up a slope, keeps it, whatever the last bits of its speed do."""
    if strain * force < 0.0:
        return strain + force if abs(force) < abs(strain) else 0.0
    return max(-most, min(most, strain + 0.25 * force))


@kernel()
def share_out(k, m, ahead, aside, turning, facts, step, memory, work):
    """Columns 2 to 5 of work[k]: the forces f ahead of the left and the right treel, then g aside, of robot k whose speeds
    are too low by `ahead`, `aside` and `turning`; its memory begins at m. F, S and T are those of `pull_all`; the force of each
    treel is limited by its motor and by the friction under its normal force N:

        f = F/2 -+ T/b, |f| <= mu m g / 2;   g = S N / sum N;   (f, g) cut to the circle  mu N
    """
    base, mass, inertia, motor = facts[0], facts[1], facts[2], facts[3]
    drive, hold, spin = mass * ahead / step, mass * aside / step, inertia * turning / step
    bears = memory[m + 3] + memory[m + 4]
    pulls = min(bears, 2.0 * motor)
    memory[m] = eased(memory[m], drive, pulls)
    memory[m + 1] = eased(memory[m + 1], hold, bears)
    memory[m + 2] = eased(memory[m + 2], spin, 0.5 * pulls * base)
    drive, hold, spin = drive + memory[m], hold + memory[m + 1], spin + memory[m + 2]
    for d in range(2):
        limit = memory[m + 3 + d]
        f = max(-motor, min(motor, 0.5 * drive + (2.0 * d - 1.0) * spin / base))
        g = hold * limit / bears if bears > 0.0 else 0.0
        size = sqrt(f * f + g * g)
        share = limit / size if size > limit else 1.0
        work[k, 2 + d], work[k, 4 + d] = share * f, share * g


@kernel()
def rubbing(slip, far, limit, points, facts, step):
    """Dry friction at one of the points that a robot slips on, over the speed of that slip: at most what stops it in a step.

        F = -min(mu N, m_e s / h),   1/m_e = points (1/m + r^2/I)
    far: r^2, from the centre of mass.
    """
    stops = 1.0 / (step * points * (1.0 / facts[1] + far / facts[2]))
    return stops if stops * slip <= limit else limit / slip


@kernel("void(int64[:, :], float64[:, :], int64[:, :], float64[:, :], float64[:], float64[:, :, :], float64, int32[:, :], "
        "float64[:, :], float64[:, :], float64[:], float64[:, :], float64[:, :], float64[:], float64[:])")
def roll_all(number, facts, side, work, qvel, twist, step, geom, frame, point, gap, place, turn, memory, force):
    """Write what treels that stand on the ground pull with into `force` (nv,), between the two halves of MuJoCo's step.

    The forces of `share_out` act where the treel touches, deeper contacts with more of it, along the surface of the treel:
    e_y x n, which is ahead on the flat and up on the face of a step. Where they would do work at points that slip, of a
    robot that fell over, dry friction takes their place: `rubbing`.

    number (n, 3) int64: robot, first of its six speeds, its body; facts (n, 5): distance of the treels, mass, inertia, what one
    motor pulls with, height of the centre of mass, whose speed counts: a force on the floor changes it by F h/m, however the
    robot tips; side (geoms, 3): which of the n has this treel, or -1; 0: the left one, 1: the right one; its row in the table
    of frictions; work (n, 10): for the left and the right treel depth, f, g; number of contacts, power of their forces, square
    of the fastest slip, largest cosine of the angles between the robot's axis and the normals; twist (1, N, 3); geom, frame,
    point, gap: of MuJoCo's contacts; place (bodies, 3), turn (bodies, 9): of bodies; memory (5 n,): strains ahead, aside,
    turning, and mu N of the left treel and of the right one, kept from step to step.
    """
    for k in range(number.shape[0]):
        i, first, body = number[k, 0], number[k, 1], number[k, 2]
        vx, vy, vz = qvel[first], qvel[first + 1], qvel[first + 2]
        ahead = turn[body, 0] * vx + turn[body, 3] * vy + turn[body, 6] * vz + facts[k, 4] * qvel[first + 4]
        aside = turn[body, 1] * vx + turn[body, 4] * vy + turn[body, 7] * vz - facts[k, 4] * qvel[first + 3]
        share_out(k, 5 * k, twist[0, i, 0] - ahead, twist[0, i, 1] - aside, twist[0, i, 2] - qvel[first + 5], facts[k], step,
                  memory, work)
        work[k, 0] = work[k, 1] = 0.0
        work[k, 6:10] = 0.0
        for d in range(6):
            force[first + d] = 0.0
    for c in range(geom.shape[0]):
        a = geom[c, 1] if side[geom[c, 1], 0] >= 0 else geom[c, 0]
        if side[a, 0] >= 0:
            work[side[a, 0], side[a, 1]] += max(-gap[c], SHALLOW)
            work[side[a, 0], 6] += 1.0
    for rubs in range(2):
        for c in range(geom.shape[0]):
            upper = side[geom[c, 1], 0] >= 0  # MuJoCo's normal points from the first geom to the second one
            a = geom[c, 1] if upper else geom[c, 0]
            k, d = side[a, 0], side[a, 1]
            if k < 0 or (rubs and work[k, 7] <= 0.0):
                continue
            i, first, body, sign = number[k, 0], number[k, 1], number[k, 2], 1.0 if upper else -1.0
            nx, ny, nz = sign * frame[c, 0], sign * frame[c, 1], sign * frame[c, 2]
            yx, yy, yz = turn[body, 1], turn[body, 4], turn[body, 7]
            tx, ty, tz = yy * nz - yz * ny, yz * nx - yx * nz, yx * ny - yy * nx  # e_y x n
            size = sqrt(tx * tx + ty * ty + tz * tz)
            if size < SHALLOW:  # it touches with its side
                continue
            share = max(-gap[c], SHALLOW) / work[k, d]
            x, y, z = point[c, 0] - place[body, 0], point[c, 1] - place[body, 1], point[c, 2] - place[body, 2]
            p, q, r = qvel[first + 3], qvel[first + 4], qvel[first + 5]
            wx = turn[body, 0] * p + turn[body, 1] * q + turn[body, 2] * r
            wy = turn[body, 3] * p + turn[body, 4] * q + turn[body, 5] * r
            wz = turn[body, 6] * p + turn[body, 7] * q + turn[body, 8] * r
            belt = (twist[0, i, 0] + (d - 0.5) * twist[0, i, 2] * facts[k, 0]) / size
            sx = qvel[first] + wy * z - wz * y - belt * tx
            sy = qvel[first + 1] + wz * x - wx * z - belt * ty
            sz = qvel[first + 2] + wx * y - wy * x - belt * tz
            away = sx * nx + sy * ny + sz * nz
            sx, sy, sz = sx - away * nx, sy - away * ny, sz - away * nz
            if rubs:
                up = facts[k, 4]
                far = (x - up * turn[body, 2]) ** 2 + (y - up * turn[body, 5]) ** 2 + (z - up * turn[body, 8]) ** 2
                rub = rubbing(sqrt(sx * sx + sy * sy + sz * sz), far, share * memory[5 * k + 3 + d], work[k, 6], facts[k], step)
                fx, fy, fz = -rub * sx, -rub * sy, -rub * sz
            else:
                f, g = share * work[k, 2 + d] / size, share * work[k, 4 + d]
                along = nx * yx + ny * yy + nz * yz
                fx = f * tx + g * (yx - along * nx)
                fy = f * ty + g * (yy - along * ny)
                fz = f * tz + g * (yz - along * nz)
                work[k, 7] += fx * sx + fy * sy + fz * sz
                work[k, 8] = max(work[k, 8], sx * sx + sy * sy + sz * sz)
                work[k, 9] = max(work[k, 9], turn[body, 2] * nx + turn[body, 5] * ny + turn[body, 8] * nz)
            mx, my, mz = y * fz - z * fy, z * fx - x * fz, x * fy - y * fx
            force[first] += fx
            force[first + 1] += fy
            force[first + 2] += fz
            for e in range(3):
                force[first + 3 + e] += turn[body, e] * mx + turn[body, 3 + e] * my + turn[body, 6 + e] * mz
        if rubs:
            break
        for k in range(number.shape[0]):
            if work[k, 8] <= SLIPS * SLIPS or work[k, 9] >= UPRIGHT:
                work[k, 7] = 0.0
            if work[k, 7] > 0.0:
                memory[5 * k] = memory[5 * k + 1] = memory[5 * k + 2] = 0.0
                for d in range(6):
                    force[number[k, 1] + d] = 0.0


@kernel("void(int64[:, :], int64[:, :], int32[:, :], float64[:, :], int32[:], float64[:], float64, float64[:])")
def weigh_all(number, side, geom, friction, row, force, share, memory):
    """Note mu N of all treels after a step; it follows the contacts' normal forces by `share`. friction (kinds, geoms): of
    the treels' surfaces on all geoms. Other arrays as in `roll_all`."""
    for k in range(number.shape[0]):
        memory[5 * k + 3] *= 1.0 - share
        memory[5 * k + 4] *= 1.0 - share
    for c in range(geom.shape[0]):
        a, b = (geom[c, 1], geom[c, 0]) if side[geom[c, 1], 0] >= 0 else (geom[c, 0], geom[c, 1])
        if side[a, 0] >= 0 and row[c] >= 0:
            mu = friction[side[a, 2], b]
            memory[5 * side[a, 0] + 3 + side[a, 1]] += share * mu * force[row[c]]
