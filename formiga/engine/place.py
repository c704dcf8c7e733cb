"""Carry out the placement rules: where each robot of each world starts. The same seed gives the same places.

A placement of one's own is an element of role 'placement' with one method, `place(site)`: it returns the positions (worlds,
robots, 2) of its group, or a pair of them and of headings (worlds, robots). Other groups are scattered around them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, pi, sqrt
from typing import Any

import numpy as np

from formiga.engine.fixed import Fixed, Region, gap_to_fixed, inside_solid, near_table
from formiga.engine.flatten import extent, not_on_maps
from formiga.engine.rejection import place_discs
from formiga.errors import WorldError
from formiga.kernels import kernel
from formiga.noise import Noise, channel, stream, unit
from formiga.world.elements import complaint, of, where
from formiga.world.maps import Map
from formiga.world.model import Group, World
from formiga.world.placement import At, Connected, Grid, Scatter

PLACE, HEADING = channel("place"), channel("heading")


@dataclass(frozen=True)
class Site:
    """What a placement of one's own may know."""

    group: Group
    worlds: int
    region: Region   # x0 y0 x1 y1: the arena, or the box around everything that stands still
    noise: Noise     # noise.uniform(low, high, size): (worlds, robots, size), the same for the same seed

    @property
    def shape(self) -> tuple[int, int]:
        """(worlds, robots)"""
        return self.worlds, self.group.count


def place(world: World, fixed: Fixed, keys: Any, clear: Fixed | None = None) -> tuple[Any, Any]:
    """Positions (W, N, 2) and headings (W, N) for worlds with these keys. clear: what scattered robots keep clear of, if it is
    more than the walls and obstacles."""
    avoided = not_on_maps(world, fixed if clear is None else clear)
    position = np.empty((len(keys), world.robots, 2))
    heading = np.empty((len(keys), world.robots))
    radius = np.concatenate([np.full(g.count, g.robot.radius) for g in world.groups] or [np.empty(0)])
    safety = radius + np.concatenate([np.full(g.count, g.robot.clearance) for g in world.groups] or [np.empty(0)])
    standing = np.zeros(world.robots, np.bool_)
    own: dict[str, Any] = {}   # headings that placements of the user's own give
    groups = list(zip(world.groups, world.slices, (group.place or (Scatter(),) for group in world.groups), strict=True))
    for group, robots, rules in groups:  # first those whose places are given, so that the others go round them
        if isinstance(rules[0], At | Grid):
            given = _grid(rules[0], group.count) if isinstance(rules[0], Grid) else [(at.x, at.y) for at in rules]
            position[:, robots], standing[robots] = given, True
            _refuse_places(world, fixed, group, position[0, robots])
        elif not isinstance(rules[0], Scatter | Connected):
            site = Site(group, len(keys), extent(world, fixed),
                        Noise(keys, np.zeros(len(keys), np.int64), robots, group.name, "<placement>"))
            position[:, robots], own[group.name] = _own_places(rules[0], site)
            standing[robots] = True
            for places in position[:, robots]:
                _refuse_places(world, fixed, group, places)
    for group, robots, rules in groups:
        if isinstance(rules[0], Scatter | Connected):
            _throw_group(world, avoided, group, robots, rules[0], keys, standing, radius, safety, position)
            standing[robots] = True
        if own.get(group.name) is not None:
            heading[:, robots] = own[group.name]
            continue
        headings = [rule.heading for rule in rules] if isinstance(rules[0], At) \
            else [rules[0].heading] * group.count
        _turn(keys, robots.start, np.array([np.nan if angle is None else angle for angle in headings]), heading)
    return position, heading


def _own_places(rule: Any, site: Site) -> tuple[Any, Any]:
    """What a placement of the user's own returned, checked: positions (W, n, 2), and headings (W, n) or None."""
    try:
        given = rule.place(site)
    except WorldError as wrong:
        raise complaint(rule, wrong) from wrong
    given = given if isinstance(given, tuple) else (given, None)
    it = f"{where(rule)}<{of(rule).tag}> of '{site.group.name}'"
    for what, array, shape in zip(("positions", "headings"), given, ((*site.shape, 2), site.shape), strict=False):
        if array is None and what == "headings":
            continue
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf" or array.shape != shape:
            found = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
            raise WorldError(f"{it} must return {what} as an array of numbers {shape}, not {found}.")
        if not np.isfinite(array).all():
            world, robot = np.argwhere(~np.isfinite(array))[0][:2]
            raise WorldError(f"{it} returned {what} of which that of robot {robot} in world {world} is not a number.")
    if len(given) != 2:
        raise WorldError(f"{it} must return positions, or positions and headings; it returned {len(given)} values.")
    return given


def switched_on(world: World) -> Any:
    """Which robots (N,) can drive: all but those whose <at> says otherwise."""
    return np.array([group.place[number].on if len(group.place) == group.count else True
                     for group in world.groups for number in range(group.count)], np.bool_)


def _grid(rule: Grid, count: int) -> Any:
    columns = rule.columns or ceil(sqrt(count))
    index = np.arange(count)
    column, row = index % columns, index // columns
    rows = ceil(count / columns)
    return np.stack([rule.x + (column - (min(columns, count) - 1) / 2) * rule.spacing,
                     rule.y + (row - (rows - 1) / 2) * rule.spacing], axis=-1)


def _refuse_places(world: World, fixed: Fixed, group: Group, places: Any) -> None:
    """Say which robot starts in a wall or an obstacle, or outside of the walls of the arena."""
    if world.contact.model == "none":
        return
    robot = group.robot
    walled = world.arena is not None and world.arena.walls
    region = extent(world, fixed)
    body = min(_half_widths(robot.outline)) if robot.outline else robot.radius
    near, least = near_table(fixed, robot.radius), body * (1.0 - 1e-9)  # a robot that touches a wall may stay
    for number, (x, y) in enumerate(places):
        if isinstance(group.place[0], At) and group.place[number].raised:
            continue  # it may stand above them; the spatial engine looks at its body
        hits = gap_to_fixed(x, y, fixed.shapes, near) < least or inside_solid(x, y, fixed.outlines)
        inside = region.x0 <= x <= region.x1 and region.y0 <= y <= region.y1
        if hits or (walled and not inside):
            at = group.place[number] if isinstance(group.place[0], At) else group.place[0]
            raise WorldError(f"{where(at)}robot {number} of '{group.name}' at ({x:g}, {y:g}) stands "
                             + (f"in a wall or an obstacle; its radius is {robot.radius:g} m." if hits else
                                f"outside the arena, whose walls go from ({region.x0:g}, {region.y0:g}) to "
                                f"({region.x1:g}, {region.y1:g})."))


def refuse_movables_in_walls(world: World, fixed: Fixed) -> None:
    """Say which ball, puck or block starts in a wall, or outside of the arena or the field."""
    region = extent(world, fixed)
    for thing in world.movables:
        body = min(_half_widths(thing.outline)) if thing.outline else thing.radius
        inside = region.x0 <= thing.x <= region.x1 and region.y0 <= thing.y <= region.y1
        walled = world.pitch is not None or (world.arena is not None and world.arena.walls)
        if (gap_to_fixed(thing.x, thing.y, fixed.shapes, near_table(fixed, body)) < body * (1.0 - 1e-9)
                or inside_solid(thing.x, thing.y, fixed.outlines) or (walled and not inside)):
            raise WorldError(f"{where(thing)}<{of(thing).tag}> '{thing.name}' at ({thing.x:g}, {thing.y:g}) stands in a wall "
                             "or an obstacle, or outside.")


def _half_widths(outline: Any) -> list[float]:
    """Distances of the sides of an outline from its origin. A robot with corners may stand so near to a wall, if it fits."""
    corners = np.array(outline)
    along = np.roll(corners, -1, axis=0) - corners
    sides = along.any(axis=1)  # a corner that is written twice begins none
    corners, along = corners[sides], along[sides]
    return list(np.abs(corners[:, 0] * along[:, 1] - corners[:, 1] * along[:, 0]) / np.hypot(*along.T))


def _throw_group(world: World, fixed: Fixed, group: Group, robots: slice, rule: Scatter | Connected, keys: Any,
                 standing: Any, radius: Any, safety: Any, position: Any) -> None:
    region = _region(world, fixed, group, rule)
    near = near_table(fixed, float(safety[robots].max() + rule.gap))
    connected = isinstance(rule, Connected)
    reach = rule.reach if isinstance(rule, Connected) else 0.0
    failed, placed = place_discs(keys, PLACE, robots.start, robots.stop, standing, radius, safety, rule.gap, reach, region,
                                 fixed.shapes, fixed.outlines, near, position)
    if failed >= 0:
        apart = f" with a gap of {rule.gap:g} m" if rule.gap > 0.0 and not connected else ""
        side = "and lower 'gap'" if connected else "or lower 'count' or 'gap'" if apart else "or lower 'count'"
        raise WorldError(f"{where(rule) or where(group)}{group.count} robots of radius {group.robot.radius:g} m{apart} "
                         f"do not fit in {region.x1 - region.x0:g} m x {region.y1 - region.y0:g} m; placed {placed}. "
                         f"Enlarge {'<arena>' if world.arena else 'the free part of <map>'} {side}.")


def _region(world: World, fixed: Fixed, group: Group, rule: Scatter | Connected) -> Region:
    """Where centres may be."""
    if rule.width is not None and rule.depth is not None:
        return Region(rule.x - rule.width / 2, rule.y - rule.depth / 2, rule.x + rule.width / 2, rule.y + rule.depth / 2)
    if world.arena is None and not any(isinstance(thing, Map) for thing in world.things):
        raise WorldError(f"{where(rule) or where(group)}'{group.name}' has nowhere to go: give the world an <arena> or a "
                         "<map>, or the placement a 'width' and a 'depth'.")
    return extent(world, fixed)


@kernel()
def _turn(keys, first, given, heading):
    for w in range(keys.shape[0]):
        for i in range(given.shape[0]):
            heading[w, first + i] = given[i]
            if given[i] != given[i]:  # NaN: draw it
                heading[w, first + i] = 2.0 * pi * unit(stream(keys[w], first + i, 0, HEADING), 0)
