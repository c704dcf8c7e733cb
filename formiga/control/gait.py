"""A gait without feedback: joints that swing about the posture in which their robot started."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np

from formiga.control.orders import Orders
from formiga.control.view import View
from formiga.errors import WorldError
from formiga.world.elements import duration, element, numbers, where


@element("gait", role="controller")
@dataclass(frozen=True)
class Gait:
    """Joints in position mode that swing about the start posture, each with its own amplitude and phase.

        q_k = q_k(0) + a_k sin(2 pi (t / period + p_k))
    A list that is shorter than the robot's joints is repeated: three numbers serve each leg of three joints.
    """

    amplitude: tuple[float, ...] = numbers(doc="rad or m, one for each joint; repeated")
    period: float = duration(0.5, above=0.0, doc="of a stride")
    phase: tuple[float, ...] = numbers((0.0,), doc="share of a period by which a joint is ahead; repeated")

    def decide(self, view: View) -> Orders:
        """Orders for all joints; the drive, if there is one, stands still."""
        joints = view.group.robot.joints
        if wrong := [joint.name for joint in joints if joint.mode != "position"]:
            raise WorldError(f"{where(self)}<gait> orders positions, and joint '{wrong[0]}' of '{view.group.name}' takes "
                             f"none. Give its motor position mode.")
        if not joints:
            raise WorldError(f"{where(self)}<gait> moves joints, and '{view.group.name}' has none.")
        amplitude, phase = np.resize(self.amplitude, len(joints)), np.resize(self.phase, len(joints))
        start = view.memory("start", view.joint_command)
        swing = amplitude * np.sin(2.0 * pi * (view.time[..., None] / self.period + phase))
        return Orders(joints=np.clip(start + swing, [joint.low for joint in joints], [joint.high for joint in joints]))
