"""What a bench prints and writes. Speeds are never asserted: they are the machine's."""

from __future__ import annotations

import json
import os
import shutil
import sys

import pytest

from formiga import benchmarks
from formiga.benchmarks import (
    avoid24,
    browser,
    comm,
    cpp,
    differ,
    envs,
    locate,
    measure,
    own,
    remote,
    rollout,
    rosbridge,
    s3,
    scanner,
    soccer,
    swarmod,
    view,
)
from formiga.errors import FormigaError, MissingExtra
from formiga.world.elements import registered

FIELDS = {"robots", "worlds", "robot_steps_per_s", "contact_rate", "cpp_ratio"}
ROLLOUT_FIELDS = {"robots", "genotypes", "trials", "steps", "seconds", "threads", "robot_steps_per_s", "cpp_ratio", "agrees",
                  "crash_rate"}


@pytest.fixture
def tiny(monkeypatch):
    """Benches of a blink."""
    quick = measure.measure
    for bench in (avoid24, swarmod):
        monkeypatch.setattr(bench, "SIZES", ((1, 8), (2, 4)))
        monkeypatch.setattr(bench, "measure",
                            lambda world, worlds, blocks: quick(world, worlds, blocks=2, block=1e-4, warm_up=5))
    monkeypatch.setattr(comm, "SIZES", ((1, 8), (2, 4)))
    monkeypatch.setattr(comm, "measure", lambda world, worlds, **more: quick(
        world, worlds, **more | {"blocks": 2, "block": 1e-4, "warm_up": 5}))
    starts = {"cold_start_s": 9.0, "cached_start_s": 1.0, "memory_mb": 200.0}
    monkeypatch.setattr(avoid24, "start_twice", lambda: starts)
    for name, value in {"ROBOTS": (1, 3), "GENOTYPES": 3, "TRIALS": 2, "STEPS": 20, "QUICK": {3: 1}}.items():
        monkeypatch.setattr(rollout, name, value)
    for name, value in {"WORLDS": (1, 5), "BLOCK": 1e-4, "BLOCKS": 2}.items():
        monkeypatch.setattr(envs, name, value)
    for name, value in {"WORLDS": (1, 5), "BLOCK": 1e-4, "BLOCKS": 2, "WARM_UP": 3}.items():
        monkeypatch.setattr(soccer, name, value)
    sizes = {"5.1": (1, 3), "5.2": (1, 4), "5.3": (2,), "5.4": (2,)}
    for name, value in {"SIZES": sizes, "BUDGET": 1e-4, "SEEDS": 2, "FULL_SEEDS": 2, "FRAMES": 30}.items():
        monkeypatch.setattr(s3, name, value)
    for name, value in {"SIZES": ((5, 20, 1, 0.0), (7, 400, 3, 0.01)), "BLOCK": 1e-4}.items():
        monkeypatch.setattr(scanner, name, value)
    for name, value in {"ROBOTS": (6,), "BLOCK": 0.3, "ROUNDS": 1, "SETTLE": 0.1}.items():
        monkeypatch.setattr(view, name, value)
    for name, value in {"ROBOTS": 60, "SECONDS": 1e-4}.items():
        monkeypatch.setattr(own, name, value)
    for name, value in {"WORLDS": 3, "SECONDS": 0.3}.items():
        monkeypatch.setattr(differ, name, value)
    for name, value in {"BLOCKS": 2, "BLOCK": 20}.items():
        monkeypatch.setattr(remote, name, value)
    for name, value in {"ROBOTS": 2, "SECONDS": 0.4, "WARM_UP": 0.1}.items():
        monkeypatch.setattr(rosbridge, name, value)
    for name, value in {"PARTICLES": 50, "BLOCKS": 1, "SECONDS": 0.5}.items():
        monkeypatch.setattr(locate, name, value)
    monkeypatch.setattr(browser, "find", lambda: None)


def test_programs_outside_are_measured_by_memory_by_udp_and_through_a_rosbridge(tiny, capsys):
    rows = remote.run()["rows"]
    languages = ["Python", "C"] if shutil.which("cc") else ["Python"]
    assert [(row["transport"], row["client"], row["wanted"]) for row in rows[:-1]] == [
        each for language in languages for each in (("memory", language, 20_000), ("udp", language, 5_000))]
    assert all(row["round_trips_per_s"] > 0.0 and row["steps_per_s"] >= row["median_steps_per_s"] > 0.0 for row in rows[:-1])
    bridge = rows[-1]
    assert (bridge["transport"], bridge["robots"], bridge["beams"], bridge["rate"]) == ("rosbridge", 2, 181, 20.0)
    assert bridge["messages_per_s"] > 0.0 and bridge["core"] > 0.0 and bridge["target"] == 0.2
    said = capsys.readouterr().out
    assert "Round trips" in said and "rosbridge: scans" in said


def test_the_parts_of_localization_are_measured_and_two_of_them_against_cpp(tiny, capsys):
    rows = {row["what"]: row for row in locate.run()["rows"]}
    assert len(rows) == 8 and all(row["per_s"] > 0.0 and row["seconds"] > 0.0 for row in rows.values())
    compared = {what for what, row in rows.items() if row["cpp_ratio"] is not None}
    assert compared == ({"particle-beams, likelihood field", "rays through a grid"} if cpp.compiler() else set())
    assert all(rows[what]["agrees"] for what in compared)
    assert "6 rovers" in rows["runs of R01"]["note"] and "locate" in capsys.readouterr().out


def test_worlds_that_differ_are_measured_against_as_many_copies(tiny, tmp_path, capsys):
    benchmarks.run(["differ"], str(tmp_path / "out.json"))
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert [row["what"] for row in rows] == ["radii of an obstacle", "gains of the controller"]
    assert all(row["worlds"] == 3 and row["ratio"] == pytest.approx(row["differing"] / row["copies"]) for row in rows)


def test_own_sensors_are_compared_in_all_their_forms_and_leave_no_elements_behind(tiny, tmp_path, capsys):
    known = set(registered())
    benchmarks.run(["own"], str(tmp_path / "out.json"))
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert [(row["form"], row["sight"]) for row in rows] == [
        ("ours", "none"), ("kernel", "none"), ("blocks", "none"), ("numpy", "none"),
        ("ours", "walls"), ("kernel", "walls"), ("blocks", "walls")]
    assert all(row["robots"] == 60 and row["robot_steps_per_s"] > 0 and row["ratio"] > 0 for row in rows)
    assert set(registered()) == known


@pytest.fixture
def no_vmas(monkeypatch):
    """As on a machine without VMAS, whatever this one has."""
    monkeypatch.setitem(sys.modules, "vmas", None)
    monkeypatch.delitem(sys.modules, "formiga.benchmarks.vmas_avoid", raising=False)


@pytest.mark.parametrize("name", ["avoid24", "swarmod"])
def test_a_bench_writes_one_object_with_rows_and_the_machine(name, tiny, tmp_path, capsys):
    benchmarks.run([name], str(tmp_path / "out.json"))
    result = json.loads((tmp_path / "out.json").read_text())
    assert result["bench"] == name
    assert [(row["worlds"], row["robots"]) for row in result["rows"]] == [(1, 8), (2, 4)]
    for row in result["rows"]:
        assert row.keys() >= FIELDS
        assert row["robot_steps_per_s"] > 0 and 0 <= row["contact_rate"] <= 1
        assert row["agrees"] is (True if cpp.compiler() else None)
    assert result["machine"].keys() == {"cpu", "cores", "python", "numpy", "numba", "compiler"}
    assert [file.name for file in tmp_path.iterdir()] == ["out.json"]
    assert name in capsys.readouterr().out


def test_the_bench_of_messages_has_a_row_without_and_one_with_obstacles(tiny, monkeypatch, capsys):
    for name, value in (("FEW", 4), ("CROWD", 8), ("SIZES", ((1, 4), (1, 8)))):
        monkeypatch.setattr(comm, name, value)
    result = comm.run()
    assert [(row["robots"], row["obstacles"]) for row in result["rows"]] == [(4, 0), (4, 1), (8, 0), (8, 2)]
    for row in result["rows"]:
        assert row.keys() >= FIELDS and row["robot_steps_per_s"] > 0 and 0.0 < row["heard"] <= 8.0 and row["dropped"] >= 0.0
        assert row["agrees"] is (True if cpp.compiler() else None)
    assert all(growth > 0.0 for growth in result["summary"].values()) and len(result["summary"]) == 2
    said = capsys.readouterr().out
    assert "comm" in said and "without obstacles" in said and "with obstacles" in said


def test_the_rollout_bench_has_a_row_for_one_thread_and_for_two(tiny, capsys):
    result = rollout.run()
    assert [(row["robots"], row["threads"]) for row in result["rows"]] == [(1, 1), (1, 2), (3, 1), (3, 2)]
    for row in result["rows"]:
        assert row.keys() >= ROLLOUT_FIELDS
        trials = {1: 2, 3: 1}[row["robots"]]  # of 3 robots, the quick form runs only one trial
        assert (row["genotypes"], row["trials"], row["steps"]) == (3, trials, 20)
        assert row["seconds"] * row["robot_steps_per_s"] == pytest.approx(row["robots"] * 3 * trials * 20)
        assert row["generation_s"] == pytest.approx(row["seconds"] * 2 / trials)
        assert 0 <= row["crash_rate"] <= 1
        compared = cpp.compiler() is not None and row["threads"] == 1
        assert row["agrees"] is (True if compared else None)
        assert (row["cpp_ratio"] is not None) is compared
    said = capsys.readouterr().out
    for words in ("1 robot, two threads: ", "3 robots: 2 x the time of 1 trial;", f"This machine has {os.cpu_count()} core"):
        assert words in said


def test_the_full_rollout_bench_runs_all_trials(tiny):
    assert all(row["trials"] == 2 and row["generation_s"] == row["seconds"] for row in rollout.run(full=True)["rows"])


def test_without_a_compiler_the_rollout_bench_has_no_ratio(tiny, monkeypatch, capsys):
    monkeypatch.setattr(cpp, "compiler", lambda: None)
    rows = rollout.run()["rows"]
    assert all(row["cpp_ratio"] is None and row["agrees"] is None for row in rows)
    assert "no g++" in capsys.readouterr().out


def test_without_vmas_the_environments_are_measured_alone(tiny, no_vmas, capsys):
    rows = envs.run()["rows"]
    assert [(row["worlds"], row["agents"]) for row in rows] == [(1, 4), (5, 4)]
    assert all(row["ours"] > 0 and row["vmas"] is None and row["ratio"] is None for row in rows)
    said = capsys.readouterr().out
    assert said.count("VMAS is not installed: pip install 'formiga[bench]'") == 1
    assert "g++" not in said


def test_without_gymnasium_there_is_a_line_and_no_figure(tiny, no_vmas, monkeypatch, capsys):
    def missing(*_, **__):
        raise MissingExtra("learning environments need Gymnasium")

    monkeypatch.setattr("formiga.make_vector_env", missing, raising=False)
    assert all(row["ours"] is None for row in envs.run()["rows"])
    assert "need Gymnasium" in capsys.readouterr().out


def test_with_vmas_both_are_measured(tiny):
    pytest.importorskip("vmas")
    for row in envs.run()["rows"]:
        assert row["ratio"] == pytest.approx(row["ours"] / row["vmas"])


def test_scanners_that_walk_read_what_those_read_that_try_every_wall(tiny, capsys):
    rows = scanner.run()["rows"]
    assert [(row["beams"], row["walls"], row["robots"]) for row in rows] == [(5, 20, 1), (7, 400, 3)]
    for row in rows:
        assert row["agrees"] and row["robot_steps_per_s"] > 0
        assert row["ratio"] == pytest.approx(row["robot_steps_per_s"] / row["every_wall_robot_steps_per_s"])
    assert "same" in capsys.readouterr().out


SOCCER_FIELDS = {"what", "worlds", "agents", "world_steps_per_s", "target", "contact_rate", "vmas_world_steps_per_s",
                 "vmas_ratio", "kept", "cores"}


def test_without_vmas_soccer_is_measured_alone(tiny, no_vmas, capsys):
    rows = soccer.run()["rows"]
    assert [(row["what"], row["worlds"]) for row in rows] == [("lab", 1), ("env", 1), ("lab", 5), ("env", 5)]
    for row in rows:
        assert row.keys() >= SOCCER_FIELDS
        assert row["world_steps_per_s"] > 0 and row["vmas_ratio"] is None and row["vmas_world_steps_per_s"] is None
        assert (row["contact_rate"] is None) == (row["what"] == "env")
    said = capsys.readouterr().out
    assert said.count("VMAS is not installed: pip install 'formiga[bench]'") == 1 and "g++" not in said


def test_a_promise_of_speed_is_judged_and_not_only_printed():
    assert soccer.kept((21_000.0, 20_000), (None, None)) is True and soccer.kept((19_000.0, 20_000), (4.0, 3)) is False
    assert soccer.kept((21_000.0, 20_000), (2.0, 3)) is False and soccer.kept((9.0, None), (None, 3)) is None


def test_without_gymnasium_soccer_has_its_laboratory(tiny, no_vmas, monkeypatch, capsys):
    def missing(*_, **__):
        raise MissingExtra("learning environments need Gymnasium")

    for name in ("make_env", "make_vector_env"):
        monkeypatch.setattr(f"formiga.{name}", missing, raising=False)
    assert [row["world_steps_per_s"] is None for row in soccer.run()["rows"]] == [False, True, False, True]
    assert "need Gymnasium" in capsys.readouterr().out


def test_with_vmas_soccer_has_a_ratio(tiny):
    pytest.importorskip("vmas")
    for row in soccer.run()["rows"]:
        assert row["vmas_ratio"] == pytest.approx(row["world_steps_per_s"] / row["vmas_world_steps_per_s"])


def test_every_block_of_soccer_is_the_same_game(tiny):
    side = soccer.Laboratory(3)
    games = []
    for _ in range(2):
        soccer._block(side, 60)
        games.append((side.lab.state.position.copy(), side.lab.state.movables.copy(), side.contacts()))
    (one, ball, contacts), (other, again, rate) = games
    assert (one == other).all() and (ball == again).all() and contacts == rate > 0
    assert (one[0] != one[1]).any()  # but no two worlds play the same


S3_FIELDS = {"table", "robots", "technique", "base", "seconds", "ratio", "published", "spread", "seeds", "frames"}


def test_the_tables_of_the_swarm_bot_simulator_have_the_thesis_s_columns(tiny, capsys):
    result = s3.run()
    cells = {(row["table"], row["robots"], row["technique"]): row for row in result["rows"] if row["base"] == "sliding"}
    wheels = {(row["table"], row["robots"], row["technique"]) for row in result["rows"] if row["base"] == "wheels"}
    assert wheels == {cell for cell in cells if cell[0] in ("5.1", "5.2")}
    assert set(cells) == {
        *(("5.1", n, name) for n in (1, 3) for name in s3.SOLVERS), *(("5.2", n, name) for n in (1, 4) for name in s3.SOLVERS),
        *(("5.3", 2, name) for name in s3.TECHNIQUES), *(("5.4", 2, name) for name in s3.WAVES)}
    for row in result["rows"]:
        assert row.keys() >= S3_FIELDS and row["failed"] is None and 1 <= row["frames"] <= 30 and row["seeds"] == 2
        assert row["seconds"] * row["ratio"] == pytest.approx(3.0)  # 30 frames of 0.1 s
    assert cells["5.1", 1, "direct"]["published"] == 0.08638 and cells["5.1", 1, "auto"]["published"] is None
    assert cells["5.3", 2, "shadow"]["published"] == 0.17658 and cells["5.4", 2, "light"]["published"] == 0.35754
    said = capsys.readouterr().out
    for words in ("5.1: free robots", "on wheels", "worldstep", "quickstep", "5.3: proximity", "2 seeds", "of 30 frames"):
        assert words in said


def test_the_full_tables_run_all_frames(tiny):
    assert all(row["frames"] == 30 for row in s3.run(full=True)["rows"])


@pytest.mark.parametrize("robots", [2, 5, 9, 12])
def test_in_a_formation_everybody_but_the_last_grips_the_next(robots):
    world, _ = s3.joined(robots, "auto")
    simulation = measure.Simulation(world)
    s3.grip(simulation)
    s3.advance(simulation, s3.drawn(0, robots), 0, 20)
    grips = simulation.state.grips[0]
    assert (grips[:-1, 0] > 0).all() and grips[-1, 0] == 0 and (grips[:-1, 1] == range(1, robots)).all()


def test_robots_that_look_and_listen_stand_still_and_see_something():
    for world, drives in (s3.looking(16, "shadow"), s3.listening(16, "light"), s3.listening(16, "sound")):
        simulation = measure.Simulation(world)
        before = simulation.state.position.copy()
        s3.advance(simulation, 0.0 * s3.drawn(0, 16), 0, 20)
        assert not drives and abs(simulation.state.position - before).max() < 1e-6
        assert max(reading.max() for reading in simulation.readings["swarm"].values()) > 0.1


def test_a_formation_that_explodes_has_no_time(monkeypatch):
    def broken(simulation, speeds, first, count):
        simulation.state.done[:] = True

    monkeypatch.setattr(s3, "advance", broken)
    row = s3.cell("5.2", 2, "iterative", 2, 1e-4)
    assert row["failed"] and row["seconds"] is None and row["ratio"] is None
    assert s3.exponent([row], "5.2", "iterative") is None and s3._seconds(row) == "explodes"


def test_growth_and_targets_are_read_from_the_rows():
    rows = [{"table": "5.1", "robots": n, "technique": "auto", "base": "sliding", "seconds": 0.01 * n**1.1,
             "ratio": 100 / (0.01 * n**1.1), "failed": None} for n in (8, 16, 32, 128)]
    assert s3.exponent(rows, "5.1", "auto") == pytest.approx(1.1)
    goals = {goal.what: goal for goal in s3.targets(rows)}
    assert goals["16 free robots, auto: ratio"].met and goals["free, auto: exponent of growth from 16 robots on"].met
    assert goals["25 connected robots, auto: ratio"].met is None


def test_all_benches_write_a_list(tiny, no_vmas, tmp_path):
    benchmarks.run([], str(tmp_path / "out.json"))
    assert [result["bench"] for result in json.loads((tmp_path / "out.json").read_text())] == list(benchmarks.BENCHES)


def test_without_a_compiler_the_ratio_is_null_and_a_line_says_so(tiny, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cpp, "compiler", lambda: None)
    benchmarks.run(["swarmod"], str(tmp_path / "out.json"))
    assert all(row["cpp_ratio"] is None for row in json.loads((tmp_path / "out.json").read_text())["rows"])
    assert "no g++" in capsys.readouterr().out


def test_an_unknown_bench_is_refused_before_anything_runs(tmp_path):
    with pytest.raises(FormigaError, match=r"no bench 'avoid42'\. Did you mean 'avoid24'\?"):
        benchmarks.run(["swarmod", "avoid42"], str(tmp_path / "out.json"))
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_refused_before_anything_runs(tmp_path):
    with pytest.raises(FormigaError, match="there is no folder"):
        benchmarks.run(["avoid24"], str(tmp_path / "absent" / "out.json"))


def test_a_fresh_process_takes_its_first_step_and_tells_its_memory(tmp_path):
    seconds, memory = avoid24.start(16, None)
    assert seconds > 0 and 20 < memory < 5000
