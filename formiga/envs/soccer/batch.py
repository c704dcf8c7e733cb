"""Many games to learn in: one call steps all of them, and leaves what each agent sees and earned.

    games = SoccerBatch(league.world(dt=0.025), worlds=1000, agents=range(6))
    games.reset(seed=7)
    for _ in range(1200):
        games.step(policy(games.inputs))    # (worlds, agents, 2) in top speeds
        games.restart(games.over)

An episode of world w depends on (seed, w, number of the episode) and on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numba import typeof

from formiga.engine.command import Command
from formiga.envs.batch import episode_keys, numbers, streams_of
from formiga.envs.soccer import kernels
from formiga.envs.soccer.kernels import LEARNS, Book, Game, Now
from formiga.envs.soccer.task import BEHAVIOURS, Task, limit
from formiga.errors import FormigaError, WorldError, whole
from formiga.loop import Simulation
from formiga.soccer import league
from formiga.soccer.talk import BLUE, NAMES, YELLOW, Call, Foul
from formiga.state import State
from formiga.world.model import World
from formiga.world.robots import MiroSot

Bound = Callable[[], Any]


class SoccerBatch:
    """W games, in which the robots `agents` are driven from outside, and all others as the task says.

    agents: numbers of robots, in the order of the world's groups; blue comes first in a league's world. inputs (W, A, I),
    reward (W, A), terms (W, A, 4), ended (W,) and late (W,) are those after the last step; they are overwritten by the next.
    `play` takes the actions that are in `actions` (W, A, 2); `step` checks some and puts them there.
    """

    def __init__(self, world: World, worlds: int = 1, *, agents: Iterable[int] = (0,), task: Task | None = None,
                 steps: int | None = None, threads: int = 1) -> None:
        self.world, self.task, self.limit = world, task or Task(), limit(world, steps)
        self.field, ball, self.players = league.teams(world)
        starts = {group.name: robots.start for group, robots in zip(world.groups, world.slices, strict=True)}
        for group in world.groups:
            if group.name not in NAMES or group.controller is not None:
                what = " with a controller" if group.name in NAMES else ""
                raise WorldError("a soccer environment drives all robots itself, those of blue and of yellow; "
                                 f"world '{world.name}' has a group '{group.name}'{what}.")
        self.agents = [whole("agent", agent, 0, world.robots - 1) for agent in agents]
        self.lab = Simulation(world, 0, worlds)
        state = self.lab.state
        W, N, A, inputs = state.worlds, world.robots, len(self.agents), 4 + 12 * self.players
        self._game = self._describe(ball, np.array([starts[name] for name in NAMES], np.int64))
        self._now = Now(state.position, state.heading, state.velocity, state.movables, state.done, state.step, state.key)
        self._book = Book(np.zeros((W, A, 2)), np.zeros((W, N, 2)), np.zeros((W, N, 2)), np.zeros(W), np.zeros(W, np.bool_),
                          np.zeros(W, np.bool_), np.zeros((W, A, inputs), np.float32), np.zeros((W, A, 4)), np.zeros((W, A)))
        self.inputs, self.terms, self.reward = self._book.inputs, self._book.terms, self._book.reward
        self.ended, self.late, self.actions = self._book.ended, self._book.late, self._book.actions

        self._begun = False
        self._seed, self._world = streams_of(0, W)           # of each world, and which world of its seed it is
        self._number = np.zeros(W, np.int64)                 # of the episode that comes next
        self._chosen = np.zeros(W, np.bool_)
        self._first = {name: values[0].copy() for name, values in state.arrays().items()}
        given = (self._game, self._now, self._book)
        self._drive = bind(kernels.drive, *given)
        self._begin, self._look = bind(kernels.begin, self._chosen, *given), bind(kernels.look, self._chosen, *given)
        self._parts = self._share(min(whole("threads:", threads, 1, 4096), W))
        self._pool: ThreadPoolExecutor | None = None

    # -- what a learner calls -----------------------------------------------------------------------------------------
    def reset(self, seed: int | Sequence[int] | None = None) -> None:
        """Start all worlds: the first episodes of a seed, or of one for each; or, without one, the next of each world."""
        if seed is not None or not self._begun:
            self._seed, self._world = streams_of(seed, len(self._number))
            self._begun = True
            self._number[:] = 0
        self.restart(True)

    def restart(self, chosen: Any) -> None:
        """Start the next episode of the chosen worlds, a mask (W,)."""
        if not self._begun:
            raise FormigaError("a batch must be reset before its worlds can start again.")
        self._chosen[...] = chosen
        state, rows = self.lab.state, np.flatnonzero(self._chosen)
        now = state.arrays()
        for name, first in self._first.items():
            now[name][rows] = first
        keys = np.empty(len(rows), np.uint64)
        episode_keys(self._seed[rows], self._world[rows], self._number[rows], keys)
        state.key[rows] = keys
        state.forget(self._chosen)
        self._number[rows] += 1
        if not self._begin():
            raise FormigaError(f"world '{self.world.name}': there is no room for all {self.world.robots} robots on a field of "
                               f"{self.field.length:g} m x {self.field.width:g} m. Try fewer players, or start='kickoff'.")
        self._look()

    def look_again(self) -> None:
        """Make the inputs anew: to be called after the state was changed by hand."""
        self._chosen[...] = True
        self._look()

    def step(self, actions: Any) -> None:
        """One control period with wheel speeds (W, A, 2) in top speeds, cut to -1..1. A world that has ended stays still."""
        self.actions[...] = numbers(actions, self.actions.shape)
        self.play()

    def play(self) -> None:
        """One control period with the wheel speeds in `actions`."""
        if not self._begun:
            raise FormigaError("a batch must be reset before its first step.")
        if not self._drive():
            raise FormigaError(f"action {tuple(np.argwhere(np.isnan(self.actions))[0].tolist())} is not a number.")
        if len(self._parts) == 1:
            self._parts[0]()
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(len(self._parts) - 1)
        others = [self._pool.submit(part) for part in self._parts[1:]]
        self._parts[0]()
        for other in others:
            other.result()

    @property
    def over(self) -> Any:
        """(W,) worlds whose episode is over: a goal was scored, or the time is up."""
        return self.ended | self.late

    def close(self) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    # -- the step -----------------------------------------------------------------------------------------------------
    def _share(self, parts: int) -> list[Bound]:
        """The worlds in as many parts as there are threads: ranges of the same arrays, and working memory of their own."""
        lab, W = self.lab, self.lab.state.worlds
        calls: list[Bound] = []
        for first, last in pairwise([W * part // parts for part in range(parts + 1)]):
            model, state = lab.model, lab.state
            if parts > 1:
                model = lab.engine.build(self.world, last - first, first)
                state = lab.engine.init(model)
                state.show(lab.state, slice(first, last))
            now = Now(*(array[first:last] for array in self._now))
            book = Book(*(array[first:last] for array in self._book))
            judge = bind(kernels.judge, self._game, now, book)
            calls.append(partial(_play, lab.engine.step, model, state, Command(book.orders), judge))
        return calls

    # -- the game, as the kernels take it -----------------------------------------------------------------------------
    def _describe(self, ball: Any, first: Any) -> Game:
        world, task, field, N = self.world, self.task, self.field, self.world.robots

        def each(name: str) -> Any:
            return np.concatenate([np.full(group.count, float(getattr(group.robot, name))) for group in world.groups])

        yellow = np.zeros(N, np.bool_)
        yellow[first[YELLOW]:first[YELLOW] + self.players] = True
        learners = {bool(yellow[agent]) for agent in self.agents}
        role = np.empty(N, np.int64)
        for team in (False, True):
            role[yellow == team] = BEHAVIOURS.index(task.mates if team in learners else task.opponents)
        role[self.agents] = LEARNS
        return Game(
            dt=world.dt, limit=self.limit, players=self.players, first=first, agents=np.array(self.agents, np.int64), role=role,
            top=each("top_speed"), base=each("wheel_base"), motor_noise=each("motor_noise"), radius=each("radius"),
            ball=world.movables.index(ball), ball_radius=ball.radius, half=field.length / 2, broad=field.width / 2,
            depth=field.goal_depth, goal=field.goal_width / 2, corner=field.corner, weight=np.array(task.weights),
            kickoff=self._kickoffs(first), anywhere=task.start == "random")

    def _kickoffs(self, first: Any) -> Any:
        """Poses (2, N, 3) of all robots at a kick-off of blue, and at one of yellow."""
        poses = np.zeros((2, self.world.robots, 3))
        robot = self.world.groups[0].robot
        side = robot.side if isinstance(robot, MiroSot) else 2.0 * robot.radius
        for taker in (BLUE, YELLOW):
            _, standing = league.places(self.field, self.players, Call(Foul.KICKOFF, taker, 0, 1, 0.0), side)
            for team in (BLUE, YELLOW):
                poses[taker, first[team]:first[team] + self.players] = standing[team]
        return poses


def _play(engine_step: Any, model: Any, state: State, command: Command, judge: Bound) -> None:
    engine_step(model, state, command)
    judge()


def bind(function: Any, *given: Any) -> Bound:
    """A kernel tied to its arrays: to look up all their types at every call would take longer than the call."""
    return partial(function.compile(tuple(typeof(each) for each in given)), *given)


__all__ = ["SoccerBatch"]
