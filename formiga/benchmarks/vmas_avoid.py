"""The world `avoid` as a scenario of VMAS [Bettini et al. 2022]; importing it needs VMAS, and with it PyTorch.

The same arena, post, robots, reach and control period. Where the two simulators differ, VMAS has the cheaper choice: its
robots slide in any direction and do not turn, its readings have no noise, it computes in single precision, one step of
physics is one control period, and no world ever starts again. Each lidar is read once a step, for observation and reward.
"""

from __future__ import annotations

from math import pi
from typing import Any

import torch
import vmas
from vmas.simulator.core import Agent, Landmark, Line, Sphere, World
from vmas.simulator.scenario import BaseScenario
from vmas.simulator.sensors import Lidar
from vmas.simulator.utils import ScenarioUtils

from formiga.units import CM

SIDE, POST = 150 * CM, 10 * CM                      # formiga/worlds/avoid.xml
RADIUS, REACH, TOP_SPEED = 5.8 * CM, 15 * CM, 0.08  # the s-bot; the reach is measured from the rim
KEPT = 2 * RADIUS + POST                            # m, between the centres of any two at the start


class Avoid(BaseScenario):  # type: ignore[misc, unused-ignore]
    """Four walls, a post, and robots that see them with a ring of beams."""

    def make_world(self, batch_dim: int, device: Any, agents: int = 4, beams: int = 15) -> World:
        """Everything that is there."""
        world = World(batch_dim, device, dt=0.1)
        for i in range(agents):
            lidar = Lidar(world, n_rays=beams, max_range=RADIUS + REACH, render=False)
            world.add_agent(Agent(f"robot_{i}", shape=Sphere(RADIUS), rotatable=False, max_speed=TOP_SPEED, sensors=[lidar]))
        world.add_landmark(Landmark("post", shape=Sphere(POST), collide=True))
        for side in range(4):
            world.add_landmark(Landmark(f"wall_{side}", shape=Line(SIDE), collide=True))
        return world

    def reset_world_at(self, env_index: int | None = None) -> None:
        """Robots somewhere, walls around them."""
        half = SIDE / 2
        for side, (x, y) in enumerate(((half, 0.0), (0.0, half), (-half, 0.0), (0.0, -half))):
            wall = self.world.landmarks[1 + side]
            wall.set_pos(torch.tensor([x, y]), batch_index=env_index)
            wall.set_rot(torch.tensor([0.5 * pi * (side + 1)]), batch_index=env_index)
        taken = torch.zeros((self.world.batch_dim if env_index is None else 1, 1, 2))  # by the post
        bounds = (2 * RADIUS - half, half - 2 * RADIUS)
        ScenarioUtils.spawn_entities_randomly(self.world.agents, self.world, env_index, KEPT, bounds, bounds, taken)
        self.post_step()

    def post_step(self) -> None:
        """Observations of all agents."""
        self.seen = {agent.name: agent.sensors[0].measure() for agent in self.world.agents}

    def observation(self, agent: Agent) -> torch.Tensor:
        """Distances and velocity."""
        return torch.cat([self.seen[agent.name], agent.state.vel], dim=-1)

    def reward(self, agent: Agent) -> torch.Tensor:
        """Speed, less one in a step in which it touches something."""
        speed = torch.linalg.vector_norm(agent.state.vel, dim=-1) / TOP_SPEED
        return speed - (self.seen[agent.name].amin(dim=-1) < RADIUS + 0.1 * CM).float()


def make(worlds: int, agents: int, beams: int) -> vmas.simulator.environment.Environment:
    """So many worlds of it, on one core."""
    torch.set_num_threads(1)
    return vmas.make_env(Avoid(), worlds, seed=0, agents=agents, beams=beams)
