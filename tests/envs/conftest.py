"""Worlds for learning that the shipped ones do not show: several groups, deaths, own terms, no networks."""

import pytest

WORLD = """<world dt="0.1" seconds="5">
  <arena width="1.2" depth="1.2"/>
  <contact model="reposition" crash_limit="{limit}" at_limit="{at_limit}"/>
  <sbot count="3" name="ants"><scatter/><proximity/><light of="robots"/><glow/>{controller}</sbot>
  {other}
  <fitness of="speed clearance"/>
  <fitness of="crashes" weight="-0.5"/>
</world>
"""
OTHERS = '<sbot count="2" name="others"><scatter/><proximity/><odometry/><braitenberg/></sbot>'


@pytest.fixture
def own_world(tmp_path):
    """own_world(at_limit="die", ...) -> the path of a world file."""

    def write(limit=8, at_limit="end", controller='<elman inputs="light proximity"/>', other=""):
        path = tmp_path / "own.xml"
        path.write_text(WORLD.format(limit=limit, at_limit=at_limit, controller=controller, other=other))
        return path

    return write
