"""Beams against walls, cylinders and robots, beside the plain twin that solves every crossing."""

import numpy as np
import pytest

from formiga.engine.beams import Beams, ring
from formiga.loop import Simulation
from formiga.units import DEG
from formiga.world.model import Arena, Contact, Cylinder, Group, Polygon, Ramp, Rectangle, Wall, World
from formiga.world.placement import At
from formiga.world.robots import Disc
from tests.reference import rays
from tests.reference.lab import bench, put


def random_room(rng, worlds=2, walls=12, cylinders=6, arena=True, shift=(0.0, 0.0)):
    """Three groups of robots of different size, anywhere, some far outside of the arena."""
    things = [Arena(2.0, 1.5, *shift)] if arena else []
    for _ in range(walls):
        x, y = rng.uniform(-1.0, 1.0, 2) + shift
        dx, dy = rng.normal(0.0, 0.5, 2)
        things.append(Wall((x, y, x + dx, y + dy)))
    for _ in range(cylinders):
        things.append(Cylinder(*(rng.uniform(-1.0, 1.0, 2) + shift), rng.uniform(0.001, 0.3)))
    groups = tuple(Group(Disc(radius, 0.1, 0.1), count, name, tuple(At(0.0, 0.0) for _ in range(count)))
                   for radius, count, name in ((0.05, 7, "small"), (0.2, 3, "large"), (0.01, 5, "tiny")))
    simulation = Simulation(World(contact=Contact("none"), things=tuple(things), groups=groups), 3, worlds)
    position = rng.uniform(-1.2, 1.2, (worlds, 15, 2)) + shift
    position[:, 0] += 3.0  # far outside, where the nearest border cell stands for everything
    position[:, 1] -= 3.0
    put(simulation, position, rng.uniform(-10.0, 10.0, (worlds, 15)))
    return simulation


def random_beams(rng, count):
    """Beams that start anywhere and point anywhere, not only outward."""
    angle = rng.uniform(0.0, 2.0 * np.pi, count)
    return Beams(rng.uniform(-0.1, 0.1, (count, 2)), np.stack([np.cos(angle), np.sin(angle)], axis=-1))


def look(simulation, beams, reach, robots=slice(0, 1)):
    """Distances (worlds, robots, beams)."""
    return simulation.engine.cast(simulation.model, simulation.state, beams, reach, robots)


def assert_same_as_twin(simulation, beams, reach, robots=slice(0, 15)):
    """A beam that grazes turns a rounding error of 1e-16 into one of 1e-16 / cosine, so the error is scaled with it."""
    fast = look(simulation, beams, reach, robots)
    model, state, hits = simulation.model, simulation.state, 0
    for w in range(state.worlds):
        slow, cosine = rays.cast(state.position[w], state.heading[w], model.radius, model.fixed.segments, model.fixed.discs,
                                 beams.origin, beams.direction, reach)
        slow, cosine = slow[robots], cosine[robots]
        differ = np.isfinite(fast[w]) != np.isfinite(slow)
        nearer = np.minimum(fast[w], slow)[differ]
        assert np.all(np.abs(nearer - reach) < 1e-12), f"{differ.sum()} beams hit in one and miss in the other"
        both = np.isfinite(fast[w]) & np.isfinite(slow)
        assert np.abs((fast[w][both] - slow[both]) * cosine[both]).max(initial=0.0) < 1e-12
        hits += both.sum()
    return hits


@pytest.mark.parametrize("reach", [0.05, 0.5, 30.0])
def test_beams_match_solving_every_crossing(rng, reach):
    hits = sum(assert_same_as_twin(random_room(rng), random_beams(rng, 12), reach) for _ in range(4))
    assert hits > 100


def test_beams_match_solving_every_crossing_without_an_arena_and_far_from_the_origin(rng):
    for shift in ((0.0, 0.0), (40.0, -25.0)):
        assert assert_same_as_twin(random_room(rng, arena=False, shift=shift), random_beams(rng, 10), 0.4) > 50


def test_beams_see_only_robots_where_nothing_is_fixed(rng):
    assert assert_same_as_twin(random_room(rng, walls=0, cylinders=0, arena=False), random_beams(rng, 10), 0.6) > 30


def test_robots_on_the_borders_of_cells_see_what_others_see(rng):
    simulation = random_room(rng)
    cells, table = simulation.state.scratch.cells, simulation.model.near(0.1 * np.sqrt(2) + 0.5)
    for lattice in (cells, table):
        edges = np.stack([lattice.x0 + lattice.size * rng.integers(0, lattice.columns + 1, (2, 15)),
                          lattice.y0 + lattice.size * rng.integers(0, lattice.rows + 1, (2, 15))], axis=-1)
        put(simulation, edges)
        assert_same_as_twin(simulation, random_beams(rng, 10), 0.5)


def test_a_part_of_the_robots_sees_the_same_as_all_of_them(rng):
    simulation, beams = random_room(rng), random_beams(rng, 5)
    everybody = look(simulation, beams, 0.5, slice(0, 15))
    some = look(simulation, beams, 0.5, slice(7, 10))
    assert np.array_equal(everybody[:, 7:10], some)


def test_the_nearest_of_several_things_is_seen_whatever_their_order():
    for walls in ((0.3, 0.5, 0.4), (0.5, 0.4, 0.3), (0.4, 0.3, 0.5)):
        simulation = bench(Disc(0.05, 0.1, 0.1), [(0, 0, 0)], [Wall((x, -1, x, 1)) for x in walls])
        assert look(simulation, ring((0.0,), 0.05), 1.0)[0, 0, 0] == pytest.approx(0.25)


def test_no_beam_meets_its_own_robot():
    """Not even one that starts at the centre and looks through the whole body."""
    simulation = bench(Disc(0.05, 0.1, 0.1), [(0, 0, 0.3)])
    beams = Beams(np.array([[0.0, 0.0], [-0.05, 0.0], [0.06, 0.0]]), np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]))
    assert np.isinf(look(simulation, beams, 1.0)).all()


def test_bodies_reflect_beams_and_collision_circles_do_not():
    simulation = bench(Disc(0.05, 0.1, 0.1, clearance=0.1), [(0, 0, 0), (0.5, 0, 0)])
    assert look(simulation, ring((0.0,), 0.0), 1.0)[0, 0, 0] == pytest.approx(0.45)


def test_a_wall_exactly_at_reach_is_seen_and_one_beyond_is_not():
    simulation = bench(Disc(0.05, 0.1, 0.1), [(0, 0, 0)], [Wall((0.5, -1, 0.5, 1))])
    for reach, seen in ((0.5, True), (0.5 - 1e-12, False), (0.5 + 1e-12, True)):
        got = look(simulation, ring((0.0,), 0.0), reach)[0, 0, 0]
        assert np.isfinite(got) == seen


def test_a_beam_along_a_wall_has_no_single_crossing_and_misses():
    simulation = bench(Disc(0.05, 0.1, 0.1), [(0, 0, 0)], [Wall((0.2, 0, 0.5, 0))])
    assert np.isinf(look(simulation, ring((0.0,), 0.0), 1.0)).all()


def test_a_robot_is_seen_at_the_draft_s_distances():
    """Ro = 5.8 cm, sensor at 6.0 cm; numbers from the digest of the draft, section 'Beam against circle'."""
    expected = {17.6: {0: 5.8000, 5: 5.9395, 10: 6.4032, 15: 7.4100}, 20.0: {0: 8.2000, 5: 8.3920, 10: 9.0509, 15: 10.7022},
                26.8: {0: 15.0000}}
    for apart, by_angle in expected.items():
        simulation = bench(Disc(0.058, 0.095, 0.08), [(0, 0, 0), (apart / 100, 0, 0)])
        for angle, distance in by_angle.items():
            beams = ring((angle * DEG,), 0.06)
            got = look(simulation, beams, 0.15 + 1e-9)[0, 0, 0]
            assert 100 * got == pytest.approx(distance, abs=1e-4)
        limit = np.degrees(np.arcsin(5.8 / apart))  # the sensor faces the disc if it looks within asin(Ro / H) of its centre
        for angle, seen in ((limit - 0.01, True), (limit + 0.01, False)):
            beams = ring((angle * DEG,), 0.06)
            assert np.isfinite(look(simulation, beams, 9.0)[0, 0, 0]) == seen


# -- beams that start inside something ------------------------------------------------------------------------------------
STAR = tuple(0.4 * (1 + k % 2) * float(f(k * np.pi / 5)) for k in range(10) for f in (np.cos, np.sin))


def random_solids(rng, contact, groups=2):
    """A star, polygons that cross themselves and turned rectangles, large and small, and robots anywhere."""
    things = [Arena(4.0, 4.0), Polygon(STAR), Cylinder(-1.5, -1.5, 0.3)]
    for number in range(6):
        points = rng.normal(0.0, 0.3, (4 + number, 2)) + rng.uniform(-1.5, 1.5, 2)
        things.append(Polygon(tuple(points.ravel().tolist()), name=f"p{number}"))
        things.append(Rectangle(*rng.uniform(-1.8, 1.8, 2), *rng.uniform(0.02, 0.8, 2), rng.uniform(-4, 4), name=f"r{number}"))
    count = 12
    robots = tuple(Group(Disc(0.03 * (1 + n), 0.1, 0.1), count, f"g{n}", tuple(At(0.0, 0.0) for _ in range(count)))
                   for n in range(groups))
    flat = Simulation(World(contact=Contact("none"), things=tuple(things), groups=robots), 3, 2)
    put(flat, rng.uniform(-2.2, 2.2, (2, groups * count, 2)), rng.uniform(-10.0, 10.0, (2, groups * count)))
    if contact == "none":
        return flat
    world = World(contact=Contact(contact), things=tuple(things), groups=robots)
    start = flat.state.position, flat.state.heading
    return Simulation(world, 3, 2, start=start)


@pytest.mark.parametrize("contact", ["none", "impulse"])
def test_a_beam_that_starts_inside_a_solid_obstacle_reads_0_and_any_other_what_it_meets(rng, contact):
    """The twin asks matplotlib what each beam starts in, and solves every crossing of those that start in nothing."""
    simulation, beams, starting = random_solids(rng, contact), random_beams(rng, 5), 0
    model, state, reach = simulation.model, simulation.state, 0.5
    fast = look(simulation, beams, reach, slice(0, 24))
    turned = simulation.engine.cast_turned(model, state, beams, rng.uniform(-3, 3, (2, 24, 5)), 0.01, slice(0, 24))
    for w in range(2):
        slow, cosine = rays.cast(state.position[w], state.heading[w], model.radius, model.fixed.segments, model.fixed.discs,
                                 beams.origin, beams.direction, reach)
        inside = np.array([rays.starts_inside(state.position[w, i], state.heading[w, i], simulation.world.things, beams.origin)
                           for i in range(24)])
        expected = np.where(inside, 0.0, slow)
        differ = np.isfinite(fast[w]) != np.isfinite(expected)
        assert np.all(np.abs(np.minimum(fast[w], expected)[differ] - reach) < 1e-12)
        both = np.isfinite(fast[w]) & np.isfinite(expected)
        assert np.abs((fast[w][both] - expected[both]) * cosine[both]).max(initial=0.0) < 1e-11
        assert not fast[w][inside].any() and not turned[w][inside].any()
        starting += inside.sum()
    assert starting > 20


@pytest.mark.parametrize("place, mount, expected", [((0.0, 0.0), 0.05, 0.0), ((0.44, 0.0), 0.1, 0.0), ((1.0, 0.0), 0.1, 0.3)])
@pytest.mark.parametrize("engine, ground", [("planar", ()), ("spatial", ()), ("spatial", (Ramp(3.0, 0.0, 1.0, 1.0, 0.05),))])
def test_both_engines_read_0_inside_an_obstacle_however_far_its_other_side_is(engine, ground, place, mount, expected):
    """An obstacle 1.2 m wide, a beam to the left that reaches 0.4 m: from its middle, from within its edge, from outside."""
    group = Group(Disc(0.05, 0.08, 0.2, height=0.1), 1, "a", (At(2.0, 0.0, heading=np.pi),))
    things = (Arena(6.0, 6.0, height=0.5), Rectangle(0.0, 0.0, 1.2, 1.2, height=0.5), *ground)
    simulation = Simulation(World(engine=engine, contact=Contact("none"), things=things, groups=(group,)))
    put(simulation, [[place]], [[np.pi]])
    for beams in (ring((0.0,), mount), Beams(np.array([[mount, 0.01]]), np.array([[1.0, 0.0]]))):
        assert look(simulation, beams, 0.4) == pytest.approx(expected, abs=1e-6)
