"""A program in another process that knows nothing of soccer: in lock step, in real time, dead, hung and writing garbage."""

import os
import re
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import formiga.link
from formiga.link import Exchange, LinkError, Remote
from tests.link.records import ANSWER, QUESTION

ROOT = Path(__file__).parents[2]
WAIT = 60.0  # s on the clock for what must come; the machine may be busy

BEGIN = """
import os, time
from formiga.link import Peer
from tests.link.records import ANSWER, QUESTION
with Peer.from_arguments(QUESTION, ANSWER) as peer:
    for room in peer:
"""
WELL = "peer.answer['power'] = 20.0 - room['temperature'], room['doors'].sum()"


@pytest.fixture
def start(tmp_path, monkeypatch):
    """start(body of the loop): a remote program; all are closed after the test."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    remotes = []

    def begin(body, **options):
        program = tmp_path / "heater.py"
        program.write_text(BEGIN + textwrap.indent(textwrap.dedent(body), 8 * " "))
        exchange = Exchange(QUESTION, ANSWER, name="heater")
        remotes.append(Remote("the heater", [sys.executable, str(program)], exchange, **{"patience": WAIT, **options}))
        return remotes[-1]

    yield begin
    for remote in remotes:
        remote.close()


def ask(remote, frame, wait=WAIT):
    remote.question["temperature"], remote.question["doors"] = 0.5 * frame, (frame, 1)
    remote.show(frame, 0.1 * frame)
    return remote.ask(frame, wait)


# -- in turns ---------------------------------------------------------------------------------------------------------
def test_in_lock_step_each_question_gets_its_own_answer(start):
    heater = start(WELL)
    for frame in range(50):
        values = ask(heater, frame)
        assert values["frame"] == frame and values["time"] == 0.1 * frame
        assert values["power"].tolist() == [20.0 - 0.5 * frame, frame + 1.0]
    assert heater.troubles() == [] and heater.failure() == "" and heater.alive


def test_an_answer_stays_as_it_was_when_the_next_one_comes(start):
    heater = start(WELL)
    first = ask(heater, 0)
    ask(heater, 1)
    assert first["power"].tolist() == [20.0, 1.0]


def test_without_waiting_the_newest_answer_counts_until_it_is_too_old(start):
    heater = start("""
        peer.answer["power"] = 7.0, 0.0
        if room["frame"] > 0:
            time.sleep(3600.0)
    """)
    assert heater.ready(WAIT) and ask(heater, 0)["power"][0] == 7.0
    for frame in range(1, 15):
        values = ask(heater, frame, wait=0.0)
        assert (values is None) == (frame >= 10), frame  # silence is 1 s, a question comes each 0.1 s
    assert heater.troubles() == ["answered no question for 1 s of simulated time; it is given up until it answers"]
    assert heater.failure() == "it does not answer any more"


# -- out of order -----------------------------------------------------------------------------------------------------
def test_a_program_that_dies_is_told_once_with_its_last_line(start):
    heater = start("if room['frame'] == 2:\n    raise SystemExit('no gas left')\n" + WELL)
    assert ask(heater, 0) is not None and ask(heater, 1) is not None
    began = time.monotonic()
    assert ask(heater, 2) is None and ask(heater, 3) is None
    assert time.monotonic() - began < WAIT  # a dead program is not waited for
    assert heater.troubles() == ["its program ended (exit code 1: no gas left)"] and heater.troubles() == []
    assert not heater.alive and heater.failure() == "its program ended (exit code 1: no gas left)"


def test_a_program_that_hangs_is_told_once_and_not_waited_for(start):
    heater = start("if room['frame'] == 2:\n    time.sleep(3600.0)\n" + WELL)
    ask(heater, 0)
    ask(heater, 1)
    began = time.monotonic()
    for frame in range(2, 8):  # the last answer counts for a second of simulated time
        assert ask(heater, frame, wait=0.3 if frame == 2 else WAIT)["frame"] == 1
    assert ask(heater, 30) is None
    assert time.monotonic() - began < WAIT
    assert heater.troubles() == ["answered no question for 0.3 s; it is not waited for until it answers again"]


def test_a_program_that_answers_again_is_waited_for_again(start, tmp_path):
    go = tmp_path / "go"
    heater = start(f"while room['frame'] == 1 and not os.path.exists({str(go)!r}):\n    time.sleep(0.01)\n" + WELL)
    ask(heater, 0)
    ask(heater, 1, wait=0.2)
    go.touch()
    end, frame = time.monotonic() + WAIT, 1
    while heater.failure() and time.monotonic() < end:
        frame += 1
        ask(heater, frame, wait=0.2)
        time.sleep(0.02)
    assert ask(heater, frame + 1)["frame"] == frame + 1
    assert heater.troubles() == ["answered no question for 0.2 s; it is not waited for until it answers again", "answers again"]


@pytest.mark.parametrize("body, trouble", [
    ("peer._answered._bytes[:20] = bytes(20)", "wrote over the head of its memory; its answers are not used"),
    ("peer.frame += 1000", "answered a question that it was never shown; its answers are not used"),
])
def test_garbage_is_told_once_and_not_used(start, body, trouble):
    heater = start(f"if room['frame'] >= 1:\n    {body}\npeer.answer['power'] = 7.0")
    ask(heater, 0)
    assert ask(heater, 1, wait=1.0)["frame"] == 0 and heater.alive
    told = heater.troubles()
    assert told[0] == trouble and [line for line in told if line == trouble] == [trouble]


def test_what_the_user_of_an_answer_refuses_is_told(start):
    refused = lambda values: None if np.isfinite(values["power"]).all() else ("power", "wants no power at all")  # noqa: E731
    heater = start("peer.answer['power'] = float('nan')", accept=refused)
    ask(heater, 0)
    assert heater.troubles() == ["wants no power at all"]


# -- starting and ending ----------------------------------------------------------------------------------------------
def test_a_program_that_cannot_be_started_is_a_clear_complaint_and_leaves_nothing(tmp_path):
    (tmp_path / "text").write_text("no program\n")
    (tmp_path / "text").chmod(0o755)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(LinkError, match=r"the heater: '.*text' cannot be started \(Exec format error\)"):
        Remote("the heater", [str(tmp_path / "text")], Exchange(QUESTION, ANSWER))
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_program_that_ends_before_it_opens_its_memories_could_not_start(tmp_path):
    program = tmp_path / "heater.py"
    program.write_text("raise SystemExit('out of order')")
    with Remote("the heater", [sys.executable, str(program)], Exchange(QUESTION, ANSWER)) as heater, \
            pytest.raises(LinkError, match=r"the heater could not start: its program ended \(exit code 1: out of order\)\."):
        heater.start(WAIT)


def test_closing_ends_the_program_and_gives_everything_back(start):
    before = len(os.listdir("/proc/self/fd"))
    heater = start(WELL)
    ask(heater, 0)
    heater.close()
    heater.close()
    assert len(os.listdir("/proc/self/fd")) == before
    assert ask(heater, 1) is None and not heater.alive
    with pytest.raises(ProcessLookupError):
        os.kill(heater.pid, 0)


def test_a_program_with_other_records_says_so(start, tmp_path, monkeypatch):
    """Each record has a kind: a program that was written for another one does not read nonsense."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    program = tmp_path / "other.py"
    program.write_text("from formiga.link import Peer\nfrom tests.link.records import ANSWER, QUESTION\n"
                       "Peer.from_arguments(ANSWER, QUESTION)")
    with Remote("the heater", [sys.executable, str(program)], Exchange(QUESTION, ANSWER)) as heater, \
            pytest.raises(LinkError, match="kind 11 and 60 bytes; expected are version 1, kind 12 and 60 bytes"):
        heater.start(WAIT)


# -- the example of the documentation ---------------------------------------------------------------------------------
def test_the_example_in_the_documentation_runs(tmp_path, monkeypatch):
    blocks = re.split(r"\n(?=\S)", formiga.link.__doc__)
    heater, thermostat, asker = (textwrap.dedent(block.split("\n\n", 1)[1]) for block in blocks if "\n\n    " in block)
    (tmp_path / "heater.py").write_text(heater)
    (tmp_path / "thermostat.py").write_text(thermostat)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    found = {"sys": sys, "Exchange": Exchange, "Remote": Remote}
    exec(heater, found)
    exec(asker, found)
    assert found["step"] == 99 and found["power"].tolist() == [1.0, 0.0] and found["remote"].troubles() == []
