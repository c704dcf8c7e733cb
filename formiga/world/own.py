"""Elements of the user's own, from a Python file that they name. No world file can do this."""

from __future__ import annotations

import os
import sys
import traceback
import zlib
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

from formiga.errors import FormigaError

_own_files: set[str] = set()


def load_elements(file: str | os.PathLike[str]) -> None:
    """Run a Python file of the user's own, whose `@element`s world files may then name. No world file can do this."""
    path = os.path.abspath(file)
    if os.path.isdir(path):
        raise FormigaError(f"{file}: is a directory; elements are in a Python file.")
    if not os.path.exists(path):
        raise FormigaError(f"{file}: no such file.")
    name = f"formiga_own_{Path(path).stem}_{zlib.crc32(path.encode()):08x}"  # two files of one name stay apart
    spec = spec_from_loader(name, SourceFileLoader(name, path))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look up the names of types
    _own_files.add(path)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as wrong:
        del sys.modules[name]
        raise FormigaError(own_line(wrong, os.fspath(file)) or f"{file}: {_words(wrong)}") from wrong


def have_elements(file: str) -> None:
    """Load a file of the user's own, unless this process has: a second time would make other classes of the same names."""
    if os.path.abspath(file) not in _own_files:
        load_elements(file)


def own_line(error: BaseException, shown: str | None = None) -> str | None:
    """'mine.py:12: ZeroDivisionError: division by zero', if the error came from a file of the user's own."""
    if isinstance(error, SyntaxError) and error.filename in _own_files:
        return f"{shown or error.filename}:{error.lineno or 1}: {error.msg}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in _own_files]
    return f"{shown or frames[-1].filename}:{frames[-1].lineno or 1}: {_words(error)}" if frames else None


def _words(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, FormigaError) else f"{type(error).__name__}: {text}".rstrip(": ")
