"""Wander through corridors: on where it is open, at a crossing into any of its arms, away from what is near."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np

from formiga.control.view import View
from formiga.geometry import wrapped
from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.noise import stream, unit
from formiga.state import Floats
from formiga.units import DEG
from formiga.world.elements import element, length, name, number, speed

BEHIND = 135.0 * DEG       # an opening further round is where the robot comes from
LOST = 60.0 * DEG          # an opening further from the course is another one
FORGETS = 2.0 * pi         # what is no bearing


@element("wander", role="controller")
@dataclass(frozen=True)
class Wander:
    """Drives along corridors and chooses at random where they part, by a ring of ranges such as a <scanner> all around.

    Neighbouring beams longer than `open` are one opening; its bearing is that of their middle. The robot keeps to the opening
    that it follows. Where there are others, none of them behind it, it chooses one at random, each as probable, but only once in
    `pause` metres; in a dead end it turns round. It heads for
        the opening - sum over beams shorter than `near` of (1 - range / near) x direction of the beam x 2
    and slows down as it turns.
    """

    sensor: str = name("sonar", doc="a ring of ranges with `angles`, such as a <scanner> of 360 degrees")
    speed: float = speed(0.3, above=0.0, doc="straight on; at most the robot's own")
    turn: float = number(1.0, unit="rad/s", above=0.0, doc="the fastest turn")
    open: float = length(4.5, above=0.0, doc="a longer beam is part of an opening")
    near: float = length(0.8, above=0.0, doc="a shorter beam pushes the robot away")
    pause: float = length(8.0, least=0.0, doc="from one choice to the next")

    def stages(self, view: View, wheels: Floats) -> list[Stage]:
        """The kernel that fills wheels (W, n, 2)."""
        drive = view.two_wheels()
        scan = view.reading(self.sensor)
        memories = [view.memory(each, np.broadcast_to(first, view.shape)) for each, first in (("course", FORGETS), ("way", 0.0))]
        angles = np.array(view.sensor(self.sensor).angles)
        return [Stage(wander_world, (scan, angles, view.directions(self.sensor), self.open, self.near, self.pause,
                                     min(self.speed, drive.top_speed), self.turn, drive.wheel_base, drive.top_speed, view.dt,
                                     *view.noise.source(), *memories, np.empty((*view.shape, scan.shape[2])), wheels))]


@kernel()
def wander_world(w, scan, angles, direction, open, near, pause, speed, fastest, base, top, dt, keys, steps, first, channel, course,
                 way, openings, wheels):
    """Wheels (W, n, 2) of world w from ranges scan (W, n, B). course, way (W, n): the bearing of the opening that a robot follows,
    and how far it went since it chose; openings (W, n, B): room for bearings."""
    for i in range(scan.shape[1]):
        if steps[w] == 0:
            course[w, i], way[w, i] = FORGETS, pause
        count = bearings(scan[w, i], angles, open, openings[w, i])
        ahead = choose(openings[w, i], count, course[w, i], way[w, i] >= pause,
                       unit(stream(keys[w], first + i, steps[w], channel), 0))
        if ahead[1]:
            way[w, i] = 0.0
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
        way[w, i] += forward * dt


@kernel()
def bearings(scan, angles, open, out):
    """Bearings of the openings of a ring of ranges (B,), into out; returns how many. An opening is a run of beams longer than
    `open`, and the ring has no end."""
    B, begin = scan.shape[0], -1
    for b in range(B):
        if scan[b] < open:
            begin = b
            break
    if begin < 0:                       # open all around: straight on
        out[0] = 0.0
        return 1
    count, long = 0, 0
    for k in range(1, B + 1):
        b = (begin + k) % B
        if scan[b] >= open:
            long += 1
        elif long > 0:
            low, high = angles[(b - long) % B], angles[(b - 1) % B]
            if high < low:
                high += 2.0 * pi
            out[count] = wrapped(0.5 * (low + high))
            count, long = count + 1, 0
    return count


@kernel()
def choose(openings, count, course, may, chance):
    """The bearing to follow, and whether it was chosen anew: the opening nearest to the course, or at random one of those that
    are not behind if the robot may choose and has a choice, or lost its opening; else whatever is behind, or the course."""
    forward, nearest, behind = 0, FORGETS, FORGETS
    for k in range(count):
        if abs(openings[k]) <= BEHIND:
            forward += 1
        else:
            behind = openings[k]
        if abs(wrapped(openings[k] - course)) < abs(wrapped(nearest - course)) or nearest == FORGETS:
            nearest = openings[k]
    kept = count > 0 and course != FORGETS and abs(wrapped(nearest - course)) <= LOST
    if forward > 0 and (not kept or (may and forward > 1)):
        wanted = int(chance * forward)
        for k in range(count):
            if abs(openings[k]) <= BEHIND:
                if wanted == 0:
                    return openings[k], True
                wanted -= 1
    if kept:
        return nearest, False
    if behind != FORGETS:
        return behind, True
    return (0.5 * pi if course == FORGETS else course), False


__all__ = ["Wander"]
