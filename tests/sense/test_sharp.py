"""Infrared distance sensors by triangulation: their curve, their noise, their converter."""

import numpy as np
import pytest

from formiga.errors import WorldError
from formiga.noise import Noise
from formiga.sense.sharp import Sharp, distance_of, variance_of, voltage_of
from formiga.units import CM, DEG, MM
from formiga.world.model import Arena, Cylinder, Rectangle, Wall
from formiga.world.robots import Disc
from tests.reference import infrared
from tests.reference.lab import bench, same_state

AHEAD = Wall((0.0, -3.0, 0.0, 3.0))
EXACT = {"spread": 0.0, "spread_per_m": 0.0, "steps": 0, "samples": 1}


def at(distance, sensor, worlds=1, seed=0, things=(AHEAD,)):
    """A robot with its middle so far in front of a wall."""
    return bench(Disc(0.05, 0.1, 0.1), [(-distance, 0.0, 0.0)], things, sensors=[sensor], worlds=worlds, seed=seed)


def read(distance, sensor, **more):
    return at(distance, sensor, **more).readings["a"]["infrared"][:, 0]


def test_voltage_and_distance_are_each_other_s_inverse():
    distance = np.linspace(0.07, 3.0, 50)
    np.testing.assert_allclose(distance_of(voltage_of(distance)), distance, rtol=1e-12)
    assert voltage_of(np.inf) == 0.0 and distance_of(0.0) == np.inf


@pytest.mark.parametrize("metres, volts, slope, sigma_mm", [
    (0.07, 1.940, -17.6, 0.32), (0.10, 1.525, -10.9, 0.53), (0.20, 0.890, -3.71, 1.6), (0.30, 0.628, -1.85, 3.4),
    (0.40, 0.486, -1.10, 5.9), (0.50, 0.396, -0.733, 9.2), (0.70, 0.289, -0.390, 18), (1.00, 0.206, -0.198, 39)])
def test_the_curves_have_the_values_that_the_digest_computed(metres, volts, slope, sigma_mm):
    """Goncalves et al. 2009, eq. 2, 4, 5; values by the digest of the paper, to its digits."""
    step = 1e-7
    assert float(voltage_of(metres)) == pytest.approx(volts, abs=6e-4)
    assert float(voltage_of(metres + step) - voltage_of(metres)) / step == pytest.approx(slope, rel=5e-3)
    assert float(np.sqrt(variance_of(metres))) / MM == pytest.approx(sigma_mm, rel=0.02)


def test_a_reading_is_what_its_conversions_one_after_another_give():
    sensor = Sharp(angles=(0.0, 90 * DEG, 200 * DEG), places=(0.0, 0.0, 0.02, 0.01, 0.0, -0.03), samples=7)
    lab = bench(Disc(0.05, 0.1, 0.1), [(0.2, -0.1, 0.3), (-0.3, 0.2, 1.0)], (Arena(1.2, 1.1),), sensors=[sensor], worlds=3)
    exact = bench(Disc(0.05, 0.1, 0.1), [(0.2, -0.1, 0.3), (-0.3, 0.2, 1.0)], (Arena(1.2, 1.1),), worlds=3,
                  sensors=[Sharp(sensor.angles, sensor.places, "distance", **EXACT)]).readings["a"]["infrared"]
    normals = Noise(lab.state.key, lab.state.step, slice(0, 2), "a", "infrared").normal(1.0, 21, "samples").reshape(3, 2, 3, 7)
    for place in np.ndindex(3, 2, 3):
        distance = float(exact[place])
        known = infrared.volts(distance if distance < 1.0 else None, normals[place])
        assert lab.readings["a"]["infrared"][place] == pytest.approx(known, abs=1e-12)


@pytest.mark.parametrize("distance", [0.10, 0.35, 0.90])
def test_the_spread_of_readings_is_the_law_s_and_that_of_the_converter(distance):
    """The rounding to whole steps of q = 10 mV adds q^2 / 12 to each conversion."""
    volts = read(distance, Sharp((0.0,)), worlds=20_000)
    rounding = (2.56 / 255) ** 2 / 12 / 10
    assert volts.var() == pytest.approx(3e-5 + 3e-5 * distance + rounding, rel=0.05)
    assert volts.mean() == pytest.approx(float(voltage_of(distance)), abs=5 * volts.std() / np.sqrt(volts.size))


def test_without_noise_a_converter_gives_whole_steps():
    steps = read(0.33, Sharp((0.0,), spread=0.0, spread_per_m=0.0)) / (2.56 / 255)
    assert steps == pytest.approx(np.round(steps)) and abs(steps * 2.56 / 255 - voltage_of(0.33)) <= 2.56 / 510


def test_nearer_than_the_fold_it_reads_as_if_it_were_farther():
    near = read(3.5 * CM, Sharp((0.0,), **EXACT))
    assert near == pytest.approx(0.5 * voltage_of(7 * CM))
    assert distance_of(near) > 7 * CM


def test_beyond_its_reach_there_is_no_measure():
    assert read(1.2, Sharp((0.0,))) == 0.0
    assert read(1.2, Sharp((0.0,), reads="distance")) == np.inf
    assert read(0.8, Sharp((0.0,), reads="distance", **EXACT)) == pytest.approx(0.8)
    far = read(0.999, Sharp((0.0,), reads="distance"), worlds=200)
    assert np.isinf(far).any() and (far[np.isfinite(far)] <= 1.0).all()


def test_a_sensor_sits_where_its_place_says_and_looks_where_its_angle_says():
    sensor = Sharp((0.0, 90 * DEG), (0.03, 0.02, 0.0, 0.04), "distance", **EXACT)
    ahead, left = read(0.5, sensor, things=(Rectangle(0.5, 0.0, 1.0, 9.0), Wall((-9.0, 0.5, 9.0, 0.5))))[0]
    assert ahead == pytest.approx(0.47) and left == pytest.approx(0.46)


def test_a_wide_beam_sees_what_is_beside_its_middle():
    post = Cylinder(0.5, 0.015, 0.01)
    narrow, wide = (read(0.0, Sharp((0.0,), None, "distance", width=width, **EXACT), things=(post,)) for width in (0.0, 0.02))
    assert narrow == np.inf and wide == pytest.approx(0.5 - np.sqrt(0.01**2 - 0.005**2))


def test_a_world_of_a_batch_has_the_bits_that_it_has_alone():
    sensor = Sharp((0.0, 1.0), width=0.01)
    batch, alone = at(0.4, sensor, worlds=4, seed=5), at(0.4, sensor, seed=5)
    assert np.array_equal(batch.readings["a"]["infrared"][:1], alone.readings["a"]["infrared"])
    assert not same_state(alone.state, batch.state, slice(0, 1))
    assert len(np.unique(batch.readings["a"]["infrared"][:, 0, 0])) > 1


def test_places_without_angles_are_refused():
    with pytest.raises(WorldError, match="<sharp> places: 2 numbers for 2 angles; each sensor has x y"):
        Sharp((0.0, 1.0), (0.0, 0.0))
