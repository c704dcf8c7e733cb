"""Signals while an engine is in the middle of a step that takes minutes: the second one ends the command."""

import signal
import subprocess
import time

import pytest

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
LONG = """<world engine="spatial" dt="10" seconds="100"><physics step="1ms"/><arena width="8" depth="8"/>
<ramp x="0" y="0" width="1" depth="1" height="5cm"/><sbot count="100"><scatter/><teller/></sbot></world>"""  # 10,000 substeps
TELLER = """import ctypes
import os
import numpy as np
from dataclasses import dataclass
from formiga.world.elements import element

@element("teller", role="controller")
@dataclass(frozen=True)
class Teller:
    "Says when a step begins."
    def decide(self, view):
        os.write(1, b"step\\n")  # whole, from two threads at once
        {then}
        return np.full((*view.shape, 2), 0.05)
"""
SLOW = """import time
from dataclasses import dataclass
import numba
import numpy as np
from numba.extending import overload
from formiga.world.elements import element

def some(x): pass

@overload(some)
def compiled(x):
    print("compiling", flush=True)
    time.sleep(60)

@numba.njit
def kernel(x): return some(x)

@element("slow", role="controller")
@dataclass(frozen=True)
class Slow:
    "Takes a minute to compile."
    def decide(self, view):
        kernel(1.0)
        return np.zeros((*view.shape, 2))
"""


@pytest.fixture
def twice(start, tmp_path):
    """twice(number, then, world, options) -> what a process printed that got two signals in the middle of its first step."""

    def run(number, then, world, *options):
        (tmp_path / "teller.py").write_text(TELLER.format(then=then))
        (tmp_path / "w.xml").write_text(world)
        process = start("run", tmp_path / "w.xml", "--with", tmp_path / "teller.py", *options, **PIPES)
        assert process.stdout.readline() == "step\n"
        time.sleep(2.0)  # until it is in the engine
        process.send_signal(number)
        while then == "pass" and "again to stop at once" not in (line := process.stderr.readline()):
            assert line, "the first signal was not heard in the middle of the step"
        time.sleep(0.2)  # two signals at the same moment may arrive as one
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=40)
        assert process.returncode == 128 + number and "Traceback" not in stderr and stderr.endswith("formiga: interrupted\n")
        return stdout

    return run


@pytest.mark.parametrize("number, options", [(signal.SIGINT, ("--worlds", 2, "--threads", 2)), (signal.SIGTERM, ())])
def test_a_long_step_in_space_is_left_in_the_middle(twice, number, options):
    """In this thread, and in others that share out the worlds."""
    assert "crashes" not in twice(number, "pass", LONG, *options)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_call_that_never_returns_is_ended_by_the_second_signal(twice, number):
    lock = "lib, lock = ctypes.CDLL(None), ctypes.create_string_buffer(256); [lib.pthread_mutex_lock(lock) for _ in range(2)]"
    assert twice(number, lock, LONG.replace("100", "1")) == ""


def test_a_long_step_of_pushing_bodies_is_left_in_the_middle(twice):
    """900 balls that bounce for ever, in a control period of 64,000 substeps: half a minute and more."""
    balls = "".join(f'<ball name="b{k}" x="{0.09 * (k % 30) - 1.3:.2f}" y="{0.09 * (k // 30) - 1.3:.2f}" radius="4cm" vx="50" '
                    f'vy="{k % 7 - 3}" rolling="0" viscous="0" restitution="1" wall_restitution="1"/>' for k in range(900))
    world = f"""<world dt="60" seconds="900"><arena width="3" depth="3"/><contact model="impulse"/>{balls}
<sbot><at x="1.4" y="1.42"/><teller/></sbot></world>"""
    assert "crashes" not in twice(signal.SIGTERM, "pass", world)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_a_run_that_compiles_and_an_earlier_recording_stays(start, number, tmp_path):
    """A kernel that takes a minute to compile. No step was taken, so there is nothing to finish and nothing to keep."""
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "w.xml").write_text('<world><arena width="2" depth="2"/><sbot><slow/></sbot></world>')
    (tmp_path / "run.parquet").write_text("an earlier one")
    process = start("run", tmp_path / "w.xml", "--with", tmp_path / "slow.py", "--out", tmp_path, **PIPES)
    assert process.stdout.readline() == "compiling\n"
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=30)
    assert (process.returncode, stdout) == (128 + number, "") and stderr.strip() == "formiga: interrupted"
    assert (tmp_path / "run.parquet").read_text() == "an earlier one"
    assert sorted(each.name for each in tmp_path.iterdir() if each.is_file()) == ["run.parquet", "slow.py", "w.xml"]
