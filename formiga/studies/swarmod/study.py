"""Swarmod's geometry, table, kinematics, noise and re-positioning, claim by claim. `formiga study swarmod`

Each function measures one thing on the laboratory itself and returns it; `rows` puts it beside the paper. Lengths are
in centimetres here, as in the texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import trunc
from pathlib import Path
from typing import Any

import numpy as np

from formiga import loop
from formiga.engine.beams import ring
from formiga.geometry import crossing
from formiga.sense import infrared_table
from formiga.sense.proximity import SBOT_ANGLES, Proximity
from formiga.studies import harness
from formiga.studies.harness import Pool, Row, at_most, compare, reported
from formiga.studies.swarmod import infrared_fit, published, reconstructed
from formiga.units import CM, DEG
from formiga.world.elements import profiled
from formiga.world.model import Arena, Contact, Cylinder, Group, Wall, World
from formiga.world.placement import At
from formiga.world.robots import SBot

CORNER = (Wall((0.0, 0.0, 5.0, 0.0)), Wall((0.0, 0.0, 0.0, 5.0)))


class Study(harness.Study):
    """The claims of the report and its draft."""

    def rows(self, full: bool, workers: Pool) -> Iterator[Row]:
        """All claims; `full` takes ten times as many random cases."""
        many = 10 if full else 1
        yield from beams_against_a_wall()
        yield from table()
        yield from beams_against_a_robot(10_000 * many)
        yield from kinematics()
        yield from noise(10_000 * many)
        yield from blind_neighbours()
        yield from repositioning(100 * many)
        yield from same_seed_same_bits()
        yield from stop_ends_at_the_limit()

    def figures(self) -> dict[str, harness.Draw]:
        """The table, Fig. 15 and a pack."""
        return {"swarmod": figure}


# -- a laboratory of one robot --------------------------------------------------------------------------------------
def bench(sensors: tuple[Any, ...] = (), things: tuple[Any, ...] = (), worlds: int = 1, robots: int = 1, mode: str = "none",
          robot: Any = None) -> loop.Simulation:
    """S-bots in a row, without walls; the caller puts them where it wants."""
    contact = Contact(model="none") if mode == "none" else Contact(mode=mode)
    place = tuple(At(10.0 + 0.3 * number, 10.0, 0.0) for number in range(robots))
    group = Group(robot or SBot(), robots, "swarm", place, sensors)
    return loop.Simulation(World(contact=contact, things=things, groups=(group,)), worlds=worlds)


def put(simulation: loop.Simulation, centres: Any, heading: Any = 0.0) -> None:
    """Move the robots; centres in metres (worlds, robots, 2)."""
    simulation.state.position[...] = centres
    simulation.state.heading[...] = heading
    simulation.look_again()


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


# -- 2 --------------------------------------------------------------------------------------------------------------
def table() -> Iterator[Row]:
    """Claim 2."""
    values = Proximity().values
    at = {f"{d} cm": float(values[10 * d]) for d in range(16)}
    yield Row("look-up table: entries", published.TABLE_SIZE.values["entries"], len(values), where=published.TABLE_SIZE.where)
    for label, paper in (("report", published.REPORT_COEFFICIENTS), ("draft", published.DRAFT_COEFFICIENTS)):
        ours = {name: infrared_table.METHOD_B[int(name[1:])] for name in paper.values}
        same = sum(f"{ours[name]:.{len(printed.split('.')[1])}f}" == printed for name, printed in paper.values.items())
        yield Row(f"table: coefficients that round to the {label}'s digits", len(paper.values), same, where=paper.where)
    yield Row("table: strictly decreasing", True, bool((np.diff(values) < 0.0).all()), origin="reconstructed")
    yield from compare("table: reading at", reconstructed.TABLE, at, "reconstructed")
    yield from compare("table: reading at", reconstructed.TABLE_MIDDLE, at, "reconstructed")
    yield from compare("table: reading at", reconstructed.TABLE_END, at, "reconstructed")
    refit = np.polynomial.polynomial.polyval(infrared_table.centimetres(), infrared_fit.fit())
    yield at_most("table: linear program solved again, largest difference", 0.01, float(np.abs(refit - values).max()),
                  "reconstructed")
    tail = Proximity(table="A").values
    yield reported("table: method A against B, largest difference", float(np.abs(tail - values).max()), "reconstructed")


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
    yield at_most("random beams: largest difference to brute force (cm)", 1e-9, float(np.abs(ours[both] - solved[both]).max()))


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
        yield at_most(f"drive, wheels {label} rad/s: largest error (cm, rad)", 1e-6, worst, "reconstructed",
                      where="TR eq. 4, evaluated")
    nearly, straight = driven(4.0, 4.0 - 1e-12, 1), driven(4.0, 4.0, 1)
    yield at_most("drive: wheels that differ by 1e-12 against straight (cm)", 1e-9,
                  max(abs(a - b) for a, b in zip(nearly, straight, strict=True)))


# -- 5, 6 -----------------------------------------------------------------------------------------------------------
def noisy_readings(profile: str, count: int, wall: float | None) -> Any:
    """Readings (count, 15) of a robot whose IR7, straight behind, is `wall` cm from a wall; None: free space."""
    sensor = profiled(Proximity, profile)
    things = () if wall is None else (Wall((-(sensor.mount + wall * CM), -1.0, -(sensor.mount + wall * CM), 1.0)),)
    simulation = bench((sensor,), things, worlds=count, robot=profiled(SBot, profile))
    put(simulation, 0.0)
    return simulation.readings["swarm"]["proximity"][:, 0]


def noise(count: int) -> Iterator[Row]:
    """Claim 5."""
    readings = noisy_readings("tr", count, 3.0)[:, 7]
    exact = float(Proximity().values[30])
    yield Row(f"tr: mean of {count} readings at 3 cm", exact, float(readings.mean()), 0.01 * exact, "law")
    share = published.IR_NOISE.values["tr"]
    yield at_most("tr: largest relative error", share, float(np.abs(readings / exact - 1.0).max()), "published",
                  where=published.IR_NOISE.where)
    free = noisy_readings("draft", count, None)
    low, high = published.AMBIENT.values["low"], published.AMBIENT.values["high"]
    yield Row("draft: mean reading in free space", 0.5 * (low + high), float(free.mean()), 0.1, where=published.AMBIENT.where)
    yield Row("draft: free space stays within 0..4", True, bool(free.min() >= low and free.max() <= high),
              where=published.AMBIENT.where)


def blind_shares() -> list[float]:
    """Readings of IR6 and IR8 relative to IR7, which alone sees a thin cylinder; noise off."""
    sensor = Proximity(noise=(0.0,))
    simulation = bench((sensor,), (Cylinder(-(sensor.mount + 0.05), 0.0, 0.002),))
    put(simulation, 0.0)
    reading = simulation.readings["swarm"]["proximity"][0, 0]
    if np.count_nonzero(reading) != 3:
        raise AssertionError(f"one beam and its two neighbours should read something, not {np.flatnonzero(reading)}")
    return [float(reading[6] / reading[7]), float(reading[8] / reading[7])]


def blind_neighbours() -> Iterator[Row]:
    """Claim 6."""
    for sensor, share in zip(("IR6", "IR8"), blind_shares(), strict=True):
        yield Row(f"a cylinder seen by IR7 alone: share given to {sensor}", published.BLIND_SHARE.values["tr"], share, 1e-12,
                  where=published.BLIND_SHARE.where)


# -- 7 --------------------------------------------------------------------------------------------------------------
def resolved(centres: Any, mode: str, things: tuple[Any, ...] = ()) -> loop.Simulation:
    """Packs (worlds, robots, 2) of centres in metres, after one step of re-positioning at standstill."""
    simulation = bench(things=things, worlds=len(centres), robots=len(centres[0]), mode=mode)
    put(simulation, centres)
    simulation.step()
    return simulation


def displacements(centres: list[tuple[float, float]], mode: str) -> Any:
    """How far (cm) each robot of one pack was moved; centres in cm."""
    before = np.array([centres]) * CM
    return np.linalg.norm(resolved(before, mode).state.position - before, axis=-1)[0] / CM


def pack_trouble(side: float, robots: int, count: int, mode: str, corner: bool = False, seed: int = 7) -> dict[str, float]:
    """Random packs in a square of `side` cm: the worst overlap and wall overlap left (cm), and the most rounds needed."""
    rng = np.random.default_rng(seed)
    low = SBot().radius + SBot().clearance if corner else 0.0  # in a corner they start inside the walls
    centres = rng.uniform(low, low + side * CM, (count, robots, 2))
    simulation = resolved(centres, mode, CORNER if corner else ())
    model: Any = simulation.model  # of the planar engine
    position, reach = simulation.state.position, model.widest_safety
    apart = np.linalg.norm(position[:, :, None] - position[:, None], axis=-1) + 10.0 * np.eye(robots)
    return {"overlap": float(max(0.0, 2.0 * reach - apart.min())) / CM,
            "wall": float(max(0.0, reach - position.min())) / CM if corner else 0.0,
            "rounds": int(simulation.state.scratch.rounds.max())}


def repositioning(count: int) -> Iterator[Row]:
    """Claim 7."""
    for mode in ("minimal", "published"):
        for label, side, robots, corner in (("30x30 cm", 30.0, 15, False), ("60x60 cm", 60.0, 15, False),
                                            ("90x90 cm", 90.0, 15, False), ("a corner", 30.0, 10, True)):
            worst = pack_trouble(side, robots, count, mode, corner)
            name = f"{mode}: {count} packs of {robots} in {label}"
            yield at_most(f"{name}: largest overlap left (cm)", 1e-5, worst["overlap"])
            if corner:
                yield at_most(f"{name}: largest overlap with a wall (cm)", 1e-5, worst["wall"])
            yield at_most(f"{name}: rounds", 500, worst["rounds"])
    chains = (("3-chain, 12 cm apart", [(12.0 * n, 0.0) for n in range(3)], reconstructed.MIDDLE_OF_CHAIN),
              ("collapsed 5-chain, 4 cm apart", [(4.0 * n, 0.0) for n in range(5)], reconstructed.COLLAPSED_CHAIN),
              ("pair overlapping 0.5 cm", [(0.0, 0.0), (17.1, 0.0)], reconstructed.PAIR))
    for label, centres, expected in chains:
        for mode, distances in expected.items():
            moved = displacements(centres, mode)
            for number, (mine, theirs) in enumerate(zip(moved, distances, strict=True), 1):
                yield Row(f"{mode}: {label}: robot {number} moves (cm)", theirs, float(mine), 0.01, "reconstructed")


# -- 9 --------------------------------------------------------------------------------------------------------------
def swarm(**parameters: str | float) -> World:
    """The study's world file."""
    return harness.world("swarmod", parameters)


def same_seed_same_bits() -> Iterator[Row]:
    """Claim 9, first half: alone or among others, once or twice, on one thread or two."""
    world = swarm(profile="draft", limit=0)
    batch = loop.simulate(world, 30.0, seed=5, worlds=4, threads=1).state.position
    again = loop.simulate(world, 30.0, seed=5, worlds=4, threads=2).state.position
    alone = loop.simulate(world, 30.0, seed=5, worlds=1).state.position
    other = loop.simulate(world, 30.0, seed=6, worlds=1).state.position
    yield Row("same seed: equal bit for bit on 1 and 2 threads", True, bool((batch == again).all()), origin="law")
    yield Row("same seed: world 0 alone equals world 0 of a batch", True, bool((batch[:1] == alone).all()), origin="law")
    yield Row("another seed gives another run", True, bool((alone != other).any()), origin="law")


def stop_ends_at_the_limit() -> Iterator[Row]:
    """Claim 9, second half."""
    robot = Group(SBot(), 1, "swarm", (At(0.0, 0.0, 0.0),))
    world = World(contact=Contact("stop", crash_limit=60), things=(Arena(1.5, 1.5),), groups=(robot,))
    simulation = loop.Simulation(world)
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
    after = resolved(before, "minimal").state.position
    for (x0, y0), (x1, y1) in zip(before[0] / CM, after[0] / CM, strict=True):
        axes.add_patch(_circle((x0, y0), 8.8, "#bbbbbb"))
        axes.add_patch(_circle((x1, y1), 8.8, "#0072b2"))
        axes.annotate("", (x1, y1), (x0, y0), arrowprops={"arrowstyle": "->", "color": "#d55e00"})
    axes.set(title="Tight pack of 15, before (grey) and after (blue)", xlabel="cm", aspect="equal")
    axes.autoscale_view()


def _circle(centre: tuple[float, float], radius: float, colour: str) -> Any:
    from matplotlib.patches import Circle

    return Circle(centre, radius, fill=False, color=colour, lw=1.2)
