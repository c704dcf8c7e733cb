"""However a file is damaged, it is read or refused with a WorldError that names the file; nothing else comes out."""

from hypothesis import example, given, settings
from hypothesis import strategies as st
from lxml import etree

from formiga.errors import WorldError
from formiga.world.elements import registered
from formiga.world.model import World
from formiga.world.reader import read, read_text
from tests.world.test_schema import GOOD, TEXTS

ENOUGH = settings(max_examples=400, deadline=None)


def read_or_refuse(text: str) -> None:
    try:
        assert isinstance(read_text(text, "a.xml"), World)
    except WorldError as wrong:
        assert str(wrong).startswith("a.xml:")
        assert "Traceback" not in str(wrong)
        assert "\n" not in str(wrong)


@given(st.integers(0, len(GOOD)), st.integers(0, 40))
@ENOUGH
def test_characters_may_be_missing(start, length):
    read_or_refuse(GOOD[:start] + GOOD[start + length:])


@given(st.integers(0, len(GOOD)))
@ENOUGH
def test_the_end_may_be_missing(end):
    read_or_refuse(GOOD[:end])


SHARP = ["<", "&", '"', "${", "}", "<!--", "]]>", "\0", "\ud800"]


@given(st.integers(0, len(GOOD)), st.text(max_size=5) | st.sampled_from(SHARP))
@ENOUGH
def test_anything_may_have_been_typed_anywhere(where, typed):
    read_or_refuse(GOOD[:where] + typed + GOOD[where:])


@given(st.data())
@ENOUGH
def test_bytes_may_be_changed(tmp_path_factory, data):
    damaged = bytearray(GOOD.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.xml"
    path.write_bytes(damaged)
    try:
        assert isinstance(read(path), World)
    except WorldError as wrong:
        assert str(wrong).startswith(f"{path}:")


@given(st.data())
@ENOUGH
def test_attributes_may_have_any_text(data):
    tree = etree.fromstring(GOOD)
    node = data.draw(st.sampled_from(list(tree.iter(etree.Element))))
    names = list(node.attrib) or ["x"]
    text = data.draw(st.sampled_from(TEXTS) | st.text(st.characters(exclude_categories=["Cs", "Cc"],
                                                                    exclude_characters="\ufffe\uffff")))
    node.set(data.draw(st.sampled_from(names)), text)
    read_or_refuse(etree.tostring(tree, encoding="unicode"))


@given(st.data())
@ENOUGH
def test_elements_and_attributes_may_stand_in_each_others_place(data):
    tree = etree.fromstring(GOOD)
    every = list(tree.iter(etree.Element))
    one, other = data.draw(st.sampled_from(every)), data.draw(st.sampled_from(every))
    what = data.draw(st.sampled_from(["tags", "attributes", "move", "tag"]))
    if what == "tags":
        one.tag, other.tag = other.tag, one.tag
    elif what == "tag":
        one.tag = data.draw(st.sampled_from([*registered(), "include", "param", "defaults", "world"]))
    elif what == "attributes":
        both = dict(one.attrib), dict(other.attrib)
        for node, attributes in ((other, both[0]), (one, both[1])):
            node.attrib.clear()
            node.attrib.update(attributes)
    elif one not in list(other.iter()):  # a parent cannot move into its child
        one.append(other)
    read_or_refuse(etree.tostring(tree, encoding="unicode"))


@given(st.text(st.sampled_from("0123456789.+-*/()eE, _abcmxsqrtdegpi'\"[]{}:<=lambd^%\\"), max_size=60))
@example("0" * 50 + "8")
@example("1if 2else 3")
@example("ceil(1e308)**99")
@example("round(1e308, 15)")
@ENOUGH
def test_arithmetic_may_be_any_nonsense(expression):
    node = etree.Element("world", doc=f"${{{expression}}}")
    read_or_refuse(etree.tostring(node, encoding="unicode"))
