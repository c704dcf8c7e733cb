"""Names of what is in a world, as people type them."""

import pytest

from formiga.errors import FormigaError
from formiga.session import names
from formiga.world.reader import read_text


def test_everything_that_is_listed_is_found_under_its_name(world):
    for name in names.all_names(world):
        target = names.find(world, name)
        assert names.element(world, target) is not None
        assert target.name == name


def test_things_of_one_name_are_numbered_and_the_others_are_not(world):
    assert names.thing_names(world) == ["arena", "left", "right", "cylinder.0", "cylinder.1", "box", "rock", "rail", "trees",
                                        "nest"]
    assert names.find(world, "cylinder.1").index == 4


def test_names_of_things_are_unique_even_if_somebody_numbered_them_himself():
    world = read_text("""<world><cylinder x="0" y="0" radius="1"/><cylinder x="3" y="0" radius="1" name="cylinder.0"/>
                         <cylinder x="6" y="0" radius="1"/></world>""")
    found = names.thing_names(world)
    assert len(set(found)) == 3 and found[1] == "cylinder.0"
    assert [names.find(world, name).index for name in found] == [0, 1, 2]


CLASHES = """<world><arena width="4" depth="4"/>
  <lamp x="0" y="1" name="swarm"/><lamp x="1" y="1" name="swarm"/><lamp x="0" y="0" name="swarm.proximity"/>
  <cylinder x="1" y="0" radius="1" name="swarm.1"/><lamp x="0" y="0" name="world"/><lamp x="1" y="1" name="contact"/>
  <sbot name="swarm" count="2"><grid spacing="30cm"/><proximity/></sbot>
  <sbot name="swarm.proximity"><at x="-1" y="-1"/></sbot>
  <disc name="world" radius="5cm" wheel_base="8cm" top_speed="10cm/s"/></world>"""


def test_a_thing_with_the_name_of_something_else_gets_its_tag_too_and_is_found_under_that():
    world = read_text(CLASHES)
    listed = list(names.all_names(world))
    assert len(set(listed)) == len(listed), "the page cannot show a list with two names that are equal"
    found = names.thing_names(world)
    assert found == ["arena", "swarm.lamp", "swarm.lamp.0", "swarm.proximity.lamp", "swarm.1.cylinder", "world.lamp",
                     "contact.lamp"]
    for number, name in enumerate(found):
        target = names.find(world, name)
        assert (target.kind, target.index) == ("thing", number)
    assert names.find(world, "swarm").kind == "group" and names.find(world, "swarm.1").kind == "robot"
    assert names.find(world, "contact").kind == "contact"


@pytest.mark.parametrize("name, robot", [("0", 0), ("swarm.3", 3), ("rovers.0", 4), ("rovers.1", 5), ("car.0", 6), ("6", 6),
                                         ("car", 6)])
def test_a_robot_goes_by_its_number_or_by_its_group(world, name, robot):
    assert names.robot(world, name) == robot
    assert names.find(world, names.robot_name(world, robot)).index == robot


def test_a_robots_element_is_that_of_its_own_group(world):
    for robot in range(world.robots):
        target = names.find(world, str(robot))
        assert names.element(world, target) is names.group_of(world, robot).robot


@pytest.mark.parametrize("name, tag", [("swarm.proximity", "Proximity"), ("swarm.controller", "Braitenberg"),
                                       ("swarm.braitenberg", "Braitenberg"), ("rovers.odometry", "Odometry"),
                                       ("contact", "Contact"), ("world", "World"), ("swarm", "SBot"), ("box", "Rectangle")])
def test_parts_and_settings_have_names_too(world, name, tag):
    assert type(names.element(world, names.find(world, name))).__name__ == tag


@pytest.mark.parametrize("name, words", [
    ("swam", "there is nothing named 'swam'. Did you mean 'swarm'? `list` shows all."),
    ("cylinder", "several things have the name 'cylinder': cylinder.0, cylinder.1."),
    ("swarm.4", "there is no robot 'swarm.4'; they are numbered from 0 to 3."),
    ("7", "there is no robot '7'; they are numbered from 0 to 6."),
    ("9" * 6000, "numbered from 0 to 6."), ("swarm." + "9" * 6000, "numbered from 0 to 3."),
    ("x" * 9000, "there is nothing named 'xxx"), ("", "there is nothing named ''"), (".", "nothing named '.'"),
    ("-1", "there is nothing named '-1'"), ("swarm.", "nothing named 'swarm.'. Did you mean 'swarm'?"),
    ("car.controller", "there is nothing named 'car.controller'"), ("²", "there is nothing named '²'"),
], ids=lambda text: text[:40])
def test_a_name_that_nothing_has_is_one_short_clear_message(world, name, words):
    with pytest.raises(FormigaError) as wrong:
        names.find(world, name)
    assert words in str(wrong.value) and len(str(wrong.value)) < 400


def test_what_is_not_one_robot_is_refused_where_one_is_meant(world):
    for name in ("swarm", "left", "world", "swarm.proximity"):
        with pytest.raises(FormigaError, match=r"is not one robot; give its number, or its group and number such as swarm\.0"):
            names.robot(world, name)


def test_a_group_of_which_the_name_has_a_point_in_it_is_found_before_a_robot():
    world = read_text("""<world><sbot count="3" name="a"><grid spacing="1"/></sbot>
                         <sbot name="a.1"><at x="9" y="0"/></sbot></world>""")
    assert names.find(world, "a.1") == names.Target("group", "a.1", 1)
    assert names.robot(world, "a.1.0") == 3


def test_a_world_without_robots_has_none():
    world = read_text('<world><lamp x="0" y="0"/></world>')
    with pytest.raises(FormigaError, match=r"there is no robot '0'; there are none\."):
        names.find(world, "0")
