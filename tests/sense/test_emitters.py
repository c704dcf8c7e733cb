"""What shines and sounds by order or by the clock: LEDs, loudspeakers, sources that are switched. [S3, 3.1, 3.2.3, 3.2.4]"""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from formiga.act.leds import Leds
from formiga.act.loudspeaker import Loudspeaker
from formiga.control import Orders
from formiga.control.shares import Shares
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.rollout import rollout
from formiga.sense.light import Light
from formiga.sense.microphone import Microphone
from formiga.world.model import Contact, Group, Lamp, Wall, World
from formiga.world.placement import At
from formiga.world.reader import read_text
from formiga.world.robots import SBot
from formiga.world.sources import LED, Heater, Speaker, as_at
from formiga.world.writer import to_text
from tests.session.workspace import Workspace

RADIUS, HEIGHT = SBot().radius, SBot().height
AHEAD = Light(angles=(0.0,), noise=0.0)
EAR = Microphone(noise=0.0, reads="both")


def lab(poses, sensors, actuators=(), things=(), worlds=1, **more):
    group = Group(SBot(), len(poses), "a", tuple(At(*map(float, pose)) for pose in poses), tuple(sensors),
                  actuators=tuple(actuators))
    return Simulation(World(contact=Contact("none"), things=tuple(things), groups=(group,)), worlds=worlds, **more)


def leds_of(place, heading, colours, eye):
    """The light of the LEDs that an eye sees, one by one: those whose side of the rim is turned to it."""
    x = 0.0
    for k, colour in enumerate(colours):
        angle = heading + (k + 0.5) * np.pi / 4
        outward = np.array([np.cos(angle), np.sin(angle), 0.0])
        way = np.array([*place, 0.6 * HEIGHT]) + RADIUS * outward - [*eye, HEIGHT]
        if way @ outward < 0.0:
            x += LED * np.mean(colour) / 255 * max(0.0, way[0] / np.hypot(way[0], way[1])) / (way @ way)
    return x


# -- LEDs -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("engine", ["planar", "spatial"])
def test_light_sensors_see_lit_leds_of_others_that_face_them(engine):
    colours = np.random.default_rng(3).integers(0, 256, (8, 3))
    sim = lab([(0, 0, 0), (0.3, 0.05, 2.0)], [AHEAD], engine=engine)
    assert sim.readings["a"]["light"].max() == 0.0
    sim.step({"a": Orders(leds=np.array([[np.zeros((8, 3)), colours]]))})
    expected = np.tanh(0.5 * leds_of((0.3, 0.05), 2.0, colours, (0, 0)))
    assert expected > 0.01
    assert_allclose(sim.readings["a"]["light"][0, 0, 0], expected, rtol=1e-9)


def test_walls_hide_leds_and_leds_says_how_bright_they_are():
    poses, white = [(0, 0, 0), (0.3, 0, 0)], np.full((1, 2, 8, 3), 255)
    readings = []
    for actuators, things in (((), ()), ((Leds(0.02),), ()), ((Leds(0.0),), ()), ((), (Wall((0.15, -1.0, 0.15, 1.0), 0.3),))):
        sim = lab(poses, [AHEAD], actuators, things)
        sim.step({"a": Orders(leds=white)})
        readings.append(2.0 * np.arctanh(sim.readings["a"]["light"][0, 0, 0]))
    assert readings[0] > 0.0 and readings[1] == pytest.approx(0.02 / LED * readings[0]) and readings[2:] == [0.0, 0.0]


@pytest.mark.parametrize(("robot", "message"), [
    ("<sbot><leds/>\n<leds/></sbot>", "<text>:2: second <leds>; the first is at line 1"),
    ('<disc radius="0.1" wheel_base="0.1" top_speed="0.1">\n<leds/></disc>', "<text>:2: <leds>: a <disc> has no LEDs"),
])
def test_leds_that_would_do_nothing_are_refused(robot, message):
    with pytest.raises(WorldError, match=message):
        read_text(f"<world>{robot}</world>")


def test_compiled_steps_see_leds_as_the_readable_loop_does():
    text = """<world><arena width="1" depth="1"/><sbot count="5" name="a"><scatter/><light/><proximity/><braitenberg/></sbot>
    </world>"""
    both = [Simulation(read_text(text), 3, 2, compiled=compiled) for compiled in (True, False)]
    for sim in both:
        sim.state.leds[...] = np.arange(5 * 8 * 3).reshape(5, 8, 3)
        for _ in range(5):
            sim.step()
    assert both[0].readings["a"]["light"].any()
    assert_array_equal(both[0].readings["a"]["light"], both[1].readings["a"]["light"])


# -- sound ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("engine", ["planar", "spatial"])
def test_a_robot_is_heard_with_the_intensity_and_the_frequency_that_it_was_ordered(engine):
    sim = lab([(0, 0, 0), (0.5, 0, 0), (0, 1, 0)], [EAR], [Loudspeaker(0.1, 800.0)], worlds=2, engine=engine)
    reading = sim.readings["a"]["microphone"][0]
    assert_allclose(reading[0], [np.tanh(0.5 * (0.1 / 0.25 + 0.1)), 800.0])
    sound = np.full((2, 3, 1, 2), np.nan)
    sound[:, 2, 0] = 0.8, 440.0
    sim.step({"a": Orders(sound=sound)})
    sim.step()                                   # what was ordered lasts
    assert_allclose(sim.readings["a"]["microphone"][1, 0], [np.tanh(0.5 * (0.4 + 0.8)), 440.0])
    assert_allclose(sim.readings["a"]["microphone"][1, 2, 1], 800.0)
    sim.step({"a": Orders(sound=np.zeros((2, 3, 1, 2)))})
    assert_array_equal(sim.readings["a"]["microphone"], 0.0)


def test_two_loudspeakers_take_two_orders_and_a_microphone_hears_its_band():
    band = Microphone(440.0, 20.0, 0.0, "low")
    sim = lab([(0, 0, 0), (0.5, 0, 0)], [EAR, band], [Loudspeaker(0.1, 800.0), Loudspeaker(0.05, 440.0)])
    assert sim.state.sound.shape == (1, 2, 2, 2)
    assert_allclose(sim.readings["a"]["low"][0, 0], np.tanh(0.5 * 0.2))
    sim.step({"a": Orders(sound=np.array([[[[0.1, 445.0], [0.05, 449.0]]] * 2]).reshape(1, 2, 2, 2))})
    assert_allclose(sim.readings["a"]["low"][0, 0], np.tanh(0.5 * 0.6))
    assert_allclose(sim.readings["a"]["microphone"][0, 0], [np.tanh(0.3), 445.0])


def test_networks_and_environments_order_the_loudness_of_each_loudspeaker():
    """An output of 0.5, that of a network without weights, is half the intensity; the shares of a learner go from 0 to 1."""
    text = """<world><sbot name="a"><at x="0" y="0" heading="0"/><at x="0.5" y="0" heading="0"/><microphone noise="0"/>
    <loudspeaker intensity="0.2" frequency="300"/><loudspeaker intensity="0.1" frequency="500"/>
    <perceptron inputs="microphone" outputs="drive sound"/></sbot></world>"""
    sim = Simulation(read_text(text), genotypes={"a": np.zeros(4 * 2)})
    sim.step()
    assert_array_equal(sim.state.sound[0, :], [[[0.1, 300.0], [0.05, 500.0]]] * 2)
    assert_allclose(sim.readings["a"]["microphone"][0, 0, 0], np.tanh(0.5 * 0.15 / 0.25))
    shares = Shares(sim.world.groups[0], ("sound",), "")
    assert (shares.names, shares.low.tolist()) == (("sound[0]", "sound[1]"), [0.0, 0.0])
    assert_array_equal(shares.orders(np.array([[[2.0, -1.0]] * 2])).sound[0, 0], [[0.2, 300.0], [0.0, 500.0]])


@pytest.mark.parametrize("sound, message", [
    (np.zeros((1, 1, 2)), r"the shape \(worlds, robots, loudspeakers, 2\) = \(1, 1, 1, 2\)"),
    (np.array([[[[-1.0, 440.0]]]]), "the intensity that robot 0 is told is -1; it must be 0 or more"),
    (np.array([[[[1.0, np.inf]]]]), "the frequency that robot 0 is told is inf"),
])
def test_wrong_sounds_are_refused(sound, message):
    with pytest.raises(WorldError, match=message):
        lab([(0, 0, 0)], [EAR], [Loudspeaker()]).step({"a": Orders(sound=sound)})
    with pytest.raises(WorldError, match="have no <loudspeaker>"):
        lab([(0, 0, 0)], [EAR]).step({"a": Orders(sound=sound)})


def test_the_console_and_keys_order_lights_and_sounds_by_name():
    workspace = Workspace(read_text("""<world><sbot name="a"><at x="0" y="0" heading="0"/><at x="0.5" y="0" heading="0"/>
        <microphone reads="both" noise="0"/><loudspeaker/></sbot><bind key="h" run="out a.0.frequency 300"/></world>"""))
    workspace.run("out a.0.sound 0.5; out a.1.red_3 0.2; out a.1.red 1")
    workspace.session.console.press("h")
    workspace.steps(1)
    session = workspace.session
    state = session.sim.state
    assert_array_equal(state.sound[0, 0, 0], [0.5, 300.0])
    assert np.isnan(state.sound[0, 1]).all() and session.sim.readings["a"]["microphone"][0, 1, 1] == 300.0
    assert_array_equal(state.leds[0, 1, :, 0], [255, 255, 51, 255, 255, 255, 255, 255])
    assert not state.leds[0, 0].any() and not state.leds[0, 1, :, 1:].any()
    assert "VALUE" in workspace.refused("out a.0.red 2") and "VALUE" in workspace.refused("out a.0.sound -1")
    assert "has no wheel, joint, light or sound 'sound_2'" in workspace.refused("out a.0.sound_2 1")


# -- by the clock -----------------------------------------------------------------------------------------------------------
SWITCHED = """<world dt="0.1"><lamp x="0.5" y="0" switched="0.3s 0.5s"/><speaker x="0.5" y="0" on="false" switched="200ms"/>
<heater x="1" y="0" switched="0.4"/><sbot name="a"><at x="0" y="0" heading="0"/><light noise="0" angles="0"/>
<microphone noise="0"/><thermometer/><omnicamera/></sbot></world>"""


@pytest.mark.parametrize("engine", ["planar", "spatial"])
def test_a_world_file_switches_lamps_speakers_and_heaters_at_their_times(engine):
    sim, seen = Simulation(read_text(SWITCHED), engine=engine), []
    for _ in range(7):
        reading = {name: float(np.max(values)) for name, values in sim.readings["a"].items()}
        seen.append((reading["light"] > 0, reading["omnicamera"] > 0, reading["microphone"] > 0, reading["thermometer"] > 20.5))
        sim.step()
    lamp = [True, True, True, False, False, True, True]
    assert seen == list(zip(lamp, lamp, [k >= 2 for k in range(7)], [k < 4 for k in range(7)], strict=True))


def test_switched_worlds_are_written_and_saved_with_what_is_still_to_come():
    world = read_text(SWITCHED)
    assert to_text(world) == to_text(read_text(to_text(world)))
    lamp, speaker, heater = as_at(world, 0.4).things
    assert (lamp.on, lamp.switched, speaker.on, speaker.switched, heater.on) == (False, pytest.approx((0.1,)), True, (), False)
    with pytest.raises(WorldError, match=r"<text>:1: <lamp> switched: times must ascend; 1 s comes after 2 s"):
        read_text('<world><lamp x="0" y="0" switched="2 1"/></world>')


def test_switching_by_hand_ends_the_clock_s():
    workspace = Workspace(read_text(SWITCHED))
    session = workspace.session
    workspace.steps(4)
    assert not session.sim.readings["a"]["light"].any() and workspace.run("get lamp.on") == "false"
    workspace.run("toggle lamp")
    assert session.sim.readings["a"]["light"].any() and session.world.things[0].switched == ()
    workspace.run("disable speaker")
    workspace.steps(10)
    assert session.sim.readings["a"]["light"].any() and not session.sim.readings["a"]["microphone"].any()


def test_a_fitness_of_light_counts_a_lamp_only_while_it_is_on():
    """One still robot 0.5 m from a lamp that is on for 4 of 10 steps, as rewarded after each: x = 1."""
    text = """<world dt="0.1"><lamp x="0.5" y="0" switched="0.5"/><fitness of="light"/>
    <sbot name="a"><at x="0" y="0" heading="0"/><proximity/><mlp/></sbot></world>"""
    world = read_text(text)
    still = rollout(world, np.zeros((1, 146)), 1, 1, 1.0).fitness
    assert_allclose(still, 0.4 * np.tanh(0.5), rtol=0.2)


# -- samples ----------------------------------------------------------------------------------------------------------------
def csv(path, reading):
    """A file of samples at 5 distances and 8 angles."""
    rows = [(d, a, reading(d, a)) for a in np.arange(8) * np.pi / 4 for d in (0.1, 0.2, 0.5, 1.0, 2.0)]
    path.write_text("distance,angle,reading\n" + "\n".join(",".join(map(repr, map(float, row))) for row in rows))
    return str(path)


def sharp(d, a):
    return (0.9 - 0.3 * d) * max(0.0, np.cos(a)) ** 2


@pytest.mark.parametrize("engine", ["planar", "spatial"])
@pytest.mark.parametrize("source, sensor, name", [(Lamp, Light, "light"), (Speaker, Microphone, "microphone")])
def test_one_source_is_read_as_it_was_sampled_and_several_add_up_before_saturation(tmp_path, source, sensor, name, engine):
    path = csv(tmp_path / "samples.csv", sharp)
    given = {"samples": path, "noise": 0.0} | ({"angles": (0.0,)} if name == "light" else {})

    def read(*things):
        return lab([(0, 0, np.pi / 4)], [sensor(**given)], things=things, engine=engine).readings["a"][name][0, 0, 0]

    ahead, aside = source(0.5 / np.sqrt(2), 0.5 / np.sqrt(2)), source(1.0, 0.0)
    assert read(ahead) == pytest.approx(sharp(0.5, 0.0), abs=0.003)
    assert read(aside) == pytest.approx(sharp(1.0, np.pi / 4), abs=0.01)
    assert read(ahead, aside) == pytest.approx(np.tanh(np.arctanh(read(ahead)) + np.arctanh(read(aside))))
    assert read(replace(ahead, intensity=0.5)) == pytest.approx(np.tanh(2 * np.arctanh(read(ahead))))
    assert read(source(2.0, 2.0)) == 0.0                                       # further than was sampled


def test_sampled_light_is_hidden_by_walls_and_sampled_sound_is_not(tmp_path):
    path = csv(tmp_path / "samples.csv", sharp)
    wall, both = Wall((0.3, -1.0, 0.3, 1.0), 0.5), (Light(samples=path), Microphone(samples=path))
    reading = lab([(0, 0, 0)], both, things=(wall, Lamp(0.6, 0), Speaker(0.6, 0))).readings["a"]
    assert not reading["light"].any() and reading["microphone"].all()


@pytest.mark.parametrize("text, message", [
    ("0,0,0.5\n1,0,0.2\n0,1,0.1\n", "one reading for each pair .* found 3 readings of 2 distances and 2 angles"),
    ("0,0,0.5\n", "at least two distances"),
    ("0,0,0.5\n1,0,1.0\n", "a reading is from 0 to below 1, not 1"),
    ("-1,0,0.5\n1,0,0.1\n", "a distance of -1 m is below 0"),
    ("0,0,0.5\n0,7,0.5\n1,0,0.1\n1,7,0.1\n", "go around more than once"),
    ("0,0.5\n", r":1: '0,0.5' is not 'distance in m, angle in rad, reading'"),
])
def test_a_file_that_is_no_table_is_refused_before_the_first_step(tmp_path, text, message):
    (tmp_path / "samples.csv").write_text(text)
    for tag in ("light", "microphone"):
        (tmp_path / "mine.xml").write_text(f'<world>\n<sbot><{tag} samples="samples.csv"/></sbot></world>')
        with pytest.raises(WorldError, match=rf"mine.xml:2: .*samples.csv.*{message}"):
            Simulation(str(tmp_path / "mine.xml"))


def test_a_heater_and_a_lamp_without_times_are_as_they_were():
    assert Heater(1.0, 0.0).switched == () and Lamp(1.0, 0.0).switched == ()


def test_the_world_signals_shows_them_all_by_its_own_script():
    """After 40 s its lamp is out, and the caller is lit and heard at 440 Hz."""
    workspace = Workspace("signals")
    workspace.steps(399)
    session = workspace.session
    assert not session.sim.state.leds.any() and not session.sim.readings["swarm"]["microphone"].any()
    assert workspace.run("get lamp.on") == "true"
    workspace.steps(3)
    assert workspace.run("get lamp.on") == "false" and (session.sim.state.leds[0, 0, :, 0] == 255).all()
    assert_array_equal(session.sim.readings["swarm"]["microphone"][0, :, 1], 440.0)
