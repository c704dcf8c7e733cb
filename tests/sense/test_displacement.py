"""The odometer of displacement."""

import numpy as np
import pytest

from formiga.sense.displacement import Displacement
from formiga.world.robots import SBot
from formiga.world.robots.omni import Omni
from tests.reference.lab import bench, drive

POSES = [(0.1, 0.2, 0.3), (2.0, 0.0, -1.0)]


def reckon(simulation, steps, rng):
    """Poses (W, n, 3) by adding up what is read, and the true ones."""
    state = simulation.state
    pose = np.concatenate([state.position, state.heading[..., None]], axis=-1).copy()
    for _ in range(steps):
        drive(simulation, *rng.uniform(-0.08, 0.08, (2, *state.heading.shape)))
        ahead, aside, turn = np.moveaxis(simulation.readings["a"]["displacement"], -1, 0)
        c, s = np.cos(pose[..., 2]), np.sin(pose[..., 2])
        pose += np.stack([c * ahead - s * aside, s * ahead + c * aside, turn], axis=-1)
    return pose, np.concatenate([state.position, state.heading[..., None]], axis=-1)


def test_without_noise_displacements_add_up_to_the_true_pose(rng):
    simulation = bench(SBot(), POSES, sensors=[Displacement()], worlds=3)
    assert not simulation.readings["a"]["displacement"].any()
    found, true = reckon(simulation, 200, rng)
    np.testing.assert_allclose(found, true, atol=1e-10)


def test_the_error_of_a_step_is_its_share_on_each_axis_and_that_of_a_way_grows_with_its_root():
    """M steps of length l: noise l sqrt(M)."""
    simulation = bench(Omni(), [(0.0, 0.0, 0.0)], sensors=[Displacement(noise=0.05)], worlds=4000)
    rims = np.broadcast_to(simulation.world.groups[0].robot.drive.follow(np.array([0.3, 0.4, 0.0])), (4000, 1, 3))
    total, first = np.zeros((4000, 2)), None
    for _ in range(16):
        simulation.step({"a": rims})
        read = simulation.readings["a"]["displacement"][:, 0, :2]
        first = read if first is None else first
        total += read
    np.testing.assert_allclose(first.mean(axis=0), (0.03, 0.04), atol=2e-4)
    np.testing.assert_allclose(first.std(axis=0), 0.05 * 0.05, rtol=0.04)
    assert abs(np.corrcoef(first.T)[0, 1]) < 0.06        # each axis errs for itself
    np.testing.assert_allclose(total.std(axis=0), 0.05 * 0.05 * 4.0, rtol=0.04)
    np.testing.assert_allclose(simulation.readings["a"]["displacement"][..., 2], 0.0, atol=1e-15)


def test_a_robot_that_stands_reads_zero_and_in_a_blackout_nothing():
    simulation = bench(SBot(), POSES, sensors=[Displacement(noise=0.5, turn_noise=0.5, blackout=(0.2, 0.3))])
    read = [drive(simulation, 0.0, 0.0).readings["a"]["displacement"] for _ in range(3)]
    assert not read[0].any() and np.isnan(read[1]).all() and not read[2].any()


def test_turns_have_an_error_that_is_a_share_of_them():
    simulation = bench(SBot(), [(0.0, 0.0, 0.0)], sensors=[Displacement(turn_noise=0.1)], worlds=4000)
    read = drive(simulation, -0.05, 0.05).readings["a"]["displacement"][:, 0, 2]
    true = simulation.state.heading[0, 0]
    assert read.mean() == pytest.approx(true, rel=0.01) and read.std() == pytest.approx(0.1 * true, rel=0.05)
