"""A session without a window: a world, a script, and as fast as it goes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from formiga import lab
from formiga.loop import Run, measure, steps_in
from formiga.session.session import Session
from formiga.view.picture import Picture
from formiga.world.model import World


def run_script(world: World, script: str | os.PathLike[str], seconds: float | None = None, seed: int = 0, *,
               out: str | os.PathLike[str] | None = None, picture: str | os.PathLike[str] | None = None,
               say: Callable[[str, str], None] = lambda kind, text: None, progress: Callable[[float], None] | None = None,
               stop: Callable[[], bool] = lambda: False) -> tuple[Run, str]:
    """Run a world with a script that acts at its times. It lasts as long as the world or `seconds` say, or until `quit`.

    Returns the run, and what is wrong with the script: '' if it came to its end. `say` hears (kind, text).
    """
    steps, began = steps_in(world, seconds), time.perf_counter()
    session = Session(world, seed=seed, hear=lambda kind, text, who: say(kind, text), own_settings=False)
    drawing = Picture(world, picture) if picture is not None else None
    if out is not None:
        session.record(Path(out) / lab.RECORDING)
    start, robot_steps, taken = 0.0, 0, 0
    try:
        task = session.console.run_file(Path(script))
        while taken < steps and not session.ended and not task.failed and not stop():
            robot_steps += session.world.robots
            session.step()
            if session.failed:
                break
            taken += 1
            if drawing is not None and session.world.robots == world.robots:
                drawing([session.sim])
            if taken == 1:
                start = time.perf_counter() - began
            if progress and taken % 20 == 0:
                progress(taken / steps)
        interrupted = stop() and taken < steps
        recording = session.recorder.path if session.recorder is not None else None
        if session.recorder is not None:
            session.recorder.ending = "interrupted" if interrupted else "complete"
    finally:
        session.close_recording()
    if drawing is not None:
        drawing.save()
    run = Run(session.world, seed, session.sim.state, taken * world.dt, time.perf_counter() - began - start, start, interrupted, recording)
    run.metrics = measure(run) | {"robot_steps": robot_steps}
    wrong = "" if task.done and not task.failed else "it failed" if task.failed else (
        f"it was not at its end after {run.seconds:g} s; --seconds makes the run longer")
    return run, wrong


__all__ = ["run_script"]
