"""The programs outside that drive groups of one run: started when they are first asked, and ended with it, whatever happens.

    Programs       of a run, by group; nothing is started before a step needs it
    Driver         one group's program: its readings go out, its orders come back, checked

link/remote.py waits, watches and complains; turns.py says what is asked and answered.
"""

from __future__ import annotations

import os
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from formiga.control.orders import Orders
from formiga.control.remote import standing
from formiga.control.turns import FIRST_ORDER, NAME, Turns, turns_of
from formiga.link import Datagrams, Exchange, LinkError, Remote, Words
from formiga.link.sockets import LOOPBACK, written
from formiga.state import Floats
from formiga.world.elements import where
from formiga.world.model import Group, World

PATIENCE = 10.0        # s on the clock for the first answer of a program that was started
AGAIN = 30.0           # s on the clock until the same line is told again
RETRY = 1.0            # s on the clock until a port that was taken is tried again
WORDS = Words(refused="its answers are not used", idle="its robots stand still")
MOST = 100             # lines that wait to be taken


class Programs:
    """Of one run. They stay when the run goes on in an edited world, and when it starts again."""

    def __init__(self, world: World) -> None:
        self.commands: dict[str, tuple[str, ...]] = {
            group.name: group.controller.command for group in world.groups
            if group.outside and group.controller.command}
        self.drivers: dict[str, Driver] = {}
        self._lines: deque[str] = deque(maxlen=MOST)
        self._process = os.getpid()
        weakref.finalize(self, _close, self.drivers, self._process)

    def __reduce__(self) -> Any:
        return _unstarted, (self.commands,)   # a copy starts programs of its own, if it ever asks one

    def driver(self, group: Group, worlds: int, period: float, readings: dict[str, Any]) -> Driver:
        """The program of a group, which is started if it has none that fits its robots and readings."""
        known = self.drivers.get(group.name)
        if known is not None and known.given is readings and known.group is group:
            return known
        shapes = (worlds, period, group.controller, group.robot, group.links, group.count,
                  tuple((source.name, readings[source.name].shape, readings[source.name].dtype) for source in group.sources))
        if known is None or known.shapes != shapes:
            if known is not None:
                known.close()
                self._lines += known.troubles()
            known = Driver(group, turns_of(group, worlds, readings), period, self.commands.get(group.name, ()), shapes)
            self.drivers[group.name] = known
        known.given, known.group = readings, group
        return known

    def troubles(self) -> list[str]:
        """What went wrong, and which programs came and left, since this was last asked, a line each."""
        for driver in self.drivers.values():
            if driver.troubled:
                self._lines += driver.troubles()
        told = list(self._lines)
        self._lines.clear()
        return told

    def failures(self) -> dict[str, str]:
        """Why programs that were started here did not drive until now, by group."""
        return {name: why for name, driver in self.drivers.items() if (why := driver.failure())}

    def log(self, group: str) -> str:
        """The last 64 KiB that the program of a group printed."""
        return self.drivers[group].log() if group in self.drivers else ""

    def close(self) -> None:
        """Tell all that there are no more questions, and end those that we started."""
        _close(self.drivers, self._process)


class Driver:
    """The program of one group."""

    def __init__(self, group: Group, turns: Turns, period: float, command: tuple[str, ...], shapes: Any) -> None:
        self.group, self.turns, self.shapes = group, turns, shapes
        self.given: Any = None                     # the readings that these shapes are of, to know them again
        self._period, self._command, self._frame = period, command, -1
        self._worlds = shapes[0]
        self._notes: list[str] = []
        self._tried = -RETRY
        self._before: dict[str, float] = {}        # when each line was last told, s on the clock
        self._exchange: Exchange | None = None
        self._udp: Datagrams | None = None         # the same, if it is one
        self._remote: Remote | None = None
        self._asked: list[Any] = []
        self._only_drives, self._blank_from, self._blank = False, 0, b""   # all behind the drive, as long as it is not ordered
        self._orders = self._still = standing(group, self._worlds)

    def ask(self, steps: Any, crashed: Any, readings: dict[str, Any]) -> Orders:
        """One turn: what the robots read in all worlds, and what they shall do. Whatever a program does once it
        runs, this never raises."""
        remote = self._remote
        if remote is None:
            self.open()
            remote = self._remote
        if remote is None:
            return self._still
        clock, felt, *numbers = self._asked
        np.multiply(steps, self._period, out=clock)
        np.copyto(felt, crashed)
        for source, number in zip(self.group.sources, numbers, strict=True):
            np.copyto(number, readings[source.name])
        self._frame += 1
        remote.show(self._frame, self._frame * self._period)
        return self._still if remote.ask(self._frame, self.group.controller.wait) is None else self._orders

    def orders(self, view: Any) -> Orders:
        """The same from what a controller gets."""
        return self.ask(view.steps, view.crashed, view.readings)

    def open(self) -> bool:
        """Start its program, or open the port that one may come to, if that has not happened; whether it can be asked."""
        return self._remote is not None or self._start()

    def ready(self, wait: float, stop: Callable[[], bool] = lambda: False) -> bool:
        """Wait until a program is there that was started elsewhere, at most so many seconds."""
        until = time.monotonic() + wait
        while not stop():
            if self.open() and self._exchange is not None and self._exchange.opened:
                return True
            if self._command or self.group.controller.port is None or time.monotonic() >= until:
                return False
            time.sleep(0.01)
        return False

    @property
    def troubled(self) -> bool:
        """Whether `troubles` may have something to say."""
        return bool(self._notes) or self._udp is not None or (self._remote is not None and self._remote.troubled)

    def troubles(self) -> list[str]:
        """What went wrong since this was last asked, a line each, with the group in front."""
        lines, self._notes = self._notes, []
        if self._udp is not None:
            lines += self._udp.lines()
        if self._remote is not None:
            lines += [f"the program {line}" if not line.startswith("its program") else line for line in self._remote.troubles()
                      if self._is_new(line)]
        return [f"{self.group.name}: {line.rstrip('.')}." for line in lines]

    def failure(self) -> str:
        """Why the program started here did not drive until now, '' if it did; one that ends with its last answer did."""
        if not self._command or self._remote is None or self._remote.answered >= self._frame:
            return ""
        return self._remote.failure()

    @property
    def address(self) -> tuple[str, int] | None:
        """Where its program may come to; None: nowhere."""
        return self._udp.port.address if self._udp is not None and not self._udp.closed else None

    @property
    def pid(self) -> int:
        """Of its program, if it was started here and runs; else 0."""
        return self._remote.pid if self._remote is not None and self._remote.alive else 0

    def log(self) -> str:
        """The last that its program printed."""
        return self._remote.log() if self._remote is not None else ""

    def close(self) -> None:
        """End it."""
        if self._remote is not None:
            self._remote.close()

    # -- starting -----------------------------------------------------------------------------------------------------
    def _start(self) -> bool:
        """Start its program, or open the port that one may come to; false, and a line, if there is none, or the port is taken.

        LinkError if a command cannot be started, or its program ends before it is there.
        """
        group, mind = self.group, self.group.controller
        if self._command:
            self._exchange = Exchange(self.turns.question, self.turns.answer, name=group.name)
            self._remote = self._connected(self._exchange)
            try:
                self._remote.start(PATIENCE)
            except LinkError:
                self._remote.close()
                self._remote = None
                raise
            return True
        if time.monotonic() - self._tried < RETRY:
            return False
        self._tried = time.monotonic()
        if mind.port is None:
            self._note(f"{where(mind)}<remote> has no program, so its robots stand still. Start one with --program "
                       f"{group.name}=COMMAND (in Python: formiga.attach), or give a port for one that comes by itself")
            return False
        try:
            self._exchange = self._udp = Datagrams(self.turns.question, self.turns.answer, (LOOPBACK, mind.port),
                                                    name=group.name)
        except LinkError as wrong:
            self._note(f"{where(mind)}{wrong} Its robots stand still")
            return False
        self._remote = self._connected(self._exchange)
        self._note(f"waits for a program at UDP {written(self._udp.port.address)}")
        return True

    def _connected(self, exchange: Exchange) -> Remote:
        self._fill(exchange)
        return Remote(f"the program of '{self.group.name}'", self._command or None, exchange,
                      silence=self.group.controller.silence, patience=PATIENCE if self._command else 0.0, words=WORDS,
                      accept=self._accept)

    def _fill(self, exchange: Exchange) -> None:
        """What never changes in the question, and what an answer has before it is answered."""
        asked, answered, turns = exchange.asked.values, exchange.answered.values, self.turns
        asked["worlds"], asked["robots"], asked["period"] = self._worlds, self.group.count, self._period
        table = turns.table.encode()
        asked["group"], asked["words"], asked["table"] = self.group.name.encode()[:NAME], len(table), table
        self._asked = [asked[entry.field] for entry in turns.asked]
        for entry in turns.answered:
            answered[entry.field] = 0.0 if entry.field == "order drive" else np.nan
        answered["worlds"] = self._worlds
        first = turns.answered[0] if turns.answered else None
        self._only_drives = first is not None and first.field == "order drive" and not self.group.links
        self._blank_from = FIRST_ORDER + (first.size if first is not None else 0)
        self._blank = answered.tobytes()[self._blank_from:]
        exchange.asked.write()
        exchange.answered.write()

    def _note(self, line: str) -> None:
        if self._is_new(line):
            self._notes.append(line)

    def _is_new(self, line: str) -> bool:
        """Whether a line was not told lately: a run of hours in minutes must not fill a terminal."""
        now = time.monotonic()
        self._before = {each: told for each, told in self._before.items() if now - told < AGAIN}
        return self._before.setdefault(line, now) == now

    # -- answers ------------------------------------------------------------------------------------------------------
    def _accept(self, values: Any) -> tuple[str, str] | None:
        """Make orders of an answer; the first thing that is wrong with it."""
        if self._only_drives and values.tobytes()[self._blank_from:] == self._blank:
            drive = values["order drive"]
            if 0 not in np.isfinite(drive).tobytes():    # all of them; a third of the time of all()
                self._orders = Orders(drive)
                return None
        wrong: list[tuple[str, str]] = []
        given: dict[str, Any] = {}
        messages: dict[str, Floats] = {}
        for entry in self.turns.answered:
            numbers = values[entry.field]
            if entry.what == "message":
                messages[entry.name] = _heard(numbers, wrong)
            elif entry.name == "drive":
                given["drive"] = _driven(numbers, wrong)
            elif not np.isnan(numbers).all():
                low, high = self._range(entry.name)
                if (numbers < low).any() or (numbers > high).any():
                    wrong.append(("range", f"ordered {entry.name} beyond what they take; such an order is cut"))
                    numbers = np.clip(numbers, low, high)
                given[entry.name] = numbers
        self._orders = Orders(**given, message=messages or None)
        return wrong[0] if wrong else None

    def _range(self, name: str) -> tuple[Any, Any]:
        if name == "joints":
            return self.group.robot.joint_range
        return 0.0, 255.0 if name == "leds" else np.finfo(np.float64).max


def _driven(numbers: Floats, wrong: list[tuple[str, str]]) -> Floats:
    """A drive (W, n, D); a robot that is told no number stands still."""
    if np.isfinite(numbers).all():
        return numbers
    wrong.append(("numbers", "sent a drive that is no number; such robots stand still"))
    return np.where(np.isfinite(numbers).all(axis=-1, keepdims=True), numbers, 0.0)


def _heard(numbers: Floats, wrong: list[tuple[str, str]]) -> Floats:
    """Messages (W, n, X); a row of NaN is silence, and so is one that makes no sense."""
    fine = np.asarray(np.isfinite(numbers).all(axis=-1, keepdims=True))
    if not (fine | np.isnan(numbers).all(axis=-1, keepdims=True)).all():
        wrong.append(("message", "sent a message with a part that is no number; such a message is not sent"))
    return np.where(fine, numbers, np.nan)


def _close(drivers: dict[str, Driver], process: int) -> None:
    if os.getpid() == process:   # and not in a copy of this process
        for driver in drivers.values():
            driver.close()


def _unstarted(commands: dict[str, tuple[str, ...]]) -> Programs:
    programs = Programs.__new__(Programs)
    programs.commands, programs.drivers, programs._lines, programs._process = commands, {}, deque(maxlen=MOST), os.getpid()
    weakref.finalize(programs, _close, programs.drivers, programs._process)
    return programs


__all__ = ["Driver", "PATIENCE", "Programs"]
