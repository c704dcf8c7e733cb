"""Elements and scripts draw into a run, and the run does not notice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import formiga
from formiga import Simulation, element
from formiga.errors import FormigaError, WorldError
from formiga.lab import check_world
from formiga.world.elements import name
from formiga.world.reader import read_text
from tests.drawing.artist import LAYERS, SPACE, WORLD, studio

pytestmark = pytest.mark.usefixtures("own_registry")


def bits(lab):
    """Everything that a run has."""
    return ({name: values.tobytes() for name, values in lab.state.arrays().items()},
            {key: values.tobytes() for key, values in lab.state.memory.items()},
            {group: {sensor: values.tobytes() for sensor, values in each.items()} for group, each in lab.readings.items()})


@pytest.mark.parametrize("text", [WORLD, SPACE], ids=["plane", "space"])
@pytest.mark.parametrize("worlds", [1, 3])
def test_a_run_has_the_same_bits_whether_or_not_it_is_looked_at(text, worlds):
    world = studio(text)
    watched, alone = Simulation(world, 5, worlds), Simulation(world, 5, worlds)
    for step in range(12):
        if step % 3:
            assert list(watched.drawings()) == LAYERS
            watched.drawings()
        watched.step()
        alone.step()
    assert bits(watched) == bits(alone)


@pytest.mark.parametrize("shipped", ["line", "mixed", "car", "omni"])
def test_shipped_worlds_that_draw_have_the_same_bits_too(shipped):
    watched, alone = Simulation(shipped, 5), Simulation(shipped, 5)
    for _ in range(20):
        assert watched.drawings()
        watched.step()
        alone.step()
    assert bits(watched) == bits(alone)


def test_the_first_world_of_a_batch_is_drawn_as_if_it_were_alone():
    world = studio()
    batch, alone = Simulation(world, 5, 3), Simulation(world, 5, 1)
    for lab in (batch, alone):
        for _ in range(4):
            lab.step()
    one, other = batch.drawings(), alone.drawings()
    assert all(np.array_equal(a.numbers, b.numbers) for layer in one
               for a, b in zip(one[layer], other[layer], strict=True))


def test_odometry_draws_where_the_robots_believe_to_be():
    lab = Simulation("mixed", 3)
    for _ in range(30):
        lab.step()
    group = next(group for group in lab.world.groups if any(each.name == "odometry" for each in group.sources))
    (mark,) = lab.drawings()["odometry"]
    assert mark.kind == "pose" and mark.size == pytest.approx(group.robot.radius)
    believed = lab.readings[group.name]["odometry"][0]
    assert mark.numbers[:, [0, 1, 3]] == pytest.approx(believed, abs=1e-5)


def make(draw, tag="scribe", role="controller"):
    """An element with this method draw."""
    @element(tag, role=role)
    @dataclass(frozen=True)
    class Scribe:
        """Draws what a test says."""

        name: str = name("scribe")

        def decide(self, view):
            """Stand still, and count."""
            view.memory("count", np.zeros(view.shape))[...] += 1.0
            return np.zeros((*view.shape, 2))

    if draw is not None:
        Scribe.draw = draw
        element(tag, role=role)(Scribe)
    return Scribe


SCRIBES = """<world name="desk">
<arena width="2" depth="2"/>
<sbot count="2" name="desk">
<at x="0" y="0"/><at x="0.5" y="0"/>
<scribe/></sbot></world>"""


def test_a_controller_draws_from_its_memory_as_it_was_when_it_last_decided():
    def draw(self, view, pen):
        pen.text((0.0, 0.0), f"{view.memory('count', np.zeros(view.shape))[0, 1]:g} {view.time[0, 0]:.1f}")

    make(draw)
    lab = Simulation(read_text(SCRIBES, "desk.xml"))
    assert lab.drawings()["scribe"][0].words == ("0 0.0",)
    for _ in range(3):
        lab.step()
    assert lab.drawings()["scribe"][0].words == (f"3 {3 * lab.world.dt:.1f}",)
    assert lab.state.memory["desk/<controller>", "count"].tolist() == [[3.0, 3.0]]


def test_a_memory_need_not_be_begun_by_drawing_and_before_the_first_step_there_may_be_none():
    make(lambda self, view, pen: pen.text((0.0, 0.0), f"{view.memory('count')[0, 1]:g}"))
    lab = Simulation(read_text(SCRIBES, "desk.xml"))
    assert lab.drawings() == {}
    lab.step()
    assert lab.drawings()["scribe"][0].words == ("1",)
    make(lambda self, view, pen: view.memory("cuont"))
    lab = Simulation(read_text(SCRIBES, "desk.xml"))
    lab.step()
    with pytest.raises(WorldError, match=r"desk.xml:5: .* it asks for the memory 'cuont'; there is: count\."):
        lab.drawings()
    with pytest.raises(WorldError, match="needs what it starts as"):
        lab.state.remember("desk/scribe", "count", None)


@pytest.mark.parametrize("role, method", [("sensor", "read"), ("link", "hear"), ("estimator", "estimate")])
def test_whatever_gives_readings_draws_from_them_and_from_those_of_the_others(role, method):
    @element("giver", role=role)
    @dataclass(frozen=True)
    class Giver:
        """Reads its own number of looks."""

        name: str = name("gift")

        def give(self, view):
            n = view.group.count
            seen = view.memory("seen", np.zeros((1, n, 2)))
            seen += 1.0
            return seen.copy()

        read = hear = estimate = give

        def draw(self, view, pen):
            pen.points(view.readings["gift"])
            pen.text((0.0, 0.0), ", ".join(sorted(view.readings)))
            assert view.memory("seen").tolist() == view.readings["gift"].tolist()

    lab = Simulation(read_text(SCRIBES.replace("<scribe/>", "<giver/><proximity/><odometry/>"), "desk.xml"))
    for looks in (1.0, 2.0):
        points, text = lab.drawings()["gift"]
        assert points.numbers[:, 0].tolist() == [looks, looks] and len(points.colours) == 2
        assert text.words == ("gift, odometry, proximity",)
        lab.step()


def test_what_an_element_draws_wrongly_is_one_message_with_its_place():
    make(lambda self, view, pen: pen.points(np.full((2, 2), np.nan)))
    world = read_text(SCRIBES, "desk.xml")
    lab = Simulation(world)
    words = r"desk.xml:5: <scribe> of 'desk' cannot be drawn: pen.points in the layer 'scribe' needs finite.*nan at \[0, 0\]"
    with pytest.raises(WorldError, match=words):
        lab.drawings()
    with pytest.raises(WorldError, match=words):
        check_world(world)
    found = []
    assert lab.drawings(found.append) == {} and len(found) == 1 and isinstance(found[0], FormigaError)


def test_a_mistake_in_a_users_own_method_names_its_file_and_line():
    make(lambda self, view, pen: 1 / 0)
    with pytest.raises(FormigaError, match=r"test_sketch.py:\d+: ZeroDivisionError"):
        Simulation(read_text(SCRIBES, "desk.xml")).drawings()


@pytest.mark.parametrize("draw, words", [
    (lambda self, pen: None, "<scribe> may draw with a method draw(self, view, pen), not draw(self, pen)."),
    (7, "<scribe> may draw with a method draw(self, view, pen); its draw is 7."),
])
def test_a_method_draw_with_another_signature_is_refused_when_it_is_registered(draw, words):
    with pytest.raises(WorldError) as refused:
        make(draw)
    assert str(refused.value) == words


def test_an_element_that_inherits_a_drawing_draws_and_one_without_does_not():
    plain = make(None)
    assert not plain.draws
    drawer = make(lambda self, view, pen: None)
    assert drawer.draws

    @element("heir", role="controller")
    @dataclass(frozen=True)
    class Heir(drawer):
        """Draws as its parent does."""

    assert Heir.draws


def test_a_script_draws_with_a_pen_and_what_it_drew_stays():
    lab = Simulation("corral", 1)
    assert lab.drawings() == {}
    pen = lab.pen("plan")
    pen.path([(0.0, 0.0), (1.0, 1.0)])
    lab.pen("plan").on(2).text((0.0, 0.0), "this one")
    lab.step()
    lab.reset()
    assert [mark.kind for mark in lab.drawings()["plan"]] == ["path", "text"]
    assert lab.drawings()["plan"][1].on.tolist() == [2]
    state = lab.state
    edited = lab.edited(lab.world, state.position[0], state.heading[0], np.arange(lab.world.robots))
    assert len(edited.drawings()["plan"]) == 2
    pen.clear()
    assert lab.drawings() == {}


def test_a_layer_is_shared_by_all_that_draw_into_it():
    lab = Simulation("line")
    lab.pen("odometry").points([(0.0, 0.0)])
    assert [mark.kind for mark in lab.drawings()["odometry"]] == ["pose", "points"]


def test_drawing_is_offered_to_newcomers():
    assert formiga.Simulation.pen.__doc__ and formiga.Simulation.drawings.__doc__
