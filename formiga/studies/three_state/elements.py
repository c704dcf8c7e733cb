"""The elements of this study: the filter with its three states, and a rover that wanders and reports."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy.ndimage import distance_transform_edt

from formiga.control.orders import Orders
from formiga.control.view import View
from formiga.control.wander import Wander
from formiga.drawing import Pen
from formiga.errors import WorldError
from formiga.estimate.belief import COLUMNS
from formiga.estimate.monte_carlo import Filters, MonteCarlo
from formiga.estimate.view import RobotView
from formiga.locate import recovery
from formiga.locate.clusters import Hypotheses, spread
from formiga.locate.resampling import KLD
from formiga.map.grid import FREE, Grid
from formiga.sense.teammates import BEARING, RANGE, SEEN, Teammates
from formiga.state import Floats
from formiga.studies.three_state.machine import GLOBAL, NAMES, RULES, TRACKING, UNDECIDED, Machine, Thresholds, Windows
from formiga.units import CM
from formiga.world.elements import choice, duration, element, flag, integer, length, name, number, of, where

STATE, RESIDUAL = COLUMNS, COLUMNS + 1       # further columns of a belief: the state, and how far the last reports were, m
TO, X, Y = range(3)                          # columns of a report: number of the teammate in its group, and where it is
NONE = -1.0                                  # in the place of TO, where there is no report
ASIDE = 1.0                                  # m; a report further beside the free cells of the map is dropped
COLOURS = {GLOBAL: "#d55e00", UNDECIDED: "#e69f00", TRACKING: "#009e73"}
RING = 1.0                                   # m, radius


@element("three_state", role="estimator")
@dataclass(frozen=True)
class ThreeState(MonteCarlo):
    """Three-state collaborative Monte Carlo localization: a particle filter that hears where teammates see the robot.

    Each scan moves, weighs and resamples the particles as <monte_carlo> does. Then, unless the robot is tracking, those that
    KLD resampling leaves unused, `reported` or more, are drawn around the reports since the last scan, with any heading.
    How far hypotheses are apart, and how far reports are from the belief, moves a machine of three states, see `machine.py`.
    The belief is that of the weighed particles, before new ones are drawn: a report cannot confirm itself.
    """

    radio: str = name("radio", doc="the link over which reports come")
    machine: str = choice("three", options=tuple(RULES), doc="that of the paper, corrected; as it is printed; or without the "
                                                            "state in between (SMCL)")
    g2u: float = length(5.0, above=0.0, doc="mean distance of hypotheses below which a global robot becomes undecided")
    u2p: float = length(1.5, above=0.0, doc="accordance at which an undecided robot becomes tracking")
    u2g: float = length(8.0, above=0.0, doc="accordance from which on it becomes global again")
    p2u: float = length(5.0, above=0.0, doc="accordance from which on a tracking robot becomes undecided again")
    n_u2p: int = integer(10, least=1, most=10_000, doc="instants of reports over which the accordance of u2p is averaged")
    n_u2g: int = integer(20, least=1, most=10_000, doc="the same of u2g")
    n_p2u: int = integer(10, least=1, most=10_000, doc="the same of p2u")
    most: int = integer(8000, least=1, most=100_000, doc="particles, unless it is tracking")
    first: int = integer(1_000_000, least=0, most=1_000_000, doc="particles of the first draw, of which the first scan chooses "
                                                                "`most`: with fewer, chance decides which of the places that "
                                                                "look the same has particles at all")
    tracking: int = integer(500, least=1, most=100_000, doc="particles while it is tracking")
    reported: int = integer(500, least=1, most=100_000, doc="particles that are drawn around reports, at least")
    away: float = length(50.0 * CM, least=0.0, doc="standard deviation of those from the report, along each axis")
    beams: int = integer(31, least=1, most=4096, doc="of a scan that count, evenly spaced; at most all")
    sigma: float = length(1.0, above=0.0, doc="standard deviation of a beam that hits a wall")
    trust: float = number(0.1, above=0.0, most=1.0, doc="exponent of a scan's probability: below 1 if its beams err together")
    period: float = duration(0.5, least=0.0, doc="from one scan to the next")
    recover: bool = flag(False, doc="whether random particles are added as scans become improbable; the paper has none")

    columns: ClassVar[int] = COLUMNS + 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.least <= self.most - self.reported:
            raise WorldError(f"<three_state> reported: {self.reported} of at most {self.most} particles leave fewer than "
                             f"`least`, {self.least}.")
        if self.tracking > self.most:
            raise WorldError(f"<three_state> tracking: {self.tracking} particles are more than `most`, {self.most}.")

    def estimate(self, view: RobotView) -> Floats:
        """Beliefs (W, n, 9): those of <monte_carlo>, the state, and how far the last reports were."""
        self._hear(view)
        return super().estimate(view)

    # -- reports ----------------------------------------------------------------------------------------------------------
    def _hear(self, view: RobotView) -> None:
        """Remember the reports that have come until the next scan; another group counts its teammates by numbers of its own."""
        (W, n), (places, known) = view.shape, self._reports(view)
        inbox, robots = view.inbox(self.radio), view._robots
        rows, sender = inbox.message.reshape(W, n, -1, 3), inbox.sender
        ours = inbox.heard & ((sender < 0) | ((sender >= robots.start) & (sender < robots.stop)))     # -1: it is not known
        heard = np.repeat(ours, rows.shape[2] // ours.shape[2], axis=2) & (rows[..., TO] == np.arange(n)[:, None])
        places[heard], known[heard] = rows[heard][:, [X, Y]], True

    def _reports(self, view: RobotView) -> tuple[Floats, Any]:
        """Memory of the places (W, n, R, 2) at which teammates have reported each robot, and of which are known."""
        link = reporting(self, view)
        shape = *view.shape, link.most * (link.numbers // 3)
        return (view.memory("reports", np.broadcast_to(0.0, (*shape, 2))),
                view.memory("reported", np.broadcast_to(False, shape)))

    # -- one update ---------------------------------------------------------------------------------------------------------
    def _resample(self, view: RobotView, filters: Filters, found: Hypotheses, share: Floats, belief: Floats) -> None:
        """KLD resampling, with particles around the reports for those that are not tracking; then the machine moves."""
        kept, some = self._reports(view)
        due = filters.due
        places, known = kept[due].copy(), some[due].copy()
        some[due] = False
        beside = self._snap(view.map(self.map), places, known)
        state = belief[due, STATE].astype(np.int64)
        told = known.any(axis=1)
        asked, tracks = told & (state != TRACKING), state == TRACKING
        starts, rule = view.noise.starts("resample"), KLD(self.epsilon)
        uneven = filters.uneven | (share > 0.0)
        others = self._random(view, filters, uneven & (share > 0.0) & ~asked)
        for which, most in ((tracks & uneven, self.tracking), (~tracks & ~asked & uneven, self.most),
                            (asked, self.most - self.reported)):
            if which.any():
                filters.draw(which, others, np.where(asked, 0.0, share), starts, rule, min(self.least, most), most)
        if asked.any():
            self._gather(view, filters, asked, places, known, beside)
        self._judge(view, filters, found, told, places, known, belief)

    def _gather(self, view: RobotView, filters: Filters, asked: Any, places: Floats, known: Any, beside: Floats) -> None:
        """Draw the particles that are left around the reports."""
        mine = filters.particles[asked]
        drawn = recovery.gather(mine, filters.count[asked], places[asked], known[asked], self.away,
                                view.noise.starts("reports")[filters.due][asked])
        weight = np.where(drawn >= 0, np.take_along_axis(beside[asked], np.maximum(drawn, 0), axis=1), 1.0)
        filters.particles[asked], filters.count[asked] = mine, self.most
        filters.weights[asked] = weight / weight.sum(axis=1, keepdims=True)

    def _judge(self, view: RobotView, filters: Filters, found: Hypotheses, told: Any, places: Floats, known: Any,
               belief: Floats) -> None:
        """Compare the reports with the belief, and let the machine move where there were any."""
        due, machine = filters.due, Machine(RULES[self.machine], Thresholds(self.g2u, self.u2p, self.u2g, self.p2u),
                                            Windows(self.n_u2p, self.n_u2g, self.n_p2u))
        residuals = view.memory("residuals", np.broadcast_to(0.0, (*view.shape, machine.longest)))
        instants = view.memory("instants", np.broadcast_to(0, view.shape))
        off = np.hypot(*np.moveaxis(places - found.pose[:, :1, :2], -1, 0))
        residual = np.where(known, off, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        past = residuals[due]
        past[told] = np.concatenate([residual[told, None], past[told, :-1]], axis=1)
        since, state = instants[due] + told, belief[due, STATE].astype(np.int64)
        after, since_then = machine.next(state, since, past, spread(found))
        belief[due, STATE], instants[due] = np.where(told, after, state), np.where(told, since_then, since)
        belief[due, RESIDUAL] = np.where(told, residual, belief[due, RESIDUAL])
        residuals[due] = past

    def _snap(self, grid: Grid, places: Floats, known: Any) -> Floats:
        """Bring reports beside the free cells of the map to the nearest of them, and drop those that are far away, in place.

        Returns the weight (F, R) of particles around each: exp(-d^2 / (2 away^2)) of one that was d beside.
        """
        weight = np.ones(known.shape)
        rows, columns = grid.shape
        nearest = _nearest_free(grid)
        with np.errstate(invalid="ignore", over="ignore"):         # no number of a cell is as large as a wild place
            for f, r in np.argwhere(known):
                if grid.at(places[f, r]) == FREE:
                    continue
                cell = np.clip(grid.cell_of(places[f, r]), 0, (rows - 1, columns - 1))
                centre = grid.centre_of(nearest[:, cell[0], cell[1]])
                d = float(np.hypot(*(centre - places[f, r])))
                if d > ASIDE:
                    known[f, r] = False
                else:
                    weight[f, r] = np.exp(-0.5 * (d / max(self.away, 1e-9)) ** 2)
                    places[f, r] = centre
        return weight

    def draw(self, view: RobotView, pen: Pen) -> None:
        """As <monte_carlo>, and a ring and a word for the state: large, since buildings are."""
        super().draw(view, pen)
        pen = pen.layer("states")
        for row in view.reading(self.name)[0]:
            pen.pose(row[:3], colour=COLOURS[int(row[STATE])], size=RING)
            pen.text(row[:2], NAMES[int(row[STATE])])


def reporting(element: Any, view: RobotView) -> Any:
    """The link over which an element hears or sends reports; WorldError if there is none, or if its messages hold none."""
    link = view._link(element.radio)
    if link.numbers % 3:
        raise WorldError(f"{where(element)}<{of(element).tag}> radio: a report has 3 numbers, and messages over '{link.name}' "
                         f"have {link.numbers}; give <{of(link).tag}> a multiple of 3.")
    return link


@lru_cache(maxsize=8)
def _nearest_free(grid: Grid) -> Any:
    """Row and column (2, rows, columns) of the nearest free cell of each."""
    return distance_transform_edt(~grid.free, return_distances=False, return_indices=True)


@element("patrol", role="controller")
@dataclass(frozen=True)
class Patrol(Wander):
    """Wanders, and tells the teammates in sight where they are, by what the robot believes of its own place.

        report = (x, y) + range (cos(heading + bearing), sin(heading + bearing)),   x y heading: the sender's belief
    A message has room for a few reports, each of three numbers: which teammate, x and y; the nearest ones are told.
    """

    teammates: str = name("teammates", doc="the <teammates> that it reads")
    belief: str = name("belief", doc="the <three_state> that it reads")
    radio: str = name("radio", doc="the link over which it reports")
    senders: str = choice("all", options=("all", "decided"), doc="robots that report: all, or those not in the global state")

    def stages(self, view: View, wheels: Floats) -> None:  # type: ignore[override]
        """Its messages have no kernel."""

    def decide(self, view: View) -> Orders:
        """Wheel speeds, and reports; silence where no teammate is in sight."""
        wheels = view.run_stages(self, super().stages)
        return Orders(wheels, message={self.radio: self._message(view)})

    def _message(self, view: View) -> Floats:
        seen, own = view.reading(self.teammates), view.reading(self.belief)
        for attribute, kind, tag in (("teammates", Teammates, "teammates"), ("belief", ThreeState, "three_state")):
            if not isinstance(source := view.sensor(getattr(self, attribute)), kind):
                raise WorldError(f"{where(self)}<patrol> {attribute}: '{source.name}' is <{of(source).tag}>; it takes <{tag}>.")
        numbers = reporting(self, view).numbers
        tells = seen[..., SEEN] > 0.0
        if self.senders == "decided":
            tells &= own[..., None, STATE] != GLOBAL
        message = np.full((*view.shape, numbers // 3, 3), NONE)
        for w, i in np.argwhere(tells.any(axis=2)):
            mates = np.flatnonzero(tells[w, i])
            mates = mates[np.argsort(seen[w, i, mates, RANGE], kind="stable")][: numbers // 3]
            far, angle = seen[w, i, mates, RANGE], own[w, i, 2] + seen[w, i, mates, BEARING]
            message[w, i, : len(mates), TO] = mates
            message[w, i, : len(mates), X] = own[w, i, 0] + far * np.cos(angle)
            message[w, i, : len(mates), Y] = own[w, i, 1] + far * np.sin(angle)
        message[~tells.any(axis=2)] = np.nan
        return message.reshape(*view.shape, numbers)


__all__ = ["RESIDUAL", "STATE", "Patrol", "ThreeState"]
