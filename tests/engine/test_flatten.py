"""What is switched off is not there, for bodies, beams and light; and the arrays of what stands still."""

from dataclasses import replace

import numpy as np
import pytest

from formiga.engine.flatten import extent, flatten, lamps
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.sense.light import Light
from formiga.sense.scanner import Scanner
from formiga.world.model import Arena, Cylinder, Cylinders, Group, Lamp, Polygon, Rectangle, Wall, World
from formiga.world.placement import At
from formiga.world.robots import SBot

THINGS = (Arena(2.0, 2.0), Wall((0.3, -0.5, 0.3, 0.5)), Rectangle(0.5, 0.0, 0.2, 0.4), Polygon((-0.6, 0, -0.4, 0, -0.5, 0.3)),
          Cylinder(0.0, 0.7, 0.1), Lamp(0.9, 0.0), Cylinders(5, 0.05, seed=2))


def same(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("shapes", "heights"))


@pytest.mark.parametrize("kind", [Wall, Rectangle, Polygon, Cylinder])
def test_what_is_off_is_as_if_it_were_not_there(kind):
    """Without <cylinders>: those go round what is off, too."""
    things = THINGS[:-1]
    off = World(things=tuple(replace(thing, on=False) if isinstance(thing, kind) else thing for thing in things))
    gone = World(things=tuple(thing for thing in things if not isinstance(thing, kind)))
    assert same(flatten(off), flatten(gone)) and not same(flatten(off), flatten(World(things=things)))
    assert np.array_equal(flatten(off).outlines[:, :4], flatten(gone).outlines[:, :4])


def test_switching_one_thing_moves_no_other():
    """The scattered cylinders were placed around a rectangle; without it, some of them would have gone elsewhere."""
    things = (Arena(2.0, 2.0), Rectangle(0.0, 0.0, 1.5, 1.5), Cylinders(9, 0.05, seed=2), Cylinders(3, 0.04, seed=5))
    everything = flatten(World(things=things))
    for number in (1, 2):
        switched = [replace(thing, on=False) if k == number else thing for k, thing in enumerate(things)]
        left = {tuple(shape) for shape in flatten(World(things=tuple(switched))).shapes.tolist()}
        assert left < {tuple(shape) for shape in everything.shapes.tolist()}
    assert not same(flatten(World(things=(things[0], *things[2:]))), flatten(World(things=tuple(switched))))


def test_scattered_obstacles_that_are_off_need_no_room():
    crowd = Cylinders(500, 0.2)
    with pytest.raises(WorldError, match="do not fit"):
        flatten(World(things=(Arena(1.0, 1.0), crowd)))
    assert len(flatten(World(things=(Arena(1.0, 1.0), replace(crowd, on=False)))).shapes) == 4


def test_beams_and_light_pass_where_an_obstacle_is_off():
    def look(on):
        robot = Group(SBot(), 1, "a", (At(0.0, 0.0, 0.0),), (Scanner(1, reach=0.9), Light()))
        things = (Wall((0.3, -0.5, 0.3, 0.5), on=on), Wall((0.6, -0.5, 0.6, 0.5), height=0.02), Lamp(0.9, 0.0))
        return Simulation(World(things=things, groups=(robot,))).readings["a"]

    assert look(True)["scanner"][0, 0, 0] == pytest.approx(0.3, abs=0.1) and not look(True)["light"].any()
    assert look(False)["scanner"][0, 0, 0] == pytest.approx(0.6, abs=0.1) and look(False)["light"].any()


def test_a_lamp_under_the_roof_of_a_solid_that_is_off_shines():
    roof = Rectangle(0.0, 0.0, 1.0, 1.0, height=0.5)
    assert len(lamps(World(things=(roof, Lamp(0.0, 0.0))))) == 0
    assert len(lamps(World(things=(replace(roof, on=False), Lamp(0.0, 0.0))))) == 1


def test_without_an_arena_the_extent_is_that_of_what_is_on():
    walls = Wall((0.0, 0.0, 1.0, 0.0)), Wall((0.0, 5.0, 1.0, 5.0), on=False)
    assert extent(World(things=walls), flatten(World(things=walls))) == (0.0, 0.0, 1.0, 0.0)
    none = World(things=(replace(walls[0], on=False), walls[1]))
    assert extent(none, flatten(none)) == (-1.0, -1.0, 1.0, 1.0)
    run = Simulation(replace(none, groups=(Group(SBot(), 1, "a", (At(40.0, 40.0, 0.0),)),)))
    run.step({"a": np.full((1, 1, 2), 0.05)})
    assert run.state.position[0, 0] == pytest.approx((40.005, 40.0))
