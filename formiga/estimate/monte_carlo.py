"""Monte Carlo localization on a map: particles that odometry moves and scans weigh, as many as are needed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from formiga.drawing import Pen
from formiga.errors import WorldError
from formiga.estimate.belief import COLUMNS, POSE, belief_of, draw_belief
from formiga.estimate.view import RobotView
from formiga.geometry import wrap
from formiga.locate import beams, field, motion, recovery
from formiga.locate.clusters import hypotheses
from formiga.locate.field import Mixture
from formiga.locate.resampling import KLD, Bins, effective, kld_resample, normalized
from formiga.map.grid import UNKNOWN, Grid
from formiga.sense.scanner import Scanner
from formiga.state import Floats
from formiga.units import CM, DEG
from formiga.world.drives import Differential
from formiga.world.elements import angle, choice, element, flag, integer, length, name, number, of, where
from formiga.world.mount import CHASSIS

SHOWN = 1000        # particles of a robot that are drawn
PATIENCE = 1.3      # times that scans must be less probable than usual before random particles are drawn
TELLING = 0.5       # share of a scan's beams that have to meet something before it can say that the filter is lost


@element("monte_carlo", role="estimator")
@dataclass(frozen=True)
class MonteCarlo:
    """Where the robot is on a <map>, by a particle filter: adaptive Monte Carlo localization.

    After every `way` or `turn` of the odometry it does, in this order [Thrun, Burgard & Fox 2005, chapter 8]:
        predict    each particle by the odometry, with an error of its own           `formiga.locate.motion`
        weigh      by the scan: likelihood field, or beam model                      `formiga.locate.field`, `.beams`
        resample   if the effective number of particles is below half: KLD           `formiga.locate.resampling`
        recover    some of them at random, as scans become less probable             `formiga.locate.recovery`
    The belief is the heaviest hypothesis (`formiga.locate.clusters`): x y heading and their covariance, see
    `formiga.estimate.belief`. In between it follows the odometry.
    """

    scan: str = name("scanner", doc="the <scanner> that it reads")
    odometry: str = name("odometry", doc="the <odometry> that it reads; it stands before this element")
    map: str = name("map", doc="the <map> that it knows")
    start: str = choice("anywhere", options=("anywhere", "here"), doc="what is known at the start: nothing, or the pose")
    model: str = choice("field", options=("field", "beam"), doc="of the scanner")
    beams: int = integer(30, least=1, most=4096, doc="of a scan that count, evenly spaced; at most all")
    least: int = integer(300, least=1, doc="particles")
    most: int = integer(20_000, least=1, most=100_000, doc="particles, as at the start")
    way: float = length(20.0 * CM, least=0.0, doc="after which it looks at the next scan")
    turn: float = angle(10.0 * DEG, least=0.0, doc="the same")
    sigma: float = length(30.0 * CM, above=0.0, doc="standard deviation of a beam that hits a wall; beams are not as "
                                                   "independent as the model has them, so it is larger than the scanner's")
    hit: float = number(0.6, least=0.0, doc="share of beams that hit a wall of the map")
    short: float = number(0.1, least=0.0, doc="share of those that hit something nearer, such as another robot")
    random: float = number(0.3, above=0.0, doc="share of all others")
    epsilon: float = number(0.05, above=0.0, most=1.0, doc="of KLD resampling: how well particles stand for the belief")
    recover: bool = flag(True, doc="whether random particles are added as scans become improbable")
    name: str = name("belief")

    locates: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.least > self.most:
            raise WorldError(f"<monte_carlo> least: {self.least} particles are more than `most`, {self.most}.")

    def estimate(self, view: RobotView) -> Floats:
        """Beliefs (W, n, 7)."""
        now = view.reading(self.odometry)[..., POSE]
        self._refuse_others(view)
        belief = view.memory("belief", np.broadcast_to(0.0, (*view.shape, COLUMNS)))
        last = view.memory("last", now)              # odometry at the last scan
        begun = view.memory("begun", np.broadcast_to(False, view.shape))
        moved = motion.relative(last, now)
        due = (np.hypot(moved[..., 0], moved[..., 1]) >= self.way) | (np.abs(moved[..., 2]) >= self.turn) | ~begun
        if due.any():
            self._update(view, due, begun, last, now, belief)
        here = belief.copy()
        here[..., POSE] = motion.follow(belief[..., POSE], last, now)
        return here

    def _refuse_others(self, view: RobotView) -> None:
        """Numbers of another kind would be taken for poses, or for distances."""
        poses = [each for each in view.group.estimators if each.locates and each is not self]
        distances = [each for each in view.group.sensors if isinstance(each, Scanner)]
        for given, fits, kind in (("odometry", poses, "poses"), ("scan", distances, "distances")):
            if (source := view.sensor(getattr(self, given))) not in fits:
                raise WorldError(f"{where(self)}<monte_carlo> {given}: '{source.name}' is <{of(source).tag}>, which gives no "
                                 f"{kind}. There are: {', '.join(each.name for each in fits) or 'none'}.")
        if source.on != CHASSIS or source.roll or source.pitch:
            raise WorldError(f"{where(self)}<monte_carlo> scan: '{source.name}' sits on another part than {CHASSIS}, or has "
                             "roll or pitch; the map is flat, and of its seat only x, y, z and yaw may be given.")

    def draw(self, view: RobotView, pen: Pen) -> None:
        """The particles, every hypothesis with its ellipse, and the belief."""
        particles, weights, count = (view.memory(each) for each in ("particles", "weights", "count"))
        there = np.arange(self.most) < count[..., None]
        chosen = np.arange(0, self.most, max(1, -(-int(count.max()) // SHOWN)))[:SHOWN]
        seen = np.where(there[..., None], particles, particles[:, :, :1])[:, :, chosen]
        pen.particles(seen, np.where(there, weights, weights[:, :, :1])[:, :, chosen])
        found = hypotheses(particles, weights, count)
        for h in range(1, int(found.count.max())):
            rows = found.count[0] > h
            pen.pose(found.pose[0, rows, h], found.covariance[0, rows, h], colour="#8a867f")
        draw_belief(pen, view.reading(self.name))

    # -- one update, of the filters that are due ------------------------------------------------------------------------
    def _update(self, view: RobotView, due: Any, begun: Any, last: Floats, now: Floats, belief: Floats) -> None:
        shape = *view.shape, self.most
        particles = view.memory("particles", np.broadcast_to(0.0, (*shape, 3)))
        weights = view.memory("weights", np.broadcast_to(0.0, shape))
        count = view.memory("count", np.broadcast_to(0, view.shape))
        slow, fast = (view.memory(each, np.broadcast_to(0.0, view.shape)) for each in ("slow", "fast"))
        grid, sources = view.map(self.map), {use: view.noise.starts(use) for use in ("motion", "resample", "random")}
        fresh = due & ~begun
        if fresh.any():
            self._begin(view, fresh, grid, particles, weights, count)
        mine = particles[due]
        moves = (last[due], now[due]), (sources["motion"][due], count[due])
        if isinstance(view.group.robot.drive, Differential):
            motion.differential(mine, *moves[0], motion.TurnErrors(), *moves[1])
        else:
            motion.omni(mine, *moves[0], motion.GlideErrors(), *moves[1])
        log, counted, told = self._weigh(view, due, mine, count[due], grid)
        there = np.arange(self.most) < count[due][:, None]
        ours, long, short = weights[due], slow[due], fast[due]
        share = np.zeros(len(mine))
        if self.recover:
            like = recovery.likeness(np.where(there, log, -np.inf), ours, counted)
            share = np.where(told, recovery.watch(long, short, np.where(told, like, np.nan), patience=PATIENCE), 0.0)
        with np.errstate(divide="ignore"):
            ours = normalized(np.where(there, log + np.log(ours), -np.inf))
        ours = np.where(there, ours, 0.0)
        found = hypotheses(mine, ours, count[due])
        belief[due] = belief_of(found.pose[:, 0], found.covariance[:, 0])
        again = (effective(ours) < 0.5 * count[due]) | (share > 0.0)
        if again.any():
            rest = mine[again]
            others = None
            if (share > 0.0).any():
                others = np.zeros(rest.shape)
                recovery.scatter(others, share[again] > 0.0, sources["random"][due][again], grid, None, _free(grid))
            many = kld_resample(rest, ours[again], count[due][again], sources["resample"][due][again], Bins(0.5, 10.0 * DEG),
                                KLD(self.epsilon), self.least, self.most, share[again], others)
            mine[again] = rest
            ours[again] = np.where(np.arange(self.most) < many[:, None], 1.0 / many[:, None], 0.0)
            some = count[due]
            some[again] = many
            count[due] = some
        particles[due], weights[due], slow[due], fast[due] = mine, ours, long, short
        last[due], begun[due] = now[due], True

    def _begin(self, view: RobotView, fresh: Any, grid: Grid, particles: Any, weights: Any, count: Any) -> None:
        """Draw the first particles: anywhere on the free cells of the map, or around the robot, as the odometry begins."""
        start = view._here
        if not len(_free(grid)):
            raise WorldError(f"{where(self)}<monte_carlo>: the map '{self.map}' has no free cell, so there is no place to be.")
        if (out := fresh & (grid.at(start[..., :2]) == UNKNOWN)).any():
            world, robot = np.argwhere(out)[0]
            (x, y), (low, high) = start[world, robot, :2], (grid.corners.min(axis=0), grid.corners.max(axis=0))
            raise WorldError(f"{where(self)}<monte_carlo>: robot {robot} of '{view.group.name}' starts at ({x:.2f}, {y:.2f}), "
                             f"of which the map '{self.map}' knows nothing; it goes from ({low[0]:.2f}, {low[1]:.2f}) to "
                             f"({high[0]:.2f}, {high[1]:.2f}).")
        count[fresh], weights[fresh] = self.most, 1.0 / self.most
        mine = particles[fresh]
        if self.start == "here":
            error = view.noise.normal(1.0, 3 * self.most, "start").reshape(*view.shape, self.most, 3)[fresh]
            mine[...] = start[fresh][:, None] + error * (self.sigma, self.sigma, 5.0 * DEG)
            mine[..., 2] = wrap(mine[..., 2])
        else:
            recovery.scatter(mine, 1.0, view.noise.starts("start")[fresh], grid, None, _free(grid))
        particles[fresh] = mine

    def _weigh(self, view: RobotView, due: Any, particles: Any, count: Any, grid: Grid) -> tuple[Floats, Any, Any]:
        """Log weights (F, P) of the filters that are due; how many beams met something (F,), and whether these were enough to
        tell if the filter is lost."""
        scanner, scan = view.sensor(self.scan), view.reading(self.scan)
        chosen = np.unique(np.linspace(0, scan.shape[-1] - 1, min(self.beams, scan.shape[-1])).round().astype(np.int64))
        angles, far = np.array(scanner.angles)[chosen], scan[due][:, chosen]
        mixture = Mixture(self.hit, self.short, self.random, sigma=self.sigma, reach=scanner.reach + scanner.mount)
        seat = np.array([scanner.x, scanner.y, scanner.yaw])
        if self.model == "beam":
            poses = motion.seated(particles, seat) if seat.any() else particles
            met = np.where(far < scanner.reach, far + scanner.mount, np.nan)  # one that met nothing tells nothing
            return beams.log_weights(poses, met, angles, grid, mixture, count), *_met(met)
        ends = field.end_points(far, angles + scanner.yaw, scanner.reach, scanner.mount) + seat[:2]
        return field.log_weights(particles, ends, _field(grid, mixture), count), *_met(ends[..., 0])


def _met(beams: Any) -> tuple[Any, Any]:
    """How many of the beams (F, B) met something (F,), NaN for those that did not; and whether they were enough: the mean
    likelihood of a few beams differs much from scan to scan, and would seem to say that the filter is lost."""
    met = (~np.isnan(beams)).sum(axis=-1)
    return met, met >= TELLING * beams.shape[-1]


@lru_cache(maxsize=16)
def _field(grid: Grid, mixture: Mixture) -> field.LikelihoodField:
    """Made once for all filters on a map of a world, whose cells stay."""
    return field.likelihood_field(grid, mixture)


@lru_cache(maxsize=16)
def _free(grid: Grid) -> Any:
    """Row and column (K, 2) of its free cells."""
    return np.argwhere(grid.free)
