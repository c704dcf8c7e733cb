"""The two pictures of every talk on swarm-bots: a chain pulls what one cannot, and crosses what one falls into.

Both are the shipped worlds `pulling` and `trough`; robots stand on wheels, grips are forces, nothing is carried by hand.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from formiga import lab
from formiga.loop import Simulation
from formiga.state import Floats
from formiga.studies.harness import Row, at_most, reported
from formiga.studies.swarmbot3d.swarm import at_least

LAW = "law"


def pulling() -> Iterator[Row]:
    """Two equal loads: four robots at one, one robot at the other."""
    simulation = Simulation(lab.read_world("pulling"))
    model, state = simulation.model, simulation.state
    loads = [row for row, part in enumerate(model.parts) if part.thing >= 0]
    start = state.bodies[0, loads, :2].copy()
    force, lost = np.zeros(simulation.world.robots), 0
    for _ in range(round(simulation.world.seconds / simulation.world.dt)):
        simulation.step()
        force = np.maximum(force, state.grips[0, :, 2])
        lost += sum(event.kind == "lost" for event in state.scratch.events)
    way = 100.0 * np.linalg.norm(state.bodies[0, loads, :2] - start, axis=1)
    yield at_least("pulling, 20 s: four robots in a chain move the load (cm)", 25.0, float(way[0]))
    yield at_most("pulling: one robot alone (cm); contacts in MuJoCo creep a little", 3.0, float(way[1]))
    yield reported("    largest force in the chain's first grip, and of the one alone (N)", f"{force[0]:.1f}, {force[-1]:.1f}")
    yield Row("    grips that gave way", 0, lost, origin=LAW)


def crossing(gap: float | None = None) -> tuple[Floats, list[int], float, int]:
    """Tracks (steps, robots, 3) of everybody's foot; the robots of the chain; the largest force in a grip (N); grips lost."""
    world = lab.read_world("trough", **({} if gap is None else {"gap": gap}))
    simulation = Simulation(world)
    track, force, lost = [], 0.0, 0
    for _ in range(round(world.seconds / world.dt)):
        simulation.step()
        track.append(simulation.state.bodies[0, simulation.model.chassis, :3].copy())
        force = max(force, float(simulation.state.grips[0, :, 2].max()))
        lost += sum(event.kind == "lost" for event in simulation.state.scratch.events)
    return np.array(track), list(range(world.slices[0].start, world.slices[0].stop)), force, lost


def trough(full: bool) -> tuple[list[Row], Floats]:
    """Rows, and the tracks for the figure. Full also looks for the widest trough."""
    tracks, chain, force, lost = crossing()
    track = tracks
    end = track[-1]
    over = int((end[chain, 0] > 0.15).sum())
    rows = [Row("trough of 15 cm: robots of the chain of four on the far side", 4, over, origin=LAW),
            at_most("    deepest that one of them hung (mm)", 15.0, float(-1e3 * track[:, chain, 2].min())),
            Row("    grips that gave way", 0, lost, origin=LAW),
            reported("    largest force in a grip (N), of 14.72", force),
            Row("trough: one alone falls in", True, bool(end[-1, 2] < -0.05), origin=LAW)]
    if full:
        widest = 0.15
        for gap in (0.16, 0.17, 0.18, 0.19, 0.20, 0.21):
            track, chain, *_ = crossing(gap)
            if (track[-1][chain, 0] < gap).any():
                break
            widest = gap
        rows.append(reported("    widest trough that the chain of four crosses, in steps of 1 cm (m)", widest))
    return rows, tracks
