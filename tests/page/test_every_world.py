"""Every shipped world, and a recording of each engine, plays in a real browser, and nothing fails behind the scenes."""

from __future__ import annotations

from itertools import pairwise

import pytest

from formiga.lab import shipped_worlds
from tests.page.conftest import until

pytestmark = pytest.mark.xdist_group("browser")

PICTURES = 6           # at each speed, at least
RECORDED = {"planar": "corral", "impulse": "soccer", "spatial": "assembly"}


@pytest.fixture
def pictures(lab, monkeypatch):
    """The frames that were drawn, without a failure."""
    drawn, show = [], lab.page.scene.show
    monkeypatch.setattr(lab.page.scene, "show", lambda frame: (show(frame), drawn.append(frame)))
    return drawn


def watch_it_play(window, lab, pictures):
    """Play at both speeds; all pictures reach the window, which is seen to show the last of them.

    What the page, the server or the browser complain of is an error, here or when the test ends.
    """
    for speed in ("1", "5"):
        window.tab.locator("#formiga #speed").select_option(speed)
        until(lambda speed=speed: lab.session.speed == float(speed))
        before, step = len(pictures), pictures[-1].step
        until(lambda before=before, step=step: len(pictures) >= before + PICTURES and pictures[-1].step != step,
              message=lambda before=before: f"{len(pictures) - before} pictures: {lab.said[-3:]}")
        drawn = pictures[-1].step
        window.tab.wait_for_function("drawn => Number(document.getElementById('formiga').dataset.step) >= drawn", arg=drawn)
        paints(window)
        assert not [text for kind, text in lab.said if kind == "error"]


def paints(window):
    """Wait until what has arrived has been painted, too: two frames of the browser, so that a failure in the scene is heard."""
    window.tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def between_steps(frames):
    """Whether some picture shows poses that are on the way from one step to the next."""
    same = [(a, b) for a, b in pairwise(frames) if a.step == b.step]
    return any((a.place != b.place).any() or (a.bodies is not None and (a.bodies != b.bodies).any()) for a, b in same)


@pytest.mark.parametrize("name", shipped_worlds())
def test_a_shipped_world_plays_at_one_and_five_times(window, lab, pictures, name):
    window.type(f"load {name}; pause off")  # which is what a click in the gallery writes
    until(lambda: lab.session.playing and pictures and pictures[-1].world is lab.session.world, 90)
    assert lab.session.world.name == name
    watch_it_play(window, lab, pictures)
    until(lambda: window.tab.title() == f"{name} - formiga")


@pytest.mark.parametrize("engine", RECORDED)
def test_a_recording_plays_at_one_and_five_times(window, lab, pictures, engine):
    lab.begin(RECORDED[engine])
    lab.do(lambda: lab.session.console.run("record run.parquet; step 120; record off; load run.parquet; play"), 60)
    until(lambda: pictures and pictures[-1].world is lab.session.world)
    assert (lab.session.world.engine, lab.session.world.contact.model == "impulse") == (
        "spatial" if engine == "spatial" else "planar", engine == "impulse")
    watch_it_play(window, lab, pictures)
    assert engine != "spatial" or between_steps(pictures)
