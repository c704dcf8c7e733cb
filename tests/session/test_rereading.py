"""A world is read again while it runs: with another parameter, or because a --with file was saved."""

from __future__ import annotations

import os

import numpy as np
import pytest

from formiga import lab
from formiga.session.own_files import EVERY, OwnFiles
from formiga.world.elements import registered
from tests.session.workspace import Workspace

ROOM = """<!-- mine -->
<param name="side" value="2"/><param name="robots" value="3"/><param name="noise" value="0.1"/><param name="gap" value="1cm"/>
<arena width="${side}" depth="${side}"/><lamp x="0" y="0"/>
<sbot count="${robots}" name="swarm"><scatter gap="${gap}"/><proximity noise="${noise}"/><braitenberg/></sbot>"""


@pytest.fixture
def room(world_file):
    return Workspace(world_file(ROOM), seed=3)


# -- params -----------------------------------------------------------------------------------------------------------
def test_params_are_told(room):
    assert room.run("param").splitlines() == ["side = 2", "robots = 3", "noise = 0.1", "gap = 1cm"]
    assert room.run("param gap") == "gap = 1cm"
    assert "there is no param 'sise'. Did you mean 'side'?" in room.refused("param sise 3")
    assert "NAME 'sise' is unknown" in room.refused("param sise")
    assert Workspace(room.session.world).run("param") == "this world has no params."


def test_the_run_goes_on_with_another_value(room):
    room.steps(5)
    places = room.session.poses()[0]
    assert room.run("param noise 0.3") == "noise is 0.3; the run goes on."
    session = room.session
    assert session.world.groups[0].sensors[0].noise == (0.3,) and session.sim.state.step[0] == 5
    assert np.array_equal(session.poses()[0], places) and session.document.params["noise"] == "0.3"
    room.run("undo")
    assert session.world.groups[0].sensors[0].noise == (0.1,) and session.document.params["noise"] == "0.1"


@pytest.mark.parametrize("line, why", [("param robots 5", "there are other robots"),
                                       ("param gap 5cm", "robots start at other places"),
                                       ("param side 0.5", "would stand in a wall or an obstacle")])
def test_the_run_starts_again_where_it_cannot_go_on(room, line, why):
    room.steps(200)
    said = room.run(line)
    assert "the run starts again: " in said and said.endswith(f"{why}.") and room.session.sim.state.step[0] == 0
    assert room.session.seed == 3
    room.run("undo")
    assert room.session.sim.state.step[0] == 200 and room.session.document.params["robots"] == "3"
    room.steps(1)


def test_what_was_edited_by_hand_stays(room, folder):
    room.run("step 3; move lamp 0.5 0.5; spawn cylinder 0.7 -0.7 radius=5cm; param noise 0.2; param side 3")
    world = room.session.world
    assert (world.things[1].x, world.things[2].radius) == (0.5, 0.05)
    assert world.arena.width == 3.0 and world.groups[0].sensors[0].noise == (0.2,)
    room.run("save a.xml")
    text = (folder / "a.xml").read_text()
    assert '<param name="side" value="3"/>' in text and "<!-- mine -->" in text and 'width="${side}"' in text


@pytest.mark.parametrize("line", ["param side x", "param side -1", "param robots 2.5", "param robots 100000"])
def test_a_value_that_cannot_be_changes_nothing(room, line):
    before = room.session.document
    room.refused(line)
    assert room.session.document is before


# -- code -------------------------------------------------------------------------------------------------------------
CODE = """from dataclasses import dataclass
import numpy as np
from formiga.world.elements import element, number

@element("{tag}", role="controller")
@dataclass(frozen=True)
class Crawl:
    '''Straight on.'''
    pace: float = number({pace})

    def decide(self, view):
        {line}
        return np.full((1, 1, 2), self.pace)
"""


class Bench(Workspace):
    """A session with one file of the user's own, and a clock for the looks at it."""

    def __init__(self, folder, tag):
        self.file, self.tag, self.now = folder / "mine.py", tag, 0.0
        self.write()
        lab.load_elements(self.file)
        (folder / "mine.xml").write_text(f'<world name="mine"><arena width="2" depth="2"/><lamp x="0.5" y="0.5"/>'
                                         f'<sbot name="car"><at x="-0.5" y="0" heading="0"/><{tag}/></sbot></world>')
        super().__init__(str(folder / "mine.xml"))
        self.session._own = OwnFiles([str(self.file)], clock=lambda: self.now)

    def write(self, pace="0.01", line="pass", code=CODE):
        self.file.write_text(code.format(tag=self.tag, pace=pace, line=line))

    def look(self):
        """Later, with another time of writing: what was said."""
        self.now += 2 * EVERY
        os.utime(self.file, ns=(int(1e9 * self.now), int(1e9 * self.now)))
        self.said.clear()
        self.session._own.look(self.session)
        return self.said


@pytest.fixture
def bench(tmp_path, request):
    return Bench(tmp_path, f"crawl_{abs(hash(request.node.name)) % 10**8}")


def speed(workspace):
    before = workspace.session.poses()[0][0, 0]
    workspace.steps(1)
    return round(float(workspace.session.poses()[0][0, 0] - before) / workspace.session.world.dt, 6)


def test_a_run_goes_on_with_the_new_code(bench):
    bench.run("move lamp 0.6 0.6")
    assert speed(bench) == 0.01
    bench.write(pace="0.02")      # as many characters: compiled code would be told apart by nothing
    assert bench.look() == [("note", "mine.py was read again; the run goes on with it.")]
    assert bench.session.sim.state.step[0] == 1 and speed(bench) == 0.02
    assert bench.session.world.things[1].x == 0.6 and bench.session.document.world.things[1].x == 0.5
    bench.said.clear()
    bench.session._own.look(bench.session)
    assert not bench.said


@pytest.mark.parametrize("line, code, words", [
    ("1 / 0", CODE, "mine.py:12: ZeroDivisionError: division by zero"),
    ("pass)", CODE, "mine.py:12: unmatched ')'"),
    ("pass", CODE.replace("pace: float = number({pace})", "pace: float = number(-1.0, least=0.0)"), "would not accept"),
    ("pass", "# {tag}{pace}{line}: empty", "is unknown"),
])
def test_code_that_does_not_work_is_not_used_and_the_line_is_said(bench, line, code, words):
    bench.steps(2)
    known = registered()[bench.tag]
    bench.write(pace="0.02", line=line, code=code)
    ((kind, text),) = bench.look()
    assert kind == "error" and words in text and "\n" not in text
    assert text.endswith(". The run goes on with the code as it was.")
    assert registered()[bench.tag] is known and speed(bench) == 0.01
    bench.write(pace="0.03")
    assert bench.look()[0][0] == "note" and speed(bench) == 0.03


def test_a_file_that_is_gone_for_a_moment_is_no_mistake(bench):
    bench.file.rename(bench.file.with_suffix(".old"))
    bench.now += 2 * EVERY
    bench.session._own.look(bench.session)
    assert not bench.said and speed(bench) == 0.01
    bench.write(pace="0.02")
    assert bench.look()[0][0] == "note" and speed(bench) == 0.02
