"""The pose of a robot from pairs of parallel distance sensors that look at the same known wall.

Arrays have any leading axes; P is the number of pairs. Sensors 2k and 2k + 1 are the pair k: at +half and -half to the left of
its direction, `angle`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from formiga.geometry import wrap
from formiga.locate.kalman import fuse
from formiga.map.lines import Lines, expected
from formiga.sense.sharp import distance_of, variance_of
from formiga.state import Floats
from formiga.units import CM

GATE_ANGLE, GATE_PLACE = 1.2 * CM, 5.0 * CM   # [Goncalves et al. 2009]: beyond, the angle, the place is distrusted
SAME = 1e-9                                   # m and rad within which two seats are where they should be
UNKNOWN = 1e6                                 # m^2 or rad^2, "very high": variance of what is not measured; ours


@dataclass(frozen=True, eq=False)
class Pairs:
    """Where pairs of sensors sit on the robot."""

    seats: Any     # (2 P, 3) x y angle in the robot's frame
    half: Any      # (P,) m, half the distance between the two of a pair
    angles: Any    # (P,) rad

    @property
    def across(self) -> Floats:
        """From the second sensor of each pair to the first, in m (P,)."""
        return 2.0 * np.asarray(self.half)


def pairs_of(seats: Any) -> Pairs:
    """Pairs of sensors (2 P, 3); ValueError unless each is a pair that (9) and (10) can use."""
    seats = np.asarray(seats, np.float64).reshape(-1, 3)
    if len(seats) % 2 or not len(seats):
        raise ValueError(f"pairs need an even number of sensors, not {len(seats)}")
    left, right = seats[::2], seats[1::2]
    aside = np.column_stack([-np.sin(left[:, 2]), np.cos(left[:, 2])])
    half = 0.5 * ((left - right)[:, :2] * aside).sum(axis=1)
    fine = (np.abs(wrap(left[:, 2] - right[:, 2])) < SAME) & (half > 0.0)
    fine &= np.abs(left[:, :2] - half[:, None] * aside).max(axis=1) < SAME
    fine &= np.abs((left + right)[:, :2]).max(axis=1) < SAME
    if not fine.all():
        raise ValueError(f"pair {int(np.argmin(fine))} is no pair: its sensors must look along one direction, the first to the "
                         "left of the robot's middle and the second as far to the right")
    return Pairs(seats, half, left[:, 2].copy())


@dataclass(frozen=True)
class Sight:
    """What each pair says: absolute heading and one coordinate, with variances; UNKNOWN where it says nothing."""

    heading: Any        # (..., P)
    heading_variance: Any
    place: Any          # (..., P): x of the robot for an upright wall, else y
    place_variance: Any
    upright: Any        # (..., P) whether it is x


def look(pairs: Pairs, lines: Lines, pose: Any, distances: Any, variances: Any, reach: float, gates: bool = True) -> Sight:
    """What pairs measure, given the pose that the robot believes, distances (..., 2 P) and their variances.

        psi = atan((d1 - d2) / (2 Ls)),  theta = n + psi - a                                [Goncalves et al. 2009, eq. 9]
        x   = x_wall - (d1 + d2)/2 cos(psi)                                                 [eq. 10]
        var(p) = (dp/dd1)^2 var(d1) + (dp/dd2)^2 var(d2)                                    [eq. 12]
    n: direction from the robot to the wall, a: direction of the pair. Both beams are *expected* on the same wall, or the pair
    is not used. Gates compare each measured distance with the expected one.
    """
    pose, d = np.asarray(pose, np.float64), np.asarray(distances, np.float64)
    foreseen, wall = expected(lines, pose, pairs.seats, reach)
    seen = (wall[..., ::2] == wall[..., 1::2]) & (wall[..., ::2] >= 0) & np.isfinite(d[..., ::2]) & np.isfinite(d[..., 1::2])
    away = np.where(np.isfinite(d) & np.isfinite(foreseen), np.abs(d - np.where(np.isfinite(foreseen), foreseen, 0.0)), np.inf)
    off = np.maximum(away[..., ::2], away[..., 1::2])
    wall, d = wall[..., ::2], np.where(np.isfinite(d), d, 0.0)
    one, other = d[..., ::2], d[..., 1::2]
    slope = (one - other) / pairs.across
    psi, middle = np.arctan(slope), 0.5 * (one + other)
    outward = np.arctan2(-lines.normals[wall, 1], -lines.normals[wall, 0])
    heading = pose[..., 2:] + wrap(outward + psi - pairs.angles - pose[..., 2:])       # all pairs on one branch
    place = lines.at[wall] - np.where(lines.ahead[wall], 1.0, -1.0) * middle * np.cos(psi)
    gain = 1.0 / (pairs.across * (1.0 + slope**2))                                     # d psi / d d1
    first, second = np.asarray(variances)[..., ::2], np.asarray(variances)[..., 1::2]
    turned = middle * np.sin(psi) * gain
    place_variance = (turned - 0.5 * np.cos(psi)) ** 2 * first + (turned + 0.5 * np.cos(psi)) ** 2 * second
    heading_variance = gain**2 * (first + second)
    trusted, placed = seen & (~gates | (off <= GATE_ANGLE)), seen & (~gates | (off <= GATE_PLACE))
    return Sight(heading, np.where(trusted, heading_variance, UNKNOWN), place, np.where(placed, place_variance, UNKNOWN),
                 lines.upright[wall])


def measured_pose(sight: Sight, pose: Any) -> tuple[Floats, Floats]:
    """Pose z (..., 3) and variances (..., 3) from all pairs: weighted with their inverse variances; UNKNOWN and the believed
    pose where no pair says anything.                                                       [Goncalves et al. 2009, eq. 11]"""
    pose = np.asarray(pose, np.float64)
    columns = []
    for values, variances, use in ((sight.place, sight.place_variance, sight.upright),
                                   (sight.place, sight.place_variance, ~sight.upright),
                                   (sight.heading, sight.heading_variance, np.ones_like(sight.upright))):
        known = use & (variances < UNKNOWN)
        columns.append(fuse(values, np.where(known, variances, np.inf)))
    value, variance = (np.stack(each, axis=-1) for each in zip(*columns, strict=True))
    missing = ~np.isfinite(variance)
    return np.where(missing, pose, value), np.where(missing, UNKNOWN, variance)


def measured_distances(volts: Any, reach: float) -> tuple[Floats, Floats]:
    """Distances and their variances from voltages; no measure beyond reach is infinity.

    The variance is that at the measured distance, since the true one is not known.
    """
    distance = distance_of(volts)
    distance = np.where(distance <= reach, np.maximum(distance, 0.0), np.inf)
    return distance, variance_of(np.where(np.isfinite(distance), distance, reach))


__all__ = ["GATE_ANGLE", "GATE_PLACE", "UNKNOWN", "Pairs", "Sight", "look", "measured_distances", "measured_pose", "pairs_of"]
