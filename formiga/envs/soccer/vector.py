"""Many games, one call: Gymnasium's vector environment over one batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.envs.batch import numbers
from formiga.envs.soccer.batch import SoccerBatch
from formiga.envs.soccer.single import learner, spaces
from formiga.envs.soccer.task import TERMS, Task
from formiga.envs.top_view import check_render_mode
from formiga.envs.vector import WorldsEnv, last_infos
from formiga.world.model import World


class SoccerVectorEnv(WorldsEnv):
    """W games, with one agent each. One whose episode is over starts again in the same step: its observation is already the
    new one's, and the old one's last is in infos["final_obs"], with what it earned in infos["final_info"].
    """

    def __init__(self, world: World, task: Task | None = None, num_envs: int = 1, render_mode: str | None = None,
                 group: str = "", steps: int | None = None, threads: int = 1) -> None:
        check_render_mode(render_mode)
        batch = SoccerBatch(world, num_envs, agents=[learner(world, task, group)], task=task, steps=steps, threads=threads)
        super().__init__(world, batch, spaces(batch), num_envs, render_mode)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One control period of every game; then those start again whose episode is over."""
        batch = self.batch
        batch.actions[:, 0] = numbers(actions, (self.num_envs, 2))
        batch.play()
        seen, rewards = self._see(), batch.reward[:, 0].copy()
        ended, late, over = batch.ended.copy(), batch.late.copy(), batch.over
        if not over.any():
            return seen, rewards, ended, late, self._earned(~over)
        infos = last_infos(seen, over, self._earned(over))
        infos |= {} if over.all() else self._earned(~over)
        batch.restart(over)
        seen[over] = batch.inputs[over, 0]
        return seen, rewards, ended, late, infos

    def _see(self) -> Any:
        return self.batch.inputs[:, 0].copy()

    def _earned(self, whose: Any) -> dict[str, Any]:
        """What the reward of some worlds sums up, as Gymnasium has it: arrays over all worlds, and whose number is one."""
        infos = {}
        for k, name in enumerate(TERMS):
            infos[name], infos[f"_{name}"] = np.where(whose, self.batch.terms[:, 0, k], 0.0), whose.copy()
        return infos
