"""What can be drawn over a scene, as plain arrays: beams, collision circles, contacts, shifts, names, links."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from formiga.engine.events import Pull
from formiga.geometry import PLACE, TURN, rotate
from formiga.view.bodies import tall
from formiga.view.frame import Frame, Rays
from formiga.view.mesh import rgb
from formiga.view.posture import posture
from formiga.view.robots import robot_meshes
from formiga.world.model import World

OVERLAYS = {
    "beams": "what the sensors' beams meet: orange near, blue far",
    "circles": "collision circles: body and clearance",
    "contacts": "where bodies with masses hit in the last step, in which direction and how hard they pushed each other",
    "forces": "with what force grips and joints pull at what they hold: 1 cm of an arrow is 1 N; and which robot holds what",
    "links": "which robots hear each other; where robots have no links, which are within reach of a sensor",
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
    high = np.array([*heights(frame.world), *(tall(thing) for thing in frame.world.movables), 0.0])  # [-1]: of fixed bodies
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
    size = np.linalg.norm(frame.forces[:, Pull.FORCE], axis=1)
    shown = np.argsort(-size, kind="stable")[:MOST_FORCES]
    shown = shown[size[shown] > LEAST_FORCE]
    grows, shortest, longest = FORCE
    start, drawn = frame.forces[shown, Pull.PLACE] + (0.0, 0.0, ABOVE), np.clip(grows * size[shown], shortest, longest)
    end = start + frame.forces[shown, Pull.FORCE] * (drawn / size[shown])[:, None]
    return np.stack([start, end], axis=1).astype(np.float32)


def grips(frame: Frame, height: Any, radius: Any) -> Lines:
    """A short line for each grip, above it: from the gripper's axis to the rim of a robot that is held, or above a thing."""
    if frame.grips is None or len(frame.grips) == 0:
        return NONE
    holds, found = np.asarray(frame.grips, np.int64), []
    for robots, group in zip(frame.world.slices, frame.world.groups, strict=True):
        for holder, held in holds[(holds[:, 0] >= robots.start) & (holds[:, 0] < robots.stop)]:
            start = posture(frame, robot_meshes(group.robot), slice(holder, holder + 1), "arm")[0, :3]
            start = start + (0.0, 0.0, 0.25 * height[holder])
            if held < len(frame.place):
                end = frame.place[held] + rotate(frame.turn[held], np.array((0.0, 0.0, 0.95 * height[held])))
                way = end - start
                end = end - way * min(0.9, 0.6 * radius[held] / max(float(np.linalg.norm(way)), 1e-9))
                found.append((start, end))
            elif frame.bodies is not None and held - len(frame.place) < len(frame.bodies):
                x, y, _ = frame.bodies[held - len(frame.place), PLACE]
                found.append((start, (x, y, start[2])))
    points = np.array(found, np.float32).reshape(-1, 2, 3)
    return Lines(points, np.broadcast_to(np.array(rgb(GRIP), np.uint8), points.shape).copy())


def strongest(frame: Frame) -> tuple[str, Any] | None:
    """The greatest force in words, and where its arrow ends; None if there is none."""
    arrows = forces(frame)
    if not len(arrows) or frame.forces is None:
        return None
    size = float(np.linalg.norm(frame.forces[:, Pull.FORCE], axis=1).max())
    return f"{size:.1f} N" if size < 10.0 else f"{size:.0f} N", arrows[0, 1] + (0.0, 0.0, 0.01)


def lights(frame: Frame) -> tuple[Any, Any, float]:
    """The robots' lights that are on: places (K, 3), colours (K, 3), and how large to draw them."""
    colour = np.asarray(frame.leds)
    lit = colour.any(axis=-1) & np.asarray(frame.alive, bool)[:, None]
    points, colours, size = [NONE.points[:, 0]], [NONE.colours[:, 0]], 0.01
    for group, robots in zip(frame.world.groups, frame.world.slices) if lit.any() else ():
        meshes = robot_meshes(group.robot)
        number, light = np.nonzero(lit[robots, :len(meshes.lights)])
        bearer = posture(frame, meshes, robots, meshes.bearer)[number]
        points.append((bearer[:, PLACE] + rotate(bearer[:, TURN], 1.06 * meshes.lights[light])).astype(np.float32))
        colours.append(colour[robots][number, light].astype(np.uint8))
        size = max(size, meshes.light_size)
    return np.concatenate(points), np.concatenate(colours), size


def names(frame: Frame) -> dict[int, str]:
    """Which robots have a name over them, and which."""
    count = len(frame.place)
    if count <= MOST_NAMES:
        return {number: str(number) for number in range(count)}
    return {frame.selected: str(frame.selected)} if 0 <= frame.selected < count else {}


# -- what is the same in all frames of a world ------------------------------------------------------------------------
def heights(world: World) -> Any:
    """(N,) m, of the robots."""
    return np.array([group.robot.height for group in world.groups for _ in range(group.count)], float)


def movables_colours(world: World) -> Any:
    """(M, 3) 0..255, of the things that can be pushed."""
    return np.array([rgb(thing.colour) for thing in world.movables], np.uint8).reshape(-1, 3)


def colours(world: World) -> Any:
    """(N, 3) 0..255, the colour of each robot's group."""
    own = [rgb(group.robot.colour) for group in world.groups]
    return np.repeat(np.array(own, np.uint8).reshape(-1, 3), [group.count for group in world.groups], axis=0)


def pale(colours: Any) -> Any:
    """The same colours, half way to grey, so that robots stand out from their trails."""
    return (0.5 * np.asarray(colours, float) + 0.5 * 176.0).astype(np.uint8)


__all__ = ["Lines", "MOST_NAMES", "NONE", "OVERLAYS", "beams", "colours", "contacts", "forces", "grips", "heights", "lights",
           "links", "movables_colours", "names", "pale", "shifts", "strongest"]
