"""Kernels in a file given with --with that are wrong: one line with the file and the line of the kernel, whatever its role."""

import os
import subprocess

import pytest

KERNEL = """from dataclasses import dataclass

import numpy as np

import formiga
from formiga.world.elements import name

@formiga.kernel
def fill_world(w, value, out):
    {body}

def stages(value, out):
    return [formiga.Stage(fill_world, {given})]

"""
ROLES = {
    "sensor": """    name: str = name("mine")
    def stages(self, scene):
        out = np.zeros((*scene.shape, 2))
        return out, stages(1.0, out)
""",
    "estimator": """    name: str = name("mine")
    def stages(self, view):
        out = np.zeros((*view.shape, 2))
        return out, stages(1.0, out)
""",
    "link": """    name: str = name("mine")
    def stages(self, scene):
        out = np.zeros((*scene.shape, 1, 2))
        return out, stages(1.0, out)
""",
    "controller": """    def stages(self, view, orders):
        return stages(0.01, orders)
""",
    "fitness": """    def stages(self, view, reward):
        return stages(1.0, reward)
""",
}
WORLD = """<world name="w" seconds="1"><arena width="1" depth="1"/><sbot>{inside}</sbot>{outside}
<genetic population="4" generations="1" trials="1" seconds="0.5s"/></world>"""
FINE = "out[w] = value"
WRONG = [
    ("out[w] = value.nothing", "(value, out)", "8: the kernel fill_world cannot be compiled for its arguments: "),
    ("return undefined_name", "(value, out)", "8: the kernel fill_world cannot be compiled for its arguments: "),
    ("raise ValueError('no luck')", "(value, out)", "10: ValueError: no luck"),
    (FINE, "(value,)", "8: the kernel fill_world takes (w, value, out), the number of the world first; its stage gives 1 more"),
    (FINE, "('one', out)", "8: the kernel fill_world cannot take 'one' as an argument"),
    (FINE, "(value, out.astype(str))", "8: the kernel fill_world cannot take an array of <U32, only arrays of numbers"),
    (FINE, "[value, out]", "8: the arguments of the kernel fill_world must be a tuple, not list"),
]


@pytest.fixture
def write(tmp_path, monkeypatch):
    """write(role, body, given): mine.py with an element of that role and its kernel, w.xml with the element in its place."""
    monkeypatch.chdir(tmp_path)

    def files(role, body=FINE, given="(value, out)"):
        element = f'@formiga.element("mine", role="{role}")\n@dataclass(frozen=True)\nclass Mine:\n    "Own."\n' + ROLES[role]
        (tmp_path / "mine.py").write_text(KERNEL.format(body=body, given=given) + element)
        others = "<mine/><proximity/><braitenberg/>"
        inside = {"controller": "<mine/>", "fitness": "<proximity/><perceptron/>"}.get(role, others)
        (tmp_path / "w.xml").write_text(WORLD.format(inside=inside, outside="<mine/>" if role == "fitness" else ""))
        return ["evolve", "w.xml", "--generations", "1", "--out", "out"] if role == "fitness" else ["run", "w.xml"]

    return files


@pytest.fixture
def process(warm, call, capfd, tmp_path):
    """process("run", ...) -> exit code, stdout, and the lines on stderr; `evolve` in a process of its own."""

    def run(*arguments):
        if arguments[0] != "evolve":
            result = call(*arguments)
            return result.exit_code, result.stdout, (result.stderr + capfd.readouterr().err).splitlines()
        started = warm.start(*arguments, cwd=tmp_path, env=dict(os.environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        output, said = started.communicate(timeout=120)
        return started.returncode, output, said.splitlines()

    return run


CASES = [(role, *wrong) for role in ROLES for number, wrong in enumerate(WRONG) if role == "sensor" or number in (0, 2, 3)]


@pytest.mark.parametrize(("role", "body", "given", "words"), CASES, ids=[f"{case[0]} {case[1]}" for case in CASES])
def test_a_wrong_kernel_is_one_line_with_its_file_and_line(process, write, tmp_path, role, body, given, words):
    code, output, said = process(*write(role, body, given), "--with", "mine.py")
    assert (code, output) == (2, ""), said  # what is compiled for the first time is said before it
    assert said[-1].startswith(f"formiga: {tmp_path}/mine.py:{words}"), said
    assert sum(line.startswith("formiga: ") for line in said) == 1 and not any("Traceback" in line for line in said)


@pytest.mark.parametrize("role", ROLES)
def test_a_kernel_alone_is_enough(process, write, role):
    code, output, said = process(*write(role), "--with", "mine.py")
    assert code == 0, output + "\n".join(said)
