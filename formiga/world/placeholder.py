"""Elements whose code is not here: a recording names them, and what it says about them is all that is known.

A placeholder stands where the element stood, so that a world can be read, drawn and written again. It does nothing: a sensor
reads an empty array, a thing is not drawn, a robot is a disc of the size that is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from keyword import iskeyword
from typing import Any

import numpy as np

from formiga.errors import WorldError
from formiga.world.contract import declared
from formiga.world.elements import Element, integer, name, stand_in, text
from formiga.world.robots.disc import Disc

DISC = {each.name: each for each in fields(Disc)}
FACTS = tuple(key for key in DISC if key != "colour")         # numbers about a robot that a recording keeps
UNKNOWN = {"radius": 0.05, "wheel_base": 0.05, "top_speed": 0.1}  # where not even the recording knows


@dataclass(frozen=True)
class Placeholder:
    """An element of the user's own whose code is not here."""

    def read(self, scene: Any) -> Any:
        """Of a sensor: nothing, for each robot."""
        return np.zeros((scene.state.worlds, scene.group.count, 0))

    def hear(self, scene: Any) -> Any:
        """Of a link: nothing, for each robot."""
        return self.read(scene)

    def estimate(self, view: Any) -> Any:
        """Of an estimator: nothing, for each robot."""
        return np.zeros((*view.shape, 0))

    def decide(self, view: Any) -> Any:
        """Of a controller: refused."""
        raise WorldError("the code of this controller is not here: it is known only from a recording.")

    def place(self, site: Any) -> Any:
        """Of a placement: refused."""
        raise WorldError("the code of this placement is not here: it is known only from a recording.")


@dataclass(frozen=True)
class PlaceholderRobot(Disc, Placeholder):
    """A robot of the user's own whose code is not here."""


def placeholder(tag: str, role: str, attributes: Sequence[str], called: str, facts: Mapping[str, float]) -> Element:
    """A class that stands for one element. attributes: their names; called: the default of `name`; facts: of a robot."""
    taken = ("name", *DISC) if role == "robot" else ("name",)
    own: list[tuple[str, Any, Any]] = [(each, str, text("")) for each in attributes
                                       if each.isidentifier() and not iskeyword(each) and each not in taken]
    if role == "link" and "numbers" in attributes:  # the columns of an outbox
        own = [each for each in own if each[0] != "numbers"] + [("numbers", int, integer(1, least=1))]
    if role == "robot":
        known = UNKNOWN | {key: facts[key] for key in FACTS if key in facts and _fits(key, facts[key])}
        own += [(key, float, field(default=value, metadata=DISC[key].metadata)) for key, value in known.items()]
    else:
        own.append(("name", str, name(called)))
    base = PlaceholderRobot if role == "robot" else Placeholder
    words = {"__doc__": f"<{tag}> of a recording, without its code."}
    return stand_in(tag, role, make_dataclass(f"Placeholder_{tag}", own, bases=(base,), frozen=True, namespace=words))


def _fits(key: str, value: float) -> bool:
    try:
        DISC[key].metadata["kind"].check(value)
    except ValueError:  # a robot of the user's own may have no mass; a disc has
        return False
    return True


def about(known: Element, things: Sequence[Any]) -> dict[str, Any]:
    """What a recording keeps about an own element, of which `things` are all in its world: what `placeholder` takes."""
    named = known.cls.name if "name" in declared(known.cls) else known.tag  # type: ignore[attr-defined]
    called = known.default("name") if "name" in known.kinds else named
    facts = {key: float(value) for thing in things[:1] for key in FACTS
             if known.role == "robot" and isinstance(value := getattr(thing, key, None), int | float)}
    return {"tag": known.tag, "role": known.role, "attributes": list(known.kinds), "facts": facts,
            "called": called if isinstance(called, str) else known.tag}


__all__ = ["Placeholder", "about", "placeholder"]
