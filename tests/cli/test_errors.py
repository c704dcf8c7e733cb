"""Whatever goes wrong is one line: in the user's own code with its file and line, in formiga with how to see more."""

import os
import signal
import subprocess
import sys

import pytest

from formiga import loop, runs
from formiga.cli import FAULT
from formiga.kernels.cache import ALONE
from formiga.session import Session
from formiga.world.reader import read_text

OWN = """from dataclasses import dataclass
import numpy as np
from formiga.world.elements import element, name, text

def look(when, now):
    if when == now:
        return np.zeros(3)[7]

@element("dizzy", role="sensor")
@dataclass(frozen=True)
class Dizzy:
    "Fails when it is told to."
    fails: str = text("")
    name: str = name("dizzy")
    def read(self, scene):
        look(self.fails, "at once")
        look(self.fails, "later") if scene.state.step.any() else None
        return np.zeros((*scene.state.crashed[:, scene.robots].shape, 1))

@element("clumsy", role="controller")
@dataclass(frozen=True)
class Clumsy:
    "Fails, if it is told to."
    fails: str = text("")
    def decide(self, view):
        if self.fails == "file":
            open("/nowhere/at/all")
        if self.fails == "exit":
            raise SystemExit(0)
        return view.group.missing if self.fails else np.zeros((*view.shape, 2))
"""
WORLD = "<world name='w' seconds='1'><arena width='1' depth='1'/><sbot><dizzy fails='{}'/><clumsy fails='{}'/></sbot></world>"


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """What is compiled only once would be said in between."""
    loop.Simulation(read_text("<world><arena width='1' depth='1'/><sbot/></world>")).step()


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A function that writes w.xml for elements that fail as said; mine.py is beside it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(OWN)

    def write(sensor="", controller=""):
        (tmp_path / "w.xml").write_text(WORLD.format(sensor, controller))

    return write


@pytest.mark.parametrize("command", [("run",), ("check",), ("run", "--worlds", 3, "--threads", 2), ("view", "--no-browser"),
                                     ("run", "--out", "out"), ("run", "--script", "s.fsh")], ids=str)
def test_an_error_in_own_code_is_one_line_with_its_file_and_line(refused, mine, tmp_path, command):
    (tmp_path / "s.fsh").write_text("wait 1\n")
    for sensor, controller, line, words in (
            ("at once", "", 7, "IndexError: index 7 is out of bounds for axis 0 with size 3"),
            ("", "exit", 29, "SystemExit: 0"),
            ("", "yes", 30, "AttributeError: 'Group' object has no attribute 'missing'"),
            ("", "file", 27, "FileNotFoundError: [Errno 2] No such file or directory: '/nowhere/at/all'")):
        mine(sensor, controller)
        assert refused(*command, "w.xml", "--with", "mine.py") == f"{tmp_path}/mine.py:{line}: {words}"
        assert not os.path.exists("out/summary.json")


def test_an_error_later_in_the_run_pauses_the_laboratory_with_the_same_line(mine, tmp_path, own_registry):
    from formiga import lab

    mine("later")
    lab.load_elements("mine.py")
    said = []
    session = Session("w.xml", own_settings=False, hear=lambda kind, text, window: said.append((kind, text)))
    session.play()
    for _ in range(3):
        session.step()
    assert said[0] == ("error", f"{tmp_path}/mine.py:7: IndexError: index 7 is out of bounds for axis 0 with size 3 Paused.")
    assert not session.playing


@pytest.mark.parametrize(("before", "after", "words"), [
    ("def decide(", "def decode(", "20: <clumsy> of the role 'controller' needs a method decide(self, view); Clumsy has none. "
     "Did you mean 'decode'?"),
    ("decide(self, view)", "decide(self)", "20: <clumsy> of the role 'controller' needs a method decide(self, view), "
     "not decide(self)."),
    ("def read(", "def raed(", "9: <dizzy> of the role 'sensor' needs a method read(self, scene); Dizzy has none. "
     "Did you mean 'raed'?"),
    ("    name: str = name", "    title: str = name", "9: <dizzy> of the role 'sensor' needs a field name, under which its "
     'readings are found: name: str = name("dizzy").'),
    ("@dataclass(frozen=True)\nclass Dizzy", "class Dizzy", "9: <dizzy>: Dizzy is no dataclass yet. Write @element(...) first, "
     "below it @dataclass(frozen=True), then the class."),
    ('role="sensor"', 'role="fitness"', "9: <dizzy> of the role 'fitness' needs a method reward(self, view); "
     "Dizzy has none. Did you mean 'read'?")])
def test_an_element_without_what_its_role_needs_is_refused_with_its_line(refused, mine, tmp_path, before, after, words):
    mine()
    (tmp_path / "mine.py").write_text(OWN.replace(before, after))
    assert refused("check", "w.xml", "--with", "mine.py") == f"mine.py:{words}"


def test_check_goes_on_to_the_next_world(call, mine, tmp_path):
    mine("at once")
    result = call("check", "w.xml", "corral", "--with", "mine.py")
    assert result.exit_code == 2 and result.stderr.startswith(f"formiga: {tmp_path}/mine.py:7: IndexError")
    assert result.stdout.startswith("corral: ok")


@pytest.mark.parametrize("how", ["option", "environment"])
def test_debug_shows_the_traceback_above_the_line(call, mine, monkeypatch, how):
    mine("at once")
    if how == "environment":
        monkeypatch.setenv("FORMIGA_DEBUG", "1")
    result = call(*["--debug"] * (how == "option"), "run", "w.xml", "--with", "mine.py")
    lines = result.stderr.splitlines()
    assert result.exit_code == 2 and lines[0].startswith("Traceback") and lines[-1].startswith("formiga: ")
    assert sum("Traceback" in line for line in lines) == 1 and "    return np.zeros(3)[7]" in lines
    result = call("run", "w.xml", "--with", "mine.py", "--debug")
    assert result.exit_code == 2 and "No such option" in result.stderr  # it belongs in front


def test_debug_of_bad_input_shows_where_it_was_found(call):
    lines = call("--debug", "run", "corall").stderr.splitlines()
    assert lines[0].startswith("Traceback") and lines[-1].startswith("formiga: there is no world 'corall'.")


def test_a_fault_of_formiga_says_so_and_how_to_see_more(own_registry, monkeypatch):
    from click.testing import CliRunner

    from formiga.cli import cli

    def broken(*args, **kwargs):
        return {}["of ours"]

    broken.__code__ = broken.__code__.replace(co_filename=runs.__file__)  # as if it stood in formiga
    monkeypatch.setattr(runs, "simulate", broken)
    result = CliRunner().invoke(cli, ["run", "corral"], prog_name="formiga")
    line = "formiga: a fault of formiga, not of your input: KeyError: 'of ours' (runs.py:"
    assert result.exit_code == FAULT == 70 and result.stdout == ""
    assert result.stderr.startswith(line) and result.stderr.count("\n") == 1 and "`formiga --debug COMMAND" in result.stderr
    result = CliRunner().invoke(cli, ["--debug", "run", "corral"], prog_name="formiga")
    assert result.stderr.startswith("Traceback") and f"\n{line}" in result.stderr and "--debug" not in result.stderr[-100:]


# -- Ctrl-C from the first moment on ----------------------------------------------------------------------------------
PROGRAM = """
import os, sys, threading
moment, sys.argv = {moment!r}, ["formiga", *{arguments!r}]

def interrupt():
    os.kill(os.getpid(), {number})
    for _ in range(1000):  # Python takes the signal between two of its instructions
        pass

class Trap:
    def find_spec(self, name, path=None, target=None):
        if name == moment:
            interrupt()
        if name == "formiga.loop" and moment == "compiling":
            from numba.core import compiler
            compiler.compile_extra = lambda *given, **named: (interrupt(), interrupt())

sys.meta_path.insert(0, Trap())
if moment == "at the end":
    import atexit
    atexit.register(interrupt)
from formiga.__main__ import main
main()
"""


@pytest.mark.parametrize("moment, arguments", [
    ("click", ["--help"]), ("formiga.cli.run", ["run", "line"]), ("numpy", ["list", "worlds"]), ("numba", ["run", "line"]),
    ("lxml.etree", ["check", "line"]), ("formiga.page.page", ["view", "line", "--no-browser"]),
    ("formiga.benchmarks", ["bench", "avoid24"]), ("compiling", ["check", "line"]), ("compiling", ["run", "line", "--quiet"]),
    ("at the end", ["schema", "--help"]),
])
def test_ctrl_c_at_any_early_moment_is_one_line_and_130(moment, arguments, tmp_path):
    """A real process interrupts itself at that moment: while it imports a module, compiles (twice), or ends."""
    program = PROGRAM.format(moment=moment, arguments=arguments, number=int(signal.SIGINT))
    fresh = {"XDG_CACHE_HOME": str(tmp_path), ALONE: "1"} if moment == "compiling" else {}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env=os.environ | fresh)
    assert (done.returncode, done.stderr) == (130, "\nformiga: interrupted\n")


def test_ctrl_c_stays_ignored_where_it_was_ignored():
    """As for a command that a shell script starts in the background."""
    program = PROGRAM.format(moment="click", arguments=["--version"], number=int(signal.SIGINT))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    assert done.returncode == 0 and done.stdout.startswith("formiga, version")
