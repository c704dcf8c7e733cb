"""Many worlds to learn in: one call steps all of them, and leaves the observations and rewards of all agents.

    batch = Batch(world, worlds=1024)
    batch.reset(seed=7)
    for _ in range(300):
        batch.step(policy(batch.inputs))    # (worlds, robots, 2) in top speeds; of other robots (worlds, robots, channels)
        batch.restart(batch.over)

An episode of world w depends on (seed, w, number of the episode) and on nothing else: not on how many worlds run beside
it, on threads, or on when the others begin again. With a seed for each world, w is 0: reset(seed=[3, 1, 4]).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise
from math import isnan
from typing import Any

import numpy as np

from formiga.compiled import Stages, refuse_orders, shipped, stages_of
from formiga.control.neural.network import DRIVE
from formiga.control.scaling import scale_stages, scaled
from formiga.envs.agents import Names, choose, commanded, observed, scales_of
from formiga.errors import FormigaError, WorldError, whole
from formiga.kernels import kernel
from formiga.kernels.program import ENDED, GO_ON, Program, Stage
from formiga.loop import Simulation
from formiga.noise import channel, fold, world_key
from formiga.score import Score
from formiga.state import CONTROLLER, Floats
from formiga.world.elements import locate, origin, where
from formiga.world.model import Group, World

Call = Callable[[], object]
EPISODE = channel("episode")


class Batch:
    """W copies of a world, whose group of n robots is driven from outside.

    inputs (W, n, I), reward (W, n) and ended (W,) are those after the last step; they are overwritten by the next.
    compiled=False: through the readable loop, as a test does, and as a world does that something has no kernel for.
    observe, without: names of readings that are seen, or that are not (see `agents.observed`); actions: what is ordered.
    """

    def __init__(self, world: World, worlds: int = 1, *, group: str = "", steps: int | None = None, threads: int = 1,
                 compiled: bool = True, observe: Names | str = None, without: Names = None, actions: Names = None) -> None:
        learner = choose(world, group)
        if not world.fitness:
            raise WorldError(f"{where(world)}world '{world.name}' has no <fitness>, so nothing is rewarded. Add one, "
                             "such as <fitness of=\"speed\"/>; `formiga list fitness` has the terms.")
        self.seen = observed(learner, observe, without)
        self.world, self.group = released(world, learner)
        seconds = (world.search.seconds if world.search is not None else None) or world.seconds
        self.limit = whole("max_episode_steps", max(1, round(seconds / world.dt)) if steps is None else steps, 1, 2**53)
        self.lab = Simulation(self.world, 0, worlds)
        self.shares = commanded(learner, actions, self.lab.state.joint_command.size > 0)
        self.channels = len(self.shares)  # numbers in the action of one robot: one for each wheel or other channel, joint ...
        self.scales = scales_of(self.group, self.seen, self.lab.readings[self.group.name])
        self.lab.look_again()
        self.score = Score(self.world, self.lab.engine, self.lab.model, self.lab.state, self.group)
        self.robots, self.reward, self.ended = self.score.robots, self.score.reward, self.lab.state.done

        self._begun = False
        self._ahead = _Ahead(self.lab)
        self._actions = np.zeros((worlds, self.group.count, self.channels))
        self._everybody, self._chosen = np.ones(worlds, np.bool_), np.ones(worlds, np.bool_)
        self._owners = {f"{each.name}/{name}" for each in self.world.groups for name, element in _elements(each)
                        if not shipped(element)}
        self._step_parts: list[Call] = []
        self._look_parts: list[Call] = []
        self._pool: ThreadPoolExecutor | None = None
        self.inputs: Floats
        if not (compiled and self._prepare(min(whole("threads:", threads, 1, 4096), worlds))):
            self._look_readable()

    @cached_property
    def observation_names(self) -> tuple[str, ...]:
        """What each number that is seen of one robot is: 'proximity[3]'."""
        return tuple(label for scale in self.scales for label in scale.labels)

    @property
    def action_names(self) -> tuple[str, ...]:
        """What each number of the action of one robot is: 'drive.left', 'joints.knee'."""
        return self.shares.names

    # -- what a learner calls -----------------------------------------------------------------------------------------
    def reset(self, seed: int | Sequence[int] | None = None) -> None:
        """Start all worlds: the first episodes of a seed; or, without one, the next episode of each world.

        One seed for each world: each is then world 0 of its seed, as if it were alone.
        """
        if seed is not None or not self._begun:
            self._ahead.begin(*streams_of(seed, len(self.ended)))
            self._begun = True
        self.restart(self._everybody)

    def restart(self, chosen: Any) -> None:
        """Start the next episode of the chosen worlds, a mask (W,)."""
        if not self._begun:
            raise FormigaError("a batch must be reset before its worlds can start again.")
        self._chosen[...] = chosen
        self._ahead.start(self._chosen)
        self.score.restart(self._chosen)
        if self._look_parts:
            self.lab.forget_look()
            self._forget()
            self._run(self._look_parts)
        else:
            self.lab.look_again()
            self._look_readable()

    def step(self, actions: Any) -> None:
        """One control period with actions (W, n, channels) in shares of what each part takes, cut to -1..1 (lights 0..1): wheel
        speeds in top speeds, joints from their lowest to their highest order. A world that has ended stays still."""
        if not self._begun:
            raise FormigaError("a batch must be reset before its first step.")
        self._actions[...] = numbers(actions, self._actions.shape)
        flat = self._actions.reshape(-1)
        with np.errstate(over="ignore"):
            square = flat.dot(flat)
        if isnan(square):  # as only a NaN can make it; looking at each would take as long as a small world's step
            raise FormigaError(f"action {tuple(np.argwhere(np.isnan(self._actions))[0].tolist())} is not a number.")
        if self._step_parts:
            self.lab.forget_look()
            self._run(self._step_parts)
        else:
            self._step_readable()

    @property
    def late(self) -> Any:
        """(W,) worlds that are at the time limit and have not ended."""
        return (self.lab.state.step >= self.limit) & ~self.ended

    @property
    def over(self) -> Any:
        """(W,) worlds whose episode is over: ended, or at the time limit."""
        return (self.lab.state.step >= self.limit) | self.ended

    @property
    def alive(self) -> Any:
        """(W, n) robots that are not over the crash limit."""
        return self.lab.state.alive[:, self.robots]

    def close(self) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    # -- the readable way ---------------------------------------------------------------------------------------------
    def _step_readable(self) -> None:
        name, running = self.group.name, ~self.ended
        self.score.see(self.lab.readings[name])
        drives = self.shares.parts == DRIVE
        self.lab.step({name: self.shares.limits * np.clip(self._actions, -1.0, 1.0) if drives else
                       self.shares.orders(self._actions)})
        self.score.add(running)
        self._look_readable()

    def _look_readable(self) -> None:
        readings = self.lab.readings[self.group.name]
        self.inputs = scaled([readings[name] for name in self.seen], self.scales)

    # -- the compiled way ---------------------------------------------------------------------------------------------
    def _prepare(self, parts: int) -> bool:
        """Two programs for each thread: a step, and a look at worlds that have just begun. False: something has no kernel."""
        if self._told(self._actions) is None:
            return False
        trial = self._stages()
        if trial.lacking or self.score.stages(trial.readings[self.group.name]) is None:
            return False
        state, W = self.lab.state, len(self.ended)
        self.inputs = np.zeros((W, self.group.count, sum(len(scale.one) for scale in self.scales)))
        for first, last in pairwise([W * part // parts for part in range(parts + 1)]):
            stages = self._stages()
            readings = stages.readings[self.group.name]
            look = [*stages.look, *scale_stages([readings[name] for name in self.seen], self.scales, self.inputs)[0]]
            step = [Stage(rest_world, (self.ended, state.drive, self.reward), decides=True),
                    *(self._told(stages.orders[self.group.name]) or []),
                    *stages.decide, *stages.move, *(self.score.stages(readings) or ()), *look]
            begin = [Stage(chosen_world, (self._chosen,), decides=True), *look]
            for calls, program in ((self._step_parts, step), (self._look_parts, begin)):
                calls.append(partial(self._take, Program(program, W, self.world.robots), stages, first, last))
        return True

    def _take(self, program: Program, parts: Stages, first: int, last: int) -> None:
        if not program.run(first, last):
            self.score.refuse(program.stopped)
            refuse_orders(self.world, self.lab.state, program.stopped, parts.orders, parts.readings)

    def _forget(self) -> None:
        """Elements of the user's own begin their memory anew in the chosen worlds; kernels of formiga do so themselves, at
        step 0."""
        state = self.lab.state
        own = (forgotten for (owner, _), forgotten in state.forgotten.items() if owner in self._owners)
        if any(forgotten[self._chosen].any() for forgotten in own):
            with state.memory_stays(~self._chosen):
                self._stages()  # whose memories are those of the programs
        for forgotten in state.forgotten.values():
            forgotten[self._chosen] = False

    def _stages(self) -> Stages:
        return stages_of(self.world, self.lab.engine, self.lab.model, self.lab.state, self.group.name)

    def _told(self, drive: Floats) -> list[Stage] | None:
        """Actions as orders for the drive (W, n, D) and as messages; None if they are more than that."""
        state, media = self.lab.state, self.world.media
        return self.shares.stages(self._actions, drive, lambda link: state.outbox[:, self.robots, media[link].columns])

    def _run(self, parts: list[Call]) -> None:
        if len(parts) == 1:
            parts[0]()
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(len(parts) - 1)
        others = [self._pool.submit(part) for part in parts[1:]]
        parts[0]()
        for other in others:
            other.result()


class _Ahead:
    """Every world's next start. Placing costs a fixed time for a call, so all that were used up are placed together."""

    def __init__(self, lab: Simulation) -> None:
        self.lab, state = lab, lab.state
        self.seed, self.world = streams_of(0, state.worlds)
        self.number = np.zeros(state.worlds, np.int64)  # of the episode that comes next
        self.ready = np.zeros(state.worlds, np.bool_)
        self.position, self.heading, self.key = state.position.copy(), state.heading.copy(), state.key.copy()

    def begin(self, seed: Any, world: Any) -> None:
        """From now on, starts of these seeds (W,), each of that world (W,) of its seed."""
        self.seed, self.world = seed, world
        self.number[:], self.ready[:] = 0, False

    def start(self, chosen: Any) -> None:
        """Put the next episode of the chosen worlds into the state."""
        if not self.ready[chosen].all():
            self._place()
        self.lab.engine.begin(self.lab.model, self.lab.state, chosen, self.position, self.heading, self.key)
        self.number[chosen] += 1
        self.ready[chosen] = False

    def _place(self) -> None:
        used = np.flatnonzero(~self.ready)
        keys = np.empty(len(used), np.uint64)
        episode_keys(self.seed[used], self.world[used], self.number[used], keys)
        self.position[used], self.heading[used] = self.lab.engine.places(self.lab.model, keys)
        self.key[used], self.ready[used] = keys, True


# -- kernels ----------------------------------------------------------------------------------------------------------
@kernel()
def rest_world(w, done, wheels, reward):
    """A stage that decides: a world that has ended stands still and earns nothing."""
    if not done[w]:
        return GO_ON
    wheels[w] = 0.0
    reward[w] = 0.0
    return ENDED


@kernel()
def chosen_world(w, chosen):
    """A stage that decides: only the chosen (W,) worlds go on."""
    return GO_ON if chosen[w] else ENDED


@kernel()
def episode_keys(seed, world, episode, key):
    """Keys (n,) of the first or of a later episode (n,) of some worlds: what their starts and their noise are hashed from.

    Episode 0 of world w is world w of a simulation with that seed; seed and world are (n,), too.
    """
    for n in range(world.shape[0]):
        key[n] = world_key(seed[n], world[n])
        if episode[n] > 0:
            key[n] = fold(fold(key[n], EPISODE), episode[n])


# -- the world and what is given ------------------------------------------------------------------------------------
def _elements(group: Group) -> list[tuple[str, Any]]:
    """What may remember something, and the name under which it does."""
    sources: list[tuple[str, Any]] = [(source.name, source) for source in group.sources]
    return sources if group.controller is None else [*sources, (CONTROLLER, group.controller)]


def released(world: World, group: Group) -> tuple[World, Group]:
    """The world with that group waiting for orders from outside."""
    free = replace(group, controller=None)
    if (place := origin(group)) is not None:
        locate(free, place)
    return replace(world, groups=tuple(free if each is group else each for each in world.groups)), free


def numbers(given: Any, shape: tuple[int, ...]) -> Any:
    """Actions that were given, as an array of that shape, or a clear complaint."""
    actions = np.asarray(given)
    if actions.dtype.kind not in "fiub" or actions.shape != shape:
        raise FormigaError(f"actions must be numbers of the shape {shape}, not {actions.dtype} of the shape {actions.shape}.")
    return actions


def plain_seed(seed: Any) -> int | None:
    """A seed as Gymnasium wants it: a Python integer. World w of a batch gets its own start from one seed for all."""
    return None if seed is None else whole("seed", seed, 0, 2**63 - 1)


def plain_seeds(seed: Any, worlds: int) -> int | list[int] | None:
    """A seed for all worlds, or a list with one for each."""
    if not isinstance(seed, list | tuple | np.ndarray) or np.ndim(seed) == 0:
        return plain_seed(seed)
    if len(seed) != worlds:
        raise WorldError(f"seed: there are {len(seed)} seeds for {worlds} worlds. Allowed are one whole number for all, or "
                         "a list with one for each.")
    return [whole(f"seed {number}", each, 0, 2**63 - 1) for number, each in enumerate(seed)]


def streams_of(seed: Any, worlds: int) -> tuple[Any, Any]:
    """The seed (W,) of each world, and which world (W,) of that seed it is.

    One seed for all gives each world its own number; a world that has a seed of its own is world 0 of it, as if it were alone.
    """
    given = plain_seeds(draw_seed() if seed is None else seed, worlds)
    if isinstance(given, list):
        return np.array(given, np.int64), np.zeros(worlds, np.int64)
    return np.full(worlds, given, np.int64), np.arange(worlds)


def draw_seed() -> int:
    """A fresh seed, from the system."""
    return int(np.random.default_rng().integers(2**63))


__all__ = ["Batch"]
