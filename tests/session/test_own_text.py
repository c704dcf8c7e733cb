"""Keys, aliases and scripts that a world brings along, and what they may not do."""

from pathlib import Path

import pytest

import formiga
from formiga.console import limits
from tests.session.desk import Desk

ROOM = '<arena width="2" depth="2"/><lamp x="0.5" y="0"/><sbot name="car"><at x="0" y="0" heading="0"/></sbot>'


def test_a_worlds_aliases_binds_and_scripts_work_in_the_laboratory(world_file):
    desk = Desk(world_file(f"""{ROOM}<bind key="up" run="+go"/><alias name="+go" run="drive car 1 1"/>
        <alias name="-go" run="drive car 0 0"/><script run="wait 0.2; disable lamp; wait 0.2; enable lamp"/>"""))
    lamp = []
    desk.session.console.press("ArrowUp")
    for _ in range(5):
        desk.steps(1)
        lamp.append(desk.session.world.things[1].on)
    desk.session.console.release("ArrowUp")
    assert lamp == [True, False, False, True, True] and desk.session.drives == {0: (0.0, 0.0)}
    assert desk.session.poses()[0][0, 0] > 0.0


def test_a_script_in_a_file_beside_the_world_says_its_own_lines(world_file, tmp_path):
    (tmp_path / "phases.fsh").write_text("echo begin\n\nwait 0.1\ndisable lmp\n")
    desk = Desk(world_file(f'{ROOM}<script file="phases.fsh"/>'))
    desk.session.step()
    assert desk.said[0] == ("out", "begin")
    assert desk.said[1][0] == "error"
    assert desk.said[1][1] == f"{tmp_path}/phases.fsh:4: there is nothing named 'lmp'. Did you mean 'lamp'? `list` shows all."


def test_another_world_takes_its_text_with_it_and_gives_yours_back(world_file):
    desk = Desk(world_file(f"""{ROOM}<bind key="Space" run="echo theirs"/><alias name="hello" run="echo theirs"/>
                              <script run="var mine 3; wait 5; echo late"/>"""))
    assert "Space ran 'pause'" in desk.said[0][1] and desk.session.console.binds["Space"].text == "echo theirs"
    desk.run("alias hello 'echo mine'; load line")
    console = desk.session.console
    assert console.binds["Space"].text == "pause" and console.aliases["hello"].text == "echo mine"
    assert not console.tasks and "mine" not in console.variables
    desk.steps(1)


def test_a_world_that_cannot_be_loaded_leaves_the_last_ones_text_alone(world_file, tmp_path):
    desk = Desk(world_file(f'{ROOM}<bind key="F6" run="echo theirs"/><script run="wait 5; echo late"/>'))
    (tmp_path / "bad.xml").write_text("<world><arena/></world>")
    assert "bad.xml:1: <arena> needs 'width'" in desk.refused(f"load {tmp_path / 'bad.xml'}")
    assert "F6" in desk.session.console.binds and len(desk.session.console.tasks) == 1


def test_a_recording_brings_no_text(world_file, tmp_path):
    desk = Desk(world_file(f'{ROOM}<bind key="F6" run="step"/><script run="echo here"/>'))
    desk.run(f"record {tmp_path / 'a.parquet'}; step; record off; load {tmp_path / 'a.parquet'}")
    assert "F6" not in desk.session.console.binds and "here" not in [text for _, text in desk.said]


@pytest.mark.parametrize("text", ["save a.xml", "load line", "record a.parquet", "screenshot a.png", "export a.html",
                                  "settings save", "exec a.fsh", "settings"])
def test_a_worlds_own_text_may_not_work_on_files(world_file, folder, text):
    desk = Desk(world_file(f'{ROOM}<script run="{text}"/>'))
    assert len(desk.said) == 1 and desk.said[0][0] == "error"
    assert "works on files; a world's own text may not" in desk.said[0][1] and ":2: " in desk.said[0][1]
    assert [path.name for path in folder.iterdir()] == ["mine.xml"]


@pytest.mark.parametrize("text", ["controller car perceptron genotype=/etc/passwd inputs=x",
                                  "spawn sbot name=x; controller x ctrnn genotype=secret.json"])
def test_a_worlds_own_text_may_not_name_files_either(world_file, text):
    desk = Desk(world_file(f'{ROOM}<script run="{text}"/>'))
    assert "'genotype' names a file; a world's own text may not." in desk.said[-1][1]


def test_a_genotype_that_you_type_is_found_in_the_current_folder_or_beside_your_script(folder, tmp_path_factory):
    source = Path(formiga.read_world("phototaxis").groups[0].controller.genotype)
    other = tmp_path_factory.mktemp("other")
    (folder / "here.json").write_bytes(source.read_bytes())
    (other / "there.json").write_bytes(source.read_bytes())
    (other / "use.fsh").write_text("set swarm.controller.genotype there.json\n")
    desk = Desk("phototaxis")
    desk.run("set swarm.controller.genotype here.json; step 2")
    assert desk.session.world.groups[0].controller.genotype == str(folder / "here.json")
    desk.run(f"exec {other / 'use.fsh'}; step 2")
    assert desk.session.world.groups[0].controller.genotype == str(other / "there.json")
    desk.refused("set swarm.controller.genotype nowhere.json")
    desk.refused("set swarm.controller.genotype none")  # then it had no genes
    desk.run("controller swarm perceptron genotype=here.json 'inputs=proximity light'; step")


# -- limits -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("text, words", [("step 101", "N 101 is out of range"), ("bench", "may not hold up the laboratory"),
                                         ("step 100000", "out of range")])
def test_a_worlds_own_text_may_not_hold_everybody_up(world_file, text, words):
    desk = Desk(world_file(f'{ROOM}<script run="{text}"/>'))
    assert words in desk.said[0][1]


def test_a_script_that_works_for_ever_is_stopped_by_the_clock(world_file, monkeypatch):
    monkeypatch.setattr(limits, "SECONDS", 0.05)
    desk = Desk(world_file(f'{ROOM}<alias name="busy" run="set lamp.intensity 0.5; busy"/><script run="busy"/>'))
    assert len(desk.said) == 1 and "a world's own text works too long: more than 0.05 s" in desk.said[0][1]
    desk.run("alias hard 'set lamp.intensity 0.5; set lamp.intensity 0.6; step 50; set lamp.intensity 0.7'; hard; hard; hard")
    desk.steps(1)


def test_a_script_that_loops_with_waits_goes_on_peacefully(world_file):
    desk = Desk(world_file(f'{ROOM}<alias name="blink" run="toggle lamp; wait 0.1; blink"/><script run="blink"/>'))
    lamp = []
    for _ in range(40):
        lamp.append(desk.session.world.things[1].on)
        desk.steps(1)
    assert lamp == [False, True] * 20 and not desk.said
    desk.run("stop")
    desk.steps(2)


def test_a_world_may_end_nothing_but_its_own_run(world_file):
    desk = Desk(world_file(f'{ROOM}<script run="reset; seed 4; reset; undo"/>'))
    assert desk.session.seed == 4 and "nothing to undo" in desk.said[-1][1]
