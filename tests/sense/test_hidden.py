"""What hills and solids hide, cones that look in all directions, sensors that turn with a turret. [S3, 2.3.2, 3.2.1, 3.2.3]"""

from dataclasses import replace
from math import cos, pi, radians, sin

import numpy as np
import pytest
from numpy.testing import assert_allclose

from formiga.act.glow import Glow
from formiga.control import Orders
from formiga.engine.beams import SENSOR_HEIGHT
from formiga.engine.ground import height_at
from formiga.geometry import PLACE, TURN, from_euler, matrix
from formiga.loop import Simulation
from formiga.sense.light import Light
from formiga.sense.microphone import Microphone
from formiga.sense.omnicamera import Omnicamera
from formiga.sense.proximity import Proximity
from formiga.sense.thermometer import Thermometer
from formiga.world.ground import Platform, Terrain
from formiga.world.model import Arena, Contact, Cylinder, Group, Lamp, Wall, World
from formiga.world.placement import At
from formiga.world.reader import read_text
from formiga.world.robots import SBot
from formiga.world.solids import Solid
from formiga.world.sources import LED, Heater, Speaker
from tests.reference import sight

RADIUS, HEIGHT = SBot().radius, SBot().height
AHEAD = Light(angles=(0.0,), noise=0.0)
FAR = Solid((0.1, 0.1, 0.1), x=40.0, fixed=True, name="far")  # makes rays those of space


def lab(poses, sensors, things=(), actuators=(), engine="spatial", **more):
    group = Group(SBot(), len(poses), "a", tuple(At(*map(float, pose)) for pose in poses), tuple(sensors),
                  actuators=tuple(actuators))
    return Simulation(World(engine=engine, contact=Contact("none"), things=tuple(things), groups=(group,)), **more)


def brightness(sim, robot=0):
    """The sum of light behind the reading of the first sensor."""
    return 2.0 * np.arctanh(sim.readings["a"]["light"][0, robot, 0])


# -- lights -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("tall, seen", [(0.19, True), (0.21, False)])
def test_a_platform_and_a_solid_hide_a_lamp_exactly_when_they_rise_above_the_ray(tall, seen):
    """From 0.1 m high to a lamp at 0.3 m: half way the ray is 0.2 m high."""
    lamp = Lamp(1.0, 0.0, 0.3)
    for thing in (Platform(0.5, 0.0, 0.001, 0.2, tall), Solid((0.001, 0.2, tall), x=0.5, fixed=True)):
        sim = lab([(0, 0, 0)], [AHEAD, Omnicamera(name="all")], [thing, lamp])
        assert brightness(sim) == pytest.approx(0.25 / 1.04 if seen else 0.0, rel=1e-3)
        assert sim.readings["a"]["all"].any() == seen


def test_a_lamp_under_a_raised_solid_is_seen_and_a_solid_that_falls_hides_it():
    """A free slab 0.5 m up, between robot and lamp: light passes below it until it has fallen."""
    slab = Solid((0.02, 0.4, 0.4), x=0.5, z=0.7, mass=1.0)
    sim = lab([(0, 0, 0)], [AHEAD], [slab, Lamp(1.0, 0.0, 0.3)])
    assert brightness(sim) == pytest.approx(0.25 / 1.04, rel=1e-3)
    for _ in range(6):
        sim.step()
    assert brightness(sim) == 0.0


def random_scene(rng):
    """Robots with LEDs and a glow, lamps, and solids that float among them; the solids once more for the twin."""
    things, twins = [Lamp(*rng.uniform(-1.0, 1.0, 2), rng.uniform(0.05, 0.5)) for _ in range(6)], []
    for number in range(8):
        place, angles, size = rng.uniform((-1, -1, 0.05), (1, 1, 0.4)), rng.uniform(-pi, pi, 3), rng.uniform(0.05, 0.5, 3)
        turn = matrix(np.array([from_euler(*angles)]))[0]
        shape = ("box", "sphere", "cylinder")[number % 3]
        own = {"box": size, "sphere": size[:1], "cylinder": size[:2]}[shape]
        things.append(Solid(tuple(own), shape, *place, *angles, fixed=True, name=f"s{number}"))
        twins.append(sight.box(place, size, turn) if shape == "box" else sight.sphere(place, size[0]) if shape == "sphere"
                     else sight.cylinder(place - turn[:, 2] * size[1] / 2, size[0] / 2, size[1], turn))
    return things, twins


def test_lights_among_solids_match_following_every_ray_point_by_point():
    rng, found = np.random.default_rng(8), {True: 0, False: 0}
    for _ in range(3):
        things, twins = random_scene(rng)
        poses, colours = rng.uniform((-1, -1, -pi), (1, 1, pi), (6, 3)), rng.integers(0, 256, (6, 8, 3))
        sim = lab(poses, [Light(noise=0.0)], things, [Glow(0.02)])
        sim.state.leds[0] = colours
        sources = [((lamp.x, lamp.y, lamp.z), lamp.intensity, None, None) for lamp in things if isinstance(lamp, Lamp)]
        for j, (x, y, heading) in enumerate(poses):
            sources.append(((x, y, HEIGHT), 0.02, j, None))
            for k in range(8):
                out = np.array([np.cos(angle := heading + (k + 0.5) * pi / 4), np.sin(angle), 0.0])
                sources.append((np.array([x, y, 0.6 * HEIGHT]) + RADIUS * out, LED * colours[j, k].mean() / 255, j, out))
        bodies = [sight.cylinder((x, y, 0.0), RADIUS, HEIGHT, np.eye(3)) for x, y, _ in poses]
        for i, (x, y, heading) in enumerate(poses):
            if any(inside(np.array([[x, y, HEIGHT]])).any() for inside in twins):
                continue  # a robot in a solid: it is there by chance, and sees what is in there
            total = np.zeros(8)
            for place, strength, j, out in sources:
                way = np.subtract(place, (x, y, HEIGHT))
                if j == i or (out is not None and way @ out >= 0.0):
                    continue
                others = [body for k, body in enumerate(bodies) if k not in (i, j)]
                stopped = sight.hidden((x, y, HEIGHT), place, [*twins, *others])
                found[stopped] += 1
                facing = np.cos(np.arctan2(way[1], way[0]) - heading - np.array(Light().angles))
                total += 0.0 if stopped else np.maximum(0.0, facing) * strength / max(np.linalg.norm(way), RADIUS) ** 2
            assert_allclose(sim.readings["a"]["light"][0, i], np.tanh(0.5 * total), atol=1e-9)
    assert min(found.values()) > 100


def test_hills_hide_lamps_as_the_ground_between_says():
    """Steep hills, and lamps just above them: the twin asks the height of the ground at 4000 points of each ray."""
    rng = np.random.default_rng(5)
    ground = World(engine="spatial", things=(Terrain(3.0, 3.0, 0.4, 0.8, 3),))
    lamps = [Lamp(x, y, height_at(ground, x, y) + 0.1) for x, y in rng.uniform(-1.2, 1.2, (12, 2))]
    hills, count = sight.below(lambda x, y: height_at(ground, x, y) - 1e-4), {True: 0, False: 0}
    for place in rng.uniform(-1.0, 1.0, (5, 2)):
        sim = lab([(*place, 0.3)], [Omnicamera(mode="list", reach=4.0, name="all")], [*ground.things, *lamps])
        pose = sim.state.bodies[0, sim.model.chassis[0]]
        eye = pose[PLACE] + HEIGHT * matrix(pose[None, TURN])[0, :, 2]
        free = [not sight.hidden(eye, (lamp.x, lamp.y, lamp.z), [hills]) for lamp in lamps]
        assert (sim.readings["a"]["all"][0, 0, :, 2] > 0.0).sum() == sum(free)
        count[True] += sum(free)
        count[False] += len(free) - sum(free)
    assert min(count.values()) > 10


def test_over_a_level_floor_the_rays_of_space_see_what_those_from_above_see():
    """A solid far away makes the rays MuJoCo's."""
    rng = np.random.default_rng(2)
    things = [Arena(2.0, 2.0, height=0.2), Wall((-0.5, 0.1, 0.6, 0.3), 0.25), Cylinder(0.3, -0.4, 0.1, 0.2),
              *(Lamp(*rng.uniform(-0.9, 0.9, 2), z) for z in (0.05, 0.15, 0.3, 0.6))]
    poses, sensors = rng.uniform((-0.9, -0.9, -pi), (0.9, 0.9, pi), (8, 3)), [Light(noise=0.0), Omnicamera(name="all")]
    both = [lab(poses, sensors, [*things, *more], [Glow()]) for more in ([], [FAR])]
    for sim in both:
        sim.state.leds[0] = np.arange(8 * 8 * 3).reshape(8, 8, 3)
    assert both[0].model.level and not both[1].model.level
    for name in ("light", "all"):
        assert_allclose(*(sim.readings["a"][name] for sim in both), atol=1e-9)
    assert (both[0].readings["a"]["light"] > 0.0).mean() > 0.3


def test_on_a_platform_a_robot_hears_and_feels_from_the_height_of_its_top():
    """0.4 m up, the top 0.5 m high: the speaker 0.3 m ahead at 0.1 m is 0.5 m away."""
    table = Platform(0.0, 0.0, 0.3, 0.3, 0.4)
    sim = lab([(0, 0, 0)], [Microphone(noise=0.0), Thermometer()], [table, Speaker(0.3, 0.0, 0.1), Heater(0.3, 0.0, 0.1)])
    assert sim.readings["a"]["microphone"][0, 0, 0] == pytest.approx(np.tanh(0.5), rel=2e-3)
    assert sim.readings["a"]["thermometer"][0, 0, 0] == pytest.approx(20.0 + Heater(0, 0).power / 0.25, rel=2e-3)


# -- cones ------------------------------------------------------------------------------------------------------------------
def ceiling(above):
    """The underside of this solid is so far above the plane of the sensors."""
    return Solid((2.0, 2.0, 0.02), z=SENSOR_HEIGHT * HEIGHT + above + 0.01, fixed=True)


def test_a_cone_sees_what_is_above_and_below_its_axis_and_a_ray_does_not():
    """Eight rays at 20 degrees: the steepest meets a ceiling after h / sin(20 degrees). None sees the level floor."""
    one = {"angles": (0.0,), "reach": 0.2, "response": "linear", "noise": (0.0,), "share": 0.0}
    cone, ray = Proximity(technique="cone", name="cone", **one), Proximity(name="ray", **one)
    sim = lab([(0, 0, 0)], [cone, ray], [ceiling(0.05)])
    assert sim.readings["a"]["cone"][0, 0, 0] == pytest.approx(1.0 - 0.05 / sin(radians(20.0)) / 0.2)
    assert sim.readings["a"]["ray"][0, 0, 0] == 0.0
    low = Solid((0.02, 0.3, 0.02), x=RADIUS + 0.1, fixed=True)            # below the axis, above the floor
    sim = lab([(0, 0, 0)], [cone, ray], [low])
    assert sim.readings["a"]["cone"][0, 0, 0] > 0.0 == sim.readings["a"]["ray"][0, 0, 0]
    assert lab([(0, 0, 0)], [cone], [FAR]).readings["a"]["cone"][0, 0, 0] == 0.0


@pytest.mark.parametrize("aside, up", [(0, 20), (0, -10), (20, 0), (-10, 0), (14.2, 14.0), (-14.2, -14.0)])
def test_a_cone_has_rays_in_all_its_directions(aside, up):
    """A small ball 10 cm from the sensor in the direction of one of them. A flat fan has five."""
    aside, up, high = radians(aside), radians(up), SENSOR_HEIGHT * HEIGHT + 0.05
    x, y, z = np.array([RADIUS, 0.0, high]) + 0.1 * np.array([cos(up) * cos(aside), cos(up) * sin(aside), sin(up)])
    cone = Proximity(angles=(0.0,), technique="cone", response="linear", noise=(0.0,), share=0.0, z=high)
    sim = lab([(0, 0, 0)], [cone], [Solid((0.004,), "sphere", x, y, z, fixed=True)])
    assert sim.readings["a"]["proximity"][0, 0, 0] == pytest.approx(1.0 - 0.098 / 0.15, abs=2e-3)


def test_a_ray_that_moves_finds_a_ceiling_as_often_as_it_covers_the_cone():
    """The share of the cone whose rays rise by 0.05 m within 0.2 m, by counting a fine raster of it."""
    moving = Proximity(angles=(0.0,), reach=0.2, response="linear", noise=(0.0,), share=0.0, technique="moving")
    sim = lab([(0, 0, 0)], [moving], [ceiling(0.05)], worlds=400)
    found = (sim.readings["a"]["proximity"] > 0.0).mean()
    off = radians(20.0) * np.sqrt((np.arange(500) + 0.5) / 500)
    around = (np.arange(720) + 0.5) * 2.0 * pi / 720
    share = (np.sin(off)[:, None] * np.sin(around) > 0.05 / 0.2).mean()
    assert 0.05 < share < 0.3 and found == pytest.approx(share, abs=4.0 * np.sqrt(share / 400))


# -- the turret -------------------------------------------------------------------------------------------------------------
SEEN = (Light(noise=0.0, on="turret"), Omnicamera(name="all", on="turret"),
        *(Proximity(technique=technique, on="turret", noise=(0.0,), name=technique) for technique in ("ray", "cone")))


@pytest.mark.parametrize("level", [True, False])
def test_sensors_on_a_turret_read_what_those_of_a_robot_read_that_turned_as_a_whole(level, tmp_path):
    samples = tmp_path / "ear.csv"
    samples.write_text("".join(f"{d},{a},{0.5 + 0.4 * np.cos(a)}\n" for d in (0.0, 3.0) for a in np.arange(12) * pi / 6))
    others = [Proximity(technique=each, on="turret", noise=(0.0,), name=each) for each in ("shadow", "sampling")]
    sensors = [*SEEN, Microphone(noise=0.0, samples=str(samples), on="turret"), *(others if level else [])]
    things = [Arena(1.0, 1.0), Lamp(0.4, 0.3), Cylinder(0.1, 0.12, 0.03), Speaker(-0.3, 0.1), *([] if level else [FAR])]
    sim = lab([(0, 0, 0.4), (-0.15, -0.1, 1.0)], sensors, things)
    for _ in range(12):
        sim.step({"a": Orders(np.zeros((1, 2, 2)), np.array([[[1.0, 0.0, 0.0], [-0.7, 0.0, 0.0]]]))})
    turned = sim.state.heading[0] + sim.state.joint_position[0, :, 0]
    assert (np.abs(sim.state.joint_position[0, :, 0]) > 0.5).all()
    plain = [replace(sensor, on="chassis") for sensor in sensors]
    whole = lab([(*place, heading) for place, heading in zip(sim.state.position[0], turned, strict=True)], plain, things)
    for sensor in sensors:
        assert_allclose(sim.readings["a"][sensor.name], whole.readings["a"][sensor.name], atol=2e-4, err_msg=sensor.name)
        assert sim.readings["a"][sensor.name].any()


@pytest.mark.parametrize("tag", ["light", "microphone", "omnicamera", "proximity"])
def test_in_the_plane_there_is_no_turret_to_carry_a_sensor(tag):
    with pytest.raises(Exception, match=rf'<text>:2: <{tag}> .* need three dimensions: engine="spatial"'):
        Simulation(read_text(f'<world><sbot>\n<{tag} on="turret"/></sbot></world>'))
