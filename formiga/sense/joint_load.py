"""What a joint of the world bears, as a sensor of a robot. Only in space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from formiga.errors import WorldError, suggest
from formiga.geometry import TURN, rotate_back
from formiga.state import Floats
from formiga.world.elements import element, name, number, where
from formiga.world.model import Joint, Pin, Weld, World

if TYPE_CHECKING:
    from formiga.sense import SensorView


@element("joint_load", role="sensor")
@dataclass(frozen=True)
class JointLoad:
    """Forces and torques on both sides of a joint of the world: what it does to `one`, then to `other`.

    Each is a force in N and a torque in N m about the middle of the mass of that body, in the frame of the robot that reads it:
    ahead, to the left, up. A joint that broke bears nothing. [Tran-Dinh 2005: joints record the forces at both sides]
    """

    joint: str = name(doc="the name of a <joint>, <weld> or <pin>")
    noise: float = number(0.0, least=0.0, doc="half-width of the multiplicative error")
    name: str = name("joint_load")

    SPATIAL: ClassVar[bool] = True

    def read(self, scene: SensorView) -> Floats:
        """Force and torque on `one`, force and torque on `other`: (W, n, 12)."""
        turn = scene.chassis(self)[..., None, TURN]
        row = scene.once(f"joint_load {self.joint}", self._row)
        loads = scene.state.loads[:, None, row].reshape(-1, 1, 4, 3)
        seen = rotate_back(turn, np.broadcast_to(loads, (*turn.shape[:2], 4, 3))).reshape(*turn.shape[:2], 12)
        return seen * (1.0 + scene.noise.uniform(-self.noise, self.noise, 12)) if self.noise > 0.0 else seen

    def _row(self, world: World) -> int:
        names = [thing.name for thing in world.things if isinstance(thing, (Joint, Weld, Pin))]
        if self.joint not in names:
            raise WorldError(f"{where(self)}<joint_load> joint: there is no joint '{self.joint}'.{suggest(self.joint, names)} "
                             f"There are: {', '.join(names) or 'none'}.")
        return names.index(self.joint)


__all__ = ["JointLoad"]
