"""A world that was edited is written back into its own text: what did not change stays as it was typed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from formiga import lab
from formiga.world.document import ANEW, KEPT, Document, is_ours, signed
from formiga.world.model import Contact, Cylinder, Lamp
from formiga.world.placement import At
from formiga.world.reader import read, read_text

MINE = """<!-- a world of mine -->
<world name="mine" dt="0.1">
  <!-- how large -->
  <param name="side" value="2"/>
  <param name="robots" value="3"/>
  <arena width="${side}" depth="${side}"/>
  <!-- two posts -->
  <cylinder x="${side/4}" y="0" radius="8cm"/>
  <cylinder x="${-side/4}" y="0" radius="8cm"/>
  <sbot count="${robots}" name="swarm">
    <!-- anywhere -->
    <scatter/>
    <proximity noise="0.1"/>
    <braitenberg/>
  </sbot>
</world>
"""


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.xml").write_text(MINE)
    return tmp_path / "mine.xml"


def lines(text: str) -> list[str]:
    """Without the line that formiga writes in front."""
    assert text.startswith("<!-- Written by formiga ")
    return text.splitlines()[1:]


def test_a_world_that_nobody_edited_keeps_its_text(mine):
    document = Document.read(mine)
    assert lines(document.text(document.world)) == MINE.splitlines()


@pytest.mark.parametrize("name", sorted(lab.shipped_worlds()))
def test_the_text_of_every_shipped_world_is_kept_and_gives_the_world(name, tmp_path):
    document = lab.read_document(name)
    text = document.text(replace(document.world, doc="edited"), tmp_path / "a.xml")
    (tmp_path / "a.xml").write_text(text)
    assert KEPT in text and text.count("${") == document.data.count(b"${")
    assert text.count("<!--") == 1 + document.data.count(b"<!--")
    assert read(tmp_path / "a.xml") == replace(document.world, doc="edited")


def test_only_what_changed_is_written(mine):
    document = Document.read(mine)
    arena, left, _ = document.world.things
    group = document.world.groups[0]
    places = tuple(At(0.1 * k, 0.5, 0.0) for k in range(3))
    world = replace(document.world, contact=Contact(model="stop"), things=(arena, replace(left, x=0.3), Lamp(0.0, 0.7)),
                    groups=(replace(group, place=places, controller=None),))
    text = document.text(world)
    assert read_text(text, str(mine)) == world
    assert lines(text) == """<!-- a world of mine -->
<world name="mine" dt="0.1">
  <!-- how large -->
  <param name="side" value="2"/>
  <param name="robots" value="3"/>
  <arena width="${side}" depth="${side}"/>
  <!-- two posts -->
  <cylinder x="0.3" y="0" radius="8cm"/>
  <lamp x="0.0" y="0.7"/>
  <sbot count="${robots}" name="swarm">
    <!-- anywhere -->
    <at x="0.0" y="0.5" heading="0.0"/>
    <at x="0.1" y="0.5" heading="0.0"/>
    <at x="0.2" y="0.5" heading="0.0"/>
    <proximity noise="0.1"/>
  </sbot>
  <contact model="stop"/>
</world>""".splitlines()


def test_parameters_that_were_given_are_in_it(mine):
    document = Document.read(mine, {"side": 3, "robots": "5"})
    text = document.text(document.world)
    assert '<param name="side" value="3"/>' in text and 'count="${robots}"' in text
    assert read_text(text).groups[0].count == 5


def test_the_first_of_several_alike_can_go(mine):
    document = Document.read(mine)
    world = replace(document.world, things=(document.world.things[0], document.world.things[2]))
    text = document.text(world)
    assert 'x="${side/4}"' not in text and 'x="${-side/4}"' in text and read_text(text) == world


def test_new_things_do_not_take_the_defaults_of_the_file(mine):
    mine.write_text(MINE.replace("<arena", '<defaults><cylinder radius="20cm"/><lamp z="1"/></defaults>\n  <arena'))
    document = Document.read(mine)
    world = replace(document.world, things=(*document.world.things, Lamp(0.0, 0.7), Cylinder(0.5, 0.5, 0.3)))
    text = document.text(world)
    assert KEPT in text and read_text(text) == world


def test_files_and_includes_are_found_from_another_folder(mine, tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "posts.xml").write_text('<world><cylinder x="0.5" y="0.5" radius="5cm"/></world>')
    inner = tmp_path / "inner" / "mine.xml"
    inner.write_text(MINE.replace("<arena", '<include file="posts.xml"/>\n  <arena'))
    document = Document.read(inner)
    assert '<include file="posts.xml"/>' in document.text(document.world)
    text = document.text(document.world, tmp_path / "mine.xml")
    assert KEPT in text and '<include file="inner/posts.xml"/>' in text
    assert read_text(text, str(tmp_path / "mine.xml")) == document.world


def test_a_world_that_is_kept_where_its_includes_are_out_of_reach_is_written_anew(mine, tmp_path):
    (tmp_path / "posts.xml").write_text('<world><cylinder x="0.5" y="0.5" radius="5cm"/></world>')
    mine.write_text(MINE.replace("<arena", '<include file="posts.xml"/>\n  <arena'))
    document = Document.read(mine)
    text = document.text(document.world, tmp_path / "other" / "mine.xml")
    assert ANEW in text.splitlines()[0] and read_text(text, str(tmp_path / "other" / "mine.xml")) == document.world


def test_an_edit_in_an_included_file_writes_the_world_anew_and_says_so(mine, tmp_path):
    (tmp_path / "posts.xml").write_text('<world><cylinder x="0.5" y="0.5" radius="5cm"/></world>')
    mine.write_text(MINE.replace("<arena", '<include file="posts.xml"/>\n  <arena'))
    document = Document.read(mine)
    post, *others = document.world.things
    world = replace(document.world, things=(replace(post, x=0.4), *others))
    text = document.text(world)
    assert ANEW in text.splitlines()[0] and read_text(text) == world


def test_a_file_is_ours_until_it_is_edited(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(signed("<world/>\n"))
    assert is_ours(path) and read(path) == read_text("<world/>")
    path.write_text(path.read_text() + "<!-- mine -->\n")
    assert not is_ours(path)
    path.write_text("<world/>")
    assert not is_ours(path) and not is_ours(tmp_path / "none.xml")
