"""What studies say about themselves, the results in their folders, and the pages that are made of both."""

from __future__ import annotations

import io
import json

import pytest
from lxml import html
from PIL import Image

from formiga import lab, studies
from formiga.errors import FormigaError
from formiga.studies import every, harness, report, results
from formiga.studies.harness import Row
from formiga.studies.paper import read_paper

NAMES = list(studies.folders())


# -- the shipped ones -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_study_has_a_paper_a_claim_a_whole_result_a_picture_and_a_test_that_holds_it(name):
    paper, kept = studies.about(name), studies.kept(name)
    claim, rest = paper.words()
    assert len(claim) > 60 and len(rest) > 200
    assert kept is not None, f"make it: formiga study {name} --full --keep"
    assert kept.study == name and kept.rows and kept.figures
    for file in kept.figures:
        assert file.suffix == ".webp" and file.stat().st_size < 200_000
        with Image.open(file) as picture:
            assert 400 <= picture.width <= results.WIDEST
    page = html.fromstring(report.article(paper, kept))
    assert len(page.xpath("//details[contains(@class, 'rows')]//td[@class='verdict']")) == len(kept.rows)
    with open(f"tests/studies/test_{name}.py", encoding="utf-8") as source:
        assert f'pages.check_kept("{name}"' in source.read()


@pytest.mark.parametrize("name", [name for name in lab.known_worlds() if name not in lab.shipped_worlds()])
def test_a_world_of_a_study_runs_by_its_name_and_has_a_picture(name):
    lab.check_world(name)
    run = lab.simulate(name, 1.0)
    assert run.state.step.max() > 0
    assert report.thumbnail(lab.known_worlds()[name]), f"python docs/screenshots.py gallery/{name}"


# -- what a study says ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("text, words", [
    ('id = "R1"', "paper.toml: 'title' is missing; it must say: id, title, authors, year, venue."),
    ("{paper}autors = []", "'autors' is unknown. Did you mean 'authors'?"),
    ("{paper}doi = 7", "'doi' must be a text, not 7."),
    ("{paper}worlds = [3]", "'worlds' must be a list of texts, of at least one, not [3]."),
    ('{paper}worlds = ["corall"]', "there is no shipped world 'corall'. Did you mean 'corral'?"),
    ("id = ", "paper.toml: Invalid value (at end of document)."),
])
def test_a_paper_that_is_not_right_is_refused_in_one_line_with_its_file(shelf, text, words):
    folder = shelf.add("odd")
    file = folder / "paper.toml"
    file.write_text(text.replace("{paper}", file.read_text()))
    with pytest.raises(FormigaError) as refused:
        read_paper(folder)
    assert words in str(refused.value) and str(file) in str(refused.value) and "\n" not in str(refused.value)


def test_many_authors_are_shortened_in_a_line_and_studies_stand_in_the_order_of_the_shelf(shelf):
    for name, number in (("b", "R02"), ("a", "R10"), ("z", "S1")):
        shelf.add(name, id=number)
    assert list(studies.known()) == ["z", "b", "a"]
    file = shelf.folder / "a" / "paper.toml"
    file.write_text(file.read_text().replace('"B. Other"', '"B", "C", "D", "E"'))
    assert studies.known()["a"] == "R10, Of a [A. Author et al., 2001]"


def test_a_study_whose_paper_is_not_right_is_told_and_the_others_are_there(shelf):
    shelf.add("good")
    file = shelf.add("odd") / "paper.toml"
    file.write_text("title =")
    told = []
    assert list(studies.known(told.append)) == ["good"]
    assert [str(error) for error in told] == [f"{file}: Invalid value (at end of document)."]
    with pytest.raises(FormigaError, match="Invalid value"):
        studies.known()


def test_a_study_without_its_python_file_is_said_in_one_line(shelf):
    (shelf.add("odd") / "study.py").unlink()
    with pytest.raises(FormigaError, match=r"odd.study\.py: is not there; it is to have the class Study\."):
        studies.run("odd")


def test_a_readme_without_a_claim_is_said_in_its_page(shelf):
    shelf.add("odd", readme="# Nothing\n\nNo claim.")
    assert "README.md: no paragraph begins with **Claim.**" in report.article(studies.about("odd"), None)


# -- results ----------------------------------------------------------------------------------------------------------
def test_a_result_that_is_kept_is_read_back_as_it_was(shelf):
    folder = shelf.add("good", drawn=True)
    assert studies.kept("good") is None
    assert studies.run("good", keep=True) == 0
    kept = studies.kept("good")
    assert [(row.claim, row.published, row.ours, row.verdict) for row in kept.rows] == [
        ("length (m)", 1.0, 1.01, "met"), ("speed", "-", 3.5, "reported")]
    assert kept.counts == {"met": 1, "missed": 0, "reported": 1} and kept.form == "quick"
    (picture,) = kept.figures
    assert picture == folder / "result" / "good.webp"
    with Image.open(picture) as opened:
        assert opened.format == "WEBP" and opened.size == (260, 130)
    (folder / "result" / "old.webp").write_bytes(b"of a figure that is no longer drawn")
    studies.run("good", keep=True)
    assert sorted(each.name for each in (folder / "result").iterdir()) == ["good.webp", "result.json"]


@pytest.mark.parametrize("damage, words", [
    (lambda text: text[:40], "is not JSON"),
    (lambda text: "[1, 2]", "it is not an object"),
    (lambda text: "[" * 100_000, "is not JSON"),
    (lambda text: text.replace('"rows"', '"lines"'), "it has no 'rows'"),
    (lambda text: text.replace('"claim": "length (m)"', '"claim": ["a"]'), "'claim' of rows[0] is ['a']"),
    (lambda text: text.replace('"verdict": "met"', '"verdict": "<b>"'), "rows[0] has an origin or a verdict that is unknown"),
    (lambda text: text.replace('"figures": []', '"figures": ["../../secret"]'), "'../../secret' is not the name of a figure"),
    (lambda text: text.replace('"figures": []', '"figures": ["good"]'), "its figure good is not there"),
    (lambda text: text.replace('"form": "quick"', '"form": "slow"'), "the form is quick or full, not 'slow'"),
    (lambda text: text.replace('"tolerance": 0.1', '"tolerance": true'), "'tolerance' of rows[0] is True"),
    (lambda text: text.replace('"ours": 1.01', f'"ours": 1{"0" * 400}'), "'ours' of rows[0] is 1000"),  # no float is so large
    (lambda text: text.replace("length (m)", r"\ud800"), "is not JSON"),  # half of a character pair, which no file can hold
    (lambda text: text.replace('"study": "good"', '"study": "other"'), "is the result of another study, 'other'"),
])
def test_a_damaged_result_is_one_message_and_its_paper_is_shown_all_the_same(shelf, damage, words):
    shelf.add("good")
    file = shelf.keep("good", {})
    file.write_text(damage(file.read_text()))
    with pytest.raises(FormigaError) as refused:
        studies.kept("good")
    said = str(refused.value)
    assert said.startswith(f"{file}: ") and words in said and "\n" not in said and len(said) < 400
    from formiga.page.gallery import papers

    assert 'class="verdicts none">its result is damaged' in papers()[0]["card"]
    assert words in html.fromstring(report.article(studies.about("good"), said)).text_content()


@pytest.mark.parametrize("suffix", ["png", "webp"])
def test_a_figure_that_is_torn_is_one_message(shelf, suffix):
    shelf.add("good", drawn=True)
    file = shelf.keep("good", {}, figures=["good"])
    figure = file.parent / f"good.{suffix}"
    Image.effect_noise((200, 200), 50.0).save(figure)
    assert studies.kept("good").figures == (figure,)
    figure.write_bytes(figure.read_bytes()[:2000])
    with pytest.raises(FormigaError, match=rf"its figure good.{suffix} is not a whole picture"):
        studies.kept("good")


def test_a_result_that_cannot_be_kept_is_said_before_the_study_runs(shelf):
    folder = shelf.add("good", "raise AssertionError('it was run')")
    (folder / "result").write_text("a file")
    with pytest.raises(FormigaError, match=r"result: cannot be made \(File exists\)"):
        studies.run("good", keep=True)
    with pytest.raises(FormigaError, match=r"result: cannot be made \(File exists\)"):
        every.run_all(every.How(False, folder.parent.parent / "out", keep=True))


def test_rows_and_figures_that_are_written_are_always_of_one_run(shelf, tmp_path):
    """A second figure that cannot be drawn leaves the result of before as it was, with its figures."""
    folder = shelf.add("good", drawn=True)
    studies.run("good", keep=True, out_dir=str(tmp_path / "out"))
    before = {file: file.read_bytes() for place in (folder / "result", tmp_path / "out") for file in place.iterdir()}

    def fail(path):
        raise OSError(28, "No space left on device")

    study = studies.study("good")
    study.figures = lambda: {"good": lambda path: Image.new("RGB", (9, 9)).save(path, "PNG"), "good-2": fail}
    with pytest.raises(FormigaError, match=r"good-2\.webp: cannot be written \(No space left on device\)"):
        results.keep(folder, "{}", study.figures())
    with pytest.raises(FormigaError, match=r"good-2\.png: cannot be written \(No space left on device\)"):
        harness.write(tmp_path / "out", "good", "{}", study)
    assert {file: file.read_bytes() for place in (folder / "result", tmp_path / "out") for file in place.iterdir()} == before


def test_a_figure_has_the_name_of_its_study_for_all_of_them_stand_in_one_folder():
    class Other(harness.Study):
        def figures(self):
            return {"results": print}

    with pytest.raises(ValueError, match="the figure 'results' of the study ants is to be called ants or ants-"):
        harness.as_text("ants", Other(), [], False, 1.0)


# -- pages ------------------------------------------------------------------------------------------------------------
EVIL = '<img src=x onerror="alert(1)"><script>alert(2)</script>&amp;'


def test_no_text_of_a_file_becomes_html(shelf):
    shelf.add("evil", title='<script>{name}</script>', readme=f"# x\n\n**Claim.** {EVIL} [a](javascript:alert(3)) ![i](https://x/y.png)"
                                                              f"\n\n{EVIL} [b](other.md)")
    row = dict.fromkeys(("claim", "published", "ours", "where", "note"), EVIL) | {"verdict": "missed"}
    shelf.keep("evil", row, date=EVIL, formiga=EVIL)
    about, kept = studies.about("evil"), studies.kept("evil")
    for text in (report.card(about, kept), report.article(about, kept, buttons=True), report.document([(about, kept)], EVIL),
                 report.article(about, EVIL)):
        page = html.fromstring(f"<div>{text}</div>" if "<html" not in text else text)
        assert (not page.xpath("//script") and "alert(2)" in page.text_content()) or text == report.card(about, kept)
        assert not [name for each in page.iter() if isinstance(each.tag, str) for name in each.attrib if name.startswith("on")]
        assert all(image.get("src", "").startswith("data:") for image in page.xpath("//img"))
        assert not [link for link in page.xpath("//a/@href") if not link.startswith(("#", "https://x/"))]


def test_a_link_to_the_outside_opens_apart_and_one_to_another_file_leads_nowhere(shelf):
    shelf.add("good")
    page = html.fromstring(report.article(studies.about("good"), None))
    (outside,) = page.xpath("//a[@href]")
    assert (outside.get("href"), outside.get("target"), outside.get("rel")) == ("https://example.org", "_blank",
                                                                                "noopener noreferrer")
    assert "A page and more." in page.text_content()


def test_a_table_has_the_cells_of_the_terminal(shelf):
    rows = [Row("length (m)", 1.0, 1.05, 0.100049, where="Table 1"), Row("    part", True, True, where="Table 1"),
            Row("time (s)", 10.0, 12.0, 0.5, spread=1.53, runs=3, note="too slow")]
    page = html.fromstring(report.table("published", rows, first=False))
    cells = [[cell.text_content() for cell in line.iter("td")] for line in page.iter("tr") if line.get("class")]
    assert cells == [["Table 1"], ["length (m)", "1", "1.05", "+0.05", "0.1", "met"], ["part", "yes", "yes", "", "", "met"],
                     ["time (s)too slow", "10", "12 ± 1.5", "+2", "0.5", "missed"]]
    assert "open" in page.attrib  # for something was missed
    assert [head.text for head in page.iter("th")] == ["claim", "paper", "ours", "difference", "tolerance", "verdict"]


def test_a_study_without_a_world_shows_its_figure_and_one_without_a_result_says_how_to_get_it(shelf):
    shelf.add("pure", drawn=True)
    assert "formiga study pure --keep" in report.article(studies.about("pure"), None)
    assert "<div></div>" in report.card(studies.about("pure"), None)
    studies.run("pure", keep=True)
    assert f"{studies.kept('pure').form} form" in report.card(studies.about("pure"), studies.kept("pure"))
    (image,) = html.fromstring(f'<div>{report.card(studies.about("pure"), studies.kept("pure"))}</div>').iter("img")
    import base64

    with Image.open(io.BytesIO(base64.b64decode(image.get("src").partition(",")[2]))) as picture:
        assert picture.format == "WEBP" and picture.width == 260
    with pytest.raises(FormigaError, match="the study 'pure' has no world; `formiga view pure` shows its result"):
        lab.read_world("pure")


def test_the_json_of_a_study_tells_form_date_and_version(shelf, tmp_path):
    shelf.add("good")
    studies.run("good", full=True, json_path=str(tmp_path / "r.json"))
    found = json.loads((tmp_path / "r.json").read_text())
    import formiga

    assert (found["form"], found["formiga"], found["figures"]) == ("full", formiga.__version__, [])
    assert len(found["date"]) == 10
