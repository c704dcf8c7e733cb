"""The compiled rollout: the step of `loop.py`, fused from the same kernels, world after world.

One world's state stays in the processor's cache from its first step to its last. Nothing here decides anything: each
line is a kernel that the readable loop calls too, so both give the same bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from formiga.act.wheels import motors_world
from formiga.control.neural.think import think_world
from formiga.engine.planar.beams import cast_world
from formiga.engine.planar.cells import fill_world
from formiga.engine.planar.contact import STOP, contact_world
from formiga.engine.planar.drive import drive_world
from formiga.engine.planar.light import light_world
from formiga.engine.planar.sweep import sweep_world
from formiga.kernels import kernel
from formiga.noise import channel, fold, world_key
from formiga.score import score_world
from formiga.sense.proximity import respond_world

PROXIMITY, LIGHT = 0, 1
EPISODE = channel("episode")


class Body(NamedTuple):
    """What the engine knows of the robots and of what stands still; see engine/planar/pipeline.py, Model."""

    dt: float
    radius: Any
    safety: Any
    wheel_base: Any
    wheel_radius: Any
    position_noise: Any
    heading_noise: Any
    noisy: bool
    top: float
    motor_noise: float
    contact: int
    limit: int
    end_at_limit: bool
    sweeps: bool
    longest: float
    widest: float
    widest_safety: float
    shapes: Any
    tops: Any              # (K,) heights of the shapes
    near: Any              # the table for contacts
    height: Any            # (N,) of the robots
    tallest: float


class Now(NamedTuple):
    """The arrays of the state; see state.py."""

    position: Any
    heading: Any
    wheels: Any
    wheel_angle: Any
    crashed: Any
    crashes: Any
    alive: Any
    done: Any
    step: Any
    unresolved: Any
    key: Any
    before: Any
    swept: Any
    rounds: Any
    cells: Any
    room: Any


class Eye(NamedTuple):
    """A <proximity>; without beams if there is none."""

    ox: Any
    oy: Any
    ux: Any
    uy: Any
    far: float
    near: Any
    reach: float
    table: Any
    gain: float
    offset: float
    share: float
    closed: bool
    noise_from: float
    noise_to: float
    ambient: float
    channel: int


class Shine(NamedTuple):
    """All <light> rings together, and what shines."""

    diodes: Any
    lamps: Any
    glow: Any


class Wires(NamedTuple):
    """Where the network's inputs come from."""

    source: Any            # (I,) PROXIMITY or LIGHT
    index: Any             # (I,) which reading of it
    full: Any              # (I,) the reading that counts as one


class Brain(NamedTuple):
    """The network of every genotype; see control/neural/think.py."""

    kind: int
    shape: Any
    weights: Any           # (genotypes, size)
    trials: int            # world w has the genotype w // trials


class Praise(NamedTuple):
    """The world's <fitness>; see score/__init__.py."""

    factors: Any
    weights: Any
    uses: Any
    facts: Any
    reward: Any
    total: Any


class Desk(NamedTuple):
    """Working memory that lives from step to step."""

    near: Any              # (W, N, B) readings of the eye
    lit: Any               # (W, N, S) readings of the light sensors
    x: Any                 # (W, N, I) inputs
    neurons: Any           # (W, N, H)
    orders: Any            # (W, N, 2)
    nearest: Any           # (B,) room for `cast`
    seen: Any              # (B,) room for `respond`
    room: Any              # (2, widest layer) room for `think`


@kernel()
def roll(steps, body, now, eye, shine, wires, brain, praise, desk):
    """So many steps of every world, or until it ends."""
    for w in range(now.position.shape[0]):
        for _ in range(steps):
            if now.done[w]:
                now.wheels[w] = 0.0
                break
            look_world(w, body, now, eye, shine, desk)
            wire_world(w, wires, desk)
            think_world(w, w // brain.trials, brain.kind, brain.shape, brain.weights, body.dt, body.top, desk.x, desk.neurons,
                        desk.room, desk.orders)
            move_world(w, body, now, desk.orders)
            score_world(w, praise.factors, praise.weights, praise.uses, praise.facts, praise.reward, praise.total)


@kernel(inline="always")
def look_world(w, body, now, eye, shine, desk):
    """Everybody looks."""
    N = now.position.shape[1]
    fill_world(w, now.position, now.cells)
    if eye.ux.shape[0] > 0:
        cast_world(w, now.position, now.heading, 0, N, body.radius, body.widest, body.shapes, eye.near, now.cells, eye.ox,
                   eye.oy, eye.ux, eye.uy, eye.far, eye.reach, desk.nearest, desk.near)
        respond_world(w, desk.near, desk.seen, eye.reach, eye.table, eye.gain, eye.offset, eye.share, eye.closed,
                      eye.noise_from, eye.noise_to, eye.ambient, now.key, now.step, 0, eye.channel)
    if desk.lit.shape[2] > 0:
        light_world(w, now.position, now.heading, 0, N, body.radius, body.height, body.widest, body.tallest, body.shapes,
                    body.tops, now.cells, shine.lamps, shine.glow, shine.diodes, now.key, now.step, desk.lit)


@kernel(inline="always")
def wire_world(w, wires, desk):
    """Readings -> inputs, in full readings, cut to 0..1."""
    for i in range(desk.x.shape[1]):
        for k in range(desk.x.shape[2]):
            if wires.source[k] == PROXIMITY:
                reading = desk.near[w, i, wires.index[k]]
            else:
                reading = desk.lit[w, i, wires.index[k]]
            desk.x[w, i, k] = min(1.0, max(0.0, reading / wires.full[k]))


@kernel(inline="always")
def move_world(w, body, now, orders):
    """Everybody moves. Orders are numbers: a network's always are, and `Batch` has looked at a learner's."""
    motors_world(w, orders, 0, body.top, body.motor_noise, now.key, now.step, now.wheels)
    drive_world(w, now.wheels, body.dt, body.contact == STOP, body.wheel_base, body.wheel_radius, body.position_noise,
                body.heading_noise, body.noisy, now.position, now.heading, now.before, now.wheel_angle, now.alive,
                now.crashed, now.step, now.key)
    if body.sweeps:
        sweep_world(w, now.position, now.before, body.radius, body.safety, body.longest, body.contact != STOP, body.shapes,
                    body.near, now.cells, now.swept, now.room.share)
    contact_world(w, body.contact, body.limit, body.end_at_limit, now.position, now.swept, body.radius, body.safety,
                  body.widest_safety, body.longest, body.shapes, body.near, now.cells, now.alive, now.crashed, now.crashes,
                  now.done, now.step, now.rounds, now.unresolved, now.room)


@kernel()
def advance(first, last, moves, chosen, actions, body, now, eye, shine, wires, praise, desk):
    """The chosen (W,) worlds of first .. last take a step, if it `moves`, and look: what a learner asks for at every step.

    actions (W, N, 2) are wheel speeds in top speeds, cut to -1..1. A world that has ended earns nothing and stays.
    """
    for w in range(first, last):
        if not chosen[w]:
            continue
        if moves:
            if now.done[w]:
                now.wheels[w] = 0.0
                praise.reward[w] = 0.0
                continue
            for i in range(actions.shape[1]):
                for side in range(2):
                    desk.orders[w, i, side] = body.top * min(1.0, max(-1.0, actions[w, i, side]))
            move_world(w, body, now, desk.orders)
            score_world(w, praise.factors, praise.weights, praise.uses, praise.facts, praise.reward, praise.total)
        look_world(w, body, now, eye, shine, desk)
        wire_world(w, wires, desk)


@kernel()
def episode_keys(seed, world, episode, key):
    """Keys of the first or of a later episode of some worlds: what their starts and their noise are hashed from.

    Episode 0 of world w is world w of a simulation with that seed.
    """
    for n in range(world.shape[0]):
        key[n] = world_key(seed, world[n])
        if episode[n] > 0:
            key[n] = fold(fold(key[n], EPISODE), episode[n])
