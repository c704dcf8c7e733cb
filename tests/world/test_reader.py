"""World files are read as they are meant, and refused with one sentence that names the line."""

import dataclasses
import os
from math import pi

import pytest

from formiga.errors import Where, WorldError
from formiga.world.elements import element, length, profiled, registered
from formiga.world.model import Arena, Contact, Cylinder, Group, World
from formiga.world.nodes import LARGEST_FILE
from formiga.world.placement import At, Scatter
from formiga.world.reader import read, read_text
from formiga.world.robots import Disc, SBot
from tests.world.examples import Clock, Eye, Horn, Mind

CORRAL = """\
<world name="corral" doc="one line" dt="0.1" seconds="1min" engine="planar">
  <param name="side" value="1.5"/>
  <contact model="reposition" crash_limit="60"/>
  <arena width="${side}" depth="${side}"/>
  <cylinder x="20cm" y="0" radius="5cm"/>
  <sbot name="swarm" count="10" profile="draft">
    <scatter gap="1cm"/>
    <example_eye reach="15cm"/>
    <example_mind/>
    <example_horn/>
  </sbot>
</world>
"""


def body(text: str, **parameters) -> World:
    return read_text(f"<world>{text}</world>", "a.xml", parameters)


def complaint(text: str, file: str = "a.xml", **parameters) -> str:
    with pytest.raises(WorldError) as caught:
        read_text(text, file, parameters)
    return str(caught.value)


def complaint_in_body(text: str, **parameters) -> str:
    message = complaint(f"<world>\n{text}\n</world>", **parameters)
    assert message.startswith("a.xml:")
    return message


# -- what is read ---------------------------------------------------------------------------------------------------
def test_a_file_gives_the_world_that_it_describes(tmp_path):
    path = tmp_path / "corral.xml"
    path.write_text(CORRAL)
    swarm = Group(profiled(SBot, "draft"), 10, "swarm", (Scatter(gap=0.01),),
                  (Eye(reach=0.15, profile="draft", noise=0.05),), Mind(), (Horn(),))
    assert read(path) == World("corral", "one line", 0.1, 60.0, "planar", Contact("reposition", crash_limit=60),
                               (Arena(1.5, 1.5), Cylinder(0.2, 0.0, 0.05)), (swarm,))
    assert read_text(CORRAL) == read(str(path))


def test_every_element_and_group_knows_its_line():
    world = read_text(CORRAL, "corral.xml")
    group = world.groups[0]
    places = [thing._where.line for thing in (world, world.contact, *world.things, group, group.robot, *group.place,
                                              *group.sensors, group.controller, *group.actuators)]
    assert places == [1, 3, 4, 5, 6, 6, 7, 8, 9, 10]
    assert group._where == Where("corral.xml", 6)


def test_comments_instructions_and_an_editors_schema_hint_are_no_part_of_the_world():
    hint = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="formiga.xsd"'
    text = f"<?xml version='1.0'?><!-- <!DOCTYPE x> --><world {hint}><!-- a --><?b c?></world><!-- d -->"
    assert read_text(text) == World()


def test_a_text_in_any_declared_encoding_is_what_python_says_it_is():
    assert read_text('<?xml version="1.0" encoding="ISO-8859-1"?><world doc="formigão"/>').doc == "formigão"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_a_file_may_have_any_encoding_that_it_declares(tmp_path, encoding):
    path = tmp_path / "a.xml"
    path.write_bytes(f'<?xml version="1.0" encoding="{encoding}"?><world doc="formigão"/>'.encode(encoding))
    assert read(path).doc == "formigão"


def test_a_setting_other_than_contact_is_kept():
    assert body('<example_clock hands="3"/>').settings == (Clock(3),)


# -- parameters and arithmetic --------------------------------------------------------------------------------------
@pytest.mark.parametrize(("expression", "value"), [
    ("side", 1.5), ("side / 2 - 5.8*cm", 1.5 / 2 - 5.8 * 0.01), ("max(2, sqrt(robots))", 128**0.5), ("-side + 2", 0.5),
    ("2**-1", 0.5), ("90*deg", pi / 2), ("pi", pi), ("min(3, 2, 1)", 1), ("abs(-3)", 3), ("round(2.6)", 3),
    ("floor(2.6) + ceil(2.1)", 5), ("gap / 2", 0.01), ("36*km/h", 10.0), ("1/3", 1 / 3), ("0.1 + 0.2", 0.1 + 0.2),
    ("-" * 198 + "1", 1), ("(" * 99 + "1" + ")" * 99, 1), ("2*min", 120.0), ("round(2.345, 1)", 2.3), ("1e3", 1000.0),
])
def test_arithmetic_gives_every_digit(expression, value):
    params = '<param name="side" value="1.5"/><param name="robots" value="128"/><param name="gap" value="2cm"/>'
    assert body(f'{params}<lamp x="${{{expression}}}" y="0"/>').things[0].x == value


@pytest.mark.parametrize("expression", ["robots", "robots / 4", "robots * 1.0", "sqrt(robots + 16)"])
def test_a_whole_result_serves_where_a_whole_number_is_needed(expression):
    world = body(f'<param name="robots" value="128"/><sbot count="${{{expression}}}"/>')
    assert world.robots == {"robots": 128, "robots / 4": 32, "robots * 1.0": 128, "sqrt(robots + 16)": 12}[expression]


def test_a_param_that_is_a_text_stands_for_itself():
    assert body('<param name="style" value="draft"/><sbot profile="${style}"/>').groups[0].robot.profile == "draft"
    assert body('<param name="n" value="7"/><sbot name="team${n}-${n + 1}"/>').groups[0].name == "team7-8"


def test_a_param_may_use_earlier_ones_and_be_replaced_from_outside():
    text = '<param name="a" value="2"/><param name="b" value="${a * 3}"/><lamp x="${b}" y="0"/>'
    assert body(text).things[0].x == 6.0
    assert body(text, a=5).things[0].x == 15.0
    assert body(text, a="5").things[0].x == 15.0
    assert body(text, b=0.1).things[0].x == 0.1


def test_a_doubled_dollar_is_a_plain_one():
    assert body('<sbot><example_mind note="costs $${5} or $$${6}, $7"/></sbot>').groups[0].controller.note == \
        "costs ${5} or $${6}, $7"


@pytest.mark.parametrize(("expression", "part"), [
    ("1/0", "division by zero"), ("0**-1", "division by zero"), ("10**99 * 10**99 * 10**99 * 10**99", "too large"),
    ("1e308 * 10", "too large"), ("1e999", "too large"), ("2**101", "exponent may be at most 100"),
    ("9**9**9**9", "exponent"), ("(-8)**0.5", "root of a negative"), ("sqrt(-1)", "root of a negative"),
    ("sied", "unknown name 'sied'. Did you mean 'side'? Params so far: side, style."),
    ("squirt(2)", "unknown function 'squirt'. Did you mean 'sqrt'?"), ("style + 1", "'style' is 'draft', a text"),
    ("1 +", "is not arithmetic"), ("", "is not arithmetic"), ("'a'", "is not arithmetic"),
    ("True", "is not arithmetic"),
    ("side.real", "is not arithmetic"), ("[1][0]", "is not arithmetic"), ("1 if 1 else 2", "is not arithmetic"),
    ("lambda: 1", "is not arithmetic"), ("min()", "is not arithmetic"), ("sqrt(x=2)", "is not arithmetic"),
    ("7 // 2", "is not arithmetic"), ("7 % 2", "is not arithmetic"), ("1j", "is not arithmetic"),
    ("__import__('os').getcwd()", "is not arithmetic"), ("open('x')", "unknown function 'open'"),
    ("round(5, -999999999)", "0 to 15 digits"), ("1" + "+1" * 200, "longer than 200 characters"),
    ("1 < 2", "is not arithmetic"),
])
def test_arithmetic_that_is_not_allowed_is_one_clear_error(expression, part):
    text = f'<param name="side" value="1"/><param name="style" value="draft"/><lamp y="0" x="${{{expression}}}"/>'
    text = text.replace(" < ", " &lt; ")
    assert part in complaint_in_body(text)


@pytest.mark.parametrize(("text", "part"), [
    ('<param name="m" value="1"/>', "'m' is a unit"), ('<param name="max" value="1"/>', "'max' is a unit, constant or"),
    ('<param name="a-b" value="1"/>', "'a-b' cannot be used in arithmetic"),
    ('<param name="a" value="1"/>\n<param name="a" value="2"/>',
     "a.xml:3: <param> second param 'a'; the first is at a.xml:2."),
    ('<param name="a"/>', "<param> needs 'value'"),
    ('<lamp x="${a}" y="0"/><param name="a" value="1"/>', "so far: none"),
    ('<lamp x="${a" y="0"/>', "lacks its closing }"), ('<lamp x="1" y="${2}${"/>', "lacks its closing }"),
    ('<param name="a" value="' + 1001 * "x" + '"/>', "longer than 1000 characters"),
    ('<param name="a" value="' + 1000 * "1" + '"/><lamp y="0" x="' + "${a}" * 101 + '"/>', "longer than 100000"),
    ('<param name="a" value="1"/><lamp y="0" radius="${a}" x="0"/>', "<lamp> has no attribute 'radius'"),
    ('<param name="a" value="1"/><cylinder x="0" y="0" radius="${a - 3}"/>',
     "a.xml:2: <cylinder> radius: -2 is out of range; it must be above 0 m (written: ${a - 3})."),
])
def test_mistakes_with_params_are_one_clear_error(text, part):
    assert part in complaint_in_body(text)


def test_an_override_that_no_param_takes_lists_those_that_there_are():
    message = complaint('<world><param name="side" value="1"/></world>', sied=2)
    assert message == "a.xml:1: there is no param 'sied' to set. Did you mean 'side'? This world has: side."
    assert "cannot be [1]" in complaint('<world><param name="side" value="1"/></world>', side=[1])


# -- defaults and profiles ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("written", "noise"), [
    ('<sbot><example_eye reach="1"/></sbot>', 0.0),
    ('<sbot profile="draft"><example_eye reach="1"/></sbot>', 0.05),
    ('<sbot profile="draft"><example_eye reach="1" profile="tr"/></sbot>', 0.0),
    ('<defaults><example_eye noise="0.2"/></defaults><sbot profile="draft"><example_eye reach="1"/></sbot>', 0.2),
    ('<defaults><example_eye noise="0.2"/></defaults><sbot><example_eye reach="1" noise="0.3"/></sbot>', 0.3),
    ('<defaults><example_eye profile="draft"/></defaults><sbot><example_eye reach="1"/></sbot>', 0.05),
    ('<defaults><sbot profile="draft"/></defaults><sbot><example_eye reach="1"/></sbot>', 0.05),
    ('<defaults><sbot profile="draft"/></defaults><sbot profile="tr"><example_eye reach="1"/></sbot>', 0.0),
    ('<sbot><example_eye reach="1"/></sbot><defaults><example_eye noise="0.2"/></defaults>', 0.0),
    ('<defaults><example_eye noise="0.2"/></defaults><defaults><example_eye reach="1"/></defaults>'
     "<sbot><example_eye/></sbot>", 0.2),
])
def test_own_attribute_beats_defaults_beat_profile_beats_class(written, noise):
    assert body(written).groups[0].sensors[0].noise == noise


def test_a_profile_may_supply_what_an_element_needs():
    assert body('<sbot><example_eye profile="odd"/></sbot>').groups[0].sensors[0].reach == 0.5
    assert "needs 'reach' (a length" in complaint_in_body("<sbot><example_eye/></sbot>")


# -- groups and placement -------------------------------------------------------------------------------------------
def test_groups_without_a_name_take_their_tag_and_a_number_if_it_is_taken():
    disc = '<disc radius="1" wheel_base="1" top_speed="1"'
    world = body(f'<sbot/><sbot/>{disc}/>{disc} name="sbot2"/><sbot name="first"/><sbot/>')
    assert [group.name for group in world.groups] == ["sbot", "sbot3", "disc", "sbot2", "first", "sbot4"]


def test_as_many_robots_as_places_if_nobody_counts():
    assert body('<sbot><at x="0" y="0"/><at x="1" y="0"/></sbot>').robots == 2
    assert body('<sbot count="2"><at x="0" y="0"/><at x="1" y="0"/></sbot>').groups[0].place[1] == At(1.0, 0.0)
    assert body("<sbot/>").robots == 1


@pytest.mark.parametrize(("text", "message"), [
    ('<sbot name="a"/>\n<disc name="a" radius="1" wheel_base="1" top_speed="1"/>',
     "a.xml:3: second group with the name 'a'; the first is at line 2. Give each its own name."),
    ('<sbot>\n<example_eye reach="1"/>\n<example_eye reach="1"/></sbot>',
     "a.xml:4: second sensor with the name 'eye'; the first is at line 3. Give each its own name."),
    ("<contact/>\n<contact/>", "a.xml:3: second <contact>; the first is at line 2."),
    ('<arena width="1" depth="1"/>\n<arena width="1" depth="1"/>', "a.xml:3: second <arena>; the first is at line 2."),
    ("<sbot>\n<example_mind/>\n<example_mind/></sbot>",
     "a.xml:4: second controller <example_mind>; the first is at line 3."),
    ("<sbot>\n<scatter/>\n<scatter/></sbot>",
     "a.xml:4: second placement <scatter>; the first is at line 3. Only <at> may be given more than once."),
    ('<sbot>\n<at x="0" y="0"/>\n<scatter/></sbot>',
     "a.xml:4: second placement <scatter>; the first is <at> at line 3. Only <at> may be given more than once."),
    ('<sbot count="3">\n<at x="0" y="0"/></sbot>',
     "a.xml:3: 1 <at> for 3 <sbot>; give as many as robots, or leave 'count' out."),
    ('<sbot count="0"/>', "a.xml:2: <sbot> count: 0 is out of range; it must be at least 1 and at most 1000000."),
    ('<sbot count="1000001"/>',
     "a.xml:2: <sbot> count: 1000001 is out of range; it must be at least 1 and at most 1000000."),
    ('<zone x="0" y="0"/>', "a.xml:2: <zone> is either a disc (radius) or a rectangle (width and depth)."),
])
def test_rules_over_several_elements_name_the_line(text, message):
    assert complaint_in_body(text) == message


# -- what is refused ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("text", "message"), [
    ("<sbott/>", "a.xml:2: <sbott> is unknown. Did you mean <sbot>? Allowed here: <include>, <object>, <param>, <defaults>, "),
    ("<sbot><scater/></sbot>", "a.xml:2: <scater> is unknown. Did you mean <scatter>? Allowed here: <a"),
    ("<defaults><sbott/></defaults>", "a.xml:2: <sbott> is unknown. Did you mean <sbot>?"),
    ("<scatter/>", "a.xml:2: <scatter> cannot stand in <world>. It belongs in a robot's element. Allowed here: <inc"),
    ("<sbot><lamp/></sbot>", "a.xml:2: <lamp> cannot stand in <sbot>. It belongs in <world>. Allowed here: <a"),
    ("<world/>", "a.xml:2: <world> cannot stand in <world>."),
    ("<sbot><param name='a' value='1'/></sbot>", "a.xml:2: <param> cannot stand in <sbot>."),
    ("<contact>\n<lamp/></contact>", "a.xml:3: <lamp> cannot stand in <contact>; <contact> has attributes only."),
    ("<defaults><sbot><scatter/></sbot></defaults>", "a.xml:2: <scatter> cannot stand in <sbot>; <sbot> has attri"),
    ("<defaults x='1'/>", "a.xml:2: <defaults> has no attribute 'x'. It has none."),
    ("<defaults><sbot raduis='1'/></defaults>", "a.xml:2: <sbot> has no attribute 'raduis'. Did you mean 'radius'?"),
    ("<contact crsh_limit='3'/>", "a.xml:2: <contact> has no attribute 'crsh_limit'. Did you mean 'crash_limit'? "
                                  "It accepts: model, mode, crash_limit, at_limit, counts, substep, threshold, "
                                  "rest_speed, rounds, friction."),
    ("<cylinder x='0' y='0'/>", "a.xml:2: <cylinder> needs 'radius' (a length; above 0 m)."),
    ("<arena/>", "a.xml:2: <arena> needs 'width' (a length; above 0 m; along x) and 'depth' (a len"),
    ("<lamp x='20kg' y='0'/>", "a.xml:2: <lamp> x: '20kg' is not a length; it takes a number, or one with a unit (m"),
    ("<lamp x='nan' y='0'/>", "a.xml:2: <lamp> x: 'nan' is not a length"),
    ("<lamp x='inf' y='0'/>", "a.xml:2: <lamp> x: 'inf' is not a length"),
    ("<lamp x='1e999' y='0'/>", "a.xml:2: <lamp> x: '1e999' is too large."),
    ("<lamp x='1_0' y='0'/>", "a.xml:2: <lamp> x: '1_0' is not a length"),
    ("<lamp x='' y='0'/>", "a.xml:2: <lamp> x: '' is not a length"),
    ("<lamp x='0' y='0' z='-1mm'/>", "a.xml:2: <lamp> z: -0.001 is out of range; it must be at least 0 m."),
    ("<lamp x='0' y='0' on='yes'/>", "a.xml:2: <lamp> on: 'yes' is neither 'true' nor 'false'."),
    ("<lamp x='0' y='0' colour='red'/>", "a.xml:2: <lamp> colour: 'red' is not a colour such as #ff8800."),
    ("<lamp x='0' y='0' name='1'/>", "a.xml:2: <lamp> name: '1' is not a name"),
    ("<contact model='repositon'/>", "a.xml:2: <contact> model: 'repositon' is not allowed. Did you mean 'reposition'? "
                                     "It takes: reposition, stop, impulse, none."),
    ("<contact crash_limit='1.5'/>", "a.xml:2: <contact> crash_limit: '1.5' is not a whole number, at least 0."),
    ("<contact crash_limit='" + "9" * 5000 + "'/>", "a.xml:2: <contact> crash_limit: 9223372036854775808 is out of ra"),
    ("<wall points='0 0 1'/>", "a.xml:2: <wall> points: 3 numbers given; it takes 4 or more."),
    ("<wall points='0 0 1 1 2'/>", "a.xml:2: <wall> points: 5 numbers given; they come in groups of 2."),
    ("<wall points='0 0, ,1 1'/>", "a.xml:2: <wall> points: '' is not a number"),
    ("<lamp x='0' y='0'/>\n\nhello there\n",
     "a.xml:4: stray text 'hello there' in <world>; everything is an attribute."),
    ("<!--\n\n-->x", "a.xml:4: stray text 'x' in <world>"),
    ("<sbot>\n<scatter/></sbot>\nx", "a.xml:4: stray text 'x' in <world>"),
    ("<sbot>\n\n12<scatter/></sbot>", "a.xml:4: stray text '12' in <sbot>"),
    ("\u00a0", "a.xml:2: stray text '\\xa0' in <world>"),
    ("<![CDATA[x]]>", "a.xml:2: stray text 'x' in <world>"),
    ("<sbot>\n<example_eye reach='1' table='no.csv'/></sbot>",
     "a.xml:3: <example_eye> table: no file 'no.csv' beside a.xml."),
    ("<sbot><example_mind note='boom'/></sbot>", "a.xml:2: <example_mind>: no booms."),
    ("<a:lamp xmlns:a='urn:a'/>", "a.xml:2: <{urn:a}lamp> is unknown."),
])
def test_a_mistake_is_one_sentence_with_its_line(text, message):
    assert complaint_in_body(text).startswith(message)


def test_an_unknown_element_may_be_the_users_own():
    assert complaint_in_body("<sbott/>").endswith("If it is your own, pass its file with --with FILE.py.")


@pytest.mark.parametrize(("text", "message"), [
    ("", "a.xml:1: the file is empty; a world begins with <world>."),
    (" \n ", "a.xml:1: the file is empty"),
    ("<worlds/>", "a.xml:1: the root is <worlds>; a world file begins with <world>."),
    ("<world>\n<arena>\n</world>",
     "a.xml:3: not well-formed XML: Opening and ending tag mismatch: arena line 2 and world."),
    ("<world>\n<lamp x='1' x='2'/></world>", "a.xml:2: not well-formed XML: Attribute x redefined."),
    ("<world>&foo;</world>", "a.xml:1: not well-formed XML: Entity 'foo' not defined."),
    ("hello", "a.xml:1: not well-formed XML:"),
    ("<world doc='\x01'/>", "a.xml:1: not well-formed XML:"),
    ("<world>\n\ud800</world>", "a.xml:2: character '\\ud800' cannot stand in a world file."),
    ("<!--\n-->\n<!DOCTYPE world><world/>", "a.xml:3: a world file has no DOCTYPE and no entities; remove them."),
    ('<!DOCTYPE w [<!ENTITY x SYSTEM "/etc/passwd">]><world doc="&x;"/>', "a.xml:1: a world file has no DOCTYPE"),
    ("<world dt='0'/>", "a.xml:1: <world> dt: 0 is out of range; it must be above 0 s."),
    ("<world seconds='-1s'/>", "a.xml:1: <world> seconds: -1 is out of range; it must be above 0 s."),
    ("<world engine='planer'/>", "a.xml:1: <world> engine: 'planer' is not allowed. Did you mean 'planar'? It takes: "),
    ("<world nmae='a'/>", "a.xml:1: <world> has no attribute 'nmae'. Did you mean 'name'? It accepts: name, doc, dt, "),
    ("<world name='a b'/>", "a.xml:1: <world> name: 'a b' is not a name"),
    ("<world>" * 300, "a.xml:1: not well-formed XML:"),
    ("<!--" * 100_000, "a.xml:1: not well-formed XML:"),
])
def test_what_is_no_world_file_is_refused(text, message):
    assert complaint(text).startswith(message)


def test_a_doctype_is_refused_in_any_encoding(tmp_path):
    path = tmp_path / "a.xml"
    path.write_bytes('<?xml version="1.0" encoding="utf-16"?>\n<!DOCTYPE world><world/>'.encode("utf-16"))
    with pytest.raises(WorldError, match=r"a\.xml:2: a world file has no DOCTYPE"):
        read(path)


def test_what_cannot_be_opened_is_said_plainly(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkdir("folder.xml")
    with open("large.xml", "wb") as stream:
        stream.truncate(LARGEST_FILE + 1)
    for file, message in {"nosuch.xml": "nosuch.xml: no such file.", "large.xml": "large.xml: larger than 16 MB.",
                          "folder.xml": "folder.xml: is a directory; a world is one XML file.",
                          "a\0b": "a\0b: cannot be read (embedded null byte)."}.items():
        with pytest.raises(WorldError) as caught:
            read(file)
        assert str(caught.value) == message


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "a.xml"
    path.write_bytes(b"<world>\n\xff\xfe</world>")
    with pytest.raises(WorldError, match=r"a\.xml:2: not well-formed XML"):
        read(path)


# -- files ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["absolute", "above", "link", "folder", "nested"])
def test_an_include_stays_in_the_folder_of_the_main_file(kind, tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside / "parts", outside):
        folder.mkdir(parents=True)
    (outside / "far.xml").write_text('<world><lamp x="1" y="0"/></world>')
    (inside / "near.xml").write_text('<world><lamp x="2" y="0"/></world>')
    (inside / "link.xml").symlink_to(outside / "far.xml")
    (inside / "elsewhere").symlink_to(outside)
    (inside / "parts" / "nested.xml").write_text('<world>\n<include file="../../out/far.xml"/></world>')
    (inside / "parts" / "back.xml").write_text('<world><include file="../near.xml"/></world>')
    file, what = {"absolute": (str(outside / "far.xml"), "which"), "above": ("../out/far.xml", "which"),
                  "link": ("link.xml", "a link to a file that"), "folder": ("elsewhere/far.xml", "a link to a file that"),
                  "nested": ("parts/nested.xml", "which")}[kind]
    main = inside / "w.xml"
    main.write_text(f'<world>\n<include file="{file}"/></world>')
    place, named = (inside / "parts/nested.xml", "../../out/far.xml") if kind == "nested" else (main, file)
    with pytest.raises(WorldError) as refused:
        read(main)
    assert str(refused.value) == (f"{place}:2: <include> names '{named[:80]}', {what} is not in its own folder; included files "
                                  f"lie in the folder of {main}, or below it, and have relative paths.")
    main.write_text('<world><include file="parts/back.xml"/></world>')
    assert [lamp.x for lamp in read(main).things] == [2.0]


def test_an_include_is_read_as_if_it_stood_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkdir("parts")
    (tmp_path / "parts/common.xml").write_text(
        '<world name="ignored" dt="7" colour="blue"><include file="more.xml"/><lamp x="${side}" y="0"/></world>')
    (tmp_path / "parts/more.xml").write_text('<world>\n<param name="side" value="3"/></world>')
    (tmp_path / "a.xml").write_text('<world><include file="parts/common.xml"/><lamp x="${side + 1}" y="0"/></world>')
    world = read("a.xml")
    assert [lamp.x for lamp in world.things] == [3.0, 4.0]
    assert world.things[0]._where == Where("parts/common.xml", 1)
    assert (world.name, world.dt) == ("world", 0.1)


def test_includes_that_cannot_be_read_name_the_line_that_asks_for_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file, text in {"circle.xml": '<include file="b.xml"/>', "b.xml": '\n<include file="./circle.xml"/>',
                       "no.xml": '\n<include file="nosuch.xml"/>', "dir.xml": '\n<include file="."/>',
                       "bad.xml": '<include file="c.xml"/>', "c.xml": "\n<lamp x='1'/>",
                       "two.xml": '<contact/><include file="d.xml"/>', "d.xml": "\n<contact/>",
                       "in.xml": '<sbot>\n<include file="c.xml"/></sbot>', "self.xml": '<include file="self.xml"/>',
                       **{f"bomb{n}.xml": f'<include file="bomb{n + 1}.xml"/>' * 2 for n in range(20)},
                       "bomb20.xml": ""}.items():
        (tmp_path / file).write_text(f"<world>{text}</world>")
    (tmp_path / "root.xml").write_text('<world><include file="wrong.xml"/></world>')
    (tmp_path / "wrong.xml").write_text("\n<robots/>")
    for file, message in {
        "circle.xml": "b.xml:2: <include> goes in a circle: circle.xml -> b.xml -> ./circle.xml.",
        "self.xml": "self.xml:1: <include> goes in a circle: self.xml -> self.xml.",
        "no.xml": "no.xml:2: <include> nosuch.xml: no such file.",
        "dir.xml": "dir.xml:2: <include> .: is a directory; a world is one XML file.",
        "bad.xml": "c.xml:2: <lamp> needs 'y' (a length).",
        "two.xml": "d.xml:2: second <contact>; the first is at two.xml:1.",
        "root.xml": "wrong.xml:2: the root is <robots>; a world file begins with <world>.",
        "in.xml": "in.xml:2: <include> cannot stand in <sbot>. Allowed here:",
        "bomb0.xml": "bomb",
    }.items():
        with pytest.raises(WorldError) as caught:
            read(file)
        assert str(caught.value).startswith(message)
    assert "more than 1000 includes" in str(caught.value)


def test_a_file_is_found_beside_the_file_that_names_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkdir("parts")
    (tmp_path / "parts/table.csv").write_text("1")
    (tmp_path / "parts/common.xml").write_text('<world><defaults><example_eye table="table.csv"/></defaults></world>')
    (tmp_path / "a.xml").write_text(
        '<world><include file="parts/common.xml"/><sbot><example_eye reach="1"/></sbot></world>')
    assert read("a.xml").groups[0].sensors[0].table == str(tmp_path / "parts/table.csv")


# -- the same rules in Python ---------------------------------------------------------------------------------------
def test_a_group_without_a_name_takes_its_robots_tag():
    assert Group(SBot()).name == "sbot"
    assert Group(Disc(1, 1, 1), place=[At(0, 0), At(1, 1)]).count == 2


@pytest.mark.parametrize(("build", "part"), [
    (lambda: Cylinder(0, 0, -1), "<cylinder> radius: -1 is out of range; it must be above 0 m."),
    (lambda: Cylinder(0, float("nan"), 1), "<cylinder> y: nan is not a finite number."),
    (lambda: Cylinder(0, 10**400, 1), "<cylinder> y: inf is not a finite number."),
    (lambda: World(dt=0), "<world> dt: 0 is out of range; it must be above 0 s."),
    (lambda: World(name="a b"), "<world> name: 'a b' is not a name"),
    (lambda: World(doc="\0"), "cannot stand in a world file"),
    (lambda: World(engine="flat"), "<world> engine: 'flat' is not allowed"),
    (lambda: World(contact=3), "the contact of a world is a Contact, not 3."),
    (lambda: World(things=(SBot(),)), "<sbot> has the role 'robot'; here stands what has the role 'thing'."),
    (lambda: World(things=(Arena(1, 1), Arena(1, 1))), "second <arena>; the first is before it."),
    (lambda: World(groups=(SBot(),)), "the groups of a world are Groups"),
    (lambda: World(groups=(Group(SBot()), Group(SBot()))), "second group with the name 'sbot'"),
    (lambda: World(things=(3,)), "int is not a registered element"),
    (lambda: Group(At(0, 0)), "<at> has the role 'placement'; here stands what has the role 'robot'."),
    (lambda: Group(SBot(), 0), "<sbot> count: 0 is out of range"),
    (lambda: Group(SBot(), 2.5), "<sbot> count: 2.5 is not a whole number"),
    (lambda: Group(SBot(), 3, place=(At(0, 0),)), "1 <at> for 3 <sbot>"),
    (lambda: Group(SBot(), controller=Horn()), "<example_horn> has the role 'actuator'; here stands"),
    (lambda: Group(SBot(), sensors=(Eye(1), Eye(2))), "second sensor with the name 'eye'"),
])
def test_a_world_built_in_python_obeys_the_same_rules(build, part):
    with pytest.raises(WorldError) as caught:
        build()
    assert part in str(caught.value)


def test_an_element_whose_own_defaults_are_wrong_cannot_be_registered():
    for field in (length(-1.0, above=0.0), 1.0):
        broken = dataclasses.make_dataclass("Broken", [("size", float, field)], frozen=True)
        with pytest.raises(TypeError, match="Broken"):
            element("example_broken", role="thing")(broken)
    with pytest.raises(WorldError, match="<param> cannot be the tag"):
        element("param", role="thing")
    assert "example_broken" not in registered()


def test_a_pipe_is_no_world_and_does_not_keep_anybody_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe.xml")
    (tmp_path / "w.xml").write_text('<world><include file="pipe.xml"/></world>')
    for file in ("pipe.xml", "w.xml"):
        with pytest.raises(WorldError, match=r"is not a file\."):
            read(tmp_path / file)
