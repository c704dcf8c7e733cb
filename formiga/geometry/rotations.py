"""Rotations in space as unit quaternions w x y z, and poses (..., 7): x y z and a quaternion.

All functions but the kernels at the end take arrays with any leading axes and broadcast them. A quaternion q rotates
vectors of a body into the world; (roll, pitch, yaw) are rotations about x, then y, then z, all of the world.

Products and matrices add their terms in the order in which MuJoCo does, so the spatial engine gets the same bits from them.
"""

from __future__ import annotations

from math import atan2, floor, pi
from typing import Any

import numpy as np
import numpy.typing as npt

from formiga.kernels import kernel

Floats = npt.NDArray[np.float64]

IDENTITY = (1.0, 0.0, 0.0, 0.0)
PLACE, TURN = slice(0, 3), slice(3, 7)  # columns of a pose


# -- making one -------------------------------------------------------------------------------------------------------
def about_z(angle: Any) -> Floats:
    """The rotation (..., 4) about the vertical by an angle (...): a heading as a quaternion.

        q = (cos(angle / 2), 0, 0, sin(angle / 2))
    """
    half = 0.5 * np.asarray(angle, np.float64)
    q = np.zeros((*half.shape, 4))
    q[..., 0], q[..., 3] = np.cos(half), np.sin(half)
    return q


def about(axis: Any, angle: Any) -> Floats:
    """The rotation (..., 4) by an angle (...) about an axis (..., 3) of any length; the identity if that is zero.

        q = (cos(angle / 2), sin(angle / 2) axis / |axis|)
    """
    axis, half = np.asarray(axis, np.float64), 0.5 * np.asarray(angle, np.float64)
    length = np.linalg.norm(axis, axis=-1)
    there = length > 0.0
    scale = np.sin(half) / np.where(there, length, 1.0)
    q = np.empty((*scale.shape, 4))
    q[..., 0], q[..., 1:] = np.where(there, np.cos(half), 1.0), scale[..., None] * axis
    return q


def from_euler(roll: Any, pitch: Any, yaw: Any) -> Floats:
    """The rotation (..., 4) about x by `roll`, then about y by `pitch`, then about z by `yaw`.

        q = q_z(yaw) q_y(pitch) q_x(roll)
    """
    axes = np.eye(3)
    return multiply(multiply(about(axes[2], yaw), about(axes[1], pitch)), about(axes[0], roll))


def normalized(q: Any) -> Floats:
    """q / |q|, (..., 4)."""
    q = np.asarray(q, np.float64)
    return np.asarray(q / np.linalg.norm(q, axis=-1, keepdims=True))


def between(before: Any, after: Any, share: float) -> Floats:
    """The rotation (..., 4) at `share` of the way from one to another, the short way round.

        q = (1 - s) before + s after', normalized;  after' = after or -after, the one nearer to `before`
    For rotations of two neighbouring frames this is as good as a spherical interpolation and needs no special case.
    """
    before, after = np.asarray(before, np.float64), np.asarray(after, np.float64)
    near = np.where((before * after).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    mixed = (1.0 - share) * before + share * near * after
    return np.asarray(mixed / np.maximum(np.linalg.norm(mixed, axis=-1, keepdims=True), 1e-9))


# -- putting them together --------------------------------------------------------------------------------------------
def multiply(second: Any, first: Any) -> Floats:
    """The rotation (..., 4) that is `first` and then `second`: the Hamilton product.

        (a, u) (b, v) = (a b - u . v,  a v + b u + u x v)
    """
    a, b, c, d = _components(second)
    w, x, y, z = _components(first)
    return np.stack([(a * w - b * x) + (-c * y - d * z), (a * x + b * w) + (c * z - d * y),
                     (a * y - b * z) + (c * w + d * x), (a * z + b * y) + (-c * x + d * w)], axis=-1)


def conjugate(q: Any) -> Floats:
    """The inverse rotation (..., 4): (w, -x, -y, -z)."""
    return np.asarray(q, np.float64) * (1.0, -1.0, -1.0, -1.0)


def relative(frame: Any, q: Any) -> Floats:
    """A rotation of the world (..., 4) as seen from a rotated frame: frame* q."""
    return multiply(conjugate(frame), q)


# -- vectors ----------------------------------------------------------------------------------------------------------
def rotate(q: Any, vector: Any) -> Floats:
    """A vector of a body (..., 3) in the world.

        v' = v + 2 u x (w v + u x v),  q = (w, u)
    """
    q, vector = np.asarray(q, np.float64), np.asarray(vector, np.float64)
    if q.shape[:-1] != vector.shape[:-1]:
        shape = np.broadcast_shapes(q.shape[:-1], vector.shape[:-1])
        q, vector = np.broadcast_to(q, (*shape, 4)), np.broadcast_to(vector, (*shape, 3))
    out = np.empty(vector.shape)
    _rotate_rows(_rows(q), _rows(vector), out.reshape(-1, 3))
    return out


def rotate_back(q: Any, vector: Any) -> Floats:
    """A vector of the world (..., 3) in the frame of a body: rotate(conjugate(q), vector)."""
    return rotate(conjugate(q), vector)


def to_world(pose: Any, point: Any) -> Floats:
    """A point of a body (..., 3) in the world: p' = x + q p q*, the body's pose (..., 7) being (x, q)."""
    pose = np.asarray(pose, np.float64)
    return np.asarray(pose[..., PLACE] + rotate(pose[..., TURN], point))


def to_body(pose: Any, point: Any) -> Floats:
    """A point of the world (..., 3) in the frame of a body with that pose (..., 7): the inverse of `to_world`."""
    pose = np.asarray(pose, np.float64)
    return rotate_back(pose[..., TURN], np.asarray(point) - pose[..., PLACE])


def up_axis(q: Any) -> Floats:
    """The z axis of a body (..., 3) in the world: the third column of its matrix.

        up = (2 (x z + w y),  2 (y z - w x),  1 - 2 (x^2 + y^2))
    """
    w, x, y, z = _components(q)
    return np.stack([2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)], axis=-1)


# -- other forms ------------------------------------------------------------------------------------------------------
def matrix(q: Any) -> Floats:
    """The rotation matrix (..., 3, 3): its columns are the axes of the body in the world.

        R = [[w^2 + x^2 - y^2 - z^2,  2 (x y - w z),  2 (x z + w y)],
             [2 (x y + w z),  w^2 - x^2 + y^2 - z^2,  2 (y z - w x)],
             [2 (x z - w y),  2 (y z + w x),  w^2 - x^2 - y^2 + z^2]]
    """
    q = np.asarray(q, np.float64)
    out = np.empty((*q.shape[:-1], 3, 3))
    _matrix_rows(_rows(q), out.reshape(-1, 9))
    return out


def to_euler(q: Any) -> tuple[Any, Any, Any]:
    """Roll, pitch and yaw (...) of a rotation (..., 4), pitch within a quarter turn: the inverse of `from_euler`.

        roll = atan2(R_21, R_22),  pitch = -asin(R_20),  yaw = atan2(R_10, R_00)
    """
    r = matrix(q)
    return (np.arctan2(r[..., 2, 1], r[..., 2, 2]), -np.arcsin(np.clip(r[..., 2, 0], -1.0, 1.0)),
            np.arctan2(r[..., 1, 0], r[..., 0, 0]))


def yaw(q: Any) -> Any:
    """The heading (...) of a rotation (..., 4): where it points the x axis, seen from above.

        yaw = atan2(2 (w z + x y), 1 - 2 (y^2 + z^2))
    """
    w, x, y, z = _components(q)
    return np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def _components(array: Any) -> Any:
    """Views of the last axis, one by one."""
    array = np.asarray(array, np.float64)
    return array.transpose(array.ndim - 1, *range(array.ndim - 1))


def _rows(array: Any) -> Floats:
    """A copy (n, last axis) in one piece, so that a kernel is compiled for one kind of array alone."""
    return np.array(array).reshape(-1, array.shape[-1])


def wrap(angle: Any) -> Any:
    """The same directions from -pi up to, and without, pi."""
    return (angle + pi) % (2.0 * pi) - pi


# -- for kernels ------------------------------------------------------------------------------------------------------
@kernel()
def rotated(w, x, y, z, a, b, c):
    """As `rotate`, of one vector (a, b, c) by one quaternion."""
    i, j, k = w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a
    return a + 2.0 * (y * k - z * j), b + 2.0 * (z * i - x * k), c + 2.0 * (x * j - y * i)


@kernel()
def _rotate_rows(q, vector, out):
    for n in range(out.shape[0]):
        out[n, 0], out[n, 1], out[n, 2] = rotated(q[n, 0], q[n, 1], q[n, 2], q[n, 3], vector[n, 0], vector[n, 1], vector[n, 2])


@kernel()
def _matrix_rows(q, out):
    for n in range(out.shape[0]):
        w, x, y, z = q[n, 0], q[n, 1], q[n, 2], q[n, 3]
        ww, xx, yy, zz = w * w, x * x, y * y, z * z
        out[n, 0], out[n, 1], out[n, 2] = (ww - yy) + (xx - zz), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)
        out[n, 3], out[n, 4], out[n, 5] = 2.0 * (x * y + w * z), (ww + yy) + (-xx - zz), 2.0 * (y * z - w * x)
        out[n, 6], out[n, 7], out[n, 8] = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), (ww - yy) + (zz - xx)


@kernel()
def yaw_of(w, x, y, z):
    """As `yaw`, of one quaternion."""
    return atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


@kernel()
def wrapped(angle):
    """As `wrap`, of one angle; but for rounding."""
    return angle - 2.0 * pi * floor(angle / (2.0 * pi) + 0.5)


__all__ = ["IDENTITY", "about", "about_z", "between", "conjugate", "from_euler", "matrix", "multiply", "normalized",
           "relative", "rotate", "rotate_back", "rotated", "to_body", "to_euler", "to_world", "up_axis", "wrap",
           "wrapped", "yaw", "yaw_of"]
