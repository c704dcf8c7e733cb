"""A published program for FIRASim plays here, unchanged: `vsss-client` of PyPI, with every field of every picture indexed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from formiga.link import sockets
from formiga.loop import Simulation
from formiga.soccer.arrange import arrange
from formiga.soccer.talk import NAMES
from tests.soccer.wires import HERE, Ear

# In a process of its own: its classes have the names of ours. It was generated with an old protoc, so it needs protobuf's
# implementation in Python.
CLIENT = """
import sys
from math import atan2, hypot, pi, remainder

from google.protobuf.json_format import MessageToDict
from vsss_client import Command, FIRASim, Team

fira = FIRASim(sys.argv[1])
print("ready", flush=True)
while True:
    picture = MessageToDict(fira.env())
    ball, field, orders = picture["frame"]["ball"], picture["field"], []
    assert field["width"] > 0.0 and field["length"] > 0.0 and field["goalWidth"] > 0.0 and field["goalDepth"] > 0.0
    assert abs(ball["z"] - 0.0215) < 1e-9 and hypot(ball["vx"], ball["vy"]) < 10.0
    for team, robots in (Team.BLUE, picture["frame"]["robotsBlue"]), (Team.YELLOW, picture["frame"]["robotsYellow"]):
        for number, robot in enumerate(robots):
            bearing = atan2(ball["y"] - robot["y"], ball["x"] - robot["x"]) - robot["orientation"]
            turn = 12.0 * remainder(bearing, 2 * pi)
            ahead = 25.0 - min(10.0, hypot(robot["vx"], robot["vy"]) + abs(robot["vorientation"]))
            orders.append(Command(team, number, ahead - turn, ahead + turn))
    fira.send_command(orders)
"""


@pytest.mark.parametrize("group", ["224.0.0.1", HERE])
def test_a_published_client_plays_from_kick_off_without_an_error(tmp_path, group):
    """From the first picture, with everything at rest and the ball at the centre, to the end; over multicast and without."""
    if group != HERE and not sockets.arrives(group, HERE):
        pytest.skip("this machine carries no multicast")
    with Ear(group) as free:
        vision = free.address
    with arrange("network", "network", half_seconds=1.0, halves=1, lockstep=True, patience=10.0, wait=10.0, network={
            "vision": [vision], "commands": (HERE, 0), "referee": None, "placement": None}) as match:
        hub = match.bridges[0].hub
        (tmp_path / "client.ini").write_text(
            f"[FIRA]\nvision_address = {vision[0]}\nvision_port = {vision[1]}\n"
            f"command_address = {hub.commands[0]}\ncommand_port = {hub.commands[1]}\n")
        client = subprocess.Popen([sys.executable, "-c", CLIENT, "client.ini"], cwd=tmp_path, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env={**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"})
        try:
            assert [client.stdout.readline() for _ in range(2)] == ["client.ini\n", "ready\n"], client.communicate()[1]
            match.play(Simulation(match.world, 0), stop=lambda: client.poll() is not None)
            assert client.poll() is None, client.communicate()[1]
        finally:
            client.kill()
            client.communicate()
        result = match.result()
    assert result["over"] and result["troubles"] == []
    assert all(result["statistics"]["teams"][team]["distance"] > 0.5 for team in NAMES)  # all drove


def test_the_whole_protocol_is_there_for_clients(tmp_path):
    """`vsss-client` was compiled with the numbers and types that ours have."""
    listed = subprocess.run([sys.executable, "-c", (
        "from vsss_client import common_pb2, command_pb2, packet_pb2, replacement_pb2\n"
        "for file in (common_pb2, command_pb2, packet_pb2, replacement_pb2):\n"
        "    for name, message in file.DESCRIPTOR.message_types_by_name.items():\n"
        "        for field in message.fields:\n"
        "            print(file.DESCRIPTOR.package, name, field.name, field.number, field.type)\n")],
        env={**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"}, capture_output=True, text=True, check=True)
    from formiga.soccer.wire import common_pb2, fira_pb2

    ours = {f"{file.DESCRIPTOR.package} {name} {field.name} {field.number} {field.type}"
            for file in (common_pb2, fira_pb2) for name, message in file.DESCRIPTOR.message_types_by_name.items()
            for field in message.fields}
    theirs = set(listed.stdout.splitlines())
    assert len(theirs) > 30 and theirs <= ours
