"""How kernels are compiled: cached on disk, without Python's lock, and dividing as floating point does.

Numba's own cache looks only at the file of the function itself, so a kernel would keep running an old version of a
function that it calls from another file. Ours lies in a folder named after the contents of all files with kernels.

Compiling everything takes some 20 s on one core, once. The process that finds the folder missing compiles one half and
lets a second process compile the other; both halves meet in the cache.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import config as _config
from numba import njit as _njit

njit: Any = _njit
config: Any = _config

ROOT = str(Path(__file__).parent.parent)
PATIENCE = 60  # s, for the second process
KEPT = 3  # versions of the cache; older ones are removed when a new one begins


def kernel(*signature: str, allocates: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorator for a compiled function. One that makes arrays of its own says `allocates`.

    The others borrow all their arrays from a caller that outlives them, so nobody needs to count who holds what. Numba
    would, with an atomic addition for every array at every call: more than half of the time of a small world's step.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        theirs = config.CACHE_DIR
        config.CACHE_DIR = FOLDER
        try:
            # Without the lock, threads can run different worlds at the same time. `error_model`: x / 0 is infinite,
            # not an exception; the check would cost time in every division.
            return njit(*signature, cache=True, nogil=True, error_model="numpy", _nrt=allocates, **options)(function)
        finally:
            config.CACHE_DIR = theirs

    return compiled


# -- the folder -----------------------------------------------------------------------------------------------------
def _cache_folder() -> tuple[str, bool]:
    """Where compiled kernels are kept, and whether this process is the first to use it."""
    root = Path(__file__).parent
    contents = sha256(sys.version.encode())
    for part in ("*.py", "engine/**/*.py", "sense/*.py", "control/**/*.py", "act/*.py", "score/*.py", "rollout/*.py",
                 "envs/*/kernels.py"):
        for file in sorted(root.glob(part)):
            contents.update(file.read_bytes())
    user = os.getuid() if hasattr(os, "getuid") else 0
    home = config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    for base in (Path(home) / "formiga", Path(tempfile.gettempdir()) / f"formiga-{user}"):
        folder = base / f"kernels-{contents.hexdigest()[:16]}"
        try:
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700)
        except FileExistsError:
            if _is_ours(base, user) and _is_ours(folder, user) and os.access(folder, os.W_OK):
                return str(folder), False
        except OSError:  # no home, or one that cannot be written
            continue
        else:
            if _is_ours(base, user):
                _forget_old(base)
                return str(folder), True
    return str(config.CACHE_DIR), False  # numba's own choice


def _is_ours(folder: Path, user: int) -> bool:
    """Whether nobody else could have put something there: what lies in a cache of kernels is executed."""
    about = folder.lstat()
    return stat.S_ISDIR(about.st_mode) and (os.name == "nt" or (about.st_uid == user and not about.st_mode & 0o022))


def _forget_old(base: Path) -> None:
    versions = sorted(base.glob("kernels-*"), key=lambda folder: folder.stat().st_mtime)
    for folder in versions[:-KEPT]:
        shutil.rmtree(folder, ignore_errors=True)


FOLDER, FIRST = _cache_folder()


# -- the second process ---------------------------------------------------------------------------------------------
_beside: dict[str, subprocess.Popen[bytes]] = {}


def compile_beside(module: str) -> None:
    """Let a second process run a module that compiles kernels, if nothing is compiled yet."""
    global FIRST
    if FIRST and sys.executable and not getattr(sys, "frozen", False):
        FIRST = False
        # -P: the folder that the user happens to be in is no place to import from.
        code = f"import sys, runpy; sys.path.append({ROOT!r}); runpy.run_module({module!r}, run_name='__main__')"
        with suppress(OSError):
            _beside[module] = subprocess.Popen([sys.executable, "-P", "-c", code], cwd=FOLDER, stdin=subprocess.DEVNULL,
                                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def wait_for(module: str) -> None:
    """Wait until those kernels are in the cache. If the process failed, this one compiles them itself."""
    if _beside:
        process = _beside.pop(module, None)
        if process:
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
