"""Wander through corridors: on where it is open, at a crossing into any of its arms, away from what is near."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, cos, pi, sin
from typing import Any

import numpy as np

from formiga.control.view import View
from formiga.errors import WorldError
from formiga.geometry import wrapped
from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.noise import stream, unit
from formiga.sense.scanner import Scanner
from formiga.state import Floats
from formiga.units import DEG
from formiga.world.elements import element, length, name, number, of, speed, where

BEHIND = 135.0 * DEG       # a way further round is where the robot comes from
ABEAM = 115.0 * DEG        # an opening that reaches as far round is an arm in whose mouth the robot is
NARROW = 35.0 * DEG        # an opening that is narrower is a corner, or a gap beside another robot, and none to choose
WIDE = 80.0 * DEG          # an opening that is wider is no corridor: its middle leads nowhere
TWO = 105.0 * DEG          # one that is still wider is two arms that are seen as one ...
QUARTER = 90.0 * DEG       # ... and for each quarter more of a circle another one
LOST = 30.0 * DEG          # a way further from the course is another one
FORGETS = 2.0 * pi         # what is no bearing
FULL = 360.0 * DEG * (1.0 - 1e-9)    # a field that is as wide sees all around
LOW, HIGH = 0, 1           # columns of an opening: bearings of its two ends, counter-clockwise


@element("wander", role="controller")
@dataclass(frozen=True)
class Wander:
    """Drives along corridors and chooses at random where they part, by a <scanner> all around.

    Neighbouring beams longer than `open` are one opening. It has one way, its middle; a wide one is several arms of a crossing
    that are seen as one, and has as many. The robot keeps to its way, straight on through a wide opening. In the mouth of an
    arm at its side it chooses one of the ways that are not behind it, each as probable, but only once in `pause` metres; and so
    it does where its way ends. In a dead end it turns round. It heads for
        the way - sum over beams shorter than `near` of (1 - range / near) x direction of the beam x 2
    and slows down as it turns.
    """

    sensor: str = name("sonar", doc="a <scanner> of 360 degrees that reaches as far as `open`")
    speed: float = speed(0.3, above=0.0, doc="straight on; at most the robot's own")
    turn: float = number(1.0, unit="rad/s", above=0.0, doc="the fastest turn")
    open: float = length(4.5, above=0.0, doc="a longer beam is part of an opening; 0.9 to 1.2 times the width of corridors")
    near: float = length(0.8, above=0.0, doc="a shorter beam pushes the robot away")
    pause: float = length(8.0, least=0.0, doc="from one choice to the next")

    def stages(self, view: View, wheels: Floats) -> list[Stage]:
        """The kernel that fills wheels (W, n, 2)."""
        drive = view.two_wheels()
        self._refuse_others(view.sensor(self.sensor))
        scan = view.reading(self.sensor)
        memories = [view.memory(each, np.broadcast_to(begins, view.shape))
                    for each, begins in (("course", FORGETS), ("travel", 0.0), ("gone", 0.0))]
        return [Stage(wander_world, (scan, np.array(view.sensor(self.sensor).angles), view.directions(self.sensor), self.open,
                                     self.near, self.pause, min(self.speed, drive.top_speed), self.turn, drive.wheel_base,
                                     drive.top_speed, view.dt, *view.noise.source(), *memories,
                                     np.empty((*view.shape, scan.shape[2], 2)), wheels))]

    def _refuse_others(self, source: Any) -> None:
        """Other numbers would be taken for distances, and a fan leaves out where the robot comes from."""
        if not isinstance(source, Scanner):
            has = f"is <{of(source).tag}>"
        elif source.field < FULL:
            has = f"sees {source.field / DEG:g} degrees"
        elif source.reach < self.open:
            has = f"reaches {source.reach:g} m, so it could see nothing that is `open`"
        else:
            return
        raise WorldError(f"{where(self)}<{of(self).tag}> sensor: '{source.name}' {has}; it takes a <scanner> of 360 degrees "
                         f"that reaches {self.open:g} m or more.")


@kernel()
def wander_world(w, scan, angles, direction, open, near, pause, speed, fastest, base, top, dt, keys, steps, first, channel,
                 course, travel, gone, openings, wheels):
    """Wheels (W, n, 2) of world w from ranges scan (W, n, B), with room for openings (W, n, B, 2).

    course, travel, gone (W, n): the bearing of the way that a robot follows; that in which it went, which fades into its
    heading within `open` metres; and how far it went since it chose.
    """
    for i in range(scan.shape[1]):
        if steps[w] == 0:
            course[w, i], travel[w, i], gone[w, i] = FORGETS, 0.0, pause
        count = bearings(scan[w, i], angles, open, openings[w, i])
        chance = unit(stream(keys[w], first + i, steps[w], channel), 0)
        ahead = choose(openings[w, i], count, course[w, i], travel[w, i], gone[w, i] >= pause, chance)
        if ahead[1]:
            gone[w, i] = 0.0
        if abs(wrapped(ahead[0] - travel[w, i])) > BEHIND:     # it turns round, and comes from the dead end
            travel[w, i] = ahead[0]
        x, y = cos(ahead[0]), sin(ahead[0])
        for b in range(scan.shape[2]):
            if scan[w, i, b] < near:
                push = 2.0 * (1.0 - scan[w, i, b] / near)
                x, y = x - push * direction[b, 0], y - push * direction[b, 1]
        aim = np.arctan2(y, x)
        turn = min(fastest, max(-fastest, 2.0 * aim))
        forward = speed * max(0.0, cos(aim)) ** 2
        wheels[w, i, 0] = min(top, max(-top, forward - 0.5 * base * turn))
        wheels[w, i, 1] = min(top, max(-top, forward + 0.5 * base * turn))
        course[w, i] = wrapped(ahead[0] - turn * dt)
        travel[w, i] = wrapped(travel[w, i] - turn * dt) * max(0.0, 1.0 - forward * dt / open)
        gone[w, i] += forward * dt


@kernel()
def bearings(scan, angles, open, out):
    """Bearings of both ends of the openings of a ring of ranges (B,), into out (B, 2); returns how many. An opening is a run of
    beams longer than `open`, as far as half way to its neighbours; the ring has no end. HIGH is above LOW, maybe above pi."""
    B, begin = scan.shape[0], -1
    for b in range(B):
        if scan[b] < open:
            begin = b
            break
    if begin < 0:                       # open all around: its middle is straight on
        out[0, LOW], out[0, HIGH] = -pi, pi
        return 1
    count, long = 0, 0
    for k in range(1, B + 1):
        b = (begin + k) % B
        if scan[b] >= open:
            long += 1
        elif long > 0:
            low = halfway(angles, (b - long - 1) % B)
            high = halfway(angles, (b - 1) % B)
            out[count, LOW], out[count, HIGH] = low, high if high > low else high + 2.0 * pi
            count, long = count + 1, 0
    return count


@kernel()
def halfway(angles, b):
    """The bearing half way from beam b to the next one of a ring."""
    return wrapped(angles[b] + 0.5 * ((angles[(b + 1) % angles.shape[0]] - angles[b]) % (2.0 * pi)))


@kernel()
def ways(low, high):
    """How many ways an opening between two bearings has; one without ends has one, straight on."""
    return 1 if high - low >= 2.0 * pi else 1 + int(ceil(max(0.0, high - low - TWO) / QUARTER))


@kernel()
def within(bearing, low, high):
    """Whether a bearing lies in an opening."""
    return (bearing - low) % (2.0 * pi) <= high - low


@kernel()
def choose(openings, count, course, travel, may, chance):
    """The bearing to follow, and whether it was chosen from several, of the ways of openings (count, 2).

    One of those that are not behind, at random, if the robot may choose and is in the mouth of an arm, or lost its way. Else
    the course through a wide opening, or the way nearest to it, or one behind; where nothing is open the course. What is abeam
    and what is behind counts from the bearing of the travel so far: the robot may be about to turn.
    """
    forward, behind, nearest, held, mouth = 0, FORGETS, FORGETS, False, False
    for o in range(count):
        low, high = openings[o, LOW], openings[o, HIGH]
        mouth = mouth or within(travel + ABEAM, low, high) or within(travel - ABEAM, low, high)
        inside = course != FORGETS and within(course, low, high)
        held = held or (inside and high - low > WIDE)
        for k in range(ways(low, high)):
            way = wrapped(low + (k + 0.5) * (high - low) / ways(low, high))
            off = abs(wrapped(way - course))
            if abs(wrapped(way - travel)) > BEHIND:
                behind = way
            elif high - low >= NARROW:
                forward += 1
            if course != FORGETS and (inside or off <= LOST) and (nearest == FORGETS or off < abs(wrapped(nearest - course))):
                nearest = way
    lost = not held and nearest == FORGETS
    if forward > 0 and (lost or (may and mouth and forward > 1)):
        wanted = int(chance * forward)
        for o in range(count):
            low, high = openings[o, LOW], openings[o, HIGH]
            for k in range(ways(low, high)):
                way = wrapped(low + (k + 0.5) * (high - low) / ways(low, high))
                if abs(wrapped(way - travel)) <= BEHIND and high - low >= NARROW:
                    if wanted == 0:
                        return way, forward > 1
                    wanted -= 1
    if held:
        return course, False
    if not lost:
        return nearest, False
    if behind != FORGETS:
        return behind, False
    return (0.5 * pi if course == FORGETS else course), False


__all__ = ["Wander"]
