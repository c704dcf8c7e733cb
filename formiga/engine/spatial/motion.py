"""MuJoCo's steps, a few at a time, so that no call keeps Python from hearing a signal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco

from formiga.engine.spatial.falling import fall_all
from formiga.engine.spatial.floor import KEPT, stand_all
from formiga.engine.spatial.gripping import LASTING, note_pulls
from formiga.engine.spatial.impacts import meet
from formiga.engine.spatial.model import Model
from formiga.engine.spatial.touching import first_half
from formiga.engine.spatial.treels import pull_all, roll_all, weigh_all
from formiga.state import Floats

WEIGHING = 0.02  # s, in which the load of a treel follows its contacts
AT_A_TIME = 8  # steps of one call: tens of milliseconds in a world with hundreds of robots


def advance(mj: Any, data: Any, count: int) -> None:
    """`count` steps of the motion, with the bits of one call for all of them."""
    while count > 0:
        mujoco.mj_step(mj, data, nstep=min(count, AT_A_TIME))
        count -= AT_A_TIME


def fly(mj: Any, data: Any) -> bool:
    """One step, by Runge and Kutta's method unless something touches or stands at a limit; for what has no motors. Whether it
    was such a step."""
    first_half(mj, data)
    if data.nefc > data.ne:
        mujoco.mj_step2(mj, data)
        return False
    mujoco.mj_forward(mj, data)
    mujoco.mj_RungeKutta(mj, data, 4)
    return True


def acts(model: Model) -> bool:
    """Whether something is to be done before or within the steps of MuJoCo."""
    return bool(len(model.sliding.number) or len(model.standing.number) or len(model.rolling.number) or model.impacts.active
                or model.flies or model.doubted or len(model.falling))


def stepper(model: Model, data: Any, twist: Floats, pulls: Any = None) -> Callable[[], None]:
    """One step of the motion with the floor's forces on treels as a function; it notes how hard grips pull in `pulls`.
    twist (1, N, 3): what the drives shall give."""
    mj, impacts, step, memory = model.mj, model.impacts, model.mj.opt.timestep, data.userdata
    slides, stands, rolls = len(model.sliding.number), len(model.standing.number), len(model.rolling.number)
    share, weighing = min(1.0, step / LASTING), min(1.0, step / WEIGHING)
    slide = (*model.sliding, data.qpos, data.qvel, twist, step, model.gravity, memory, data.qfrc_applied)
    stand = (*model.standing, data.qpos, data.qvel, twist, step, model.gravity, memory[3 * slides :], data.qfrc_applied)
    touch, memory, side, number = data.contact, memory[3 * slides + KEPT * stands :], model.rolling.side, model.rolling.number
    before, after = (*model.rolling, data.qvel, twist, step), (data.xpos, data.xmat, memory, data.qfrc_applied)

    falls, halves = len(model.falling), rolls or impacts.active or model.doubted
    fall = (model.falling, step, data.qacc, data.qfrc_constraint, data.qfrc_applied, data.qpos)

    def advance_once() -> None:
        exact = False
        if slides:
            pull_all(*slide)
        if stands:
            stand_all(*stand)
        if model.flies:
            exact = fly(mj, data)
        elif halves:
            first_half(mj, data)
            if rolls:
                roll_all(*before, touch.geom, touch.frame, touch.pos, touch.dist, *after)
            if impacts.active:
                meet(impacts, mj, data)
            mujoco.mj_step2(mj, data)
        else:
            mujoco.mj_step(mj, data)
        if falls and not exact:
            fall_all(*fall)
        if rolls:
            weigh_all(number, side, touch.geom, model.friction, touch.efc_address, data.efc_force, weighing, memory)
        if pulls is not None and data.ne:
            note_pulls(data.ne, data.efc_id, data.efc_force, share, pulls)

    return advance_once
