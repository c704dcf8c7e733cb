"""Figures show the numbers of the run: what is drawn is compared with what another way of computing gives."""

from __future__ import annotations

import re
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.patches import Circle
from scipy import stats

import formiga
from formiga import Simulation, plot
from formiga.errors import FormigaError
from formiga.plot.courses import MEAN
from formiga.plot.look import COLUMN, PALETTE
from formiga.world.reader import read_text

WORLD = """<world name="two" dt="0.1">
  <arena width="2" depth="1"/><cylinder x="0.5" y="0.2" radius="10cm"/><lamp x="-0.8" y="0"/>
  <sbot name="ants" count="3"><scatter/><proximity/><odometry/><braitenberg/></sbot>
  <disc name="rovers" count="1" radius="8cm" wheel_base="10cm" top_speed="10cm/s"><scatter/><thermometer/><random_walk/></disc>
</world>"""
WORLDS, SECONDS, STEPS = 3, 2.0, 20


@pytest.fixture(scope="module")
def runs():
    world = read_text(WORLD, "two.xml")
    return [formiga.simulate(world, SECONDS, seed, WORLDS, record=["readings", "beliefs", reach]) for seed in (1, 2)]


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def reach(sim):
    """m, of the robot farthest to the right."""
    return sim.state.position[..., 0].max(axis=1)


def stepped(seed, ask):
    """What a function of a simulation gives at every step of the same run, (steps, worlds)."""
    lab, found = Simulation(read_text(WORLD, "two.xml"), seed, WORLDS), []
    for step in range(STEPS + 1):
        found.append(np.array(ask(lab), np.float64))
        if step < STEPS:
            lab.step()
    return np.array(found)


def lines_of(axes):
    trails = [each for each in axes.collections if isinstance(each, LineCollection) and each.get_zorder() == 1.5]
    return trails[0].get_segments()


# -- trajectories -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("group, robots", [(None, [0, 1, 2, 3]), ("ants", [0, 1, 2]), ("rovers", [3])])
def test_trajectories_are_where_the_robots_were_from_a_ring_to_a_body(runs, group, robots):
    position = stepped(1, lambda lab: lab.state.position)[:, 2]
    axes = plot.trajectories(runs[0], world=2, group=group)
    for line, robot in zip(lines_of(axes), robots, strict=True):
        np.testing.assert_array_equal(line, position[:, robot])
    rings = next(each for each in axes.collections if len(each.get_offsets()) == len(robots) and each.get_zorder() == 2.8)
    np.testing.assert_array_equal(rings.get_offsets(), position[0, robots])
    bodies = [each.center for each in axes.patches if isinstance(each, Circle) and each.get_zorder() == 3]
    np.testing.assert_array_equal(bodies, position[-1, robots])
    assert (axes.get_legend() is not None) == (group is None)
    obstacle = [each for each in axes.patches if isinstance(each, Circle) and each.get_zorder() == 2]
    assert [(each.center, each.radius) for each in obstacle] == [((0.5, 0.2), 0.1)]
    assert axes.get_xlim()[0] <= -1.0 and axes.get_xlim()[1] >= 1.0
    assert axes.get_xlabel() == "x (m)" and axes.get_aspect() == 1.0


def test_a_part_of_the_time_and_a_long_run_are_drawn_from_their_first_to_their_last_place(runs, monkeypatch):
    position = stepped(1, lambda lab: lab.state.position)[:, 0]
    line = lines_of(plot.trajectories(runs[0], first=0.5, last=1.5))[0]
    np.testing.assert_array_equal(line, position[5:16, 0])
    monkeypatch.setattr("formiga.plot.paths.MOST_POINTS", 7)
    line = lines_of(plot.trajectories(runs[0]))[0]
    assert len(line) <= 12 and (line[0] == position[0, 0]).all() and (line[-1] == position[-1, 0]).all()
    with pytest.raises(FormigaError, match="nothing was recorded from 5 s to the end; it has 0 s to 2 s"):
        plot.trajectories(runs[0], first=5.0)


def test_a_few_robots_have_a_colour_each_and_many_that_of_their_group(runs):
    from formiga.plot.paths import colours_of

    world = runs[0].world
    assert colours_of(world, [0, 1, 2]) == dict(enumerate(PALETTE[:3]))
    assert [colours_of(world, [0, 1, 2, 3])[robot] for robot in range(4)] == [PALETTE[0]] * 3 + [PALETTE[1]]
    assert len(set(PALETTE)) == 8


def test_robots_in_space_and_what_they_push_are_drawn_where_they_are_at_the_end():
    run = formiga.simulate("pulling", 0.2, record=[])
    axes, poses = plot.trajectories(run), run.recorded.poses()
    drawn = np.array([line[-1] for each in axes.collections if isinstance(each, LineCollection) and each.get_zorder() == 1.5
                      for line in each.get_segments()])
    expected = [*poses.movables[-1, 0, :, :2], *np.stack([poses.x[-1, 0], poses.y[-1, 0]], axis=-1)]
    np.testing.assert_array_equal(drawn, expected)


# -- over time ----------------------------------------------------------------------------------------------------------
def expected(samples, level=0.95):
    """Means and Student's intervals of samples (steps, K), as scipy computes them."""
    low, high = stats.t.interval(level, samples.shape[1] - 1, loc=samples.mean(axis=1), scale=stats.sem(samples, axis=1))
    return samples.mean(axis=1), low, high


def drawn(axes):
    """The last mean that was drawn, and the edges of its band."""
    line = [each for each in axes.lines if each.get_gid() == MEAN][-1]
    corners = axes.collections[-1].get_paths()[0].vertices if axes.collections else np.empty((0, 2))
    band = [[corners[corners[:, 0] == x, 1].min(), corners[corners[:, 0] == x, 1].max()] for x in line.get_xdata()] \
        if len(corners) else []
    return line.get_xdata(), line.get_ydata(), np.array(band)


def ways(lab):
    return lab.state.position[:, :3, 0].mean(axis=1)


@pytest.mark.parametrize("quantity, more, ask", [
    ("reach", {}, reach),
    ("metrics:reach", {"level": 0.5}, reach),
    ("x", {"group": "ants"}, ways),
    ("crashed", {}, lambda lab: lab.state.crashed.mean(axis=1)),
    ("proximity[4]", {}, lambda lab: lab.readings["ants"]["proximity"][..., 4].mean(axis=1)),
    ("readings:thermometer", {}, lambda lab: lab.readings["rovers"]["thermometer"].reshape(WORLDS, -1).mean(axis=1)),
    ("odometry[0]", {"group": "ants"}, lambda lab: lab.readings["ants"]["odometry"][..., 0].mean(axis=1)),
    (lambda poses: poses.x.max(axis=2), {}, reach),
])
def test_a_quantity_over_time_is_the_mean_over_worlds_and_seeds_with_students_interval(runs, quantity, more, ask):
    samples = np.concatenate([stepped(1, ask), stepped(2, ask)], axis=1)
    time, found, band = drawn(plot.over_time(runs, quantity, **more))
    np.testing.assert_allclose(time, np.arange(STEPS + 1) * 0.1, atol=1e-12)
    np.testing.assert_allclose(found, samples.mean(axis=1), atol=1e-12)
    if np.ptp(samples, axis=1).min() > 0.0:
        _, low, high = expected(samples, more.get("level", 0.95))
        np.testing.assert_allclose(band, np.column_stack([low, high]), atol=1e-12)


def test_speed_is_the_way_in_a_period(runs):
    position = stepped(1, lambda lab: lab.state.position)
    time, found, _ = drawn(plot.over_time(runs[0], "speed"))
    steps = [[np.linalg.norm(position[s + 1, w] - position[s, w], axis=1).mean() / 0.1 for w in range(WORLDS)]
             for s in range(STEPS)]
    np.testing.assert_allclose(found, np.mean(steps, axis=1), atol=1e-12)
    assert time[0] == pytest.approx(0.1) and plt.gca().get_ylabel() == "speed (m/s)" and plt.gca().get_xlabel() == "time (s)"


def test_a_table_of_ones_own_is_drawn_like_the_runs_it_came_from(runs):
    frames = [run.frame("metrics").assign(seed=seed) for seed, run in zip((1, 2), runs, strict=True)]
    tidy = pd.concat(frames)
    wide = tidy.rename(columns={"value": "reach"}).drop(columns="metric")
    of_runs = drawn(plot.over_time(runs, "reach"))
    for table in (tidy, wide):
        for ours, theirs in zip(drawn(plot.over_time(table, "reach")), of_runs, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_a_run_that_ended_early_is_left_out_from_there_on(runs):
    short = formiga.simulate(runs[0].world, 1.0, 5, WORLDS, record=[reach])
    samples = np.concatenate([stepped(1, reach), np.full((STEPS + 1, WORLDS), np.nan)], axis=1)
    samples[:11, WORLDS:] = stepped(5, reach)[:11]
    _, found, band = drawn(plot.over_time([runs[0], short], "reach"))
    np.testing.assert_allclose(found, np.nanmean(samples, axis=1), atol=1e-12)
    late = expected(samples[15:, :WORLDS])
    np.testing.assert_allclose(band[15:], np.column_stack(late[1:]), atol=1e-12)
    other = formiga.simulate(read_text(WORLD.replace('dt="0.1"', 'dt="0.07"'), "x.xml"), 1.0, record=[reach])
    with pytest.raises(FormigaError, match="recorded at other times"):
        plot.over_time([runs[0], other], "reach")


def test_one_run_alone_has_no_band_and_lines_take_the_colours_in_turn(runs):
    single = formiga.simulate(runs[0].world, 0.5, record=[])
    axes = plot.over_time(single, "x", label="one")
    assert not axes.collections and axes.lines[0].get_color() == PALETTE[0]
    assert plot.over_time(runs, "x", axes, label="many", each=True) is axes and len(axes.collections) == 1
    means = [line for line in axes.lines if line.get_gid() == MEAN]
    assert [line.get_color() for line in means] == list(PALETTE[:2]) and len(axes.lines) == 2 + 2 * WORLDS
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "many"]


@pytest.mark.parametrize("quantity, words", [
    ("raech", r"there is no 'raech' in it\. Did you mean 'reach'\? It has poses: x, y.*metrics: reach; readings: proximity"),
    ("proximity", r"'proximity' has 15 numbers; say which one, as 'proximity\[0\]'"),
    ("proximity[15]", r"from 'proximity\[0\]' to 'proximity\[14\]'"),
    ("beliefs:proximity", "there is no 'proximity' in it"),
    (3, "a quantity is a name, such as 'speed', or a function of the poses, not 3"),
    (lambda poses: poses.x, r"must be numbers \(steps, worlds\) = \(21, 3\), not of the shape \(21, 3, 4\)"),
])
def test_a_quantity_that_there_is_not_is_one_sentence(runs, quantity, words):
    with pytest.raises(FormigaError, match=words) as caught:
        plot.over_time(runs[0], quantity)
    assert "\n" not in str(caught.value)


# -- visits -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("more, worlds, robots", [({}, range(WORLDS), range(4)), ({"world": 1}, [1], range(4)),
                                                  ({"group": "rovers"}, range(WORLDS), [3])])
def test_visits_are_the_share_of_time_in_each_cell_and_add_up_to_one(runs, more, worlds, robots):
    axes = plot.visits(runs, cell=0.25, **more)
    image = axes.images[0]
    shares, (left, right, bottom, top) = np.ma.filled(image.get_array(), 0.0), image.get_extent()
    by_hand = np.zeros((4, 8))
    for seed in (1, 2):
        for moment in stepped(seed, lambda lab: lab.state.position):
            for world in worlds:
                for x, y in moment[world, list(robots)]:
                    by_hand[int((y + 0.5) // 0.25), int((x + 1.0) // 0.25)] += 1
    np.testing.assert_allclose(shares, by_hand / by_hand.sum(), atol=1e-15)
    assert shares.sum() == pytest.approx(1.0) and (left, right, bottom, top) == (-1.0, 1.0, -0.5, 0.5)
    assert (image.get_array().mask == (by_hand == 0)).all()
    assert axes.child_axes[0].get_ylabel() == "share of time per cell of 25 cm"


def test_robots_on_open_ground_are_counted_wherever_they_go():
    world = read_text('<world dt="0.1"><disc name="a" count="1" radius="5cm" wheel_base="6cm" top_speed="50cm/s">'
                      '<at x="0" y="0"/><sequence moves="20 0.5 0.5"/></disc></world>', "open.xml")
    run = formiga.simulate(world, 10.0, record=[])
    for axes in (plot.visits(run, cell=1.0), plot.trajectories(run)):
        (x, y), (left, right), (bottom, top) = run.state.position[0, 0], axes.get_xlim(), axes.get_ylim()
        assert left < 0.0 and right > x and bottom < 0.0 and top > y and 3 <= len(axes.get_xticks()) <= 10
        assert np.diff(axes.get_xticks())[0] == np.diff(axes.get_yticks())[0]
    image = plot.visits(run, cell=1.0).images[0]
    assert image.get_array().sum() == pytest.approx(1.0) and image.get_extent()[1] >= run.state.position[0, 0, 0] > 4.0
    with pytest.raises(FormigaError, match=r"cells of 1e-05 m make .* take larger ones"):
        plot.visits(run, cell=1e-5)
    with pytest.raises(FormigaError, match="must be above 0"):
        plot.visits(run, cell=-1.0)


def test_of_worlds_that_differ_each_is_drawn_with_its_own_things_and_all_together_with_what_they_share(tmp_path):
    (tmp_path / "two.xml").write_text(WORLD.replace('radius="10cm"', 'radius="${r}"').replace(
        "<arena", '<param name="r" value="0.1"/><rectangle x="-0.5" y="0" width="0.1" depth="0.1"/><arena'))
    run = formiga.simulate(tmp_path / "two.xml", 0.5, params={"r": [0.1, 0.2]}, record=[])

    def posts(axes):
        return [each.radius for each in axes.patches if isinstance(each, Circle) and each.center == (0.5, 0.2)]

    for draw in (plot.trajectories, plot.visits):
        assert posts(draw(run, world=0)) == [0.1] and posts(draw(run, world=1)) == [0.2]
        for world in (2, -1, 0.5, "0"):
            with pytest.raises(FormigaError, match=r"there is no world .* from 0 to 1"):
                draw(run, world=world)
    together = plot.visits(run)
    assert not posts(together) and len(together.patches) == len(plot.visits(run, world=0).patches) - 1


# -- all of them --------------------------------------------------------------------------------------------------------
DRAW = {"trajectories": lambda runs, axes=None: plot.trajectories(runs[0], axes),
        "over_time": lambda runs, axes=None: plot.over_time(runs, "reach", axes, label="both", unit="m"),
        "visits": lambda runs, axes=None: plot.visits(runs, axes)}


@pytest.mark.parametrize("name", DRAW)
def test_a_figure_is_as_wide_as_a_column_with_nothing_clipped_and_letters_that_stay_letters(runs, name, tmp_path):
    axes = DRAW[name](runs)
    plot.save(axes, tmp_path / "figure.pdf")
    figure = axes.figure
    figure.draw_without_rendering()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert width == COLUMN and min(box.x0, box.y0) >= -0.01 and box.x1 <= width + 0.01 and box.y1 <= height + 0.01
    assert axes.xaxis.label.get_fontsize() == 8.0 and axes.get_xticklabels()[0].get_fontsize() == 7.0
    page = (tmp_path / "figure.pdf").read_bytes()
    assert float(re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", page)[1]) == pytest.approx(72 * COLUMN, abs=0.5)
    assert b"/Type3" not in page and b"/Type42" in page.replace(b"/FontFile2", b"/Type42")
    plot.save(axes, tmp_path / "figure.svg")
    assert f">{axes.get_xlabel()}</text>" in (tmp_path / "figure.svg").read_text()
    with pytest.raises(FormigaError, match=r"'\.bmp' is not a kind of figure. It may be: \.pdf"):
        plot.save(axes, tmp_path / "figure.bmp")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["figure.pdf", "figure.svg"]


@pytest.mark.parametrize("name", DRAW)
def test_figures_are_drawn_on_axes_that_are_given(runs, name):
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3))
    assert DRAW[name](runs, right) is right and not left.has_data() and right.has_data()
    assert plt.get_fignums() == [figure.number] and tuple(figure.get_size_inches()) == (7, 3)


@pytest.mark.parametrize("data, words", [
    (lambda: formiga.simulate("avoid", 0.1), r"was not recorded: simulate\(..., record="),
    (lambda: 5, "drawn from a run that was recorded, a recording or the path of one, not from int"),
    (lambda: "none.parquet", "no such file"),
])
def test_what_has_no_recording_has_no_figure(data, words):
    for draw in (plot.trajectories, plot.visits, lambda data: plot.over_time(data, "x")):
        with pytest.raises(FormigaError, match=words) as caught:
            draw(data())
        assert "\n" not in str(caught.value) and not plt.get_fignums()
    with pytest.raises(FormigaError, match=r"there is no group 'ant'\. Did you mean 'ants'\?"):
        plot.visits(formiga.simulate(read_text(WORLD, "two.xml"), 0.1, record=[]), group="ant")


def test_plot_is_there_with_formiga_and_loads_matplotlib_when_it_draws():
    program = "import sys, formiga; formiga.plot.visits; from formiga import plot; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0
