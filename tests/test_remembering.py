"""Sensors and controllers of a user's own that remember: a look counts once, and other worlds' starts are none of theirs."""

from dataclasses import dataclass

import numpy as np
import pytest

from formiga.engine.beams import ring
from formiga.kernels import kernel
from formiga.kernels.program import Program, Stage
from formiga.loop import Simulation
from formiga.rollout import rollout
from formiga.world.elements import element, name
from formiga.world.reader import read_text
from tests.runs import assert_episodes_depend_on_nothing_else, assert_same

KINDS = ["plain", "kernels"]
WORLD = """<world name="w" dt="0.1" seconds="12" engine="{engine}"><arena width="1.4" depth="1.2"/><contact crash_limit="60"/>
<sbot count="3" name="swarm"><scatter/><{kind}-trace/>{controller}</sbot>
<sbot count="2" name="others"><scatter/><{kind}-trace/><{kind}-shy/></sbot><fitness of="speed straightness"/>{term}</world>"""


@kernel()
def trace_world(w, distance, trace, out):
    """A leaky integral of what is near."""
    for i in range(out.shape[1]):
        for b in range(out.shape[2]):
            trace[w, i, b] = 0.8 * trace[w, i, b] + 0.2 * max(0.0, 1.0 - distance[w, i, b] / 0.3)
            out[w, i, b] = trace[w, i, b]


@kernel()
def shy_world(w, trace, tired, wheels):
    """Turns from what is near, and slows down as it gets tired."""
    for i in range(wheels.shape[1]):
        tired[w, i] = 0.99 * tired[w, i]
        turn = 2.0 * (trace[w, i, 1] - trace[w, i, 0])
        wheels[w, i, 0], wheels[w, i, 1] = 0.08 * (tired[w, i] - turn), 0.08 * (tired[w, i] + turn)


def _trace(scene, distance):
    out = np.empty(distance.shape)
    return out, Stage(trace_world, (distance, scene.memory("trace", np.zeros(out.shape)), out))


def _cast(self, scene):
    distance = scene.cast(ring((0.6, -0.6), scene.group.robot.radius), 0.3)
    out, stage = _trace(scene, distance)
    Program([stage], len(out)).run(0, len(out))
    return out


def _cast_stages(self, scene):
    distance = np.empty((scene.state.worlds, scene.group.count, 2))
    cast = scene.cast_stages(ring((0.6, -0.6), scene.group.robot.radius), 0.3, distance)
    if cast is None:
        return None
    out, stage = _trace(scene, distance)
    return out, [*cast, stage]


def _decide_stages(self, view, wheels):
    return [Stage(shy_world, (view.reading("trace"), view.memory("tired", np.ones(view.shape)), wheels))]


def _decide(self, view):
    wheels = np.empty((*view.shape, 2))
    Program(_decide_stages(self, view, wheels), len(wheels)).run(0, len(wheels))
    return wheels


def _reward(self, view):
    return 1.0 - view.readings["trace"].max(axis=-1)


@pytest.fixture(autouse=True)
def remembering(own_registry):
    """<plain-trace>, <plain-shy> without kernels, <kernels-trace>, <kernels-shy> with, and the term <own-term>."""
    for kind in KINDS:
        sensor = {"read": _cast, "full": 1.0, "name": name("trace"), "__annotations__": {"name": str}}
        controller = {"decide": _decide}
        if kind == "kernels":
            sensor["stages"], controller["stages"] = _cast_stages, _decide_stages
        for tag, role, body in (("trace", "sensor", sensor), ("shy", "controller", controller)):
            made = dataclass(frozen=True)(type(f"{kind}{tag}", (), {"__doc__": "Own.", "__module__": __name__, **body}))
            element(f"{kind}-{tag}", role=role)(made)
    term = {"__doc__": "Own.", "__module__": __name__, "reward": _reward}
    element("own-term", role="fitness")(dataclass(frozen=True)(type("Term", (), term)))


def world(kind, controller=None, engine="planar", term=""):
    return read_text(WORLD.format(kind=kind, controller=controller or f"<{kind}-shy/>", engine=engine, term=term))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compiled", [True, False])
def test_looking_at_the_readings_once_or_often_changes_no_run(kind, compiled):
    looked, blind = Simulation(world(kind), 5, 3, compiled=compiled), Simulation(world(kind), 5, 3)
    for step in range(40):
        for _ in range(step % 3):
            seen = looked.readings["swarm"]["trace"].copy()
            looked.look_again()
            assert np.array_equal(looked.readings["swarm"]["trace"], seen)
        looked.step()
        blind.step()
    assert blind.advance(1) == (kind == "kernels")
    if kind == "plain":
        blind.step()
    looked.step()
    assert_same(looked, blind)
    assert looked.readings["swarm"]["trace"].max() > 0.1


@pytest.mark.parametrize(("kind", "engine"), [("plain", "planar"), ("kernels", "planar"), ("plain", "spatial")])
def test_worlds_that_start_again_leave_the_memory_of_the_others_alone(kind, engine):
    described, again = world(kind, engine=engine), np.array([False, True, False])
    some, none = Simulation(described, 5, 3), Simulation(described, 5, 3)
    for step in range(30):
        some.readings  # noqa: B018
        if step in (10, 11, 20):
            some.reset(again)
        some.step()
        none.step()
    assert_same(some, none, ~again)
    fresh = Simulation(described, 5, 3)
    for _ in range(10):
        fresh.step()
    assert_same(some, fresh, again)


def test_a_term_of_the_users_own_sees_the_same_run_both_ways(rng):
    """It looks at the readings in every step, also in a world that takes its steps in one compiled call."""
    described = world("kernels", "<perceptron inputs='trace'/>", term="<own-term/>")
    genotypes = rng.uniform(-1.0, 1.0, (3, 6))
    fast, slow = (rollout(described, genotypes, 4, 2, 5.0, group="swarm", compiled=compiled) for compiled in (True, False))
    assert np.array_equal(fast.fitness, slow.fitness) and np.array_equal(fast.crashes, slow.crashes)


@pytest.mark.parametrize("kind", KINDS)
def test_an_episode_of_a_learner_depends_on_no_other_episode(kind):
    """Neither on those of other worlds, nor on those before it, nor on whether it is compiled."""
    described = world(kind, "<perceptron inputs='trace'/>")
    assert_episodes_depend_on_nothing_else(described, steps=40, compiled=kind == "kernels")


@pytest.mark.parametrize("kind", KINDS)
def test_an_edit_that_changes_nothing_changes_nothing_also_of_those_that_have_looked(kind):
    edited, plain = Simulation(world(kind), 5), Simulation(world(kind), 5)
    for step in range(30):
        edited.readings  # noqa: B018
        if step in (10, 11, 20):
            seen = edited.readings["swarm"]["trace"].copy()
            new = edited.edited(edited.world, edited.state.position[0], edited.state.heading[0], np.arange(5))
            assert np.array_equal(edited.readings["swarm"]["trace"], seen)
            edited = new
        edited.step()
        plain.step()
    assert_same(edited, plain)


def test_a_sensor_that_fails_after_another_has_looked_leaves_the_memory_as_it_was():
    """In the laboratory such a run goes on when the file has been mended."""
    lab = Simulation(world("plain"), 5)
    for _ in range(5):
        lab.step()
    before = lab.state.memory["swarm/trace", "trace"].copy()
    object.__setattr__(lab.world.groups[1].sensors[0], "read", None)
    with pytest.raises(TypeError):
        lab.readings  # noqa: B018
    assert np.array_equal(lab.state.memory["swarm/trace", "trace"], before)
