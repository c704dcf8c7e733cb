"""Robots as triangles: the shapes of a robot's look, gathered into as few meshes as move and are coloured alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from formiga.errors import WorldError
from formiga.view import bodies
from formiga.view.mesh import Mesh, block, box, drum, lathe, prism, rgb, together
from formiga.world.contract import Robot
from formiga.world.elements import of, where
from formiga.world.kinds import COLOUR
from formiga.world.looks import (
    CHASSIS,
    PAINT,
    SPOT,
    Box,
    Capsule,
    Cylinder,
    Drum,
    Ellipsoid,
    Lathe,
    Look,
    Mount,
    Prism,
    Shape,
    Triangles,
)

# Colours that tell the robots of a group apart: neither a team's blue or yellow nor the ball's orange.
SPOTS = ("#e0457b", "#35b779", "#a35bd6", "#3fc8d8", "#f4f4f4")


class Layers(NamedTuple):
    """The meshes of one body, by what decides their colour."""

    body: Mesh | None           # its own colours
    paint: Mesh | None          # the colour of the group, or of what happened to the robot
    spot: Mesh | None           # one of SPOTS, another one for each robot of a group


@dataclass(frozen=True, eq=False)  # compared by identity: `robot_meshes` gives the same one for equal robots
class RobotMeshes:
    """A kind of robot: its meshes, and where its parts, its lights and its camera are."""

    flat: Layers                # the whole robot, with all parts at rest
    parts: dict[str, Layers]    # in space: part -> meshes in that part's frame; empty: nothing moves by itself
    mounts: Mapping[str, Mount]
    lights: np.ndarray          # (L, 3) m, in the frame of the bearer
    light_size: float           # m, across
    camera: tuple[float, float, float] | None
    bearer: str


@lru_cache(maxsize=64)
def robot_meshes(robot: Robot) -> RobotMeshes:
    """The look that this robot brings, as triangles."""
    look = robot.look()
    _check(robot, look)
    parts: dict[str, list[Shape]] = {}
    for shape in look.shapes:
        parts.setdefault(shape.part, []).append(shape)
    moving = {part: _layers(shapes) for part, shapes in parts.items()} if look.flat or set(parts) - {CHASSIS} else {}
    flat = [_mesh_of(shape).moved(rest_place(look.mounts, shape.part)) for shape in look.flat or look.shapes]
    lights = np.array(look.lights, float).reshape(-1, 3)
    return RobotMeshes(_layers(look.flat or look.shapes, flat), moving, look.mounts, lights, look.light_size, look.camera,
                       look.bearer)


def rest_place(mounts: Mapping[str, Mount], part: str) -> tuple[float, float, float]:
    """Where the origin of a part is in the frame of the chassis, with all joints at rest."""
    x = y = z = 0.0
    while part != CHASSIS:
        part, (dx, dy, dz) = mounts[part]
        x, y, z = x + dx, y + dy, z + dz
    return x, y, z


def _layers(shapes: Sequence[Shape], meshes: Sequence[Mesh] | None = None) -> Layers:
    meshes = [_mesh_of(shape) for shape in shapes] if meshes is None else meshes
    of_kind: dict[str, list[Mesh]] = {"body": [], PAINT: [], SPOT: []}
    for shape, mesh in zip(shapes, meshes, strict=True):
        of_kind[shape.colour if shape.colour in of_kind else "body"].append(mesh)
    return Layers(*(together(*found) if found else None for found in of_kind.values()))


# -- one shape --------------------------------------------------------------------------------------------------------
SOLIDS: dict[type, Callable[[Any, str], Mesh]] = {
    Box: lambda shape, colour: _box(shape.size, colour),
    Prism: lambda shape, colour: (block(shape.outline, shape.low, shape.high, shape.bevel, colour) if shape.bevel > 0.0 else
                                  prism(shape.outline, shape.low, shape.high, colour)),
    Drum: lambda shape, colour: drum(shape.radius, shape.low, shape.high, shape.sides, shape.bevel, colour),
    Lathe: lambda shape, colour: lathe(shape.profile, shape.sides, colour),
    Ellipsoid: lambda shape, colour: _ellipsoid(shape.radii, colour),
    Capsule: lambda shape, colour: bodies.solid("capsule", (2.0 * shape.radius, shape.length), colour),
    Cylinder: lambda shape, colour: bodies.solid("cylinder", (2.0 * shape.radius, shape.length), colour),
    Triangles: lambda shape, colour: _triangles(shape.vertices, shape.faces, colour),
}


def _mesh_of(shape: Shape) -> Mesh:
    """In the frame of its part."""
    colour = "#ffffff" if shape.colour in (PAINT, SPOT) else shape.colour
    solid = bodies.by_class(SOLIDS, shape)
    assert solid is not None  # a look with others was refused
    return solid(shape, colour).moved(shape.place, shape.turn)


def _box(size: tuple[float, float, float], colour: str) -> Mesh:
    x, y, z = (0.5 * side for side in size)
    return box(-x, x, -y, y, -z, z, colour)


def _ellipsoid(radii: tuple[float, float, float], colour: str) -> Mesh:
    sphere = bodies.solid("sphere", (2.0,), colour)
    return Mesh(sphere.vertices * radii, sphere.faces, sphere.colours)


def _triangles(vertices: Any, faces: Any, colour: str) -> Mesh:
    corners, table = np.asarray(vertices, float).reshape(-1, 3), np.asarray(faces, np.int64).reshape(-1, 3)
    return Mesh(corners, table, np.tile(np.array(rgb(colour), np.uint8), (len(corners), 1)))


# -- what a look may be -----------------------------------------------------------------------------------------------
def _check(robot: Robot, look: Any) -> None:
    """Refuse a look that cannot be drawn."""
    said = f"{where(robot)}<{of(robot).tag}> look():"
    if not isinstance(look, Look):
        raise WorldError(f"{said} returns a Look of formiga.world.looks, not {type(look).__name__}.")
    if not look.shapes:
        raise WorldError(f"{said} has no shapes; it needs at least one.")
    known = (CHASSIS, *look.mounts)
    for shape in (*look.shapes, *look.flat):
        if bodies.by_class(SOLIDS, shape) is None:
            raise WorldError(f"{said} {type(shape).__name__} is not a shape; there are: "
                             f"{', '.join(kind.__name__ for kind in SOLIDS)}.")
        if shape.colour not in (PAINT, SPOT) and not re.fullmatch(COLOUR, shape.colour):
            raise WorldError(f"{said} the colour '{shape.colour}' of a {type(shape).__name__} is not #rrggbb, PAINT or SPOT.")
    for part in (*(shape.part for shape in (*look.shapes, *look.flat)), *(mount.carrier for mount in look.mounts.values()),
                 look.bearer):
        if part not in known:
            raise WorldError(f"{said} the part '{part}' has no mount; there are: {', '.join(known)}.")
    for part in look.mounts:
        below = [part]
        while below[-1] != CHASSIS:
            below.append(look.mounts[below[-1]].carrier)
            if len(below) > len(look.mounts) + 1:
                raise WorldError(f"{said} the part '{part}' is not carried by the chassis but by a ring: {' on '.join(below)}.")


__all__ = ["Layers", "RobotMeshes", "SPOTS", "rest_place", "robot_meshes"]
