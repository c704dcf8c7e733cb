"""Sensors that exist only in space, on states filled by hand: traction, motors, inclinometer, accelerometer, ground."""

from dataclasses import replace

import numpy as np
import pytest

from formiga.errors import WorldError
from formiga.noise import Noise
from formiga.sense import SensorView
from formiga.sense.attitude import Accelerometer, Inclinometer
from formiga.sense.ground import Ground
from formiga.sense.traction import Motors, Traction
from formiga.units import CM, DEG
from formiga.world.robots import SBot
from tests.reference.lab import bench

G = 9.81


class Lab:
    """Two s-bots in two worlds of an engine in space, of which there is only the state."""

    def __init__(self):
        self.sim = bench(SBot(), [(0, 0, 0), (1, 0, 0)], worlds=2)
        self.state = self.sim.state
        self.sim.model.poses = True
        self.sim.model.chassis = np.array([3, 1])  # rows of `bodies`
        rng = np.random.default_rng(1)
        self.state.pull = rng.normal(size=(2, 2, 3))
        self.state.joint_position, self.state.joint_effort = rng.normal(size=(2, 2, 2, 3))
        self.state.bodies = np.zeros((2, 4, 7))
        self.state.bodies[..., 3] = 1.0

    def read(self, sensor):
        group = self.sim.world.groups[0]
        noise = Noise(self.state.key, self.state.step, slice(0, 2), "a", sensor.name)
        owner = f"a/{sensor.name}"
        return sensor.read(SensorView(self.sim.engine, self.sim.model, self.state, group, slice(0, 2), noise, owner))


@pytest.fixture
def lab():
    return Lab()


def turn(axis, angle):
    """A quaternion."""
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * np.asarray(axis, float)])


@pytest.mark.parametrize("sensor", [Traction(), Motors(), Inclinometer(), Accelerometer()])
def test_in_the_plane_they_are_refused_with_one_clear_message(sensor):
    with pytest.raises(WorldError, match=r"^<\w+> measures what exists only in space; choose engine=\"spatial\"\.$"):
        bench(SBot(), [(0, 0, 0)], sensors=[sensor])


def test_traction_is_the_direction_and_the_size_of_the_pull_over_the_floor(lab):
    lab.state.pull[0, 1] = 0.0, 3.0, 99.0
    reading = lab.read(Traction())
    assert tuple(reading[0, 1]) == (pytest.approx(90 * DEG), 3.0)
    np.testing.assert_allclose(reading[..., 1], np.hypot(lab.state.pull[..., 0], lab.state.pull[..., 1]))
    np.testing.assert_allclose(reading[..., 1] * np.cos(reading[..., 0]), lab.state.pull[..., 0], atol=1e-12)
    np.testing.assert_allclose(reading[..., 1] * np.sin(reading[..., 0]), lab.state.pull[..., 1], atol=1e-12)
    noisy = lab.read(Traction(noise=0.2))
    assert np.array_equal(noisy[..., 0], reading[..., 0]) and (np.abs(noisy[..., 1] / reading[..., 1] - 1) <= 0.2).all()


def test_motors_tell_angles_and_torques_in_the_order_of_the_outputs(lab):
    reading = lab.read(Motors())
    assert reading.shape == (2, 2, 6)
    assert np.array_equal(reading[..., :3], lab.state.joint_position)
    assert np.array_equal(reading[..., 3:], lab.state.joint_effort)


@pytest.mark.parametrize("axis, angle, roll, pitch", [
    ((1, 0, 0), 20, 20, 0), ((0, 1, 0), 20, 0, 20), ((0, 0, 1), 70, 0, 0), ((1, 0, 0), 180, 180, 0),
    ((0, 1, 0), -90, None, -90)])
def test_an_inclinometer_tells_roll_pitch_and_tilt_and_nothing_about_the_heading(lab, axis, angle, roll, pitch):
    for heading in (0.0, 1.3):
        w, x, y, z = turn(axis, angle * DEG)
        c, s = np.cos(heading / 2), np.sin(heading / 2)
        lab.state.bodies[1, 1, 3:] = c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w  # leaned, then turned about z
        reading = lab.read(Inclinometer())[1, 1] / DEG
        assert roll is None or reading[0] == pytest.approx(roll, abs=1e-5)
        assert reading[1] == pytest.approx(pitch, abs=1e-5)
        assert reading[2] == pytest.approx(0 if axis[2] else abs(angle), abs=1e-5)
    assert not lab.read(Inclinometer())[0].any()


def test_standing_still_an_accelerometer_feels_g_along_its_own_axis(lab):
    np.testing.assert_allclose(lab.read(Accelerometer()), np.broadcast_to([0, 0, G], (2, 2, 3)))
    lab.state.bodies[0, 3, 3:] = turn((0, 1, 0), 30 * DEG)  # nose down: what holds it up pushes backward
    np.testing.assert_allclose(lab.read(Accelerometer())[0, 0], [-G * np.sin(30 * DEG), 0, G * np.cos(30 * DEG)], atol=1e-12)


def test_an_accelerometer_feels_the_change_of_velocity_in_its_own_frame(lab):
    dt, a = lab.sim.model.dt, np.array([0.5, 0.0, -G])
    lab.state.bodies[:, 3, 3:] = turn((0, 0, 1), 90 * DEG)
    sensor = Accelerometer()
    for step in range(5):
        lab.state.bodies[:, 3, :3] = 0.5 * a * (step * dt) ** 2
        lab.state.step[...] = step
        reading = lab.read(sensor)
        again = lab.read(sensor)
        assert np.array_equal(reading, again)  # who looks twice in one step sees the same
    falling = [0.0, -0.5, 0.0]  # and pushed along x, which is to its right
    np.testing.assert_allclose(reading[:, 0], np.broadcast_to(falling, (2, 3)), atol=1e-9)
    np.testing.assert_allclose(reading[:, 1], np.broadcast_to([0, 0, G], (2, 3)), atol=1e-9)


def test_ground_sensors_look_down_at_four_corners_and_read_nothing_over_a_hole(lab, monkeypatch):
    asked = []

    def rays(model, state, origin, direction, reach, robots):
        asked.append((origin, direction, reach))
        return np.array([0.01, 0.02, np.inf, 0.03]) * np.ones((2, 2, 1))

    monkeypatch.setattr(lab.sim.engine, "rays", rays, raising=False)
    reading = lab.read(Ground(noise=0.0))
    np.testing.assert_allclose(reading, np.broadcast_to([2 / 3, 1 / 3, 0, 0], (2, 2, 4)), atol=1e-12)
    (origin, direction, reach), = asked
    np.testing.assert_allclose(np.hypot(*origin[:, :2].T), 4 * CM)
    np.testing.assert_allclose(np.degrees(np.arctan2(origin[:, 1], origin[:, 0])), [45, 135, -135, -45])
    assert (origin[:, 2] == 1 * CM).all() and (direction == [0, 0, -1]).all() and reach == 3 * CM
    noisy = lab.read(replace(Ground(), noise=0.1))
    assert (np.abs(noisy[..., :2] / reading[..., :2] - 1) <= 0.1).all() and not noisy[..., 2:].any()
