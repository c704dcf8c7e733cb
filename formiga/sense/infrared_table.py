"""The s-bot's infra-red look-up table: 151 readings at 0, 1, ... 150 mm. [Vicentini & Tuci 2006, eq. 3]

The printed polynomial carries no information beyond about 5 cm: its rounding alone allows readings in the thousands at
15 cm, and evaluated as printed it gives 2546 there. Both tables below are RECONSTRUCTIONS that agree with what was
printed where it means something; `formiga.studies.swarmod.infrared_fit` derives method B again.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from formiga.errors import WorldError
from formiga.state import Floats

# As printed, exponents 0..7: reading against centimetres. Digits of the draft, section IV; its fifth coefficient is lost
# and taken from the report, eq. 3, which prints the first three with two decimals. The report also prints exponents
# 2..8, which makes the reading negative from 3 cm on; the draft's are 1..7.
PRINTED = (35.7606, -16.0115, 6.1513, -0.8072, -0.0632, 0.0261, -0.0026, 0.0001)

# Method B: degree 8, every coefficient rounds to the printed one; see `studies/swarmod/infrared_fit.py`.
METHOD_B = (35.760555, -16.011545, 6.151255, -0.807245, -0.063245, 0.026055, -0.00260269679, 0.00011400292, -1.89981966e-6)

# Method A: the printed polynomial up to 6 cm, then an exponential tail that continues value and slope and is 2 at 15 cm.
JOIN, FLOOR, DECAY = 6.0, 0.5231964, 0.2498642
LARGEST_TABLE = 2**20  # bytes of a user's samples


def centimetres() -> Floats:
    """The distances of the table: 0, 0.1, ... 15 cm."""
    return np.arange(151) / 10.0


def printed_polynomial(d: Floats) -> Floats:
    """Eq. 3 with exponents 0..7, at d centimetres. Means something below 5 cm only."""
    return np.asarray(np.polynomial.polynomial.polyval(d, PRINTED), np.float64)


def method_b() -> Floats:
    """The default table (reconstructed)."""
    return np.asarray(np.polynomial.polynomial.polyval(centimetres(), METHOD_B), np.float64)


def method_a() -> Floats:
    """The alternative table (reconstructed): printed polynomial, exponential tail."""
    d = centimetres()
    at_join = float(printed_polynomial(np.array(JOIN)))
    tail = FLOOR + (at_join - FLOOR) * np.exp(-DECAY * (d - JOIN))
    return np.where(d <= JOIN, printed_polynomial(d), tail)


def from_csv(path: str, reach: float) -> Floats:
    """A user's samples as a table of 151 readings over 0..reach: lines 'distance in m, reading', distances ascending."""
    file = Path(path)
    rows: list[tuple[float, float]] = []
    try:
        if file.stat().st_size > LARGEST_TABLE:
            raise WorldError(f"{path}: larger than {LARGEST_TABLE >> 20} MB; a table of samples is not.")
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as wrong:
        raise WorldError(f"{path}: cannot be read as a table of samples ({type(wrong).__name__}).") from wrong
    heading = True  # until there was a line that is one, or a sample
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        cells = [cell.strip() for cell in line[:200].split(",")]
        if heading and not any(cell[:1] in "+-.0123456789" for cell in cells):
            heading = False
            continue
        heading = False
        try:
            distance, reading = (float(cell) for cell in cells)
        except ValueError as wrong:
            raise WorldError(f"{path}:{number}: '{line[:60]}' is not 'distance in m, reading'.") from wrong
        if not (math.isfinite(distance) and math.isfinite(reading)):
            raise WorldError(f"{path}:{number}: '{line[:60]}' is not finite.")
        if rows and distance <= rows[-1][0]:
            raise WorldError(f"{path}:{number}: distances must ascend; {distance:g} comes after {rows[-1][0]:g}.")
        rows.append((distance, reading))
    if len(rows) < 2:
        raise WorldError(f"{path}: a table needs at least two samples 'distance in m, reading'; found {len(rows)}.")
    distances, readings = np.array(rows).T
    return np.interp(np.linspace(0.0, reach, 151), distances, readings)
