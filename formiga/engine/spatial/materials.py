"""What the things of a world are made of: friction and softness as attributes of geoms, restitution as a table of pairs.

Two surfaces that touch have the friction and the softness of the smoother one, and the larger restitution of the two, as bodies
in the plane have; a <touch> of their materials overrules all three.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from formiga.engine.spatial.robots import BODY, SHELL, priority
from formiga.errors import WorldError, suggest
from formiga.world.elements import where
from formiga.world.model import World
from formiga.world.solids import Material, Touch

GIVES = 0.05             # a load rests at (1 - d) g tau^2 on one point, with MuJoCo's impedance d = 0.95
MOST_PAIRS = 50_000      # of geoms with a <touch>
PLAIN = (Material(name="plain", friction=0.6), Material(name="ground", friction=1.0), Material(name="shell", friction=SHELL))


class Surface(NamedTuple):
    """What counts when a geom hits another one."""

    material: str = ""       # by which a <touch> knows it; '': none
    restitution: float = 0.0
    against_walls: float = 0.0
    fixed: bool = False      # whether it can never move


class Materials:
    """The materials of a world, and which geom is of which."""

    def __init__(self, world: World, step: float, gravity: float) -> None:
        self._step, self._gravity = step, max(gravity, 1e-3)
        self.known = {each.name: each for each in PLAIN}
        own = [thing for thing in world.things if isinstance(thing, Material)]
        for number, each in enumerate(own):
            if each.name in {other.name for other in own[:number]}:
                raise WorldError(f"{where(each)}second material '{each.name}'. Give each its own name.")
            self.known[each.name] = each
        self.touches = [thing for thing in world.things if isinstance(thing, Touch)]
        for touch in self.touches:
            for name in (touch.one, touch.other):
                self.find(touch, name)
        self.surfaces: dict[str, Surface] = {}

    def find(self, thing: Any, name: str) -> Material:
        """The material of that name; WorldError with the line of `thing` if there is none."""
        if name not in self.known:
            raise WorldError(f"{where(thing)}there is no material '{name}'.{suggest(name, self.known)} "
                             f"There are: {', '.join(self.known)}.")
        return self.known[name]

    def of(self, thing: Any, geom: str, material: str, fixed: bool) -> dict[str, Any]:
        """How a geom of that name rubs, of a thing that is of a material and bounces as it does."""
        found = self.find(thing, material)
        self.surfaces[geom] = Surface(found.name, found.restitution, found.restitution, fixed)
        return {"name": geom, "friction": (found.friction, 0, 0), "priority": priority(found.friction), "condim": 3,
                "solref": (self.give_way(found.softness), 1.0), "solmix": 1.0 + 1e9 * found.softness}  # of equals, the softer

    def body(self, thing: Any, geom: str, material: str | None, friction: float, known_as: str = "") -> dict[str, Any]:
        """The same of a body that may be of a material, and else has a friction and restitutions of its own; known_as: the
        material by which a <touch> finds it nevertheless."""
        if material:
            return self.of(thing, geom, material, fixed=False)
        least = self.known[known_as].restitution if known_as else 0.0
        self.surfaces[geom] = Surface(known_as, max(thing.restitution, least), max(thing.wall_restitution, least))
        return {"name": geom, "friction": (friction, 0, 0), "priority": priority(friction), "condim": 3}

    def friction(self, one: str | None, own: float, other: str) -> float:
        """Of a surface, of the material `one` or with a friction of its own, on a material: the smoother one counts."""
        for touch in reversed(self.touches):  # of two for the same materials, the later one counts
            if {touch.one, touch.other} == {one, other}:
                return float(touch.friction)
        return float(min(self.known[one].friction if one else own, self.known[other].friction))

    def frictions(self, mj: Any, groups: Any) -> Any:
        """(groups, geoms) friction of the groups' treels on all geoms."""
        names = [mj.geom(geom).name for geom in range(mj.ngeom)]
        made = [self.surfaces[name].material if name in self.surfaces else "" for name in names]
        return np.array([[self.friction(group.wheel_material, group.robot.friction, material) if material else
                          min(self.known[group.wheel_material].friction if group.wheel_material else group.robot.friction, own)
                          for material, own in zip(made, mj.geom_friction[:, 0], strict=True)] for group in groups],
                        np.float64).reshape(-1, mj.ngeom)

    def give_way(self, softness: float) -> float:
        """Time constant of a contact that gives by `softness` under the weight of what lies on it, in s."""
        return max(2.0 * self._step, sqrt(softness / (GIVES * self._gravity)))

    def pairs(self, spec: Any, passing: bool) -> None:
        """Contact parameters for every two geoms whose materials have a <touch>. passing: robots pass through all but the
        ground, so they have none with each other."""
        if not self.touches:
            return
        geoms = {geom.name: geom for geom in spec.geoms if geom.name in self.surfaces}
        apart = {frozenset((each.bodyname1, each.bodyname2)) for each in spec.excludes}
        made: set[frozenset[str]] = set()
        for touch in reversed(self.touches):  # of two for the same materials, the later one counts
            ones, others = ([name for name in geoms if self.surfaces[name].material == side]
                            for side in (touch.one, touch.other))
            for one in ones:
                for other in others:
                    if frozenset((one, other)) in made or not _meet(geoms[one], geoms[other], apart, passing):
                        continue
                    made.add(frozenset((one, other)))
                    if len(made) > MOST_PAIRS:
                        raise WorldError(f"{where(touch)}<touch> '{touch.one}' and '{touch.other}' are on more than "
                                         f"{MOST_PAIRS:,} pairs of surfaces. Give fewer things these materials.")
                    spec.add_pair(geomname1=one, geomname2=other, condim=3,
                                  friction=(touch.friction, touch.friction, 0.005, 1e-4, 1e-4),
                                  solref=(self.give_way(touch.softness), 1.0))

    def restitutions(self, mj: Any) -> tuple[Any, Any]:
        """Of each geom (geoms,) its row in a table, and the table (S, S) of restitutions of two that meet.

            e = max(e_one towards other, e_other towards one), or that of a <touch>
        where a body has one value towards bodies and one towards what is fixed.
        """
        kinds = [Surface(), *dict.fromkeys(surface for surface in self.surfaces.values() if surface != Surface())]
        row = np.array([kinds.index(self.surfaces.get(mj.geom(geom).name, Surface())) for geom in range(mj.ngeom)], np.int64)
        table = np.array([[self._restitution(one, other) for other in kinds] for one in kinds])
        return row, table

    def _restitution(self, one: Surface, other: Surface) -> float:
        if one.fixed and other.fixed:
            return 0.0
        for touch in reversed(self.touches):
            if one.material and sorted((one.material, other.material)) == sorted((touch.one, touch.other)):
                return float(touch.restitution)
        return max(one.against_walls if other.fixed else one.restitution,
                   other.against_walls if one.fixed else other.restitution)


def _meet(one: Any, other: Any, apart: set[frozenset[str]], passing: bool) -> bool:
    """Whether two geoms of a description would touch; MuJoCo asks nothing of this kind for pairs that are given to it."""
    kinds = [(each.contype, each.conaffinity) for each in (one, other)]
    if passing:
        kinds = [(contype & ~BODY, affinity & ~BODY) for contype, affinity in kinds]
    if not (kinds[0][0] & kinds[1][1] or kinds[1][0] & kinds[0][1]):
        return False
    bodies = one.parent, other.parent
    names = [body.name for body in bodies]
    if names[0] == names[1] or frozenset(names) in apart:
        return False
    if _robot(names[0]) and _robot(names[0]) == _robot(names[1]):
        return False
    return not any(body.name != "world" and body.parent.name == name for body, name in zip(bodies, reversed(names), strict=True)
                   if name != "world")


def _robot(body: str) -> str:
    """'r3' of 'r3/turret'; '' for what is no robot's."""
    return body.split("/", 1)[0] if body.startswith("r") and "/" in body else ""


__all__ = ["Materials", "Surface"]
