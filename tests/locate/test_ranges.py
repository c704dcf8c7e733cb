"""Radial Gaussians and the circular search, beside integrals and a search of the whole floor."""

import numpy as np
import pytest
from scipy.integrate import dblquad, quad

from formiga.locate import ranges

CASES = [(3.0, 0.5), (3.0, 1.0), (0.5, 1.0), (8.0, 1.02)]


@pytest.mark.parametrize("radius, sigma", CASES)
def test_the_belief_of_one_range_integrates_to_one_in_the_plane_and_in_space(radius, sigma):
    def ring(r, dimensions):
        around = 2.0 * np.pi * r if dimensions == 2 else 4.0 * np.pi * r * r
        return around * float(ranges.radial(np.array([r, 0.0, 0.0][:dimensions]), np.zeros(dimensions), radius, sigma))

    for dimensions in (2, 3):
        assert quad(ring, 0.0, 40.0, (dimensions,), limit=200)[0] == pytest.approx(1.0, abs=1e-6)


def test_it_integrates_to_one_over_squares_too():
    centre = np.array([1.0, -2.0])
    found, _ = dblquad(lambda y, x: float(ranges.radial(np.array([x, y]), centre, 1.5, 0.4)), -4.0, 6.0, -7.0, 3.0, epsabs=1e-5)
    assert found == pytest.approx(1.0, abs=1e-4)


def room(rng, filters=20, rows=12):
    beacons = rng.uniform(0.0, 10.0, (filters, rows, 2))
    place = rng.uniform(2.0, 8.0, (filters, 2))
    return beacons, place, np.linalg.norm(beacons - place[:, None], axis=-1)


def test_exact_ranges_give_the_exact_place(rng):
    beacons, place, far = room(rng)
    found = ranges.search(beacons, far, 1.0)
    assert found.place == pytest.approx(place, abs=1e-6) and (found.cost < 1e-10).all()


def test_noisy_ranges_give_the_place_of_least_cost_on_the_whole_floor(rng):
    """The circles about one beacon contain the minimum: nothing on a fine lattice of the floor is better."""
    beacons, _, far = room(rng, filters=8)
    measured = far + 0.5 * rng.normal(size=far.shape)
    found = ranges.search(beacons, measured, 0.25)
    x, y = np.meshgrid(np.arange(-5.0, 15.0, 0.05), np.arange(-5.0, 15.0, 0.05))
    floor = np.stack([x, y], axis=-1)
    for k in range(8):
        lattice = ranges.cost(floor, beacons[k], measured[k], 0.25)
        assert found.cost[k] <= lattice.min() + 1e-9
        assert found.cost[k] == pytest.approx(float(ranges.cost(found.place[k], beacons[k], measured[k], 0.25)))
        best = floor[np.unravel_index(lattice.argmin(), lattice.shape)]
        assert np.linalg.norm(found.place[k] - best) < 0.15


def test_beacons_on_a_line_leave_a_mirror_image_that_the_rival_tells(rng):
    beacons = np.column_stack([np.arange(4.0), np.zeros(4)])
    far = np.linalg.norm(beacons - (1.5, 3.0), axis=-1)
    found = ranges.search(beacons, far, 0.04)
    assert abs(found.place[1]) == pytest.approx(3.0, abs=1e-3) and found.rival < 1.0    # one of two, both as good
    beacons[0] = 0.0, 4.0
    spread = ranges.search(beacons, np.linalg.norm(beacons - (1.5, 3.0), axis=-1), 0.04)
    assert spread.place == pytest.approx([1.5, 3.0], abs=1e-4) and spread.rival > 15.0


def test_readings_that_are_missing_do_not_count_and_without_any_there_is_no_place(rng):
    beacons, _, far = room(rng, filters=3)
    some = far.copy()
    some[0, ::2], some[1] = np.nan, np.nan
    found, alone = ranges.search(beacons, some, 1.0), ranges.search(beacons[0, 1::2], far[0, 1::2], 1.0)
    assert found.place[0] == pytest.approx(alone.place, abs=1e-9)
    assert np.isnan(found.place[1]).all() and found.cost[1] == np.inf
    empty = ranges.search(np.zeros((2, 0, 2)), np.zeros((2, 0)), 1.0)
    assert np.isnan(empty.place).all() and empty.place.shape == (2, 2)


def test_a_reading_with_any_number_that_is_not_finite_is_none(rng):
    beacons, _, far = room(rng, filters=4, rows=5)
    variances, alone = np.ones((4, 5)), [ranges.search(beacons[k, :4], far[k, :4], 1.0) for k in range(4)]
    far[0, 4], far[1, 4], beacons[2, 4, 1], variances[3, 4] = np.inf, np.nan, np.nan, np.inf
    found = ranges.search(beacons, far, variances)
    for k in range(4):
        assert found.place[k].tolist() == alone[k].place.tolist() and found.cost[k] == alone[k].cost


@pytest.mark.parametrize("change, message", [
    ({"variances": 0.0}, "variances must be above 0"), ({"variances": -1.0}, "variances must be above 0"),
    ({"variances": 1e12}, "places on its circles, more than"), ({"step": 0.0}, "step and turn must be above 0"),
    ({"turn": np.nan}, "step and turn must be above 0"), ({"about": 12}, "from 0 to 11"), ({"about": -1}, "from 0 to 11"),
    ({"centres": np.zeros((12, 3))}, r"centres must be an array \(..., N, 2\)"),
])
def test_a_search_that_cannot_be_is_refused(rng, change, message):
    beacons, _, far = room(rng, filters=1)
    with pytest.raises(ValueError, match=message):
        ranges.search(**{"centres": beacons[0], "ranges": far[0], "variances": 1.0} | change)


def test_a_batch_gives_each_filter_the_bits_that_it_has_alone(rng):
    beacons, _, far = room(rng)
    measured = far + rng.normal(size=far.shape)
    together = ranges.search(beacons, measured, 1.0)
    for k in range(len(far)):
        alone = ranges.search(beacons[k], measured[k], 1.0)
        assert all(np.array_equal(one[k], other) for one, other in zip(together, alone, strict=True))


def test_a_range_that_was_true_is_true_after_the_beacon_moves_along_with_the_robot(rng):
    beacons, place, far = room(rng)
    way = rng.normal(size=(20, 2))
    shifted, variances = ranges.shift(beacons, np.full(far.shape, 1.0), way, share=0.05)
    assert np.linalg.norm(shifted - (place + way)[:, None], axis=-1) == pytest.approx(far)
    assert variances == pytest.approx(1.0 + (0.05 * np.linalg.norm(way, axis=-1, keepdims=True)) ** 2 + 0.0 * far)


def test_five_silences_of_a_tag_that_answers_nineteen_times_in_twenty_are_no_luck():
    assert ranges.run_of_bad_luck(0.95, 3) == pytest.approx(1.25e-4)
    assert ranges.run_of_bad_luck(0.95, 5) < 1e-6 < ranges.run_of_bad_luck(0.95, 4)
