"""What comes from others is data: worlds, files, and the folder one happens to be in."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

import formiga
from formiga.errors import WorldError
from formiga.files import private_cache
from formiga.kernels import cache

WORLD = '<world><arena width="1" depth="1"/><sbot><proximity {}/></sbot></world>'


@pytest.fixture
def alone(monkeypatch):
    """No second process has been started, and one may be."""
    monkeypatch.setattr(cache, "_beside", None)
    monkeypatch.setattr(cache, "_expected", "formiga.engine.planar.warm")
    monkeypatch.delenv(cache.ALONE, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


def test_the_second_process_imports_nothing_from_the_folder_one_is_in(tmp_path, monkeypatch, alone):
    """`python -m` would look there first, and run a stranger's numpy.py."""
    (tmp_path / "numpy.py").write_text("open('ran', 'w').close()\nraise SystemExit\n")
    (tmp_path / "formiga").mkdir()
    (tmp_path / "formiga" / "__init__.py").write_text("open('ran', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    cache.tell(formiga.simulate)
    assert cache._beside.wait(120) == 0
    assert not list(tmp_path.rglob("ran"))


@pytest.mark.parametrize("executable", [None, "", "/nonexistent/python"])
def test_without_a_python_to_start_the_kernels_are_compiled_here(monkeypatch, alone, executable):
    monkeypatch.setattr(sys, "executable", executable)
    cache.tell(formiga.simulate)
    assert cache._beside is None
    assert formiga.simulate("line", 0.5).seconds == pytest.approx(0.5)


def test_a_process_that_hangs_while_it_compiles_is_waited_for_no_longer_than_patience(tmp_path, monkeypatch):
    file = tmp_path / "a.kernel"
    holds = (f"import fcntl, os, time; from pathlib import Path; from formiga.kernels import cache;"
             f"file = Path({str(file)!r}); assert not cache._claim(file); print('has it', flush=True); time.sleep(600)")
    with subprocess.Popen([sys.executable, "-c", holds], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "has it\n"
        monkeypatch.setattr(cache, "PATIENCE", 0.3)
        monkeypatch.setattr(cache, "_locks", {})
        assert not cache._claim(file)                  # it is compiled here as well
        file.touch()
        assert cache._claim(file)                      # the other one has finished
        process.kill()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners are a matter of POSIX")
def test_a_cache_that_others_can_write_is_not_used(tmp_path, monkeypatch):
    """Numba's cache holds pickles: whoever can put one there runs code here."""
    shared = tmp_path / "formiga"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setattr(cache.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert not str(cache._cache_folder()).startswith(str(tmp_path))


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners are a matter of POSIX")
@pytest.mark.parametrize("mode, used", [(0o777, False), (0o1777, True), (0o775, True)])
def test_a_cache_that_others_can_exchange_is_not_used(tmp_path, monkeypatch, mode, used):
    """In a folder that all may write, and that is not sticky, a folder of ours can be renamed and replaced."""
    tmp_path.chmod(mode)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = private_cache("machines")
    assert (folder is not None and folder.is_relative_to(tmp_path)) == used


def test_a_world_cannot_carry_a_file_that_is_no_table_into_a_recording(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("root:x:0:0\nmore\n")
    for attributes, complaint in ((f'response="reciprocal" samples="{secret}"', "has no table"),
                                  (f'samples="{secret}"', "is not 'distance in m, reading'")):
        (tmp_path / "world.xml").write_text(WORLD.format(attributes))
        with pytest.raises(WorldError, match=complaint) as raised:
            formiga.simulate(str(tmp_path / "world.xml"), 1.0, out=tmp_path / "out")
        assert "world.xml:1: " in str(raised.value)
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("attribute", ['mount="1e300"', 'mount="1e10"', 'reach="1e-300"', 'noise="1e300"'])
def test_numbers_that_no_robot_has_are_refused(tmp_path, attribute):
    (tmp_path / "world.xml").write_text(WORLD.format(attribute))
    with pytest.raises(WorldError, match="out of range"):
        formiga.read_world(str(tmp_path / "world.xml"))


@pytest.mark.parametrize("arguments", [{"seed": "7"}, {"seed": 1.5}, {"worlds": 1.5}, {"threads": 0}, {"seconds": "3"}])
def test_arguments_of_the_wrong_type_are_refused_in_one_sentence(arguments):
    with pytest.raises(WorldError):
        formiga.simulate("line", **{"seconds": 0.5, **arguments})


def test_a_kernel_that_cannot_be_compiled_keeps_no_other_process_waiting(tmp_path, monkeypatch):
    """The laboratory may stay open with it, while it is tried elsewhere."""
    (tmp_path / "hopeless.py").write_text("""
import numpy as np
from formiga.errors import FormigaError
from formiga.kernels import kernel
from formiga.kernels.program import Program, Stage

@kernel
def hopeless_world(w, out):
    out[w] = out.nothing

def fails():
    try:
        Program([Stage(hopeless_world, (np.zeros(3),))], 3)
    except FormigaError as wrong:
        return "cannot be compiled" in str(wrong)
""")
    monkeypatch.syspath_prepend(str(tmp_path))
    command = "import hopeless, time; print(hopeless.fails(), flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", command], stdout=subprocess.PIPE, text=True, cwd=tmp_path) as other:
        try:
            assert other.stdout.readline() == "True\n"
            waits = []
            clock = SimpleNamespace(monotonic=time.monotonic, time=time.time, sleep=waits.append)
            monkeypatch.setattr(cache, "PATIENCE", 0.1)
            monkeypatch.setattr(cache, "time", clock)
            assert importlib.import_module("hopeless").fails() and not waits
        finally:
            other.kill()
