"""One compiled call and the readable loop take the same steps, bit for bit; and the call knows when it is out of date."""

from dataclasses import dataclass

import numpy as np
import pytest

from formiga.control.braitenberg import Braitenberg
from formiga.errors import FormigaError, WorldError
from formiga.kernels import kernel
from formiga.kernels.program import ENDED, GO_ON, Program, Stage
from formiga.lab import read_world, shipped_worlds, simulate
from formiga.loop import Simulation
from formiga.rollout import genes as sizes
from formiga.world import elements
from formiga.world.elements import element
from formiga.world.reader import read_text
from tests.runs import assert_same, both

PLANAR = [name for name in shipped_worlds() if read_world(name).engine == "planar"]
FUSED = {"aggregate", "avoid", "avoid24", "corral", "disperse", "drive", "office", "packed", "phototaxis", "spread", "swarmod"}
WORLD = """<world name="w" dt="0.1" seconds="12"><arena width="1.4" depth="1.2"/><lamp x="0.3" y="0.2"/>
<contact model="{contact}" crash_limit="{limit}" at_limit="{at}"/><sbot count="5" name="swarm"><scatter/><proximity/><light/>
{controller}</sbot><sbot count="2" name="idle"><scatter/></sbot></world>"""


def world(controller="<braitenberg/>", contact="reposition", limit=0, at="end"):
    return read_text(WORLD.format(**locals()))


# -- the same bits ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", PLANAR)
def test_a_shipped_world_is_the_same_both_ways(name):
    fast, slow = both(read_world(name))
    assert_same(fast, slow)
    assert fast.advance(1) == (name in FUSED or name == "lamps")


@pytest.mark.parametrize("controller", ['<braitenberg light="light"/>', '<braitenberg rule="strongest" light="light"/>',
                                        "<turn_away/>", '<random_walk period="0.7s"/>',
                                        '<sequence moves="1 0.05 0.02 0.5 0 0.1"/>',
                                        '<sequence moves="1 0.05 0.02 0.5 0 0.1" repeat="true"/>', ""])
def test_every_controller_with_kernels_decides_the_same(controller):
    fast, slow = both(world(controller), 70)
    assert_same(fast, slow)
    assert fast.advance(1) and not slow.advance(1)
    assert not controller or fast.state.wheel_angle[:, :5].any()
    assert not fast.state.drive[:, 5:].any()


@pytest.mark.parametrize("at", ["end", "die"])
def test_worlds_that_end_and_robots_that_die_stay_the_same(at):
    fast, slow = both(world("<sequence moves='100 0.08 0.08'/>", "stop", 3, at), 200)
    assert_same(fast, slow)
    assert fast.state.done.any() if at == "end" else not fast.state.alive.all()


@pytest.mark.parametrize("network", ["<perceptron/>", "<ctrnn hidden='3'/>", "<elman hidden='3' inputs='light proximity'/>"])
def test_networks_think_the_same_and_forget_at_a_reset(network, rng):
    described = world(network)
    genes = rng.uniform(-1, 1, (3, sizes(described, described.groups[0])))
    fast, slow = both(described, 20, genotypes={"swarm": genes})
    for lab in (fast, slow):
        lab.reset([True, False, True], seed=9)
        for _ in range(20):
            lab.step()
    assert_same(fast, slow)
    changed = genes[::-1].copy()
    for lab in (fast, slow):
        lab.state.genotypes["swarm"][...] = changed  # in place: the call must notice
        for _ in range(20):
            lab.step()
    assert_same(fast, slow)


def test_many_steps_in_one_call_are_those_steps(rng):
    fast, slow = both(world(), 0)
    assert fast.advance(57)
    for _ in range(57):
        slow.step()
    assert_same(fast, slow)
    assert np.array_equal(fast.readings["swarm"]["proximity"], slow.readings["swarm"]["proximity"])


def test_batches_and_threads_change_nothing():
    whole = simulate(world(), 6.0, worlds=70, threads=1).state
    shared = simulate(world(), 6.0, worlds=70, threads=3).state
    alone = Simulation(world(), 0, 1, first_world=69)
    alone.advance(60)
    assert np.array_equal(whole.position, shared.position) and np.array_equal(whole.heading, shared.heading)
    assert np.array_equal(whole.position[69], alone.state.position[0])


# -- what makes it out of date, and what it must not do ------------------------------------------------------------------
def test_arrays_that_are_replaced_by_others_are_used():
    fast, slow = both(world(), 3)
    for lab in (fast, slow):
        lab.state.position = lab.state.position + 0.01
        lab.look_again()
        lab.step()
    assert_same(fast, slow)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("wrong", [lambda a: a.astype(np.float32), lambda a: a[:, :2], lambda a: a.tolist()])
def test_arrays_that_do_not_fit_are_refused(wrong, compiled):
    """The kernels would read what lies behind them."""
    lab = Simulation(world(), compiled=compiled)
    lab.state.position = wrong(lab.state.position)
    with pytest.raises(WorldError, match=r"state.position must stay an array of float64 of the shape \(1, 7, 2\)"):
        lab.step()


def test_orders_from_outside_go_through_the_loop_and_back_again():
    fast, slow = both(world(), 3)
    for lab in (fast, slow):
        lab.step({"swarm": np.full((3, 5, 2), 0.02)})
        lab.step()
    assert_same(fast, slow)
    assert fast.state.step.tolist() == [5, 5, 5]


def test_a_class_that_inherits_kernels_and_decides_otherwise_is_asked(monkeypatch):
    monkeypatch.setattr(elements, "_registry", dict(elements._registry))
    monkeypatch.setattr(elements, "_classes", dict(elements._classes))

    @element("asleep", role="controller")
    @dataclass(frozen=True)
    class Asleep(Braitenberg):
        """Stands still."""

        def decide(self, view):
            return np.zeros((*view.shape, 2))

    lab = Simulation(world("<asleep/>"))
    lab.step()
    assert not lab.state.drive.any() and not lab.advance(1)


def test_a_controller_of_the_users_own_with_a_kernel_runs_in_the_call(monkeypatch):
    monkeypatch.setattr(elements, "_registry", dict(elements._registry))
    monkeypatch.setattr(elements, "_classes", dict(elements._classes))

    @kernel()
    def straight_world(w, speed, wheels):
        for i in range(wheels.shape[1]):
            wheels[w, i, 0] = wheels[w, i, 1] = speed

    @element("straight", role="controller")
    @dataclass(frozen=True)
    class Straight:
        """Goes straight; at `time` it loses its mind."""

        speed: float = elements.number(0.03)

        def decide(self, view):
            raise AssertionError("the kernel does it")

        def stages(self, view, wheels):
            return [Stage(straight_world, (self.speed, wheels))]

    lab = Simulation(world("<straight/>", "none"))
    lab.step()
    assert (lab.state.drive[:, :5] == 0.03).all()

    broken = Simulation(world('<straight speed="0.01"/>', "none"))
    object.__setattr__(broken.world.groups[0].controller, "speed", np.nan)
    with pytest.raises(WorldError, match="ordered a wheel speed that is not a number, for robot 0"):
        broken.step()


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_sensor_that_reads_no_number_is_named_before_the_controller_that_follows_it(monkeypatch, compiled, value):
    monkeypatch.setattr(elements, "_registry", dict(elements._registry))
    monkeypatch.setattr(elements, "_classes", dict(elements._classes))
    wanted = np.full((2, 3, 1), 0.02)
    wanted[1, 2] = value

    @kernel()
    def copy_world(w, wanted, reading):
        reading[w] = wanted[w]

    @kernel()
    def follow_world(w, reading, wheels):
        for i in range(wheels.shape[1]):
            wheels[w, i, 0] = wheels[w, i, 1] = reading[w, i, 0]

    @element("feeler", role="sensor")
    @dataclass(frozen=True)
    class Feeler:
        """Reads what it is told."""

        name: str = elements.name("feeler")

        def read(self, scene):
            return wanted.copy()

        def stages(self, scene):
            reading = np.zeros_like(wanted)
            return reading, [Stage(copy_world, (wanted, reading))]

    @element("follower", role="controller")
    @dataclass(frozen=True)
    class Follower:
        """Drives as fast as it reads."""

        def decide(self, view):
            return np.repeat(view.reading("feeler"), 2, axis=-1)

        def stages(self, view, wheels):
            return [Stage(follow_world, (view.reading("feeler"), wheels))]

    text = '''<world><arena width="3" depth="3"/>
<sbot name="a" count="3"><scatter/>
<encoders/><feeler/>
<follower/></sbot></world>'''
    lab = Simulation(read_text(text, "w.xml"), worlds=2, compiled=compiled)
    message = (rf"w\.xml:3: the sensor 'feeler' \(<feeler>\) of 'a' read {value} for robot 2, and the controller of 'a' "
               r"ordered a wheel speed that is not a number, for robot 2\.$")
    with pytest.raises(WorldError, match=message):
        lab.step()
    assert (lab.state.step[1], lab._compiled is not None) == (0, compiled)


@pytest.mark.parametrize("compiled", [True, False])
def test_an_array_of_the_state_that_is_replaced_is_seen_by_all_stages_that_hold_it(own_registry, compiled):
    """Whichever array it is: which ones a program holds is found in its stages."""
    @kernel()
    def shine_world(w, leds, reading):
        for i in range(reading.shape[1]):
            reading[w, i, 0] = leds[w, i, 0, 0]

    @element("shine", role="sensor")
    @dataclass(frozen=True)
    class Shine:
        """The red of its own first light."""

        name: str = elements.name("shine")

        def read(self, scene):
            return scene.state.leds[:, scene.robots, 0, :1] * 1.0

        def stages(self, scene):
            reading = np.zeros((scene.state.worlds, scene.group.count, 1))
            return reading, [Stage(shine_world, (scene.state.leds[:, scene.robots], reading))]

    @kernel()
    def glide_world(w, reading, wheels):
        for i in range(wheels.shape[1]):
            wheels[w, i, 0] = wheels[w, i, 1] = 1e-4 * reading[w, i, 0]

    @element("glider", role="controller")
    @dataclass(frozen=True)
    class Glider:
        """Drives as fast as it shines."""

        def decide(self, view):
            return np.repeat(1e-4 * view.reading("shine"), 2, axis=-1)

        def stages(self, view, wheels):
            return [Stage(glide_world, (view.reading("shine"), wheels))]

    text = '<world><arena width="3" depth="3"/><sbot name="a"><at x="0" y="0"/><shine/><glider/></sbot></world>'
    lab = Simulation(read_text(text, "w.xml"), compiled=compiled)
    lab.step()
    lab.state.leds = np.full_like(lab.state.leds, 100)
    lab.look_again()
    lab.step()
    assert lab.state.drive[0, 0, 0] == pytest.approx(0.01)


@kernel(inner=True)
def halved(x):
    return x / 2


@kernel()
def fussy_world(w, speed, wheels):
    if halved(speed) > 0.0 and w == 1:
        raise ValueError("not world 1")


def test_an_exception_in_a_kernel_that_python_cannot_call_is_told_with_its_place():
    program = Program([Stage(fussy_world, (0.1, np.zeros((3, 5, 2))))], 3)
    assert program.run(0, 1)
    with pytest.raises(FormigaError, match=r"test_compiled.py:\d+: the kernel fussy_world raised an exception in world 1\.$"):
        program.run(0, 3)


# -- programs ---------------------------------------------------------------------------------------------------------
@kernel()
def add_world(w, amount, total):
    total[w] += amount


@kernel()
def until_world(w, most, total):
    return ENDED if total[w] >= most[w] else GO_ON


def test_a_program_runs_its_stages_in_order_until_a_world_ends():
    total, most = np.zeros(200), np.arange(200.0)
    program = Program([Stage(until_world, (most, total), decides=True), Stage(add_world, (2.0, total)),
                       Stage(add_world, (-1.0, total))], 200)
    assert program.run(0, 200, 150)
    assert np.array_equal(total, np.minimum(most, 150)) and program.stopped[0] == ENDED and program.stopped[-1] == GO_ON
    assert program.run(10, 11, 5) and total[10] == 10.0


def test_an_argument_that_no_stage_can_take_is_refused():
    with pytest.raises(FormigaError, match=r"test_compiled.py:\d+: the kernel add_world cannot take 'two'"):
        Program([Stage(add_world, ("two", np.zeros(3)))], 3)


@kernel()
def picky_world(w, total):
    if w == 2:
        raise ValueError("not this one")
    total[w] = 1.0


def test_a_kernel_of_the_users_own_that_raises_is_heard():
    program = Program([Stage(picky_world, (np.zeros(5),))], 5)
    with pytest.raises(ValueError, match="not this one") as raised:
        program.run(0, 5, 3)
    assert raised.traceback[-1].path.name == "test_compiled.py"


@pytest.mark.parametrize(("stage", "message"), [
    (lambda: Stage(add_world, (1.0,)),
     r"the kernel add_world takes \(w, amount, total\), the number of the world first; its stage gives 1 more, not 2"),
    (lambda: Stage(lambda w: None, ()), "a stage is a function with @kernel")])
def test_what_is_no_stage_is_refused_in_one_sentence(stage, message):
    with pytest.raises(FormigaError, match=message) as raised:
        Program([stage()], 3)
    assert "\n" not in str(raised.value)
