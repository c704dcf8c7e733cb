"""A world, or a recording of one, under somebody's hands: it plays, it is paused, changed, driven, recorded.

One thread owns a session and everything in it: the one that calls `run`. Others hand over what is to be done with `post`,
and ask for pictures with `look`; they never wait for a step, and no step ever waits for them.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from formiga import lab
from formiga.console import Console
from formiga.control import decide_all
from formiga.engine.fixed import Fixed, gap_to_fixed, inside_solid, near_table
from formiga.engine.flatten import extent, flatten
from formiga.errors import FormigaError, Where
from formiga.loop import Simulation
from formiga.record.recorder import Recorder
from formiga.record.recording import Recording
from formiga.session import settings
from formiga.session.commands import commands
from formiga.session.edit import Change, moved, same_robots
from formiga.session.names import robot_name
from formiga.session.replay import Replay
from formiga.session.values import get
from formiga.session.watch import watch
from formiga.state import Floats
from formiga.view.frame import Frame
from formiga.world.elements import origin
from formiga.world.model import World
from formiga.world.page import Alias, Bind, Script

BLOCK = 0.01            # s on the clock that steps may take before somebody else has a turn
PATIENCE = 0.25         # s on the clock that a run may be late before it gives up catching up
WAITING = 1000          # things to do that may wait
UNDO = 20               # edits that can be taken back

Hearer = Callable[[str, str, Any], None]  # kind ("out", "error", "note"), text, who it is for (None: everybody)


class Session:
    """What somebody works on. `hear` is told everything that it says; `own_settings`: whether the user's file is run first."""

    def __init__(self, given: str | World | Recording, *, seed: int = 0, parameters: dict[str, str] | None = None,
                 hear: Hearer | None = None, own_settings: bool = True) -> None:
        self.hearers: list[Hearer] = [hear] if hear else []
        self.playing, self.ended = False, False
        self.speed = 1.0                               # simulated seconds per second; inf: as fast as it goes
        self.overlays: set[str] = set()                # that somebody looks at
        self.selected = -1
        self.version = 0
        self.eyes: Any = None                          # whoever has cameras: the page, if there is one
        self.failed = False                            # whether the last step could not be taken
        self.recorder: Recorder | None = None
        self.replay: Replay | None = None
        self.drives: dict[int, tuple[float, float]] = {}  # robot -> wheel speeds as shares of the top speed
        self._inbox: queue.Queue[Callable[[], object]] = queue.Queue(WAITING)
        self._wake, self._wanted, self._ready = threading.Event(), threading.Event(), threading.Event()
        self._frame: Frame | None = None
        self._undo: deque[tuple[World, Simulation]] = deque(maxlen=UNDO)
        self._before: tuple[Floats, Floats] | None = None  # poses one step ago
        self._stepped = 0.0                            # when that was
        self._anchor = (0.0, 0.0)                      # clock, simulated time: where the pace is measured from
        self._pace: deque[tuple[float, float]] = deque(maxlen=8)
        self._fixed: tuple[World, Fixed] | None = None
        self._open(given, seed, parameters)
        self.console = Console(say=self.say, clock=lambda: self.time, complain=lambda text: self.say(text, "error"))
        self.console.add(commands(self))
        for name in ("seed", "speed", "step", "robots", "playing", "selected"):
            self.console.provide(name, partial(get, self, name))
        settings.begin(self.console, own_settings)
        self._begin()

    # -- what is open -------------------------------------------------------------------------------------------------
    def open(self, given: str | World | Recording, seed: int = 0, parameters: dict[str, str] | None = None) -> None:
        """Begin with a world or a recording. If it cannot be read, everything stays as it was."""
        self._open(given, seed, parameters)
        self.console.forget_untrusted()
        self._begin()

    def _open(self, given: str | World | Recording, seed: int, parameters: dict[str, str] | None) -> None:
        source = given
        if isinstance(given, str):
            source = lab.read_recording(given) if given.endswith(".parquet") else lab.read_world(given, **(parameters or {}))
        replay = Replay(source) if isinstance(source, Recording) else None
        if replay is None:
            assert isinstance(source, World)
            sim = Simulation(source, seed)
            decide_all(source, sim.state, sim.readings)  # says what its sensors and controllers miss
            sim = Simulation(source, seed)
        self.close_recording()
        self.given, self.parameters = given, dict(parameters or {})
        self.replay = replay
        self.sim = replay.sim if replay else sim
        self.world, self.seed = self.sim.world, self.sim.seed
        self.drives.clear()
        self._undo.clear()
        self.selected = -1
        self.touched = False                           # changed by hand since it began
        self._changed()

    def _begin(self) -> None:
        """Take the world's own aliases and binds, and start its script. None of them may touch files."""
        if self.replay:
            return
        for each in self.world.page:
            where = origin(each) or Where(self.world.name, 1)
            try:
                if isinstance(each, Alias):
                    self.console.alias(each.name, each.run, where, trusted=False)
                elif isinstance(each, Bind):
                    self.console.bind(each.key, each.run, where, trusted=False)
            except FormigaError as wrong:
                self.say(str(wrong), "error")
        for each in self.world.page:
            if isinstance(each, Script):
                self.console.run(each.text, each.file or origin(each) or Where(self.world.name, 1), trusted=False)

    @property
    def time(self) -> float:
        """Simulated seconds since the start."""
        return float(self.sim.state.step[0] * self.world.dt)

    @property
    def factor(self) -> float:
        """Simulated seconds per second, as it really was lately; 0 while it is paused."""
        if not self.playing or len(self._pace) < 2:
            return 0.0
        (clock, then), (now, at) = self._pace[0], self._pace[-1]
        return max(0.0, (at - then) / max(now - clock, 1e-9))

    def say(self, text: str, kind: str = "out", who: Any = None) -> None:
        """Tell whoever listens."""
        for hear in self.hearers:
            hear(kind, text, who)

    # -- from other threads -------------------------------------------------------------------------------------------
    def post(self, what: Callable[[], object]) -> bool:
        """Have something done between two steps. False: too much is waiting, and this was not taken."""
        try:
            self._inbox.put_nowait(what)
        except queue.Full:
            return False
        self._wake.set()
        return True

    def look(self, timeout: float = 1.0) -> Frame | None:
        """What it looks like now. Waits for the end of a step, not more; None if the session does not answer in time."""
        self._ready.clear()
        self._wanted.set()
        self._wake.set()
        return self._frame if self._ready.wait(timeout) else None

    # -- the thread that owns it --------------------------------------------------------------------------------------
    def run(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Play, until somebody says quit or stop. A recording that is being written is then closed, whole."""
        try:
            while not (stop() or self.ended):
                self.answer()
                late = self._advance()
                if self._wanted.is_set():
                    self._wanted.clear()
                    self._frame = self.frame()
                    self._ready.set()
                if not late:
                    self._wake.wait(self._nap())
                    self._wake.clear()
        finally:
            self.close_recording()

    def answer(self) -> None:
        """Do what was posted."""
        for _ in range(self._inbox.qsize()):
            what = self._inbox.get_nowait()
            try:
                what()
            except FormigaError as wrong:
                self.say(str(wrong), "error")

    def _advance(self) -> bool:
        """Take the steps that are due; whether there are more already."""
        if not self.playing:
            return False
        now = time.perf_counter()
        if not self._pace or now - self._pace[-1][0] > 0.2:
            self._pace.append((now, self.time))
        end = now + BLOCK
        if self.speed == inf:
            while self.playing and time.perf_counter() < end:
                self.step()
            return self.playing
        due = self._anchor[1] + (now - self._anchor[0]) * self.speed
        while self.playing and self._next() <= due:
            if time.perf_counter() > end:
                if (due - self.time) / self.speed > PATIENCE:
                    self.keep_pace()  # it cannot be that fast; go on from here
                return True
            self.step()
        return False

    def _nap(self) -> float:
        """Seconds until something is due by itself."""
        if not self.playing or self.speed == inf:
            return 0.1
        due = self._anchor[0] + (self._next() - self._anchor[1]) / self.speed
        return min(0.1, max(0.0, due - time.perf_counter()))

    def _next(self) -> float:
        """Simulated time of the next step."""
        if self.replay:
            return float(self.replay.poses.time[min(self.replay.index + 1, self.replay.last)])
        return self.time + self.world.dt

    def keep_pace(self) -> None:
        """Measure the pace from now on."""
        self._anchor = (time.perf_counter(), self.time)
        self._pace.clear()

    def play(self, on: bool = True) -> None:
        """Go on, or pause."""
        if on and self.replay and self.replay.index == self.replay.last:
            self.replay.show(0)
        self.playing = on
        self.keep_pace()

    def step(self) -> None:
        """One step, or one recorded moment. What goes wrong pauses it, and is said."""
        self.failed = False
        try:
            if self.replay:
                self._replay_step()
            else:
                self._step()
        except Exception as wrong:
            self.playing, self.failed = False, True
            message = str(wrong) if isinstance(wrong, FormigaError) else lab.own_line(wrong)
            if message is None:
                raise
            self.say(f"{message} Paused.", "error")
        self.console.advance()

    def _step(self) -> None:
        state = self.sim.state
        if state.done[0]:
            self.playing, self.failed = False, True
            self.say(f"the world ended at {self.time:g} s: somebody is over the crash limit. `reset` starts again.", "note")
            return
        self._before = (state.position[0].copy(), state.heading[0].copy())
        self.sim.step(self._driven())
        self._stepped = time.perf_counter()
        if self.recorder is not None:
            self.recorder([self.sim])

    def _replay_step(self) -> None:
        assert self.replay is not None
        if self.replay.index == self.replay.last:
            self.playing, self.failed = False, True
            return
        state = self.sim.state
        self._before = (state.position[0].copy(), state.heading[0].copy())
        self.replay.show(self.replay.index + 1)
        self._stepped = time.perf_counter()

    def _driven(self) -> dict[str, Any] | None:
        """Wheel speeds of the robots that somebody drives; NaN for those that drive themselves."""
        if not self.drives:
            return None
        wheels = {}
        for group, robots in zip(self.world.groups, self.world.slices, strict=True):
            here = {robot: shares for robot, shares in self.drives.items() if robots.start <= robot < robots.stop}
            if here:
                wheels[group.name] = np.full((1, group.count, 2), np.nan)
                for robot, shares in here.items():
                    wheels[group.name][0, robot - robots.start] = np.array(shares) * group.robot.top_speed
        return wheels

    # -- pictures -----------------------------------------------------------------------------------------------------
    def frame(self, exact: bool = False) -> Frame:
        """What it looks like now. While it plays slower than pictures are taken, poses are between the last two steps."""
        share = 1.0
        if self.playing and not exact and self.speed < inf and self._before is not None:
            period = (self._next() - self.time) / self.speed
            share = min(1.0, (time.perf_counter() - self._stepped) / period) if period > 0.0 else 1.0
        return watch(self, self._before, share)

    # -- changes ------------------------------------------------------------------------------------------------------
    def change(self, change: Change, *, try_out: bool = True, undo: bool = True) -> None:
        """Go on in an edited world. If that cannot run, nothing has changed, and the error says why."""
        if self.replay:
            raise FormigaError("a recording cannot be changed. `load` a world, or `save` this moment as one.")
        if change.world.things != self.world.things and change.world.contact.model != "none":
            self._refuse_to_bury(change)
        if try_out:
            trial = self.sim.edited(change.world, change.position, change.heading, change.kept)
            trial.step()
        new = self.sim.edited(change.world, change.position, change.heading, change.kept)
        if undo:
            self._undo.append((self.world, self.sim))
        old = {int(robot): number for number, robot in enumerate(change.kept) if robot >= 0}
        if self.recorder is not None:
            if len(old) == len(change.kept) == self.world.robots and _same_things(self.world, change.world):
                self.recorder.touched = True
            else:
                self.close_recording("the world changed")
        self.drives = {old[robot]: shares for robot, shares in self.drives.items() if robot in old}
        self.selected = old.get(self.selected, -1)
        self._use(change.world, new)

    def drag(self, kind: str, index: int, x: float, y: float, first: bool) -> None:
        """Move a robot or a thing along with a pointer. Where it cannot stand it stays behind, without a word."""
        state = self.sim.state
        position, heading = state.position[0].copy(), state.heading[0].copy()
        with suppress(FormigaError):
            if kind == "thing":
                self.change(same_robots(moved(self.world, index, x, y), position, heading), try_out=False, undo=first)
            elif index < self.world.robots and not self.in_the_way(x, y, self.robot(index).radius, index):
                position[index] = (x, y)
                self.change(same_robots(self.world, position, heading), try_out=False, undo=first)

    def robot(self, number: int) -> Any:
        """The element of a robot, by its number."""
        return next(group.robot for group, robots in zip(self.world.groups, self.world.slices, strict=True)
                    if robots.start <= number < robots.stop)

    def undo(self) -> None:
        """Go back to before the last edit, in time too."""
        if not self._undo:
            raise FormigaError("there is nothing to undo.")
        self.close_recording("the world changed")
        self.drives.clear()
        self.selected = -1
        self._use(*self._undo.pop())

    def _use(self, world: World, sim: Simulation) -> None:
        drawn_again = world is not self.world
        self.world, self.sim, self.touched = world, sim, True
        self._changed(drawn_again)

    def _changed(self, drawn_again: bool = True) -> None:
        self.version += drawn_again
        self._before = None
        self.keep_pace()

    def reset(self, seed: int | None = None) -> None:
        """Start again, with the same seed or another."""
        if self.replay:
            self.replay.show(0)
        else:
            self.close_recording("the world was reset")
            sim = Simulation(self.world, self.seed if seed is None else seed)
            self.sim, self.seed = sim, sim.seed
            self.touched = False
        self._changed(False)

    def seek(self, seconds: float) -> None:
        """Be at another moment of a recording."""
        if self.replay is None:
            raise FormigaError("only recordings have a timeline. `record` one, then `load` it.")
        self.replay.seek(seconds)
        self._changed(False)

    def drive(self, robot: int, shares: tuple[float, float] | None) -> None:
        """Take a robot's wheels, as shares of its top speed; None gives them back to its controller."""
        if self.replay:
            raise FormigaError("nobody can drive in a recording.")
        if shares is None:
            self.drives.pop(robot, None)
        else:
            self.drives[robot] = shares
        self.touched = True
        if self.recorder is not None:
            self.recorder.touched = True

    # -- places -------------------------------------------------------------------------------------------------------
    @property
    def fixed(self) -> Fixed:
        """What stands still, for questions about places."""
        if self._fixed is None or self._fixed[0] is not self.world:
            self._fixed = (self.world, flatten(self.world))
        return self._fixed[1]

    def in_the_way(self, x: float, y: float, radius: float, but: int = -1) -> str:
        """What stands where a disc would be put: 'a wall or an obstacle', 'swarm.3', or '' for nothing."""
        near = near_table(self.fixed, radius)
        if gap_to_fixed(x, y, self.fixed.shapes, near) < radius or inside_solid(x, y, self.fixed.outlines):
            return "a wall or an obstacle"
        for group, robots in zip(self.world.groups, self.world.slices, strict=True):
            for robot in range(robots.start, robots.stop):
                gap = np.hypot(*(self.sim.state.position[0, robot] - (x, y)))
                if robot != but and gap < radius + group.robot.radius:
                    return robot_name(self.world, robot)
        return ""

    def _refuse_to_bury(self, change: Change) -> None:
        """Say whom an edit would put into a wall. Who stands in one already, in a crowd, is no reason."""
        new = _buried(change.world, flatten(change.world), change.position)
        old = _buried(self.world, self.fixed, self.sim.state.position[0])
        for robot in new:
            if int(change.kept[robot]) not in old:
                raise FormigaError(f"{robot_name(change.world, robot)} would stand in a wall or an obstacle.")

    def free_place(self, radius: float) -> tuple[float, float]:
        """Somewhere in the arena where a disc fits; drawn at random, the same again for the same run."""
        region = extent(self.world, self.fixed)
        draws = np.random.default_rng([self.seed, int(self.sim.state.step[0]), self.world.robots])
        for _ in range(2000):
            x, y = draws.uniform(region.x0, region.x1), draws.uniform(region.y0, region.y1)
            if not self.in_the_way(x, y, radius):
                return float(x), float(y)
        raise FormigaError(f"there is no room for a robot of radius {radius:g} m.")

    # -- recording ----------------------------------------------------------------------------------------------------
    def record(self, path: str | Path) -> None:
        """Record from now on, into a file that is there, whole, when it is stopped."""
        if self.replay:
            raise FormigaError("this is a recording already.")
        self.close_recording()
        recorder = Recorder(path, self.world, self.seed, 1, self.world.engine)
        recorder.__enter__()
        recorder.touched = self.touched or self.sim.state.step[0] > 0
        recorder([self.sim])
        self.recorder = recorder

    def close_recording(self, why: str = "") -> None:
        """Finish the file that is being written, if there is one."""
        if self.recorder is None:
            return
        recorder, self.recorder = self.recorder, None
        recorder.__exit__(None, None, None)
        self.say(f"recorded {recorder.path}{f', until {why}' if why else ''}", "note")


def _buried(world: World, fixed: Fixed, position: Floats) -> list[int]:
    """The robots whose bodies are in walls or obstacles."""
    found = []
    for group, robots in zip(world.groups, world.slices, strict=True):
        near, radius = near_table(fixed, group.robot.radius), group.robot.radius * (1.0 - 1e-9)
        found += [robot for robot in range(robots.start, robots.stop)
                  if gap_to_fixed(*position[robot], fixed.shapes, near) < radius or inside_solid(*position[robot], fixed.outlines)]
    return found


def _same_things(one: World, other: World) -> bool:
    """Whether two worlds look alike in a recording, which knows robots and only one set of things; lamps may differ."""
    if len(one.things) != len(other.things):
        return False
    return all(a == b or (type(a) is type(b) and hasattr(a, "intensity") and (a.x, a.y) == (b.x, b.y))
               for a, b in zip(one.things, other.things, strict=True))


__all__ = ["Session"]
