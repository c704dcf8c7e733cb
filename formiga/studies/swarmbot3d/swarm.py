"""Acceptance 5, 6, 7 and 9: the thesis's four experiments as the shipped worlds, many seeds. And what else must hold:
a network that was evolved in the plane drives in space, and an hour of gripping on hills does not explode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np

from formiga import lab
from formiga.control.sequence import Sequence
from formiga.engine.ground import terrain_heights
from formiga.geometry import PLACE, TURN, up_axis
from formiga.loop import Simulation
from formiga.session.session import Session
from formiga.state import Floats, Grip
from formiga.studies.harness import Pool, Row, at_least, at_most, counted, reported
from formiga.studies.swarmbot3d.scene import GRIP, TOP
from formiga.world.ground import Terrain
from formiga.world.model import Cylinder, World

LAW = "law"
NEAR = 0.6                                     # m, from a lamp
PHASES = (180.0, 180.0, 60.0)                  # s: both lamps, one, none
ASSEMBLE = 120.0                               # s in which one robot must have gripped another
WITH_ROTORS = 2.4                              # energy of a robot and the rotors of its wheels, in that of the robot alone
UNDER = 0.01                                   # m under the ground that counts as fallen through
KEPT = 0.7                                     # of the speed on level ground that robots must keep on hills
ENOUGH = 10                                    # seeds that tell a speed on hills from one on level ground


def speed_of(simulation: Simulation) -> Floats:
    """Of the robots of the first world over the floor, in top speeds (robots,)."""
    return np.asarray(np.hypot(*simulation.state.velocity[0, :, :2].T) / TOP, np.float64)


# -- 5: avoidance ---------------------------------------------------------------------------------------------------------
def avoid(task: tuple[int, bool, float]) -> tuple[float, float]:
    """Share of robot-steps in contact, and mean speed, of one seed of 10 robots; with sensors, or with them cut."""
    seed, cut, seconds = task
    world = lab.read_world("avoidance3d")
    if cut:
        ahead = Sequence(moves=(seconds, TOP, TOP))  # what the rule does if all readings are 0
        world = replace(world, groups=(replace(world.groups[0], controller=ahead),))
    simulation = Simulation(world, seed)
    steps, speed = round(seconds / world.dt), 0.0
    for _ in range(steps):
        simulation.step()
        speed += float(speed_of(simulation).mean())
    return float(simulation.state.crashes.sum()) / (steps * world.robots), speed / steps


def avoidance(workers: Pool, seeds: int) -> tuple[list[Row], dict[str, list[float]]]:
    """10 robots, 60 s."""
    tasks = [(seed, cut, 60.0) for cut in (False, True) for seed in range(seeds)]
    found = workers.map(avoid, tasks)
    seeing, blind = found[:seeds], found[seeds:]
    share, without = (float(np.mean([contact for contact, _ in runs])) for runs in (seeing, blind))
    speed = float(np.mean([speed for _, speed in seeing]))
    rows = [at_most(f"avoidance, {counted(seeds)} of 60 s: share of time in contact", 0.05, share),
            reported("    with the sensors cut", without),
            at_least("    how much lower it is with sensors", 0.8, 1.0 - share / without),
            at_least("    mean speed (of top speed)", 0.5, speed)]
    return rows, {"with sensors": [contact for contact, _ in seeing], "sensors cut": [contact for contact, _ in blind]}


# -- 6: phototaxis, by the script of the world itself ----------------------------------------------------------------------
@dataclass(frozen=True)
class Gathering:
    """One seed of experiment 2."""

    near_any: float        # share of the robots within NEAR of a lamp, at the end of the first phase
    fewest: float          # share of the robots at the lamp that has fewer of them
    still: float           # mean speed in its last 10 s, in top speeds
    near_one: float        # share within NEAR of the one that is left, at the end of the second phase
    last: float            # m, mean distance to it at the end of the second phase
    gone: float            # m, the same at the end
    track: Floats          # (seconds,) m, mean distance to the nearest lamp that shines, or shone last
    said: tuple[str, ...]  # by the script


def gather(seed: int) -> Gathering:
    """The world as the laboratory opens it: its own script switches the lamps."""
    said: list[str] = []
    session = Session(lab.read_world("phototaxis3d"), seed=seed, own_settings=False,
                      hear=lambda kind, text, window: said.append(text))
    west, east = np.array([-1.0, 0.0]), np.array([1.0, 0.0])
    speeds, track = [], []
    near_any = fewest = still = near_one = last = gone = 0.0
    ends = np.round(np.cumsum(PHASES) / session.world.dt).astype(int)
    for k in range(1, int(ends[-1]) + 1):
        session.step()
        place = session.sim.state.position[0]
        away = np.stack([np.linalg.norm(place - lamp, axis=1) for lamp in (west, east)])
        speeds.append(float(speed_of(session.sim).mean()))
        if k % 10 == 0:
            track.append(float((away.min(axis=0) if k <= ends[0] else away[1]).mean()))
        if k == ends[0]:
            both = away < NEAR
            near_any, fewest = float(both.any(axis=0).mean()), float(both.mean(axis=1).min())
            still = float(np.mean(speeds[-100:]))
        elif k == ends[1]:
            near_one, last = float((away[1] < NEAR).mean()), float(away[1].mean())
    gone = float(away[1].mean())
    return Gathering(near_any, fewest, still, near_one, last, gone, np.array(track), tuple(said))


def phototaxis(workers: Pool, seeds: int) -> tuple[list[Row], list[Gathering]]:
    """20 robots and two lamps; all claims are means over the seeds."""
    runs = workers.map(gather, list(range(seeds)))

    def mean(name: str) -> float:
        return float(np.mean([getattr(run, name) for run in runs]))

    rows = [at_least(f"phototaxis, {counted(seeds)}, both lamps: share of robots within 0.6 m of one", 0.8, mean("near_any")),
            at_least("    share at the lamp with fewer, mean of the seeds", 0.15, mean("fewest")),
            reported("    the same, in the seed in which it is least", float(min(run.fewest for run in runs))),
            at_most("    mean speed of the last 10 s (of top speed)", 0.15, mean("still")),
            at_least("one lamp off: share within 0.6 m of the other", 0.7, mean("near_one")),
            at_least("both off: growth of the mean distance to the last lamp (m)", 0.5, mean("gone") - mean("last")),
            Row("the world's own script switched them", True,
                all(any("west goes out" in text for text in run.said) and any("east goes out" in text for text in run.said)
                    for run in runs), origin=LAW)]
    return rows, runs


# -- 7: assembly ----------------------------------------------------------------------------------------------------------
def assemble(seed: int) -> tuple[float, int]:
    """When the first two robots were connected (s), and how many grips held at the end."""
    world = lab.read_world("assembly")
    simulation = Simulation(world, seed)
    first = float("inf")
    for k in range(round(ASSEMBLE / world.dt)):
        simulation.step()
        if first == float("inf") and (simulation.state.grips[0, :, Grip.MODE] > 0.0).any():
            first = (k + 1) * world.dt
    return first, int((simulation.state.grips[0, :, Grip.MODE] > 0.0).sum())


def assembly(workers: Pool, seeds: int) -> Iterator[Row]:
    """At least one connection in 18 of 20 runs."""
    runs = workers.map(assemble, list(range(seeds)))
    joined = sum(first <= ASSEMBLE for first, _ in runs)
    yield at_least(f"assembly, {counted(seeds)}: runs with a connection within 120 s", np.ceil(0.9 * seeds), joined)
    yield reported("    first connection, median (s)", float(np.median([first for first, _ in runs])))
    yield reported("    grips that hold at 120 s, mean", float(np.mean([grips for _, grips in runs])))


# -- 9: terrain -----------------------------------------------------------------------------------------------------------
def ground_under(terrain: Terrain, places: Floats) -> Floats:
    """Height of the terrain at places (n, 2); bilinear, so it may be a millimetre off the triangles of the engine."""
    height = terrain_heights(terrain)
    rows, columns = height.shape
    c = np.clip((places[:, 0] - terrain.x + terrain.width / 2) / terrain.width * (columns - 1), 0, columns - 1 - 1e-9)
    r = np.clip((places[:, 1] - terrain.y + terrain.depth / 2) / terrain.depth * (rows - 1), 0, rows - 1 - 1e-9)
    i, j = r.astype(int), c.astype(int)
    u, v = r - i, c - j
    return np.asarray((1 - u) * ((1 - v) * height[i, j] + v * height[i, j + 1])
                      + u * ((1 - v) * height[i + 1, j] + v * height[i + 1, j + 1]), np.float64)


def lowest(simulation: Simulation, terrain: Terrain) -> float:
    """How far the lowest robot's middle is over the ground, in m; below 0: in it. The middle, because a robot may lie."""
    feet = simulation.state.bodies[0, simulation.model.chassis]
    middle = feet[:, PLACE] + 0.02 * up_axis(feet[:, TURN])  # the height of the wheels' axis
    return float((middle[:, 2] - ground_under(terrain, middle[:, :2])).min())


def climb(task: tuple[int, bool, float]) -> tuple[float, float, float]:
    """Of one seed: how far the lowest robot was over the ground at its lowest; mean speed; share in contact."""
    seed, rough, seconds = task
    world = lab.read_world("rough", seed=seed + 1)
    terrain = next(thing for thing in world.things if isinstance(thing, Terrain))
    if not rough:
        group = replace(world.groups[0], robot=replace(world.groups[0].robot, base="wheels"))
        world = replace(world, things=tuple(thing for thing in world.things if thing is not terrain), groups=(group,))
    simulation = Simulation(world, seed)
    steps, speed, low = round(seconds / world.dt), 0.0, np.inf
    for _ in range(steps):
        simulation.step()
        speed += float(speed_of(simulation).mean())
        if rough:
            low = min(low, lowest(simulation, terrain))
    return low, speed / steps, float(simulation.state.crashes.sum()) / (steps * world.robots)


def terrain(workers: Pool, seeds: int) -> Iterator[Row]:
    """8 robots, 60 s, hills of 4 cm; and the same without hills, also on wheels.

    Hills cost 4 % of the speed in the mean, less than two seeds differ by: which ground is the faster one is judged with many.
    """
    runs = workers.map(climb, [(seed, rough, 60.0) for rough in (True, False) for seed in range(seeds)])
    hills, flat = runs[:seeds], runs[seeds:]
    yield Row(f"terrain of 4 cm, {counted(seeds)} of 60 s: runs in which a robot falls through", 0,
              int(sum(low < -UNDER for low, _, _ in hills)), origin=LAW)
    yield reported("    lowest axle over the ground (mm)", 1e3 * min(low for low, _, _ in hills))
    slow, fast = (float(np.mean([speed for _, speed, _ in part])) for part in (hills, flat))
    yield at_least("    mean speed on hills, as a share of that on flat ground", KEPT, slow / fast)
    yield Row("    mean speed (of top speed), slower than on flat ground", f"< {fast:.3g}", slow, origin=LAW,
              verdict="reported" if seeds < ENOUGH else "met" if slow < fast else "missed",
              note="Treels climb these hills without slipping.")


# -- a champion of the plane ------------------------------------------------------------------------------------------------
def clearance(world: World, place: Floats) -> Floats:
    """From the rims of robots (n, 2) to walls, posts and each other, in m (n,)."""
    arena, radius = world.arena, world.groups[0].robot.radius
    assert arena is not None
    gap = np.minimum(arena.width / 2 - np.abs(place[:, 0]), arena.depth / 2 - np.abs(place[:, 1])) - radius
    for thing in world.things:
        if isinstance(thing, Cylinder):
            gap = np.minimum(gap, np.hypot(*(place - (thing.x, thing.y)).T) - thing.radius - radius)
    apart = np.linalg.norm(place[:, None] - place[None], axis=-1) - 2 * radius
    np.fill_diagonal(apart, np.inf)
    return np.asarray(np.minimum(gap, apart.min(axis=1, initial=np.inf)), np.float64)


def champion_runs(task: tuple[int, str, int, float]) -> tuple[float, float, float]:
    """Of one seed of world `avoid`: share of robot-steps closer than 3 cm to something; share in touch; speed."""
    seed, engine, robots, seconds = task
    world = lab.read_world("avoid", robots=robots)
    world = replace(world, contact=replace(world.contact, crash_limit=0))
    simulation = Simulation(world, seed, engine=engine)
    steps, near, touching, speed = round(seconds / world.dt), 0.0, 0.0, 0.0
    before = simulation.state.position[0].copy()
    for _ in range(steps):
        simulation.step()
        place = simulation.state.position[0]
        gap = clearance(world, place)
        near += float((gap < world.groups[0].robot.clearance).mean())
        touching += float((gap < 1e-4).mean())
        speed += float(np.linalg.norm(place - before, axis=1).mean()) / (world.dt * TOP)
        before = place.copy()
    return near / steps, touching / steps, speed / steps


def champion(workers: Pool, seeds: int) -> Iterator[Row]:
    """The network of `formiga/worlds/avoid.json`, evolved in the plane, unchanged in space."""
    for robots in (1, 4):
        tasks = [(seed, engine, robots, 60.0) for engine in ("planar", "spatial") for seed in range(seeds)]
        runs = np.array(workers.map(champion_runs, tasks)).reshape(2, seeds, 3).mean(axis=1)
        label = f"evolved in the plane, {robots} robot{'s' * (robots > 1)}, {counted(seeds)} of 60 s"
        for engine, (near, touching, speed) in zip(("in the plane", "in space"), runs, strict=True):
            yield reported(f"{label}, {engine}: time nearer than 3 cm, time in touch, speed",
                           f"{near:.2%}, {touching:.2%}, {speed:.2f}")
        yield at_most("    in space: share of time in touch", 0.01, float(runs[1, 1]))
        yield at_least("    in space: speed, as a share of that in the plane", 0.8, float(runs[1, 2] / runs[0, 2]))


# -- an hour on hills -------------------------------------------------------------------------------------------------------
def stability(seconds: float, robots: int = 32) -> Iterator[Row]:
    """Robots, close together on hills, that drive, grip and let go at random, anew every second."""
    world = lab.read_world("rough", robots=robots, side=1.4)
    world = replace(world, groups=(replace(world.groups[0], sensors=(), controller=None),))
    terrain = next(thing for thing in world.things if isinstance(thing, Terrain))
    simulation, draw = Simulation(world), np.random.default_rng(7)
    model: Any = simulation.model  # of the spatial engine
    state, mj = simulation.state, model.mj
    finite, low, energy, grips, lost = True, np.inf, 0.0, 0, 0
    product = np.empty(mj.nv)
    steps = round(seconds / world.dt)
    wheels = np.zeros((1, robots, 2))
    for k in range(steps):
        if k % 10 == 0:
            wheels = draw.uniform(-TOP, TOP, (1, robots, 2))
            state.joint_command[:, :, GRIP] = draw.random((1, robots)) < 0.5
        simulation.step({"swarm": wheels})
        events = simulation.engine.events(model, state)
        grips += sum(event.kind == "grip" for event in events)
        lost += sum(event.kind == "lost" for event in events)
        finite = finite and bool(np.isfinite(state.bodies).all())
        low = min(low, lowest(simulation, terrain))
        data = state.scratch.data
        mujoco.mj_mulM(mj, data, product, data.qvel)
        energy = max(energy, 0.5 * float(product @ data.qvel))
        if state.done[0]:
            break
    driving = robots * 0.5 * world.groups[0].robot.mass * TOP**2
    name = f"{robots} robots that grip and let go on hills, {seconds:g} s"
    yield Row(f"{name}: steps until the end", steps, int(state.step[0]), origin=LAW)
    yield Row("    everything stays a number", True, finite, origin=LAW)
    yield at_least("    lowest axle over the ground (mm)", -1e3 * UNDER, 1e3 * low)
    yield at_most(f"    largest kinetic energy, in that of all robots at top speed without their rotors, {driving:.2g} J",
                  WITH_ROTORS, energy / driving,
                  note="Rotors of two motors at top speed have 1.4 times a robot's own energy. "
                       "A robot that tips over falls with 0.2 J.")
    yield reported("    grips closed, and lost because they were pulled too hard", f"{grips}, {lost}")
    yield from explosion()


def explosion() -> Iterator[Row]:
    """A motion that is made to explode: the world ends, says when and where, and keeps the last good state."""
    simulation = Simulation(lab.read_world("rough", robots=2))
    for _ in range(5):
        simulation.step()
    model: Any = simulation.model  # of the spatial engine
    mj = model.mj
    simulation.state.own.integration[0, 1 + mj.nq] = 1e12  # the first speed of the first robot; time and places come before it
    simulation.step()
    said = " ".join(event.text for event in simulation.engine.events(model, simulation.state) if event.kind == "explode")
    yield Row("a motion that explodes ends the world and keeps its last state", True,
              bool(simulation.state.done[0] and np.isfinite(simulation.state.bodies).all()), origin=LAW)
    yield reported(f"    it says: {said or 'nothing'}", "")
