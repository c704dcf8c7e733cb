"""World -> what the kernels take: a table of bodies (robots, then movables), their parts, the joints between them."""

from __future__ import annotations

from math import cos, exp, inf, sin
from typing import Any, NamedTuple

import numpy as np

from formiga.engine.above.cells import Cells, make
from formiga.engine.above.outline import Corner, inertia
from formiga.engine.above.outlines import Corners, Outlines, kinds, make_corners, outlines, shape_of, with_normals
from formiga.engine.fixed import Fixed
from formiga.errors import WorldError, suggest
from formiga.state import Movable
from formiga.world.drives import Omni
from formiga.world.elements import of, where
from formiga.world.model import World
from formiga.world.movables import GRAVITY, JOINTS, Ball, Pin

WHEELS, SLIDING, BALL, SLAB, OMNI = 0, 1, 2, 3, 4   # how a body stands on the floor
PIN, WELD = 1.0, 2.0
GRIP = 0.6             # friction of tyres of a robot that gives none; that of <mirosot> and <omni>
FIRM = 10.0            # friction of wheels declared never to slip, when they push without a lag: a finite limit of their force
NODES = (0.5 - 0.15**0.5, 0.5, 0.5 + 0.15**0.5)  # of Gauss and Legendre's rule with three points, in [0, 1]
ROLLS = 1.4                                # (m + J/R^2)/m of a solid ball, J = 2/5 m R^2 [Klancar et al. 2003, eq. 5]


class Bodies(NamedTuple):
    """B bodies with P parts and V corners: what never changes.

    Few wide arrays, here and in BodyWorkspace: a kernel's compile time grows with the number of arrays that it is handed.
    """

    robots: int
    widest: float          # m, the largest reach
    kind: Any              # (B,) WHEELS, SLIDING, BALL, SLAB or OMNI
    fact: Any              # (B, FACTS) see the columns below
    first_part: Any        # (B + 1,)
    first: Any             # (P + 1,) first corner of each part
    radius: Any            # (P,)
    corner: Any            # (V, 4) CX CY NX NY in the body's frame


# Columns of Bodies.fact.
INVERSE_MASS, INVERSE_INERTIA = 0, 1       # 1/kg, 1/(kg m^2)
REACH = 2              # m, radius of the circle around it
INNER = 3              # m, radius of the largest circle around its centre inside it; of a thin part, what it has
RESTITUTION, WALL_RESTITUTION = 4, 5
FELT = 6               # 1 if others feel its impacts, else 0
LAG = 7                # s, of the motors
KEPT = 8               # 8 to 12: exp(-t / lag) for t = substep, dt, and the times in dt at which `leap` looks
FLOOR = 13             # 13 to 17: see `floor_of`
FACTS = 18


class BodyWorkspace(NamedTuple):
    """Working memory for one world at a time."""

    moving: Any            # (B, MOVING) see the columns below
    mark: Any              # (B, MARKS) int64
    active: Any            # (B,) numbers of the bodies that may meet something, count[ACTIVE] of them
    count: Any             # (COUNTS,) int64
    corners: Corners
    body: Any              # (P,) the body of each part, -1 for what is fixed
    pair: Any              # (Q, 2) parts that are near each other
    apart: Any             # (Q, 3) SEEN GAP BEFORE
    contact: Any           # (C, 4) int64: ONE OTHER POINTS BOUNCED
    point: Any             # (C, POINT) see the columns below


# Columns of BodyWorkspace.moving.
X, Y, HEADING, COS, SIN = range(5)                    # COS and SIN of the heading: only of active bodies
VX, VY, SPIN = 5, 6, 7
ROLL_X, ROLL_Y = 8, 9                                 # velocity of a ball's surface over its middle
WAS_X, WAS_Y, WAS_HEADING = 10, 11, 12                # before the move
BEGAN = 13                                            # 13 to 15: VX VY SPIN at the beginning of the substep
SHIFT_X, SHIFT_Y, SHIFT_HEADING = 16, 17, 18          # by which the body moves in this substep
MARGIN = 19                                           # m that its centre may go before the pairs are listed anew
TRAVEL = 20                                           # m that no point of it has gone further since the pairs were listed
STRAYED = 21                                          # m that its centre has not gone further since then
FREE = 22                                             # 22 to 24: speeds at the end of the substep, if it meets nothing: VX VY
                                                      # SPIN; of two wheels ahead, aside, spin
YIELDS = 25                                           # share of a steady push that motors let through, see `settle`
LOAD = 26                                             # 26 to 28: N s and N m s, what contacts and joints give it: x, y, turn
MOVING = 29

# Columns of BodyWorkspace.mark: 1 or 0, but for BOUNCES.
PAIRED = 0             # whether it is one of the active bodies
STAYS = 1              # whether it was one of them before the pairs were listed anew
HURRIES = 2            # whether it may go further than its margin in this control period
BUSY = 3               # touches something
SLIPS = 4              # whether it can be pushed sideways: it has no wheels, or its tyres slip
PRESSED = 5            # hit to and fro so fast that it does not bounce any more in this control period
HIT = 6                # touches a robot or something fixed, in this control step
BOUNCES = 7            # impacts in this control period
EVEN = 8               # gives way evenly, however hard it is pushed: a ball, or motors with a lag
MARKS = 9

PAIRS, CONTACTS, LOST, SUBSTEPS, ACTIVE, COUNTS = range(6)   # of BodyWorkspace.count; LOST: pairs that found no place
SEEN, GAP, BEFORE = range(3)   # m, of BodyWorkspace.apart: how far apart when last measured, and how far both had travelled
                               # until then; at least so far apart; the gap at the beginning of the substep
ONE, OTHER, POINTS, BOUNCED = range(4)     # of BodyWorkspace.contact: two bodies, 1 or 2 points, whether it has bounced now

# Columns of BodyWorkspace.point.
NORMAL_X, NORMAL_Y, MIDDLE_X, MIDDLE_Y = range(4)
END_X, END_Y = 4, 5    # the first point; those of the second stand two columns further
BOUNCE = 8             # restitution
ACC = 9                # 9 and 10: N s, impulses of the resting contact at both points ...
DRAG = 11              # 11 and 12: ... and those of its friction, along (-ny, nx)
POINT = 13


class Grid(NamedTuple):
    """The cell list of the bodies, for worlds with many."""

    place: Any             # (1, B, 2)
    cells: Cells


class Joint(NamedTuple):
    """A row of State.own.couplings."""

    kind: float            # 0: none, PIN, WELD
    one: float             # number of the body
    other: float
    x: float               # the point, in the frame of `one`
    y: float
    u: float               # the point, in the frame of `other`
    v: float
    angle: float           # heading of `other` in the frame of `one`


KIND, FROM, TO, FROM_X, FROM_Y, TO_X, TO_Y, TO_ANGLE = range(8)  # its columns, for kernels


# -- building ---------------------------------------------------------------------------------------------------------
def bodies(world: World, table: Outlines | None = None) -> Bodies:
    """The table of a world's bodies; table: their outlines, if they are known."""
    found = kinds(world)
    built = [_body(thing, place, substep_of(world), world.dt) for thing, place, _ in found]
    each = np.repeat(np.arange(len(found)), [count for *_, count in found])  # of each body, which of these it is
    fact = np.zeros((len(found), FACTS))
    for name, at in (("inverse_mass", INVERSE_MASS), ("inverse_inertia", INVERSE_INERTIA), ("reach", REACH), ("inner", INNER),
                     ("restitution", RESTITUTION), ("wall_restitution", WALL_RESTITUTION), ("felt", FELT), ("lag", LAG)):
        fact[:, at] = [row[name] for row in built]
    fact[:, KEPT:FLOOR] = np.reshape([row["kept"] for row in built], (-1, 5))
    fact[:, FLOOR:FACTS] = np.reshape([row["floor"] for row in built], (-1, 5))
    kind = np.array([row["kind"] for row in built], np.int64)
    table = table or outlines(world)
    return Bodies(table.robots, table.widest, kind[each], fact[each], table.first_part, table.first, table.radius, table.corner)


def substep_of(world: World) -> float:
    """As the world says, between a thousandth of the control period and all of it."""
    return min(max(world.contact.substep, 1e-3 * world.dt), world.dt)


def _body(thing: Any, place: str, substep: float, dt: float) -> dict[str, Any]:
    """One row."""
    if not thing.mass > 0.0:
        raise WorldError(f"{place}<{of(thing).tag}> has no 'mass', so nothing can push it; "
                         "choose another <contact model> or another robot.")
    shape = shape_of(thing, place)
    if shape.corners:
        moment, inner = inertia(shape.corners, thing.mass), min(min(_distances(part)) for part, _ in shape.parts)
    else:
        moment, inner = (0.4 if isinstance(thing, Ball) else 0.5) * thing.mass * thing.radius**2, thing.radius
    lag = thing.motor_lag
    return {
        "kind": _kind(thing), "inverse_mass": 1.0 / thing.mass, "inverse_inertia": 1.0 / moment, "reach": shape.reach,
        "inner": inner, "restitution": thing.restitution, "wall_restitution": thing.wall_restitution, "felt": thing.felt,
        "lag": lag,
        "kept": [exp(-t / lag) if lag > 0.0 else 0.0 for t in (substep, dt, *(node * dt for node in NODES))],
        "floor": floor_of(thing, moment)}


def _kind(thing: Any) -> int:
    if isinstance(thing, Ball):
        return BALL
    if thing.drive is None:
        return SLAB
    return OMNI if thing.drive.holonomic else SLIDING if thing.tyres == "sliding" else WHEELS


def floor_of(thing: Any, moment: float) -> list[float]:
    """What the floor does to a body, in five numbers.

    BALL: F_c/(1.4 m), f_v/(1.4 m), k, whether each axis has its own law, mu g while it slides.
    SLAB: mu g, and the deceleration of a spin, with the friction of a disc of the same mean radius.
    SLIDING: mu g of the tyres.
    OMNI: mu g of all wheels, and the angular acceleration that they give at their distance; infinite without friction.
    Robots: the same two again as the most that wheels give while it pushes, at 2 and 3; infinite if motors have a lag, because
    that limits their force. OMNI: never more than the first two.
    """
    if isinstance(thing, Ball):
        return [thing.rolling * GRAVITY / ROLLS, thing.viscous / (ROLLS * thing.mass), thing.slow, thing.law == "per_axis",
                thing.sliding * GRAVITY]
    if _kind(thing) == SLAB:
        grip = thing.friction * GRAVITY
        mean = (2.0 * moment / thing.mass) ** 0.5
        return [grip, grip * thing.mass * 2.0 / 3.0 * mean / moment, 0.0, 0.0, 0.0]
    if _kind(thing) == OMNI:
        grip = thing.tyre_friction * GRAVITY if thing.tyre_friction > 0.0 else inf
        distance = thing.drive.distance if isinstance(thing.drive, Omni) else thing.radius
        push = min(grip, inf if thing.motor_lag > 0.0 else FIRM * GRAVITY)
        return [grip, grip * thing.mass * distance / moment, push, push * thing.mass * distance / moment, 0.0]
    push = inf if thing.motor_lag > 0.0 else (thing.tyre_friction or GRIP) * GRAVITY
    arm = 0.5 * thing.wheel_base or thing.radius
    return [thing.tyre_friction * GRAVITY, 0.0, push, push * thing.mass * arm / moment, 0.0]


def _distances(corners: list[Corner]) -> list[float]:
    """From the sides of a convex part to the middle of its corners: how far it may move before it is passed through."""
    mx, my = (sum(values) / len(corners) for values in zip(*corners, strict=True))
    return [nx * (x - mx) + ny * (y - my) for x, y, nx, ny in with_normals(corners)]


def joints_start(world: World, position: Any, heading: Any, movables: Any) -> Any:
    """The rows of State.own.couplings (J, 8) of one world with robots at position (N, 2) and heading (N,)."""
    joints = [thing for thing in world.things if isinstance(thing, JOINTS)]
    names = [f"{group.name}.{i}" for group in world.groups for i in range(group.count)]
    names += [thing.name for thing in world.movables]
    at = np.concatenate([np.column_stack([position, heading]), movables[:, Movable.POSE]])
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


def make_workspace(table: Bodies, fixed: Fixed, touches: int) -> BodyWorkspace:
    """Working memory; what is fixed is filled in for good."""
    B, Q = len(table.kind), 32 * max(len(table.radius), 1) + 64
    corners = make_corners(table.first, table.radius, fixed)
    body = np.concatenate([np.repeat(np.arange(B), np.diff(table.first_part)), np.full(len(fixed.shapes), -1)])
    return BodyWorkspace(
        moving=np.zeros((B, MOVING)), mark=np.zeros((B, MARKS), np.int64), active=np.zeros(B, np.int64),
        count=np.zeros(COUNTS, np.int64), corners=corners, body=body.astype(np.int64), pair=np.zeros((Q, 2), np.int64),
        apart=np.zeros((Q, 3)), contact=np.zeros((touches, 4), np.int64), point=np.zeros((touches, POINT)))


def make_grid(table: Bodies, region: Any) -> Grid:
    """An empty cell list of the bodies."""
    B = len(table.kind)
    return Grid(np.zeros((1, B, 2)), make(1, B, region, 2.0 * table.widest))


__all__ = ["Bodies", "BodyWorkspace", "Grid", "Joint", "bodies", "joints_start", "make_grid", "make_workspace", "substep_of"]
