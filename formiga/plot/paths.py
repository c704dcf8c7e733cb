"""Trajectories of robots over the arena."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.errors import FormigaError
from formiga.plot.arena import arena_axes, draw_arena, show_all
from formiga.plot.look import PALETTE, weight_on
from formiga.plot.sources import recording_of, robots_of
from formiga.state import Floats
from formiga.view.picture import MOST_POINTS, draw_bodies, draw_movables, draw_trails
from formiga.world.model import World


def trajectories(data: Any, axes: Any = None, *, world: int = 0, group: str | None = None, first: float = 0.0,
                 last: float | None = None, legend: bool = True) -> Any:
    """The ways of the robots of one world over its arena: a ring where each began, its body where it ended. Returns the axes.

    data: a run, a recording or the path of one; group: of these robots alone; first, last: s, of the part that is shown. A few
    robots have a colour each, many that of their group. What can be pushed is drawn, too, with its way.
    """
    recording = recording_of(data)
    described, poses = recording.described(world), recording.poses(world)
    shown = np.flatnonzero((poses.time >= first - 1e-9) & (poses.time <= (np.inf if last is None else last) + 1e-9))
    if len(shown) == 0:
        until = "the end" if last is None else f"{last:g} s"
        raise FormigaError(f"{recording.path}: nothing was recorded from {first:g} s to {until}; it has {poses.time[0]:g} s to "
                           f"{poses.time[-1]:g} s.")
    robots, end = robots_of(described, group), shown[-1]
    shown = np.append(shown[:-1:max(1, len(shown) // MOST_POINTS)], end)
    trail, movables = np.stack([poses.x[shown, 0], poses.y[shown, 0]], axis=-1), poses.movables[:, 0]
    with arena_axes(axes) as axes:
        weight = weight_on(axes)
        draw_arena(axes, recording, described, float(poses.time[end]), poses.bodies[end, 0])
        draw_movables(axes, described, movables[end, :, :2], movables[end, :, 2], movables[shown, :, :2], weight)
        _draw(axes, described, robots, trail, poses.heading[end, 0], weight)
        reach = max((each.robot.radius for each in described.groups), default=0.0)
        there = np.concatenate([trail[:, robots].reshape(-1, 2), movables[[0, end], :, :2].reshape(-1, 2)])
        show_all(axes, described, [there.min(axis=0) - reach, there.max(axis=0) + reach])
        if legend:
            _legend(axes, described, robots)
    return axes


def _draw(axes: Any, world: World, robots: list[int], trail: Floats, heading: Floats, weight: float) -> None:
    """Ways trail (steps, N, 2) of some robots, a ring at the start and the body at the end of each."""
    colours = colours_of(world, robots)
    many = len(robots) > len(PALETTE)
    draw_trails(axes, trail[:, robots], [colours[robot] for robot in robots], 0.7 if many else 1.0, 0.75 if many else 0.9)
    axes.scatter(*trail[0, robots].T, s=(10.0 * weight) ** 2, facecolors="white", linewidths=1.6 * weight, zorder=2.8,
                 edgecolors=[colours[robot] for robot in robots])
    for each, numbers in zip(world.groups, world.slices, strict=True):
        here = [robot for robot in robots if numbers.start <= robot < numbers.stop]
        draw_bodies(axes, each.robot, trail[-1, here], heading[here], [colours[robot] for robot in here], weight)


def colours_of(world: World, robots: list[int]) -> dict[int, str]:
    """Of each robot: its own among a few of one group, else that of its group."""
    groups = [number for number, numbers in enumerate(world.slices) if set(range(numbers.start, numbers.stop)) & set(robots)]
    if len(groups) == 1 and len(robots) <= len(PALETTE):
        return {robot: PALETTE[place] for place, robot in enumerate(robots)}
    return {robot: PALETTE[groups.index(number) % len(PALETTE)] for number in groups
            for robot in range(world.slices[number].start, world.slices[number].stop)}


def _legend(axes: Any, world: World, robots: list[int]) -> None:
    """The names of several groups, above the arena."""
    from matplotlib.lines import Line2D

    colours = colours_of(world, robots)
    lines = [Line2D([], [], color=colours[numbers.start], label=each.name)
             for each, numbers in zip(world.groups, world.slices, strict=True) if numbers.start in robots]
    if len(lines) > 1:
        axes.legend(handles=lines, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(4, len(lines)), borderaxespad=0.2)


__all__ = ["colours_of", "trajectories"]
