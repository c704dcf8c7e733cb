"""Parts of a long study: results of single tasks that are kept as soon as they are there, so an interrupted run goes on.

    with remembered(workers, "three_state") as resuming:
        study.rows(full=True, workers=resuming)

They stand in the user's private cache, under a hash of the function, of the task and of the whole code of formiga; so a part is
taken only where running it again would give the same. When the study has ended they are removed.
"""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import formiga
from formiga.errors import FormigaError
from formiga.files import private_cache, whole_file
from formiga.pool import Pool

CODE = (".py", ".xml", ".json", ".png", ".hpp", ".cpp")      # what a result may depend on
MADE = ("__pycache__", "result", "pictures")                 # folders that hold what was made from it
Hear = Callable[[str], object]


class Resuming:
    """A pool that keeps what its `map` finds."""

    def __init__(self, workers: Pool, folder: Path, hear: Hear = lambda text: None) -> None:
        self.size, self.elsewhere = workers.size, workers.elsewhere
        self._workers, self._folder, self._hear = workers, folder, hear
        self.found = 0                                       # parts that an interrupted run has left

    def map(self, function: Callable[[Any], Any], tasks: Iterable[Any]) -> list[Any]:
        """[function(task) for task in tasks]: those that are there, and the others run."""
        tasks = list(tasks)
        files = [self._folder / key_of(function, task) for task in tasks]
        done = {number: part for number, file in enumerate(files) if (part := _read(file)) is not None}
        self.found += len(done)
        missing = [(number, task) for number, task in enumerate(tasks) if number not in done]
        for number, result in self._workers.each(partial(_numbered, function), missing):
            done[number] = (result,)
            _write(files[number], result)
            self._hear(f"{len(done)} of {len(tasks)} parts")
        return [done[number][0] for number in range(len(tasks))]

    def each(self, function: Callable[[Any], Any], tasks: Iterable[Any],
             stop: Callable[[], bool] = lambda: False) -> Generator[Any, None, None]:
        """As the pool has it; nothing is kept."""
        return self._workers.each(function, tasks, stop)


@contextmanager
def remembered(workers: Pool, name: str, hear: Hear = lambda text: None) -> Iterator[Pool]:
    """A pool that keeps the parts of the study `name` until the block ends without an exception.

    Where nothing can be kept, it is the pool as it is.
    """
    home = private_cache("studies")
    if home is None:
        yield workers
        return
    folder = home / name
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        yield workers
        return
    yield Resuming(workers, folder, hear)
    shutil.rmtree(folder, ignore_errors=True)


def key_of(function: Callable[[Any], Any], task: Any) -> str:
    """The name of a part's file. Equal tasks have equal pickles here: they are plain data, made in the same way each time."""
    what = f"{function.__module__}.{function.__qualname__}".encode() + pickle.dumps(task, protocol=5)
    return sha256(what + code().encode()).hexdigest()[:32]


@cache
def code() -> str:
    """A hash of the code of formiga, and of the files that worlds and studies bring."""
    root, found = Path(formiga.__file__).parent, sha256(formiga.__version__.encode())
    for file in sorted(root.rglob("*")):
        if file.suffix in CODE and not any(part in MADE for part in file.relative_to(root).parts):
            found.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes())
    return found.hexdigest()


def _numbered(function: Callable[[Any], Any], task: tuple[int, Any]) -> tuple[int, Any]:
    return task[0], function(task[1])


def _read(file: Path) -> tuple[Any] | None:
    """The result in a file, in a tuple of its own; None if it is not there or damaged."""
    with suppress(OSError, EOFError, pickle.UnpicklingError, AttributeError, ImportError, ValueError, IndexError):
        return (pickle.loads(file.read_bytes()),)
    return None


def _write(file: Path, result: Any) -> None:
    """Keep a result; a full disk ends no study."""
    with suppress(FormigaError), whole_file(file) as beside:
        beside.write_bytes(pickle.dumps(result, protocol=5))


__all__ = ["Resuming", "code", "key_of", "remembered"]
