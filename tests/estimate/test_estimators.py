"""Estimators: readings become beliefs, in order, and controllers read them like sensors."""

from dataclasses import dataclass

import numpy as np
import pytest

from formiga.errors import WorldError
from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.loop import Simulation
from formiga.rollout import rollout
from formiga.world.elements import element, name, number
from formiga.world.reader import read_text
from tests.runs import both

WORLD = """<world dt="0.1"><arena width="2" depth="2"/>
<sbot name="a" count="3"><scatter/><proximity/>{inside}</sbot></world>"""


@kernel()
def smooth_world(w, step, reading, share, mean, out):
    """An exponential mean of the readings."""
    for i in range(out.shape[1]):
        for b in range(out.shape[2]):
            if step[w] == 0:
                mean[w, i, b] = reading[w, i, b]
            mean[w, i, b] += share * (reading[w, i, b] - mean[w, i, b])
            out[w, i, b] = mean[w, i, b]


def test_a_belief_that_locates_begins_with_a_pose(own_registry):
    from typing import ClassVar

    @element("two", role="estimator")
    @dataclass(frozen=True)
    class Two:
        """x and y alone."""

        name: str = name("two")
        locates: ClassVar[bool] = True

        def estimate(self, view):
            return np.zeros((*view.shape, 2))

    with pytest.raises(WorldError, match=r"'two' locates the robots: it must return rows .* not of the shape \(1, 3, 2\)"):
        Simulation(read_text(WORLD.format(inside="<two/>"))).readings  # noqa: B018


@pytest.fixture(autouse=True)
def estimators(own_registry):
    """<smooth of=""> with a kernel, <total of=""> without, <shy> that drives by a belief."""

    @element("smooth", role="estimator")
    @dataclass(frozen=True)
    class Smooth:
        """The exponential mean of a reading."""

        of: str = name("proximity")
        share: float = number(0.2)
        name: str = name("smooth")

        def estimate(self, view):
            mean = view.memory("mean", view.reading(self.of))
            mean += self.share * (view.reading(self.of) - mean)
            return mean.copy()

        def stages(self, view):
            reading = view.reading(self.of)
            mean, out = view.memory("mean", reading), np.empty(reading.shape)
            return out, [Stage(smooth_world, (view.start_source()[0], reading, self.share, mean, out))]

    @element("total", role="estimator")
    @dataclass(frozen=True)
    class Total:
        """The sum of a reading, with a little noise."""

        of: str = name("smooth")
        name: str = name("total")

        def estimate(self, view):
            return view.reading(self.of).sum(axis=2) + 0.01 * view.noise.uniform(0.0, 1.0)[..., 0]

    @element("shy", role="controller")
    @dataclass(frozen=True)
    class Shy:
        """Drives slower where more is near."""

        of: str = name("total")

        def decide(self, view):
            speed = 0.08 / (1.0 + np.reshape(view.reading(self.of), (*view.shape, -1)).sum(axis=2))
            return np.stack([speed, 0.9 * speed], axis=-1)


def test_each_estimator_sees_the_readings_and_the_beliefs_before_it():
    lab = Simulation(read_text(WORLD.format(inside="<smooth/><total/><shy/>")), 1, 2)
    mean = lab.readings["a"]["proximity"].copy()
    for _ in range(20):
        readings = lab.readings["a"]
        assert list(readings) == ["proximity", "smooth", "total"]
        mean += 0.2 * (readings["proximity"] - mean)
        np.testing.assert_allclose(readings["smooth"], mean)
        error = readings["total"] - mean.sum(axis=2)
        assert (error >= 0.0).all() and (error < 0.01).all()
        lab.step()


def test_an_estimator_that_reads_a_belief_which_comes_after_it_is_refused_with_its_line():
    world = read_text(WORLD.format(inside="\n<total/>\n<smooth/><shy/>"), "w.xml")
    with pytest.raises(WorldError, match=r"w.xml:3: the estimator 'total' of 'a' reads 'smooth', which comes after it. "
                                         r"Estimators run in the order of the file: put <smooth> before it."):
        Simulation(world).step()


def test_an_estimator_that_reads_its_own_belief_is_told_to_remember_it():
    world = read_text(WORLD.format(inside='\n<smooth of="smooth"/>'), "w.xml")
    with pytest.raises(WorldError, match=r"w.xml:3: the estimator 'smooth' of 'a' reads its own belief"):
        Simulation(world).step()


def test_a_reading_stays_what_it_was_though_an_element_returns_what_it_remembers_or_where_it_is():
    @element("place", role="sensor")
    @dataclass(frozen=True)
    class Place:
        """Returns an array of the state."""

        name: str = name("place")

        def read(self, scene):
            return scene.position

    @element("count", role="estimator")
    @dataclass(frozen=True)
    class Count:
        """Returns its memory."""

        name: str = name("count")

        def estimate(self, view):
            steps = view.memory("steps", np.zeros(view.shape))
            steps += 1.0
            return steps

    lab = Simulation(read_text(WORLD.format(inside='<place/><count/><shy of="count"/>')))
    held = lab.readings["a"]
    before = {key: value.copy() for key, value in held.items()}
    for _ in range(3):
        lab.step()
    assert all(np.array_equal(before[key], held[key]) for key in before)
    assert (lab.readings["a"]["count"] == 4.0).all() and not np.array_equal(lab.readings["a"]["place"], held["place"])


def test_a_reading_that_there_is_not_is_refused_with_what_there_is():
    world = read_text(WORLD.format(inside='\n<smooth of="proximty"/><shy of="smooth"/>'), "w.xml")
    with pytest.raises(WorldError, match=r"w.xml:3: the estimator 'smooth' of 'a' reads 'proximty', but the robots carry: "
                                         r"proximity. Did you mean 'proximity'"):
        Simulation(world).step()


@pytest.mark.parametrize("belief, given", [("None", "NoneType"), ("np.zeros(3)", r"\(3,\)"), ("[1]", "list")])
def test_a_belief_must_be_an_array_over_worlds_and_robots(belief, given):
    @element("odd", role="estimator")
    @dataclass(frozen=True)
    class Odd:
        """Returns something else."""

        name: str = name("odd")

        def estimate(self, view):
            return eval(belief)

    with pytest.raises(WorldError, match=rf"w.xml:2: estimator 'odd' must return an array .* = \(1, 3, ...\), not {given}"):
        _ = Simulation(read_text(WORLD.format(inside="<odd/>"), "w.xml")).readings


def test_an_estimator_without_its_method_or_its_name_is_refused():
    with pytest.raises(WorldError, match=r"<odd> of the role 'estimator' needs a method estimate\(self, view\)"):
        @element("odd", role="estimator")
        @dataclass(frozen=True)
        class Odd:
            """Estimates nothing."""

            name: str = name("odd")

    with pytest.raises(WorldError, match="<odd> of the role 'estimator' needs a field name"):
        @element("odd", role="estimator")
        @dataclass(frozen=True)
        class Nameless:
            """Has no name."""

            def estimate(self, view):
                return None


def test_kernels_of_an_estimator_give_the_bits_of_the_loop_also_after_a_restart():
    world = read_text(WORLD.format(inside="<smooth/><braitenberg/>"))
    one, other = both(world, 40, seed=2, again=[False, True, False])
    assert not one._compiled.lacking
    assert np.array_equal(one.readings["a"]["smooth"], other.readings["a"]["smooth"])
    assert one.readings["a"]["smooth"].any()


def test_a_world_with_a_belief_rolls_out_with_the_bits_of_the_loop():
    text = WORLD.format(inside='<odometry/><perceptron inputs="proximity"/>')
    world = read_text(text.replace("</world>", '<fitness of="speed"/></world>'))
    genes = np.random.default_rng(0).uniform(-1, 1, (3, 32))
    fast, slow = (rollout(world, genes, seconds=2.0, compiled=compiled).fitness for compiled in (True, False))
    assert np.array_equal(fast, slow) and np.ptp(fast) > 0.0


@pytest.mark.parametrize("engine", ["planar", "spatial"])
def test_the_start_is_where_the_robots_were_put_whenever_it_is_first_asked_for(own_registry, engine):
    @element("late", role="estimator")
    @dataclass(frozen=True)
    class Late:
        """The start, asked for after a second."""

        name: str = name("late")

        def estimate(self, view):
            return view.start if view.time[0, 0] > 1.0 else np.zeros((*view.shape, 3))

    world = read_text(WORLD.format(inside='<late/><sequence moves="1 0.05 0.04" repeat="true"/>'))
    lab = Simulation(world, seed=3, worlds=2, engine=engine)
    for seed in (3, 8):
        lab.reset(seed=seed)
        put = np.concatenate([lab.state.position, lab.state.heading[..., None]], axis=-1)
        for _ in range(20):
            lab.step()
        np.testing.assert_allclose(lab.readings["a"]["late"], put, atol=1e-9)
        assert np.abs(lab.state.position - put[..., :2]).max() > 0.02
