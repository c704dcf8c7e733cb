"""Contacts of flat ends that tilt against each other, against what the cylinders' own geometry says."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from formiga.engine.spatial.touching import DEEP, doubted, first_half
from formiga.lab import read_world
from formiga.loop import Simulation

TWO = """<mujoco><option gravity="0 0 0"/><worldbody>
  <body><freejoint/><geom type="cylinder" size="0.058 0.03"/></body>
  <body><freejoint/><geom type="cylinder" size="0.058 0.03"/></body>
</worldbody></mujoco>"""
APART = (-0.07607, 0.04387, 0.01825)  # m, of two turrets, one of which lay on its side, in an hour on hills
TURNED = (0.20729, 0.68673, -0.1311, 0.68429), (0.0887, -0.02143, -0.02669, 0.99547)


@pytest.fixture
def two():
    mj = mujoco.MjModel.from_xml_string(TWO)
    return mj, mujoco.MjData(mj)


def test_tilted_cylinders_that_only_just_touch_are_not_shot_away(two):
    mj, data = two
    draw, flags = np.random.default_rng(0), mj.opt.disableflags
    for _ in range(400):  # 220 of these were
        mujoco.mj_resetData(mj, data)
        data.qpos[3:7], data.qpos[10:14] = TURNED
        data.qpos[7:10] = APART + draw.normal(0.0, 2e-4, 3)
        first_half(mj, data)
        mujoco.mj_step2(mj, data)
        assert all(contact.dist > -0.002 for contact in data.contact)
        assert np.abs(data.qvel[[0, 1, 2, 6, 7, 8]]).max() < 0.2  # m/s; they were at 1 m/s and more
    assert mj.opt.disableflags == flags


def test_a_contact_that_is_deep_stays_so(two):
    mj, data = two
    data.qpos[7:10] = (2 * 0.058 - 2 * DEEP, 0.0, 0.0)
    first_half(mj, data)
    assert -min(contact.dist for contact in data.contact) == pytest.approx(2 * DEEP, rel=1e-3)


@pytest.mark.parametrize("overlap", [1e-4, 2 * DEEP])
def test_faces_that_lie_on_each_other_keep_all_their_contacts(two, overlap):
    mj, data = two
    data.qpos[7:10] = (0.0, 0.0, 2 * 0.03 - overlap)
    first_half(mj, data)
    assert data.ncon >= 3 and -min(contact.dist for contact in data.contact) == pytest.approx(overlap, rel=1e-3)


@pytest.mark.parametrize(("name", "expected"), [("rough", True), ("avoidance3d", False)])
def test_only_worlds_in_which_flat_ends_tilt_are_looked_at(name, expected):
    assert doubted(Simulation(read_world(name)).model.mj) is expected
