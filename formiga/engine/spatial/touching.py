"""The contacts that MuJoCo finds, without those that cannot be true."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

TOO_DEEP = 0.003  # m, of a contact: bodies that press on each other overlap by less
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
    """The first half of a step, up to its contacts. If one is too deep to be true, all are found again, one for each pair.

    To two tilted cylinders that overlap by less than a millimetre, MuJoCo 4.0 may give two contacts along the axis of one of
    them, 10 cm deep, and shoot them away. A single contact for each pair, instead of all corners of two faces, is right.
    """
    mujoco.mj_step1(mj, data)
    if (gap := data.contact.dist).size and gap.min() < -TOO_DEEP:
        mj.opt.disableflags |= ONE_EACH
        mujoco.mj_step1(mj, data)
        mj.opt.disableflags &= ~ONE_EACH


__all__ = ["doubted", "first_half"]
