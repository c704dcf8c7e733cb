"""The constants of a world seen from above, as arrays with one entry per robot; and the working memory that goes with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from formiga.engine.above.between import stretch
from formiga.engine.above.cells import Cells, make
from formiga.engine.above.light import Shining
from formiga.engine.above.outlines import Outlines, Stand, make_stand, outlines
from formiga.engine.above.walk import expected, walk_table
from formiga.engine.fixed import Fixed, Near, Region, Sight, near_table, sight_table
from formiga.engine.flatten import extent, flatten, lamps
from formiga.engine.switches import Switches, switches
from formiga.state import Floats
from formiga.world.elements import of
from formiga.world.model import World
from formiga.world.movables import Block
from formiga.world.sources import LED

WALK_FROM = 130.0  # walls and obstacles within reach of a beam, about, from which walking is faster than trying them all


@dataclass(kw_only=True)
class Above:
    """What never changes during a run. N robots, M movables, L lamps."""

    radius: Floats                 # (N,) m, of the circle around the body
    safety: Floats                 # (N,) m, of the collision circle
    widest: float                  # m, radius of the largest body
    widest_safety: float           # m, radius of the largest collision circle
    height: Floats                 # (N,) m, of the body; the light sensors sit on top
    tallest: float                 # m, height of the tallest body
    fixed: Fixed                   # walls and obstacles
    region: Region                 # the arena, or the box around all that is fixed
    lamps: Floats                  # (L, 4) x y z intensity of those that are on at some time
    switches: Switches             # when these lamps are on
    colours: Floats                # (L, 3) red green blue of the lamps, from 0 to 1
    glow: Floats                   # (N,) m^2, the light that each robot gives; 0: none
    led: Floats                    # (N,) m^2, the light of one LED of each robot, white and as bright as it can be
    leds: Any                      # (N,) how many each robot has
    movable_radius: Floats         # (M,) m, of the circle around each movable
    outlines: Outlines | None      # bodies of any outline; None: all are discs, and there are no movables
    tables: dict[float, Near] = field(default_factory=dict)
    sights: dict[float, Sight] = field(default_factory=dict)
    stretch: float | None = None   # m, radius of `between`, once that was asked for
    walk_from: float = WALK_FROM
    lattices: dict[float, Sight] = field(default_factory=dict)
    choices: dict[float, bool] = field(default_factory=dict)
    samples: dict[Any, Any] = field(default_factory=dict)     # of `looking.sample`: generated tables, by what they are for

    @cached_property
    def shining(self) -> Shining:
        """What gives light, for kernels."""
        return Shining(self.lamps, self.switches, self.glow, self.led, self.leds)

    def near(self, radius: float) -> Near:
        """The table of fixed things for a search radius, made when first asked for."""
        if radius not in self.tables:
            self.tables[radius] = near_table(self.fixed, radius)
        return self.tables[radius]

    def sight(self, radius: float) -> Sight:
        """The same for beams, none of which reaches further from its robot's centre."""
        if radius not in self.sights:
            self.sights[radius] = sight_table(self.fixed, radius)
        return self.sights[radius]

    def between(self) -> Near:
        """The table of fixed things for lines of sight of any length."""
        if self.stretch is None:
            self.stretch = stretch(self.fixed)
        return self.near(self.stretch)

    def walks(self, far: float) -> bool:
        """Whether beams that reach so far from a robot's centre walk from cell to cell: the world's description decides."""
        if far not in self.choices:
            robots = min(1.0, np.pi * far * far / max(self.region.area, 1e-9)) * len(self.radius)  # each costs less than half
            self.choices[far] = expected(self.fixed.shapes, self.region, far) + 0.4 * robots > self.walk_from
        return self.choices[far]

    def walk(self, furthest: float) -> Sight:
        """The lattice for beams that walk, whose origins are at most so far from their robot's centre."""
        if furthest not in self.lattices:
            self.lattices[furthest] = walk_table(self.fixed, furthest)
        return self.lattices[furthest]

    def sees(self, furthest: float, reach: float) -> Sight:
        """What beams go by that start at most so far from their robot's centre: one or the other."""
        far = furthest + reach
        return self.walk(furthest) if self.walks(far) else self.sight(far)

    def cells(self, worlds: int) -> Cells:
        """Empty cell lists of the robots."""
        return make(worlds, len(self.radius), self.region, 2.0 * self.widest_safety)

    def stand(self) -> Stand | None:
        """Working memory for beams among bodies of any outline."""
        return make_stand(self.outlines, self.fixed) if self.outlines else None


@dataclass(kw_only=True)
class SightWorkspace:
    """Working memory of `looking`; an engine's own `Scratch` extends it."""

    cells: Cells
    stand: Stand | None            # only with `Above.outlines`


def each_robot(world: World, name: str) -> Floats:
    """A number of every robot (N,)."""
    return np.concatenate([np.empty(0), *(np.full(group.count, float(getattr(group.robot, name))) for group in world.groups)])


def above_constants(world: World, *, outlined: bool) -> dict[str, Any]:
    """The fields of `Above` for a world. outlined: bodies may have corners, and there may be movables."""
    fixed = flatten(world)
    radius, height = each_robot(world, "radius"), each_robot(world, "height")
    safety = radius + each_robot(world, "clearance")
    return {"radius": radius, "safety": safety, "widest": float(radius.max(initial=0.0)),
            "widest_safety": float(safety.max(initial=0.0)), "height": height, "tallest": float(height.max(initial=0.0)),
            "fixed": fixed, "region": extent(world, fixed), "glow": _glow(world), "led": _led(world),
            **shining_of(world), "leds": each_robot(world, "leds").astype(np.int64),
            "movable_radius": np.array([_around(thing) for thing in world.movables]),
            "outlines": outlines(world) if outlined else None}


def _glow(world: World) -> Floats:
    """The light of each robot (N,): the sum of what its group's <glow> say, 0 without one."""
    glow = np.zeros(world.robots)
    for group, robots in zip(world.groups, world.slices, strict=True):
        glow[robots] = sum(part.intensity for part in group.actuators if of(part).tag == "glow")
    return glow


def _led(world: World) -> Floats:
    """The light of one LED of each robot (N,): what its group's <leds> says, or what that says by itself."""
    led = np.full(world.robots, LED)
    for group, robots in zip(world.groups, world.slices, strict=True):
        led[robots] = next((part.intensity for part in group.actuators if of(part).tag == "leds"), LED)
    return led


def _around(thing: Any) -> float:
    """The radius of the circle around a movable."""
    return max(np.hypot(*corner) for corner in thing.outline) if isinstance(thing, Block) else thing.radius


def shining_of(world: World, names: tuple[str, ...] = ("lamps", "colours", "switches")) -> dict[str, Any]:
    """The lamps, their colours and when they are on."""
    shining = lamps(world)
    colours = [[int(lamp.colour[n:n + 2], 16) / 255.0 for n in (1, 3, 5)] for lamp in shining]
    found = {"lamps": np.array([(lamp.x, lamp.y, lamp.z, lamp.intensity) for lamp in shining]).reshape(-1, 4),
             "colours": np.array(colours).reshape(-1, 3), "switches": switches(shining, world.dt)}
    return {name: found[name] for name in names}


__all__ = ["Above", "SightWorkspace", "above_constants", "each_robot", "shining_of"]
