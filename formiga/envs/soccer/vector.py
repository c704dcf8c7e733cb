"""Many games, one call: Gymnasium's vector environment over one batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from formiga.envs.batch import numbers, plain_seed
from formiga.envs.soccer.batch import SoccerBatch
from formiga.envs.soccer.single import learner, spaces
from formiga.envs.soccer.task import TERMS, Task
from formiga.envs.top_view import RENDER_MODES, check_render_mode, top_view
from formiga.world.model import World


class SoccerVectorEnv(VectorEnv[Any, Any, Any]):
    """W games, with one agent each. One whose episode is over starts again in the same step: its observation is already the
    new one's, and the old one's last is in infos["final_obs"], with what it earned in infos["final_info"].
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 40,  # noqa: RUF012  as Gymnasium declares it
                "autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(self, world: World, task: Task | None = None, num_envs: int = 1, render_mode: str | None = None,
                 group: str = "", steps: int | None = None, threads: int = 1) -> None:
        self.render_mode = check_render_mode(render_mode)
        self.batch = SoccerBatch(world, num_envs, agents=[learner(world, task, group)], task=task, steps=steps,
                                 threads=threads)
        self.metadata = self.metadata | {"render_fps": max(1, round(1.0 / world.dt))}
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = spaces(self.batch)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """The first episodes of a seed; or, without one, everybody's next episode."""
        seed = plain_seed(seed)
        super().reset(seed=seed)
        self.batch.reset(seed)
        return self.batch.inputs[:, 0].copy(), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One control period of every game; then those start again whose episode is over."""
        batch, W = self.batch, self.num_envs
        batch.actions[:, 0] = numbers(actions, (W, 2))
        batch.play()
        seen, rewards = batch.inputs[:, 0].copy(), batch.reward[:, 0].copy()
        ended, late, over = batch.ended.copy(), batch.late.copy(), batch.over
        if not over.any():
            return seen, rewards, ended, late, self._earned(~over)
        final = np.full(W, None, dtype=object)
        for w in np.flatnonzero(over):
            final[w] = seen[w].copy()
        infos = {"final_obs": final, "_final_obs": over, "final_info": self._earned(over), "_final_info": over.copy()}
        infos |= {} if over.all() else self._earned(~over)
        batch.restart(over)
        seen[over] = batch.inputs[over, 0]
        return seen, rewards, ended, late, infos

    def render(self) -> tuple[Any, ...] | None:
        """Every game from above, if the render_mode says so."""
        if self.render_mode is None:
            return None
        return tuple(top_view(self.batch.world, self.batch.lab.state, w) for w in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Let the threads go."""
        self.batch.close()

    def _earned(self, whose: Any) -> dict[str, Any]:
        """What the reward of some worlds sums up, as Gymnasium has it: arrays over all worlds, and whose number is one."""
        infos = {}
        for k, name in enumerate(TERMS):
            infos[name], infos[f"_{name}"] = np.where(whose, self.batch.terms[:, 0, k], 0.0), whose.copy()
        return infos
