"""The papers of the gallery, and the report, in a real browser."""

from __future__ import annotations

import json

import pytest

from formiga import studies
from formiga.studies import every
from formiga.studies.harness import ORIGINS
from tests.page.clients import line, talk
from tests.page.conftest import until
from tests.studies.shelf import MISSED, shelf

__all__ = ["shelf"]

pytestmark = pytest.mark.xdist_group("browser")

PHONE = {"width": 390, "height": 844}


@pytest.fixture
def cards(window):
    """The cards of the papers, after a click on what shows them."""
    window.tab.locator("#formiga #worlds").click()
    window.tab.locator("#formiga #tab-papers").click()
    found = window.tab.locator("#formiga #papers .card")
    found.first.wait_for(state="visible")
    return found


def article(window, name):
    """The page of a paper, after a click on its card."""
    window.tab.locator(f"#formiga [data-paper={name}]").click()
    found = window.tab.locator(f"#formiga #paper[open] #paper-{name}")
    found.wait_for(state="visible")
    return found


def test_each_study_has_a_card_with_its_title_authors_picture_and_verdicts(window, cards):
    assert [card.get_attribute("data-paper") for card in cards.all()] == [paper.study for paper in studies.shelf()]
    assert window.tab.locator("#formiga #tab-papers").inner_text().split() == ["Papers", str(len(studies.folders()))]
    for paper, card in zip(studies.shelf(), cards.all(), strict=True):
        text, counts = card.inner_text(), studies.kept(paper.study).counts
        assert paper.title in text and paper.authors[0] in text and str(paper.year) in text
        assert all(f"{count} {verdict}" in " ".join(text.split()) for verdict, count in counts.items())
        assert card.locator("img").evaluate("(image) => image.decode().then(() => image.naturalWidth)") >= 240
    assert window.tab.locator("#formiga #cards").is_hidden()


def test_the_page_of_a_paper_has_all_rows_of_its_result_in_the_groups_of_the_terminal(window, cards):
    page, kept = article(window, "swarmod"), studies.kept("swarmod")
    assert page.locator("h2").inner_text() == "Swarmod: a 2D s-bot's simulator"
    assert "A planar, kinematic simulator of s-bots" in page.locator(".claim").inner_text()
    titles = [title for origin, (title, _) in ORIGINS.items() if any(row.origin == origin for row in kept.rows)]
    assert page.locator(".rows summary b").all_inner_texts() == [title.partition(":")[0] for title in titles]
    expected = [(" ".join(row.claim.split()), row.verdict) for origin in ORIGINS for row in kept.rows if row.origin == origin]
    found = page.locator(".rows tbody tr:not(.where)").evaluate_all("""(rows) => rows.map((row) =>
        [row.cells[0].firstChild.textContent.trim().replace(/\\s+/g, " "), row.cells[5].textContent])""")
    assert list(map(tuple, found)) == expected
    assert page.locator("figure img").evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 600
    laws = page.locator(".rows").nth(titles.index(ORIGINS["law"][0]))
    assert laws.get_attribute("open") is None and laws.locator("table").is_hidden()
    laws.locator("summary").click()
    laws.locator("table").wait_for(state="visible")
    missed = page.locator("tr.missed .verdict").first
    assert missed.evaluate("(cell) => getComputedStyle(cell).color") != page.locator("tr.met .verdict").first.evaluate(
        "(cell) => getComputedStyle(cell).color")


@pytest.mark.parametrize("name, world", [("bootstrap", "bootstrap"), ("swarmbot3d", "avoidance3d")])
def test_a_world_of_a_paper_opens_and_plays(window, lab, cards, name, world):
    article(window, name).locator(f"[data-world={world}]").click()
    until(lambda: lab.session.world.name == world and lab.session.playing, 40)
    until(lambda: lab.poses()[2] > 2, 40)
    assert window.tab.locator("#formiga dialog[open]").count() == 0


def test_the_gallery_works_with_the_keyboard_alone(window, lab, cards):
    keys = window.tab.keyboard
    window.tab.locator("#formiga #tab-papers").focus()
    keys.press("ArrowLeft")
    window.tab.locator("#formiga #cards").wait_for(state="visible")
    keys.press("ArrowRight")
    cards.first.wait_for(state="visible")
    cards.first.focus()
    keys.press("Enter")
    opened = window.tab.locator("#formiga #paper[open]")
    opened.wait_for(state="visible")
    assert window.tab.evaluate("document.getElementById('formiga').shadowRoot.activeElement.id") == "paper-back"
    keys.press("Escape")
    opened.wait_for(state="hidden")
    assert window.tab.locator("#formiga #gallery[open]").count() == 1
    back = "document.getElementById('formiga').shadowRoot.activeElement.dataset.paper"
    assert window.tab.evaluate(back) == cards.first.get_attribute("data-paper")
    window.tab.locator("#formiga #tab-worlds").focus()     # as in a window that is greeted with the page of a paper
    cards.first.evaluate("(card) => card.click()")
    opened.wait_for(state="visible")
    keys.press("Escape")
    opened.wait_for(state="hidden")
    assert window.tab.evaluate("document.getElementById('formiga').shadowRoot.activeElement.id") == "tab-papers"


def test_nothing_is_wider_than_a_narrow_window(window, lab, cards):
    window.tab.set_viewport_size(PHONE)
    close = window.tab.locator("#formiga #close").bounding_box()
    assert close["x"] + close["width"] <= PHONE["width"]
    page = article(window, "swarmbot3d")
    page.evaluate("(page) => { for (const each of page.querySelectorAll('details')) each.open = true; }")
    dialog = window.tab.locator("#formiga #paper")
    assert dialog.evaluate("(dialog) => dialog.scrollWidth - dialog.clientWidth") <= 0
    edge = dialog.bounding_box()
    figure = page.locator("figure").first  # its words can be read: it is moved, not made smaller
    assert figure.evaluate("(figure) => figure.scrollWidth > 1.2 * figure.clientWidth && figure.clientWidth < innerWidth")
    rights = page.locator(".rows table").evaluate_all("(all) => all.map((each) => each.getBoundingClientRect().right)")
    assert max(rights) <= edge["x"] + edge["width"]


def test_results_that_were_made_by_others_bring_no_code_along_and_a_damaged_one_says_so(shelf, window, lab):
    shelf.add("evil", title='<img src=x onerror="window.harmed = true">')
    evil = "<script>window.harmed = true</script><img src=x onerror='window.harmed = true'>"
    shelf.keep("evil", dict.fromkeys(("claim", "published", "ours", "where", "note"), evil) | {"verdict": "missed"}, date=evil)
    shelf.add("torn", title="Torn")
    shelf.keep("torn").write_text('{"study": "torn", "rows"')
    window.tab.locator("#formiga #worlds").click()
    window.tab.locator("#formiga #tab-papers").click()
    until(lambda: window.tab.locator("#formiga #papers .card").count() == 2)
    page = article(window, "evil")
    assert evil in page.locator("tr.missed .says").inner_text()
    assert page.locator("script, table img").count() == 0
    window.tab.locator("#formiga #paper-back").click()
    assert "result.json: is not JSON" in article(window, "torn").locator(".fault").inner_text()
    assert window.tab.evaluate("window.harmed") is None


def test_a_study_without_a_world_is_shown_with_its_figure(shelf, window, lab, monkeypatch):
    """`formiga view pure` greets the first window so; then as in a window."""
    shelf.add("pure", drawn=True, title="Of pure motion")
    studies.run("pure", keep=True)
    monkeypatch.setattr(lab.page, "_greet", True)
    monkeypatch.setattr(lab.page, "_paper", "pure")

    async def greeted(socket):
        found = {}
        async for message in socket:
            found |= json.loads(message)
            if "paper" in found:
                return found

    greeting = talk(lab, line(lab), greeted)
    assert greeting["open"] == "gallery" and greeting["paper"]["title"] == "Of pure motion"
    window.tab.locator("#formiga #worlds").click()
    window.tab.locator("#formiga #tab-papers").click()
    until(lambda: window.tab.locator("#formiga #papers .card").count() == 1)
    page = article(window, "pure")
    assert page.locator("figure img").evaluate("(image) => image.decode().then(() => image.naturalWidth)") == 260
    assert page.locator("[data-world]").count() == 0


def test_a_paper_that_is_unknown_or_not_right_is_one_message_and_all_else_is_shown_all_the_same(shelf, window, lab):
    shelf.add("good")
    (shelf.add("odd") / "paper.toml").write_text("title =")
    window.tab.locator("#formiga #worlds").click()
    window.tab.locator("#formiga .card[data-world=corral]").wait_for(state="visible")
    window.tab.locator("#formiga #tab-papers").click()
    window.tab.locator("#formiga .card[data-paper=good]").wait_for(state="visible")
    assert "paper.toml: Invalid value" in window.tab.locator("#formiga #papers .fault").inner_text()
    assert window.tab.locator("#formiga #tab-papers").inner_text().split() == ["Papers", "1"]

    async def ask(socket):
        await socket.send(json.dumps({"paper": "../odd"}))
        async for message in socket:
            if "there is no study '../odd'." in json.loads(message).get("say", ""):
                return True

    assert talk(lab, line(lab, 99), ask)


# -- the report -------------------------------------------------------------------------------------------------------
def test_the_report_opens_from_disk_without_a_request_and_has_everything(shelf, browser, tmp_path):
    shelf.add("good", drawn=True)
    shelf.add("wide", MISSED)
    shelf.add("bad", "yield 1 / 0")
    assert every.run_all(every.How(False, tmp_path / "out"), say=lambda text: None) == 1
    for each in (tmp_path / "out").iterdir():
        if each.name != "studies.html":
            each.unlink()  # it needs nothing beside it
    context = browser.new_context(viewport=PHONE, offline=True)
    requests, errors = [], []
    try:
        tab = context.new_page()
        tab.on("request", lambda request: requests.append(request.url))
        tab.on("console", lambda said: errors.append(said.text) if said.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto((tmp_path / "out" / "studies.html").as_uri())
        assert tab.locator("article").count() == 3 and "1 met, 1 missed, 2 reported" in tab.locator(".top").inner_text()
        assert tab.locator("#paper-good figure img").evaluate("(image) => image.decode().then(() => image.naturalWidth)") == 260
        assert "ZeroDivisionError" in tab.locator("#paper-bad .fault").inner_text()
        tab.locator("a.card[href='#paper-wide']").click()
        until(lambda: tab.locator("#paper-wide h2").evaluate("(each) => each.getBoundingClientRect().top") < PHONE["height"])
        assert tab.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert tab.locator("script, link[rel=stylesheet]").count() == 0
        policy = tab.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
        assert policy == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"  # nothing in it is fetched or run
    finally:
        context.close()
    assert [url for url in requests if not url.startswith("data:")] == [(tmp_path / "out" / "studies.html").as_uri()]
    assert not errors
