"""The trial of a machine: its files are compiled in a process of their own, within limits, before this one compiles them.

A file of a few lines can cost MuJoCo gigabytes and minutes in a call that nothing interrupts. `spec.py` is that process. A
machine that has passed is remembered by the contents of its files, in this process and in the user's cache, so that no second
run tries it again.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, NamedTuple

from formiga.errors import FormigaError
from formiga.files import private_cache, write_whole
from formiga.world.machine import spec
from formiga.world.machine.files import Tree

MEMORY = 2 * 2**30   # bytes, besides what an interpreter with MuJoCo has
SECONDS = 10         # of the processor
PATIENCE = 60        # s by the clock
MOST = {"bodies": 1000, "dofs": 1000, "geoms": 5000, "heights": 2**20, "bytes": 2**28}
WORDS = {"bodies": "bodies", "dofs": "degrees of freedom", "geoms": "geoms", "heights": "points of height fields",
         "bytes": "bytes when it is compiled"}
VERSION = 3          # of what a trial is; another one forgets all that have passed

_passed: dict[str, Facts] = {}
_turn = Lock()


class Size(NamedTuple):
    """How large one robot is in MuJoCo."""

    bodies: int
    dofs: int
    geoms: int
    heights: int
    bytes: int


class Motor(NamedTuple):
    """An actuator of MuJoCo."""

    name: str
    mode: str              # position, velocity or torque
    low: float | None      # of its orders; None: any
    high: float | None
    joint: str             # that it moves
    gear: float
    effort: float | None   # the most that it gives; None: any


class Joint(NamedTuple):
    """A hinge or a slider of MuJoCo."""

    kind: str              # 'hinge' or 'slider'
    low: float | None      # rad or m; None: any
    high: float | None
    start: float           # where it is by itself


class Facts(NamedTuple):
    """What a trial has found out."""

    size: Size
    motors: tuple[Motor, ...]
    joints: dict[str, Joint]              # by name
    keys: dict[str, dict[str, float]]     # name of a <key> -> joint -> rad or m


def attempt(tree: Tree, smooth: str, gain: float, fixed: bool) -> Facts:
    """What the machine is; ValueError if it is no robot, or passes a limit."""
    arguments = {"file": tree.first, "smooth": smooth, "gain": gain, "fixed": fixed, "memory": MEMORY, "seconds": SECONDS}
    options = [smooth, gain, fixed, MEMORY, SECONDS, VERSION, version("mujoco"), Path(spec.__file__).read_text("utf-8")]
    key = tree.key(json.dumps(options))
    with _turn:  # threads that build the same world wait for one trial
        if key not in _passed:
            _passed[key] = _remembered(key) or _remember(key, _answer(arguments))
        return _passed[key]


def _answer(arguments: dict[str, object]) -> dict[str, Any]:
    """What the process says of the machine."""
    if not sys.executable or getattr(sys, "frozen", False):  # packagers of programs set it
        raise ValueError("there is no Python interpreter in which it could be tried first")
    one = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "MKL", "OMP")}  # each thread would reserve memory
    try:
        with TemporaryDirectory(prefix="formiga-") as empty:
            # -P: the folder that the user happens to be in is no place to import from.
            run = subprocess.run([sys.executable, "-P", spec.__file__, json.dumps(arguments)], cwd=empty, timeout=PATIENCE,
                                 env=os.environ | one, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, start_new_session=True, check=False)
    except subprocess.TimeoutExpired as wrong:
        raise ValueError(f"MuJoCo needs more than {PATIENCE} s for it") from wrong
    with suppress(ValueError):
        if isinstance(answer := json.loads(run.stdout), dict):
            return answer
    # Windows has neither signal.
    if run.returncode in (-getattr(signal, "SIGXCPU", 0), -getattr(signal, "SIGKILL", 0)):
        raise ValueError(f"MuJoCo needs more than {SECONDS} s for it")
    raise ValueError(f"MuJoCo needs more than {MEMORY >> 30} GB of memory for it, or crashes")


def _size(answer: dict[str, Any]) -> Size:
    if "wrong" in answer:
        raise ValueError(str(answer["wrong"]))
    size = Size(**{name: int(str(answer[name])) for name in Size._fields})
    for name, number in size._asdict().items():
        if number > MOST[name]:
            raise ValueError(f"it has {number} {WORDS[name]}; at most {MOST[name]} are allowed")
    return size


def _facts(answer: dict[str, Any]) -> Facts:
    return Facts(_size(answer), tuple(Motor(*each) for each in answer["motors"]),
                 {name: Joint(*each) for name, each in answer["joints"].items()}, answer["keys"])


# -- machines that have passed -----------------------------------------------------------------------------------------------
def _remembered(key: str) -> Facts | None:
    """What an earlier process has found out."""
    if folder := private_cache("machines"):
        with suppress(OSError, ValueError, TypeError, KeyError):
            return _facts(json.loads((folder / f"{key}.json").read_text("utf-8")))
    return None


def _remember(key: str, answer: dict[str, Any]) -> Facts:
    found = _facts(answer)
    if folder := private_cache("machines"):
        with suppress(FormigaError):  # a full disk costs the next run half a second
            write_whole(folder / f"{key}.json", json.dumps(answer))
    return found
