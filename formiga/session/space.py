"""A robot in three dimensions, in words and numbers: its pose, its joints, what it holds and what holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from formiga.session.session import Session

RECORDED = ("z", "tilt")  # a recording has poses only


def in_space(session: Session, robot: int) -> dict[str, Any]:
    """What there is to know about a robot besides what it has in the plane; nothing of one in the plane."""
    found = session.sim.engine.inspect(session.sim.model, session.sim.state, robot)
    return found if session.replay is None else {name: found[name] for name in RECORDED if name in found}


__all__ = ["in_space"]
