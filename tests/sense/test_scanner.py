"""The range scanner: distances over a fan."""

import numpy as np
import pytest

from formiga.noise import Noise
from formiga.sense.scanner import Scanner
from formiga.units import DEG
from formiga.world.model import Arena, Cylinder, Wall
from formiga.world.reader import read_text
from formiga.world.robots import Disc
from tests.reference.lab import bench
from tests.runs import assert_same, both


def scan(sensor, things=(), pose=(0.0, 0.0, 0.0), worlds=1):
    return bench(Disc(0.05, 0.1, 0.1), [pose], things, sensors=[sensor], worlds=worlds).readings["a"]["scanner"]


def test_a_fan_goes_from_the_right_to_the_left_and_includes_both_ends():
    angles = np.degrees(Scanner(5, 180 * DEG).angles)
    np.testing.assert_allclose(angles, (-90, -45, 0, 45, 90))
    np.testing.assert_allclose(np.degrees(Scanner(3, 60 * DEG, 90 * DEG).angles), (60, 90, 120))
    assert Scanner(1, 180 * DEG, 0.5).angles == (0.5,)


def test_a_full_ring_repeats_no_beam():
    angles = np.degrees(Scanner(8, 360 * DEG).angles)
    assert np.allclose(np.diff(angles), 45.0) and angles[-1] - angles[0] == pytest.approx(315.0)


@pytest.mark.parametrize("heading", [0.0, 1.0, -4.0])
def test_a_scan_in_a_square_room_has_the_closed_form(heading):
    """From the middle of a room of side 2: 1 / max(|cos|, |sin|)."""
    reading = scan(Scanner(90, 360 * DEG), [Arena(2.0, 2.0)], (0, 0, heading))[0, 0]
    angle = heading + np.array(Scanner(90, 360 * DEG).angles)
    np.testing.assert_allclose(reading, 1 / np.maximum(np.abs(np.cos(angle)), np.abs(np.sin(angle))), atol=1e-12)


def test_distances_are_measured_from_the_mount():
    reading = scan(Scanner(3, 180 * DEG, mount=0.05), [Arena(2.0, 2.0)])[0, 0]
    np.testing.assert_allclose(reading, 0.95, atol=1e-12)


def test_where_nothing_is_nearer_the_reading_is_the_reach():
    assert (scan(Scanner(10, reach=0.7)) == 0.7).all()
    reading = scan(Scanner(3, 180 * DEG, reach=0.7), [Wall((0.5, -0.1, 0.5, 0.1))])[0, 0]
    np.testing.assert_allclose(reading, (0.7, 0.5, 0.7))


def test_a_beam_from_inside_an_obstacle_reads_zero():
    assert (scan(Scanner(10), [Cylinder(0.0, 0.0, 0.3)]) == 0.0).all()


def test_noise_is_gaussian_and_stays_between_zero_and_the_reach():
    reading = scan(Scanner(20, 1 * DEG, noise=0.02, reach=3.0), [Wall((1.0, -1.0, 1.0, 1.0))], worlds=2000)[:, 0]
    exact = 1.0 / np.cos(np.array(Scanner(20, 1 * DEG).angles))
    error = (reading - exact).ravel()
    assert abs(error.mean()) < 4.5 * 0.02 / np.sqrt(error.size) and error.std() == pytest.approx(0.02, rel=0.02)
    assert np.abs(np.corrcoef(error[:-1], error[1:])[0, 1]) < 4.5 / np.sqrt(error.size)
    wild = scan(Scanner(20, noise=5.0, reach=3.0), [Wall((1.0, -9.0, 1.0, 9.0))], worlds=100)
    assert wild.min() == 0.0 and wild.max() == 3.0


def test_uniform_noise_is_flat_between_its_ends_and_reaches_no_further():
    """Half of its width is `noise` = a: bounded by a, with the variance a^2 / 3, as much in each tenth of it."""
    a, sensor = 0.02, Scanner(20, 1 * DEG, noise=0.02, errors="uniform", reach=3.0)
    reading = scan(sensor, [Wall((1.0, -1.0, 1.0, 1.0))], worlds=2000)[:, 0]
    error = (reading - 1.0 / np.cos(np.array(sensor.angles))).ravel()
    n = error.size
    assert np.abs(error).max() <= a * (1.0 + 1e-9) and error.max() > 0.999 * a and error.min() < -0.999 * a
    assert abs(error.mean()) < 4.5 * a / np.sqrt(3 * n)
    assert abs((error**2).mean() - a**2 / 3) < 4.5 * a**2 * np.sqrt(4 / 45 / n)      # E e^4 - (E e^2)^2 = a^4 (1/5 - 1/9)
    count, _ = np.histogram(error, 10, (-a, a))
    assert np.abs(count - n / 10).max() < 4.5 * np.sqrt(n * 0.09)
    assert np.abs(np.corrcoef(error[:-1], error[1:])[0, 1]) < 4.5 / np.sqrt(n)
    wild = scan(Scanner(20, noise=5.0, errors="uniform", reach=3.0), [Wall((1.0, -9.0, 1.0, 9.0))], worlds=100)
    assert wild.min() == 0.0 and wild.max() == 3.0


@pytest.mark.parametrize("errors", ["normal", "uniform"])
def test_errors_are_the_numbers_of_noise_bit_for_bit(errors):
    """What `Noise` gives for the device, added to the exact distances: in every step, whichever loop ran."""
    text = """<world dt="0.1"><arena width="3" depth="2"/>
    <disc name="a" count="3" radius="8cm" wheel_base="14cm" top_speed="20cm/s"><scatter/>
    <scanner beams="33" reach="9m" noise="3.7cm" errors="{}"/><scanner name="exact" beams="33" reach="9m"/><random_walk/>
    </disc></world>"""
    for lab in both(read_text(text.format(errors)), 9):
        a, noise = lab.world.groups[0].sensors[0].noise, Noise(lab.state.key, lab.state.step, slice(0, 3), "a", "scanner")
        error = noise.uniform(-a, a, 33) if errors == "uniform" else noise.normal(a, 33)
        reading = lab.readings["a"]
        assert np.array_equal(reading["scanner"], np.clip(reading["exact"] + error, 0.0, 9.0))


@pytest.mark.parametrize("attributes", ["", 'noise="1cm"', 'noise="1cm" errors="uniform"', 'noise="3m" errors="uniform"',
                                        'noise="0.1mm" errors="uniform" mount="8cm" field="360deg"'])
def test_the_compiled_scan_has_the_same_bits(attributes):
    """Those that the robots drive by, also after a reset of some worlds."""
    world = read_text(f"""<world><arena width="2" depth="2"/><cylinder x="0.3" y="0.2" radius="10cm"/>
    <disc name="a" count="4" radius="8cm" wheel_base="14cm" top_speed="20cm/s"><scatter/>
    <scanner beams="24" reach="1.5m" {attributes}/><braitenberg sensor="scanner" full="20"/></disc></world>""")
    compiled, readable = both(world, 40, again=[True, False, True])
    assert_same(compiled, readable)
    expected = readable.readings["a"]["scanner"]
    assert compiled.advance(1) and not readable.advance(1)
    assert np.array_equal(compiled._compiled._readings["a"]["scanner"], expected)
