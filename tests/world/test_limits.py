"""World files of strangers: whatever is too much is refused with its line, and at once."""

import sys

import pytest

from formiga import sense
from formiga.errors import RecordingError, WorldError
from formiga.record.format import describe
from formiga.world import nodes, params, reader
from formiga.world.model import Cylinder, World
from formiga.world.reader import DEEPEST_INCLUDE, read, read_text


def refusal(text, file="w.xml"):
    with pytest.raises(WorldError) as refused:
        read_text(text, file)
    words = str(refused.value)
    assert words.startswith(f"{file}:") and "\n" not in words and len(words) < 3000
    return words


def lines_run(text):
    """How many lines of the reader's own file are run to read a text."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        if frame.f_code.co_filename == reader.__file__:
            count += event == "line"
            return trace
        return None

    sys.settrace(trace)
    try:
        read_text(text)
    finally:
        sys.settrace(None)
    return count


# -- files inside files ------------------------------------------------------------------------------------------------
def chain(folder, length):
    for k in range(length):
        (folder / f"{k}.xml").write_text(f'<world>\n<include file="{k + 1}.xml"/></world>')
    (folder / f"{length}.xml").write_text("<world/>")
    return folder / "0.xml"


def test_a_long_chain_of_includes_is_refused_with_the_line_that_is_one_too_many(tmp_path):
    read(chain(tmp_path, DEEPEST_INCLUDE))
    with pytest.raises(WorldError, match=r"/50\.xml:2: <include> .* at most 50 includes may be inside each other"):
        read(chain(tmp_path, 601))


def test_includes_that_double_at_every_level_are_refused(tmp_path):
    for k in range(30):
        (tmp_path / f"{k}.xml").write_text('<world>' + f'<include file="{k + 1}.xml"/>' * 2 + "</world>")
    (tmp_path / "30.xml").write_text("<world/>")
    with pytest.raises(WorldError, match=r"\.xml:1: more than 1000 includes"):
        read(tmp_path / "0.xml")


# -- much of one thing -------------------------------------------------------------------------------------------------
def test_many_attributes_are_refused_at_once():
    many = " ".join(f'a{k}="1"' for k in range(80_000))
    assert refusal(f"<world>\n<arena {many}/></world>") == (
        "w.xml:2: <arena> has 80000 attributes; no element has more than 200.")


@pytest.mark.parametrize(("element", "how_many"), [("<cylinder/>", 200_000), ("<!-- -->", 200_000), ("<x/>", 1_000_000)])
def test_many_elements_are_refused_before_any_of_them_is_made(element, how_many):
    words = refusal("<world>\n" + element * how_many + "</world>")
    assert "w.xml:2: a world has at most 200000 elements and comments" in words and "<cylinders>" in words


def test_elements_are_counted_over_all_files(tmp_path, monkeypatch):
    monkeypatch.setattr("formiga.world.reader.MOST_ELEMENTS", 10)
    (tmp_path / "a.xml").write_text("<world>" + '<cylinder x="0" y="0" radius="1"/>' * 5 + "</world>")
    (tmp_path / "b.xml").write_text("<world>\n" + '<include file="a.xml"/>\n' * 2 + "</world>")
    with pytest.raises(WorldError, match=r"a\.xml:1: a world has at most"):
        read(tmp_path / "b.xml")


def test_cylinders_are_counted_over_all_elements():
    one = '<cylinders count="600000" radius="0.1" name="{}"/>\n'
    assert "w.xml:2: <cylinders> count: 1200000 cylinders in all; at most 1000000 are allowed." in refusal(
        "<world>" + one.format("a") + one.format("b") + "</world>")


def test_names_have_a_length():
    long = "a" * 40_000
    assert f"a name of 40000 characters; no element and no attribute has one of more than {nodes.LONGEST_NAME}" in refusal(
        f'<world>\n<arena {long}="1"/></world>')
    assert "w.xml:2: <aaaaaaaaaaaaaaaaaaaa> is, or has, a name of" in refusal(f"<world>\n<{long}/></world>")
    assert "at most 200 characters" in refusal(f'<world name="{long}"/>')


def test_a_list_has_an_end():
    assert "w.xml:1: <wall> points: more than 1000000 numbers given" in refusal(
        f'<world><wall points="{"1 " * 2_000_000}"/></world>')


def test_a_list_of_plain_numbers_is_read_as_its_numbers_one_by_one():
    points = read_text('<world><wall points="1,-.5 +2e-3 , 1. 300cm 4"/></world>').things[0].points
    assert points == (1.0, -0.5, 2e-3, 1.0, 3.0, 4.0)
    plain = read_text('<world><wall points="1,-.5 +2e-3 , 1. 3 4"/></world>').things[0].points
    assert plain == points
    for wrong in ("1 2 3 e5", "1 2 3 4e", "1 2 3 --4", "1 2 3 1e999", "1 2 3 1_0", "1 2 3 nan", "1,,2 3 4", "1 2 3 ."):
        assert "w.xml:1: <wall> points: " in refusal(f'<world><wall points="{wrong}"/></world>')
    assert "is out of range" in refusal('<world><wall points="1 2 3 1e10"/></world>')


def test_many_groups_without_a_name_cost_as_many_times_as_much_as_few():
    world = read_text('<world><sbot name="sbot2"/><sbot/><sbot/><sbot name="sbot4"/><sbot/></world>')
    assert [group.name for group in world.groups] == ["sbot2", "sbot", "sbot3", "sbot4", "sbot5"]
    few, many = (lines_run(f"<world>{'<sbot/>' * count}</world>") for count in (100, 800))
    assert many < 10 * few


def test_a_ball_may_not_have_the_name_of_a_robot_however_many_robots_there_are():
    crowd = '<sbot count="1000000"/><puck name="{}" x="0" y="0" radius="1cm"/>'
    assert "the name 'sbot.999999' is that of a robot" in refusal(f"<world>{crowd.format('sbot.999999')}</world>")
    for free in ("sbot.1000000", "sbot.007", "sbot.", "disc.1", "sbot.x"):
        assert read_text(f"<world>{crowd.format(free)}</world>").movables[0].name == free


# -- arithmetic --------------------------------------------------------------------------------------------------------
BOMBS = ["9**9**9", "(9**99)**99", "2**-9**9", "1e308*10", "-(-9)**0.5", "round(1, 10**9)", "((((" * 40, "9" * 199, "max()",
         "sqrt(-1e300*1e300)", "1/1e-320", "0/0", "a" * 150, "pi.__class__", "[1]*9**9", "'a'*99", "1if 1else 2", "lambda:0",
         "min(" * 30 + "1" + ")" * 30, "1 or 2", "9**99**99", "~1", "1<<99", "1//0", "1%0", "5 .real", "\\x00", "{9:9}"]


@pytest.mark.parametrize("bomb", BOMBS)
def test_arithmetic_is_a_number_or_one_message(bomb):
    bomb = bomb.replace("<", "&lt;")
    words = refusal(f'<world>\n<arena width="${{{bomb}}}" depth="1"/></world>')
    assert words.startswith("w.xml:2: <arena> width: ")


def test_params_cannot_name_themselves_and_do_not_grow():
    assert "unknown name 'a'" in refusal('<world>\n<param name="a" value="${a + 1}"/></world>')
    doubled = "".join(f'<param name="p{k + 1}" value="${{p{k}}}${{p{k}}}"/>\n' for k in range(40))
    assert "is longer than 1000 characters" in refusal(f'<world><param name="p0" value="aa"/>\n{doubled}</world>')


def test_a_complaint_does_not_list_thousands_of_params():
    many = "".join(f'<param name="p{k}" value="1"/>' for k in range(5000))
    assert "p29 and 4970 more" in refusal(f'<world>{many}<arena width="${{x}}" depth="1"/></world>')


def test_there_is_an_end_to_different_arithmetic(monkeypatch):
    monkeypatch.setattr(params, "MOST_EXPRESSIONS", 3)
    same = '<cylinder x="${1+1}" y="${1+2}" radius="${1+3}"/>'
    assert len(read_text(f"<world>{same * 10}</world>").things) == 10
    assert "w.xml:2: <arena> width: a world has at most 3 different ${arithmetic}" in refusal(
        f'<world>{same}\n<arena width="${{1+4}}" depth="1"/></world>')


# -- the edges of numbers ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("value", ["1e-9", "1e9", "5e-324", "1.7976931348623157e308", "1e309", "-0", "0", "nan", "inf", "-1e9",
                                   "1e-300cm", "1" * 5000, "0x10", "1e", "\u0661", "1 m m", "9223372036854775808"])
@pytest.mark.parametrize("attribute", ['<arena depth="1" width="{}"/>', '<sbot count="{}"/>', '<wall points="0 0 1 {}"/>'])
def test_a_number_at_the_edge_is_taken_or_refused_in_one_sentence(attribute, value):
    text = f"<world>\n{attribute.format(value)}</world>"
    try:
        read_text(text, "w.xml")
    except WorldError:
        assert refusal(text).startswith("w.xml:2: <")


# -- files that elements name ------------------------------------------------------------------------------------------
def test_a_table_of_samples_has_a_size(tmp_path):
    (tmp_path / "t.csv").write_text("0,1\n" * 300_000)
    world = read_text('<world>\n<sbot><proximity samples="t.csv"/></sbot></world>', str(tmp_path / "w.xml"))
    with pytest.raises(WorldError, match=r"w\.xml:2: .*t\.csv: larger than 1 MB; a table of samples is not"):
        sense.prepare_all(world)


def test_a_world_that_could_not_be_read_back_is_not_recorded():
    world = World(things=(Cylinder(x=0.0, y=0.0, radius=1.0),) * 200_000)
    with pytest.raises(RecordingError, match="200000 elements as XML; it could not be read back"):
        describe(world, 0, 1, "planar", 1)
