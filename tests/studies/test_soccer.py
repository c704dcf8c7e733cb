"""Study S2 as a whole: every row met or reported, written down as JSON and as a picture; and its own measures, checked."""

import json
import struct
import sys

import numpy as np
import pytest
import shapely

from formiga.loop import Simulation
from formiga.soccer import league
from formiga.soccer.roster import find_team
from formiga.studies.soccer import fig7, game, hits, physics
from formiga.studies.soccer.overlap import depths, from_square, inside, polygons_depth, square
from tests.reference import impacts as plain
from tests.studies import pages

STUDY = "soccer"


def test_the_study_meets_all_its_numbers(result):
    """But for the promise of speed, which other work on the machine can break."""
    _, code, study = result
    missed = [row["claim"] for row in study["rows"] if row["verdict"] not in ("met", "reported")]
    assert [claim for claim in missed if "(x real time)" not in claim] == []
    assert code == bool(missed) and study["study"] == "soccer" and study["runs"] == 20


def test_the_study_has_a_row_for_every_claim_of_the_digest(result):
    """Acceptance 1 to 10."""
    claims = " | ".join(row["claim"] for row in result[2]["rows"])
    for words in ("offset hit, eps 0.5: j", "offset hit, eps 0: ", "offset hit, eps 1: ", "head-on, eps 1: v_a",
                  "a square's corner into a wall", "contact springs", "1000 random impacts: momentum",
                  "random impacts: restitution",
                  "random impacts: energy loss",
                  "10000 pairs of squares: verdicts that shapely", "dry friction only: time", "over 36 directions",
                  "at 45 deg: way to stop (m)", "100 m/s, 60 x 10 steps: outside", "past each other", "substeps of 0.2 ms",
                  "1 mm off the middle",
                  "wall at 30 deg", "wall at 45 deg", "wall at 60 deg", "time constant T", "steady state",
                  "overlap of ball and robot", "ball or a robot outside", "not a number", "push head-on at 0.3", "substeps",
                  "kinetic energy", "Fig. 7, row 1", "Fig. 7, row 2", "Fig. 7, row 3", "FIRASim, measured", "played to the end",
                  "sockets", "recorded pictures", "equal seeds", "killed", "x real time", "tournament of"):
        assert words in claims, words
    for row in result[2]["rows"]:
        assert {"claim", "published", "ours", "tolerance", "verdict"} <= row.keys()


def test_nothing_is_called_published_that_is_not_in_the_paper(result):
    """It prints sizes, with which the world is made: definitions, as are FIRASim's constants. None counts as met."""
    rows = result[2]["rows"]
    assert not [row for row in rows if row["origin"] == "published"]
    given = [row for row in rows if row["origin"] == "definition"]
    assert len(given) == 12 and {row["verdict"] for row in given} == {"reported"}
    assert sum(row["where"].startswith("Klancar et al. 2003") for row in given) == 6
    assert [row["origin"] for row in rows if "FIRASim" in row["claim"]] == 4 * ["definition"] + ["measured"]


def test_the_result_that_the_gallery_shows_is_of_this_study(result):
    pages.check_kept("soccer", result[2]["rows"])


def test_the_manual_has_the_numbers_that_the_study_prints(result):
    pages.check_pages("soccer", result[2]["rows"])


def test_the_figure_is_a_picture(result):
    picture = (result[0] / "out" / "soccer.png").read_bytes()
    assert picture[:8] == b"\x89PNG\r\n\x1a\n" and picture[-8:-4] == b"IEND"
    width, height = struct.unpack(">II", picture[16:24])
    assert width > 1200 and height > 1000 and len(picture) > 50_000
    assert json.loads((result[0] / "out" / "soccer.json").read_text()) == result[2]


# -- its own measures ---------------------------------------------------------------------------------------------------------
def test_its_overlaps_are_those_of_shapely_and_of_the_plain_twin(rng):
    """It may not be the engine that says that the engine is right: so its numpy is checked by others."""
    place, heading = rng.uniform(-0.06, 0.06, (2, 500, 2)), rng.uniform(0.0, 7.0, (2, 500))
    one, other = (square(at, turn, 0.0375) for at, turn in zip(place, heading))
    deep = polygons_depth(one, other)
    for a, b, depth in zip(one, other, deep):
        assert depth == pytest.approx(max(0.0, -plain.separation(a, b)), abs=1e-12)
    area = shapely.area(shapely.intersection(shapely.polygons(one), shapely.polygons(other)))
    assert np.array_equal(deep > 1e-6, area > 1e-9) or (np.abs(deep - 1e-6) < 1e-5).any()
    points = rng.uniform(-0.1, 0.1, (500, 2))
    away = from_square(points, place[0][:, None], heading[0][:, None], 0.0375)[:, 0]
    shapes = shapely.polygons(one)
    outside = shapely.distance(shapes, shapely.points(points))
    within = shapely.distance(shapely.boundary(shapes), shapely.points(points))
    np.testing.assert_allclose(away, np.where(outside > 0.0, outside, -within), atol=1e-12)


def test_it_sees_who_is_in_the_board_and_who_has_left_it():
    simulation = Simulation(league.world())
    state = simulation.state
    assert max(float(value.max()) for value in depths(simulation).values()) == 0.0
    state.movables[0, 0, :2] = 0.0, 0.65 - 0.02135 + 0.002
    assert depths(simulation)["ball and board"][0] == pytest.approx(0.002) and not depths(simulation)["outside"][0]
    state.movables[0, 0, :2] = 0.0, 0.66
    assert depths(simulation)["outside"][0]
    state.movables[0, 0, :2] = state.position[0, 1] + (0.0375 + 0.02, 0.0)
    assert depths(simulation)["ball and robot"][0] == pytest.approx(0.00135)
    state.movables[0, 0, :2] = 0.0, 0.5
    state.position[0, 1], state.heading[0, 1] = (0.0, -0.65 + 0.03), 0.0
    assert depths(simulation)["robot and board"][0] == pytest.approx(0.0075)
    state.position[0, 1], state.position[0, 2] = (0.0, 0.0), (0.07, 0.01)
    assert depths(simulation)["robot and robot"][0] == pytest.approx(0.005)
    assert inside(np.array([0.8, 0.0]), np.array(simulation.world.pitch.board)) and not inside(
        np.array([0.8, 0.3]), np.array(simulation.world.pitch.board))


def test_without_shapely_the_row_says_so_and_the_rest_stays(monkeypatch):
    monkeypatch.setitem(sys.modules, "shapely", None)
    rows = list(physics.separation(100))
    assert [row.verdict for row in rows] == ["met", "reported"]
    assert rows[1].ours == "left out: pip install 'formiga[studies]' for shapely"


def test_without_pymunk_a_row_says_so_and_springs_are_left(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymunk", None)
    rows = list(hits.rows())
    assert [row.verdict for row in rows] == [*len(hits.HITS) * ["met"], "reported"]
    assert rows[-1].ours == "left out: pip install 'formiga[studies]' for pymunk"


@pytest.mark.parametrize("eps", [0.2, 1.0])
def test_springs_between_masses_that_meet_head_on_are_newton_s_law(eps):
    """Two equal squares, one at rest: v_b = (1 + eps)/2, v_a = (1 - eps)/2."""
    found = hits.by_springs(hits.HITS[4]._replace(eps=eps, closing=0.0))
    assert (found["v_a"], found["v_b"]) == pytest.approx((0.5 * (1.0 - eps), 0.5 * (1.0 + eps)), abs=1e-4)
    assert found["omega_a"] == found["omega_b"] == 0.0


def test_rows_of_hits_fail_if_the_laboratory_is_off_by_a_thousandth(monkeypatch):
    ours = hits.by_lab
    monkeypatch.setattr(hits, "by_lab", lambda hit: {what: 1.001 * value for what, value in ours(hit).items()})
    missed = [row.claim for row in hits.rows() if row.verdict == "missed"]
    assert len(missed) > 30 and all(any(claim.startswith(hit.name) for claim in missed) for hit in hits.HITS)


def test_circles_and_polygons_differ_where_the_paper_says_so():
    """Row 2 of figure 7 is what the paper is about; the numbers are ours."""
    new, old, _ = fig7.MODELS
    offset = fig7.ENCOUNTERS[1]
    assert (np.abs(fig7.turned(fig7.track(offset, new))) > 10.0).all()
    assert np.abs(fig7.turned(fig7.track(offset, old))).max() < 1e-9
    apart = np.linalg.norm(fig7.track(offset, new)[-1, :, :2] - fig7.track(offset, old)[-1, :, :2], axis=-1)
    assert apart.max() > 0.02


def test_all_seven_teams_are_programs_that_can_be_started():
    specs = [find_team(team) for team in game.SEVEN]
    assert len({spec.name for spec in specs}) == 7 and all(spec.command for spec in specs)
