"""Fixtures of a cluster on this machine, and a small world to sweep."""

import time

import pytest

from tests.cli.conftest import call, refused, start, warm  # noqa: F401
from tests.pool.cluster import scheduler, workers  # noqa: F401

WORLD = """<world name="tiny" dt="0.1" seconds="3"><param name="robots" value="2"/><param name="side" value="1"/>
<param name="mode" value="reposition"/>
<arena width="${side}" depth="${side}"/><contact model="${mode}"/>
<sbot count="${robots}" name="swarm"><scatter/><proximity/><braitenberg/></sbot>
<fitness of="speed straightness"/></world>"""


@pytest.fixture
def tiny(tmp_path):
    """The file of a small world with three parameters and a fitness."""
    (tmp_path / "tiny.xml").write_text(WORLD)
    return tmp_path / "tiny.xml"


def begun(process, folder):
    """Wait until a process has kept the first runs of its sweep."""
    deadline = time.monotonic() + 120
    while process.poll() is None and not ((folder / "runs.jsonl").exists() and (folder / "runs.jsonl").stat().st_size):
        assert time.monotonic() < deadline
        time.sleep(0.01)
