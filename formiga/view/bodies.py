"""Bodies as triangles: robots, obstacles, things that can be pushed, lamps, painted floors.

Everything is made of two solids, the lathe and the prism. Corners are not shared between faces that meet at an edge, so
shading stays smooth around a drum and sharp at its rim. x is ahead, z is up, the origin is the middle of the foot.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise, product
from math import cos, pi, sin, tau
from typing import Any

import numpy as np

Points = Sequence[tuple[float, float]] | np.ndarray

# Dark parts are not black, so that their edges stay visible in the shade.
RUBBER, CHASSIS, SHELL, METAL, LENS, MARK = "#3b3d42", "#4c5058", "#565b65", "#c3c8cf", "#8a9099", "#ffffff"
# By which robots of a team are told apart: neither a team's blue or yellow nor the ball's orange.
SPOTS = ("#e0457b", "#35b779", "#a35bd6", "#3fc8d8", "#f4f4f4")


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles. Faces are counter-clockwise seen from outside."""

    vertices: np.ndarray       # (V, 3) m
    faces: np.ndarray          # (F, 3) indices
    colours: np.ndarray        # (V, 3) 0..255, as on a screen (sRGB)

    def moved(self, x: float = 0.0, y: float = 0.0, z: float = 0.0, turn: float = 0.0) -> Mesh:
        """Turned about the vertical, then moved."""
        c, s = cos(turn), sin(turn)
        matrix = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        return Mesh(self.vertices @ matrix + (x, y, z), self.faces, self.colours)

    def on_its_side(self) -> Mesh:
        """What was up (z) is now to the left (y); what was to the left points down."""
        return Mesh(self.vertices @ np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]), self.faces, self.colours)


@dataclass(frozen=True, eq=False)  # compared by identity: `look` gives the same one for equal robots
class Look:
    """How a kind of robot looks: parts that are always the same, a painted part, and where its lights are."""

    body: Mesh
    paint: Mesh                # in the colour of the group, or of what happened to the robot
    lights: np.ndarray         # (L, 3) m
    light_size: float          # m, across
    spot: Mesh | None = None   # in another colour for each robot of a group: SPOTS
    moving: dict[str, Mesh] = field(default_factory=dict)  # in space, instead of `body`: part -> mesh in that body's own frame
    rest: dict[str, tuple[str, tuple[float, float, float]]] = field(default_factory=dict)  # part -> what carries it, and where
    bearer: str = "chassis"    # the part that carries the paint, the spot and the lights
    eye: tuple[float, float, float] | None = None  # m, of the camera, in the bearer's frame


def rgb(colour: str) -> tuple[int, int, int]:
    """'#0072b2' -> (0, 114, 178)."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def linear(colours: Any) -> np.ndarray:
    """Screen colours 0..255 (sRGB) as shares of light 0..1. [IEC 61966-2-1]"""
    value = np.asarray(colours, float) / 255.0
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


# -- solids ---------------------------------------------------------------------------------------------------------
def lathe(profile: Points, sides: int, colour: str = "#ffffff") -> Mesh:
    """A profile of (radius, z) turned about the vertical. It goes up outside, from the axis to the axis or around a ring."""
    around = np.arange(sides) * tau / sides
    vertices: list[np.ndarray] = []
    faces: list[tuple[int, int, int]] = []
    first = 0
    for (r0, z0), (r1, z1) in pairwise(profile):
        rings = [np.stack([r * np.cos(around), r * np.sin(around), np.full(sides, z)], axis=1) for r, z in ((r0, z0), (r1, z1))]
        vertices += rings
        for a in range(sides):
            b = (a + 1) % sides
            if r0 > 0.0:
                faces.append((first + a, first + b, first + sides + b))
            if r1 > 0.0:
                faces.append((first + a, first + sides + b, first + sides + a))
        first += 2 * sides
    return _mesh(np.concatenate(vertices), faces, colour)


def prism(outline: Points, z0: float, z1: float, colour: str = "#ffffff") -> Mesh:
    """An outline raised from z0 to z1."""
    corners = _counter_clockwise(outline)
    return _stack([corners, corners], [z0, z1], colour)


def block(outline: Points, z0: float, z1: float, bevel: float, colour: str = "#ffffff") -> Mesh:
    """An outline raised from z0 to z1, its corners and its upper rim cut off by `bevel`."""
    foot = chamfered(_counter_clockwise(outline), bevel)
    return _stack([foot, foot, offset(foot, -bevel)], [z0, z1 - bevel, z1], colour)


def _stack(outlines: list[np.ndarray], heights: list[float], colour: str) -> Mesh:
    """Counter-clockwise outlines (K, 2) one above another, with walls between them, a floor and a roof."""
    count = len(outlines[0])
    levels = [np.column_stack([corners, np.full(count, z)]) for corners, z in zip(outlines, heights, strict=True)]
    vertices = [levels[0], levels[-1]]
    faces = [(a, c, b) for a, b, c in triangles(outlines[0])]
    faces += [(a + count, b + count, c + count) for a, b, c in triangles(outlines[-1])]
    for low, high in pairwise(levels):
        for a in range(count):
            b, first = (a + 1) % count, sum(map(len, vertices))
            vertices.append(np.array([low[a], low[b], high[b], high[a]]))
            faces += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    return _mesh(np.concatenate(vertices), faces, colour)


def drum(radius: float, z0: float, z1: float, sides: int = 24, bevel: float = 0.0, colour: str = "#ffffff") -> Mesh:
    """An upright cylinder, its upper rim cut off by `bevel`."""
    rim = [(radius, z1)] if bevel == 0.0 else [(radius, z1 - bevel), (radius - bevel, z1)]
    return lathe([(0.0, z0), (radius, z0), *rim, (0.0, z1)], sides, colour)


def chamfered(corners: np.ndarray, size: float) -> np.ndarray:
    """A counter-clockwise outline (K, 2) with each of its outer corners cut off: two corners instead, `size` away from it."""
    cut: list[np.ndarray] = []
    for k, here in enumerate(corners):
        before, after = corners[k - 1] - here, corners[(k + 1) % len(corners)] - here
        if _cross(corners[k - 1], here, corners[(k + 1) % len(corners)]) <= 0.0:
            cut.append(here)
        else:
            cut += [here + min(size / np.hypot(*way), 0.3) * way for way in (before, after)]
    return np.array(cut)


def offset(corners: np.ndarray, by: float) -> np.ndarray:
    """A counter-clockwise outline (K, 2) with its edges moved outwards by so much; a sharp corner goes twice as far at most."""
    edge = np.roll(corners, -1, axis=0) - corners
    normal = np.column_stack([edge[:, 1], -edge[:, 0]]) / np.maximum(np.hypot(*edge.T), 1e-12)[:, None]
    middle = normal + np.roll(normal, 1, axis=0)          # of the two edges that meet at a corner
    return corners + by * middle / np.maximum(0.5 * (middle**2).sum(axis=1), 0.5)[:, None]


def box(x0: float, x1: float, y0: float, y1: float, z0: float, z1: float, colour: str = "#ffffff") -> Mesh:
    """A box with its sides along the axes."""
    return prism([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], z0, z1, colour)


def annulus(inner: float, outer: float, sides: int = 48, thick: float = 0.002) -> Mesh:
    """A flat ring that lies on the floor."""
    return lathe([(inner, 0.0), (outer, 0.0), (outer, thick), (inner, thick), (inner, 0.0)], sides)


def plate(outline: Points, z: float = 0.0) -> Mesh:
    """A flat outline, seen from above only."""
    corners = _counter_clockwise(outline)
    return _mesh(np.column_stack([corners, np.full(len(corners), z)]), triangles(corners), "#ffffff")


def circle(radius: float, sides: int = 48) -> np.ndarray:
    """An outline (sides, 2)."""
    around = np.arange(sides) * tau / sides
    return radius * np.column_stack([np.cos(around), np.sin(around)])


def rectangle(width: float, depth: float) -> np.ndarray:
    """An outline (4, 2) around the origin."""
    return 0.5 * np.array([(-width, -depth), (width, -depth), (width, depth), (-width, depth)])


def together(*meshes: Mesh) -> Mesh:
    """Several meshes as one."""
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    return Mesh(np.concatenate([mesh.vertices for mesh in meshes]),
                np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts)]),
                np.concatenate([mesh.colours for mesh in meshes]))


def triangles(corners: np.ndarray) -> list[tuple[int, int, int]]:
    """A counter-clockwise outline (K, 2) cut into K - 2 triangles, one ear after another.

    An ear is a corner that bends inwards with no other corner inside its triangle. An outline that crosses itself may
    have none left; then any corner is taken, so that something is drawn.
    """
    left = list(range(len(corners)))
    cut: list[tuple[int, int, int]] = []
    while len(left) > 3:
        at = next((k for k in range(len(left)) if _is_ear(corners, left, k)), 0)
        cut.append((left[at - 1], left[at], left[(at + 1) % len(left)]))
        del left[at]
    return [*cut, (left[0], left[1], left[2])]


def _is_ear(corners: np.ndarray, left: list[int], at: int) -> bool:
    a, b, c = (corners[left[k % len(left)]] for k in (at - 1, at, at + 1))
    if _cross(a, b, c) <= 0.0:
        return False
    others = corners[[left[k % len(left)] for k in range(at + 2, at - 1 + len(left))]]
    inside = (_cross(a, b, others) >= 0.0) & (_cross(b, c, others) >= 0.0) & (_cross(c, a, others) >= 0.0)
    return not inside.any()


def _cross(a: np.ndarray, b: np.ndarray, p: np.ndarray) -> Any:
    """Positive where p lies to the left of the way from a to b."""
    return (b[0] - a[0]) * (p[..., 1] - a[1]) - (b[1] - a[1]) * (p[..., 0] - a[0])


def _counter_clockwise(outline: Points) -> np.ndarray:
    corners = np.asarray(outline, float)
    return corners if _area(corners) >= 0.0 else corners[::-1]


def _area(corners: np.ndarray) -> float:
    """Twice the area inside; negative if clockwise."""
    x, y = corners.T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def _mesh(vertices: np.ndarray, faces: list[tuple[int, int, int]], colour: str) -> Mesh:
    """The mesh, without corners that no face uses."""
    table = np.array(faces, np.int64).reshape(-1, 3)
    used, index = np.unique(table, return_inverse=True)
    return Mesh(vertices[used], index.reshape(-1, 3), np.tile(np.array(rgb(colour), np.uint8), (len(used), 1)))


# -- robots ---------------------------------------------------------------------------------------------------------
@lru_cache(maxsize=64)
def look(robot: Any) -> Look:
    """How this robot looks. An own kind of robot may have a method `look` that returns a Look."""
    if hasattr(robot, "look"):
        return robot.look()
    if type(robot).__name__ == "Machine":
        from formiga.view.machine import machine  # it knows the simulator of three dimensions, which takes a while to load

        return machine(robot)
    return {"SBot": _sbot, "MiroSot": _mirosot}.get(type(robot).__name__, _disc)(robot)


def _sbot(robot: Any) -> Look:
    """Two treels (tracks with wheels outside), a turret that carries the ring of lights, a gripper, a camera on a mast.

    Proportions are taken from photographs of the robot; radius, height, wheel base and wheels are the element's own.
    """
    r, h = robot.radius, robot.height
    foot, ring, deck = 0.38 * h, 0.62 * h, 0.72 * h
    middle, wide = 0.60 * r, 0.34 * r                   # of a treel, so that its corners stay below the turret
    long = 0.62 * r
    track = np.concatenate([circle(0.18 * h, 14)[(np.arange(8) + 11) % 14] + (long - 0.18 * h, 0.0),
                            circle(0.18 * h, 14)[(np.arange(8) + 4) % 14] - (long - 0.18 * h, 0.0)])
    treel = prism(track, 0.0, wide, RUBBER).on_its_side().moved(y=-0.5 * wide, z=0.18 * h)
    hub = drum(0.1 * h, 0.0, 0.06 * r, 6, colour=METAL).on_its_side().moved(z=0.18 * h)
    hubs = [hub.moved(x=side * (long - 0.18 * h), y=side * (middle + 0.5 * wide), turn=0.0 if side > 0 else pi)
            for side in (1, -1)]
    jaw = [(0.92 * r, 0.10 * r), (1.10 * r, 0.22 * r), (1.30 * r, 0.16 * r), (1.34 * r, 0.05 * r), (1.20 * r, 0.09 * r)]
    jaws = [prism(jaw, 0.44 * h, 0.56 * h, METAL), prism([(x, -y) for x, y in jaw], 0.44 * h, 0.56 * h, METAL)]
    pointer = [(0.74 * r, 0.0), (0.30 * r, 0.22 * r), (0.30 * r, -0.22 * r)]
    lights = _ring(robot, 0.99 * r, 0.5 * (foot + ring))
    tracks = [treel.moved(y=middle), treel.moved(y=-middle)]
    hull = box(-0.55 * r, 0.55 * r, -middle + 0.4 * wide, middle - 0.4 * wide, 0.08 * h, foot, CHASSIS)
    top = [drum(0.78 * r, ring - 0.002, deck, 18, 0.05 * r, SHELL), prism(pointer, deck - 0.001, deck + 0.012 * h, MARK)]
    mast = [drum(0.10 * r, deck, 0.93 * h, 8, colour=SHELL).moved(x=-0.12 * r),
            lathe([(0.0, 0.90 * h), (0.16 * r, 0.92 * h), (0.16 * r, 0.97 * h), (0.0, h)], 8, METAL).moved(x=-0.12 * r)]
    body = together(*tracks, *hubs, hull, *top, box(0.80 * r, 0.98 * r, -0.12 * r, 0.12 * r, 0.42 * h, 0.58 * h, CHASSIS),
                    *jaws, *mast, *_lenses(lights, 0.10 * r))
    wheel, (x, z) = _wheel(robot), robot.arm_pivot
    moving = {"chassis": together(*tracks, hull), "left": wheel, "right": wheel.moved(turn=pi), "arm": _arm(robot),
              "turret": together(drum(0.5 * r, 0.3 * h, foot, 16, colour=CHASSIS), *top, *mast, *_lenses(lights, 0.10 * r))}
    rest = {"arm": ("turret", (x, 0.0, z)), **_beside(robot)}
    return Look(body, drum(r, foot, ring, 20, 0.10 * r), lights, 0.17 * r, moving=moving, rest=rest, bearer="turret",
                eye=(0.06 * r, 0.0, 1.05 * h))


def _beside(robot: Any) -> dict[str, tuple[str, tuple[float, float, float]]]:
    """Where the middles of two wheels are."""
    half, up = 0.5 * robot.wheel_base, robot.wheel_radius
    return {"left": ("chassis", (0.0, half, up)), "right": ("chassis", (0.0, -half, up))}


def _wheel(robot: Any) -> Mesh:
    """The left one around its middle: a tyre, and a hub with spokes outside, so that one sees it roll."""
    radius, wide = robot.wheel_radius, 0.3 * robot.wheel_radius
    spokes = [box(0.1 * radius, 0.6 * radius, -0.08 * radius, 0.08 * radius, wide, 1.08 * wide, METAL).moved(turn=k * tau / 3.0)
              for k in range(3)]
    return together(drum(radius, -wide, wide, 24, 0.1 * radius, RUBBER), drum(0.68 * radius, wide - 0.001, 1.02 * wide, 20,
                    colour=CHASSIS), drum(0.18 * radius, wide, 1.12 * wide, 10, colour=METAL), *spokes).on_its_side()


def _arm(robot: Any) -> Mesh:
    """Around its axis, along x: a beam over the ring, and outside of it two jaws that hang down as far as a ring is high."""
    r, h, long = robot.radius, robot.height, robot.grip_reach
    rim, up, down = r - robot.arm_pivot[0], 0.05 * h, robot.arm_pivot[1] - 0.42 * h   # from here to there the gripper's reach
    jaw = [(rim + 0.1 * long, 0.06 * r), (rim + 0.35 * long, 0.24 * r), (rim + 0.85 * long, 0.2 * r), (rim + long, 0.08 * r),
           (rim + 0.75 * long, 0.11 * r)]
    return together(drum(0.09 * r, -0.22 * r, 0.22 * r, 12, colour=METAL).on_its_side(),
                    box(0.0, rim + 0.1 * long, -0.10 * r, 0.10 * r, -up, up, CHASSIS),
                    box(rim + 0.05 * long, rim + 0.3 * long, -0.16 * r, 0.16 * r, -down, 1.3 * up, SHELL),
                    prism(jaw, -down, up, METAL), prism([(x, -y) for x, y in jaw], -down, up, METAL))


def _disc(robot: Any) -> Look:
    """A drum on two wheels with an arrow on top."""
    r, h = robot.radius, getattr(robot, "height", 0.1)
    wheel = min(getattr(robot, "wheel_radius", 0.3 * h), 0.45 * h)
    base = min(getattr(robot, "wheel_base", 1.6 * r), 1.8 * r)
    tread = min(0.22 * r, max(0.06 * r, 2.0 * (r - 0.5 * base)))
    floor = min(1.1 * wheel, 0.4 * h)
    rolling = drum(wheel, -0.5 * tread, 0.5 * tread, 14, colour=RUBBER).on_its_side().moved(z=wheel)
    arrow = [(0.66 * r, 0.0), (-0.02 * r, 0.46 * r), (-0.02 * r, 0.17 * r), (-0.58 * r, 0.17 * r),
             (-0.58 * r, -0.17 * r), (-0.02 * r, -0.17 * r), (-0.02 * r, -0.46 * r)]
    lights = _ring(robot, 0.995 * r, 0.5 * (floor + h))
    hull = together(drum(0.80 * r, 0.35 * floor, floor, 16, colour=CHASSIS), prism(arrow, h - 0.001, h + 0.02 * h, MARK),
                    *_lenses(lights, 0.07 * r))
    body = together(rolling.moved(y=0.5 * base), rolling.moved(y=-0.5 * base), hull)
    paint = drum(r, floor, h, 28, 0.10 * r)
    if not (hasattr(robot, "wheel_base") and hasattr(robot, "wheel_radius")):
        return Look(body, paint, lights, 0.12 * r)
    moving = {"chassis": hull, "left": _wheel(robot), "right": _wheel(robot).moved(turn=pi)}
    return Look(body, paint, lights, 0.12 * r, moving=moving, rest=_beside(robot))


def _mirosot(robot: Any) -> Look:
    """A cube with bevelled edges, a wheel in each side; on top a patch in the colour of the team, a spot that tells the
    robots of a team apart, and a white stroke at the front.
    """
    outline, h = _counter_clockwise(robot.outline or circle(robot.side / 2, 32)), robot.height
    size = 0.5 * min(np.ptp(outline, axis=0))               # half of what a square has as its side
    wide = _reach(outline)                                  # to the left and to the right of the middle
    wheel, tread = min(robot.wheel_radius, 0.42 * h), 0.2 * size
    deck, bevel = 2.0 * wheel + 0.03 * h, 0.07 * size
    rolling = together(drum(wheel, 0.0, tread, 20, 0.1 * wheel, RUBBER), drum(0.55 * wheel, tread - 0.001, 1.04 * tread, 20,
                                                                               colour=METAL)).on_its_side()
    wheels = [rolling.moved(y=wide - 1.1 * tread, z=wheel), rolling.moved(y=wide - 1.1 * tread, z=wheel).moved(turn=pi)]
    under = _between(outline, wheel + 0.1 * size, wide - 1.3 * tread)
    front, patch = _front(outline), offset(outline, -0.16 * size)
    spot = circle(0.30 * size, 24) - (0.36 * size, 0.0)
    stroke = rectangle(0.16 * size, 0.8 * size) + (front - 0.34 * size, 0.0)
    lights = _ring(robot, robot.radius, 0.8 * h)
    body = together(*wheels, *(prism(part, 0.06 * h, deck + 0.001, CHASSIS) for part in under),
                    block(outline, deck, h, bevel, SHELL), prism(stroke, h, 1.028 * h, MARK), *_lenses(lights, 0.1 * size))
    return Look(body, prism(patch, h - 0.001, 1.015 * h), lights, 0.12 * size, prism(spot, h, 1.03 * h))


def _reach(outline: np.ndarray) -> float:
    """How far an outline goes to both sides of its middle, at x = 0."""
    sides = []
    for (x0, y0), (x1, y1) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        if (x0 <= 0.0) != (x1 <= 0.0):
            sides.append(abs(y0 + (y1 - y0) * x0 / (x0 - x1)))
    return min(sides, default=float(np.abs(outline[:, 1]).max()))


def _front(outline: np.ndarray) -> float:
    """Where an outline ends, straight ahead of its middle."""
    turned = np.column_stack([-outline[:, 1], outline[:, 0]])
    ends = [y0 + (y1 - y0) * x0 / (x0 - x1) for (x0, y0), (x1, y1) in zip(turned, np.roll(turned, -1, axis=0), strict=True)
            if (x0 <= 0.0) != (x1 <= 0.0)]
    return max(ends, default=float(outline[:, 0].max()))


def _between(outline: np.ndarray, half: float, side: float) -> list[np.ndarray]:
    """What is left of an outline where two wheels stand beside its middle: ahead of them, behind them, and between them."""
    ahead = _cut(outline, half)
    behind = -_cut(-outline, half)
    middle = np.array([(half, -side), (half, side), (-half, side), (-half, -side)]) if side > 0.0 else np.empty((0, 2))
    return [part for part in (ahead, behind, middle) if len(part) > 2]


def _cut(outline: np.ndarray, x: float) -> np.ndarray:
    """The part of an outline ahead of a line across it. [Sutherland & Hodgman 1974]"""
    kept: list[Any] = []
    for here, there in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        if here[0] >= x:
            kept.append(here)
        if (here[0] >= x) != (there[0] >= x):
            kept.append(here + (there - here) * (x - here[0]) / (there[0] - here[0]))
    return np.array(kept).reshape(-1, 2)


def _ring(robot: Any, radius: float, z: float) -> np.ndarray:
    """Places of the robot's lights: evenly around, the first one half a step to the left of straight ahead."""
    count = getattr(robot, "leds", 0)
    around = (np.arange(count) + 0.5) * tau / max(count, 1)
    return np.column_stack([radius * np.cos(around), radius * np.sin(around), np.full(count, z)])


def _lenses(lights: np.ndarray, size: float) -> list[Mesh]:
    """A small pyramid for each light, so that one that is off can be seen."""
    pyramid = lathe([(0.0, 0.0), (0.5 * size, 0.0), (0.0, 0.3 * size)], 4, LENS)
    upright = Mesh(pyramid.vertices[:, [2, 0, 1]], pyramid.faces, pyramid.colours)  # z -> x, x -> y, y -> z
    return [upright.moved(x, y, z, np.arctan2(y, x)) for x, y, z in lights]


# -- what can be pushed -----------------------------------------------------------------------------------------------
@lru_cache(maxsize=256)
def movables(kind: str, size: tuple[float, ...], height: float, colour: str) -> Mesh:
    """A ball of a radius, around its middle; a puck of a radius or a block with an outline, on the floor."""
    if kind == "ball":
        return _ball(size[0], colour)
    if kind == "puck":
        return drum(size[0], 0.0, height, 40, min(0.12 * size[0], 0.3 * height), colour)
    outline = np.reshape(size, (-1, 2))
    return block(outline, 0.0, height, min(0.06 * float(np.ptp(outline, axis=0).min()), 0.3 * height), colour)


def _ball(radius: float, colour: str, cuts: int = 6) -> Mesh:
    """Eight parts, light and dark in turn, so that one sees it roll."""
    grid = [(i, j, cuts - i - j) for i in range(cuts + 1) for j in range(cuts + 1 - i)]
    number = {(i, j): k for k, (i, j, _) in enumerate(grid)}
    faces = [(number[i, j], number[i + 1, j], number[i, j + 1]) for i, j, k in grid if k > 0]
    faces += [(number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]) for i, j, k in grid if k > 1]
    part = np.array(grid, float)
    part *= radius / np.linalg.norm(part, axis=1, keepdims=True)
    light = "#" + "".join(f"{round(value + 0.3 * (255 - value)):02x}" for value in rgb(colour))
    parts = []
    for signs in product((1.0, -1.0), repeat=3):
        outside = faces if np.prod(signs) > 0.0 else [(a, c, b) for a, b, c in faces]
        parts.append(_mesh(part * signs, outside, colour if np.prod(signs) > 0.0 else light))
    return together(*parts)


# -- lamps ----------------------------------------------------------------------------------------------------------
BULB = 0.028  # m, radius


@lru_cache(maxsize=64)
def bulb(colour: str, size: float = 1.0) -> Mesh:
    """The globe of a lamp, around the origin."""
    radius = size * BULB
    between = [(radius * cos(a), radius * sin(a)) for a in np.linspace(-0.5 * pi, 0.5 * pi, 9)[1:-1]]
    return lathe([(0.0, -radius), *between, (0.0, radius)], 16, colour)


@lru_cache(maxsize=64)
def post(height: float) -> Mesh:
    """What a lamp at this height stands on."""
    stem = max(height - 0.6 * BULB, 0.004)
    return together(drum(1.3 * BULB, 0.0, min(0.008, stem), 24, colour=CHASSIS), drum(0.006, 0.0, stem, 10, colour=SHELL),
                    drum(0.5 * BULB, max(0.0, stem - 0.02), stem, 14, colour=SHELL))


# -- for the browser ------------------------------------------------------------------------------------------------
def normals(mesh: Mesh) -> np.ndarray:
    """Directions (V, 3) out of the surface: the mean over the faces at each corner, large ones counting more."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    face = np.cross(b - a, c - a)
    total = np.zeros_like(mesh.vertices)
    for k in range(3):
        np.add.at(total, mesh.faces[:, k], face)
    return total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-30)


def glb(mesh: Mesh, glow: bool = False, opacity: float = 1.0) -> bytes:
    """The mesh as a binary glTF 2.0 file with one colour per corner; `glow`: as bright as its colours, in any light.

    trimesh can write one too, but then without a material, and the default of glTF is bare metal.
    """
    parts = [mesh.vertices.astype("<f4"), normals(mesh).astype("<f4"), linear(mesh.colours).astype("<f4"),
             mesh.faces.astype("<u4").reshape(-1)]
    starts = np.cumsum([0, *(part.nbytes for part in parts)])
    material: dict[str, Any] = {"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 0.62,
                                                         "baseColorFactor": [1.0, 1.0, 1.0, opacity]}}
    if opacity < 1.0:
        material["alphaMode"] = "BLEND"
    if glow:
        material["extensions"] = {"KHR_materials_unlit": {}}
    corners = len(mesh.vertices)
    scene = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1, "COLOR_0": 2}, "indices": 3, "material": 0}]}],
        "materials": [material],
        "extensionsUsed": ["KHR_materials_unlit"] if glow else [],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": corners, "type": "VEC3",
             "min": parts[0].min(axis=0).tolist(), "max": parts[0].max(axis=0).tolist()},
            {"bufferView": 1, "componentType": 5126, "count": corners, "type": "VEC3"},
            {"bufferView": 2, "componentType": 5126, "count": corners, "type": "VEC3"},
            {"bufferView": 3, "componentType": 5125, "count": parts[3].size, "type": "SCALAR"},
        ],
        "bufferViews": [{"buffer": 0, "byteOffset": int(start), "byteLength": part.nbytes}
                        for part, start in zip(parts, starts)],
        "buffers": [{"byteLength": int(starts[-1])}],
    }
    text = json.dumps(scene, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    data = b"".join(part.tobytes() for part in parts)

    def chunk(kind: bytes, content: bytes) -> bytes:
        return len(content).to_bytes(4, "little") + kind + content

    rest = chunk(b"JSON", text) + chunk(b"BIN\0", data)
    return b"glTF" + (2).to_bytes(4, "little") + (12 + len(rest)).to_bytes(4, "little") + rest


__all__ = ["Look", "Mesh", "SPOTS", "annulus", "block", "box", "bulb", "chamfered", "circle", "drum", "glb", "lathe", "linear",
           "look", "movables", "normals", "offset", "plate", "post", "prism", "rectangle", "rgb", "together", "triangles"]
