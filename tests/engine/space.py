"""Small worlds in space, and how tests drive them."""

from __future__ import annotations

import numpy as np

from formiga.world.model import Group, World
from formiga.world.placement import At
from formiga.world.robots import SBot

BASES = [SBot(), SBot(base="wheels"), SBot(model="detailed")]
NAMES = ["sliding", "wheels", "detailed"]


def spatial(*things, robot=None, at=((0.0, 0.0, 0.0),), **more):
    groups = more.pop("groups", ())
    if robot is not None:
        places = tuple(At(x=x, y=y, heading=heading) for x, y, heading in at)
        groups = (Group(robot, count=len(places), place=places, controller=more.pop("controller", None),
                        sensors=more.pop("sensors", ()), name="r"),)
    return World(engine="spatial", things=things, groups=groups, **more)


def drive(sim, seconds, *speeds):
    for _ in range(round(seconds / sim.world.dt)):
        sim.step({"r": np.array([speeds], float)} if speeds else None)
    return sim


def events(sim, seconds, *speeds):
    found = []
    for _ in range(round(seconds / sim.world.dt)):
        sim.step({"r": np.array([speeds], float)} if speeds else None)
        found += sim.state.scratch.events
    return found


def solid_heights(sim):
    return {sim.world.things[part.thing].name: sim.state.bodies[0, row, 2]
            for row, part in enumerate(sim.model.parts) if part.thing >= 0}
