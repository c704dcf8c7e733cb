"""The painted floor under a robot's sensors: grey values and colours, in the plane and in space."""

from dataclasses import replace

import numpy as np
import pytest

from formiga.envs.batch import Batch
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.sense.ground import Ground
from formiga.units import CM, DEG
from formiga.world.model import Arena, Group, Hole, World, Zone
from formiga.world.placement import At
from formiga.world.reader import read_text
from formiga.world.robots import SBot
from tests.reference.floor import colour_at

ENGINES = ["planar", "spatial"]


def random_floor(rng, robots=12, zones=15):
    """An arena with discs and rectangles that overlap, some of them off, and robots in the middle of it."""
    painted = []
    for number in range(zones):
        size = {"radius": rng.uniform(0.1, 0.5)} if number % 2 else {"width": rng.uniform(0.1, 1), "depth": rng.uniform(0.1, 1),
                                                                     "heading": rng.uniform(-4, 4)}
        painted.append(Zone(x=rng.uniform(-1, 1), y=rng.uniform(-1, 1), colour=f"#{rng.integers(2**24):06x}", name=f"z{number}",
                            on=bool(rng.random() < 0.8), **size))
    places = [At(x=x, y=y, heading=rng.uniform(-3, 3)) for x in np.linspace(-1, 1, 4) for y in np.linspace(-1, 1, robots // 4)]
    return tuple(painted), tuple(places)


def look(engine, zones, places, *sensors, things=()):
    group = Group(SBot(), len(places), "a", places, sensors)
    sim = Simulation(World(engine=engine, things=(Arena(3.0, 3.0), *zones, *things), groups=(group,)), worlds=2)
    return sim, sim.readings["a"]


@pytest.mark.parametrize("engine", ENGINES)
def test_sensors_see_what_a_geometry_library_finds_below_them(engine, rng):
    sensors = Ground(noise=0.0, reads="colour", name="colour"), Ground(noise=0.0, reads="grey", name="grey", bare="#204060")
    zones, places = random_floor(rng)
    _, readings = look(engine, zones, places, *sensors)
    bare = 0
    for i, place in enumerate(places):
        for b, angle in enumerate(sensors[0].angles):
            x, y = place.x + 4 * CM * np.cos(place.heading + angle), place.y + 4 * CM * np.sin(place.heading + angle)
            white, grey = (np.array(list(bytes.fromhex(colour_at(zones, x, y, floor)[1:]))) / 255.0
                           for floor in ("#ffffff", "#204060"))
            assert readings["colour"][:, i, b] == pytest.approx(np.tile(white, (2, 1)), abs=1e-12)
            assert readings["grey"][:, i, b] == pytest.approx(grey @ [0.299, 0.587, 0.114], abs=1e-12)
            bare += colour_at(zones, x, y, "none") == "none"
    assert 0 < bare < 4 * len(places)
    assert readings["colour"].shape == (2, len(places), 4, 3) and readings["grey"].shape == (2, len(places), 4)


def test_both_engines_agree_while_robots_drive_over_it(rng):
    zones, places = random_floor(rng, 4, 40)
    sims = [look(engine, zones, places, Ground(noise=0.1, reads="colour"))[0] for engine in ENGINES]
    for _ in range(10):
        readings = [sim.readings["a"]["ground"] for sim in sims]
        assert np.array_equal(*readings) and len(np.unique(readings[0])) > 10
        for sim in sims:
            sim.step({"a": np.full((2, 4, 2), 0.05)})
        sims[0].state.position[...], sims[0].state.heading[...] = sims[1].state.position, sims[1].state.heading
        sims[0].look_again()


@pytest.mark.parametrize("engine", ENGINES)
def test_the_later_zone_covers_the_earlier_one_and_one_that_is_off_is_not_seen(engine):
    below, above = Zone(x=0, y=0, radius=1, colour="#ff0000", name="below"), Zone(x=0, y=0, width=1, depth=1, colour="#0000ff")
    sensor = Ground(noise=0.0, reads="colour")
    for zones, seen in (((below, above), [0, 0, 1]), ((above, below), [1, 0, 0]),
                        ((below, replace(above, on=False)), [1, 0, 0]), ((replace(below, on=False),), [1, 1, 1])):
        assert (look(engine, zones, (At(x=0, y=0),), sensor)[1]["ground"] == seen).all()


def test_where_there_is_no_floor_in_reach_nothing_is_read():
    zones, sensor = (Zone(x=0, y=0, radius=1, colour="#ffffff"),), Ground(noise=0.0, reads="grey", angles=(0.0, 180 * DEG))
    hole = Hole(x=0.16, y=0, width=0.3, depth=0.6)  # it begins 1 cm ahead of the robot's middle
    seen = look("spatial", zones, (At(x=0, y=0, heading=0.0),), sensor, things=(hole,))[1]
    assert seen["ground"][0, 0] == pytest.approx([0, 1])
    for engine in ENGINES:
        high = replace(sensor, height=5 * CM)
        assert not look(engine, zones, (At(x=0, y=0),), high)[1]["ground"].any()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_network_learns_from_the_colour_of_the_floor(engine):
    world = read_text(f"""<world engine="{engine}"><arena width="2" depth="2"/><zone x="0" y="0" radius="0.5" colour="#00ff00"/>
<sbot><at x="0" y="0"/><ground reads="colour"/><perceptron inputs="ground"/></sbot><fitness of="speed"/></world>""")
    batch = Batch(world)
    batch.reset(1)
    assert batch.inputs.shape == (1, 1, 12) and batch.inputs.reshape(4, 3)[:, 1].min() > 0.9
    assert not batch.inputs.reshape(4, 3)[:, [0, 2]].any()


def test_a_word_that_it_does_not_read_is_refused():
    with pytest.raises(WorldError, match=r"<text>:1: <ground> reads: 'color' .*colour"):
        read_text('<world><sbot><ground reads="color"/></sbot></world>')
