"""Light sensors: inverse square, saturation, what hides what, noise. [S3, acceptance 2]"""

import numpy as np
import pytest

from formiga.act.glow import Glow
from formiga.engine.flatten import flatten
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.sense.light import Light, photodiodes
from formiga.units import DEG
from formiga.world.model import Arena, Contact, Cylinder, Cylinders, Group, Lamp, Polygon, Rectangle, Wall, World
from formiga.world.placement import At
from formiga.world.reader import read_text
from formiga.world.robots import Disc, SBot
from formiga.world.writer import to_text
from tests.reference import light as reference
from tests.reference.lab import bench, put

AHEAD = Light(angles=(0.0,), noise=0.0)


def saturated(x):
    return 2.0 / (1.0 + np.exp(-x)) - 1.0


def summed(reading):
    """The light before it was saturated."""
    return np.log((1.0 + reading) / (1.0 - reading))


def look(things, sensor=AHEAD, poses=((0.0, 0.0, 0.0),), robot=None):
    """Readings (robots, sensors) of one world."""
    return bench(robot or SBot(), poses, things, sensors=[sensor]).readings["a"]["light"][0]


def disc(height=0.1, radius=0.05):
    return Disc(radius, 0.1, 0.1, height=height)


def glowing(*groups, things=()):
    """Groups (robot, poses, sensors, intensity) called 'a', 'b' ...; intensity None: no <glow>."""
    made = tuple(Group(robot, len(poses), name, tuple(At(*map(float, pose)) for pose in poses), tuple(sensors),
                       actuators=() if intensity is None else (Glow(intensity),))
                 for name, (robot, poses, sensors, intensity) in zip("abc", groups))
    return Simulation(World(contact=Contact("none"), things=tuple(things), groups=made))


# -- how bright ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("x, reading", [(1.0, 0.4621), (2.0, 0.7616), (4.0, 0.9640)])
def test_saturation_has_the_digest_s_values(x, reading):
    assert look([Lamp(1.0, 0.0, intensity=x)])[0, 0] == pytest.approx(reading, abs=1e-4)


def test_a_lamp_of_the_default_intensity_counts_one_at_half_a_metre():
    assert look([Lamp(0.5, 0.0)])[0, 0] == pytest.approx(saturated(1.0), abs=1e-12)


def test_light_falls_with_the_square_of_the_distance_in_space():
    for flat, z in ((0.5, 0.1), (1.0, 0.1), (2.0, 0.1), (0.3, 0.5), (4.0, 3.1)):
        x = summed(look([Lamp(flat, 0.0, z, 0.7)])[0, 0])
        assert x == pytest.approx(0.7 / (flat**2 + (z - 0.1) ** 2), rel=1e-9)


def test_lamps_are_summed_before_they_saturate():
    one, other = Lamp(1.0, 0.0, intensity=1.5), Lamp(0.6, 0.0, intensity=0.9)
    assert look([one, other])[0, 0] == pytest.approx(saturated(1.5 + 0.9 / 0.36), abs=1e-12)
    assert look([one, other])[0, 0] < look([one])[0, 0] + look([other])[0, 0]


def test_a_robot_at_the_very_place_of_a_lamp_takes_it_as_one_radius_away():
    for x in (0.0, 0.001, 0.05):
        assert look([Lamp(x, 0.0, 0.1, 0.01)], robot=disc(radius=0.05))[0, 0] == pytest.approx(saturated(0.01 / 0.05**2))
    assert look([Lamp(0.0, 0.0, 0.3)], Light(noise=0.0))[0] == pytest.approx(saturated(0.25 / 0.2**2))  # no bearing


def test_a_sensor_weighs_a_lamp_by_the_cosine_and_sees_nothing_behind_it():
    sensor = Light(noise=0.0)
    for bearing in (0.0, 0.3, 1.9, -2.5):
        reading = look([Lamp(np.cos(bearing), np.sin(bearing), intensity=0.8)], sensor, [(0, 0, 0.7)])[0]
        facing = np.maximum(0.0, np.cos(bearing - 0.7 - np.array(sensor.angles)))
        np.testing.assert_allclose(reading, saturated(0.8 * facing), atol=1e-12)


def test_the_ring_has_eight_sensors_between_the_eight_winds_and_its_first_half_is_on_the_left():
    np.testing.assert_allclose(np.degrees(Light().angles), 22.5 + 45 * np.arange(8))
    reading = look([Lamp(0.0, 1.0)], Light(noise=0.0))[0]
    assert (reading[:4] > 0.0).all() and (reading[4:] == 0.0).all()
    assert reading[1] == pytest.approx(reading[2]) and reading[1] > reading[0]


def test_darkness_reads_zero_and_full_light_one():
    assert not look([]).any() and not look([Lamp(1.0, 0.0, on=False), Lamp(1.0, 0.0, intensity=0.0)]).any()
    assert look([Lamp(1.0, 0.0, intensity=1e9)])[0, 0] == 1.0 == Light().full


def test_reach_is_measured_over_the_floor():
    near = Light(angles=(0.0,), noise=0.0, reach=1.0)
    for lamp, seen in ((Lamp(1.0, 0.0), True), (Lamp(1.0 + 1e-9, 0.0), False), (Lamp(0.99, 0.0, 5.0), True)):
        assert (look([lamp], near)[0, 0] > 0.0) == seen
    assert look([Lamp(9.9, 0.0)])[0, 0] > 0.0 and look([Lamp(10.1, 0.0)])[0, 0] == 0.0


# -- what hides what ---------------------------------------------------------------------------------------------------
ACROSS = {"wall": Wall((0.5, -0.5, 0.5, 0.5)), "rectangle": Rectangle(0.5, 0.0, 0.2, 0.2, 0.4),
          "polygon": Polygon((0.4, -0.1, 0.6, 0.0, 0.4, 0.1)), "cylinder": Cylinder(0.5, 0.0, 0.05)}


@pytest.mark.parametrize("thing", ACROSS.values(), ids=ACROSS)
def test_what_stands_in_between_leaves_nothing_of_the_light(thing):
    assert look([Lamp(1.0, 0.0)])[0, 0] > 0.1
    assert look([Lamp(1.0, 0.0), thing])[0, 0] == 0.0
    assert look([Lamp(0.3, 0.0), thing])[0, 0] > 0.1  # behind the lamp
    assert look([Lamp(1.0, 0.0), thing], poses=[(0.0, 1.5, -np.arctan2(1.5, 1.0))])[0, 0] > 0.01  # beside the ray


def test_a_wall_hides_a_lamp_exactly_as_far_as_it_is_higher_than_the_ray():
    """From 0.1 m at x = 0 to 0.5 m at x = 2 the ray is 0.2 m high at x = 0.5, and 0.4 m at 1.5."""
    for x, ray in ((0.5, 0.2), (1.5, 0.4)):
        for height, seen in ((ray - 0.001, True), (ray + 0.001, False)):
            assert (look([Lamp(2.0, 0.0, 0.5), Wall((x, -1, x, 1), height=height)])[0, 0] > 0.0) == seen


def test_a_low_wall_hides_a_high_lamp_only_from_who_stands_close_to_it():
    """0.1 + 0.4 (x - 1) / x > 0.2 if x > 4/3: further away than that the ray passes above the wall."""
    things = [Lamp(0.0, 0.0, 0.5), Wall((1.0, -1.0, 1.0, 1.0), height=0.2)]
    for x, seen in ((1.1, False), (1.33, False), (1.34, True), (2.0, True), (9.0, True)):
        assert (look(things, poses=[(x, 0.0, np.pi)])[0, 0] > 0.0) == seen


def test_an_arena_s_own_walls_hide_what_is_outside():
    assert look([Arena(2.0, 2.0), Lamp(1.5, 0.0)])[0, 0] == 0.0
    assert look([Arena(2.0, 2.0, walls=False), Lamp(1.5, 0.0)])[0, 0] > 0.0
    assert look([Arena(2.0, 2.0), Lamp(1.5, 0.0, 2.0)])[0, 0] > 0.0


@pytest.mark.parametrize("thing", [Cylinder(1.0, 0.0, 0.2, 0.4), Rectangle(1.0, 0.0, 0.4, 0.4, height=0.4)])
def test_a_lamp_inside_an_obstacle_is_hidden_and_one_high_above_it_is_not(thing):
    assert look([Lamp(1.0, 0.0, 0.2), thing])[0, 0] == 0.0
    assert look([Lamp(1.0, 0.0, 0.4), thing])[0, 0] == 0.0  # on its roof, which is higher than the robot
    assert look([Lamp(1.0, 0.0, 0.9), thing])[0, 0] > 0.0
    for z, seen in ((0.45, True), (0.4, True), (0.39, False)):
        assert (look([Lamp(1.0, 0.0, z), thing], robot=disc(height=2.0))[0, 0] > 0.0) == seen


def test_robots_hide_a_low_lamp_and_never_a_high_one():
    poses = [(0.0, 0.0, 0.0), (0.5, 0.0, 0.0)]
    assert look([Lamp(1.0, 0.0, 0.1)], poses=poses)[0, 0] == 0.0
    assert look([Lamp(1.0, 0.0, 0.3)], poses=poses)[0, 0] > 0.0
    assert look([Lamp(1.0, 0.0, 0.3)], poses=[(0.0, 0.0, 0.0), (0.94, 0.0, 0.0)])[0, 0] > 0.0
    assert look([Lamp(1.0, 0.0, 0.3), Wall((0.5, -1, 0.5, 1), height=0.4)], poses=poses[:1])[0, 0] == 0.0


def test_a_tall_robot_hides_a_lamp_from_a_low_one_and_not_the_other_way_round():
    groups = ((disc(0.1), [(0, 0, 0)], [AHEAD], None), (disc(0.4), [(0.5, 0, 0)], [AHEAD], None))
    assert glowing(*groups, things=[Lamp(1.0, 0.0, 0.3)]).readings["a"]["light"][0, 0, 0] == 0.0
    swapped = ((disc(0.1), [(0.5, 0, 0)], [AHEAD], None), (disc(0.4), [(0, 0, 0)], [AHEAD], None))
    assert glowing(*swapped, things=[Lamp(1.0, 0.0, 0.3)]).readings["b"]["light"][0, 0, 0] > 0.0


def test_a_robot_s_body_hides_light_and_its_clearance_does_not():
    for y, seen in ((0.0575, False), (0.0585, True)):
        assert (look([Lamp(1.0, 0.0)], poses=[(0, 0, 0), (0.5, y, 0)])[0, 0] > 0.0) == seen


# -- robots that glow --------------------------------------------------------------------------------------------------
def test_a_robot_sees_the_others_glow_and_never_its_own():
    ring = Light(noise=0.0)
    alone = glowing((disc(), [(0, 0, 0)], [ring], 0.02))
    assert not alone.readings["a"]["light"].any()
    pair = glowing((disc(), [(0, 0, 0), (0.4, 0, np.pi)], [AHEAD], 0.02))
    np.testing.assert_allclose(pair.readings["a"]["light"][0], saturated(0.02 / 0.4**2), atol=1e-12)


def test_only_groups_with_a_glow_shine():
    simulation = glowing((disc(), [(0, 0, 0)], [AHEAD], 0.02), (disc(), [(0.4, 0, np.pi)], [AHEAD], None))
    assert simulation.readings["a"]["light"][0, 0, 0] == 0.0 and simulation.readings["b"]["light"][0, 0, 0] > 0.0


def test_a_robot_between_two_others_hides_their_glow_and_shines_itself():
    simulation = glowing((disc(), [(0, 0, 0), (0.3, 0, 0), (0.6, 0, 0)], [AHEAD], 0.02))
    reading = simulation.readings["a"]["light"][0, :, 0]
    np.testing.assert_allclose(reading, saturated(0.02 / 0.3**2) * np.array([1, 1, 0]), atol=1e-12)


def test_a_tall_robot_s_glow_is_seen_over_low_ones():
    groups = ((disc(0.1), [(0, 0, 0), (0.3, 0, 0)], [AHEAD], None), (disc(0.5), [(0.6, 0, 0)], [], 0.02))
    assert glowing(*groups).readings["a"]["light"][0, 0, 0] == pytest.approx(saturated(0.02 / (0.6**2 + 0.4**2)))


def test_the_dead_glow_on():
    simulation = glowing((disc(), [(0, 0, 0), (0.4, 0, 0)], [AHEAD], 0.02))
    before = simulation.readings["a"]["light"].copy()
    simulation.state.alive[:] = False
    simulation.look_again()
    assert before[0, 0, 0] > 0.0 and np.array_equal(simulation.readings["a"]["light"], before)


def test_a_sensor_may_see_lamps_only_or_robots_only():
    sensors = [Light((0.0,), of, noise=0.0, name=of) for of in ("lamps", "robots", "all")]
    reading = glowing((disc(), [(0, 0, 0), (0.5, 0.2, 0)], sensors, 0.1), things=[Lamp(1.0, 0.0)]).readings["a"]
    lamps, robots, both = (summed(reading[name][0, 0, 0]) for name in ("lamps", "robots", "all"))
    assert lamps == pytest.approx(0.25) and robots == pytest.approx(0.1 * 0.5 / 0.29**1.5)
    assert both == pytest.approx(lamps + robots)


# -- against the twin --------------------------------------------------------------------------------------------------
def random_scene(rng, worlds=2):
    """Walls, obstacles and robots of many heights, lamps among and above them; robots may stand in anything."""
    tall = lambda: rng.choice([0.1, 0.2, rng.uniform(0.02, 0.8)])  # noqa: E731
    spot = lambda: rng.uniform(-1.2, 1.2, 2)  # noqa: E731
    things = [Arena(2.0, 1.6, height=tall()), Cylinders(3, 0.06, height=tall())]
    things += [Wall((*a, *(a + rng.normal(0.0, 0.4, 2))), tall()) for a in (spot() for _ in range(4))]
    things += [Cylinder(*spot(), rng.uniform(0.02, 0.2), tall()) for _ in range(3)]
    things += [Rectangle(*spot(), *rng.uniform(0.05, 0.4, 2), rng.uniform(0, 6), tall())]
    things += [Polygon((*spot(), *spot(), *spot()), tall())]
    things += [Lamp(*spot(), rng.choice([0.1, rng.uniform(0.0, 1.5)]), rng.uniform(0.05, 1.0)) for _ in range(4)]
    sensor = Light(rng.uniform(-6, 6, 5), noise=0.0, reach=rng.choice([1.0, 10.0]), of=rng.choice(["lamps", "robots", "all"]))
    groups = tuple(Group(disc(height, radius), count, name, (At(0.0, 0.0),) * count, (sensor,), actuators=light)
                   for name, height, radius, count, light in (("a", 0.1, 0.05, 6, ()), ("b", tall(), 0.12, 3, (Glow(0.1),)),
                                                              ("c", tall(), 0.02, 4, (Glow(0.3), Glow(0.1)))))
    simulation = Simulation(World(contact=Contact("none"), things=tuple(things), groups=groups), 0, worlds)
    put(simulation, rng.uniform(-1.3, 1.3, (worlds, 13, 2)), rng.uniform(-9, 9, (worlds, 13)))
    return simulation, sensor


def test_readings_match_following_every_ray_through_space(rng):
    seen = hidden = 0
    for _ in range(40):
        simulation, sensor = random_scene(rng)
        fixed, lamps = flatten(simulation.world), [t for t in simulation.world.things if isinstance(t, Lamp)]
        solids = [(flatten(World(things=(t,))).segments[:, :2], t.height) for t in simulation.world.things
                  if isinstance(t, Rectangle | Polygon)]
        round_, table = fixed.shapes[:, 4] > 0.0, np.column_stack([fixed.shapes, fixed.heights])
        for w in range(2):
            reading, some, others = reference.read(
                simulation.state.position[w], simulation.state.heading[w], np.repeat([0.05, 0.12, 0.02], (6, 3, 4)),
                np.repeat([group.robot.height for group in simulation.world.groups], (6, 3, 4)),
                table[~round_][:, [0, 1, 2, 3, 5]], table[round_][:, [0, 1, 4, 5]], solids,
                [(lamp.x, lamp.y, lamp.z, lamp.intensity) for lamp in lamps], np.repeat([0.0, 0.1, 0.4], (6, 3, 4)),
                sensor.angles, sensor.of, sensor.reach)
            ours = np.concatenate([simulation.readings[name]["light"][w] for name in "abc"])
            np.testing.assert_allclose(ours, reading, atol=1e-12)
            seen, hidden = seen + some, hidden + others
    assert seen > 1000 and hidden > 1000


def test_every_shape_has_the_height_of_its_thing():
    things = (Rectangle(0, 0, 0.1, 0.1, height=0.2), Cylinders(3, 0.05, height=0.3), Wall((0, 0.5, 1, 0.5, 1, 1), height=0.4),
              Arena(4.0, 4.0, height=0.5), Cylinder(-1, -1, 0.1, height=0.6), Polygon((1, -1, 1.5, -1, 1, -1.5), height=0.7))
    fixed = flatten(World(things=things))
    assert list(fixed.heights) == 2 * [0.4] + 4 * [0.5] + [0.6] + 4 * [0.2] + 3 * [0.7] + 3 * [0.3]
    assert len(fixed.heights) == len(fixed.shapes)


def test_several_rings_in_one_call_read_what_each_reads_alone():
    rings = (Light(reach=1.0, name="near"), Light((0.0, 1.0), "lamps", noise=0.3, name="lamps"), Light(of="robots"))
    group = disc(), [(0, 0, 0), (0.4, 0.3, 2), (-0.9, 0.4, 0)], rings, 0.1
    simulation = glowing(group, things=[Lamp(1.0, 0.2), Lamp(0, 2, 1)])
    diodes = photodiodes([(ring, f"a/{ring.name}") for ring in rings])
    together = simulation.engine.light(simulation.model, simulation.state, diodes, slice(0, 3))
    apart = np.concatenate([simulation.readings["a"][ring.name] for ring in rings], axis=-1)
    assert together.shape == (1, 3, 18) and np.array_equal(together, apart) and together.any()


# -- noise and batches -------------------------------------------------------------------------------------------------
def test_noise_is_five_percent_of_the_reading_and_stays_below_one():
    reading = bench(SBot(), [(0, 0, 0)], [Lamp(1.0, 0.0)], sensors=[Light(angles=(0.0, 0.5, np.pi))], worlds=10_000)
    reading = reading.readings["a"]["light"][:, 0]
    error = reading[:, :2] / saturated(0.25 * np.cos([0.0, 0.5])) - 1.0
    assert 0.0499 < np.abs(error).max() <= 0.05 + 1e-12
    assert np.abs(error.mean(0)).max() < 4.5 * 0.05 / np.sqrt(3 * 10_000)
    assert error.std() == pytest.approx(0.05 / np.sqrt(3), rel=0.02)
    assert abs(np.corrcoef(error.T)[0, 1]) < 4.5 / 100
    assert not reading[:, 2].any()  # it looks away
    wild = bench(SBot(), [(0, 0, 0)], [Lamp(0.2, 0.0)], sensors=[Light((0.0,), noise=3.0)], worlds=1000).readings["a"]["light"]
    assert wild.min() == 0.0 and wild.max() == 1.0


def crowd():
    sensors = (Light(), Light(of="robots", reach=0.5, name="others"))
    group = Group(SBot(), 12, "a", sensors=sensors, actuators=(Glow(),))
    things = Arena(2.0, 2.0), Lamp(0.4, 0.5, 0.1), Lamp(-0.5, 0.0, 0.3), Cylinders(3, 0.05, height=0.4)
    return World(things=things, groups=(group,))


def test_each_world_of_a_batch_equals_that_world_alone():
    batch = Simulation(crowd(), 5, 4)
    for k in range(4):
        alone = Simulation(crowd(), 5, 1, first_world=k)
        for name in ("light", "others"):
            assert np.array_equal(alone.readings["a"][name][0], batch.readings["a"][name][k])
    assert not np.array_equal(batch.readings["a"]["light"][0], batch.readings["a"]["light"][1])


def test_moving_the_robots_of_one_world_changes_no_reading_of_another():
    batch = Simulation(crowd(), 5, 3)
    before = batch.readings["a"]["light"].copy()
    batch.state.position[1] += 0.1
    batch.look_again()
    after = batch.readings["a"]["light"]
    assert np.array_equal(after[[0, 2]], before[[0, 2]]) and not np.array_equal(after[1], before[1])


# -- the file ----------------------------------------------------------------------------------------------------------
FILE = """<world><lamp x="1" y="0" z="30cm"/><sbot count="2">
<light angles="0deg 90deg" of="robots" reach="2" noise="0.1" name="eyes"/>
<glow intensity="0.05"/></sbot></world>"""


def test_lights_and_glow_are_read_from_a_file_and_written_again():
    world = read_text(FILE)
    group = world.groups[0]
    assert group.sensors == (Light((0.0, 90 * DEG), "robots", 2.0, 0.1, "eyes"),) and group.actuators == (Glow(0.05),)
    assert world.things[0].intensity == 0.25 and Glow().intensity == 0.02 and Light().name == "light"
    assert read_text(to_text(world)) == world


@pytest.mark.parametrize("wrong, message", [
    (('of="robots"', 'of="suns"'), r"a.xml:2: <light> of: 'suns' .*lamps.*robots.*all"),
    (('reach="2"', 'raech="2"'), r"a.xml:2: <light> has no attribute 'raech'. Did you mean 'reach'"),
    (('noise="0.1"', 'noise="-1"'), r"a.xml:2: <light> noise: -1 is out of range"),
    (('intensity="0.05"', 'intensity="-1"'), r"a.xml:3: <glow> intensity: -1 is out of range"),
    (('intensity="0.05"', 'colour="red"'), r"a.xml:3: <glow> has no attribute 'colour'"),
])
def test_a_mistake_in_the_file_is_named(wrong, message):
    with pytest.raises(WorldError, match=message):
        read_text(FILE.replace(*wrong), "a.xml")


def test_a_kind_of_robot_without_a_height_counts_as_ten_centimetres_high(own):
    flat = own("robot", radius=0.05, clearance=0.0, wheel_base=0.1, wheel_radius=0.02, top_speed=0.1, motor_noise=0.0,
               position_noise=0.0, heading_noise=0.0)
    assert summed(look([Lamp(0.5, 0.0, 0.4)], robot=flat)[0, 0]) == pytest.approx(0.25 / (0.5**2 + 0.3**2))
