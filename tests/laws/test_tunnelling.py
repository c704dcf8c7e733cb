"""Nothing passes through anything, however fast.

The law that needs no knowledge of the path: who is inside a closed outline stays inside, who is outside stays outside.
It holds for rooms, for obstacles, and for fences whose gaps are narrower than the body. For open walls, where a way
round the end is allowed, `stop` is asked: there the way of a step is a straight line.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formiga.engine.planar.contact import ROUNDS
from formiga.loop import Simulation
from formiga.world.model import Cylinder, Group, Polygon, Rectangle, Wall, World
from formiga.world.placement import At
from formiga.world.robots import Disc
from tests.reference.lab import MODELS, distance_to_segment, fixed, overlaps

R = 0.05
DT = 0.1


def inside(points, outline):
    """Even-odd rule: whether points (..., 2) lie in a polygon (K, 2)."""
    x, y = points[..., 0, None], points[..., 1, None]
    (x0, y0), (x1, y1) = outline.T, np.roll(outline, -1, axis=0).T
    with np.errstate(divide="ignore", invalid="ignore"):
        crosses = ((y0 > y) != (y1 > y)) & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
    return crosses.sum(-1) % 2 == 1


def star(rng, centre, near, far, corners):
    """A polygon around a centre with corners at random distances: full of sharp corners, in and out."""
    angle = 2 * np.pi * (np.arange(corners) + rng.uniform(0.0, 0.8, corners)) / corners
    return np.array(centre) + rng.uniform(near, far, corners)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def room_to_stand(rng, outlines, things, count, keep):
    """Places inside the first outline and outside the others, `keep` away from every wall and from each other."""
    probe = Simulation(World(things=things))
    places = []
    for point in rng.uniform(-1.0, 1.0, (3000, 2)):
        if len(places) < count and inside(point, outlines[0]) and not any(inside(point, o) for o in outlines[1:]):
            gap = min([distance_to_segment(point, s[:2], s[2:]) for s in fixed(probe)[0]]
                      + [np.hypot(*(point - d[:2])) - d[2] for d in fixed(probe)[1]])
            if gap > keep and all(np.hypot(*(point - other)) > 2 * keep for other in places):
                places.append(point)
    return places


def racers(things, places, contact, speed, clearance, worlds=1):
    robot = Disc(R, 0.08, speed, clearance)
    group = Group(robot, len(places), "a", tuple(At(x, y) for x, y in places))
    return Simulation(World(dt=DT, contact=MODELS[contact], things=things, groups=(group,)), 0, worlds)


def random_wheels(rng, shape, speed):
    """Mostly forward at full speed, sometimes turning on the spot."""
    return speed * np.where(rng.random(shape) < 0.8, rng.uniform(0.7, 1.0, (*shape[:-1], 1)), rng.uniform(-1.0, 1.0, shape))


def start_again_who_is_stuck(simulation, rng):
    """Under `stop`, who crashed stays for good, and may stay with a part of its body in a wall: begin again."""
    if simulation.world.contact.model == "stop" and simulation.state.crashed.any():
        mask = simulation.state.crashed.any(1)
        simulation.reset(mask)
        simulation.state.heading[mask] = rng.uniform(0.0, 2 * np.pi, (mask.sum(), simulation.world.robots))


random_numbers = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@pytest.mark.parametrize("contact", ["stop", "minimal", "published"])
@given(rng=random_numbers, speed=st.floats(0.1, 10.0), clearance=st.sampled_from([0.0, 0.03]), count=st.integers(1, 6))
@settings(max_examples=40)
def test_nobody_leaves_a_closed_room_or_enters_an_obstacle_however_fast(contact, rng, speed, clearance, count):
    """v dt from 0.2 to 20 radii; sharp corners, thin walls, wall ends, tiny cylinders."""
    room, rock = star(rng, (0.0, 0.0), 0.5, 1.0, 9), star(rng, rng.uniform(-0.3, 0.3, 2), 0.05, 0.2, 5)
    box = np.array([(-0.4, 0.3), (-0.2, 0.3), (-0.2, 0.31), (-0.4, 0.31)])  # 1 cm thin
    things = (Wall((*room.ravel(), *room[0])), Polygon(rock.ravel()), Rectangle(-0.3, 0.305, 0.2, 0.01),
              Wall((0.3, 0.1, 0.5, 0.1)), Wall((-0.1, -0.5, -0.1, -0.3, 0.1, -0.4)),
              *(Cylinder(*rng.uniform(-0.6, 0.6, 2), r) for r in (0.001, 0.001, 0.02)))
    outlines = [room, rock, box]
    places = room_to_stand(rng, outlines, things, count, R + clearance)
    if not places:
        return
    simulation = racers(things, places, contact, speed, clearance, worlds=3)
    began = [inside(simulation.state.position, outline) for outline in outlines]
    state = simulation.state
    for _ in range(40):
        simulation.step({"a": random_wheels(rng, (3, len(places), 2), speed)})
        assert np.isfinite(state.position).all() and np.isfinite(state.heading).all()
        for outline, was in zip(outlines, began, strict=True):
            assert np.array_equal(inside(state.position, outline), was)
        start_again_who_is_stuck(simulation, rng)


@pytest.mark.parametrize("contact", ["minimal", "published"])
@given(rng=random_numbers, speed=st.floats(0.1, 5.0), clearance=st.sampled_from([0.0, 0.03]))
@settings(max_examples=25)
def test_where_there_is_room_every_step_ends_without_overlap(contact, rng, speed, clearance):
    """Six discs in a box of 1.6 m with a cylinder and an island: all rounds end, and nobody is in anything."""
    things = (Wall((-0.8, -0.8, 0.8, -0.8, 0.8, 0.8, -0.8, 0.8, -0.8, -0.8)), Cylinder(0.3, 0.2, 0.1),
              Rectangle(-0.35, -0.3, 0.1, 0.1))
    places = [(-0.6, -0.6), (0.6, -0.6), (0.6, 0.6), (-0.6, 0.6), (0.0, 0.5), (0.0, -0.5)]
    simulation = racers(things, places, contact, speed, clearance)
    for _ in range(30):
        simulation.step({"a": random_wheels(rng, (1, 6, 2), speed)})
        assert simulation.state.scratch.rounds[0] < ROUNDS
        assert max(overlaps(simulation.state.position[0], simulation.model.safety, *fixed(simulation))) < 1e-7


def crosses(p, q, a, b):
    """Whether pq passes from one side of ab to the other, strictly inside of both."""
    side = lambda u, v, w: (v[0] - u[0]) * (w[1] - u[1]) - (v[1] - u[1]) * (w[0] - u[0])  # noqa: E731
    return side(a, b, p) * side(a, b, q) < 0.0 and side(p, q, a) * side(p, q, b) < 0.0


@given(rng=random_numbers, speed=st.floats(0.1, 10.0), clearance=st.sampled_from([0.0, 0.03]))
@settings(max_examples=60)
def test_a_straight_way_never_crosses_a_wall_or_a_cylinder(rng, speed, clearance):
    """Model `stop`: before -> after is a line. Walls of any length, also shorter than the body, and needles of 1 mm."""
    walls = [(x, y, x + dx, y + dy) for (x, y), (dx, dy) in zip(rng.uniform(-1, 1, (8, 2)), rng.normal(0, 0.2, (8, 2)))]
    needles = [(*rng.uniform(-1, 1, 2), r) for r in (0.001, 0.001, 0.001, 0.1)]
    things = (*(Wall(w) for w in walls), *(Cylinder(*n) for n in needles))
    far = 1.5 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    places = room_to_stand(rng, [far], things, 1, R + clearance)
    simulation = racers(things, places, "stop", speed, clearance, worlds=20)
    simulation.state.heading[...] = rng.uniform(0, 2 * np.pi, (20, 1))
    for _ in range(10):
        start_again_who_is_stuck(simulation, rng)
        before = simulation.state.position[:, 0].copy()
        simulation.step({"a": random_wheels(rng, (20, 1, 2), speed)})
        for p, q in zip(before, simulation.state.position[:, 0], strict=True):
            assert not any(crosses(p, q, w[:2], w[2:]) for w in walls)
            for x, y, r in needles:
                gap, end = distance_to_segment((x, y), p, q), np.hypot(q[0] - x, q[1] - y)
                beyond = np.dot(q - (x, y), p - (x, y)) <= 0.0
                if gap < r + R - 1e-7 and gap < end - 1e-9:  # it came nearer than it is now: the body was in there
                    assert not beyond and end < r + R + clearance + 1e-9


@pytest.mark.parametrize("contact", ["stop", "minimal", "published"])
@pytest.mark.parametrize("clearance", [0.0, 0.03])
def test_no_body_squeezes_through_a_slit_that_is_narrower_than_it(contact, clearance):
    """A wall with a gap, and a robot of 10 cm that runs at it at every speed and from every distance."""
    start = np.linspace(0.001, 0.15, 40) + R + clearance
    way = np.linspace(0.01, 0.5, 50)
    for slit in (0.002, 0.02, 0.06, 0.095):
        things = (Wall((0.0, slit / 2, 0.0, 3.0)), Wall((0.0, -slit / 2, 0.0, -3.0)))
        simulation = racers(things, [(-0.5, 0.0)], contact, 5.0, clearance, worlds=start.size * way.size)
        state = simulation.state
        state.position[:, 0, 0], state.position[:, 0, 1] = -np.repeat(start, way.size), 0.0
        state.heading[...] = 0.0
        for _ in range(1 if contact == "stop" else 3):
            simulation.step({"a": np.repeat(np.tile(way, start.size)[:, None, None] / DT, 2, axis=-1)})
            through = state.position[:, 0, 0] > 0.0
            assert not through.any(), f"slit of {slit} m: {through.sum()} of {through.size} are on the other side"


@pytest.mark.parametrize("contact", ["stop", "minimal", "published"])
@given(rng=random_numbers, speed=st.floats(0.3, 10.0), clearance=st.sampled_from([0.0, 0.03]))
@settings(max_examples=20)
def test_nobody_leaves_a_ring_of_pegs(contact, rng, speed, clearance):
    """24 cylinders of 5 mm on a circle of 30 cm: 7.8 cm from centre to centre, so 6.8 cm between them, for a 10 cm body."""
    angle = 2 * np.pi * np.arange(24) / 24
    ring = 0.3 * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    simulation = racers(tuple(Cylinder(x, y, 0.005) for x, y in ring), [(0.0, 0.0)], contact, speed, clearance, worlds=10)
    simulation.state.heading[...] = rng.uniform(0, 2 * np.pi, (10, 1))
    for _ in range(30):
        simulation.step({"a": random_wheels(rng, (10, 1, 2), speed)})
        assert inside(simulation.state.position, ring).all()
        start_again_who_is_stuck(simulation, rng)


# -- robots and robots ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("contact", ["stop", "minimal", "published"])
@pytest.mark.parametrize("clearance", [0.0, 0.03])
def test_two_robots_that_run_at_each_other_never_pass(contact, clearance):
    """Every speed up to 10 radii a step, every distance, every offset at which they would touch."""
    way, gap = np.meshgrid(np.linspace(0.01, 0.5, 40), np.linspace(0.001, 0.8, 40))
    for aside in (0.0, 0.03, 0.09):
        simulation = racers((), [(-1.0, 0.0), (1.0, 0.0)], contact, 5.0, clearance, worlds=way.size)
        state, keep = simulation.state, 2 * (R + clearance)
        state.position[:, 0] = 0.0
        state.position[:, 1, 0], state.position[:, 1, 1] = keep + gap.ravel(), aside
        state.heading[:, 0], state.heading[:, 1] = 0.0, np.pi
        before = state.position[:, 1] - state.position[:, 0]
        simulation.step({"a": np.broadcast_to(way.ravel()[:, None, None] / DT, (way.size, 2, 2))})
        after = state.position[:, 1] - state.position[:, 0]
        assert ((before * after).sum(-1) > 0.0).all()  # nobody is behind the other
        met = 2 * way.ravel() > gap.ravel() + keep  # they would at least have reached each other's place
        assert state.crashed[met].all()


@pytest.mark.parametrize("clearance", [0.0, 0.03])
@given(rng=random_numbers, speed=st.floats(0.3, 10.0))
@settings(max_examples=40)
def test_in_a_corridor_robots_keep_their_order(clearance, rng, speed):
    """Nobody can overtake in 14 cm. Model `stop`, because re-positioning itself lets robots move through robots."""
    half = R + clearance + 0.02
    walls = (Wall((-9.0, half, 9.0, half)), Wall((-9.0, -half, 9.0, -half)))
    places = [(0.25 * i, 0.0) for i in range(6)]
    simulation = racers(walls, places, "stop", speed, clearance, worlds=20)
    for _ in range(8):
        start_again_who_is_stuck(simulation, rng)
        simulation.state.heading[...] = np.where(rng.random((20, 6)) < 0.5, 0.0, np.pi)
        simulation.step({"a": np.repeat(speed * rng.uniform(0.0, 1.0, (20, 6, 1)), 2, axis=-1)})
        assert (np.diff(simulation.state.position[..., 0], axis=1) > 0.0).all()


def test_nobody_passes_through_a_robot_that_was_itself_stopped_in_this_step():
    """a is stopped by b; c, behind a and beside b, would not have met a had a gone on."""
    simulation = racers((), [(0.0, 0.0), (0.5, -0.075), (-0.5, 0.075)], "stop", 10.0, 0.0)
    simulation.state.heading[...] = 0.0
    simulation.step({"a": np.array([[[10.0, 10.0], [0.0, 0.0], [10.0, 10.0]]])})
    a, b, c = simulation.state.position[0]
    assert a[0] < b[0]
    assert c[0] < a[0], f"c went through a: a is at {a}, c at {c}"


def test_a_train_of_robots_that_meets_a_wall_stays_a_train():
    simulation = racers((Wall((1.0, -1.0, 1.0, 1.0)),), [(0.2 * i, 0.0) for i in range(5)], "stop", 10.0, 0.0)
    simulation.state.heading[...] = 0.0
    simulation.step({"a": np.full((1, 5, 2), 10.0)})
    assert (np.diff(simulation.state.position[0, :, 0]) > 0.0).all()
    assert simulation.state.position[0, -1, 0] < 1.0


@pytest.mark.parametrize("contact", ["minimal", "published"])
@pytest.mark.parametrize("clearance", [0.0, 0.03])
@pytest.mark.parametrize("obstacle", [Wall((0.0, -1.0, 0.3, 1.0)), Cylinder(0.8, 0.1, 0.6)])
def test_who_was_stopped_at_a_wall_is_stopped_there_again(rng, contact, clearance, obstacle):
    """It rests at exactly the distance at which it touches, give or take a rounding error: neither in nor out."""
    worlds = 5000
    simulation = racers((obstacle,), [(-1.0, 0.0)], contact, 1.0, clearance, worlds)
    state = simulation.state
    state.position[:, 0, 0], state.position[:, 0, 1] = rng.uniform(-0.2, 0.0, worlds), rng.uniform(-0.2, 0.3, worlds)
    if isinstance(obstacle, Wall):  # 6 cm before the wall, wherever it is at that height
        state.position[:, 0, 0] = 0.15 + 0.15 * state.position[:, 0, 1] - 0.07 - clearance
    state.heading[...] = rng.uniform(-0.8, 0.8, (worlds, 1))
    for _ in range(20):
        simulation.step({"a": np.full((worlds, 1, 2), 1.0)})
        x, y = state.position[:, 0].T
        if isinstance(obstacle, Wall):
            assert not ((x > 0.15 + 0.15 * y) & (np.abs(y) < 0.99)).any()
        else:
            assert (np.hypot(x - 0.8, y - 0.1) > 0.6).all()
