"""Whatever arrives at the ports, the game goes on: speeds are clamped, and each source is complained about once in a second."""

from __future__ import annotations

import collections
import re
import resource
import subprocess
import sys
import time
from math import hypot, isfinite, pi
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from formiga.link import complaints
from formiga.soccer.talk import BLUE, YELLOW
from formiga.soccer.wire import messages
from formiga.soccer.wire.fira_pb2 import Packet
from formiga.soccer.wire.vssref_pb2 import VSSRef_Placement
from tests.soccer.wires import HERE, RADIUS, TOP, Ear, Mouth, game, hub_of, sight, soon

ROOT = Path(__file__).parents[2]
LIMITS = messages.Limits(3, RADIUS, TOP, 0.9, 0.65)

reals = st.one_of(st.floats(), st.sampled_from([1e308, -1e308, 5e-324, float("nan"), float("inf"), 0.0, 20.0, -0.4]))
ids = st.one_of(st.integers(0, 4), st.integers(0, 2**32 - 1))
COMPLAINT = re.compile(r"(.+) sent (?:a packet|([\d,]+) packets) that we dropped, in whole or in part: the last one .+\.")


# -- what a packet can do ---------------------------------------------------------------------------------------------
def sensible(data: bytes) -> None:
    """A packet is garbage, or what comes out of it can be done."""
    try:
        packet = messages.read_packet(data, LIMITS)
    except messages.Garbage as wrong:
        assert 0 < len(str(wrong)) < 100
        return
    for team, robot, left, right in packet.wheels:
        assert team in (BLUE, YELLOW) and 0 <= robot < 3 and max(abs(left), abs(right)) <= TOP
    if packet.replacement is None:
        return
    for place in packet.replacement.robots:
        on_the_field = abs(place.x) <= LIMITS.x and abs(place.y) <= LIMITS.y and -pi < place.heading <= pi
        nowhere = np.isnan([place.x, place.y, place.heading]).all() and not place.on
        assert place.team in (BLUE, YELLOW) and 0 <= place.robot < 3 and (on_the_field or nowhere)
    if packet.replacement.ball is not None:
        x, y, vx, vy = packet.replacement.ball
        assert abs(x) <= LIMITS.x and abs(y) <= LIMITS.y and isfinite(vx + vy) and hypot(vx, vy) <= 5.0 + 1e-9


def sensible_placement(data: bytes) -> None:
    try:
        places, _ = messages.read_placement(data, LIMITS)
    except messages.Garbage:
        return
    for place in places:
        assert place.team in (BLUE, YELLOW) and 0 <= place.robot < 3
        assert abs(place.x) <= LIMITS.x and abs(place.y) <= LIMITS.y and -pi < place.heading <= pi


@st.composite
def packets(draw) -> bytes:
    """Well-formed messages with absurd numbers in them."""
    packet = Packet(answered=draw(ids))
    for robot, yellow, left, right in draw(st.lists(st.tuples(ids, st.booleans(), reals, reals), max_size=80)):
        packet.cmd.robot_commands.add(id=robot, yellowteam=yellow, wheel_left=left, wheel_right=right)
    for robot, yellow, on, x, y, heading in draw(st.lists(st.tuples(ids, st.booleans(), st.booleans(), reals, reals, reals),
                                                         max_size=80)):
        each = packet.replace.robots.add(yellowteam=yellow, turnon=on)
        each.position.robot_id, each.position.x, each.position.y, each.position.orientation = robot, x, y, heading
    if draw(st.booleans()):
        ball = packet.replace.ball
        ball.x, ball.y, ball.vx, ball.vy = draw(st.tuples(reals, reals, reals, reals))
    return packet.SerializeToString()


@settings(max_examples=500)
@given(st.binary(max_size=400))
def test_random_bytes_are_garbage_or_can_be_done(data):
    sensible(data)
    sensible_placement(data)


@settings(max_examples=300)
@given(packets(), st.data())
def test_absurd_numbers_cut_messages_and_flipped_bits_are_garbage_or_can_be_done(data, draws):
    sensible(data)
    sensible(data[: draws.draw(st.integers(0, len(data)))])
    if data:
        bent, at = bytearray(data), draws.draw(st.integers(0, len(data) - 1))
        bent[at] ^= 1 << draws.draw(st.integers(0, 7))
        sensible(bytes(bent))


def test_every_beginning_of_a_message_is_garbage_or_can_be_done():
    packet = Packet(answered=7)
    packet.cmd.robot_commands.add(id=1, yellowteam=True, wheel_left=1.0, wheel_right=2.0)
    packet.replace.robots.add(turnon=True).position.x = 0.3
    packet.replace.ball.vx = 1.0
    placement = VSSRef_Placement()
    placement.world.robots.add(robot_id=2, x=0.1, y=0.1, orientation=3.0)
    for data, check in ((packet.SerializeToString(), sensible), (placement.SerializeToString(), sensible_placement)):
        for size in range(len(data) + 1):
            check(data[:size])


@pytest.mark.parametrize("data, why", [
    (bytes(messages.MOST_BYTES + 1), "is longer than 4,096 bytes"),
    (b"", "has neither commands nor replacements in it"),
    (b"\x0a\xf0\x0f" + b"\x0a\x00" * 1016, "has 1,016 commands in it"),
    (b"\x12\xf0\x0f" + b"\x12\x00" * 1016, "puts 1,016 robots somewhere"),
    (b"\x0a\xff\xff\xff\xff\x0f", "is no Packet of FIRASim"),                   # a length of 4 GB
    (b"\x0b" * 200, "is no Packet of FIRASim"),                                 # 200 groups in each other, none of which ends
])
def test_giants_are_garbage_and_say_why(data, why):
    with pytest.raises(messages.Garbage, match=why):
        messages.read_packet(data, LIMITS)


# -- what a hub does --------------------------------------------------------------------------------------------------
def test_a_source_is_told_at_once_then_once_in_a_second_with_how_many_were_dropped():
    with hub_of() as hub, Mouth(hub.commands) as mad:
        mad.say(b"\xff")
        assert soon(hub.troubles) == [
            f"{mad.name} sent a packet that we dropped, in whole or in part: the last one is no Packet of FIRASim."]
        for _ in range(120):
            mad.say(b"\xff\xff")
        assert soon(hub.troubles) == [
            f"{mad.name} sent 120 packets that we dropped, in whole or in part: the last one is no Packet of FIRASim."]


def test_hundreds_of_sources_cost_no_more_lines_and_memory_than_a_few():
    with hub_of() as hub:
        for _ in range(200):
            with Mouth(hub.commands) as mad:
                mad.say(b"\xff")
        lines: list[str] = []
        soon(lambda: lines.extend(hub.troubles()) or hub._complaints.dropped == 200)
        assert sum("other programs" in line for line in lines) >= 1
        assert len({COMPLAINT.fullmatch(line)[1] for line in lines}) == complaints.SOURCES + 1
        assert len(hub._complaints._sources) == complaints.SOURCES + 1


FLOOD = """
import random, socket, sys, time
from formiga.soccer.wire.fira_pb2 import Packet

def packet(robot, left, right, many=1):
    message = Packet(answered=robot)
    for _ in range(many):
        message.cmd.robot_commands.add(id=robot, yellowteam=True, wheel_left=left, wheel_right=right)
    return message.SerializeToString()

draws, nan, inf = random.Random(5), float("nan"), float("inf")
good = packet(2, 30.0, -30.0)
kinds = [b"", b"\\xff" * 60_000, packet(1, 1e308, -1e308), packet(0, nan, inf), packet(4_000_000_000, 1.0, 1.0),
         packet(1, 1.0, 1.0, many=150), *(good[:size] for size in range(3, len(good))),
         *(b"\\xff" + draws.randbytes(draws.randrange(700)) for _ in range(40))]
port, rate, mouths = int(sys.argv[1]), float(sys.argv[2]), [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
for mouth in mouths:
    mouth.bind(("127.0.0.1", 0))
print(*(mouth.getsockname()[1] for mouth in mouths), flush=True)
began, sent = time.perf_counter(), 0
while True:
    while sent < rate * (time.perf_counter() - began):
        mouths[sent // 7 % 2].sendto(kinds[sent % len(kinds)], ("127.0.0.1", port))
        sent += 1
    time.sleep(0.0005)
"""


@pytest.mark.slow
def test_the_game_goes_on_under_ten_thousand_bad_packets_a_second():
    """A match at 60 Hz, a good program that plays blue, and a mad one that sends two streams of garbage for yellow."""
    with Ear() as eyes, hub_of(vision=[eyes.address], placement=(HERE, 0)) as hub, Mouth(hub.commands) as good:
        blue, yellow = hub.bridge(BLUE), hub.bridge(YELLOW)
        mad = subprocess.Popen([sys.executable, "-c", FLOOD, str(hub.commands[1]), "10000"], cwd=ROOT,
                               stdout=subprocess.PIPE, text=True)
        try:
            sources = [f"{HERE}:{port}" for port in mad.stdout.readline().split()]
            soon(lambda: hub._complaints.dropped > 2000)
            hub.troubles()
            memory, lines, fresh, dropped = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, [], 0, hub._complaints.dropped
            began = time.monotonic()
            for frame in range(180):
                blue.show(sight(frame), game())
                assert eyes.see().step == 16 * frame
                good.drive((0, False, frame, frame))
                time.sleep(max(0.0, began + frame / 60 - time.monotonic()))
                orders = blue.orders(frame, 0.0), yellow.orders(frame, 0.0)
                assert np.abs(orders).max() <= TOP
                fresh += orders[0][0, 0] == pytest.approx(min(TOP, RADIUS * frame))
                lines += blue.troubles() + yellow.troubles()
            seconds = time.monotonic() - began
            assert hub._complaints.dropped - dropped > 1000 * seconds     # it was a flood
            soon(lambda: good.drive((0, False, 5.0, -5.0)) or np.allclose(blue.orders(180, 0.0)[0], [0.1, -0.1]))
        finally:
            mad.kill()
            mad.communicate()
        assert fresh > 0                                                  # the good program is heard through it
        assert_allclose(yellow.orders(180, 0.0)[1], [TOP, -TOP])          # 1e308 is as fast as it can
        told = collections.Counter(found[1] for line in lines if (found := COMPLAINT.fullmatch(line)))
        assert set(told) == set(sources)
        assert max(told.values()) <= seconds + 2
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 16 * 1024  # KB
        hub.close()
        assert not hub._thread.is_alive()
