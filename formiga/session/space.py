"""Robots and things in three dimensions, in words and numbers: poses, joints and what they bear, what is held."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from formiga.session.session import Session

RECORDED = ("z", "tilt")  # a recording has poses only


def in_space(session: Session, robot: int) -> dict[str, Any]:
    """What there is to know about a robot besides what it has in the plane; nothing of one in the plane."""
    found = session.sim.engine.inspect(session.sim.model, session.sim.state, robot)
    return found if session.replay is None else {name: found[name] for name in RECORDED if name in found}


def thing_in_space(session: Session, index: int) -> dict[str, Any]:
    """What is true now of a thing in space, by its number: where a moving solid is, what a joint bears and its motors do."""
    found = session.sim.engine.inspect_thing(session.sim.model, session.sim.state, index)
    return found if session.replay is None or "holds" not in found else {}  # a recording has poses, and no forces


__all__ = ["in_space", "thing_in_space"]
