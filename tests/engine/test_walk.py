"""Long beams that walk from cell to cell are those that try every wall, bit for bit; and beams from any pose."""

import numpy as np
import pytest

from formiga.engine.beams import Beams, ring
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.sense import SensorView
from formiga.sense.scanner import Scanner
from formiga.world.model import Arena, Contact, Cylinder, Group, Polygon, Rectangle, Wall, World
from formiga.world.placement import At
from formiga.world.robots import Disc
from tests.reference.lab import put


def building(rng, walls=60, robots=30, side=12.0, engine="planar", contact="none", shift=(0.0, 0.0), arena=True):
    """Walls of any length and direction, long, short and along the axes, discs, solids, and robots anywhere."""
    things = [Arena(side, side, *shift, height=0.5)] if arena else []
    for number in range(walls):
        x, y = rng.uniform(-0.6, 0.6, 2) * side + shift
        dx, dy = rng.normal(0.0, rng.choice([0.05, 0.5, 4.0]), 2) * rng.choice([0, 1, 1], 2)
        things.append(Wall((x, y, x + dx + 1e-3, y + dy), height=0.5, name=f"w{number}"))
    for _ in range(walls // 6):
        things.append(Cylinder(*(rng.uniform(-0.5, 0.5, 2) * side + shift), rng.uniform(0.01, 0.8), height=0.5))
        things.append(Rectangle(*(rng.uniform(-0.5, 0.5, 2) * side + shift), *rng.uniform(0.1, 1.5, 2), rng.uniform(-4, 4),
                                height=0.5))
        corners = rng.normal(0.0, 0.4, (5, 2)) + rng.uniform(-0.5, 0.5, 2) * side + shift
        things.append(Polygon(tuple(corners.ravel().tolist()), height=0.5))
    groups = tuple(Group(Disc(radius, 0.1, 0.1), robots, name, tuple(At(0.0, 0.0) for _ in range(robots)))
                   for radius, name in ((0.05, "small"), (0.3, "large")))
    world = World(engine=engine, contact=Contact(contact), things=tuple(things), groups=groups)
    place = rng.uniform(-0.6, 0.6, (2, 2 * robots, 2)) * side + shift
    place[:, 0] += 3.0 * side   # far outside
    return Simulation(world, 3, 2, start=(place, rng.uniform(-10.0, 10.0, (2, 2 * robots))))


def above(simulation):
    """The constants that beams go by, in either engine."""
    return simulation.model.above if simulation.world.engine == "spatial" else simulation.model


def both_ways(simulation, cast):
    """What a cast says when each beam tries everything, and when it walks."""
    found = []
    for walk_from in (np.inf, -1.0):
        above(simulation).walk_from = walk_from
        above(simulation).choices.clear()
        found.append(cast())
    return found


def any_beams(rng, count=15, mount=0.3):
    angle = rng.uniform(0.0, 2.0 * np.pi, count)
    angle[:4] = np.arange(4) * np.pi / 2   # along the axes, and nearly so
    return Beams(rng.uniform(-mount, mount, (count, 2)), np.stack([np.cos(angle), np.sin(angle)], axis=-1))


@pytest.mark.parametrize("walls, robots, reach", [(60, 30, 30.0), (60, 30, 3.0), (300, 4, 30.0), (0, 80, 20.0), (12, 1, 1e6)])
def test_beams_that_walk_give_the_bits_of_those_that_try_everything(rng, walls, robots, reach):
    for shift, arena in (((0.0, 0.0), True), ((400.0, -250.0), False)):
        simulation = building(rng, walls, robots, shift=shift, arena=arena and walls > 0)
        for beams in (any_beams(rng), ring(tuple(np.linspace(-3, 3, 61)), 0.0)):
            plain, walked = both_ways(simulation, lambda it=simulation, beams=beams: it.engine.cast(
                it.model, it.state, beams, reach, slice(0, 2 * robots)))
            assert np.array_equal(plain, walked)
            assert np.isfinite(walked).any() or robots == 1


def test_headings_along_the_axes_and_places_on_the_lattice_give_the_same_bits_too(rng):
    simulation = building(rng, 120, 20)
    near = simulation.model.walk(0.3).near
    for lattice in (near, simulation.state.scratch.cells):
        put(simulation, np.stack([lattice.x0 + lattice.size * rng.integers(0, lattice.columns + 1, (2, 40)),
                                  lattice.y0 + lattice.size * rng.integers(0, lattice.rows + 1, (2, 40))], axis=-1),
            rng.integers(-4, 5, (2, 40)) * np.pi / 2)
        plain, walked = both_ways(simulation, lambda: simulation.engine.cast(
            simulation.model, simulation.state, any_beams(rng=np.random.default_rng(5)), 30.0, slice(0, 40)))
        assert np.array_equal(plain, walked)


def test_turned_beams_that_walk_give_the_same_bits(rng):
    simulation, beams, turn = building(rng), any_beams(rng), rng.uniform(-4.0, 4.0, (2, 60, 15))
    plain, walked = both_ways(simulation, lambda: simulation.engine.cast_turned(
        simulation.model, simulation.state, beams, turn, 20.0, slice(0, 60)))
    assert np.array_equal(plain, walked)


@pytest.mark.parametrize("engine, contact", [("spatial", "none"), ("planar", "impulse")])
def test_beams_walk_in_space_and_among_bodies_with_masses_too(rng, engine, contact):
    simulation, beams = building(rng, engine=engine, contact=contact), any_beams(rng)
    if contact == "impulse":
        turn = rng.uniform(-4.0, 4.0, (2, 60, 15))
        plain, walked = both_ways(simulation, lambda: simulation.engine.cast_turned(
            simulation.model, simulation.state, beams, turn, 20.0, slice(0, 60)))
        assert np.array_equal(plain, walked)
    plain, walked = both_ways(simulation, lambda: simulation.engine.cast(
        simulation.model, simulation.state, beams, 20.0, slice(0, 60)))
    assert np.array_equal(plain, walked) and np.isfinite(walked).any()


def test_a_beam_ends_at_its_reach_to_the_last_bit(rng):
    """Reaches that are distances which were found before: a wall exactly there is seen, as when all are tried."""
    simulation, beams = building(rng, 80, 10), any_beams(rng)
    found = simulation.engine.cast(simulation.model, simulation.state, beams, 30.0, slice(0, 20))
    for reach in rng.choice(found[np.isfinite(found) & (found > 0.1)], 20):
        for given in (reach, np.nextafter(reach, 0.0)):
            plain, walked = both_ways(simulation, lambda given=given: simulation.engine.cast(
                simulation.model, simulation.state, beams, float(given), slice(0, 20)))
            assert np.array_equal(plain, walked)


def test_the_description_of_the_world_decides_which_beams_walk(rng):
    many, few = building(rng, 300, 2), building(rng, 30, 2)
    assert many.model.walks(30.0) and not many.model.walks(0.2) and not few.model.walks(30.0)


# -- beams from any pose -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("engine, contact", [("planar", "none"), ("planar", "impulse"), ("spatial", "none")])
@pytest.mark.parametrize("reach", [0.5, 30.0])
def test_beams_from_the_true_pose_are_those_of_a_robot_that_is_alone(rng, engine, contact, reach):
    simulation, beams = building(rng, 40, 2, engine=engine, contact=contact), any_beams(rng)
    state = simulation.state
    far = rng.uniform(-0.5, 0.5, (2, 4, 2)) * 12.0
    far[:, 1:] += np.array([1e4, 2e4, 3e4])[:, None]  # one robot at home, the others nowhere
    state.position[...] = far
    poses = np.concatenate([state.position, state.heading[..., None]], axis=-1)[:, :, None]

    def cast():
        own = simulation.engine.cast(simulation.model, state, beams, reach, slice(0, 4))
        return own, simulation.engine.cast_from(simulation.model, state, poses, beams, reach)[:, :, 0]

    for own, there in both_ways(simulation, cast):
        assert np.array_equal(own, there)
        assert np.isfinite(own[:, 0]).any()


def test_beams_from_believed_poses_do_not_see_robots(rng):
    robots = Group(Disc(0.1, 0.1, 0.1), 2, "a", (At(0.0, 0.0), At(1.0, 0.0)), (Scanner(beams=1, reach=9.0),))
    simulation = Simulation(World(contact=Contact("none"), things=(Arena(4.0, 4.0),), groups=(robots,)))
    state = simulation.state
    scene = SensorView(simulation.engine, simulation.model, state, robots, slice(0, 2), None, "a/scanner")
    poses = np.array([[[(0.0, 0.0, 0.0), (1.0, 1.0, np.pi)], [(1.5, 0.0, -np.pi / 2), (5.0, 0.0, 0.0)]]])
    assert scene.cast_from(poses, ring((0.0,), 0.0), 9.0)[..., 0] == pytest.approx(np.array([[[2.0, 3.0], [2.0, np.inf]]]))
    with pytest.raises(WorldError, match=r"must be an array \(worlds, robots, poses, 3\) = \(1, 2, ..., 3\), not \(1, 2, 3\)"):
        scene.cast_from(poses[:, :, 0], ring((0.0,), 0.0), 9.0)
    for endless in (np.inf, np.nan, -1.0):
        with pytest.raises(WorldError, match="is not a finite length; beams need one"):
            scene.cast_from(poses, ring((0.0,), 0.0), endless)


# -- scanners in the compiled step ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("walls", [10, 300])
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_a_scanner_in_the_compiled_step_reads_what_it_reads_in_the_loop(rng, walls, noise):
    from formiga.control.braitenberg import Braitenberg

    things = (Arena(10.0, 10.0), *(Wall((x, y, x + dx, y + dy)) for x, y, dx, dy in rng.uniform(-4.5, 4.5, (walls, 4))
                                   * (1.0, 1.0, 0.1, 0.1)))
    scanner = Scanner(beams=41, reach=8.0, noise=noise, mount=0.05)
    group = Group(Disc(0.02, 0.03, 0.3), 6, "a", (), (scanner,), Braitenberg(sensor="scanner"))
    world = World(things=things, groups=(group,))
    fast, slow = (Simulation(world, 5, 3, compiled=compiled) for compiled in (True, False))
    for simulation in (fast, slow):
        for _ in range(25):
            simulation.step()
    assert not fast._compiled.lacking
    assert np.array_equal(fast.state.position, slow.state.position)
    assert np.array_equal(fast.readings["a"]["scanner"], slow.readings["a"]["scanner"])
