"""What an agent sees of a robot and what it may do with it: numbers in a row, each with a name and a range.

The soccer tasks have their own, see soccer/.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from formiga.control.neural import Network
from formiga.control.scaling import Scale, givers, scale_of
from formiga.control.shares import PARTS, Shares, parts_of
from formiga.errors import WorldError, suggest
from formiga.state import Floats
from formiga.world.elements import where
from formiga.world.model import Group, World

Names = Sequence[str] | None


def choose(world: World, name: str) -> Group:
    """The group of that name; else the only one that has a network, or the only one that there is."""
    if name:
        return world.group(name)
    found = [group for group in world.groups if isinstance(group.controller, Network)]
    if len(found) != 1 and len(world.groups) != 1:
        there = ", ".join(f"'{group.name}'" for group in found or world.groups)
        raise WorldError(f"world '{world.name}' has {len(found) or 'no'} groups with a neural controller. Say which group "
                         f"learns; there are: {there or 'none'}.")
    return found[0] if found else world.groups[0]


def observed(group: Group, observe: Names | str, without: Names) -> list[str]:
    """The names of the readings that an agent sees, in their order.

    Without `observe` they are the inputs of the group's network if it has one, else everything that its robots read, which
    "all" asks for in any case; `without` leaves some of them out.
    """
    there = list(givers(group))
    if observe is None and isinstance(group.controller, Network):
        group.controller.refuse_unknown(group)
        chosen = group.controller.sensors
    else:
        chosen = there if observe is None or observe == "all" else _names("observe", observe, there)
    left_out = [] if without is None else _names("without", without, there)
    seen = [name for name in chosen if name not in left_out]
    if not seen:
        rest = f", and {', '.join(left_out)} is left out" if left_out else ""
        raise WorldError(f"{where(group)}there is nothing to observe: the robots of '{group.name}' read "
                         f"{', '.join(there) or 'nothing'}{rest}. Give them a sensor, such as <proximity/>.")
    return seen


def scales_of(group: Group, names: Sequence[str], readings: dict[str, Any]) -> list[Scale]:
    """How each of these readings (W, n, ...) is scaled."""
    known = givers(group)
    return [scale_of(known[name], group, np.shape(readings[name])[2:]) for name in names]


def commanded(group: Group, actions: Names, jointed: bool) -> Shares:
    """What an agent orders.

    Without `actions` that is what the group's network would order if it has one; else all that moves the robots, drive and
    joints, and their messages. jointed: the engine moves joints.
    """
    place, has = f"{where(group)}actions: ", parts_of(group)
    if actions is None:
        if isinstance(group.controller, Network):
            return group.controller.shares(group)
        parts = [part for part in has if part not in ("leds", "sound") and (part != "joints" or jointed)]
    else:
        parts = _names("actions", actions)
        if "joints" in parts and "joints" in has and not jointed:
            raise WorldError(f"{place}joints move only in space; choose engine=\"spatial\", or leave them out.")
    if not parts:
        also = " Its lights are not in an action unless they are asked for: actions=[\"leds\"]." if "leds" in has else ""
        raise WorldError(f"{where(group)}the robots of '{group.name}' have no drive and no joints that move here, so there is "
                         f"nothing to do.{also}")
    return Shares(group, parts, place)


def _names(what: str, given: Any, allowed: Sequence[str] | None = None) -> list[str]:
    """A list of names. One that is not allowed is refused."""
    if isinstance(given, str) or not isinstance(given, Iterable) or not all(isinstance(name, str) for name in given):
        raise WorldError(f"{what}: it must be a list of names, such as [\"{next(iter(allowed or PARTS))}\"], not {given!r}.")
    for name in given:
        if allowed is not None and name not in allowed:
            raise WorldError(f"{what}: there is no reading '{name}'.{suggest(name, allowed)} There are: "
                             f"{', '.join(allowed) or 'none'}.")
    return list(given)


def bounds_of(scales: Sequence[Scale]) -> tuple[Floats, Floats]:
    """The least and the largest number of each in a row of scaled readings."""
    return np.concatenate([scale.low for scale in scales]), np.concatenate([scale.high for scale in scales])


__all__ = ["bounds_of", "choose", "commanded", "observed", "scales_of"]
