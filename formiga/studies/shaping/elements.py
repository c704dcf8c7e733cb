"""The elements of this study: rounds by the clock, probabilistic shaping itself, and two filters to compare it with."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, hypot, pi
from typing import ClassVar

import numpy as np

from formiga.control.view import View
from formiga.drawing import Pen
from formiga.errors import WorldError
from formiga.estimate import RobotView
from formiga.kernels.program import Stage
from formiga.locate.ranges import WIDTH
from formiga.sense.beacon_ranges import UNIT_RING, BeaconRanges
from formiga.sense.displacement import Displacement
from formiga.state import Floats
from formiga.studies.shaping.filters import kalman_world, particles_world
from formiga.studies.shaping.method import FAULT, FIFO, FIX, NONE, PERIOD, ROW, Rules, Scratch, shaping_world
from formiga.studies.shaping.rounds import course, rounds_world
from formiga.units import DEG
from formiga.world.elements import (
    angle,
    choice,
    duration,
    element,
    flag,
    integer,
    length,
    name,
    number,
    numbers,
    of,
    speed,
    where,
)

FLAGGED, IN_USE, SURE = "#d55e00", "#0072b2", "#009e73"      # colours: beacons with an alarm, rings in use, a reliable position
HIGH = 0.4                                                   # m, of the rings, above the racks
MOST_PLACES = 2_000_000    # that one search tries: 64 MB
COLLECT = {"period": PERIOD, "fifo": FIFO}


@element("rounds", role="controller")
@dataclass(frozen=True)
class Rounds:
    """Rounds over a closed course by the clock, for a robot that can go in any direction and does not turn.

    On each straight of length L the speed is a parabola:  v(t) = 4 v_max (t/T)(1 - t/T),  T = 1.5 L / v_max
                                                           s(t) = L (3 (t/T)^2 - 2 (t/T)^3)      [from the paper's "parabolic"]
    The robot starts at the first point with heading 0. A round takes whole steps: v_max is adjusted by less than a step in one.
    """

    points: tuple[float, ...] = numbers(unit="m", fewest=4, group=2, doc="x0 y0 x1 y1 ...; closed by itself")
    top_speed: float = speed(1.0, above=0.0, doc="v_max, in the middle of each straight")

    def stages(self, view: View, drive: Floats) -> list[Stage]:
        """The kernel that fills drive (W, n, D) from a table with a row for each step of a round."""
        given = view.group.robot.drive
        if given is None or not given.holonomic:
            raise WorldError(f"{where(self)}<rounds> goes in any direction; the robots of '{view.group.name}' cannot: use "
                             "<omni>.")
        try:
            places = course(self.points, self.top_speed, view.dt)
        except ValueError as wrong:
            raise WorldError(f"{where(self)}<rounds> points: {wrong}.") from wrong
        way = np.roll(places, -1, axis=0) - places
        twist = np.column_stack([way / view.dt, np.zeros(len(way))])
        return [Stage(rounds_world, (view.noise.source()[1], np.ascontiguousarray(given.follow(twist)), drive))]


@element("shaping", role="estimator")
@dataclass(frozen=True)
class Shaping:
    """Probabilistic shaping: the most probable place from a few seconds of ranges alone, with judgement and fault vectors.

    It needs no prior and no filter: every `period` it searches the maximum of the product of radial Gaussians of its readings,
    on circles about the beacon that answered last. What is not reliable is replaced by the last position and odometry.

        reliable if  J / N < threshold,  and no place farther than `apart` has a J within `margin` of the best (ours)
    The four beacons with the least mean reading of the last period count; readings of the others are ignored. `collect`: period
    takes the readings of these four in this period, missing ones are not replaced; fifo keeps the last `size` of the four
    least readings of each interrogation.
    """

    locates: ClassVar[bool] = True

    ranges: str = name("ranges", doc="the <beacon_ranges> that it reads")
    odometer: str = name("displacement", doc="the <displacement> that it reads")
    beacons: str = name("beacons", doc="the <beacons> on its map")
    sigma: float = length(1.0, above=0.0, doc="standard deviation of a range, as it believes")
    misplaced: float = length(0.2, least=0.0, doc="the same of a beacon's place, along each axis")
    share: float = number(0.05, least=0.0, most=10.0, doc="standard deviation of odometry, as a share of the way")
    answer: float = number(0.95, above=0.0, most=1.0, doc="probability that a healthy beacon answers, as it believes")
    period: float = duration(0.5, above=0.0, doc="from one estimate to the next")
    collect: str = choice("period", options=("period", "fifo"), doc="which readings count: see above")
    size: int = integer(40, least=1, most=10_000, doc="readings in the buffer")
    tags: int = integer(4, least=1, most=64, doc="beacons that count at a time")
    judge: bool = flag(True, doc="false: every estimate is taken as it is")
    threshold: float = number(1.35, above=0.0, doc="the largest J / N of a reliable estimate")
    apart: float = length(2.0, above=0.0, doc="places farther than this from the best are rivals")
    margin: float = number(9.0, least=0.0, doc="of J, by which a rival has to be worse; 0: rivals do not matter")
    alarm: float = number(1e-6, above=0.0, most=1.0, doc="a beacon is faulty if its run of bad luck is less probable than this")
    blame: str = choice("worst", options=("all", "worst"), doc="which beacons an unreliable estimate counts against: all "
                        "in it, as in the paper, or the one that fits worst")
    exclude: bool = flag(True, doc="whether beacons with an alarm are left out from then on")
    replace: bool = flag(False, doc="whether the next nearest beacon counts instead of one that is due, by the map, and silent")
    step: float = length(0.25, above=0.0, doc="between two circles of the search")
    turn: float = angle(3.0 * DEG, above=0.0, doc="between two places on a circle")
    name: str = name("shaping")

    def stages(self, view: RobotView) -> tuple[Floats, list[Stage]]:
        """Beliefs (W, n, 7), x y heading xx xy yy turn, and the kernel that fills them."""
        ranges, moved, places = sources(self, view)
        self.check_search()
        steps = max(1, round(self.period / view.dt))
        W, n, K = *view.shape, len(places)
        memories = (view.memory("heard", np.full((W, n, steps, K), NONE)), view.memory("ways", np.zeros((W, n, steps, 3))),
                    view.memory("rows", np.full((W, n, self.size, len(ROW)), NONE)),
                    view.memory("used", np.full((W, n, self.tags), -1.0)),
                    view.memory("fix", self.first(view)), view.memory("faults", np.zeros((W, n, K, len(FAULT)))))
        rows = self.size if self.collect == "fifo" else steps * self.tags
        scratch = Scratch(np.empty((W, n, rows, 2)), np.empty((W, n, rows)), np.empty((W, n, rows)),
                          np.empty((W, n, rows), np.int64), np.zeros((W, n), np.int64), np.empty((W, n, 2)), np.empty((W, n)),
                          np.empty((W, n)))
        rules = (self.sigma**2 + self.misplaced**2, self.share, self.answer, float(self.judge), self.threshold, self.apart,
                 self.margin, self.alarm, float(self.blame == "worst"), float(self.exclude),
                 float(self.replace), self.step, self.turn)
        out = np.zeros((W, n, 7))
        return out, [Stage(shaping_world, (view.start_source()[0], ranges, moved, np.ascontiguousarray(places), Rules(*rules),
                                           COLLECT[self.collect], *memories, scratch, out))]

    def check_search(self) -> None:
        """Refuse a search that would take all memory: a kernel could not tell it."""
        circles = ceil(2.0 * WIDTH * hypot(self.sigma, self.misplaced) / self.step) + 1
        count = circles * max(1, round(2.0 * pi / self.turn))
        if count > MOST_PLACES:
            raise WorldError(f"{where(self)}<shaping> step, turn: a search would try {count:,} places; at most {MOST_PLACES:,} "
                             "are allowed. Enlarge step or turn, or lower sigma.")

    def first(self, view: RobotView) -> Floats:
        """What `fix` begins as: nothing is known but the heading, which other sensors give."""
        fix = np.zeros((*view.shape, len(FIX)))
        fix[..., FIX.heading] = view.start[..., 2]
        fix[..., FIX.step] = -1.0
        return fix

    def draw(self, view: RobotView, pen: Pen) -> None:
        """Rings of the beacons in use, the position with its ellipse, how far the fit is, and the beacons with alarms."""
        places, fix, faults = view.beacons(self.beacons), view.memory("fix")[0], view.memory("faults")[0]
        heard, used = view.memory("heard")[0], view.memory("used")[0]
        alarms = pen.layer("alarms")
        for robot in range(view.group.count):
            alone = slice(robot, robot + 1)
            for tag in used[robot].astype(int):
                if tag >= 0 and (known := heard[robot, :, tag][heard[robot, :, tag] != NONE]).size:
                    ring = places[tag] + max(float(known.mean()), 0.05) * UNIT_RING
                    pen.path(np.column_stack([ring, np.full(len(ring), HIGH)]), colour=IN_USE, width=0.12)
            if fix[robot, FIX.step] < 0.0:
                continue
            spread = fix[alone][:, [FIX.xx, FIX.xy, FIX.xy, FIX.yy]].reshape(1, 2, 2)
            sure = fix[robot, FIX.reliable] > 0.0
            pen.pose(fix[alone, : FIX.heading + 1], spread, colour=SURE if sure else FLAGGED)
            words = f"J/N {fix[robot, FIX.misfit]:.2f}" + ("" if sure else ", dead reckoning")
            pen.text(fix[alone, : FIX.y + 1] + (0.0, 1.2), [words])
            for column, word in ((FAULT.wrong, "wrong"), (FAULT.mute, "silent")):
                if len(found := np.flatnonzero(faults[robot, :, column])):
                    alarms.points(places[found], colour=FLAGGED, size=0.4)
                    alarms.text(places[found], [word] * len(found))


@element("range_kalman", role="estimator")
@dataclass(frozen=True)
class RangeKalman:
    """An extended Kalman filter on ranges that is told where it starts; of each interrogation it takes the `tags` least ranges.

        predict  x' = x + way,   P' = P + (share |way|)^2 I
        correct  h = |x - x_k|,  H = (x - x_k)^T / h,  S = H P H^T + sigma^2,  K = P H^T / S    [Thrun, Burgard & Fox 2005, 3.3]
    """

    locates: ClassVar[bool] = True

    ranges: str = name("ranges", doc="the <beacon_ranges> that it reads")
    odometer: str = name("displacement", doc="the <displacement> that it reads")
    beacons: str = name("beacons", doc="the <beacons> on its map")
    sigma: float = length(1.02, above=0.0, doc="standard deviation of a range and of a beacon's place together")
    share: float = number(0.05, least=0.0, doc="standard deviation of odometry, as a share of the way")
    tags: int = integer(4, least=1, most=64, doc="ranges that count at a time")
    name: str = name("range_kalman")

    def stages(self, view: RobotView) -> tuple[Floats, list[Stage]]:
        """Beliefs (W, n, 7), and the kernel that fills them."""
        belief = view.memory("belief", np.concatenate([view.start, np.full((*view.shape, 4), 0.0)], axis=-1))
        out, (ranges, moved, places) = np.zeros((*view.shape, 7)), sources(self, view)
        return out, [Stage(kalman_world, (*view.start_source(), ranges, moved, np.ascontiguousarray(places), self.sigma,
                                          self.share, self.tags, belief, out))]

    def draw(self, view: RobotView, pen: Pen) -> None:
        """The position with its ellipse."""
        belief = view.readings[self.name]
        pen.pose(belief[..., :3], belief[..., [3, 4, 4, 5]].reshape(*view.shape, 2, 2))


@element("range_particles", role="estimator")
@dataclass(frozen=True)
class RangeParticles:
    """A particle filter on ranges that starts anywhere among the beacons, and takes the `tags` least of an interrogation.

        w <- w exp(-sum_k min(HARD, |d_k - r_k| / sigma)^2 / 2),  resampled with low variance below half of the particles
    """

    locates: ClassVar[bool] = True

    ranges: str = name("ranges", doc="the <beacon_ranges> that it reads")
    odometer: str = name("displacement", doc="the <displacement> that it reads")
    beacons: str = name("beacons", doc="the <beacons> on its map")
    sigma: float = length(1.02, above=0.0, doc="standard deviation of a range and of a beacon's place together")
    share: float = number(0.05, least=0.0, doc="standard deviation of odometry, as a share of the way")
    jitter: float = length(0.02, least=0.0, doc="standard deviation of a particle's place in each step, against impoverishment")
    size: int = integer(1000, least=2, most=100_000, doc="particles of each robot")
    tags: int = integer(4, least=1, most=64, doc="ranges that count at a time")
    name: str = name("range_particles")

    def stages(self, view: RobotView) -> tuple[Floats, list[Stage]]:
        """Beliefs (W, n, 7), and the kernel that fills them."""
        W, n, P = *view.shape, self.size
        ranges, moved, places = sources(self, view)
        cloud = view.memory("cloud", np.zeros((W, n, P, 3)))       # x, y, weight
        heading = view.memory("heading", view.start[..., 2:])
        belief, out = view.memory("belief", np.zeros((W, n, 7))), np.zeros((W, n, 7))
        room = (np.empty((W, 1, P)), np.empty((W, 1, P), np.int64), np.empty((W, 1)))
        return out, [Stage(particles_world, (view.start_source()[1], ranges, moved, np.ascontiguousarray(places), self.sigma,
                                             self.share, self.jitter, self.tags, *view.noise.source(""), cloud, heading, belief,
                                             *room, out))]

    def draw(self, view: RobotView, pen: Pen) -> None:
        """The particles."""
        cloud = view.memory("cloud")
        pen.particles(np.concatenate([cloud[..., :2], np.zeros((*cloud.shape[:3], 1))], axis=-1), cloud[..., 2].reshape(-1),
                      size=0.08)


def sources(reader: Shaping | RangeKalman | RangeParticles, view: RobotView) -> tuple[Floats, Floats, Floats]:
    """Ranges (W, n, K), displacements (W, n, 3), and the places (K, 2) of the same beacons on the map, which kernels index."""
    tag = of(reader).tag
    for given, kind, takes in ((reader.ranges, BeaconRanges, "beacon_ranges"), (reader.odometer, Displacement, "displacement")):
        if not isinstance(source := view.sensor(given), kind):
            raise WorldError(f"{where(reader)}<{tag}> reads '{given}', which is <{of(source).tag}>; it takes a <{takes}>.")
    if (known := view.sensor(reader.ranges).beacons) != reader.beacons:
        raise WorldError(f"{where(reader)}<{tag}> beacons: '{reader.beacons}' are on its map, and '{reader.ranges}' reads the "
                         f"<beacons> '{known}'.")
    return view.reading(reader.ranges), view.reading(reader.odometer), view.beacons(reader.beacons)


__all__ = ["RangeKalman", "RangeParticles", "Rounds", "Shaping"]
