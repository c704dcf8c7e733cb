"""Localization on one core: particle-beams of the likelihood field, rays through a grid, fixes from ranges, a run of R01."""

from __future__ import annotations

import time
from math import inf
from typing import Any

import numpy as np

from formiga.benchmarks import cpp
from formiga.benchmarks.measure import Columns, show, timed
from formiga.locate import clusters, draws, field, kalman, motion, ranges, resampling
from formiga.map.grid import FREE, OCCUPIED, Grid
from formiga.map.rays import cast, clearance

RESOLUTION = 0.1                     # m
PARTICLES, BEAMS, REACH = 8000, 31, 32.0
FIELD_OF_VIEW = np.pi
HALL, PILLARS = 60.0, 400            # m, side of a hall, and the pillars of 0.5 m in it: beams are 10 m long on average
READINGS = 40                        # of a fix from ranges
BLOCKS = 15                          # of which the best counts
SECONDS = 1750.0                     # of a run of R01
COLUMNS: Columns = (("what", "what", "{}"), ("per_s", "per second", "{:,.0f}"), ("cpp_ratio", "ours/\nC++", "{:.2f}"),
                    ("agrees", "agrees", "{}"), ("seconds", "s", "{:.2g}"), ("note", "", "{}"))


def run(full: bool = False) -> dict[str, Any]:
    """The rows, printed as a table."""
    rows = [weighting(), casting(), *parts(), fix(), *whole_runs()]
    show("locate: one core; the best of several blocks", rows, [], COLUMNS)
    return {"rows": rows}


def blocks(columns: int = 3, rows: int = 4) -> Grid:
    """The map of R01: 80 m x 65 m, blocks of 20 m x 10 m, corridors of 5 m."""
    cells = np.full((650, 800), FREE, np.int8)
    for i in range(columns):
        for j in range(rows):
            cells[50 + 150 * j:150 + 150 * j, 50 + 250 * i:250 + 250 * i] = OCCUPIED
    return _closed(cells)


def hall() -> Grid:
    """A square hall with pillars at random places."""
    side, pillar = round(HALL / RESOLUTION), round(0.5 / RESOLUTION)
    cells = np.full((side, side), FREE, np.int8)
    for row, column in np.random.default_rng(3).integers(0, side - pillar, (PILLARS, 2)):
        cells[row:row + pillar, column:column + pillar] = OCCUPIED
    return _closed(cells)


def _closed(cells: Any) -> Grid:
    cells[0], cells[-1], cells[:, 0], cells[:, -1] = [OCCUPIED] * 4
    cells.setflags(write=False)
    return Grid(cells, RESOLUTION)


def somewhere(grid: Grid, number: int) -> Any:
    """Poses (number, 3) on free cells."""
    rng = np.random.default_rng(1)
    free = np.argwhere(grid.free)
    place = grid.centre_of(free[rng.integers(len(free), size=number)]) + rng.uniform(-0.05, 0.05, (number, 2))
    return np.column_stack([place, rng.uniform(-np.pi, np.pi, number)])


def weighting() -> dict[str, Any]:
    """The likelihood field: 8,000 particles that stand anywhere, 31 beams."""
    grid, angles = blocks(), np.linspace(-0.5 * FIELD_OF_VIEW, 0.5 * FIELD_OF_VIEW, BEAMS)
    made = field.likelihood_field(grid, field.Mixture(sigma=0.2, short=0.05, reach=REACH))
    particles = somewhere(grid, PARTICLES)
    far = cast(grid, particles[0], angles, REACH) + 0.3 * RESOLUTION      # into a cell: on its edge, rounding would choose one
    ends = field.end_points(far, angles, REACH)
    ends = ends[~np.isnan(ends[:, 0])]
    ours = field.log_weights(particles, ends, made)
    twin, out = None, np.empty(PARTICLES)
    if cpp.compiler():
        scaled = np.ascontiguousarray(ends / RESOLUTION)
        mixture = made.mixture
        floors = mixture.short * mixture.decay * np.exp(-mixture.decay * np.hypot(*ends.T)) + mixture.random / mixture.reach
        call, given = cpp.library(cpp.LOCATE).field_weigh, (
            particles.ctypes.data, PARTICLES, scaled.ctypes.data, floors.ctypes.data, len(ends), made.hit.ctypes.data,
            *grid.shape, grid.x, grid.y, RESOLUTION, out.ctypes.data)
        twin = lambda: call(*given)  # noqa: E731
    best, of_cpp = alternating(lambda: field.log_weights(particles, ends, made), twin)
    return {"what": "particle-beams, likelihood field", "per_s": PARTICLES * len(ends) / best, "seconds": best,
            "cpp_ratio": of_cpp / best if twin else None,
            "agrees": bool(np.allclose(out, ours, atol=1e-9)) if twin else None,
            "note": f"{PARTICLES:,} particles x {len(ends)} beams, 0.1 m"}


def casting() -> dict[str, Any]:
    """Beams through a grid of 0.1 m, 10 m long on average."""
    grid = hall()
    poses, angles = somewhere(grid, 2000), np.linspace(-0.5 * FIELD_OF_VIEW, 0.5 * FIELD_OF_VIEW, 181)
    ours = cast(grid, poses, angles, 1000.0)
    twin, out = None, np.empty(ours.shape)
    if cpp.compiler():
        clear, place, heading = clearance(grid), np.ascontiguousarray(grid.local_of(poses[:, :2])), poses[:, 2].copy()
        call, given = cpp.library(cpp.LOCATE).cast_rays, (
            clear.ctypes.data, *grid.shape, place.ctypes.data, heading.ctypes.data, len(poses), angles.ctypes.data, len(angles),
            1000.0 / RESOLUTION, out.ctypes.data)
        twin = lambda: call(*given)  # noqa: E731
    best, of_cpp = alternating(lambda: cast(grid, poses, angles, 1000.0), twin)
    return {"what": "rays through a grid", "per_s": ours.size / best, "seconds": best,
            "cpp_ratio": of_cpp / best if twin else None,
            "agrees": bool(np.allclose(out * RESOLUTION, ours, atol=1e-9)) if twin else None,
            "note": f"0.1 m, {ours.mean():.1f} m long on average, among pillars"}


def parts() -> list[dict[str, Any]]:
    """The other parts of a particle filter, by particles."""
    grid = blocks()
    particles, weights = somewhere(grid, PARTICLES), np.full(PARTICLES, 1.0 / PARTICLES)
    after, starts = np.array([0.2, 0.0, 0.1]), draws(1)
    each = {
        "particles moved by odometry": lambda: motion.differential(particles.copy(), np.zeros(3), after, motion.TurnErrors(),
                                                                   starts),
        "particles resampled, KLD": lambda: resampling.kld_resample(
            particles.copy(), weights, PARTICLES, starts, resampling.Bins(), resampling.KLD(), min(300, PARTICLES), PARTICLES),
        "particles put into hypotheses": lambda: clusters.hypotheses(particles, weights),
    }
    rows = []
    for what, call in each.items():
        best, _ = alternating(call, None)
        rows.append({"what": what, "per_s": PARTICLES / best, "seconds": best, "cpp_ratio": None, "agrees": None, "note": ""})
    filters, unit = 1000, np.eye(3)
    mean, off, spread = np.zeros((filters, 3)), np.ones((filters, 3)), np.broadcast_to(unit, (filters, 3, 3))
    best, _ = alternating(lambda: kalman.correct(mean, spread, off, unit, unit), None)
    return [*rows, {"what": "corrections of a Kalman filter", "per_s": filters / best, "seconds": best, "cpp_ratio": None,
                    "agrees": None, "note": "3 numbers, 1,000 filters at a time"}]


def fix() -> dict[str, Any]:
    """R05: the most probable place from 40 ranges to four beacons, from scratch."""
    rng = np.random.default_rng(2)
    corners = [(0.0, 0.0), (5.0, 0.0), (0.0, 5.0), (5.0, 5.0)]
    beacons = np.repeat(corners, READINGS // 4, axis=0) + rng.normal(size=(READINGS, 2))
    far = np.linalg.norm(beacons - (1.2, 3.3), axis=-1) + rng.normal(size=READINGS)
    best, _ = alternating(lambda: ranges.search(beacons, far, 1.04), None)
    return {"what": "fixes from ranges (R05)", "per_s": 1.0 / best, "seconds": best, "cpp_ratio": None, "agrees": None,
            "note": f"{READINGS} readings, {1e3 * best:.3f} ms each"}


def alternating(ours: Any, twin: Any) -> tuple[float, float]:
    """Seconds of the best call of each; they take turns. twin: None, if there is no twin."""
    best = [inf, inf]
    ours()
    for _ in range(BLOCKS):
        for k, call in enumerate((ours, twin)):
            if call is not None:
                best[k] = min(best[k], timed(call))
    return best[0], best[1]


def whole_runs() -> list[dict[str, Any]]:
    """One run of R01 with six rovers, 1,750 s, from the first draw of particles to the last scan."""
    from formiga.loop import Simulation
    from formiga.world.reader import read
    from formiga.world.shipped import world_file

    lab = Simulation(read(world_file("three_state")), seed=1)
    lab.step()   # kernels are compiled, or read from the cache
    began, steps = time.perf_counter(), round(SECONDS / lab.world.dt)
    for _ in range(steps):
        lab.step()
    took = time.perf_counter() - began
    robots = sum(group.count for group in lab.world.groups if group.estimators)
    return [{"what": "runs of R01", "per_s": 1.0 / took, "seconds": took, "cpp_ratio": None, "agrees": None,
             "note": f"{robots} rovers, {SECONDS:,.0f} s, {SECONDS / took:.0f} x real time"}]
