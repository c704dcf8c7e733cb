"""Too many robots in too little room: nothing breaks, and it is said."""

from __future__ import annotations

import numpy as np

import formiga
from formiga import runs
from formiga.control.braitenberg import Braitenberg
from formiga.control.sequence import Sequence
from formiga.loop import Simulation
from formiga.sense.proximity import Proximity
from formiga.world.model import Arena, Contact, Group, World
from formiga.world.placement import At, Grid
from formiga.world.robots import Disc, SBot


def gaps(position, radius):
    """Rim to rim (W, N, N), infinite on the diagonal."""
    apart = np.linalg.norm(position[:, :, None] - position[:, None], axis=-1)
    return apart - 2.0 * radius + np.where(np.eye(position.shape[1], dtype=bool), np.inf, 0.0)


def test_a_crowd_that_has_no_room_is_reported_and_stays_inside():
    """80 % of the floor under collision circles cannot be resolved; walls hold, nobody is lost, the run says so."""
    swarm = Group(SBot(), 300, place=(Grid(0.16, 18),), sensors=(Proximity(),), controller=Braitenberg())
    run = runs.simulate(World(things=(Arena(3.0, 3.0),), groups=(swarm,)), 3.0)
    assert run.metrics["unresolved_steps"] > 0
    assert np.isfinite(run.state.position).all() and (np.abs(run.state.position) <= 1.5 - 0.058 + 1e-6).all()


def test_with_room_everything_is_resolved():
    run = formiga.simulate("corral", 30.0, worlds=4)
    assert run.metrics["unresolved_steps"] == 0 and run.metrics["crashes"] > 0


def test_under_stop_bodies_stop_where_they_touch():
    """Head-on at 30 cm/s with 7 cm between them: nobody moves them apart later, so they must not interpenetrate."""
    pair = Group(Disc(0.058, 0.1, 0.3), place=(At(-0.13, 0.0, 0.0), At(0.055, 0.0, np.pi)),
                 controller=Sequence((100.0, 0.3, 0.3)))
    simulation = Simulation(World(contact=Contact("stop"), things=(Arena(3.0, 3.0),), groups=(pair,)))
    for _ in range(5):
        simulation.step()
    assert gaps(simulation.state.position, 0.058).min() > -1e-7
    assert (simulation.state.crashes >= 4).all()


def test_under_stop_a_fast_crowd_never_interpenetrates(rng):
    crowd = Group(Disc(0.04, 0.08, 2.0), 40, controller=Sequence((100.0, 2.0, 1.9)))
    simulation = Simulation(World(contact=Contact("stop"), things=(Arena(3.0, 3.0),), groups=(crowd,)), worlds=20)
    for _ in range(20):
        simulation.step()
        assert gaps(simulation.state.position, 0.04).min() > -1e-6
