"""The look of a robot that is described in MJCF or URDF: the geoms of that file, each on the body that it belongs to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from formiga.geometry import multiply, rotate, to_euler
from formiga.world.looks import CHASSIS, PAINT, WHITE, Box, Capsule, Cylinder, Ellipsoid, Look, Mount, Prism, Shape, Triangles
from formiga.world.looks.wheeled import ring

HIDDEN = 3              # geoms of this group and above are there for contacts only, by MuJoCo's own custom
CORNERS = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
GREY = (0.5, 0.5, 0.5)  # of a geom that has no colour: it gets that of the robot


def machine_look(robot: Any) -> Look:
    """All geoms of the file; those of its first body that have no colour are painted as the group is."""
    model = robot.description().compile()
    root = next((body for body in range(1, model.nbody) if model.body_parentid[body] == 0), 0)
    names = {body: CHASSIS if body == root else model.body(body).name for body in range(1, model.nbody)}
    shown = [geom for geom in range(model.ngeom) if model.geom_bodyid[geom] > 0 and model.geom_rgba[geom, 3] > 0.0]
    if seen := [geom for geom in shown if model.geom_group[geom] < HIDDEN]:
        shown = seen
    shapes: list[Shape] = []
    corners = []            # of boxes around the geoms of the chassis
    for geom in shown:
        body, place, turn = int(model.geom_bodyid[geom]), model.geom_pos[geom], model.geom_quat[geom]
        while not names[body]:  # a body without a name has no pose of its own here: it moves with the body that carries it
            place, turn = model.body_pos[body] + rotate(model.body_quat[body], place), multiply(model.body_quat[body], turn)
            body = int(model.body_parentid[body])
        if (shape := _shape(model, geom)) is not None:
            shapes.append(replace(shape, part=names[body], place=_vector(place), turn=_vector(to_euler(turn)),
                                  colour=_colour(model, geom) or (PAINT if names[body] == CHASSIS else robot.colour)))
            if names[body] == CHASSIS:
                corners.append(place + rotate(turn, model.geom_aabb[geom, :3] + CORNERS * model.geom_aabb[geom, 3:]))
    r, h = robot.radius, robot.height
    front, top = np.concatenate(corners).max(axis=0)[[0, 2]] if corners else (r, h)
    tip = min(0.9 * r, float(front)) if front > 0.0 else 0.9 * r   # the pointer lies on the chassis, and ends at its front
    pointer = Prism([(tip, 0.0), (tip - 0.3 * r, 0.16 * r), (tip - 0.3 * r, -0.16 * r)], float(top), float(top) + 0.03 * h)
    painted = {shape.colour == PAINT for shape in shapes if shape.part == CHASSIS}
    if painted != {True, False}:  # a chassis of one kind of colour: the pointer is of the other kind
        shapes.append(replace(pointer, colour=WHITE) if painted == {True} else pointer)
    mounts = {names[body]: Mount(names[int(model.body_parentid[body])] or CHASSIS, _vector(model.body_pos[body]))
              for body in range(1, model.nbody) if names[body] and body != root}
    return Look(tuple(shapes), mounts, lights=ring(robot.leds, r, 0.8 * h), light_size=0.12 * r)


def _vector(numbers: Any) -> tuple[float, float, float]:
    x, y, z = map(float, numbers)
    return x, y, z


def _colour(model: Any, geom: int) -> str:
    """'#rrggbb' of its material or its own; '' if it has none."""
    material = int(model.geom_matid[geom])
    colour = model.mat_rgba[material, :3] if material >= 0 else model.geom_rgba[geom, :3]
    return "" if material < 0 and np.allclose(colour, GREY) else "#" + "".join(f"{round(255 * c):02x}" for c in colour)


def _shape(model: Any, geom: int) -> Shape | None:
    """A geom around its own origin; None for one without a body, such as a plane."""
    import mujoco

    kinds, (a, b, c) = mujoco.mjtGeom, (float(size) for size in model.geom_size[geom])
    kind = model.geom_type[geom]
    if kind == kinds.mjGEOM_BOX:
        return Box((2.0 * a, 2.0 * b, 2.0 * c))
    if kind == kinds.mjGEOM_SPHERE:
        return Ellipsoid((a, a, a))
    if kind == kinds.mjGEOM_CAPSULE:
        return Capsule(a, 2.0 * (a + b))
    if kind == kinds.mjGEOM_CYLINDER:
        return Cylinder(a, 2.0 * b)
    if kind == kinds.mjGEOM_ELLIPSOID:
        return Ellipsoid((a, b, c))
    if kind == kinds.mjGEOM_MESH:
        number = int(model.geom_dataid[geom])
        corners = slice(model.mesh_vertadr[number], model.mesh_vertadr[number] + model.mesh_vertnum[number])
        faces = slice(model.mesh_faceadr[number], model.mesh_faceadr[number] + model.mesh_facenum[number])
        return Triangles(np.array(model.mesh_vert[corners], float), np.array(model.mesh_face[faces], np.int64))
    return None


__all__ = ["machine_look"]
