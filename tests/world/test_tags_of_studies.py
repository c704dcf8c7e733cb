"""Elements that studies bring: registered as soon as a world names one, and not before."""

import subprocess
import sys

import pytest

from formiga.errors import WorldError
from formiga.world.brought import bring
from formiga.world.reader import read_text

ALONE = """
import sys
import formiga
from formiga.world.brought import bring_all, tags
from formiga.world.elements import registered
assert formiga.read_world("corral") and "shaping" not in registered()
assert not any(name.startswith("formiga.studies.") and name.endswith(".elements") for name in sys.modules)
formiga.read_world("shaping")
assert "shaping" in registered() and "wall_pairs" not in registered()
bring_all()
assert tags()["shaping"] == "shaping" and tags()["wall_pairs"] == "migration"
for tag, study in tags().items():
    assert registered()[tag].cls.__module__ == f"formiga.studies.{study}.elements"
"""


def test_a_world_without_them_loads_no_study_and_one_with_them_that_study_alone():
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


def test_a_tag_that_no_study_has_brings_nothing_and_a_misspelt_one_is_recognised():
    assert bring("no_such_tag") is None
    with pytest.raises(WorldError, match=r"<shapping> is unknown. Did you mean <shaping>\?"):
        read_text('<world><arena width="2" depth="2"/><sbot><at x="0" y="0"/><shapping/></sbot></world>')
