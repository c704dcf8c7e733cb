"""Keys, aliases and scripts that a world brings along, and what they may not do."""

from pathlib import Path

import pytest

import formiga
from formiga.console import limits
from tests.session.workspace import Workspace

ROOM = '<arena width="2" depth="2"/><lamp x="0.5" y="0"/><sbot name="car"><at x="0" y="0" heading="0"/></sbot>'


def test_a_worlds_aliases_binds_and_scripts_work_in_the_laboratory(world_file):
    workspace = Workspace(world_file(f"""{ROOM}<bind key="up" run="+go"/><alias name="+go" run="drive car 1 1"/>
        <alias name="-go" run="drive car 0 0"/><script run="wait 0.2; disable lamp; wait 0.2; enable lamp"/>"""))
    lamp = []
    workspace.session.console.press("ArrowUp")
    for _ in range(5):
        workspace.steps(1)
        lamp.append(workspace.session.world.things[1].on)
    workspace.session.console.release("ArrowUp")
    assert lamp == [True, False, False, True, True] and workspace.session.manual.drives == {0: (0.0, 0.0)}
    assert workspace.session.poses()[0][0, 0] > 0.0


def test_a_script_in_a_file_beside_the_world_says_its_own_lines(world_file, tmp_path):
    (tmp_path / "phases.fsh").write_text("echo begin\n\nwait 0.1\ndisable lmp\n")
    workspace = Workspace(world_file(f'{ROOM}<script file="phases.fsh"/>'))
    workspace.session.step()
    assert workspace.said[0] == ("out", "begin")
    assert workspace.said[1][0] == "error"
    said = workspace.said[1][1]
    assert said == f"{tmp_path}/phases.fsh:4: there is nothing named 'lmp'. Did you mean 'lamp'? `list` shows all."


def test_another_world_takes_its_text_with_it_and_gives_yours_back(world_file):
    workspace = Workspace(world_file(f"""{ROOM}<bind key="Space" run="echo theirs"/><alias name="hello" run="echo theirs"/>
                              <script run="var mine 3; wait 5; echo late"/>"""))
    assert "Space ran 'pause'" in workspace.said[0][1] and workspace.session.console.binds["Space"].text == "echo theirs"
    workspace.run("alias hello 'echo mine'; load line")
    console = workspace.session.console
    assert console.binds["Space"].text == "pause" and console.aliases["hello"].text == "echo mine"
    assert not console.tasks and "mine" not in console.variables
    workspace.steps(1)


def test_a_world_that_cannot_be_loaded_leaves_the_last_ones_text_alone(world_file, tmp_path):
    workspace = Workspace(world_file(f'{ROOM}<bind key="F6" run="echo theirs"/><script run="wait 5; echo late"/>'))
    (tmp_path / "bad.xml").write_text("<world><arena/></world>")
    assert "bad.xml:1: <arena> needs 'width'" in workspace.refused(f"load {tmp_path / 'bad.xml'}")
    assert "F6" in workspace.session.console.binds and len(workspace.session.console.tasks) == 1


def test_a_recording_brings_no_text(world_file, tmp_path):
    workspace = Workspace(world_file(f'{ROOM}<bind key="F6" run="step"/><script run="echo here"/>'))
    workspace.run(f"record {tmp_path / 'a.parquet'}; step; record off; load {tmp_path / 'a.parquet'}")
    assert "F6" not in workspace.session.console.binds and "here" not in [text for _, text in workspace.said]


@pytest.mark.parametrize("text", ["save a.xml", "load line", "record a.parquet", "screenshot a.png", "export a.html",
                                  "settings save", "exec a.fsh", "settings"])
def test_a_worlds_own_text_may_not_work_on_files(world_file, folder, text):
    workspace = Workspace(world_file(f'{ROOM}<script run="{text}"/>'))
    assert len(workspace.said) == 1 and workspace.said[0][0] == "error"
    assert "works on files; a world's own text may not" in workspace.said[0][1] and ":2: " in workspace.said[0][1]
    assert [path.name for path in folder.iterdir()] == ["mine.xml"]


@pytest.mark.parametrize("text", ["controller car perceptron genotype=/etc/passwd inputs=x",
                                  "spawn sbot name=x; controller x ctrnn genotype=secret.json"])
def test_a_worlds_own_text_may_not_name_files_either(world_file, text):
    workspace = Workspace(world_file(f'{ROOM}<script run="{text}"/>'))
    assert "'genotype' names a file; a world's own text may not." in workspace.said[-1][1]


def test_a_genotype_that_you_type_is_found_in_the_current_folder_or_beside_your_script(folder, tmp_path_factory):
    source = Path(formiga.read_world("phototaxis").groups[0].controller.genotype)
    other = tmp_path_factory.mktemp("other")
    (folder / "here.json").write_bytes(source.read_bytes())
    (other / "there.json").write_bytes(source.read_bytes())
    (other / "use.fsh").write_text("set swarm.controller.genotype there.json\n")
    workspace = Workspace("phototaxis")
    workspace.run("set swarm.controller.genotype here.json; step 2")
    assert workspace.session.world.groups[0].controller.genotype == str(folder / "here.json")
    workspace.run(f"exec {other / 'use.fsh'}; step 2")
    assert workspace.session.world.groups[0].controller.genotype == str(other / "there.json")
    workspace.refused("set swarm.controller.genotype nowhere.json")
    workspace.refused("set swarm.controller.genotype none")  # then it had no genes
    workspace.run("controller swarm perceptron genotype=here.json 'inputs=proximity light'; step")


# -- limits -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("text, words", [("step 101", "N 101 is out of range"), ("bench", "may not hold up the laboratory"),
                                         ("step 100000", "out of range")])
def test_a_worlds_own_text_may_not_hold_everybody_up(world_file, text, words):
    workspace = Workspace(world_file(f'{ROOM}<script run="{text}"/>'))
    assert words in workspace.said[0][1]


def test_a_script_that_works_for_ever_is_stopped_by_the_clock(world_file, monkeypatch):
    monkeypatch.setattr(limits, "SECONDS", 0.05)
    workspace = Workspace(world_file(f'{ROOM}<alias name="busy" run="set lamp.intensity 0.5; busy"/><script run="busy"/>'))
    assert len(workspace.said) == 1 and "a world's own text works too long: more than 0.05 s" in workspace.said[0][1]
    workspace.run("alias hard 'set lamp.intensity 0.5; set lamp.intensity 0.6; step 50; set lamp.intensity 0.7'; "
                  "hard; hard; hard")
    workspace.steps(1)


def test_a_script_that_loops_with_waits_goes_on_peacefully(world_file):
    workspace = Workspace(world_file(f'{ROOM}<alias name="blink" run="toggle lamp; wait 0.1; blink"/><script run="blink"/>'))
    lamp = []
    for _ in range(40):
        lamp.append(workspace.session.world.things[1].on)
        workspace.steps(1)
    assert lamp == [False, True] * 20 and not workspace.said
    workspace.run("stop")
    workspace.steps(2)


def test_a_world_may_end_nothing_but_its_own_run(world_file):
    workspace = Workspace(world_file(f'{ROOM}<script run="reset; seed 4; reset; undo"/>'))
    assert workspace.session.seed == 4 and "nothing to undo" in workspace.said[-1][1]


def test_windows_that_open_later_follow_the_robot_that_a_script_follows(world_file):
    others = '<sbot name="others"><at x="0.7" y="0.7"/></sbot>'
    workspace = Workspace(world_file(f'{ROOM}{others}<script run="follow others"/>'))
    assert workspace.session.first_followed == (1, False)
    workspace.run("remove car")
    assert workspace.session.first_followed == (0, False)
    workspace.session.open("corral")
    assert workspace.session.first_followed is None
