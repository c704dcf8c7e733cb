"""The bytes are those of FIRASim and VSSReferee: written by hand here, so that no number can drift."""

from __future__ import annotations

import re
import struct
from math import nan, pi
from pathlib import Path
from unittest.mock import ANY

import numpy as np
import pytest
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from formiga.soccer.talk import BLUE, YELLOW, Call, Foul
from formiga.soccer.wire import common_pb2, fira_pb2, messages, vssref_pb2
from formiga.world.field import Field
from tests.soccer.wires import BALL, RADIUS, TOP, game, sight

LIMITS = messages.Limits(3, RADIUS, TOP, 0.9, 0.65)
WIRE = Path(messages.__file__).parent
FILES = {"common": common_pb2, "fira": fira_pb2, "vssref": vssref_pb2}
PACKAGES = {"common": "fira_message", "fira": "fira_message.sim_to_ref", "vssref": "VSSRef"}

# What existing programs were compiled with: message -> field -> number. D double, U uint32, B bool, E enum, else a message;
# * repeated.
FIRASIM = {
    "fira_message.Ball": "x1D y2D z3D vx4D vy5D vz6D",
    "fira_message.Robot": "robot_id1U x2D y3D orientation4D vx5D vy6D vorientation7D",
    "fira_message.Field": "width1D length2D goal_width3D goal_depth4D center_radius5D penalty_width6D penalty_depth7D "
                          "penalty_point8D",
    "fira_message.Frame": "ball1M robots_yellow2M* robots_blue3M*",
    "fira_message.sim_to_ref.Environment": "step1U frame2M field3M goals_blue4U goals_yellow5U lockstep100U",
    "fira_message.sim_to_ref.Command": "id1U yellowteam2B wheel_left6D wheel_right7D",
    "fira_message.sim_to_ref.Commands": "robot_commands1M*",
    "fira_message.sim_to_ref.BallReplacement": "x1D y2D vx3D vy4D",
    "fira_message.sim_to_ref.RobotReplacement": "position1M yellowteam5B turnon6B",
    "fira_message.sim_to_ref.Replacement": "ball1M robots2M*",
    "fira_message.sim_to_ref.Packet": "cmd1M replace2M answered100U",
    "VSSRef.VSSRef_Command": "foul1E teamcolor2E foulQuadrant3E timestamp4D gameHalf5E",
    "VSSRef.VSSRef_Placement": "world1M",
    "VSSRef.Frame": "teamColor1E robots2M*",
    "VSSRef.Robot": "robot_id1U x2D y3D orientation4D",
}
ENUMS = {
    "Foul": ["FREE_KICK", "PENALTY_KICK", "GOAL_KICK", "FREE_BALL", "KICKOFF", "STOP", "GAME_ON", "HALT"],
    "Color": ["BLUE", "YELLOW", "NONE"],
    "Quadrant": ["NO_QUADRANT", "QUADRANT_1", "QUADRANT_2", "QUADRANT_3", "QUADRANT_4"],
    "Half": ["NO_HALF", "FIRST_HALF", "SECOND_HALF", "OVERTIME_FIRST_HALF", "OVERTIME_SECOND_HALF", "PENALTY_SHOOTOUTS"],
}
LETTERS = {1: "D", 13: "U", 8: "B", 14: "E", 11: "M"}   # of protobuf's own numbers for types


def double(value: float) -> bytes:
    return struct.pack("<d", value)


def message_bytes(number: int, inside: bytes) -> bytes:
    """A message in a message, up to field 15 and 127 bytes."""
    return bytes([number << 3 | 2, len(inside)]) + inside


def repeated(field) -> bool:
    return field.label == 3 if hasattr(field, "label") and not hasattr(field, "is_repeated") else field.is_repeated


# -- numbers ----------------------------------------------------------------------------------------------------------
def test_fields_have_the_numbers_and_types_that_existing_programs_were_compiled_with():
    ours = {}
    for module in FILES.values():
        for name, message in module.DESCRIPTOR.message_types_by_name.items():
            ours[f"{module.DESCRIPTOR.package}.{name}"] = " ".join(
                f"{field.name}{field.number}{LETTERS[field.type]}{'*' * repeated(field)}" for field in message.fields)
    assert ours == FIRASIM


def test_enums_count_as_in_vssreferee_and_as_our_own():
    ours = {name: [value.name for value in sorted(enum.values, key=lambda value: value.number)]
            for name, enum in vssref_pb2.DESCRIPTOR.enum_types_by_name.items()}
    assert ours == ENUMS
    for enum in vssref_pb2.DESCRIPTOR.enum_types_by_name.values():
        assert [value.number for value in enum.values] == list(range(len(enum.values)))
    assert [foul.name for foul in Foul] == ENUMS["Foul"]
    assert (BLUE, YELLOW) == (vssref_pb2.BLUE, vssref_pb2.YELLOW)


@pytest.mark.parametrize("name", FILES)
def test_generated_classes_agree_with_their_proto_file(name):
    """Every message, field, number, type and enum of the text is in the classes, and nothing else is."""
    text = re.sub(r"//.*", "", (WIRE / f"{name}.proto").read_text(encoding="utf-8"))
    package, = re.findall(r"^package ([\w.]+);", text, re.M)
    assert package == PACKAGES[name] == FILES[name].DESCRIPTOR.package
    simple = {"double": "D", "uint32": "U", "bool": "B"}
    written, enums = {}, {}
    for kind, block, inside in re.findall(r"^(message|enum) (\w+) \{(.*?)^\}", text, re.M | re.S):
        if kind == "enum":
            enums[block] = {value: int(number) for value, number in re.findall(r"(\w+) = (\d+);", inside)}
            continue
        written[block] = {(field, int(number), simple.get(of, of.rsplit(".", 1)[-1]), bool(many))
                          for many, of, field, number in re.findall(r"(repeated )?([\w.]+) (\w+) = (\d+);", inside)}
    generated = {block: {(field.name, field.number, getattr(field.message_type or field.enum_type, "name", LETTERS[field.type]),
                          repeated(field)) for field in message.fields}
                 for block, message in FILES[name].DESCRIPTOR.message_types_by_name.items()}
    assert generated == written
    assert {enum: {value.name: value.number for value in there.values}
            for enum, there in FILES[name].DESCRIPTOR.enum_types_by_name.items()} == enums


def test_every_proto_file_has_classes():
    assert {file.stem for file in WIRE.glob("*.proto")} == set(FILES)
    assert {file.stem.removesuffix("_pb2") for file in WIRE.glob("*_pb2.py")} == set(FILES)


# -- what we read, byte by byte ---------------------------------------------------------------------------------------
def test_a_command_of_rad_per_second_at_the_wheel_is_read():
    """Robot 1 of yellow, 20 and -10 rad/s with wheels of 20 mm: 0.4 and -0.2 m/s, as FIRASim drives."""
    command = b"\x08\x01" b"\x10\x01" b"\x31" + double(20.0) + b"\x39" + double(-10.0)
    packet = messages.read_packet(message_bytes(1, message_bytes(1, command)), LIMITS)
    assert packet.wheels == [(YELLOW, 1, pytest.approx(0.4), pytest.approx(-0.2))]
    assert packet.replacement is None and packet.answered == 0 and not packet.wrong and not packet.strangers


def test_robot_0_of_blue_that_is_to_stand_is_two_bytes_inside():
    """Nothing but defaults, so nothing is on the wire."""
    assert messages.read_packet(b"\x0a\x02\x0a\x00", LIMITS).wheels == [(BLUE, 0, 0.0, 0.0)]


def test_the_answer_of_a_program_that_knows_lock_step_is_field_100():
    packet = messages.read_packet(b"\x0a\x02\x0a\x00" b"\xa0\x06\x2a", LIMITS)
    assert packet.answered == 42


def test_a_replacement_is_in_degrees_and_both_parts_of_a_packet_count():
    robot = b"\x08\x02" b"\x11" + double(0.25) + b"\x19" + double(-0.5) + b"\x21" + double(90.0)
    ball = b"\x09" + double(0.1) + b"\x11" + double(0.2) + b"\x19" + double(0.3) + b"\x21" + double(0.4)
    replace = message_bytes(1, ball) + message_bytes(2, message_bytes(1, robot) + b"\x28\x01" b"\x30\x01")
    packet = messages.read_packet(b"\x0a\x02\x0a\x00" + message_bytes(2, replace), LIMITS)
    assert packet.wheels == [(BLUE, 0, 0.0, 0.0)]
    assert packet.replacement.ball == pytest.approx((0.1, 0.2, 0.3, 0.4))
    assert packet.replacement.robots == ((YELLOW, 2, 0.25, -0.5, pytest.approx(pi / 2), True),)


def test_who_does_not_say_turnon_switches_the_robot_off():
    packet = messages.read_packet(message_bytes(2, message_bytes(2, message_bytes(1, b"\x08\x01"))), LIMITS)
    assert packet.replacement.robots == ((BLUE, 1, 0.0, 0.0, 0.0, False),)


def test_a_placement_is_in_degrees_too():
    """VSSReferee hands a team's orientation to FIRASim as it is."""
    robot = b"\x08\x01" b"\x11" + double(0.5) + b"\x19" + double(0.2) + b"\x21" + double(180.0)
    places, wrong = messages.read_placement(message_bytes(1, b"\x08\x01" + message_bytes(2, robot)), LIMITS)
    assert places == [(YELLOW, 1, 0.5, 0.2, pytest.approx(pi), True)] and not wrong


# -- what we write, byte by byte --------------------------------------------------------------------------------------
def test_a_call_is_written_as_vssreferee_writes_it():
    call = Call(Foul.FREE_BALL, 2, 3, 1, 12.5)
    assert messages.call(call) == b"\x08\x03" b"\x10\x02" b"\x18\x03" b"\x21" + double(12.5) + b"\x28\x01"
    assert messages.call(Call(Foul.FREE_KICK, BLUE, 0, 1, 0.0)) == b"\x21" + double(messages.ALMOST) + b"\x28\x01"


def test_a_picture_is_written_as_firasim_writes_it():
    """Two robots, one switched off; robot 0 has no number. The ball at the centre has all its fields, and z is its radius."""
    seen = sight(1, players=1, ball=np.zeros(4), present=np.array([[True], [False]]))
    seen.robots[0, 0] = -0.25, 0.5, pi / 2, 1.0, 2.0, -3.0
    robot = b"".join(bytes([tag]) + double(value) for tag, value in zip(
        (0x11, 0x19, 0x21, 0x29, 0x31, 0x39), seen.robots[0, 0], strict=True))
    there = Field(width=1.3, length=1.5, goal_width=0.4, goal_depth=0.1, circle=0.2, area_width=0.7, area_depth=0.15,
                  penalty_spot=0.375)
    field = b"".join(bytes([tag]) + double(value) for tag, value in zip(
        range(0x09, 0x49, 8), (1.3, 1.5, 0.4, 0.1, 0.2, 0.7, 0.15, 0.375), strict=True))
    still = double(messages.ALMOST)
    ball = b"\x09" + still + b"\x11" + still + b"\x19" + double(BALL) + b"\x21" + still + b"\x29" + still
    assert messages.picture(seen, game((2, 1)), messages.field(there), BALL) == (
        b"\x08\x10" + message_bytes(2, message_bytes(1, ball) + message_bytes(3, robot)) + message_bytes(3, field)
        + b"\x20\x02" b"\x28\x01" b"\xa0\x06\x02")


def test_programs_that_index_every_field_find_it_when_all_is_zero():
    """proto3 leaves a number that is 0 out, and many programs turn a message into a dictionary and index it."""
    seen = sight(0, ball=np.zeros(4), robots=np.zeros((2, 3, 6)))
    picture = MessageToDict(fira_pb2.Environment.FromString(messages.picture(seen, game(), messages.field(Field()), BALL)))
    assert picture["frame"]["ball"] == {"x": ANY, "y": ANY, "z": BALL, "vx": ANY, "vy": ANY}
    for robots in (picture["frame"]["robotsBlue"], picture["frame"]["robotsYellow"]):
        for robot in robots:
            values = [robot[name] for name in ("x", "y", "orientation", "vx", "vy", "vorientation")]
            assert_allclose(values, 0.0, atol=1e-9)
    assert len(picture["field"]) == 8
    call = MessageToDict(vssref_pb2.VSSRef_Command.FromString(messages.call(Call(Foul.KICKOFF, YELLOW, 0, 1, 0.0))))
    assert call["timestamp"] == pytest.approx(0.0, abs=1e-9)


def test_step_counts_simulated_milliseconds():
    steps = [fira_pb2.Environment.FromString(messages.picture(sight(frame), game(), messages.field(Field()), BALL)).step
             for frame in range(300)]
    assert steps == [16 * frame for frame in range(300)]


def test_who_is_switched_off_or_not_seen_vanishes():
    seen = sight(present=np.array([[True, False, True], [False, False, False]]), ball=np.full(4, nan))
    seen.robots[0, 2, 0] = nan
    frame = fira_pb2.Environment.FromString(messages.picture(seen, game(), messages.field(Field()), BALL)).frame
    assert [robot.robot_id for robot in frame.robots_blue] == [0]
    assert not frame.robots_yellow and not frame.HasField("ball")


@given(st.floats(-1e6, 1e6))
def test_headings_are_sent_between_minus_pi_and_pi(heading):
    seen = sight()
    seen.robots[..., 2] = heading
    frame = fira_pb2.Environment.FromString(messages.picture(seen, game(), messages.field(Field()), BALL)).frame
    for robot in (*frame.robots_blue, *frame.robots_yellow):
        assert -pi < robot.orientation <= pi
        assert np.exp(1j * robot.orientation) == pytest.approx(np.exp(1j * heading), abs=1e-6)


# -- sizes ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("players", [1, 3, 5, 7])
def test_no_picture_is_longer_than_what_programs_read(players, rng):
    """And the bound that a hub checks is one: pictures of random numbers come close to it and never exceed it."""
    bound = messages.longest(players)
    assert bound <= 1024
    for _ in range(50):
        seen = sight(int(rng.integers(2**31)), players, ball=rng.normal(size=4), robots=rng.normal(size=(2, players, 6)))
        size = len(messages.picture(seen, game((200, 3)), messages.field(Field()), BALL))
        assert bound - 20 < size <= bound
