"""Kernels of the user's own in workers: other processes get them, from a file and from the script itself."""

import subprocess
import sys

import numpy as np
import pytest

from formiga.evolve.trials import attempt_all
from formiga.lab import load_elements
from formiga.pool import pool
from formiga.rollout import lacking
from formiga.world import own
from formiga.world.reader import read_text

WORLD = """<world name="w" dt="0.1" seconds="1"><arena width="1" depth="1"/><sbot count="3"><near/><perceptron inputs="near"/>
</sbot><close/><genetic population="4" generations="1" trials="1" seconds="0.5s"/></world>"""
OWN = """from dataclasses import dataclass

import numpy as np

import formiga
from formiga.world.elements import name, number

GAIN = 0.5

@formiga.kernel
def share(gain, distance, reach):
    return gain * max(0.0, 1.0 - distance / reach)

@formiga.kernel
def near_world(w, distance, reach, out):
    for i in range(out.shape[1]):
        for k in range(out.shape[2]):
            out[w, i, k] = share(2.0 * GAIN, distance[w, i, k], reach)

@formiga.kernel
def close_world(w, weight, near, reward):
    for i in range(reward.shape[1]):
        reward[w, i] = weight * near[w, i, 0]

@formiga.element("near", role="sensor")
@dataclass(frozen=True)
class Near:
    "How near the others are."
    name: str = name("near")
    full = 1.0
    def stages(self, scene):
        near, look = scene.neighbour_stages(0.7, 2)
        out = np.zeros((*scene.shape, 2))
        return out, [*look, formiga.Stage(near_world, (near.distance, 0.7, out))]

@formiga.element("close", role="fitness")
@dataclass(frozen=True)
class Close:
    "Rewards company."
    weight: float = number(1.0)
    def stages(self, view, reward):
        return [formiga.Stage(close_world, (self.weight, view.readings["near"], reward))]
"""


def test_processes_get_kernels_of_a_file(own_registry, tmp_path, monkeypatch):
    monkeypatch.setattr(own, "_loaded", dict(own._loaded))
    (tmp_path / "mine.py").write_text(OWN)
    load_elements(tmp_path / "mine.py")
    world = read_text(WORLD)
    assert lacking(world, world.groups[0]) == ""
    genes = np.linspace(-1.0, 1.0, 4 * 6).reshape(4, 6)
    with pool() as alone, pool(jobs=2) as processes:
        here, there = (attempt_all(workers, world, genes, seed=7, trials=1, seconds=0.5).fitness
                       for workers in (alone, processes))
    assert np.array_equal(here, there) and here.min() > 0.0


@pytest.mark.parametrize("jobs", [2])
def test_processes_get_kernels_of_the_script_itself(tmp_path, jobs):
    (tmp_path / "w.xml").write_text(WORLD)
    (tmp_path / "script.py").write_text(OWN + f"""
from formiga.evolve import evolve
one, two = (evolve(f"out{{jobs}}", "w.xml", jobs=jobs, test=2).champion.tested.fitness for jobs in (1, {jobs}))
print((one == two).all())
""")
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "True\n"), done.stderr
