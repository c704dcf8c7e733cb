"""Robots that stand on a level floor: its normal forces by a law of our own, so that MuJoCo has no contacts to find."""

from __future__ import annotations

from math import sqrt

from formiga.engine.spatial.treels import SHALLOW, SLIPS, UPRIGHT, rubbing, share_out
from formiga.kernels import kernel

MASS, MIDDLE, HALF_TRACK, RADIUS, HALF_LENGTH, ACROSS, STIFFNESS, DAMPING, FRICTION = 1, 4, 5, 6, 7, 8, 9, 10, 11
KEPT = 11     # numbers that each keeps from step to step
LEARNT = 0.5  # of an error in the speed that was foreseen: in a few steps other forces are known
DEEP, SOFTER = 0.002, 0.1  # m; from there on springs are so much softer, or what came in fast would be shot out again
CALM = 0.3, 3.0  # m/s, rad/s: a robot that moves faster up or down, or tips faster, is not borne by loads; none are learnt
ROUNDS = 8    # in which contacts that pull are let go and others come back; two are usual


@kernel("void(int64[:, :], float64[:, :], float64[:, :], float64[:], float64[:], float64[:, :, :], float64, float64, "
        "float64[:], float64[:])")
def stand_all(number, facts, work, qpos, qvel, twist, step, gravity, memory, force):
    """Write the forces of a level floor on robots that stand on two treels of two points each into `force` (nv,).

    Each point is a spring and a damper that never pull, taken at the end of the step (implicit Euler):
        N_i = max(0, k p_i - (k h + c) w_i'),   w_i' = n_i . u',   n_i = (1, y_i, -x_i)
        (M + h (k h + c) sum n_i n_i^T) u' = M u + h f + h sum k p_i n_i,   M = diag(m, J, J)
    u = (v_z, omega_x, omega_y) of the centre of mass; p: depth; x, y: from the centre of mass; f: weight, the torque of the
    forces along the floor, which are those of `treels.share_out`, and what else pulls, such as grips and loads. It shows in the
    error of the speed u' that was foreseen in the last step: d += M (u - u') / 2h, while it is calm. So it tips, and is lifted
    by others. Forces along the floor that would do work at points that slip, of a robot that fell over, are replaced by dry
    friction, `treels.rubbing`.

    number (n, 3) int64: robot, first of its places, first of its speeds; facts (n, 12): as in `treels.roll_all`, half the
    distance of the treels, radius of their ends, half the distance of the points of one, inertia about a horizontal axis, k, c,
    friction; work (n, 34): 0 to 5 as in `roll_all`, then x y z of the four points, what each bears, x y of its slip, p; memory
    (11 n,): strains ahead, aside, turning; mu N of the left treel and of the right one; u'; d.
    """
    for k in range(number.shape[0]):
        i, at, first, fact, m0 = number[k, 0], number[k, 1], number[k, 2], facts[k], KEPT * k
        a, b, c, d = qpos[at + 3], qpos[at + 4], qpos[at + 5], qpos[at + 6]
        xx, xy, xz = 1.0 - 2.0 * (c * c + d * d), 2.0 * (b * c + a * d), 2.0 * (b * d - a * c)   # the robot's axes
        yx, yy, yz = 2.0 * (b * c - a * d), 1.0 - 2.0 * (b * b + d * d), 2.0 * (c * d + a * b)
        zx, zy, zz = 2.0 * (b * d + a * c), 2.0 * (c * d - a * b), 1.0 - 2.0 * (b * b + c * c)
        vx, vy, vz = qvel[first], qvel[first + 1], qvel[first + 2]
        p, q, r = qvel[first + 3], qvel[first + 4], qvel[first + 5]
        wx, wy, wz = xx * p + yx * q + zx * r, xy * p + yy * q + zy * r, xz * p + yz * q + zz * r
        share_out(k, m0, twist[0, i, 0] - (xx * vx + xy * vy + xz * vz + fact[MIDDLE] * q),
                  twist[0, i, 1] - (yx * vx + yy * vy + yz * vz - fact[MIDDLE] * p), twist[0, i, 2] - r, fact, step, memory,
                  work)
        cx, cy, cz = fact[MIDDLE] * zx, fact[MIDDLE] * zy, fact[MIDDLE] * zz
        flat = sqrt(yx * yx + yy * yy)  # less than 1 if it lies on its side; e_y x e_z points ahead
        ahead_x, ahead_y = (yy / flat, -yx / flat) if flat > SHALLOW else (0.0, 0.0)
        along_x, along_y = 0.0, 0.0
        for side in range(2):
            along_x += work[k, 2 + side] * ahead_x + work[k, 4 + side] * yx
            along_y += work[k, 2 + side] * ahead_y + work[k, 4 + side] * yy
        for e in range(4):
            x, y = (1.0 - 2.0 * (e // 2)) * fact[HALF_LENGTH], (1.0 - 2.0 * (e % 2)) * fact[HALF_TRACK]
            work[k, 6 + 3 * e] = x * xx + y * yx + fact[RADIUS] * zx
            work[k, 7 + 3 * e] = x * xy + y * yy + fact[RADIUS] * zy
            work[k, 8 + 3 * e] = x * xz + y * yz + fact[RADIUS] * (zz - 1.0)
            depth = -(qpos[at + 2] + work[k, 8 + 3 * e])
            work[k, 30 + e] = depth if depth < DEEP else DEEP + SOFTER * (depth - DEEP)
        stiff, firm, m, j = fact[STIFFNESS], fact[STIFFNESS] * step + fact[DAMPING], fact[MASS], fact[ACROSS]
        height, up = qpos[at + 2] + cz, vz + wx * cy - wy * cx
        calm = abs(up) < CALM[0] and wx * wx + wy * wy < CALM[1] * CALM[1]
        for e, (inertia, speed) in enumerate(((m, up), (j, wx), (j, wy))):
            learnt = memory[m0 + 8 + e] + LEARNT * inertia * (speed - memory[m0 + 5 + e]) / step
            memory[m0 + 8 + e] = learnt if calm else 0.0
        rise = m * (up - step * gravity) + step * memory[m0 + 8]
        roll, pitch = j * wx + step * (height * along_y + memory[m0 + 9]), j * wy + step * (memory[m0 + 10] - height * along_x)
        down, lean_x, lean_y = 0.0, 0.0, 0.0
        touching, last = 15, -1
        for _ in range(ROUNDS):
            if touching == last:
                break
            last = touching
            s, sx, sy, sxx, sxy, syy, fz, fx, fy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, rise, roll, pitch
            for e in range(4):
                if last >> e & 1:
                    x, y, depth = work[k, 6 + 3 * e] - cx, work[k, 7 + 3 * e] - cy, work[k, 30 + e]
                    s, sx, sy, sxx, sxy, syy = s + 1.0, sx + x, sy + y, sxx + x * x, sxy + x * y, syy + y * y
                    fz, fx, fy = fz + step * stiff * depth, fx + step * stiff * depth * y, fy - step * stiff * depth * x
            h = step * firm
            a00, a01, a02, a11, a12, a22 = m + h * s, h * sy, -h * sx, j + h * syy, -h * sxy, j + h * sxx
            b00, b01, b02 = a11 * a22 - a12 * a12, a02 * a12 - a01 * a22, a01 * a12 - a02 * a11
            det = a00 * b00 + a01 * b01 + a02 * b02
            down = (b00 * fz + b01 * fx + b02 * fy) / det
            lean_x = (b01 * fz + (a00 * a22 - a02 * a02) * fx + (a01 * a02 - a00 * a12) * fy) / det
            lean_y = (b02 * fz + (a01 * a02 - a00 * a12) * fx + (a00 * a11 - a01 * a01) * fy) / det
            touching = 0
            for e in range(4):
                x, y, depth = work[k, 6 + 3 * e] - cx, work[k, 7 + 3 * e] - cy, work[k, 30 + e]
                if stiff * depth > firm * (down + lean_x * y - lean_y * x) and depth > 0.0:
                    touching |= 1 << e
        points = 0
        for side in range(2):
            load = 0.0
            for e in (side, side + 2):
                x, y, depth = work[k, 6 + 3 * e] - cx, work[k, 7 + 3 * e] - cy, work[k, 30 + e]
                bears = stiff * depth - firm * (down + lean_x * y - lean_y * x) if depth > 0.0 else 0.0
                work[k, 18 + e] = max(bears, 0.0)
                load += work[k, 18 + e]
                points += bears > 0.0
            memory[m0 + 3 + side] = fact[FRICTION] * load
        rubs = False
        if zz < UPRIGHT and points > 0:
            done, fast = 0.0, 0.0
            for e in range(4):
                px, py, pz, side = work[k, 6 + 3 * e], work[k, 7 + 3 * e], work[k, 8 + 3 * e], e % 2
                if work[k, 18 + e] > 0.0:
                    belt = twist[0, i, 0] + (side - 0.5) * twist[0, i, 2] * fact[0]
                    sx, sy = vx + wy * pz - wz * py - belt * ahead_x, vy + wz * px - wx * pz - belt * ahead_y
                    share = work[k, 18 + e] / (work[k, 18 + side] + work[k, 20 + side])
                    done += share * (sx * (work[k, 2 + side] * ahead_x + work[k, 4 + side] * yx)
                                     + sy * (work[k, 2 + side] * ahead_y + work[k, 4 + side] * yy))
                    fast = max(fast, sx * sx + sy * sy)
                    work[k, 22 + 2 * e], work[k, 23 + 2 * e] = sx, sy
            rubs = done > 0.0 and fast > SLIPS * SLIPS
        if rubs:
            memory[m0] = memory[m0 + 1] = memory[m0 + 2] = 0.0
        for e in range(6):
            force[first + e] = 0.0
        for e in range(4):
            bears, side = work[k, 18 + e], e % 2
            if bears <= 0.0:
                continue
            px, py, pz = work[k, 6 + 3 * e], work[k, 7 + 3 * e], work[k, 8 + 3 * e]
            if rubs:
                sx, sy = work[k, 22 + 2 * e], work[k, 23 + 2 * e]
                far = (px - cx) ** 2 + (py - cy) ** 2 + (pz - cz) ** 2
                rub = rubbing(sqrt(sx * sx + sy * sy), far, fact[FRICTION] * bears, points, fact, step)
                fx, fy = -rub * sx, -rub * sy
            else:
                share = bears / (work[k, 18 + side] + work[k, 20 + side])
                fx = share * (work[k, 2 + side] * ahead_x + work[k, 4 + side] * yx)
                fy = share * (work[k, 2 + side] * ahead_y + work[k, 4 + side] * yy)
            force[first] += fx
            force[first + 1] += fy
            force[first + 2] += bears
            mx, my, mz = py * bears - pz * fy, pz * fx - px * bears, px * fy - py * fx
            force[first + 3] += xx * mx + xy * my + xz * mz
            force[first + 4] += yx * mx + yy * my + yz * mz
            force[first + 5] += zx * mx + zy * my + zz * mz
        memory[m0 + 5], memory[m0 + 6], memory[m0 + 7] = down, lean_x, lean_y


__all__ = ["stand_all"]
