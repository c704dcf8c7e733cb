"""What can be drawn over a scene, as plain arrays: beams, collision circles, contacts, shifts, trails, names, links."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from formiga.geometry import rotate
from formiga.view.bodies import look, rgb
from formiga.view.frame import Frame, Rays
from formiga.view.posture import posture
from formiga.world.model import Ball, World

OVERLAYS = {
    "beams": "what the sensors' beams meet: orange near, blue far",
    "circles": "collision circles: body and clearance",
    "contacts": "where bodies with masses hit in the last step, which way and how hard they pushed each other",
    "forces": "with what force grips and joints pull at what they hold: 1 cm of an arrow is 1 N; and who holds whom",
    "links": "which robots are within each other's reach",
    "names": "numbers of the robots",
    "shifts": "where contacts moved the robots in the last step, drawn ten times as long",
    "trails": "where the robots came from, and what they push",
}
NEAR_TO_FAR = ("#d55e00", "#e69f00", "#56b4e9", "#0072b2")  # safe for the colour-blind [Okabe & Ito 2008]
NOTHING = "#b8c4ce"         # a beam that met nothing
MOST_NAMES = 60             # in a larger crowd only the selected robot has a name
SHIFT_SCALE = 10.0          # shifts are millimetres, so they are drawn larger ...
SHIFT_LONGEST = 0.15        # m ... up to this length
PUSH = 0.035, 0.4, 0.15     # m, m/(N s), m: of an arrow that shows an impulse, the shortest, how it grows, the longest
MOST_CONTACTS = 1000
FORCE = 0.01, 0.035, 0.3    # m/N, m, m: of an arrow that shows a force, how it grows, the shortest, the longest
ABOVE = 0.05                # m, from a force to its arrow: the bodies would hide it
LEAST_FORCE, MOST_FORCES = 0.05, 500      # N that are worth an arrow; arrows
GRIP = "#1b9e77"
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


def contacts(frame: Frame) -> Any:
    """Arrows (K, 2, 3) above where bodies touched, into each one that can move: along the normal, longer if pushed harder."""
    if frame.touches is None or len(frame.touches) == 0:
        return NONE.points
    x, y, nx, ny, impulse, one, other = frame.touches[:MOST_CONTACTS].T
    high = np.concatenate([each(frame.world, "height", 0.1), [tall(thing) for thing in frame.world.movables], [0.0]])  # -1: fixed
    shortest, grows, longest = PUSH
    long = np.minimum(shortest + grows * np.abs(impulse), longest)
    start = np.column_stack([x, y, np.maximum(high[one.astype(int)], high[other.astype(int)]) + 0.015])
    way = long[:, None] * np.column_stack([nx, ny, np.zeros(len(x))])
    arrows = [np.stack([start, start + sign * way], axis=1)[body >= 0.0] for body, sign in ((one, 1.0), (other, -1.0))]
    return np.concatenate(arrows).astype(np.float32)


def forces(frame: Frame) -> Any:
    """Arrows (K, 2, 3) at grips and joints, along the forces; the strongest first."""
    if frame.forces is None or len(frame.forces) == 0:
        return NONE.points
    size = np.linalg.norm(frame.forces[:, 3:6], axis=1)
    shown = np.argsort(-size, kind="stable")[:MOST_FORCES]
    shown = shown[size[shown] > LEAST_FORCE]
    grows, shortest, longest = FORCE
    start, drawn = frame.forces[shown, :3] + (0.0, 0.0, ABOVE), np.clip(grows * size[shown], shortest, longest)
    end = start + frame.forces[shown, 3:6] * (drawn / size[shown])[:, None]
    return np.stack([start, end], axis=1).astype(np.float32)


def grips(frame: Frame, height: Any, radius: Any) -> Lines:
    """A short line for each grip, above it: from the gripper's axis to the rim of who is held, or to over what is held."""
    if frame.grips is None or len(frame.grips) == 0:
        return NONE
    holds, found = np.asarray(frame.grips, np.int64), []
    for robots, group in zip(frame.world.slices, frame.world.groups, strict=True):
        for holder, held in holds[(holds[:, 0] >= robots.start) & (holds[:, 0] < robots.stop)]:
            start = posture(frame, look(group.robot), slice(holder, holder + 1), "arm")[0, :3]
            start = start + (0.0, 0.0, 0.25 * height[holder])
            if held < len(frame.place):
                end = frame.place[held] + rotate(frame.turn[held], np.array((0.0, 0.0, 0.95 * height[held])))
                way = end - start
                end = end - way * min(0.9, 0.6 * radius[held] / max(float(np.linalg.norm(way)), 1e-9))
                found.append((start, end))
            elif frame.bodies is not None and held - len(frame.place) < len(frame.bodies):
                x, y, _ = frame.bodies[held - len(frame.place), :3]
                found.append((start, (x, y, start[2])))
    points = np.array(found, np.float32).reshape(-1, 2, 3)
    return Lines(points, np.broadcast_to(np.array(rgb(GRIP), np.uint8), points.shape).copy())


def strongest(frame: Frame) -> tuple[str, Any] | None:
    """The greatest force in words, and where its arrow ends; None if there is none."""
    arrows = forces(frame)
    if not len(arrows) or frame.forces is None:
        return None
    size = float(np.linalg.norm(frame.forces[:, 3:6], axis=1).max())
    return f"{size:.1f} N" if size < 10.0 else f"{size:.0f} N", arrows[0, 1] + (0.0, 0.0, 0.01)


def lights(frame: Frame) -> tuple[Any, Any, float]:
    """The robots' lights that are on: places (K, 3), colours (K, 3), and how large to draw them."""
    colour = np.asarray(frame.leds)
    lit = colour.any(axis=-1) & np.asarray(frame.alive, bool)[:, None]
    points, colours, size = [NONE.points[:, 0]], [NONE.colours[:, 0]], 0.01
    for group, robots in zip(frame.world.groups, frame.world.slices) if lit.any() else ():
        looks = look(group.robot)
        who, which = np.nonzero(lit[robots, :len(looks.lights)])
        bearer = posture(frame, looks, robots, looks.bearer)[who]
        points.append((bearer[:, :3] + rotate(bearer[:, 3:], 1.06 * looks.lights[which])).astype(np.float32))
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


def tall(thing: Any) -> float:
    """How high a thing that can be pushed is, m."""
    return float(thing.height if hasattr(thing, "height") else 2.0 * thing.radius)


def around(thing: Any) -> float:
    """The radius of the circle around a thing that can be pushed, m."""
    return float(thing.radius if hasattr(thing, "radius") else np.linalg.norm(thing.outline, axis=1).max())


def movables_colours(world: World) -> Any:
    """(M, 3) 0..255, of the things that can be pushed."""
    return np.array([rgb(thing.colour) for thing in world.movables], np.uint8).reshape(-1, 3)


def colours(world: World) -> Any:
    """(N, 3) 0..255, the colour of each robot's group."""
    own = [rgb(getattr(group.robot, "colour", "#0072b2")) for group in world.groups]
    return np.repeat(np.array(own, np.uint8).reshape(-1, 3), [group.count for group in world.groups], axis=0)


def pale(colours: Any) -> Any:
    """The same colours, half way to grey, so that robots stand out from their trails."""
    return (0.5 * np.asarray(colours, float) + 0.5 * 176.0).astype(np.uint8)


def _feet(frame: Frame) -> Any:
    """(M, 3) where things that can be pushed touch what is under them."""
    down = np.array([(0.0, 0.0, thing.radius if isinstance(thing, Ball) else 0.0) for thing in frame.world.movables])
    return frame.movables - down.reshape(-1, 3)


# -- trails -----------------------------------------------------------------------------------------------------------
class Trails:
    """The last places of all robots and of what they push, in pieces of PIECE places; only the newest piece ever changes.

    So a long trail costs no more to send than a short one, and an old piece can be drawn thinner as a whole. Who is put
    somewhere else leaves a gap.
    """

    PIECE, PIECES = 24, 12  # 288 places of each body
    SPACING = 0.2           # of the smallest radius: how far somebody has to go for a new place
    MOST = 60_000           # segments in all; a crowd has shorter trails
    FASTEST = 10.0          # m/s; who was faster did not go there

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.pieces: list[list[Any]] = [[]]     # oldest first, each a list of places (B, 3) ...
        self.gaps: list[list[Any]] = [[]]       # ... and of who did not go there from the place before (B,)
        self.first = 0                          # number of the oldest piece, counted from the beginning
        self._step, self._bodies = -1, -1

    def add(self, frame: Frame) -> bool:
        """Take down where everybody is; False if nothing is new. A run that began again is another trail."""
        here = np.concatenate([frame.place, frame.movables * (1.0, 1.0, 0.0) if frame.bodies is None else _feet(frame)])
        here = here.astype(np.float32)
        if frame.step < self._step or len(here) != self._bodies:
            self.forget()
            self._bodies = len(here)
        elif frame.step == self._step:
            return False
        here[:, 2] += LIFT
        newest, gaps = self.pieces[-1], self.gaps[-1]
        way = here[:, :2] - newest[-1][:, :2] if newest else np.zeros((len(here), 2))
        reach = self.FASTEST * (frame.step - self._step) * frame.world.dt
        gap, self._step = np.hypot(way[:, 0], way[:, 1]) > reach, frame.step
        if len(newest) >= 2 and self._is_near(newest[-2], here, frame):
            newest[-1], gaps[-1] = here, gaps[-1] | gap  # the end of the trail follows the robot
            return True
        newest.append(here)
        gaps.append(gap)
        if len(newest) > self.PIECE:
            self.pieces.append([newest[-1], here])
            self.gaps.append([gap, np.zeros(len(here), bool)])
            most = max(1, min(self.PIECES, self.MOST // max(1, self._bodies * self.PIECE)))
            while len(self.pieces) > most:
                del self.pieces[0], self.gaps[0]
                self.first += 1
        return True

    @property
    def numbers(self) -> range:
        """Of the pieces, oldest first."""
        return range(self.first, self.first + len(self.pieces))

    def segments(self, piece: int) -> Any:
        """Of the piece with this number: (S, 2, 3). One of no length is a gap."""
        places, gaps = self.pieces[piece - self.first], self.gaps[piece - self.first]
        if len(places) < 2 or self._bodies == 0:
            return np.zeros((0, 2, 3), np.float32)
        trail, gap = np.stack(places), np.stack(gaps)  # (K, B, 3), (K, B)
        return np.stack([np.where(gap[1:, :, None], trail[1:], trail[:-1]), trail[1:]], axis=2).reshape(-1, 2, 3)

    def _is_near(self, before: Any, here: Any, frame: Frame) -> bool:
        return bool(np.abs(here[:, :2] - before[:, :2]).max(initial=0.0) < self._spacing(frame))

    def _spacing(self, frame: Frame) -> float:
        sizes = [*(group.robot.radius for group in frame.world.groups), *(around(thing) for thing in frame.world.movables)]
        return self.SPACING * min(sizes, default=0.05)


__all__ = ["Lines", "MOST_NAMES", "NONE", "OVERLAYS", "Trails", "around", "beams", "colours", "contacts", "each", "forces",
           "grips", "lights", "links", "movables_colours", "names", "pale", "shifts", "strongest", "tall"]
