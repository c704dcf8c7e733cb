"""The table of both engines in world-file.md lists what there is: every robot, and every element that only one engine takes."""

import re
from pathlib import Path

from formiga import Simulation  # importing the top of the package registers every element
from formiga.errors import WorldError
from formiga.world.elements import registered
from formiga.world.movables import JOINTS
from formiga.world.reader import read_text

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "world-file.md").read_text(encoding="utf-8")


def tags(row, column):
    """The elements in a cell of the table."""
    (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| {row} |")]
    return set(re.findall(r"`<(\w+)>`", line.split("|")[column + 2]))


def refused_in_the_plane(sensor):
    """Whether the planar engine refuses a sensor because it is the third dimension that it measures."""
    more = ' joint="j"' if sensor == "joint_load" else ""
    robot = f'<sbot><at x="0" y="0"/><{sensor}{more}/></sbot>'
    try:
        Simulation(read_text(f'<world><arena width="1" depth="1"/>{robot}</world>', "w.xml"))
    except WorldError as wrong:
        assert str(wrong) == f'w.xml:1: <{sensor}> measures what exists only in space; choose engine="spatial".'
        return True
    return False


def test_the_page_lists_every_element_that_only_space_has():
    shipped = {tag: known for tag, known in registered().items() if known.cls.__module__.startswith("formiga.")}
    spatial = {tag for tag, known in shipped.items() if vars(known.cls).get("SPATIAL")}
    sensors = {tag for tag, known in shipped.items() if known.role == "sensor" and refused_in_the_plane(tag)}
    assert len(sensors) == 6
    assert tags("only here", 1) == spatial | sensors | {"object"}  # an <object> holds solids and their joints alone


def test_no_element_is_the_plane_s_alone():
    """Not even joints of movables: the same world opens in both engines."""
    assert tags("only here", 0) == set()
    assert {known.tag for known in registered().values() if known.cls in JOINTS} == {"weld", "pin"}
    for joint in ('<weld one="b" other="c"/>', '<pin one="b" other="c" x="0.1" y="0"/>'):
        for engine in ("planar", "spatial"):
            text = f'''<world engine="{engine}"><arena width="4" depth="4"/><contact model="impulse"/>
                <ball name="b" x="0" y="0"/><block name="c" x="0.2" y="0" width="0.1" depth="0.1"/>{joint}
                <sbot><at x="1" y="1"/></sbot></world>'''
            assert engine == Simulation(read_text(text, "w.xml")).engine.NAME


def test_the_page_lists_every_robot_of_the_plane():
    robots = {tag for tag, known in registered().items()
              if known.role == "robot" and known.cls.__module__.startswith("formiga.world.") and not known.cls.SPATIAL}
    assert tags("robots", 0) == robots
