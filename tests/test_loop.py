"""The step itself: everybody looks before anybody moves; a run is a whole number of steps."""

import numpy as np
import pytest

from formiga import control
from formiga.control.sequence import Sequence
from formiga.errors import WorldError
from formiga.estimate.odometry import Odometry
from formiga.loop import Simulation
from formiga.runs import simulate
from formiga.sense.scanner import Scanner
from formiga.world.model import Arena, Contact, Group, Wall, World
from formiga.world.placement import At
from formiga.world.robots import Disc, SBot
from tests.reference.lab import bench, same_state


def world(limit=0, controller=None, **more):
    """An s-bot that drives at a wall 1 m ahead and looks at it."""
    robot = Group(SBot(), 1, "a", (At(0.0, 0.0, 0.0),), (Scanner(1, mount=0.058),), controller or Sequence((1e3, 0.08, 0.08)))
    return World(contact=Contact(crash_limit=limit), things=(Wall((1.0, -1.0, 1.0, 1.0)),), groups=(robot,), **more)


def test_readings_belong_to_the_state_as_it_is():
    simulation = Simulation(world())
    for k in range(50):
        distance = simulation.readings["a"]["scanner"][0, 0, 0]
        assert distance == pytest.approx(1.0 - 0.058 - simulation.state.position[0, 0, 0], abs=1e-12)
        assert distance == pytest.approx(0.942 - 0.008 * k, abs=1e-9)
        simulation.step()


def test_everybody_looks_before_anybody_moves(own):
    """Two groups that swap what they see: each sees the other where it was at the start of the step."""
    seen = {}

    def watch(view):
        seen.setdefault(view.group.name, []).append(view.reading("scanner")[0, 0, 0])
        return np.full((1, 1, 2), 0.05)

    groups = tuple(Group(SBot(), 1, name, (At(x, 0.0, heading),), (Scanner(1, mount=0.058),), own("controller", decide=watch))
                   for name, x, heading in (("left", 0.0, 0.0), ("right", 1.0, np.pi)))
    simulation = Simulation(World(groups=groups))
    for _ in range(30):
        simulation.step()
    assert seen["left"] == pytest.approx(seen["right"], abs=1e-12)
    assert seen["left"] == pytest.approx([1.0 - 0.116 - 0.01 * k for k in range(30)], abs=1e-9)


def test_readings_are_made_once_a_step(own):
    calls = []

    def read(scene):
        calls.append(1)
        return np.zeros((1, 1))

    simulation = bench(SBot(), [(0, 0, 0)], sensors=[own("sensor", name="eye", read=read)])
    for _ in range(3):
        simulation.readings  # noqa: B018
        simulation.readings  # noqa: B018
        simulation.step()
    assert len(calls) == 3


def test_wheels_from_outside_replace_the_controller_of_that_group_only():
    groups = tuple(Group(SBot(), 1, name, (At(0.0, y, 0.0),), controller=Sequence((1e3, 0.02, 0.02)))
                   for name, y in (("a", 0), ("b", 1)))
    simulation = Simulation(World(groups=groups))
    simulation.step({"a": np.full((1, 1, 2), -0.05)})
    assert list(simulation.state.drive[0, :, 0]) == [-0.05, 0.02]
    simulation.step()
    assert list(simulation.state.drive[0, :, 0]) == [0.02, 0.02]


def test_a_robot_whose_wheels_are_not_a_number_is_left_to_its_controller_or_stands():
    place = (At(0.0, 0.0, 0.0), At(1.0, 0.0, 0.0))
    groups = tuple(Group(SBot(), 2, name, place, controller=controller)
                   for name, controller in (("a", Sequence((1e3, 0.02, 0.03))), ("b", None)))
    simulation = Simulation(World(contact=Contact("none"), groups=groups))
    driven = np.array([[[np.nan, np.nan], [-0.05, 0.01]]])
    simulation.step({"a": driven, "b": driven})
    assert simulation.state.drive[0].tolist() == [[0.02, 0.03], [-0.05, 0.01], [0.0, 0.0], [-0.05, 0.01]]
    assert np.isnan(driven[0, 0]).all()  # what was given stays as it was


def test_wheels_from_outside_leave_the_lights_to_the_controller(own):
    lit = own("controller", decide=lambda view: control.Orders(np.zeros((*view.shape, 2)), leds=(9, 9, 9)))
    simulation = bench(SBot(), [(0, 0, 0)], controller=lit)
    simulation.step({"a": np.full((1, 1, 2), 0.05)})
    assert (simulation.state.leds == 9).all() and (simulation.state.drive == 0.05).all()
    simulation.step({"a": control.Orders(np.full((1, 1, 2), 0.05), leds=(1, 2, 3))})
    assert (simulation.state.leds == (1, 2, 3)).all()


@pytest.mark.parametrize("wheels, message", [
    ({"b": np.zeros((2, 1, 2))}, "there is no group 'b'; there are: a"),
    ({"a": np.zeros((1, 2))}, r"shape \(worlds, robots, 2\) = \(2, 1, 2\), not \(1, 2\)"),
    ({"a": np.zeros((1, 1, 2))}, r"not \(1, 1, 2\)"),
    ({"a": np.full((2, 1, 2), np.inf)}, "^an order of 'a' for the drive of robot 0 is infinite"),
    ({"a": np.full((2, 1, 2), -np.inf)}, "^an order of 'a' for the drive of robot 0 is infinite"),
    (np.zeros((2, 1, 2)), "orders must be a dict of group -> array or Orders, not ndarray"),
    (0.1, "orders must be a dict of group -> array or Orders, not float"),
    ({"a": np.array([[[0.1, 0.1]], [[0.1, np.nan]]])}, "drive of robot 0 are numbers and NaN"),
    ({"a": np.zeros((2, 1, 2)), "c": 0}, "there is no group 'c'"),
])
def test_wheels_from_outside_that_make_no_sense_are_refused_and_nothing_moves(wheels, message):
    simulation = Simulation(world(), worlds=2)
    before = simulation.state.position.copy()
    with pytest.raises(WorldError, match=message):
        simulation.step(wheels)
    assert np.array_equal(simulation.state.position, before) and (simulation.state.step == 0).all()
    simulation.step()
    assert (simulation.state.step == 1).all()


@pytest.mark.parametrize("given", [{"a": np.full((1, 1, 2), np.inf)}, {"a": np.zeros((1, 2))},
                                   {"a": control.Orders(joints=np.zeros((1, 1, 9)))}])
def test_a_step_that_is_refused_leaves_what_controllers_remember_alone(given, own):
    def decide(view):
        view.memory("steps", np.zeros(view.shape))[...] += 1.0
        return np.zeros((*view.shape, 2))

    simulation = Simulation(world(controller=own("controller", decide=decide)))
    for _ in range(3):
        simulation.step()
    with pytest.raises(WorldError):
        simulation.step(given)
    assert simulation.state.memory["a/<controller>", "steps"].tolist() == [[3.0]]


@pytest.mark.parametrize("worlds", [0, -3])
def test_there_is_no_run_without_worlds(worlds):
    for start in (lambda: Simulation(world(), worlds=worlds), lambda: simulate(world(), 1.0, worlds=worlds)):
        with pytest.raises(WorldError, match=f"{worlds} worlds cannot run"):
            start()


@pytest.mark.parametrize("seed", [-1, 2**63, 10**30])
def test_a_seed_out_of_range_is_refused(seed):
    for start in (lambda: Simulation(world(), seed), lambda: simulate(world(), 1.0, seed=seed),
                  lambda: Simulation(world()).reset(seed=seed)):
        with pytest.raises(WorldError, match="seed"):
            start()


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**63 - 1])
def test_every_seed_in_range_runs(seed):
    simulation = Simulation(world(), seed)
    simulation.step()
    assert simulation.state.step.tolist() == [1] and np.isfinite(simulation.state.position).all()


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf"), -float("inf")])
def test_a_time_that_cannot_be_simulated_is_refused(seconds):
    with pytest.raises(WorldError, match="cannot be simulated; the time must be above 0"):
        simulate(world(), seconds)


def test_an_engine_that_does_not_exist_is_refused():
    with pytest.raises(WorldError, match=r"there is no engine 'plannar'\. Did you mean 'planar'"):
        Simulation(world(), engine="plannar")


@pytest.mark.parametrize("mask", [[True, False], [0, 1, 2], [1, 0, 0], [0.5, 1.0, 0.0], "abc", True])
def test_a_mask_that_is_not_a_boolean_for_each_world_is_refused(mask):
    """Numbers could be meant as those of the worlds."""
    simulation = Simulation(world(), worlds=3)
    simulation.step()
    with pytest.raises(WorldError, match=r"a mask of worlds must be booleans of the shape \(3,\)"):
        simulation.reset(mask)
    assert simulation.state.step.tolist() == [1, 1, 1]


@pytest.mark.parametrize("given, message", [
    ({"copies": 0}, "copies: 0 is out of range"), ({"copies": -1}, "copies: -1 is out of range"),
    ({"copies": 1.5}, "copies: 1.5 is not a whole number"), ({"first_world": -1}, "first_world: -1 is out of range"),
    ({"start": 3}, "a start must be two arrays of numbers"),
    ({"start": (np.full((1, 1, 2), "x"), np.zeros((1, 1)))}, "a start must be two arrays of numbers"),
    ({"genotypes": {"a": np.zeros(3)}}, "'a' has <sequence>, which is no network: genotypes would change nothing"),
])
def test_what_a_simulation_cannot_be_started_with_is_refused(given, message):
    with pytest.raises(WorldError, match=message):
        Simulation(world(), **given)


@pytest.mark.parametrize("steps", [-1, 1.5, "two"])
def test_a_number_of_steps_that_is_none_is_refused(steps):
    with pytest.raises(WorldError, match="steps: "):
        Simulation(world()).advance(steps)


@pytest.mark.parametrize("seconds, steps", [(0.1, 1), (0.04, 1), (1.0, 10), (2.34, 23), (2.36, 24), (None, 70)])
def test_a_run_takes_a_whole_number_of_steps(seconds, steps):
    run = simulate(world(seconds=7.0), seconds, worlds=2)
    assert list(run.state.step) == [steps, steps] and run.seconds == pytest.approx(0.1 * steps)
    assert not run.interrupted
    assert run.state.position[0, 0, 0] == pytest.approx(0.008 * steps)


def test_a_run_equals_the_same_steps_by_hand():
    run, simulation = simulate(world(), 4.0, seed=3, worlds=3), Simulation(world(), 3, 3)
    for _ in range(40):
        simulation.step()
    assert same_state(run.state, simulation.state) == []


@pytest.mark.parametrize("after", [1, 2, 5])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_that_is_stopped_keeps_a_whole_number_of_steps(after, threads):
    asked = []
    run = simulate(world(), 1e4, worlds=3, threads=threads, watch=lambda share: asked.append(1) or len(asked) >= after)
    steps = set(run.state.step)
    assert run.interrupted and len(asked) == after and len(steps) == 1
    taken = steps.pop()
    assert after <= taken < 100_000 and run.seconds == pytest.approx(0.1 * taken)
    np.testing.assert_allclose(run.state.wheel_angle, 0.4 * taken)


def test_a_run_that_is_stopped_when_it_is_over_was_not_interrupted():
    assert not simulate(world(), 0.1, watch=lambda share: True).interrupted


def test_a_recorder_sees_the_start_and_every_step():
    seen = []
    run = simulate(world(), 1.0, worlds=3, threads=2, record=lambda shards: seen.append([int(s.state.step[0]) for s in shards]))
    assert seen == [[k, k] for k in range(11)] and run.seconds == pytest.approx(1.0)


def test_progress_ends_at_one_and_never_goes_back():
    shares = []
    simulate(world(), 20.0, watch=shares.append)
    assert shares[-1] == 1.0 and shares == sorted(shares) and shares[0] > 0.0


def test_a_run_whose_worlds_have_all_ended_is_as_long_as_they_were():
    """However many steps were computed in one go: the simulated time is the clock of the last world, on every machine."""
    run = simulate(world(limit=1), 1e4, worlds=2)
    steps = round((1.0 - 0.088) / 0.008) + 1  # after 114 it touches the edge of its clearance, with the next it is inside
    assert run.state.done.all() and set(run.state.step) == {steps}
    assert run.seconds == pytest.approx(0.1 * steps)
    assert run.metrics["simulated_seconds"] == pytest.approx(0.1 * steps)
    assert run.metrics["worlds_ended"] == 2 and run.metrics["crashes"] == 2


def test_the_metrics_add_up():
    run = simulate(world(), 20.0, worlds=3)
    metrics = run.metrics
    assert metrics["robot_steps"] == 600 == run.state.step.sum()
    assert metrics["crashes"] == run.state.crashes.sum() > 0
    assert metrics["contact_rate"] == pytest.approx(metrics["crashes"] / 600)
    assert metrics["simulated_seconds"] == pytest.approx(20.0)
    # the first step may have to compile, so the speeds leave it out
    assert metrics["real_time_factor"] == pytest.approx(19.9 / metrics["elapsed_seconds"])
    assert metrics["robot_steps_per_s"] == pytest.approx(597 / metrics["elapsed_seconds"])


def test_the_states_of_threads_come_back_in_the_order_of_worlds():
    walk = Group(SBot(), 2, "a", (At(0.0, 0.0), At(1.0, 0.0)), estimators=(Odometry(),))
    run = simulate(World(groups=(walk,)), 0.5, seed=5, worlds=6, threads=4)
    assert np.array_equal(run.state.heading, Simulation(World(groups=(walk,)), 5, 6).state.heading)
    assert run.state.memory[("a/odometry", "pose")].shape == (6, 2, 3)


def test_an_error_in_a_controller_reaches_the_caller_from_any_thread(own):
    def decide(view):
        if view.time[0, 0] > 0.35:
            raise RuntimeError("mine")
        return np.zeros((*view.shape, 2))

    for threads in (1, 3):
        with pytest.raises(RuntimeError, match="mine"):
            simulate(world(controller=own("controller", decide=decide)), 5.0, worlds=3, threads=threads)


def test_a_robot_without_a_radius_is_refused_by_name(own):
    with pytest.raises(WorldError, match=r"<own-\d+> of the role 'robot' needs a field or property radius"):
        Simulation(World(groups=(Group(own("robot"), 1, "kite", (At(0.0, 0.0),)),)))


def test_a_degenerate_world_runs():
    """One point of a wall and nothing else; an arena without walls far away; a robot outside of everything."""
    Simulation(World(things=(Wall((0.0, 0.0, 0.0, 0.0)),))).step()
    simulation = bench(Disc(0.05, 0.1, 0.1), [(1e4, -1e4, 0)], (Arena(1.0, 1.0, x=-500.0, walls=False),), "minimal")
    simulation.step({"a": np.full((1, 1, 2), 0.1)})
    assert simulation.state.position[0, 0] == pytest.approx((1e4 + 0.01, -1e4))
