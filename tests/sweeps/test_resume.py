"""A sweep in a folder goes on where it was left, whatever ended it, and never mixes with another one."""

import json
import os
import resource
import signal
import subprocess
import sys

import pytest

from formiga.sweeps import SweepError, run, sweep
from tests.sweeps.conftest import WORLD, begun

GRID = {"robots": [1, 2, 3], "side": [1, 1.5]}
SEEDS = 4


def files(folder):
    return {name: (folder / name).read_bytes() for name in sorted(os.listdir(folder))}


def table(folder):
    return (folder / "sweep.parquet").read_bytes()


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The bytes of the table that came without an interruption."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "tiny.xml").write_text(WORLD)
    sweep(folder / "tiny.xml", GRID, seeds=SEEDS, out=folder / "out")
    return table(folder / "out")


@pytest.fixture
def stopped(tiny, tmp_path):
    """A folder in which the sweep was ended after some of its runs."""
    done = sweep(tiny, GRID, seeds=SEEDS, out=tmp_path / "out", progress=lambda done, total: done >= 12)
    assert done.interrupted and 12 <= len(done.table) < 24
    assert sorted(os.listdir(tmp_path / "out")) == ["runs.jsonl", "sweep.json"]
    return tmp_path / "out"


@pytest.fixture
def undrawn(monkeypatch):
    """No figure is drawn: that takes longer than the rest."""
    monkeypatch.setattr(run.tables, "draw", lambda table, path: path.write_bytes(b"a picture"))


# -- going on ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_sweep_that_was_ended_goes_on_with_the_runs_that_are_lacking(jobs, stopped, tiny, uninterrupted):
    seen = []
    sweep(tiny, GRID, seeds=SEEDS, out=stopped, jobs=jobs, progress=lambda done, total: seen.append((done, total)) and False)
    assert seen[0] == (12, 24) and seen[-1] == (24, 24) and table(stopped) == uninterrupted


def test_an_interrupt_in_the_middle_of_a_task_drops_that_task_alone(tiny, tmp_path, uninterrupted, monkeypatch):
    def interrupted(task, stop):
        if task.point == 3:
            raise KeyboardInterrupt
        return perform(task, stop)

    perform = run.perform
    monkeypatch.setattr(run, "perform", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sweep(tiny, GRID, seeds=SEEDS, out=tmp_path / "out")
    assert sorted(os.listdir(tmp_path / "out")) == ["runs.jsonl", "sweep.json"]
    monkeypatch.undo()
    sweep(tiny, GRID, seeds=SEEDS, out=tmp_path / "out")
    assert table(tmp_path / "out") == uninterrupted


def test_wherever_a_kill_cuts_the_journal_the_sweep_goes_on_to_the_same_table(undrawn, stopped, tiny, uninterrupted):
    journal = (stopped / "runs.jsonl").read_bytes()
    last = len(journal[:-1].rpartition(b"\n")[0]) + 1
    for cut in (0, 1, 8, 9, 10, last - 1, last, last + 3, len(journal) - 1):
        (stopped / "runs.jsonl").write_bytes(journal[:cut])
        said = []
        sweep(tiny, GRID, seeds=SEEDS, out=stopped, say=said.append)
        assert table(stopped) == uninterrupted and said == []
        lines = (stopped / "runs.jsonl").read_bytes().splitlines()
        assert len(lines) == 6 and len({line[9:30] for line in lines}) == 6


def test_kill_9_loses_what_is_under_way_and_nothing_else(undrawn, start, tiny, tmp_path):
    out, whole = tmp_path / "out", tmp_path / "whole"
    process = start("sweep", tiny, "--set", "robots=1,2,3", "--set", "side=1,1.5", "--seeds", SEEDS, "--out", out, "--jobs", 1,
                    "--seconds", 2000, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    begun(process, out)
    process.kill()
    process.wait()
    killed = process.returncode == -signal.SIGKILL       # else it was done before
    assert not killed or not (out / "sweep.parquet").exists()
    kept = (out / "runs.jsonl").read_bytes().count(b"\n")
    done = []
    sweep(tiny, GRID, seeds=SEEDS, seconds=2000.0, out=out, progress=lambda n, total: done.append(n) and False)
    assert not killed or done[0] == kept * SEEDS > 0
    sweep(tiny, GRID, seeds=SEEDS, seconds=2000.0, out=whole)
    assert table(out) == table(whole)


def test_a_damaged_line_is_said_and_run_again(undrawn, stopped, tiny, uninterrupted):
    lines = (stopped / "runs.jsonl").read_bytes().splitlines(keepends=True)
    for number, change in enumerate((lambda line: line.replace(b"3.0", b"3.1", 1), lambda line: b"\xff" + line[1:],
                                     lambda line: b"garbage\n")):
        broken = [*lines[:1], change(lines[1]), *lines[2:]]
        assert broken != lines
        (stopped / "runs.jsonl").write_bytes(b"".join(broken))
        said = []
        sweep(tiny, GRID, seeds=SEEDS, out=stopped, say=said.append)
        assert len(said) == 1 and "runs.jsonl: a damaged line; what was there is run again" in said[0], number
        assert table(stopped) == uninterrupted
        sweep(tiny, GRID, seeds=SEEDS, out=stopped, say=said.append)
        assert len(said) == 1


def test_a_line_with_the_right_checksum_and_nonsense_in_it_is_damaged_too(undrawn, stopped, tiny, uninterrupted):
    import zlib

    good = (stopped / "runs.jsonl").read_bytes()
    for body in (b"[]", b"{}", b"1", b'[["1","1"],0,[[1]],[3.0],[0]]', b'[["1","1"],-1,[[1,1]],[3.0],[0]]', b"[" * 100_000,
                 b'[["1","1"],0,[[1,1]],[NaN],[0]]', b'[["1","1"],0,[[1,1]],[3.0],[9]]', b'[["1"],0,[[1,1]],[3.0],[0]]',
                 b'[[[],{}],0,[[1,1]],[3.0],[0]]', b'[["1","1"],0,[[1e999,1' + b"0" * 400 + b"]],[3.0],[0]]"):
        (stopped / "runs.jsonl").write_bytes(good + b"%08x %s\n" % (zlib.crc32(body), body))
        said = []
        sweep(tiny, GRID, seeds=SEEDS, out=stopped, say=said.append)
        assert len(said) == 1 and table(stopped) == uninterrupted, body[:60]


def test_a_sweep_that_is_done_returns_at_once_and_mends_its_table(stopped, tiny, uninterrupted, monkeypatch):
    sweep(tiny, GRID, seeds=SEEDS, out=stopped)
    picture = (stopped / "sweep.png").stat().st_mtime_ns
    monkeypatch.setattr(run, "perform", None)      # nothing is run
    assert len(sweep(tiny, GRID, seeds=SEEDS, out=stopped, jobs=2, cluster="tcp://127.0.0.1:9").table) == 24
    assert (stopped / "sweep.png").stat().st_mtime_ns == picture
    (stopped / "sweep.parquet").write_bytes(uninterrupted[:-10])
    sweep(tiny, GRID, seeds=SEEDS, out=stopped)
    assert table(stopped) == uninterrupted


def test_more_values_and_more_seeds_are_added_to_what_is_there(tiny, tmp_path, uninterrupted):
    out = tmp_path / "out"
    sweep(tiny, {"robots": [3, 1], "side": [1]}, seeds=2, out=out)
    with pytest.raises(KeyboardInterrupt):         # the table of fewer runs is gone as soon as there are more
        def once(done, total):
            if done > 4:
                raise KeyboardInterrupt
        sweep(tiny, {"robots": [1, 2, 3], "side": [1]}, seeds=2, out=out, progress=once)
    assert sorted(os.listdir(out)) == ["runs.jsonl", "sweep.json"]
    done = []
    sweep(tiny, GRID, seeds=SEEDS, out=out, progress=lambda n, total: done.append(n) and False)
    assert done[0] == 6 and table(out) == uninterrupted


def test_a_point_that_fails_leaves_the_others_and_the_folder_does_not_insist_on_it(tiny, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(SweepError, match=r"with robots=500: .*do not fit"):
        sweep(tiny, {"robots": [1, 500]}, seeds=2, out=out)
    assert len(sweep(tiny, {"robots": [1, 5]}, seeds=2, out=out).table) == 4


# -- another sweep ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("change, message", [
    ({"parameters": {"robots": [1, 2], "side": [1, 1.5]}}, "it has runs with robots=3, which are not asked for"),
    ({"parameters": {"robots": [1, 2, 3]}}, "its parameters are robots, side, not robots"), ({"seeds": 3}, "runs with 4 seeds"),
    ({"seed": 8}, r"--seed differs \(0, not 8\)"), ({"seconds": 2.0}, r"--seconds differs \(default, not 2.0\)"),
    ({"engine": "planar"}, r"--engine differs \(default, not planar\)"),
    ({"measure": "crashes"}, r"--measure differ \(fitness, contact_rate, not crashes\)"), ({"world": "avoid"}, "not 'avoid'"),
])
def test_another_sweep_is_refused_with_what_differs_and_changes_nothing(change, message, tiny, tmp_path):
    out = tmp_path / "out"
    asked = {"world": tiny, "parameters": GRID, "seeds": SEEDS, "out": out}
    sweep(**asked)
    before = files(out)
    if change.get("world"):
        change = {**change, "parameters": {}}
    with pytest.raises(SweepError, match=message) as refused:
        sweep(**{**asked, **change})
    assert "choose another folder" in str(refused.value) and "\n" not in str(refused.value) and files(out) == before


def test_a_world_that_was_edited_is_another_but_a_comment_is_nothing(stopped, tiny, uninterrupted):
    tiny.write_text(WORLD.replace('depth="${side}"', 'depth="${side + 0.1}"'))
    with pytest.raises(SweepError, match="the file of its world 'tiny' has changed"):
        sweep(tiny, GRID, seeds=SEEDS, out=stopped)
    tiny.write_text(WORLD.replace("<arena", "<!-- square --><arena"))
    sweep(tiny, GRID, seeds=SEEDS, out=stopped)
    assert table(stopped) == uninterrupted


def test_a_world_that_was_edited_is_found_at_the_points_that_are_done_also_if_further_values_come_before_them(tiny, tmp_path):
    sweep(tiny, {"robots": [2, 3], "side": [1, 1.5]}, seeds=1, out=tmp_path / "out")
    before = files(tmp_path / "out")
    tiny.write_text(WORLD.replace('depth="${side}"', 'depth="${side + 0.1}"'))
    with pytest.raises(SweepError, match="the file of its world 'tiny' has changed"):
        sweep(tiny, {"robots": [1, 2, 3], "side": [0.9, 1, 1.5]}, seeds=1, out=tmp_path / "out")
    assert files(tmp_path / "out") == before


def test_other_versions_are_not_mixed(stopped, tiny, monkeypatch):
    monkeypatch.setattr(run, "versions", lambda engine: {"formiga": "9.9"})
    with pytest.raises(SweepError, match=r"the versions differ \(python .*formiga .*, not 9\.9"):
        sweep(tiny, GRID, seeds=SEEDS, out=stopped)


@pytest.mark.parametrize("name", ["sweep.json", "sweep.parquet", "sweep.png", "runs.jsonl"])
def test_what_is_already_there_is_not_overwritten(name, tiny, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("precious")
    with pytest.raises(SweepError, match=f"{name}: (is there already, and would be|does not describe a sweep)"):
        sweep(tiny, seeds=1, out=tmp_path / "out")
    assert files(tmp_path / "out") == {name: b"precious"}


@pytest.mark.parametrize("text", ["[]", "{}", '{"kind": "sweep"}', '{"kind": "sweep", "format": 1}', "[" * 100_000, "\0"])
def test_a_description_that_is_none_is_refused(text, stopped, tiny):
    (stopped / "sweep.json").write_text(text)
    with pytest.raises(SweepError, match=r"sweep\.json: does not describe a sweep of this formiga"):
        sweep(tiny, GRID, seeds=SEEDS, out=stopped)


def test_two_processes_do_not_write_into_one_sweep(stopped, tiny):
    program = """import fcntl, sys
file = open(sys.argv[1], "ab")
fcntl.flock(file, fcntl.LOCK_EX)
print("locked", flush=True)
input()"""
    other = subprocess.Popen([sys.executable, "-c", program, str(stopped / "runs.jsonl")], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(SweepError, match="another process is at work on this sweep"):
            sweep(tiny, GRID, seeds=SEEDS, out=stopped)
    finally:
        other.communicate("\n", timeout=10)
    sweep(tiny, GRID, seeds=SEEDS, out=stopped)


# -- a full disk ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("room", [0, 300, 700, 1500, 3000])
def test_a_full_disk_is_one_message_and_leaves_nothing_that_looks_whole(room, tiny, tmp_path, uninterrupted):
    """No file may become larger than `room`: the description, the journal or the table does not fit."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
        with pytest.raises(SweepError, match=r"(sweep\.(json|parquet|png)|runs\.jsonl): cannot be written") as refused:
            sweep(tiny, GRID, seeds=SEEDS, out=tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert "\n" not in str(refused.value)
    left = files(tmp_path / "out") if (tmp_path / "out").exists() else {}
    assert set(left) <= {"sweep.json", "runs.jsonl"} | ({"sweep.parquet"} if room == 3000 else set())
    for line in left.get("runs.jsonl", b"").splitlines():
        assert json.loads(line[9:])
    sweep(tiny, GRID, seeds=SEEDS, out=tmp_path / "out")
    assert table(tmp_path / "out") == uninterrupted
