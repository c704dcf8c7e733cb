"""The extended Kalman filter beside the textbook's formulas, and whether its covariances are true."""

import numpy as np
import pytest

from formiga.locate import kalman


def spd(rng, *lead, n=3):
    root = rng.normal(size=(*lead, n, n))
    return root @ np.swapaxes(root, -1, -2) + 0.1 * np.eye(n)


def test_a_batch_of_filters_is_each_of_them_alone_by_the_textbook(rng):
    """Thrun, Burgard & Fox 2005, table 3.3, with the inverse written out."""
    P, Q, R = spd(rng, 4, 5), spd(rng, 4, 5), spd(rng, 4, 5, n=2)
    F, H = rng.normal(size=(4, 5, 3, 3)), rng.normal(size=(4, 5, 2, 3))
    x, v = rng.uniform(-1.0, 1.0, (4, 5, 3)), rng.normal(size=(4, 5, 2))
    moved, grown = kalman.predict(x, P, F, Q)
    after, less = kalman.correct(moved, grown, v, H, R)
    for k in np.ndindex(4, 5):
        before = F[k] @ P[k] @ F[k].T + Q[k]
        gain = before @ H[k].T @ np.linalg.inv(H[k] @ before @ H[k].T + R[k])
        assert grown[k] == pytest.approx(before, rel=1e-12)
        assert less[k] == pytest.approx((np.eye(3) - gain @ H[k]) @ before, rel=1e-8, abs=1e-9)
        off = after[k] - (x[k] + gain @ v[k])
        assert off[:2] == pytest.approx(0.0, abs=1e-9) and np.sin(off[2] / 2.0) == pytest.approx(0.0, abs=1e-9)
        assert -np.pi <= after[k][2] < np.pi


def test_covariances_stay_symmetric_and_positive_through_a_thousand_sharp_measurements(rng):
    mean, spread = np.zeros(3), np.eye(3)
    for _ in range(1000):
        mean, spread = kalman.predict(mean, spread, np.eye(3) + 0.01 * rng.normal(size=(3, 3)), 1e-12 * np.eye(3))
        mean, spread = kalman.correct(mean, spread, np.zeros(1), rng.normal(size=(1, 3)), np.array([[1e-9]]))
        assert np.array_equal(spread, spread.T) and np.linalg.eigvalsh(spread).min() > 0.0


def test_a_filter_with_true_models_is_as_far_off_as_it_says(rng):
    """x' = F x + q, z = H x + r, Gaussian: NEES is chi squared with n degrees, n on average. [Bar-Shalom et al. 2001, 5.4]"""
    runs, n = 2000, 3
    F = np.array([[1.0, 0.1, 0.0], [0.0, 0.95, 0.1], [0.0, 0.0, 0.9]])
    H, Q, R = np.array([[1.0, 0.0, 0.0]]), 0.05 * np.eye(3), np.array([[0.2]])
    truth, mean, spread = rng.normal(size=(runs, n)), np.zeros((runs, n)), np.broadcast_to(np.eye(3), (runs, n, n))
    for _ in range(30):
        truth = truth @ F.T + rng.normal(size=truth.shape) * np.sqrt(0.05)
        mean, spread = kalman.predict(mean @ F.T, spread, F, Q, angles=())
        measured = truth @ H.T + rng.normal(size=(runs, 1)) * np.sqrt(0.2)
        mean, spread = kalman.correct(mean, spread, measured - mean @ H.T, H, R, angles=())
    found = kalman.nees(mean, truth, spread, angles=())
    assert found.mean() == pytest.approx(n, abs=5.0 * np.sqrt(2.0 * n / runs))


def test_a_direct_measurement_of_one_number_is_the_inverse_variance_mean(rng):
    values, variances = rng.normal(size=(7, 4)), rng.uniform(0.1, 2.0, (7, 4))
    mean, spread = kalman.fuse(values, variances)
    for k in range(7):
        x, P = values[k, :1], variances[k, :1, None]
        for value, variance in zip(values[k, 1:], variances[k, 1:], strict=True):
            x, P = kalman.correct(x, P, np.array([value - x[0]]), np.eye(1), np.array([[variance]]), angles=())
        assert (mean[k], spread[k]) == (pytest.approx(x[0]), pytest.approx(P[0, 0]))


def test_what_was_not_measured_has_an_infinite_variance_and_no_weight():
    mean, spread = kalman.fuse([[1.0, np.nan, 3.0], [np.nan] * 3], [[1.0, np.inf, 1.0], [np.inf] * 3])
    assert mean.tolist() == [2.0, 0.0] and spread.tolist() == [0.5, np.inf]


def test_headings_of_a_cloud_that_lies_across_pi_have_a_small_spread(rng):
    poses = np.column_stack([rng.normal(size=(5000, 2)), np.pi + 0.1 * rng.normal(size=5000)])
    poses[:, 2] = (poses[:, 2] + np.pi) % (2.0 * np.pi) - np.pi
    mean, spread = kalman.covariance_of(poses)
    assert abs(abs(mean[2]) - np.pi) < 0.01 and spread[2, 2] == pytest.approx(0.01, rel=0.1)
    assert spread[:2, :2] == pytest.approx(np.cov(poses[:, :2].T, bias=True))


@pytest.mark.parametrize("innovation, jacobian, noise, message", [
    (np.zeros(1), np.eye(3)[:1], np.ones(1), r"noise must have the shape \(..., 1, 1\), not \(1,\)"),
    (np.zeros(3), np.eye(3), np.ones(3), r"noise must have the shape \(..., 3, 3\), not \(3,\)"),
    (0.5, np.eye(3)[:1], np.eye(1), "innovation must be an array"),
    (np.zeros(2), np.eye(3)[:1], np.eye(1), r"jacobian must have the shape \(..., 2, 3\), not \(1, 3\)"),
    (np.zeros(1), np.eye(3)[0], np.eye(1), r"jacobian must have the shape \(..., 1, 3\), not \(3,\)"),
    (np.zeros(1), np.eye(3)[:, :1], np.eye(1), r"jacobian must have the shape \(..., 1, 3\), not \(3, 1\)"),
])
def test_measurements_of_other_shapes_are_refused_and_not_stretched(innovation, jacobian, noise, message):
    with pytest.raises(ValueError, match=message):
        kalman.correct(np.zeros(3), np.eye(3), innovation, jacobian, noise)


def test_motions_of_other_shapes_are_refused_and_a_state_without_a_heading_says_so():
    with pytest.raises(ValueError, match="noise must have the shape"):
        kalman.predict(np.zeros(3), np.eye(3), np.eye(3), np.ones(3))
    with pytest.raises(ValueError, match=r"mean has 2 numbers.*angles=\(\) if it has none"):
        kalman.predict(np.zeros(2), np.eye(2), np.eye(2), np.eye(2))
    assert kalman.predict(np.zeros(2), np.eye(2), np.eye(2), np.eye(2), angles=())[1].tolist() == (2.0 * np.eye(2)).tolist()


@pytest.mark.parametrize("variance", [0.0, -1.0, np.nan])
def test_a_variance_that_is_none_is_refused(variance):
    with pytest.raises(ValueError, match="variances must be above 0"):
        kalman.fuse([1.0, 2.0], [variance, 1.0])


def test_points_of_an_ellipse_are_as_improbable_as_each_other(rng):
    P = spd(rng, n=2)
    longer, shorter, way = kalman.ellipse(P, share=2.0)
    turn = np.array([[np.cos(way), -np.sin(way)], [np.sin(way), np.cos(way)]])
    around = np.linspace(0.0, 6.0, 9)
    points = np.column_stack([longer * np.cos(around), shorter * np.sin(around)]) @ turn.T
    assert longer >= shorter and kalman.distance(points, P) == pytest.approx(2.0)
