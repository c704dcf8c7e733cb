"""The parts of a particle filter beside their plain twins, and the laws that they keep."""

import numpy as np
import pytest
from scipy import stats

from formiga.locate import beams, clusters, draws, field, motion, recovery, resampling
from formiga.locate.field import Mixture
from formiga.locate.kalman import covariance_of
from formiga.locate.resampling import KLD, Bins
from formiga.map import FREE, OCCUPIED, Grid
from tests.reference import locate as plain


def cloud(rng, *lead, size=40, width=6.0):
    return np.concatenate([rng.uniform(0.0, width, (*lead, size, 2)), rng.uniform(-np.pi, np.pi, (*lead, size, 1))], axis=-1)


def a_map(rng, yaw=0.3):
    cells = np.where(rng.random((40, 50)) < 0.05, OCCUPIED, FREE).astype(np.int8)
    return Grid(cells, 0.2, -1.0, 0.5, yaw)


# -- motion -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("model, errors, twin", [(motion.differential, motion.TurnErrors(), plain.differential),
                                                 (motion.omni, motion.GlideErrors(), plain.omni)])
def test_particles_move_as_their_plain_twin_and_each_filter_as_alone(rng, model, errors, twin):
    particles, before = cloud(rng, 3, 2), rng.uniform(-1.0, 1.0, (3, 2, 3))
    after, starts, count = before + rng.uniform(-0.5, 0.5, (3, 2, 3)), draws(7, (3, 2)), rng.integers(1, 41, (3, 2))
    moved = particles.copy()
    model(moved, before, after, errors, starts, count)
    for k in np.ndindex(3, 2):
        expected = twin(particles[k][: count[k]], before[k], after[k], errors, starts[k])
        off = moved[k][: count[k]] - expected
        assert off[:, :2] == pytest.approx(0.0, abs=1e-12) and np.sin(off[:, 2]) == pytest.approx(0.0, abs=1e-12)
        assert np.array_equal(moved[k][count[k]:], particles[k][count[k]:])          # those that do not count stay
        alone = particles[k].copy()
        model(alone, before[k], after[k], errors, starts[k], count[k])
        assert np.array_equal(alone, moved[k])


@pytest.mark.parametrize("model, exact", [(motion.differential, motion.TurnErrors(0.0, 0.0, 0.0, 0.0)),
                                          (motion.omni, motion.GlideErrors(0.0, 0.0, 0.0, 0.0))])
def test_without_errors_all_particles_follow_the_odometry(rng, model, exact):
    particles, before, after = cloud(rng), rng.uniform(-1.0, 1.0, 3), rng.uniform(-1.0, 1.0, 3)
    expected = motion.follow(particles, before, after)
    model(particles, before, after, exact, draws(1))
    assert particles[:, :2] == pytest.approx(expected[:, :2])
    assert np.sin(particles[:, 2] - expected[:, 2]) == pytest.approx(0.0, abs=1e-9)


def test_the_spread_of_a_way_is_the_one_that_the_errors_name(rng):
    """100,000 particles, 2 m ahead: std 5 % of the way along it, 0.02 rad for each m across."""
    particles = np.zeros((100_000, 3))
    motion.differential(particles, np.zeros(3), np.array([2.0, 0.0, 0.0]), motion.TurnErrors(0.1, 0.02, 0.05, 0.01), draws(3))
    assert particles[:, 0].std() == pytest.approx(0.1, rel=0.02) and particles[:, 1].std() == pytest.approx(0.08, rel=0.02)
    assert particles[:, 2].std() == pytest.approx(0.04 * np.sqrt(2.0), rel=0.02)


def test_a_robot_that_does_not_move_keeps_its_particles(rng):
    particles = cloud(rng)
    before = particles.copy()
    motion.differential(particles, np.ones(3), np.ones(3), motion.TurnErrors(), draws(1))
    assert np.array_equal(particles, before)


def test_a_pose_seen_from_another_one_and_put_back_is_the_same(rng):
    one, other = cloud(rng), cloud(rng)
    back = motion.seated(one, motion.relative(one, other))
    assert back[:, :2] == pytest.approx(other[:, :2]) and np.sin(back[:, 2] - other[:, 2]) == pytest.approx(0.0, abs=1e-12)


# -- weights ----------------------------------------------------------------------------------------------------------
def test_the_likelihood_field_weighs_as_its_plain_twin(rng):
    grid, mixture = a_map(rng), Mixture(0.7, 0.2, 0.1, sigma=0.3, decay=0.8, reach=5.0)
    made = field.likelihood_field(grid, mixture)
    particles, ends = cloud(rng, 3), rng.uniform(-4.0, 4.0, (3, 21, 2))
    ends[0, ::3] = np.nan
    found = field.log_weights(particles, ends, made, count=np.array([40, 7, 40]))
    for f in range(3):
        expected = plain.field_log_weights(particles[f], ends[f], made.hit, grid, 0.2 * 0.8, 0.8, 0.1 / 5.0)
        counted = 7 if f == 1 else 40
        assert found[f, :counted] == pytest.approx(expected[:counted], rel=1e-6) and (found[f, counted:] == -np.inf).all()


def test_the_field_is_highest_at_walls_and_falls_as_a_gaussian():
    cells = np.full((3, 41), FREE, np.int8)
    cells[:, 20] = OCCUPIED
    made = field.likelihood_field(Grid(cells, 0.1), Mixture(hit=1.0, sigma=0.5))
    away = 0.1 * np.abs(np.arange(41) - 20)
    assert made.hit[1] == pytest.approx(np.exp(-0.5 * (away / 0.5) ** 2) / (0.5 * np.sqrt(2.0 * np.pi)), rel=1e-6)


def test_end_points_deep_inside_a_block_are_as_improbable_as_those_far_before_it():
    """A beam that should have met the near side of a block 4 m deep: the field falls from there to both sides."""
    cells = np.full((3, 101), FREE, np.int8)
    cells[:, 40:80] = OCCUPIED
    grid = Grid(cells, 0.1)
    made = field.likelihood_field(grid, Mixture(hit=0.9, sigma=0.3, random=0.1, reach=10.0))
    assert made.hit[1, 40:60] == pytest.approx(made.hit[1, 40:20:-1], rel=1e-6)     # inwards as outwards from its first cell
    assert made.hit[1, 60] < 1e-6 * made.hit[1, 40]
    ends = np.array([[4.05, 0.0]])                          # ahead; the robot is at the left, in the middle of the strip
    at, before, inside = field.log_weights(np.array([(0.0, 0.15, 0.0), (-2.0, 0.15, 0.0), (2.0, 0.15, 0.0)]), ends, made)
    assert inside == pytest.approx(before, abs=1e-3) and at - inside > 4.0


def test_the_particle_at_the_true_pose_weighs_most(rng):
    from formiga.map.rays import cast

    grid = a_map(rng, yaw=0.0)
    particles, angles = cloud(rng, size=200), np.linspace(-2.0, 2.0, 25)
    true = 17
    far = cast(grid, particles[true], angles, 6.0)
    by_field = field.log_weights(particles, field.end_points(far, angles, 6.0),
                                 field.likelihood_field(grid, Mixture(sigma=0.1, reach=6.0)))
    by_beams = beams.log_weights(particles, np.minimum(far, 6.0), angles, grid, Mixture(0.8, 0.1, 0.05, 0.05, 0.1, 1.0, 6.0))
    assert by_field.argmax() == true and by_beams.argmax() == true


def test_something_that_is_not_on_the_map_costs_less_with_a_short_term(rng):
    """A teammate before half of the beams: how much the true pose loses against a scan without it."""
    grid, angles = a_map(rng, yaw=0.0), np.linspace(-2.0, 2.0, 24)
    from formiga.map.rays import cast

    pose = np.array([[3.0, 3.0, 0.2]])
    far = cast(grid, pose[0], angles, 6.0)
    hidden = np.where(np.arange(24) % 2 == 0, np.minimum(far, 0.5), far)
    lost = {}
    for short in (0.0, 0.3):
        made = field.likelihood_field(grid, Mixture(0.9, short, 0.01, sigma=0.1, reach=6.0))
        clear, blocked = (field.log_weights(pose, field.end_points(each, angles, 6.0), made)[0] for each in (far, hidden))
        lost[short] = clear - blocked
    assert 0.0 < lost[0.3] < 0.5 * lost[0.0]


@pytest.mark.parametrize("true", [0.5, 3.0, 4.95])
def test_the_beam_model_is_a_probability(true):
    """Over all that can be measured its density and the share of beams that meet nothing make 1. [Thrun et al. 2005, 6.3]"""
    mixture = Mixture(0.7, 0.15, 0.1, 0.05, 0.2, 1.2, 5.0)
    z = np.linspace(0.0, 5.0, 200_001)[:-1]
    inside = beams.probability(z, true, mixture).mean() * 5.0
    assert inside + float(beams.probability(5.0, true, mixture)) == pytest.approx(1.0, abs=2e-4)


def test_the_beam_model_is_that_of_scipys_distributions(rng):
    mixture = Mixture(0.7, 0.15, 0.1, 0.05, 0.2, 1.2, 5.0)
    for _ in range(200):
        z, true = rng.uniform(0.0, 5.5), rng.uniform(0.1, 5.0)
        assert float(beams.probability(z, true, mixture)) == pytest.approx(plain.beam_probability(z, true, mixture), rel=1e-9)


def test_beams_that_were_not_measured_and_particles_that_do_not_count_are_left_out(rng):
    grid, mixture, angles = a_map(rng), Mixture(0.8, 0.1, 0.1, 0.05, 0.2, 1.0, 5.0), np.linspace(-1.0, 1.0, 6)
    particles, far = cloud(rng, 2), rng.uniform(0.0, 5.0, (2, 6))
    far[:, 3] = np.nan
    found = beams.log_weights(particles, far, angles, grid, mixture, count=np.array([40, 5]))
    fewer = beams.log_weights(particles, np.delete(far, 3, axis=1), np.delete(angles, 3), grid, mixture)
    assert found[0] == pytest.approx(fewer[0])
    assert (found[1, 5:] == -np.inf).all() and found[1, :5] == pytest.approx(fewer[1, :5])


# -- resampling -------------------------------------------------------------------------------------------------------
def test_weights_add_up_to_one_however_small_and_lost_filters_begin_evenly():
    weights = resampling.normalized(np.array([[-1000.0, -1001.0, -np.inf], [-np.inf] * 3]))
    assert weights[0] == pytest.approx([1.0 / (1.0 + np.exp(-1.0)), 1.0 / (1.0 + np.e), 0.0])
    assert weights[1] == pytest.approx(1.0 / 3.0) and resampling.effective(weights)[1] == pytest.approx(3.0)


def test_each_particle_survives_as_often_as_it_weighs_to_within_one(rng):
    weights = rng.dirichlet(np.ones(30), size=(4, 3))
    first = rng.random((4, 3))
    chosen = resampling.low_variance(weights, first, 100)
    for k in np.ndindex(4, 3):
        times = np.bincount(chosen[k], minlength=30)
        assert (np.abs(times - 100.0 * weights[k]) < 1.0).all()
        assert np.array_equal(chosen[k], plain.low_variance(weights[k], first[k], 100))


def test_the_bound_has_the_published_values():
    """Fox 2003, eq. 13, with epsilon 0.05 and delta 0.01, rounded by hand: 217, 1347, 5754, 21490; ours are rounded up."""
    assert np.abs(resampling.kld_bound([10, 100, 500, 2000]) - [217, 1347, 5754, 21490]).max() <= 1
    assert resampling.kld_bound([0, 1]).tolist() == [1, 1]
    assert all(resampling.kld_bound(k) == plain.kld_bound(k, *KLD()) for k in range(2, 200))


def test_as_many_particles_are_drawn_as_their_bins_ask_for(rng):
    bins, rule = Bins(0.5, np.radians(30.0)), KLD(0.2)
    for size, width in ((300, 0.4), (300, 6.0), (3000, 3.0)):
        particles, weights = cloud(rng, 2, size=size, width=width), rng.dirichlet(np.ones(size), 2)
        starts, drawn = draws(int(width), (2,)), particles.copy()
        count = resampling.kld_resample(drawn, weights, size, starts, bins, rule, 20, size)
        for f in range(2):
            expected = plain.kld_resample(particles[f], weights[f], starts[f], bins, rule, 20, size)
            assert count[f] == len(expected) and np.array_equal(drawn[f, : count[f]], expected)


def test_others_come_in_by_their_share_and_a_lost_filter_becomes_as_large_as_its_bins_ask_for(rng):
    bins, rule, near = Bins(0.5, np.radians(30.0)), KLD(0.2), np.full((3, 3000, 3), 0.1)
    others, starts, share = cloud(rng, 3, size=3000), draws(3, (3,)), np.array([0.0, 0.3, 1.0])
    drawn, weights = near.copy(), np.full((3, 3000), 1.0 / 3000)
    count = resampling.kld_resample(drawn, weights, 3000, starts, bins, rule, 20, 3000, share, others)
    for f in range(3):
        expected = plain.kld_resample(near[f], weights[f], starts[f], bins, rule, 20, 3000, share[f], others[f])
        assert count[f] == len(expected) and np.array_equal(drawn[f, : count[f]], expected)
    assert count[0] == 20 and 200 < count[1] < 3000 and count[2] > count[1]
    assert (drawn[1, : count[1], 0] != 0.1).mean() == pytest.approx(0.3, abs=0.08)


def test_golden_strides_draw_each_particle_nearly_as_often_as_it_weighs(rng):
    weights = rng.dirichlet(np.ones(25))
    particles = np.zeros((2000, 3))
    particles[:, 0] = np.arange(2000)
    padded = np.zeros(2000)
    padded[:25] = weights
    resampling.kld_resample(particles, padded, 25, draws(5), Bins(), KLD(), 2000, 2000)
    times = np.bincount(particles[:, 0].astype(int), minlength=25)
    assert np.abs(times - 2000 * weights).max() < 8.0    # independent draws would be off by up to 30


def test_more_particles_than_there_is_room_for_are_refused(rng):
    with pytest.raises(ValueError, match="room for 40 particles"):
        resampling.kld_resample(cloud(rng), np.full(40, 0.025), 40, draws(1), Bins(), KLD(), 10, 41)


@pytest.mark.parametrize("weights", [np.zeros(40), np.full(40, np.nan), np.full(40, np.inf), -np.ones(40)])
def test_weights_that_say_nothing_are_refused(rng, weights):
    with pytest.raises(ValueError, match="weights must be numbers of at least 0 with a finite sum above 0"):
        resampling.kld_resample(cloud(rng), weights, 40, draws(1), Bins(), KLD(), 10, 40)
    with pytest.raises(ValueError, match="weights must be numbers of at least 0 with a finite sum above 0"):
        resampling.low_variance(weights, 0.5)


def test_a_log_weight_that_is_no_number_weighs_nothing():
    assert resampling.normalized([0.0, np.nan, 0.0]).tolist() == [0.5, 0.0, 0.5]


def test_weights_times_a_scan_are_those_of_their_logarithms_filter_by_filter(rng):
    """reweigh beside normalized(log + log(weights)), with counts of their own, and scans that rule some particles out."""
    log, weights = rng.normal(0.0, 20.0, (6, 4, 50)), rng.dirichlet(np.ones(50), (6, 4))
    log[rng.random(log.shape) < 0.1] = np.nan
    log[rng.random(log.shape) < 0.1] = -np.inf
    weights[rng.random(weights.shape) < 0.1] = 0.0
    log[0] -= 1e5                                   # far below the smallest number
    log[1, :, 0] = np.nan                           # where the search for the largest begins
    count = rng.integers(5, 51, (6, 4))
    for given in (None, 33, count):
        ours = weights.copy()
        enough = resampling.reweigh(ours, log, given)
        for k in np.ndindex(6, 4):
            n = 50 if given is None else int(np.broadcast_to(given, count.shape)[k])
            with np.errstate(divide="ignore"):
                expected = resampling.normalized(log[k][:n] + np.log(weights[k][:n]))
            assert ours[k][:n] == pytest.approx(expected, rel=1e-9, abs=1e-300) and not ours[k][n:].any()
            assert enough[k] == pytest.approx(resampling.effective(expected))
            alone = weights[k].copy()
            assert resampling.reweigh(alone, log[k], n) == enough[k] and np.array_equal(alone, ours[k])


@pytest.mark.parametrize("weights, log", [
    ([0.5, 0.5, 0.0, 0.0], [-np.inf] * 4), ([0.5, 0.5, 0.0, 0.0], [np.nan] * 4), ([0.0] * 4, [-1.0, -2.0, -3.0, -4.0]),
    ([0.5, 0.5, 0.0, 0.0], [-np.inf, np.nan, 0.0, 0.0]), ([0.25] * 4, [0.0, np.inf, 0.0, 0.0]),
    ([0.0, np.inf, 1.0, 1.0], [0.0, -1.0, 0.0, 0.0]), ([-1.0, np.nan, 0.0, -0.0], [0.0] * 4)])
def test_filters_that_a_scan_leaves_without_a_particle_begin_evenly(weights, log):
    """As normalized has it: nothing is possible, or something weighs more than can be counted."""
    ours = np.array(weights)
    assert resampling.reweigh(ours, log) == pytest.approx(4.0) and ours.tolist() == [0.25] * 4
    with np.errstate(all="ignore"):
        assert resampling.normalized(np.array(log) + np.log(np.array(weights))).tolist() == [0.25] * 4
    some = np.array([*weights, 0.3])
    assert resampling.reweigh(some, [*log, 9.0], 4) == pytest.approx(4.0) and some.tolist() == [0.25] * 4 + [0.0]


def test_a_filter_without_particles_weighs_nothing():
    weights = np.full((2, 3), 1.0 / 3.0)
    enough = resampling.reweigh(weights, np.zeros((2, 3)), np.array([0, 2]))
    assert enough.tolist() == [0.0, 2.0] and weights.tolist() == [[0.0] * 3, [0.5, 0.5, 0.0]]
    assert resampling.reweigh(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0,)


def test_weights_that_cannot_be_changed_in_place_and_scans_of_another_shape_are_refused():
    for weights in ([0.5, 0.5], np.array([1, 1]), np.zeros(4)[::2], np.broadcast_to(0.5, 2), np.zeros(2, np.float32),
                    np.array(0.5)):
        with pytest.raises(ValueError, match="weights are changed in place"):
            resampling.reweigh(weights, np.zeros(2))
    for log in (np.zeros(3), np.zeros((2, 3)), 0.0):
        with pytest.raises(ValueError, match=r"weights must have the shape \(3, 4\), one for each particle"):
            resampling.reweigh(np.ones((3, 4)), log)
    for count in (5, -1, np.array([4, 4]), 2.5):
        with pytest.raises(ValueError, match="count must be"):
            resampling.reweigh(np.ones((3, 4)), np.zeros((3, 4)), count)


# -- what kernels take for granted ------------------------------------------------------------------------------------
GRID = Grid(np.zeros((4, 4), np.int8), 1.0)
CALLS = {
    "moved": lambda particles, starts, count: motion.differential(
        particles, np.zeros(3), np.ones(3), motion.TurnErrors(), starts, count),
    "scattered": lambda particles, starts, count: recovery.scatter(particles, 1.0, starts, GRID, count),
    "gathered": lambda particles, starts, count: recovery.gather(
        particles, count, np.zeros((*particles.shape[:-2], 1, 2)), np.ones((*particles.shape[:-2], 1), bool), 0.5, starts),
    "resampled": lambda particles, starts, count: resampling.kld_resample(
        particles, np.full(particles.shape[:-1], 0.1), count, starts, Bins(), KLD(), 1, particles.shape[-2]),
}
READS = {
    "field": lambda particles, count: field.log_weights(
        particles, np.zeros((2, 2)), field.likelihood_field(GRID, Mixture()), count),
    "beams": lambda particles, count: beams.log_weights(particles, np.zeros(2), np.zeros(2), GRID, Mixture(), count),
    "clusters": lambda particles, count: clusters.hypotheses(particles, np.ones(particles.shape[:-1]), count),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_counts_starts_and_arrays_that_would_bring_a_kernel_beside_its_particles_are_refused(rng, call):
    for count in (41, -1, np.array([40, 41]), np.array([40]), 2.5):
        with pytest.raises(ValueError, match="count must be"):
            call(cloud(rng, 2), draws(1, (2,)), count)
    with pytest.raises(ValueError, match=r"starts must be whole numbers of the shape \(2,\)"):
        call(cloud(rng, 2), draws(1), 40)
    with pytest.raises(ValueError, match=r"an array \(..., P, 3\) of x, y and heading"):
        call(np.zeros((6, 2)), draws(1), 6)
    for particles in (np.zeros((4, 3), np.float32), np.zeros((4, 3), int), np.broadcast_to(0.0, (4, 3))):
        with pytest.raises(ValueError, match="array of float64 that can be written"):
            call(particles, draws(1), 4)
    with pytest.raises(ValueError, match="without gaps"):
        call(cloud(rng, 4, 4)[::2, ::3], draws(1, (2, 2)), 40)


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_counts_beyond_the_particles_are_refused_by_what_reads_them(rng, read):
    for count in (41, -1, np.array([40])):
        with pytest.raises(ValueError, match="count must be"):
            read(cloud(rng, 2), count)
    with pytest.raises(ValueError, match=r"an array \(..., P, 3\) of x, y and heading"):
        read(np.zeros((6, 2)), 6)
    read(cloud(rng, 2), 0)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_every_other_particle_of_an_array_is_changed_as_if_it_were_alone(rng, call):
    particles = cloud(rng)
    before, alone = particles.copy(), particles[::2].copy()
    call(particles[::2], draws(1), 20)
    call(alone, draws(1), 20)
    assert np.array_equal(particles[::2], alone) and np.array_equal(particles[1::2], before[1::2])


def test_odometry_that_is_no_number_moves_nothing(rng):
    with pytest.raises(ValueError, match="before and after must be finite"):
        motion.omni(cloud(rng), np.zeros(3), np.array([0.1, np.nan, 0.0]), motion.GlideErrors(), draws(1))


# -- hypotheses -------------------------------------------------------------------------------------------------------
def test_clusters_are_those_of_a_search_from_bin_to_bin(rng):
    centres = np.array([[2.0, 2.0, 3.1], [2.0, 2.0, 0.0], [8.0, 3.0, -1.0]])
    particles = np.concatenate([centres[k] + rng.normal(size=(n, 3)) * (0.4, 0.4, 0.15)
                                for k, n in enumerate((300, 200, 100))])
    particles[:, 2] = (particles[:, 2] + np.pi) % (2.0 * np.pi) - np.pi
    weights = rng.uniform(0.5, 1.0, 600)
    found = clusters.hypotheses(particles, weights, lightest=0.02)
    groups = sorted(plain.clusters(particles, 1.0, np.radians(30.0)), key=lambda each: -weights[list(each)].sum())
    groups = [each for each in groups if weights[list(each)].sum() >= 0.02 * weights.sum()]
    assert found.count == len(groups) == 3
    for h, members in enumerate(groups):
        mine = sorted(members)
        mean, spread = covariance_of(particles[mine], weights[mine])
        assert found.weight[h] == pytest.approx(weights[mine].sum() / weights.sum())
        assert found.pose[h] == pytest.approx(mean) and found.covariance[h] == pytest.approx(spread, abs=1e-9)


def test_the_mean_distance_of_hypotheses_is_over_pairs_and_0_for_one():
    pose = np.zeros((2, 8, 3))
    pose[0, :3, :2] = (0.0, 0.0), (3.0, 4.0), (0.0, 8.0)
    found = clusters.Hypotheses(pose, np.zeros((2, 8, 3, 3)), np.zeros((2, 8)), np.array([3, 1]))
    assert clusters.spread(found) == pytest.approx([(5.0 + 8.0 + 5.0) / 3.0, 0.0])


def test_light_clusters_are_dropped_but_never_all(rng):
    particles = np.concatenate([np.zeros((90, 3)), np.full((10, 3), 20.0)])
    weights = np.concatenate([np.full(90, 1.0), np.full(10, 0.01)])
    assert clusters.hypotheses(particles, weights).count == 1
    spread_out = np.column_stack([10.0 * np.arange(100.0), np.zeros(100), np.zeros(100)])
    found = clusters.hypotheses(spread_out, np.full(100, 0.01))
    assert found.count == 1 and found.weight[0] == pytest.approx(0.01)


# -- recovery ---------------------------------------------------------------------------------------------------------
def test_random_particles_come_as_scans_become_less_probable_than_they_were():
    """Thrun, Burgard & Fox 2005, table 8.3, step by step."""
    slow, fast = np.zeros(1), np.zeros(1)
    assert recovery.watch(slow, fast, np.array([0.8]))[0] == 0.0 and slow[0] == fast[0] == 0.8
    assert recovery.watch(slow, fast, np.array([0.2]))[0] == pytest.approx(1.0 - (0.8 - 0.06) / (0.8 - 0.006))
    assert recovery.watch(slow, fast, np.array([5.0]))[0] == 0.0
    slow, fast = np.array([0.5]), np.array([0.4])
    assert recovery.watch(slow, fast, np.array([np.nan]), patience=1.2)[0] == pytest.approx(1.0 - 1.2 * 0.8)
    assert recovery.watch(slow, fast, np.array([np.nan]), patience=1.3)[0] == 0.0


def test_likeness_is_the_mean_probability_of_a_beam():
    log = np.log(np.array([[0.2 ** 4, 0.4 ** 4]]))
    assert recovery.likeness(log, np.array([[0.0, 1.0]]), 4)[0] == pytest.approx(0.4)
    assert recovery.likeness(log, np.array([[0.5, 0.5]]), 4)[0] == pytest.approx((0.5 * (0.2 ** 4 + 0.4 ** 4)) ** 0.25)


def test_a_scan_without_any_beam_that_met_something_tells_nothing():
    slow, fast = np.array([0.5, 0.0]), np.array([0.4, 0.0])
    now = recovery.likeness(np.zeros((2, 3)), np.full((2, 3), 1.0 / 3.0), np.array([0, 0]))
    share = recovery.watch(slow, fast, now)
    assert np.isnan(now).all() and share == pytest.approx([0.2, 0.0])
    assert slow.tolist() == [0.5, 0.0] and fast.tolist() == [0.4, 0.0]


def test_scattered_particles_are_on_free_cells_evenly(rng):
    grid = a_map(rng)
    particles = np.full((2, 20_000, 3), 99.0)
    recovery.scatter(particles, np.array([1.0, 0.25]), draws(3, (2,)), grid)
    assert (grid.at(particles[0, :, :2]) == FREE).all()
    fresh = particles[1, :, 0] != 99.0
    assert fresh.mean() == pytest.approx(0.25, abs=0.02)
    seen = np.zeros(grid.shape)
    cells = grid.cell_of(particles[0, :, :2])
    np.add.at(seen, (cells[:, 0], cells[:, 1]), 1.0)
    mean = 20_000 / grid.free.sum()
    assert seen[grid.free].var() == pytest.approx(mean, rel=0.15)       # as of a Poisson distribution
    assert abs(particles[0, :, 2].mean()) < 0.06 and particles[0, :, 2].std() == pytest.approx(np.pi / np.sqrt(3.0), rel=0.02)


def test_a_map_without_a_free_cell_is_refused():
    with pytest.raises(ValueError, match="no free cell"):
        recovery.scatter(np.zeros((4, 3)), 1.0, draws(1), Grid(np.full((2, 2), OCCUPIED, np.int8), 1.0))


def test_particles_that_are_left_gather_around_reported_places_as_their_plain_twin_and_each_filter_as_alone(rng):
    particles, places, known = cloud(rng, 3, 2), rng.uniform(-5.0, 5.0, (3, 2, 4, 2)), rng.random((3, 2, 4)) < 0.6
    known[0, 0], known[1, 1] = False, True
    places[~known] = np.nan                                    # of those that do not count nothing is asked
    count, starts = rng.integers(0, 41, (3, 2)), draws(3, (3, 2))
    count[0] = 5, 40
    gathered = particles.copy()
    drawn = recovery.gather(gathered, count, places, known, 0.7, starts)
    for k in np.ndindex(3, 2):
        expected, around = plain.gather(particles[k], count[k], places[k], known[k], 0.7, starts[k])
        assert gathered[k] == pytest.approx(expected, abs=1e-12) and np.array_equal(drawn[k], around)
        assert np.array_equal(gathered[k][:count[k]], particles[k][:count[k]]) and (drawn[k][:count[k]] == -1).all()
        shares = np.bincount(drawn[k][count[k]:] + 1, minlength=5)[1:][known[k]]
        assert shares.size == 0 or shares.max() - shares.min() <= 1
        alone = particles[k].copy()
        recovery.gather(alone, count[k], places[k], known[k], 0.7, starts[k])
        assert np.array_equal(alone, gathered[k])
    assert np.array_equal(gathered[0, 0], particles[0, 0]) and np.array_equal(gathered[0, 1], particles[0, 1])
    assert (drawn[0] == -1).all()


def test_gathered_particles_are_normal_around_their_place_with_any_heading():
    particles, places = np.zeros((30_000, 3)), np.array([(1.0, 2.0), (0.0, 0.0), (-40.0, 3.0)])
    drawn = recovery.gather(particles, 0, places, [True, False, True], 0.5, draws(5))
    for r in (0, 2):
        off = (particles[drawn == r, :2] - places[r]) / 0.5
        assert len(off) == 15_000 and all(stats.kstest(each, "norm").pvalue > 1e-4 for each in off.T)
    assert stats.kstest(particles[:, 2], stats.uniform(-np.pi, 2.0 * np.pi).cdf).pvalue > 1e-4
    off = np.column_stack([particles[:, :2] - places[drawn], particles[:, 2]])
    assert np.abs(np.corrcoef(off.T) - np.eye(3)).max() < 4.5 / np.sqrt(30_000)
    recovery.gather(particles, 20_000, places, [True, False, True], 0.0, draws(6))
    assert np.array_equal(particles[20_000:, :2], places[[0, 2]][np.arange(10_000) % 2])


@pytest.mark.parametrize("known", [np.zeros((2, 3), bool), np.zeros((2, 0), bool)])
def test_without_a_report_nothing_is_gathered(rng, known):
    particles = cloud(rng, 2)
    before = particles.copy()
    drawn = recovery.gather(particles, 10, np.full((*known.shape, 2), np.nan), known, 0.5, draws(1, (2,)))
    assert np.array_equal(particles, before) and (drawn == -1).all() and drawn.shape == (2, 40)


@pytest.mark.parametrize("places, known, sigma, message", [
    (np.zeros((2, 3, 2)), np.ones((2, 4), bool), 0.5, "places must be"),
    (np.zeros((3, 2)), np.ones(3, bool), 0.5, "places must be"),
    (np.zeros((2, 3, 3)), np.ones((2, 3), bool), 0.5, "places must be"), (np.zeros(2), True, 0.5, "places must be"),
    (np.full((2, 1, 2), np.nan), np.ones((2, 1), bool), 0.5, "finite numbers"),
    (np.full((2, 1, 2), np.inf), np.ones((2, 1), bool), 0.5, "finite numbers"),
    *((np.zeros((2, 1, 2)), np.ones((2, 1), bool), sigma, "sigma finite and at least 0") for sigma in (-0.1, np.nan, np.inf))])
def test_reports_that_are_no_places_are_refused(rng, places, known, sigma, message):
    with pytest.raises(ValueError, match=message):
        recovery.gather(cloud(rng, 2), 10, places, known, sigma, draws(1, (2,)))
    with pytest.raises(ValueError, match="places must be"):
        recovery.gather(cloud(rng), 10, np.zeros(2), True, 0.5, draws(1))
