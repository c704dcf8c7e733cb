"""A program outside in the laboratory: it goes on through edits, undo and a reset, and it ends with its world."""

import os
import sys
import time
from pathlib import Path

import pytest

import formiga
from tests.session.workspace import Workspace

DRIVER = Path(__file__).parents[1] / "control" / "remote_drivers.py"
WORLD = """<world name="driven" dt="0.1"><arena width="1.2" depth="1"/>
<sbot count="2" name="swarm"><grid spacing="0.3"/><proximity/><remote/></sbot></world>"""


@pytest.fixture
def at_work(tmp_path):
    (tmp_path / "driven.xml").write_text(WORLD)
    work = Workspace(str(tmp_path / "driven.xml"), programs={"swarm": f"{sys.executable} {DRIVER} numpy"})
    work.session.step()
    yield work
    work.session.sim.close()


def pid(work):
    return work.session.sim.programs.drivers["swarm"].pid


def driven(work):
    work.session.step()
    return work.session.sim.state.drive[0].all()


def gone(number):
    end = time.monotonic() + 30.0
    while time.monotonic() < end:
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.005)
    return False


def test_one_program_goes_on_through_moves_undo_and_a_reset(at_work):
    first = pid(at_work)
    assert first and driven(at_work)
    at_work.session.changes.drag("robot", 0, 0.3, 0.3, True)
    assert driven(at_work) and pid(at_work) == first
    at_work.run("undo")
    assert driven(at_work) and pid(at_work) == first
    at_work.run("reset")
    assert at_work.session.time == 0.0 and driven(at_work) and pid(at_work) == first
    at_work.run("bench 0.1")
    assert driven(at_work) and pid(at_work) == first
    assert not [text for kind, text in at_work.said if kind == "error"]


def test_another_number_of_robots_needs_the_program_anew_and_the_first_one_is_ended(at_work):
    first = pid(at_work)
    at_work.run("spawn swarm 0.3 -0.3")
    assert at_work.session.world.robots == 3
    assert driven(at_work) and pid(at_work) not in (0, first) and gone(first)


def test_a_program_ends_with_its_world_and_with_the_session(at_work):
    first = pid(at_work)
    at_work.session.open("corral")
    assert gone(first)
    again = Workspace(str(at_work.session.document.file), programs=None)
    again.session.step()
    again.session.run(lambda: True)


def test_the_console_says_how_a_program_ended(tmp_path):
    (tmp_path / "driven.xml").write_text(WORLD)
    work = Workspace(str(tmp_path / "driven.xml"), programs={"swarm": f"{sys.executable} {DRIVER} raise"})
    for _ in range(20):
        work.session.step()
    notes = [text for kind, text in work.said if kind == "note"]
    assert notes == ["swarm: its program ended (exit code 1: ValueError: bad idea)."]
    work.session.run(lambda: True)


def test_a_program_that_cannot_start_pauses_with_one_message(tmp_path):
    (tmp_path / "driven.xml").write_text(WORLD)
    work = Workspace(str(tmp_path / "driven.xml"), programs={"swarm": "./not-there"})
    work.session.play()
    work.session.step()
    assert not work.session.playing
    assert [text for kind, text in work.said if kind == "error"] == [
        "the program of 'swarm': './not-there' cannot be started (No such file or directory). Paused."]


def test_a_program_for_a_group_that_is_not_there_is_refused_before_anything_opens(tmp_path):
    (tmp_path / "driven.xml").write_text(WORLD)
    with pytest.raises(formiga.errors.WorldError, match="there is no group 'flock' for a program to drive"):
        Workspace(str(tmp_path / "driven.xml"), programs={"flock": "./driver"})
