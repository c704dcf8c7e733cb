"""Swarmod's geometry, table, kinematics, noise and re-positioning, claim by claim. `formiga study swarmod`

Each function measures one thing on the laboratory itself and returns it; `rows` puts it beside the paper. Lengths are
in centimetres here, as in the texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import trunc
from pathlib import Path
from typing import Any

import numpy as np

from formiga import runs
from formiga.engine.beams import ring
from formiga.geometry import crossing
from formiga.loop import Simulation
from formiga.sense import infrared_table
from formiga.sense.proximity import SBOT_ANGLES, Proximity
from formiga.studies import harness
from formiga.studies.harness import Pool, Row, at_most, compare
from formiga.studies.swarmod import packs, published, reconstructed, table
from formiga.studies.swarmod.bench import bench, put
from formiga.units import CM, DEG
from formiga.world.elements import profiled
from formiga.world.model import Arena, Contact, Cylinder, Group, Wall, World
from formiga.world.placement import At
from formiga.world.robots import SBot


class Study(harness.Study):
    """The claims of the report and its draft."""

    def rows(self, full: bool, workers: Pool) -> Iterator[Row]:
        """All claims; `full` takes ten times as many random cases."""
        many = 10 if full else 1
        yield from beams_against_a_wall()
        yield from table.rows()
        yield from beams_against_a_robot(10_000 * many)
        yield from kinematics()
        yield from motion_noise(10_000 * many)
        yield from noise(10_000 * many)
        yield from blind_neighbours()
        yield from packs.rows(100 * many)
        yield from same_seed_same_bits()
        yield from stop_ends_at_the_limit()

    def figures(self) -> dict[str, harness.Draw]:
        """The table, Fig. 15 and a pack."""
        return {"swarmod": figure}


# -- 1 --------------------------------------------------------------------------------------------------------------
def fig15_fractions() -> tuple[list[float], list[float]]:
    """r1 and r2 of the draft's 15 beams and its wall."""
    x0, y0, x1, y1 = reconstructed.FIG15_WALL
    pairs = [crossing(x0, y0, 15.0 * np.cos(a), 15.0 * np.sin(a), x1 - x0, y1 - y0) for a in SBOT_ANGLES]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def fig15_distances() -> Any:
    """What the engine's beams measure there (15,), cm; infinity for a miss."""
    wall = Wall(tuple(v * CM for v in reconstructed.FIG15_WALL))
    simulation = bench(things=(wall,))
    put(simulation, 0.0)
    return simulation.engine.cast(simulation.model, simulation.state, ring(SBOT_ANGLES, 0.0), 0.15, slice(0, 1))[0, 0] / CM


def beams_against_a_wall() -> Iterator[Row]:
    """Claim 1."""
    along_beam, along_wall = fig15_fractions()
    for label, ours, paper in (("r1", along_beam, published.FRACTIONS_ALONG_BEAM),
                               ("r2", along_wall, published.FRACTIONS_ALONG_WALL)):
        same = sum(trunc(100.0 * mine) == round(100.0 * paper.values[n]) for n, mine in enumerate(ours))
        yield Row(f"Fig. 15: {label} of 15 beams, equal when cut to 2 decimals", 15, same, where=paper.where,
                  note="the wall's coordinates are recovered, not published")
    distances = fig15_distances()
    yield Row("Fig. 15: beams that hit", published.HITS.values["sensors"],
              [int(n) for n in np.flatnonzero(np.isfinite(distances))], where=published.HITS.where)
    yield from compare("Fig. 15: distance (cm) of", published.BEAM_DISTANCES,
                       {f"IR{n}": float(distances[n]) for n in (0, 1, 2, 14)})


# -- 3 --------------------------------------------------------------------------------------------------------------
def robot_distance(apart: float, off: float) -> float:
    """Distance (cm) that a beam `off` degrees from the centre of another robot `apart` cm away measures."""
    simulation = bench(robots=2)
    put(simulation, [[(0.0, 0.0), (apart * CM, 0.0)]])
    beams = ring((off * DEG,), 6.0 * CM)
    return float(simulation.engine.cast(simulation.model, simulation.state, beams, 0.15 + 1e-12, slice(0, 1))[0, 0, 0]) / CM


def random_beams(count: int, seed: int = 3) -> tuple[Any, Any]:
    """Distances (cm) of random beams to one cylinder: the engine's, and by solving |o + t u - c| = r."""
    rng = np.random.default_rng(seed)
    worlds = -(-count // 15)
    reach, radius, mount = 0.15, 0.08, 6.0 * CM
    simulation = bench(things=(Cylinder(0.0, 0.0, radius),), worlds=worlds)
    apart, bearing = rng.uniform(radius + mount, 0.35, worlds), rng.uniform(0.0, 2.0 * np.pi, worlds)
    centres = np.stack([apart * np.cos(bearing), apart * np.sin(bearing)], axis=-1)
    heading = rng.uniform(0.0, 2.0 * np.pi, worlds)
    put(simulation, centres[:, None], heading[:, None])
    ours = simulation.engine.cast(simulation.model, simulation.state, ring(SBOT_ANGLES, mount), reach, slice(0, 1))[:, 0]
    angle = heading[:, None] + np.array(SBOT_ANGLES)
    u = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    o = centres[:, None] + mount * u
    b, c = 2.0 * (o * u).sum(-1), (o * o).sum(-1) - radius**2
    square = b * b - 4.0 * c
    t = np.where(square >= 0.0, 0.5 * (-b - np.sqrt(np.maximum(square, 0.0))), np.inf)
    return ours / CM, np.where((t >= 0.0) & (t <= reach), t, np.inf) / CM


def beams_against_a_robot(count: int) -> Iterator[Row]:
    """Claim 3."""
    for apart, by_angle in reconstructed.DISC_DISTANCES.items():
        for off, expected in by_angle.items():
            yield Row(f"beam at a robot {apart:g} cm away, {off} deg off (cm)", expected, robot_distance(apart, off), 1e-4,
                      "reconstructed")
    ours, solved = random_beams(count)
    yield Row(f"{ours.size} random beams: hits and misses that brute force sees otherwise", 0,
              int((np.isfinite(ours) != np.isfinite(solved)).sum()), origin="law")
    both = np.isfinite(ours) & np.isfinite(solved)
    yield at_most("random beams: largest difference to brute force (cm)", 1e-12, float(np.abs(ours[both] - solved[both]).max()))


# -- 4 --------------------------------------------------------------------------------------------------------------
def driven(left: float, right: float, steps: int) -> tuple[float, float, float]:
    """Pose (cm, cm, rad) after some steps from (0, 0, 0), wheels in rad/s."""
    simulation = bench()
    put(simulation, 0.0)
    speeds = np.array([left, right]) * simulation.world.groups[0].robot.wheel_radius
    for _ in range(steps):
        simulation.step({"swarm": np.broadcast_to(speeds, (1, 1, 2))})
    x, y = simulation.state.position[0, 0] / CM
    return float(x), float(y), float(simulation.state.heading[0, 0])


def kinematics() -> Iterator[Row]:
    """Claim 4."""
    for label, (wheels, steps, expected) in reconstructed.KINEMATICS.items():
        worst = max(abs(mine - theirs) for mine, theirs in zip(driven(*wheels, steps), expected, strict=True))
        yield at_most(f"drive, wheels {label} rad/s: largest error (cm, rad)", 5e-9 if steps == 1 else 5e-7, worst,
                      "reconstructed", where="TR eq. 4, evaluated", note="half of the last digit that is written down")
    nearly, straight = driven(4.0, 4.0 - 1e-12, 1), driven(4.0, 4.0, 1)
    yield at_most("drive: wheels that differ by 1e-12 against straight (cm)", 1e-12,
                  max(abs(a - b) for a, b in zip(nearly, straight, strict=True)))


def motion_noise(count: int) -> Iterator[Row]:
    """The draft's three noises of motion, as factors of one step of 0.1 s at top speed: ahead, and on the spot.

        (1 + (m_l + m_r) / 2) (1 + p),   m uniform within 0.01, p (position or heading) within 0.05
    so that its variance is (1 + 0.01^2 / 6) (1 + 0.05^2 / 3) - 1. Estimates of a standard deviation from n of them scatter by
    less than 1 / sqrt(n) of it; 3 of these are allowed.
    """
    motor, increment = (published.MOTION_NOISE.values[name] for name in ("motor", "position"))
    expected = np.sqrt((1.0 + motor**2 / 6.0) * (1.0 + increment**2 / 3.0) - 1.0)
    simulation = bench(worlds=count, robots=2, robot=profiled(SBot, "draft"))
    put(simulation, [[(0.0, 0.0), (1.0, 0.0)]])
    simulation.step({"swarm": np.broadcast_to([[0.08, 0.08], [-0.08, 0.08]], (count, 2, 2))})
    went = np.hypot(*simulation.state.position[:, 0].T) / (0.8 * CM)
    turned = simulation.state.heading[:, 1] / (2.0 * 0.8 / 9.5)
    for what, factor in (("way", went), ("turn", turned)):
        yield Row(f"draft: standard deviation of the {what} in a step, relative", float(expected), float(factor.std()),
                  3.0 * float(expected) / np.sqrt(count), where=published.MOTION_NOISE.where, note=published.MOTION_NOISE.note)
        yield at_most(f"draft: largest error of the {what} in a step, relative",
                      (1.0 + motor) * (1.0 + increment) - 1.0 + 1e-12, float(np.abs(factor - 1.0).max()), "published",
                      where=published.MOTION_NOISE.where)
        yield Row(f"draft: mean of the {what} in a step, relative", 1.0, float(factor.mean()),
                  3.0 * float(expected) / np.sqrt(count), "law")


# -- 5, 6 -----------------------------------------------------------------------------------------------------------
def noisy_readings(profile: str, count: int, wall: float | None, **changed: float) -> Any:
    """Readings (count, 15) of a robot whose IR7, straight behind, is `wall` cm from a wall; None: free space."""
    sensor = replace(profiled(Proximity, profile), **changed)
    things = () if wall is None else (Wall((-(sensor.mount + wall * CM), -1.0, -(sensor.mount + wall * CM), 1.0)),)
    simulation = bench((sensor,), things, worlds=count, robot=profiled(SBot, profile))
    put(simulation, 0.0)
    return simulation.readings["swarm"]["proximity"][:, 0]


def noise(count: int) -> Iterator[Row]:
    """Claim 5."""
    readings = noisy_readings("tr", count, 3.0)[:, 7]
    exact = float(Proximity().values[30])
    share = published.IR_NOISE.values["tr"]
    yield Row(f"tr: mean of {count} readings at 3 cm", exact, float(readings.mean()), 3.0 * share * exact / np.sqrt(3 * count),
              "law", note="three standard errors of a uniform noise")
    yield at_most("tr: largest relative error", share, float(np.abs(readings / exact - 1.0).max()), "published",
                  where=published.IR_NOISE.where)
    low, high = published.IR_NOISE_DRAFT.values["low"], published.IR_NOISE_DRAFT.values["high"]
    error = noisy_readings("draft", count, 3.0, ambient=0.0)[:, 7] / exact - 1.0
    spread = float(np.sqrt((high**3 - low**3) / (3.0 * (high - low)) / 3.0))
    yield Row("draft: largest relative error is above 15 % and at most 20 %", True,
              bool(low < np.abs(error).max() <= high), where=published.IR_NOISE_DRAFT.where)
    yield Row("draft: standard deviation of the relative error", spread, float(error.std()), 3.0 * spread / np.sqrt(count),
              where=published.IR_NOISE_DRAFT.where, note="sqrt(E[a^2] / 3), a uniform from 0.15 to 0.20")
    free = noisy_readings("draft", count, None)
    low, high = published.AMBIENT.values["low"], published.AMBIENT.values["high"]
    yield Row("draft: mean reading in free space", 0.5 * (low + high), float(free.mean()),
              3.0 * (high - low) / np.sqrt(12 * free.size), where=published.AMBIENT.where, note="three standard errors")
    yield Row("draft: free space stays within 0..4", True, bool(free.min() >= low and free.max() <= high),
              where=published.AMBIENT.where)


def blind_shares(profile: str) -> list[float]:
    """Readings of IR6 and IR8 relative to IR7, which alone sees a thin cylinder; noise off."""
    sensor = replace(profiled(Proximity, profile), noise=(0.0,), ambient=0.0)
    simulation = bench((sensor,), (Cylinder(-(sensor.mount + 0.05), 0.0, 0.002),))
    put(simulation, 0.0)
    reading = simulation.readings["swarm"]["proximity"][0, 0]
    if np.count_nonzero(reading) != 3:
        raise AssertionError(f"one beam and its two neighbours should read something, not {np.flatnonzero(reading)}")
    return [float(reading[6] / reading[7]), float(reading[8] / reading[7])]


def blind_neighbours() -> Iterator[Row]:
    """Claim 6."""
    for profile, paper in (("tr", published.BLIND_SHARE), ("draft", published.BLIND_SHARE_DRAFT)):
        for sensor, share in zip(("IR6", "IR8"), blind_shares(profile), strict=True):
            yield Row(f"{profile}: a cylinder seen by IR7 alone: share given to {sensor}", paper.values[profile], share, 1e-12,
                      where=paper.where)


# -- 9 --------------------------------------------------------------------------------------------------------------
def swarm(**parameters: str | float) -> World:
    """The study's world file."""
    return harness.world("swarmod", parameters)


def same_seed_same_bits() -> Iterator[Row]:
    """Claim 9, first half: alone or among others, once or twice, on one thread or two."""
    world = swarm(profile="draft", limit=0)
    batch = runs.simulate(world, 30.0, seed=5, worlds=4, threads=1).state.position
    again = runs.simulate(world, 30.0, seed=5, worlds=4, threads=2).state.position
    alone = runs.simulate(world, 30.0, seed=5, worlds=1).state.position
    other = runs.simulate(world, 30.0, seed=6, worlds=1).state.position
    yield Row("same seed: equal bit for bit on 1 and 2 threads", True, bool((batch == again).all()), origin="law")
    yield Row("same seed: world 0 alone equals world 0 of a batch", True, bool((batch[:1] == alone).all()), origin="law")
    yield Row("another seed gives another run", True, bool((alone != other).any()), origin="law")


def stop_ends_at_the_limit() -> Iterator[Row]:
    """Claim 9, second half."""
    robot = Group(SBot(), 1, "swarm", (At(0.0, 0.0, 0.0),))
    world = World(contact=Contact("stop", crash_limit=60), things=(Arena(1.5, 1.5),), groups=(robot,))
    simulation = Simulation(world)
    while not simulation.state.done[0] and simulation.state.step[0] < 1000:
        simulation.step({"swarm": np.full((1, 1, 2), 0.08)})
    first = int(np.ceil((0.75 - 0.088) / 0.008 - 1e-9))  # the step that ends inside the clearance of the wall
    yield Row("stop: crash steps at the end of the run", 60, int(simulation.state.crashes[0, 0]), origin="law")
    yield Row("stop: the run ends after this many steps", first + 59, int(simulation.state.step[0]), origin="law")


# -- the figure -----------------------------------------------------------------------------------------------------
def figure(path: Path) -> None:
    """Table, Fig. 15, and a tight pack before and after, as in the draft's figures."""
    with harness.canvas(path, 1, 3, (15.0, 4.8)) as (_, (left, middle, right)):
        d = infrared_table.centimetres()
        left.plot(d, infrared_table.method_b(), color="#0072b2", label="B, the default (reconstructed)")
        left.plot(d, infrared_table.method_a(), "--", color="#009e73", label="A (reconstructed)")
        left.plot(d[:101], infrared_table.printed_polynomial(d[:101]), ":", color="#d55e00", label="polynomial as printed")
        left.set(title="Infra-red reading against distance", xlabel="distance (cm)", ylabel="reading", ylim=(0, 40))
        left.legend(frameon=False)
        _draw_fig15(middle)
        _draw_pack(right)


def _draw_fig15(axes: Any) -> None:
    distances = fig15_distances()
    for n, angle in enumerate(SBOT_ANGLES):
        hit = np.isfinite(distances[n])
        length = distances[n] if hit else 15.0
        axes.plot([0.0, length * np.cos(angle)], [0.0, length * np.sin(angle)], color="#d55e00" if hit else "#bbbbbb", lw=1.2)
    x0, y0, x1, y1 = reconstructed.FIG15_WALL
    axes.plot([x0, x1], [y0, y1], color="black", lw=3)
    axes.add_patch(_circle((0.0, 0.0), 5.8, "#0072b2"))
    axes.set(title="Draft's Fig. 15: beams from the centre, one wall", xlabel="cm", aspect="equal")


def _draw_pack(axes: Any) -> None:
    rng = np.random.default_rng(2)
    before = rng.uniform(0.0, 0.45, (1, 15, 2))
    after = packs.resolved(before, "minimal").state.position
    for (x0, y0), (x1, y1) in zip(before[0] / CM, after[0] / CM, strict=True):
        axes.add_patch(_circle((x0, y0), 8.8, "#bbbbbb"))
        axes.add_patch(_circle((x1, y1), 8.8, "#0072b2"))
        axes.annotate("", (x1, y1), (x0, y0), arrowprops={"arrowstyle": "->", "color": "#d55e00"})
    axes.set(title="Tight pack of 15, before (grey) and after (blue)", xlabel="cm", aspect="equal")
    axes.autoscale_view()


def _circle(centre: tuple[float, float], radius: float, colour: str) -> Any:
    from matplotlib.patches import Circle

    return Circle(centre, radius, fill=False, color=colour, lw=1.2)
