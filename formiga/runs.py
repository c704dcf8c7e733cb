"""A run from its start to its end: many worlds, shared out over threads, recorded, watched, and summed up in figures."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from formiga import comm
from formiga.batch import build_varied, whole_worlds
from formiga.engine import engine as find_engine
from formiga.errors import CannotDiffer, RecordingError, WorldError, whole
from formiga.link import Pace
from formiga.loop import Log, Simulation
from formiga.state import State
from formiga.world.model import World
from formiga.world.variants import Varied, rows

Recorder = Callable[[list[Simulation]], None]  # called with all shards after every step that they took together


class Stored(Protocol):
    """The tables of a run, wherever they are."""

    def table(self, name: str) -> Any:
        """One of them, of Arrow."""

    def frame(self, name: str) -> Any:
        """One of them, of pandas."""

    @property
    def tables(self) -> list[str]:
        """Their names."""

    @property
    def recording(self) -> Any:
        """The recording beside which they stand."""


@dataclass
class Run:
    """What came out of a run."""

    world: World
    seed: int
    state: State                       # at the end, all worlds
    seconds: float                     # simulated
    elapsed: float                     # on the clock, without the start
    start: float = 0.0                 # on the clock, up to the end of the first step: building, compiling, placing
    interrupted: bool = False
    recording: Any = None              # path of the file, if one was written
    metrics: dict[str, float] = field(default_factory=dict)
    log: Log = field(default_factory=Log)  # what happened in all worlds
    stored: Stored | None = None       # what has the tables of a run that was recorded
    varied: Varied | None = None       # worlds that differ: their descriptions, and the values of params

    def table(self, name: str = "poses") -> Any:
        """A table that was recorded, as a table of Arrow: 'poses', or another one that `record` named."""
        return self._stored.table(name)

    def frame(self, name: str = "poses") -> Any:
        """The same as a DataFrame of pandas."""
        return self._stored.frame(name)

    @property
    def recorded(self) -> Any:
        """All that was recorded, as `read_recording` gives it: poses as arrays, notes, a replay."""
        return self._stored.recording

    @property
    def tables(self) -> list[str]:
        """The names of the tables that were recorded."""
        return self.stored.tables if self.stored else []

    @property
    def _stored(self) -> Stored:
        if self.stored is None:
            raise RecordingError("this run was not recorded: simulate(..., record=['readings', ...]) keeps its tables, "
                                 "record=[] that of the poses alone, and out=DIR writes them into a folder.")
        return self.stored


class Watch:
    """Accompanies a run from outside: a progress bar, a clock, a bridge to other programs. Derive from it what is needed.

    every_step: `before` and `after` are called around every step; otherwise steps are taken in blocks, which is faster.
    """

    every_step = False

    def begin(self, shards: Sequence[Simulation]) -> None:
        """Before the first step."""

    def told(self, line: str) -> None:
        """After each block of steps, with each line that the run has to say about programs outside."""

    def before(self, shards: Sequence[Simulation]) -> dict[str, Any] | None:
        """Before each step: orders from outside for all shards, as `Simulation.step` takes them."""
        return None

    def after(self, shards: Sequence[Simulation]) -> None:
        """After each step."""

    def progress(self, share: float) -> bool:
        """After each block of steps, with the share of the run that is done. True ends the run here."""
        return False


class Progress(Watch):
    """A function that is told the share that is done; one that returns something true ends the run."""

    def __init__(self, tell: Callable[[float], object]) -> None:
        self._tell = tell

    def progress(self, share: float) -> bool:
        """Tell it."""
        return bool(self._tell(share))


class Paced(Watch):
    """The run keeps up with the clock, at `speed` times real time."""

    every_step = True

    def __init__(self, speed: float, dt: float) -> None:
        self.pace = Pace(speed, dt)

    def before(self, shards: Sequence[Simulation]) -> dict[str, Any] | None:
        """Wait until the step is due."""
        self.pace.wait()
        return None

    def after(self, shards: Sequence[Simulation]) -> None:
        """Count the step."""
        self.pace.step()


class Awaited(Watch):
    """The run begins when the programs have come that drive groups by UDP, or after so many seconds on the clock."""

    def __init__(self, seconds: float, stop: Callable[[], bool] = lambda: False, say: Callable[[str], None] = lambda line: None,
                 ) -> None:
        self._seconds, self._stop, self._say = seconds, stop, say

    def told(self, line: str) -> None:
        """Say it."""
        self._say(line)

    def begin(self, shards: Sequence[Simulation]) -> None:
        """Wait for them."""
        until = time.monotonic() + self._seconds
        for shard in shards:
            for group in shard.world.groups:
                if not group.outside or shard.programs is None:
                    continue
                driver = shard.programs.driver(group, shard.state.worlds, shard.world.dt, shard.readings[group.name])
                driver.open()
                for line in shard.programs.troubles():
                    self.told(line)
                if driver.address is not None and not driver.ready(until - time.monotonic(), self._stop):
                    self.told(f"{group.name}: no program came within {self._seconds:g} s; its robots stand until one does.")


class Together(Watch):
    """Several that accompany a run, in order; the first one's orders go before those of the next."""

    def __init__(self, *watches: Watch) -> None:
        self._watches = watches
        self.every_step = any(each.every_step for each in watches)

    def begin(self, shards: Sequence[Simulation]) -> None:
        """Tell all of them."""
        for each in self._watches:
            each.begin(shards)

    def told(self, line: str) -> None:
        """Tell all of them."""
        for each in self._watches:
            each.told(line)

    def before(self, shards: Sequence[Simulation]) -> dict[str, Any] | None:
        """Ask all of them."""
        orders: dict[str, Any] = {}
        for each in self._watches:
            orders = (each.before(shards) or {}) | orders
        return orders or None

    def after(self, shards: Sequence[Simulation]) -> None:
        """Tell all of them."""
        for each in self._watches:
            each.after(shards)

    def progress(self, share: float) -> bool:
        """Tell all of them; one is enough to end the run."""
        return any([each.progress(share) for each in self._watches])


def simulate(world: World, seconds: float | None = None, seed: int = 0, worlds: int = 1, engine: str | None = None, *,
             threads: int | None = None, record: Recorder | None = None, varied: Varied | None = None,
             watch: Watch | Callable[[float], object] | None = None) -> Run:
    """Run `worlds` copies of a world, or the worlds that `varied` describes, of which it is the first. Threads share out whole
    worlds, so they change the speed and not one bit.

    record is called after every step. watch: accompanies the run, or a function that is told the share that is done and
    ends the run by returning something true; it is asked between blocks of steps, so nothing is ever left half done.
    """
    if varied is not None and seconds is None:
        refuse_other_seconds(varied)
    steps = steps_in(world, seconds)
    watch = watch if isinstance(watch, Watch) else Progress(watch) if watch else Watch()
    began, taken, interrupted = time.perf_counter(), 0, False
    shards = _shards(world, seed, worlds, engine, threads, varied)
    start = 0.0
    if record:
        record(shards)  # the start
    with ThreadPoolExecutor(len(shards)) as pool, _halting(shards):
        watch.begin(shards)
        block = 1
        while taken < steps and not interrupted:
            count = 1 if record or watch.every_step else min(block, steps - taken)
            orders = watch.before(shards) if watch.every_step else None
            clock = time.perf_counter()
            if len(shards) == 1:
                _advance(shards[0], count, orders)
            else:
                list(pool.map(_advance, shards, [count] * len(shards), [orders] * len(shards)))
            taken += count
            if taken == 1:
                start = time.perf_counter() - began
            spent = time.perf_counter() - clock
            block = max(1, min(4096, int(block * 0.1 / max(spent, 1e-6)), 2 * block))  # about a tenth of a second
            if watch.every_step:
                watch.after(shards)
            if record:
                record(shards)
            for line in (line for shard in shards for line in shard.log.news()):
                watch.told(line)
            interrupted = watch.progress(taken / steps) and taken < steps
            if all(shard.state.done.all() for shard in shards):
                break
        for shard in shards:
            shard.log.failures |= shard.programs.failures() if shard.programs is not None else {}
    elapsed = time.perf_counter() - began - start
    state = _together([shard.state for shard in shards])
    state.drive[state.done] = 0.0  # whether or not a block of steps went on after a world had ended
    run = Run(world, seed, state, int(state.step.max()) * world.dt, elapsed, start, interrupted, varied=varied)
    run.metrics = measure(run)
    for shard in shards:
        run.log.add(shard.log)
    return run


@contextmanager
def _halting(shards: list[Simulation]) -> Iterator[None]:
    """After an error or an interrupt no thread goes on with a long step. Programs outside end with the run."""
    try:
        yield
    except BaseException:
        for shard in shards:
            shard.state.halted = True
        raise
    finally:
        for shard in shards:
            shard.close()


def steps_in(world: World, seconds: float | None) -> int:
    """Control periods in so many seconds, or in the world's own; a clear complaint if they cannot be simulated."""
    seconds = world.seconds if seconds is None else seconds
    if not isinstance(seconds, int | float) or not 0.0 < seconds < np.inf:
        raise WorldError(f"{seconds} s cannot be simulated; the time must be above 0.")
    if seconds / world.dt > 2**53:
        raise WorldError(f"{seconds:g} s cannot be simulated in steps of {world.dt:g} s: they are too many to count.")
    return max(1, round(seconds / world.dt))


def refuse_other_seconds(varied: Varied) -> None:
    """Complain about worlds that last by themselves for other times."""
    for w, each in enumerate(varied.worlds):
        if each.seconds != varied.worlds[0].seconds:
            wrong = CannotDiffer("how long a run lasts", w, "which all worlds of a batch share unless `seconds` says it")
            raise varied.blamed(wrong, lambda two: refuse_other_seconds(Varied(tuple(two))))


def _shards(world: World, seed: int, worlds: int, engine: str | None, threads: int | None,
            varied: Varied | None = None) -> list[Simulation]:
    """The worlds in as many parts as there are threads; each world keeps its number, and with it its noise."""
    worlds = whole_worlds(worlds)
    cores = os.cpu_count() or 1 if threads is None else whole("threads:", threads, 1, 4096)
    together = any(group.outside for group in world.groups)
    parts = 1 if together else min(cores, worlds)  # one program drives a group in all worlds
    edges = [worlds * part // parts for part in range(parts + 1)]
    if varied is None:
        return [Simulation(world, seed, last - first, engine, first) for first, last in pairwise(edges)]
    if parts > 1:  # the worlds of different parts have to go together, too, whatever the number of threads
        if all(each.groups is world.groups for each in varied.worlds):
            build_varied(varied, find_engine(engine or world.engine), worlds)
        else:
            Simulation(world, seed, worlds, engine, params=varied)
    return [Simulation(world, seed, last - first, engine, first, params=rows(varied, first, last))
            for first, last in pairwise(edges)]


def _advance(shard: Simulation, steps: int, orders: dict[str, Any] | None) -> None:
    if orders or not shard.advance(steps):
        for _ in range(steps):
            shard.step(orders)


def _together(states: list[State]) -> State:
    """The states of all shards as one."""
    if len(states) == 1:
        return states[0]
    memory = {key: np.concatenate([state.memory[key] for state in states]) for key in states[0].memory}
    return State.together(states, memory=memory)


def measure(run: Run) -> dict[str, float]:
    """The figures of a run's summary. Speeds are those of all steps but the first, which may have to compile."""
    state = run.state
    robot_steps = int(state.step.sum()) * run.world.robots
    crashes = int(state.crashes.sum())
    steps = round(run.seconds / run.world.dt)
    share, clock = ((steps - 1) / steps, run.elapsed) if steps > 1 else (1.0, run.start)
    return {
        "simulated_seconds": run.seconds,
        "start_seconds": run.start,
        "elapsed_seconds": run.elapsed,
        "real_time_factor": share * run.seconds / max(clock, 1e-9),
        "robot_steps": robot_steps,
        "robot_steps_per_s": share * robot_steps / max(clock, 1e-9),
        "crashes": crashes,
        "contact_rate": crashes / max(robot_steps, 1),
        "worlds_ended": int(state.done.sum()),
        "unresolved_steps": int(state.unresolved.sum()),
        **comm.account(run.world, state),
    }


__all__ = ["Awaited", "Paced", "Progress", "Recorder", "Run", "Stored", "Together", "Watch", "measure", "simulate", "steps_in"]
