"""--program and --patience: programs that drive groups of a run from the command line."""

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

DRIVER = Path(__file__).parents[1] / "control" / "remote_drivers.py"
WORLD = """<world name="driven" dt="0.1" seconds="3"><arena width="1.2" depth="1"/>
<sbot count="2" name="swarm"><grid spacing="0.3"/><proximity/><remote {}/></sbot></world>"""


def written(tmp_path, remote=""):
    (tmp_path / "driven.xml").write_text(WORLD.format(remote))
    return tmp_path / "driven.xml"


def test_a_run_starts_its_program_and_says_what_went_wrong_with_it(call, tmp_path):
    world = written(tmp_path)
    result = call("run", world, "--program", f"swarm={sys.executable} {DRIVER} numpy", "--json", tmp_path / "out.json")
    assert result.exit_code == 0 and not result.stderr
    result = call("run", world, "--program", f"swarm={sys.executable} {DRIVER} die", "--json", tmp_path / "out.json")
    assert result.exit_code == 1
    assert result.stderr == "formiga: swarm: its program ended (signal 9, killed).\n"
    summary = json.loads((tmp_path / "out.json").read_text())
    assert summary["programs"] == ["swarm: its program ended (signal 9, killed)."]
    assert summary["failures"] == {"swarm": "its program ended (signal 9, killed)"} and summary["simulated_seconds"] == 3.0


@pytest.mark.parametrize("what, seconds, code", [
    ("leave", 1.0, 0), ("leave", 1.1, 1),                      # it answers ten questions
    ("hang", 3.0, 1), ("nan", 3.0, 0), ("future", 3.0, 1)])
def test_the_exit_code_says_whether_a_program_drove_to_the_end(call, tmp_path, what, seconds, code):
    result = call("run", written(tmp_path, 'wait="0.3"'), "--program", f"swarm={sys.executable} {DRIVER} {what}",
                  "--seconds", seconds)
    assert result.exit_code == code


def test_programs_that_cannot_be_are_refused_in_one_line(refused, tmp_path):
    world = written(tmp_path)
    assert "no group 'flock'" in refused("run", world, "--program", "flock=./driver")
    assert "'./driver' cannot be started (No such file or directory)" in refused("run", world, "--program", "swarm=./driver")
    assert "<random_walk>; a program drives a group with <remote/>" in refused(
        "run", _other(tmp_path), "--program", "swarm=./driver")
    assert "leave --worlds, --every, --record, --speed and --program out" in refused(
        "run", world, "--program", "swarm=./driver", "--script", _script(tmp_path))


def test_what_is_no_program_is_a_wrong_option(call, tmp_path):
    world = written(tmp_path)
    for text in ("swarm", "=./driver", "swarm="):
        result = call("run", world, "--program", text)
        assert result.exit_code == 2 and f"'{text}' is not GROUP=COMMAND" in result.stderr
    result = call("run", world, "--program", "swarm=a", "--program", "swarm=b")
    assert result.exit_code == 2 and "'swarm' is given two programs" in result.stderr


def test_checking_a_world_with_a_port_starts_nothing(call, tmp_path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        result = call("check", written(tmp_path, f'port="{taken.getsockname()[1]}"'))
    assert result.exit_code == 0 and not result.stderr


def test_a_run_waits_for_a_program_at_its_port_and_no_longer_than_it_was_told(call, tmp_path):
    result = call("run", written(tmp_path, 'port="0"'), "--patience", 0.1)
    assert result.exit_code == 0
    first, second = result.stderr.splitlines()
    assert first.startswith("formiga: swarm: waits for a program at UDP 127.0.0.1:")
    assert second == "formiga: swarm: no program came within 0.1 s; its robots stand until one does."


def test_a_program_may_come_by_itself_and_ends_with_the_run(start, tmp_path):
    run = start("run", written(tmp_path, 'port="0"'), "--patience", 60, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    port = run.stderr.readline().rpartition(":")[2].strip(" .\n")
    guest = subprocess.run([sys.executable, DRIVER, "numpy", "--udp", f"127.0.0.1:{port}"], timeout=60.0)
    out, err = run.communicate(timeout=60.0)
    assert guest.returncode == 0 and run.returncode == 0 and "drives now" in err and "3.0 s in" in out


def test_ctrl_c_ends_the_waiting(start, tmp_path):
    run = start("run", written(tmp_path, 'port="0"'), "--patience", 600, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert "waits for a program" in run.stderr.readline()
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60.0)
    assert run.returncode == 130


def test_a_killed_run_leaves_no_program_behind(start, tmp_path):
    command = f"swarm={sys.executable} {DRIVER} pid={tmp_path / 'pid'}"
    run = start("run", written(tmp_path), "--seconds", 1e6, "--program", command, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE)
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n"))
    program = Path(f"/proc/{int((tmp_path / 'pid').read_text())}/stat")
    run.kill()
    run.communicate(timeout=60.0)
    until(lambda: not program.exists() or program.read_text().rpartition(")")[2].split()[0] == "Z")


def until(true):
    end = time.monotonic() + 60.0
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def _other(tmp_path):
    (tmp_path / "other.xml").write_text(WORLD.replace("<remote {}/>", "<random_walk/>"))
    return tmp_path / "other.xml"


def _script(tmp_path):
    (tmp_path / "a.fsh").write_text("echo 1\n")
    return tmp_path / "a.fsh"
