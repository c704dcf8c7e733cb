"""Objects: solids and joints that are placed as one, and can be used again.

    <object name="cart" x="1" yaw="90deg"> <solid name="body" .../> <joint .../> </object>
    <object name="second" like="cart" y="1"/>        <object name="third" file="cart.xml" y="2"/>

An object is an element of the file format, as <include> is: what it holds becomes solids and joints of the world, each moved
and turned with the object, and called by the object's name and its own: `cart.body`. Objects may hold objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from formiga.errors import Where, WorldError
from formiga.geometry import from_euler, multiply, rotate, to_euler
from formiga.world.elements import angle, file, length, locate, name, of, origin, where
from formiga.world.solids import AXES, Joint, Material, Solid, Touch

HOLDS = ("solid", "joint", "render", "material", "touch")  # tags of what an object may hold, besides objects
SOLIDS = {"joint": ("one", "other"), "render": ("of",)}    # attributes that name a solid
MATERIALS = {"solid": ("material",), "touch": ("one", "other")}  # and those that name a material


@dataclass(frozen=True)
class Object:
    """Solids, joints and how they look, placed as one. What it holds is called by its name and their own: cart.body."""

    like: str | None = name(None, doc="the name of an object before it that this is another one of")
    x: float = length(0.0)
    y: float = length(0.0)
    z: float = length(0.0, doc="by which it is lifted")
    roll: float = angle(0.0, doc="about x, first")
    pitch: float = angle(0.0, doc="about y, then")
    yaw: float = angle(0.0, doc="about z, last")
    file: str | None = file(None, doc="a world file with what it holds, in the folder of the world or below it")
    name: str = name("object")


@dataclass(frozen=True)
class Within(Where):
    """The place of an element that stands in an <object>, so that it cannot be written back to where it came from."""


def placed(parts: Sequence[Any], frame: Object) -> list[Any]:
    """What an object holds, as things of the world: moved and turned with it, under their full names."""
    turn, place = from_euler(frame.roll, frame.pitch, frame.yaw), np.array([frame.x, frame.y, frame.z])
    solids = {part.name for part in parts if isinstance(part, Solid)}
    materials = {part.name for part in parts if isinstance(part, Material)}
    found = []
    for part in parts:
        changes: dict[str, Any] = {} if isinstance(part, Touch) else {"name": f"{frame.name}.{part.name}"}
        for names, own in ((SOLIDS, solids), (MATERIALS, materials)):
            for attribute in names.get(of(part).tag, ()):
                if getattr(part, attribute) in own:
                    changes[attribute] = f"{frame.name}.{getattr(part, attribute)}"
        if isinstance(part, Solid | Joint):
            changes |= _moved(part, frame, turn, place)
        found.append(_again(part, changes))
    return found


def _moved(part: Solid | Joint, frame: Object, turn: Any, place: Any) -> dict[str, Any]:
    """Where a solid or a joint is in the world; turn, place: of the frame."""
    level = (frame.z, frame.roll, frame.pitch) == (0.0, 0.0, 0.0)
    if part.z is None and not level:
        raise WorldError(f"{where(part)}<solid> z: in an object that is lifted or tilted, say how high it is.")
    x, y, z = (rotate(turn, np.array([part.x, part.y, part.z or 0.0])) + place).tolist()
    found: dict[str, Any] = {"x": x, "y": y, "z": None if part.z is None else z}
    if (frame.roll, frame.pitch, frame.yaw) == (0.0, 0.0, 0.0):
        return found
    if isinstance(part, Joint):
        used = ("axis", "axis2")[:AXES.get(part.kind, 0)]
        return found | {each: tuple(rotate(turn, np.array(getattr(part, each))).tolist()) for each in used}
    angles = to_euler(multiply(turn, from_euler(part.roll, part.pitch, part.yaw)))
    return found | dict(zip(("roll", "pitch", "yaw"), map(float, angles), strict=True))


def _again(part: Any, changes: dict[str, Any]) -> Any:
    try:
        new, place = replace(part, **changes), origin(part)
    except WorldError as wrong:  # such as a name that has become too long
        raise WorldError(f"{where(part)}{wrong}") from wrong
    if place is not None:
        locate(new, Within(place.file, place.line))
    return new


__all__ = ["HOLDS", "Object", "Within", "placed"]
