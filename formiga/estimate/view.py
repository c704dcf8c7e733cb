"""What the code of a robot may use: its readings, its time, its memory. No true poses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from formiga.comm.inbox import Inbox
from formiga.engine.beams import directions
from formiga.errors import WorldError, suggest
from formiga.kernels.kept import run_kept
from formiga.kernels.program import Stage
from formiga.map.grid import Grid
from formiga.noise import Noise
from formiga.sense import stages_of
from formiga.state import Floats, State
from formiga.world.beacons import beacons_of
from formiga.world.contract import channels
from formiga.world.elements import needed, of, where
from formiga.world.model import Group, World


@dataclass(frozen=True)
class RobotView:
    """One group of robots, as its estimators and its controller may use it."""

    group: Group                 # its robot, its sensors, its count
    readings: dict[str, Any]     # name of a sensor, a link or an earlier estimator -> (W, n, ...)
    _state: State
    _robots: slice
    dt: float                    # s from one step to the next
    noise: Noise                 # all randomness: `view.noise.normal(sigma, size, "use")`
    _world: World                # for its maps and its media
    _reader: Any = None          # the estimator that looks; None: the controller

    @property
    def shape(self) -> tuple[int, int]:
        """(worlds, robots)."""
        return self._state.worlds, self.group.count

    @property
    def time(self) -> Floats:
        """Seconds since the start, (W, 1): every world has its own clock."""
        return np.asarray(self._state.step[:, None] * self.dt, np.float64)

    @property
    def crashed(self) -> Any:
        """Whether each robot touched something in the last step, (W, n): a bumper."""
        return self._state.crashed[:, self._robots]

    @property
    def wheel_angle(self) -> Floats:
        """How far each wheel turned since the start, (W, n, channels of the drive), in rad; a steering angle as it is."""
        return self._state.wheel_angle[:, self._robots, : channels(self.group.robot)]

    @property
    def joint_command(self) -> Floats:
        """What the joints were ordered last, (W, n, joints): at the start the posture, of joints in position mode."""
        return self._state.joint_command[:, self._robots, : len(self.group.robot.joints)]

    @property
    def start(self) -> Floats:
        """Poses (W, n, 3), x y heading, at which the robots were put into the world: the only true poses that they get."""
        return self._state.start[:, self._robots].copy()

    def start_source(self) -> tuple[Any, Floats]:
        """Steps (W,) and poses (W, n, 3), `start`, as the arrays themselves: for a kernel, which begins again at step 0."""
        return self._state.step, self._state.start[:, self._robots]

    @property
    def _here(self) -> Floats:
        """True poses (W, n, 3) of now, for an estimator of formiga that is added to a world that runs."""
        return np.concatenate([self._state.position[:, self._robots], self._state.heading[:, self._robots, None]], axis=-1)

    def reading(self, name: str) -> Any:
        """The reading of a sensor, a link or an estimator by name; a clear error if the robots do not have it."""
        if name in self.readings:
            return self.readings[name]
        names = [each.name for each in self.group.sources]
        reader = self._subject
        if self._reader is not None and name == self._reader.name:
            raise WorldError(f"{reader} reads its own belief, which is not there yet. What it believed in the last step it can "
                             "remember: view.memory.")
        if name in names:  # it is an estimator that has not estimated yet
            raise WorldError(f"{reader} reads '{name}', which comes after it. Estimators run in the order of the file: put "
                             f"<{of(self.group.sources[names.index(name)]).tag}> before it.")
        carried = ", ".join(self.readings) or "none"
        raise WorldError(f"{reader} reads '{name}', but the robots carry: {carried}.{suggest(name, self.readings)} "
                         "Add a sensor of that name.")

    def inbox(self, link: str = "") -> Inbox:
        """The messages that the robots hear now over a link; its name may be left out if there is only one."""
        each = self._link(link)
        return Inbox.of(each, self.reading(each.name), self._state.memory.get((f"{self.group.name}/{each.name}", "sender")))

    def map(self, name: str = "map") -> Grid:
        """The cells of the world's <map> of this name, as a robot may use them; `formiga.map` has distances over them, beams
        from any pose and more."""
        return self._world.map(name)

    def beacons(self, name: str = "beacons") -> Floats:
        """Where the world's <beacons> of this name stand by the map, (K, 2) in m: their nominal places, not the true ones."""
        return beacons_of(self._world, name).places

    def sensor(self, name: str) -> Any:
        """The description of a sensor, a link or an estimator: its angles, its reach."""
        self.reading(name)
        return next(source for source in self.group.sources if source.name == name)

    def directions(self, name: str) -> Floats:
        """Where the beams of a ring of sensors point, as unit vectors (beams, 2) in the robot's frame."""
        sensor = self.sensor(name)
        if sensor.angles is None:
            raise WorldError(f"{self._subject} needs a ring of beams, such as <proximity>; '{name}' is <{of(sensor).tag}>.")
        if (each := self.reading(name).shape[2:]) != (len(sensor.angles),):
            raise WorldError(f"{self._subject} needs one reading for each of the {len(sensor.angles)} angles of '{name}'; "
                             f"<{of(sensor).tag}> gives {each} numbers here.")
        return directions(sensor.angles)

    def memory(self, name: str, first: Any = None) -> Any:
        """An array of its own, changed in place; `first` (W, n, ...) is what it starts as. A method `draw` need not give it."""
        return self._state.remember(self._owner, name, first)

    def stages_of(self, estimator: Any) -> tuple[Any, list[Stage]] | None:
        """The array that the kernels of an estimator fill, and these kernels, checked; None if it has none here."""
        return stages_of(estimator, self)

    def run_stages(self, element: Any) -> Any:
        """The belief of an estimator that gives only kernels, for the readable loop."""
        return run_kept(self._state, self._owner, element, lambda readings: needed(
            element, replace(self, readings=readings).stages_of(element)), self.readings).out.copy()

    @property
    def _owner(self) -> str:
        return f"{self.group.name}/{self._reader.name}"

    @property
    def _subject(self) -> str:
        """How a message about this code begins: where it stands, and what it is."""
        return f"{where(self._reader)}the estimator '{self._reader.name}' of '{self.group.name}'"

    def _link(self, name: str) -> Any:
        links = {link.name: link for link in self.group.links}
        if not name and len(links) == 1:
            return self.group.links[0]
        if name not in links:
            which = f"has no link '{name}'.{suggest(name, links)} It" if name else "has several links, or none: say which. It"
            raise WorldError(f"{self._subject} asks for messages, but '{self.group.name}' {which} has: "
                             f"{', '.join(links) or 'none'}.")
        return links[name]


def view_of(world: World, state: State, group: Group, robots: slice, readings: dict[str, Any], estimator: Any) -> RobotView:
    """What an estimator of a group may know: readings, links and the beliefs of those before it."""
    noise = Noise(state.key, state.step, robots, group.name, estimator.name)
    return RobotView(group, readings, state, robots, world.dt, noise, world, estimator)


__all__ = ["RobotView", "view_of"]
