"""Time: play, pause, step, speed, reset, seed. Clocks are made by hand, so nothing here depends on a fast machine."""

from math import inf

import numpy as np
import pytest

import formiga
from formiga.loop import Simulation
from formiga.session.pace import IDLE, Pace
from tests.reference.lab import same_state
from tests.session.desk import Desk


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
    return session._advance()


# -- the same bits ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["corral", "mixed", "packed", "phototaxis", "line"])
def test_an_untouched_session_is_the_run_that_simulate_gives(name):
    desk = Desk(name, seed=7)
    desk.steps(30)
    plain = formiga.simulate(name, 30 * desk.session.world.dt, seed=7)
    assert not same_state(desk.session.sim.state, plain.state)


def test_looking_at_everything_changes_no_bit(desk, world):
    desk.run("overlay beams on; overlay links on; overlay shifts on; overlay trails on; select 0")
    plain = Simulation(world)
    for _ in range(15):
        desk.steps(1)
        desk.session.frame()
        desk.run("info swarm.1; get rovers.0.odometry; list")
        plain.step()
    assert not same_state(desk.session.sim.state, plain.state)


@pytest.mark.parametrize("line, seed", [("reset", 3), ("seed 8", 8)])
def test_after_a_reset_it_is_a_run_of_that_seed_whatever_was_done_before(world, line, seed):
    desk = Desk(world, seed=3)
    desk.run("step 5; drive 0 1 -1; disable swarm.1; move swarm.2 -1.3 0.7; step 5")
    desk.run(line)
    assert desk.session.seed == seed and desk.session.time == 0.0 and not desk.session.touched
    desk.steps(20)
    plain = Simulation(world, seed)
    for _ in range(20):
        plain.step()
    assert not same_state(desk.session.sim.state, plain.state)


def test_a_new_seed_is_another_one_and_is_said(desk):
    said = {desk.run("seed new") for _ in range(3)}
    assert len(said) == 3 and said.pop().startswith("seed ")
    assert desk.run("seed") == str(desk.session.seed)


def test_a_reset_that_cannot_be_placed_changes_nothing(world_file):
    desk = Desk(world_file(""" <arena width="0.5" depth="0.5"/>
                              <sbot count="2" name="swarm"><grid spacing="0.2" columns="1"/></sbot>"""))
    desk.run("move 0 -0.15 0.15; move 1 -0.15 -0.15; spawn swarm 0.15 0.15; step 2")
    assert "robot 0 of 'swarm' at (0, -0.2) stands in a wall" in desk.refused("reset")


# -- play, pause, step ------------------------------------------------------------------------------------------------
def test_pause_holds_time_and_step_takes_exactly_so_many(desk):
    session = desk.session
    session.pace.clock = Clock()
    desk.run("play")
    desk.run("pause")
    session.pace.clock.now += 100.0
    turn(session)
    assert session.time == 0.0 and not session.playing
    desk.run("step")
    assert session.sim.state.step[0] == 1
    desk.run("step 12")
    assert session.sim.state.step[0] == 13
    desk.run("pause")
    assert session.playing
    desk.run("pause off; pause on")
    assert not session.playing
    desk.run("play; step")
    assert not session.playing  # a step is taken in a pause


def test_a_world_that_ended_says_so_and_pauses(world_file):
    desk = Desk(world_file("""<arena width="0.4" depth="0.4"/><contact crash_limit="1"/>
                              <sbot name="car"><at x="0" y="0" heading="0"/></sbot>"""))
    desk.run("drive car 1 1; step 100")
    assert desk.session.sim.state.done[0] and desk.session.failed and desk.session.time < 10.0
    desk.said.clear()
    desk.session.step()
    assert "somebody is over the crash limit. `reset` starts again." in desk.said[0][1]
    desk.run("reset; step")
    assert not desk.session.failed


# -- driving ----------------------------------------------------------------------------------------------------------
def test_a_driven_robot_does_as_it_is_told_and_the_others_as_they_like(desk, world):
    desk.run("drive swarm.1 0.5 -0.25; drive car 1 1")
    desk.steps(1)
    plain = Simulation(world)
    top = world.group("swarm").robot.top_speed
    nan = np.full((1, 4, 2), np.nan)
    nan[0, 1] = 0.5 * top, -0.25 * top
    plain.step({"swarm": nan, "car": np.full((1, 1, 2), top)})
    assert not same_state(desk.session.sim.state, plain.state)
    assert desk.run("get swarm.1.driven") == "true" and desk.run("get swarm.0.driven") == "false"


def test_wheels_that_are_given_back_are_the_controllers_again(desk):
    desk.run("drive swarm.1 0 0; step 3")
    assert not desk.session.sim.state.drive[0, 1].any()
    desk.run("drive swarm.1 off; step 3")
    assert desk.session.sim.state.drive[0, 1].any() and not desk.session.drives


def test_a_driven_robot_keeps_being_driven_under_its_new_number_and_no_other_is(desk):
    desk.run("drive car 1 1; remove swarm.0 rovers.1")
    assert desk.session.drives == {4: (1.0, 1.0)} and desk.run("get car.0.driven") == "true"
    desk.run("remove car")
    assert not desk.session.drives


# -- pace -------------------------------------------------------------------------------------------------------------
def played(desk, speed, seconds, tick=1e-5):
    """The simulated seconds that are played in so many on the clock; it looks around as often as it would."""
    session, clock = desk.session, Clock(tick)
    session.pace.clock = clock
    desk.run(f"speed {speed}; play")
    end = clock.now + seconds
    while clock.now < end:
        if not turn(session):
            clock.now += session._nap()
    return session.time


@pytest.mark.parametrize("speed", [0.1, 0.5, 1, 3, 20])
def test_simulated_time_keeps_pace_with_the_clock(world, speed):
    """As far as the clock allows: it stands still during a step, but for its tick."""
    desk = Desk(world)
    assert played(desk, speed, 4.0) == pytest.approx(4.0 * speed, abs=0.1 + 0.02 * speed)
    assert desk.session.factor == pytest.approx(speed, rel=0.2, abs=0.06)


def test_slow_motion_shows_poses_on_the_way_between_two_steps(desk):
    session, clock = desk.session, Clock()
    session.pace.clock = clock
    desk.run("drive car 1 1; speed 0.1; play")
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


def test_as_fast_as_it_goes_is_limited_by_the_clock_alone(desk):
    session = desk.session
    session.pace.clock = Clock(tick=0.001)
    desk.run("speed max; play")
    assert turn(session) and session.time > 0.0  # there is more to do, and somebody else has a turn first
    assert desk.run("speed") == "max" and desk.run("get speed") == "max"


def test_a_machine_that_is_too_slow_goes_on_from_where_it_is_and_says_how_fast_it_was(desk):
    """Each step costs 20 ms here, so 5 times real time is all there is; the tenfold was asked for."""
    session, clock = desk.session, Clock()
    session.pace.clock = clock
    step = session.sim.step

    def slow(orders):
        clock.now += 0.02
        step(orders)

    session.sim.step = slow
    desk.run("speed 10; play")
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


def test_time_that_was_spent_in_a_pause_is_not_made_up_for(desk):
    session, clock = desk.session, Clock()
    session.pace.clock = clock
    desk.run("play; pause on")
    clock.now += 60.0
    desk.run("play")
    turn(session)
    assert session.time == 0.0


def test_naps_end_when_something_is_due():
    clock = Clock()
    pace = Pace(clock)
    pace.restart(0.0)
    assert pace.until(0.05) == pytest.approx(0.05) and pace.until(10.0) == IDLE and pace.until(-1.0) == 0.0
    pace.speed = inf
    assert pace.until(10.0) == 0.0 and pace.due() == inf


def test_the_factor_is_nothing_while_it_is_paused(desk):
    played(desk, 2, 2.0)
    assert desk.session.factor > 1.0
    desk.run("pause on")
    assert desk.session.factor == 0.0


# -- the rest ---------------------------------------------------------------------------------------------------------
def test_bench_says_how_fast_a_copy_runs_and_leaves_this_one_alone(desk):
    desk.steps(3)
    before = desk.session.poses()
    assert "robot-steps/s" in desk.run("bench 0.1")
    assert desk.session.time == pytest.approx(0.3) and np.array_equal(before[0], desk.session.poses()[0])


def test_quit_ends_the_loop(desk):
    desk.session.post(lambda: desk.session.console.run("quit"))
    desk.session.run()
    assert desk.session.ended


def test_waits_are_in_simulated_time(desk):
    desk.run("wait 0.3; disable left")
    desk.steps(2)
    assert desk.session.world.things[1].on
    desk.steps(1)
    assert not desk.session.world.things[1].on


def test_a_wait_goes_on_after_a_reset_from_where_it_was(desk):
    desk.run("wait 0.5; disable left")
    desk.steps(3)
    desk.run("reset")
    desk.steps(1)
    assert desk.session.world.things[1].on
    desk.steps(1)
    assert not desk.session.world.things[1].on


def test_keys_drive_a_robot(desk):
    """Binds and aliases, and not a line of Python."""
    desk.run("alias +go 'drive car 1 1'; alias -go 'drive car 0 0'; bind w +go")
    console = desk.session.console
    console.press("w")
    assert desk.session.drives == {6: (1.0, 1.0)}
    desk.steps(5)
    gone = desk.session.poses()[0][6]
    assert np.hypot(*(gone - (-1.0, -0.7))) == pytest.approx(0.5 * desk.session.world.group("car").robot.top_speed)
    console.release("w")
    desk.steps(5)
    assert desk.session.drives == {6: (0.0, 0.0)} and np.array_equal(desk.session.poses()[0][6], gone)
