"""4. State -> readings, one file per kind of sensor.

A sensor is an element of role 'sensor' with a `name` and a method `read(scene)` that returns an array whose first two
axes are (worlds, robots of the group).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from formiga.engine.beams import Beams
from formiga.errors import WorldError
from formiga.noise import Noise
from formiga.state import Floats, State
from formiga.world.elements import discover, where
from formiga.world.model import Group, World

Readings = dict[str, dict[str, Any]]  # group -> sensor -> (W, n, ...)


@dataclass(frozen=True)
class Scene:
    """What a sensor may look at: the robots that carry it, and the engine's beams. It does not say which engine."""

    engine: ModuleType
    model: Any
    state: State
    group: Group
    robots: slice          # of the state's arrays
    noise: Noise
    owner: str             # 'group/sensor', for what the sensor remembers

    def cast(self, beams: Beams, reach: float) -> Floats:
        """Distances (W, n, B) along beams fixed to each robot; infinity where nothing is within reach."""
        return self.engine.cast(self.model, self.state, beams, reach, self.robots)

    def light(self, diodes: Any) -> Floats:
        """Readings (W, n, S) of light sensors, `sense.light.Photodiodes`, fixed to each robot."""
        return self.engine.light(self.model, self.state, diodes, self.robots)

    def memory(self, name: str, first: Any) -> Any:
        """An array of the sensor's own that lives in the state; `first` (W, n, ...) is what it starts as."""
        return self.state.remember(self.owner, name, first)

    @property
    def dt(self) -> float:
        """Seconds between two readings."""
        return self.model.dt


def prepare_all(world: World) -> None:
    """Before the first step: a sensor that has a method `prepare` reads what it needs, and says what is wrong with it."""
    for group in world.groups:
        for sensor in group.sensors:
            if hasattr(sensor, "prepare"):
                try:
                    sensor.prepare()
                except WorldError as wrong:
                    raise WorldError(f"{where(sensor)}{wrong}") from wrong


def read_all(world: World, engine: ModuleType, model: Any, state: State) -> Readings:
    """Everybody looks, before anybody moves."""
    readings: Readings = {}
    for group, robots in zip(world.groups, world.slices, strict=True):
        readings[group.name] = {}
        for sensor in group.sensors:
            noise = Noise(state.key, state.step, robots, group.name, sensor.name)
            scene = Scene(engine, model, state, group, robots, noise, f"{group.name}/{sensor.name}")
            reading = sensor.read(scene)
            if not isinstance(reading, np.ndarray) or reading.shape[:2] != (state.worlds, group.count):
                raise WorldError(f"{where(sensor)}sensor '{sensor.name}' must return an array (worlds, robots, ...) = "
                                 f"({state.worlds}, {group.count}, ...), not {_shape(reading)}.")
            readings[group.name][sensor.name] = reading
    return readings


def _shape(reading: Any) -> str:
    return str(reading.shape) if isinstance(reading, np.ndarray) else type(reading).__name__


discover(__name__)
