"""Many worlds, one call: Gymnasium's vector environment over one batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from formiga.envs.batch import Batch, numbers, plain_seeds
from formiga.envs.single import joint_spaces, of_all
from formiga.envs.top_view import RENDER_MODES, check_render_mode, top_view
from formiga.world.model import World


class WorldsEnv(VectorEnv[Any, Any, Any]):
    """W worlds of one batch. What an environment of a kind adds: which batch, what is seen of it, and what a step is."""

    metadata = {"render_modes": RENDER_MODES, "render_fps": 10,  # noqa: RUF012  as Gymnasium declares it
                "autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(self, world: World, batch: Any, spaces: tuple[Any, Any], num_envs: int, render_mode: str | None) -> None:
        self.render_mode = check_render_mode(render_mode)
        self.batch, self.num_envs = batch, num_envs
        self.metadata = self.metadata | {"render_fps": max(1, round(1.0 / world.dt))}
        self.single_observation_space, self.single_action_space = spaces
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """The first episodes of a seed; or, without one, the next episode of each world.

        A list has a seed for each world: world k then is what a single environment with that seed is, bit for bit.
        """
        seeds = plain_seeds(seed, self.num_envs)
        super().reset(seed=seeds if isinstance(seeds, int) else None)
        self.batch.reset(seeds)
        return self._see(), {}

    def render(self) -> tuple[Any, ...] | None:
        """Every world from above, if the render_mode says so."""
        if self.render_mode is None:
            return None
        state = self.batch.lab.state
        return tuple(top_view(self.batch.world, state, w) for w in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Let the threads go."""
        self.batch.close()

    def _see(self) -> Any:
        """The observations (W, ...) of all worlds, as an array of its own."""
        raise NotImplementedError


def last_infos(seen: Any, over: Any, earned: dict[str, Any]) -> dict[str, Any]:
    """What Gymnasium wants to know of the worlds that start again in this step: what was last seen of the old episode."""
    final = np.full(len(over), None, dtype=object)
    for w in np.flatnonzero(over):
        final[w] = seen[w].copy()
    return {"final_obs": final, "_final_obs": over, "final_info": earned, "_final_info": over.copy()}


class SwarmVectorEnv(WorldsEnv):
    """W worlds. One whose episode is over starts again in the same step: its observation is already the new one's, and the
    old one's last is in infos["final_obs"].
    """

    def __init__(self, world: World, num_envs: int = 1, render_mode: str | None = None, group: str = "",
                 steps: int | None = None, threads: int = 1, **choice: Any) -> None:
        """choice: observe, without, actions, as of Batch."""
        check_render_mode(render_mode)
        batch = Batch(world, num_envs, group=group, steps=steps, threads=threads, **choice)
        super().__init__(world, batch, joint_spaces(batch), num_envs, render_mode)

    @property
    def observation_names(self) -> tuple[str, ...]:
        """What each number of one world's observation is: 'swarm_0.proximity[3]'."""
        return of_all(self.batch, self.batch.observation_names)

    @property
    def action_names(self) -> tuple[str, ...]:
        """What each number of one world's action is: 'swarm_0.drive.left'."""
        return of_all(self.batch, self.batch.action_names)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One control period of every world; then those start again whose episode is over."""
        batch, W, count, each = self.batch, self.num_envs, self.batch.group.count, self.batch.channels
        batch.step(numbers(actions, (W, each * count)).reshape(W, count, each))
        seen, rewards, ended, late = self._see(), batch.reward.sum(axis=1) / count, batch.ended.copy(), batch.late
        over, infos = ended | late, {}
        if over.any():
            infos = last_infos(seen, over, {})
            batch.restart(over)
            seen[over] = batch.inputs[over].reshape(-1, seen.shape[1])
        return seen, rewards, ended, late, infos

    def _see(self) -> Any:
        return self.batch.inputs.reshape(self.num_envs, -1).astype(np.float32)
