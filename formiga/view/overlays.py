"""What can be drawn over a scene, as plain arrays: beams, collision circles, shifts, trails, names, links."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from formiga.view.bodies import look, rgb
from formiga.view.frame import Frame, Rays
from formiga.view.picking import turned
from formiga.world.model import World

OVERLAYS = {
    "beams": "what the sensors' beams meet: orange near, blue far",
    "circles": "collision circles: body and clearance",
    "links": "which robots are within each other's reach",
    "names": "numbers of the robots",
    "shifts": "where contacts moved the robots in the last step, drawn ten times as long",
    "trails": "where the robots came from",
}
NEAR_TO_FAR = ("#d55e00", "#e69f00", "#56b4e9", "#0072b2")  # safe for the colour-blind [Okabe & Ito 2008]
NOTHING = "#b8c4ce"         # a beam that met nothing
MOST_NAMES = 60             # in a larger crowd only the selected robot has a name
SHIFT_SCALE = 10.0          # shifts are millimetres, so they are drawn larger ...
SHIFT_LONGEST = 0.15        # m ... up to this length
LIFT = 0.004                # m, of what lies on the floor


class Lines(NamedTuple):
    """Segments, S of them."""

    points: Any             # (S, 2, 3) m
    colours: Any            # (S, 2, 3) 0..255, as on a screen


NONE = Lines(np.zeros((0, 2, 3), np.float32), np.zeros((0, 2, 3), np.uint8))


def beams(rays: Rays | None) -> Lines:
    """Each beam from its sensor to what it met."""
    if rays is None:
        return NONE
    share = np.clip(np.asarray(rays.share, float), 0.0, 1.0)
    stops = np.array([rgb(colour) for colour in NEAR_TO_FAR], float)
    at = np.linspace(0.0, 1.0, len(stops))
    colours = np.column_stack([np.interp(share, at, stops[:, k]) for k in range(3)])
    colours[share >= 1.0] = rgb(NOTHING)
    return Lines(np.stack([rays.start, rays.end], axis=1).astype(np.float32),
                 np.repeat(colours.astype(np.uint8)[:, None], 2, axis=1))


def links(frame: Frame, height: Any, colour: str = "#009e73") -> Lines:
    """A line between the middles of every two robots that are linked. height: (N,) m, of the robots."""
    if frame.links is None or len(frame.links) == 0:
        return NONE
    pairs = np.asarray(frame.links, np.int64)
    points = frame.place[pairs].astype(np.float32)
    points[..., 2] += 0.5 * height[pairs]
    return Lines(points, np.broadcast_to(np.array(rgb(colour), np.uint8), points.shape).copy())


def shifts(frame: Frame, height: Any) -> Any:
    """Arrows (K, 2, 3) above the robots that contacts moved. height: (N,) m, of the robots."""
    if frame.shifts is None:
        return NONE.points
    moved = np.flatnonzero(np.hypot(frame.shifts[:, 0], frame.shifts[:, 1]) > 1e-6)
    start = frame.place[moved].astype(np.float32)
    start[:, 2] += height[moved] + 0.02
    end = start.copy()
    size = np.hypot(frame.shifts[moved, 0], frame.shifts[moved, 1])
    drawn = np.maximum(size, np.minimum(SHIFT_SCALE * size, SHIFT_LONGEST))  # never shorter than it was
    end[:, :2] += frame.shifts[moved] * (drawn / size)[:, None]
    return np.stack([start, end], axis=1)


def lights(frame: Frame) -> tuple[Any, Any, float]:
    """The robots' lights that are on: places (K, 3), colours (K, 3), and how large to draw them."""
    colour = np.asarray(frame.leds)
    lit = colour.any(axis=-1) & np.asarray(frame.alive, bool)[:, None]
    points, colours, size = [NONE.points[:, 0]], [NONE.colours[:, 0]], 0.01
    for group, robots in zip(frame.world.groups, frame.world.slices) if lit.any() else ():
        looks = look(group.robot)
        who, which = np.nonzero(lit[robots, :len(looks.lights)])
        outside = turned(frame.turn[robots][who], 1.06 * looks.lights[which])
        points.append((frame.place[robots][who] + outside).astype(np.float32))
        colours.append(colour[robots][who, which].astype(np.uint8))
        size = max(size, looks.light_size)
    return np.concatenate(points), np.concatenate(colours), size


def names(frame: Frame) -> dict[int, str]:
    """Which robots have a name over them, and which."""
    count = len(frame.place)
    if count <= MOST_NAMES:
        return {number: str(number) for number in range(count)}
    return {frame.selected: str(frame.selected)} if 0 <= frame.selected < count else {}


# -- what is the same in all frames of a world ------------------------------------------------------------------------
def each(world: World, attribute: str, default: float = 0.0) -> Any:
    """(N,) an attribute of each robot's kind."""
    return np.repeat([float(getattr(group.robot, attribute, default)) for group in world.groups],
                     [group.count for group in world.groups])


def colours(world: World) -> Any:
    """(N, 3) 0..255, the colour of each robot's group."""
    own = [rgb(getattr(group.robot, "colour", "#0072b2")) for group in world.groups]
    return np.repeat(np.array(own, np.uint8).reshape(-1, 3), [group.count for group in world.groups], axis=0)


def pale(colours: Any) -> Any:
    """The same colours, half way to grey, so that robots stand out from their trails."""
    return (0.5 * np.asarray(colours, float) + 0.5 * 176.0).astype(np.uint8)


# -- trails -----------------------------------------------------------------------------------------------------------
class Trails:
    """The last places of all robots, in pieces of PIECE places; only the newest piece ever changes.

    So a long trail costs no more to send than a short one, and an old piece can be drawn thinner as a whole.
    """

    PIECE, PIECES = 24, 12  # 288 places of each robot
    SPACING = 0.2           # of the smallest robot's radius: how far somebody has to go for a new place
    MOST = 60_000           # segments in all; a crowd has shorter trails

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.pieces: list[list[Any]] = [[]]     # oldest first, each a list of places (N, 3)
        self.first = 0                          # number of the oldest piece, counted from the beginning
        self._step, self._robots = -1, -1

    def add(self, frame: Frame) -> bool:
        """Take down where everybody is; False if nothing is new. A run that began again is another trail."""
        if frame.step < self._step or len(frame.place) != self._robots:
            self.forget()
            self._robots = len(frame.place)
        elif frame.step == self._step:
            return False
        self._step = frame.step
        here = frame.place.astype(np.float32)
        here[:, 2] += LIFT
        newest = self.pieces[-1]
        if len(newest) >= 2 and self._is_near(newest[-2], here, frame):
            newest[-1] = here                   # the end of the trail follows the robot
            return True
        newest.append(here)
        if len(newest) > self.PIECE:
            self.pieces.append([newest[-1], here])
            most = max(1, min(self.PIECES, self.MOST // max(1, self._robots * self.PIECE)))
            while len(self.pieces) > most:
                del self.pieces[0]
                self.first += 1
        return True

    @property
    def numbers(self) -> range:
        """Of the pieces, oldest first."""
        return range(self.first, self.first + len(self.pieces))

    def segments(self, piece: int) -> Any:
        """Of the piece with this number: (S, 2, 3)."""
        places = self.pieces[piece - self.first]
        if len(places) < 2 or self._robots == 0:
            return np.zeros((0, 2, 3), np.float32)
        trail = np.stack(places)                # (K, N, 3)
        return np.stack([trail[:-1], trail[1:]], axis=2).reshape(-1, 2, 3)

    def _is_near(self, before: Any, here: Any, frame: Frame) -> bool:
        spacing = self.SPACING * min((group.robot.radius for group in frame.world.groups), default=0.05)
        return bool(np.abs(here[:, :2] - before[:, :2]).max(initial=0.0) < spacing)


__all__ = ["Lines", "MOST_NAMES", "NONE", "OVERLAYS", "Trails", "beams", "colours", "each", "lights", "links", "names",
           "pale", "shifts"]
