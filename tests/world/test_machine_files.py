"""Machine files of strangers: they name no file elsewhere, and cost neither the memory nor the time that they ask for."""

import os
import struct
import subprocess
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from joblib import Parallel, delayed

from formiga.engine.spatial import model
from formiga.errors import WorldError
from formiga.world.contract import joint_names
from formiga.world.machine import files, trial
from formiga.world.reader import read_text

BODY = '<worldbody>\n<body name="b"><geom size="0.1"/></body></worldbody>'
REPLICAS = "".join(f'<replicate count="100" offset="0 0 {k}">' for k in range(1, 4))


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """machine(name -> contents) -> the <machine> of main.xml, in a folder without anything else and with an empty cache."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(trial, "_passed", {})

    def write(attributes="", /, **contents):
        folder = tmp_path / "folder"
        for name, data in contents.items():
            path = folder / name.replace("__", "/").replace("_xml", ".xml").replace("_png", ".png")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
        folder.mkdir(exist_ok=True)
        text = f'<world engine="spatial">\n<machine file="folder/main.xml" {attributes}/></world>'
        return read_text(text, str(tmp_path / "mine.xml")).groups[0].robot

    return write


def refusal(robot):
    with pytest.raises(WorldError) as refused:
        robot.description()
    words = str(refused.value)
    assert "mine.xml:2: <machine> file: 'main.xml' cannot be used as a robot (" in words and "\n" not in words, words
    return words


@pytest.fixture
def no_process(monkeypatch):
    """What the checks refuse is refused before any process is started, and before MuJoCo sees it."""
    monkeypatch.setattr(trial.subprocess, "run", lambda *_, **__: pytest.fail("a trial was started"))


def mujoco(inside, after=BODY):
    return f"<mujoco>\n{inside}\n{after}</mujoco>"


def png(width, height):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return files.PNG + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IEND", b"")


TEXTURE = '<asset><texture name="t" type="2d" {}/></asset>'
MANY = {
    "texture": (TEXTURE.format('builtin="flat" width="40000" height="40000"'), "main.xml:2: <texture> is too large"),
    "cube": ('<asset><texture builtin="flat" type="cube" width="4000"/></asset>', "main.xml:2: <texture> is too large"),
    "texture_that_is_no_number": (TEXTURE.format('builtin="flat" width="4e4" height="9"'), "whole numbers of pixels"),
    "hfield": ('<asset><hfield name="h" nrow="20000" ncol="20000" size="1 1 1 1"/></asset>',
               "main.xml:2: <hfield> nrow: '20000' is not a number up to 1000"),
    "replicate": ('<worldbody><body><replicate count="1000000000"><geom size="1"/></replicate></body></worldbody>',
                  "main.xml:2: <replicate> count: '1000000000' is not a number up to 1000"),
    "nested": (f"<worldbody><body>{REPLICAS}<geom size='1'/>{'</replicate>' * 3}</body></worldbody>",
               "main.xml:2: <replicate> makes more than 20000 elements"),
    "flexcomp": ('<worldbody><body name="b"><flexcomp name="f" type="grid" count="100 100 100"/></body></worldbody>',
                 "main.xml:2: <flexcomp> count: '100 100 100' makes 1000000 points; at most 1000 are allowed"),
    "composite": ('<worldbody><body name="b"><composite prefix="c" type="cable" count="100000 1 1"/></body></worldbody>',
                  "main.xml:2: <composite> count"),
    "user_data": ('<size nuser_geom="2000000000"/>', "main.xml:2: <size> nuser_geom"),
    "mesh": ('<asset><mesh name="m" builtin="plate" params="1e9 1e9"/></asset>', "main.xml:2: <mesh> params"),
    "doctype": ('<x/>', "main.xml:1: a machine has no DOCTYPE and no entities"),
}


@pytest.mark.parametrize("inside", ["main", "included", "included_twice"])
@pytest.mark.parametrize("case", MANY)
@pytest.mark.usefixtures("no_process")
def test_a_few_characters_that_stand_for_much_are_refused_with_their_line_in_any_file(machine, case, inside):
    text, message = MANY[case]
    bomb = mujoco(text, "" if "worldbody" in text else BODY)
    bomb = "<!DOCTYPE mujoco [<!ENTITY a 'a'>]>" + bomb if case == "doctype" else bomb
    if inside == "main":
        assert message in refusal(machine(main_xml=bomb))
    else:
        include = "<include file='parts/a.xml'/>"
        chain = mujoco("<include file='b.xml'/>", "") if inside == "included_twice" else bomb
        words = refusal(machine(main_xml=mujoco(include), parts__a_xml=chain, parts__b_xml=bomb))
        assert message.replace("main.xml", "parts/a.xml" if chain == bomb else "parts/b.xml") in words


@pytest.mark.usefixtures("no_process")
def test_models_that_attach_each_other_are_counted_and_may_not_go_in_a_circle(machine):
    def level(other, number):
        copies = "".join(f'<attach model="m" body="b" prefix="{k}"/>' for k in range(number))
        asset = f'<asset><model name="m" file="{other}"/></asset>'
        return mujoco(f'{asset}<worldbody><body name="b">{copies}</body></worldbody>', "")

    words = refusal(machine(main_xml=level("a.xml", 30), a_xml=level("b.xml", 30), b_xml=level("c.xml", 30), c_xml=mujoco("")))
    assert "makes more than 20000 elements" in words
    assert "a.xml:2: 'main.xml' is inside itself" in refusal(machine(main_xml=level("a.xml", 2), a_xml=level("main.xml", 2)))


@pytest.mark.usefixtures("no_process")
def test_a_chain_of_includes_ends_somewhere(machine):
    chain = {f"a{k}_xml": mujoco(f"<include file='a{k + 1}.xml'/>", "") for k in range(30)}
    words = refusal(machine(main_xml=mujoco("<include file='a0.xml'/>"), **chain))
    assert "more than 16 of its files are inside each other" in words


@pytest.mark.usefixtures("no_process")
def test_a_compressed_picture_is_as_large_as_it_becomes(machine):
    robot = machine(main_xml=mujoco('<compiler texturedir="pictures"/>\n' + TEXTURE.format('file="sky.png"')),
                    pictures__sky_png=png(40000, 40000))
    assert "main.xml:3: 'pictures/sky.png' is too large: all pictures of a machine together" in refusal(robot)


# -- where the files are ----------------------------------------------------------------------------------------------------
ASSETS = ('<asset><mesh name="m" file="{}"/></asset>', '<asset><texture type="2d" file="{}"/></asset>',
          '<asset><hfield name="h" file="{}" size="1 1 1 1"/></asset>', '<include file="{}"/>',
          '<compiler meshdir="{}"/>', '<asset><model name="o" file="{}"/></asset>',
          '<deformable><skin file="{}"/></deformable>')


@pytest.mark.parametrize("asset", ASSETS)
@pytest.mark.parametrize("name", ["/etc/passwd", "../secret.stl", "a/../../secret.stl", "package:///etc/passwd", "file:secret",
                                  "..\\secret.stl"])
@pytest.mark.usefixtures("no_process")
def test_no_file_of_the_tree_names_one_outside_of_the_folder(machine, asset, name):
    spy = mujoco("\n" + asset.format(name))
    assert f"main.xml:3 names '{name}', which is not in its own folder" in refusal(machine(main_xml=spy))
    words = refusal(machine(main_xml=mujoco("<include file='a.xml'/>"), a_xml=spy))
    assert f"a.xml:3 names '{name}', which is not in its own folder" in words


@pytest.mark.parametrize("asset", [asset for asset in ASSETS if "meshdir" not in asset])
@pytest.mark.usefixtures("no_process")
def test_a_link_is_followed_before_it_is_judged(machine, tmp_path, asset):
    (tmp_path / "secret.stl").write_text("secret")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inner.stl").symlink_to("../secret.stl")
    words = refusal(machine(main_xml=mujoco(asset.format("inner.stl"))))
    assert "main.xml:2 names 'inner.stl', a link to a file that is not in its own folder" in words
    (tmp_path / "folder" / "way").symlink_to("..")
    words = refusal(machine(main_xml=mujoco(f'<compiler assetdir="way"/>\n{asset.format("secret.stl")}')))
    assert "main.xml:3 names 'way/secret.stl', a link to a file that is not in its own folder" in words


@pytest.mark.parametrize("name", ["inner.stl ", " inner.stl", "inner\n.stl", "in ner.stl"])
@pytest.mark.usefixtures("no_process")
def test_a_name_that_mujoco_and_we_could_read_differently_is_refused(machine, tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / name).symlink_to("/etc/passwd")
    assert "files of a machine have names without blanks" in refusal(machine(main_xml=mujoco(ASSETS[0].format(name))))


@pytest.mark.parametrize("name", ["a\\inner.stl", "package://inner.stl"])
@pytest.mark.usefixtures("no_process")
def test_a_link_is_found_under_each_reading_of_its_name(machine, tmp_path, name):
    link = tmp_path / "folder" / name
    link.parent.mkdir(parents=True)
    link.symlink_to("/etc/passwd")
    assert "a link to a file that is not in its own folder" in refusal(machine(main_xml=mujoco(ASSETS[0].format(name))))


@pytest.mark.usefixtures("no_process")
def test_a_link_is_found_from_the_folder_of_any_file_of_the_tree(machine, tmp_path):
    (tmp_path / "folder" / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "folder" / "sub" / "m.stl").symlink_to("/etc/passwd")
    robot = machine(main_xml=mujoco('<asset><model name="k" file="sub/k.xml"/></asset>'),
                    sub__k_xml=mujoco('<include file="deep/i.xml"/>'), sub__deep__i_xml=mujoco(ASSETS[0].format("m.stl"), ""))
    assert "sub/deep/i.xml:2 names 'sub/m.stl', a link to a file that is not in its own folder" in refusal(robot)


@pytest.mark.usefixtures("no_process")
def test_a_pipe_is_not_waited_for(machine, tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "folder" / "m.stl")
    assert "main.xml:2 names 'm.stl', which is not a file" in refusal(machine(main_xml=mujoco(ASSETS[0].format("m.stl"))))


@pytest.mark.usefixtures("no_process")
def test_many_or_large_files_are_refused_with_the_line_that_names_them(machine, monkeypatch):
    monkeypatch.setattr(files, "LARGEST_FILES", 1000)
    robot = machine(main_xml=mujoco(ASSETS[1].format("large.png")), large_png=b"x" * 1000)
    assert "main.xml:2: a machine has at most 1000 files, and 0 MB in all" in refusal(robot)


def test_files_beside_and_below_are_found_wherever_mujoco_finds_them(machine):
    flat = struct.pack("<80xI", 12) + b"".join(
        struct.pack("<12f2x", 0, 0, 0, *corner) for corner in _box())  # an STL file
    robot = machine(main_xml=mujoco("<compiler meshdir='meshes'/><include file='parts/a.xml'/>"), parts__a_xml=mujoco(
        "<asset><mesh name='m' file='m.stl'/></asset>", ""), meshes__m_xml="", **{"meshes__m.stl": flat})
    tree = files.check(robot.file)
    assert sorted(map(tree.shown, tree.files)) == ["main.xml", "meshes/m.stl", "parts/a.xml"]
    assert robot.description().compile().nmesh == 1
    machine(**{"meshes__m.stl": flat + b" "})
    assert files.check(robot.file).key("") != tree.key("")


def _box():
    corners = [(x, y, z) for x in (0.0, 0.1) for y in (0.0, 0.1) for z in (0.0, 0.1)]
    faces = (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), \
            (1, 5, 7), (1, 7, 3)
    return [sum((corners[k] for k in face), ()) for face in faces]


# -- the trial --------------------------------------------------------------------------------------------------------------
def test_what_no_check_foresees_ends_at_the_limits_of_the_trial(machine, monkeypatch):
    """The checks are off: the process by itself must hold against memory, time and size."""
    for limit in ("MOST_PIXELS", "MOST", "MOST_ELEMENTS"):
        monkeypatch.setattr(files, limit, 10**12)
    robot = machine(main_xml=mujoco(TEXTURE.format('builtin="flat" width="40000" height="40000"')))
    assert "memory" in refusal(robot)
    legs = '<worldbody><body><replicate count="1200"><body><geom size="0.1"/></body></replicate></body></worldbody>'
    assert "it has 1202 bodies; at most 1000 are allowed" in refusal(machine(main_xml=mujoco(legs, "")))
    monkeypatch.setattr(trial, "SECONDS", 1)
    assert "needs more than 1 s for it" in refusal(machine(main_xml=mujoco(MANY["nested"][0], "")))
    monkeypatch.setattr(trial, "PATIENCE", 0.01)
    assert "needs more than 0.01 s for it" in refusal(machine(main_xml=mujoco("")))


def test_a_machine_that_has_passed_is_tried_again_only_if_its_files_change(machine, tmp_path, monkeypatch):
    started, run = [], subprocess.run
    monkeypatch.setattr(trial.subprocess, "run", lambda *given, **named: started.append(1) or run(*given, **named))
    machine(main_xml=mujoco("<include file='a.xml'/>"), a_xml=mujoco("<option/>", "")).description()
    machine().description()
    monkeypatch.setattr(trial, "_passed", {})  # another process
    machine().description()
    assert len(started) == 1
    machine('smooth="b"').description()
    machine(a_xml=mujoco("<option/><!-- -->", "")).description()
    assert len(started) == 3
    (stored,) = {path.parent for path in (tmp_path / "cache").rglob("*.json")}
    for path in stored.iterdir():
        path.write_text('{"bodies": 2000, "dofs": "a"}')  # nonsense is not believed
    monkeypatch.setattr(trial, "_passed", {})
    machine().description()
    assert len(started) == 4
    stored.chmod(0o777)  # nor is what others could have written
    monkeypatch.setattr(trial, "_passed", {})
    machine().description()
    assert len(started) == 5


def _bodies(robot):
    return len(list(robot.description().bodies))


def test_threads_and_workers_try_machines_too(machine):
    robot = machine(main_xml=mujoco(""))
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(_bodies, [robot] * 8)) == {2}
    assert Parallel(n_jobs=2)(delayed(_bodies)(robot) for _ in range(2)) == [2, 2]


def test_the_process_of_a_trial_imports_nothing_of_formiga():
    code = f"import runpy, sys; runpy.run_path({trial.spec.__file__!r}); print(*sys.modules)"
    seen = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "json" in seen and not [name for name in seen if name.startswith(("formiga", "numba"))]


# -- many of them ------------------------------------------------------------------------------------------------------
def test_a_world_of_too_many_bodies_is_refused_before_it_is_compiled(machine, monkeypatch):
    pair = '<worldbody><body><body><geom size="0.1"/></body><geom size="0.1"/></body></worldbody>'
    robot = machine(main_xml=mujoco("", pair))
    for count, message in ((1251, "2502 bodies are too many for three dimensions; at most 2500 can move. Lower 'count'"),
                           (100_000, "100000 bodies are too many")):
        text = f'<world engine="spatial">\n<machine file="{robot.file}" count="{count}"/></world>'
        with pytest.raises(WorldError, match=rf"mine.xml:2: {message}"):
            model.build(read_text(text, "mine.xml"))
    with pytest.raises(WorldError, match=r"mine\.xml:1: 2501 bodies are too many"):
        solids = "".join(f'<solid name="s{k}" size="1 1 1"/>' for k in range(2501))
        model.build(read_text(f'<world engine="spatial">{solids}</world>', "mine.xml"))
    monkeypatch.setattr(model, "MOST_BYTES", 2**20)
    with pytest.raises(WorldError, match=r"mine\.xml:2: these machines need .* MB; at most 1 MB are allowed"):
        model.build(read_text(text.replace("100000", "1000"), "mine.xml"))


GEOM = '<geom size="0.1"/>'
HISTORY = '<body><joint name="j"/><geom size="0.1"/></body>'
TOGETHER = {
    "what_it_remembers": (mujoco(f'<worldbody><body name="b"><geom size="0.1"/>{HISTORY}</body></worldbody>', '<actuator>'
                                 '<motor joint="j" nsample="1000000" delay="1"/></actuator>'), 100,
                          r"need \d+ MB; at most 1024 MB"),
    "geoms": (mujoco("", f'<worldbody><body name="b">{GEOM * 1001}</body></worldbody>'), 100,
              "have 100100 geoms; at most 100000"),
    "heights": (mujoco('<asset><hfield name="h" nrow="600" ncol="600" size="1 1 1 1"/></asset>'), 3,
                "have 1080000 points of height fields; at most 1048576"),
}


@pytest.mark.parametrize("case", TOGETHER)
def test_many_machines_that_are_small_enough_alone_are_too_large_together(machine, tmp_path, monkeypatch, case):
    monkeypatch.setattr(model.robots, "add", lambda *_: pytest.fail("it was built"))
    text, count, complaint = TOGETHER[case]
    machine(main_xml=text)
    world = f'<world engine="spatial">\n<machine file="folder/main.xml" count="{count}"/></world>'
    with pytest.raises(WorldError, match=rf"mine\.xml:2: these machines {complaint}"):
        model.build(read_text(world, str(tmp_path / "mine.xml")))


def test_keyframes_and_sensors_of_the_file_are_left_out_and_joints_without_a_name_get_one(machine, tmp_path):
    inside = '<body name="b"><geom size="0.1"/><body><joint/><geom size="0.1"/></body><body><joint name="joint0"/>' \
             '<geom size="0.1"/></body></body>'
    robot = machine(main_xml=mujoco(
        f"<worldbody>{inside}</worldbody>", '<keyframe><key/><key/></keyframe>'
        '<sensor><user dim="100000000" objtype="body" objname="b"/></sensor>'))
    assert joint_names(robot) == ("joint1", "joint0") and robot.size.bytes < 2**20
    two = '<world engine="spatial">\n<machine file="folder/main.xml" count="2"/></world>'
    built = model.build(read_text(two, str(tmp_path / "mine.xml"))).mj
    assert (built.nkey, built.nsensor, built.nu) == (0, 0, 4)


# -- numbers that are none ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("body", "where"), [
    ('<geom size="0.1" friction="nan"/>', "geom_friction"), ('<geom size="0.1" friction="inf"/>', "geom_friction"),
    ('<geom size="0.1" solref="nan 1"/>', "geom_solref"), ('<geom size="0.1" margin="inf"/>', "geom_margin"),
    ('<geom size="inf" mass="1"/>', "geom_size")])
def test_a_machine_whose_numbers_are_none_is_refused(machine, body, where):
    """MuJoCo takes them; the world around it would fail at its first step, or with a message about something else."""
    words = refusal(machine(main_xml=mujoco("", f'<worldbody>\n<body name="b">{body}</body></worldbody>')))
    assert where in words


def test_a_motor_whose_gear_is_no_number_is_refused(machine):
    joint = '<worldbody><body name="b"><geom size="0.1"/><body><joint name="j"/><geom size="0.1"/></body></body></worldbody>'
    text = mujoco("", joint + '<actuator><motor name="m" joint="j" gear="nan"/></actuator>')
    words = refusal(machine(main_xml=text))
    assert "it has numbers that are not finite: " in words and "actuator_gear" in words
