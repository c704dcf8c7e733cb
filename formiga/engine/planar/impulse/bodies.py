"""World -> what the kernels take: a table of bodies (robots, then loose things), their parts, the joints between them."""

from __future__ import annotations

from math import cos, exp, hypot, sin
from typing import Any, NamedTuple

import numpy as np

from formiga.engine.fixed import Fixed
from formiga.engine.planar.cells import Cells, make
from formiga.engine.planar.impulse.outline import Corner, convex_parts, inertia, tidy
from formiga.engine.planar.impulse.parts import Corners
from formiga.errors import WorldError, suggest
from formiga.world.elements import of, where
from formiga.world.loose import GRAVITY, JOINTS, Ball, Pin
from formiga.world.model import World

WHEELS, SLIDING, BALL, SLAB = 0, 1, 2, 3   # how a body stands on the floor
PIN, WELD = 1.0, 2.0
NODES = (0.5 - 0.15**0.5, 0.5, 0.5 + 0.15**0.5)  # of Gauss and Legendre's rule with three points, in [0, 1]
ROLLS = 1.4                                # (m + J/R^2)/m of a solid ball, J = 2/5 m R^2 [Klancar et al. 2003, eq. 5]


class Bodies(NamedTuple):
    """B bodies: what never changes."""

    robots: int
    kind: Any              # (B,)
    inverse_mass: Any      # (B,) 1/kg
    inverse_inertia: Any   # (B,) 1/(kg m^2)
    reach: Any             # (B,) m, radius of the circle around it
    inner: Any             # (B,) m, radius of the largest circle around its centre inside it; of a thin part, what it has
    restitution: Any       # (B,)
    wall_restitution: Any  # (B,)
    felt: Any              # (B,) whether others feel its impacts
    base: Any              # (B,) m between the wheels
    lag: Any               # (B,) s, of the motors
    kept: Any              # (B, 5) exp(-t / lag) for t = substep, dt, and the times in dt at which `leap` looks
    floor: Any             # (B, 5) see `floor_of`
    first_part: Any        # (B + 1,)
    first: Any             # (P + 1,) first corner of each part
    radius: Any            # (P,)
    corner: Any            # (V, 4) x y nx ny in the body's frame
    widest: float


class Room(NamedTuple):
    """Working memory for one world at a time."""

    active: Any            # (B,) numbers of the bodies that may meet something, count[4] of them
    paired: Any            # (B,) whether it is one of them
    stays: Any             # (B,) whether it was one of them before the pairs were listed anew
    hurries: Any           # (B,) whether it may go further than its margin in this control period
    margin: Any            # (B,) m that its centre may go before the pairs are listed anew
    pose: Any              # (B, 5) x y heading cos sin; the last two only of active bodies
    was: Any               # (B, 3) x y heading before the move
    speed: Any             # (B, 3) vx vy spin
    began: Any             # (B, 3) the same at the beginning of the substep
    roll: Any              # (B, 2) velocity of a ball's surface over its middle
    shift: Any             # (B, 3) by which the body moves in this substep
    travel: Any            # (B,) m that no point of it has gone further since the pairs were listed
    strayed: Any           # (B,) m that its centre has not gone further since then
    busy: Any              # (B,) touches something
    slips: Any             # (B,) whether it can be pushed sideways: it has no wheels, or its tyres slip
    bounces: Any           # (B,) impacts in this control period
    pressed: Any           # (B,) hit to and fro so fast that it does not bounce any more in this control period
    hit: Any               # (B,) touches a robot or something fixed, in this control step
    corners: Corners
    body: Any              # (P,) the body of each part, -1 for what is fixed
    place: Any             # (1, B, 2) for the cell list
    cells: Cells
    pair: Any              # (Q, 2) parts that are near each other
    seen: Any              # (Q,) m, how far apart when last measured, and how far both had travelled until then
    gap: Any               # (Q,) m, at least so far apart
    before: Any            # (Q,) m, gap at the beginning of the substep
    contact: Any           # (C, 4) a, b, number of points (1, 2), whether it has bounced at this moment
    point: Any             # (C, 9) nx ny, middle x y, first x y, second x y, restitution
    acc: Any               # (C, 2) N s, impulses of the resting contact
    count: Any             # (5,) pairs, contacts, pairs that found no place, substeps, active bodies


class Joint(NamedTuple):
    """A row of State.joints."""

    kind: float            # 0: none, PIN, WELD
    one: float             # number of the body
    other: float
    x: float               # the point, in the frame of `one`
    y: float
    u: float               # the point, in the frame of `other`
    v: float
    angle: float           # heading of `other` in the frame of `one`


# -- building ---------------------------------------------------------------------------------------------------------
def bodies(world: World) -> Bodies:
    """The table of a world's bodies."""
    things = [(group.robot, where(group), group.name) for group in world.groups for _ in range(group.count)]
    things += [(thing, where(thing), thing.name) for thing in world.loose]
    rows, parts, first_part, built = [], [], [0], {}
    for thing, place, name in things:
        if id(thing) not in built:
            built[id(thing)] = _body(thing, f"{place}'{name}': ", substep_of(world), world.dt)
        row, own = built[id(thing)]
        rows.append(row)
        parts += own
        first_part.append(len(parts))

    def column(name: str, dtype: Any = np.float64) -> Any:
        return np.array([row[name] for row in rows], dtype)

    first = np.cumsum([0, *(len(part) for part, _ in parts)])
    corner = np.array([corner for part, _ in parts for corner in with_normals(part)]).reshape(-1, 4)
    reach = column("reach")
    return Bodies(world.robots, column("kind", np.int64), column("inverse_mass"), column("inverse_inertia"), reach,
                  column("inner"), column("restitution"), column("wall_restitution"), column("felt", np.bool_), column("base"),
                  column("lag"), column("kept").reshape(-1, 5), np.array([row["floor"] for row in rows]).reshape(-1, 5),
                  np.array(first_part), first, np.array([radius for _, radius in parts], np.float64), corner,
                  float(reach.max(initial=0.0)))


def substep_of(world: World) -> float:
    """As the world says, between a thousandth of the control period and all of it."""
    return min(max(world.contact.substep, 1e-3 * world.dt), world.dt)


def _body(thing: Any, place: str, substep: float, dt: float) -> tuple[dict[str, Any], list[tuple[list[Corner], float]]]:
    """One row, and its parts (corners, radius)."""
    if not hasattr(thing, "mass"):
        raise WorldError(f"{place}<{of(thing).tag}> has no 'mass', so nothing can push it; "
                         "choose another <contact model> or another robot.")
    outline = getattr(thing, "outline", None)
    if outline:
        try:
            corners, parts = tidy(outline), [(part, 0.0) for part in convex_parts(outline)]
        except WorldError as wrong:
            raise WorldError(f"{place}{wrong}") from wrong
        moment, reach = inertia(corners, thing.mass), max(hypot(*corner) for corner in corners)
        inner = min(min(_distances(part)) for part, _ in parts)
    else:
        parts, reach, inner = [([(0.0, 0.0)], thing.radius)], thing.radius, thing.radius
        moment = (0.4 if isinstance(thing, Ball) else 0.5) * thing.mass * thing.radius**2
    lag = getattr(thing, "motor_lag", 0.0)
    row = {
        "kind": _kind(thing), "inverse_mass": 1.0 / thing.mass, "inverse_inertia": 1.0 / moment, "reach": reach, "inner": inner,
        "restitution": getattr(thing, "restitution", 0.0), "wall_restitution": getattr(thing, "wall_restitution", 0.0),
        "felt": getattr(thing, "felt", True), "base": getattr(thing, "wheel_base", 1.0), "lag": lag,
        "kept": [exp(-t / lag) if lag > 0.0 else 0.0 for t in (substep, dt, *(node * dt for node in NODES))],
        "floor": floor_of(thing, moment)}
    return row, parts


def _kind(thing: Any) -> int:
    if isinstance(thing, Ball):
        return BALL
    if hasattr(thing, "wheel_base"):
        return SLIDING if getattr(thing, "tyres", "") == "sliding" else WHEELS
    return SLAB


def floor_of(thing: Any, moment: float) -> list[float]:
    """What the floor does to a body, in five numbers.

    BALL: F_c/(1.4 m), f_v/(1.4 m), k, whether each axis has its own law, mu g while it slides.
    SLAB: mu g, and the deceleration of a spin, with the friction of a disc of the same mean radius.
    SLIDING: mu g of the tyres.
    """
    if isinstance(thing, Ball):
        return [thing.rolling * GRAVITY / ROLLS, thing.viscous / (ROLLS * thing.mass), thing.slow, thing.law == "per_axis",
                thing.sliding * GRAVITY]
    if _kind(thing) == SLAB:
        grip = thing.friction * GRAVITY
        mean = (2.0 * moment / thing.mass) ** 0.5
        return [grip, grip * thing.mass * 2.0 / 3.0 * mean / moment, 0.0, 0.0, 0.0]
    return [getattr(thing, "tyre_friction", 0.0) * GRAVITY, 0.0, 0.0, 0.0, 0.0]


def with_normals(corners: list[Corner]) -> list[tuple[float, float, float, float]]:
    """Each corner with the outward normal of the side that begins there."""
    out = []
    for (ax, ay), (bx, by) in zip(corners, [*corners[1:], corners[0]], strict=True):
        length = hypot(bx - ax, by - ay)
        out.append((ax, ay, (by - ay) / length, (ax - bx) / length) if length else (ax, ay, 0.0, 0.0))
    return out


def _distances(corners: list[Corner]) -> list[float]:
    """From the sides of a convex part to the middle of its corners: how far it may move before it is passed through."""
    mx, my = (sum(values) / len(corners) for values in zip(*corners, strict=True))
    return [nx * (x - mx) + ny * (y - my) for x, y, nx, ny in with_normals(corners)]


def loose_start(world: World) -> Any:
    """The rows of State.loose at the start (M, 8)."""
    return np.array([(thing.x, thing.y, getattr(thing, "heading", 0.0), getattr(thing, "vx", 0.0), getattr(thing, "vy", 0.0),
                      0.0, 0.0, 0.0) for thing in world.loose]).reshape(-1, 8)


def joints_start(world: World, position: Any, heading: Any, loose: Any) -> Any:
    """The rows of State.joints (J, 8) of one world in which robots stand at position (N, 2) and look along heading (N,)."""
    joints = [thing for thing in world.things if isinstance(thing, JOINTS)]
    names = [f"{group.name}.{i}" for group in world.groups for i in range(group.count)] + [thing.name for thing in world.loose]
    at = np.concatenate([np.column_stack([position, heading]), loose[:, :3]])
    rows = []
    for joint in joints:
        for end in (joint.one, joint.other):
            if end not in names:
                raise WorldError(f"{where(joint)}<{of(joint).tag}> holds '{end}', and there is no such body."
                                 f"{suggest(end, names)} There are: {', '.join(names[:8]) or 'none'}"
                                 f"{' ...' if len(names) > 8 else ''}.")
        one, other = names.index(joint.one), names.index(joint.other)
        if one == other:
            raise WorldError(f"{where(joint)}<{of(joint).tag}> holds '{joint.one}' to itself.")
        px, py = (joint.x, joint.y) if isinstance(joint, Pin) else 0.5 * (at[one, :2] + at[other, :2])
        ends = [_in_frame(px - x, py - y, angle) for x, y, angle in (at[one], at[other])]
        rows.append(Joint(PIN if isinstance(joint, Pin) else WELD, one, other, *ends[0], *ends[1], at[other, 2] - at[one, 2]))
    return np.array(rows, np.float64).reshape(-1, 8)


def _in_frame(x: float, y: float, angle: float) -> tuple[float, float]:
    return cos(angle) * x + sin(angle) * y, cos(angle) * y - sin(angle) * x


def fixed_parts(fixed: Fixed) -> tuple[list[list[Corner]], list[float]]:
    """Walls as parts with two corners, round obstacles as discs."""
    corners = [[(x0, y0)] if (x0, y0) == (x1, y1) else [(x0, y0), (x1, y1)] for x0, y0, x1, y1, _ in fixed.shapes.tolist()]
    return corners, fixed.shapes[:, 4].tolist()


def make_room(table: Bodies, fixed: Fixed, region: Any, touches: int) -> Room:
    """Working memory; what is fixed is filled in for good."""
    B, Q = len(table.kind), 32 * max(len(table.radius), 1) + 64
    walls, radii = fixed_parts(fixed)
    first = np.concatenate([table.first, table.first[-1] + np.cumsum([len(wall) for wall in walls], dtype=np.int64)])
    still = np.array([row for wall in walls for row in with_normals(wall)]).reshape(-1, 4)
    x, y, nx, ny = np.ascontiguousarray(np.concatenate([np.zeros((table.first[-1], 4)), still]).T)
    body = np.concatenate([np.repeat(np.arange(B), np.diff(table.first_part)), np.full(len(walls), -1)])

    def numbers(*shape: int) -> Any:
        return np.zeros(shape)

    def flags() -> Any:
        return np.zeros(B, np.bool_)

    return Room(
        active=np.zeros(B, np.int64), paired=flags(), stays=flags(), hurries=flags(), margin=numbers(B), pose=numbers(B, 5),
        was=numbers(B, 3), speed=numbers(B, 3), began=numbers(B, 3), roll=numbers(B, 2), shift=numbers(B, 3), travel=numbers(B),
        strayed=numbers(B), busy=flags(), slips=flags(), bounces=np.zeros(B, np.int64), pressed=flags(), hit=flags(),
        corners=Corners(first.astype(np.int64), np.concatenate([table.radius, radii]), x, y, nx, ny),
        body=body.astype(np.int64), place=numbers(1, B, 2), cells=make(1, B, region, 2.0 * table.widest),
        pair=np.zeros((Q, 2), np.int64), seen=numbers(Q), gap=numbers(Q), before=numbers(Q),
        contact=np.zeros((touches, 4), np.int64), point=numbers(touches, 9), acc=numbers(touches, 2),
        count=np.zeros(5, np.int64))


__all__ = ["Bodies", "Joint", "Room", "bodies", "joints_start", "loose_start", "make_room", "substep_of"]
