"""One world, one agent: it sees what all robots of the group see, and commands all of them."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from formiga.envs.batch import Batch, numbers, plain_seed
from formiga.envs.top_view import RENDER_MODES, check_render_mode, top_view
from formiga.world.model import World


class SwarmEnv(gymnasium.Env[Any, Any]):
    """Observation (n I,): the readings of robot 0, then those of robot 1, ...; action (D n,):
    the channels of each robot's drive, such as its left and its right wheel."""

    metadata = {"render_modes": RENDER_MODES, "render_fps": 10}  # noqa: RUF012  as Gymnasium declares it

    def __init__(self, world: World, render_mode: str | None = None, group: str = "", steps: int | None = None) -> None:
        self.render_mode = check_render_mode(render_mode)
        self.batch = Batch(world, 1, group=group, steps=steps)
        self.metadata = self.metadata | {"render_fps": max(1, round(1.0 / world.dt))}
        self.observation_space, self.action_space = joint_spaces(self.batch)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """The first episode of a seed; or, without one, the next."""
        seed = plain_seed(seed)
        super().reset(seed=seed)
        self.batch.reset(seed)
        return self._see(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One control period. Terminated: the world has ended; truncated: its time is over."""
        batch, count, each = self.batch, self.batch.group.count, self.batch.channels
        batch.step(numbers(action, (each * count,)).reshape(1, count, each))
        return self._see(), float(batch.reward.sum()) / count, bool(batch.ended[0]), bool(batch.late[0]), {}

    def render(self) -> Any:
        """The world from above (height, width, 3), if the render_mode says so."""
        if self.render_mode is None:
            return None
        state = self.batch.lab.state
        return top_view(self.batch.world, state)

    def _see(self) -> Any:
        return self.batch.inputs.reshape(-1).astype(np.float32)


def joint_spaces(batch: Batch) -> tuple[Box, Box]:
    """What one agent that commands the whole group sees, and what it may do."""
    count, inputs = batch.inputs.shape[1:]
    return Box(0.0, 1.0, (count * inputs,), np.float32), Box(-1.0, 1.0, (batch.channels * count,), np.float32)
