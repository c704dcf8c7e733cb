"""What a client says and is answered, over a real websocket; the run takes its steps in the test."""

import json
import time

import cbor2
import pytest

from formiga import Simulation
from formiga.ros.definitions import full_text
from formiga.ros.mailbox import HELD, Frames, Mailbox
from formiga.ros.orders import DRIVE, TWISTS, Order
from formiga.ros.protocol import Board, Client, fragments
from formiga.ros.topics import offer
from formiga.world.reader import read_text
from tests.reference import rosmsg
from tests.ros.conftest import CARTS, say


def call(serving, client, service, /, **args):
    say(client, op="call_service", service=service, args=args, id="7")
    answer = serving.heard(client)
    assert (answer["op"], answer["service"], answer["id"]) == ("service_response", service, "7")
    return answer["result"], answer["values"]


# -- topics ---------------------------------------------------------------------------------------------------------------
def test_a_subscriber_gets_each_step_and_no_longer_when_it_has_unsubscribed(serve):
    serving = serve()
    client = serving.subscribed("/carts_0/odom", type="nav_msgs/msg/Odometry", id="a")
    steps = [serving.published(client)["header"]["seq"] for _ in range(3)]
    assert steps == sorted(set(steps))
    say(client, op="unsubscribe", topic="/carts_0/odom", id="another")      # not its own: nothing happens
    assert serving.published(client)
    say(client, op="unsubscribe", topic="/carts_0/odom", id="a")
    serving.until(lambda: not serving.bridge._board.subscriptions)


def test_only_what_is_subscribed_is_computed(serve, monkeypatch):
    serving, looks = serve(CARTS.replace("<encoders/>", "")), []      # which have no kernel: then the loop looks in each step
    monkeypatch.setattr(type(serving.sim), "_look", lambda self: looks.append(1) or {})
    client = serving.subscribed("/clock")
    assert serving.published(client)
    assert not looks


def test_a_client_may_leave_the_first_slash_out_and_is_answered_so(serve):
    serving = serve()
    client = serving.subscribed("carts_0/scan")
    assert serving.heard(client)["topic"] == "carts_0/scan"
    assert call(serving, serving.client(), "rosapi/nodes") == (True, {"nodes": ["/formiga"]})


def test_static_frames_are_sent_once_to_each_subscriber(serve):
    serving = serve()
    for _ in range(2):
        client = serving.subscribed("/tf_static")
        assert len(serving.published(client)["transforms"]) == 2
        serving.step(5)
        with pytest.raises(TimeoutError):
            client.recv(timeout=0.05)


def test_a_throttled_topic_comes_as_seldom_as_it_is_wanted(serve):
    serving = serve()
    client, other = serving.subscribed("/clock", throttle_rate=10_000), serving.subscribed("/clock")
    for _ in range(3):
        serving.published(other)
    assert serving.published(client)
    for _ in range(3):
        serving.published(other)
    with pytest.raises(TimeoutError):
        client.recv(timeout=0)


def test_cbor_and_raw_messages_say_the_same_as_json(serve):
    serving = serve()
    json_, cbor, raw = (serving.subscribed("/carts_0/scan", compression=each) for each in ("none", "cbor", "cbor-raw"))
    serving.step()
    plain = serving.published(json_)

    def same_step(client, message_of):
        return message_of(serving.heard(client, lambda given: isinstance(given, bytes)))

    packed = same_step(cbor, lambda given: cbor2.loads(given)["msg"])
    assert packed.keys() == plain.keys() and packed["angle_increment"] == plain["angle_increment"]
    given = same_step(raw, lambda given: cbor2.loads(given)["msg"])
    read, left = rosmsg.read(full_text("sensor_msgs/LaserScan"), given["bytes"])
    assert left == b"" and read["header"]["stamp"] == {"secs": given["secs"], "nsecs": given["nsecs"]}
    assert len(read["ranges"]) == 37


def test_a_message_in_fragments_is_whole_when_they_are_put_together(serve):
    serving = serve()
    client = serving.subscribed("/carts_0/scan", fragment_size=300)
    parts = [serving.heard(client)]
    while len(parts) < parts[0]["total"]:
        parts.append(serving.heard(client))
    assert {each["op"] for each in parts} == {"fragment"} and len({each["id"] for each in parts}) == 1
    assert len(json.loads("".join(each["data"] for each in parts))["msg"]["ranges"]) == 37
    assert fragments(Frames((b'"abcd"',)), 3, "x").frames[1] == b'{"op":"fragment","id":"x","data":"cd\\"","num":1,"total":2}'


# -- orders ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("message", [{"linear": {"x": 0.3}, "angular": {"z": 1.0}},
                                     {"header": {}, "twist": {"linear": {"x": 0.3}, "angular": {"z": 1.0}}}],
                         ids=["Twist", "TwistStamped"])
def test_a_twist_drives_one_robot_until_it_runs_out(serve, message):
    serving = serve()
    client = serving.client()
    say(client, op="advertise", topic="/spy_0/cmd_vel", type="geometry_msgs/Twist")
    say(client, op="publish", topic="/spy_0/cmd_vel", msg=message)
    serving.until(lambda: serving.sim.state.drive[0, 2].any())
    assert serving.sim.state.drive[0, 2] == pytest.approx([0.22, 0.38])
    assert not serving.sim.state.drive[0, :2].any()
    serving.step(5)
    assert not serving.sim.state.drive.any()


def test_a_joint_in_space_is_ordered_by_its_own_topic_and_by_its_name(serve):
    serving = serve('<world name="w" engine="spatial" dt="0.1"><arena width="2" depth="2"/>'
                    '<sbot name="s"><at x="0" y="0"/></sbot></world>')
    client, command = serving.client(), serving.sim.state.joint_command
    turret = [joint.name for joint in serving.sim.world.groups[0].robot.joints].index("turret")
    say(client, op="publish", topic="/s_0/turret/command", msg={"data": 0.5})
    serving.until(lambda: command[0, 0, turret] == 0.5)
    say(client, op="publish", topic="/joint_command", msg={"name": ["turret"], "velocity": [-0.25]})
    serving.until(lambda: command[0, 0, turret] == -0.25)


def test_when_time_begins_again_no_order_is_left(serve):
    serving = serve()
    say(serving.client(), op="publish", topic="/spy_0/cmd_vel", msg={"linear": {"x": 0.3}})
    serving.until(lambda: serving.sim.state.drive[0, 2].any())
    serving.sim.reset()
    serving.step()
    assert not serving.sim.state.drive.any()


def test_an_order_for_a_world_that_is_exchanged_meanwhile_is_dropped():
    """A client's thread has found the topic; before the order is there, the run takes another world."""
    old, new = (offer(Simulation(read_text(text, "w.xml"))) for text in (CARTS, CARTS.replace('name="spy"', 'name="cart"')))
    board = Board(old)

    def take(message, kind):
        board.offer = new
        return [Order((2, DRIVE), (0.3, 0.3))]

    old.take("/spy_0/cmd_vel", TWISTS, take)
    Client(board, "a client", lambda line: None).hear('{"op": "publish", "topic": "/spy_0/cmd_vel", "msg": {}}')
    assert board.offer is new and new.held.orders(read_text(CARTS, "w.xml"), 0) is None


# -- questions ------------------------------------------------------------------------------------------------------------
def test_questions_about_topics_types_and_nodes_are_answered_as_rosapi_does(serve):
    serving = serve()
    client = serving.client()
    _, topics = call(serving, client, "/rosapi/topics_and_raw_types")
    kinds = dict(zip(topics["topics"], topics["types"], strict=True))
    assert kinds["/carts_1/scan"] == "sensor_msgs/LaserScan" and kinds["/spy_0/cmd_vel"] == "geometry_msgs/Twist"
    for text, kind in zip(topics["typedefs_full_text"], topics["types"], strict=True):
        assert rosmsg.definitions(text).keys() >= {""} and text == full_text(kind)
    assert call(serving, client, "/rosapi/topic_type", topic="/carts_0/odom")[1] == {"type": "nav_msgs/Odometry"}
    assert call(serving, client, "/rosapi/topics_for_type", type="sensor_msgs/msg/LaserScan")[1]["topics"] == [
        "/carts_0/scan", "/carts_1/scan"]
    _, node = call(serving, client, "/rosapi/node_details", node="/formiga")
    assert set(node["publishing"]) | set(node["subscribing"]) == set(kinds)
    services = call(serving, client, "/rosapi/services")[1]["services"]
    for each in services:
        assert call(serving, client, "/rosapi/service_type", service=each)[1]["type"].startswith("rosapi/")
    _, details = call(serving, client, "/rosapi/message_details", type="geometry_msgs/Twist")
    assert [each["type"] for each in details["typedefs"]] == ["geometry_msgs/Twist", "geometry_msgs/Vector3"]
    before = call(serving, client, "/rosapi/get_time")[1]["time"]
    assert before["secs"] + 1e-9 * before["nsecs"] == pytest.approx(serving.sim.state.step[0] * 0.1, abs=0.11)


def test_a_service_that_is_not_there_and_a_wrong_argument_fail(serve):
    serving = serve()
    client = serving.client()
    result, words = call(serving, client, "/rosapi/topicz")
    assert result is False and "Did you mean '/rosapi/topics'?" in words
    assert call(serving, client, "/rosapi/topic_type", topic=3) == (False, "the argument topic must be a text.")


# -- what is wrong --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("message, words", [
    ({"op": "dance"}, "the op 'dance' is not supported. There are: subscribe, unsubscribe, advertise"),
    ({"op": "subscribe", "topic": "/carts_0/scam"}, "Did you mean '/carts_0/scan'?"),
    ({"op": "subscribe", "topic": "/carts_0/cmd_vel"}, "It is one to publish on."),
    ({"op": "subscribe"}, "'subscribe' needs a topic, a text of 1 to 256 characters."),
    ({"op": "subscribe", "topic": "/x" * 200}, "needs a topic"),
    ({"op": "subscribe", "topic": "/clock", "type": "std_msgs/String"}, "/clock has the type rosgraph_msgs/Clock"),
    ({"op": "subscribe", "topic": "/clock", "compression": "zip"}, "There are: none, png, cbor, cbor-raw."),
    ({"op": "subscribe", "topic": "/clock", "throttle_rate": "fast"}, "throttle_rate must be a number, not fast."),
    ({"op": "publish", "topic": "/carts_0/cmd_val", "msg": {}}, "Did you mean '/carts_0/cmd_vel'?"),
    ({"op": "publish", "topic": "/carts_0/scan", "msg": {}}, "it is one to subscribe to"),
    ({"op": "publish", "topic": "/carts_0/cmd_vel", "msg": 5}, "msg must be an object with the fields of geometry_msgs/Twist."),
    ({"op": "publish", "topic": "/carts_0/cmd_vel", "msg": {"linear": {"x": "a"}}}, "linear.x must be a finite number, not a."),
    ({"op": "advertise", "topic": "/carts_0/cmd_vel", "type": "std_msgs/String"}, "takes geometry_msgs/Twist or"),
    ({"op": "set_level", "level": "loud"}, "level must be one of none, error, warning, info"),
    ({"op": 5}, "a message is an object with a text 'op'")])
def test_what_makes_no_sense_is_answered_in_one_line(serve, message, words):
    serving = serve()
    client = serving.client()
    assert words in serving.refused(client, **message)
    assert call(serving, client, "/rosapi/nodes")[0]          # it goes on
    serving.until(lambda: serving.said)
    assert words.split("?")[0][:30] in serving.said[0] and serving.said[0].startswith("rosbridge: 127.0.0.1:")


def test_a_status_carries_the_id_and_is_not_repeated_and_can_be_silenced(serve):
    serving = serve()
    client = serving.client()
    for _ in range(50):
        say(client, op="dance", id="x1")
    say(client, op="set_level", level="none")
    say(client, op="swim")
    say(client, op="call_service", service="/rosapi/nodes")
    first, second = serving.heard(client), serving.heard(client)
    assert (first["op"], first["id"], second["op"]) == ("status", "x1", "service_response")


# -- the mailbox ----------------------------------------------------------------------------------------------------------
def test_of_each_topic_the_newest_waits_and_answers_come_first():
    box = Mailbox()
    for number in range(5):
        box.put("/a", Frames((b"a%d" % number,)))
        box.put("/b", Frames((b"b%d" % number,)), 2)
    box.answer(Frames((b"answer",)))
    sent = []
    while (frames := box.take()) is not None:
        sent.append(frames.frames[0])
    assert sent == [b"answer", b"a4", b"b3", b"b4"] and box.lost == 4 + 3


def test_what_waits_for_a_client_has_a_bound():
    box = Mailbox()
    for number in range(40):
        box.put(f"/{number % 4}", Frames((bytes(1 << 20),)), 100)
        assert box._held <= HELD
    assert box.lost == 40 - 8
    box.answer(Frames((bytes(2 << 20),)))
    assert not box.room.is_set()
    assert len(box.take().frames[0]) == 2 << 20 and box.room.is_set()


def test_a_topic_that_is_forgotten_leaves_nothing():
    box = Mailbox()
    box.put("/a", Frames((b"aaa",)))
    box.forget("/a")
    assert box.take() is None and box._held == 0


def test_statuses_of_a_second_are_few():
    client = Client(Board(), "c", lambda text: None)
    began = time.monotonic()
    for number in range(1000):
        client.hear(json.dumps({"op": f"dance{number}"}))
    seconds = 1 + int(time.monotonic() - began)
    count = 0
    while client.mailbox.take() is not None:
        count += 1
    assert 20 <= count <= 20 * (seconds + 1)
