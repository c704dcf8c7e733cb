"""A round robin: who plays whom, the table, and a folder from which it goes on, whatever ended it. The programs are real."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner

from formiga.cli import cli
from formiga.record.recording import read_recording
from formiga.soccer.tournament import Settings, Tournament, TournamentError, read_result, read_settings, table
from tests.soccer.processes import SLOW, all_gone, children

ROOT = Path(__file__).parents[2]
GAME = {"players": 2, "half_seconds": 0.5, "halves": 1, "patience": SLOW}


@pytest.fixture(scope="module", autouse=True)
def findable():
    """Programs of a test find this formiga."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        yield


def written(folder, name, speed=0.5, before=""):
    """A program whose robots drive at the ball that fast."""
    file = folder / f"{name}.py"
    file.write_text(f"""import os, time
from formiga.soccer.team import Team
with Team.from_arguments() as team:
    for see in team:
        {before or 'pass'}
        for i, me in enumerate(see.own):
            team.drive(i, {speed}, 4.0 * me.bearing(see.ball.x, see.ball.y))
""")
    return str(file)


@pytest.fixture
def team(tmp_path):
    """team("ants", 0.5): the program of that name."""
    return partial(written, tmp_path)


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """Settings of a tournament of three, whose matches are long enough to differ."""
    folder = tmp_path_factory.mktemp("three")
    teams = (written(folder, "slow", 0.2), written(folder, "quick", 0.9), written(folder, "mid", 0.5))
    return Settings(teams, 1, False, 3, {**GAME, "half_seconds": 2.0}, replays=True)


@pytest.fixture(scope="module")
def cup(three, tmp_path_factory):
    """That tournament, two matches at a time; and what was heard of it."""
    contest, heard = Tournament(tmp_path_factory.mktemp("cup") / "cup", three), []
    assert contest.play(2, progress=lambda fixture, result: heard.append((fixture.number, result["score"])))
    return contest, heard


@pytest.fixture(scope="module")
def resumed(three, tmp_path_factory):
    """The same, one match at a time: stopped after the first, and what its files were then; and gone on with."""
    folder = tmp_path_factory.mktemp("resumed") / "cup"
    first, heard = Tournament(folder, three), []
    assert not first.play(1, stop=lambda: bool(first.results))
    played = {file.name: file.read_bytes() for file in (folder / "matches").iterdir()}
    again = Tournament(folder, three)
    left = len(first.left), len(again.left)
    assert again.play(1, progress=lambda fixture, _: heard.append(fixture.number))
    return again, played, left, heard


# -- who plays whom -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("count, rounds, both", [(2, 1, False), (7, 1, False), (5, 2, False), (4, 3, True)])
def test_everybody_meets_everybody_equally_often_and_changes_colours(count, rounds, both):
    fixtures = Settings(("chaser",) * count, rounds, both).fixtures()
    times = rounds * (2 if both else 1)
    met = Counter(frozenset((each.blue, each.yellow)) for each in fixtures)
    assert met == {frozenset(pair): times for pair in combinations(range(count), 2)}
    assert [each.number for each in fixtures] == list(range(len(fixtures)))
    in_blue = Counter((each.blue, each.yellow) for each in fixtures)
    assert all(abs(in_blue[a, b] - in_blue[b, a]) <= times % 2 for a, b in combinations(range(count), 2))
    blues = Counter(each.blue for each in fixtures)
    assert max(blues.values()) - min(blues[team] for team in range(count)) <= rounds + 1


def test_seeds_follow_from_the_tournaments_the_pair_and_the_round_and_nothing_else():
    settings = Settings(("chaser", "colony", "chaser"), 2, True, seed=9)
    seeds = {(each.round, each.blue, each.yellow): each.seed for each in settings.fixtures()}
    assert len(set(seeds.values())) == len(seeds) == 12 and all(0 <= seed < 2**63 for seed in seeds.values())
    longer = {(each.round, each.blue, each.yellow): each.seed
              for each in Settings(("chaser", "colony", "chaser", "colony"), 3, True, seed=9).fixtures()}
    assert all(longer[key] == seed for key, seed in seeds.items())
    assert seeds != {(each.round, each.blue, each.yellow): each.seed
                     for each in Settings(("chaser", "colony", "chaser"), 2, True, seed=10).fixtures()}


def test_a_network_team_is_always_blue():
    fixtures = Settings(("chaser", "network", "colony"), 2, True).fixtures()
    assert all(each.blue == 1 for each in fixtures if 1 in (each.blue, each.yellow))


def test_teams_of_the_same_name_have_numbers():
    assert Settings(("chaser", "colony", "chaser", "chaser")).labels == ("chaser", "colony", "chaser 2", "chaser 3")
    assert Settings(("network:ants", "network", "network:ants")).labels == ("ants", "network", "ants 2")


# -- the table ------------------------------------------------------------------------------------------------------------
def test_the_table_adds_up_and_is_sorted_by_points_then_difference_then_goals():
    rows = table(["a", "b", "c", "d"], [(0, 1, (2, 1)), (2, 0, (0, 0)), (1, 2, (3, 0)), (3, 1, (1, 2)), (0, 3, (1, 4)),
                                        (2, 3, (1, 1))])
    assert [(row.team, row.points) for row in rows] == [("b", 6), ("d", 4), ("a", 4), ("c", 2)]
    a = next(row for row in rows if row.team == "a")
    assert a[1:] == (3, 1, 1, 1, 3, 5) and a.difference == -2
    assert sum(row.played for row in rows) == 12 and sum(row.difference for row in rows) == 0
    assert sum(row.won for row in rows) == sum(row.lost for row in rows) == 4
    level = table(["x", "y", "z"], [(0, 1, (1, 0)), (1, 2, (3, 2)), (2, 0, (2, 1))])
    assert [row.team for row in level] == ["z", "y", "x"]  # 3 points and no difference each: z has shot four, y three, x two


def test_a_tournament_without_matches_has_a_table_of_zeros():
    assert [tuple(row[1:]) for row in table(["a", "b"], [])] == [(0,) * 6] * 2


# -- playing --------------------------------------------------------------------------------------------------------------
def test_a_tournament_is_played_stored_and_read_again(cup, three):
    contest, heard = cup
    assert sorted(number for number, _ in heard) == [0, 1, 2] and not contest.left and not contest.failed
    again = Tournament(contest.folder, three)
    assert again.results == contest.results and again.table == contest.table
    assert again.play(2, progress=lambda *_: pytest.fail("there was nothing left to play"))
    assert read_settings(contest.folder) == three
    stored = json.loads((contest.folder / "table.json").read_text())
    assert stored["left"] == 0 and [row["team"] for row in stored["table"]] == [row.team for row in contest.table]
    for fixture in contest.fixtures:
        result = contest.results[fixture.number]
        assert result["seed"] == fixture.seed and result["troubles"] == []


def test_the_order_and_the_number_of_processes_change_no_result(cup, resumed):
    ends = [{number: (result["score"], result["calls"], result["statistics"]) for number, result in contest.results.items()}
            for contest in (cup[0], resumed[0])]
    assert ends[0] == ends[1] and len(ends[0]) == 3


def test_after_an_interruption_only_the_rest_is_played(resumed):
    contest, played, left, heard = resumed
    assert len(played) == 1 and left == (2, 2)
    assert len(heard) == 2 and not contest.left
    assert all((contest.folder / "matches" / file).read_bytes() == text for file, text in played.items())


def test_a_damaged_or_foreign_result_is_played_again(cup, three, tmp_path):
    contest = Tournament(shutil.copytree(cup[0].folder, tmp_path / "cup"), three)
    file = contest.folder / "matches" / f"{contest.fixtures[0].name}.json"
    whole = json.loads(file.read_text())
    for text in ('{"score": [1', "[]", json.dumps({**whole, "seed": 1}), json.dumps({**whole, "score": [1, -1]}),
                 json.dumps({**whole, "over": False}), json.dumps({**whole, "blue": "somebody"}),
                 *(json.dumps({**whole, "failures": wrong}) for wrong in (None, [], {"red": "x"}, {"blue": 7}))):
        file.write_text(text)
        assert read_result(contest.folder, contest.labels, contest.fixtures[0]) is None
        assert [each.number for each in Tournament(contest.folder, three).left] == [0]


def test_a_team_whose_program_dies_has_still_played(tmp_path, team):
    dies, lives, cup = team("dies", before="os.abort()"), team("lives"), tmp_path / "cup"
    said = command(dies, lives, "--half", 0.5, "--halves", 1, "--players", 2, "--out", cup)
    contest = Tournament(cup, read_settings(cup))
    result, = contest.results.values()
    assert any(trouble["who"] == "dies" for trouble in result["troubles"])
    assert all(row.played == 1 for row in contest.table)
    colour = "blue" if result["blue"] == "dies" else "yellow"
    assert said.exit_code == 1 and (f"formiga: match 0000: dies ({colour}) did not play to the end: its program ended "
                                    "(signal 6, aborted)") in said.stderr


def test_a_program_that_cannot_start_comes_to_no_result_and_the_exit_code_tells(tmp_path, team):
    broken = tmp_path / "broken.py"
    broken.write_text("import a_module_that_there_is_not\n")
    said = command(broken, team("lives"), "--half", 0.5, "--halves", 1, "--players", 2, "--out", tmp_path / "cup")
    assert said.exit_code == 2 and "0 of 1 matches played" in said.stdout
    assert said.stderr.endswith("could not start: its program ended (exit code 1: ModuleNotFoundError: No module named "
                                "'a_module_that_there_is_not').\n") and "formiga: match 0000 came to no result: " in said.stderr


def test_a_match_that_cannot_be_played_is_said_and_the_others_are_played(tmp_path, team):
    """A program that is gone when its match begins."""
    lost = team("lost")
    contest = Tournament(tmp_path / "cup", Settings((team("one"), lost, team("three")), 1, False, 0, GAME))
    os.remove(lost)
    assert contest.play(1)
    assert len(contest.results) == 1 and len(contest.failed) == 2 and len(contest.left) == 2
    assert all("lost" in why for why in contest.failed.values())


def test_a_process_that_is_killed_costs_its_match_and_no_other(tmp_path, team):
    """A team that kills what started it."""
    kills = team("kills", before="os.kill(os.getppid(), 9)")
    contest = Tournament(tmp_path / "cup", Settings((kills, team("one"), team("two")), 1, False, 0, GAME))
    assert contest.play(1)
    assert len(contest.results) == 1 and len(contest.failed) == 2
    assert set(contest.failed.values()) == {"its process ended (signal 9)"}


def test_replays_are_recorded_if_asked_for(cup):
    contest, _ = cup
    recording = read_recording(contest.folder / "replays" / "0000.parquet")
    assert recording.ending == "complete" and recording.world.pitch is not None
    assert recording.seed == contest.fixtures[0].seed


# -- folders --------------------------------------------------------------------------------------------------------------
def test_a_folder_with_another_tournament_or_with_anything_else_is_left_alone(tmp_path):
    Tournament(tmp_path / "cup", Settings(("chaser", "colony"), 1))
    with pytest.raises(TournamentError, match=r"another tournament \(rounds differ\)"):
        Tournament(tmp_path / "cup", Settings(("chaser", "colony"), 2))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("")
    with pytest.raises(TournamentError, match="is not empty, and has no tournament"):
        Tournament(tmp_path / "mine", Settings(("chaser", "colony")))
    (tmp_path / "file").write_text("")
    with pytest.raises(TournamentError, match="cannot be made a folder"):
        Tournament(tmp_path / "file", Settings(("chaser", "colony")))
    (tmp_path / "cup" / "tournament.json").write_text("{")
    with pytest.raises(TournamentError, match="cannot be read"):
        Tournament(tmp_path / "cup", Settings(("chaser", "colony")))


def test_one_team_is_no_tournament():
    with pytest.raises(TournamentError, match="1 teams make no tournament"):
        Settings(("chaser",))


# -- the command ------------------------------------------------------------------------------------------------------------
def command(*arguments):
    """`formiga tournament`, in this process."""
    return CliRunner().invoke(cli, ["tournament", *map(str, arguments)], prog_name="formiga")


def formiga(*arguments):
    return subprocess.Popen([sys.executable, "-m", "formiga", "tournament", *map(str, arguments)], cwd=ROOT, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)


def busy(process):
    """Wait until matches are being played, and give all their processes."""
    end = time.monotonic() + 4 * SLOW
    while len(found := children(process.pid)) < 6 and time.monotonic() < end:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    return found


def test_a_tournament_on_the_old_model_under_given_names_says_both_in_its_files_and_its_table(tmp_path, team):
    teams = team("ants", 0.5), team("bees", 0.3)
    result = command(*teams, "--half", 0.1, "--halves", 1, "--players", 1, "--collisions", "circle", "--names", "Lisbon,Porto",
                     "--out", tmp_path / "cup")
    assert result.exit_code == 0, result.stderr
    assert "Lisbon" in result.stdout and "ants" not in result.stdout and "robots collide as circles" in result.stdout
    stored = json.loads((tmp_path / "cup" / "matches" / "0000.json").read_text())
    assert {stored["blue"], stored["yellow"]} == {"Lisbon", "Porto"} and stored["collisions"] == "circle"
    for wrong, words in ((("--names", "a,b,c"), "3 names (a, b, c) for 2 teams"),
                         (("--collisions", "disc"), "no collisions 'disc'")):
        refused = command(*teams, *wrong, "--out", tmp_path / "other")
        assert refused.exit_code == 2 and words in refused.stderr and not (tmp_path / "other").exists()


@pytest.mark.slow
def test_seven_teams_play_unattended_and_the_command_prints_a_table(tmp_path, team):
    teams = [team(f"team{number}", 0.1 + 0.1 * number) for number in range(7)]
    process = formiga(*teams, "--half", 0.5, "--halves", 1, "--players", 2, "--jobs", 2, "--out", tmp_path / "cup")
    stdout, stderr = process.communicate(timeout=10 * SLOW)
    assert process.returncode == 0, stderr
    assert "21 of 21 matches played" in stdout and all(f"team{number}" in stdout for number in range(7))
    assert len(os.listdir(tmp_path / "cup" / "matches")) == 21
    assert stderr.count(" of 21   ") == 21


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_tournament_leaves_no_process_and_no_half_result_and_goes_on(tmp_path, team, number):
    """SIGKILL: not even then does a match or a team outlive it."""
    arguments = (team("one"), team("two"), team("three"), "--halves", 1, "--players", 2, "--jobs", 2, "--out", tmp_path / "cup")
    process = formiga(*arguments, "--half", 100000)
    found = busy(process)
    process.send_signal(number)
    stderr = process.communicate(timeout=SLOW)[1]
    assert all_gone(found)
    assert os.listdir(tmp_path / "cup" / "matches") == []
    if number != signal.SIGKILL:
        assert process.returncode == 128 + number and "Traceback" not in stderr
        assert "formiga: interrupted; 3 of 3 matches are left. The same command goes on." in stderr
    settings = json.loads((tmp_path / "cup" / "tournament.json").read_text())
    settings["match"]["half_seconds"] = 0.5  # as long as a test may take
    (tmp_path / "cup" / "tournament.json").write_text(json.dumps(settings))
    process = formiga(*arguments, "--half", 0.5)
    stdout, stderr = process.communicate(timeout=4 * SLOW)
    assert process.returncode == 0 and "3 of 3 matches played" in stdout, stderr
