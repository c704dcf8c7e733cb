"""One game, one agent: it drives one robot; its mates and the other team do as the task says."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from formiga.envs.batch import numbers, plain_seed
from formiga.envs.soccer.batch import SoccerBatch
from formiga.envs.soccer.kernels import CUT
from formiga.envs.soccer.task import TERMS, Task
from formiga.envs.top_view import RENDER_MODES, check_render_mode, top_view
from formiga.errors import whole
from formiga.world.model import World


class SoccerEnv(gymnasium.Env[Any, Any]):
    """Observation (4 + 12 P,): the ball, its own team, the other one; action (2,): its left and right wheel."""

    metadata = {"render_modes": RENDER_MODES, "render_fps": 40}  # noqa: RUF012  as Gymnasium declares it

    def __init__(self, world: World, task: Task | None = None, render_mode: str | None = None, group: str = "",
                 steps: int | None = None) -> None:
        self.render_mode = check_render_mode(render_mode)
        self.batch = SoccerBatch(world, 1, agents=[learner(world, task, group)], task=task, steps=steps)
        self.metadata = self.metadata | {"render_fps": max(1, round(1.0 / world.dt))}
        self.observation_space, self.action_space = spaces(self.batch)
        self._seen, self._terms = self.batch.inputs[0, 0], self.batch.terms[0, 0]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """The first episode of a seed; or, without one, the next."""
        seed = plain_seed(seed)
        super().reset(seed=seed)
        self.batch.reset(seed)
        return self._seen.copy(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One control period. Terminated: a goal was scored; truncated: the time is over. The info has the reward's terms."""
        batch = self.batch
        batch.actions[0, 0] = numbers(action, (2,))
        batch.play()
        return (self._seen.copy(), batch.reward.item(), batch.ended.item(), batch.late.item(),
                dict(zip(TERMS, self._terms.tolist())))

    def render(self) -> Any:
        """The world from above (height, width, 3), if the render_mode says so."""
        return None if self.render_mode is None else top_view(self.batch.world, self.batch.lab.state)


def learner(world: World, task: Task | None, group: str) -> int:
    """The number of the robot that learns, among all of the world: of blue, or of the group that is named."""
    name, number = group or "blue", (task or Task()).robot
    team = world.group(name)
    robots = world.slices[world.groups.index(team)]
    return robots.start + whole(f"robot of '{name}':", number, 0, max(0, team.count - 1))


def spaces(batch: SoccerBatch) -> tuple[Box, Box]:
    """What one agent sees, and what it may do."""
    return Box(-CUT, CUT, batch.inputs.shape[2:], np.float32), Box(-1.0, 1.0, (2,), np.float32)
