"""All eight kinds of marks in a real browser: live, switched, replayed, exported; and it has nothing to complain of."""

from __future__ import annotations

import numpy as np
import pytest

from tests.drawing.artist import LAYERS, studio
from tests.page.conftest import SLOW, until

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.usefixtures("own_registry")]

SEEN = """() => Object.entries(window.__viserSceneTree.getState())
    .filter(([name, node]) => name.startsWith('/formiga/drawings/') && name.split('/').length == 5 && node
            && (node.overrideVisibility ?? node.visibility ?? true)).map(([name]) => name)"""  # as viser's own tests look


def layers(tab) -> set[str]:
    """Of which something is seen in a window."""
    return {name.split("/")[3] for name in tab.evaluate(SEEN)}


def test_a_world_with_all_eight_kinds_plays_and_its_layers_are_switched(window, lab):
    lab.begin(studio())
    lab.run("pause off; speed 5")
    until(lambda: layers(window.tab) == set(LAYERS), 60, lambda: f"{layers(window.tab)} {lab.said[-3:]}")
    step = lab.page.drawn
    until(lambda: lab.page.drawn > step + 20, 60)
    window.tab.get_by_role("tab", name="Look").click()
    box = window.tab.get_by_label("particles", exact=True)
    assert box.is_checked()
    box.click()
    until(lambda: layers(window.tab) == set(LAYERS) - {"particles"})
    assert lab.session.layers.off == {"particles"}
    lab.run("layer particles on; layer grid off")
    until(lambda: layers(window.tab) == set(LAYERS) - {"grid"} and box.is_checked())
    lab.run("load corral")
    until(lambda: not layers(window.tab) and box.is_hidden())
    assert not [text for kind, text in lab.said if kind == "error"] and not window.errors


def test_drawings_are_replayed_and_in_an_exported_page(window, lab, folder, browser):
    lab.begin(studio())
    lab.run("pause on; record run.parquet; step 12; record off; load run.parquet; layer points off; seek 0.8")
    until(lambda: layers(window.tab) == set(LAYERS) - {"points"}, 60, lambda: f"{layers(window.tab)} {lab.said[-3:]}")
    assert lab.do(lambda: lab.session.frame(exact=True)).drawings["text"][0].words == ("t = 0.8 s",)
    lab.run("export run.html")
    until(lambda: (folder / "run.html").exists(), 60, lambda: f"{lab.said[-3:]}")
    tab, errors = browser.new_page(), []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    tab.goto((folder / "run.html").as_uri(), timeout=SLOW)
    until(lambda: tab.evaluate("'__viserSceneTree' in window") and layers(tab) == set(LAYERS) - {"points"}, 60,
          lambda: f"{layers(tab)}")
    tab.close()
    assert not errors and not window.errors


def test_marks_are_seen_in_the_picture_of_a_window(window, lab):
    """A red polygon covers a good part of the floor, and is gone when its layer is off."""
    lab.begin("line")

    def red():
        picture = window.picture().astype(int)
        return int(((picture[..., 0] - picture[..., 1] > 40) & (picture[..., 0] - picture[..., 2] > 40)).sum())

    before = red()
    lab.do(lambda: lab.session.sim.pen("danger").polygon(np.array([(-2, -2), (2, -2), (2, 2), (-2, 2)]), colour="#ff0000"))
    until(lambda: red() > before + 5_000, 60)
    lab.run("layer danger off")
    until(lambda: red() < before + 500, 60)
    assert not window.errors
