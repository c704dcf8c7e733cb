"""Many worlds to learn in: one call steps all of them, and leaves what everybody sees and earned.

    batch = Batch(world, worlds=1024)
    batch.reset(seed=7)
    for _ in range(300):
        batch.step(policy(batch.inputs))    # (worlds, robots, 2) in top speeds
        batch.restart(batch.over)

An episode of world w depends on (seed, w, number of the episode) and on nothing else: not on how many worlds run beside
it, on threads, or on when the others begin again.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import isnan
from typing import Any

import numpy as np
from numba import typeof

from formiga.control.neural import Network
from formiga.control.neural.network import scaled
from formiga.engine.place import place
from formiga.engine.planar.contact import room
from formiga.errors import FormigaError, WorldError, whole
from formiga.loop import Simulation
from formiga.rollout.kernel import advance, episode_keys
from formiga.rollout.program import desk, obstacle, program
from formiga.score import Score
from formiga.state import ARRAYS, Floats
from formiga.world.elements import locate, where
from formiga.world.model import Group, World

Call = Callable[[], object]


class Batch:
    """W copies of a world, whose group of n robots is driven from outside.

    inputs (W, n, I), reward (W, n) and ended (W,) are those after the last step; they are overwritten by the next.
    compiled=False: through the readable loop, as a test does, and as a world does that something has no kernel for.
    """

    def __init__(self, world: World, worlds: int = 1, *, group: str = "", steps: int | None = None, threads: int = 1,
                 compiled: bool = True) -> None:
        learner = choose(world, group)
        if not world.fitness:
            raise WorldError(f"world '{world.name}' has no <fitness>, so there is nothing to be rewarded for.")
        self.sensors, self.full = inputs_of(learner)
        self.world, self.group = released(world, learner)
        seconds = getattr(world.search, "seconds", None) or world.seconds
        self.limit = whole("max_episode_steps", max(1, round(seconds / world.dt)) if steps is None else steps, 1, 2**53)
        self.lab = Simulation(self.world, 0, worlds)
        self.score = Score(self.world, self.lab.model, self.lab.state, self.group)
        self.robots, self.reward, self.ended = self.score.robots, self.score.reward, self.lab.state.done

        self._seed: int | None = None
        self._ahead = _Ahead(self.lab)
        self._actions = np.zeros((worlds, self.group.count, 2))
        self._everybody, self._chosen = np.ones(worlds, np.bool_), np.ones(worlds, np.bool_)
        self._step_parts: list[Call] = []
        self._look_parts: list[Call] = []
        self._pool: ThreadPoolExecutor | None = None
        self.inputs: Floats
        if compiled and obstacle(self.world, self.group) is None:
            self._prepare(min(whole("threads:", threads, 1, 4096), worlds))
        else:
            self._look_readable()

    # -- what a learner calls -----------------------------------------------------------------------------------------
    def reset(self, seed: int | None = None) -> None:
        """Start all worlds: the first episodes of a seed; or, without one, everybody's next episode."""
        if seed is not None or self._seed is None:
            self._seed = draw_seed() if seed is None else whole("seed", seed, 0, 2**63 - 1)
            self._ahead.begin(self._seed)
        self.restart(self._everybody)

    def restart(self, chosen: Any) -> None:
        """Start the next episode of the chosen worlds, a mask (W,)."""
        if self._seed is None:
            raise FormigaError("a batch must be reset before its worlds can start again.")
        self._chosen[...] = chosen
        self._ahead.start(self._chosen)
        self.score.restart(self._chosen)
        if self._look_parts:
            self._run(self._look_parts)
        else:
            self.lab.look_again()
            self._look_readable()

    def step(self, actions: Any) -> None:
        """One control period with wheel speeds (W, n, 2) in top speeds, cut to -1..1. A world that has ended stays still."""
        if self._seed is None:
            raise FormigaError("a batch must be reset before its first step.")
        self._actions[...] = numbers(actions, self._actions.shape)
        flat = self._actions.reshape(-1)
        with np.errstate(over="ignore"):
            square = flat.dot(flat)
        if isnan(square):  # as only a NaN can make it; looking at each would take as long as a small world's step
            raise FormigaError(f"action {tuple(np.argwhere(np.isnan(self._actions))[0].tolist())} is not a number.")
        if self._step_parts:
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
        self.lab.step({name: self.group.robot.top_speed * np.clip(self._actions, -1.0, 1.0)})
        self.score.add(running)
        self._look_readable()

    def _look_readable(self) -> None:
        readings = self.lab.readings[self.group.name]
        self.inputs = scaled([readings[name] for name in self.sensors], self.full)

    # -- the compiled way ---------------------------------------------------------------------------------------------
    def _prepare(self, parts: int) -> None:
        """Bind the kernel to its arrays, once for each thread: a range of worlds, and working memory of its own.

        The arrays never change, so the types need not be looked up again at every step: that would take longer than the
        step of a small world.
        """
        code = program(self.lab, self.group, self.score)
        wires = code.wires(self.sensors, self.full)
        table = desk(code, len(wires.source), 0, 0)
        self.inputs = table.x
        W, N, beams = code.near.shape
        for first, last in pairwise([W * part // parts for part in range(parts + 1)]):
            cells = code.now.cells._replace(cell=np.empty_like(code.now.cells.cell))
            now = code.now._replace(cells=cells, room=room(N))
            praise = code.praise._replace(facts=code.praise.facts._replace(centre=np.zeros(2)))
            own = table._replace(nearest=np.empty(beams), seen=np.empty(beams, np.bool_))
            rest = (self._actions, code.body, now, code.eye, code.shine, wires, praise, own)
            for calls, moves, chosen in ((self._step_parts, True, self._everybody), (self._look_parts, False, self._chosen)):
                given = (first, last, moves, chosen, *rest)
                calls.append(partial(advance.compile(tuple(typeof(each) for each in given)), *given))

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
        self.seed = 0
        self.number = np.zeros(state.worlds, np.int64)  # of the episode that comes next
        self.ready = np.zeros(state.worlds, np.bool_)
        self.position, self.heading, self.key = state.position.copy(), state.heading.copy(), state.key.copy()
        self.loose, self.joints = state.loose.copy(), state.joints.copy()  # the same in every episode

    def begin(self, seed: int) -> None:
        """From now on, starts of this seed."""
        self.seed = seed
        self.number[:], self.ready[:] = 0, False

    def start(self, chosen: Any) -> None:
        """Put the next episode of the chosen worlds into the state."""
        if not self.ready[chosen].all():
            self._place()
        state = self.lab.state
        for name in ARRAYS:
            getattr(state, name)[chosen] = 0
        state.alive[chosen] = True
        state.position[chosen], state.heading[chosen] = self.position[chosen], self.heading[chosen]
        state.key[chosen] = self.key[chosen]
        state.loose[chosen], state.joints[chosen] = self.loose[chosen], self.joints[chosen]
        state.forget(chosen)
        self.number[chosen] += 1
        self.ready[chosen] = False

    def _place(self) -> None:
        used = np.flatnonzero(~self.ready)
        keys = np.empty(len(used), np.uint64)
        episode_keys(self.seed, used, self.number[used], keys)
        self.position[used], self.heading[used] = place(self.lab.world, self.lab.model.fixed, keys)
        self.key[used], self.ready[used] = keys, True


# -- who learns, and what it sees -------------------------------------------------------------------------------------
def choose(world: World, name: str) -> Group:
    """The group of that name, or the only one that has a network."""
    if name:
        return world.group(name)
    found = [group for group in world.groups if isinstance(group.controller, Network)]
    if len(found) != 1:
        there = ", ".join(f"'{group.name}'" for group in found or world.groups)
        raise WorldError(f"world '{world.name}' has {len(found) or 'no'} groups with a neural controller. Say which group "
                         f"learns; there are: {there or 'none'}.")
    return found[0]


def inputs_of(group: Group) -> tuple[list[str], list[float]]:
    """The sensors that are observed, and the readings that count as one: those of the network, else all that can be."""
    if isinstance(group.controller, Network):
        return group.controller.sensors, group.controller.scales(group)
    seen = [sensor for sensor in group.sensors if hasattr(sensor, "full")]
    if not seen:
        raise WorldError(f"{where(group)}'{group.name}' carries no sensor with a full reading to be measured in, such as "
                         "<proximity> or <light>, so there is nothing to observe.")
    return [sensor.name for sensor in seen], [float(sensor.full) for sensor in seen]


def released(world: World, group: Group) -> tuple[World, Group]:
    """The world with that group waiting for orders from outside."""
    free = replace(group, controller=None)
    if hasattr(group, "_where"):
        locate(free, group._where)
    return replace(world, groups=tuple(free if each is group else each for each in world.groups)), free


def numbers(given: Any, shape: tuple[int, ...]) -> Any:
    """Actions that somebody gave, as an array of that shape, or a clear complaint."""
    actions = np.asarray(given)
    if actions.dtype.kind not in "fiub" or actions.shape != shape:
        raise FormigaError(f"actions must be numbers of the shape {shape}, not {actions.dtype} of the shape {actions.shape}.")
    return actions


def plain_seed(seed: Any) -> int | None:
    """A seed as Gymnasium wants it: a Python integer. World w of a batch gets its own start from one seed for all."""
    return None if seed is None else whole("seed", seed, 0, 2**63 - 1)


def draw_seed() -> int:
    """A seed that nobody knew before."""
    return int(np.random.default_rng().integers(2**63))


__all__ = ["Batch"]
