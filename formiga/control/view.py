"""What a controller sees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from formiga.engine.beams import directions
from formiga.errors import WorldError
from formiga.kernels.kept import filled, listed
from formiga.kernels.program import Stage
from formiga.noise import Noise
from formiga.state import CONTROLLER, Floats, State
from formiga.world.contract import channels
from formiga.world.drives import Differential
from formiga.world.elements import of, where
from formiga.world.model import Group


@dataclass(frozen=True)
class View:
    """One group of robots, as its controller may know it: readings, time, its own memory. No true poses."""

    group: Group
    readings: dict[str, Any]     # sensor name -> (W, n, ...)
    _state: State
    _robots: slice
    dt: float
    noise: Noise

    @property
    def shape(self) -> tuple[int, int]:
        """(worlds, robots)."""
        return self._state.worlds, self.group.count

    @property
    def time(self) -> Floats:
        """Seconds since the start, (W, 1): every world has its own clock."""
        return np.asarray(self._state.step[:, None] * self.dt, np.float64)

    @property
    def genotype(self) -> Floats | None:
        """Genes (W, size) that this run gives each world's controller, or None: then its own count."""
        return self._state.genotypes.get(self.group.name)

    @property
    def crashed(self) -> Any:
        """Whether each robot touched something in the last step, (W, n): a bumper."""
        return self._state.crashed[:, self._robots]

    @property
    def joint_command(self) -> Floats:
        """What the joints were ordered last, (W, n, joints): at the start the posture, of joints in position mode."""
        return self._state.joint_command[:, self._robots, : len(self.group.robot.joints)]

    def reading(self, sensor: str) -> Any:
        """The reading of a sensor by name; a clear error if the robots do not carry it."""
        if sensor not in self.readings:
            controller = self.group.controller
            carried = ", ".join(self.readings) or "none"
            raise WorldError(f"{where(controller)}the controller of '{self.group.name}' reads '{sensor}', but the robots "
                             f"carry: {carried}. Add a sensor of that name.")
        return self.readings[sensor]

    def sensor(self, name: str) -> Any:
        """The description of a sensor: its angles, its reach."""
        self.reading(name)
        return next(sensor for sensor in self.group.sensors if sensor.name == name)

    def directions(self, name: str) -> Floats:
        """Where the beams of a ring of sensors point, as unit vectors (beams, 2) in the robot's frame."""
        sensor = self.sensor(name)
        if sensor.angles is None:
            raise WorldError(f"{where(self.group.controller)}the controller of '{self.group.name}' needs a ring of beams, "
                             f"such as <proximity>; '{name}' is <{of(sensor).tag}>.")
        if (each := self.reading(name).shape[2:]) != (len(sensor.angles),):
            raise WorldError(f"{where(self.group.controller)}the controller of '{self.group.name}' needs one reading for each "
                             f"of the {len(sensor.angles)} angles of '{name}'; <{of(sensor).tag}> gives {each} numbers here.")
        return directions(sensor.angles)

    def two_wheels(self) -> Differential:
        """The drive of the robots, for a controller that only makes sense on two wheels; a clear error if it is another."""
        drive = self.group.robot.drive
        if not isinstance(drive, Differential):
            has = "no drive" if drive is None else f"the channels {', '.join(drive.channels)}"
            controller = self.group.controller
            raise WorldError(f"{where(controller)}<{of(controller).tag}> drives two wheels, and the robots of "
                             f"'{self.group.name}' have {has}. <course>, a network or a controller of your own can drive them.")
        return drive

    def memory(self, name: str, first: Any) -> Any:
        """An array of the controller's own, changed in place; `first` (W, n, ...) is what it starts as."""
        return self._state.remember(f"{self.group.name}/{CONTROLLER}", name, first)

    def stages_of(self, controller: Any, orders: Any) -> list[Stage] | None:
        """The kernels with which a controller fills orders (W, n, D), checked; None if it has none here."""
        made = controller.stages(self, orders)
        return None if made is None else listed(controller, made)

    def run_stages(self, controller: Any) -> Any:
        """The orders of a controller that gives only kernels, for the readable loop."""
        return filled(self._state, f"{self.group.name}/{CONTROLLER}", lambda readings: self._made(controller, readings),
                      self.readings)

    def _made(self, controller: Any, readings: dict[str, Any]) -> tuple[Any, list[Stage]]:
        orders = np.zeros((*self.shape, channels(self.group.robot)))
        stages = replace(self, readings=readings).stages_of(controller, orders)
        if stages is None:
            raise WorldError(f"{where(controller)}<{of(controller).tag}> has no kernels in this world: its `stages` returned "
                             "None. Give it a method decide(self, view), too.")
        return orders, stages
