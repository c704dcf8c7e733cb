"""One world, one agent: it sees what all robots of the group see, and commands all of them."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from formiga.envs.agents import bounds_of
from formiga.envs.batch import Batch, numbers, plain_seed
from formiga.envs.top_view import RENDER_MODES, check_render_mode, top_view
from formiga.world.model import World


class SwarmEnv(gymnasium.Env[Any, Any]):
    """Observation (n I,): the readings of robot 0, then those of robot 1, ...; action (n K,): what robot 0 is told, such as
    its left and right wheel and its joints, then robot 1, ... `observation_names` and `action_names` name each number."""

    metadata = {"render_modes": RENDER_MODES, "render_fps": 10}  # noqa: RUF012  as Gymnasium declares it

    def __init__(self, world: World, render_mode: str | None = None, group: str = "", steps: int | None = None,
                 **choice: Any) -> None:
        """choice: observe, without, actions, as of Batch."""
        self.render_mode = check_render_mode(render_mode)
        self.batch = Batch(world, 1, group=group, steps=steps, **choice)
        self.metadata = self.metadata | {"render_fps": max(1, round(1.0 / world.dt))}
        self.observation_space, self.action_space = joint_spaces(self.batch)

    @property
    def observation_names(self) -> tuple[str, ...]:
        """What each number of an observation is: 'swarm_0.proximity[3]'."""
        return of_all(self.batch, self.batch.observation_names)

    @property
    def action_names(self) -> tuple[str, ...]:
        """What each number of an action is: 'swarm_0.drive.left'."""
        return of_all(self.batch, self.batch.action_names)

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
    seen, told = agent_spaces(batch)
    count = batch.group.count
    return (Box(np.tile(seen.low, count), np.tile(seen.high, count), dtype=np.float32),
            Box(np.tile(told.low, count), np.tile(told.high, count), dtype=np.float32))


def agent_spaces(batch: Batch) -> tuple[Box, Box]:
    """What is seen of one robot, and what it may be told."""
    low, high = bounds_of(batch.scales)
    return (Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32),
            Box(batch.shares.low.astype(np.float32), batch.shares.high.astype(np.float32), dtype=np.float32))


def of_all(batch: Batch, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of numbers of one robot, for each robot of the group."""
    return tuple(f"{batch.group.name}_{i}.{name}" for i in range(batch.group.count) for name in names)
