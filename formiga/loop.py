"""9. The step itself: sense, comm, estimate, control, act, engine. The one file to read first."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formiga import act, comm, control, estimate, sense, sketch
from formiga.compiled import Steps, shipped
from formiga.control import Orders
from formiga.control.neural import Network
from formiga.drawing import Drawings, Pen, Sheet
from formiga.engine import engine as find_engine
from formiga.engine.events import Event
from formiga.errors import WorldError, suggest, whole
from formiga.state import CONTROLLER, Past, State, kinds_of, refuse_others
from formiga.world.contract import channels
from formiga.world.elements import of, where
from formiga.world.model import Group, World
from formiga.world.shipped import Given, world_of

BYTES_PER_ROBOT = 300  # of state and working memory, at the very least
BYTES_PER_READING = 16  # of each number that is read, heard or believed, and of one copy of it to work with
EVENTS = 1000           # of a run that are remembered
WORDS = {"grip": ("grip", "grips"), "release": ("release", "releases"), "lost": ("grip lost", "grips lost"),
         "break": ("joint broke", "joints broke"), "enter": ("came into a zone", "came into a zone"),
         "leave": ("left a zone", "left a zone"), "explode": ("explosion", "explosions")}
Recorder = Callable[[list["Simulation"]], None]  # called with all shards after every step that they took together


class Log:
    """What happened in a run, such as a grip or a joint that broke: how often each kind, and the last of them in full."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.last: deque[Event] = deque(maxlen=EVENTS)
        self.exploded: list[Event] = []                # those that ended a world

    def take(self, events: Sequence[Event], first_world: int = 0) -> None:
        """Those of a step; `first_world`: the number of the engine's world 0."""
        for event in events:
            numbered = event._replace(world=event.world + first_world) if first_world else event
            self.counts[event.kind] += 1
            self.last.append(numbered)
            if event.kind == "explode":
                self.exploded.append(numbered)

    def words(self) -> str:
        """'3 grips, 1 joint broke'."""
        return ", ".join(f"{count:,} {WORDS.get(kind, (kind, kind))[count != 1]}" for kind, count in self.counts.items())

    def add(self, other: Log) -> None:
        """What happened somewhere else at the same time."""
        self.counts += other.counts
        self.last = deque(sorted((*self.last, *other.last), key=lambda event: event.time), EVENTS)
        self.exploded += other.exploded


class Simulation:
    """Some copies of a world, all at the same time. `step()` is one control period of each.

    world: a World, the name of a shipped one, or a file. genotypes: group -> genes of its controller, for all worlds (size,) or
    for each (worlds, size). copies: run each world so many times over, from the same start and with the same noise, so that
    genotypes can be compared. start: positions (worlds, robots, 2) and headings (worlds, robots) instead of those that the
    world's placement rules give. compiled=False: always through the readable loop, as a test does.
    """

    def __init__(self, world: Given, seed: int = 0, worlds: int = 1, engine: str | None = None, first_world: int = 0, *,
                 copies: int = 1, genotypes: dict[str, Any] | None = None, start: tuple[Any, Any] | None = None,
                 compiled: bool = True) -> None:
        world = world_of(world)
        self.world, self.seed = world, _seed(seed)
        worlds = _worlds(worlds)
        copies, first_world = whole("copies:", copies, 1, 2**31), whole("first_world:", first_world, 0, 2**31)
        self._asked = engine, first_world
        refuse_too_many(worlds * copies * world.robots, world)
        sense.prepare_all(world)
        self.engine = find_engine(engine or world.engine)
        self.model = self.engine.build(world, worlds, first_world, copies)
        self.state: State = self.engine.init(self.model, seed, start)
        self.state.genotypes = {name: self._genes(name, genes) for name, genes in (genotypes or {}).items()}
        self._kinds = kinds_of(self.state)
        self.log = Log()
        self._orders: dict[str, Orders] | None = {}     # of the last step; None: the compiled program has them
        self._readings: sense.Readings | None = None
        self._past: Past = {}                          # what the sensors remembered before these readings
        self._compiled = Steps(world, self.engine, self.model, self.state) if compiled else None
        self._believes = any(group.estimators for group in world.groups)
        self.draws = sketch.draws(world)               # whether an element of the world draws something
        self.sheet = Sheet()                           # what `pen` has drawn

    @property
    def readings(self) -> sense.Readings:
        """What sensors read, links receive and estimators believe now: group -> name -> array (worlds, robots, ...)."""
        if self._readings is None:
            self._past = self.state.sensors_remember() if self.state.memory else {}
            try:
                with self.state.memory_stays(self.state.done):
                    self._readings = self._look()
            except BaseException:
                self.state.unlook(self._past)
                raise
        return self._readings

    def _look(self) -> sense.Readings:
        readings = sense.read_all(self.world, self.engine, self.model, self.state)             # all sensors first ...
        if self.world.media:                                               # ... and what was sent in the last period ...
            for name, heard in comm.deliver_all(self.world, self.engine, self.model, self.state).items():
                readings[name] |= heard
        if self._believes:                                                 # ... and what each robot makes of it
            estimate.update_all(self.world, self.state, readings)
        return readings

    def step(self, orders: dict[str, Any] | None = None) -> None:
        """One control period. `orders`: group -> `Orders` from outside, or numbers (worlds, robots, D) for its drive alone.

        They go before those of the group's controller. What they leave open, as None or NaN, is as the controller decides;
        without a controller a drive stands still, and joints and lights stay as they were.

        Where everything in the world has a kernel, the same kernels run as one compiled call, with the same bits.
        """
        if orders is not None and not isinstance(orders, dict):
            raise WorldError(f"orders must be a dict of group -> array or Orders, not {type(orders).__name__}.")
        if not orders and self.advance(1):
            return
        refuse_others(self.state, self._kinds)
        told = self._told(orders)                                          # refused, if at all, before a controller decides
        readings = self.readings                                           # what every robot reads, hears and believes
        with self.state.memory_stays(self.state.done):
            decided = control.decide_all(self.world, self.state, readings)  # is decided upon before anything moves
        merged = self._merged(told, decided)
        self.engine.step(self.model, self.state, act.command(self.world, self.state, merged, readings))
        self._orders = merged
        if events := self.engine.events(self.model, self.state):
            self.log.take(events, self._asked[1])
        self._readings = None

    def advance(self, steps: int) -> bool:
        """So many control periods in one compiled call; false, and nothing has happened, if something has no kernel."""
        steps = whole("steps:", steps, 0, 2**53)
        if self._compiled is None or self._compiled.lacking:
            return False
        self.forget_look()  # the compiled step looks by itself
        self._orders = None
        return self._compiled.take(steps)

    @property
    def orders(self) -> dict[str, Orders]:
        """Orders of the last step, group by group, as they were decided: before limits and noise."""
        if self._orders is None and self._compiled is not None:
            return {name: Orders(drive) for name, drive in self._compiled.orders.items()}
        return self._orders or {}

    def order(self, motor: str, value: Any) -> None:
        """Order a motor of a <joint>, by its name in `world.motors`, from the next step on: a number for all worlds or one for
        each, in the unit of its mode. It is cut at the motor's limits."""
        names = [each.name for each in self.world.motors]
        if motor not in names:
            raise WorldError(f"there is no motor '{motor}'.{suggest(motor, names)} There are: {', '.join(names) or 'none'}.")
        try:
            given = np.broadcast_to(np.asarray(value, np.float64), self.state.worlds)
        except (TypeError, ValueError) as wrong:
            raise WorldError(f"the order of '{motor}' must be a number, or one for each world.") from wrong
        if not np.isfinite(given).all():
            raise WorldError(f"the order of '{motor}' must be a finite number.")
        number = names.index(motor)
        self.state.motor_command[:, number] = np.clip(given, self.world.motors[number].low, self.world.motors[number].high)

    def pen(self, layer: str) -> Pen:
        """A pen for a study or a script: what it draws into the first world stays until `pen.clear()`, also after a reset."""
        robots = [group.robot for group in self.world.groups]
        return Pen(self.sheet, layer, range(self.world.robots), min((robot.radius for robot in robots), default=0.05),
                   max((robot.height for robot in robots), default=0.0))

    def drawings(self, wrong: sketch.Wrong | None = None, note: Callable[[str], None] = lambda text: None) -> Drawings:
        """What is drawn of the first world now, layer -> marks: by its elements, and with `pen`.

        wrong: told of mistakes of an element, which is then left out; None: they are raised. note: told what was too much.
        """
        drawn = [self.sheet]
        if self.draws:
            drawn.insert(0, sketch.draw_all(self.world, self.engine, self.model, self.state, self.readings, wrong))
        for text in (text for sheet in drawn for text in sheet.notes):
            note(text)
        return sketch.together(*(sheet.drawings for sheet in drawn))

    def forget_look(self) -> None:
        """Forget the readings: the sensors look again at this step. Those that remember start from what they remembered before
        they looked."""
        if self._readings is not None:
            self.state.unlook(self._past)
        self._readings = None

    def reset(self, mask: Any = None, seed: int | None = None) -> None:
        """Start all worlds again, or those that a boolean mask (worlds,) names; with a new seed if one is given."""
        chosen = np.ones(self.state.worlds, np.bool_) if mask is None else np.asarray(mask)
        if chosen.shape != (self.state.worlds,) or chosen.dtype != np.bool_:
            raise WorldError(f"a mask of worlds must be booleans of the shape ({self.state.worlds},), not {chosen.dtype} of "
                             f"the shape {chosen.shape}.")
        self.state.restart(chosen, self.engine.init(self.model, self.seed if seed is None else _seed(seed)))
        self.forget_look()

    def look_again(self) -> None:
        """Forget the readings: to be called after the state was changed by hand.

        Where the engine goes on from more than places and headings, as in space, robots that were moved are put there.
        """
        self.engine.put_down(self.model, self.state)
        self.state.note_start()
        self.forget_look()

    def edited(self, world: World, position: Any, heading: Any, kept: Any) -> Simulation:
        """This run, going on in an edited world. This one stays as it is, so an edit that fails has changed nothing.

        position (N, 2), heading (N,): of all robots of the new world; kept (N,): the number that each had in this one, -1 for
        a newcomer. Clocks, crashes, wheels and lights of those that stay go on, newcomers begin, and so does a drive that has
        other channels than before, with the sensors of its group; a sensor or a controller remembers what it did if it is the
        same as before in a group of the same name. A group keeps genes that it was given as long as its controller is of the
        same kind. Readings are computed anew at the next access.
        """
        if self.state.worlds != 1:
            raise WorldError(f"only a single world can be edited while it runs; these are {self.state.worlds}.")
        if world.dt != self.world.dt and self.state.step.any():
            raise WorldError(f"{where(world)}the control period cannot change from {self.world.dt:g} s to {world.dt:g} s while "
                             "the world runs: its clock counts in it. Start again first.")
        stays = _kept(kept, world.robots, self.world.robots)
        engine, first_world = self._asked
        new = Simulation(world, self.seed, 1, engine, first_world, start=([position], [heading]))
        new.state.go_on(self.state, stays)
        new.state.note_start()
        others = _other_channels(self.world, world, stays)
        new.state.drive[:, others] = new.state.wheel_angle[:, others] = 0.0
        if world.media != self.world.media:
            new.state.outbox[...] = np.nan  # its columns have changed
        if new.engine is self.engine:
            still = _still(self.state, position, heading, stays)
            new.engine.carry_on(self.model, self.state, new.model, new.state, stays, still)
        new.log.add(self.log)
        new.sheet = self.sheet
        remembered = replace(self.state, memory={key: memory.copy() for key, memory in self.state.memory.items()},
                             forgotten={key: forgotten.copy() for key, forgotten in self.state.forgotten.items()})
        if self._readings is not None:
            remembered.unlook(self._past)  # readings of this step are computed anew
        before = {group.name: (group, robots) for group, robots in zip(self.world.groups, self.world.slices, strict=True)}
        for group, robots in zip(world.groups, world.slices, strict=True):
            if group.name not in before:
                continue
            old, old_robots = before[group.name]
            number = stays[robots] - old_robots.start
            number[(number < 0) | (number >= old.count)] = -1  # newcomers, also those from other groups
            for owner in _same(old, group):
                new.state.recall(remembered, owner, number, old.count)
            if group.name in self.state.genotypes and type(group.controller) is type(old.controller):
                new.state.genotypes[group.name] = self.state.genotypes[group.name].copy()
        comm.renumber(world, new.state, stays, self.world.robots)
        return new

    def _told(self, orders: dict[str, Any] | None) -> dict[str, Orders]:
        """Orders that come from outside, checked."""
        return {name: control.as_orders(self.world.group(name), self.state.worlds, given, open=True)
                for name, given in (orders or {}).items()}

    def _merged(self, told: dict[str, Orders], decided: dict[str, Orders]) -> dict[str, Orders]:
        """Orders in which nothing is open."""
        if not told:
            return decided
        merged = control.merge_all(told, decided)
        for group, robots in zip(self.world.groups, self.world.slices, strict=True):
            if group.name in told:
                before = self.state.joint_command[:, robots]
                merged[group.name] = control.settle(merged[group.name], before, channels(group.robot))
        return merged

    def _genes(self, name: str, given: Any) -> Any:
        """Genes for each world (W, size), from those or from one genotype (size,) for all."""
        controller = self.world.group(name).controller
        if controller is None or (shipped(controller) and not isinstance(controller, Network)):
            has = "no controller" if controller is None else f"<{of(controller).tag}>, which is no network"
            raise WorldError(f"{where(self.world.group(name))}'{name}' has {has}: genotypes would change nothing.")
        try:
            genes = np.array(given, np.float64)
        except (TypeError, ValueError) as wrong:
            raise WorldError(f"the genotypes of '{name}' must be numbers, not {type(given).__name__}.") from wrong
        if genes.ndim == 1:
            genes = np.repeat(genes[None, :], self.state.worlds, axis=0)
        if genes.ndim != 2 or len(genes) != self.state.worlds or not np.isfinite(genes).all():
            raise WorldError(f"the genotypes of '{name}' must be finite numbers (genes,) or (worlds, genes) = "
                             f"({self.state.worlds}, ...), not of the shape {genes.shape}.")
        return genes


def _still(before: State, position: Any, heading: Any, kept: Any) -> NDArray[np.bool_]:
    """Which robots (N,) are still exactly where they were."""
    place, ahead = np.asarray(position, np.float64).reshape(-1, 2), np.asarray(heading, np.float64)
    still = (place == before.position[0, kept]).all(axis=1) & (ahead == before.heading[0, kept]) \
        if len(kept) and len(before.position[0]) else np.zeros(len(kept), np.bool_)
    return np.asarray(still & (kept >= 0), np.bool_)


def _other_channels(before: World, now: World, kept: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which robots (N,) were there, on a drive with other channels: a rim speed is no steering angle."""
    old, new = ([_channels(group) for group in world.groups for _ in range(group.count)] for world in (before, now))
    return np.array([k >= 0 and old[k] != names for k, names in zip(kept, new, strict=True)], np.bool_)


def _channels(group: Group) -> tuple[str, ...]:
    return group.robot.drive.channels if group.robot.drive else ()


def _seed(seed: int) -> int:
    return whole("seed", seed, 0, 2**63 - 1)


def _kept(given: Any, robots: int, before: int) -> NDArray[np.int64]:
    """The former number of each robot (robots,): numbers of robots that there were before, each once, or -1."""
    kept = np.asarray(given)
    if kept.size == 0:
        kept = kept.astype(np.int64)
    if kept.shape != (robots,) or kept.dtype.kind not in "iu":
        raise WorldError(f"kept must be whole numbers ({robots},), one for each robot, not {kept.dtype} of the shape "
                         f"{kept.shape}.")
    stayed = kept[kept >= 0]
    if (kept < -1).any() or (stayed >= before).any() or len(np.unique(stayed)) < len(stayed):
        raise WorldError(f"kept must be numbers from 0 to {before - 1}, of robots that there were before, each once, or -1.")
    return kept.astype(np.int64)


def _same(old: Group, new: Group) -> list[str]:
    """The owners of memories (see `State.remember`) in a group that are the same in both descriptions of it."""
    named = {source.name: source for source in old.sources} if _channels(old) == _channels(new) else {}
    same = [f"{new.name}/{source.name}" for source in new.sources if named.get(source.name) == source]
    return same + [f"{new.name}/{CONTROLLER}"] * (old.controller == new.controller)


def _worlds(worlds: int) -> int:
    if whole("worlds:", worlds, -(2**63), 2**31) < 1:
        raise WorldError(f"{worlds} worlds cannot run; there must be at least 1.")
    return worlds


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


def simulate(world: World, seconds: float | None = None, seed: int = 0, worlds: int = 1, engine: str | None = None, *,
             threads: int | None = None, record: Recorder | None = None, progress: Callable[[float], None] | None = None,
             stop: Callable[[], bool] = lambda: False) -> Run:
    """Run `worlds` copies of a world. Threads share out whole worlds, so they change the speed and not one bit.

    record is called after every step; progress with the share that is done; stop says whether to end early, and is
    asked between blocks of steps, so nothing is ever left half done.
    """
    steps = steps_in(world, seconds)
    began, taken, interrupted = time.perf_counter(), 0, False
    shards = _shards(world, seed, worlds, engine, threads)
    start = 0.0
    if record:
        record(shards)  # the start
    with ThreadPoolExecutor(len(shards)) as pool, _halting(shards):
        block = 1
        while taken < steps and not interrupted:
            count = 1 if record else min(block, steps - taken)
            clock = time.perf_counter()
            if len(shards) == 1:
                _advance(shards[0], count)
            else:
                list(pool.map(_advance, shards, [count] * len(shards)))
            taken += count
            if taken == 1:
                start = time.perf_counter() - began
            spent = time.perf_counter() - clock
            block = max(1, min(4096, int(block * 0.1 / max(spent, 1e-6)), 2 * block))  # about a tenth of a second
            if record:
                record(shards)
            if progress:
                progress(taken / steps)
            interrupted = stop() and taken < steps
            if all(shard.state.done.all() for shard in shards):
                break
    elapsed = time.perf_counter() - began - start
    state = _together([shard.state for shard in shards])
    state.drive[state.done] = 0.0  # whether or not a block of steps went on after a world had ended
    run = Run(world, seed, state, int(state.step.max()) * world.dt, elapsed, start, interrupted)
    run.metrics = measure(run)
    for shard in shards:
        run.log.add(shard.log)
    return run


@contextmanager
def _halting(shards: list[Simulation]) -> Iterator[None]:
    """After an error or an interrupt no thread goes on with a long step."""
    try:
        yield
    except BaseException:
        for shard in shards:
            shard.state.halted = True
        raise


def steps_in(world: World, seconds: float | None) -> int:
    """Control periods in so many seconds, or in the world's own; a clear complaint if they cannot be simulated."""
    seconds = world.seconds if seconds is None else seconds
    if not isinstance(seconds, int | float) or not 0.0 < seconds < np.inf:
        raise WorldError(f"{seconds} s cannot be simulated; the time must be above 0.")
    if seconds / world.dt > 2**53:
        raise WorldError(f"{seconds:g} s cannot be simulated in steps of {world.dt:g} s: they are too many to count.")
    return max(1, round(seconds / world.dt))


def refuse_too_many(robots: int, world: World) -> None:
    """Complain now, not when the memory is full."""
    words = sum(medium.numbers for medium in world.media.values())
    least = robots * (BYTES_PER_ROBOT + 8 * words)
    memory = np.inf if sys.platform == "win32" else os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")  # there unknown
    if least > memory:
        raise WorldError(f"{where(world)}{robots} robots in all worlds need at least {least / 2**30:.0f} GB of memory; this "
                         "machine has "
                         f"{memory / 2**30:.0f} GB. Try fewer worlds.")
    for group in world.groups:
        for source in group.sources:
            least += robots // world.robots * group.count * source.held(world.dt) * BYTES_PER_READING
            if least > memory:
                raise WorldError(f"{where(source)}<{of(source).tag}> of '{group.name}': what the robots in all worlds read "
                                 f"needs at least {least / 2**30:.0f} GB of memory; this machine has {memory / 2**30:.0f} GB. "
                                 "Try fewer worlds or robots, or smaller readings.")


def _shards(world: World, seed: int, worlds: int, engine: str | None, threads: int | None) -> list[Simulation]:
    """The worlds in as many parts as there are threads; each world keeps its number, and with it its noise."""
    worlds = _worlds(worlds)
    cores = os.cpu_count() or 1 if threads is None else whole("threads:", threads, 1, 4096)
    parts = min(cores, worlds)
    edges = [worlds * part // parts for part in range(parts + 1)]
    return [Simulation(world, seed, last - first, engine, first) for first, last in pairwise(edges)]


def _advance(shard: Simulation, steps: int) -> None:
    if not shard.advance(steps):
        for _ in range(steps):
            shard.step()


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
