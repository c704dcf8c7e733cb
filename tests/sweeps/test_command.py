"""formiga sweep: what it prints and leaves, how it is interrupted, and what it refuses."""

import os
import pty
import signal
import subprocess

import numpy as np
import pyarrow.parquet as pq
import pytest

from formiga.cli.sweep import estimates
from formiga.plot.intervals import interval
from tests.sweeps.conftest import begun


def test_it_prints_means_with_intervals_and_writes_a_table_and_a_figure(call, tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = call("sweep", tiny, "--set", "robots=1,2", "--set", "mode=stop", "--seeds", 3, "--jobs", 1, "--seconds", 2)
    assert result.exit_code == 0 and result.stderr == ""
    assert result.stdout.startswith("6 runs, 2 points x 3 seeds: means with 95 % intervals\nrobots   mode ")
    assert sorted(os.listdir("tiny-sweep")) == ["runs.jsonl", "sweep.json", "sweep.parquet", "sweep.png"]
    assert (tmp_path / "tiny-sweep/sweep.png").read_bytes().startswith(b"\x89PNG")
    frame = pq.read_table("tiny-sweep/sweep.parquet").to_pandas()
    assert list(frame.columns) == ["robots", "mode", "run", "seed", "fitness", "contact_rate", "seconds", "ended"]
    mean = frame[frame.robots == 2].fitness.mean()
    assert f" {mean:.3f} (" in result.stdout.splitlines()[3]
    quiet = call("sweep", tiny, "--set", "robots=1,2", "--set", "mode=stop", "--seeds", 3, "--seconds", 2, "--quiet")
    assert (quiet.exit_code, quiet.output) == (0, "")


@pytest.mark.parametrize("runs, words", [
    ([[0.2, 0.5], [0.1, 0.1]], ["0.35 (-1.56 to 2.26)", "0.10 (0.10 to 0.10)"]),     # half: 12.7062 x 0.15
    ([[90.0, 110.0]], ["100 (-27 to 227)"]),
    ([[0.1, 0.1]], ["0.1 (0.1 to 0.1)"]),
    ([[0.25], [1e-5]], ["0.25", "1e-05"]),                                            # one run has no interval
    ([[1.0, np.nan], [2.0, 4.0]], ["1.0", "3.0 (-9.7 to 15.7)"]),
])
def test_estimates_of_a_column_have_the_same_decimals(runs, words):
    assert estimates(interval(runs, axis=1)) == words


def test_measures_are_listed_with_what_they_say(call, tmp_path):
    from formiga import measures

    (tmp_path / "mine.py").write_text('import formiga\n@formiga.measure\ndef mine(sim):\n    "m, of my own."\n')
    lines = call("sweep", "--measure", "help", "--with", tmp_path / "mine.py").stdout.splitlines()
    assert len(lines) == len(measures.known()) and lines[-1].split(maxsplit=1) == ["mine", "m, of my own."]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_says_how_many_runs_are_done_and_the_same_command_goes_on(number, jobs, start, tiny, tmp_path):
    out = tmp_path / "out"
    asked = ["sweep", tiny, "--set", "robots=1:200:1", "--set", "side=5", "--seeds", 100, "--out", out, "--jobs", jobs]
    process = start(*asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    begun(process, out)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (128 + number, "") and "Traceback" not in stderr
    done = sum(line.count(b"3.0") for line in (out / "runs.jsonl").read_bytes().splitlines())
    assert 0 < done < 20_000
    assert f"formiga: interrupted; {done:,} of 20,000 runs are done and kept in {out}; the same command goes on" in stderr
    assert sorted(os.listdir(out)) == ["runs.jsonl", "sweep.json"]


def test_a_terminal_has_a_bar_and_names_of_files_as_they_are(start, call, tiny, tmp_path):
    out = tmp_path / "odd [/b] [red] %s {x} é"       # a folder `odd [` and one in it
    asked = ("sweep", tiny, "--set", "robots=1,2,3", "--seeds", 4, "--seconds", 20, "--out", out, "--jobs", 1)
    first = call(*asked)
    assert first.exit_code == 0 and f"table   {out}/sweep.parquet" in first.stdout
    (out / "runs.jsonl").write_bytes(b"x" + (out / "runs.jsonl").read_bytes()[1:])
    ours, theirs = pty.openpty()
    process = start(*asked, stderr=theirs, stdout=subprocess.PIPE)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:  # the terminal is closed at the end
        pass
    os.close(ours)
    assert process.communicate(timeout=60)[0] == first.stdout and b"12/12" in shown and b"runs" in shown
    assert f"formiga: {out}/runs.jsonl: a damaged line; what was there is run again." in shown.decode()


def test_what_is_wrong_is_one_line_and_leaves_nothing(refused, call, tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments, message in (
            (("--set", "robts=1"), "there is no param 'robts' to set. Did you mean 'robots'?"),
            (("--set", "robots=1:1e9:1"), "1,000,000,000 values or more; a sweep has at most 1,000,000 runs"),
            (("--set", "robots=1:100:1", "--set", "side=1:101:0.1", "--seeds", 10_000), "runs are too many"),
            (("--set", "robots"), "'robots' is not NAME=VALUE"), (("--measure", "speed"), "there is no measure 'speed'"),
            (("--seeds", 0), "seeds: 0 is out of range"), (("--cluster", "tcp://127.0.0.1:9"), "no Dask scheduler answers")):
        assert message in refused("sweep", tiny, *arguments)
    assert "there is no world 'nowhere'" in refused("sweep", "nowhere")
    (tmp_path / "file").write_text("")
    assert "is a file; results need a folder" in refused("sweep", tiny, "--out", "file")
    assert sorted(os.listdir(tmp_path)) == ["file", "tiny.xml"]
    for arguments in ((), (tiny, "--jobs", 0)):
        result = call("sweep", *arguments)
        assert result.exit_code == 2 and "Usage" in result.stderr
