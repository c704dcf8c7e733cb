"""How many worlds a batch has, which of them differ, and whether they fit into the memory: asked before a run is made."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import numpy as np

from formiga import sense
from formiga.engine import Engine, Model
from formiga.errors import INSTEAD, CannotDiffer, WorldError, whole
from formiga.world import variants
from formiga.world.document import Document
from formiga.world.elements import of, where
from formiga.world.model import World
from formiga.world.shipped import Given, world_of
from formiga.world.variants import Params, Varied

BYTES_PER_ROBOT = 300  # of state and working memory, at the very least
BYTES_PER_READING = 16  # of each number that is read, heard or believed, and of one copy of it to work with


def described(world: Given | Document, params: Params | Varied | None, worlds: int | None,
              copies: int = 1) -> tuple[World, int, Varied | None]:
    """The first world of a batch, how many there are, each copied so many times, and what makes them differ, if something
    does."""
    if worlds is not None:
        worlds = whole_worlds(worlds)
    if params is None or (isinstance(params, Mapping) and not params):
        return world_of(world.world if isinstance(world, Document) else world), 1 if worlds is None else worlds, None
    varied = params if isinstance(params, Varied) else variants.read(world, params, None if worlds is None else worlds * copies)
    if len(varied.worlds) == 1:
        return varied.worlds[0], 1 if worlds is None else worlds, None
    if len(varied.worlds) % copies or len(varied.worlds) != copies * (worlds or len(varied.worlds) // copies):
        raise WorldError(f"params: there are values for {len(varied.worlds)} worlds, and {copies} copies of each world to run; "
                         "give a value for each world and copy.")
    first = varied.worlds[0]
    return first, len(varied.worlds) // copies, None if all(each is first for each in varied.worlds) else varied


def build_varied(varied: Varied, engine: Engine, worlds: int, first_world: int = 0, copies: int = 1) -> Model:
    """The model of worlds that differ; CannotDiffer with the name of the param that changes what must be the same."""
    for group in varied.worlds[0].groups:
        if group.outside:
            raise WorldError(f"{where(group.controller)}one program drives '{group.name}' in all worlds of a batch, and these "
                             f"worlds differ. {INSTEAD[0].upper()}{INSTEAD[1:]}.")
    seen: set[int] = set()
    for each in varied.worlds:
        if id(each.groups) not in seen:
            seen.add(id(each.groups))
            sense.prepare_all(each)
    try:
        return engine.build(varied.worlds[0], worlds, first_world, copies, varied.worlds)
    except CannotDiffer as wrong:
        raise varied.blamed(wrong, lambda two: engine.build(two[0], 2, variants=two)) from wrong


def whole_worlds(worlds: int) -> int:
    """The number of worlds, if so many can run."""
    if whole("worlds:", worlds, -(2**63), 2**31) < 1:
        raise WorldError(f"{worlds} worlds cannot run; there must be at least 1.")
    return worlds


def refuse_too_many(robots: int, world: World) -> None:
    """Complain now, not when the memory is full."""
    words = sum(medium.numbers for medium in world.media.values())
    least = robots * (BYTES_PER_ROBOT + 8 * words)
    memory = np.inf if sys.platform == "win32" else os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")  # there unknown
    if least > memory:
        raise WorldError(f"{where(world)}{robots} robots in all worlds need at least {least / 2**30:.0f} GB of memory; this "
                         "machine has "
                         f"{memory / 2**30:.0f} GB. Try fewer worlds.")
    for group in world.groups:
        for source in group.sources:
            least += robots // world.robots * group.count * source.held(world.dt) * BYTES_PER_READING
            if least > memory:
                raise WorldError(f"{where(source)}<{of(source).tag}> of '{group.name}': what the robots in all worlds read "
                                 f"needs at least {least / 2**30:.0f} GB of memory; this machine has {memory / 2**30:.0f} GB. "
                                 "Try fewer worlds or robots, or smaller readings.")


__all__ = ["build_varied", "described", "refuse_too_many", "whole_worlds"]
