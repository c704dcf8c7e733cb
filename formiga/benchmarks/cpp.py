"""The plain C++ twin of the speed scenarios: compiled when first needed, called in this process."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from ctypes import POINTER, c_double, c_int64, c_uint64, c_void_p
from functools import cache
from hashlib import sha256
from math import cos
from pathlib import Path
from typing import Any

import numpy as np

from formiga.control.braitenberg import Braitenberg
from formiga.control.neural import Perceptron
from formiga.control.turn_away import TurnAway
from formiga.errors import FormigaError
from formiga.loop import Simulation
from formiga.noise import channel

SOURCE = Path(__file__).with_name("plain.cpp")
# -fno-math-errno and -fno-trapping-math change no result; they let the compiler make vectors of the loops over beams.
FLAGS = ("-O3", "-march=native", "-std=c++17", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC")

_WHOLE = ("worlds", "robots", "beams", "segments", "discs", "table_size", "channel", "network")
_REAL = ("dt", "radius", "clearance", "wheel_base", "wheel_radius", "top_speed", "mount", "reach", "gain", "offset",
         "share", "noise", "threshold", "behind", "slow", "bias", "full", "x0", "y0", "x1", "y1")
_ARRAY = ("position", "heading", "segment", "disc", "direction", "table", "weight")


class PlainWorld(ctypes.Structure):
    """The parameters of plain.cpp, in the order of its struct."""

    _fields_ = [*((name, c_int64) for name in _WHOLE), *((name, c_double) for name in _REAL),
                *((name, POINTER(c_double)) for name in _ARRAY), ("key", POINTER(c_uint64))]


def compiler() -> str | None:
    """The C++ compiler's path, or None."""
    return shutil.which("g++")


@cache
def version() -> str | None:
    """The compiler in one line, or None."""
    found = compiler()
    if found is None:
        return None
    return subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


@cache
def library() -> ctypes.CDLL:
    """plain.cpp, compiled for this machine; a second call, or a second run, finds what the first one made."""
    found = compiler()
    if found is None:
        raise FormigaError("there is no g++; the bench needs it for its C++ twin.")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "formiga"
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError:  # a home that cannot be written to
        home = Path(tempfile.mkdtemp(prefix="formiga-"))
    what = sha256(SOURCE.read_bytes() + " ".join([*FLAGS, version() or "", cpu()]).encode()).hexdigest()[:16]
    made = home / f"plain-{what}.so"
    if not made.exists():
        with tempfile.TemporaryDirectory(dir=home) as folder:
            fresh = Path(folder) / made.name
            done = subprocess.run([found, *FLAGS, str(SOURCE), "-o", str(fresh)], capture_output=True, text=True)
            if done.returncode:
                raise FormigaError(f"g++ could not compile {SOURCE}:\n{done.stderr}")
            fresh.replace(made)  # whole, or not at all
    loaded = ctypes.CDLL(str(made))
    loaded.plain_make.restype, loaded.plain_make.argtypes = c_void_p, [POINTER(PlainWorld)]
    loaded.plain_free.restype, loaded.plain_free.argtypes = None, [c_void_p]
    loaded.plain_steps.restype, loaded.plain_steps.argtypes = None, [c_void_p, c_int64]
    loaded.plain_read.restype, loaded.plain_read.argtypes = None, [c_void_p] * 5
    return loaded


def cpu() -> str:
    """The processor's name, as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "unknown"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


class Plain:
    """The C++ twin of a simulation of one group, from where the simulation is now.

    A <perceptron> has in each world the genotype that the simulation was given for it, and gets "speed
    straightness clearance" less "crashes" as its fitness, whatever the world's <fitness>; other controllers get none.
    """

    _made: int | None = None  # the address of the C++ object; None if it could not be made

    def __init__(self, simulation: Simulation) -> None:
        model, state = simulation.model, simulation.state
        group = simulation.world.groups[0]
        sensor, robot, mind = group.sensors[0], group.robot, group.controller
        ahead = sensor.beams.direction
        whole = {"worlds": state.worlds, "robots": group.count, "beams": len(ahead), "table_size": len(sensor.values),
                 "segments": len(model.fixed.segments), "discs": len(model.fixed.discs),
                 "channel": channel(f"{group.name}/{sensor.name}"), "network": type(mind) is Perceptron}
        body = ("radius", "clearance", "wheel_base", "wheel_radius", "top_speed")
        eyes = ("mount", "reach", "gain", "offset", "share")
        real = {"dt": model.dt, "noise": sensor.noise[-1], "full": sensor.full, **model.region._asdict(),
                **{name: getattr(robot, name) for name in body}, **{name: getattr(sensor, name) for name in eyes}}
        weight = np.zeros(len(ahead))
        if isinstance(mind, TurnAway):
            real |= {"threshold": mind.threshold, "behind": cos(mind.ahead), "slow": mind.back * robot.top_speed}
        elif isinstance(mind, Braitenberg):
            real |= {"bias": mind.bias}
            weight = mind.gain * 0.5 * (1.0 + ahead[:, 0]) / mind.full
        elif type(mind) is Perceptron:
            weight = mind.express(state.genotypes[group.name], len(ahead), model.dt)
        arrays = {"position": state.position, "heading": state.heading, "segment": model.fixed.segments,
                  "disc": model.fixed.discs, "direction": ahead, "table": sensor.values, "weight": weight}
        # PlainWorld points into these, so they live as long as the twin.
        self._kept: dict[str, Any] = {name: np.ascontiguousarray(array, np.float64) for name, array in arrays.items()}
        self._kept["key"] = state.key.copy()
        pointers = {name: array.ctypes.data_as(POINTER(c_uint64 if name == "key" else c_double))
                    for name, array in self._kept.items()}
        self._shape = state.heading.shape
        self._library = library()
        self._made = self._library.plain_make(ctypes.byref(PlainWorld(**whole, **real, **pointers)))

    def steps(self, count: int) -> None:
        """So many control periods of every world; of a network, world after world."""
        self._library.plain_steps(self._made, count)

    def read(self) -> tuple[Any, Any, Any, Any]:
        """Positions (W, N, 2), headings (W, N), crashes (W, N), and the fitness (W,) summed over the steps."""
        position, heading = np.empty((*self._shape, 2)), np.empty(self._shape)
        crashes, total = np.empty(self._shape, np.int64), np.empty(self._shape[0])
        self._library.plain_read(self._made, *(array.ctypes.data for array in (position, heading, crashes, total)))
        return position, heading, crashes, total

    def __del__(self) -> None:
        if self._made:
            self._library.plain_free(self._made)
