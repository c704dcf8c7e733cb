"""Sound: inverse square, saturation of the sum, bands, who is heard. [S3, acceptance 2]"""

import numpy as np
import pytest

from formiga.act.loudspeaker import Loudspeaker
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.sense.microphone import Microphone
from formiga.world.model import Arena, Contact, Group, Wall, World
from formiga.world.placement import At
from formiga.world.reader import read_text
from formiga.world.robots import SBot
from formiga.world.sources import Speaker
from formiga.world.writer import to_text
from tests.reference.lab import bench

EAR = Microphone(noise=0.0)


def hear(things, ear=EAR, poses=((0.0, 0.0, 0.0),)):
    """Readings (robots,) of one world."""
    return bench(SBot(), poses, things, sensors=[ear]).readings["a"]["microphone"][0, :, 0]


def loud(poses, part, ear=EAR, things=()):
    group = Group(SBot(), len(poses), "a", tuple(At(*pose) for pose in poses), (ear,), actuators=(part,))
    return Simulation(World(contact=Contact("none"), things=things, groups=(group,))).readings["a"]["microphone"][0, :, 0]


@pytest.mark.parametrize("x, reading", [(1.0, 0.4621), (2.0, 0.7616), (4.0, 0.9640)])
def test_saturation_has_the_digest_s_values(x, reading):
    assert hear([Speaker(1.0, 0.0, intensity=x)])[0] == pytest.approx(reading, abs=1e-4)
    assert hear([Speaker(0.5, 0.0, intensity=x / 4)])[0] == pytest.approx(reading, abs=1e-4)


def test_sources_are_summed_before_they_saturate_and_all_sides_are_the_same():
    things = [Speaker(1.0, 0.0, intensity=0.7), Speaker(0.0, -2.0, 0.5, 1.2), Speaker(0.1, 0.1, on=False)]
    x = 0.7 + 1.2 / (4.0 + 0.4**2)
    for heading in (0.0, 1.0, 3.0):
        assert hear(things, poses=[(0, 0, heading)])[0] == pytest.approx(np.tanh(x / 2), abs=1e-12)
    assert hear([])[0] == 0.0


def test_a_wall_stops_light_but_no_sound():
    source = Speaker(1.0, 0.0)
    assert hear([source, Wall((0.5, -1, 0.5, 1), height=3.0)])[0] == hear([source])[0] > 0.0


def test_robots_with_loudspeakers_hear_the_others_and_not_themselves():
    assert loud([(0, 0, 0)], Loudspeaker())[0] == 0.0
    three = loud([(0, 0, 0), (0.5, 0, 0), (0, 1, 0)], Loudspeaker(0.25))
    np.testing.assert_allclose(three, np.tanh(0.5 * np.array([1.25, 1.0 + 0.25 / 1.25, 0.25 + 0.25 / 1.25])), atol=1e-12)
    assert loud([(0, 0, 0), (0.001, 0, 0)], Loudspeaker(1e-3))[0] == pytest.approx(np.tanh(0.5 * 1e-3 / 0.058**2))


def test_a_microphone_with_a_frequency_hears_only_its_band():
    things = [Speaker(1.0, 0.0, frequency=440.0), Speaker(0.0, 1.0, frequency=1000.0, intensity=0.5)]
    for frequency, width, x in ((None, 100, 0.75), (440, 100, 0.25), (1049, 100, 0.5), (1051, 100, 0.0), (720, 600, 0.75)):
        assert hear(things, Microphone(frequency, width, 0.0))[0] == pytest.approx(np.tanh(x / 2))
    assert loud([(0, 0, 0), (1, 0, 0)], Loudspeaker(frequency=300.0), Microphone(440.0, noise=0.0))[0] == 0.0


def test_noise_is_uniform_and_relative_to_the_reading():
    simulation = bench(SBot(), [(0, 0, 0)], [Speaker(0.5, 0.0)], sensors=[Microphone(noise=0.1)], worlds=5000)
    error = simulation.readings["a"]["microphone"][:, 0, 0] / np.tanh(0.5) - 1.0
    assert 0.099 < np.abs(error).max() <= 0.1 and error.std() == pytest.approx(0.1 / np.sqrt(3), rel=0.05)
    assert abs(error.mean()) < 0.005


def test_sources_are_read_from_a_file_written_again_and_a_mistake_is_named():
    file = """<world><speaker x="1" y="0" z="30cm" frequency="440"/><heater x="1" y="2" power="5"/>
<sbot><microphone frequency="440"/><loudspeaker intensity="0.1"/><thermometer/></sbot></world>"""
    world = read_text(file)
    assert world.things[0] == Speaker(1.0, 0.0, 0.3, frequency=440.0)
    assert world.groups[0].actuators == (Loudspeaker(0.1),)
    assert read_text(to_text(world)) == world
    with pytest.raises(WorldError, match=r"a.xml:1: <speaker> frequency: 0 is out of range"):
        read_text(file.replace('frequency="440"/><h', 'frequency="0"/><h'), "a.xml")


def test_the_laboratory_switches_speakers_and_heaters():
    """Through the console, as somebody would."""
    from tests.session.workspace import Workspace

    workspace = Workspace(read_text("""<world name="w"><arena width="3" depth="3"/>
<speaker x="0.5" y="0"/><heater x="0" y="1" power="10"/>
<sbot name="ears"><at x="0" y="0" heading="0"/><microphone noise="0"/><thermometer/></sbot></world>"""))

    def now():
        readings = workspace.session.sim.readings["ears"]
        return readings["microphone"][0, 0, 0], readings["thermometer"][0, 0, 0]

    assert now() == (pytest.approx(np.tanh(0.5)), pytest.approx(30.0))
    workspace.run("disable speaker")
    assert now() == (0.0, pytest.approx(30.0))
    workspace.run("toggle heater")
    assert now() == (0.0, 20.0)
    workspace.run("enable speaker heater")
    assert now() == (pytest.approx(np.tanh(0.5)), pytest.approx(30.0))


def test_each_world_of_a_batch_equals_that_world_alone():
    group = Group(SBot(), 6, "a", sensors=(Microphone(),), actuators=(Loudspeaker(),))
    world = World(things=(Arena(2.0, 2.0), Speaker(0.4, 0.5)), groups=(group,))
    batch = Simulation(world, 5, 3).readings["a"]["microphone"]
    for k in range(3):
        assert np.array_equal(Simulation(world, 5, 1, first_world=k).readings["a"]["microphone"][0], batch[k])
