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
from formiga.locate.clusters import Hypotheses, hypotheses
from formiga.locate.field import Mixture
from formiga.locate.resampling import KLD, Bins, kld_resample, low_variance, normalized, reweigh
from formiga.map.grid import UNKNOWN, Grid
from formiga.sense.scanner import Scanner
from formiga.state import Floats
from formiga.units import CM, DEG
from formiga.world.drives import Differential
from formiga.world.elements import angle, choice, duration, element, flag, integer, length, name, number, of, where
from formiga.world.mount import CHASSIS

SHOWN = 1000        # particles of a robot that are drawn
PATIENCE = 1.3      # times that scans must be less probable than usual before random particles are drawn
CELLS = Bins(0.5, 10.0 * DEG)     # in which particles are counted
WHOLE = 1e-6        # of a control period, by which a time may miss a whole number of them
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
    first: int = integer(0, least=0, most=1_000_000, doc="particles of a first draw anywhere, of which the first scan "
                                                         "chooses `most`; 0: no more than `most`")
    way: float = length(20.0 * CM, least=0.0, doc="after which it looks at the next scan")
    turn: float = angle(10.0 * DEG, least=0.0, doc="the same")
    period: float = duration(0.0, least=0.0, doc="after which it looks at the next scan instead, a whole number of control "
                                                 "periods; 0: by `way` and `turn`")
    sigma: float = length(30.0 * CM, above=0.0, doc="standard deviation of a beam that hits a wall; beams are not as "
                                                   "independent as the model has them, so it is larger than the scanner's")
    hit: float = number(0.6, least=0.0, doc="share of beams that hit a wall of the map")
    short: float = number(0.1, least=0.0, doc="share of those that hit something nearer, such as another robot")
    random: float = number(0.3, above=0.0, doc="share of all others")
    trust: float = number(1.0, above=0.0, most=1.0, doc="exponent of a scan's probability: below 1 if its beams err together "
                                                       "[Thrun, Burgard & Fox 2005, section 6.3.4]")
    epsilon: float = number(0.05, above=0.0, most=1.0, doc="of KLD resampling: how well particles stand for the belief")
    motion: float = number(1.0, above=0.0, doc="errors of the motion model, as a multiple of its usual ones, which are those "
                                               "of a robot that slips a little")
    recover: bool = flag(True, doc="whether random particles are added as scans become improbable")
    name: str = name("belief")

    locates: ClassVar[bool] = True
    columns: ClassVar[int] = COLUMNS    # of its belief

    def __post_init__(self) -> None:
        if self.least > self.most:
            raise WorldError(f"<{of(self).tag}> least: {self.least} particles are more than `most`, {self.most}.")
        if 0 < self.first < self.most:
            raise WorldError(f"<{of(self).tag}> first: {self.first} particles are fewer than `most`, {self.most}, which are "
                             "chosen of them; 0 draws no more than `most`.")

    @property
    def _tag(self) -> str:
        """How its messages begin."""
        return f"{where(self)}<{of(self).tag}>"

    @property
    def _chooses(self) -> bool:
        """Whether the first scan chooses the particles."""
        return self.start == "anywhere" and self.first > self.most

    def estimate(self, view: RobotView) -> Floats:
        """Beliefs (W, n, 7)."""
        now = view.reading(self.odometry)[..., POSE]
        self._refuse_others(view)
        belief = view.memory("belief", np.broadcast_to(0.0, (*view.shape, self.columns)))
        last = view.memory("last", now)              # odometry at the last scan
        begun = view.memory("begun", np.broadcast_to(False, view.shape))
        due = self._due(view, last, now) | ~begun
        if due.any():
            self._update(view, due, begun, last, now, belief)
        here = belief.copy()
        here[..., POSE] = motion.follow(belief[..., POSE], last, now)
        return here

    def _due(self, view: RobotView, last: Floats, now: Floats) -> Any:
        """Which filters (W, n) look at this scan."""
        if self.period > 0.0:
            every = round(self.period / view.dt)
            if abs(self.period / view.dt - every) > WHOLE or every < 1:
                raise WorldError(f"{self._tag} period: {self.period:g} s is no whole number of control periods of "
                                 f"{view.dt:g} s.")
            return np.broadcast_to(np.round(view.time / view.dt).astype(np.int64) % every == 0, view.shape)
        moved = motion.relative(last, now)
        return (np.hypot(moved[..., 0], moved[..., 1]) >= self.way) | (np.abs(moved[..., 2]) >= self.turn)

    def _refuse_others(self, view: RobotView) -> None:
        """Numbers of another kind would be taken for poses, or for distances."""
        poses = [each for each in view.group.estimators if each.locates and each is not self]
        distances = [each for each in view.group.sensors if isinstance(each, Scanner)]
        for given, fits, kind in (("odometry", poses, "poses"), ("scan", distances, "distances")):
            if (source := view.sensor(getattr(self, given))) not in fits:
                raise WorldError(f"{self._tag} {given}: '{source.name}' is <{of(source).tag}>, which gives no {kind}. "
                                 f"There are: {', '.join(each.name for each in fits) or 'none'}.")
        if source.on != CHASSIS or source.roll or source.pitch:
            raise WorldError(f"{self._tag} scan: '{source.name}' sits on another part than {CHASSIS}, or has "
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
        fresh = due & ~begun
        if fresh.any():
            self._begin(view, fresh, particles, weights, count)
        filters = Filters.of(due, particles, weights, count)
        self._predict(view, filters, last[due], now[due])
        log, met, told = self._weigh(view, due, filters.particles, filters.count)
        share = self._watch(view, filters, log, met, told)
        log *= self.trust
        if self._chooses:
            log[fresh[due]] = 0.0                                      # a scan that chose the particles has been counted
        filters.enough = reweigh(filters.weights, log, filters.count)
        found = hypotheses(filters.particles, filters.weights, filters.count)
        belief[due, :COLUMNS] = belief_of(found.pose[:, 0], found.covariance[:, 0])
        self._resample(view, filters, found, share, belief)
        filters.put_back(particles, weights, count)
        last[due], begun[due] = now[due], True

    def _predict(self, view: RobotView, filters: Filters, last: Floats, now: Floats) -> None:
        """Move the particles as the odometry went from last to now (F, 3)."""
        starts = view.noise.starts("motion")[filters.due]
        if isinstance(view.group.robot.drive, Differential):
            motion.differential(filters.particles, last, now, _scaled(motion.TurnErrors(), self.motion), starts, filters.count)
        else:
            motion.omni(filters.particles, last, now, _scaled(motion.GlideErrors(), self.motion), starts, filters.count)

    def _watch(self, view: RobotView, filters: Filters, log: Floats, met: Any, told: Any) -> Floats:
        """The share (F,) of particles that are to be random."""
        due = filters.due
        slow, fast = (view.memory(each, np.broadcast_to(0.0, view.shape)) for each in ("slow", "fast"))
        if not self.recover:
            return np.zeros(len(log))
        like = recovery.likeness(np.where(filters.there, log, -np.inf), filters.weights, met)
        long, short = slow[due], fast[due]
        share = recovery.watch(long, short, np.where(told, like, np.nan), patience=PATIENCE)
        slow[due], fast[due] = long, short
        return np.where(told, share, 0.0)

    def _resample(self, view: RobotView, filters: Filters, found: Hypotheses, share: Floats, belief: Floats) -> None:
        """Resample where the weights have become uneven, or where random particles are to come."""
        again = filters.uneven | (share > 0.0)
        if again.any():
            filters.draw(again, self._random(view, filters, again & (share > 0.0)), share, view.noise.starts("resample"),
                         KLD(self.epsilon), self.least, self.most)

    def _random(self, view: RobotView, filters: Filters, wanted: Any) -> Floats | None:
        """Random poses (F, most, 3) for the filters that want them, None if none does."""
        if not wanted.any():
            return None
        grid, others = view.map(self.map), np.zeros((len(wanted), self.most, 3))
        recovery.scatter(others, wanted, view.noise.starts("random")[filters.due], grid, None, _free(grid))
        return others

    def _begin(self, view: RobotView, fresh: Any, particles: Any, weights: Any, count: Any) -> None:
        """Draw the first particles: anywhere on the free cells of the map, or around the robot, as the odometry begins."""
        grid, start = view.map(self.map), view._here
        if not len(_free(grid)):
            raise WorldError(f"{self._tag}: the map '{self.map}' has no free cell, so there is no place to be.")
        if (out := fresh & (grid.at(start[..., :2]) == UNKNOWN)).any():
            world, robot = np.argwhere(out)[0]
            (x, y), (low, high) = start[world, robot, :2], (grid.corners.min(axis=0), grid.corners.max(axis=0))
            raise WorldError(f"{self._tag}: robot {robot} of '{view.group.name}' starts at ({x:.2f}, {y:.2f}), "
                             f"of which the map '{self.map}' knows nothing; it goes from ({low[0]:.2f}, {low[1]:.2f}) to "
                             f"({high[0]:.2f}, {high[1]:.2f}).")
        count[fresh], weights[fresh] = self.most, 1.0 / self.most
        if self.start == "here":
            error = view.noise.normal(1.0, 3 * self.most, "start").reshape(*view.shape, self.most, 3)[fresh]
            mine = start[fresh][:, None] + error * (self.sigma, self.sigma, 5.0 * DEG)
            mine[..., 2] = wrap(mine[..., 2])
        else:
            starts, chance = view.noise.starts("start"), view.noise.uniform(0.0, 1.0, 1, "choose")[..., 0]
            mine = np.zeros((int(fresh.sum()), self.most, 3))
            for f, (w, i) in enumerate(np.argwhere(fresh)):          # one at a time: the first draw may be large
                drawn = np.zeros((1, max(self.first, self.most), 3))
                recovery.scatter(drawn, 1.0, starts[w, i:i + 1], grid, None, _free(grid))
                chosen: Any = slice(None)
                if self._chooses:
                    only = np.zeros_like(fresh)
                    only[w, i] = True
                    log, _, _ = self._weigh(view, only, drawn, np.array([drawn.shape[1]]))
                    chosen = low_variance(normalized(self.trust * log), chance[w, i:i + 1], self.most)[0]
                mine[f] = drawn[0, chosen]
        particles[fresh] = mine

    def _weigh(self, view: RobotView, due: Any, particles: Any, count: Any) -> tuple[Floats, Any, Any]:
        """Log weights (F, P) of the filters that are due; how many beams met something (F,), and whether these were enough to
        tell if the filter is lost."""
        grid, scanner, scan = view.map(self.map), view.sensor(self.scan), view.reading(self.scan)
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


@dataclass
class Filters:
    """Those that look at a scan, F of them."""

    due: Any                 # (W, n) which they are
    particles: Floats        # (F, P, 3)
    weights: Floats          # (F, P) that add up to 1
    count: Any               # (F,) of the particles that count
    enough: Any = None       # (F,) effective number of particles

    @property
    def there(self) -> Any:
        """Which particles count, (F, P)."""
        return np.arange(self.particles.shape[1]) < self.count[:, None]

    @classmethod
    def of(cls, due: Any, particles: Floats, weights: Floats, count: Any) -> Filters:
        """Those of particles (W, n, P, 3), weights (W, n, P) and count (W, n): the memory itself if all are due."""
        if due.all():
            return cls(due, particles.reshape(-1, *particles.shape[2:]), weights.reshape(-1, weights.shape[2]), count[due])
        return cls(due, particles[due], weights[due], count[due])

    def put_back(self, particles: Floats, weights: Floats, count: Any) -> None:
        """Into the memory."""
        if not np.may_share_memory(self.particles, particles):
            particles[self.due], weights[self.due] = self.particles, self.weights
        count[self.due] = self.count

    @property
    def uneven(self) -> Any:
        """Where the effective number of particles is below half, (F,): to resample more often would only lose hypotheses."""
        return self.enough < 0.5 * self.count

    def draw(self, which: Any, others: Floats | None, share: Floats, starts: Any, rule: KLD, least: int, most: int) -> None:
        """Resample those that a mask (F,) names; of the others (F, P, 3) with a probability share (F,), if there are any."""
        rest = self.particles[which]
        many = kld_resample(rest, self.weights[which], self.count[which], starts[self.due][which], CELLS, rule, least, most,
                            share[which], None if others is None else others[which])
        self.particles[which], self.count[which] = rest, many
        for f in np.flatnonzero(which):
            self.weights[f, :self.count[f]], self.weights[f, self.count[f]:] = 1.0 / self.count[f], 0.0


def _scaled(errors: Any, by: float) -> Any:
    """Errors of a motion model, multiplied."""
    return type(errors)(*(by * each for each in errors))


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
