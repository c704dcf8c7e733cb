"""4. State -> readings, one file per kind of sensor.

A sensor is an element of role 'sensor' with a `name` and a method `read(scene)` that returns an array whose first two
axes are (worlds, robots of the group).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from formiga.engine import Engine, Model
from formiga.engine.above.sampling import Response
from formiga.engine.beams import SENSOR_HEIGHT, Beams, moved
from formiga.errors import WorldError
from formiga.geometry import PLACE, TURN, from_euler, multiply, rotate, to_euler, to_world, up_axis
from formiga.kernels.kept import listed, run_kept
from formiga.kernels.program import Stage
from formiga.map.grid import Grid
from formiga.noise import Noise
from formiga.sense.surroundings import Surroundings
from formiga.state import Floats, State
from formiga.world.contract import shipped
from formiga.world.elements import complaint, discover, needed, of, where
from formiga.world.model import Group, World
from formiga.world.mount import CHASSIS, Mounted

Made = TypeVar("Made")
Readings = dict[str, dict[str, Any]]  # group -> sensor -> (W, n, ...)


@dataclass(frozen=True)
class SensorView(Surroundings):
    """What a sensor may look at: the robots that carry it, those around them, and the engine's beams. It does not say which
    engine."""

    noise: Noise           # all randomness: `scene.noise.uniform(low, high, size, "use")`
    owner: str             # 'group/sensor', for what the sensor remembers
    readings: dict[str, Any] = field(default_factory=dict)  # of the group, for its method `draw`; none while it reads

    def cast(self, beams: Beams, reach: float, sensor: Mounted | None = None) -> Floats:
        """Distances (W, n, B) along beams fixed to each robot; infinity where nothing is within reach.

        sensor: it has the beams in its own plane and frame, wherever it sits on the robot.
        """
        _refuse_endless(reach)
        if sensor is None or not sensor.in_space:
            return self.engine.cast(self.model, self.state, beams, reach, self.robots)
        if self.turns_alone(sensor):
            return self.engine.cast(self.model, self._turned(sensor.on), moved(beams, sensor.x, sensor.y, sensor.yaw), reach,
                                    self.robots)
        return self.engine.rays(self.model, self.state, *seated(sensor, beams, self.group), reach, self.robots, sensor.on)

    def cast_around(self, sensor: Mounted, beams: Beams, aside: Floats, up: Floats, reach: float) -> Floats:
        """Distances (W, n, B) along rays in all directions around the beams of a sensor in space: turned by `aside` in its own
        plane, and then by `up` out of it, (B,) or each robot's own (W, n, B), in rad. A ray that points below the sensor's
        plane does not see the ground, which is always there."""
        _refuse_endless(reach)
        own = seat(sensor, SENSOR_HEIGHT * self.group.robot.height, self.group.robot.footed)
        c, s, (x, y) = np.cos(aside), np.sin(aside), beams.direction.T
        flat = np.stack([c * x - s * y, s * x + c * y, np.zeros(aside.shape)], axis=-1)
        way = np.cos(up)[..., None] * flat + np.sin(up)[..., None] * (0.0, 0.0, 1.0)
        origin = to_world(own, np.column_stack([beams.origin, np.zeros(len(beams.origin))]))
        return self.engine.rays(self.model, self.state, origin, rotate(own[TURN], way), reach, self.robots, sensor.on, up < 0.0)

    def flat(self, sensor: Mounted) -> bool:
        """Whether beams in the plane of the floor see all there is around a sensor: it sits upright, over a level floor."""
        return self.model.level and (not sensor.in_space or self.turns_alone(sensor))

    def turns_alone(self, sensor: Mounted) -> bool:
        """Whether a sensor over a level floor is as on the chassis, but for where its part points: as on a turret."""
        robot = self.group.robot
        upright = sensor.z is None and sensor.roll == 0.0 and sensor.pitch == 0.0
        return self.model.level and upright and sensor.on in robot.footed and robot.outline is None

    def _turned(self, on: str) -> State:
        """The state in which the robots that carry a sensor head where one of their parts points; all else is shared."""
        if on == CHASSIS:
            return self.state
        turned = copy(self.state)
        turned.heading = self.state.heading.copy()
        turned.heading[:, self.robots] = self.facing(on)
        return turned

    def pose(self, sensor: Mounted) -> Floats:
        """The poses (W, n, 7) of a sensor in space: x y z, and a quaternion w x y z. On the chassis z is from its foot."""
        self.in_space(sensor)
        part = self.state.bodies[:, self.model.part_rows(sensor.on, self.robots)]
        if not sensor.moved:
            return part
        own = seat(sensor)
        return np.concatenate([to_world(part, own[PLACE]), multiply(part[..., TURN], own[TURN])], axis=-1)

    def paint(self, sensor: Mounted, width: int, height: int, field: float, high: float) -> Any:
        """Images (W, n, height, width, 3) that a camera sees; field: the angle from left to right, high: as in `seat`."""
        eye = seat(sensor, high, self.group.robot.footed)
        return self.engine.paint(self.model, self.state, width, height, field, eye, self.robots, sensor.on)

    def cast_turned(self, beams: Beams, turn: Floats, reach: float, on: str = CHASSIS) -> Floats:
        """The same along beams that are each turned by an angle of its own, (W, n, B) rad. on: with a part of the robot."""
        return self.engine.cast_turned(self.model, self._turned(on), beams, turn, reach, self.robots)

    def cast_from(self, poses: Floats, beams: Beams, reach: float) -> Floats:
        """Distances (W, n, P, B) along beams of a robot at any poses (W, n, P, 3) of x, y and heading, to walls and obstacles
        alone: what it would see there."""
        _refuse_endless(reach)
        poses = np.asarray(poses, np.float64)
        if poses.ndim != 4 or poses.shape[:2] != (self.state.worlds, self.group.count) or poses.shape[3] != 3:
            raise WorldError(f"poses must be an array (worlds, robots, poses, 3) = ({self.state.worlds}, {self.group.count}, "
                             f"..., 3), not {poses.shape}.")
        return self.engine.cast_from(self.model, self.state, poses, beams, reach)

    def rays(self, origin: Floats, direction: Floats, reach: float) -> Floats:
        """The same along rays (B, 3) in space, from the middle of each robot's foot: x ahead, y to the left, z up."""
        return self.engine.rays(self.model, self.state, origin, direction, reach, self.robots)

    def shadow(self, angles: tuple[float, ...], mount: float, reach: float, cone: float, curve: tuple[float, ...],
               on: str = CHASSIS) -> Floats:
        """Readings (W, n, sensors) of a ring of sensors by the shadow method; curve: readings from distance 0 to reach."""
        return self.engine.shadow(self.model, self._turned(on), angles, mount, reach, cone, curve, self.robots)

    def sample(self, angles: tuple[float, ...], mount: float, reach: float, cone: float, curve: Response,
               on: str = CHASSIS) -> Floats:
        """The same from samples: those of a `Surface`, or generated by ray casting from a curve."""
        return self.engine.sample(self.model, self._turned(on), angles, mount, reach, cone, curve, self.robots)

    def light(self, diodes: Any, on: str = CHASSIS) -> Floats:
        """Readings (W, n, S) of light sensors, `sense.light.Photodiodes`, fixed to a part of each robot."""
        return self.engine.light(self.model, self.state, diodes, self.robots, on)

    def cast_stages(self, beams: Beams, reach: float, out: Floats) -> list[Stage] | None:
        """`cast` as stages of a compiled program, into out (W, n, B); None if the engine has none."""
        return self.engine.cast_stages(self.model, self.state, beams, reach, self.robots, out)

    def light_stages(self, diodes: Any, out: Floats) -> list[Stage] | None:
        """`light` as stages of a compiled program, into out (W, n, S); None if the engine has none."""
        return self.engine.light_stages(self.model, self.state, diodes, self.robots, out)

    def look(self, reach: float, most: int, on: str = CHASSIS) -> tuple[Floats, Any]:
        """Lights in sight (W, n, most, 6), nearest first: bearing from x of a part of each robot, elevation, distance, red,
        green, blue; how many (W, n)."""
        return self.engine.look(self.model, self.state, reach, most, self.robots, on)

    def facing(self, on: str = CHASSIS) -> Floats:
        """Where x of a part of each robot points, seen from above: (W, n) rad."""
        if on == CHASSIS:
            return np.ascontiguousarray(self.heading)
        return np.ascontiguousarray(to_euler(self.state.bodies[:, self.model.part_rows(on, self.robots)][..., TURN])[2])

    def tops(self, height: Floats) -> Floats:
        """How high the tops of all robots (W, N) are above the floor; height (N,): of their bodies."""
        if self.model.level:
            return self.once("tops", lambda world: np.repeat(height[None], self.state.worlds, axis=0))
        pose = self.state.bodies[:, self.model.chassis]
        return pose[..., 2] + height * up_axis(pose[..., TURN])[..., 2]

    def place(self, local: Floats) -> Floats:
        """Points (W, n, B, 3) in each robot's frame, as points of the world: from the middle of its foot, x ahead, z up."""
        return self.engine.points(self.model, self.state, local, self.robots)

    def chassis(self, sensor: Any) -> Floats:
        """Poses (W, n, 7) of the robots' bodies in space: x y z, and a quaternion w x y z."""
        self.in_space(sensor)
        return self.state.bodies[:, self.model.chassis[self.robots]]

    def in_space(self, sensor: Any) -> None:
        """Refuse a sensor that makes no sense in the plane."""
        if not self.model.poses:
            raise WorldError(f"{where(sensor)}<{of(sensor).tag}> measures what exists only in space; choose "
                             "engine=\"spatial\".")

    def once(self, name: str, make: Callable[[World], Made]) -> Made:
        """What a sensor makes of the world's description, made when it is first asked for and kept with the model."""
        kept = self.model.made
        if name not in kept:
            kept[name] = make(self.model.world)
        made: Made = kept[name]
        return made

    def map(self, name: str = "map") -> Grid:
        """The cells of the world's <map> of this name; `formiga.map` has distances over them, beams and more."""
        return self.model.world.map(name)

    def memory(self, name: str, first: Any = None) -> Any:
        """An array of the sensor's own that lives in the state; `first` (W, n, ...) is what it starts as. A method `draw` need
        not say that."""
        return self.state.remember(self.owner, name, first)

    def stages_of(self, source: Any) -> tuple[Any, list[Stage]] | None:
        """The array that the kernels of a sensor or a link fill, and these kernels, checked; None if it has none here."""
        return stages_of(source, self)

    def run_stages(self, source: Any) -> Any:
        """The readings of a sensor or a link that gives only kernels, for the readable loop."""
        return run_kept(self.state, self.owner, source, lambda _: needed(source, self.stages_of(source))).out.copy()


Scene = SensorView  # the former name, for sensors of a user's own


def seat(sensor: Mounted, high: float = 0.0, footed: tuple[str, ...] = (CHASSIS,)) -> Floats:
    """The pose (7,) of a sensor in the frame of the part that carries it; high: z on one of the parts whose frames begin at the
    robot's foot, unless it is given."""
    z = sensor.z if sensor.z is not None else high if sensor.on in footed else 0.0
    return np.array([sensor.x, sensor.y, z, *from_euler(sensor.roll, sensor.pitch, sensor.yaw)])


def seated(sensor: Mounted, beams: Beams, group: Group) -> tuple[Floats, Floats]:
    """Origins and directions (B, 3) of a sensor's beams in the frame of the part of the robot that carries it."""
    own = seat(sensor, SENSOR_HEIGHT * group.robot.height, group.robot.footed)
    origin, direction = (np.column_stack([part, np.zeros(len(part))]) for part in (beams.origin, beams.direction))
    return to_world(own, origin), rotate(own[TURN], direction)


def prepare_all(world: World) -> None:
    """Before the first step: each source of readings reads the files that it needs, and says what is wrong with them."""
    for group in world.groups:
        for source in group.sources:
            try:
                source.prepare()
            except WorldError as wrong:
                raise complaint(source, wrong) from wrong


def read_all(world: World, engine: Engine, model: Model, state: State) -> Readings:
    """The readings of all sensors, before any robot moves."""
    return {group.name: {sensor.name: look(engine, model, state, group, robots, sensor, sensor.read)
                         for sensor in group.sensors}
            for group, robots in zip(world.groups, world.slices, strict=True)}


def look(engine: Engine, model: Model, state: State, group: Group, robots: slice, source: Any,
         read: Callable[[SensorView], Any]) -> Any:
    """The reading of one sensor or link, checked."""
    try:
        reading = read(scene_of(engine, model, state, group, robots, source))
    except WorldError as wrong:
        raise complaint(source, wrong) from wrong
    return taken(source, reading, (state.worlds, group.count))


def scene_of(engine: Engine, model: Model, state: State, group: Group, robots: slice, source: Any) -> SensorView:
    """What a sensor or a link of a group may look at."""
    noise = Noise(state.key, state.step, robots, group.name, source.name)
    return SensorView(engine, model, state, group, robots, noise, f"{group.name}/{source.name}")


def taken(source: Any, reading: Any, shape: tuple[int, int]) -> Any:
    """What `checked` lets pass. One of the user's own may return an array of the state or of its memory, which the next step
    changes, so it is copied."""
    found = checked(source, reading, shape)
    return found if shipped(type(source)) else found.copy()


def checked(source: Any, reading: Any, shape: tuple[int, int]) -> Any:
    """What a sensor, a link or an estimator returned, which must be an array of real numbers, (worlds, robots, ...)."""
    if not isinstance(reading, np.ndarray) or reading.shape[:2] != shape:
        raise WorldError(f"{where(source)}{of(source).role} '{source.name}' must return an array (worlds, robots, ...) = "
                         f"({shape[0]}, {shape[1]}, ...), not {_shape(reading)}.")
    if reading.dtype.kind not in "biuf":
        raise WorldError(f"{where(source)}{of(source).role} '{source.name}' must return real numbers, not {reading.dtype}.")
    return reading


def stages_of(source: Any, view: Any) -> tuple[Any, list[Stage]] | None:
    """What the method `stages` of a sensor, a link or an estimator gives, checked: the array that is filled, and the stages."""
    made = source.stages(view)
    if made is None:
        return None
    if not (isinstance(made, tuple) and len(made) == 2):
        raise WorldError(f"{where(source)}{of(source).role} '{source.name}': its `stages` must return an array of readings and "
                         f"a list of formiga.Stage, or None, not {type(made).__name__}.")
    return checked(source, made[0], view.shape), listed(source, made[1])


def _refuse_endless(reach: float) -> None:
    if not 0.0 <= reach < np.inf:
        raise WorldError(f"reach: {reach} is not a finite length; beams need one.")


def _shape(reading: Any) -> str:
    return str(reading.shape) if isinstance(reading, np.ndarray) else type(reading).__name__


discover(__name__)
