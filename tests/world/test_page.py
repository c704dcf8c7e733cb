"""Keys, commands and cameras of a world: checked when it is read, written back, recorded; and what is switched off."""

import pytest

import formiga
from formiga.errors import Where, WorldError
from formiga.record.recording import read_recording
from formiga.units import DEG
from formiga.world.elements import origin
from formiga.world.model import World
from formiga.world.page import Alias, Bind, Camera, Script
from formiga.world.reader import read, read_text
from formiga.world.writer import to_text

PAGE = """<world>
  <alias name="+forward" run="drive 0 1 1"/>
  <alias name="-forward" run="drive 0"/>
  <bind key="W" run="+forward"/>
  <bind key="shift+ctrl+up" run="echo $time; echo $${seed}"/>
  <script run="speed 2; wait 3; speed 1"/>
  <camera name="corner" x="1" y="1" z="50cm" look_z="10cm"/>
</world>"""


def test_a_page_is_read_in_order_and_keys_get_their_one_spelling():
    page = read_text(PAGE).page
    assert page == (Alias("+forward", "drive 0 1 1"), Alias("-forward", "drive 0"), Bind("w", "+forward"),
                    Bind("Ctrl+Shift+ArrowUp", "echo $time; echo ${seed}"), Script("speed 2; wait 3; speed 1"),
                    Camera(1.0, 1.0, 0.5, look_z=0.1, fov=50.0 * DEG, name="corner"))
    assert page[4].text == "speed 2; wait 3; speed 1"
    assert origin(page[2]) == Where("<text>", 4) and origin(Bind("w", "x")) is None


def test_a_page_survives_writing_and_reading():
    world = read_text(PAGE)
    assert read_text(to_text(world)) == world
    assert 'run="echo $time; echo $${seed}"' in to_text(world)


def test_a_script_file_is_read_with_the_world_and_is_in_no_recording(tmp_path):
    (tmp_path / "phases.fsh").write_text("# two phases\nspeed max\nwait 3; pause\n")
    (tmp_path / "w.xml").write_text('<world><script file="phases.fsh"/><sbot><at x="0" y="0"/></sbot></world>')
    world = read(tmp_path / "w.xml")
    recorded = formiga.simulate(world, 0.2, out=tmp_path / "out").recording
    assert world.page[0].text == "# two phases\nspeed max\nwait 3; pause\n"
    assert world.page[0].file == str(tmp_path / "phases.fsh")
    assert read_recording(recorded).world.page == () and b"two phases" not in recorded.read_bytes()


@pytest.mark.parametrize("way", ["absolute", "above", "link"])
def test_a_worlds_script_lies_in_the_worlds_folder(tmp_path, way):
    """Else a stranger's world could make one's private files its text."""
    (tmp_path / "secret").write_text("echo secret\n")
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "link").symlink_to(tmp_path / "secret")
    file = {"absolute": str(tmp_path / "secret"), "above": "../secret", "link": "link"}[way]
    (tmp_path / "inside" / "w.xml").write_text(f'<world><script file="{file}"/></world>')
    with pytest.raises(WorldError, match=r"w.xml:1: <script> file: the file must lie in the folder of"):
        read(tmp_path / "inside" / "w.xml")


@pytest.mark.parametrize("line, complaint", [
    ('<bind key="ArowUp" run="toggle"/>', "<text>:2: <bind> key: there is no key 'ArowUp'. Did you mean 'ArrowUp'?"),
    ('<bind key="" run="toggle"/>', "<text>:2: <bind> key: there is no key ''."),
    ('<bind key="w" run="echo &quot;half"/>', "<text>:2: <bind> run: a \" opens here and is not closed on its line."),
    ('<bind key="w" run="  # nothing"/>', "<text>:2: <bind> run: there is no command in it."),
    ('<bind key="w"/>', "<text>:2: <bind> needs 'run' (a text; commands, separated by ;)."),
    ('<bind key="w" run="echo $"/>', "<text>:2: <bind> run: '$' needs a name behind it"),
    ('<alias name="a b" run="toggle"/>', "<text>:2: <alias> name: 'a b' cannot be the name of an alias"),
    ('<alias name="" run="toggle"/>', "<text>:2: <alias> name: '' cannot be the name of an alias"),
    ('<alias name="a" run="\'"/>', "<text>:2: <alias> run: a ' opens here"),
    ("<script/>", "<text>:2: <script> has either commands (run) or a file with them (file)."),
    ('<script run="" />', "<text>:2: <script> run: there is no command in it."),
    ('<script file="none.fsh"/>', "<text>:2: <script> file: no file 'none.fsh' beside <text>."),
    ('<camera x="1" y="0" z="0" look_x="1"/>', "<text>:2: <camera> looks at the place where it stands"),
    ('<camera x="1" y="0" z="0" fov="0"/>', "<text>:2: <camera> fov: 0 is out of range; it must be above 0 and at most 3 rad"),
    ('<sbot><bind key="w" run="x"/></sbot>', "<text>:2: <bind> cannot stand in <sbot>. It belongs in <world>."),
    ('<bind key="a" run="x"/>\n<bind key="A" run="y"/>',
     "<text>:3: second bind with the key 'a'; the first is at line 2. Give each its own key."),
    ('<alias name="a" run="x"/>\n<alias name="a" run="y"/>', "<text>:3: second alias with the name 'a'; the first is at"),
    ('<camera x="1" y="0" z="1"/>\n<camera x="2" y="0" z="1"/>', "<text>:3: second camera with the name 'camera'"),
])
def test_a_mistake_in_a_page_is_one_message_with_its_line(line, complaint):
    with pytest.raises(WorldError) as caught:
        read_text(f"<world>\n{line}\n</world>")
    assert str(caught.value).startswith(complaint) and "\n" not in str(caught.value)


@pytest.mark.parametrize("contents, complaint", [
    (b"speed 1\necho \"half\n", "phases.fsh:2: a \" opens here"),
    (b"speed 1\n\n\xff\n", "phases.fsh:3: is not UTF-8 text"),
    (b"#" * 1_000_001, "phases.fsh: has more than 1000000 bytes"),
])
def test_a_mistake_in_a_script_file_says_its_own_line_too(contents, complaint, tmp_path):
    (tmp_path / "phases.fsh").write_bytes(contents)
    (tmp_path / "w.xml").write_text('<world>\n<script file="phases.fsh"/></world>')
    with pytest.raises(WorldError) as caught:
        read(tmp_path / "w.xml")
    assert str(caught.value).startswith(f"{tmp_path}/w.xml:2: <script> file: {tmp_path}/{complaint}")


def test_the_same_rules_hold_in_python():
    with pytest.raises(WorldError, match="no key 'nokey'"):
        Bind("nokey", "toggle")
    with pytest.raises(WorldError, match="second bind with the key 'Space'; the first is before it"):
        World(page=(Bind("space", "toggle"), Bind("Space", "pause")))
    with pytest.raises(WorldError, match="here stands what has the role 'page'"):
        World(page=(World().contact,))
