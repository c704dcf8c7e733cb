"""Spread: the robots drive away from those that they hear, by the linear potential of its docstring."""

from math import cos, sin

import numpy as np
import pytest

from formiga.comm.range_and_bearing import RangeAndBearing
from formiga.control.spread import Spread
from formiga.loop import Simulation
from formiga.world.model import Contact, Group, World
from formiga.world.placement import At
from formiga.world.robots import Disc


def first_wheels(others, gain=1.0, reach=2.0, heading=0.3):
    """Wheels (2,) of a robot at the origin, as shares of its top speed, with others at (range, bearing); and its message."""
    at = [At(0.0, 0.0, heading), *(At(r * cos(heading + b), r * sin(heading + b), 0.0) for r, b in others)]
    link, robot = RangeAndBearing(reach, "none"), Disc(0.02, 0.04, 0.1)
    group = Group(robot, len(at), "a", tuple(at), (), Spread(gain=gain), links=(link,))
    lab = Simulation(World(groups=(group,), contact=Contact("none"), dt=1e-6))  # they have hardly moved when they hear
    for _ in range(2):
        lab.step()
    return lab.state.drive[0, 0] / 0.1, lab.state.outbox[0, 0].tolist()


@pytest.mark.parametrize("bearing", [-2.5, -1.0, 0.0, 0.7, 3.1])
def test_away_from_one_by_how_near_it_is(bearing):
    """share = 1 - range / reach; x - y and x + y of the way away are left and right."""
    wheels, said = first_wheels([(1.5, bearing)])
    x, y = -0.25 * cos(bearing), -0.25 * sin(bearing)
    assert wheels == pytest.approx([x - y, x + y], abs=1e-4) and said == [1.0]


def test_several_are_added_up_and_the_wheels_are_cut_at_the_top_speed():
    wheels, said = first_wheels([(1.0, 0.5), (1.0, -0.5), (1.6, 1.2)])
    x, y = -cos(0.5) - 0.2 * cos(1.2), -0.2 * sin(1.2)
    assert wheels == pytest.approx(np.clip([x - y, x + y], -1.0, 1.0), abs=1e-4) and said == [3.0]
    assert first_wheels([(1.0, 0.5)], gain=9.0)[0].tolist() == [-1.0, -1.0]


def test_alone_it_stands_and_says_so():
    wheels, said = first_wheels([(2.5, 0.0)])
    assert wheels.tolist() == [0.0, 0.0] and said == [0.0]
