"""Grids: what is written becomes the values that it says, and is counted before it is made."""

import itertools
import tracemalloc

import numpy as np
import pandas
import pyarrow as pa
import pytest

from formiga.sweeps import Grid, SweepError, read_settings


@pytest.mark.parametrize("text, values", [
    ("10,20,30", (10, 20, 30)), ("0:1:0.25", (0.0, 0.25, 0.5, 0.75, 1.0)), ("0:6:2", (0, 2, 4, 6)), ("0:5:2", (0, 2, 4)),
    ("1:0:-0.5", (1.0, 0.5, 0.0)), ("5cm, 1m", (0.05, 1.0)), ("0cm:10cm:5cm", (0.0, 0.05, 0.1)), ("1,2:4:1,9", (1, 2, 3, 4, 9)),
    ("red,blue", ("red", "blue")), ("1,red", ("1", "red")), ("true,false", (True, False)), ("7", (7,)), ("1,2.5", (1.0, 2.5)),
    ("1e2", (100.0,)), ("3:3:1", (3,)), ("tcp://10.0.0.1:80,10.0.0.2:80", ("tcp://10.0.0.1:80", "10.0.0.2:80")),
])
def test_lists_and_ranges_give_the_values_that_they_say(text, values):
    found = read_settings([f"a={text}"])["a"]
    assert found == values and [type(each) for each in found] == [type(each) for each in values]


@pytest.mark.parametrize("step", ["0.1", "0.05", "0.01", "0.001", "0.3333333333333"])
def test_a_range_meets_its_end_and_each_value_is_the_decimal_that_is_written(step):
    """0.1 + 0.1 + 0.1 is not 0.3 in binary; the third value is."""
    found = read_settings([f"loss=0:1:{step}"])["loss"]
    assert found[-1] == pytest.approx(1.0, abs=1e-9) and len(found) == round(1 / float(step)) + 1
    digits = len(step) - 2
    assert list(found) == [round(number * float(step), digits) for number in range(len(found))]


def test_points_are_all_combinations_each_once_and_know_their_numbers():
    grid = Grid.of({"a": [1, 2, 3], "b": ["x", "y"], "c": 4, "d": np.arange(2) > 0}, seeds=5)
    points = [grid.point(number) for number in range(grid.points)]
    assert [tuple(point.values()) for point in points] == list(itertools.product([1, 2, 3], ["x", "y"], [4], [False, True]))
    assert (grid.points, grid.runs, grid.swept) == (12, 60, ["a", "b", "d"])
    for number in range(12):
        at = [str(each).lower() for each in points[number].values()]
        assert grid.number(at) == number
    assert grid.number(["1", "z", "4", "true"]) is None


def test_values_of_numpy_pandas_and_arrow_become_pythons_own():
    grid = Grid.of({"a": np.array([1, 2]), "b": np.linspace(0, 1, 3, dtype=np.float32), "c": (np.str_("t"),),
                    "d": pandas.Series([1, 2], index=[7, 8]), "e": pa.chunked_array([[0.5], [1.5]]),
                    "f": pa.array(["t"])}, seeds=1)
    assert [type(values[0]) for values in grid.parameters.values()] == [int, float, str, int, float, str]
    assert grid.parameters["d"] == (1, 2) and grid.parameters["e"] == (0.5, 1.5)


@pytest.mark.parametrize("parameters, seeds, message", [
    ({"a": range(1000), "b": range(1000), "c": range(1000)}, 1, "1,000,000,000 runs are too many .1,000 of 'a' x 1,000 of 'b'"),
    ({"a": range(1001)}, 1000, "1,001,000 runs are too many"),
    ({"a": itertools.count()}, 1, "'a' has more than 1,000,000 values"),
    ({"a": []}, 1, "'a' has no value"), ({"a": [1, 1.0]}, 1, "'a' has the value 1 twice"),
    ({"a": [1, "x"]}, 1, r"several kinds \(int, str\)"), ({"a": [float("nan")]}, 1, "'a' cannot be 'nan'"),
    ({"a": [None]}, 1, "'a' cannot be 'None'"), ({"a": [[1, 2]]}, 1, "'a' cannot be"), ({"a": 10**30}, 1, "'a' cannot be"),
    ({"a": object()}, 1, "'a' needs values"), ({1: [2]}, 1, "the name of a parameter is a text"), ([1], 1, "are a dict of"),
    ({"seed": [1]}, 1, "'seed' cannot be swept"), ({"a": "x" * 2000}, 1, "longer than"),
    ({}, 0, "seeds: 0 is out of range"), ({}, 2_000_000, "it must be from 1 to 1000000"), ({}, "3", "is not a whole number"),
])
def test_what_is_no_grid_is_refused_in_one_sentence(parameters, seeds, message):
    from formiga.errors import FormigaError

    with pytest.raises(FormigaError, match=message) as refused:
        Grid.of(parameters, seeds)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("text, message", [
    ("a", "'a' is not NAME=VALUE"), ("=3", "is not NAME=VALUE"), ("a=", "lacks a value"), ("a=1,,2", "lacks a value"),
    ("a=1:2", "is not a range"), ("a=1:2:3:4", "not a range"), ("a=0:x:1", "is not a range"), ("a=0:1:0", "a step of 0 does"),
    ("a=0:1:-1", "does not lead from 0 to 1"), ("a=0:1e9:1", "1,000,000,001 values or"), ("a=1,1", "has the value 1 twice"),
    ("a=0:1e300:1e-300", r"10\^15 values or more"), ("a=0:1e999999:1", "is not a range"),
    ("a=0:1:1e-999999", r"10\^15 values or more"), ("a=1:2:1e-999999999999", "does not lead from 1 to 2"),
    ("a=0:199999:1,7", "has the value 7 twice"), ("a=0:999999:1,1000000:1999999:1", "2,000,000 values or more"),
])
def test_what_is_no_list_is_refused_in_one_sentence_and_takes_no_memory(text, message):
    tracemalloc.start()
    try:
        with pytest.raises(SweepError, match=message):
            read_settings([text])
        assert tracemalloc.get_traced_memory()[1] < 300e6
    finally:
        tracemalloc.stop()
    with pytest.raises(SweepError, match="'a' is set twice"):
        read_settings(["a=1", "a=2"])
