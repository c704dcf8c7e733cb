"""The recording of a session while it is being written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from formiga.errors import FormigaError
from formiga.loop import Simulation
from formiga.record.recorder import Recorder
from formiga.supervisor import Note


class Tape:
    """At most one file that takes every step. `say` hears (text, kind) when one is whole, or could not be written; `whole`
    the path of one that is; `wrong` what is wrong with a drawing, which is then left out.
    """

    def __init__(self, say: Callable[[str, str], None], whole: Callable[[Path], None] = lambda path: None,
                 wrong: Callable[[FormigaError], None] = lambda wrong: None) -> None:
        self.recorder: Recorder | None = None
        self._say, self._whole, self._wrong = say, whole, wrong
        self._steps = 0                    # on this tape, without the start

    def begin(self, path: str | Path, sim: Simulation, touched: bool, note: Note | None = None) -> None:
        """Record from now on. touched: the run is not what its world and its seed give; note: of a supervisor."""
        if self.recorder is not None:
            raise FormigaError(f"{self.recorder.path} is being recorded already; `record off` ends it.")
        recorder = Recorder(path, sim.world, sim.seed, 1, sim.world.engine, wrong=self._wrong)
        recorder.__enter__()
        recorder.touched = touched
        recorder([sim])
        if note is not None:
            recorder.note(note)
        self.recorder, self._steps = recorder, 0

    def take(self, sim: Simulation, note: Note | None = None) -> None:
        """One more step. If it cannot be written, that is an error, and the tape is gone."""
        if self.recorder is None:
            return
        try:
            self.recorder([sim])
            if note is not None:
                self.recorder.note(note)
            self._steps += 1
        except FormigaError as wrong:
            recorder, self.recorder = self.recorder, None
            recorder.__exit__(type(wrong), wrong, wrong.__traceback__)
            raise

    def touch(self) -> None:
        """The run was changed by hand, so running it again would not give the same."""
        if self.recorder is not None:
            self.recorder.touched = True

    def replace(self, sim: Simulation) -> None:
        """The run goes on in a world that this file cannot hold: it ends here, or begins again if it had only begun."""
        if self.recorder is None:
            return
        if self._steps:
            self.close("the world changed")
            return
        path = self.recorder.path
        try:
            self._end("complete")
            self.begin(path, sim, touched=True)
        except FormigaError as wrong:
            self._say(str(wrong), "error")

    def close(self, why: str = "", ending: str = "complete") -> None:
        """Finish the file, if there is one. ending: 'complete', 'interrupted' or 'failed', as the file will say."""
        if self.recorder is None:
            return
        path = self.recorder.path
        try:
            self._end(ending)
        except FormigaError as wrong:
            self._say(str(wrong), "error")
        else:
            self._say(f"recorded {path}{f', until {why}' if why else ''}", "note")
            self._whole(path)

    def _end(self, ending: str) -> None:
        assert self.recorder is not None
        recorder, self.recorder = self.recorder, None
        recorder.ending = ending
        recorder.__exit__(None, None, None)


__all__ = ["Tape"]
