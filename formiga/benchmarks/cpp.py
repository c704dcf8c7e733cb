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

PLAIN, COMM, LOCATE = (Path(__file__).with_name(name) for name in ("plain.cpp", "comm.cpp", "locate.cpp"))
MOST = 8  # messages that a robot of comm.cpp hears at once
# -fno-math-errno and -fno-trapping-math change no result; they let the compiler make vectors of the loops over beams.
FLAGS = ("-O3", "-march=native", "-std=c++17", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC")

_WHOLE = ("worlds", "robots", "beams", "segments", "discs", "table_size", "channel", "network")
_REAL = ("dt", "radius", "clearance", "wheel_base", "wheel_radius", "top_speed", "mount", "reach", "gain", "offset",
         "share", "noise", "threshold", "behind", "slow", "bias", "full", "x0", "y0", "x1", "y1")
_ARRAY = ("position", "heading", "segment", "disc", "direction", "table", "weight")
_FUNCTIONS: dict[str, dict[str, list[Any]]] = {
    "plain": {"plain_make": [c_void_p], "plain_free": [c_void_p], "plain_steps": [c_void_p, c_int64],
              "plain_read": [c_void_p] * 5},
    "comm": {"talk_make": [c_void_p, c_double], "talk_free": [c_void_p], "talk_steps": [c_void_p, c_int64],
             "talk_read": [c_void_p] * 5, "talk_heard": [c_void_p] * 5},
    "locate": {"field_weigh": [c_void_p, c_int64, c_void_p, c_void_p, c_int64, c_void_p, c_int64, c_int64, c_double, c_double,
                               c_double, c_void_p],
               "cast_rays": [c_void_p, c_int64, c_int64, c_void_p, c_void_p, c_int64, c_void_p, c_int64, c_double, c_void_p]},
}


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
def library(source: Path = PLAIN) -> ctypes.CDLL:
    """A source, compiled for this machine; a second call, or a second run, finds what the first one made."""
    found = compiler()
    if found is None:
        raise FormigaError("there is no g++; the bench needs it for its C++ twin.")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "formiga"
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError:  # a home that cannot be written to
        home = Path(tempfile.mkdtemp(prefix="formiga-"))
    around = " ".join([*FLAGS, version() or "", cpu()]).encode()
    what = sha256(PLAIN.read_bytes() + source.read_bytes() + around).hexdigest()[:16]  # some sources include PLAIN
    made = home / f"{source.stem}-{what}.so"
    if not made.exists():
        with tempfile.TemporaryDirectory(dir=home) as folder:
            fresh = Path(folder) / made.name
            done = subprocess.run([found, *FLAGS, str(source), "-o", str(fresh)], capture_output=True, text=True)
            if done.returncode:
                raise FormigaError(f"g++ could not compile {source}:\n{done.stderr}")
            fresh.replace(made)  # whole, or not at all
    loaded = ctypes.CDLL(str(made))
    for name, given in _FUNCTIONS[source.stem].items():
        function = getattr(loaded, name)
        function.argtypes, function.restype = given, c_void_p if name.endswith("make") else None
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
        whole, real, arrays = _body(simulation)
        model, state, group = simulation.model, simulation.state, simulation.world.groups[0]
        sensor, robot, mind = group.sensors[0], group.robot, group.controller
        ahead = sensor.beams.direction
        whole |= {"beams": len(ahead), "table_size": len(sensor.values), "channel": channel(f"{group.name}/{sensor.name}"),
                  "network": type(mind) is Perceptron}
        eyes = ("mount", "reach", "gain", "offset", "share")
        real |= {"noise": sensor.noise[-1], "full": sensor.full, **{name: getattr(sensor, name) for name in eyes}}
        weight = np.zeros(len(ahead))
        if isinstance(mind, TurnAway):
            real |= {"threshold": mind.threshold, "behind": cos(mind.ahead), "slow": mind.back * robot.top_speed}
        elif isinstance(mind, Braitenberg):
            real |= {"bias": mind.bias}
            weight = mind.gain * 0.5 * (1.0 + ahead[:, 0]) / mind.full
        elif type(mind) is Perceptron:
            weight = mind.express(state.genotypes[group.name], len(ahead), model.dt)
        arrays |= {"direction": ahead, "table": sensor.values, "weight": weight}
        self._make("plain", PLAIN, simulation, whole | real, arrays)

    def _make(self, prefix: str, source: Path, simulation: Simulation, numbers: dict[str, Any], arrays: dict[str, Any],
              *more: float) -> None:
        # PlainWorld points into these, so they live as long as the twin.
        self._kept: dict[str, Any] = {name: np.ascontiguousarray(array, np.float64) for name, array in arrays.items()}
        self._kept["key"] = simulation.state.key.copy()
        pointers = {name: array.ctypes.data_as(POINTER(c_uint64 if name == "key" else c_double))
                    for name, array in self._kept.items()}
        self._shape = simulation.state.heading.shape
        self._library, self._prefix = library(source), prefix
        self._made = self._call("make", ctypes.byref(PlainWorld(**numbers, **pointers)), *more)

    def _call(self, name: str, *given: Any) -> Any:
        return getattr(self._library, f"{self._prefix}_{name}")(*given)

    def steps(self, count: int) -> None:
        """So many control periods of every world; of a network, world after world."""
        self._call("steps", self._made, count)

    def read(self) -> tuple[Any, Any, Any, Any]:
        """Positions (W, N, 2), headings (W, N), crashes (W, N), and the fitness (W,) summed over the steps."""
        position, heading = np.empty((*self._shape, 2)), np.empty(self._shape)
        crashes, total = np.empty(self._shape, np.int64), np.empty(self._shape[0])
        self._call("read", self._made, *(array.ctypes.data for array in (position, heading, crashes, total)))
        return position, heading, crashes, total

    def __del__(self) -> None:
        if self._made:
            self._call("free", self._made)


class Talking(Plain):
    """The C++ twin of a simulation of one group that talks over a <range_and_bearing> and drives by <spread>."""

    def __init__(self, simulation: Simulation) -> None:
        whole, real, arrays = _body(simulation)
        group = simulation.world.groups[0]
        assert group.links[0].most == MOST
        self._make("talk", COMM, simulation, whole | real | {"reach": group.links[0].range}, arrays, group.controller.gain)

    def heard(self) -> tuple[Any, Any, Any, Any]:
        """Counts (W, N) of messages heard and dropped since the start; the last messages (W, N, MOST, 3) as range, bearing and
        number, and their senders (W, N, MOST), -1 for none."""
        heard, dropped = np.empty(self._shape, np.int64), np.empty(self._shape, np.int64)
        message, sender = np.empty((*self._shape, MOST, 3)), np.empty((*self._shape, MOST), np.int64)
        self._call("heard", self._made, *(array.ctypes.data for array in (heard, dropped, message, sender)))
        return heard, dropped, message, sender


def _body(simulation: Simulation) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """What all twins need of a simulation: whole numbers, real numbers, arrays."""
    model, state, group = simulation.model, simulation.state, simulation.world.groups[0]
    names = ("radius", "clearance", "wheel_base", "wheel_radius", "top_speed")
    segments, discs = model.fixed.segments, model.fixed.discs
    return ({"worlds": state.worlds, "robots": group.count, "segments": len(segments), "discs": len(discs)},
            {"dt": model.dt, **model.region._asdict(), **{name: getattr(group.robot, name) for name in names}},
            {"position": state.position, "heading": state.heading, "segment": segments, "disc": discs})
