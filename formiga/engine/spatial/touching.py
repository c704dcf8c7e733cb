"""The contacts that MuJoCo finds, without those that cannot be true."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

DEEP = 0.003  # m, of a contact: bodies that press on each other overlap by less, unless they are soft
ONE_EACH = int(mujoco.mjtDisableBit.mjDSBL_MULTICCD)
FLAT = (mujoco.mjtGeom.mjGEOM_CYLINDER, mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_MESH)
FREE, BALL, HINGE = mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL, mujoco.mjtJoint.mjJNT_HINGE


def doubted(mj: Any) -> bool:
    """Whether `first_half` has something to correct: flat ends can tilt against each other, and not only those of boxes."""
    tilts = np.zeros(mj.nbody, np.bool_)
    tilts[mj.jnt_bodyid] = np.isin(mj.jnt_type, (FREE, BALL)) | (mj.jnt_type == HINGE) & (np.abs(mj.jnt_axis[:, 2]) < 1.0)
    for body in range(1, mj.nbody):  # what carries it comes first
        tilts[body] |= tilts[mj.body_parentid[body]]
    flat = np.isin(mj.geom_type, FLAT) & ((mj.geom_contype != 0) | (mj.geom_conaffinity != 0))
    other = flat & (mj.geom_type != mujoco.mjtGeom.mjGEOM_BOX)
    halves = mj.opt.integrator != mujoco.mjtIntegrator.mjINT_RK4
    return bool(halves and other.any() and (flat & tilts[mj.geom_bodyid]).any())


def first_half(mj: Any, data: Any) -> None:
    """The first half of a step, up to its contacts; those of deep ones that are not there are replaced.

    To two tilted cylinders that overlap by less than a millimetre, MuJoCo 4.0 may give two contacts along the axis of one of
    them, 10 cm deep, and shoot them away. If it looks for one contact of each pair, instead of all corners of two faces, it is
    right. So that is asked where something is deep; what is not as deep then was wrong, and the single contacts are kept.
    """
    mujoco.mj_step1(mj, data)
    deepest = _deepest(data)
    if deepest < DEEP:
        return
    mj.opt.disableflags |= ONE_EACH
    try:
        mujoco.mj_step1(mj, data)
    finally:
        mj.opt.disableflags &= ~ONE_EACH
    if deepest - _deepest(data) < DEEP:
        mujoco.mj_step1(mj, data)  # it is true


def _deepest(data: Any) -> float:
    return -float(data.contact.dist.min(initial=0.0))


__all__ = ["doubted", "first_half"]
