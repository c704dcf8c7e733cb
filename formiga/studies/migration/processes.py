"""The Remote at work, in a process of its own: on the simulator by UDP, and on the robot through the Gate and a serial line.

    course = on_simulator(range(20), seconds)          # one Remote, one batch of 20 worlds
    course = on_robot(Trial(seed=3), seconds)          # Remote, Gate, and the robot in this process

Everything goes in turns, in simulated time, so a run takes as long as it must and no longer, and the same seeds give the same
bits. The files of the Remote are copied into an empty folder, and Python runs them without its site packages, so formiga
cannot be imported there.
"""

from __future__ import annotations

import hashlib
import os
import select
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import copy
from typing import Any

import numpy as np

from formiga.errors import FormigaError
from formiga.link import Program
from formiga.link.clients import FOLDER
from formiga.loop import Simulation
from formiga.noise import channel, stream, unit, world_key
from formiga.state import Floats
from formiga.studies import harness
from formiga.studies.migration.programs import gate

PROGRAMS = Path(gate.__file__).parent
REMOTE, CLIENT, MAP = PROGRAMS / "remote.py", Path(FOLDER) / "formiga_remote.py", PROGRAMS / "map.xml"
ALONE = (sys.executable, "-E", "-s", "-S")   # Python without site packages, and without PYTHONPATH
PATIENCE = 20.0                              # s on the clock for a program to begin, or to answer in a turn
PERIOD = 0.04                                # s between two turns
STOP = 0.2                                   # s without an answer, after which the robot stands  [digest: ours]
STEPS = 4                                    # of the second plant, 10 ms each, in a turn
POSE = slice(3, 6)                           # columns of the Remote's log
BELIEF, EYE, AT, CLOCK = slice(6, 12), slice(12, 15), 15, 2


class NoProgram(FormigaError):
    """One of the programs of the study did not begin, or ended."""


@dataclass(frozen=True)
class Trial:
    """One run on the robot: what happens to its messages."""

    seed: int = 0
    lost: float = 0.0          # share of datagrams between Gate and Remote, each way
    doubled: float = 0.0       # share of questions that are sent twice
    late: float = 0.0          # share of answers that come after their turn
    dropped: float = 0.01      # share of frames on the serial line, each way
    garbled: float = 0.01      # the same, of which a bit is wrong
    jitter: int = 1            # steps of 10 ms by which a turn may begin earlier or later
    kill: float | None = None  # s after which the Remote is killed
    contact: str = "reposition"  # impulse: the robot has inertia, and its wheels slip


@dataclass
class Course:
    """What came of one run of one robot."""

    seed: int
    clock: Floats              # (T,) s, of the robot
    truth: Floats              # (T, 3) where it was
    log: Floats                # (K, 16) what the Remote wrote down: `world robot clock`, POSE, BELIEF, EYE, AT
    sha: str                   # of the file that drove
    places: int                # of the course
    said: str = ""             # by the Gate, at the end
    orders: Floats = field(default_factory=lambda: np.zeros((0, 3)))  # (T, 3) rim speeds

    @property
    def errors(self) -> tuple[Floats, Floats]:
        """Of what the Remote believed (K, 3), and its covariances (K, 3, 3)."""
        at = np.rint(np.interp(self.log[:, CLOCK], self.clock, np.arange(len(self.clock)))).astype(int)
        error = self.log[:, POSE] - self.truth[at]
        error[:, 2] = np.arctan2(np.sin(error[:, 2]), np.cos(error[:, 2]))
        xx, xy, xh, yy, yh, hh = self.log[:, BELIEF].T
        return error, np.stack([xx, xy, xh, xy, yy, yh, xh, yh, hh], axis=-1).reshape(-1, 3, 3)

    @property
    def completed(self) -> bool:
        """Whether the Remote came to the end of its course, as it believes."""
        return bool(len(self.log) and self.log[-1, AT] == self.places)


def hash_of(file: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def remote_module() -> Any:
    """The Remote as a module, to look at its parts; no process begins."""
    from formiga.studies.migration.programs import remote as module

    return module


# -- programs -------------------------------------------------------------------------------------------------------------
@contextmanager
def program(name: str, *command: str) -> Iterator[Program]:
    """A guarded child process, which is ended with the block."""
    started = Program(name, [*ALONE, *command])
    try:
        yield started
    finally:
        started.end(0.5)


def said(started: Program, words: str, name: str) -> str:
    """The line that begins with these words, when the program has printed it; NoProgram if it ends before, or is silent."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        started.listen()
        for line in started.log().splitlines(keepends=True):
            if line.startswith(words) and line.endswith("\n"):
                return line.strip()
        if (how := started.ended()) is not None:
            raise NoProgram(f"{name} ended before it said '{words}' ({how}).")
        time.sleep(0.002)
    raise NoProgram(f"{name} did not say '{words}' within {PATIENCE:g} s.")


@contextmanager
def remote(port: int) -> Iterator[tuple[Program, Path]]:
    """The Remote, in an empty folder with its client and its map; and its log."""
    with tempfile.TemporaryDirectory(prefix="migration-") as place:
        folder = Path(place)
        for file in (REMOTE, CLIENT, MAP):
            copy(file, folder)
        log = folder / "run.csv"
        with program("the Remote", str(folder / REMOTE.name), "--udp", f"127.0.0.1:{port}", "--log", str(log)) as started:
            yield started, log


def read_log(file: Path) -> Floats:
    """The Remote's log (K, 16); a last line that it could not finish is left out."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)[1:]
    rows = [[float(each) for each in line.split(",")] for line in lines if line.endswith("\n")]
    return np.array(rows).reshape(len(rows), AT + 1)


def places() -> int:
    """How many places the course has, in all laps."""
    return len(remote_module().Map(MAP).course)


# -- on the simulator -----------------------------------------------------------------------------------------------------
def on_simulator(seed: int, worlds: int, seconds: float) -> list[Course]:
    """The Remote drives a batch of worlds of `remote.xml` by formiga's own UDP protocol."""
    world = harness.world("migration", {"port": 0}, "remote.xml")
    group = world.groups[0]
    truth, clock = [], []
    with Simulation(world, seed, worlds) as lab:
        assert lab.programs is not None
        driver = lab.programs.driver(group, worlds, world.dt, lab.readings[group.name])
        if not driver.open() or driver.address is None:
            raise NoProgram("the simulator could not open a port for the Remote: " + " ".join(lab.programs.troubles()))
        with remote(driver.address[1]) as (started, log):
            sha = said(started, "remote.py sha256", "the Remote").split()[-1]
            if not driver.ready(PATIENCE):
                raise NoProgram("the Remote did not come to the simulator's port.")
            for step in range(round(seconds / world.dt)):
                truth.append(np.column_stack([lab.state.position[:, 0], lab.state.heading[:, 0]]))
                clock.append(step * world.dt)
                lab.step()
            told = [line for line in lab.log.told if "drives now" not in line and "waits for" not in line]
            if told:
                finish(started, 0.5)
                how = started.ended()
                raise NoProgram(f"{told[0]} {last_line(started)}" if how is None else f"the Remote ended ({how}).")
            lab.close()
            finish(started)
            rows = read_log(log)
    return [Course(seed, np.array(clock), np.array(truth)[:, w], rows[rows[:, 0] == w], sha, places()) for w in range(worlds)]


def finish(started: Program, patience: float = PATIENCE) -> None:
    """Wait for a program to end by itself."""
    until = time.monotonic() + patience
    while started.ended() is None and time.monotonic() < until:
        time.sleep(0.002)


def last_line(started: Program) -> str:
    """The last that a program printed."""
    finish(started, 0.5)
    started.listen()
    return (started.log().splitlines() or [""])[-1]


# -- on the robot ---------------------------------------------------------------------------------------------------------
class Serial:
    """The robot's end of the serial line. It goes wrong by the seed of the trial and the number of the turn."""

    def __init__(self, trial: Trial) -> None:
        import tty  # of POSIX alone

        self.end, self._other = os.openpty()
        tty.setraw(self._other)
        self.name, self.trial, self.line = os.ttyname(self._other), trial, gate.Line()
        self._ready: list[Any] = []

    def chance(self, number: int, use: str) -> float:
        """A number between 0 and 1 for one use in one turn."""
        return float(unit(stream(world_key(self.trial.seed, 0), 0, number, channel("serial", use)), 0))

    def turn(self, number: int, body: bytes, relay: Program) -> Any:
        """Send what was measured; the rim speeds that come back, or None."""
        if self.chance(number, "drop out") < self.trial.dropped:
            return None                            # the Gate never sees it, and so does not answer
        self.send(self.damaged(gate.framed(b"S", number, body), number, "out"))
        answer = self.receive(relay)
        while answer is not None and 0 < answer[1] < number:      # of an earlier turn: noise on the line made a frame too many
            answer = self.receive(relay)
        if self.chance(number, "drop in") < self.trial.dropped or answer is None:
            return None
        if self.chance(number, "in") < self.trial.garbled:
            frame = self.damaged(gate.framed(*answer), number, "in", always=True)
            answer = next(iter(gate.Line().take(frame)), None)
        if answer is None or answer[0] != b"R" or answer[1] != number:
            return None
        return gate.REFERENCE.unpack(answer[2])

    def damaged(self, frame: bytes, number: int, way: str, always: bool = False) -> bytes:
        """A frame of which a bit may be wrong; not of its delimiters."""
        if not always and self.chance(number, way) >= self.trial.garbled:
            return frame
        at = 1 + int(self.chance(number, "which " + way) * (len(frame) - 2))
        wrong = frame[at] ^ 0x04                   # makes no delimiter of a byte between them
        return frame if wrong == gate.DELIMITER else frame[:at] + bytes((wrong,)) + frame[at + 1:]

    def send(self, data: bytes) -> None:
        """All of it."""
        while data:
            data = data[os.write(self.end, data):]

    def receive(self, relay: Program) -> Any:
        """The next frame; None for a garbled one. NoProgram if the Gate is gone."""
        until = time.monotonic() + PATIENCE
        while not self._ready:
            if select.select([self.end], [], [], 0.2)[0]:
                self._ready += self.line.take(os.read(self.end, 4096))
            elif (how := relay.ended()) is not None:
                raise NoProgram(f"the Gate ended ({how}).")
            if not self._ready and time.monotonic() > until:
                raise NoProgram(f"the Gate did not answer for {PATIENCE:g} s.")
        return self._ready.pop(0)

    def close(self) -> None:
        """Both ends."""
        os.close(self.end)
        os.close(self._other)


class Robot:
    """The second plant, and the small controller on it that keeps its references, and stops without new ones."""

    def __init__(self, trial: Trial) -> None:
        world = harness.world("migration", {"contact": trial.contact}, "plant.xml")
        group = replace(world.groups[0], estimators=(), controller=None)
        self.lab = Simulation(replace(world, groups=(group,)), trial.seed)
        self.dt, self.group, self.heard = world.dt, group.name, 0.0
        self.reference = np.zeros(3)
        self.clock: list[float] = []
        self.truth: list[Floats] = []
        self.orders: list[Floats] = []

    @property
    def now(self) -> float:
        """s."""
        return float(self.lab.state.step[0]) * self.dt

    def body(self) -> bytes:
        """What it measures, as the bytes of a frame: whole ticks, and sums of the converter's samples."""
        readings = self.lab.readings[self.group]
        ticks = np.rint(readings["encoders"][0, 0] * (gate.TICKS / (2.0 * np.pi))).astype(int)
        sums = np.rint(readings["infrared"][0, 0] / gate.VOLTS).astype(int)
        return gate.SENSORS.pack(self.now, *ticks.tolist(), *sums.tolist())

    def eye(self) -> bytes:
        """What the camera over the arena sees, as a datagram."""
        return gate.EYE.pack(b"FORMIGAV", *self.lab.readings[self.group]["camera"][0, 0].tolist())

    def hear(self, rims: Any) -> None:
        """New references; without any the last ones count, and after STOP none."""
        if rims is not None:
            self.reference, self.heard = np.array(rims), self.now

    def step(self) -> None:
        """10 ms."""
        self.clock.append(self.now)
        self.truth.append(np.array([*self.lab.state.position[0, 0], self.lab.state.heading[0, 0]]))
        if self.now - self.heard >= STOP - 1e-9:
            self.reference = np.zeros(3)
        self.orders.append(self.reference.copy())
        self.lab.step({self.group: self.reference[None, None]})


def on_robot(trial: Trial, seconds: float) -> Course:
    """The Remote drives the second plant through the Gate."""
    robot, serial, turns = Robot(trial), Serial(trial), round(seconds / PERIOD)
    jitter = [int((2 * trial.jitter + 1) * serial.chance(k, "jitter")) - trial.jitter for k in range(turns + 1)]
    starts = [0, *(STEPS * k + jitter[k] for k in range(1, turns + 1))]      # of turns, in steps of 10 ms
    with ExitStack() as stack:
        stack.callback(serial.close)
        stack.callback(robot.lab.close)
        eye = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        chances = [word for name in ("lost", "doubled", "late") for word in (f"--{name}", str(getattr(trial, name)))]
        relay = stack.enter_context(program("the Gate", str(PROGRAMS / "gate.py"), "--serial", serial.name, *chances,
                                            "--seed", str(trial.seed), "--wait", str(0.5 * PATIENCE)))
        port, vision = (int(each) for each in said(relay, "udp", "the Gate").split()[1::2])
        driver, log = stack.enter_context(remote(port))
        sha = said(driver, "remote.py sha256", "the Remote").split()[-1]
        said(relay, "a program at", "the Gate")
        alive = True
        for number in range(turns):
            eye.sendto(robot.eye(), ("127.0.0.1", vision))
            robot.hear(serial.turn(number, robot.body(), relay))
            for _ in range(starts[number + 1] - starts[number]):
                robot.step()
                if alive and trial.kill is not None and robot.now >= trial.kill - 1e-9:
                    os.kill(driver.pid, signal.SIGKILL)
                    alive = False
        serial.send(gate.framed(b"E", turns))
        finish(relay)
        finish(driver)
        relay.listen()
        over = next((line for line in relay.log().splitlines() if line.startswith("over:")), "")
        return Course(trial.seed, np.array(robot.clock), np.array(robot.truth), read_log(log), sha, places(), over,
                      np.array(robot.orders))


__all__ = ["Course", "NoProgram", "Robot", "Serial", "Trial", "hash_of", "on_robot", "on_simulator"]
