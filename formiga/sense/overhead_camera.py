"""A camera over the arena that tells where each robot is: not at once, not exactly, and a few times a second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.drawing import Pen
from formiga.errors import WorldError
from formiga.geometry import wrap
from formiga.state import Floats
from formiga.units import DEG
from formiga.world.elements import angle, duration, element, length, name, where

if TYPE_CHECKING:
    from formiga.sense import SensorView

WHOLE = 1e-6           # of a control period, by which a time may miss a whole number of them


@element("overhead_camera", role="sensor")
@dataclass(frozen=True)
class OverheadCamera:
    """The pose of the robot as a camera under the ceiling measures it: for evaluation, or for teams that have one.

    What it shows at a time t was there at t - latency; it is new every `period`, and is shown until the next. Before its first
    picture has arrived it shows the start.
    """

    period: float = duration(0.04, above=0.0, doc="from one picture to the next, a whole number of control periods")
    latency: float = duration(0.04, least=0.0, doc="from a picture to its pose, a whole number of control periods")
    noise: float = length(0.005, least=0.0, doc="standard deviation of x and of y")
    turn_noise: float = angle(0.5 * DEG, least=0.0, doc="standard deviation of the heading")
    name: str = name("camera")

    def read(self, scene: SensorView) -> Floats:
        """Poses (W, n, 3): x y heading."""
        every, late = self.periods("period", scene), self.periods("latency", scene)
        now = np.concatenate([scene.state.position[:, scene.robots], scene.state.heading[:, scene.robots, None]], axis=-1)
        seen = scene.memory("seen", np.repeat(now[:, :, None], late + 1, axis=2))   # the newest picture first
        seen[:, :, 1:] = seen[:, :, :-1].copy()
        seen[:, :, 0] = now
        pose = seen[:, :, late] + np.concatenate([scene.noise.normal(self.noise, 2, "place"),
                                                  scene.noise.normal(self.turn_noise, 1, "turn")], axis=-1)
        pose[..., 2] = wrap(pose[..., 2])
        shown = scene.memory("shown", pose)
        fresh = scene.state.step % every == 0
        shown[fresh] = pose[fresh]
        return np.asarray(shown.copy())

    def periods(self, what: str, scene: SensorView) -> int:
        """A time of this camera in control periods."""
        dt = scene.model.world.dt
        time: float = {"period": self.period, "latency": self.latency}[what]
        if abs(time / dt - round(time / dt)) > WHOLE or (what == "period" and time < (1.0 - WHOLE) * dt):
            raise WorldError(f"{where(self)}<overhead_camera> {what}: {time:g} s is no whole number of control periods of "
                             f"{dt:g} s.")
        return round(time / dt)

    def draw(self, view: Any, pen: Pen) -> None:
        """The pose that it shows."""
        pen.points(view.readings[self.name][..., :2], colour="#999999", size=0.012)


__all__ = ["OverheadCamera"]
