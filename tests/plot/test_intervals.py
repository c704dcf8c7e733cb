"""Intervals of confidence cover the true mean as often as they say."""

import numpy as np
import pytest
from scipy import stats

from formiga.errors import FormigaError
from formiga.plot.intervals import interval


def test_an_interval_is_students_as_scipy_has_it():
    runs = np.array([1.0, 2.0, 4.0, 8.0])
    low, high = stats.t.interval(0.9, 3, loc=runs.mean(), scale=stats.sem(runs))
    assert interval(runs, 0.9) == pytest.approx((runs.mean(), low, high))


def test_intervals_cover_the_true_mean_in_as_many_cases_as_their_level_says(rng):
    runs = rng.normal(3.0, 2.0, (8, 20_000))
    found = interval(runs)
    covered = ((found.low <= 3.0) & (found.high >= 3.0)).mean()
    assert covered == pytest.approx(0.95, abs=0.006)  # four standard errors of a share of 20,000


@pytest.mark.parametrize("level", [95, 0, 1, -0.5, float("nan"), "0.95", None])
def test_a_level_that_is_none_is_refused(level):
    with pytest.raises(FormigaError, match=r"between 0 and 1, such as 0\.95"):
        interval([1.0, 2.0], level)


def test_one_run_has_a_mean_and_no_interval_and_missing_runs_are_left_out():
    mean, low, high = interval([[1.0, 2.0], [np.nan, 4.0], [np.nan, 6.0]])
    assert mean.tolist() == [1.0, 4.0]
    assert np.isnan([low[0], high[0]]).all() and low[1] < 4.0 < high[1]
