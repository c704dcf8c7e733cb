"""MuJoCo's steps, a few at a time, so that no call keeps Python from hearing a signal."""

from __future__ import annotations

from typing import Any

import mujoco

AT_A_TIME = 8  # steps of one call: tens of milliseconds in a world with hundreds of robots


def advance(mj: Any, data: Any, count: int) -> None:
    """`count` steps of the motion, with the bits of one call for all of them."""
    while count > 0:
        mujoco.mj_step(mj, data, nstep=min(count, AT_A_TIME))
        count -= AT_A_TIME
