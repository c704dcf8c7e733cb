"""Messages: what they say is what is true in the simulation, in the units and frames of ROS."""

import json
from itertools import pairwise
from math import pi

import msgspec
import numpy as np
import pytest

from formiga import Simulation, read_world
from formiga.geometry import PLACE, TURN, multiply, to_world
from formiga.ros.binary import packed
from formiga.ros.definitions import DEFINITIONS, fields, full_text
from formiga.ros.moment import Moment
from formiga.ros.topics import legal, namespaces, offer
from formiga.world.reader import read_text
from tests.reference import rosmsg
from tests.ros.conftest import CARTS


def run(text=CARTS, steps=10, **orders):
    sim = Simulation(read_text(text, "w.xml") if "<" in text else read_world(text))
    for _ in range(steps):
        sim.step({name: np.broadcast_to(np.array(each, float), (1, sim.world.group(name).count, len(each)))
                  for name, each in orders.items()})
    return sim


def message(sim, topic):
    return offer(sim).shown[topic].build(Moment(sim))


def values(pose):
    """A geometry_msgs pose or transform as (7,)."""
    place, turn = (pose[name] for name in (("position", "orientation") if "position" in pose else ("translation", "rotation")))
    return np.array([place["x"], place["y"], place["z"], turn["w"], turn["x"], turn["y"], turn["z"]])


def of_json(message):
    """As a client that reads JSON has it."""
    return json.loads(msgspec.json.encode(message))


# -- what they say --------------------------------------------------------------------------------------------------------
def test_a_scan_puts_its_end_points_on_what_the_beams_hit():
    """From ranges, angles and the frames alone: the post at (1, 0.2) has a radius of 0.1 m."""
    sim = run(carts=[0.1, 0.05])
    scan, frames = of_json(message(sim, "/carts_0/scan")), transforms(sim)
    chain = "map", "carts_0/odom", "carts_0/base_link", "carts_0/scan"
    pose = [frames[pair] for pair in pairwise(chain)]
    assert scan["header"]["frame_id"] == "carts_0/scan" and len(scan["ranges"]) == 37
    hits = []
    for k, distance in enumerate(scan["ranges"]):
        angle = scan["angle_min"] + k * scan["angle_increment"]
        if distance is None:
            continue
        assert scan["range_min"] <= distance <= scan["range_max"]
        point = np.array([distance * np.cos(angle), distance * np.sin(angle), 0.0])
        for each in reversed(pose):
            point = to_world(each, point)
        to_post, to_wall = abs(np.hypot(point[0] - 1.0, point[1] - 0.2) - 0.1), np.abs(np.abs(point[:2]) - 2.0).min()
        to_spy = abs(np.hypot(*(point[:2] - sim.state.position[0, 2])) - 0.1)
        to_other = abs(np.hypot(*(point[:2] - sim.state.position[0, 1])) - 0.1)
        assert min(to_post, to_wall, to_spy, to_other) < 2e-5, (k, point)
        hits.append(to_post < 2e-5)
    assert 2 <= sum(hits) < len(hits)
    assert scan["angle_max"] == pytest.approx(pi / 2)


def test_no_return_is_infinite_and_null_in_json():
    sim = run(CARTS.replace('reach="3m"', 'reach="30cm"'), 1)
    scan = message(sim, "/carts_0/scan")
    assert np.isinf(scan["ranges"]).all() and of_json(scan)["ranges"] == [None] * 37


def transforms(sim):
    return {(each["header"]["frame_id"], each["child_frame_id"]): values(each["transform"])
            for topic in ("/tf", "/tf_static") for each in message(sim, topic)["transforms"]}


def after(first, second):
    return np.concatenate([to_world(first, second[PLACE]), multiply(first[TURN], second[TURN])])


@pytest.mark.parametrize("text, group, orders", [
    (CARTS.replace("<odometry/>", '<odometry ticks="30"/>'), "carts", [0.11, 0.2]), (CARTS, "spy", [0.1, -0.1]),
    ("avoidance3d", "swarm", [0.05, 0.03])], ids=["ticks", "no odometry", "space"])
def test_odom_is_the_belief_and_map_to_odom_to_base_link_the_truth(text, group, orders):
    sim = run(text, 20, **{group: orders})
    frames, number = transforms(sim), sim.world.slices[[each.name for each in sim.world.groups].index(group)].start
    odom = of_json(message(sim, f"/{group}_0/odom"))
    truth = values(message(sim, f"/{group}_0/pose_truth")["pose"])
    assert (odom["header"]["frame_id"], odom["child_frame_id"]) == (f"{group}_0/odom", f"{group}_0/base_link")
    believed = values(odom["pose"]["pose"])
    assert after(frames["map", f"{group}_0/odom"], believed) == pytest.approx(truth, abs=1e-7)
    assert frames[f"{group}_0/odom", f"{group}_0/base_link"] == pytest.approx(believed)
    assert truth[:2] == pytest.approx(sim.state.position[0, number], abs=1e-8)
    belief = sim.readings[group].get("odometry")
    if belief is None:
        assert believed == pytest.approx(truth)
    else:
        assert believed[:2] == pytest.approx(belief[0, 0, :2], abs=1e-8)
        assert np.abs(believed - truth).max() > 1e-3      # it has drifted


def test_the_twist_of_odom_is_that_of_the_wheels():
    odom = message(run(carts=[0.1, 0.26]), "/carts_1/odom")["twist"]["twist"]
    assert (odom["linear"]["x"], odom["linear"]["y"]) == pytest.approx((0.18, 0.0))
    assert odom["angular"]["z"] == pytest.approx(0.16 / 0.16)


def test_joint_states_are_the_angles_and_speeds_of_wheels():
    sim = run(carts=[0.1, 0.2])
    state = message(sim, "/carts_0/joint_states")
    assert state["name"] == ["left", "right"] and state["velocity"] == pytest.approx([5.0, 10.0])
    assert state["position"] == pytest.approx([5.0, 10.0])       # 1 s on wheels of 2 cm


def test_joints_in_space_are_in_joint_states_by_name():
    sim = run("hexapod", 5)
    state = message(sim, "/hexapod_0/joint_states" if sim.world.groups[0].name == "hexapod" else
                    f"/{legal(sim.world.groups[0].name)}_0/joint_states")
    names = [joint.name for joint in sim.world.groups[0].robot.joints]
    assert state["name"][-len(names):] == names
    assert state["position"][-len(names):] == pytest.approx(sim.state.joint_position[0, 0].tolist(), abs=1e-8)
    assert len(state["effort"]) == len(state["name"])


def test_time_is_simulated_and_has_the_names_of_ros_1_and_of_ros_2():
    sim = run(steps=13)
    clock = message(sim, "/clock")["clock"]
    assert clock == {"secs": 1, "nsecs": 300_000_000, "sec": 1, "nanosec": 300_000_000}
    assert message(sim, "/carts_0/scan")["header"]["stamp"] == clock


def test_any_other_reading_is_an_array_with_its_shape():
    text = CARTS.replace("<encoders/>", "<encoders/><omnicamera/>")
    given = message(run(text), "/spy_0/omnicamera")
    assert [(each["size"], each["stride"]) for each in given["layout"]["dim"]] == [(24, 72), (3, 3)]
    assert len(given["data"]) == 72


def test_an_image_is_the_reading_of_the_camera():
    text = """<world name="w" engine="spatial" dt="0.1"><arena width="2" depth="2" height="30cm"/>
              <sbot name="s"><at x="0" y="0"/><eye width="16" height="12"/></sbot></world>"""
    try:
        sim = run(text, 1)
        pixels = sim.readings["s"]["eye"][0, 0]
    except Exception as wrong:
        pytest.skip(f"no pictures can be rendered here: {wrong}")
    image = message(sim, "/s_0/eye/image_raw")
    assert (image["width"], image["height"], image["step"], image["encoding"]) == (16, 12, 48, "rgb8")
    np.testing.assert_array_equal(np.frombuffer(image["data"], np.uint8).reshape(12, 16, 3), pixels)
    small = message(sim, "/s_0/eye/image_raw/compressed")
    assert small["data"][:3] == b"\xff\xd8\xff" and "jpeg" in small["format"]
    assert message(sim, "/tf_static")["transforms"][0]["child_frame_id"] == "s_0/eye"


# -- names ----------------------------------------------------------------------------------------------------------------
def test_a_world_with_one_robot_has_its_topics_without_a_namespace_too():
    shown = offer(run("line", 0)).shown
    assert {"/odom", "/runner_0/odom", "/joint_states"} <= shown.keys()
    assert "/odom" not in offer(run()).shown


def test_names_are_those_that_ros_allows_and_never_two_the_same():
    text = CARTS.replace('name="carts"', 'name="a-b"').replace('name="spy"', 'name="a_b"')
    found = namespaces(run(text, 0))
    assert found == ["a_b_0", "a_b_1", "a_b__0"]
    assert legal("3 legs") == "r3_legs"


def test_robots_beyond_the_limit_are_counted():
    made = offer(Simulation(read_world("avoid24", robots=300)))
    assert made.left_out == 44 and "/robots_255/odom" in made.shown and "/robots_256/odom" not in made.shown
    assert len(made.shown["/poses"].build(Moment(Simulation(read_world("avoid24", robots=300))))["poses"]) == 300


# -- definitions ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("text, orders", [(CARTS, {"carts": [0.1, 0.2]}), ("hexapod", {})], ids=["plane", "space"])
def test_raw_messages_are_read_back_from_the_text_of_their_definition(text, orders):
    """By a reader that knows the text alone: every field is there, in its place, and no byte is left."""
    sim = run(text, **orders)
    for topic in offer(sim).shown.values():
        given = topic.build(Moment(sim))
        if given is None:
            continue
        back, left = rosmsg.read(full_text(topic.type), packed(topic.type, given))
        assert left == b"", topic.name
        same(back, given, topic.name)


def same(back, given, at):
    if isinstance(back, dict):
        assert all(name in given for name in back), at
        for name in back:
            same(back[name], given[name], f"{at}.{name}")
    elif isinstance(back, list):
        assert len(back) == len(given), at
        for one, other in zip(back, given, strict=True):
            same(one, other, at)
    else:
        assert back == given if isinstance(given, str) else back == pytest.approx(given, rel=1e-6), at


def test_every_type_is_made_of_types_that_are_there():
    for kind in DEFINITIONS:
        assert fields(kind) and full_text(kind)
