"""Bodies that lean on each other, push, slide, hang together; and that a run does not depend on how it is run."""

from dataclasses import replace

import numpy as np
import pytest
import shapely

from formiga.control.random_walk import RandomWalk
from formiga.engine.planar.impulse.bodies import SUBSTEPS
from formiga.errors import FormigaError
from formiga.loop import Simulation
from formiga.runs import simulate
from formiga.soccer import league
from formiga.studies.soccer.overlap import depths, from_square, polygons_depth, square
from formiga.world.elements import profiled
from formiga.world.model import Ball, Block, Contact, Group, Pin, Puck, Wall, Weld, World
from formiga.world.movables import GRAVITY, rectangle
from formiga.world.placement import At
from formiga.world.robots import MiroSot
from tests.laws.test_impacts import drive, lab, touches
from tests.reference import impacts as plain

SIDE = 0.075
ROOM = Wall((-0.5, -0.5, 0.5, -0.5, 0.5, 0.5, -0.5, 0.5, -0.5, -0.5))


# -- pushing ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("speed", [0.2, 1.3])
@pytest.mark.parametrize("gap", [0.0, 0.2])
def test_two_robots_that_push_head_on_stay_put_and_time_goes_on(speed, gap):
    """10 s: within 5 mm, no spin, no more substeps at the end than at the beginning, and no energy from nowhere."""
    half = 0.5 * (SIDE + gap)
    simulation = lab(robots=[(MiroSot(), -half, 0.0, 0.0), (MiroSot(), half, 0.0, np.pi)])
    state, substeps, energy, met = simulation.state, [], [], None
    for k in range(303):
        drive(simulation, speed, speed)
        if len(touches(simulation)) and met is None:
            met = k
        if met is not None:
            substeps.append(int(state.scratch.bodies.count[SUBSTEPS]))
            energy.append(float((state.velocity[0, :, :2] ** 2).sum()))
            assert np.abs(state.position[0] - [(-SIDE / 2, 0.0), (SIDE / 2, 0.0)]).max() < 5e-3
    assert met is not None and max(substeps[10:]) <= max(substeps[:10]) and max(substeps) <= 64
    assert np.all(np.diff(energy) <= 1e-9) and energy[-1] < 1e-6
    assert abs(state.heading[0, 0]) < 1e-3 and abs(state.heading[0, 1] - np.pi) < 1e-3


@pytest.mark.parametrize("offset", [0.0, 0.02, -0.03])
def test_a_flush_push_stays_flush_and_does_not_chatter(offset):
    """A robot pushes a block that lies across before it: face on face, all the way. Off the middle both turn, as one body."""
    simulation = lab(Block(SIDE / 2 + 0.03 + 2e-4, offset, width=0.06, depth=0.15, mass=0.2, friction=0.2),
                     robots=[(MiroSot(), 0.0, 0.0, 0.0)])
    state = simulation.state
    for k in range(60):
        drive(simulation, 0.3)
        heading = state.heading[0, 0]
        ahead = np.array([np.cos(heading), np.sin(heading)])
        gap = (state.movables[0, 0, :2] - state.position[0, 0]) @ ahead - 0.03 - SIDE / 2
        assert abs(state.movables[0, 0, 2] - heading) < 5e-3 and -1e-4 < gap < 5e-4
        if k > 20:
            assert (state.movables[0, 0, 3:5] - state.velocity[0, 0, :2]) @ ahead == pytest.approx(0.0, abs=5e-3)
    assert (state.velocity[0, 0, :2] @ ahead) > 0.2
    assert abs(heading) < 1e-4 if offset == 0.0 else heading * offset > 0.0


def test_a_chain_of_robots_and_blocks_is_pushed_as_one():
    """One robot pushes three others and two blocks, all in a row; afterwards they are in the same order, and close."""
    robots = [(MiroSot(), 0.1 * k, 0.0, 0.0) for k in range(4)]
    blocks = [Block(0.4 + 0.1 * k, 0.0, width=SIDE, depth=SIDE, mass=0.1, friction=0.1, name=f"b{k}") for k in range(2)]
    simulation = lab(*blocks, robots=robots)
    state = simulation.state
    for _ in range(120):
        drive(simulation, 0.5, 0.0, 0.0, 0.0)
    x = [*state.position[0, :, 0], *state.movables[0, :, 0]]
    assert np.diff(x) == pytest.approx([SIDE] * 5, abs=1e-3)
    v = [*state.velocity[0, :, 0], *state.movables[0, :, 3]]
    assert v == pytest.approx([v[0]] * 6, abs=1e-4) and 0.0 < v[0] < 0.2
    assert np.abs([*state.position[0, :, 1], *state.movables[0, :, 1]]).max() < 1e-3


NOTCHED = ((0.0375, 0.0375), (-0.0375, 0.0375), (-0.0375, -0.0375), (0.0375, -0.0375), (0.0375, -0.026), (0.022, -0.02),
           (0.022, 0.02), (0.0375, 0.026))


@pytest.mark.parametrize("felt", [False, True])
def test_a_robot_with_a_notch_carries_the_ball_in_it(felt):
    """A dented outline is several convex parts; straight on, then on a curve. Shapely looks for overlaps with all of it."""
    robot = MiroSot(points=tuple(np.ravel(NOTCHED)), restitution=0.0)
    simulation = lab(Ball(x=0.1, felt=felt, restitution=0.0), robots=[(robot, 0.0, 0.0, 0.0)])
    state = simulation.state
    for k in range(90):
        drive(simulation, 0.5 if k < 45 else (0.48, 0.52))
        body = shapely.Polygon(plain.placed(NOTCHED, *state.position[0, 0], state.heading[0, 0]))
        ball = shapely.Point(state.movables[0, 0, :2])
        assert body.distance(ball) > 0.02135 - 1e-4
    ahead = np.array([np.cos(state.heading[0, 0]), np.sin(state.heading[0, 0])])
    way = state.movables[0, 0, :2] - state.position[0, 0]
    assert 0.0375 < way @ ahead < 0.06 and abs(way @ (-ahead[1], ahead[0])) < 0.02  # it lies in the notch still
    assert np.linalg.norm(state.movables[0, 0, 3:5]) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("aside", [0.0, 0.01, 0.03])
def test_what_is_symmetric_about_a_point_stays_so(aside):
    """Two robots that hit and push each other off their middles, and a block on either side: half a turn changes nothing."""
    blocks = [Block(x, y, width=0.05, depth=0.05, mass=0.2, name=f"b{x}") for x, y in ((0.05, 0.1), (-0.05, -0.1))]
    simulation = lab(*blocks, robots=[(MiroSot(), -0.15, aside / 2, 0.2), (MiroSot(), 0.15, -aside / 2, 0.2 + np.pi)])
    state = simulation.state
    for _ in range(30):
        drive(simulation, (0.8, 0.7), (0.8, 0.7))
        for places in (state.position[0], state.movables[0, :, :2], state.velocity[0, :, :2], state.movables[0, :, 3:5]):
            np.testing.assert_allclose(places[0], -places[1], atol=1e-5)
        assert state.heading[0, 1] - state.heading[0, 0] == pytest.approx(np.pi, abs=1e-4)


@pytest.mark.parametrize("angle", [0.0, 0.3, np.pi / 4])
def test_who_drives_at_a_wall_ends_flush_at_it_or_stands(angle):
    simulation = lab(Wall((0.5, -1.0, 0.5, 1.0)), robots=[(MiroSot(), 0.3, 0.0, angle)])
    state = simulation.state
    for _ in range(150):
        drive(simulation, 0.6)
    c, s = np.cos(state.heading[0, 0]), np.sin(state.heading[0, 0])
    corner = state.position[0, 0, 0] + SIDE / 2 * (abs(c) + abs(s))
    assert 0.5 - 1e-3 < corner < 0.5 + 1e-4
    if angle == 0.0:
        assert np.abs(state.velocity).max() < 1e-3 and abs(state.heading[0, 0]) < 1e-5


# -- sliding ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mu", [0.1, 0.3, 1.0])
@pytest.mark.parametrize("dt", [0.01, 0.033, 0.5])
def test_pucks_and_blocks_slow_by_mu_g_and_then_rest(mu, dt):
    """v^2/(2 mu g), whatever the step; a block that turns slows its spin as evenly."""
    simulation = lab(Puck(0.0, 0.0, 0.03, friction=mu), Block(0.0, 1.0, width=0.1, depth=0.05, friction=mu), dt=dt)
    movables = simulation.state.movables
    movables[0, :, 3], movables[0, 1, 5] = 0.8, 3.0
    time = 0.0
    while time < 1.5:
        simulation.step()
        time += dt
        expected = max(0.8 - mu * GRAVITY * time, 0.0)
        assert movables[0, :, 3] == pytest.approx([expected] * 2, abs=1e-9)
    assert movables[0, :, 0] == pytest.approx([0.8**2 / (2.0 * mu * GRAVITY)] * 2, abs=1e-9) or mu == 0.1
    assert movables[0, 1, 5] == 0.0 or mu == 0.1
    assert movables[0, 0, 1] == 0.0 and movables[0, 1, 1] == 1.0


@pytest.mark.parametrize("tyres, moves", [("nonholonomic", False), ("sliding", True)])
def test_a_hit_from_the_side_moves_a_robot_only_on_sliding_tyres(tyres, moves):
    """A block at 1 m/s into its middle, from the side; then v^2/(2 mu g) of sliding."""
    robot = MiroSot(tyres=tyres, restitution=0.0)
    simulation = lab(Block(0.0, -0.1, width=0.06, depth=0.06, mass=0.5, friction=0.0), robots=[(robot, 0.0, 0.0, 0.0)])
    simulation.state.movables[0, 0, 4] = 1.0
    fastest = 0.0
    for _ in range(30):
        drive(simulation, 0.0)
        fastest = max(fastest, simulation.state.velocity[0, 0, 1])
    x, y = simulation.state.position[0, 0]
    assert abs(x) < 1e-6 and abs(simulation.state.heading[0, 0]) < 1e-6
    if moves:
        assert y > 0.01 and 0.3 < fastest <= 0.5
    else:
        assert y == pytest.approx(0.0, abs=1e-9) and fastest < 1e-9


def test_a_sliding_robot_is_braked_by_its_tyres_alone():
    simulation = lab(robots=[(MiroSot(tyres="sliding", motor_lag=1e9), 0.0, 0.0, 0.0)])
    simulation.state.velocity[0, 0] = 0.3, 0.9, 0.0
    for k in range(1, 6):
        drive(simulation, 0.0)
        assert simulation.state.velocity[0, 0, 1] == pytest.approx(max(0.9 - 0.6 * GRAVITY * 0.033 * k, 0.0), abs=1e-9)
        assert simulation.state.velocity[0, 0, 0] == pytest.approx(0.3, abs=1e-9)
    assert simulation.state.position[0, 0, 1] == pytest.approx(0.9**2 / (2 * 0.6 * GRAVITY), abs=1e-6)


def test_circles_hit_off_their_middle_do_not_turn():
    """The older, simpler model, for comparison: impulses go along the line of centres."""
    robot = MiroSot(shape="circle")
    simulation = lab(robots=[(robot, 0.0, 0.0, 0.0), (robot, 0.15, 0.03, 0.0)])
    hit = False
    for _ in range(30):
        drive(simulation, 1.0, 0.0)
        hit |= len(touches(simulation)) > 0
        assert np.abs(simulation.state.velocity[0, :, 2]).max() < 1e-12
    assert hit and np.abs(simulation.state.heading).max() < 1e-12


def test_firasim_s_ball_launched_sliding_rolls_at_five_sevenths():
    simulation = lab(profiled(Ball, "firasim", vx=1.0), dt=0.016)
    for _ in range(6):
        simulation.step()
    assert simulation.state.movables[0, 0, 3] == pytest.approx(5.0 / 7.0, abs=0.012)  # it has begun to slow down
    before = simulation.state.movables[0, 0, 3]
    for _ in range(60):
        simulation.step()
    assert (before - simulation.state.movables[0, 0, 3]) / (60 * 0.016) == pytest.approx(0.0756, rel=1e-3)


# -- welds and pins ---------------------------------------------------------------------------------------------------
def held_points(simulation, number=0):
    """Where both ends of a joint think it is, and how far its angle is off."""
    _, a, b, ax, ay, bx, by, angle = simulation.state.own.couplings[0, number]
    state = simulation.state
    poses = np.concatenate([np.column_stack([state.position[0], state.heading[0]]), state.movables[0, :, :3]])
    ends = []
    for body, (x, y) in ((int(a), (ax, ay)), (int(b), (bx, by))):
        px, py, heading = poses[body]
        ends.append((px + np.cos(heading) * x - np.sin(heading) * y, py + np.sin(heading) * x + np.cos(heading) * y))
    return np.linalg.norm(np.subtract(*ends)), poses[int(b), 2] - poses[int(a), 2] - angle


def test_welded_robots_that_are_driven_against_walls_stay_one_body(rng):
    """10 s of random orders: the weld is off by less than 0.1 mm and 1 mrad after every step."""
    robots = [(MiroSot(tyres="sliding"), -0.04, 0.0, 0.0), (MiroSot(tyres="sliding"), 0.04, 0.0, 0.5)]
    simulation = lab(ROOM, Weld("r0.0", "r1.0"), robots=robots)
    wheels = np.zeros((2, 2))
    for k in range(300):
        if k % 20 == 0:
            wheels = rng.uniform(-1.3, 1.3, (2, 2))
        drive(simulation, *wheels)
        off, turned = held_points(simulation)
        assert off < 1e-4 and abs(turned) < 1e-3
        assert np.abs(simulation.state.position).max() < 0.5 and np.isfinite(simulation.state.velocity).all()


def test_a_welded_pair_that_spins_freely_keeps_its_angular_momentum():
    """Two free blocks, welded: they turn as one about their common middle, for 3 s. Momentum stays.

    A substep h goes along the tangent, and the weld brings both back to the circle: at most (spin h)^2/2 is lost in each.
    """
    blocks = [Block(x, 0.0, width=0.05, depth=0.05, mass=mass, friction=0.0, name=name)
              for x, mass, name in ((-0.05, 1.0, "a"), (0.05, 0.5, "b"))]
    simulation = lab(*blocks, Weld("a", "b"))
    movables, masses = simulation.state.movables[0], np.array([1.0, 0.5])
    moments = masses * 0.05**2 / 6.0
    middle = (masses[:, None] * movables[:, :2]).sum(0) / masses.sum()
    spin = 4.0
    movables[:, 3], movables[:, 4] = 0.1 - spin * (movables[:, 1] - middle[1]), spin * (movables[:, 0] - middle[0])
    movables[:, 5] = spin

    def kept():
        momentum = (masses[:, None] * movables[:, 3:5]).sum(0)
        about = movables[:, :2] - (masses[:, None] * movables[:, :2]).sum(0) / masses.sum()
        spin = (masses * (about[:, 0] * movables[:, 4] - about[:, 1] * movables[:, 3]) + moments * movables[:, 5]).sum()
        return np.array([*momentum, spin])

    first = kept()
    for k in range(90):
        simulation.step()
        np.testing.assert_allclose(kept()[:2], first[:2], atol=1e-9)
        assert 0.0 <= 1.0 - kept()[2] / first[2] < 1.1 * lost(spin, k + 1) + 1e-9
        assert held_points(simulation)[0] < 1e-4
    assert movables[0, 5] == pytest.approx(movables[1, 5], abs=1e-4)
    assert 1.0 - lost(spin, 90) < movables[0, 2] / (spin * 90 * 0.033) < 1.0 + 1e-9


def lost(spin, steps):
    """The share of a turn's momentum that substeps of 5 ms along its tangent may cost."""
    return (7 * steps) * (spin * 0.005) ** 2 / 2.0


def test_a_pinned_pair_swings_freely_about_its_point():
    """One block is 1e6 times heavier and stands; the other goes round it at its own steady pace."""
    blocks = (Block(0.0, 0.0, width=0.02, depth=0.02, mass=1e6, friction=0.0, name="post"),
              Block(0.1, 0.0, width=0.1, depth=0.01, mass=0.1, friction=0.0, name="arm"))
    simulation = lab(*blocks, Pin("post", "arm", 0.05, 0.0))
    movables, spin = simulation.state.movables[0], 3.0
    movables[1, 4], movables[1, 5] = spin * 0.05, spin
    for _ in range(60):
        simulation.step()
        assert held_points(simulation)[0] < 1e-4
        assert np.hypot(movables[1, 0] - 0.05, movables[1, 1]) == pytest.approx(0.05, abs=1e-4)
    assert 1.0 - 1.1 * lost(spin, 60) < movables[1, 5] / spin < 1.0 + 1e-9
    assert 1.0 - 1.1 * lost(spin, 60) < movables[1, 2] / (spin * 60 * 0.033) < 1.0 + 1e-9
    assert np.abs(movables[0, 3:6]).max() < 1e-4


def test_pinned_robots_drive_on_as_a_train_and_their_joint_holds(rng):
    robots = [(MiroSot(), 0.0, 0.0, 0.0), (MiroSot(), -0.09, 0.0, 0.0)]
    simulation = lab(ROOM, Pin("r0.0", "r1.0", -0.045, 0.0), robots=robots)
    for k in range(300):
        drive(simulation, (0.6, 0.8) if k < 60 else rng.uniform(-1.3, 1.3, 2), 0.5)
        assert held_points(simulation)[0] < 1e-4
        assert np.abs(simulation.state.position).max() < 0.5


# -- how it is run changes nothing ------------------------------------------------------------------------------------
def orders(worlds, step):
    """For each world its own, whatever else runs beside it."""
    rngs = [np.random.default_rng((w, step // 10)) for w in worlds]
    return np.stack([rng.uniform(-1.3, 1.3, (6, 2)) for rng in rngs])


def games(first, count, steps=90, tyres="nonholonomic"):
    simulation = Simulation(league.world(tyres=tyres), 5, count, first_world=first)
    worlds = range(first, first + count)
    simulation.state.movables[:, 0, 3] = [0.5 + 0.1 * w for w in worlds]
    for k in range(steps):
        wheels = orders(worlds, k)
        simulation.step({"blue": wheels[:, :3], "yellow": wheels[:, 3:]})
    return simulation.state


PARTS = ("position", "heading", "velocity", "movables", "drive", "wheel_angle", "crashed", "crashes", "step", "unresolved")


@pytest.mark.parametrize("tyres", ["nonholonomic", "sliding"])
def test_a_game_is_the_same_alone_among_7_and_among_64(tyres):
    many = games(0, 64, tyres=tyres)
    assert many.crashes.sum() > 100
    for first, count in ((0, 7), (40, 7), (63, 1), (0, 1), (17, 1)):
        few = games(first, count, tyres=tyres)
        for part in PARTS:
            assert np.array_equal(getattr(few, part), getattr(many, part)[first:first + count]), part


def test_threads_change_no_bit():
    world = league.world()
    walkers = replace(world, groups=tuple(replace(group, controller=RandomWalk()) for group in world.groups))
    runs = [simulate(walkers, 5.0, seed=3, worlds=7, threads=threads).state for threads in (1, 2, 7)]
    assert runs[0].crashes.sum() > 20
    for run in runs[1:]:
        for part in PARTS:
            assert np.array_equal(getattr(run, part), getattr(runs[0], part)), part


def test_a_world_that_is_done_stays_still_and_the_others_go_on():
    simulation = Simulation(league.world(), 0, 3)
    for k in range(20):
        simulation.step({"blue": orders(range(3), k)[:, :3]})
    simulation.state.movables[:, 0, 3] = 1.0
    simulation.state.done[1] = True
    before = {part: getattr(simulation.state, part).copy() for part in ("position", "heading", "velocity", "movables", "step")}
    simulation.step({"blue": np.full((3, 3, 2), 1.0)})
    for part, was in before.items():
        now = getattr(simulation.state, part)
        assert np.array_equal(now[1], was[1]) and not np.array_equal(now[0], was[0]), part


def test_a_robot_that_is_not_alive_does_not_drive_but_can_be_pushed():
    simulation = lab(robots=[(MiroSot(), 0.0, 0.0, 0.0), (MiroSot(), 0.1, 0.0, 0.0)])
    simulation.state.alive[0, 1] = False
    for _ in range(60):
        drive(simulation, 0.5, -1.0)
    assert simulation.state.position[0, 1, 0] > 0.15  # it never drove back, and the other moved it
    assert simulation.state.velocity[0, 1, 0] == pytest.approx(simulation.state.velocity[0, 0, 0], abs=1e-4)


def test_orders_that_are_half_a_number_are_refused_and_whole_nan_stands_still():
    simulation = lab(robots=[(MiroSot(), 0.0, 0.0, 0.0)])
    with pytest.raises(FormigaError, match="drive of robot 0 are numbers and NaN"):
        drive(simulation, (np.nan, 0.5))
    with pytest.raises(FormigaError):
        drive(simulation, (np.inf, 0.5))
    drive(simulation, (np.nan, np.nan))
    assert np.array_equal(simulation.state.position[0, 0], (0.0, 0.0)) and np.isfinite(simulation.state.velocity).all()


# -- no preferred direction, place or hand ------------------------------------------------------------------------------
def scene(matrix, shift, turn, hand, tyres, steps=45):
    """Four robots, a ball, a block, a puck and a house, moved by a motion of the plane; tracks of all (steps, bodies, 3)."""
    moved = lambda points: np.asarray(points, float) @ matrix.T + shift  # noqa: E731
    house = [(-0.4, -0.35), (0.5, -0.3), (0.45, 0.3), (-0.1, 0.4), (-0.4, 0.2), (-0.4, -0.35)]
    robots = [(MiroSot(tyres=tyres), *moved((x, y)), hand * heading + turn)
              for x, y, heading in ((-0.2, -0.1, 0.3), (0.2, 0.0, 2.8), (0.0, 0.2, -1.2), (0.3, -0.15, 2.0))]
    (bx, by), (px, py), (qx, qy) = moved((-0.05, -0.05)), moved((0.1, -0.15)), moved((0.05, 0.1))
    block = Block(qx, qy, heading=hand * 0.4 + turn, width=0.06, depth=0.09, mass=0.3)
    simulation = lab(Wall(moved(house).ravel()), Ball(x=bx, y=by), Puck(px, py, 0.03), block, robots=robots)
    state, track = simulation.state, []
    state.movables[0, 0, 3:5] = matrix @ (0.6, 0.2)
    speeds = [(0.8, 0.6), (0.5, 0.7), (1.0, 0.9), (0.4, 0.4)]
    for _ in range(steps):
        drive(simulation, *[speed if hand > 0 else speed[::-1] for speed in speeds])
        track.append(np.concatenate([np.column_stack([state.position[0], state.heading[0]]), state.movables[0, :, :3]]))
    return np.array(track), int(state.crashes.sum())


@pytest.mark.parametrize("tyres", ["nonholonomic", "sliding"])
@pytest.mark.parametrize("angle, shift, hand", [(1.0, (0.0, 0.0), 1), (np.pi / 2, (3.0, -7.0), 1), (0.0, (0.0, 0.0), -1),
                                                (-2.5, (-0.4, 0.2), -1)])
def test_a_scene_that_is_turned_moved_or_mirrored_goes_on_the_same(tyres, angle, shift, hand):
    """To the precision to which leaning contacts are solved; sensitive dependence makes the rest of it grow with time."""
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    matrix = rotation @ np.diag([1.0, hand])
    track, crashes = scene(np.eye(2), (0.0, 0.0), 0.0, 1, tyres)
    other, _ = scene(matrix, np.array(shift), angle, hand, tyres)
    assert crashes > 10
    np.testing.assert_allclose(other[..., :2], track[..., :2] @ matrix.T + shift, atol=5e-4)
    np.testing.assert_allclose(other[:, [0, 1, 2, 3, 6], 2], hand * track[:, [0, 1, 2, 3, 6], 2] + angle, atol=1e-2)


# -- absurd inputs ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mass", [1e-9, 1e9])
@pytest.mark.parametrize("dt", [0.001, 0.033, 1.0])
def test_masses_of_a_grain_and_of_a_mountain_and_long_steps_stay_finite_and_inside(mass, dt):
    """A robot of 0.5 kg, and one of absurd mass, drive at a ball of as absurd a mass, in a room."""
    robots = [(MiroSot(), -0.3, 0.0, 0.0), (MiroSot(mass=mass), 0.3, 0.01, np.pi)]
    simulation = lab(ROOM, Ball(mass=mass, felt=True), Block(0.0, 0.2, width=0.1, depth=0.1, mass=mass), robots=robots, dt=dt)
    state = simulation.state
    for k in range(60):
        drive(simulation, 1.3 if k % 20 < 15 else (-1.3, 1.0), 1.3)
        assert all(np.isfinite(part).all() for part in (state.position, state.heading, state.velocity, state.movables))
        assert np.abs(state.position).max() < 0.5 and np.abs(state.movables[0, :, :2]).max() < 0.5
    assert np.abs(state.movables[0, :, 3:5]).max() < 20.0


def test_robots_that_start_in_each_other_and_in_the_board_are_parted(rng):
    """By hand, as a referee might: nobody asks whether there is room. After a few steps nobody is in anybody."""
    simulation = Simulation(league.world(), 0, 20)
    state = simulation.state
    state.position[...] = rng.uniform(-0.1, 0.1, state.position.shape)
    state.position[10:, :, 0] += 0.66  # and in the goal area, some over the board
    state.position[10:, :, 0] = np.minimum(state.position[10:, :, 0], 0.74)
    state.heading[...] = rng.uniform(0.0, 7.0, state.heading.shape)
    state.movables[10:, 0, 0] = 0.7
    for _ in range(30):
        simulation.step()
    found = depths(simulation)
    assert not found["outside"].any()
    assert max(found[what].max() for what in found if what != "outside") < 1e-4
    assert np.isfinite(state.position).all() and np.isfinite(state.movables).all()


@pytest.mark.parametrize("x, y", [(0.01, 0.0), (0.0, 0.0), (0.03, 0.03)])
def test_robots_that_a_world_places_in_each_other_are_parted(x, y):
    simulation = lab(robots=[(MiroSot(), 0.0, 0.0, 0.0), (MiroSot(), x, y, 0.0)])
    drive(simulation, 0.0, 0.0)
    apart = np.abs(np.diff(simulation.state.position[0], axis=0)).max()
    assert apart > SIDE - 1e-4 and np.abs(simulation.state.velocity).max() < 1e-6  # and nobody is shot away


@pytest.mark.parametrize("x, y", [(0.01, 0.0), (0.0, 0.0), (0.04, 0.04)])
def test_a_ball_that_starts_in_a_robot_is_parted_and_does_not_fly_away(x, y):
    simulation = lab(Ball(x=x, y=y), robots=[(MiroSot(), 0.0, 0.0, 0.0)])
    drive(simulation, 0.0)
    state = simulation.state
    assert from_square(state.movables[:, 0, :2], state.position, state.heading, SIDE / 2).min() > 0.02135 - 1e-4
    assert np.abs(state.movables[0, 0, 3:5]).max() < 1e-6


def test_a_robot_without_a_mass_is_refused_by_name(own):
    """A user's own robot, say."""
    ghost = own("robot", radius=0.05, clearance=0.0, wheel_base=0.08, wheel_radius=0.02, top_speed=0.2, motor_noise=0.0,
                position_noise=0.0, heading_noise=0.0)
    with pytest.raises(FormigaError, match=r"'ghosts': <own-\d+> has no 'mass', so nothing can push it"):
        Simulation(World(contact=Contact("impulse"), groups=(Group(ghost, 1, "ghosts", (At(0.0, 0.0),)),)))


# -- many bodies ------------------------------------------------------------------------------------------------------------
def test_a_crowd_of_robots_blocks_and_pucks_stays_apart(rng):
    """40 bodies in a room of 1 m: there neighbours are found by cells. Overlaps below 0.1 mm after every step."""
    lattice = [(x, y) for x in np.linspace(-0.42, 0.42, 7) for y in np.linspace(-0.42, 0.42, 6)][:40]
    robots = [(MiroSot(tyres="sliding" if k % 2 else "nonholonomic"), x, y, 0.3 * k) for k, (x, y) in enumerate(lattice[:25])]
    things = [Puck(x, y, 0.03, name=f"p{k}") if k % 2 else Block(x, y, width=0.05, depth=0.07, name=f"p{k}")
              for k, (x, y) in enumerate(lattice[25:])]
    simulation = lab(ROOM, *things, robots=robots, worlds=2)
    state = simulation.state
    boxes = [k for k, thing in enumerate(things) if isinstance(thing, Block)]
    pucks = [k for k, thing in enumerate(things) if isinstance(thing, Puck)]
    crash = 0
    for k in range(60):
        if k % 15 == 0:
            wheels = rng.uniform(-1.0, 1.0, (25, 2))
        drive(simulation, *wheels)
        crash += int(state.crashed.sum())
        for w in range(2):
            corners = square(state.position[w], state.heading[w], SIDE / 2)
            one, other = np.triu_indices(25, 1)
            assert polygons_depth(corners[one], corners[other]).max() < 1e-4
            assert np.abs(corners).max() < 0.5 + 1e-4
            for b in boxes:
                own = plain.placed(rectangle(0.05, 0.07), *state.movables[w, b, :3])
                assert polygons_depth(corners, own[None]).max() < 1e-4 and np.abs(own).max() < 0.5 + 1e-4
            discs = state.movables[w, pucks, :2]
            gaps = np.linalg.norm(discs[:, None] - discs[None], axis=-1) + np.eye(len(pucks))
            assert gaps.min() > 0.06 - 1e-4 and np.abs(discs).max() < 0.47 + 1e-4
            for disc in discs:
                away = from_square(disc[None], state.position[w][None], state.heading[w][None], SIDE / 2)
                assert away.min() > 0.03 - 1e-4
    assert crash > 200 and state.unresolved.sum() == 0


def test_bodies_far_away_change_nothing():
    """With them there are more than sixteen bodies, and neighbours are found in another way."""
    def run(more):
        far = (Puck(0.3 + 0.1 * (k % 5), 3.0 + 0.1 * (k // 5), 0.03, name=f"p{k}") for k in range(more))
        robots = [(MiroSot(), -0.2, 0.0, 0.0), (MiroSot(), 0.15, 0.02, 3.0), (MiroSot(), 0.0, 0.2, -1.5)]
        simulation = lab(Ball(x=-0.05, vx=0.5), *far, robots=robots)
        for _ in range(45):
            drive(simulation, 0.8, 0.6, (0.5, 0.6))
        state = simulation.state
        return np.concatenate([state.position[0].ravel(), state.heading[0], state.movables[0, 0]])

    np.testing.assert_allclose(run(20), run(0), atol=1e-9)
