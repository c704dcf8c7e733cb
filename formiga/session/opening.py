"""What a session can open -> a run at its start, or a replay at its first moment."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from formiga import lab
from formiga.control import decide_all
from formiga.engine import engine as find_engine
from formiga.errors import FormigaError
from formiga.loop import Simulation
from formiga.record.recording import Recording
from formiga.session.replay import Replay
from formiga.world.document import Document
from formiga.world.model import World
from formiga.world.own import own_mistakes

Given = str | World | Recording | Document  # a world's name, a file of either kind, or what was read from one


class Opened(NamedTuple):
    """What was opened. A replay has a simulation too, which never steps."""

    sim: Simulation
    document: Document | None       # the file that the world was read from, if it was
    replay: Replay | None


def opened(given: Given, seed: int, parameters: dict[str, str] | None, engine: str | None = None) -> Opened:
    """Read what is given. parameters: of the world, or world=3 of a recording; engine: instead of the world's own."""
    with own_mistakes():
        document, source = _read(given, parameters or {})
        if isinstance(source, Recording):
            if engine is not None:
                raise FormigaError(f"{source.path}: a recording has the engine that it was recorded with.")
            replay = Replay(source, parameters)
            return Opened(replay.sim, document, replay)
        if engine is not None:
            find_engine(engine)
            source = replace(source, engine=engine)
        return Opened(started(source, seed), document, None)


def started(world: World, seed: int) -> Simulation:
    """A run at its start. Sensors and controllers are called once on a trial run, because only then they say what they miss."""
    trial = Simulation(world, seed)
    decide_all(world, trial.state, trial.readings)
    return Simulation(world, seed)


def _read(given: Given, parameters: dict[str, str]) -> tuple[Document | None, World | Recording]:
    if isinstance(given, Document):
        return given, given.world
    if not isinstance(given, str):
        return None, given
    if given.endswith(".parquet"):
        return None, lab.read_recording(given)
    document = lab.read_document(given, **parameters)
    return document, document.world


__all__ = ["Given", "Opened", "opened", "started"]
