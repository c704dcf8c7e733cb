"""Study S1 as a whole: every row met or reported, written down as JSON and as a picture."""

import json
import struct

STUDY = "swarmod"


def test_the_study_meets_all_its_numbers(result):
    _, code, study = result
    assert [row["claim"] for row in study["rows"] if row["verdict"] not in ("met", "reported")] == []
    assert code == 0 and study["study"] == "swarmod" and study["runs"] >= 1 and 0 < study["seconds"] < 60


def test_the_study_has_a_row_for_every_claim_of_the_digest(result):
    """Acceptance 1 to 7 and 9."""
    claims = " | ".join(row["claim"] for row in result[2]["rows"])
    for words in ("Fig. 15: r1", "Fig. 15: r2", "Fig. 15: distance", "look-up table", "strictly decreasing", "beam at a robot",
                  "random beams", "drive, wheels", "draft: mean reading in free space", "share given to",
                  "packs of 15 in 30x30", "packs of 15 in 60x60", "packs of 15 in 90x90", "packs of 10 in a corner",
                  "3-chain", "5-chain", "pair overlapping", "same seed", "stop: the run ends"):
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
