"""The two memories between a team and the field: what the camera saw, and what the robots shall do. [Klancar et al. 2003]

Memory 1 (SIGHT) is written by the camera's side, a simulator or the vision program of real robots, and read by the team.
Memory 2 (ORDERS) is written by the team. A team program never knows which of the two it plays in. memory.h is the same
in C; docs/tutorials/soccer-teams.md has the table. Little-endian, float64, nothing but what stands here.

A memory is a file that is mapped. Ours are memfds, which have no name and go with the last process that holds them: a killed
simulator leaves nothing behind, a team that ends removes nothing, and Python's resource tracker never hears of them. They are
sealed: a team that shrinks its memory would kill the simulator with a bus error, and one that writes on the picture would
cheat; the kernel refuses both. A vision program without memfds maps two plain files instead (`Feed(folder=...)`).
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import platform
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from math import isfinite, pi, remainder
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from formiga.errors import FormigaError
from formiga.soccer.talk import Call, Foul, Game, Sight

MAGIC, VERSION = b"FORMIGA\0", 1
SIGHT_KIND, ORDERS_KIND = 1, 2
MOST = 11                      # robots in a team, in the layout; `players` says how many there are

HEAD = [
    ("magic", "S8"),           # FORMIGA and a zero
    ("version", "<u4"),        # 1
    ("kind", "<u4"),           # 1: sight, 2: orders
    ("size", "<u4"),           # bytes, of the whole memory
    ("sequence", "<u4"),       # odd while somebody writes; counts on by two for each writing
    ("players", "<u4"),        # in each team
    ("state", "<u4"),          # sight: 1 while there is a game, 0 when the team may go. orders: 1 once a team has opened it
    ("frame", "<i8"),          # sight: the picture's number, -1 before the first. orders: that of the picture it answers
    ("time", "<f8"),           # s, when that picture was taken
]
PITCH = [(name, "<f8") for name in (
    "length", "width", "goal_width", "goal_depth", "corner", "circle", "area_width", "area_depth", "penalty_spot",
    "side", "wheel_base", "top_speed", "ball_radius", "period",
)]
SIGHT = np.dtype([
    *HEAD,
    *PITCH,                            # m, m/s at the rim, s between pictures
    ("blue_attacks", "<i4"),           # 1: to the right (+x), -1: to the left
    ("half", "<i4"),                   # 0 before the start
    ("score", "<i4", (2,)),            # blue, yellow
    ("clock", "<f8"),                  # s played in this half
    ("call", "<i4"),                   # number of the referee's last call; what it was follows
    ("foul", "<i4"),                   # talk.Foul
    ("call_team", "<i4"),              # 0 blue, 1 yellow, 2 nobody
    ("quadrant", "<i4"),
    ("call_half", "<i4"),
    ("spare", "<i4"),
    ("call_time", "<f8"),
    ("ball", "<f8", (4,)),             # x y vx vy
    ("robots", "<f8", (2, MOST, 6)),   # blue, yellow: x y heading vx vy spin
    ("present", "<u1", (2, MOST)),     # 0: switched off, or not seen
    ("spare2", "<u1", (2,)),
])
ORDERS = np.dtype([
    *HEAD,
    ("speeds", "<f8", (MOST, 2)),      # v (m/s), omega (rad/s, counter-clockwise)
    ("placed_for", "<i4"),             # number of the call that the places answer; -1: none
    ("spare", "<i4"),
    ("places", "<f8", (MOST, 3)),      # x y heading wanted after a call; NaN: left open
])
SEQUENCE = 20 // 4                     # the sequence is this 32-bit word; the ones before it never change
BODY = 24                              # a writing copies what follows the sequence
DAMAGE = ("head", "frame", "numbers")  # kinds of garbage that `OrderMemory.take` can tell


class TeamError(FormigaError):
    """A team that cannot be found or started, or a memory that cannot be made, opened or understood."""


# -- waiting ----------------------------------------------------------------------------------------------------------
class _Span(ctypes.Structure):
    """struct timespec."""

    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


_FUTEX = {"x86_64": 202, "aarch64": 98, "riscv64": 98}.get(platform.machine()) if sys.platform == "linux" else None
_WAIT, _WAKE, _ALL = 0, 1, 2**31 - 1
_TOUCHY = platform.machine() != "x86_64"
if _FUTEX is not None:
    _syscall = ctypes.CDLL(None, use_errno=True).syscall
    _syscall.argtypes = [ctypes.c_long, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p,
                         ctypes.c_uint32]
_gate = threading.Lock()


def _fence() -> None:
    """Nothing written or read before this is seen after it.

    x86 keeps the order by itself. Elsewhere a lock's release followed by its acquisition orders what stands on both sides.
    """
    if _TOUCHY:
        for _ in range(2):
            with _gate:
                pass


class Memory:
    """One memory, mapped, with a private copy of it in `record`: a writer fills the copy and writes, a reader reads it anew."""

    LAYOUT: np.dtype[Any]
    KIND: int

    def __init__(self, file: int, writable: bool) -> None:
        self.size = self.LAYOUT.itemsize
        if os.fstat(file).st_size < self.size:
            raise TeamError(f"it has {os.fstat(file).st_size} bytes; a memory of this kind has {self.size}.")
        self._map = mmap.mmap(file, self.size, prot=mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0))
        self._bytes = memoryview(self._map)
        self._words = self._bytes.cast("I") if sys.byteorder == "little" else _refuse_big_endian()
        self._address = np.frombuffer(self._map, np.uint8).ctypes.data + 4 * SEQUENCE
        self._copy = bytearray(self.size)
        self._copy_bytes = memoryview(self._copy)
        self.record = np.frombuffer(self._copy, self.LAYOUT)[0:1].reshape(())
        self._head = self.head()

    @classmethod
    def head(cls) -> bytes:
        """The first 20 bytes, which never change."""
        first = np.zeros((), cls.LAYOUT)
        first["magic"], first["version"], first["kind"], first["size"] = MAGIC, VERSION, cls.KIND, cls.LAYOUT.itemsize
        return first.tobytes()[: 4 * SEQUENCE]

    @property
    def sequence(self) -> int:
        """As it stands in the memory now; odd while somebody writes."""
        return self._words[SEQUENCE]

    def begin(self) -> None:
        """Write the head of a new memory."""
        self._bytes[: 4 * SEQUENCE] = self._copy_bytes[: 4 * SEQUENCE] = self._head

    def write(self) -> None:
        """Put the copy into the memory and wake who waits for it. One writer at a time."""
        words, number = self._words, self._words[SEQUENCE] | 1
        words[SEQUENCE] = number
        _fence()
        self._bytes[BODY:] = self._copy_bytes[BODY:]
        _fence()
        words[SEQUENCE] = (number + 1) & 0xFFFFFFFF
        if _FUTEX is not None:
            _syscall(_FUTEX, self._address, _WAKE, _ALL, None, None, 0)

    def read(self, tries: int = 64) -> int | None:
        """Copy the memory; the sequence of what was read, or None if every try met a writer at work."""
        words, source, target = self._words, self._bytes, self._copy_bytes
        for attempt in range(tries):
            before = words[SEQUENCE]
            if not before & 1:
                _fence()
                target[:] = source
                _fence()
                if words[SEQUENCE] == before:
                    return before
            if attempt > 8:  # the writer was stopped in the middle: let it have the core
                time.sleep(20e-6)
        return None

    def wait(self, sequence: int, seconds: float) -> None:
        """Sleep until the memory's sequence is no longer this one, at most so long. A writer that rings nobody is found too."""
        if self._words[SEQUENCE] != sequence or seconds <= 0.0:
            return
        if _FUTEX is not None:
            span = _Span(int(seconds), int(seconds % 1.0 * 1e9))
            _syscall(_FUTEX, self._address, _WAIT, sequence, ctypes.byref(span), None, 0)
            return
        end, nap = time.monotonic() + seconds, 20e-6
        while self._words[SEQUENCE] == sequence and time.monotonic() < end:
            time.sleep(nap)
            nap = min(1.5 * nap, 1e-3)

    def close(self) -> None:
        """Unmap it."""
        self._words.release()
        self._bytes.release()
        self._map.close()


def _refuse_big_endian() -> Any:
    raise TeamError("the memories are little-endian; this computer is not.")


# -- memory 1 ---------------------------------------------------------------------------------------------------------
class Pitch(NamedTuple):
    """The field and the robots in numbers: m, m/s, s. The small league's, unless told otherwise."""

    length: float = 1.5
    width: float = 1.3
    goal_width: float = 0.4
    goal_depth: float = 0.15
    corner: float = 0.07
    circle: float = 0.2
    area_width: float = 0.7
    area_depth: float = 0.15
    penalty_spot: float = 0.375
    side: float = 0.075        # of a robot
    wheel_base: float = 0.075
    top_speed: float = 1.32    # of a wheel's rim
    ball_radius: float = 0.02135
    period: float = 0.033      # between pictures


class SightMemory(Memory):
    """What the camera saw, and how the game stands."""

    LAYOUT, KIND = SIGHT, SIGHT_KIND

    def set(self, players: int, pitch: Pitch) -> None:
        """What does not change during a game."""
        self.record["players"], self.record["state"], self.record["frame"] = players, 1, -1
        self.record["blue_attacks"] = 1
        for name, value in pitch._asdict().items():
            self.record[name] = value

    def put(self, sight: Sight, game: Game, blue_attacks: int) -> None:
        """A new picture."""
        record, players = self.record, sight.robots.shape[1]
        record["frame"], record["time"] = sight.frame, sight.time
        record["ball"] = sight.ball
        record["robots"][:, :players] = sight.robots
        record["present"][:, :players] = sight.present
        record["blue_attacks"], record["half"], record["score"] = blue_attacks, game.half, game.score
        record["clock"], record["call"] = game.clock, game.frame
        call = game.call
        record["foul"], record["call_team"], record["quadrant"] = call.foul, call.team, call.quadrant
        record["call_half"], record["call_time"] = call.half, call.time
        self.write()


# -- memory 2 ---------------------------------------------------------------------------------------------------------
class Answer(NamedTuple):
    """What a team wrote, as far as it makes sense."""

    frame: int
    speeds: list[tuple[float, float]]               # (P) v, omega; zero where the team wrote no number
    placed_for: int                                 # number of the call that the places answer
    places: list[list[float]]                       # (MOST) x y heading, not looked at yet: see `places_in`
    damage: str                                     # what was wrong with it: "" or one of DAMAGE


class OrderMemory(Memory):
    """What a team wants its robots to do."""

    LAYOUT, KIND = ORDERS, ORDERS_KIND

    def set(self, players: int) -> None:
        """Before the team has come."""
        self.record["players"], self.record["state"], self.record["frame"], self.record["placed_for"] = players, 0, -1, -1
        self.record["places"] = np.nan

    def take(self, players: int, newest: int) -> Answer | None:
        """Read it and believe nothing: a team can write anything at any time. None: it is being written just now.

        newest: number of the last picture that the team was shown.
        """
        if self.read(tries=8) is None:
            return None
        if self._copy[: 4 * SEQUENCE] != self._head:
            return Answer(-1, [(0.0, 0.0)] * players, -1, [], "head")
        record = self.record
        frame = int(record["frame"])
        if not -1 <= frame <= newest:
            return Answer(-1, [(0.0, 0.0)] * players, -1, [], "frame")
        speeds, damage = [], ""
        for v, omega in record["speeds"][:players].tolist():
            if not (isfinite(v) and isfinite(omega)):
                v, omega, damage = 0.0, 0.0, "numbers"
            speeds.append((v, omega))
        placed_for = int(record["placed_for"])
        return Answer(frame, speeds, placed_for, record["places"].tolist() if placed_for >= 0 else [], damage)


def places_in(places: list[list[float]], players: int, far: float = 10.0) -> Any:
    """Places (P, 3) that a team asked for; NaN for a robot whose place is left open, or no place at all."""
    asked = np.full((players, 3), np.nan)
    for i, (x, y, heading) in enumerate(places[:players]):
        if abs(x) <= far and abs(y) <= far and isfinite(heading):  # a NaN is not <= anything
            asked[i] = x, y, remainder(heading, 2 * pi)
    return asked


# -- making and opening -----------------------------------------------------------------------------------------------
_SEALS = {name: getattr(fcntl, name, number) for name, number in
          (("F_ADD_SEALS", 1033), ("F_SEAL_SEAL", 1), ("F_SEAL_SHRINK", 2), ("F_SEAL_GROW", 4))}
_SEAL_FUTURE_WRITE = 16  # since Linux 5.1: who maps it from now on may only read


def make(kind: type[Memory], path: Path | None, name: str) -> tuple[Any, int]:
    """A new memory and its file: a sealed memfd, or a plain file at `path`."""
    try:
        if path is not None:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        elif hasattr(os, "memfd_create"):
            file = os.memfd_create(f"formiga-{name}", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        else:
            raise TeamError("this system has no memfd_create; give Feed a folder for plain files instead.")
        os.ftruncate(file, kind.LAYOUT.itemsize)
        memory = kind(file, writable=True)
    except OSError as wrong:
        raise TeamError(f"{path or name}: no memory could be made there ({wrong.strerror}).") from wrong
    memory.begin()
    if path is None:
        seals = _SEALS["F_SEAL_SHRINK"] | _SEALS["F_SEAL_GROW"]
        if kind is SightMemory:
            with suppress(OSError):  # an older kernel: a team could write on its own picture, and fool itself
                fcntl.fcntl(file, _SEALS["F_ADD_SEALS"], _SEAL_FUTURE_WRITE)
        fcntl.fcntl(file, _SEALS["F_ADD_SEALS"], seals | _SEALS["F_SEAL_SEAL"])
    return memory, file


def open_memory(kind: type[Memory], path: str) -> Any:
    """The memory that somebody else made, for reading (sight) or writing (orders)."""
    writable = kind is OrderMemory
    try:
        file = os.open(path, os.O_RDWR if writable else os.O_RDONLY)
    except OSError as wrong:
        raise TeamError(f"{path}: cannot be opened as a memory ({wrong.strerror}).") from wrong
    try:
        memory = kind(file, writable)
    except (TeamError, OSError, ValueError) as wrong:
        raise TeamError(f"{path}: {wrong}") from wrong
    finally:
        os.close(file)
    found, expected = bytes(memory._bytes[: 4 * SEQUENCE]), kind.head()
    if found != expected:
        is_ours = found[:8] == MAGIC
        version, what, size = (int.from_bytes(found[k : k + 4], "little") for k in (8, 12, 16))
        raise TeamError(f"{path}: " + (f"this memory has version {version}, kind {what} and {size} bytes; expected are "
                                          f"version {VERSION}, kind {kind.KIND} and {kind.LAYOUT.itemsize} bytes."
                                          if is_ours else "this is no memory of formiga (it does not begin with FORMIGA)."))
    return memory


# -- the camera's side ------------------------------------------------------------------------------------------------
NO_CALL = Call(Foul.GAME_ON, 2, 0, 1, 0.0)
NO_GAME = Game((0, 0), 1, 0.0, NO_CALL, 0)


class Feed:
    """Both memories of one team, seen from the camera and the radio: a simulator's side, or that of a vision program.

        with Feed(players=3, folder="/dev/shm/vision") as feed:      # python my_team.py --memory /dev/shm/vision/sight ...
            for sight in recorded:
                feed.show(sight)
                speeds = feed.answer(sight.frame, wait=0.1)

    A team cannot tell this from a match, so a recorded game, or real robots, drive the same program.
    """

    def __init__(self, players: int = 3, pitch: Pitch = Pitch(), *, folder: str | os.PathLike[str] | None = None,  # noqa: B008
                 name: str = "team") -> None:
        if not 1 <= players <= MOST:
            raise TeamError(f"{players} players: a team has 1 to {MOST}.")
        places = (None, None) if folder is None else (Path(folder) / "sight", Path(folder) / f"orders-{name}")
        self.players, self.newest, self.blue_attacks = players, -1, 1
        self._named = [place for place in places if place is not None]
        self.closed = False
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
        self.sight, sight_file = make(SightMemory, places[0], f"{name}-sight")
        try:
            self.orders, orders_file = make(OrderMemory, places[1], f"{name}-orders")
        except TeamError:
            os.close(sight_file)
            raise
        self.files = (sight_file, orders_file)
        self.sight.set(players, pitch)
        self.sight.write()
        self.orders.set(players)
        self.orders.write()

    @property
    def paths(self) -> list[str]:
        """What a team program opens: for another process, inherited (`pass_fds`) or by their names."""
        return [str(place) for place in self._named] or [f"/dev/fd/{file}" for file in self.files]

    def show(self, sight: Sight, game: Game = NO_GAME) -> None:
        """A new picture. Never waits."""
        self.newest = max(self.newest, int(sight.frame))
        self.sight.put(sight, game, self.blue_attacks)

    @property
    def opened(self) -> bool:
        """Whether a team has opened its memories."""
        return self.orders.read() is not None and int(self.orders.record["state"]) == 1

    def take(self) -> Answer | None:
        """What the team's memory holds now; None while it is being written."""
        answer: Answer | None = self.orders.take(self.players, self.newest)
        return answer

    def answer(self, frame: int, wait: float) -> Answer | None:
        """The team's answer to a picture, or to a later one; None if there is none within `wait` seconds."""
        end = time.monotonic() + wait
        while True:
            sequence = self.orders.sequence
            answer = self.take() if not sequence & 1 else None
            if answer is not None and answer.frame >= frame:
                return answer
            left = end - time.monotonic()
            if left <= 0.0:
                return None
            self.orders.wait(sequence, min(left, 0.02))

    def play(self, sights: Iterable[Sight], wait: float = 1.0) -> list[Answer | None]:
        """Show recorded pictures one after the other, each as soon as the last one is answered; what the team answered."""
        answers = []
        for sight in sights:
            self.show(sight)
            answers.append(self.answer(sight.frame, wait))
        return answers

    def close(self) -> None:
        """Tell the team that it may go, and give the memories back."""
        if self.closed:
            return
        self.closed = True
        self.sight.record["state"] = 0
        self.sight.write()
        self.sight.close()
        self.orders.close()
        for file in self.files:
            os.close(file)
        for place in self._named:
            place.unlink(missing_ok=True)

    def __enter__(self) -> Feed:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


__all__ = ["Answer", "Feed", "MOST", "ORDERS", "OrderMemory", "Pitch", "SIGHT", "SightMemory", "TeamError", "open_memory",
           "places_in"]
