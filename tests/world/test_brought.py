"""Elements that studies bring: a world may use them by their tags, and nothing else has to be imported or loaded."""

import subprocess
import sys

import pytest

from formiga.errors import WorldError
from formiga.world import brought, elements
from formiga.world.reader import read_text

WORLD = '<world name="w"><arena width="2" depth="2"/><omni><at x="0" y="0"/><{tag}/></omni></world>'


def test_every_study_with_elements_of_its_own_brings_them_by_their_tags():
    tags = brought.tags()
    assert tags["wall_pairs"] == "migration" and tags["shaping"] == "shaping"
    for tag, study in tags.items():
        assert brought.bring(tag).cls.__module__ == f"formiga.studies.{study}.elements"


def test_a_tag_that_no_study_brings_is_unknown():
    assert brought.bring("wall_pears") is None
    with pytest.raises(WorldError, match=r"<wall_pears> is unknown\. Did you mean <wall_pairs>"):
        brought.bring_all()
        read_text(WORLD.format(tag="wall_pears"), "w.xml")


def test_elements_that_were_forgotten_are_brought_again():
    brought.bring("wall_pairs")
    elements.forget("wall_pairs")
    assert "wall_pairs" not in elements.registered()
    assert brought.bring("wall_pairs") is elements.registered()["wall_pairs"]


def test_a_new_process_knows_the_world_of_a_study_by_its_name_and_others_import_no_study():
    program = """
import sys
import formiga
formiga.read_world("corral")
before = [name for name in sys.modules if name.startswith("formiga.studies")]
world = formiga.read_world("migration")
sys.exit(f"imported: {before}" if before or not world.groups[0].estimators else 0)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
