"""9. The step itself: sense, comm, estimate, control, act, engine. The one file to read first."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formiga import act, comm, control, estimate, sense, sketch
from formiga.batch import build_varied, described, refuse_too_many
from formiga.compiled import Halves, Steps, shipped
from formiga.control import Orders
from formiga.control.neural import Network
from formiga.differing import Apart
from formiga.drawing import Drawings, Pen, Sheet
from formiga.engine import engine as find_engine
from formiga.engine.events import Event
from formiga.errors import CannotDiffer, WorldError, suggest, whole
from formiga.state import CONTROLLER, Past, State, kinds_of, refuse_others
from formiga.world.contract import channels
from formiga.world.document import Document
from formiga.world.elements import of, where
from formiga.world.model import Group, World
from formiga.world.shipped import Given
from formiga.world.variants import Params, Varied

EVENTS = 1000           # of a run that are remembered
WORDS = {"grip": ("grip", "grips"), "release": ("release", "releases"), "lost": ("grip lost", "grips lost"),
         "break": ("joint broke", "joints broke"), "enter": ("came into a zone", "came into a zone"),
         "leave": ("left a zone", "left a zone"), "explode": ("explosion", "explosions")}


class Log:
    """What happened in a run, such as a grip or a joint that broke: how often each kind, and the last of them in full."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.last: deque[Event] = deque(maxlen=EVENTS)
        self.exploded: list[Event] = []                # those that ended a world
        self.told: deque[str] = deque(maxlen=EVENTS)   # lines about programs outside
        self.failures: dict[str, str] = {}             # group -> why the program started for it did not drive to the end
        self._new: deque[str] = deque(maxlen=EVENTS)

    def take(self, events: Sequence[Event], first_world: int = 0) -> None:
        """Those of a step; `first_world`: the number of the engine's world 0."""
        for event in events:
            numbered = event._replace(world=event.world + first_world) if first_world else event
            self.counts[event.kind] += 1
            self.last.append(numbered)
            if event.kind == "explode":
                self.exploded.append(numbered)

    def tell(self, line: str) -> None:
        """What a run has to say about a program outside, such as that it ended."""
        self.told.append(line)
        self._new.append(line)

    def news(self) -> list[str]:
        """What was told since this was last asked."""
        return [self._new.popleft() for _ in range(len(self._new))]

    def words(self) -> str:
        """'3 grips, 1 joint broke'."""
        return ", ".join(f"{count:,} {WORDS.get(kind, (kind, kind))[count != 1]}" for kind, count in self.counts.items())

    def add(self, other: Log) -> None:
        """What happened somewhere else at the same time."""
        self.counts += other.counts
        self.last = deque(sorted((*self.last, *other.last), key=lambda event: event.time), EVENTS)
        self.exploded += other.exploded
        self.told += other.told
        self.failures |= other.failures


class Simulation:
    """Some copies of a world, all at the same time. `step()` is one control period of each.

    world: a World, the name of a shipped one, or a file. genotypes: group -> genes of its controller, for all worlds (size,) or
    for each (worlds, size). copies: run each world so many times over, from the same start and with the same noise, so that
    genotypes can be compared. params: name of a <param> of the file -> one value, or an array of one for each world (copies
    counted); each world has the bits that it has alone. worlds=None: as many as there are values, else 1. start: positions
    (worlds, robots, 2) and headings (worlds, robots) instead of those that the world's placement rules give. compiled=False:
    always through the readable loop, as a test does.
    """

    def __init__(self, world: Given | Document, seed: int = 0, worlds: int | None = None, engine: str | None = None,
                 first_world: int = 0, *, copies: int = 1, params: Params | Varied | None = None,
                 genotypes: dict[str, Any] | None = None, start: tuple[Any, Any] | None = None, compiled: bool = True) -> None:
        copies, first_world = whole("copies:", copies, 1, 2**31), whole("first_world:", first_world, 0, 2**31)
        world, worlds, self.varied = described(world, params, worlds, copies)
        self.world, self.seed = world, _seed(seed)
        self._asked = engine, first_world
        refuse_too_many(worlds * copies * world.robots, world)
        self.engine = find_engine(engine or world.engine)
        if self.varied is None:
            sense.prepare_all(world)
            self.model = self.engine.build(world, worlds, first_world, copies)
        else:
            self.model = build_varied(self.varied, self.engine, worlds, first_world, copies)
        self.state: State = self.engine.init(self.model, seed, start)
        self.state.genotypes = {name: self._genes(name, genes) for name, genes in (genotypes or {}).items()}
        self._kinds = kinds_of(self.state)
        self.log = Log()
        self._orders: dict[str, Orders] | None = {}     # of the last step; None: the compiled program has them
        self._readings: sense.Readings | None = None
        self._past: Past = {}                          # what the sensors remembered before these readings
        self._compiled = Steps(world, self.engine, self.model, self.state) if compiled else None
        self.programs: control.Programs | None = control.Programs(world)  # those outside; None: nothing is asked
        self._driven = any(group.outside for group in world.groups)
        self._halves = Halves(world, self.engine, self.model, self.state) if compiled else None
        self._one_by_one: Apart | None = None          # worlds that differ, as soon as they are asked one by one
        self._believes = any(group.estimators for group in world.groups)
        self.draws = sketch.draws(world)               # whether an element of the world draws something
        self.sheet = Sheet()                           # what `pen` has drawn
        self.touched = False                           # orders came from outside: world and seed alone do not give this run
        if self.varied is not None and self._compiled is not None:
            self._differ(self._compiled.bind)

    @property
    def readings(self) -> sense.Readings:
        """What sensors read, links receive and estimators believe now: group -> name -> array (worlds, robots, ...)."""
        if self._readings is None and self.varied is not None:
            self._readings = self._differ(self._apart().readings)
        if self._readings is None:
            self.state.begin_look()
            try:
                with self.state.memory_stays(self.state.done):
                    self._readings = self._look()
            except BaseException:
                self.state.unlook(self.state.end_look())
                raise
            self._past = self.state.end_look()
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
        self.touched = self.touched or bool(orders) or self._driven
        if self._halves is not None and self.programs is not None and not orders and self._step_outside():
            return
        refuse_others(self.state, self._kinds)
        told = self._told(orders)                                          # refused, if at all, before a controller decides
        if self.varied is not None:
            self._orders = self._apart().step(told)
            self._readings = None
            return
        readings = self.readings                                           # what every robot reads, hears and believes
        with self.state.memory_stays(self.state.done):
            decided = control.decide_all(self.world, self.state, readings, self.programs)  # is decided before anything moves
        self._act(self._merged(told, decided), readings)

    def _step_outside(self) -> bool:
        """The same with groups that programs outside drive, in two compiled calls around their answers; false: not possible."""
        halves = self._halves
        assert halves is not None and self.programs is not None
        if halves.lacking:
            return False
        self.forget_look()
        if not halves.look():
            return False
        decided = {}
        for group, robots in zip(self.world.groups, self.world.slices, strict=True):
            if group.outside:
                readings = halves.readings[group.name]
                driver = self.programs.driver(group, self.state.worlds, self.world.dt, readings)
                decided[group.name] = driver.ask(self.state.step, self.state.crashed[:, robots], readings)
        if halves.move(decided):
            self._orders = None
        else:                                                              # they order more than drives
            self._act(halves.orders_of(decided), halves.readings)
        for line in self.programs.troubles():
            self.log.tell(line)
        return True

    def _act(self, orders: dict[str, Orders], readings: sense.Readings) -> None:
        self.engine.step(self.model, self.state, act.command(self.world, self.state, orders, readings))
        self._orders = orders
        for line in self.programs.troubles() if self.programs is not None else ():
            self.log.tell(line)
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
            compiled = self._halves if self._halves is not None and not self._halves.lacking else self._compiled
            return {name: Orders(drive) for name, drive in compiled.orders.items()}
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

    def close(self) -> None:
        """End the programs outside that drive groups. It also happens when this is forgotten, and when Python ends."""
        if self.programs is not None:
            self.programs.close()

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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
        if self._one_by_one is not None:
            self._one_by_one.forget_look()
        elif self._readings is not None:
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
        if self.varied is not None:
            self.state.forget(self.state.step == 0)   # their elements remember since the batch was built
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
        new.sheet, new.programs, new.touched = self.sheet, self.programs, self.touched
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

    def _apart(self) -> Apart:
        """Worlds that differ, one by one: this batch's state, each with its own description."""
        if self._one_by_one is None:
            (engine, first), varied, apart = self._asked, self.varied, self.model.worlds // self.model.copies
            assert varied is not None
            start = self.state.position, self.state.heading
            self._one_by_one = Apart(self.state, lambda w: Simulation(
                varied.worlds[w], self.seed, 1, engine or self.world.engine, first + w % apart, compiled=False,
                start=(start[0][w:w + 1], start[1][w:w + 1])), varied.first)
        return self._one_by_one

    def _differ(self, what: Callable[[], Any]) -> Any:
        """Do something that may find out that the worlds cannot be in one batch, and say then which param is to blame."""
        try:
            return what()
        except CannotDiffer as wrong:
            if self.varied is None:
                raise
            engine, _ = self._asked
            raise self.varied.blamed(wrong, lambda two: Simulation(
                two[0], self.seed, engine=engine, params=Varied(tuple(two))).readings) from wrong

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


__all__ = ["EVENTS", "Log", "Simulation"]
