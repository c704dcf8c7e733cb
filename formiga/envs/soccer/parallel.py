"""One game, one agent for each robot: PettingZoo's parallel environment."""

from __future__ import annotations

from formiga.envs.parallel import AgentsEnv, Of
from formiga.envs.soccer.batch import SoccerBatch
from formiga.envs.soccer.single import spaces
from formiga.envs.soccer.task import TERMS, Task
from formiga.envs.top_view import check_render_mode
from formiga.errors import FormigaError
from formiga.world.model import World


class SoccerParallelEnv(AgentsEnv):
    """Agents 'blue_0', ..., 'yellow_0', ...: both teams, or the one that is named, against the task's opponents.

    Every agent sees the field as if its team played from left to right. At a goal all are terminated, at the time limit all
    are truncated.
    """

    def __init__(self, world: World, task: Task | None = None, render_mode: str | None = None, group: str = "",
                 steps: int | None = None) -> None:
        check_render_mode(render_mode)
        for option in ("robot", "mates") if group else ("robot", "mates", "opponents"):
            if task and getattr(task, option) != getattr(Task, option):
                raise FormigaError(f"'{option}' says nothing here: every robot of {group or 'both teams'} is an agent.")
        teams = [world.group(group)] if group else list(world.groups)
        names = {robots.start + i: f"{team.name}_{i}" for team, robots in zip(world.groups, world.slices, strict=True)
                 for i in range(team.count) if team in teams}
        batch = SoccerBatch(world, 1, agents=names, task=task, steps=steps)
        super().__init__(world, batch, list(names.values()), spaces(batch), render_mode)

    def step(self, actions: Of) -> tuple[Of, Of, Of, Of, Of]:
        """One control period, with an action for each of `agents`. The infos are what the rewards sum up."""
        batch = self.batch
        batch.actions[...] = self._wheels(actions)
        batch.play()
        ended, late = batch.ended.item(), batch.late.item()
        infos = [dict(zip(TERMS, terms)) for terms in batch.terms[0].tolist()]
        result = (self._each(self._see()), self._each(batch.reward[0].tolist()),
                  dict.fromkeys(self.agents, ended), dict.fromkeys(self.agents, late), self._each(infos))
        if ended or late:
            self.agents = []
        return result
