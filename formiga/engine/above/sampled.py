"""Readings of one source by its distance and its bearing, from a table of samples. [Swarm-bot 3D simulator, 3.2.3, 3.2.4]"""

from __future__ import annotations

from math import floor, log, pi
from typing import Any, NamedTuple

import numpy as np

from formiga.kernels import kernel
from formiga.state import Floats


class Tables(NamedTuple):
    """T tables of readings from 0 to 1, each for a source of some intensity."""

    readings: Any     # (T, D, A) at D distances from 0 to `far`, and at A bearings counter-clockwise from the sensor's axis
    far: Any          # (T,) m; beyond it nothing is read
    of: Any           # (T,) the intensity of the source that was sampled


def tables(given: list[tuple[Floats, float, float]]) -> Tables:
    """Tables (D, A), each with its farthest distance and the intensity of its source, all of one shape."""
    shape = given[0][0].shape if given else (2, 1)
    return Tables(np.array([table for table, _, _ in given]).reshape(-1, *shape), np.array([far for _, far, _ in given]),
                  np.array([of for _, _, of in given]))


@kernel(inline="always")
def sampled(n, distance, bearing, intensity, tables):
    """What one source adds to the sum x of a sensor with table n.

        y = the table at (distance, bearing), linear in between;   x = ln((1 + y) / (1 - y)) intensity / of
    One source as strong as the sampled one is read as it was sampled, for the response is tanh(x / 2).
    """
    readings, far = tables.readings, tables.far[n]
    if distance > far:
        return 0.0
    rows, columns = readings.shape[1], readings.shape[2]
    row = distance / far * (rows - 1)
    low = min(int(row), rows - 2)
    turn = bearing * (0.5 / pi)
    column = (turn - floor(turn)) * columns
    left = min(int(column), columns - 1)
    right, part, share = (left + 1) % columns, column - left, row - low
    near = readings[n, low, left] + part * (readings[n, low, right] - readings[n, low, left])
    away = readings[n, low + 1, left] + part * (readings[n, low + 1, right] - readings[n, low + 1, left])
    y = near + share * (away - near)
    return log((1.0 + y) / (1.0 - y)) * intensity / tables.of[n]


__all__ = ["Tables", "sampled", "tables"]
