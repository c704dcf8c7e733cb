"""Where compiled kernels are kept: one file for each kernel and each set of argument types, named after what it does.

Numba's own cache looks at the file of the function alone, so a kernel would keep running an old version of a function that it
calls from another file. Here the name is a hash of the kernel's instructions, of the values that they refer to, and of the
kernels that they call, and so on down, in whatever file; no list of files or folders is kept. An edit elsewhere, a comment, or
another checkout of the same code compiles nothing.

While one process compiles a kernel, others that need the same one wait for it. An engine may announce what it will need later
(`expect`); the first miss after that starts a second process, which compiles it in the meantime.
"""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import Enum
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import config as _config
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic
from numba.core.runtime.nrt import rtsys as _rtsys
from numba.core.serialize import dumps

from formiga.files import private_cache

config: Any = _config
rtsys: Any = _rtsys

ROOT = str(Path(__file__).parents[2])
ALONE = "FORMIGA_COMPILES_ALONE"       # an environment variable: no second process
PATIENCE = 90.0                        # s to wait for another process that compiles the same kernel
ROOM = 400 * 2**20                     # bytes; when more is kept, what was used longest ago is removed
OLD = 3600.0                           # s; what was used since then is never removed
SEAL = sha256().digest_size            # bytes in front of a kernel, by which a damaged file is known
MACHINE = f"sealed {sys.version} numba {numba.__version__} llvmlite {llvmlite.__version__}"

LIBRARIES = {"numpy", "math", "cmath", "numba", "llvmlite", "builtins"}  # numba's own versions of these are in MACHINE

listeners: list[Callable[[str], None]] = []  # each is told the module of a kernel that is about to be compiled


class Cache:
    """The compiled forms of one function, as a numba dispatcher asks for them."""

    def __init__(self, function: Callable[..., Any], options: str) -> None:
        self._function, self._options = function, options
        self._named: str | None = None

    @property
    def cache_path(self) -> str:
        """The folder."""
        return FOLDER or ""

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled form for these argument types; None if this process has to compile it."""
        file = self._file(signature, target.codegen())
        if file is None:
            target.refresh()
            tell(self._function)
            return None
        rtsys.initialize(target)
        found = _read(file, target)
        if found is None:
            target.refresh()  # numba's own libraries, which only compiling needs: half of the time of a start
            tell(self._function)
            if _claim(file):
                found = _read(file, target)  # another process has compiled it meanwhile
        return found

    def save_overload(self, signature: Any, made: Any) -> None:
        """Keep what was compiled. Where that fails, as on a full disk, it is compiled again next time."""
        if (file := self._file(signature, made.codegen)) is None:
            return
        if not made.library.has_dynamic_globals and not made.lifted:
            _write(file, dumps(made._reduce()))
        _release(file)
        _make_room(file.parent)

    def flush(self) -> None:
        """Part of numba's interface: there is no buffer to flush."""

    def enable(self) -> None:
        """Part of numba's interface: the cache is always enabled."""

    def disable(self) -> None:
        """Part of numba's interface: the cache cannot be disabled."""

    def _file(self, signature: Any, codegen: Any) -> Path | None:
        if FOLDER is None:
            return None
        if self._named is None:  # not before the first call: a kernel may call another that stands below it in its file
            self._named = content(self._function)
        about = f"{self._named} {self._options} {signature} {codegen.magic_tuple()} {MACHINE}"
        name = f"{self._function.__module__.removeprefix('formiga.')}.{self._function.__name__}"
        return Path(FOLDER) / f"{name}-{sha256(about.encode()).hexdigest()[:24]}.kernel"


# -- the name of a kernel ---------------------------------------------------------------------------------------------
def content(function: Any) -> str:
    """A hash of what a function does: its instructions, the values they refer to, and what it calls."""
    found: dict[Any, str] = {}
    text = "\n".join(f"{name}: {about}" for name, about in sorted(_describe(function, found), key=str))
    return sha256(text.encode()).hexdigest()


def _describe(function: Any, found: dict[Any, str]) -> Iterator[tuple[str, str]]:
    """(name, text) of a function and, once each, of all that it calls."""
    if function in found:
        return
    code = function.__code__
    found[function] = name = f"{function.__module__}.{function.__qualname__}"
    yield name, _instructions(code)
    cells = zip(code.co_freevars, (cell.cell_contents for cell in function.__closure__ or ()), strict=True)
    known = {**{name: function.__globals__[name] for name in _names(code) if name in function.__globals__}, **dict(cells)}
    if function.__defaults__:
        yield f"{name} defaults", _value(function.__defaults__)
    for label, value in sorted({**known, **_attributes(known, _names(code))}.items()):
        yield f"{name} {label}", _value(value)
        for each in value if isinstance(value, tuple) else (value,):
            called = each.py_func if isinstance(each, Dispatcher) else each._defn if isinstance(each, _Intrinsic) else each
            if isinstance(called, FunctionType):
                yield from _describe(called, found)


def _attributes(known: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """Values that `module.name` may refer to, in those of the values that are modules, and in modules within them."""
    found: dict[str, Any] = {}
    waiting = [(label, value) for label, value in known.items() if isinstance(value, ModuleType)]
    seen = set()
    while waiting:
        label, module = waiting.pop()
        if module in seen or module.__name__.partition(".")[0] in LIBRARIES:
            continue
        seen.add(module)
        inside = {f"{label}.{name}": vars(module)[name] for name in names & set(vars(module))}
        found.update(inside)
        waiting += [(inner, value) for inner, value in inside.items() if isinstance(value, ModuleType)]
    return found


def _names(code: CodeType) -> set[str]:
    return set(code.co_names).union(*(_names(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def _instructions(code: CodeType) -> str:
    """Instructions and constants, without the docstring, names of files and numbers of lines."""
    constants = list(code.co_consts)
    if constants and isinstance(constants[0], str) and code.co_flags & 0x3 == 0x3:  # a function: its docstring, or None
        constants[0] = None
    within = [_instructions(each) if isinstance(each, CodeType) else repr(each) for each in constants]
    return f"{code.co_code.hex()} {within} {code.co_names} {code.co_varnames} {code.co_freevars}"


def _value(value: Any) -> str:
    """A value that a kernel refers to, as text: equal for equal values, in every process."""
    if isinstance(value, Dispatcher):
        return f"{value.py_func.__module__}.{value.py_func.__qualname__} {sorted(value.targetoptions.items())}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, tuple):
        return f"{type(value).__qualname__}({', '.join(map(_value, value))})"
    if isinstance(value, type) and issubclass(value, Enum):
        return f"{value.__module__}.{value.__qualname__} {[(each.name, each.value) for each in value]}"
    if isinstance(value, type | FunctionType | ModuleType | _Intrinsic) or callable(value):
        # any callable of any library; not all have these names
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')} {getattr(value, '_fields', '')}"
    return f"{type(value).__qualname__} {value!r}"


# -- files ------------------------------------------------------------------------------------------------------------
def _write(file: Path, data: bytes) -> None:
    """Keep a compiled kernel, whole or not at all."""
    beside = file.with_suffix(f".{os.getpid()}")
    try:
        beside.write_bytes(sha256(data).digest() + data)
        beside.replace(file)
    except OSError:
        with suppress(OSError):
            beside.unlink()  # a partial file is useless


def _read(file: Path, target: Any) -> Any:
    """The compiled kernel in a file, or None if there is none, or none that can be used."""
    try:
        kept = file.read_bytes()
        seal, data = kept[:SEAL], kept[SEAL:]
        if sha256(data).digest() != seal:  # damaged bytes would be executed
            return None
        with suppress(OSError):
            os.utime(file)  # it was used
        return CompileResult._rebuild(target, *pickle.loads(data))
    except (OSError, EOFError, pickle.UnpicklingError, AttributeError, ImportError, IndexError, TypeError, ValueError):
        return None


def _cache_folder() -> str | None:
    """The folder of compiled kernels, or None. Only this user may write to it, because its content is executed."""
    folder = private_cache("kernels", config.CACHE_DIR)
    return None if folder is None else str(folder)


def _make_room(folder: Path) -> None:
    """Remove the least recently used files if there are too many, and the folders of older versions."""
    global _tidied
    if _tidied:
        return
    _tidied = True
    with suppress(OSError):
        for old in folder.parent.glob("kernels-*"):
            shutil.rmtree(old, ignore_errors=True)
        files = sorted(((file.stat(), file) for file in folder.iterdir()), key=lambda each: -each[0].st_mtime)
        total, now = 0, time.time()
        for about, file in files:
            total += about.st_size
            if total > ROOM and now - about.st_mtime > OLD:
                file.unlink(missing_ok=True)


# -- one process compiles, the others wait -----------------------------------------------------------------------------
def _claim(file: Path) -> bool:
    """Lock a kernel for this process; true if another process held the lock and has compiled it meanwhile."""
    byte = _byte_of(file)
    with suppress(OSError):
        if _claims(file.parent, byte):
            return file.exists()
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            time.sleep(0.02)
            if file.exists():
                return True
            if _claims(file.parent, byte):
                return file.exists()
    return False


def _release(file: Path) -> None:
    with suppress(OSError):
        _claims(file.parent, _byte_of(file), lock=False)


def give_up() -> None:
    """Let others try to compile what this process has claimed and cannot compile; they would wait for it."""
    with suppress(OSError, ImportError):
        import fcntl

        if _locks.get("process") == os.getpid():
            fcntl.lockf(_locks["file"], fcntl.LOCK_UN)  # of all bytes


def _claims(folder: Path, byte: int, *, lock: bool = True) -> bool:
    """Lock or unlock one byte of an empty file; each kernel has its own byte. Locks end with their process.

    Windows has no such locks. There two processes may compile the same kernel; the file is the work of the later one.
    """
    try:
        import fcntl
    except ImportError:
        return True
    if _locks.get("process") != os.getpid():  # a fork does not inherit locks
        _locks.update(process=os.getpid(), file=os.open(folder / "locks", os.O_RDWR | os.O_CREAT, 0o600))
    try:
        fcntl.lockf(_locks["file"], fcntl.LOCK_EX | fcntl.LOCK_NB if lock else fcntl.LOCK_UN, 1, byte)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _byte_of(file: Path) -> int:
    return int(sha256(file.name.encode()).hexdigest()[:7], 16)


# -- the second process -----------------------------------------------------------------------------------------------
def tell(function: Any) -> None:
    """Announce that a kernel is about to be compiled."""
    for listener in listeners:
        listener(function.__module__)
    _compile_beside()


def expect(module: str) -> None:
    """Name a module that compiles kernels by using them, which this process will need later."""
    global _expected
    _expected = module


def _compile_beside() -> None:
    """Let a second process compile the kernels that this one will need later."""
    global _beside
    frozen = getattr(sys, "frozen", False)  # only a frozen program has the attribute
    here = (os.cpu_count() or 1) > 1 and sys.executable and not frozen
    if _beside or not _expected or not here or os.environ.get(ALONE) or sys.platform == "win32":  # there it would do it twice
        return
    # -P: nothing is imported from the current folder.
    code = f"import sys, runpy; sys.path.append({ROOT!r}); runpy.run_module({_expected!r}, run_name='__main__')"
    with suppress(OSError):
        _beside = subprocess.Popen([sys.executable, "-P", "-c", code], cwd=FOLDER, env=os.environ | {ALONE: "1"},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)


_expected = ""
_beside: Any = None
_tidied = False
_locks: dict[str, int] = {}
FOLDER = _cache_folder()

__all__ = ["ALONE", "FOLDER", "Cache", "content", "expect", "give_up", "listeners"]
