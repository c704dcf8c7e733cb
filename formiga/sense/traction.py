"""What a robot feels of its own joints: the pull at its turret, and joint positions and efforts. Only in space."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, pi
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from formiga.state import Floats
from formiga.world.elements import element, name, number

if TYPE_CHECKING:
    from formiga.sense import SensorView


@element("traction", role="sensor")
@dataclass(frozen=True)
class Traction:
    """The pull that a robot feels between its chassis and its turret: its direction over the floor, and how strong it is.

        angle = atan2(pull_y, pull_x),  size = sqrt(pull_x^2 + pull_y^2) (1 + U(-a, a))
    The pull is the force in the turret's joint, in the chassis's frame: x ahead, y to the left. [Swarm-bot 3D simulator]
    """

    noise: float = number(0.0, least=0.0, doc="half-width of the multiplicative error of the force")
    name: str = name("traction")

    SPATIAL: ClassVar[bool] = True

    def bounds(self, robot: Any) -> tuple[Any, Any]:
        """The angle goes all around; how strong a pull can be is not known."""
        return np.array([-pi, 0.0]), np.array([pi, inf])

    def read(self, scene: SensorView) -> Floats:
        """Angle in rad from the heading, and size in N: (W, n, 2)."""
        x, y = scene.state.pull[:, scene.robots, 0], scene.state.pull[:, scene.robots, 1]
        size = np.hypot(x, y)[..., None]
        if self.noise > 0.0:
            size = np.maximum(0.0, size * (1.0 + scene.noise.uniform(-self.noise, self.noise)))
        return np.concatenate([np.arctan2(y, x)[..., None], size], axis=-1)


@element("motors", role="sensor")
@dataclass(frozen=True)
class Motors:
    """Where a robot's joints are and how hard their motors push: all positions, then all efforts, in the order of its joints.

    Those of an s-bot are its turret, its arm and its gripper; a sliding one has m and N instead of rad and N m.
    """

    noise: float = number(0.0, least=0.0, doc="half-width of the multiplicative error of the efforts")
    name: str = name("motors")

    SPATIAL: ClassVar[bool] = True

    def bounds(self, robot: Any) -> tuple[Any, Any]:
        """Positions within the orders of joints that take positions, of others unknown; efforts as the joints declare them."""
        takes = np.array([joint.mode == "position" for joint in robot.joints], np.bool_)
        low, high = robot.joint_range
        effort = np.array([joint.effort for joint in robot.joints])
        return np.concatenate([np.where(takes, low, -inf), -effort]), np.concatenate([np.where(takes, high, inf), effort])

    def read(self, scene: SensorView) -> Floats:
        """Positions and efforts (W, n, 2 K)."""
        count = len(scene.group.robot.joints)
        position, effort = (array[:, scene.robots, :count] for array in (scene.state.joint_position, scene.state.joint_effort))
        if self.noise > 0.0 and count > 0:
            effort = effort * (1.0 + scene.noise.uniform(-self.noise, self.noise, count))
        return np.concatenate([position, effort], axis=-1)
