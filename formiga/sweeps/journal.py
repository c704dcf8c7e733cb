"""What a sweep keeps in its folder while it runs, so that it can go on after it was interrupted or killed.

    DIR/sweep.json    what the sweep is: world, parameters, conditions, versions; written first
    DIR/runs.jsonl    a line for each task that is done, in the order in which they were: its checksum, its point, its runs

A line is appended when a task is done. One that was cut short, by a kill or a full disk, has no end of line and is dropped; one
that is damaged does not have its checksum, is dropped and said. Their runs are run again. Nothing in the files is code.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from formiga.errors import reason
from formiga.files import whole_file, write_whole
from formiga.sweeps.grid import Grid, Point, SweepError
from formiga.sweeps.trial import ENDINGS, Done
from formiga.world.params import written

ABOUT, RUNS = "sweep.json", "runs.jsonl"
FILES = ("sweep.parquet", "sweep.png")    # when all runs are done
FORMAT = 1
LARGEST = 100 << 20       # bytes of sweep.json
LONGEST = 64 << 20        # bytes of a line of runs.jsonl
SYNC = 1.0                # s, after which what was written is on the disk at the latest, if a task ends then
SHOWN = 5                 # values that a message lists
MOST_OTHERS = 10_000      # lines of another grid that are looked at for it
WRONG = (ValueError, TypeError, KeyError, IndexError, ArithmeticError, RecursionError)  # what a damaged line can raise

WORDS = {"world": "the world", "worlds": "the world", "seed": "--seed", "seconds": "--seconds", "engine": "--engine",
         "measures": "--measure", "code": "the user's own code (--with)", "versions": "the versions"}


class Results:
    """The numbers of all runs of a grid, and which of them are there."""

    def __init__(self, grid: Grid, measures: int) -> None:
        self.grid, self.done = grid, 0      # so many runs are there
        self.there = np.zeros((grid.points, grid.seeds), np.bool_)
        self.values = np.full((grid.points, grid.seeds, measures), np.nan)
        self.seconds = np.full((grid.points, grid.seeds), np.nan)
        self.ended = np.zeros((grid.points, grid.seeds), np.int8)

    def take(self, done: Done) -> None:
        """What came of a task."""
        at = done.point, slice(done.first, done.first + len(done.seconds))
        self.done += int(np.count_nonzero(~self.there[at]))
        self.values[at], self.seconds[at], self.ended[at], self.there[at] = done.values, done.seconds, done.ended, True


Other = tuple[list[str], int]    # the values of a point and the end of its runs, of a line that is not of this grid


class Journal:
    """The folder of a sweep, opened by this process alone."""

    def __init__(self, folder: Path, about: dict[str, Any], grid: Grid, say: Callable[[str], None],
                 look: Callable[[Point], str]) -> None:
        """look: the fingerprint that the world at a point has now."""
        self.folder, self.grid, self.file = folder, grid, folder / RUNS
        self._measures, self._synced, self._added = len(about["measures"]), time.monotonic(), False
        self.fresh = not os.path.lexists(folder / ABOUT)
        if self.fresh:
            refuse_taken(folder)
        else:
            _refuse_another(folder / ABOUT, about, grid, look)
        self._stream = self._open()
        try:
            self.results = self._read(say)
            write_whole(folder / ABOUT, json.dumps(about, indent=1) + "\n", SweepError)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let others open it. A sweep that has not begun leaves nothing."""
        with suppress(OSError):
            if self.fresh and self._stream.tell() == 0:
                self.file.unlink()
                (self.folder / ABOUT).unlink()
        self._stream.close()

    def add(self, done: Done) -> None:
        """Keep what came of a task."""
        at = self._at(done.point)
        body = json.dumps([at, done.first, done.values.tolist(), done.seconds.tolist(), done.ended.tolist()]).encode()
        end = self._stream.tell()
        try:
            if not self._added:  # a table of fewer runs is not that of this sweep any more
                for name in FILES:
                    (self.folder / name).unlink(missing_ok=True)
                self._added = True
            line = b"%08x %s\n" % (zlib.crc32(body), body)
            while line:
                line = line[self._stream.write(line):]
            if time.monotonic() - self._synced > SYNC:
                self.sync()
        except OSError as wrong:
            with suppress(OSError):  # the full disk again
                os.ftruncate(self._stream.fileno(), end)
            raise self._cannot(wrong) from wrong
        self.results.take(done)

    def sync(self) -> None:
        """What was written is on the disk."""
        os.fsync(self._stream.fileno())
        self._synced = time.monotonic()

    def _at(self, point: int) -> list[str]:
        """The values at a point, as they are written."""
        return [written(name, value) for name, value in self.grid.point(point).items()]

    def _cannot(self, wrong: OSError) -> SweepError:
        return SweepError(f"{self.file}: cannot be written ({reason(wrong)}); what was done before is kept, and the same sweep "
                          "goes on from there.")

    def _open(self) -> BinaryIO:
        try:
            stream = open(self.file, "a+b", buffering=0)  # noqa: SIM115  open until `close`
        except OSError as wrong:
            raise SweepError(f"{self.file}: cannot be written ({reason(wrong)}).") from wrong
        if not _locked(stream):
            stream.close()
            raise SweepError(f"{self.folder}: another process is at work on this sweep; wait for it, or choose another folder.")
        return stream

    def _read(self, say: Callable[[str], None]) -> Results:
        """All that is there and whole. Lines that are not are taken out of the file."""
        results, damaged, others = Results(self.grid, self._measures), 0, list[Other]()
        self._stream.seek(0)
        good = 0                      # bytes up to the end of the last line
        with open(self.file, "rb") as stream:
            while line := stream.readline(LONGEST):
                if not line.endswith(b"\n"):
                    break
                good += len(line)
                try:
                    done = self._parse(line)
                except WRONG:
                    damaged += 1
                    continue
                if isinstance(done, Done):
                    results.take(done)
                elif len(others) < MOST_OTHERS:
                    others.append(done)
        if others:
            raise self._beyond(others)
        if damaged:
            self._mend()
            lines = "a damaged line" if damaged == 1 else f"{damaged:,} damaged lines"
            say(f"{self.file}: {lines}; what was there is run again.")
        elif good < os.fstat(self._stream.fileno()).st_size:
            os.ftruncate(self._stream.fileno(), good)
        self._stream.seek(0, os.SEEK_END)
        return results

    def _beyond(self, others: list[Other]) -> SweepError:
        """In words, which runs are in the file that are not in this grid."""
        found = []
        for place, (name, known) in enumerate(self.grid.written.items()):
            if lacking := list(dict.fromkeys(at[place] for at, _ in others if at[place] not in known)):
                more = f" and {len(lacking) - SHOWN} more" if len(lacking) > SHOWN else ""
                found.append(f"{name}={','.join(lacking[:SHOWN])}{more}")
        if (seeds := max(last for _, last in others)) > self.grid.seeds:
            found.append(f"{seeds} seeds")
        return SweepError(f"{self.folder}: holds another sweep: it has runs with {' and '.join(found)}, which are not asked "
                          "for. Give at least what is there, or choose another folder.")

    def _parse(self, line: bytes) -> Done | Other:
        """A line, if it is of this grid; ValueError if it is not whole."""
        crc, _, body = line.rstrip(b"\n").partition(b" ")
        if int(crc, 16) != zlib.crc32(body):
            raise ValueError
        at, first, values, seconds, ended = json.loads(body)
        if not all(isinstance(each, str) for each in at):
            raise ValueError
        point = self.grid.number(at)
        given = np.asarray(values, np.float64).reshape(len(seconds), self._measures)
        endings = np.asarray(ended, np.int8)
        if type(first) is not int or first < 0 or endings.shape != (len(seconds),) or not all(map(isfinite, seconds)) \
                or not ((endings >= 0) & (endings < len(ENDINGS))).all():
            raise ValueError
        if point is None or first + len(seconds) > self.grid.seeds:
            return at, first + len(seconds)
        return Done(point, first, given, np.asarray(seconds, np.float64), endings)

    def _mend(self) -> None:
        """Write the whole lines anew, without the others."""
        with open(self.file, "rb") as old, whole_file(self.file, SweepError) as beside, open(beside, "wb") as new:
            while line := old.readline(LONGEST):
                with suppress(*WRONG):
                    if line.endswith(b"\n"):
                        self._parse(line)
                        new.write(line)
        self._stream.close()
        self._stream = self._open()


def refuse_taken(folder: Path) -> None:
    """Say which result of something else would be overwritten."""
    for name in (ABOUT, RUNS, *FILES):
        if os.path.lexists(folder / name) and not (name == RUNS and (folder / name).stat().st_size == 0):
            raise SweepError(f"{folder / name}: is there already, and would be overwritten; choose another folder.")


def _refuse_another(file: Path, about: dict[str, Any], grid: Grid, look: Callable[[Point], str]) -> None:
    """Whether a folder's sweep is this one, but for more values and more seeds."""
    try:
        text = file.read_bytes()[:LARGEST]
        begun = json.loads(text)
        if not isinstance(begun, dict) or begun.get("kind") != about["kind"] or begun.get("format") != FORMAT:
            raise ValueError
        differ = list(_differences(begun, about, grid, look))
    except OSError as wrong:
        raise SweepError(f"{file}: cannot be read ({reason(wrong)}).") from wrong
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as wrong:
        raise SweepError(f"{file}: does not describe a sweep of this formiga; choose another folder.") from wrong
    if differ:
        raise SweepError(f"{file.parent}: holds another sweep: {'; '.join(differ)}. Give what it was begun with, or choose "
                         "another folder.")


def _differences(begun: dict[str, Any], about: dict[str, Any], grid: Grid, look: Callable[[Point], str]) -> Any:
    """In words, what keeps a sweep from going on as this one."""
    if begun["world"] != about["world"]:
        yield f"it is of the world '{begun['world']}', not '{about['world']}'"
        return
    then, now = begun["parameters"], about["parameters"]
    if list(then) != list(now):
        yield f"its parameters are {', '.join(then) or 'none'}, not {', '.join(now) or 'none'}"
        return
    if _changed(begun["worlds"], about["worlds"], grid, look):
        yield f"the file of its world '{begun['world']}' has changed"
    for name in ("seed", "seconds", "engine", "measures", "code", "versions"):
        if begun[name] != about[name]:
            values = f" ({_shown(begun[name], about[name])})" if name != "code" else ""
            yield f"{WORDS[name]} differ{'' if name in ('measures', 'versions') else 's'}{values}"


def _changed(then: dict[str, str], now: dict[str, str], grid: Grid, look: Callable[[Point], str]) -> bool:
    """Whether the world has changed at a point at which it was read when the sweep was begun."""
    for at, known in then.items():
        number = grid.number(json.loads(at))
        if number is not None and (now[at] if at in now else look(grid.point(number))) != known:
            return True
    return False


def _shown(then: Any, now: Any) -> str:
    """'7, not 8'; of dicts, only what differs."""
    if isinstance(then, dict):
        names = [name for name in {**then, **now} if then.get(name) != now.get(name)]
        return ", ".join(f"{name} {then.get(name, 'none')}, not {now.get(name, 'none')}" for name in names)
    words = ["default" if each is None else ", ".join(each) if isinstance(each, list) else str(each) for each in (then, now)]
    return ", not ".join(words)


def _locked(stream: BinaryIO) -> bool:
    """Whether this process alone has the file now; the lock ends with the process. Where there are no locks: yes."""
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


__all__ = ["ABOUT", "FILES", "FORMAT", "RUNS", "Journal", "Results", "refuse_taken"]
