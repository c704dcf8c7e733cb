"""Elements of the user's own in workers: other processes get their code, and an error in it names its file and line."""

import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from formiga.errors import FormigaError
from formiga.evolve import evolve
from formiga.evolve.trials import attempt_all
from formiga.lab import load_elements
from formiga.pool import pool
from formiga.world import own
from formiga.world.elements import element, text
from formiga.world.reader import read_text
from tests.pool.cluster import dask, stop

WORLD = """<world name="w" dt="0.1" seconds="1"><arena width="1" depth="1"/><sbot count="2"><proximity/><perceptron/></sbot>
<{tag} {attributes}/><genetic population="4" generations="1" trials="1" seconds="0.5s"/></world>"""
TERM = """from dataclasses import dataclass
from functools import lru_cache

import numpy as np
{imports}
from formiga.world.elements import element, flag, number

@lru_cache(None)
def top():
    return 0.08

@element("{tag}", role="fitness")
@dataclass(frozen=True)
class Calm:
    "Praises standing still."
    weight: float = number(1.0)
    fails: bool = flag(False)
    def reward(self, view):
        if self.fails:
            raise ZeroDivisionError("no such luck")
        return self.weight * {scale} * (1.0 - np.abs(view.drive).mean(axis=-1) / top())
"""


def term(tag, imports="", scale="1.0"):
    return TERM.format(tag=tag, imports=imports, scale=scale)


def world(tag, attributes=""):
    return read_text(WORLD.format(tag=tag, attributes=attributes))


def fitness(workers, tag, attributes=""):
    """Of four genotypes, tried by these workers."""
    genes = np.linspace(-1.0, 1.0, 4 * 32).reshape(4, 32)
    return attempt_all(workers, world(tag, attributes), genes, seed=7, trials=1, seconds=0.5).fitness


@pytest.fixture
def loaded(own_registry, tmp_path, monkeypatch):
    """<calm_file>, loaded from a file; <calm_module>, imported together with a module of the user's that it uses."""
    monkeypatch.setattr(own, "_loaded", dict(own._loaded))
    (tmp_path / "mine.py").write_text(term("calm_file"))
    load_elements(tmp_path / "mine.py")
    (tmp_path / "own_scale.py").write_text("SCALE = 2.0\ndef scale():\n    return SCALE\n")
    (tmp_path / "own_terms.py").write_text(term("calm_module", "from own_scale import scale", "scale()"))
    monkeypatch.syspath_prepend(str(tmp_path))
    __import__("own_terms")
    yield tmp_path
    for name in ("own_scale", "own_terms"):
        del sys.modules[name]


def test_processes_get_own_elements_from_a_file_and_from_an_imported_module(loaded):
    """The workers of joblib are older than the modules, and have never seen their folder."""
    with pool() as alone, pool(jobs=2) as processes:
        for tag in ("calm_file", "calm_module"):
            assert np.array_equal(fitness(alone, tag), fitness(processes, tag))
        assert np.allclose(2.0 * fitness(alone, "calm_file"), fitness(processes, "calm_module"))


def test_a_cluster_gets_them_too_though_it_has_none_of_the_files(loaded, scheduler, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    worker = dask("worker", scheduler, "--no-nanny", "--nthreads", "1")
    try:
        (loaded / "mine.py").unlink()  # as on another machine; the other module lies where the worker does not look
        with pool() as alone, pool(cluster=scheduler) as cluster:
            for tag in ("calm_file", "calm_module"):
                assert np.array_equal(fitness(alone, tag), fitness(cluster, tag))
    finally:
        stop(worker)


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_a_term_is_one_line_with_its_file_and_line_wherever_it_runs(loaded, jobs, tmp_path):
    where = f"{loaded / 'mine.py'}:20: ZeroDivisionError: no such luck"
    with pytest.raises(FormigaError) as caught:
        evolve(tmp_path / "out", world("calm_file", 'fails="true"'), jobs=jobs, test=2)
    assert str(caught.value) == where
    assert not (tmp_path / "out" / "evolution.parquet").exists()


def test_elements_of_the_script_itself_reach_its_workers_and_the_script_runs_once(tmp_path):
    """A script without an `if __name__ == "__main__"`, with a world given by its path."""
    (tmp_path / "w.xml").write_text(WORLD.format(tag="calm", attributes=""))
    (tmp_path / "script.py").write_text(term("calm").replace("@lru_cache(None)\n", "") + """
from formiga.errors import FormigaError
from formiga.evolve import evolve
print("begins", flush=True)
one, two = (evolve(f"out{jobs}", "w.xml", jobs=jobs, test=2).champion.tested.fitness for jobs in (1, 2))
print((one == two).all())
try:
    evolve("out3", "fails.xml", jobs=2, test=2)
except FormigaError as wrong:
    print(wrong)
""")
    (tmp_path / "fails.xml").write_text(WORLD.format(tag="calm", attributes='fails="true"'))
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert done.stdout.splitlines() == ["begins", "True", f"{tmp_path / 'script.py'}:19: ZeroDivisionError: no such luck"]


def test_what_cannot_be_sent_is_said_in_one_line(own_registry):
    """As if the class stood in a script: then it travels by value."""
    @element("stubborn", role="fitness")
    @dataclass(frozen=True)
    class Stubborn:
        """Cannot be pickled."""

        words: str = text("")
        lock = sys.stderr.buffer

        def reward(self, view):
            """Nothing."""

    Stubborn.__module__ = "__main__"
    with pytest.raises(FormigaError, match=r"<stubborn> cannot be sent to another process .*file of their own"):
        own.pack(world("stubborn"))


def test_a_worker_that_knows_another_version_of_a_file_takes_the_one_of_now(loaded):
    with pool() as alone, pool(jobs=2) as processes:
        before = fitness(processes, "calm_file")
        (loaded / "mine.py").write_text(term("calm_file", scale="3.0"))
        load_elements(loaded / "mine.py")
        assert np.allclose(fitness(processes, "calm_file"), 3.0 * before)
        assert np.array_equal(fitness(alone, "calm_file"), fitness(processes, "calm_file"))


def test_a_world_is_given_by_name(tmp_path):
    with pytest.raises(FormigaError, match="there is no world 'avoidd'"):
        evolve(tmp_path / "out", "avoidd")
    with pytest.raises(FormigaError, match="no groups with a network"):
        evolve(tmp_path / "out", "corral")
    assert os.listdir(tmp_path) == []
