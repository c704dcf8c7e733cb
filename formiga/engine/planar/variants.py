"""Worlds of one batch that differ in numbers: what stands still and shines in each of them, and the tables that go with it.

All worlds of a batch share the arrays of one state and the compiled stages of one step. What a stage is given of the world's
description, each world gets of its own: exactly what its model would hold if it ran alone, so it runs with the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.engine.above.constants import Above, shining_of
from formiga.engine.above.light import Shining
from formiga.engine.above.walk import walk_table
from formiga.engine.fixed import Fixed, Sight, near_tables, solids_table
from formiga.engine.flatten import extent, flatten
from formiga.engine.place import place, switched_on
from formiga.errors import CannotDiffer, WorldError
from formiga.kernels.program import Each, Stage
from formiga.state import Floats
from formiga.world.contract import channels
from formiga.world.model import Arena, Cylinder, Cylinders, Group, Lamp, Polygon, Rectangle, Wall, World

if TYPE_CHECKING:
    from formiga.engine.planar.pipeline import Model

SEEN = (Arena, Wall, Rectangle, Polygon, Cylinder, Cylinders, Lamp)  # of these elements are given the engine's tables alone
SAME = {"count": "the number of robots in '{}'", "name": "the name of '{}'", "actuators": "what the robots of '{}' carry",
        "material": "the material of '{}'", "wheel_material": "the wheels of '{}'"}  # of a group, in all worlds of a batch
SIZES = {"radius": "the radius", "clearance": "the clearance", "height": "the height", "leds": "the number of LEDs",
         "outline": "the outline", "joints": "the joints"}  # of a robot
SETTINGS = {"dt": "the control period", "contact": "<contact>", "settings": "a setting", "engine": "the engine"}


@dataclass
class Variants:
    """The worlds of a batch (W,), and the different sets of things in them: `which` (W,) each has."""

    worlds: tuple[World, ...]
    which: Any
    fixed: list[Fixed]
    shining: list[Shining]
    numbers: dict[int, int]                                     # of a set of things, by its identity
    tables: dict[Any, list[Any]] = field(default_factory=dict)  # made so far, by kind and radius
    rows: dict[int, int] = field(default_factory=dict)          # as `first` has them, by identity of a world
    models: dict[int, Model] = field(default_factory=dict)      # of one world with each set of things

    @property
    def shown(self) -> bool:
        """Whether all that differs is among what the tables of the engine hold: walls, obstacles, lamps."""
        first = self.worlds[0]
        return all(world.groups is first.groups for world in self.worlds) and all(
            one is other or isinstance(one, SEEN) for world in self.worlds if world.things is not first.things
            for one, other in zip(first.things, world.things, strict=True))

    def first(self, world: World) -> int:
        """The number of the first world with this description."""
        if not self.rows:
            self.rows.update((id(each), w) for w, each in reversed(list(enumerate(self.worlds))))
        return self.rows[id(world)]

    def of(self, kind: str, radius: float) -> list[Any]:
        """The tables of one kind and radius, one for each set of things."""
        if (kind, radius) not in self.tables:
            self.tables[kind, radius] = MAKERS[kind](self.fixed, radius)
        return self.tables[kind, radius]


def _sights(fixed: list[Fixed], radius: float) -> list[Sight]:
    first = solids_table(fixed[0].outlines, radius)
    solids = [first if np.array_equal(each.outlines, fixed[0].outlines) else solids_table(each.outlines, radius)
              for each in fixed]
    return [Sight(near, solid) for near, solid in zip(near_tables(fixed, radius), solids, strict=True)]


MAKERS: dict[str, Callable[[list[Fixed], float], list[Any]]] = {
    "near": near_tables, "sight": _sights, "walk": lambda fixed, furthest: [walk_table(each, furthest) for each in fixed]}


def variants_of(model: Above, base: World, worlds: Sequence[World], refuse: Callable[[World], None]) -> Variants:
    """What differs in the worlds of a batch; CannotDiffer if it is more than numbers of things and of what robots carry.

    refuse: complains about a world that could not run alone.
    """
    which, kinds = np.zeros(len(worlds), np.int64), {id(base.things): 0}
    fixed, shining = [model.fixed], [model.shining]
    seen: set[int] = {id(base.groups)}
    for w, world in enumerate(worlds):
        if world is not base:
            refuse(world)
            _refuse_settings(base, world, w)
        if id(world.groups) not in seen:
            seen.add(id(world.groups))
            _refuse_groups(base, world, w)
        if id(world.things) not in kinds:
            kinds[id(world.things)] = len(fixed)
            fixed.append(flatten(world))
            _refuse_fixed(model, fixed, extent(world, fixed[-1]), w)
            shining.append(model.shining._replace(**shining_of(world, ("lamps", "switches"))))
        which[w] = kinds[id(world.things)]
    return Variants(tuple(worlds), which, fixed, shining, kinds)


def _refuse_settings(base: World, world: World, w: int) -> None:
    for name, what in SETTINGS.items():
        one, other = getattr(base, name), getattr(world, name)
        if one is not other and one != other:
            raise CannotDiffer(what, w)
    if base.things is not world.things and list(map(type, base.things)) != list(map(type, world.things)):
        raise CannotDiffer("the number of things, or their kinds", w)


def _refuse_groups(base: World, world: World, w: int) -> None:
    if len(base.groups) != len(world.groups):
        raise CannotDiffer("the number of groups of robots", w)
    for one, other in zip(base.groups, world.groups, strict=True):
        if one is not other:
            _refuse_group(one, other, w, base.dt)
    if base.media != world.media:
        raise CannotDiffer("the messages of the robots", w)


def _refuse_group(one: Group, other: Group, w: int, dt: float) -> None:
    for name, what in SAME.items():
        mine, differing = getattr(one, name), getattr(other, name)
        if mine is not differing and mine != differing:
            raise CannotDiffer(what.format(one.name), w)
    if type(one.robot) is not type(other.robot) or one.robot.profile != other.robot.profile:
        raise CannotDiffer(f"the kind of the robots of '{one.name}'", w)
    for name, what in SIZES.items() if one.robot is not other.robot else ():
        if getattr(one.robot, name) != getattr(other.robot, name):
            raise CannotDiffer(f"{what} of the robots of '{one.name}'", w)
    if channels(one.robot) != channels(other.robot):
        raise CannotDiffer(f"the channels of the drives of '{one.name}'", w)
    for role, parts in one.carried.items():
        if list(map(type, parts)) != list(map(type, other.carried[role])) and role != "placement":
            raise CannotDiffer(f"which {role}s the robots of '{one.name}' have", w)
    if [source.name for source in one.sources] != [source.name for source in other.sources]:
        raise CannotDiffer(f"the names of what the robots of '{one.name}' carry", w)
    for mine, differing in zip(one.sensors, other.sensors, strict=True):
        if mine is not differing and mine.held(dt) != differing.held(dt):
            raise CannotDiffer(f"how many numbers the robots read from '{mine.name}'", w)


def _refuse_fixed(model: Above, fixed: list[Fixed], region: Any, w: int) -> None:
    """What kernels are given of the first world as it is: the extent, the lowest height, and how many shapes there are."""
    if region != model.region:
        raise CannotDiffer("the extent of the arena, or of what stands in the world", w)
    if len(fixed[-1].shapes) != len(fixed[0].shapes):
        raise CannotDiffer("the number of walls and obstacles", w)
    if fixed[-1].heights.min(initial=np.inf) != fixed[0].heights.min(initial=np.inf):
        raise CannotDiffer("the height of the lowest obstacle", w)


def variant(model: Model, variants: Variants, made: Model) -> Model:
    """The constants of one of the worlds: `made`, its model alone, with the tables that it has in common with others."""
    w = variants.first(made.world)
    if (model.drives.plain, model.drives.lagging) != (made.drives.plain, made.drives.lagging) or made.drives.own:
        raise CannotDiffer("how the drives of the robots work", w)
    if model.sweeps != made.sweeps:
        raise CannotDiffer("whether the robots are so fast that a step could take them through something", w)
    number = int(variants.which[w])
    first = variants.models.setdefault(number, made if number else model)
    made.fixed, made.tables, made.sights, made.lattices = first.fixed, first.tables, first.sights, first.lattices
    made.choices = model.choices  # to walk or not to walk gives the same bits, and is one kernel or another
    return made


def vary(model: Above, variants: Variants, stages: Sequence[Stage]) -> list[Stage]:
    """The stages, with what stands still and shines in each world in place of what does so in the first."""
    plain = {id(model.fixed.shapes): [each.shapes for each in variants.fixed],
             id(model.fixed.heights): [each.heights for each in variants.fixed], id(model.shining): variants.shining}
    tables = {id(table): (kind, radius) for kind, made in (("near", model.tables), ("sight", model.sights),
                                                           ("walk", model.lattices)) for radius, table in made.items()}

    def varied(argument: Any) -> Any:
        if id(argument) in plain:
            return Each(plain[id(argument)], variants.which)
        return Each(variants.of(*tables[id(argument)]), variants.which) if id(argument) in tables else argument

    return [stage._replace(arguments=tuple(map(varied, stage.arguments))) for stage in stages]


def places(variants: Variants, keys: Any, first_world: int) -> tuple[Floats, Floats]:
    """Where the placement rules put the robots of each world (W,), among the things of its own."""
    robots = variants.worlds[0].robots
    position, heading = np.empty((len(keys), robots, 2)), np.empty((len(keys), robots))
    for rows in alike(variants):
        world = variants.worlds[rows[0]]
        try:
            position[rows], heading[rows] = place(world, variants.fixed[variants.which[rows[0]]], keys[rows])
        except WorldError as wrong:
            raise WorldError(f"{str(wrong).removesuffix('.')} (world {first_world + rows[0]}).") from wrong
    return position, heading


def alive(variants: Variants) -> Any:
    """Which robots (W, N) can drive at the start."""
    found = np.empty((len(variants.worlds), variants.worlds[0].robots), np.bool_)
    for rows in alike(variants):
        found[rows] = switched_on(variants.worlds[rows[0]])
    return found


def alike(variants: Variants) -> list[Any]:
    """Rows of worlds with the same things and the same robots."""
    found: dict[tuple[int, int], list[int]] = {}
    for w, world in enumerate(variants.worlds):
        found.setdefault((id(world.things), id(world.groups)), []).append(w)
    return [np.array(rows) for rows in found.values()]


def differing(worlds: Sequence[World]) -> int:
    """The number of the first world that is not as the first one."""
    return next((w for w, world in enumerate(worlds) if world is not worlds[0]), 0)


__all__ = ["Variants", "alive", "differing", "places", "variant", "variants_of", "vary"]
