"""5. What was sent -> what is heard: messages between robots.

A link is an element of role 'link' with a `name` and a method `hear(scene)`, which returns a reading as a sensor does. What the
robots send is in `state.outbox`, from the orders of the last period: one hop in a period.
"""

from __future__ import annotations

from formiga.comm.link import renumber
from formiga.comm.traffic import account
from formiga.engine import Engine, Model
from formiga.sense import Readings, look
from formiga.state import State
from formiga.world.elements import discover
from formiga.world.model import World


def deliver_all(world: World, engine: Engine, model: Model, state: State) -> Readings:
    """What all robots hear."""
    return {group.name: {link.name: look(engine, model, state, group, robots, link, link.hear) for link in group.links}
            for group, robots in zip(world.groups, world.slices, strict=True)}


discover(__name__)

__all__ = ["account", "deliver_all", "renumber"]
