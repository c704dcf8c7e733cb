"""The schema and the reader take and refuse the same files."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from formiga.errors import WorldError
from formiga.world.elements import registered
from formiga.world.reader import read_text
from formiga.world.schema import xsd
from formiga.world.writer import to_text
from tests.world import examples

GOOD = """\
<world name="corral" dt="100ms">
  <param name="side" value="1.5"/>
  <defaults> <sbot profile="draft"/> <cylinder radius="5cm"/> </defaults>
  <contact crash_limit="60"/>
  <arena width="${side}" depth="${side}">
  </arena>
  <cylinder x=" 20 cm" y=".5" radius="5.e-2"/>
  <wall points="0 0, 1 20cm"/>
  <wall points="0 0 1 20cm"/>
  <sbot name="swarm" count="2"> <!-- two -->
    <at x="+1" y="-1km"/> <at x="${side}cm" y="0"/>
    <example_eye reach="15cm" angles="0 90deg"/>
    <example_mind/>
    <example_horn pitch="-5"/>
  </sbot>
  <example_clock/>
</world>
"""


@pytest.fixture(scope="module")
def schema(example_elements):
    return etree.XMLSchema(etree.fromstring(xsd()))


def accepts(schema, text: str) -> bool:
    return schema.validate(etree.fromstring(text))


def reads(text: str) -> bool:
    try:
        read_text(text)
    except WorldError:
        return False
    return True


def test_a_good_file_is_good_for_both(schema):
    assert reads(GOOD)
    assert accepts(schema, GOOD), schema.error_log


@pytest.mark.parametrize(("old", "new"), [
    ("<contact ", "<contcat "), ("<at x=", "<att x="), ("crash_limit", "crash_limt"), ("count=", "cuont="),
    ('dt="100ms"', 'dt="0"'), ('dt="100ms"', 'dt="100cm"'), ('dt="100ms"', 'dt="soon"'), ('dt="100ms"', 'engine="2d"'),
    ('name="corral"', 'name="a b"'), ('name="corral"', 'name="é"'), ('name="corral"', 'color="red"'),
    ('x=" 20 cm" ', ""), (' y=".5"', ""), (' points="0 0 1 20cm"', ""),
    (' value="1.5"', ""), ('"5.e-2"', '"0"'), ('"5.e-2"', '"-1"'), ('"5.e-2"', '"NaN"'), ('"5.e-2"', '"INF"'),
    ('"5.e-2"', '"1e999"'), ('"5.e-2"', '"1e-999"'), ('"5.e-2"', '"1,5"'), ('"5.e-2"', '"5.e"'), ('"5.e-2"', '"0x1"'),
    ('"5.e-2"', '"1_0"'), ('"5.e-2"', '""'), ('"5.e-2"', '"٣"'), ('"5.e-2"', '"5 kg"'), ('"5.e-2"', '"5c m"'),
    ('"60"', '"6.0"'), ('"60"', '"-1"'), ('"60"', '"6e1"'), ('"60"', '"60s"'), ('"60"', '"9223372036854775808"'),
    ('count="2"', 'count="0"'), ('count="2"', 'count="1000001"'), ('pitch="-5"', 'pitch="-6"'),
    ('pitch="-5"', 'pitch="20001"'), ('profile="draft"', 'profile="drafty"'), ('profile="draft"', 'profile=""'),
    ('"0 0 1 20cm"', '"0 0 1"'), ('"0 0 1 20cm"', '"0 0 1 20 cm"'), ('"0 0 1 20cm"', '"0 0 1 x"'),
    ('"0 0 1 20cm"', '"0 0 1 NaN"'), ('"0 0, 1 20cm"', '"0 0,, 1 20cm"'), ('"0 0, 1 20cm"', '"0 0, 1 20kg"'),
    ('"0 0, 1 20cm"', '", 0 0 1 1"'), ("<example_mind/>", "<lamp x='0' y='0'/>"), ("<example_mind/>", "<sbot/>"),
    ("<example_clock/>", "<example_mind/>"), ("<example_clock/>", "<at x='0' y='0'/>"),
    ("<example_clock/>", "<world/>"),
    ("<example_mind/>", "<param name='a' value='1'/>"), ("<example_mind/>", "<contact/>"), ("<example_mind/>", "text"),
    ("<example_clock/>", "text"), ("<example_mind/>", "<example_mind>text</example_mind>"),
    ("<example_clock/>", "<example_clock><lamp/></example_clock>"), ("<example_clock/>", "<example_clock xml:id='a'/>"),
    ("<cylinder radius", "<cylinder raduis"), ('<cylinder radius="5cm"/>', "<cylinder><at/></cylinder>"),
    ('<cylinder radius="5cm"/>', "<cylindre/>"), ("<defaults>", "<defaults x='1'>"), ("<world ", "<worlds "),
    ("<world ", "<world xmlns='urn:a' "),
])
def test_a_mistake_is_a_mistake_for_both(schema, old, new):
    assert GOOD.count(old) >= 1
    text = GOOD.replace(old, new, 1).replace("</world>", "</worlds>" if new == "<worlds " else "</world>")
    assert not reads(text)
    assert not accepts(schema, text)


def test_a_needed_attribute_that_only_defaults_supply_is_the_one_thing_where_the_schema_is_stricter(schema):
    text = GOOD.replace(' radius="5.e-2"', "")
    assert reads(text)
    assert not accepts(schema, text)


def test_a_needed_attribute_that_some_profile_supplies_is_optional_in_the_schema(schema):
    text = GOOD.replace('reach="15cm" ', "")
    assert accepts(schema, text)
    assert not reads(text)
    assert reads(text.replace("<example_eye ", '<example_eye profile="odd" '))


@pytest.mark.parametrize(("old", "new"), [
    ('"5.e-2"', '"5e-2"'), ('"5.e-2"', '"+.5"'), ('"5.e-2"', '" 5 "'), ('"5.e-2"', '"5\tmm"'), ('"60"', '"+60"'),
    ('"60"', '" 0 "'), ('"60"', '"${3 * 4}"'), ('"60"', '"00060"'), ('"draft"', '" draft "'),
    ('"0 0, 1 20cm"', '"0,0 , 1,1"'),
    ('"0 0 1 20cm"', '" 0  0&#10;1 20cm 4 4"'), ("<example_clock/>", "<example_clock>\n<!-- x --></example_clock>"),
    ('name="corral"', 'doc=" any &lt;text&gt; "'), ('name="corral"', 'seconds="1e-9"'),
])
def test_a_good_variation_is_good_for_both(schema, old, new):
    text = GOOD.replace(old, new, 1)
    assert reads(text)
    assert accepts(schema, text), schema.error_log


@given(examples.worlds())
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_whatever_the_writer_writes_is_good_for_both(schema, world):
    assert accepts(schema, to_text(world)), schema.error_log


TEXTS = [
    "1", "-1", "0", "-0", "+2", "1.5", ".5", "5.", "1e5", "1E-5", "1e999", "NaN", "nan", "INF", "-INF", "inf", "1cm",
    "1 cm", "3deg", "2 s", "1kg", "abc", "", " ", " 3 ", "true", "false", "True", "1 2", "1 2 3 4", "1 2 3 4 5 6",
    "1,2,3,4", "1, 2", "#ff0000", "#ff00", "1_000", "٣", "0x10", "tr", "draft", "none", "9223372036854775807",
    "9223372036854775808", "1000001", "a.b-c", "é", "-", "1e", "\u00a01", "1\u00a0cm", "${1}", "${",
]


@given(st.data())
@settings(max_examples=1000, deadline=None)
def test_any_attribute_of_any_element_is_judged_alike(schema, data):
    """One attribute of one element has a random text; the others are written out as the writer would."""
    known = data.draw(st.sampled_from(list(registered().values())))
    attribute = data.draw(st.sampled_from([*known.kinds, "nonsense"]))
    thing = data.draw(examples.instances(known))
    node = etree.Element(known.tag)
    for name, kind in known.kinds.items():
        if getattr(thing, name) is not None and kind.base != "file":
            node.set(name, kind.format(getattr(thing, name)).replace("${", "$${"))
    text = data.draw(st.sampled_from(TEXTS))
    node.set(attribute, text)
    root = etree.Element("world")
    parent = etree.SubElement(root, "sbot") if known.role in ("placement", "sensor", "controller", "actuator") else root
    parent.append(node)
    document = etree.tostring(root, encoding="unicode")
    if reads(document):
        assert accepts(schema, document), schema.error_log
    elif accepts(schema, document):
        kind = known.kinds[attribute]
        rules = known.tag in ("car", "omni", "proximity", "zone") or known.role == "page"  # between attributes
        only_the_reader_knows = ("${" in text or rules or kind.base == "file"
                                 or any(char.isalpha() for char in text.lower().replace("e", "")) or kind.group > 1)
        assert only_the_reader_knows, document


def test_the_schema_explains_every_element_and_attribute():
    text = xsd()
    for known in registered().values():
        assert known.doc.split("<")[0].split("&")[0] in text
    assert "drawn at random if absent" in text
