"""Derive the default infra-red table again: `python -m formiga.studies.swarmod.infrared_fit`.

The fit printed in the report was very probably of degree 8, its leading coefficient, about -2e-6, printed as 0.0000
and dropped: no polynomial of degree 7 that rounds to the printed digits stays sensible to 15 cm. Among all polynomials
of degree 8 that do round to them, take the calmest:

    minimise the total variation of p'
    subject to  |c - printed| <= 4.5e-5 (four decimals), |c8| <= 4.5e-5,
                p' <= -0.1 on 0..15 cm, |p - printed| <= 0.2 on 0..6 cm, p(15) = 2, the mean of the ambient noise.

It is a linear program. This is a reconstruction, not a published table.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from formiga.sense.infrared_table import PRINTED
from formiga.state import Floats


def fit(points: int = 301) -> Floats:
    """Coefficients c0..c8 of method B."""
    printed = np.array([*PRINTED, 0.0])
    d = np.linspace(0.0, 15.0, points)
    power = np.arange(9)
    value = d[:, None] ** power
    slope = np.where(power > 0, power * d[:, None] ** np.maximum(power - 1, 0), 0.0)
    change = np.diff(slope, axis=0)  # total variation = sum |change|, one extra variable for each
    steps = len(change)
    near = d <= 6.0
    scale = 1.0 / 15.0**power  # so that all unknowns are of one size
    value, slope, change = value * scale, slope * scale, change * scale
    goal = np.concatenate([np.zeros(9), np.ones(steps)])
    eye, none = np.eye(steps), np.zeros
    target = value[near] @ (printed / scale)
    upper = np.vstack([np.hstack([change, -eye]), np.hstack([-change, -eye]), np.hstack([slope, none((points, steps))]),
                       np.hstack([value[near], none((near.sum(), steps))]),
                       np.hstack([-value[near], none((near.sum(), steps))])])
    bound = np.concatenate([none(2 * steps), np.full(points, -0.1), target + 0.2, 0.2 - target])
    limits = [((c - 4.5e-5) / s, (c + 4.5e-5) / s) for c, s in zip(printed, scale, strict=True)] + [(0.0, None)] * steps
    end = np.hstack([value[-1], none(steps)])[None]
    solved = linprog(goal, upper, bound, end, [2.0], bounds=limits, method="highs")
    if not solved.success:
        raise ArithmeticError(f"the linear program has no solution: {solved.message}")
    return solved.x[:9] * scale


def falls_up_to(degree: int, step: float = 0.05) -> float:
    """Up to which distance (cm, at most 15) some polynomial of this degree that rounds to the printed digits is not below 0 and
    never rises. What is beyond the printed terms has to round to 0.0000."""
    printed = np.array([*PRINTED, 0.0])[:degree + 1]
    power = np.arange(degree + 1)
    scale = 1.0 / 15.0**power
    limits = [((c - 5e-5) / s, (c + 5e-5) / s) for c, s in zip(printed, scale, strict=True)]

    def possible(steps: int) -> bool:
        d = np.arange(steps + 1)[:, None] * step
        slope = np.where(power > 0, power * d ** np.maximum(power - 1, 0), 0.0)
        upper = np.vstack([slope * scale, -(d**power) * scale])
        return bool(linprog(np.zeros(degree + 1), upper, np.zeros(len(upper)), bounds=limits, method="highs").success)

    low, high = 0, round(15.0 / step)
    if possible(high):
        return 15.0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if possible(middle) else (low, middle)
    return low * step


if __name__ == "__main__":
    for exponent, coefficient in enumerate(fit()):
        print(f"c{exponent} = {coefficient:.9g}")
