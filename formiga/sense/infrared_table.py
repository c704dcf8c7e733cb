"""The s-bot's infra-red look-up table: 151 readings at 0, 1, ... 150 mm. [Vicentini & Tuci 2006, eq. 3]

The printed polynomial carries no information beyond about 5 cm: its rounding alone allows readings in the thousands at
15 cm, and evaluated as printed it gives 2546 there. Both tables below are RECONSTRUCTIONS that agree with what was
printed where it means something; `formiga.studies.swarmod.infrared_fit` derives method B again.
"""

from __future__ import annotations

import numpy as np

from formiga.errors import WorldError
from formiga.sense.table import has_angles, read_csv
from formiga.state import Floats

# As printed, exponents 0..7: reading against centimetres. Digits of the draft, section IV; its fifth coefficient is lost
# and taken from the report, eq. 3, which prints the first three with two decimals. The report also prints exponents
# 2..8, which makes the reading negative from 3 cm on; the draft's are 1..7.
PRINTED = (35.7606, -16.0115, 6.1513, -0.8072, -0.0632, 0.0261, -0.0026, 0.0001)

# Method B: degree 8, every coefficient rounds to the printed one; see `studies/swarmod/infrared_fit.py`.
METHOD_B = (35.760555, -16.011545, 6.151255, -0.807245, -0.063245, 0.026055, -0.00260269679, 0.00011400292, -1.89981966e-6)

# Method A: the printed polynomial up to 6 cm, then an exponential tail that continues value and slope and is 2 at 15 cm.
JOIN, FLOOR, DECAY = 6.0, 0.5231964, 0.2498642

# The exponential peak exp(-d / length) + floor that Levenberg-Marquardt fits to method B; d in m. Another simulator of the
# s-bot had one, of which the texts give no number. [draft, section IV.3 and Fig. 13]
EXPONENTIAL_PEAK, EXPONENTIAL_LENGTH, EXPONENTIAL_FLOOR = 33.0472, 0.0592152, 0.0


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
    if has_angles(path):
        raise WorldError(f"{path}: has three columns. 'distance in m, angle in rad, reading' is for technique=\"sampling\"; "
                         "without it a table has 'distance in m, reading'.")
    rows, lines = read_csv(path, ("distance in m", "reading"))
    if (odd := np.flatnonzero(np.diff(rows[:, 0]) <= 0.0)).size:
        before, after = rows[odd[0] : odd[0] + 2, 0]
        raise WorldError(f"{path}:{lines[odd[0] + 1]}: distances must ascend; {after:g} comes after {before:g}.")
    if len(rows) < 2:
        raise WorldError(f"{path}: a table needs at least two samples 'distance in m, reading'; found {len(rows)}.")
    distances, readings = rows.T
    return np.interp(np.linspace(0.0, reach, 151), distances, readings)
