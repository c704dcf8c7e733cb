"""Free fall in steps of Euler's method, to the second order."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from formiga.engine.spatial.robots import Assembly
from formiga.kernels import kernel


def of(mj: Any, machines: list[Assembly], exact: bool) -> Any:
    """(n, 2) int64: first place and first speed of all bodies that may fall freely; none unless their falls are to be `exact`.

    Robots that stand on the bare floor and machines count only if they start in the air: looking at them takes time.
    """
    stay = {int(mj.body(machine.chassis).id) for machine in machines if not machine.rolls and machine.at is None}
    free = np.flatnonzero(mj.jnt_type == mujoco.mjtJoint.mjJNT_FREE)
    found = [(mj.jnt_qposadr[joint], mj.jnt_dofadr[joint]) for joint in free if int(mj.jnt_bodyid[joint]) not in stay]
    return np.array(found if exact else [], np.int64).reshape(-1, 2)


@kernel("void(int64[:, :], float64, float64[:], float64[:], float64[:], float64[:])")
def fall_all(number, step, acceleration, constraint, applied, place):
    """Correct the places of bodies on which nothing but gravity acted in the last step.

        Euler's method: v' = v + a h,  x' = x + v' h;   a body that falls: x' = x + v h + a h^2 / 2
    acceleration, constraint, applied (nv,): MuJoCo's, and the forces of contacts, grips and floors; place (nq,) is changed.
    """
    for k in range(number.shape[0]):
        at, first = number[k, 0], number[k, 1]
        free = True
        for e in range(first, first + 6):
            free = free and constraint[e] == 0.0 and applied[e] == 0.0
        if free:
            for e in range(3):
                place[at + e] -= 0.5 * step * step * acceleration[first + e]


__all__ = ["fall_all", "of"]
