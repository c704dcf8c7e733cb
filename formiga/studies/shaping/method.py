"""Probabilistic shaping as kernels, phase by phase. [ROBOTICA 2009, probabilistic shaping; R05]

    predict    rows and position move with the robot                            eq. 3
    update     readings of this interrogation join the rows                     phase 1
    listen     beacons that should answer and do not
    search     the most probable place of all rows, from scratch                eqs. 4-8: `formiga.locate.ranges`
    judge      whether it is reliable; else dead reckoning; and which beacon is to blame
    choose     the beacons that count in the next period

Arrays have (worlds, robots) first. Columns of arrays are named by FIX, FAULT and ROW.
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt
from typing import Any, NamedTuple

import numpy as np

from formiga.kernels import kernel
from formiga.locate.ranges import search_all

NONE = -1.0                               # instead of a range that was not read: memories have no NaN, so they can be compared
PERIOD, FIFO = 0, 1                       # how rows are collected
POLISH = 6                                # steps of Gauss and Newton after the search
PRIOR_GOOD, PRIOR_ALL = 19.0, 20.0        # estimates that p_s starts from, as if they had been judged before the first one


class FixColumns(NamedTuple):
    """What the last estimate found, and what is known since the start."""

    x: int = 0             # m, the position that is delivered, carried on by odometry from step to step
    y: int = 1
    heading: int = 2       # rad
    xx: int = 3            # m^2, its covariance
    xy: int = 4
    yy: int = 5
    misfit: int = 6        # J / N of the last search
    rival: int = 7         # J of the best place that is far from the best one, minus J there
    reliable: int = 8      # 1 if the last estimate was
    rows: int = 9          # readings in it
    step: int = 10         # at which it was made; -1: there was none yet
    all: int = 11          # estimates so far
    good: int = 12         # the reliable ones of them
    trusted: int = 13      # 1 if the position was confirmed since the reader last heard nothing at all
    found_x: int = 14      # the place that the last search found, whatever became of it
    found_y: int = 15


class FaultColumns(NamedTuple):
    """The fault vectors: a row for each beacon."""

    bad: int = 0           # consecutive unreliable estimates that count against it
    silent: int = 1        # consecutive missing answers while it was due
    wrong: int = 2         # 1 while it counts as faulty: its readings do not fit
    mute: int = 3          # 1 while it counts as silent
    ever_wrong: int = 4    # 1 if it ever did
    ever_mute: int = 5
    due: int = 6           # 1 if it should answer, by the map and the position


class RowColumns(NamedTuple):
    """A reading in the buffer."""

    x: int = 0             # m, centre of its ring: the beacon's nominal place, moved along with the robot
    y: int = 1
    range: int = 2         # m
    variance: int = 3      # m^2
    tag: int = 4


FIX, FAULT, ROW = FixColumns(), FaultColumns(), RowColumns()


class Rules(NamedTuple):
    """The attributes of <shaping> as kernels take them."""

    variance: float     # m^2, of a fresh range: sigma_r^2 + sigma_tag^2 [eq. 2]
    share: float
    answer: float
    judge: float
    threshold: float
    apart: float
    margin: float
    alarm: float
    worst: float
    exclude: float
    replace: float
    step: float
    turn: float


class Scratch(NamedTuple):
    """Room for the rows of one estimate, and for what the search finds."""

    centres: Any     # (W, n, N, 2) m
    ranges: Any      # (W, n, N) m; NaN: no reading
    variances: Any   # (W, n, N) m^2
    tags: Any        # (W, n, N) the beacon of each row
    about: Any       # (W, n) the newest row
    place: Any       # (W, n, 2)
    least: Any       # (W, n) J
    rival: Any       # (W, n)


# -- one step -------------------------------------------------------------------------------------------------------------
@kernel(allocates=True)
def shaping_world(w, step, ranges, moved, places, rules, collect, heard, ways, rows, used, fix, faults, scratch, out):
    """One interrogation of all robots of world w, and an estimate at the end of each period; beliefs into out (W, n, 7)."""
    slots = heard.shape[2]
    slot = step[w] % slots
    for i in range(out.shape[1]):
        if step[w] == 0:
            begin(w, i, heard, ways, rows, used, fix, faults)
        predict(w, i, slot, moved, rules, ways, rows, fix)
        update(w, i, slot, ranges, places, rules, collect, used.shape[2], heard, rows, faults)
        listen(w, i, ranges, rules, fix, faults)
    if slot == slots - 1:
        for i in range(out.shape[1]):
            if collect == FIFO:
                from_buffer(w, i, rows, scratch)
            else:
                if fix[w, i, FIX.trusted] == 0.0:    # nothing was heard before: the first period, or after a blackout
                    choose(w, i, rules, heard, faults, used)
                from_period(w, i, places, rules, heard, ways, used, scratch)
        search_all(scratch.centres[w], scratch.ranges[w], scratch.variances[w], scratch.about[w], rules.step,
                   max(1, int(round(2.0 * pi / rules.turn))), POLISH, rules.apart, scratch.place[w], scratch.least[w],
                   scratch.rival[w])
        for i in range(out.shape[1]):
            judge(w, i, step[w], rules, scratch, fix, faults)
            due(w, i, places, used.shape[2], fix, faults)
            choose(w, i, rules, heard, faults, used)
    for i in range(out.shape[1]):
        out[w, i, 0], out[w, i, 1], out[w, i, 2] = fix[w, i, FIX.x], fix[w, i, FIX.y], fix[w, i, FIX.heading]
        out[w, i, 3], out[w, i, 4], out[w, i, 5], out[w, i, 6] = fix[w, i, FIX.xx], fix[w, i, FIX.xy], fix[w, i, FIX.yy], 0.0


@kernel()
def begin(w, i, heard, ways, rows, used, fix, faults):
    """Nothing is known at the start of a run but the heading."""
    heard[w, i], ways[w, i], rows[w, i], used[w, i], faults[w, i] = NONE, 0.0, NONE, -1.0, 0.0
    for c in range(fix.shape[2]):
        if c != FIX.heading:
            fix[w, i, c] = 0.0
    fix[w, i, FIX.step] = -1.0


# -- phase 2: prediction --------------------------------------------------------------------------------------------------
@kernel()
def predict(w, i, slot, moved, rules, ways, rows, fix):
    """Move the position, the rows of the buffer, and the ways since the interrogations of this period.

        x_k <- x_k + mu,   sigma_k^2 <- sigma_k^2 + (share |mu|)^2                                            [eq. 3]
    """
    ways[w, i, slot] = 0.0
    dx, dy, turn = move_by(w, i, moved, fix[w, i, FIX.heading])
    grown = rules.share * rules.share * (dx * dx + dy * dy)
    fix[w, i, FIX.x] += dx
    fix[w, i, FIX.y] += dy
    fix[w, i, FIX.heading] += turn
    fix[w, i, FIX.xx] += grown
    fix[w, i, FIX.yy] += grown
    for j in range(slot):
        ways[w, i, j, 0] += dx
        ways[w, i, j, 1] += dy
        ways[w, i, j, 2] += grown
    for row in range(rows.shape[2]):
        rows[w, i, row, ROW.x] += dx
        rows[w, i, row, ROW.y] += dy
        rows[w, i, row, ROW.variance] += grown


@kernel()
def move_by(w, i, moved, heading):
    """The way in the world and the turn that odometry measured; 0 where it does not arrive."""
    ahead, aside, turn = moved[w, i, 0], moved[w, i, 1], moved[w, i, 2]
    if np.isnan(ahead):
        return 0.0, 0.0, 0.0
    c, s = cos(heading), sin(heading)
    return c * ahead - s * aside, s * ahead + c * aside, turn


# -- phase 1: measurements ------------------------------------------------------------------------------------------------
@kernel()
def update(w, i, slot, ranges, places, rules, collect, tags, heard, rows, faults):
    """Keep the readings of this interrogation; in the buffer only those of the `tags` least, nearest last."""
    for k in range(ranges.shape[2]):
        heard[w, i, slot, k] = ranges[w, i, k] if ranges[w, i, k] >= 0.0 else NONE
    if collect != FIFO:
        return
    floor = -1.0
    for _ in range(tags):
        best, least = -1, np.inf
        for k in range(ranges.shape[2]):
            if floor < ranges[w, i, k] < least and not left_out(w, i, k, rules, faults):
                best, least = k, ranges[w, i, k]
        if best < 0:
            break
        floor = least
        for row in range(rows.shape[2] - 1):      # the oldest row leaves
            for c in range(rows.shape[3]):
                rows[w, i, row, c] = rows[w, i, row + 1, c]
        last = rows.shape[2] - 1
        rows[w, i, last, ROW.x], rows[w, i, last, ROW.y] = places[best, 0], places[best, 1]
        rows[w, i, last, ROW.range], rows[w, i, last, ROW.variance], rows[w, i, last, ROW.tag] = least, rules.variance, best


@kernel()
def left_out(w, i, k, rules, faults):
    """Whether a beacon does not count because of its alarm."""
    return rules.exclude > 0.0 and faults[w, i, k, FAULT.wrong] > 0.0


@kernel()
def choose(w, i, rules, heard, faults, used):
    """The beacons that count from now on: those with the least mean reading over this period. used (W, n, tags); -1: none.

    A beacon that was due and never answered keeps its place, unless `replace`: nothing is read from there. If that is true of
    all that were due, the robot may be elsewhere, and what is heard counts.
    """
    absent = 0
    for k in range(heard.shape[3]):
        if rules.replace == 0.0 and faults[w, i, k, FAULT.due] > 0.0:
            silent = True
            for j in range(heard.shape[2]):
                silent &= heard[w, i, j, k] == NONE
            absent += silent
    if absent == used.shape[2]:
        absent = 0
    for u in range(used.shape[2]):
        used[w, i, u] = -1.0
    for u in range(used.shape[2] - absent):
        best, least = -1, np.inf
        for k in range(heard.shape[3]):
            total, count, taken = 0.0, 0, left_out(w, i, k, rules, faults)
            for v in range(u):
                taken |= used[w, i, v] == k
            if taken:
                continue
            for j in range(heard.shape[2]):
                if heard[w, i, j, k] != NONE:
                    total, count = total + heard[w, i, j, k], count + 1
            if count > 0 and total / count < least:
                best, least = k, total / count
        if best < 0:
            return
        used[w, i, u] = best


# -- phase 3: the rows of an estimate -------------------------------------------------------------------------------------
@kernel()
def from_buffer(w, i, rows, scratch):
    """All rows of the buffer; the newest is the last."""
    N = rows.shape[2]
    for row in range(N):
        scratch.centres[w, i, row, 0], scratch.centres[w, i, row, 1] = rows[w, i, row, ROW.x], rows[w, i, row, ROW.y]
        known = rows[w, i, row, ROW.range] != NONE
        scratch.ranges[w, i, row] = rows[w, i, row, ROW.range] if known else np.nan
        scratch.variances[w, i, row] = rows[w, i, row, ROW.variance]
        scratch.tags[w, i, row] = int(rows[w, i, row, ROW.tag]) if known else -1
    scratch.about[w, i] = N - 1


@kernel()
def from_period(w, i, places, rules, heard, ways, used, scratch):
    """The readings of this period of the beacons that count, each moved by the way since; missing ones are NaN."""
    tags = used.shape[2]
    scratch.about[w, i] = 0
    for j in range(heard.shape[2]):
        for u in range(tags):
            k, row = int(used[w, i, u]), j * tags + u
            scratch.ranges[w, i, row], scratch.variances[w, i, row], scratch.tags[w, i, row] = np.nan, 1.0, -1
            scratch.centres[w, i, row, 0] = scratch.centres[w, i, row, 1] = 0.0
            if k >= 0 and heard[w, i, j, k] != NONE:
                scratch.centres[w, i, row, 0] = places[k, 0] + ways[w, i, j, 0]
                scratch.centres[w, i, row, 1] = places[k, 1] + ways[w, i, j, 1]
                scratch.ranges[w, i, row], scratch.tags[w, i, row] = heard[w, i, j, k], k
                scratch.variances[w, i, row] = rules.variance + ways[w, i, j, 2]
                scratch.about[w, i] = row


# -- phase 4: judgement ---------------------------------------------------------------------------------------------------
@kernel()
def judge(w, i, step, rules, scratch, fix, faults):
    """Take the place that was found if it is reliable, or the first one; else stay with dead reckoning.

        reliable if J / N < threshold, which is the mean per reading of -2 log of the probability
    """
    count = 0
    for row in range(scratch.ranges.shape[2]):
        count += scratch.tags[w, i, row] >= 0
    fix[w, i, FIX.rows] = count
    fix[w, i, FIX.reliable] = 0.0
    if count == 0:
        fix[w, i, FIX.misfit] = fix[w, i, FIX.rival] = 0.0
        return
    misfit, rival = scratch.least[w, i] / count, scratch.rival[w, i] - scratch.least[w, i]
    fits = misfit < rules.threshold
    reliable = fits and (rules.margin == 0.0 or rival > rules.margin)
    x, y = scratch.place[w, i, 0], scratch.place[w, i, 1]
    fix[w, i, FIX.misfit], fix[w, i, FIX.rival] = misfit, min(rival, 1e9)
    fix[w, i, FIX.found_x], fix[w, i, FIX.found_y] = x, y
    if reliable or fix[w, i, FIX.step] < 0.0 or rules.judge == 0.0:
        fix[w, i, FIX.x], fix[w, i, FIX.y], fix[w, i, FIX.step] = x, y, step
        spread(w, i, scratch, fix)
    fix[w, i, FIX.all] += 1.0
    if reliable:
        fix[w, i, FIX.reliable] = fix[w, i, FIX.trusted] = 1.0
        fix[w, i, FIX.good] += 1.0
    if reliable or not fits:    # an ambiguous place is the fault of no beacon
        blame(w, i, reliable, rules, scratch, fix, faults)


@kernel()
def spread(w, i, scratch, fix):
    """The covariance of the place: the inverse of the curvature A^T W A of J / 2 there; A has the directions to the centres."""
    xx, xy, yy = 1e-9, 0.0, 1e-9
    for row in range(scratch.ranges.shape[2]):
        if scratch.tags[w, i, row] >= 0:
            dx, dy = fix[w, i, FIX.x] - scratch.centres[w, i, row, 0], fix[w, i, FIX.y] - scratch.centres[w, i, row, 1]
            weight = 1.0 / (scratch.variances[w, i, row] * max(dx * dx + dy * dy, 1e-9))
            xx, xy, yy = xx + weight * dx * dx, xy + weight * dx * dy, yy + weight * dy * dy
    det = max(xx * yy - xy * xy, 1e-9)
    fix[w, i, FIX.xx], fix[w, i, FIX.xy], fix[w, i, FIX.yy] = yy / det, -xy / det, xx / det


# -- fault vectors --------------------------------------------------------------------------------------------------------
@kernel()
def blame(w, i, reliable, rules, scratch, fix, faults):
    """Count this estimate for or against the beacons in it; an alarm if so bad a run is too improbable of a healthy one.

        P_fault = (1 - p_s)^k,   p_s: share of reliable estimates,   k: consecutive unreliable ones with the beacon
    """
    x, y, worst, most = scratch.place[w, i, 0], scratch.place[w, i, 1], -1, -1.0
    p_s = (fix[w, i, FIX.good] + PRIOR_GOOD) / (fix[w, i, FIX.all] + PRIOR_ALL)
    N = scratch.ranges.shape[2]
    for turn in range(2):       # first the one that fits worst is found, then all are counted
        for first in range(N):
            tag = scratch.tags[w, i, first]
            seen = tag < 0
            for row in range(first):
                seen |= scratch.tags[w, i, row] == tag
            if seen:
                continue
            if turn == 0:
                total, count = 0.0, 0
                for row in range(first, N):
                    if scratch.tags[w, i, row] == tag:
                        dx, dy = x - scratch.centres[w, i, row, 0], y - scratch.centres[w, i, row, 1]
                        off = sqrt(dx * dx + dy * dy) - scratch.ranges[w, i, row]
                        total, count = total + off * off / scratch.variances[w, i, row], count + 1
                if total / count > most:
                    worst, most = tag, total / count
            elif reliable:
                faults[w, i, tag, FAULT.bad] = faults[w, i, tag, FAULT.wrong] = 0.0
            elif rules.worst == 0.0 or tag == worst:
                faults[w, i, tag, FAULT.bad] += 1.0
                if (1.0 - p_s) ** faults[w, i, tag, FAULT.bad] < rules.alarm:
                    faults[w, i, tag, FAULT.wrong] = faults[w, i, tag, FAULT.ever_wrong] = 1.0


@kernel()
def due(w, i, places, tags, fix, faults):
    """The beacons that should answer: the nearest ones on the map to the position, while that is trusted."""
    for k in range(places.shape[0]):
        faults[w, i, k, FAULT.due] = 0.0
    if fix[w, i, FIX.trusted] == 0.0:
        return
    for _ in range(tags):
        best, least = -1, np.inf
        for k in range(places.shape[0]):
            away = (places[k, 0] - fix[w, i, FIX.x]) ** 2 + (places[k, 1] - fix[w, i, FIX.y]) ** 2
            if away < least and faults[w, i, k, FAULT.due] == 0.0:
                best, least = k, away
        if best >= 0:
            faults[w, i, best, FAULT.due] = 1.0


@kernel()
def listen(w, i, ranges, rules, fix, faults):
    """Count the missing answers of beacons that are due; an alarm if so long a silence is too improbable of a healthy one.

        P_silent = (1 - p_A)^h,   p_A: probability of an answer,   h: consecutive missing ones
    An interrogation that no beacon answers is the reader's fault, or the robot's that is not where it believes; none is counted
    from then on, until a reliable estimate.
    """
    nothing = True
    for k in range(ranges.shape[2]):
        if not np.isnan(ranges[w, i, k]):
            nothing = False
            faults[w, i, k, FAULT.silent] = faults[w, i, k, FAULT.mute] = 0.0
    if nothing:
        fix[w, i, FIX.trusted] = 0.0
    if fix[w, i, FIX.trusted] == 0.0:
        return
    for k in range(ranges.shape[2]):
        if faults[w, i, k, FAULT.due] > 0.0 and np.isnan(ranges[w, i, k]):
            faults[w, i, k, FAULT.silent] += 1.0
            if (1.0 - rules.answer) ** faults[w, i, k, FAULT.silent] < rules.alarm:
                faults[w, i, k, FAULT.mute] = faults[w, i, k, FAULT.ever_mute] = 1.0


__all__ = ["FAULT", "FIFO", "FIX", "NONE", "PERIOD", "ROW", "Rules", "Scratch", "move_by", "shaping_world"]
