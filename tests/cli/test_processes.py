"""What only a process of its own can show: signals, closed pipes, and how little `--help` needs."""

import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest

import formiga

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


def wait_for_rows(folder, size=20_000, patience=120.0):
    """Wait until the hidden file of a running recording has grown to `size` bytes."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if any(entry.stat().st_size > size for entry in os.scandir(folder) if entry.name.endswith(".tmp")):
            return
        time.sleep(0.05)
    pytest.fail("the run did not write anything")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_middle_keeps_the_recording_and_the_summary_and_its_number_is_in_the_exit_code(start, number, tmp_path):
    process = start("run", "corral", "--seconds", 1_000_000, "--worlds", 4, "--out", tmp_path, cold=number == signal.SIGINT,
                    **PIPES)
    wait_for_rows(tmp_path)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    recording = formiga.read_recording(tmp_path / "run.parquet")
    done = float(recording.steps[-1] * recording.world.dt)
    assert recording.ending == "interrupted" and recording.poses().x.shape == (len(recording.steps), 4, 20)
    assert f"formiga: interrupted at {done:.1f} s of 1e+06 s; kept {tmp_path}/run.parquet" in stderr.splitlines()
    assert "Traceback" not in stderr and "crashes" in stdout
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["interrupted"] and summary["simulated_seconds"] == pytest.approx(done)
    assert sorted(os.listdir(tmp_path)) == ["run.parquet", "summary.json"]


def test_the_second_signal_ends_at_once_and_leaves_no_half_file(start, own_registry, tmp_path):
    """The own controller sleeps, so the run cannot get to its next step before the second signal."""
    (tmp_path / "slow.py").write_text(
        "import time\nfrom dataclasses import dataclass\nfrom formiga.world.elements import element\n"
        "@element('sleeper', role='controller')\n@dataclass(frozen=True)\nclass Sleeper:\n    'Sleeps.'\n"
        "    def decide(self, view):\n        print('asleep', flush=True)\n        time.sleep(600)\n")
    (tmp_path / "w.xml").write_text("<world><arena width='1' depth='1'/><sbot><sleeper/></sbot></world>")
    process = start("run", tmp_path / "w.xml", "--with", tmp_path / "slow.py", "--out", tmp_path / "out", **PIPES)
    assert process.stdout.readline() == "asleep\n"
    process.send_signal(signal.SIGINT)
    while "again to stop at once" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in stderr
    assert os.listdir(tmp_path / "out") == ["run.parquet"]  # the start, before the step that never ended
    formiga.load_elements(tmp_path / "slow.py")
    assert formiga.read_recording(tmp_path / "out" / "run.parquet").steps.tolist() == [0]


def test_a_reader_that_has_seen_enough_is_no_trouble(start):
    process = start("schema", **PIPES)
    process.stdout.close()
    assert process.wait(timeout=60) == 141  # 128 + SIGPIPE, as of other programs
    assert process.stderr.read() == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_output_to_a_full_disk_is_one_line(start):
    with open("/dev/full", "w") as full:
        process = start("schema", stdout=full, stderr=subprocess.PIPE)
        assert process.communicate(timeout=60)[1] == "formiga: the output cannot be written (No space left on device).\n"
    assert process.returncode == 2


def test_a_terminal_gets_a_progress_bar_that_is_gone_at_the_end(start):
    ours, theirs = pty.openpty()
    process = start("run", "line", "--seconds", 20, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(ours, 4096):
            seen += part
    except OSError:  # Linux says so when the other side closes
        pass
    assert process.wait(timeout=60) == 0
    assert b"100%" in seen and b"of 20 s" in seen
    assert seen.rstrip().endswith(b"\x1b[2K")  # the line is erased
    assert process.stdout.read().startswith("line ")


def test_help_is_quick_and_imports_nothing_heavy():
    program = """
import sys, time
began = time.perf_counter()
from formiga.cli import cli
try:
    cli.main(["--help"])
except SystemExit as end:
    heavy = [name for name in ("numba", "numpy", "lxml", "pyarrow", "matplotlib", "mujoco", "rich") if name in sys.modules]
    sys.exit(f"imported {heavy}" if heavy or end.code else f"took {time.perf_counter() - began:.3f}")
"""
    took = []
    for _ in range(3):  # the best of three: other tests run at the same time
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        assert done.stderr.startswith("took "), done.stderr
        took.append(float(done.stderr.split()[1]))
    assert min(took) < 0.5
    assert all(f"\n  {name} " in done.stdout for name in ("run", "check", "list", "schema", "bench", "study"))
