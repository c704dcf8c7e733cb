"""Re-positioning: packs, chains, and the figures that the texts draw of it. [TR section 5, Fig. 9; draft, section III]

Lengths are in centimetres. The figures have no coordinates; those here are chosen so that they show what the figure shows, and
the expected places follow from the words of the texts by plain geometry, without the engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, degrees, hypot, radians, sin
from typing import Any

import numpy as np

from formiga.loop import Simulation
from formiga.studies.harness import Row, at_least, at_most, reported, without
from formiga.studies.swarmod import published, reconstructed
from formiga.studies.swarmod.bench import bench, put
from formiga.units import CM
from formiga.world.model import Wall
from formiga.world.robots import SBot

CORNER = (Wall((0.0, 0.0, 5.0, 0.0)), Wall((0.0, 0.0, 0.0, 5.0)))
SAFETY = 8.8  # cm [TR table 1]
TOUCH = 1e-6  # cm: an overlap up to this is contact, not collision
MODES = ("minimal", "published")
SETS = (("30x30 cm", 30.0, 15, False), ("60x60 cm", 60.0, 15, False), ("90x90 cm", 90.0, 15, False),
        ("a corner", 30.0, 10, True))


def rows(count: int) -> Iterator[Row]:
    """Claim 7, and the figures."""
    yield from packs(count)
    yield from chains()
    yield from figure_9()
    yield from figure_4(count)
    yield from figures_5_and_6(count)


def resolved(centres: Any, mode: str, things: tuple[Any, ...] = ()) -> Simulation:
    """Packs (worlds, robots, 2) of centres in metres, after one step of re-positioning at standstill."""
    simulation = bench(things=things, worlds=len(centres), robots=len(centres[0]), mode=mode)
    put(simulation, centres)
    simulation.step()
    return simulation


def displaced(centres: list[tuple[float, float]], mode: str, things: tuple[Any, ...] = ()) -> Any:
    """By what vector (robots, 2) each robot of one pack was moved; all in cm."""
    before = np.array([centres]) * CM
    return (resolved(before, mode, things).state.position - before)[0] / CM


def displacements(centres: list[tuple[float, float]], mode: str) -> Any:
    """How far (cm) each robot of one pack was moved; centres in cm."""
    return np.linalg.norm(displaced(centres, mode), axis=-1)


# -- random packs -----------------------------------------------------------------------------------------------------
def random_packs(side: float, robots: int, count: int, corner: bool = False, seed: int = 7) -> Any:
    """Centres (count, robots, 2) in metres, uniform in a square of `side` cm; in a corner they start inside the walls."""
    low = SBot().radius + SBot().clearance if corner else 0.0
    return np.random.default_rng(seed).uniform(low, low + side * CM, (count, robots, 2))


def packs(count: int) -> Iterator[Row]:
    """Nothing overlaps afterwards: by the distances of all centres, and by circles and walls as polygons of shapely."""
    for mode in MODES:
        for label, side, robots, corner in SETS:
            name = f"{mode}: {count} packs of {robots} in {label}"
            before = random_packs(side, robots, count, corner)
            simulation = resolved(before, mode, CORNER if corner else ())
            position = simulation.state.position
            apart = np.linalg.norm(position[:, :, None] - position[:, None], axis=-1) + 10.0 * np.eye(robots)
            yield at_most(f"{name}: largest overlap left (cm)", TOUCH, max(0.0, 2.0 * SAFETY - float(apart.min()) / CM))
            if corner:
                yield at_most(f"{name}: largest overlap with a wall (cm)", TOUCH, max(0.0, SAFETY - float(position.min()) / CM))
            yield from polygons(name, before, position, corner)
            yield reported(f"{name}: most rounds", int(simulation.state.scratch.rounds.max()))


def polygons(name: str, before: Any, after: Any, corner: bool) -> Iterator[Row]:
    """Shapely's word. It is optional: without it, only the distances are judged."""
    try:
        pairs = [overlapping(centres, corner) for centres in (before, after)]
    except ImportError:
        yield without("shapely", f"{name}: overlaps that shapely finds")
        return
    yield Row(f"{name}: of {pairs[0]} overlaps, shapely finds afterwards", 0, pairs[1], origin="law")


def overlapping(centres: Any, corner: bool) -> int:
    """Pairs of collision circles, and of circles and walls, that intersect; 1e-5 cm are allowed. A circle is a polygon with 256
    corners on it, so that its sides are up to 7e-4 cm inside."""
    import shapely

    worlds, robots = centres.shape[:2]
    shifted = centres.reshape(-1, 2) + np.repeat(np.arange(worlds) * 100.0, robots)[:, None]  # every pack elsewhere
    circles = shapely.buffer(shapely.points(shifted), (SAFETY - 1e-5) * CM, quad_segs=64)
    pairs = shapely.STRtree(circles).query(circles, predicate="intersects")
    found = int((pairs[0] < pairs[1]).sum())
    if corner:
        place = np.arange(worlds)[:, None, None] * 100.0
        for wall in CORNER:
            lines = shapely.linestrings(np.reshape(wall.points, (1, 2, 2)) + place)
            found += shapely.STRtree(lines).query(circles, predicate="intersects").shape[1]
    return found


def chains() -> Iterator[Row]:
    """Robots in a row, whose displacements follow from symmetry. A round of `minimal` goes 1 % further than it has to: so much
    is a pair off that parts in one. Chains end where pairs part one after another, by 1 um more than their overlap."""
    known = (("3-chain, 12 cm apart", [(12.0 * n, 0.0) for n in range(3)], reconstructed.MIDDLE_OF_CHAIN, 2e-6),
             ("collapsed 5-chain, 4 cm apart", [(4.0 * n, 0.0) for n in range(5)], reconstructed.COLLAPSED_CHAIN, 1e-3),
             ("pair overlapping 0.5 cm", [(0.0, 0.0), (17.1, 0.0)], reconstructed.PAIR, 0.0026))
    for label, centres, expected, far in known:
        for mode, distances in expected.items():
            for number, (mine, told) in enumerate(zip(displacements(centres, mode), distances, strict=True), 1):
                yield Row(f"{mode}: {label}: robot {number} moves (cm)", told, float(mine),
                          far if mode == "minimal" else 1e-9, "reconstructed")


# -- the figures ------------------------------------------------------------------------------------------------------
def figure_9() -> Iterator[Row]:
    """Robots 1, 2 and 3 collide; 3 is sent away from both, into a slanted wall, and drawn back along its line of escape.

        V_3 = (C_1 - C_3) + (C_2 - C_3),  u = -V_3 / |V_3|,  C_3' = C_3 + s u,  s = (c - Rs - n . C_3) / (n . u)
    where the wall is n . p = c. Robots 1 and 2 go against their own resultants, by the radius.
    """
    centres = [(0.0, 5.0), (0.0, -5.0), (8.0, 0.5)]
    tilt = 30.0  # deg, of the wall's normal
    n, c = np.array([cos(radians(tilt)), sin(radians(tilt))]), 18.5
    along = np.array([-n[1], n[0]])
    wall = Wall(tuple(float(v) * CM for v in (*(c * n - 60.0 * along), *(c * n + 60.0 * along))))
    moved = displaced(centres, "published", (wall,))
    place = np.array(centres)
    for number in range(3):
        v = (place - place[number]).sum(axis=0)
        u = -v / hypot(*v)
        way = SAFETY if number < 2 else (c - SAFETY - n @ place[2]) / (n @ u)
        source = published.RADIUS.where if number < 2 else published.FIG9
        yield Row(f"Fig. 9: robot {number + 1} moves (cm)", float(way), float(hypot(*moved[number])), 1e-9,
                  where=source, note="drawn without coordinates; ours are chosen")
        yield Row(f"Fig. 9: direction in which robot {number + 1} goes (deg)", degrees(np.arctan2(u[1], u[0])),
                  degrees(np.arctan2(*moved[number][::-1])), 1e-9, where=published.FIG9,
                  note="the resultant, turned by pi; along the wall would be 30 degrees aside")
    yield Row("Fig. 9: from robot 3 to the wall (cm)", SAFETY, float(c - n @ (place[2] + moved[2])), 1e-9, where=published.FIG9)


def figure_4(count: int) -> Iterator[Row]:
    """The three examples. What the text says of its own rule is judged in mode `published`; `minimal` is ours."""
    where = published.FIG4.where
    tight = [(-40.0, 0.0), (0.0, 0.0), (3.0, 1.0), (1.0, 4.0), (-18.0, -1.5)]  # 5 is 0.5 cm clear of 2
    middle = [(-14.0, 0.0), (0.0, 13.0), (0.2, -0.1), (14.0, 0.0), (0.0, -13.0)]
    chain = [(4.0 * n, 0.0) for n in range(5)]
    for mode in MODES:
        a, b, c = (displacements(centres, mode) for centres in (tight, middle, chain))
        yield at_least(f"Fig. 4a, {mode}: robot 5, which collided with nothing, is moved by robot 2 (cm)", 0.01, a[4],
                       "published", where=where, note=published.FIG4.values["a"])
        if mode == "published":
            yield Row("Fig. 4b, published: robot 3 in the middle moves as far as its resultant is long (cm)",
                      float(hypot(*(np.array(middle) - middle[2]).sum(axis=0))), float(b[2]), 1e-9, where=where,
                      note=published.FIG4.values["b"])
        yield reported(f"Fig. 4b, {mode}: robot 3 in the middle moves, of what the others do",
                       float(b[2] / np.delete(b, 2).mean()), "published", note=published.FIG4.values["b"])
        least = moves_least(middle, count, mode)
        claim = f"Fig. 4b, {mode}: of {count} such packs, those in which robot 3 moves least"
        yield Row(claim, count, least, where=where) if mode == "published" else reported(claim, least, "published")
        yield Row(f"Fig. 4c, {mode}: the two that move most in a collapsed chain", [1, 5],
                  sorted(int(n) + 1 for n in np.argsort(c)[-2:]), where=where, note=published.FIG4.values["c"])


def moves_least(centres: list[tuple[float, float]], count: int, mode: str, seed: int = 4) -> int:
    """In how many of `count` packs, whose robots stand up to 1 cm beside these centres in x and y, robot 3 moves least."""
    before = (np.array(centres) + np.random.default_rng(seed).uniform(-1.0, 1.0, (count, len(centres), 2))) * CM
    way = np.linalg.norm(resolved(before, mode).state.position - before, axis=-1)
    return int((way.argmin(axis=1) == 2).sum())


def figures_5_and_6(count: int) -> Iterator[Row]:
    """A usual pack, 15 robots in 100 x 100 cm, against a tight one in 45 x 45 cm: how far those that move are moved."""
    for mode in MODES:
        moved = {}
        for label, side in (("usual", 100.0), ("tight", 45.0)):
            before = random_packs(side, 15, count)
            way = np.linalg.norm(resolved(before, mode).state.position - before, axis=-1) / CM
            moved[label] = float(way[way > 0.0].mean())
            yield reported(f"Figs. 5 and 6, {mode}: mean displacement in a {label} pack (cm)", moved[label], "published")
        yield Row(f"Figs. 5 and 6, {mode}: the pack with shorter displacements", published.FIG56.values["shorter"],
                  min(moved, key=lambda label: moved[label]), where=published.FIG56.where)
