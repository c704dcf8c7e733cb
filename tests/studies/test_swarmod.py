"""Study S1 as a whole: its rows, what would miss them, written down as JSON and as a picture."""

import json
import struct

import numpy as np

from formiga.studies.swarmod import packs, table
from tests.studies import pages

STUDY = "swarmod"


def test_the_study_meets_all_its_numbers_but_one_that_a_beam_cannot(result):
    """The real sensor's readings differ from angle to angle; those of a beam do not."""
    _, code, study = result
    (row,) = [row for row in study["rows"] if row["verdict"] not in ("met", "reported")]
    assert row["claim"] == "campaign: smallest standard deviation over the angles of a distance" and row["note"]
    assert code == 1 and study["study"] == "swarmod" and study["runs"] >= 1 and 0 < study["seconds"] < 60


def test_the_study_has_a_row_for_every_claim_of_the_digest(result):
    """Acceptance 1 to 7 and 9."""
    claims = " | ".join(row["claim"] for row in result[2]["rows"])
    for words in ("Fig. 15: r1", "Fig. 15: r2", "Fig. 15: distance", "look-up table", "campaign: readings", "beam at a robot",
                  "random beams", "drive, wheels", "draft: mean reading in free space", "share given to",
                  "packs of 15 in 30x30", "packs of 15 in 60x60", "packs of 15 in 90x90", "packs of 10 in a corner",
                  "3-chain", "5-chain", "pair overlapping", "same seed", "stop: the run ends", "Fig. 9: robot 3",
                  "Fig. 4a", "Fig. 4b", "Fig. 4c", "draft: a cylinder", "draft: standard deviation of the relative error",
                  "draft: standard deviation of the way"):
        assert words in claims, words
    for row in result[2]["rows"]:
        assert {"claim", "published", "ours", "tolerance", "verdict"} <= row.keys()


def test_what_is_called_published_says_where(result):
    for row in result[2]["rows"]:
        if row["origin"] == "published" and row["verdict"] != "reported":
            assert row["where"], row["claim"]


def test_the_figure_is_a_picture(result):
    picture = (result[0] / "out" / "swarmod.png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n" and picture[-8:-4] == b"IEND"
    width, height = struct.unpack(">II", picture[16:24])
    assert width > 800 and height > 300 and len(picture) > 20_000
    assert json.loads((result[0] / "out" / "swarmod.json").read_text()) == result[2]


def test_the_result_that_the_gallery_shows_is_of_this_study(result):
    pages.check_kept("swarmod", result[2]["rows"])


def test_the_manual_has_what_the_study_prints(result):
    pages.check_pages("swarmod", result[2]["rows"])


def test_what_the_table_was_made_by_is_a_definition_and_never_counted_as_met(result):
    rows = {row["claim"]: row for row in result[2]["rows"] if row["origin"] == "definition"}
    assert {row["verdict"] for row in rows.values()} == {"reported"} and all(row["where"] for row in rows.values())
    assert {"look-up table: entries", "table: coefficients that round to the report's digits",
            "table: reading at 15 cm"} <= set(rows)


def test_a_robot_that_slid_along_the_wall_would_miss_figure_9(monkeypatch):
    """Mode minimal pushes it out along the normal: the way of robot 3 and its direction are then others."""
    moved = packs.displaced
    monkeypatch.setattr(packs, "displaced", lambda centres, mode, things=(): moved(centres, "minimal", things))
    assert "missed" in {row.verdict for row in packs.figure_9() if "robot 3" in row.claim}


def test_packs_that_stayed_where_they_are_would_be_seen_by_shapely():
    centres = packs.random_packs(30.0, 10, 3, corner=True)
    (row,) = packs.polygons("packs", centres, centres, True)
    assert row.verdict == "missed" and row.ours == packs.overlapping(centres, True) > 0
    assert packs.overlapping(np.array([[[0.05, 1.0], [1.0, 1.0]]]), True) == 1  # one robot, one wall


def test_a_campaign_on_another_table_would_not_find_this_one(monkeypatch):
    sampled = table.sampled
    monkeypatch.setattr(table, "sampled", lambda sensor: sampled(table.Proximity(table="A")))
    verdicts = {row.claim: row.verdict for row in table.campaign()}
    assert verdicts["campaign: the curve it finds against the table, largest difference"] == "missed"
