"""Clients that send garbage, too much, too often, or nothing, and that are not let in. The run goes on through all of it."""

from __future__ import annotations

import json
import os
import socket
import struct
import time
from contextlib import suppress
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from formiga import Simulation
from formiga.errors import FormigaError
from formiga.ros import Rosbridge
from formiga.ros.mailbox import HELD
from formiga.ros.moment import Moment
from formiga.ros.protocol import Board, Client, encoded
from formiga.ros.server import LARGEST, MOST_CLIENTS, Notes, address_of, own_page
from formiga.ros.topics import absolute, offer
from formiga.world.reader import read_text
from tests.ros.conftest import CARTS, say

ANYTHING = st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=300),
                        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
                        max_leaves=6)


def alive(serving):
    """A client that behaves is served, whatever happened."""
    client = serving.subscribed("/carts_0/odom")
    seen = serving.published(client)["header"]["seq"]
    assert serving.published(client)["header"]["seq"] > seen
    client.close()


@pytest.mark.parametrize("garbage", [
    b"\xff\xfe\x00", "{", "[" * 100_000, '{"a":' * 100_000, "null", "[]", "3", '"text"', '{"op": null}', '{"op": "publish"}',
    '{"op": "publish", "topic": "/carts_0/cmd_vel", "msg": {"linear": {"x": NaN}}}', '{"op": "subscribe", "topic": "\\ud800"}',
    '{"op": "x", "id": ' + "9" * 5000 + "}", '{"op": "x", "op": 1e999}', b"", "\x00"], ids=lambda text: repr(text[:20]))
def test_garbage_is_answered_in_one_line_and_the_connection_stays(serve, garbage):
    serving = serve()
    client = serving.client()
    client.send(garbage)
    status = serving.heard(client)
    assert (status["op"], status["level"]) == ("status", "error") and "\n" not in status["msg"] and len(status["msg"]) < 300
    say(client, op="call_service", service="/rosapi/nodes")
    assert serving.heard(client)["op"] == "service_response"


def test_a_message_of_10_mb_ends_its_connection_and_says_why(serve):
    serving = serve()
    client = serving.client()
    with suppress(ConnectionClosed):                          # in the middle of it
        client.send("x" * (10 << 20))
    with pytest.raises(ConnectionClosed) as closed:
        while True:
            client.recv(timeout=20)
    assert closed.value.rcvd is None or closed.value.rcvd.code == 1009
    serving.until(lambda: any(f"longer than {LARGEST >> 20} MB" in line for line in serving.said))
    alive(serving)


def test_a_frame_that_is_none_and_a_client_that_dies_end_one_connection(serve):
    serving = serve()
    for sent in (b"\xff" * 64, b"\x81\xfe", b""):
        raw = socket.create_connection(("127.0.0.1", serving.bridge.server.port), timeout=20)
        raw.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
        assert b"101" in raw.recv(1024)
        text = json.dumps({"op": "subscribe", "topic": "/clock"}).encode()
        raw.sendall(bytes([0x81, 0x80 | len(text)]) + bytes(4) + text + sent)
        serving.step(3)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))   # a reset, as of a machine that died
        raw.close()
    raw = socket.create_connection(("127.0.0.1", serving.bridge.server.port), timeout=20)
    raw.sendall(os.urandom(1 << 16))
    raw.close()
    serving.until(lambda: not serving.bridge.clients and not serving.bridge._board.subscriptions)
    alive(serving)


def test_of_200_connections_64_are_served_and_the_others_told(serve):
    serving = serve()
    first = serving.subscribed("/clock")
    kept, refused = [], 0
    for _ in range(200):
        try:
            kept.append(serving.client())
        except (InvalidStatus, OSError, EOFError, ConnectionClosed) as wrong:
            refused += 1
            assert not isinstance(wrong, InvalidStatus) or wrong.response.status_code == 503
    assert serving.bridge.clients <= MOST_CLIENTS and len(kept) == MOST_CLIENTS - 1 and refused == 200 - len(kept)
    assert serving.published(first)
    serving.until(lambda: any("turned away" in line for line in serving.said))
    for each in kept:
        each.close()
    serving.until(lambda: serving.bridge.clients == 1)
    alive(serving)


def test_a_client_that_never_reads_loses_messages_and_holds_no_memory(serve):
    """The run takes its steps at its own pace; what waits for that client has a bound, and it is told when it reads again."""
    serving = serve(CARTS.replace('beams="37"', 'beams="4000"'))
    client = serving.silent()
    say(client, op="subscribe", topic="/carts_0/scan", queue_length=3)
    silent = serving.until(lambda: serving.bridge.server.clients)[0]
    serving.until(lambda: silent.mailbox.lost > 10)
    assert silent.mailbox._held < HELD
    other = serving.subscribed("/carts_0/odom")
    assert serving.published(other)                           # the others are served meanwhile
    told = client.read()
    while told["op"] != "status":
        told = client.read()
    assert told["level"] == "warning" and "were left out: they came faster than they were read." in told["msg"]


def test_a_client_that_asks_and_does_not_read_is_not_listened_to(serve):
    serving = serve()
    client = serving.silent()
    client.raw.settimeout(1.0)
    box = serving.until(lambda: serving.bridge.server.clients)[0].mailbox
    with suppress(TimeoutError):
        for _ in range(100_000):
            say(client, op="call_service", service="/rosapi/topics_and_raw_types")
    assert not box.room.is_set() and box._answered < (1 << 20) + 200_000
    client.raw.close()
    serving.until(lambda: not serving.bridge.clients)
    assert box._answered < (1 << 20) + 200_000                # what it asked before it went is not answered any more
    alive(serving)


def test_however_many_complain_the_terminal_gets_a_line_in_a_second(serve):
    serving = serve()
    client = serving.client()
    began = time.monotonic()
    for number in range(300):
        say(client, op=f"dance{number}")
        serving.step()
    seconds = 1 + int(time.monotonic() - began)
    serving.until(lambda: sum(int(line.split("(and ")[1].split()[0]) if "(and" in line else 0 for line in serving.said)
                  + len(serving.said) >= 300)
    assert len(serving.said) <= seconds + 2
    assert all("\n" not in line for line in serving.said)


def test_of_many_notes_the_last_one_is_said_with_their_number():
    notes = Notes()
    for number in range(5):
        notes.add(f"note {number}")
    assert notes.take() == "rosbridge: note 4 (and 4 more)" and notes.take() is None


@cache
def simulation():
    """One for all examples."""
    return Simulation(read_text(CARTS, "w.xml"))


@settings(max_examples=50)
@given(st.lists(st.fixed_dictionaries(
    {"op": st.sampled_from(["subscribe", "unsubscribe", "advertise", "unadvertise", "publish", "call_service", "set_level"])},
    optional={name: ANYTHING | st.sampled_from(values) for name, values in {
        "topic": ["/carts_0/scan", "/carts_0/cmd_vel", "clock", "/tf_static"], "id": ["a", "b"],
        "type": ["geometry_msgs/Twist"], "msg": [{"linear": {"x": 1}}], "level": ["info"], "args": [{"topic": "/clock"}],
        "service": ["/rosapi/topic_type", "/rosapi/get_param"], "compression": ["cbor", "cbor-raw", "png"],
        "queue_length": [0, 3, 1e9], "throttle_rate": [0, 5], "fragment_size": [1, 500]}.items()}), max_size=8))
def test_whatever_a_client_says_the_run_goes_on(messages):
    """Answers, orders and subscriptions as they come; then a step, whose messages are encoded and shared out."""
    sim = simulation()
    board = Board(offer=offer(sim))
    client = Client(board, "c", lambda text: None)
    for message in messages:
        client.hear(json.dumps(message))
    sim.step(board.offer.held.orders(sim.world, int(sim.state.step[0])))
    for name, subscriptions in board.subscriptions.items():
        topic = board.offer.shown[absolute(name)]
        for each in subscriptions:
            moment = Moment(sim)
            client.show(each, encoded(name, topic.type, topic.build(moment) or {}, each.wanted.encoding, moment.stamp), 1.0)
    while (sent := client.mailbox.take()) is not None:
        assert not sent.text or all(isinstance(json.loads(frame)["op"], str) for frame in sent.frames)
    client.close()
    assert not board.subscriptions and client.mailbox._held == 0


# -- who is let in --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("origin, let_in", [
    (None, True), ("http://localhost:8000", True), ("http://127.0.0.1", True), ("file://", True), ("null", False),
    ("https://evil.example", False), ("http://localhost.evil.example", False), ("http://[", False)])
def test_pages_of_other_sites_need_the_token(serve, origin, let_in):
    serving = serve()
    assert own_page(origin) is let_in
    if let_in:
        serving.client(origin=origin)
        return
    with pytest.raises(InvalidStatus) as wrong:
        serving.client(origin=origin)
    assert wrong.value.response.status_code == 403
    serving.until(lambda: serving.said)
    assert f"ws://127.0.0.1:{serving.bridge.server.port}/?token={serving.bridge.server.token}" in serving.said[0]
    with pytest.raises(InvalidStatus):
        serving.client("?token=wrong", origin=origin)
    serving.client(f"?token={serving.bridge.server.token}", origin=origin)


def test_a_name_that_was_made_to_point_here_is_turned_away(serve):
    serving = serve()
    with pytest.raises(InvalidStatus):
        serving.client(additional_headers={"Host": "evil.example:9090"})


def test_where_it_listens_further_every_client_needs_the_token(serve):
    said = []
    with Rosbridge(("0.0.0.0", 0), said.append, "secret") as bridge:
        at = f"ws://127.0.0.1:{bridge.server.port}"
        assert bridge.server.url == f"ws://0.0.0.0:{bridge.server.port}/?token=secret"
        for wrong in ("", "/?token=", "/?token=Secret", "/?token=%ff%fe"):
            with pytest.raises(InvalidStatus) as refused:
                connect(at + wrong, proxy=None)
            assert refused.value.response.status_code == 403
        connect(f"{at}/?token=secret", proxy=None).close()


# -- addresses ------------------------------------------------------------------------------------------------------------
def test_a_port_that_is_in_use_is_one_message():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(FormigaError, match=f"^port {port} of 127.0.0.1 is in use; give another one with --rosbridge"), \
                Rosbridge(("127.0.0.1", port), print):
            raise AssertionError
    with pytest.raises(FormigaError, match=r"192\.0\.2\.1:0 cannot be listened at"), Rosbridge(("192.0.2.1", 0), print):
        raise AssertionError


@pytest.mark.parametrize("given, address", [("9090", ("127.0.0.1", 9090)), ("localhost:1", ("127.0.0.1", 1)),
                                            ("0.0.0.0:80", ("0.0.0.0", 80))])
def test_an_address_is_a_port_or_a_host_and_a_port(given, address):
    assert address_of(given) == address


@pytest.mark.parametrize("given", ["office", "", "1.2.3.4", "90900", "host:", ":::", "no such host:1"])
def test_what_is_no_address_is_refused(given):
    with pytest.raises(FormigaError, match="--rosbridge"):
        address_of(given)
