"""Robots that hear hundreds of others: what is near is sorted by direction and by distance, and that changes nothing."""

import numpy as np
import pytest

from formiga.comm.range_and_bearing import RangeAndBearing
from formiga.control import Orders
from formiga.engine.above.hearing import DROPPED, HEARD, keep_nearest, sort_nearest_first
from formiga.engine.above.hidden import CROWD, VECTOR, make_nearby, see_along_sectors, see_past_all, sort_by_direction
from formiga.loop import Simulation
from formiga.world.model import Arena, Contact, Cylinders, Group, Wall, World
from formiga.world.placement import Scatter
from formiga.world.robots import Disc


def hidden(place, i, radius, segments, discs, sight):
    """Whether each robot (N,) is hidden from robot i: distances of all discs from all ways, crossings by Cramer's rule."""
    way = place - place[i]
    length = (way**2).sum(axis=1) + 1e-300
    out = np.zeros(len(place), bool)
    round_things = [(*disc, -1) for disc in discs]
    if sight == "bodies":
        round_things += [(*at, radius, k) for k, at in enumerate(place) if k != i]
    for x, y, r, k in round_things:
        g = np.array([x, y]) - place[i]
        share = np.clip(way @ g / length, 0.0, 1.0)
        near = np.hypot(*(share[:, None] * way - g).T) <= r
        out |= near & (np.arange(len(place)) != k)
    for ax, ay, bx, by in segments:
        g, e = np.array([ax, ay]) - place[i], np.array([bx - ax, by - ay])
        den = way[:, 0] * e[1] - way[:, 1] * e[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            share, along = (g[0] * e[1] - g[1] * e[0]) / den, (g[0] * way[:, 1] - g[1] * way[:, 0]) / den
        out |= (share >= 0.0) & (share <= 1.0) & (along >= 0.0) & (along <= 1.0)
    return out


@pytest.mark.parametrize("sight", ["none", "walls", "bodies"])
@pytest.mark.parametrize("most, walls", [(5, 1), (200, 1), (200, 40)])
def test_a_crowd_hears_what_asking_every_pair_gives(sight, most, walls, rng):
    N, reach, radius = 140, 3.0, 0.05
    link = RangeAndBearing(reach, sight, most=most)
    start = rng.uniform(-1.9, 1.9, (walls, 2))
    ends = np.column_stack([start, start + rng.uniform(-0.3, 0.3, (walls, 2))])
    things = (Arena(4.0, 4.0), Cylinders(30, 0.08), *(Wall(tuple(each)) for each in ends.tolist()))
    group = Group(Disc(radius, 0.08, 0.1), N, "a", (Scatter(),), (), links=(link,))
    lab = Simulation(World(things=things, groups=(group,), contact=Contact("none")), 5)
    lab.state.position[0] = rng.uniform(-1.9, 1.9, (N, 2))  # some stand in others, and in obstacles
    lab.step({"a": Orders(drive=np.zeros((1, N, 2)), message=np.zeros((1, N, 1)))})
    assert lab.readings["a"]["range_and_bearing"].shape == (1, N, most, 4)
    place, fixed, crowded = lab.state.position[0], lab.model.fixed, 0
    senders, counts = (lab.state.memory["a/range_and_bearing", name][0] for name in ("sender", "traffic"))
    for i in range(N):
        far = np.hypot(*(place - place[i]).T)
        audible = (far <= reach) & (np.arange(N) != i)
        crowded += audible.sum() * len(fixed.discs) > CROWD
        if sight != "none":
            audible &= ~hidden(place, i, radius, fixed.segments, fixed.discs, sight)
        expected = sorted(np.flatnonzero(audible), key=lambda j: (far[j], j))
        assert senders[i][senders[i] >= 0].tolist() == expected[:most]
        assert counts[i, HEARD] == min(len(expected), most) and counts[i, DROPPED] == max(0, len(expected) - most)
    assert crowded > N / 2


def test_discs_of_all_directions_are_in_the_way_or_not_as_without_sectors(rng):
    """Wide and narrow ones, on the axes, on the borders of sectors and around the robot itself."""
    mixed = 0
    for trial in range(200):
        N, turn = 90, 2.0 * np.pi / 128
        work = make_nearby(N, 0)
        sends, discs = work.sends, work.discs
        angle = rng.integers(0, 128, N) * turn if trial % 2 else rng.uniform(0.0, 2.0 * np.pi, N)
        far = rng.uniform(0.0 if trial % 3 else 0.3, 5.0, N)
        discs.x[:N], discs.y[:N] = far * np.cos(angle), far * np.sin(angle)
        discs.square[:N], discs.number[:N] = rng.uniform(0.01, 0.2 if trial % 5 else 1.5, N) ** 2, np.arange(N)
        sends.robot[:N], sends.x[:N], sends.y[:N] = np.arange(N), discs.x[:N], discs.y[:N]
        plain, sectors = np.zeros(N, np.int64), np.zeros(N, np.int64)
        see_past_all(N, sends, N, discs, plain)
        wide = sort_by_direction(N, discs, work.sector, work.starts, work.around)
        see_along_sectors(N, sends, wide, work.starts, work.around, sectors)
        assert wide % VECTOR == 0
        np.testing.assert_array_equal(sectors > 0, plain > 0)
        mixed += 0 < (plain > 0).sum() < N
    assert mixed > 60  # in the others a disc covers the robot itself


@pytest.mark.parametrize("count, most", [(5, 8), (33, 8), (400, 8), (400, 1), (400, 399), (400, 400)])
def test_the_nearest_are_kept_in_order_and_of_equally_far_ones_those_with_lower_numbers(count, most, rng):
    work = make_nearby(400, 0)
    sends = work.sends
    square = rng.integers(0, 40, count) / 10.0 if count > 5 else rng.uniform(0.0, 4.0, count)  # up to the range, many alike
    number = rng.permutation(400)[:count]
    sends.robot[:count], sends.square[:count] = number, square
    kept = keep_nearest(sends, count, most, 2.0, work.starts)
    sort_nearest_first(sends, kept, work.rank, work.sorted)
    expected = sorted(zip(square.tolist(), number.tolist(), strict=True))[:most]
    few = min(count, most)
    assert kept >= few and (kept == count or kept < most + 0.2 * count)
    assert list(zip(work.sorted.square[:few].tolist(), work.sorted.robot[:few].tolist(), strict=True)) == expected
