"""The two pictures of every talk on swarm-bots: a chain pulls what one cannot, and crosses what one falls into.

Both are the shipped worlds `pulling` and `trough`; robots stand on wheels, motors have 5 % noise, grips are forces, and nothing
is carried by hand.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from formiga import lab
from formiga.geometry import PLACE
from formiga.loop import Simulation
from formiga.state import Floats, Grip
from formiga.studies.harness import Pool, Row, at_least, at_most, counted, reported

LAW = "law"
GAP = 0.15             # m, of the shipped world


def pull(seed: int) -> tuple[Floats, Floats, int]:
    """How far the two loads came (2,) in m, that of the chain first; the largest force in each grip (N); grips lost."""
    simulation = Simulation(lab.read_world("pulling"), seed)
    state = simulation.state
    loads = [row for row, part in enumerate(simulation.model.parts) if part.thing >= 0]
    start = state.bodies[0, loads, :2].copy()
    force, lost = np.zeros(simulation.world.robots), 0
    for _ in range(round(simulation.world.seconds / simulation.world.dt)):
        simulation.step()
        force = np.maximum(force, state.grips[0, :, Grip.FORCE])
        lost += sum(event.kind == "lost" for event in simulation.engine.events(simulation.model, state))
    return np.asarray(np.linalg.norm(state.bodies[0, loads, :2] - start, axis=1), np.float64), force, lost


def pulling(workers: Pool, seeds: int) -> Iterator[Row]:
    """Two equal loads: four robots at one, one robot at the other."""
    runs = workers.map(pull, list(range(seeds)))
    yield at_least(f"pulling, {counted(seeds)} of 20 s: four in a chain move the load, at least (cm)", 25.0,
                   100.0 * min(float(way[0]) for way, _, _ in runs))
    yield at_most("    one alone, at most (cm); contacts in MuJoCo creep a little", 3.0,
                  100.0 * max(float(way[1]) for way, _, _ in runs))
    first, alone = (max(float(force[k]) for _, force, _ in runs) for k in (0, -1))
    yield reported("    largest force in the chain's first grip, and of the one alone (N)", f"{first:.1f}, {alone:.1f}")
    yield Row("    grips that gave way", 0, sum(lost for _, _, lost in runs), origin=LAW)


def cross(task: tuple[int, float]) -> tuple[Floats, list[int], float, int]:
    """Tracks (steps, robots, 3) of the robots' feet; the robots of the chain; the largest force in a grip (N); grips lost."""
    seed, gap = task
    world = lab.read_world("trough", gap=gap)
    simulation = Simulation(world, seed)
    track, force, lost = [], 0.0, 0
    for _ in range(round(world.seconds / world.dt)):
        simulation.step()
        track.append(simulation.state.bodies[0, simulation.model.chassis, PLACE].copy())
        force = max(force, float(simulation.state.grips[0, :, Grip.FORCE].max()))
        lost += sum(event.kind == "lost" for event in simulation.engine.events(simulation.model, simulation.state))
    return np.array(track), list(range(world.slices[0].start, world.slices[0].stop)), force, lost


def trough(workers: Pool, seeds: int, full: bool) -> tuple[list[Row], Floats]:
    """Rows, and the tracks of a run for the figure. Full also looks for the widest trough."""
    runs = workers.map(cross, [(seed, GAP) for seed in range(seeds)])
    over = min(int((track[-1][chain, 0] > GAP).sum()) for track, chain, _, _ in runs)
    deep = max(float(-track[:, chain, 2].min()) for track, chain, _, _ in runs)
    rows = [Row(f"trough of 15 cm, {counted(seeds)}: robots of the chain of four on the far side, at least", 4, over,
                origin=LAW),
            at_most("    deepest that one of them hung (mm)", 15.0, 1e3 * deep),
            Row("    grips that gave way", 0, sum(lost for *_, lost in runs), origin=LAW),
            reported("    largest force in a grip (N), of 14.72", max(force for _, _, force, _ in runs)),
            Row("    seeds in which one alone falls in", seeds, sum(bool(track[-1][-1, 2] < -0.05) for track, *_ in runs),
                origin=LAW)]
    if full:
        widest = GAP
        for gap in (0.16, 0.17, 0.18, 0.19, 0.20, 0.21):
            tried = workers.map(cross, [(seed, gap) for seed in range(3)])
            if any((track[-1][chain, 0] < gap).any() for track, chain, *_ in tried):
                break
            widest = gap
        rows.append(reported("    widest that the chain of four crosses with 3 seeds, in steps of 1 cm (m)", widest))
    return rows, runs[0][0]
