"""Time: play, pause, step, speed, reset, seed. Clocks are made by hand, so nothing here depends on a fast machine."""

from math import inf

import numpy as np
import pytest

import formiga
from formiga.lab import known_worlds
from formiga.loop import Simulation
from formiga.session.pace import IDLE, Pace
from tests.reference.lab import same_state
from tests.session.workspace import Workspace


class Clock:
    """A clock that goes on by a tick whenever somebody looks, and by itself as far as it is told."""

    def __init__(self, tick=0.0):
        self.now, self.tick = 100.0, tick

    def __call__(self):
        self.now += self.tick
        return self.now


def turn(session):
    """What `run` does, once."""
    session.answer()
    return session.steps.advance()


# -- the same bits ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["corral", "mixed", "packed", "phototaxis", "line"])
def test_an_untouched_session_is_the_run_that_simulate_gives(name):
    workspace = Workspace(name, seed=7)
    workspace.steps(30)
    plain = formiga.simulate(name, 30 * workspace.session.world.dt, seed=7)
    assert not same_state(workspace.session.sim.state, plain.state)


def test_looking_at_everything_changes_no_bit(workspace, world):
    workspace.run("overlay beams on; overlay links on; overlay shifts on; overlay trails on; select 0")
    plain = Simulation(world)
    for _ in range(15):
        workspace.steps(1)
        workspace.session.frame()
        workspace.run("info swarm.1; get rovers.0.odometry; list")
        plain.step()
    assert not same_state(workspace.session.sim.state, plain.state)


@pytest.mark.parametrize("line, seed", [("reset", 3), ("seed 8", 8)])
def test_after_a_reset_it_is_a_run_of_that_seed_whatever_was_done_before(world, line, seed):
    workspace = Workspace(world, seed=3)
    workspace.run("step 5; drive 0 1 -1; disable swarm.1; move swarm.2 -1.3 0.7; step 5")
    workspace.run(line)
    assert workspace.session.seed == seed and workspace.session.time == 0.0 and not workspace.session.touched
    workspace.steps(20)
    plain = Simulation(world, seed)
    for _ in range(20):
        plain.step()
    assert not same_state(workspace.session.sim.state, plain.state)


def test_a_new_seed_is_another_one_and_is_said(workspace):
    said = {workspace.run("seed new") for _ in range(3)}
    assert len(said) == 3 and said.pop().startswith("seed ")
    assert workspace.run("seed") == str(workspace.session.seed)


def test_a_reset_that_cannot_be_placed_changes_nothing(world_file):
    workspace = Workspace(world_file(""" <arena width="0.5" depth="0.5"/>
                              <sbot count="2" name="swarm"><grid spacing="0.2" columns="1"/></sbot>"""))
    workspace.run("move 0 -0.15 0.15; move 1 -0.15 -0.15; spawn swarm 0.15 0.15; step 2")
    assert "robot 0 of 'swarm' at (0, -0.2) stands in a wall" in workspace.refused("reset")


# -- play, pause, step ------------------------------------------------------------------------------------------------
def test_pause_holds_time_and_step_takes_exactly_so_many(workspace):
    session = workspace.session
    session.pace.clock = Clock()
    workspace.run("play")
    workspace.run("pause")
    session.pace.clock.now += 100.0
    turn(session)
    assert session.time == 0.0 and not session.playing
    workspace.run("step")
    assert session.sim.state.step[0] == 1
    workspace.run("step 12")
    assert session.sim.state.step[0] == 13
    workspace.run("pause")
    assert session.playing
    workspace.run("pause off; pause on")
    assert not session.playing
    workspace.run("play; step")
    assert not session.playing  # a step is taken in a pause


def test_a_world_that_ended_says_so_and_pauses(world_file):
    workspace = Workspace(world_file("""<arena width="0.4" depth="0.4"/><contact crash_limit="1"/>
                              <sbot name="car"><at x="0" y="0" heading="0"/></sbot>"""))
    workspace.run("drive car 1 1; step 100")
    assert workspace.session.sim.state.done[0] and workspace.session.failed and workspace.session.time < 10.0
    workspace.said.clear()
    workspace.session.step()
    assert "a robot is over the crash limit. `reset` starts again." in workspace.said[0][1]
    workspace.run("reset; step")
    assert not workspace.session.failed


# -- driving ----------------------------------------------------------------------------------------------------------
def test_a_driven_robot_does_as_it_is_told_and_the_others_as_they_like(workspace, world):
    workspace.run("drive swarm.1 0.5 -0.25; drive car 1 1")
    workspace.steps(1)
    plain = Simulation(world)
    top = world.group("swarm").robot.top_speed
    nan = np.full((1, 4, 2), np.nan)
    nan[0, 1] = 0.5 * top, -0.25 * top
    plain.step({"swarm": nan, "car": np.full((1, 1, 2), top)})
    assert not same_state(workspace.session.sim.state, plain.state)
    assert workspace.run("get swarm.1.driven") == "true" and workspace.run("get swarm.0.driven") == "false"


def test_wheels_that_are_given_back_are_the_controllers_again(workspace):
    workspace.run("drive swarm.1 0 0; step 3")
    assert not workspace.session.sim.state.drive[0, 1].any()
    workspace.run("drive swarm.1 off; step 3")
    assert workspace.session.sim.state.drive[0, 1].any() and not workspace.session.manual.drives


def test_a_driven_robot_keeps_being_driven_under_its_new_number_and_no_other_is(workspace):
    workspace.run("drive car 1 1; remove swarm.0 rovers.1")
    assert workspace.session.manual.drives == {4: (1.0, 1.0)} and workspace.run("get car.0.driven") == "true"
    workspace.run("remove car")
    assert not workspace.session.manual.drives


# -- pace -------------------------------------------------------------------------------------------------------------
def played(workspace, speed, seconds, tick=1e-5):
    """The simulated seconds that are played in so many on the clock; it looks around as often as it would."""
    session, clock = workspace.session, Clock(tick)
    session.pace.clock = clock
    workspace.run(f"speed {speed}; play")
    end = clock.now + seconds
    while clock.now < end:
        if not turn(session):
            clock.now += session.steps.idle_time()
    return session.time


@pytest.mark.parametrize("speed", [0.1, 0.5, 1, 3, 20])
def test_simulated_time_keeps_pace_with_the_clock(world, speed):
    """As far as the clock allows: it stands still during a step, but for its tick."""
    workspace = Workspace(world)
    assert played(workspace, speed, 4.0) == pytest.approx(4.0 * speed, abs=0.1 + 0.02 * speed)
    assert workspace.session.factor == pytest.approx(speed, rel=0.2, abs=0.06)


def test_slow_motion_shows_poses_on_the_way_between_two_steps(workspace):
    session, clock = workspace.session, Clock()
    session.pace.clock = clock
    workspace.run("drive car 1 1; speed 0.1; play")
    clock.now += 1.001
    turn(session)
    assert session.sim.state.step[0] == 1
    x = [session.frame().place[6, 0]]
    for _ in range(4):
        clock.now += 0.24
        x.append(session.frame().place[6, 0])
    assert x[0] == pytest.approx(-1.0) and x[-1] < session.frame(exact=True).place[6, 0]
    assert np.diff(x) == pytest.approx(np.diff(x)[0] * np.ones(4), rel=1e-6) and np.diff(x)[0] > 0
    clock.now += 0.1
    assert np.array_equal(session.frame().place, session.frame(exact=True).place)


def test_as_fast_as_it_goes_is_limited_by_the_clock_alone(workspace):
    session = workspace.session
    session.pace.clock = Clock(tick=0.001)
    workspace.run("speed max; play")
    assert turn(session) and session.time > 0.0  # there is more to do, and somebody else has a turn first
    assert workspace.run("speed") == "max" and workspace.run("get speed") == "max"


def test_a_machine_that_is_too_slow_goes_on_from_where_it_is_and_says_how_fast_it_was(workspace):
    """Each step costs 20 ms here, so 5 times real time is all there is; the tenfold was asked for."""
    session, clock = workspace.session, Clock()
    session.pace.clock = clock
    step = session.sim.step

    def slow(orders):
        clock.now += 0.02
        step(orders)

    session.sim.step = slow
    workspace.run("speed 10; play")
    for _ in range(200):
        turn(session)
        clock.now += 0.001
    assert session.factor == pytest.approx(5.0, rel=0.2)
    spent, before = clock.now, session.time
    session.sim.step = step  # fast again: it does not make up for what it lost
    for _ in range(100):
        turn(session)
        clock.now += 0.01
    assert session.time - before < 10.0 * (clock.now - spent) + 10.0 * 0.3


def test_time_that_was_spent_in_a_pause_is_not_made_up_for(workspace):
    session, clock = workspace.session, Clock()
    session.pace.clock = clock
    workspace.run("play; pause on")
    clock.now += 60.0
    workspace.run("play")
    turn(session)
    assert session.time == 0.0


def test_naps_end_when_something_is_due():
    clock = Clock()
    pace = Pace(clock)
    pace.restart(0.0)
    assert pace.until(0.05) == pytest.approx(0.05) and pace.until(10.0) == IDLE and pace.until(-1.0) == 0.0
    pace.speed = inf
    assert pace.until(10.0) == 0.0 and pace.due() == inf


def test_the_factor_is_nothing_while_it_is_paused(workspace):
    played(workspace, 2, 2.0)
    assert workspace.session.factor > 1.0
    workspace.run("pause on")
    assert workspace.session.factor == 0.0


# -- the rest ---------------------------------------------------------------------------------------------------------
def test_bench_says_how_fast_a_copy_runs_and_leaves_this_one_alone(workspace):
    workspace.steps(3)
    before = workspace.session.poses()
    assert "robot-steps/s" in workspace.run("bench 0.1")
    assert workspace.session.time == pytest.approx(0.3) and np.array_equal(before[0], workspace.session.poses()[0])


def test_quit_ends_the_loop(workspace):
    workspace.session.post(lambda: workspace.session.console.run("quit"))
    workspace.session.run()
    assert workspace.session.ended


def test_waits_are_in_simulated_time(workspace):
    workspace.run("wait 0.3; disable left")
    workspace.steps(2)
    assert workspace.session.world.things[1].on
    workspace.steps(1)
    assert not workspace.session.world.things[1].on


def test_a_wait_goes_on_after_a_reset_from_where_it_was(workspace):
    workspace.run("wait 0.5; disable left")
    workspace.steps(3)
    workspace.run("reset")
    workspace.steps(1)
    assert workspace.session.world.things[1].on
    workspace.steps(1)
    assert not workspace.session.world.things[1].on


def test_keys_drive_a_robot(workspace):
    """Binds and aliases, and not a line of Python."""
    workspace.run("alias +go 'drive car 1 1'; alias -go 'drive car 0 0'; bind w +go")
    console = workspace.session.console
    console.press("w")
    assert workspace.session.manual.drives == {6: (1.0, 1.0)}
    workspace.steps(5)
    gone = workspace.session.poses()[0][6]
    assert np.hypot(*(gone - (-1.0, -0.7))) == pytest.approx(0.5 * workspace.session.world.group("car").robot.top_speed)
    console.release("w")
    workspace.steps(5)
    assert workspace.session.manual.drives == {6: (0.0, 0.0)} and np.array_equal(workspace.session.poses()[0][6], gone)


@pytest.mark.parametrize("name", [name for name, file in known_worlds().items() if "<script run=" in file.read_text("utf-8")])
def test_the_script_of_a_named_world_begins_without_an_error(name):
    """In `echo a; b` b is another command, and none. Worlds of studies have no test in a browser."""
    lab = Workspace(name)
    lab.steps(2)
    assert not [words for kind, words in lab.said if kind == "error"]
