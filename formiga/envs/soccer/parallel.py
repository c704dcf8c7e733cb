"""One game, one agent for each robot: PettingZoo's parallel environment."""

from __future__ import annotations

from typing import Any

from gymnasium.spaces import Box
from pettingzoo import ParallelEnv  # type: ignore[import-untyped, unused-ignore]

from formiga.envs.batch import numbers
from formiga.envs.soccer.batch import SoccerBatch
from formiga.envs.soccer.single import spaces
from formiga.envs.soccer.task import TERMS, Task
from formiga.envs.top_view import RENDER_MODES, check_render_mode, top_view
from formiga.errors import FormigaError
from formiga.world.model import World

Of = dict[str, Any]  # agent -> its own


class SoccerParallelEnv(ParallelEnv):  # type: ignore[misc, unused-ignore]
    """Agents 'blue_0', ..., 'yellow_0', ...: both teams, or the one that is named, against the task's opponents.

    Every agent sees the field as if its team played from left to right. At a goal all are terminated, at the time limit all
    are truncated.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 40, "name": "formiga_soccer"}  # noqa: RUF012  as PettingZoo declares it

    def __init__(self, world: World, task: Task | None = None, render_mode: str | None = None, group: str = "",
                 steps: int | None = None) -> None:
        self.render_mode = check_render_mode(render_mode)
        for option in ("robot", "mates") if group else ("robot", "mates", "opponents"):
            if task and getattr(task, option) != getattr(Task, option):
                raise FormigaError(f"'{option}' says nothing here: every robot of {group or 'both teams'} is an agent.")
        teams = [world.group(group)] if group else list(world.groups)
        names = {robots.start + i: f"{team.name}_{i}" for team, robots in zip(world.groups, world.slices, strict=True)
                 for i in range(team.count) if team in teams}
        self.batch = SoccerBatch(world, 1, agents=names, task=task, steps=steps)
        self.metadata = self.metadata | {"render_fps": max(1, round(1.0 / world.dt)), "name": f"formiga_{world.name}"}
        self.possible_agents = list(names.values())
        self.agents: list[str] = []
        both = {agent: spaces(self.batch) for agent in self.possible_agents}
        self._observations = {agent: seen for agent, (seen, _) in both.items()}
        self._actions = {agent: action for agent, (_, action) in both.items()}

    def observation_space(self, agent: str) -> Box:
        """What an agent sees."""
        return self._observations[agent]

    def action_space(self, agent: str) -> Box:
        """What an agent may do."""
        return self._actions[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Of, Of]:
        """The first episode of a seed; or, without one, the next."""
        self.batch.reset(seed)
        self.agents = list(self.possible_agents)
        return self._each(self.batch.inputs[0].copy()), {agent: {} for agent in self.agents}

    def step(self, actions: Of) -> tuple[Of, Of, Of, Of, Of]:
        """One control period, with an action for each of `agents`. The infos are what the rewards sum up."""
        batch = self.batch
        for i, agent in enumerate(self.agents):  # all or nobody, so they are numbered as in the batch
            if agent not in actions:
                raise FormigaError(f"'{agent}' has no action; every one of `agents` needs one.")
            batch.actions[0, i] = numbers(actions[agent], (2,))
        batch.play()
        ended, late = batch.ended.item(), batch.late.item()
        infos = [dict(zip(TERMS, terms)) for terms in batch.terms[0].tolist()]
        result = (self._each(batch.inputs[0].copy()), self._each(batch.reward[0].tolist()),
                  dict.fromkeys(self.agents, ended), dict.fromkeys(self.agents, late), self._each(infos))
        if ended or late:
            self.agents = []
        return result

    def render(self) -> Any:
        """The world from above (height, width, 3), if the render_mode says so."""
        return None if self.render_mode is None else top_view(self.batch.world, self.batch.lab.state)

    def _each(self, values: Any) -> Of:
        """What belongs to each agent that took part, from a list over all of them."""
        return dict(zip(self.agents, values)) if self.agents else {}
