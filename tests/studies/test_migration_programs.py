"""The programs of the migration study: what the Remote imports, what the Gate does with bad frames and datagrams, what a robot
does without its programs."""

import ast
import os
import signal
import socket
import struct
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from formiga.control.turns import turns_of
from formiga.link import Program
from formiga.loop import Simulation
from formiga.studies import harness
from formiga.studies.migration import processes
from formiga.studies.migration.processes import NoProgram, Serial, Trial
from formiga.studies.migration.programs import gate

BODY = gate.SENSORS.pack(1.5, 10, -20, 30, *range(6))


def children():
    """Processes that this one has started and that are still there."""
    return set(Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split())


# -- the Remote -------------------------------------------------------------------------------------------------------------
def test_the_remote_and_the_gate_import_the_standard_library_alone():
    for file, allowed in ((processes.REMOTE, {"formiga_remote"}), (processes.PROGRAMS / "gate.py", set())):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else \
                [node.module] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.split(".")[0] in sys.stdlib_module_names | allowed, f"{file.name} imports {name}"


def test_python_as_the_programs_run_it_cannot_find_formiga(tmp_path):
    look = tmp_path / "look.py"
    look.write_text("import importlib.util as u; print('found', u.find_spec('formiga'), u.find_spec('numpy'))")
    with processes.program("a look", str(look)) as started:
        assert processes.said(started, "found", "a look") == "found None None"


def test_the_camera_goes_into_the_remote_s_log_and_nowhere_else(monkeypatch):
    known = processes.on_robot(Trial(4), 1.0)
    monkeypatch.setattr(processes.Robot, "eye", lambda robot: gate.EYE.pack(b"FORMIGAV", 9.0, 9.0, 1.0))
    blind = processes.on_robot(Trial(4), 1.0)
    assert np.array_equal(known.truth, blind.truth) and np.array_equal(known.log[:, :12], blind.log[:, :12])
    assert (blind.log[-1, processes.EYE] == (9.0, 9.0, 1.0)).all() and (np.abs(known.log[-1, processes.EYE]) < 1.0).all()


def test_the_remote_by_shared_memory_drives_as_by_udp():
    """Any link of formiga's serves: the program knows none of it."""
    import formiga
    from formiga.studies.migration import elements  # noqa: F401

    world = harness.world("migration", {"port": 0}, "remote.xml")
    known = processes.on_simulator(5, 2, 2.0)
    driven = formiga.attach(world, "rover", str(processes.REMOTE))
    with Simulation(driven, 5, 2) as lab:
        for _ in range(49):
            lab.step()
        assert not lab.log.told
        assert np.array_equal(lab.state.position[:, 0], np.stack([course.truth[49, :2] for course in known]))


# -- frames -------------------------------------------------------------------------------------------------------------------
def test_a_frame_comes_back_as_it_was_whatever_bytes_it_has(rng):
    line = gate.Line()
    for number in range(200):
        body = rng.choice([0x7D, 0x7E, 0x5D, 0x5E, 0x00, 0xFF], rng.integers(0, 40)).astype(np.uint8).tobytes()
        assert line.take(gate.framed(b"S", number, body)) == [(b"S", number, body)]
    assert line.garbled == 0


def test_frames_are_found_in_pieces_of_any_size():
    data = b"".join(gate.framed(b"R", number, bytes((0x7E, number))) for number in range(5))
    for size in (1, 2, 7, 100):
        line, found = gate.Line(), []
        for at in range(0, len(data), size):
            found += line.take(data[at: at + size])
        assert [number for _, number, _ in found] == list(range(5))


def test_any_single_wrong_bit_is_noticed_and_the_next_frame_is_whole():
    frame, whole = gate.framed(b"S", 7, BODY), gate.framed(b"S", 8, BODY)
    for at in range(1, len(frame) - 1):
        for bit in range(8):
            wrong = bytearray(frame)
            wrong[at] ^= 1 << bit
            found = gate.Line().take(bytes(wrong) + whole)
            assert (b"S", 7, BODY) not in found and found[-1] == (b"S", 8, BODY)


def test_noise_between_frames_does_no_harm(rng):
    line = gate.Line()
    line.take(rng.integers(0, 256, 10_000).astype(np.uint8).tobytes())
    assert len(line.bytes) <= gate.LONGEST
    line.take(bytes((gate.DELIMITER,)))
    assert line.take(gate.framed(b"S", 1, BODY))[-1] == (b"S", 1, BODY)


def test_a_frame_whose_check_is_right_and_whose_body_is_too_short_is_answered_with_nothing():
    relay = gate.Gate(-1, None, None, (0.0, 0.0, 0.0), 0)
    for frame in ((b"S", 1, b"abc"), (b"S", 2, BODY + b"x"), (b"R", 3, b""), None):
        assert gate.Line().take(relay.turn(frame)) == [(b"N", 0, b"")]


def test_each_damaged_frame_of_the_line_is_refused_and_is_damaged_in_the_same_way_again():
    serial, frame = Serial(Trial(3, garbled=1.0)), gate.framed(b"S", 5, BODY)
    try:
        wrong = [serial.damaged(frame, number, "out") for number in range(100)]
        assert wrong == [serial.damaged(frame, number, "out") for number in range(100)]
        assert all((b"S", 5, BODY) not in gate.Line().take(each) for each in wrong if each != frame)
        assert sum(each != frame for each in wrong) > 95
    finally:
        serial.close()


# -- the Gate serves formiga's own protocol -----------------------------------------------------------------------------------
def test_the_gate_asks_with_the_very_bytes_of_the_simulator():
    world = harness.world("migration", {"port": 0}, "remote.xml")
    with Simulation(world, 1) as lab:
        turns = turns_of(world.groups[0], 1, lab.readings["rover"])
    words, _, size = gate.table()
    assert words.decode() == turns.table and size == turns.question.layout.itemsize
    assert turns.answer.layout.itemsize == gate.ANSWERED
    other = gate.Remote(0, 0.1)
    try:
        other.write(7, 0.28, [0.1 * k for k in range(6)], (1.0, 2.0, 3.0), (4.0, 5.0, 6.0))
        asked = np.frombuffer(bytes(other.question), turns.question.layout)[0]
        assert bytes(other.question[:20]) == turns.question.head[:20] and asked["frame"] == 7 and asked["time"] == 0.28
        assert (asked["worlds"], asked["robots"], asked["state"], asked["period"], asked["group"]) == (1, 1, 1, 0.04, b"rover")
        for name, known in (("own clock", [0.28]), ("reading infrared", [[[0.1 * k for k in range(6)]]]),
                            ("reading encoders", [[[1, 2, 3]]]), ("reading camera", [[[4, 5, 6]]])):
            np.testing.assert_allclose(asked[name], known)
    finally:
        other.socket.close()


@pytest.fixture
def asked():
    """A Gate's side of UDP, and a program at its other end that answers as it is told."""
    served, program = gate.Remote(0, 0.5), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    program.connect(served.socket.getsockname())
    program.settimeout(5.0)

    def answer(number, rims=(0.1, 0.2, 0.3), kind=gate.ANSWER, size=gate.ANSWERED):
        data = gate.HEAD.pack(gate.MAGIC, gate.VERSION, kind, size, 2) + struct.pack("<IIqd", 1, 1, number, 0.0)
        program.send((data + struct.pack("<3d", *rims))[:size].ljust(size, b"\0"))

    program.send(gate.HEAD.pack(gate.MAGIC, gate.VERSION, gate.HELLO, gate.BODY, 0))
    served.socket.settimeout(5.0)
    served.listen()
    yield served, program, answer
    served.socket.close()
    program.close()


def test_answers_that_are_late_doubled_or_garbage_are_no_answers(asked):
    served, program, answer = asked
    program.send(b"garbage")
    answer(3)
    answer(3)
    answer(4, size=gate.ANSWERED - 8)
    answer(4, rims=(np.nan, 0.0, 0.0))
    answer(4, kind=99)
    program.send(gate.HEAD.pack(gate.MAGIC, gate.VERSION, gate.ANSWER, gate.ANSWERED, 2) + b"cut off")
    answer(4, rims=(0.1, -9.0, 0.3))
    assert served.ask(4, 1) == (0.1, -gate.TOP, 0.3)          # the last one; a rim goes no faster than it can
    assert served.stale == 2 and served.garbage == 5 and not served.hung


def test_a_program_that_does_not_answer_is_waited_for_once(asked):
    import time

    served, _, answer = asked
    began = time.monotonic()
    assert served.ask(5, 1) is None and served.hung and time.monotonic() - began > 0.4
    began = time.monotonic()
    assert all(served.ask(number, 1) is None for number in range(6, 30)) and time.monotonic() - began < 5.0
    answer(30)
    assert served.ask(30, 1) is not None and not served.hung


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells that the port of an unconnected socket is closed")
def test_a_program_that_is_gone_is_not_waited_for_at_all_and_another_may_come(asked, capsys):
    import time

    served, program, _ = asked
    served.wait = 60.0
    program.close()
    began = time.monotonic()
    assert served.ask(5, 1) is None and served.ask(6, 1) is None and time.monotonic() - began < 10.0
    assert served.peer is None and "is gone" in capsys.readouterr().out
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.sendto(gate.HEAD.pack(gate.MAGIC, gate.VERSION, gate.HELLO, gate.BODY, 0), served.socket.getsockname())
        served.socket.settimeout(5.0)
        served.listen()
        assert served.peer[1] == other.getsockname()[1]


def test_a_question_that_got_lost_is_asked_again(asked):
    served, program, answer = asked

    def late():
        program.recv(4096)                                     # that of its hello
        program.recv(4096)                                     # the first is lost
        program.recv(4096)
        answer(9)

    other = threading.Thread(target=late)
    other.start()
    assert served.ask(9, 1) == (0.1, 0.2, 0.3)
    other.join()


# -- wrong input ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("option, word, words", [
    ("--serial", "/dev/nothing", "--serial /dev/nothing: is no serial device that can be opened (No such file"),
    ("--serial", "/etc/hostname", "/etc/hostname: is no serial device"), ("--udp", "x", "--udp x: is no whole number"),
    ("--udp", "70000", "from 0 to 65535"), ("--udp", "taken", "cannot be opened (Address already in use)"),
    ("--vision", "taken", "cannot be opened (Address already in use)"), ("--lost", "7", "--lost 7: is no number from 0 to 1"),
    ("--wait", "nan", "--wait nan: is no number"), ("--seed", "x", "--seed x: is no whole number")])
def test_a_gate_that_cannot_begin_says_why_in_one_line(monkeypatch, option, word, words):
    serial = Serial(Trial())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        word = str(taken.getsockname()[1]) if word == "taken" else word
        given = ["gate.py", option, word, "--serial", serial.name]
        monkeypatch.setattr(sys, "argv", given)
        try:
            with pytest.raises(SystemExit) as refused:
                gate.main()
        finally:
            serial.close()
    assert words in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize("text, words", [
    ("no map", "syntax error"), ("<map/>", "it must have one <start> and one <course>"),
    ('<map><start x="0" y="0" heading="0"/><course laps="x"/></map>', '<course laps="x"> is no whole number')])
def test_a_remote_with_a_wrong_map_says_why_in_one_line(tmp_path, text, words):
    file = tmp_path / "map.xml"
    file.write_text(text)
    with pytest.raises(SystemExit) as refused:
        processes.remote_module().Map(file)
    assert str(refused.value).startswith(f"the map {file}: ") and words in str(refused.value)


def test_a_gate_whose_line_is_gone_ends_at_once():
    """The end of a terminal reads as no bytes, again and again."""
    serial = Serial(Trial())
    with processes.program("the Gate", str(processes.PROGRAMS / "gate.py"), "--serial", serial.name) as relay:
        processes.said(relay, "udp", "the Gate")
        serial.close()
        assert processes.said(relay, "the serial line is gone", "the Gate")
        processes.finish(relay, 5.0)
        assert relay.ended()


# -- together -------------------------------------------------------------------------------------------------------------
def test_the_same_trial_gives_the_same_bits_and_leaves_no_process():
    before = children()
    trial = Trial(8, lost=0.05, doubled=0.05, late=0.05, dropped=0.03, garbled=0.03)
    one, other = (processes.on_robot(trial, 4.0) for _ in range(2))
    assert np.array_equal(one.truth, other.truth) and np.array_equal(one.log, other.log, equal_nan=True)
    assert one.said.startswith("over: ") and "0 lost" not in one.said and "0 garbled" not in one.said
    assert len(one.log) < 100 and float(np.hypot(*(one.truth[-1] - one.truth[0])[:2])) > 0.8
    assert not children() - before


def test_a_robot_with_inertia_moves_otherwise_under_the_same_program():
    one, other = (processes.on_robot(Trial(1, contact=contact), 1.5) for contact in ("reposition", "impulse"))
    way, slower = (float(np.hypot(*(course.truth[30, :2] - course.truth[0, :2]))) for course in (one, other))
    assert one.sha == other.sha == processes.hash_of(processes.REMOTE) and 0.5 * way < slower < 0.98 * way


def test_a_robot_whose_remote_is_killed_stands_soon():
    before = children()
    course = processes.on_robot(Trial(2, kill=1.0), 2.0)
    ordered = np.abs(course.orders).max(axis=1) > 0.0
    assert 1.15 <= course.clock[ordered].max() <= 1.2
    np.testing.assert_allclose(course.truth[-30:], course.truth[-1:].repeat(30, axis=0), atol=1e-3)
    assert not children() - before


def test_noise_on_the_line_costs_a_turn_or_two_and_the_robot_drives_on(monkeypatch):
    """A frame too many, before turn 10: answers would come a turn late for ever, and the robot would stand."""
    turn = Serial.turn

    def noisy(serial, number, body, relay):
        if number == 10:
            serial.send(b"~noise~more~")
        return turn(serial, number, body, relay)

    quiet = processes.on_robot(Trial(2, dropped=0.0, garbled=0.0), 2.0)
    monkeypatch.setattr(Serial, "turn", noisy)
    course = processes.on_robot(Trial(2, dropped=0.0, garbled=0.0), 2.0)
    moving = np.abs(course.orders[-100:]).max(axis=1) > 0.0
    assert moving.all() and "2 garbled" in course.said
    assert float(np.hypot(*(course.truth[-1] - quiet.truth[-1])[:2])) < 0.05


def test_a_line_that_never_is_silent_and_has_no_frame_is_not_read_for_ever(monkeypatch):
    monkeypatch.setattr(processes, "PATIENCE", 0.3)
    serial = Serial(Trial())
    end = os.open(serial.name, os.O_RDWR | os.O_NOCTTY)
    ended = threading.Event()

    def babble():
        while not ended.wait(0.002):
            os.write(end, b"x")

    other = threading.Thread(target=babble)
    other.start()
    try:
        with processes.program("the Gate", "-c", "import time; time.sleep(60)") as relay, \
                pytest.raises(NoProgram, match="the Gate did not answer"):
            serial.receive(relay)
    finally:
        ended.set()
        other.join()
        os.close(end)
        serial.close()


def test_a_remote_that_is_killed_on_the_simulator_is_told(monkeypatch):
    """Not by its last word, which is the hash of its file."""
    step, killed = Simulation.step, []

    def kill(lab, *orders):
        if not killed:
            killed.append(True)
            for child in children():
                if "remote.py" in Path(f"/proc/{child}/cmdline").read_text():
                    os.kill(int(child), signal.SIGKILL)
        return step(lab, *orders)

    monkeypatch.setattr(Simulation, "step", kill)
    with pytest.raises(NoProgram, match=r"^the Remote ended \(signal 9, killed\)\.$"):
        processes.on_simulator(5, 1, 0.2)


def test_a_gate_that_is_gone_is_told_in_one_line_and_nothing_hangs():
    serial = Serial(Trial())
    try:
        with processes.program("the Gate", "-c", "raise SystemExit('no such line')") as relay, pytest.raises(NoProgram) as told:
            serial.receive(relay)
        assert str(told.value) == "the Gate ended (exit code 1: no such line)."
        with processes.program("the Gate", str(processes.PROGRAMS / "gate.py")) as relay, pytest.raises(NoProgram) as told:
            processes.said(relay, "udp", "the Gate")
        assert "the Gate ended before it said 'udp' (exit code 1: use: " in str(told.value)
    finally:
        serial.close()


def test_a_program_that_is_silent_is_not_waited_for_for_ever(monkeypatch):
    monkeypatch.setattr(processes, "PATIENCE", 0.3)
    with processes.program("the Gate", "-c", "import time; time.sleep(60)") as mute, pytest.raises(NoProgram) as told:
        processes.said(mute, "udp", "the Gate")
    assert str(told.value) == "the Gate did not say 'udp' within 0.3 s."
    assert isinstance(mute, Program) and mute.ended()
