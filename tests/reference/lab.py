"""A bench to put robots on: the shortest way from an idea to a Simulation."""

import numpy as np

from formiga.loop import Simulation
from formiga.world.elements import SOURCES, of
from formiga.world.model import Contact, Group, World
from formiga.world.placement import At

MODELS = {"none": Contact("none"), "stop": Contact("stop"), "minimal": Contact("reposition", "minimal"),
          "published": Contact("reposition", "published")}


def bench(robot, poses, things=(), contact="none", sensors=(), controller=None, worlds=1, dt=0.1, seed=0):
    """One group, 'a', of equal robots at poses (x, y, heading); in every world the same. sensors: links and estimators, too."""
    contact = MODELS[contact] if isinstance(contact, str) else contact
    parts = {role: tuple(each for each in sensors if of(each).role == role) for role in SOURCES}
    group = Group(robot, len(poses), "a", tuple(At(*map(float, pose)) for pose in poses), parts["sensor"], controller,
                  links=parts["link"], estimators=parts["estimator"])
    return Simulation(World(dt=dt, contact=contact, things=tuple(things), groups=(group,)), seed, worlds)


def put(simulation, position, heading=None):
    """Move robots by hand; position (worlds, robots, 2)."""
    simulation.state.position[...] = position
    if heading is not None:
        simulation.state.heading[...] = heading
    simulation.look_again()


def drive(simulation, left, right, steps=1):
    """All robots of group 'a' at these rim speeds, numbers or arrays (worlds, robots)."""
    shape = simulation.state.heading.shape
    wheels = np.stack([np.broadcast_to(left, shape), np.broadcast_to(right, shape)], axis=-1).astype(float)
    for _ in range(steps):
        simulation.step({"a": wheels})
    return simulation


def fixed(simulation):
    """The walls (S, 4) and the round obstacles (C, 3)."""
    return simulation.model.fixed.segments, simulation.model.fixed.discs


def overlaps(position, safety, segments, discs):
    """How deep robots (N, 2) are in each other, and in fixed things: two numbers, 0 if nobody is in anything."""
    position, safety = np.asarray(position), np.asarray(safety)
    pairs = fixed = 0.0
    for i in range(len(position)):
        for j in range(i):
            pairs = max(pairs, safety[i] + safety[j] - np.linalg.norm(position[i] - position[j]))
        for x0, y0, x1, y1 in segments:
            fixed = max(fixed, safety[i] - distance_to_segment(position[i], (x0, y0), (x1, y1)))
        for x, y, r in discs:
            fixed = max(fixed, safety[i] + r - np.linalg.norm(position[i] - (x, y)))
    return pairs, fixed


def distance_to_segment(p, a, b):
    """From a point to the nearest point of ab."""
    p, a, e = np.asarray(p, float), np.asarray(a, float), np.subtract(b, a)
    along = np.clip(np.dot(p - a, e) / np.dot(e, e), 0.0, 1.0) if np.any(e) else 0.0
    return np.linalg.norm(p - a - along * e)


def same_state(one, other, worlds=slice(None)):
    """Names of the state's arrays that differ by a single bit; empty if none does."""
    names = ("position", "heading", "drive", "wheel_angle", "leds", "crashed", "crashes", "alive", "done", "step", "key")
    return [name for name in names if not np.array_equal(getattr(one, name), getattr(other, name)[worlds])]
