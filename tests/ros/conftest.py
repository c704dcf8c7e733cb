"""A run beside a rosbridge, whose steps a test takes, and clients of it."""

from __future__ import annotations

import json
import socket
import time
from contextlib import ExitStack

import pytest
from websockets.sync.client import connect

from formiga import Simulation, read_world
from formiga.errors import FormigaError
from formiga.ros import Rosbridge

LIMIT = 30.0            # s in which something must have happened; the machine may be busy
CARTS = """
<world name="carts" dt="0.1" seconds="60">
  <arena width="4" depth="4"/>
  <cylinder x="1" y="0.2" radius="10cm"/>
  <disc name="carts" radius="10cm" wheel_base="16cm" top_speed="50cm/s">
    <at x="0" y="0" heading="0"/><at x="0" y="1" heading="90deg"/>
    <scanner beams="37" reach="3m" mount="5cm" x="4cm" yaw="10deg"/>
    <odometry/>
  </disc>
  <disc name="spy" radius="10cm" wheel_base="16cm" top_speed="50cm/s"><at x="0" y="-1" heading="0"/><encoders/></disc>
</world>"""


class Serving:
    """A simulation and its bridge; `step` takes steps until something is true."""

    def __init__(self, simulation, bridge):
        self.sim, self.bridge = simulation, bridge
        self.said = []
        self.stack = ExitStack()

    def step(self, times=1):
        """So many steps, as `runs.simulate` takes them."""
        for _ in range(times):
            self.sim.step(self.bridge.before([self.sim]))
            self.bridge.after([self.sim])

    def until(self, true, steps=True):
        """Steps, or waiting alone, until `true()`; what it returned."""
        end = time.monotonic() + LIMIT
        while not (found := true()):
            assert time.monotonic() < end, "it did not happen in time"
            if steps:
                self.step()
            time.sleep(0.002)
        return found

    def client(self, query="", **options):
        """A websocket, compared with nothing."""
        return self.stack.enter_context(connect(f"{self.bridge.server.url}/{query}", compression=None, max_size=None,
                                                proxy=None, close_timeout=0.5, **options))

    def silent(self):
        """A client that does not read."""
        client = Silent(self.bridge.server.port)
        self.stack.callback(client.raw.close)
        return client

    def subscribed(self, topic, steps=True, **how):
        """A client that has subscribed."""
        client = self.client()
        say(client, op="subscribe", topic=topic, **how)
        self.until(lambda: topic in self.bridge._board.subscriptions, steps)
        return client

    def heard(self, client, want=lambda message: True):
        """The next message that is wanted, while steps are taken."""
        def look():
            try:
                message = client.recv(timeout=0)
            except TimeoutError:
                return None
            message = json.loads(message) if isinstance(message, str) else message
            return message if want(message) else None

        return self.until(look)

    def published(self, client):
        """The next message of a topic."""
        return self.heard(client, lambda message: message["op"] == "publish")["msg"]

    def refused(self, client, **message):
        """The status that a message is answered with."""
        say(client, **message)
        status = self.heard(client, lambda message: message["op"] == "status")
        assert status["level"] == "error" and "\n" not in status["msg"]
        return status["msg"]


class Silent:
    """A client that reads nothing before it is told to. The kernel holds little for it."""

    def __init__(self, port):
        self.raw = socket.socket()
        self.raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.raw.settimeout(LIMIT)
        self.raw.connect(("127.0.0.1", port))
        self.raw.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                         b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
        while self.raw.recv(1) + self.raw.recv(1) != b"\r\n" or self.raw.recv(2) != b"\r\n":
            pass

    def send(self, text):
        """One message."""
        text = text.encode()
        size = bytes([0x80 | len(text)]) if len(text) < 126 else b"\xfe" + len(text).to_bytes(2, "big")
        self.raw.sendall(b"\x81" + size + bytes(4) + text)

    def read(self):
        """The next message."""
        head = self._take(2)
        size = head[1]
        if size > 125:
            size = int.from_bytes(self._take(2 if size == 126 else 8), "big")
        return json.loads(self._take(size))

    def _take(self, size):
        got = b""
        while len(got) < size:
            more = self.raw.recv(size - len(got))
            assert more, "it was closed"
            got += more
        return got


def say(client, **message):
    client.send(json.dumps(message))


@pytest.fixture
def serve(tmp_path):
    """serve(text or name of a world) -> Serving, which is gone after the test."""
    with ExitStack() as stack:
        def made(text=CARTS, **parameters):
            world = text
            if "<" in text:
                world = tmp_path / "w.xml"
                world.write_text(text)
            said = []
            bridge = stack.enter_context(Rosbridge(("127.0.0.1", 0), said.append))
            serving = Serving(Simulation(read_world(world, **parameters)), bridge)
            serving.said = said
            stack.callback(serving.stack.close)
            serving.step()
            return serving

        yield made


__all__ = ["CARTS", "FormigaError", "Serving", "say"]
