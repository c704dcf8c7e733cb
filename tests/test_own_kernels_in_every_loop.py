"""Elements of a user's own that give only kernels: every loop runs the same stages, and gives the same bits."""

from dataclasses import dataclass

import numpy as np
import pytest

import formiga
from formiga.envs.batch import Batch
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.noise import gaussian, stream
from formiga.rollout import lacking, rollout
from formiga.world.elements import element, integer, length, name, number
from formiga.world.reader import read_text
from tests.runs import assert_episodes_depend_on_nothing_else, assert_same

WORLD = """<world name="w" dt="0.1" seconds="12" engine="{engine}"><arena width="1.6" depth="1.4"/>
<wall points="-0.2 -0.3 0.1 0.3"/><contact crash_limit="60"/>
<sbot count="6" name="swarm"><scatter/><crowd/>{controller}</sbot>
<sbot count="3" name="others"><scatter/><crowd most="2"/><habit/><calm sensor="habit"/></sbot>
<fitness of="speed straightness"/>{term}</world>"""


@formiga.kernel
def crowd_world(w, number, count, distance, bearing, seen, trace, keys, steps, first, channel, out):
    """How crowded it is to the left and to the right of those in sight, as a leaky integral, with noise."""
    for i in range(out.shape[1]):
        start = stream(keys[w], first + i, steps[w], channel)
        left, right = 0.0, 0.0
        for k in range(count[w, i]):
            if seen[w, i, k] and number[w, i, k] != first + i:
                left += max(0.0, np.sin(bearing[w, i, k])) / (1.0 + distance[w, i, k])
                right += max(0.0, -np.sin(bearing[w, i, k])) / (1.0 + distance[w, i, k])
        for b, side in enumerate((left, right)):
            trace[w, i, b] = 0.8 * trace[w, i, b] + 0.2 * side
            out[w, i, b] = trace[w, i, b] + gaussian(start, b, 0.01)


@formiga.kernel
def habit_world(w, crowd, habit, out):
    for i in range(out.shape[1]):
        for b in range(out.shape[2]):
            habit[w, i, b] = 0.7 * habit[w, i, b] + 0.3 * crowd[w, i, b]
            out[w, i, b] = habit[w, i, b]


@formiga.kernel()
def calm_world(w, crowd, tired, wheels):
    """Turns to where it is less crowded, and slows down as it gets tired."""
    for i in range(wheels.shape[1]):
        tired[w, i] *= 0.99
        turn = crowd[w, i, 0] - crowd[w, i, 1]
        wheels[w, i, 0], wheels[w, i, 1] = 0.06 * (tired[w, i] + turn), 0.06 * (tired[w, i] - turn)


@formiga.kernel
def company_world(w, weight, distance, count, crowd, crashed, reward):
    for i in range(reward.shape[1]):
        reward[w, i] = crowd[w, i, 0] - 1.0 * crashed[w, i]
        for k in range(count[w, i]):
            reward[w, i] += weight / (1.0 + distance[w, i, k])


@pytest.fixture(autouse=True)
def own(own_registry):
    """<crowd>, <habit>, <calm>, <company>: kernels, and nothing else."""
    @element("crowd", role="sensor")
    @dataclass(frozen=True)
    class Crowd:
        """Own."""

        reach: float = length(0.8)
        most: int = integer(5, least=1)
        name: str = name("crowd")
        full = 1.0

        def stages(self, scene):
            near, look = scene.neighbour_stages(self.reach, self.most)
            seen, check = scene.sight_stages(scene.position, near.place)
            out = np.zeros((*scene.shape, 2))
            trace = scene.memory("trace", np.zeros(out.shape))
            return out, [*look, *check, formiga.Stage(crowd_world, (
                near.number, near.count, near.distance, near.bearing, seen, trace, *scene.noise.source("noise"), out))]

    @element("habit", role="estimator")
    @dataclass(frozen=True)
    class Habit:
        """Own."""

        name: str = name("habit")

        def stages(self, view):
            out = np.zeros((*view.shape, 2))
            return out, [formiga.Stage(habit_world, (view.reading("crowd"), view.memory("habit", np.ones(out.shape)), out))]

    @element("calm", role="controller")
    @dataclass(frozen=True)
    class Calm:
        """Own."""

        sensor: str = name("crowd")

        def stages(self, view, wheels):
            return [formiga.Stage(calm_world, (view.reading(self.sensor), view.memory("tired", np.ones(view.shape)), wheels))]

    @element("company", role="fitness")
    @dataclass(frozen=True)
    class Company:
        """Own."""

        weight: float = number(1.0)

        def stages(self, view, reward):
            near, look = view.neighbour_stages(0.5, 3)
            return [*look, formiga.Stage(company_world, (self.weight, near.distance, near.count, view.readings["crowd"],
                                                         view.crashed, reward))]


def world(controller="<calm/>", engine="planar", term="<company/>"):
    return read_text(WORLD.format(controller=controller, engine=engine, term=term), "w.xml")


def test_elements_that_give_only_kernels_are_the_same_in_every_loop():
    fast, slow, looked = (Simulation(world(), 5, 3, compiled=compiled) for compiled in (True, False, True))
    for step in range(40):
        fast.step()
        slow.step()
        for _ in range(step % 3):
            seen = looked.readings["swarm"]["crowd"].copy()
            looked.look_again()
            assert np.array_equal(looked.readings["swarm"]["crowd"], seen)
        looked.step()
    assert_same(fast, slow)
    assert_same(fast, looked)
    assert fast.advance(1) and not slow.advance(1)
    assert np.ptp(slow.readings["swarm"]["crowd"]) > 0.1


def test_readings_of_one_step_stay_what_they_were():
    """The program that fills them is kept, and fills an array of its own again."""
    lab = Simulation(world(), 5, 2, compiled=False)
    first = lab.readings["swarm"]["crowd"]
    before = first.copy()
    lab.step()
    assert lab.readings["swarm"]["crowd"] is not first and np.array_equal(first, before)


def test_programs_of_the_readable_loop_are_made_once():
    lab = Simulation(world(), 5, 2, compiled=False)
    for _ in range(3):
        lab.step()
    kept = dict(lab.state.kept)
    assert set(kept) == {"swarm/crowd", "swarm/<controller>", "others/crowd", "others/habit", "others/<controller>"}
    for _ in range(3):
        lab.step()
    assert all(lab.state.kept[owner] is program for owner, program in kept.items())
    lab.state.position = lab.state.position + 0.01      # what held the old array is made again
    lab.look_again()
    lab.step()
    assert lab.state.kept["swarm/crowd"] is not kept["swarm/crowd"]
    assert lab.state.kept["swarm/<controller>"] is kept["swarm/<controller>"]


@pytest.mark.parametrize("compiled", [True, False])
def test_an_array_of_the_state_that_is_replaced_is_seen(compiled):
    labs = [Simulation(world(), 5, 2, compiled=compiled) for _ in range(2)]
    for step in range(12):
        for lab in labs:
            if step == 6:
                moved = 0.9 * lab.state.position
                if lab is labs[0]:
                    lab.state.position = moved
                else:
                    lab.state.position[...] = moved
                lab.look_again()
            lab.step()
    assert_same(*labs)


@pytest.mark.parametrize(("engine", "compiled"), [("planar", True), ("planar", False), ("spatial", True)])
def test_worlds_that_start_again_leave_the_memory_of_the_others_alone(engine, compiled):
    described, again = world(engine=engine), np.array([False, True, False])
    some, none, fresh = (Simulation(described, 5, 3, compiled=compiled) for _ in range(3))
    for step in range(20):
        some.readings  # noqa: B018
        if step in (5, 6, 12):
            some.reset(again)
        some.step()
        none.step()
        if step >= 12:
            fresh.step()
    assert_same(some, none, ~again)
    assert_same(some, fresh, again)


@pytest.mark.parametrize("compiled", [True, False])
def test_an_edit_that_changes_nothing_changes_nothing(compiled):
    edited, plain = (Simulation(world(), 5, compiled=compiled) for _ in range(2))
    for step in range(20):
        edited.readings  # noqa: B018
        if step in (5, 6, 12):
            edited = edited.edited(edited.world, edited.state.position[0], edited.state.heading[0], np.arange(9))
        edited.step()
        plain.step()
    assert_same(edited, plain)


def test_a_rollout_with_a_term_of_kernels_is_one_call_with_the_same_bits(rng):
    described = world("<perceptron inputs='crowd'/>")
    assert lacking(described, described.groups[0]) == ""
    genotypes = rng.uniform(-1.0, 1.0, (4, 6))
    fast, slow = (rollout(described, genotypes, 4, 2, 6.0, group="swarm", compiled=compiled) for compiled in (True, False))
    several = rollout(described, genotypes, 4, 2, 6.0, group="swarm", threads=2)
    plain = rollout(world("<perceptron inputs='crowd'/>", term=""), genotypes, 4, 2, 6.0, group="swarm")
    assert np.array_equal(fast.fitness, slow.fitness) and np.array_equal(fast.fitness, several.fitness)
    assert np.array_equal(fast.crashes, plain.crashes) and (fast.fitness > plain.fitness).all()


def test_environments_step_in_one_call_with_the_same_rewards():
    assert_episodes_depend_on_nothing_else(world("<perceptron inputs='crowd'/>"), steps=30, compiled=True)


@pytest.mark.parametrize("way", ["rollout", "readable", "batch"])
def test_a_term_that_gives_no_finite_number_is_named(way):
    described = world("<perceptron inputs='crowd'/>", term="\n<company/><company/>")
    object.__setattr__(described.fitness[1], "weight", np.inf)
    message = r"w.xml:6: <company> must give finite numbers of the shape \(worlds, robots\) = \(\d, 6\), not with not-a-number"
    with pytest.raises(WorldError, match=message):
        if way == "batch":
            batch = Batch(described, 2, group="swarm")
            batch.reset(0)
            batch.step(np.zeros((2, 6, 2)))
        else:
            rollout(described, np.zeros((1, 6)), 4, 2, 6.0, group="swarm", compiled=way == "rollout")


# -- beliefs and messages ---------------------------------------------------------------------------------------------
TALK = """<world name="w" dt="0.1" seconds="12" engine="{engine}"><arena width="1.6" depth="1.4"/><contact crash_limit="60"/>
<sbot count="6" name="swarm"><scatter/><range_and_bearing range="0.8" numbers="2" limit="3"/><crowd/><mood/><chatter/></sbot>
</world>"""


@formiga.kernel
def mood_world(w, crowd, inbox, mood, out):
    """A belief from a sensor, messages and what was believed before."""
    for i in range(out.shape[1]):
        heard = 0.0
        for k in range(inbox.shape[2]):
            heard += inbox[w, i, k, 0] * inbox[w, i, k, 3]
        mood[w, i] = 0.9 * mood[w, i] + 0.1 * (crowd[w, i, 0] + heard)
        out[w, i, 0] = mood[w, i]


@formiga.kernel
def chatter_world(w, steps, mood, message, wheels):
    """Tells what it believes, in every third step; sometimes too much for the link."""
    for i in range(wheels.shape[1]):
        if steps[w] % 3 == 0:
            message[w, i, 0], message[w, i, 1] = 1.0 + mood[w, i, 0], 10.0 * i - 20.0
        wheels[w, i, 0], wheels[w, i, 1] = 0.03 + 0.01 * mood[w, i, 0], 0.04


@pytest.fixture
def talking(own):
    """<mood>, an estimator, and <chatter>, a controller that sends."""
    @element("mood", role="estimator")
    @dataclass(frozen=True)
    class Mood:
        """Own."""

        name: str = name("mood")

        def stages(self, view):
            out = np.zeros((*view.shape, 1))
            return out, [formiga.Stage(mood_world, (view.reading("crowd"), view.reading("range_and_bearing"),
                                                    view.memory("mood", np.zeros(view.shape)), out))]

    @element("chatter", role="controller")
    @dataclass(frozen=True)
    class Chatter:
        """Own."""

        def stages(self, view, wheels):
            return [formiga.Stage(chatter_world, (view.noise.source()[1], view.reading("mood"), view.outbox(), wheels))]


@pytest.mark.parametrize("engine", ["planar", "spatial"])
def test_beliefs_and_messages_of_kernels_are_the_same_in_every_loop(talking, engine):
    described = read_text(TALK.format(engine=engine))
    fast, slow = (Simulation(described, 5, 2, compiled=compiled) for compiled in (True, False))
    assert fast.advance(0) == (engine == "planar")
    for step in range(30):
        fast.readings  # noqa: B018
        if step == 17:
            for lab in (fast, slow):
                lab.reset([False, True])
        fast.step()
        slow.step()
        assert np.array_equal(fast.readings["swarm"]["mood"], slow.readings["swarm"]["mood"])
    assert_same(fast, slow)
    assert np.abs(fast.state.outbox).max() == 3.0 and np.ptp(fast.readings["swarm"]["mood"]) > 0.1


def test_worlds_that_have_ended_keep_their_messages(talking):
    described = read_text(TALK.format(engine="planar").replace('crash_limit="60"', 'crash_limit="2"'))
    fast, slow = (Simulation(described, 5, 4, compiled=compiled) for compiled in (True, False))
    for _ in range(250):
        fast.step()
        slow.step()
    assert fast.state.done.any()
    assert_same(fast, slow)


@formiga.kernel
def half_world(w, second, message, wheels):
    """Half of a message."""
    for i in range(wheels.shape[1]):
        message[w, i, 0], message[w, i, 1] = 1.0, second
        wheels[w, i, 0], wheels[w, i, 1] = 0.03, 0.03


@pytest.mark.parametrize("second", [np.nan, np.inf])
def test_a_message_that_a_kernel_leaves_half_open_is_refused_in_every_loop(talking, second):
    @element("half", role="controller")
    @dataclass(frozen=True)
    class Half:
        """Own."""

        def stages(self, view, wheels):
            return [formiga.Stage(half_world, (second, view.outbox(), wheels))]

    text = '<world><arena width="2" depth="2"/>\n<sbot name="a" count="3"><radio numbers="2"/>\n<half/></sbot></world>'
    for compiled in (True, False):
        with pytest.raises(WorldError, match=r"w.xml:3: the messages of 'a' over 'radio': that of robot 0 has \[ ?1. +\w+\]"):
            Simulation(read_text(text, "w.xml"), worlds=2, compiled=compiled).step()
