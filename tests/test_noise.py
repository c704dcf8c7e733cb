"""Counter-based noise: uniform, bounded, and uncorrelated along every coordinate. All seeds are fixed, so nothing is luck."""

from math import sqrt
from zlib import crc32

import numpy as np
import pytest
from scipy import stats

from formiga.noise import GOLDEN, Noise, channel, either, fold, mix, stream, unit, world_key

COUNT = 20_000
FAR = 4.5  # standard deviations; 7 in a million for each bound


def numbers(seed=1, world=0, robot=0, step=0, channel=5, index=0):
    """One number for each value of the coordinate that is given as a range."""
    return np.array([unit(stream(world_key(*c[:2]), *c[2:5]), c[5])
                     for c in np.broadcast(seed, world, robot, step, channel, index)])


ALONG = {name: np.arange(COUNT) for name in ("seed", "world", "robot", "step", "channel", "index")}


@pytest.mark.parametrize("coordinate", ALONG)
def test_numbers_are_uniform_along_every_coordinate(coordinate):
    u = numbers(**{coordinate: ALONG[coordinate]})
    assert u.min() >= 0.0 and u.max() < 1.0
    assert abs(u.mean() - 0.5) < FAR / sqrt(12 * COUNT)
    assert u.var() == pytest.approx(1 / 12, rel=FAR * sqrt(0.8 / COUNT) * 1.1)
    assert stats.kstest(u, "uniform").pvalue > 1e-5
    counts = np.histogram(u, 200, (0.0, 1.0))[0]
    assert stats.chisquare(counts).pvalue > 1e-5


@pytest.mark.parametrize("coordinate", ALONG)
def test_neighbours_along_every_coordinate_are_uncorrelated(coordinate):
    u = numbers(**{coordinate: ALONG[coordinate]})
    for lag in (1, 2, 3, 64):
        assert abs(np.corrcoef(u[:-lag], u[lag:])[0, 1]) < FAR / sqrt(COUNT)
    pairs = np.histogram2d(u[:-1], u[1:], 12, ((0, 1), (0, 1)))[0]
    assert stats.chisquare(pairs.ravel()).pvalue > 1e-5


@pytest.mark.parametrize("one", ALONG)
@pytest.mark.parametrize("other", ALONG)
def test_streams_that_differ_in_one_coordinate_are_uncorrelated(one, other):
    """As in two runs, two worlds, two robots ... that are compared step by step, robot by robot ..."""
    if one == other:
        return
    along = {other: np.arange(5000)}
    a, b = numbers(**along, **{one: 3}), numbers(**along, **{one: 4})
    assert abs(np.corrcoef(a, b)[0, 1]) < FAR / sqrt(5000)
    assert not (a == b).any()


def test_coordinates_are_not_interchangeable():
    """Robot 3 at step 5 is not robot 5 at step 3, and so on: no sum, no product of coordinates is hashed."""
    seen = {numbers(*c)[0] for c in np.ndindex(3, 3, 3, 3, 3, 3)}
    assert len(seen) == 3**6


def test_every_bit_of_a_coordinate_moves_half_of_the_output_bits():
    flips = [bin(int(fold(GOLDEN, 12345)) ^ int(fold(GOLDEN, 12345 ^ (1 << bit)))).count("1") for bit in range(63)]
    assert 24 < np.mean(flips) < 40 and min(flips) > 12


def test_the_mixer_is_the_finaliser_of_splitmix64():
    """SplitMix64 from state 0: the first three outputs of Vigna's splitmix64.c, as its many ports print them."""
    state = [np.uint64((k * 0x9E3779B97F4A7C15) % 2**64) for k in (1, 2, 3)]
    assert [int(mix(s)) for s in state] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_the_bits_of_this_release_stay_as_they_are():
    """Computed by this implementation (0.1.0): a change here changes every recorded run."""
    start = stream(world_key(7, 3), 2, 5, 11)
    assert int(world_key(7, 3)) == 1070688697729654527 and int(start) == 17779716145311495510
    known = [0.09432885985488315, 0.20155104585449513, 0.02157154244985826, 0.5577713806325696]
    assert [unit(start, k) for k in range(4)] == known
    assert channel("swarm", "proximity") == crc32(b"swarm/proximity") == 2380885210


def test_either_is_symmetric_and_bounded():
    values = np.array([either(stream(world_key(2, 0), 0, 0, 1), k, 0.15) for k in range(COUNT)])
    assert values.min() >= -0.15 and values.max() < 0.15
    assert abs(values.mean()) < FAR * 0.15 / sqrt(3 * COUNT)
    assert either(stream(world_key(2, 0), 0, 0, 1), 0, 0.0) == 0.0


# -- the noise of a device ------------------------------------------------------------------------------------------
def device(*names, worlds=3, robots=slice(2, 6), step=9, seed=1):
    keys = np.array([world_key(seed, w) for w in range(worlds)], np.uint64)
    return Noise(keys, np.full(worlds, step), robots, *names)


def test_noise_has_a_number_for_each_world_robot_and_use():
    noise = device("a", "ir")
    draw = noise.uniform(2.0, 5.0, 7)
    assert draw.shape == (3, 4, 7) and draw.min() >= 2.0 and draw.max() < 5.0
    assert len(np.unique(draw)) == draw.size
    assert np.array_equal(draw, noise.uniform(2.0, 5.0, 7))                     # asking again is not drawing again
    assert np.array_equal(draw[..., :3], noise.uniform(2.0, 5.0, 3))            # nor is asking for more
    assert not np.isclose(draw, noise.uniform(2.0, 5.0, 7, use="b")).any()
    assert not np.isclose(draw, device("a", "other").uniform(2.0, 5.0, 7)).any()
    assert not np.isclose(draw, device("b", "ir").uniform(2.0, 5.0, 7)).any()


def test_a_robot_s_noise_does_not_depend_on_who_else_asks():
    everybody = device("a", "ir", robots=slice(0, 10)).uniform(0.0, 1.0, 3)
    assert np.array_equal(everybody[:, 4:6], device("a", "ir", robots=slice(4, 6)).uniform(0.0, 1.0, 3))
    assert np.array_equal(everybody[:2], device("a", "ir", robots=slice(0, 10), worlds=2).uniform(0.0, 1.0, 3))


def test_held_noise_is_new_only_every_so_many_steps():
    draws = np.array([device("a", step=step).held(5).uniform(0.0, 1.0)[0, 0, 0] for step in range(20)])
    assert len(np.unique(draws)) == 4
    assert all(len(set(draws[k:k + 5])) == 1 for k in (0, 5, 10, 15))


def test_normal_noise_has_the_moments_of_a_gaussian():
    draw = device("a", worlds=50, robots=slice(0, 40)).normal(0.3, 100).ravel() / 0.3
    n = draw.size
    assert np.isfinite(draw).all()
    assert abs(draw.mean()) < FAR / sqrt(n)
    assert draw.var() == pytest.approx(1.0, abs=FAR * sqrt(2 / n))
    assert abs(stats.skew(draw)) < FAR * sqrt(6 / n)
    assert abs(stats.kurtosis(draw)) < FAR * sqrt(24 / n)
    assert stats.kstest(draw[:20_000], "norm").pvalue > 1e-5
    assert abs(np.corrcoef(draw[:-1], draw[1:])[0, 1]) < FAR / sqrt(n)


def test_normal_noise_of_no_width_is_zero():
    assert not device("a").normal(0.0, 5).any()
