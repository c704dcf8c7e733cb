"""How a robot looks that the user described in MJCF or URDF: the shapes in that file, each with the body that it belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.geometry import multiply, rotate
from formiga.view.bodies import MARK, Look, Mesh, _ring, box, drum, prism, rgb, together
from formiga.view.frame import CHASSIS
from formiga.view.ground import solid

HIDDEN = 3              # geoms of this group and above are there for contacts only, by MuJoCo's own custom
GREY = (0.5, 0.5, 0.5)  # of a geom that has no colour: it gets that of the robot


def machine(robot: Any) -> Look:
    """All geoms of the file; those of its first body that have no colour are painted as the group is."""
    import mujoco

    model = robot.description().compile()
    root = next((body for body in range(1, model.nbody) if model.body_parentid[body] == 0), 0)
    names = {body: CHASSIS if body == root else model.body(body).name for body in range(1, model.nbody)}
    shown = [geom for geom in range(model.ngeom) if model.geom_bodyid[geom] > 0 and model.geom_rgba[geom, 3] > 0.0]
    if seen := [geom for geom in shown if model.geom_group[geom] < HIDDEN]:
        shown = seen
    parts: dict[str, list[Mesh]] = {}
    paint: list[Mesh] = []
    for geom in shown:
        body, place, turn = int(model.geom_bodyid[geom]), model.geom_pos[geom], model.geom_quat[geom]
        while not names[body]:  # a body without a name has no pose of its own here: it goes with the one that carries it
            place, turn = model.body_pos[body] + rotate(model.body_quat[body], place), multiply(model.body_quat[body], turn)
            body = int(model.body_parentid[body])
        material = int(model.geom_matid[geom])
        colour = model.mat_rgba[material, :3] if material >= 0 else model.geom_rgba[geom, :3]
        plain = material < 0 and np.allclose(colour, GREY)
        mesh = _shape(mujoco, model, geom, robot.colour if plain else "#" + "".join(f"{round(255 * c):02x}" for c in colour))
        if mesh is None:
            continue
        mesh = Mesh(rotate(turn, mesh.vertices) + place, mesh.faces, mesh.colours)
        (paint if plain and names[body] == CHASSIS else parts.setdefault(names[body], [])).append(mesh)
    r, h = robot.radius, robot.height
    pointer = prism([(0.9 * r, 0.0), (0.6 * r, 0.16 * r), (0.6 * r, -0.16 * r)], h, 1.03 * h, MARK)
    moving = {name: together(*meshes) for name, meshes in parts.items()}
    moving.setdefault(CHASSIS, pointer)
    rest = {names[body]: (names[int(model.body_parentid[body])] or CHASSIS, tuple(float(v) for v in model.body_pos[body]))
            for body in range(1, model.nbody) if names[body] and body != root}
    whole = together(*moving.values(), drum(0.9 * r, 0.0, h, 20))
    return Look(whole, together(*paint) if paint else pointer, _ring(robot, r, 0.8 * h), 0.12 * r, moving=moving,
                rest=rest)  # type: ignore[arg-type]


def _shape(mujoco: Any, model: Any, geom: int, colour: str) -> Mesh | None:
    """A geom around its own origin; None for what has no body, such as a plane."""
    kinds, (a, b, c) = mujoco.mjtGeom, (float(size) for size in model.geom_size[geom])
    kind = model.geom_type[geom]
    if kind == kinds.mjGEOM_BOX:
        return box(-a, a, -b, b, -c, c, colour)
    if kind == kinds.mjGEOM_SPHERE:
        return solid("sphere", (2.0 * a,), colour)
    if kind == kinds.mjGEOM_CAPSULE:
        return solid("capsule", (2.0 * a, 2.0 * (a + b)), colour)
    if kind == kinds.mjGEOM_CYLINDER:
        return solid("cylinder", (2.0 * a, 2.0 * b), colour)
    if kind == kinds.mjGEOM_ELLIPSOID:
        ball = solid("sphere", (2.0,), colour)
        return Mesh(ball.vertices * (a, b, c), ball.faces, ball.colours)
    if kind == kinds.mjGEOM_MESH:
        number = int(model.geom_dataid[geom])
        corners = slice(model.mesh_vertadr[number], model.mesh_vertadr[number] + model.mesh_vertnum[number])
        faces = slice(model.mesh_faceadr[number], model.mesh_faceadr[number] + model.mesh_facenum[number])
        vertices = np.array(model.mesh_vert[corners], float)
        painted = np.tile(np.array(rgb(colour), np.uint8), (len(vertices), 1))
        return Mesh(vertices, np.array(model.mesh_face[faces], np.int64), painted)
    return None


__all__ = ["machine"]
