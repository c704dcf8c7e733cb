"""Whole matches between real programs, and the command that plays them."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from math import inf
from pathlib import Path
from urllib.request import urlopen

import pytest
from click.testing import CliRunner

from formiga.cli import cli
from formiga.link.pace import Pace
from formiga.loop import Simulation
from formiga.record.recording import read_recording
from formiga.soccer import league
from formiga.soccer.arrange import arrange
from tests.soccer.processes import SLOW, all_gone, children

ROOT = Path(__file__).parents[2]


# -- real programs ------------------------------------------------------------------------------------------------------------
def program(tmp_path, name, body):
    file = tmp_path / f"{name}.py"
    file.write_text("import os, sys, time\nfrom formiga.soccer.team import Team\nwith Team.from_arguments() as team:\n"
                    "    for see in team:\n" + "".join(f"        {line}\n" for line in body.splitlines()))
    return str(file)


ATTACK = """for i, me in enumerate(see.own):
    team.drive(i, 0.6, 4.0 * me.bearing(see.ball.x, see.ball.y))"""


@pytest.fixture(autouse=True)
def findable(monkeypatch):
    """Programs of a test find this formiga."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def test_real_programs_in_lock_step_play_the_same_match_twice(tmp_path):
    def ends():
        with arrange("chaser", program(tmp_path, "mine", ATTACK), seed=3, half_seconds=6.0, patience=SLOW) as match:
            sim = Simulation(match.world, 3)
            match.play(sim)
            assert match.result()["troubles"] == []
            return match.result()["calls"], sim.state.position.tobytes() + sim.state.movables.tobytes()

    first, again = ends(), ends()
    assert first == again


def test_a_program_that_dies_is_reported_with_its_last_words_and_the_other_plays_on(tmp_path):
    dies = program(tmp_path, "dies", "if see.frame == 90:\n    raise ValueError('no legs left')\n" + ATTACK)
    with arrange("chaser", "chaser", half_seconds=0.1) as match:
        assert match.names == ("chaser", "chaser 2")  # so that a trouble has one team
    with arrange(dies, program(tmp_path, "lives", ATTACK), half_seconds=6.0, halves=1, patience=SLOW) as match:
        sim = Simulation(match.world, 0)
        match.play(sim)
        result = match.result()
    assert result["over"] and any(trouble["who"] == "dies" and "ended" in trouble["what"] for trouble in result["troubles"])
    assert "no legs left" in result["last_words"]["blue"] and "yellow" not in result["last_words"]
    run = result["statistics"]["robots"]
    assert max(robot["distance"] for robot in run["yellow"]) > 0.5


def test_a_program_that_hangs_is_reported_and_not_waited_for(tmp_path):
    hangs = program(tmp_path, "hangs", "time.sleep(1000.0 if see.frame == 70 else 0.0)\n" + ATTACK)
    with arrange(program(tmp_path, "lives", ATTACK), hangs, half_seconds=4.0, halves=1, patience=0.5) as match:
        match.play(Simulation(match.world, 0))
        result = match.result()
    assert result["over"] and any(trouble["who"] == "hangs" for trouble in result["troubles"])
    assert result["pace"]["wall_seconds"] < SLOW


def test_a_team_that_never_comes_is_not_waited_for_for_ever(tmp_path):
    never = tmp_path / "never.py"
    never.write_text("import time\ntime.sleep(1000)\n")
    with arrange(str(never), "chaser", half_seconds=0.5, halves=1, lockstep=False, wait=1.0) as match:
        match.play(Simulation(match.world, 0), speed=8.0)
    assert match.over and any("not there after 1 s" in trouble["what"] for trouble in match.troubles)


def test_a_network_team_and_a_program_play_each_other_in_real_time():
    """A real client of FIRASim's protocol in a process of its own, on ports of this test."""
    vision, commands = free_ports(2)
    network = {"vision": [("127.0.0.1", vision)], "commands": ("127.0.0.1", commands), "referee": None, "placement": None}
    client = subprocess.Popen([sys.executable, "-m", "formiga.soccer.programs.firasim_client", "--colour", "yellow", "--vision",
                               f"127.0.0.1:{vision}", "--commands", f"127.0.0.1:{commands}"], cwd=ROOT)
    try:
        with arrange("chaser", "network", half_seconds=3.0, halves=1, rules="mirosot", network=network, wait=SLOW) as match:
            match.play(Simulation(match.world, 0), speed=1.0)
            result = match.result()
    finally:
        client.kill()
        client.wait()
    assert result["over"] and not result["lockstep"] and result["dt"] == 0.016
    assert all(max(robot["distance"] for robot in robots) > 0.1 for robots in result["statistics"]["robots"].values())


SILENT = """import socket, sys, time
from formiga.soccer.wire.fira_pb2 import Environment, Packet
vision, commands = int(sys.argv[1]), int(sys.argv[2])
ear = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ear.bind(("127.0.0.1", vision))
mouth = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
packet = Packet()
for robot in range(3):
    packet.cmd.robot_commands.add(id=robot, yellowteam=True, wheel_left=-15.0, wheel_right=15.0)
while True:                                   # it turns on the spot for 1 s, with nonsense in between, and then is silent
    if Environment.FromString(ear.recv(1024)).step < 1000:
        mouth.sendto(packet.SerializeToString(), ("127.0.0.1", commands))
        mouth.sendto(b"\\xffgarbage", ("127.0.0.1", commands))
"""


def test_a_network_program_that_falls_silent_stands_after_2_s_and_the_match_goes_on(tmp_path):
    """In a process of its own, in lock-step: so it is seen to the picture when its robots stop."""
    file, (vision, commands) = tmp_path / "silent.py", free_ports(2)
    file.write_text(SILENT)
    client = subprocess.Popen([sys.executable, str(file), str(vision), str(commands)], cwd=ROOT)
    network = {"vision": [("127.0.0.1", vision)], "commands": ("127.0.0.1", commands), "referee": None, "placement": None}
    turning = []
    try:
        with arrange(program(tmp_path, "still", "pass"), "network:bees", half_seconds=4.0, halves=1, rules="none",
                     lockstep=True, network=network, wait=SLOW, patience=0.2) as match:
            sim = Simulation(match.world, 0)
            match.play(sim, progress=lambda _: turning.append(abs(sim.state.velocity[0, 3, 2]) > 1.0))
            result = match.result()
    finally:
        client.kill()
        client.wait()
    stopped = (len(turning) - turning[::-1].index(True)) * result["dt"]
    assert 2.9 < stopped < 3.2 and result["over"]
    said = [trouble["what"] for trouble in result["troubles"]]
    assert "no commands for 2 s; its robots stand until some come." in said and any("packet" in line for line in said), said


def free_ports(count):
    """Ports that are not in use now."""
    import socket

    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


# -- the command -----------------------------------------------------------------------------------------------------------
def formiga(*arguments, **options):
    return subprocess.Popen([sys.executable, "-m", "formiga", *map(str, arguments)], cwd=ROOT, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, **options)


def test_the_command_plays_prints_and_writes(tmp_path):
    process = formiga("match", "chaser", "colony", "--half", 3, "--seed", 5, "--json", tmp_path / "m.json", "--out",
                      tmp_path / "m.parquet")
    stdout, stderr = process.communicate(timeout=4 * SLOW)
    assert process.returncode == 0, stderr
    assert "chaser" in stdout and "possession" in stdout and "lock-step" in stdout
    result = json.loads((tmp_path / "m.json").read_text())
    assert result["over"] and result["seed"] == 5 and (result["blue"], result["yellow"]) == ("chaser", "colony")
    assert read_recording(tmp_path / "m.parquet").ending == "complete"
    assert sorted(os.listdir(tmp_path)) == ["m.json", "m.parquet"]


@pytest.fixture
def compiled():
    """The kernels of a match are compiled; until then Ctrl-C ends it without a score."""
    Simulation(league.world(), seed=0).step()


def test_ctrl_c_ends_the_match_says_how_it_stood_and_leaves_no_process(compiled, tmp_path):
    begun = tmp_path / "begun"  # after 10 s of the game no kernel is left to compile
    team = program(tmp_path, "team", f"if see.frame == 300:\n    open({str(begun)!r}, 'w').close()")
    process = formiga("match", team, "chaser", "--half", 100000, "--json", tmp_path / "m.json")
    end = time.monotonic() + 4 * SLOW
    while not begun.exists() and time.monotonic() < end:
        time.sleep(0.1)
    started = children(process.pid)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=SLOW)
    assert process.returncode == 130 and "formiga: interrupted at" in stderr and "Traceback" not in stderr
    assert "possession" in stdout and json.loads((tmp_path / "m.json").read_text())["interrupted"]
    assert started and all_gone(started)


def test_a_match_in_the_browser_is_served_and_ends_with_its_score(compiled):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = formiga("match", "chaser", "chaser", "--view", "--no-browser", "--half", 1000, "--port", port)
        said = process.stdout.readline()
    try:
        assert re.fullmatch(rf"port {port} is in use; this is port \d+\.\n", said), said
        line = process.stdout.readline()
        found = re.fullmatch(r"the match is at (http://127\.0\.0\.1:\d+)   \(Ctrl-C ends it\)\n", line)
        assert found, line + process.stderr.read()
        with urlopen(found[1], timeout=SLOW) as page:
            assert page.status == 200
        time.sleep(2.0)
        started = children(process.pid)
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=SLOW)
    finally:
        process.kill()
    assert process.returncode == 143 and "possession" in stdout and "formiga: interrupted at" in stderr
    assert "Traceback" not in stderr and started and all_gone(started)


@pytest.mark.parametrize("arguments, words", [
    (("chaser", "coloni"), "Did you mean 'colony'"), (("chaser", "colony", "--preset", "golv"), "Did you mean 'golf'"),
    (("chaser", "colony", "--rules", "vss"), "Did you mean 'vsss'"), (("chaser", "colony", "--speed", "0"), "no speed"),
    (("chaser", "colony", "--collisions", "circel"),
     "there are no collisions 'circel'. Did you mean 'circle'? There are: square, circle."),
    (("chaser", "colony", "--names", "a,b,c"), "3 names (a, b, c) for 2 teams; give one for each"),
    (("chaser", "colony", "--names", "a"), "1 names (a) for 2 teams"),
    (("chaser", "colony", "--names", "a, "), "'' cannot be the name"),
    (("chaser", "colony", "--names", "a,a"), "two teams cannot both be named 'a'"),
    (("chaser", "colony", "--names", f"a,{'b' * 41}"), "1 to 40 printable characters"),
    (("chaser", "colony", "--half", "-1"), "cannot be played"), (("chaser", "network", "--commands", "here"), "no address"),
    (("chaser", "colony", "--out", "match.mp4"), "a recording is a file such as match.parquet")])
def test_what_cannot_be_is_refused_with_one_message(arguments, words):
    result = command(*arguments)
    assert result.exit_code == 2 and words in result.stderr and "Traceback" not in result.output
    assert result.stderr.count("formiga:") <= 1 and result.stdout == ""


def test_a_match_on_the_old_model_under_given_names_and_without_strict_places(tmp_path):
    """Blue wants two robots in one place, and one in yellow's half; its log and the output say what was refused."""
    wants = program(tmp_path, "wants", "if see.new_call:\n    for i, x in enumerate((-0.5, -0.5, 0.3)):\n"
                                       "        team.place(i, x, 0.4, 0.0)")
    result = command(wants, "chaser", "--half", 0.5, "--halves", 1, "--collisions", "circle", "--names", "ants, bees",
                     "--no-strict", "--json", tmp_path / "m.json")
    assert result.exit_code == 0, result.stderr
    stored = json.loads((tmp_path / "m.json").read_text())
    assert (stored["blue"], stored["yellow"], stored["collisions"], stored["strict"]) == ("ants", "bees", "circle", False)
    refused = "blue 1 may not stand at (-0.5, 0.4): blue 0 is there"
    assert [each["why"] for each in stored["refusals"]] == [refused]
    assert f"blue's kick-off: {refused}" in result.stdout and "robots collide as circles" in result.stdout
    assert "ants" in result.stdout and f"{stored['played_seconds']:.1f} s of play" in result.stdout


def command(*arguments):
    """`formiga match`, in this process."""
    return CliRunner().invoke(cli, ["match", *map(str, arguments)], prog_name="formiga")


@pytest.mark.parametrize("more", [(), ("--no-lockstep", "--speed", 8), ("--view", "--no-browser")])
def test_a_program_that_cannot_start_is_said_and_nothing_is_played(tmp_path, more):
    broken = tmp_path / "broken.py"
    broken.write_text("print('hello')\nimport a_module_that_there_is_not\n")
    result = command(broken, "chaser", "--half", 1, "--json", tmp_path / "m.json", *more)
    assert result.exit_code == 2 and result.stderr == (
        "formiga: Team broken (blue) could not start: its program ended (exit code 1: ModuleNotFoundError: "
        "No module named 'a_module_that_there_is_not').\n")
    assert "possession" not in result.stdout and not (tmp_path / "m.json").exists()


def test_a_match_that_a_team_could_not_finish_ends_with_its_score_and_an_exit_code(tmp_path):
    dies = program(tmp_path, "dies", "if see.frame == 30:\n    raise ValueError('no legs left')\n" + ATTACK)
    hangs = program(tmp_path, "hangs", "time.sleep(1000.0 if see.frame == 40 else 0.0)\n" + ATTACK)
    result = command(dies, hangs, "--half", 0.5, "--halves", 1, "--json", tmp_path / "m.json")
    assert result.exit_code == 1 and "possession" in result.stdout
    why = ["its program ended (exit code 1: ValueError: no legs left)", "it does not answer any more"]
    assert result.stderr == (f"formiga: dies (blue) did not play to the end: {why[0]}\n"
                             f"formiga: hangs (yellow) did not play to the end: {why[1]}\n")
    stored = json.loads((tmp_path / "m.json").read_text())
    assert stored["over"] and stored["failures"] == dict(zip(("blue", "yellow"), why, strict=True))


def test_network_teams_have_the_names_that_they_were_given_and_one_that_never_came_is_said(tmp_path):
    vision, commands = free_ports(2)
    result = command("network:ants", "network", "--names", "ants of Lisbon,network", "--half", 0.1, "--halves", 1, "--wait",
                     0.1, "--rules", "mirosot", "--speed", "inf", "--vision", f"127.0.0.1:{vision}", "--commands",
                     f"127.0.0.1:{commands}", "--referee", "none", "--placement", "none", "--json", tmp_path / "m.json")
    assert result.exit_code == 1 and "ants of Lisbon" in result.stdout
    assert (f"formiga: ants of Lisbon (blue) did not play to the end: no commands for it came to 127.0.0.1:{commands}\n"
            in result.stderr)
    stored = json.loads((tmp_path / "m.json").read_text())
    assert (stored["blue"], stored["yellow"]) == ("ants of Lisbon", "network") and set(stored["failures"]) == {"blue", "yellow"}
    assert {"ants of Lisbon", "network"} <= {trouble["who"] for trouble in stored["troubles"]}


def test_speed_is_as_fast_as_it_goes_unless_told():
    assert Pace(inf, 0.033).figures(1.0)["speed"] is None
