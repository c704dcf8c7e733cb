"""The world as it stands -> a file. A file that formiga did not write is replaced only if that was said."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from formiga.errors import FormigaError, WorldError
from formiga.files import write_whole
from formiga.loop import Simulation
from formiga.session import edit
from formiga.world.document import ANEW, is_ours, signed
from formiga.world.model import World
from formiga.world.sources import as_at
from formiga.world.writer import to_text

if TYPE_CHECKING:
    from formiga.session.session import Session

MOST_NAMES = 10_000
LOST = "; its comments, params and arithmetic could not be kept"


def save(session: Session, path: Path, force: bool = False) -> str:
    """Write the world as it stands; what to tell about it. force: also over a file that formiga did not write."""
    if not force and taken(path):
        raise FormigaError(f"{path} was not written by formiga, or was edited since. `save {path} force` replaces it; "
                           f"`save {unused(path)}` keeps it.")
    document = session.document
    beside = document is not None and os.path.abspath(path.parent) == os.path.dirname(os.path.abspath(document.file))
    world = as_it_stands(session, scripts=not beside)
    text = signed(to_text(world)) if document is None else document.text(world, path)
    write_whole(path, text, WorldError)
    return f"saved {path}{LOST if ANEW in text[:200] else ''}"


def taken(path: Path) -> bool:
    """Whether there is a file of that name that formiga may not replace by itself."""
    return os.path.isfile(path) and not is_ours(path)


def unused(path: Path) -> Path:
    """The first of mine-2.xml, mine-3.xml ... that is free."""
    return next((other for number in range(2, MOST_NAMES)
                 if not (other := path.with_stem(f"{path.stem}-{number}")).exists()), path)


def as_it_stands(session: Session, scripts: bool = True) -> World:
    """The world whose start is this moment; WorldError if that could not be read again.

    A group that still stands where its own rule puts it keeps the rule.
    """
    sim = session.sim
    solid = sim.engine.as_it_stands(sim.model, sim.state) if session.replay is None else None
    world = as_at(session.world, session.time)
    world = edit.as_it_stands(world, *session.poses(), sim.state.alive[0], sim.state.movables[0], solid, scripts)
    start = Simulation(world)
    if sim.state.step[0] or session.seed:
        return world
    ruled = replace(world, groups=tuple(replace(now, place=before.place)
                                        for now, before in zip(world.groups, session.world.groups, strict=True)))
    try:
        own = Simulation(ruled)
    except FormigaError:
        return world
    now_there = start if session.replay is not None else sim  # robots on wheels settle once more in `start`
    groups = [rule if _alike(own, now_there, robots) and sim.state.alive[0, robots].all() else now
              for rule, now, robots in zip(ruled.groups, world.groups, world.slices, strict=True)]
    return replace(world, groups=tuple(groups))


def _alike(one: Simulation, other: Simulation, robots: slice) -> bool:
    """Whether some robots stand at the same places, to the last bit."""
    return (np.array_equal(one.state.position[:, robots], other.state.position[:, robots])
            and np.array_equal(one.state.heading[:, robots], other.state.heading[:, robots]))


__all__ = ["as_it_stands", "save", "taken", "unused"]
