"""A run goes on in an edited world: what is untouched goes on to the last bit, and the run it came from stays as it was."""

from dataclasses import replace

import numpy as np
import pytest

from formiga import control  # noqa: F401  it registers its elements
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.world.model import Contact, Cylinder, Lamp, Wall
from formiga.world.reader import read_text
from tests.reference.lab import same_state

EVERYTHING = """<world name="w" dt="0.1"><arena width="1.2" depth="1.0"/><lamp x="0.4" y="0.1"/>
<cylinder x="0.1" y="0.3" radius="6cm"/><cylinders count="2" radius="3cm" seed="4"/>
<sbot count="4" profile="draft" name="swarm"><scatter/><proximity/><odometry/><light noise="0.1"/>
<ctrnn hidden="3" inputs="proximity light"/></sbot>
<disc count="3" name="rovers" radius="4cm" wheel_base="6cm" top_speed="10cm/s" position_noise="0.1"><scatter/>
<odometry ticks="64"/><random_walk/></disc></world>"""
GENES = 3 * (2 + 15 + 8 + 3) + 2 * (1 + 3)


def begin(steps=30, world=None, seed=7, **more):
    """A run with everything that remembers or is random in it, so many steps on its way."""
    genes = np.random.default_rng(3).uniform(-1, 1, GENES)
    run = Simulation(world or read_text(EVERYTHING), seed, genotypes={"swarm": genes}, **more)
    for _ in range(steps):
        run.step()
    return run


def edit(run, world=None, kept=None, position=None, heading=None):
    """The run in another world; newcomers stand at the origin unless somebody says otherwise."""
    world = world or run.world
    kept = np.arange(world.robots) if kept is None else np.array(kept, int)
    if position is None:
        position = np.where(kept[:, None] >= 0, run.state.position[0, kept], 0.0)
    if heading is None:
        heading = np.where(kept >= 0, run.state.heading[0, kept], 0.0)
    return run.edited(world, position, heading, kept)


def with_thing(world, old, new):
    return replace(world, things=tuple(new if isinstance(thing, old) else thing for thing in world.things))


def with_group(world, number, **changes):
    """Another description of a group; scattered, because <at> has to be as many as robots."""
    groups = list(world.groups)
    groups[number] = replace(groups[number], **changes)
    return replace(world, groups=tuple(groups))


def memories(run):
    return {key: (memory.copy(), run.state.forgotten[key].copy()) for key, memory in run.state.memory.items()}


def same_memories(one, other):
    return one.keys() == other.keys() and all(np.array_equal(a, b) for key in one for a, b in zip(one[key], other[key]))


# -- nothing changes ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("steps", [0, 1, 30])
@pytest.mark.parametrize("looked", [False, True])
def test_an_edit_that_changes_nothing_changes_no_bit(steps, looked):
    plain, run = begin(steps), begin(steps)
    if looked:
        run.readings  # noqa: B018
    run = edit(run, read_text(EVERYTHING))
    for _ in range(40):
        plain.step()
        run.step()
    assert same_state(plain.state, run.state) == [] and plain.state.unresolved == run.state.unresolved
    assert same_memories(memories(plain), memories(run))
    for group, sensors in plain.readings.items():
        for name, reading in sensors.items():
            assert np.array_equal(reading, run.readings[group][name]), (group, name)


def test_the_run_it_came_from_goes_on_as_if_nothing_had_been():
    plain, run = begin(), begin()
    other = edit(run, with_thing(run.world, Lamp, Lamp(0.0, 0.0, on=False)))
    for _ in range(20):
        other.step()
    other.state.position[...], other.state.memory["swarm/odometry", "pose"][...] = 9.0, 9.0
    other.state.genotypes["swarm"][...] = 0.0
    for _ in range(20):
        plain.step()
        run.step()
    assert same_state(plain.state, run.state) == [] and same_memories(memories(plain), memories(run))


def test_an_edit_that_fails_has_changed_nothing():
    plain, run = begin(), begin()
    crowded = with_thing(run.world, Cylinder, Cylinder(0.1, 0.3, 0.06))
    crowded = replace(crowded, things=tuple(replace(thing, count=9999) if hasattr(thing, "seed") else thing
                                            for thing in crowded.things))
    with pytest.raises(WorldError, match="do not fit"):
        edit(run, crowded)
    for _ in range(5):
        plain.step()
        run.step()
    assert same_state(plain.state, run.state) == [] and same_memories(memories(plain), memories(run))


def test_a_reset_after_an_edit_is_a_run_of_the_edited_world_from_its_start():
    run = begin(first_world=5)
    world = with_thing(run.world, Lamp, Lamp(-0.4, 0.1))
    run = edit(run, world, position=np.zeros((7, 2)))
    run.reset()
    fresh = begin(20, world, first_world=5)
    for _ in range(20):
        run.step()
    assert same_state(run.state, fresh.state) == [] and same_memories(memories(run), memories(fresh))


# -- robots come, go and are moved ----------------------------------------------------------------------------------------
def test_a_robot_that_is_removed_leaves_the_others_as_they_are():
    run = begin()
    run.state.crashes[0] = np.arange(7) * 10
    before, pose = run.state, run.readings["swarm"]["odometry"].copy()
    kept = [0, 2, 3, 4, 5, 6]
    after = edit(run, with_group(run.world, 0, count=3), kept)
    for name in ("position", "heading", "drive", "wheel_angle", "leds", "crashed", "crashes", "alive"):
        assert np.array_equal(getattr(after.state, name), getattr(before, name)[:, kept]), name
    assert after.state.step == before.step == 30 and after.state.key == before.key
    assert np.array_equal(after.state.memory["swarm/<controller>", "neurons"],
                          before.memory["swarm/<controller>", "neurons"][:, [0, 2, 3]])
    assert np.array_equal(after.readings["swarm"]["odometry"], pose[:, [0, 2, 3]])
    after.step()


def test_a_newcomer_begins_and_the_others_go_on():
    run = begin()
    pose = run.readings["swarm"]["odometry"].copy()
    place = np.vstack([run.state.position[0, :1], [[0.5, 0.4]], run.state.position[0, 1:]])
    after = edit(run, with_group(run.world, 0, count=5), [0, -1, 1, 2, 3, 4, 5, 6], position=place)
    seen = after.readings["swarm"]["odometry"]
    assert seen[0, 1].tolist() == [0.5, 0.4, 0.0]                       # it knows where it begins
    assert np.array_equal(seen[0, [0, 2, 3, 4]], pose[0])
    neurons = after.state.memory["swarm/<controller>", "neurons"]
    after.step()
    assert not after.state.forgotten["swarm/<controller>", "neurons"].any()
    assert after.state.memory["swarm/<controller>", "neurons"] is neurons and neurons.shape == (1, 5, 3)
    assert after.state.crashes[0, 1] <= 1 and after.state.alive[0, 1]
    fresh = begin(1, with_group(run.world, 0, count=5), start=(place[None], np.zeros((1, 8))))
    assert np.abs(neurons[0, 1]).max() < 0.3 * np.abs(neurons[0, [0, 2]]).max()  # one step away from nothing
    assert neurons.shape == fresh.state.memory["swarm/<controller>", "neurons"].shape


def test_a_robot_that_is_moved_is_not_told_so():
    """Odometry goes on reckoning from where it believed to be: a kidnapped robot."""
    run = begin()
    pose, position = run.readings["rovers"]["odometry"].copy(), run.state.position[0].copy()
    position[5] = (-0.5, -0.4)
    after = edit(run, position=position, heading=run.state.heading[0] + 1.0)
    assert np.array_equal(after.readings["rovers"]["odometry"], pose)
    assert after.state.position[0, 5].tolist() == [-0.5, -0.4]
    assert np.array_equal(after.state.heading, run.state.heading + 1.0)


def test_a_whole_group_may_come_and_go():
    run = begin()
    swarm, rovers = run.world.groups
    without = edit(run, replace(run.world, groups=(rovers,)), [4, 5, 6])
    assert "swarm" not in without.state.genotypes and {key[0] for key in without.state.memory} == {"rovers/odometry"}
    without.step()
    again = without.edited(replace(run.world, groups=(rovers, replace(swarm, name="guests", controller=None))),
                           np.vstack([without.state.position[0], np.full((4, 2), 5.0)]), np.zeros(7), [0, 1, 2, -1, -1, -1, -1])
    again.step()
    assert again.state.step == 32 and again.state.leds.shape == (1, 7, 8, 3)
    assert edit(run, replace(run.world, groups=()), []).state.position.shape == (1, 0, 2)


def test_a_robot_that_changes_its_group_keeps_its_body_and_loses_its_mind():
    run = begin()
    world = with_group(with_group(run.world, 0, count=3), 1, count=4)
    after = edit(run, world, [0, 1, 2, 3, 4, 5, 6])  # the last of the swarm is now the first rover
    assert np.array_equal(after.state.wheel_angle, run.state.wheel_angle)
    assert after.state.forgotten["rovers/odometry", "pose"].tolist() == [[True, False, False, False]]
    after.step()


def test_lights_of_robots_with_more_or_fewer_of_them_go_on():
    run = begin()
    run.state.leds[...] = np.arange(7 * 8 * 3).reshape(7, 8, 3)
    few = edit(run, with_group(run.world, 0, robot=replace(run.world.groups[0].robot, leds=2)))
    assert np.array_equal(few.state.leds, run.state.leds[:, :, :2])
    many = edit(few, run.world)
    assert np.array_equal(many.state.leds[:, :, :2], run.state.leds[:, :, :2]) and not many.state.leds[:, :, 2:].any()


def test_the_dead_stay_dead_and_an_ended_world_stays_ended():
    run = begin(world=replace(read_text(EVERYTHING), contact=Contact(crash_limit=5, at_limit="die")))
    run.state.alive[0, 2], run.state.done[0] = False, True
    after = edit(run)
    after.step()
    assert not after.state.alive[0, 2] and after.state.done[0] and after.state.step == run.state.step


# -- the world changes ------------------------------------------------------------------------------------------------------
def test_a_lamp_that_is_switched_off_is_dark_at_once():
    run = begin()
    assert run.readings["swarm"]["light"].any()
    after = edit(run, with_thing(run.world, Lamp, Lamp(0.4, 0.1, on=False)))
    assert not after.readings["swarm"]["light"].any() and run.readings["swarm"]["light"].any()
    on = edit(after, run.world)
    assert np.array_equal(on.readings["swarm"]["light"], run.readings["swarm"]["light"])


def test_an_obstacle_that_is_put_upon_a_robot_pushes_it_out():
    run = begin()
    x, y = run.state.position[0, 0]
    after = edit(run, with_thing(run.world, Cylinder, Cylinder(float(x) + 0.01, float(y), 0.06)))
    after.step()
    distance = np.hypot(*(after.state.position[0, 0] - (x + 0.01, y)))
    assert after.state.crashed[0, 0] and distance > 0.06 + run.world.groups[0].robot.radius


def test_a_controller_with_another_parameter_begins_anew_and_its_neighbours_do_not():
    run = begin()
    world = with_group(run.world, 0, controller=replace(run.world.groups[0].controller, span=4.0))
    after = edit(run, world)
    assert ("swarm/<controller>", "neurons") not in after.state.memory
    assert np.array_equal(after.state.memory["swarm/odometry", "pose"], run.state.memory["swarm/odometry", "pose"])
    assert np.array_equal(after.state.genotypes["swarm"], run.state.genotypes["swarm"])  # still a ctrnn
    after.step()
    walking = with_group(run.world, 0, controller=run.world.groups[1].controller)
    assert not edit(run, walking).state.genotypes


def test_a_sensor_with_another_parameter_begins_anew():
    run = begin()
    (odometry,) = run.world.groups[0].estimators
    after = edit(run, with_group(run.world, 0, estimators=(replace(odometry, ticks=32),)))
    assert np.array_equal(after.readings["swarm"]["odometry"][..., :2], run.state.position[:, :4])
    assert np.array_equal(after.readings["rovers"]["odometry"], run.readings["rovers"]["odometry"])


def test_memory_that_is_to_have_another_shape_begins_anew(own):
    """A controller that remembers its last readings, and whose sensor gets more beams."""
    seen = []

    def decide(view):
        last = view.memory("last", np.zeros_like(view.reading("scanner")))
        seen.append(last.copy())
        last[...] = view.reading("scanner")
        return np.zeros((*view.shape, 2))

    text = '<world><sbot><at x="0" y="0"/><scanner beams="{}"/></sbot></world>'
    world = with_group(read_text(text.format(3)), 0, controller=own("controller", decide=decide))
    run = Simulation(replace(world, things=(Wall((0.5, -1.0, 0.5, 1.0)),)))
    run.step()
    run.step()
    assert seen[1].any()
    sensors = read_text(text.format(5)).groups[0].sensors
    run = edit(run, with_group(run.world, 0, sensors=sensors))
    run.step()
    assert seen[2].shape == (1, 1, 5) and not seen[2].any()


def test_memory_of_the_whole_world_goes_on_whoever_comes(own):
    def decide(view):
        count = view.memory("count", np.zeros(1))
        count += 1
        return np.full((*view.shape, 2), count[0] / 1000.0)

    world = read_text('<world><arena width="1" depth="1"/><sbot count="2"/></world>')
    world = with_group(world, 0, controller=own("controller", decide=decide))
    run = Simulation(world)
    for _ in range(3):
        run.step()
    run = edit(run, with_group(world, 0, count=3), [0, 1, -1])
    run.step()
    assert run.state.drive[0, :, 0].tolist() == [0.004] * 3
    run.reset()
    run.step()
    assert run.state.drive[0, :, 0].tolist() == [0.001] * 3


# -- what cannot be -----------------------------------------------------------------------------------------------------------
def test_a_batch_cannot_be_edited():
    run = Simulation(read_text(EVERYTHING), worlds=3)
    with pytest.raises(WorldError, match="only a single world can be edited while it runs; these are 3"):
        run.edited(run.world, run.state.position[0], run.state.heading[0], np.arange(7))


def test_the_control_period_cannot_change_under_a_clock_that_counts_in_it():
    run = begin()
    with pytest.raises(WorldError, match=r"the control period cannot change from 0\.1 s to 0\.2 s while the world runs"):
        edit(run, replace(run.world, dt=0.2))
    assert edit(begin(0), replace(run.world, dt=0.2)).model.dt == 0.2


@pytest.mark.parametrize("change, message", [
    ({"kept": np.arange(6)}, r"kept must be whole numbers \(7,\)"),
    ({"kept": np.arange(7.0)}, r"kept must be whole numbers \(7,\)"),
    ({"kept": [0, 1, 2, 3, 4, 5, 7]}, "numbers from 0 to 6"),
    ({"kept": [0, 1, 2, 3, 4, 5, -2]}, "or -1"),
    ({"kept": [0, 1, 2, 3, 4, 5, 5]}, "each once"),
    ({"position": np.zeros((6, 2))}, r"positions \(1, 7, 2\) and headings \(1, 7\), not \(1, 6, 2\)"),
    ({"heading": np.zeros((7, 1))}, r"headings \(1, 7\), not"),
    ({"heading": np.full(7, np.nan)}, "finite numbers only"),
    ({"position": np.full((7, 2), np.inf)}, "finite numbers only"),
])
def test_robots_that_do_not_fit_the_new_world_are_refused(change, message):
    run = begin(1)
    given = {"position": run.state.position[0], "heading": run.state.heading[0], "kept": np.arange(7), **change}
    with pytest.raises(WorldError, match=message):
        run.edited(run.world, **given)


# -- a start that somebody gives -----------------------------------------------------------------------------------------------
def test_a_start_replaces_the_placement_and_nothing_else():
    world = read_text(EVERYTHING)
    placed = Simulation(world, 3, 2)
    position, heading = placed.state.position.copy(), placed.state.heading.copy()
    again = Simulation(world, 3, 2, start=(position, heading))
    assert same_state(placed.state, again.state) == [] and not np.shares_memory(position, again.state.position)
    elsewhere = Simulation(world, 3, 2, start=(position[::-1], heading + 1.0))
    assert np.array_equal(elsewhere.state.position, position[::-1]) and np.array_equal(elsewhere.state.key, placed.state.key)
    copies = Simulation(world, 3, 1, copies=2, start=(position, heading))
    assert np.array_equal(copies.state.position, position) and len(np.unique(copies.state.key)) == 1
    with pytest.raises(WorldError, match=r"positions \(2, 7, 2\)"):
        Simulation(world, 3, 2, start=(position[0], heading[0]))


PUSHED = """<world name="p" dt="0.025"><contact model="impulse"/><arena width="2" depth="2"/>
<ball x="0.5" y="0.5" vx="0.2"/><puck x="-0.5" y="0" radius="5cm"/><puck x="-0.5" y="0.3" radius="5cm" name="other"/>
<disc name="pair" radius="5cm" wheel_base="8cm" top_speed="0.5">
<at x="0" y="0" heading="0"/><at x="0" y="0.2" heading="0"/></disc>
<weld one="pair.0" other="pair.1"/><pin one="puck" other="other" x="-0.5" y="0.15"/></world>"""


def test_loose_things_and_joints_go_on_where_they_are_when_something_else_is_edited():
    run = Simulation(read_text(PUSHED))
    for _ in range(40):
        run.step({"pair": np.full((1, 2, 2), 0.3)})
    world = replace(run.world, things=(*run.world.things, Lamp(0.0, 0.9)))
    new = edit(run, world)
    assert (new.state.movables == run.state.movables).all() and (new.state.own.couplings == run.state.own.couplings).all()
    for _ in range(40):
        run.step({"pair": np.full((1, 2, 2), 0.3)})
        new.step({"pair": np.full((1, 2, 2), 0.3)})
    assert (new.state.position == run.state.position).all() and (new.state.movables == run.state.movables).all()


def test_a_ball_that_becomes_heavier_stays_where_it_is_and_one_that_is_put_elsewhere_goes_there():
    run = Simulation(read_text(PUSHED))
    for _ in range(20):
        run.step()
    ball, others = run.world.things[1], (run.world.things[0], *run.world.things[2:])
    assert (edit(run, replace(run.world, things=(replace(ball, mass=1.0), *others))).state.movables[0, 0]
            == run.state.movables[0, 0]).all()
    moved = edit(run, replace(run.world, things=(replace(ball, x=0.1), *others)))
    assert moved.state.movables[0, 0, :2].tolist() == [0.1, 0.5]


def test_a_robot_on_another_drive_starts_with_wheels_at_rest():
    """A rim speed is no steering angle, and odometry does not go on from the angles of other wheels."""
    run = Simulation("omni")
    for _ in range(10):
        run.step()
    assert run.state.drive.any() and run.state.wheel_angle.any()
    car = Simulation("car").world.groups[0].robot
    new = edit(run, with_group(run.world, 0, robot=car))
    assert new.state.drive.shape == (1, 1, 2) and not new.state.drive.any() and not new.state.wheel_angle.any()
    assert np.array_equal(new.readings["rover"]["odometry"][0, 0], [*new.state.position[0, 0], new.state.heading[0, 0]])
    same = edit(run, with_group(run.world, 0, robot=replace(run.world.groups[0].robot, top_speed=0.3)))
    assert np.array_equal(same.state.drive, run.state.drive) and np.array_equal(same.state.wheel_angle, run.state.wheel_angle)
