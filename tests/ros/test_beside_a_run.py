"""A bridge beside runs and sessions: what it leaves alone, what it orders, and real clients of it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import numpy as np
import pytest
from websockets.sync.client import connect

from formiga import read_world, simulate
from formiga.errors import WorldError
from formiga.ros import Rosbridge
from formiga.runs import Together, Watch
from formiga.world.reader import read_text
from tests.ros.conftest import CARTS, LIMIT, say
from tests.session.workspace import Workspace

ROAMING = CARTS.replace("<odometry/>", '<odometry ticks="50"/><proximity mount="10cm" reach="40cm" noise="0.1"/><braitenberg/>')
ROSLIBPY = """
import json, sys, threading
import roslibpy

ros = roslibpy.Ros(host="127.0.0.1", port=int(sys.argv[1]))
ros.run(timeout=60)
heard, both, turned = {}, threading.Event(), threading.Event()

def hear(name, message):
    heard[name] = message
    if len(heard) == 2:
        both.set()
    if name == "odom" and message["twist"]["twist"]["angular"]["z"] == 0.5:
        turned.set()

for name, kind in (("scan", "sensor_msgs/LaserScan"), ("odom", "nav_msgs/Odometry")):
    roslibpy.Topic(ros, f"/carts_0/{name}", kind).subscribe(lambda message, name=name: hear(name, message))
cmd_vel = roslibpy.Topic(ros, "/carts_0/cmd_vel", "geometry_msgs/Twist")
assert both.wait(60)
while not turned.wait(0.05):
    cmd_vel.publish(roslibpy.Message({"linear": {"x": 0.2, "y": 0, "z": 0}, "angular": {"x": 0, "y": 0, "z": 0.5}}))
fields = ros.get_message_details("geometry_msgs/Twist")["typedefs"][0]["fieldnames"]
print(json.dumps([heard["scan"], heard["odom"], ros.get_topic_type("/carts_0/scan"), dict(ros.get_time()), ros.get_nodes(),
                  ros.get_topics_for_type("sensor_msgs/LaserScan"), fields]))
ros.terminate()
"""


class Clients(Watch):
    """Clients that come in the middle of a run, subscribe to everything, and send what makes no sense."""

    every_step = True

    def __init__(self, bridge):
        self._bridge, self._sockets, self._step = bridge, [], 0

    def after(self, shards):
        self._step += 1
        if self._step == 3:
            client = connect(self._bridge.server.url, proxy=None, close_timeout=0.2)
            for topic in self._bridge._board.offer.shown:
                say(client, op="subscribe", topic=topic)
            client.send("garbage")
            self._sockets.append(client)
        if self._step > 3:
            self._sockets[0].recv(timeout=LIMIT)              # of the step before, mostly: the run is slowed down to that

    def close(self):
        for each in self._sockets:
            each.close()


@pytest.mark.parametrize("text", [ROAMING, "avoidance3d"], ids=["plane", "space"])
def test_a_run_with_clients_that_only_read_has_the_same_bits(text):
    def world():
        return read_text(text, "w.xml") if "<" in text else read_world(text)

    alone = simulate(world(), 2.0, seed=5)
    with Rosbridge(("127.0.0.1", 0), print) as bridge:
        clients = Clients(bridge)
        watched = simulate(world(), 2.0, seed=5, watch=Together(bridge, clients))
        assert len(bridge._board.subscriptions) >= 5
        clients.close()
    for name, values in alone.state.arrays().items():
        np.testing.assert_array_equal(values, watched.state.arrays()[name], err_msg=name)


def test_two_worlds_are_refused():
    with Rosbridge(("127.0.0.1", 0), print) as bridge, pytest.raises(WorldError, match="shows one world; these are 2"):
        simulate(read_text(CARTS, "w.xml"), 1.0, worlds=2, watch=bridge)


def test_roslibpy_reads_scans_and_odometry_and_drives_a_robot(serve):
    """The real one, in a process of its own: its event loop cannot be started twice."""
    serving = serve()
    client = subprocess.Popen([sys.executable, "-c", ROSLIBPY, str(serving.bridge.server.port)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    late = threading.Timer(120, client.kill)
    late.start()
    try:
        serving.until(lambda: client.poll() is not None)
        out, err = client.communicate()
    finally:
        late.cancel()
        client.kill()
    assert client.returncode == 0, err
    scan, odom, kind, now, nodes, of_type, fields = json.loads(out)
    assert len(scan["ranges"]) == 37 and scan["header"]["frame_id"] == "carts_0/scan" and kind == "sensor_msgs/LaserScan"
    assert odom["twist"]["twist"] == {"linear": {"x": 0.2, "y": 0.0, "z": 0.0}, "angular": {"x": 0.0, "y": 0.0, "z": 0.5}}
    assert 0.0 < now["secs"] + 1e-9 * now["nsecs"] <= serving.sim.state.step[0] * 0.1 + 1e-9
    assert nodes == ["/formiga"] and of_type == ["/carts_0/scan", "/carts_1/scan"]
    assert fields == ["linear", "angular"]
    assert serving.sim.state.position[0, 0, 0] > 0.0 and not serving.said, serving.said


# -- in the laboratory ----------------------------------------------------------------------------------------------------
@pytest.fixture
def lab(tmp_path):
    """(a session with a bridge that is open, a client of it)"""
    (tmp_path / "w.xml").write_text(CARTS)
    work = Workspace(str(tmp_path / "w.xml"))
    with Rosbridge(("127.0.0.1", 0), lambda text: work.session.say(text, "note")) as bridge:
        work.session.outside = bridge
        bridge.use(work.session.sim)
        with connect(bridge.server.url, proxy=None, close_timeout=0.2) as client:
            yield work, bridge, client


def until(work, true):
    for _ in range(2000):
        if true():
            return
        work.session.step()
        threading.Event().wait(0.002)
    raise AssertionError("it did not happen")


def test_a_person_goes_before_a_client_and_a_client_before_a_controller(lab):
    work, _, client = lab
    drive = work.session.sim.state.drive
    say(client, op="publish", topic="/carts_0/cmd_vel", msg={"linear": {"x": 0.2}})
    until(work, lambda: drive[0, 0].any())
    assert drive[0, 0] == pytest.approx([0.2, 0.2]) and work.session.touched
    work.run("drive carts.0 -0.5 -0.5")
    work.session.step()
    assert drive[0, 0] == pytest.approx([-0.25, -0.25])
    work.run("drive carts.0 off")
    for _ in range(6):
        work.session.step()
    assert not drive.any()


def test_a_pause_stops_the_clock_and_another_world_has_other_topics(lab):
    work, bridge, client = lab
    say(client, op="subscribe", topic="/clock")
    until(work, lambda: bridge.subscribed)
    work.session.step()
    seen = json.loads(client.recv(timeout=LIMIT))["msg"]["clock"]
    with pytest.raises(TimeoutError):
        while True:
            seen = json.loads(client.recv(timeout=0.1))["msg"]["clock"]
    assert seen["secs"] + 1e-9 * seen["nsecs"] == pytest.approx(work.session.time)
    work.run("load line")
    work.session.step()
    assert json.loads(client.recv(timeout=LIMIT))["msg"]["clock"]["nsecs"] == 100_000_000
    assert "/runner_0/odom" in bridge._board.offer.shown and "/carts_0/odom" not in bridge._board.offer.shown


def test_a_robot_that_is_added_while_it_runs_has_topics(lab):
    work, bridge, _ = lab
    work.run("spawn spy 1 -1.2")
    work.session.step()
    assert "/spy_1/odom" in bridge._board.offer.shown
