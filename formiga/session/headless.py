"""A session without a window: a world and a script, as fast as the machine can."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from formiga import lab
from formiga.console import parse, read_script
from formiga.errors import FormigaError
from formiga.record.stored import Stored
from formiga.runs import Run, measure, steps_in
from formiga.session.session import Session
from formiga.view.picture import Picture
from formiga.world.document import Document
from formiga.world.model import World

EVERY = 20              # steps between two reports of progress


def run_script(given: World | Document, script: str | os.PathLike[str], seconds: float | None = None, seed: int = 0, *,
               engine: str | None = None, out: str | os.PathLike[str] | None = None,
               picture: str | os.PathLike[str] | None = None, say: Callable[[str], None] = lambda text: None,
               progress: Callable[[float], None] | None = None, stop: Callable[[], bool] = lambda: False) -> tuple[Run, bool]:
    """Run a world with a script that acts at its times. It lasts as long as the world or `seconds` say, or until `quit`.

    given: a world, or the document that it was read from, whose comments and params `save` keeps.

    Returns the run, and whether the script came to its end. The first mistake, in the script or in the world's own text,
    ends it with an error; what was recorded until then is kept. A motion that explodes ends the run: its log says so, and so
    does the recording, whose ending is 'failed'.
    """
    world = given.world if isinstance(given, Document) else given
    path, began = Path(script), time.perf_counter()
    parse(read_script(path), str(path))  # before anything is written
    asked = (steps_in(world, seconds) - 0.5) * world.dt
    drawing = Picture(world, picture) if picture is not None else None
    mistakes: list[str] = []

    def hear(kind: str, text: str, window: object) -> None:
        if kind == "error":
            mistakes.append(text)
        else:
            say(text)

    def over() -> bool:
        return bool(mistakes) or session.ended or session.failed or session.console.now() >= asked

    session = Session(given, seed=seed, hear=hear, own_settings=False, engine=engine)
    if mistakes:
        raise FormigaError(mistakes[0])
    recording = Path(out) / lab.RECORDING if out is not None else None
    start, taken = 0.0, 0
    try:
        if recording is not None:
            session.record(recording)
        task = session.console.run_file(path)
        if drawing is not None:
            _draw(drawing, session)
        while not over() and not stop():
            session.step()
            taken += 1
            if drawing is not None:
                _draw(drawing, session)
            if taken == 1:
                start = time.perf_counter() - began
            if progress and taken % EVERY == 0:
                progress(min(1.0, session.console.now() / asked))
        interrupted = stop() and not over()
        exploded = session.sim.log.exploded
        if exploded and len(mistakes) == 1:
            mistakes.clear()  # it is what the session said about the explosion
        session.tape.close(ending="failed" if mistakes or exploded else "interrupted" if interrupted else "complete")
    except BaseException as wrong:
        session.tape.close(ending="failed" if isinstance(wrong, Exception) else "interrupted")
        raise
    if mistakes:
        raise FormigaError(mistakes[0])
    if drawing is not None:
        drawing.save()
    run = Run(session.world, session.seed, session.sim.state, session.console.now(), time.perf_counter() - began - start, start,
              interrupted, recording, stored=None if recording is None else Stored(recording))
    run.metrics, run.log = _figures(run, session.steps.robot_steps), session.sim.log
    return run, task.done


def _draw(drawing: Picture, session: Session) -> None:
    """Note all poses. Trails begin anew when robots or movables are added or removed; things are drawn as they are at the end.
    """
    before, now = drawing.world, session.world
    if (now.robots, len(now.movables)) != (before.robots, len(before.movables)):
        drawing.trail.clear()
    drawing.world = session.world
    drawing([session.sim])


def _figures(run: Run, robot_steps: int) -> dict[str, float]:
    """Those of the summary. The loop's own assume that robots stay the same and that the world does not start again."""
    figures = measure(run)
    share = robot_steps / max(figures["robot_steps"], 1)
    return figures | {"robot_steps": robot_steps, "robot_steps_per_s": share * figures["robot_steps_per_s"],
                      "contact_rate": figures["crashes"] / max(robot_steps, 1)}


__all__ = ["run_script"]
