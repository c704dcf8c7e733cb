"""The extended Kalman filter as two functions, and what tells whether its covariances are true.

    mean, covariance = predict(moved, covariance, jacobian, noise)
    mean, covariance = correct(mean, covariance, innovation, jacobian, noise)

A filter brings its own models: it moves the mean by its own equations, and says their derivatives. All arrays may have any
leading axes, such as (worlds, robots); a state of n numbers has a covariance (n, n). Component HEADING of a pose is an angle;
of another state `angles` says which are, () if none is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from formiga.geometry import wrap

Floats = NDArray[np.float64]
HEADING = 2            # of a pose x, y, heading
CHI_SQUARED_95 = 5.991464547107979    # 95 % of the squares of two normal numbers, added, are below this: -2 log 0.05


def predict(mean: Any, covariance: Any, jacobian: Any, noise: Any,
            angles: tuple[int, ...] = (HEADING,)) -> tuple[Floats, Floats]:
    """The belief after a motion that has brought the mean (..., n) to where it is now.

        P' = F P F^T + Q                                                        [Thrun, Burgard & Fox 2005, table 3.3, line 3]
    covariance P (..., n, n); jacobian F (..., n, n): how the new state changes with the old one; noise Q (..., n, n).
    """
    n = _length(mean, "mean", angles)
    _refuse_other_shapes(("covariance", covariance, (n, n)), ("jacobian", jacobian, (n, n)), ("noise", noise, (n, n)))
    spread = jacobian @ np.asarray(covariance, np.float64) @ np.swapaxes(jacobian, -1, -2) + noise
    return _wrapped(np.asarray(mean, np.float64), angles), _symmetric(spread)


def correct(mean: Any, covariance: Any, innovation: Any, jacobian: Any, noise: Any,
            angles: tuple[int, ...] = (HEADING,)) -> tuple[Floats, Floats]:
    """The belief after a measurement.

        S = H P H^T + R,   K = P H^T S^-1,   x' = x + K v                       [Thrun, Burgard & Fox 2005, table 3.3]
        P' = (I - K H) P (I - K H)^T + K R K^T                                  [Joseph's form: symmetric, never negative]
    innovation v (..., m): what was measured minus what the mean would measure, its angles wrapped by the caller;
    jacobian H (..., m, n); noise R (..., m, m).
    """
    n, m = _length(mean, "mean", angles), _length(innovation, "innovation")
    _refuse_other_shapes(("covariance", covariance, (n, n)), ("jacobian", jacobian, (m, n)), ("noise", noise, (m, m)))
    mean, before = np.asarray(mean, np.float64), np.asarray(covariance, np.float64)
    gain = gain_of(before, jacobian, noise)
    rest = np.eye(mean.shape[-1]) - gain @ jacobian
    after = rest @ before @ np.swapaxes(rest, -1, -2) + gain @ noise @ np.swapaxes(gain, -1, -2)
    moved = mean + (gain @ np.asarray(innovation, np.float64)[..., None])[..., 0]
    return _wrapped(moved, angles), _symmetric(after)


def gain_of(covariance: Any, jacobian: Any, noise: Any) -> Floats:
    """Kalman's gain K (..., n, m)."""
    across = jacobian @ covariance                               # H P, (..., m, n)
    innovation = across @ np.swapaxes(jacobian, -1, -2) + noise  # S, symmetric
    return np.asarray(np.swapaxes(np.linalg.solve(innovation, across), -1, -2))


def distance(error: Any, covariance: Any) -> Floats:
    """The squared Mahalanobis distance e^T P^-1 e (...) of errors (..., n)."""
    error = np.asarray(error, np.float64)
    return np.asarray(np.einsum("...i,...i->...", error, np.linalg.solve(covariance, error[..., None])[..., 0]))


def nees(estimate: Any, truth: Any, covariance: Any, angles: tuple[int, ...] = (HEADING,)) -> Floats:
    """Normalized estimation error squared (...): n on average for a filter of n numbers whose covariances are true.

    [Bar-Shalom, Li & Kirubarajan 2001, section 5.4]: above n it is too sure of itself, below n it knows more than it says.
    """
    return distance(_wrapped(np.asarray(estimate, np.float64) - truth, angles), covariance)


def fuse(values: Any, variances: Any, axis: int = -1) -> tuple[Floats, Floats]:
    """The mean of independent measurements of one number, each weighted with the inverse of its variance; and its variance.

        x = sum(x_i / var_i) / sum(1 / var_i),   var = 1 / sum(1 / var_i)
    An infinite variance is no measurement; without any the mean is 0 and its variance infinite. Bring angles to one branch.
    """
    if not (np.asarray(variances, np.float64) > 0.0).all():
        raise ValueError("variances must be above 0, and infinite for what was not measured")
    weights = 1.0 / np.asarray(variances, np.float64)
    total = weights.sum(axis=axis)
    known = total > 0.0
    values = np.where(weights > 0.0, values, 0.0)
    with np.errstate(divide="ignore"):
        return np.where(known, (weights * values).sum(axis=axis) / np.where(known, total, 1.0), 0.0), 1.0 / total


def covariance_of(poses: Any, weights: Any = None) -> tuple[Floats, Floats]:
    """Mean (..., 3) and covariance (..., 3, 3) of poses (..., P, 3), headings about their circular mean.

    weights (..., P), of any sum above 0; None: all alike.
    """
    poses = np.asarray(poses, np.float64)
    share = np.full(poses.shape[:-1], 1.0) if weights is None else np.asarray(weights, np.float64)
    share = share / share.sum(axis=-1, keepdims=True)
    place = (share[..., None] * poses[..., :HEADING]).sum(axis=-2)
    turn = poses[..., HEADING]
    heading = np.arctan2((share * np.sin(turn)).sum(axis=-1), (share * np.cos(turn)).sum(axis=-1))
    mean = np.concatenate([place, heading[..., None]], axis=-1)
    off = _wrapped(poses - mean[..., None, :], (HEADING,))
    return mean, np.einsum("...p,...pi,...pj->...ij", share, off, off)


def ellipse(covariance: Any, share: float = CHI_SQUARED_95) -> tuple[Floats, Floats, Floats]:
    """Half axes, the longer first, and the direction of that one in rad, of the ellipse e^T P^-1 e = share of x and y."""
    size, way = np.linalg.eigh(np.asarray(covariance, np.float64)[..., :2, :2])
    half = np.sqrt(np.maximum(share * size, 0.0))
    return half[..., 1], half[..., 0], np.arctan2(way[..., 1, 1], way[..., 0, 1])


def _length(vector: Any, what: str, angles: tuple[int, ...] = ()) -> int:
    """How many numbers n a vector (..., n) has."""
    if np.ndim(vector) == 0:
        raise ValueError(f"{what} must be an array (..., n), not one number")
    n = int(np.shape(vector)[-1])
    if any(not 0 <= angle < n for angle in angles):
        raise ValueError(f"{what} has {n} numbers, so not all of angles={angles} are among them; angles=() if it has none")
    return n


def _refuse_other_shapes(*given: tuple[str, Any, tuple[int, int]]) -> None:
    """A matrix that numpy would only stretch, such as a vector of variances, is a mistake."""
    for name, matrix, expected in given:
        if np.shape(matrix)[-2:] != expected:
            raise ValueError(f"{name} must have the shape (..., {expected[0]}, {expected[1]}), not {np.shape(matrix)}")


def _wrapped(state: Floats, angles: tuple[int, ...]) -> Floats:
    for angle in angles:
        state = state.copy()
        state[..., angle] = wrap(state[..., angle])
    return state


def _symmetric(covariance: Floats) -> Floats:
    return np.asarray(0.5 * (covariance + np.swapaxes(covariance, -1, -2)))


__all__ = ["CHI_SQUARED_95", "HEADING", "correct", "covariance_of", "distance", "ellipse", "fuse", "gain_of", "nees", "predict"]
