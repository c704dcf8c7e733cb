"""What this study adds to the laboratory: the filter, the navigation, and a robot whose wheels are not as they should be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import ClassVar

import numpy as np

from formiga.control.view import View
from formiga.drawing import Pen
from formiga.errors import WorldError
from formiga.estimate.belief import belief_of
from formiga.estimate.view import RobotView
from formiga.locate.kalman import correct, predict
from formiga.map.lines import Lines, expected, lines_of
from formiga.sense.sharp import Sharp
from formiga.state import Floats
from formiga.studies.migration import kinematics, pairs
from formiga.units import CM
from formiga.world.contract import channels
from formiga.world.drives import Omni as OmniDrive
from formiga.world.elements import choice, element, flag, integer, length, name, number, numbers, of, speed, text, where
from formiga.world.robots.omni import Omni

TEN_TIMES = 10.0           # of an ellipse: in its own size it is smaller than the robot
WHEELS = 3                 # of the robot whose kinematics the filter and the navigation know
START_VARIANCE = 1e-4      # m^2 and rad^2, of a known start: ours


@element("wall_pairs", role="estimator")
@dataclass(frozen=True)
class WallPairs:
    """Localization by pairs of infrared sensors at known walls, fused with the odometry of three omnidirectional wheels in an
    extended Kalman filter. [Goncalves et al. 2009]

    A belief is x y heading, and of its covariance xx xy yy and that of the heading; the whole matrix is drawn.
    """

    room: tuple[float, ...] = numbers(unit="m", fewest=4, most_of=4, doc="x0 y0 x1 y1 of the walls around")
    blocks: tuple[float, ...] | None = numbers(None, unit="m", fewest=4, group=4, doc="x0 y0 x1 y1 of each known block")
    use: str = choice("both", options=("both", "odometry"), doc="odometry: the walls correct nothing")
    gates: bool = flag(True, doc="distrust what is far from what is expected: 1.2 cm for the angle, 5 cm for the place")
    reach: float = length(1.0, above=0.0, doc="of the sensors")
    infrared: str = text("infrared", doc="a <sharp> that reads volts; its sensors two by two are the pairs")
    encoders: str = text("encoders", doc="of the wheels")
    wheel_distance: float = length(kinematics.L, above=0.0, doc="of the wheels from the middle, as far as the robot knows")
    wheel_radius: float = length(kinematics.WHEEL_RADIUS, above=0.0, doc="as far as the robot knows")
    name: str = name("belief")
    locates: ClassVar[bool] = True

    @cached_property
    def lines(self) -> Lines:
        """The walls that the robot knows."""
        try:
            return lines_of(np.reshape(self.blocks or (), (-1, 4)), self.room)
        except ValueError as wrong:
            raise WorldError(f"{where(self)}<wall_pairs> room, blocks: {wrong}.") from wrong

    def estimate(self, view: RobotView) -> Floats:
        """Beliefs (W, n, 7): x y heading, xx xy yy turn."""
        pose = view.memory("pose", view.start)
        covariance = view.memory("covariance", np.broadcast_to(START_VARIANCE * np.eye(3), (*view.shape, 3, 3)))
        angle = view.reading(self.encoders)
        if angle.shape[2:] != (WHEELS,):
            raise WorldError(f"{where(self)}<wall_pairs> encoders: '{self.encoders}' gives {angle.shape[2:]} numbers; it "
                             f"needs the angles of {WHEELS} omnidirectional wheels.")
        last = view.memory("angle", angle)
        wheels = (angle - last) * (self.wheel_radius / view.dt)
        last[...] = angle
        heading = pose[..., 2]
        jacobian = kinematics.transition(wheels, heading, view.dt)
        noise = kinematics.motion_noise(wheels, heading, view.dt, self.wheel_distance)
        moved = kinematics.moved(pose, wheels, view.dt, self.wheel_distance)
        pose[...], covariance[...] = predict(moved, covariance, jacobian, noise)
        measured, variance = self.measure(view, pose)
        seen = np.concatenate([measured, variance], axis=-1)
        view.memory("measured", seen)[...] = seen
        if self.use == "both":
            noise = variance[..., None] * np.eye(3)
            innovation = measured - pose      # headings are on the branch of the belief: pairs.look
            pose[...], covariance[...] = correct(pose, covariance, innovation, np.eye(3), noise)
        return belief_of(pose, covariance)

    def measure(self, view: RobotView, pose: Floats) -> tuple[Floats, Floats]:
        """Pose (W, n, 3) by the walls alone, and variances."""
        distance, variance = pairs.measured_distances(view.reading(self.infrared), self.reach)
        sight = pairs.look(self.paired(view), self.lines, pose, distance, variance, self.reach, self.gates)
        return pairs.measured_pose(sight, pose)

    def paired(self, view: RobotView) -> pairs.Pairs:
        """The pairs of the robot's sensors."""
        sensor = view.sensor(self.infrared)
        if not isinstance(sensor, Sharp) or sensor.reads != "volts":
            raise WorldError(f"{where(self)}<wall_pairs> infrared: '{self.infrared}' is <{of(sensor).tag}>; it takes a <sharp> "
                             "that reads volts.")
        try:
            return known_pairs(tuple(sensor.seats.ravel().tolist()))
        except ValueError as wrong:
            raise WorldError(f"{where(self)}<wall_pairs> infrared: {wrong}.") from wrong

    def draw(self, view: RobotView, pen: Pen) -> None:
        """The belief with its ellipse, which is drawn ten times as large, too; the known walls, and those among them that the
        beams are expected on."""
        pose, covariance = view.memory("pose"), view.memory("covariance")
        pen.pose(pose, covariance, colour="#0072b2")
        pen.layer("ten_times").pose(pose, TEN_TIMES**2 * covariance[..., :2, :2], colour="#0072b2", size=0.01)
        ends = self.lines.ends
        pen.layer("map").lines(ends[:, :2], ends[:, 2:], colour="#0072b2", width=0.006)
        _, wall = expected(self.lines, pose[:1], view.sensor(self.infrared).seats, self.reach)
        if len(found := np.unique(wall[wall >= 0])):
            pen.layer("expected").lines(ends[found, :2], ends[found, 2:], colour="#009e73", width=0.016)


@cache
def known_pairs(seats: tuple[float, ...]) -> pairs.Pairs:
    """Pairs of sensors, checked once."""
    return pairs.pairs_of(np.reshape(seats, (-1, 3)))


@element("waypoints", role="controller")
@dataclass(frozen=True)
class Waypoints:
    """Drives three omnidirectional wheels through places, one after another, by a believed pose; the heading is held.

        speed = min(top, 2 distance + 0.05) towards the place,  omega = 2 (heading - believed heading),  at most 1 rad/s
    The text does not describe its navigation; all numbers are ours.
    """

    points: tuple[float, ...] = numbers(unit="m", fewest=2, group=2, doc="x y of each place")
    laps: int = integer(1, least=1)
    heading: float = number(0.0, unit="rad", doc="that is held")
    top: float = speed(0.3, above=0.0)
    least: float = speed(0.05, above=0.0, doc="at a place")
    slow: float = number(2.0, above=0.0, doc="1/s: speed per distance left")
    gain: float = number(2.0, above=0.0, doc="1/s, of the heading")
    top_turn: float = number(1.0, unit="rad/s", above=0.0)
    near: float = length(3.0 * CM, above=0.0, doc="a place is reached within this")
    belief: str = text("belief", doc="the estimator that is believed: x y heading come first")
    wheel_distance: float = length(kinematics.L, above=0.0, doc="of the wheels from the middle, as far as the robot knows")

    def decide(self, view: View) -> Floats:
        """Rim speeds (W, n, 3)."""
        pose = view.reading(self.belief)[..., :3]
        if pose.shape[2] != 3 or channels(view.group.robot) != WHEELS:
            raise WorldError(f"{where(self)}<waypoints> needs a belief that begins with x y heading, and a robot on {WHEELS} "
                             f"omnidirectional wheels; '{self.belief}' has {pose.shape[2]} numbers here, and the robot "
                             f"{channels(view.group.robot)} channels.")
        course = np.reshape(self.points, (-1, 2))
        at, places = view.memory("at", np.zeros(view.shape)), self.laps * len(course)
        off = course[np.minimum(at, places - 1).astype(int) % len(course)] - pose[..., :2]
        at += np.hypot(off[..., 0], off[..., 1]) < self.near
        np.minimum(at, places, out=at)
        off = course[np.minimum(at, places - 1).astype(int) % len(course)] - pose[..., :2]
        far = np.hypot(off[..., 0], off[..., 1])
        speed = np.minimum(self.top, self.slow * far + self.least) / np.maximum(far, 1e-9)
        turn = np.clip(self.gain * np.angle(np.exp(1j * (self.heading - pose[..., 2]))), -self.top_turn, self.top_turn)
        twist = np.concatenate([speed[..., None] * off, turn[..., None]], axis=-1)
        drives = kinematics.wheels_of(twist, pose[..., 2], self.wheel_distance)
        return np.where((at < places)[..., None], drives, 0.0)

    def draw(self, view: View, pen: Pen) -> None:
        """The course, and the place that is driven to."""
        points = np.reshape(self.points, (-1, 2))
        pen.path(np.vstack([points, points[:1]]), colour="#999999", width=0.006)
        next_ = points[np.asarray(view.memory("at")[0]).astype(int) % len(points)]
        pen.points(next_, colour="#cc79a7", size=0.02)


@dataclass(frozen=True)
class WrongWheels(OmniDrive):
    """An omnidirectional drive whose wheels are larger or smaller than its orders and its encoders suppose.

    Wheel k, told the rim speed u, turns with u / r and rolls (1 + e_k) u:   u_k (1 + e_k) = J_k (vx, vy, omega).
    """

    errors: tuple[float, ...] = ()

    @cached_property
    def jacobian(self) -> Floats:
        """J (n, 3): rim speeds, as ordered and counted, from a twist."""
        a = np.array(self.angles, np.float64)
        own = np.column_stack([-np.sin(a), np.cos(a), np.full(len(a), self.distance)])
        return np.asarray(own / (1.0 + np.array(self.errors, np.float64))[:, None])


@element("real_omni", role="robot")
@dataclass(frozen=True)
class RealOmni(Omni):
    """An <omni> as it was built, not as it was designed: its orders and encoders suppose wheels of other sizes."""

    wheel_errors: tuple[float, ...] = numbers((0.0, 0.0, 0.0), fewest=3, most_of=32, above=-1.0,
                                              doc="of each radius, as a share of wheel_radius")

    @cached_property
    def drive(self) -> OmniDrive:
        """A rim speed for each wheel."""
        plain = Omni.drive.func(self)  # type: ignore[attr-defined]
        if len(self.wheel_errors) != len(plain.angles) or self.directions is not None:
            raise WorldError(f"<real_omni> wheel_errors: {len(self.wheel_errors)} for {len(plain.angles)} wheels, which roll "
                             "along the circle (no directions).")
        return WrongWheels(plain.angles, plain.distance, plain.top_speed, None, plain.wheel_radius, plain.motor_noise,
                           plain.lag, errors=self.wheel_errors)


__all__ = ["RealOmni", "WallPairs", "Waypoints", "WrongWheels"]
