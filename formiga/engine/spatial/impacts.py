"""What happens at contacts beyond MuJoCo's springs: Newton's law of impact, and the friction of balls that roll.

MuJoCo has no coefficient of restitution: its contacts are springs and dampers, whose rebound depends on the step and on where
in a step they meet. But between the two halves of its step, `mj_step1` and `mj_step2`, the accelerations that contacts ask for
can be read and written. A contact that closes faster than `rest` asks for the acceleration that turns its speed round within
this step; the solver finds the forces, with friction, for all contacts and joints at once.
"""

from __future__ import annotations

from math import exp, expm1, sqrt
from typing import Any, NamedTuple

import mujoco
import numpy as np

from formiga.engine.spatial.materials import Materials
from formiga.kernels import kernel
from formiga.state import Floats
from formiga.world.model import World
from formiga.world.movables import Ball

HARD = 1e-3              # share of an impact's force that is left to the spring: (1 - d)/d of MuJoCo's impedance d
PULLED = 1.5             # times gravity: the largest acceleration into a contact that is not an impact itself
LETS_GO = -1e6           # m/s^2: asked of a contact that opens, so that it has no force
BELOW = 0.7              # least height of a normal on which a ball rolls
ROLLS = 1.4              # (m + J/R^2)/m of a solid ball, J = 2/5 m R^2 [Klancar et al. 2003, eq. 5]
SLIPS = 0.1              # of its speed: a ball whose surface slips more does not roll yet

DOF, GEOM = range(2)                                       # columns of Impacts.ball
RADIUS, MASS, DRY, VISCOUS, SLOW, PER_AXIS, AT_ONCE = range(7)      # columns of Impacts.law


class Impacts(NamedTuple):
    """What bounces and what rolls in a world."""

    row: Any                 # (geoms,) of each geom, its row in `table`
    table: Floats            # (S, S) restitution of two that meet
    rest: float              # m/s; what meets slower does not bounce
    ball: Any                # (B, 2) first of the speeds of a ball's body, and its geom
    law: Floats              # (B, 7) m, kg, m/s^2, 1/s, m/s; whether each axis has its own law; whether it rolls at once
    active: bool             # whether there is anything to do


def of(world: World, mj: Any, materials: Materials) -> Impacts:
    """From a compiled model; a ball's geom is the only one of its body."""
    row, table = materials.restitutions(mj)
    balls = [(f"movable{index}", thing) for index, thing in enumerate(world.things) if isinstance(thing, Ball)]
    gravity = float(-mj.opt.gravity[2])
    where = [(mj.joint(name).dofadr[0], mj.body(name).geomadr[0]) for name, _ in balls]
    law = [(ball.radius, ball.mass, ball.rolling * gravity / ROLLS, ball.viscous / (ROLLS * ball.mass), ball.slow,
            float(ball.law == "per_axis"), float(rolls_at_once(ball))) for _, ball in balls]
    return Impacts(row, table, world.contact.rest_speed, np.array(where, np.int64).reshape(-1, 2),
                   np.array(law, np.float64).reshape(-1, 7), bool(balls) or bool((table > 0.0).any()))


def rolls_at_once(ball: Ball) -> bool:
    """Whether its spin is always that of rolling, as in the plane; else it slides until it rolls."""
    return ball.sliding == 0.0 and ball.material is None


def meet(impacts: Impacts, mj: Any, data: Any) -> None:
    """Between the halves of a step: let what bounces bounce, and what rolls slow down."""
    if data.ncon == 0:
        data.qfrc_applied[impacts.ball[:, DOF, None] + np.arange(3)] = 0.0
        return
    contact, falling, h = data.contact, np.empty(data.nefc), mj.opt.timestep
    mujoco.mj_mulJacVec(mj, data, falling, data.qacc_warmstart)  # of the step before: what pulls the two together
    geoms = contact.geom
    most = PULLED * float(np.abs(mj.opt.gravity).max())
    rebound(geoms, contact.dist, contact.efc_address, contact.dim, impacts.row, impacts.table, impacts.rest, h, most, falling,
            data.efc_vel, data.efc_diagA, data.efc_aref, data.efc_R, data.efc_D)
    if data.nisland:  # the solver takes islands of contacts by themselves, and has copied these
        data.iefc_R[:], data.iefc_D[:] = data.efc_R[data.map_iefc2efc], data.efc_D[data.map_iefc2efc]
    if len(impacts.ball):
        roll_all(geoms, contact.frame, impacts.ball, impacts.law, h, mj.opt.gravity, data.qvel, data.geom_xmat,
                 data.qfrc_applied)


@kernel()
def rebound(geoms, dist, address, dim, row, table, rest, h, most, falling, speed, diagonal, asked, softness, mass):
    """Write the accelerations `asked` of the normals of all contacts that bounce.

        v < -rest:   s = v + a h/2,   s' = sqrt(e^2 (s^2 - 2 a r) + 2 a r),   asked = (s' + a h/2 - v) / h
        v >  rest:   it opens by itself, and has no force
    v: speed of the gap r <= 0, which has been closed for part of a step already; a <= 0: the acceleration into the contact.
    MuJoCo's speeds are half a step older than its places, so s is the speed at r. s^2 - 2 a r is what it was at the surface,
    and s' what leaves the surface again with e times that: heights of fall and rebound do not depend on the step.
    """
    for c in range(dist.shape[0]):
        first = address[c]
        if first < 0:
            continue
        e = table[row[geoms[c, 0]], row[geoms[c, 1]]]
        v = speed[first]
        if e <= 0.0 or abs(v) <= rest:
            continue
        if v > 0.0:
            asked[first] = LETS_GO
            continue
        a, r = max(-most, min(0.0, falling[first])), min(0.0, dist[c])
        s = v + 0.5 * a * h
        at_surface = max(0.0, s * s - 2.0 * a * r)
        asked[first] = (sqrt(e * e * at_surface + 2.0 * a * r) + 0.5 * a * h - v) / h
        share = HARD * diagonal[first] / softness[first]
        for k in range(first, first + dim[c]):
            softness[k] *= share
            mass[k] /= share


@kernel()
def roll_all(geoms, frame, ball, law, h, gravity, qvel, turn, force):
    """Write into `force` what slows balls that roll on something, along its surface. [Klancar et al. 2003, eq. 4-9]

        dv/dt = -(F_c min(1, v/k) + f_v v) / (1.4 m):   v -> v' in a step
        F = 1.4 m (v' - v) / h,  because the friction of the contact makes it roll: F slows its spin, too
    One that still slides is slowed by that friction alone. One that rolls at once, as in the plane, has no friction at all; its
    spin is set to that of rolling, F = m (v' - v) / h, and 2/7 of gravity along a slope are taken off for the spin.
    """
    for b in range(ball.shape[0]):
        dof, geom = ball[b, DOF], ball[b, GEOM]
        force[dof] = force[dof + 1] = force[dof + 2] = 0.0
        for c in range(geoms.shape[0]):
            side = 1.0 if geoms[c, 1] == geom else -1.0 if geoms[c, 0] == geom else 0.0
            nx, ny, nz = side * frame[c, 0], side * frame[c, 1], side * frame[c, 2]
            if nz >= BELOW:
                roll(dof, nx, ny, nz, law[b], h, gravity, qvel, turn[geom], force)
                break


@kernel()
def roll(dof, nx, ny, nz, law, h, gravity, qvel, turn, force):
    """One ball, on a surface with the normal n; turn (9,): its rotation matrix."""
    radius = law[RADIUS]
    x, y, z = qvel[dof], qvel[dof + 1], qvel[dof + 2]
    away = x * nx + y * ny + z * nz
    x, y, z = x - away * nx, y - away * ny, z - away * nz
    wx, wy, wz = (ny * z - nz * y) / radius, (nz * x - nx * z) / radius, (nx * y - ny * x) / radius  # of rolling: n x v / R
    px = turn[0] * wx + turn[3] * wy + turn[6] * wz  # in the ball's own frame, as MuJoCo has it
    py = turn[1] * wx + turn[4] * wy + turn[7] * wz
    pz = turn[2] * wx + turn[5] * wy + turn[8] * wz
    fast, heavy = sqrt(x * x + y * y + z * z), law[MASS] / h
    if law[AT_ONCE] > 0.0:
        qvel[dof + 3], qvel[dof + 4], qvel[dof + 5] = px, py, pz
        down = (gravity[0] * nx + gravity[1] * ny + gravity[2] * nz)
        share = law[MASS] * (1.0 - 1.0 / ROLLS)
        for k, n in enumerate((nx, ny, nz)):
            force[dof + k] -= share * (gravity[k] - down * n)
    else:
        heavy *= ROLLS
        sx, sy, sz = qvel[dof + 3] - px, qvel[dof + 4] - py, qvel[dof + 5] - pz
        spin = sx * nx + sy * ny + sz * nz  # about the normal it may spin as it likes
        if radius * sqrt(max(0.0, sx * sx + sy * sy + sz * sz - spin * spin)) > SLIPS * fast + law[SLOW]:
            return
    if law[PER_AXIS] > 0.0:
        kx, ky = later(abs(x), law, h), later(abs(y), law, h)
        force[dof] += heavy * ((kx if x >= 0.0 else -kx) - x)
        force[dof + 1] += heavy * ((ky if y >= 0.0 else -ky) - y)
    elif fast > 0.0:
        share = heavy * (later(fast, law, h) / fast - 1.0)
        force[dof] += share * x
        force[dof + 1] += share * y
        force[dof + 2] += share * z


@kernel()
def later(speed, law, h):
    """Speed of a ball after h, which comes to rest and never turns round: the law of the plane's balls."""
    dry, viscous, slow = law[DRY], law[VISCOUS], law[SLOW]
    if speed > slow:
        end = speed - (dry + viscous * speed) * h * (-expm1(-viscous * h) / (viscous * h) if viscous * h > 0.0 else 1.0)
        if end >= slow:
            return end
        h -= (speed - slow) / (dry + viscous * speed)
        speed = slow
    return speed * exp(-(viscous + dry / slow) * max(h, 0.0))


__all__ = ["Impacts", "meet", "of", "rolls_at_once"]
