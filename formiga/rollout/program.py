"""World, model and state -> the arrays that the compiled rollout takes; or None, if something in the world has no kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from formiga.control.neural import Ctrnn, Elman, Mlp, Perceptron
from formiga.engine.fixed import near_table
from formiga.engine.planar import pipeline
from formiga.loop import Simulation
from formiga.noise import channel
from formiga.rollout.kernel import LIGHT, PROXIMITY, Body, Desk, Eye, Now, Praise, Shine, Wires
from formiga.score import Fitness, Score
from formiga.sense.light import Light, photodiodes
from formiga.sense.proximity import Proximity
from formiga.world.elements import of
from formiga.world.model import Group, World

NETWORKS = (Perceptron, Mlp, Elman, Ctrnn)


@dataclass
class Program:
    """Everything but the network."""

    body: Body
    now: Now
    eye: Eye
    shine: Shine
    praise: Praise
    near: Any              # (W, N, B) readings of the eye
    lit: Any               # (W, N, S) readings of the light sensors
    rings: dict[str, tuple[int, int, int]]  # sensor -> (PROXIMITY or LIGHT, first reading, last)

    def wires(self, sensors: list[str], full: list[float]) -> Wires:
        """The inputs of a network that reads these sensors."""
        source: list[int] = []
        index: list[int] = []
        scale: list[float] = []
        for name, one in zip(sensors, full, strict=True):
            kind, first, last = self.rings[name]
            index += range(first, last)
            source += [kind] * (last - first)
            scale += [one] * (last - first)
        return Wires(np.array(source, np.int64), np.array(index, np.int64), np.array(scale))


def obstacle(world: World, group: Group, engine: str | None = None) -> str | None:
    """Why this world has no compiled rollout, or None if it has one."""
    if (engine or world.engine) != "planar":
        return f"engine {engine or world.engine}"
    if world.contact.model == "impulse":
        return "the contact model impulse"
    if world.groups != (group,):
        return "several groups"
    rings = [sensor for sensor in group.sensors if type(sensor) is Proximity]
    if len(rings) > 1:
        return "two <proximity>"
    for sensor in group.sensors:
        if type(sensor) not in (Proximity, Light):
            return f"the sensor '{sensor.name}'"
        if type(sensor) is Proximity and sensor.technique != "ray":
            return f"technique {sensor.technique} of '{sensor.name}'"
    if group.controller is not None and type(group.controller) not in NETWORKS:  # Batch has taken it out
        return f"the controller <{of(group.controller).tag}>"
    return next((f"the term {type(praise).__name__}" for praise in world.fitness if type(praise) is not Fitness), None)


def program(lab: Simulation, group: Group, score: Score) -> Program:
    """The arrays of a simulation, for a world that has no `obstacle`."""
    world, model, state = lab.world, lab.model, lab.state
    scratch, contact = state.scratch, world.contact
    W, N = state.worlds, world.robots
    rings: dict[str, tuple[int, int, int]] = {}
    eye, beams = _eye(model, group, rings)
    lights = [sensor for sensor in group.sensors if type(sensor) is Light]
    at = 0
    for ring in lights:
        rings[ring.name] = (LIGHT, at, at + len(ring.angles))
        at += len(ring.angles)
    near, lit = np.zeros((W, N, beams)), np.zeros((W, N, at))
    body = Body(
        dt=model.dt, radius=model.radius, safety=model.safety, wheel_base=model.wheel_base, wheel_radius=model.wheel_radius,
        position_noise=model.position_noise, heading_noise=model.heading_noise, noisy=model.noisy, top=group.robot.top_speed,
        motor_noise=group.robot.motor_noise, contact=model.contact, limit=contact.crash_limit,
        end_at_limit=contact.at_limit == "end", sweeps=model.sweeps, longest=model.longest, widest=model.widest,
        widest_safety=model.widest_safety, shapes=model.fixed.shapes, tops=model.fixed.heights, near=model.near_contact,
        height=model.height, tallest=model.tallest)
    now = Now(
        position=state.position, heading=state.heading, wheels=state.wheels, wheel_angle=state.wheel_angle,
        crashed=state.crashed, crashes=state.crashes, alive=state.alive, done=state.done, step=state.step,
        unresolved=state.unresolved, key=state.key, before=scratch.before, swept=scratch.swept, rounds=scratch.rounds,
        cells=scratch.cells, room=scratch.room)
    shine = Shine(photodiodes([(ring, f"{group.name}/{ring.name}") for ring in lights]), model.lamps, model.glow)
    praise = Praise(score.factors, score.weights, score.uses, score.facts._replace(near=near), score.reward, score.total)
    return Program(body, now, eye, shine, praise, near, lit, rings)


def _eye(model: pipeline.Model, group: Group, rings: dict[str, tuple[int, int, int]]) -> tuple[Eye, int]:
    """The <proximity> of a group, and how many beams it has; an eye without beams if there is none."""
    ring = next((sensor for sensor in group.sensors if type(sensor) is Proximity), None)
    if ring is None:
        nothing = np.empty(0)
        return Eye(nothing, nothing, nothing, nothing, 0.0, near_table(model.fixed, 0.0), 0.0, nothing, 0.0, 0.0, 0.0, False,
                   0.0, 0.0, 0.0, 0), 0
    beams = ring.beams
    rings[ring.name] = (PROXIMITY, 0, len(ring.angles))
    far = beams.furthest + ring.reach
    return Eye(
        *beams.columns, far=far, near=model.near(far), reach=ring.reach, table=ring.values, gain=ring.gain,
        offset=ring.offset, share=ring.share, closed=ring.closed, noise_from=ring.noise[0], noise_to=ring.noise[-1],
        ambient=ring.ambient, channel=channel(f"{group.name}/{ring.name}")), len(ring.angles)


def desk(code: Program, inputs: int, memory: int, widest: int) -> Desk:
    """Working memory for a network with so many inputs, so much memory, and so wide a layer."""
    W, N, B = code.near.shape
    return Desk(code.near, code.lit, np.zeros((W, N, inputs)), np.zeros((W, N, memory)), np.zeros((W, N, 2)), np.empty(B),
                np.empty(B, np.bool_), np.empty((2, widest)))
