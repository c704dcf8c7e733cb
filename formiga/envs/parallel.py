"""One world, one agent for each robot: PettingZoo's parallel environment."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from pettingzoo import ParallelEnv  # type: ignore[import-untyped, unused-ignore]

from formiga.envs.batch import Batch, numbers
from formiga.envs.single import agent_spaces
from formiga.envs.top_view import RENDER_MODES, check_render_mode, top_view
from formiga.errors import FormigaError
from formiga.world.model import World

Of = dict[str, Any]  # agent -> its own


class AgentsEnv(ParallelEnv):  # type: ignore[misc, unused-ignore]
    """One world of a batch, some of whose robots are agents. What an environment of a kind adds: what a step is."""

    metadata = {"render_modes": RENDER_MODES, "render_fps": 10, "name": "formiga"}  # noqa: RUF012  as PettingZoo declares it

    def __init__(self, world: World, batch: Any, agents: list[str], spaces: tuple[Box, Box], render_mode: str | None) -> None:
        self.render_mode = check_render_mode(render_mode)
        self.batch, self.possible_agents = batch, agents
        self.agents: list[str] = []
        self.metadata = self.metadata | {"render_fps": max(1, round(1.0 / world.dt)), "name": f"formiga_{world.name}"}
        self._each_action = spaces[1].shape[0]   # numbers: of the channels of a drive, of joints ...
        self._number = {agent: i for i, agent in enumerate(agents)}
        self._observations, self._actions = ({agent: deepcopy(space) for agent in agents} for space in spaces)

    def observation_space(self, agent: str) -> Box:
        """What an agent sees."""
        return self._observations[agent]

    def action_space(self, agent: str) -> Box:
        """What an agent may do."""
        return self._actions[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Of, Of]:
        """The first episode of a seed; or, without one, the next. All agents take part again."""
        self.batch.reset(seed)
        self.agents = list(self.possible_agents)
        return self._each(self._see()), {agent: {} for agent in self.agents}

    def render(self) -> Any:
        """The world from above (height, width, 3), if the render_mode says so."""
        return None if self.render_mode is None else top_view(self.batch.world, self.batch.lab.state)

    def _wheels(self, actions: Of) -> Any:
        """The actions of the agents that take part, (1, agents, D); 0 for the others."""
        wheels = np.zeros((1, len(self.possible_agents), self._each_action))
        for agent in self.agents:
            if agent not in actions:
                raise FormigaError(f"'{agent}' has no action; every one of `agents` needs one.")
            wheels[0, self._number[agent]] = numbers(actions[agent], (self._each_action,))
        return wheels

    def _see(self) -> Any:
        """The observations of all agents, as an array of its own."""
        return self.batch.inputs[0].astype(np.float32)

    def _each(self, values: Any) -> Of:
        """What belongs to each agent that took part, from a list over all of them."""
        return {agent: values[self._number[agent]] for agent in self.agents}


class SwarmParallelEnv(AgentsEnv):
    """Agents 'swarm_0', 'swarm_1', ...: observation (I,) is its robot's readings, action (K,) what its robot is told, such as
    its left and its right wheel and its joints. `observation_names` and `action_names` say what each number is.

    A robot over the crash limit is terminated and leaves; when the world ends, all are, and at the time limit all that are
    left are truncated.
    """

    def __init__(self, world: World, render_mode: str | None = None, group: str = "", steps: int | None = None,
                 **choice: Any) -> None:
        """choice: observe, without, actions, as of Batch."""
        check_render_mode(render_mode)
        batch = Batch(world, 1, group=group, steps=steps, **choice)
        super().__init__(world, batch, [f"{batch.group.name}_{i}" for i in range(batch.group.count)], agent_spaces(batch),
                         render_mode)
        self.observation_names, self.action_names = batch.observation_names, batch.action_names

    def step(self, actions: Of) -> tuple[Of, Of, Of, Of, Of]:
        """One control period, with an action for each of `agents`."""
        batch = self.batch
        batch.step(self._wheels(actions))
        ended = batch.ended[0] | ~batch.alive[0]
        late = batch.late[0] & ~ended
        result: tuple[Of, Of, Of, Of, Of] = (
            self._each(self._see()), self._each(batch.reward[0].tolist()), self._each(ended.tolist()),
            self._each(late.tolist()), {agent: {} for agent in self.agents})
        self.agents = [agent for agent in self.agents if not (ended | late)[self._number[agent]]]
        return result
