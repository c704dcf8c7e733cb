"""Bodies that hit each other, through whole control steps: the laws of impacts, and that nothing passes through anything."""

import numpy as np
import pytest

from formiga.engine.planar.impulse.bodies import INVERSE_INERTIA, INVERSE_MASS
from formiga.loop import Simulation
from formiga.soccer import league
from formiga.studies.soccer.overlap import depths, from_square, from_wall, inside
from formiga.world.elements import profiled
from formiga.world.field import Field
from formiga.world.model import Ball, Block, Contact, Cylinder, Group, Puck, Wall, World
from formiga.world.movables import rectangle
from formiga.world.placement import At
from formiga.world.robots import MiroSot
from tests.reference import impacts as plain
from tests.reference.impacts import Body

DT = 0.033
SIDE, MASS = 0.075, 0.5
HELD = 1e9  # s: with such a lag motors do nothing


def lab(*things, robots=(), dt=DT, worlds=1, **contact):
    """Loose things and robots (MiroSot, x, y, heading), each robot a group of its own: r0, r1, ..."""
    groups = tuple(Group(robot, 1, f"r{k}", (At(x, y, heading),)) for k, (robot, x, y, heading) in enumerate(robots))
    return Simulation(World(dt=dt, contact=Contact("impulse", **contact), things=things, groups=groups), 0, worlds)


def drive(simulation, *speeds):
    """One step; for each robot a pair of rim speeds, or one for both."""
    W = simulation.state.worlds
    simulation.step({f"r{k}": np.broadcast_to(np.asarray(speed, float), (W, 1, 2)) for k, speed in enumerate(speeds)})


def touches(simulation, world=0):
    """The contacts of the last step of a world."""
    log = simulation.state.scratch.log
    return log.rows[world, :log.count[world]]


# -- one impact -------------------------------------------------------------------------------------------------------
TABLE = [(0.5, 0.30242, 0.39516, 0.60484, 9.67742), (0.0, 0.20161, 0.59677, 0.40323, 6.45161),
         (1.0, 0.40323, 0.19355, 0.80645, 12.90323)]


@pytest.mark.parametrize("gap", [0.0001, 0.001, 0.004])
@pytest.mark.parametrize("eps, j, after, behind, spin", TABLE)
def test_an_offset_hit_of_two_robots_is_that_of_the_table(eps, j, after, behind, spin, gap):
    """They are brought to touch by a step: A drives at 1 m/s at B, 3 cm aside. [digest of Klancar et al. 2003, eq. 21]"""
    robot = MiroSot(restitution=eps, motor_lag=HELD)
    simulation = lab(robots=[(robot, 0.0, 0.0, 0.0), (robot, 0.075 + gap, 0.03, 0.0)], dt=0.005)
    simulation.state.velocity[0, 0] = 1.0, 0.0, 0.0
    drive(simulation, 0.0, 0.0)
    speed = np.linalg.norm(simulation.state.velocity[0, :, :2], axis=-1)
    np.testing.assert_allclose([*speed, *simulation.state.velocity[0, :, 2]], [after, behind, spin, spin], atol=1e-5)
    (x, y, nx, ny, impulse, a, b), = touches(simulation)
    assert impulse == pytest.approx(j, abs=1e-5) and (a, b) == (0, 1) and (nx, ny) == (-1.0, 0.0)
    assert (x, y) == pytest.approx((0.0375 + gap, 0.015), abs=5e-4)


@pytest.mark.parametrize("movables", [False, True])
def test_head_on_with_full_restitution_swaps_velocities(movables):
    if movables:
        simulation = lab(*(Block(x, 0.0, width=SIDE, depth=SIDE, mass=MASS, friction=0.0, restitution=1.0, name=f"b{x}")
                           for x in (-0.05, 0.05)))
        velocity = simulation.state.movables[0, :, 3:6]
    else:
        robot = MiroSot(restitution=1.0, motor_lag=HELD)
        simulation = lab(robots=[(robot, -0.05, 0.0, 0.0), (robot, 0.05, 0.0, np.pi)])
        velocity = simulation.state.velocity[0]
    velocity[:, 0] = 1.0, -1.0
    simulation.step()
    np.testing.assert_allclose(velocity, [(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)], atol=1e-9)
    assert touches(simulation)[0, 4] == pytest.approx(1.0, abs=1e-9)


def test_a_wall_s_end_that_meets_a_robot_aside_turns_it_as_in_the_table():
    """r_y = 0.0375, eps 0.5: j = 0.3 N s, v = 0.4 m/s, omega = 24 rad/s.

    Only r x n counts; so a box of the square's mass and inertia, but 8 cm broad, can be hit there and is not just grazed.
    """
    broad = 0.08
    deep = np.sqrt(2.0 * SIDE**2 - broad**2)
    robot = MiroSot(points=tuple(np.ravel(rectangle(deep, broad))), wall_restitution=0.5, motor_lag=HELD)
    simulation = lab(Wall((0.5 * deep + 0.003, SIDE / 2, 1.0, SIDE / 2)), robots=[(robot, 0.0, 0.0, 0.0)], dt=0.005)
    simulation.state.velocity[0, 0] = 1.0, 0.0, 0.0
    drive(simulation, 0.0)
    vx, vy, spin = simulation.state.velocity[0, 0]
    assert (np.hypot(vx, vy), spin, touches(simulation)[0, 4]) == pytest.approx((0.4, 24.0, 0.3), abs=1e-5)


def thrown(rng, worlds, restitution):
    """Pairs of free blocks of random outlines that fly at each other."""
    points = [plain.random_convex(rng, 0.06) for _ in range(2)]
    masses = rng.uniform(0.1, 2.0, 2)
    simulation = lab(*(Block(0.3 * k, 0.0, points=tuple(own.ravel()), mass=mass, friction=0.0, restitution=restitution,
                             name=f"b{k}") for k, (own, mass) in enumerate(zip(points, masses))), worlds=worlds)
    movables = simulation.state.movables
    movables[:, :, :2] = [(-0.1, 0.0), (0.1, 0.0)] + rng.uniform(-0.03, 0.03, (worlds, 2, 2))
    movables[:, :, 2] = rng.uniform(0.0, 2.0 * np.pi, (worlds, 2))
    movables[:, :, 3:6] = [(2.0, 0.0, 0.0), (-2.0, 0.0, 0.0)] + rng.normal(0.0, (0.4, 0.4, 5.0), (worlds, 2, 3))
    moments = 1.0 / simulation.model.impulse.bodies.fact[:, INVERSE_INERTIA]
    return simulation, masses, moments


def as_bodies(rows, masses, moments):
    return [Body(m, i, row[:2].copy(), row[3:5].copy(), row[5]) for row, m, i in zip(rows, masses, moments)]


@pytest.mark.parametrize("restitution", [0.0, 0.4, 1.0])
def test_thrown_blocks_keep_momentum_and_lose_exactly_the_energy_they_should(rng, restitution):
    """dE = (1 - eps^2) v^2/2K, with v and K from the contact that the engine names: an impulse j n whose arm is I dw/j.

    Corner on corner included, where the engine has to find the moment of the impact. Free motion keeps all of it, so the law
    holds for a whole control step with one impact.
    """
    hits = 0
    for _ in range(8):
        simulation, masses, moments = thrown(rng, 60, restitution)
        for _ in range(3):
            before = simulation.state.movables.copy()
            simulation.step()
            for w in range(60):
                a, b = as_bodies(before[w], masses, moments)
                c, d = as_bodies(simulation.state.movables[w], masses, moments)
                np.testing.assert_allclose(plain.momentum(c, d), plain.momentum(a, b), atol=1e-10)
                found = touches(simulation, w)
                n, j = (found[0, 2:4], found[0, 4]) if len(found) == 1 else (None, 0.0)
                if j < 1e-3 or not np.allclose(masses[0] * (c.velocity - a.velocity), j * n, atol=1e-9):
                    continue  # none, or they went on to lean on each other
                hits += 1
                arms = [i * (late.spin - early.spin) / j for i, early, late in zip(moments, (a, b), (c, d))]
                closing = n @ (a.velocity - b.velocity) + a.spin * arms[0] + b.spin * arms[1]  # B's arm has -j
                K = (1.0 / masses).sum() + (np.square(arms) / moments).sum()
                assert j == pytest.approx(-(1.0 + restitution) * closing / K, rel=1e-8)
                assert plain.kinetic(a, b) - plain.kinetic(c, d) == pytest.approx(
                    (1.0 - restitution**2) * closing**2 / (2.0 * K), abs=1e-9)
                assert plain.angular_momentum(c, d) == pytest.approx(plain.angular_momentum(a, b), abs=2e-4)
    assert hits > 100


def test_a_hit_happens_where_the_outlines_touch_not_when_they_are_deep_in_each_other(rng):
    """The contact that the engine names lies on both outlines, within the threshold of 0.5 mm, also corner on corner."""
    worst = []
    for _ in range(2):
        simulation, _, _ = thrown(rng, 50, 1.0)
        outlines = [np.array(block.outline) for block in simulation.world.movables]
        for _ in range(3):
            before = simulation.state.movables.copy()
            simulation.step()
            for w in range(50):
                found = touches(simulation, w)
                if len(found) != 1:
                    continue
                p, gaps = found[0, :2], []
                for t in np.linspace(0.0, DT, 100):  # both fly freely until the hit: when is p on both?
                    poses = before[w, :, :3] + t * before[w, :, 3:6]
                    gaps.append(max(abs(from_outline(p, plain.placed(own, *pose))) for own, pose in zip(outlines, poses)))
                worst.append(min(gaps))
    assert len(worst) > 50 and np.max(worst) < 1.2e-3  # 0.25 mm, and what they move in 0.17 ms


def from_outline(p, corners):
    return min(plain.from_segment(p, a, b) for a, b in zip(corners, np.roll(corners, -1, axis=0)))


@pytest.mark.parametrize("restitution", [0.0, 0.7, 1.0])
def test_free_blocks_and_pucks_in_a_box_never_gain_energy(rng, restitution):
    """Ten bodies, walls, many impacts at once. With full restitution they lose next to nothing."""
    box = Wall((-0.3, -0.3, 0.3, -0.3, 0.3, 0.3, -0.3, 0.3, -0.3, -0.3))
    places = [(x, y) for x in (-0.2, -0.07, 0.07, 0.2) for y in (-0.2, 0.0, 0.2)]
    more = {"friction": 0.0, "restitution": restitution, "wall_restitution": restitution}
    things = [Puck(x, y, 0.03, name=f"t{k}", **more) if k % 2 else
              Block(x, y, points=tuple(plain.random_convex(rng, 0.045).ravel()), name=f"t{k}", **more)
              for k, (x, y) in enumerate(places)]
    simulation = lab(box, *things, worlds=5, rest_speed=0.0 if restitution == 1.0 else 0.02)
    movables = simulation.state.movables
    movables[:, :, 3:6] = rng.normal(0.0, (0.5, 0.5, 3.0), movables[:, :, 3:6].shape)
    fact = simulation.model.impulse.bodies.fact
    energy = lambda: 0.5 * ((movables[:, :, 3:5] ** 2).sum(-1) / fact[:, INVERSE_MASS]  # noqa: E731
                            + movables[:, :, 5] ** 2 / fact[:, INVERSE_INERTIA]).sum(-1)
    first = last = energy()
    for _ in range(200):
        simulation.step()
        now = energy()
        assert (now <= last * (1.0 + 1e-9) + 1e-12).all()
        assert (np.abs(movables[:, :, :2]) < 0.3).all()
        last = now
    if restitution == 1.0:
        assert (last > 0.9 * first).all()
    else:
        assert (last < 0.5 * first).all()


# -- a fast ball ------------------------------------------------------------------------------------------------------
def in_the_field(ball, field, simulation):
    """Asserts that no ball overlaps the board or has left it."""
    board = np.array(field.board)
    at = simulation.state.movables[:, 0, :2]
    assert inside(at, board).all()
    for wall in np.stack([board, np.roll(board, -1, axis=0)], axis=1):
        assert (from_wall(at, wall) > ball.radius - 1e-4).all()


@pytest.mark.parametrize("profile", ["small", "middle"])
def test_a_ball_at_5_m_s_never_leaves_the_field(rng, profile):
    """Any angle, from anywhere: corners, goals, goal posts. 16 cm in a control step, and the ball has 4 cm."""
    field, ball = profiled(Field, profile), Ball(wall_restitution=1.0, rolling=0.0, viscous=0.0)
    simulation = lab(field, ball, worlds=720)
    movables, angle = simulation.state.movables, 2.0 * np.pi * np.arange(720) / 720
    movables[:, 0, :2] = rng.uniform(-0.6, 0.6, (720, 2))
    movables[:, 0, 3], movables[:, 0, 4] = 5.0 * np.cos(angle), 5.0 * np.sin(angle)
    for _ in range(60):
        simulation.step()
        in_the_field(ball, field, simulation)
    np.testing.assert_allclose(np.linalg.norm(movables[:, 0, 3:5], axis=-1), 5.0, rtol=1e-6)  # it lost nothing on its way


@pytest.mark.parametrize("speed", [1.0, 5.0, 20.0, 100.0])
def test_a_ball_does_not_pass_thin_walls_needles_or_slits(rng, speed):
    """A wall without thickness, a needle of 1 mm, a slit of 4 cm for a ball of 4.27 cm; straight on, from every distance."""
    ball = Ball(x=-0.1, rolling=0.0, viscous=0.0)
    for things in ((Wall((0.0, -1.0, 0.0, 1.0)),), (Cylinder(0.0, 0.0, 0.001),),
                   (Wall((0.0, 0.02, 0.0, 1.0)), Wall((0.0, -0.02, 0.0, -1.0)))):
        simulation = lab(*things, ball, worlds=200)
        movables = simulation.state.movables
        movables[:, 0, 0], movables[:, 0, 1] = np.linspace(-0.25, -0.023, 200), rng.uniform(-1e-4, 1e-4, 200)
        movables[:, 0, 3] = speed
        for _ in range(12):
            simulation.step()
        assert (movables[:, 0, 0] < 0.0).all() and (movables[:, 0, 3] < 1e-6).all()  # in the slit it may get stuck


@pytest.mark.parametrize("felt", [False, True])
def test_a_ball_at_5_m_s_does_not_pass_a_robot_that_comes_the_other_way(rng, felt):
    robot, worlds = MiroSot(), 300
    simulation = lab(Ball(felt=felt), robots=[(robot, 0.3, 0.0, np.pi)], worlds=worlds)
    state = simulation.state
    state.position[:, 0, 1] = rng.uniform(-0.036, 0.036, worlds)
    state.movables[:, 0, 0] = rng.uniform(-0.2, 0.1, worlds)
    state.movables[:, 0, 3] = 5.0
    state.velocity[:, 0, 0] = -1.3
    for _ in range(8):
        drive(simulation, 1.3)
        assert (from_square(state.movables[:, 0, :2], state.position, state.heading, SIDE / 2) > 0.02135 - 1e-4).all()
    assert (state.movables[:, 0, 0] < state.position[:, 0, 0]).all() and (state.movables[:, 0, 3] < 0.0).all()


def test_a_ball_at_5_m_s_stays_between_four_robots(rng):
    """A cage of robots with gaps of 4 cm; they are 0.5 kg and stand still, the ball bounces about."""
    cage = [(0.0945, 0.0, 0.0), (-0.0945, 0.0, 0.0), (0.0, 0.0945, 0.0), (0.0, -0.0945, 0.0)]
    simulation = lab(Ball(restitution=1.0, rolling=0.0, viscous=0.0), robots=[(MiroSot(), *pose) for pose in cage], worlds=360)
    state, angle = simulation.state, 2.0 * np.pi * np.arange(360) / 360
    state.movables[:, 0, 3], state.movables[:, 0, 4] = 5.0 * np.cos(angle), 5.0 * np.sin(angle)
    for _ in range(60):
        drive(simulation, 0.0, 0.0, 0.0, 0.0)
        assert (from_square(state.movables[:, 0, :2], state.position, state.heading, SIDE / 2) > 0.02135 - 1e-4).all()
        assert (np.abs(state.movables[:, 0, :2]) < 0.1).all()


@pytest.mark.parametrize("degrees", [30, 45, 60])
def test_a_ball_keeps_its_speed_along_a_wall_and_a_share_across(degrees):
    angle = np.radians(degrees)
    ball = Ball(x=-0.05, vx=np.sin(angle), vy=np.cos(angle), rolling=0.0, viscous=0.0, wall_restitution=0.7)
    simulation = lab(Wall((0.0, -2.0, 0.0, 2.0)), ball)
    for _ in range(6):
        simulation.step()
    vx, vy = simulation.state.movables[0, 0, 3:5]
    assert vy == pytest.approx(np.cos(angle), abs=1e-12) and vx == pytest.approx(-0.7 * np.sin(angle), abs=1e-12)


# -- random play ------------------------------------------------------------------------------------------------------
def play(rng, simulation, steps, each):
    """Robots that drive at random, chase the ball or push it backwards into a corner; `each()` after every step."""
    state, top = simulation.state, simulation.world.groups[0].robot.top_speed
    shape = state.heading.shape
    wild, mood = np.zeros((*shape, 2)), rng.integers(0, 3, shape)
    for k in range(steps):
        if k % 15 == 0:
            wild = top * (rng.uniform(-1.0, 1.0, (*shape, 1)) + rng.uniform(-0.3, 0.3, (*shape, 2)))
        if k % 90 == 89:
            mood = rng.integers(0, 3, shape)
        way = state.movables[:, :1, :2] - state.position
        turn = np.arctan2(way[..., 1], way[..., 0]) - state.heading
        turn = (turn + np.pi) % (2.0 * np.pi) - np.pi
        chase = top * np.stack([1.0 - turn, 1.0 + turn], axis=-1)
        wheels = np.select([mood[..., None] == 1, mood[..., None] == 2], [chase, -chase[..., ::-1]], wild).clip(-top, top)
        half = shape[1] // 2
        simulation.step({"blue": wheels[:, :half], "yellow": wheels[:, half:]})
        each()


@pytest.mark.parametrize("preset, tyres, players", [("mirosot", "nonholonomic", 3), ("mirosot", "sliding", 3),
                                                    ("golf", "nonholonomic", 3), ("firasim", "sliding", 3),
                                                    ("mirosot", "nonholonomic", 5)])
def test_after_every_step_of_random_play_nobody_is_in_anybody(rng, preset, tyres, players):
    """Overlaps of robots, ball and board below 0.1 mm, and the ball in the field; the check knows nothing of the engine."""
    simulation = Simulation(league.world(players, preset, tyres=tyres), 0, 8)
    worst = {}

    def check():
        for what, value in depths(simulation).items():
            worst[what] = max(worst.get(what, 0.0), float(value.max()))
        state = simulation.state
        assert all(np.isfinite(part).all() for part in (state.position, state.heading, state.velocity, state.movables))

    play(rng, simulation, 300, check)
    assert all(value < 1e-4 for value in worst.values()), worst
    assert simulation.state.unresolved.sum() == 0


# -- pinched ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("preset", ["mirosot", "golf", "firasim"])
def test_a_ball_pinched_at_the_board_stays_outside_of_all(rng, preset):
    """A robot drives at a ball that lies at the board, in a corner, at a goal post: 200 places, 1.5 s at full speed."""
    world, worlds = league.world(1, preset), 200
    simulation = Simulation(world, 0, worlds)
    state, board = simulation.state, np.array(world.pitch.board)
    walls = np.stack([board, np.roll(board, -1, axis=0)], axis=1)
    free = lambda p, keep: inside(p, board) and min(from_wall(p, wall) for wall in walls) > keep  # noqa: E731
    for w in range(worlds):
        start, end = walls[rng.integers(len(walls))]
        at = start + rng.choice([0.0, rng.random(), 1.0]) * (end - start)
        while not free(ball := at + rng.uniform(-0.06, 0.06, 2), 0.0225):
            pass
        while True:
            a, away = rng.uniform(0.0, 7.0), rng.uniform(0.09, 0.2)
            if free(robot := ball - away * np.array([np.cos(a), np.sin(a)]), 0.055):
                break
        state.movables[w, 0, :2], state.position[w, 0], state.heading[w, 0] = ball, robot, a
        state.position[w, 1] = (0.0, 0.0) if np.hypot(*robot) > 0.3 else (0.0, 0.4)
    full = np.full((worlds, 1, 2), world.groups[0].robot.top_speed)
    for _ in range(round(1.5 / world.dt)):
        simulation.step({"blue": full, "yellow": 0.0 * full})
        found = depths(simulation)
        assert not found["outside"].any()
        assert max(found[what].max() for what in found if what != "outside") < 1e-4
    assert np.isfinite(state.movables).all()


@pytest.mark.parametrize("felt", [False, True])
@pytest.mark.parametrize("heading", [0.0, np.pi])
def test_a_ball_between_a_robot_and_a_wall_stops_the_robot(felt, heading):
    """Whether the ball is felt or not: it acts as part of the wall behind it."""
    simulation = lab(Wall((0.5, -1.0, 0.5, 1.0)), Ball(x=0.47, felt=felt), robots=[(MiroSot(), 0.3, 0.0, heading)])
    for _ in range(90):
        drive(simulation, 0.5 if heading == 0.0 else -0.5)
    state = simulation.state
    stop = 0.5 - 2 * 0.02135 - SIDE / 2
    assert state.position[0, 0, 0] == pytest.approx(stop, abs=1.5e-3) and abs(state.position[0, 0, 1]) < 1e-6
    assert np.linalg.norm(state.velocity[0, 0, :2]) < 5e-3 and np.linalg.norm(state.movables[0, 0, 3:5]) < 5e-3
    assert state.movables[0, 0, 0] == pytest.approx(0.5 - 0.02135, abs=1e-3)


@pytest.mark.parametrize("felt", [False, True])
def test_a_ball_between_two_robots_stops_both(felt):
    """For a while: the balance is unstable, as of any ball between two boxes that are pushed."""
    simulation = lab(Ball(felt=felt), robots=[(MiroSot(), -0.2, 0.0, 0.0), (MiroSot(), 0.2, 0.0, np.pi)])
    for _ in range(24):
        drive(simulation, 0.5, 0.5)
    x = simulation.state.position[0, :, 0]
    assert x[1] - x[0] == pytest.approx(SIDE + 2 * 0.02135, abs=1.5e-3) and abs(x.sum()) < 4e-3
    assert np.abs(simulation.state.velocity[0]).max() < 5e-3
    assert np.abs(simulation.state.movables[0, 0, :2]).max() < 2e-3
