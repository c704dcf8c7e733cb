"""The light barrier in a gripper: is there something between the fingers that could be gripped?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, sin, sqrt, tan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from formiga.engine.parts import Part
from formiga.geometry import TURN, crossing, nearest_on_segment, yaw
from formiga.kernels import kernel
from formiga.state import Floats, Movable
from formiga.units import CM, DEG
from formiga.world.contract import joint_names
from formiga.world.elements import angle, choice, element, length, name
from formiga.world.model import World
from formiga.world.movables import rectangle
from formiga.world.solids import Solid

if TYPE_CHECKING:
    from formiga.sense import SensorView

ACROSS = 3  # rays across the jaw, for technique `ray`


@element("barrier", role="sensor")
@dataclass(frozen=True)
class Barrier:
    """A light barrier in the gripper: 1 if a robot or a thing that can be gripped is there, else 0. Walls never are.

    `simple` asks for the place: the thing's nearest point is within `reach` of the robot's rim, and its bearing within `cone`
    of where the gripper points. `ray` is what the device does: three rays across the jaw, of which one is interrupted. They
    cross the gripper's axis at a third, two thirds and the whole of its reach, and go as far to each side as the cone.
    [Swarm-bot 3D simulator has both, and gives no sizes; 2.2 cm is the s-bot's gripper in its digest.]
    The gripper turns with the robot's turret, if it has one. A thing with `grippable` false is not seen. All is seen from
    above: how high a thing is, or an arm is raised, does not count. In space what the gripper holds, or would hold if it closed
    now, is seen with both techniques, wherever in the jaw it is.
    """

    technique: str = choice("simple", options=("simple", "ray"), doc="by distance and bearing, or by rays across the jaw")
    reach: float = length(2.2 * CM, above=0.0, doc="from the robot's rim")
    cone: float = angle(20.0 * DEG, above=0.0, most=80.0 * DEG, doc="to each side of the gripper")
    name: str = name("barrier")

    @property
    def full(self) -> float:
        """The reading that counts as one."""
        return 1.0

    def read(self, scene: SensorView) -> Floats:
        """Whether there is something to grip (W, n, 1): 1 or 0."""
        state, robots = scene.state, scene.robots
        gripper = state.heading[:, robots]
        names = joint_names(scene.group.robot)
        if "turret" in names and state.joint_position.size:
            gripper = gripper + state.joint_position[:, robots, names.index("turret")]
        parts = scene.model.parts
        things, rows, fixed = scene.once("grippable", lambda world: grippable(world, parts))
        still = np.broadcast_to(fixed, (state.worlds, *fixed.shape))
        lying = np.concatenate([state.movables[:, :, Movable.POSE], from_above(state.bodies[:, rows]), still], axis=1)
        out = np.empty((*gripper.shape, 1))
        check(state.position, lying, robots.start, gripper, things, self.reach, self.cone, self.technique == "ray", out)
        return np.where(scene.engine.in_jaw(scene.model, state, robots)[..., None], 1.0, out)


class Grippable(NamedTuple):
    """What a gripper can hold, for kernels."""

    radius: Any     # (N,) of the robots
    robot: Any      # (N,) bool
    movables: Any      # (M,) radius of round things that lie about; 0: it has corners; below 0: not grippable
    first: Any      # (M + 1,) where each thing's edges begin
    edges: Any      # (E, 4) x0 y0 x1 y1 in its own frame


def grippable(world: World, parts: Sequence[Part]) -> tuple[Grippable, list[int], Floats]:
    """Robots, balls, pucks, blocks and then solids, but for those that say that they are not; the rows of solids that move in
    the state's `bodies`; and x, y and heading (F, 3) of those that do not."""
    def can(thing: Any) -> bool:
        return bool(thing.grippable)

    rows = [row for row, part in enumerate(parts) if part.thing >= 0 and isinstance(world.things[part.thing], Solid)]
    fixed = [thing for thing in world.things if isinstance(thing, Solid) and thing.fixed]
    lying = [*world.movables, *(world.things[parts[row].thing] for row in rows), *fixed]
    radius = [np.full(group.count, group.robot.radius) for group in world.groups]
    robot = [np.full(group.count, can(group.robot)) for group in world.groups]
    outlines = [outline(thing) for thing in lying]
    movables = [-1.0 if not can(thing) else 0.0 if corners else thing.box[0] / 2 if isinstance(thing, Solid) else thing.radius
                for thing, corners in zip(lying, outlines, strict=True)]
    edges = [(*a, *b) for corners in outlines for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]
    first = np.cumsum([0, *(len(corners) for corners in outlines)])
    poses = np.array([(thing.x, thing.y, thing.yaw) for thing in fixed], np.float64).reshape(-1, 3)
    return Grippable(np.concatenate([np.empty(0), *radius]), np.concatenate([np.empty(0, np.bool_), *robot]),
                     np.array(movables), first, np.array(edges).reshape(-1, 4)), rows, poses


def outline(thing: Any) -> tuple[tuple[float, float], ...]:
    """The corners of a thing seen from above, in its own frame; none if it is round."""
    if isinstance(thing, Solid):
        return rectangle(thing.box[0], thing.box[1]) if thing.shape in ("box", "mesh") else ()
    return tuple(thing.outline or ())


def from_above(bodies: Floats) -> Floats:
    """x, y and heading (W, B, 3) of bodies in space (W, B, 7)."""
    return np.stack([bodies[..., 0], bodies[..., 1], yaw(bodies[..., TURN])], axis=-1)


@kernel()
def check(position, movables, first, gripper, world, reach, cone, rays, out):
    """Fill out (W, n, 1) for robots from number `first` on, whose grippers point to `gripper` (W, n)."""
    for w in range(out.shape[0]):
        for n in range(out.shape[1]):
            i = first + n
            x, y = position[w, i, 0], position[w, i, 1]
            c, s, rim = cos(gripper[w, n]), sin(gripper[w, n]), world.radius[i]
            seen = False
            for j in range(position.shape[1]):
                if j != i and world.robot[j]:
                    seen |= disc_in_jaw(position[w, j, 0] - x, position[w, j, 1] - y, world.radius[j], c, s, rim, reach, cone,
                                        rays)
            for m in range(min(movables.shape[1], world.movables.shape[0])):
                dx, dy = movables[w, m, 0] - x, movables[w, m, 1] - y
                if world.movables[m] > 0.0:
                    seen |= disc_in_jaw(dx, dy, world.movables[m], c, s, rim, reach, cone, rays)
                elif world.movables[m] == 0.0:
                    edges = world.edges[world.first[m]:world.first[m + 1]]
                    seen |= outline_in_jaw(dx, dy, movables[w, m, 2], edges, c, s, rim, reach, cone, rays)
            out[w, n, 0] = 1.0 if seen else 0.0


@kernel()
def in_reach(dx, dy, gap, c, s, reach, cone):
    """Whether what is in direction d, and so far from the rim, is where the fingers are."""
    return gap <= reach and c * dx + s * dy >= cos(cone) * sqrt(dx * dx + dy * dy)


@kernel()
def disc_in_jaw(dx, dy, r, c, s, rim, reach, cone, rays):
    """A disc whose centre is d from the robot's; c and s: of where the gripper points."""
    if not rays:
        return in_reach(dx, dy, sqrt(dx * dx + dy * dy) - r - rim, c, s, reach, cone)
    along, aside = c * dx + s * dy, c * dy - s * dx
    for k in range(1, ACROSS + 1):
        away = rim + reach * k / ACROSS
        beyond = max(0.0, abs(aside) - away * tan(cone))  # of the disc's centre, from the end of the ray
        if (along - away) * (along - away) + beyond * beyond <= r * r:
            return True
    return False


@kernel()
def outline_in_jaw(dx, dy, heading, edges, c, s, rim, reach, cone, rays):
    """A thing with corners, whose middle is d from the robot's: edges (E, 4) in its own frame."""
    p, q = cos(heading), sin(heading)
    nearest, x, y = np.inf, 0.0, 0.0
    for k in range(1, ACROSS + 1):
        away = rim + reach * k / ACROSS
        half = away * tan(cone)
        ox, oy = away * c + half * s, away * s - half * c  # the right finger; the ray goes to the left one
        inside = False
        for e in range(edges.shape[0]):
            ax, ay = dx + p * edges[e, 0] - q * edges[e, 1], dy + q * edges[e, 0] + p * edges[e, 1]
            bx, by = dx + p * edges[e, 2] - q * edges[e, 3], dy + q * edges[e, 2] + p * edges[e, 3]
            if not rays:
                qx, qy = nearest_on_segment(0.0, 0.0, ax, ay, bx, by)
                if qx * qx + qy * qy < nearest:
                    nearest, x, y = qx * qx + qy * qy, qx, qy
                continue
            t, along = crossing(ax - ox, ay - oy, -2.0 * half * s, 2.0 * half * c, bx - ax, by - ay)
            if 0.0 <= along < 1.0 and t >= 0.0:
                if t <= 1.0:
                    return True
                inside = not inside  # an odd number of edges beyond the left finger: both fingers are inside
        if inside:
            return True
    return not rays and in_reach(x, y, sqrt(nearest) - rim, c, s, reach, cone)
