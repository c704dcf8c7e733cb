"""Braitenberg's vehicles: obstacles slow the opposite wheel, light the near one. [Braitenberg 1984, vehicles 3a and 3b]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from formiga.control.orders import Orders
from formiga.control.view import View
from formiga.errors import WorldError
from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.state import Floats
from formiga.world.contract import joint_names
from formiga.world.elements import choice, element, name, number, of, where


@element("braitenberg", role="controller")
@dataclass(frozen=True)
class Braitenberg:
    """Drive on; each sensor slows the wheel on the other side of the robot, the more the further ahead it looks.

        right = v (1 - gain sum_left  a_b r_b / full),  a_b = (1 + cos angle_b) / 2, and left the same from the right
    A small bias makes a robot that faces a wall squarely turn one way instead of stopping.

    With `light`, the strongest light sensor of each side slows the wheel of that side too, so the robot turns to the light
    and stops in front of it: left = 1 - side[right] - light[left] [Swarm-bot 3D simulator, experiment 2].

    Rule `strongest` is that simulator's own:
        left = v (1 - side[right] - pull light[left]), right = v (1 - side[left] - pull light[right]), each cut to -v .. v
    where side is the largest reading of the sensors that look ahead on that side, up to 90 degrees (of an s-bot's ring those at
    34, 56 and 79), in readings that count as one for that sensor. It has no gain and no bias.

    With `grip`, the name of a <barrier>, the robot grips whatever can be gripped [experiment 3].
    """

    sensor: str = name("proximity", doc="a ring of sensors with `angles`")
    full: float = number(40.0, above=0.0, doc="a reading that counts as one")
    gain: float = number(5.0, least=0.0)
    bias: float = number(0.15, doc="share of the larger slow-down that the left wheel is spared")
    cruise: float = number(1.0, above=0.0, most=1.0, doc="in top speeds")
    light: str | None = name(None, doc="a ring of light sensors to follow; default: none")
    pull: float = number(1.0, doc="of a full reading of light, in cruising speeds")
    rule: str = choice("sum", options=("sum", "strongest"), doc="all sensors count, or the strongest ahead on each side")
    grip: str | None = name(None, doc="a <barrier> that says when to grip; default: none")

    def decide(self, view: View) -> Floats | Orders:
        """Wheel speeds (W, n, 2); with `grip` also the orders of the joints."""
        wheels = view.run_stages(self, self.rules)
        return wheels if self.grip is None else Orders(wheels, joints=self.gripping(view, self.grip))

    def stages(self, view: View, wheels: Floats) -> list[Stage] | None:
        """Kernels that fill wheels (W, n, 2); None with `grip`, which has none."""
        return self.rules(view, wheels) if self.grip is None else None

    def rules(self, view: View, wheels: Floats) -> list[Stage]:
        """What decides on the wheels (W, n, 2), in order."""
        ahead, speed = view.directions(self.sensor), self.cruise * view.two_wheels().top_speed
        front, side, readings = ahead[:, 0], ahead[:, 1].copy(), view.reading(self.sensor)
        rules = [Stage(inhibit_world, (readings, self.gain * 0.5 * (1.0 + front) / self.full, side, self.bias, speed, wheels))]
        if self.rule == "strongest":
            own = view.sensor(self.sensor).full
            full = float(self.full if own is None else own)
            rules = [Stage(avoid_strongest_world, (readings, front >= -1e-9, side, speed / full, speed, wheels))]
        if self.light is not None:
            towards = view.directions(self.light)[:, 1].copy()
            rules.append(Stage(attract_world, (view.reading(self.light), towards, self.pull * speed, wheels)))
        if self.rule == "strongest":
            rules.append(Stage(cut_world, (speed, wheels)))
        return rules

    def gripping(self, view: View, barrier: str) -> Floats:
        """Orders (W, n, K) for the robots' joints: the gripper closes where the barrier says so, the others stay at 0."""
        names = joint_names(view.group.robot)
        if "grip" not in names:
            raise WorldError(f"{where(self)}<braitenberg> grip: the robots of '{view.group.name}' have no gripper; "
                             "an <sbot> has one.")
        if view.reading(barrier).shape[2:] != (1,):
            raise WorldError(f"{where(self)}<braitenberg> grip: '{barrier}' is <{of(view.sensor(barrier)).tag}>; it takes the "
                             "one reading of a <barrier>.")
        orders = np.zeros((*view.shape, len(names)))
        orders[..., names.index("grip")] = view.reading(barrier)[..., 0]
        return orders


@kernel()
def inhibit_world(w, readings, weight, side, bias, speed, wheels):
    """The rule, robot by robot; readings (W, n, B) -> wheels (W, n, 2)."""
    for i in range(readings.shape[1]):
        left, right = 0.0, 0.0
        for b in range(readings.shape[2]):
            if side[b] > 1e-9:
                right += weight[b] * readings[w, i, b]
            elif side[b] < -1e-9:
                left += weight[b] * readings[w, i, b]
        left -= bias * max(left, right)
        wheels[w, i, 0], wheels[w, i, 1] = speed * max(-1.0, 1.0 - left), speed * max(-1.0, 1.0 - right)


@kernel()
def avoid_strongest_world(w, readings, ahead, side, scale, speed, wheels):
    """Slow each wheel by the strongest reading ahead on the other side; readings (W, n, B), ahead (B,) bool."""
    for i in range(readings.shape[1]):
        left, right = 0.0, 0.0
        for b in range(readings.shape[2]):
            if ahead[b] and side[b] > 1e-9:
                left = max(left, readings[w, i, b])
            elif ahead[b] and side[b] < -1e-9:
                right = max(right, readings[w, i, b])
        wheels[w, i, 0], wheels[w, i, 1] = speed - scale * right, speed - scale * left


@kernel()
def attract_world(w, readings, side, speed, wheels):
    """Slow each wheel by the strongest light on its side; readings (W, n, S)."""
    for i in range(readings.shape[1]):
        left, right = 0.0, 0.0
        for k in range(readings.shape[2]):
            if side[k] > 0.0:
                left = max(left, readings[w, i, k])
            else:
                right = max(right, readings[w, i, k])
        wheels[w, i, 0] -= speed * left
        wheels[w, i, 1] -= speed * right


@kernel()
def cut_world(w, speed, wheels):
    """No wheel turns faster than `speed`."""
    for i in range(wheels.shape[1]):
        for side in range(2):
            wheels[w, i, side] = min(speed, max(-speed, wheels[w, i, side]))
