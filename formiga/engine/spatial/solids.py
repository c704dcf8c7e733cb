"""Solids and the joints of a world as bodies, joints and equalities of MuJoCo.

A joint that never breaks makes one solid a part of the other, in MuJoCo's tree of bodies. One that may break, that holds a
robot or that closes a ring is an equality between bodies that are free.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import mujoco
import numpy as np

from formiga.engine.ground import height_at
from formiga.engine.parts import Part
from formiga.engine.spatial.materials import Materials
from formiga.engine.spatial.motors import add_angular, add_axes
from formiga.engine.spatial.robots import BODY, LYING, WHEEL, box, cylinder, free, rgba, sphere
from formiga.engine.spatial.scenery import LIES, STANDS
from formiga.errors import WorldError, suggest
from formiga.geometry import IDENTITY, from_euler, matrix, relative, rotate_back
from formiga.world.elements import locate, origin, where
from formiga.world.meshes import read_mesh
from formiga.world.model import World
from formiga.world.movables import JOINTS, Weld
from formiga.world.solids import Joint, Render, Solid

SHAPES = {"box": box, "sphere": sphere, "cylinder": cylinder, "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
          "mesh": mujoco.mjtGeom.mjGEOM_MESH}


def add(spec: Any, world: World, materials: Materials, others: dict[str, str],
               stiffness: tuple[float, ...]) -> tuple[list[tuple[str, Part]], list[tuple[Joint, list[str]]]]:
    """Solids, and the joints of the world; others: names of robots and movables -> bodies. Returns the bodies that move,
    and of every joint the equalities that hold it (none if it is part of the tree of bodies)."""
    solids = {thing.name: thing for thing in world.things if isinstance(thing, Solid)}
    index = {thing.name: number for number, thing in enumerate(world.things) if isinstance(thing, Solid)}
    joints = [thing if isinstance(thing, Joint) else _as_joint(thing) for thing in world.things
              if isinstance(thing, (Joint, *JOINTS))]
    for joint in joints:
        _refuse_strangers(joint, solids, others)
    _refuse_looks_of_nothing(world, solids)
    parent = _tree(joints, solids)
    bodies: dict[str, Any] = {}
    for name in _from_root(solids, parent):
        bodies[name] = _solid(spec, world, solids[name], parent.get(name), bodies, solids, materials)
    named = {"floor": "world", **others, **{name: f"solid/{name}" for name in solids}}
    for joint in (joint for joint in joints if joint.kind == "angular"):
        one, other = ((spec.worldbody, np.array(IDENTITY)) if side == "floor" else (bodies[side], _pose(world, solids[side])[1])
                      for side in (joint.one, joint.other))
        add_angular(spec, joint, (one, other))
    held = [(joint, [] if parent.get(joint.other) is joint or joint.kind == "angular"
             else _equalities(spec, joint, named, stiffness)) for joint in joints]
    moving = [(f"solid/{name}", Part(-1, index[name], "body")) for name in solids if not solids[name].fixed]
    return moving, held


def _as_joint(thing: Any) -> Joint:
    """A <weld> or a <pin> of the plane, in space."""
    fixed = isinstance(thing, Weld)
    x, y = (0.0, 0.0) if fixed else (thing.x, thing.y)
    joint = Joint(kind="fixed" if fixed else "hinge", one=thing.one, other=thing.other, x=x, y=y, z=0.05, name=thing.name)
    if origin(thing):
        locate(joint, origin(thing))  # type: ignore[arg-type]
    return joint


def _refuse_strangers(joint: Joint, solids: dict[str, Solid], others: dict[str, str]) -> None:
    known = [*solids, *others]
    for side in (joint.one, joint.other):
        if joint.kind == "angular" and side in others:
            raise WorldError(f"{where(joint)}<joint> '{joint.name}': an angular motor turns solids; '{side}' is none.")
        if side not in known and not (side == "floor" and side is joint.one):
            raise WorldError(f"{where(joint)}<joint> joins nothing called '{side}'.{suggest(side, known)} There are: "
                             f"{', '.join(known[:12]) or 'no bodies'}{', ...' if len(known) > 12 else ''}.")
    if joint.one == joint.other:
        raise WorldError(f"{where(joint)}<joint> joins '{joint.one}' with itself.")
    if joint.other in solids and solids[joint.other].fixed and joint.one in (*[s for s in solids if solids[s].fixed], "floor"):
        raise WorldError(f"{where(joint)}<joint> joins two bodies that do not move.")


def _refuse_looks_of_nothing(world: World, solids: dict[str, Solid]) -> None:
    for thing in world.things:
        if isinstance(thing, Render) and thing.of not in solids:
            raise WorldError(f"{where(thing)}<render> of: there is no <solid> '{thing.of}'.{suggest(thing.of, solids)} "
                             f"There are: {', '.join(list(solids)[:12]) or 'none'}{', ...' if len(solids) > 12 else ''}.")


def _tree(joints: list[Joint], solids: dict[str, Solid]) -> dict[str, Joint]:
    """For each solid that is a part of another one, the joint that makes it so."""
    parent: dict[str, Joint] = {}
    for joint in (joint for joint in joints if joint.kind != "angular"):
        must = joint.kind in ("slider", "universal", "hinge2") or joint.lower is not None or joint.motor is not None
        may = (joint.other in solids and not solids[joint.other].fixed and joint.other not in parent
               and (joint.one in solids or joint.one == "floor") and not _above(joint.one, joint.other, parent))
        if must and not may:
            raise WorldError(f"{where(joint)}<joint> '{joint.name}': a {joint.kind} with these attributes needs a <solid> as "
                             "`other` that moves, that no such joint holds yet, and no ring of joints. Turn it round, or take "
                             "ball, fixed or hinge.")
        if must or (may and not joint.can_break):
            parent[joint.other] = joint
    return parent


def _above(low: str, high: str, parent: dict[str, Joint]) -> bool:
    """Whether `high` is `low` or one of those that it is a part of."""
    while low in parent and low != high:
        low = parent[low].one
    return low == high


def _from_root(solids: dict[str, Solid], parent: dict[str, Joint]) -> list[str]:
    """The names of the solids, each after the one that it is a part of."""
    order: list[str] = []

    def visit(name: str) -> None:
        if name in solids and name not in order:
            if name in parent:
                visit(parent[name].one)
            order.append(name)

    for name in solids:
        visit(name)
    return order


def _pose(world: World, solid: Solid) -> tuple[Any, Any]:
    turn = from_euler(solid.roll, solid.pitch, solid.yaw)
    z = solid.z if solid.z is not None else height_at(world, solid.x, solid.y) + _half_height(solid)
    return np.array([solid.x, solid.y, z]), turn


def _half_height(solid: Solid) -> float:
    axes = matrix(from_euler(solid.roll, solid.pitch, solid.yaw))
    if solid.shape == "mesh":
        return -solid.scale * float((read_mesh(str(solid.file)).vertices @ axes[2]).min())
    if solid.shape == "box":
        return float(np.abs(axes[2]) @ np.array(solid.size)) / 2.0
    radius, half = solid.box[0] / 2.0, solid.box[-1] / 2.0
    up = min(1.0, abs(float(axes[2, 2])))  # of its axis
    return {"sphere": radius, "cylinder": half * up + radius * sqrt(1.0 - up * up),
            "capsule": max(half - radius, 0.0) * up + radius}[solid.shape]


def _solid(spec: Any, world: World, solid: Solid, joint: Joint | None, bodies: dict[str, Any], solids: dict[str, Solid],
           materials: Materials) -> Any:
    place, turn = _pose(world, solid)
    above = bodies.get(joint.one) if joint else None
    start, frame = np.zeros(3), np.array(IDENTITY)
    if joint and above is not None:
        start, frame = _pose(world, solids[joint.one])
    body = (above or spec.worldbody).add_body(name=f"solid/{solid.name}", pos=rotate_back(frame, place - start),
                                              quat=relative(frame, turn))
    size = [s / 2.0 for s in solid.size or ()]
    if solid.shape == "capsule":
        size[1] = max(size[1] - size[0], 1e-4)
    mesh = {"meshname": _mesh(spec, solid)} if solid.shape == "mesh" else {}
    touches = STANDS | {"conaffinity": BODY | WHEEL | LYING} if solid.fixed else LIES
    body.add_geom(type=SHAPES[solid.shape], size=(*size, 0, 0, 0)[:3], mass=solid.mass, **mesh,
                  **touches | {"rgba": rgba(solid.colour)}
                  | materials.of(solid, f"solid/{solid.name}", solid.material, solid.fixed))
    if joint is None:
        if not solid.fixed:
            body.add_joint(name=f"solid/{solid.name}", type=free)
        return body
    if joint.one in solids and solids[joint.one].fixed:  # MuJoCo itself lets no other parent touch its part
        spec.add_exclude(bodyname1=f"solid/{joint.one}", bodyname2=f"solid/{solid.name}")
    add_axes(spec, body, joint, rotate_back(turn, np.array([joint.x, joint.y, joint.z]) - place), turn)
    return body


def _mesh(spec: Any, solid: Solid) -> str:
    """The name of a solid's mesh: contacts are with its convex hull, whose inertia it has; rays meet its triangles."""
    surface, name = read_mesh(str(solid.file)), f"mesh/{solid.name}"
    spec.add_mesh(name=name, uservert=(solid.scale * surface.vertices).ravel(), userface=surface.faces.astype(np.int32).ravel(),
                  inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX)
    return name


def _equalities(spec: Any, joint: Joint, named: dict[str, str], stiffness: tuple[float, ...]) -> list[str]:
    """A joint between bodies that are free: a shared point (ball), two on the axis (hinge), or a weld (fixed)."""
    names = []
    points = [(joint.x, joint.y, joint.z)]
    if joint.kind == "hinge":
        along = 0.02 * np.array(joint.axis) / np.linalg.norm(joint.axis)
        points = [tuple(np.array(points[0]) - along), tuple(np.array(points[0]) + along)]
    for k, point in enumerate(points):
        weld = joint.kind == "fixed"
        made = spec.add_equality(name=f"joint/{joint.name}/{k}", objtype=mujoco.mjtObj.mjOBJ_BODY, name1=named[joint.other],
                                 name2=named[joint.one], solimp=stiffness,
                                 type=mujoco.mjtEq.mjEQ_WELD if weld else mujoco.mjtEq.mjEQ_CONNECT)
        made.data[:3] = point  # in the world's frame until `aim` knows where the bodies are
        names.append(made.name)
    if not joint.can_break and joint.one != "floor":
        spec.add_exclude(bodyname1=named[joint.one], bodyname2=named[joint.other])  # they touch where they are joined
    return names


__all__ = ["add"]
