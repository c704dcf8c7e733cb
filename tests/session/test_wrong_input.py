"""Whatever somebody types: one clear message, nothing has changed, and the session goes on."""

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formiga.console import Console, quote
from formiga.session import names
from formiga.session.commands import commands
from tests.session.workspace import Workspace

WRONG = {  # a line, and what has to be in the answer
    # -- how many arguments
    "set": "it needs 2 arguments, not 0. Usage: set NAME.ATTRIBUTE VALUE",
    "set left.x": "needs 2 arguments",
    "get": "needs 1",
    "get left.x left.y": "at most 1",
    "spawn": "Usage: spawn KIND",
    "remove": "Usage: remove NAME...",
    "enable": "needs 1 argument",
    "disable": "needs 1 argument",
    "toggle": "needs 1",
    "toggle left right": "takes at most 1",
    "move": "needs 3",
    "move car 0": "needs 3",
    "move car 0 0 0 0": "at most 4",
    "move car 0 7": "outside the arena",
    "param a b c": "at most 2",
    "param side 3": "there is no param 'side'",
    "plot speed": "is not NAME.QUANTITY",
    "plot swarm.x on off": "at most 2",
    "controller": "needs 2",
    "controller swarm": "needs 2",
    "drive": "needs 2",
    "steer": "needs 2",
    "steer car ahead": "needs 3",
    "steer car ahead 2": "out of range; it must be from -1 to 1",
    "steer car up 1": "no way to steer. There are: ahead, aside, turn, off",
    "steer car ahead nan": "not a number",
    "drive car": "needs 2",
    "drive car 1": "RIGHT is missing",
    "drive car 1 1 1": "at most 3",
    "drive car off 1": "at most 2",
    "undo now": "no arguments",
    "play on": "no arguments",
    "reset all": "no arguments",
    "seed 1 2": "at most 1",
    "seek": "needs 1",
    "quit now": "no arguments",
    "select": "needs 1",
    "overlay": "needs 1",
    "overlay beams on off": "at most 2",
    "overlay none off": "at most 1",
    "list robots things": "at most 1",
    "info 0 1": "at most 1",
    "save": "needs 1",
    "save a.xml b.xml": "Allowed: force",
    "load": "needs 1",
    "record a.parquet b": "at most 1",
    "screenshot a.png b": "at most 1",
    "export": "needs 1",
    "settings save now": "at most 1",
    "step 1 2": "at most 1",
    "speed 1 2": "at most 1",
    "bench 1 2": "at most 1",
    "pause on off": "at most 1",
    "camera a b c": "at most 2",
    # -- names
    "set lft.x 1": "there is nothing named 'lft'. Did you mean 'left'?",
    "set x 1": "'x' is not NAME.ATTRIBUTE",
    "set left.z.y 1": "nothing named 'left.z'",
    "get swarm": "'swarm' has several values; give one of them, such as swarm.ATTRIBUTE. `info swarm` shows all.",
    "get nothing": "Give NAME.ATTRIBUTE, or one of: time, step, seed",
    "get tim": "Did you mean 'time'?",
    "get left.warmth": "'left' has no 'warmth'",
    "get 99.x": "there is no robot '99'",
    "get 0.warmth": "a robot has no 'warmth'. It has: x, y, heading",
    "info lft": "Did you mean 'left'?",
    "set left.intensty 1": "Did you mean 'intensity'? It has: x, y, z",
    "set swarm.name ants": "'swarm' has no 'name'",
    "remove left rihgt": "Did you mean 'right'?",
    "remove world": "'world' cannot be removed; robots, groups and things can.",
    "remove swarm.proximity": "cannot be removed",
    "enable left world": "'world' cannot be switched",
    "disable swarm.0 swarm.9": "there is no robot 'swarm.9'; they are numbered from 0 to 3.",
    "disable cylinder": "several things",
    "toggle contact": "cannot be switched",
    "toggle swarm.light": "cannot be switched",
    "controller left none": "'left' is not a group",
    "controller swarm.0 none": "is not a group; there are: swarm, rovers, car.",
    "drive swarm 1 1": "is not one robot",
    "drive left 1 1": "is not one robot",
    "select left": "is not one robot",
    "select -1": "there is nothing named '-1'",
    "move world 0 0": "is not one robot",
    "move swarm 0 0": "is not one robot",
    # -- numbers and words
    "set left.x far": "left.x: 'far' is not a length",
    "set left.x nan": "is not a length",
    "set left.x 1e400": "too large",
    "set left.on maybe": "neither 'true' nor 'false'",
    "set left.intensity -1": "out of range; it must be at least 0",
    "set contact.model bounce": "'bounce' is not allowed",
    "set left.colour red": "is not a colour such as #ff8800",
    "set swarm.0.x nan": "x: 'nan' is not a length",
    "set swarm.0.x 1deg": "is not a length",
    "set swarm.0.x 1_0": "is not a length",
    "set swarm.0.heading 1m": "is not an angle",
    "set swarm.0.y 1e7": "out of range",
    "set swarm.0.speed 1": "can be set, not 'speed'",
    "set swarm.0.hading 1": "Did you mean 'heading'?",
    "set swarm.count 0": "is not a number of robots from 1 to 10000",
    "set swarm.count -1": "is not a number of robots",
    "set swarm.count 1e3": "is not a number of robots",
    "set swarm.count 10001": "is not a number of robots",
    f"set swarm.count {'9' * 5000}": "is not a number of robots",
    "set swarm.radius 0": "out of range",
    "set world.engine warp": "'warp' is not allowed",
    "set world.dt 0": "out of range",
    "set world.name 7": "is not a name",
    "set left.name 'a b'": "is not a name",
    "move left 0 x": "Y: 'x' is not a length",
    "move car nan 0": "X: 'nan' is not a length",
    "move car 0 0 north": "HEADING: 'north' is not an angle",
    "move car 1e7 0": "out of range",
    "move left 0 0 90deg": "'left' has no 'heading'",
    "move arena 0 0": "the arena cannot be moved",
    "move trees 0 0": "no place of its own",
    "move car 0 0.6": "car.0 cannot stand at (0, 0.6): a wall or an obstacle is in the way.",
    "drive car 2 0": "LEFT 2 is out of range",
    "drive car nan nan": "LEFT 'nan' is not a number",
    "drive car 0 -1.1": "out of range; it must be from -1 to 1",
    "drive car fast": "LEFT",
    "step 0": "N 0 is out of range",
    "step -1": "out of range",
    "step 1.5": "is not a whole number",
    "step 1000000": "from 1 to 100000",
    "speed 0": "out of range",
    "speed -1": "out of range",
    "speed fast": "FACTOR 'fast' is not a number. Usage: speed [FACTOR|max]",
    "speed nan": "is not a number",
    "seed -1": "out of range",
    "seed x": "not a whole number",
    f"seed {2**63}": "out of range",
    "bench 0": "out of range",
    "bench 100": "out of range",
    "pause maybe": "Allowed: on, off.",
    "overlay beems": "Did you mean 'beams'?",
    "overlay beams yes": "Allowed: on, off.",
    "layer odometri": "Did you mean 'odometry'?",
    "layer odometry yes": "Allowed: on, off.",
    "layer odometry on off": "at most 2",
    "layer none off": "at most 1",
    "list robts": "Did you mean 'robots'?",
    "seek x": "is not a number",
    "seek -1": "out of range",
    "wait soon": "is not a number",
    "settings load": "Allowed: save.",
    # -- spawning
    "spawn swrm": "Did you mean 'swarm'? There are: swarm, rovers, car",
    "spawn swarm 1": "a place is X Y, or X Y HEADING.",
    "spawn swarm 1 0 0 0": "a place is X Y",
    "spawn swarm x 0": "X: 'x' is not a length",
    "spawn swarm 0 0.6": "is in the way",
    "spawn swarm radius=1": "are all alike; `set swarm.NAME VALUE` changes them",
    "spawn swarm 1 0 =3": "'=3' is not NAME=VALUE",
    "spawn cylinder": "<cylinder> needs radius, such as radius=0.1.",
    "spawn lamp 1": "<lamp> needs y",
    "spawn lamp 1 1 1": "give the rest as NAME=VALUE",
    "spawn lamp 1 1 x=2": "'x' is given twice",
    "spawn lamp 1 1 on=true on=false": "'on' is given twice",
    "spawn lamp 1 1 warmth=2": "<lamp> has no 'warmth'",
    "spawn lamp a b": "'a' is not a length",
    "spawn lamp 0 0 name=7": "is not a name",
    "spawn cylinder 1 1": "needs radius",
    "spawn cylinder 1 1 radius=-1": "out of range",
    "spawn wall 1 1": "<wall> has no 'x'",
    "spawn arena width=1 depth=1": "second <arena>",
    "spawn zone 0 0": "either a disc (radius) or a rectangle",
    "spawn cylinders count=900 radius=0.2": "do not fit",
    "spawn sbot 0 0.6": "is in the way",
    "spawn sbot wheels=3": "has no 'wheels'",
    "spawn sbot name=swarm": "there is a group 'swarm' already; `spawn swarm` adds a robot to it.",
    "spawn sbot 1 0 name=7": "is not a name",
    "spawn disc": "<disc> needs",
    "spawn lamp 0 0 =": "is not NAME=VALUE",
    # -- motors, solvers, events
    "out grip 1": "no robot is selected; click one, or name it, such as swarm.0.grip.",
    "out car.grip 1": "It has: wheel_l, wheel_r, red, green, blue, red_1 to blue_8 (in the plane; there are more in space)",
    "out car.wheel_l 2": "out of range",
    "out car.wheel_l": "it needs 2 arguments",
    "out left.wheel_l 1": "is not one robot",
    "solver direct": "the planar engine solves no forces",
    "solver quick": "Allowed: auto, direct, iterative.",
    "events 0": "out of range",
    # -- controllers
    "controller swarm warp": "there is no controller 'warp'. Did you mean 'wander'? There are:",
    "controller swarm braitenber": "Did you mean 'braitenberg'?",
    "controller car braitenberg sensor=sonar": "sonar",
    "controller swarm braitenberg gain": "is not NAME=VALUE",
    "controller swarm braitenberg gane=1": "<braitenberg> has no 'gane'",
    "controller swarm none gain=1": "there would be none",
    "controller swarm perceptron inputs=proximity": "has no genotype yet",
    "set swarm.controller.sensor sonar": "sonar",
    # -- files
    "load nowhere": "there is no world",
    "load nowhere.xml": "no such file",
    "load corral robots": "is not NAME=VALUE",
    "load corral robbots=3": "Did you mean 'robots'?",
    "load .": "is a directory",
    "load corral robots=-1": "out of range",
    "save here.txt": "does not end in .xml",
    "record here.xml": "does not end in .parquet",
    "record no/where.parquet": "cannot be written",
    "screenshot here.gif": "must end in .png, .svg, .pdf",
    "screenshot no/where.png": "cannot be written",
    "exec no.fsh": "there is no such file",
    "export here.html": "no page is open",
    f"save {'x' * 300}.xml": "cannot be written (File name too long)",
    f"record {'x' * 300}.parquet": "cannot be written",
    f"load {'x' * 300}.xml": "",
    "seek 1": "only recordings have a timeline",
    "undo": "there is nothing to undo.",
    # -- the language
    "speeed 3": "there is no command 'speeed'. Did you mean 'speed'? `help` lists all.",
    "help speeed": "Did you mean 'speed'?",
    "set left.x '1": "a ' opens here and is not closed",
    "echo $nobody": "there is no variable '$nobody'",
    "var time 3": "cannot be set",
    "alias set x": "is a command",
    "bind w 'drive 0 $1 1'": "a key gives no arguments",
    "bind Hyper+w step": "there is no key",
}


@pytest.mark.parametrize("line", WRONG, ids=lambda line: line[:60])
def test_a_line_that_makes_no_sense_gets_one_message_and_changes_nothing(workspace, folder, line):
    workspace.steps(2)
    workspace.run("drive car 0.5 0.5; drive car off")
    assert WRONG[line] in workspace.refused(line)
    assert not list(folder.iterdir())
    workspace.steps(1)


def test_every_command_is_among_them():
    alone = {"help", "echo", "stop", "unalias", "unbind", "follow", "camera", "pause"}  # these take nearly everything
    typed = {line.split()[0] for line in WRONG}
    assert ALL - typed <= alone


def test_a_list_of_names_of_which_one_is_wrong_does_nothing_for_the_others(workspace):
    for command in ("remove", "enable", "disable"):
        assert "there is nothing named 'nobody'" in workspace.refused(f"{command} left swarm.1 box nobody")


def test_commands_before_a_wrong_one_have_been_carried_out_and_those_behind_have_not(workspace):
    task = workspace.session.console.run("speed 2; spede 3; speed 4")
    assert task.failed and workspace.session.speed == 2.0


# -- random input -----------------------------------------------------------------------------------------------------
WORDS = [
    "swarm", "swarm.0", "0", "left", "box", "rail", "trees", "arena", "car", "rovers.1", "world", "contact", "cylinder.0",
    "nobody", "left.x", "swarm.count", "swarm.0.x", "swarm.controller.gain", "world.dt", "world.doc", "rovers.radius",
    "box.heading", "swarm.proximity", "contact.model", "on", "off", "none", "max", "new", "true", "false", "stop", "0.3",
    "-1", "1", "2", "90deg", "30cm", "nan", "1e300", "1e-300", "", "sbot", "disc", "lamp", "cylinder", "zone", "wall",
    "radius=0.1", "name=x", "x=0.2", "points=0 0 1 1", "random_walk", "braitenberg", "turn_away", "beams", "robots", "things",
    "binds", "aliases", "overlays", "save", "w", "Space", "echo hi", "step", "$time", "$$", "\u0663", "²", "🤖", "a" * 300,
    "9" * 30, "\\", "'", '"',
]
FILES = {"load", "save", "record", "screenshot", "settings", "exec"}
ALL = {*Console(say=print, clock=float).commands, *(spec.name for spec in commands(None))}
COMMANDS = sorted(ALL - FILES - {"bench", "quit"})
NUMBERS = st.floats(-1.6, 1.6).map("{:.3f}".format)
ROBOTS = st.sampled_from(["0", "3", "5", "6", "swarm.1", "rovers.0", "car", "sbot.0", "x.0"])
THINGS = st.sampled_from(["left", "right", "box", "rail", "rock", "trees", "nest", "arena", "cylinder.0", "cylinder", "lamp"])
GROUPS = st.sampled_from(["swarm", "rovers", "car", "sbot", "x"])
LINES = st.one_of(  # most of these work, sometimes
    st.builds(lambda name, args: quote([name, *args]), st.sampled_from(COMMANDS), st.lists(st.sampled_from(WORDS), max_size=4)),
    st.builds("move {} {} {} {}".format, st.one_of(ROBOTS, THINGS), NUMBERS, NUMBERS, st.sampled_from(["", "90deg"])),
    st.builds("set {}.{} {}".format, ROBOTS, st.sampled_from(["x", "y", "heading"]), NUMBERS),
    st.builds("set {}.{} {}".format, st.one_of(THINGS, GROUPS), st.sampled_from(["radius", "x", "width", "seed"]), NUMBERS),
    st.builds("set {}.count {}".format, GROUPS, st.integers(1, 9)),
    st.builds("{} {} {}".format, st.sampled_from(["remove", "enable", "disable"]), st.one_of(ROBOTS, THINGS, GROUPS), THINGS),
    st.builds("toggle {}".format, st.one_of(ROBOTS, THINGS, GROUPS)),
    st.builds("spawn {} {} {}".format, st.sampled_from(["swarm", "sbot", "sbot name=x", "lamp", "cylinder radius=5cm"]),
              NUMBERS, NUMBERS),
    st.builds("controller {} {}".format, GROUPS, st.sampled_from(["none", "random_walk", "turn_away", "braitenberg"])),
    st.builds("drive {} {} {}".format, ROBOTS, NUMBERS, NUMBERS), st.builds("select {}".format, ROBOTS),
    st.builds("overlay {} on".format, st.sampled_from(["beams", "links", "shifts"])),
    st.sampled_from(["undo", "reset", "seed 3", "step 5", "spawn swarm", "set contact.model none", "set contact.model stop",
                     "wait 0.2; toggle left", "set world.dt 0.05", "set world.dt 0.2"]))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(LINES, min_size=1, max_size=12))
def test_random_commands_never_break_the_session(world, lines):
    """No exception escapes, what failed has changed nothing, and every state can be stepped, drawn and described."""
    workspace = Workspace(world)
    for line in lines:
        before = workspace.everything()
        task = workspace.session.console.run(line)
        if task.failed:
            after = workspace.everything()
            for name in ("position", "heading", "alive", "step"):
                assert np.array_equal(before[name], after[name]), line
            assert after["world"] is before["world"] and after["undo"] == before["undo"], line
            assert "\n" not in task.error and len(task.error) < 1500
        workspace.session.step()
        frame = workspace.session.frame()
        assert np.isfinite(frame.place).all() and len(frame.place) == workspace.session.world.robots
    for name in names.all_names(workspace.session.world):
        workspace.session.console.run(quote(["info", name]))


def answered(workspace, line):
    """Run a line that may be wrong: it is carried out, waits, or gets one message of one line; nothing is left half done."""
    workspace.said.clear()
    task = workspace.session.console.run(line)
    errors = [text for kind, text in workspace.said if kind == "error"]
    assert errors == ([task.error] if task.failed else []), line
    assert not any("\n" in each or len(each) > 1500 for each in errors), line
    assert task.done or task.waits is not None, line


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60))
def test_any_text_at_all_is_answered(workspace, text):
    if not re.search("|".join([*FILES, "quit", "bench"]), text):
        answered(workspace, text)
        assert all(isinstance(word, str) for word in workspace.session.console.complete(text))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_word_behind_every_command_is_answered(world, command):
    workspace = Workspace(world)
    for word in WORDS:
        for more in ([], ["0.2", "0.3"]):
            answered(workspace, quote([command, word, *more]))
        workspace.session.console.stop()
        assert not workspace.session.console.tasks
    workspace.run("reset")
    workspace.steps(1)
    assert workspace.session.sim.state.step[0] == 1


def test_every_completion_is_a_word_that_makes_sense(workspace):
    """Completed names are found, and completed paths have values."""
    console = workspace.session.console
    for typed in ("remove ", "info swarm.", "toggle rovers.", "move c"):
        for word in console.complete(typed):
            names.find(workspace.session.world, word)
    for word in [*console.complete("get "), *console.complete("get swarm."), *console.complete("get swarm.0.")]:
        assert word == "world.topic" or word.endswith(".switched") or workspace.run(f"get {word}")  # those are empty
    assert "swarm.0.x" in console.complete("set swarm.0.") and "left.intensity" in console.complete("set left.i")
    assert console.complete("spawn lamp ")[:2] == ["colour=", "intensity="]
    assert {"none", "braitenberg"} <= set(console.complete("controller swarm "))
    assert console.complete("overlay b") == ["beams"] and console.complete("pause ") == ["off", "on"]
    assert "corral" in console.complete("load ") and console.complete("set left.x ") == []
