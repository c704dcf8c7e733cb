"""Figures of sweeps show the means and the intervals of the rows, and nothing else."""

import json

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.figure import Figure

from formiga.errors import FormigaError
from formiga.plot.intervals import interval
from formiga.plot.look import COLUMN, HEAT, STYLE
from formiga.plot.swept import figure, heat, swept


@pytest.fixture
def table(rng):
    """A table as a sweep makes it: 3 x 2 x 2 points, 6 runs each."""
    a, b, mode, run = (each.ravel() for each in np.meshgrid([1, 2, 4], [0.1, 0.2], ["x", "y"], range(6), indexing="ij"))
    about = {"parameters": ["a", "b", "mode"], "measures": ["nearest"]}
    columns = {"a": a, "b": b, "mode": mode, "run": run, "nearest": rng.normal(a + 10 * b, 1.0)}
    return pa.table(columns).replace_schema_metadata({b"formiga": json.dumps(about)})


def test_a_line_is_the_mean_and_its_band_students_interval(table):
    axes = swept(table, "nearest", where={"mode": "x"})
    assert axes.get_xlabel() == "a" and axes.get_ylabel() == "nearest (m)"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["b = 0.1", "b = 0.2"]
    frame = table.to_pandas()
    for line, band, b in zip(axes.lines, axes.collections, (0.1, 0.2), strict=True):
        runs = [frame[(frame.a == a) & (frame.b == b) & (frame["mode"] == "x")].nearest for a in (1, 2, 4)]
        found = [interval(each) for each in runs]
        assert line.get_xdata().tolist() == [1, 2, 4] and line.get_ydata() == pytest.approx([each.mean for each in found])
        edge = band.get_paths()[0].vertices
        for at, each in zip((1, 2, 4), found, strict=True):
            ys = edge[edge[:, 0] == at][:, 1]
            assert (ys.min(), ys.max()) == pytest.approx((each.low, each.high))


def test_whole_numbers_have_whole_ticks_and_others_have_not(table):
    assert all(tick == round(tick) for tick in swept(table, "nearest", x="a").get_xticks())
    assert any(tick != round(tick) for tick in swept(table, "nearest", x="b").get_xticks())


def test_texts_stand_side_by_side_with_bars(table):
    axes = swept(table, "nearest", x="mode", lines="a", where={"b": 0.2})
    assert [label.get_text() for label in axes.get_xticklabels()] == ["x", "y"] and len(axes.containers) == 3
    frame = table.to_pandas()
    for bars, a in zip(axes.containers, (1, 2, 4), strict=True):
        means = [frame[(frame.a == a) & (frame.b == 0.2) & (frame["mode"] == mode)].nearest.mean() for mode in ("x", "y")]
        assert bars.lines[0].get_ydata() == pytest.approx(means)


def test_a_heat_map_has_the_mean_of_every_cell(table):
    axes = heat(table, "nearest", x="a", y="b")
    expected = table.to_pandas().pivot_table("nearest", "b", "a").to_numpy()
    assert np.asarray(axes.images[0].get_array()) == pytest.approx(expected)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("a", "b")


def test_a_third_parameter_makes_panels_beside_each_other(table):
    whole = figure(table)
    assert [each.get_title() for each in whole.axes] == ["mode = x", "mode = y"]
    assert [len(each.lines) for each in whole.axes] == [2, 2]


def test_of_many_lines_a_legend_names_some():
    values = np.repeat(np.arange(40), 2)
    many = pa.table({"a": np.tile([1, 2], 40), "b": values, "nearest": values / 10}).replace_schema_metadata(
        {b"formiga": json.dumps({"parameters": ["a", "b"], "measures": ["nearest"]})})
    axes = swept(many, "nearest")
    assert len(axes.lines) == 40 and [line.get_ydata()[0] for line in axes.lines] == pytest.approx(np.arange(40) / 10)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [f"b = {each}" for each in range(0, 40, 3)]


def test_axes_that_are_given_are_drawn_on_and_returned(table):
    axes = Figure().subplots()
    assert swept(table, "nearest", axes=axes) is axes and heat(table, "nearest", axes=Figure().subplots()).images


def test_single_runs_and_no_parameters_have_a_mean_alone(table):
    one = table.filter(pa.array((table["run"].to_numpy() == 0) & (table["a"].to_numpy() == 1)))
    assert np.isfinite(swept(one, "nearest", where={"mode": "x"}).lines[0].get_ydata()).all()
    bare = table.replace_schema_metadata({b"formiga": json.dumps({"parameters": [], "measures": ["nearest"]})})
    axes = swept(bare, "nearest")
    assert axes.containers[0].lines[0].get_ydata() == pytest.approx([np.mean(table["nearest"].to_numpy())])
    figure(bare).draw_without_rendering()


@pytest.mark.parametrize("draw, message", [
    (lambda table: swept(table, "nearst"), "no column 'nearst'. Did you mean 'nearest'"),
    (lambda table: swept(table, "nearest", x="c"), "no column 'c'"),
    (lambda table: swept(table, "nearest", where={"a": 3}), "no row has a = 3; there are: 1, 2, 4"),
    (lambda table: heat(table, "nearest", where={"b": 0.1, "mode": "x"}), "needs two parameters .* has a"),
    (lambda table: swept(table, "mode"), "the column 'mode' has no numbers, but string"),
    (lambda table: heat(table, "mode", "a", "b"), "the column 'mode' has no numbers"),
    (lambda table: swept(table.replace_schema_metadata(None), "nearest"), "is not that of a sweep"),
])
def test_what_is_not_there_is_said(draw, message, table):
    with pytest.raises(FormigaError, match=message):
        draw(table)


def test_figures_of_sweeps_look_as_all_others_do(table):
    """As wide as a column, with its letters; axes that are given keep theirs."""
    whole = figure(table)
    assert whole.get_figwidth() == 2 * COLUMN and whole.axes[0].xaxis.label.get_size() == STYLE["axes.labelsize"]
    bar = heat(table, "nearest", "a", "b").get_figure().axes[-1]
    given = Figure().subplots()
    heat(table, "nearest", "a", "b", axes=given)
    sizes = [axes.yaxis.get_ticklabels()[0].get_size() for axes in (bar, given.get_figure().axes[-1])]
    assert sizes == [STYLE["ytick.labelsize"], 10.0]
    assert given.images[0].get_cmap().name == HEAT
