"""The plane has no preferred direction, no preferred place and no preferred hand: neither have sensing, driving, contacts.

The trajectories agree to rounding, not bit for bit, so the runs are short enough for errors to stay small.
"""

import numpy as np
import pytest

from formiga.loop import Simulation
from formiga.sense.proximity import SBOT_ANGLES, Proximity
from formiga.world.model import Cylinder, Group, Wall, World
from formiga.world.placement import At
from formiga.world.robots import SBot
from tests.reference.lab import MODELS

MIRROR = np.array([[1.0, 0.0], [0.0, -1.0]])
HOUSE = np.array([(-0.7, -0.6), (0.8, -0.5), (0.9, 0.6), (-0.1, 0.8), (-0.6, 0.5)])
POSES = [(0.1, 0.1, 0.3), (-0.3, -0.1, 2.0), (0.5, -0.2, -1.0), (0.3, 0.4, 4.0)]


def rotation(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def run(matrix, shift, turn, handed, contact, steps=120):
    """The same little world, moved by a motion of the plane: positions (steps, N, 2), headings, readings, crashes."""
    moved = lambda points: np.asarray(points) @ matrix.T + shift  # noqa: E731
    things = (Wall(moved([*HOUSE, HOUSE[0]]).ravel()), Wall(moved([(0.0, -0.3), (0.2, -0.25)]).ravel()),
              Cylinder(*moved((-0.2, 0.3)), 0.06))
    places = tuple(At(*moved((x, y)), handed * heading + turn) for x, y, heading in POSES)
    group = Group(SBot(), 4, "a", places, (Proximity(noise=(0.0,)),))
    simulation = Simulation(World(contact=MODELS[contact], things=things, groups=(group,)))
    track, headings, seen, crashes = [], [], [], []
    for _ in range(steps):
        reading = simulation.readings["a"]["proximity"]
        if handed < 0:
            reading = reading[..., ::-1]  # the ring is mirror-symmetric: IR0 and IR14 change places
        wheels = steer(reading)
        simulation.step({"a": wheels if handed > 0 else wheels[..., ::-1]})
        track.append(simulation.state.position[0].copy())
        headings.append(simulation.state.heading[0].copy())
        seen.append(reading[0].copy())
        crashes.append(simulation.state.crashed[0].copy())
    return np.array(track), np.array(headings), np.array(seen), np.array(crashes)


def steer(reading):
    """A vehicle whose wheels look at different sides; any law will do, and this one also bumps into things."""
    weight = np.cos(np.array(SBOT_ANGLES)) * (np.sin(np.array(SBOT_ANGLES)) > 0.0)
    left, right = (reading * weight[::-1]).sum(-1), (reading * weight).sum(-1)
    return 0.08 * np.stack([1.0 - 0.02 * left, 0.9 - 0.02 * right], axis=-1)


@pytest.mark.parametrize("contact", ["none", "stop", "minimal", "published"])
def test_a_mirrored_world_has_mirrored_trajectories_and_readings(contact):
    track, headings, seen, crashes = run(np.eye(2), (0.0, 0.0), 0.0, 1, contact)
    mirrored = run(MIRROR, (0.0, 0.0), 0.0, -1, contact)
    assert seen.max() > 5.0 and (contact == "none" or crashes.any())
    np.testing.assert_allclose(mirrored[0], track @ MIRROR, atol=1e-9)
    np.testing.assert_allclose(mirrored[1], -headings, atol=1e-9)
    np.testing.assert_allclose(mirrored[2], seen, atol=1e-9)
    assert np.array_equal(mirrored[3], crashes)


@pytest.mark.parametrize("contact", ["none", "stop", "minimal", "published"])
@pytest.mark.parametrize("angle, shift", [(1.0, (0.0, 0.0)), (np.pi / 2, (3.0, -7.0)), (-2.5, (-0.4, 0.2))])
def test_a_world_that_is_turned_and_moved_has_turned_and_moved_trajectories(contact, angle, shift):
    track, headings, seen, crashes = run(np.eye(2), (0.0, 0.0), 0.0, 1, contact)
    turned = run(rotation(angle), shift, angle, 1, contact)
    np.testing.assert_allclose(turned[0], track @ rotation(angle).T + shift, atol=1e-9)
    np.testing.assert_allclose(turned[1], headings + angle, atol=1e-9)
    np.testing.assert_allclose(turned[2], seen, atol=1e-9)
    assert np.array_equal(turned[3], crashes)


def test_a_whole_turn_of_the_heading_changes_nothing():
    """Headings are not wrapped, so sines and cosines of large angles are asked for."""
    one = run(np.eye(2), (0.0, 0.0), 0.0, 1, "minimal", 40)
    other = run(np.eye(2), (0.0, 0.0), 200 * np.pi, 1, "minimal", 40)
    np.testing.assert_allclose(other[0], one[0], atol=1e-9)
