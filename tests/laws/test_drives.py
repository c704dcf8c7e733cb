"""Laws of omnidirectional and steered drives, in the plane and in space: closed forms, twins, the same bits in every way."""

import numpy as np
import pytest

from formiga import Simulation, read_world
from formiga.world.drives import Differential, Omni, Steered, tops
from formiga.world.model import Arena, Contact, Group, World
from formiga.world.movables import Puck
from formiga.world.placement import At
from formiga.world.robots import Disc
from formiga.world.robots.car import Car
from formiga.world.robots.omni import Omni as OmniRobot
from tests.reference import drives as reference

PLANE = ("none", "reposition", "stop", "impulse")
SLIPLESS = OmniRobot(tyre_friction=0.0)
QUICK = Car(shape="disc", steering_rate=1e9)


def lab(*robots, contact="none", engine="planar", dt=0.1, things=(), worlds=1, **how):
    groups = tuple(Group(robot, 1, f"r{k}", (At(2.0 * k, 0.0, 0.3),)) for k, robot in enumerate(robots))
    world = World(contact=Contact(contact), things=(Arena(60.0, 60.0), *things), groups=groups, dt=dt, engine=engine)
    return Simulation(world, worlds=worlds, **how)


def go(simulation, steps, *channels):
    """So many steps with these channels for each group; poses (groups, 3)."""
    orders = {f"r{k}": np.broadcast_to(np.array(each, float), (simulation.state.worlds, 1, len(each)))
              for k, each in enumerate(channels)}
    for _ in range(steps):
        simulation.step(orders)
    return np.column_stack([simulation.state.position[0], simulation.state.heading[0]])


# -- what a drive says ------------------------------------------------------------------------------------------------
def test_the_wheels_of_an_omni_drive_give_the_twist_that_fits_their_contact_points_best(rng):
    for count in (3, 3, 4, 5, 8):
        for _ in range(20):
            angles, directions = rng.uniform(-np.pi, np.pi, (2, count))
            drive = Omni(tuple(angles), rng.uniform(0.05, 0.3), 1.0, tuple(directions))
            if np.linalg.cond(drive.jacobian) > 100.0:
                continue
            rims = rng.uniform(-1.0, 1.0, count)
            assert drive.twist(rims) == pytest.approx(
                reference.omni_twist(angles, directions, drive.distance, rims), abs=1e-9)
            if count == 3:
                assert drive.jacobian @ drive.twist(rims) == pytest.approx(rims, abs=1e-9)


def test_a_tangential_omni_drive_is_that_of_the_textbook():
    drive = Omni(tuple(np.radians([60.0, 180.0, 300.0])), 0.1, 1.0)
    vx, vy, omega = 0.3, -0.2, 1.5
    expected = [-vx * np.sin(a) + vy * np.cos(a) + 0.1 * omega for a in drive.angles]
    assert drive.jacobian @ (vx, vy, omega) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("drive", [Differential(0.1, 0.5), Omni((0.5, 2.0, 4.0, 5.5), 0.1, 0.7), Steered(0.3, 1.0, 0.5)])
def test_a_driver_gets_what_he_asks_for_within_the_limits(drive):
    for ahead, aside, turn in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, -1.0, 1.0), (-0.4, 0.0, 0.0)):
        channels = np.array(drive.steer(ahead, aside, turn))
        assert (np.abs(channels) <= np.array(drive.limits) * (1.0 + 1e-12)).all()
        vx, vy, _ = drive.twist(channels)
        assert np.hypot(vx, vy) <= drive.fastest * (1.0 + 1e-12)
    assert drive.twist(np.array(drive.steer(0.5, 0.0, 0.0)))[0] == pytest.approx(0.5 * tops(drive)[0])
    assert drive.twist(np.array(drive.steer(0.5, 0.0, 0.0)))[1:] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert drive.twist(np.array(drive.steer(0.5, 0.0, 0.3)))[2] > 0.0


def test_nothing_drives_faster_than_the_fastest(rng):
    drive = Omni((0.1, 1.9, 4.0, 5.0), 0.1, 0.7)
    speeds = np.linalg.norm(drive.twist(rng.choice([-0.7, 0.7], (2000, 4)))[:, :2], axis=1)
    assert speeds.max() == pytest.approx(drive.fastest, rel=1e-12)


# -- closed forms in the plane ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("contact", PLANE)
@pytest.mark.parametrize("twist", [(0.0, 0.4, 0.0), (0.3, 0.0, 0.0), (0.0, 0.0, 1.3), (0.3, 0.2, 0.5), (-0.2, 0.3, -2.0)])
def test_an_omni_robot_goes_along_the_exact_arc(contact, twist):
    """Strafing, straight on, spinning, and spinning as it translates."""
    simulation = lab(SLIPLESS, contact=contact)
    pose = go(simulation, 20, SLIPLESS.drive.jacobian @ twist)[0]
    assert pose == pytest.approx(reference.pose_after((0.0, 0.0, 0.3), twist, 2.0), abs=1e-10)
    vx, vy, rate = twist
    if rate == 0.0:
        c, s = np.cos(0.3), np.sin(0.3)
        assert pose == pytest.approx([2.0 * (c * vx - s * vy), 2.0 * (s * vx + c * vy), 0.3], abs=1e-12)
    assert simulation.engine.twist(simulation.model, simulation.state)[0, 0] == pytest.approx(twist, abs=1e-12)
    assert simulation.state.drive[0, 0] == pytest.approx(SLIPLESS.drive.jacobian @ twist, abs=1e-12)


@pytest.mark.parametrize("contact", PLANE)
@pytest.mark.parametrize("angle", [0.0, 0.35, -0.1])
def test_a_car_drives_a_circle_of_its_length_over_the_tangent(contact, angle):
    pose = go(lab(QUICK, contact=contact), 20, (0.7, angle))[0]
    assert pose == pytest.approx(reference.car_pose((0.0, 0.0, 0.3), 0.7, angle, QUICK.length, 2.0), abs=1e-12)
    if angle:
        radius = QUICK.length / np.tan(angle)
        centre = radius * np.array([-np.sin(0.3), np.cos(0.3)])
        assert np.linalg.norm(pose[:2] - centre) == pytest.approx(abs(radius), abs=1e-12)


@pytest.mark.parametrize("contact", ["none", "impulse"])
def test_steering_follows_with_its_lag_and_its_rate(contact):
    """delta(k dt) = u (1 - exp(-k dt/T)); or a ramp of the rate."""
    slow = lab(Car(shape="disc", steering_lag=0.4, steering_rate=1e9), contact=contact)
    ramp = lab(Car(shape="disc", steering_rate=0.7), contact=contact)
    for k in range(1, 9):
        go(slow, 1, (0.0, 0.3))
        go(ramp, 1, (0.0, 0.3))
        assert slow.state.drive[0, 0, 1] == pytest.approx(0.3 * (1.0 - np.exp(-0.1 * k / 0.4)), abs=1e-12)
        assert ramp.state.drive[0, 0, 1] == pytest.approx(min(0.3, 0.07 * k), abs=1e-12)


@pytest.mark.parametrize("contact", ["none", "impulse"])
def test_speed_follows_with_its_lag(contact):
    car, rover = Car(shape="disc", speed_lag=0.25), OmniRobot(motor_lag=0.25, tyre_friction=0.0)
    simulation = lab(car, rover, contact=contact)
    for k in range(1, 9):
        go(simulation, 1, (0.5, 0.0), rover.drive.jacobian @ (0.0, 0.3, 0.0))
        grown = 1.0 - np.exp(-0.1 * k / 0.25)
        assert simulation.state.drive[0, 0, 0] == pytest.approx(0.5 * grown, abs=1e-12)
        assert simulation.engine.twist(simulation.model, simulation.state)[0, 1] == pytest.approx([0.0, 0.3 * grown, 0.0],
                                                                                                 abs=1e-12)


def test_orders_beyond_the_limits_are_cut():
    simulation = lab(QUICK, SLIPLESS)
    go(simulation, 1, (9.0, -9.0), (9.0, -9.0, 0.1))
    assert simulation.state.drive[0].tolist() == [[1.0, -0.4189, 0.0], [1.0, -1.0, 0.1]]


# -- the same in every way --------------------------------------------------------------------------------------------
MIXED = """<world name="mixed-drives" dt="0.1"><arena width="3" depth="3"/><contact model="reposition"/>
  <omni name="a" count="3" radius="6cm" motor_noise="0.1" position_noise="0.05"><scatter/>
    <course moves="2 0.4 0.3 0.1, 1 -0.4 0 0.3" repeat="true"/></omni>
  <car name="b" count="3" shape="disc" width="12cm" steering_lag="0.2"><scatter/>
    <course moves="2 0.5 0 0.9, 1 -0.5 0 0" repeat="true"/></car>
  <sbot name="c" count="3"><scatter/><proximity/><braitenberg/></sbot>
</world>"""


@pytest.fixture
def mixed(tmp_path):
    (tmp_path / "mixed.xml").write_text(MIXED)
    return read_world(tmp_path / "mixed.xml")


def same(one, other, rows=slice(None)):
    for name in ("position", "heading", "drive", "wheel_angle", "crashes", "step"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name)[rows], err_msg=name)


def test_compiled_steps_give_the_same_bits_as_the_readable_loop(mixed):
    compiled, readable = Simulation(mixed, 5, 3), Simulation(mixed, 5, 3, compiled=False)
    assert compiled.advance(100)
    for _ in range(100):
        readable.step()
    same(compiled.state, readable.state)
    assert readable.state.crashes.any()


def test_a_world_of_a_batch_is_that_world_alone(mixed):
    batch, alone = Simulation(mixed, 5, 4), Simulation(mixed, 5, 1, first_world=2)
    batch.advance(60)
    alone.advance(60)
    same(alone.state, batch.state, slice(2, 3))


@pytest.mark.parametrize("contact", ["none", "impulse"])
def test_two_wheels_among_other_drives_have_the_same_bits_as_alone(contact, rng):
    disc = Disc(0.1, 0.15, 0.5, motor_noise=0.1, position_noise=0.1 if contact == "none" else 0.0)
    pure, among = lab(disc, contact=contact), lab(disc, SLIPLESS, QUICK, contact=contact)
    for wheels in rng.uniform(-0.5, 0.5, (50, 2)):
        go(pure, 1, wheels)
        go(among, 1, wheels, (0.3, 0.1, -0.2), (0.4, 0.2))
    np.testing.assert_array_equal(pure.state.position[0, 0], among.state.position[0, 0])
    np.testing.assert_array_equal(pure.state.heading[0, 0], among.state.heading[0, 0])
    np.testing.assert_array_equal(pure.state.drive[0, 0], among.state.drive[0, 0, :2])
    np.testing.assert_array_equal(pure.state.wheel_angle[0, 0], among.state.wheel_angle[0, 0, :2])


# -- bodies with masses -----------------------------------------------------------------------------------------------
def test_an_omni_robot_that_strafes_pushes_a_puck_along():
    puck = Puck(x=0.0, y=0.3, radius=0.05, mass=0.2, name="puck")
    world = World(contact=Contact("impulse"), things=(Arena(10.0, 10.0), puck), dt=0.05,
                  groups=(Group(OmniRobot(), 1, "r0", (At(0.0, 0.0, 0.0),)),))
    simulation = Simulation(world)
    go(simulation, 40, OmniRobot().drive.jacobian @ (0.0, 0.3, 0.0))
    (x, y), pushed = simulation.state.position[0, 0], simulation.state.movables[0, 0, :2]
    assert x == pytest.approx(0.0, abs=1e-9) and 0.5 < y < 0.61
    assert pushed[1] - y == pytest.approx(0.14, abs=1e-3)


@pytest.mark.parametrize("mu", [0.2, 0.6])
def test_the_wheels_of_an_omni_robot_brake_a_shove_with_their_friction(mu):
    """It slides v^2/(2 mu g) in any direction; a car gives way along its heading only."""
    simulation = lab(OmniRobot(tyre_friction=mu), contact="impulse", dt=0.01)
    simulation.state.velocity[0, 0, :2] = 0.6, 0.8
    pose = go(simulation, 200, (0.0, 0.0, 0.0))[0]
    assert pose[:2] == pytest.approx(np.array([0.6, 0.8]) * 0.5 / (mu * 9.81), rel=0.02)
    assert simulation.state.velocity[0, 0] == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)


def test_two_omni_robots_that_meet_head_on_keep_their_momentum():
    """Free of their motors for one short step, equal masses exchange what their restitution leaves."""
    robots = [OmniRobot(tyre_friction=1e-9, motor_lag=1e3, restitution=1.0) for _ in range(2)]
    groups = tuple(Group(robot, 1, f"r{k}", (At(0.2 * k, 0.0, 0.0),)) for k, robot in enumerate(robots))
    simulation = Simulation(World(contact=Contact("impulse"), things=(Arena(10.0, 10.0),), groups=groups, dt=0.05))
    simulation.state.velocity[0, 0, :2], simulation.state.velocity[0, 1, :2] = (0.5, 0.1), (-0.3, 0.1)
    before = simulation.state.velocity[0].sum(axis=0)
    go(simulation, 2, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    after = simulation.state.velocity[0]
    assert simulation.state.crashes.any()
    assert after.sum(axis=0)[:2] == pytest.approx(before[:2], abs=1e-3)
    assert after[:, 0] == pytest.approx([-0.3, 0.5], abs=1e-3)


def test_a_car_does_not_go_aside_when_it_is_hit_from_the_side():
    shoved, free = (lab(robot, contact="impulse", dt=0.01) for robot in (QUICK, OmniRobot()))
    for simulation in (shoved, free):
        simulation.state.heading[...] = 0.0
        simulation.state.velocity[0, 0, :2] = 0.0, 0.5
    assert go(shoved, 20, (0.0, 0.0))[0, 1] == pytest.approx(0.0, abs=1e-12)
    assert go(free, 20, (0.0, 0.0, 0.0))[0, 1] > 0.01


# -- in space -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("robot", "channels"), [
    (OmniRobot(), OmniRobot().drive.jacobian @ (0.3, 0.2, 0.5)),
    (OmniRobot(), OmniRobot().drive.jacobian @ (0.0, -0.3, 0.0)),
    (Car(shape="disc", steering_lag=0.1), (0.5, 0.3)),
    (Car(), (-0.4, 0.25)),
])
def test_space_agrees_with_the_plane(robot, channels):
    """To the centimetre on a way of about a metre: in space it starts from rest, and forces bring it to speed."""
    contact = "impulse" if robot.outline else "none"
    flat, deep = go(lab(robot, contact=contact), 20, channels)[0], go(lab(robot, engine="spatial"), 20, channels)[0]
    assert deep[:2] == pytest.approx(flat[:2], abs=0.02)
    assert deep[2] == pytest.approx(flat[2], abs=0.04)
