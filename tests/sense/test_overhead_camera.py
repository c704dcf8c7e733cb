"""The camera over the arena: late, noisy, and not always new."""

import numpy as np
import pytest

from formiga.errors import WorldError
from formiga.sense.overhead_camera import OverheadCamera
from formiga.units import DEG
from formiga.world.robots import SBot
from tests.reference.lab import bench, drive

EXACT = {"noise": 0.0, "turn_noise": 0.0}


def seen(sensor, steps, worlds=1, dt=0.04, pose=(0.1, 0.2, 0.3)):
    """What it shows (T, W, 3), and what is true, at each of so many steps of a robot that drives a curve."""
    lab, shown, true = bench(SBot(), [pose], sensors=[sensor], worlds=worlds, dt=dt), [], []
    for _ in range(steps):
        shown.append(lab.readings["a"]["camera"][:, 0].copy())
        true.append(np.concatenate([lab.state.position[:, 0], lab.state.heading[:, :1]], axis=1))
        drive(lab, 0.08, 0.06)
    return np.array(shown), np.array(true)


def test_it_shows_what_was_there_a_latency_ago_and_the_start_before_that():
    shown, true = seen(OverheadCamera(latency=0.12, **EXACT), 12)
    np.testing.assert_allclose(shown[3:], true[:-3], atol=1e-12)
    np.testing.assert_allclose(shown[:3], np.repeat(true[:1], 3, axis=0), atol=1e-12)


def test_a_picture_is_shown_until_the_next():
    shown, true = seen(OverheadCamera(period=0.16, latency=0.0, **EXACT), 12)
    np.testing.assert_allclose(shown, true[[0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8]], atol=1e-12)


def test_its_noise_is_gaussian_and_new_in_each_picture():
    shown, true = seen(OverheadCamera(latency=0.0), 20, worlds=500)
    off = (shown - true).reshape(-1, 3)
    np.testing.assert_allclose(off.std(axis=0), (0.005, 0.005, 0.5 * DEG), rtol=0.05)
    assert np.abs(np.corrcoef(off.T) - np.eye(3)).max() < 0.05
    assert np.abs(np.corrcoef(off[:-500, 0], off[500:, 0])[0, 1]) < 0.05


def test_a_heading_is_between_minus_and_plus_half_a_turn():
    shown, _ = seen(OverheadCamera(), 5, worlds=50, pose=(0.0, 0.0, 7.0))
    assert (np.abs(shown[..., 2]) <= np.pi).all() and shown[..., 2].mean() == pytest.approx(7.0 - 2.0 * np.pi, abs=0.05)


def test_a_world_of_a_batch_has_the_bits_that_it_has_alone():
    assert np.array_equal(seen(OverheadCamera(), 6, worlds=3)[0][:, :1], seen(OverheadCamera(), 6)[0])


def test_times_between_two_control_periods_are_refused():
    with pytest.raises(WorldError, match=r"<overhead_camera> latency: 0.05 s is no whole number of control periods of 0.04 s"):
        seen(OverheadCamera(latency=0.05), 1)
    with pytest.raises(WorldError, match=r"<overhead_camera> period: 0.04 s is no whole number of control periods of 0.1 s"):
        seen(OverheadCamera(latency=0.0), 1, dt=0.1)
