"""Tables of samples that a user measured, from CSV files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from formiga.errors import WorldError
from formiga.state import Floats

LARGEST = 2**20                 # bytes of a file
DISTANCES, ANGLES = 64, 360     # of a table of both, as it is looked up
DESCRIBED = "CSV lines 'distance in m, angle in rad, reading', every distance with the same angles"


def read_csv(path: str, columns: tuple[str, ...]) -> tuple[Floats, list[int]]:
    """The rows (R, len(columns)) of a file, finite numbers, as many in a line as there are columns; and the line of each row.

    Empty lines, lines that begin with # and one heading are skipped.
    """
    file, rows, heading = Path(path), list[list[float]](), True
    lines = list[int]()
    form = ", ".join(columns)
    try:
        if file.stat().st_size > LARGEST:
            raise WorldError(f"{path}: larger than {LARGEST >> 20} MB; a table of samples is not.")
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as wrong:
        raise WorldError(f"{path}: cannot be read as a table of samples ({type(wrong).__name__}).") from wrong
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        cells = [cell.strip() for cell in line[:200].split(",")]
        skipped, heading = heading and not any(cell[:1] in "+-.0123456789" for cell in cells), False
        if skipped:
            continue
        try:
            row = [float(cell) for cell in cells]
        except ValueError as wrong:
            raise WorldError(f"{path}:{number}: '{line[:60]}' is not '{form}'.") from wrong
        if len(row) != len(columns):
            raise WorldError(f"{path}:{number}: '{line[:60]}' is not '{form}'.")
        if not all(map(math.isfinite, row)):
            raise WorldError(f"{path}:{number}: '{line[:60]}' is not finite.")
        rows.append(row)
        lines.append(number)
    return np.array(rows).reshape(-1, len(columns)), lines


def by_distance_and_angle(path: str) -> tuple[Floats, float]:
    """Readings (DISTANCES, ANGLES) from 0 to the largest distance of the file, and all around; and that distance.

    The file has a reading from 0 to below 1 for every pair of its distances and its angles, in any order. In between readings
    are linear; nearer than the nearest sample they are those of the nearest. Angles count counter-clockwise from the sensor's
    axis, and go on all around.
    """
    distance, angle, reading = grid(path, 1.0)
    return resampled(distance, angle, reading, float(distance[-1])), float(distance[-1])


def resampled(distance: Floats, angle: Floats, reading: Floats, reach: float) -> Floats:
    """Readings (DISTANCES, ANGLES) from 0 to reach, and all around, of readings (D, A) at some distances and angles."""
    around = np.arange(ANGLES) * (2.0 * np.pi / ANGLES)
    turned = np.array([np.interp(around, angle, row, period=2.0 * np.pi) for row in reading])
    along = np.linspace(0.0, reach, DISTANCES)
    return np.array([np.interp(along, distance, column) for column in turned.T]).T.copy()


def has_angles(path: str) -> bool:
    """Whether a file has three columns, of which the second is an angle."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            return next((line.count(",") == 2 for line in file if line.strip() and not line.lstrip().startswith("#")), False)
    except (OSError, UnicodeDecodeError):
        return False  # to be refused by `read_csv`


def grid(path: str, below: float | None = None) -> tuple[Floats, Floats, Floats]:
    """The distances (D,) and angles (A,) of a file, both ascending, and its readings (D, A), one for every pair of them; below:
    readings are from 0 to below this."""
    rows, lines = read_csv(path, ("distance in m", "angle in rad", "reading"))
    met = dict[tuple[float, float], int]()
    for (far, turn, reading), line in zip(rows.tolist(), lines, strict=True):
        if far < 0.0:
            raise WorldError(f"{path}:{line}: a distance of {far:g} m is below 0.")
        if below is not None and not 0.0 <= reading < below:
            raise WorldError(f"{path}:{line}: a reading is from 0 to below {below:g}, not {reading:g}.")
        if (far, turn) in met:
            raise WorldError(f"{path}:{line}: distance {far:g} m and angle {turn:g} rad have a reading already, in line "
                             f"{met[far, turn]}.")
        met[far, turn] = line
    distance, angle = (np.unique(column) for column in rows.T[:2])
    if len(distance) < 2 or len(rows) != len(distance) * len(angle):
        raise WorldError(f"{path}: a table needs at least two distances, and one reading for each pair of its distances and "
                         f"angles; found {len(rows)} readings of {len(distance)} distances and {len(angle)} angles.")
    if (angle[-1] - angle[0]) >= 2.0 * np.pi:
        raise WorldError(f"{path}: angles from {angle[0]:g} to {angle[-1]:g} rad go around more than once.")
    return distance, angle, rows[np.lexsort((rows[:, 1], rows[:, 0])), 2].reshape(len(distance), len(angle))


__all__ = ["ANGLES", "DESCRIBED", "DISTANCES", "by_distance_and_angle", "grid", "has_angles", "read_csv", "resampled"]
