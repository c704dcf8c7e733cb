"""Elements of the user's own: loaded from a file, sent to other processes, and blamed by file and line.

An own element is registered by code outside formiga: a file given with `--with` or `load_elements`, a module that the user
imports, the user's script itself, or a cell of a notebook. No world file can load one.
"""

from __future__ import annotations

import inspect
import linecache
import os
import site
import sys
import sysconfig
import traceback
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import decode_source, find_spec
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

from formiga.errors import FormigaError
from formiga.world.elements import Element, adopt, forget, registered

MAIN = "__main__"


@dataclass(frozen=True)
class Source:
    """The text of a module of the user's own."""

    module: str    # its name in sys.modules
    file: str      # full path; errors name it
    text: str


_loaded: dict[str, Source] = {}   # by module: as it was when it was loaded
_unpacking = Lock()


# -- loading ----------------------------------------------------------------------------------------------------------
def load_elements(file: str | os.PathLike[str]) -> None:
    """Run a Python file of the user's own, whose `@element`s world files may then name. No world file can do this."""
    path = os.path.abspath(file)
    if os.path.isdir(path):
        raise FormigaError(f"{file}: is a directory; elements are in a Python file.")
    if not os.path.exists(path):
        raise FormigaError(f"{file}: no such file.")
    name = module_name(path)
    try:
        text = decode_source(Path(path).read_bytes())
    except (OSError, SyntaxError, UnicodeDecodeError) as wrong:
        raise FormigaError(f"{file}:1: {_words(wrong)}") from wrong
    run_source(Source(name, path, text), os.fspath(file))


def module_name(file: str | os.PathLike[str]) -> str:
    """The name under which a file of the user's own is imported; two files of one name stay apart."""
    path = os.path.abspath(file)
    return f"formiga_own_{Path(path).stem}_{zlib.crc32(path.encode()):08x}"


def run_source(source: Source, shown: str | None = None) -> None:
    """Run the text of a module under its name; FormigaError with file and line if it fails. shown: its file in messages."""
    before = sys.modules.get(source.module)
    module = ModuleType(source.module)
    linecache.checkcache(source.file)  # the file may have been saved again since
    module.__file__ = source.file
    module.__package__ = source.module.rpartition(".")[0]
    sys.modules[source.module] = module  # where dataclasses look up the names of types
    _loaded[source.module] = source
    try:
        exec(compile(source.text, source.file, "exec", dont_inherit=True), vars(module))
    except (Exception, SystemExit) as wrong:
        del sys.modules[source.module], _loaded[source.module]
        if before is not None:
            sys.modules[source.module] = before
        raise FormigaError(own_line(wrong, source.file, shown) or f"{shown or source.file}: {_words(wrong)}") from wrong


# -- in other processes -----------------------------------------------------------------------------------------------
def own_elements(things: Iterable[Any] | None = None) -> list[Element]:
    """The registered elements that are not formiga's; only those of `things`, if they are given."""
    chosen = None if things is None else {type(thing) for thing in things}
    return [known for known in registered().values()
            if known.cls.__module__.partition(".")[0] != "formiga" and (chosen is None or known.cls in chosen)]


def sources_of(elements: Iterable[Element], functions: Iterable[Any] = ()) -> list[Source]:
    """The modules that these elements and functions need and that are the user's, each after those that it uses itself.

    A module without a file, such as a notebook, is not among them.
    """
    found: dict[str, Source | None] = {}

    def visit(name: str) -> None:
        module = sys.modules.get(name)
        if name in found or module is None:
            return
        found[name] = None  # modules may use each other in a circle
        for value in list(vars(module).values()):
            used = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)  # any value
            if isinstance(used, str) and used in sys.modules and _is_users(vars(sys.modules[used]).get("__file__")):
                visit(used)
        source = _source(module)
        if source is not None:
            del found[name]
            found[name] = source

    for module in [*(element.cls.__module__ for element in elements), *(function.__module__ for function in functions)]:
        if module.partition(".")[0] != "formiga":
            visit(module)
    return [source for source in found.values() if source is not None]


def _source(module: ModuleType) -> Source | None:
    if module.__name__ in _loaded:
        return _loaded[module.__name__]
    file = vars(module).get("__file__")
    try:
        return Source(module.__name__, os.path.abspath(file), decode_source(Path(file).read_bytes())) if file else None
    except (OSError, SyntaxError, UnicodeDecodeError):  # gone, or compiled
        return None


def pack(value: Any, functions: Iterable[Any] = ()) -> bytes:
    """A value that holds own elements, as bytes that `unpack` understands in a process that has never seen their code.

    functions: those of the user's own among what it holds.

    Modules travel as their text. What stands in the user's script itself, or in a notebook, travels by value: running the
    script again would do again all that it does.
    """
    from cloudpickle import dumps

    elements = own_elements()
    try:
        inner = dumps((elements, value))
    except Exception as wrong:  # whatever an object of the user's raises when it is pickled
        tags = ", ".join(f"<{known.tag}>" for known in elements if known.cls.__module__ == MAIN) or "the world"
        raise FormigaError(f"{tags} cannot be sent to another process ({_words(wrong)}). Elements in a file of their own, "
                           "which the script imports, can.") from wrong
    return dumps(([source for source in sources_of(elements, functions) if source.module != MAIN], inner))


def unpack(packed: bytes) -> Any:
    """What `pack` packed. Only for bytes of our own: it runs code.

    A worker may have unpacked other versions of the same files before: those that come now replace them.
    """
    from pickle import loads

    with _unpacking:
        sources, inner = loads(packed)
        missing = [source for source in sources if _loaded.get(source.module) != source]
        if missing:
            for known in own_elements():
                forget(known.tag)
        for source in missing:
            if source.module not in sys.modules and _same_here(source):
                import_module(source.module)
                _loaded[source.module] = source
            else:
                run_source(source)
        elements, value = loads(inner)
        for known in elements:
            adopt(known)
        return value


def _same_here(source: Source) -> bool:
    """Whether importing the module by its name would give this text."""
    try:
        spec = find_spec(source.module)
        return spec is not None and decode_source(Path(spec.origin or "").read_bytes()) == source.text
    except (ImportError, OSError, ValueError, SyntaxError):
        return False


# -- blame ------------------------------------------------------------------------------------------------------------
@contextmanager
def own_mistakes() -> Iterator[None]:
    """An error that the user's own code raised in this block becomes a FormigaError with its file and line."""
    try:
        yield
    except FormigaError:
        raise
    except (Exception, SystemExit) as wrong:
        line = own_line(wrong)
        if line is None:
            raise
        raise FormigaError(line) from wrong


def own_line(error: BaseException, file: str | None = None, shown: str | None = None) -> str | None:
    """'mine.py:12: ZeroDivisionError: division by zero', if the error came from the user's own code.

    file, shown: a file that is known to be the user's, and how messages call it.
    """
    files = {file} | {source.file for source in _loaded.values()} | _files_of_elements()

    def named(found: str, line: int | None, words: str) -> str:
        return f"{shown if shown and found == file else found}:{line or 1}: {words}"

    if isinstance(error, SyntaxError) and error.filename and (error.filename in files or _is_users(error.filename)):
        return named(error.filename, error.lineno, error.msg)
    frames = list(traceback.extract_tb(error.__traceback__))
    if isinstance(error, SystemExit):
        frames = frames[-1:]  # a signal ends a command wherever it is, also inside the user's code
    for frame in reversed(frames):
        if frame.filename in files or _is_users(frame.filename):
            return named(frame.filename, frame.lineno, _words(error))
    return None


def _files_of_elements() -> set[str]:
    """Where the methods of own elements were written; a notebook's cell has a file name of its own."""
    found = set()
    for known in own_elements():
        for function in map(inspect.unwrap, filter(inspect.isfunction, vars(known.cls).values())):
            found.add(function.__code__.co_filename)
    return found - {"<string>"}  # what @dataclass wrote


@cache
def _is_users(file: str | None) -> bool:
    """Whether a file is neither formiga's nor Python's nor that of an installed library."""
    if not file or file.startswith("<") or not os.path.isabs(file):
        return False
    return not os.path.realpath(file).startswith(_others())


@cache
def _others() -> tuple[str, ...]:
    paths = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib", "scripts")}
    paths |= {str(Path(__file__).parents[1]), *site.getsitepackages(), site.getusersitepackages()}
    return tuple(os.path.join(os.path.realpath(path), "") for path in paths if path)


def _words(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, FormigaError) else f"{type(error).__name__}: {text}".rstrip(": ")


__all__ = ["Source", "load_elements", "own_elements", "own_line", "own_mistakes", "pack", "run_source",
           "sources_of", "unpack"]
