"""formiga evolve: what it prints, what it leaves, how it is interrupted, and what it refuses."""

import json
import os
import signal
import subprocess
import time

import pytest

from formiga.cli.evolve import headline, plot, sparkline
from formiga.evolve import Report

WORLD = """<world name="tiny" dt="0.1" seconds="5"><param name="robots" value="1"/><arena width="1" depth="1"/>
<sbot count="${robots}" name="swarm"><scatter/><proximity/><perceptron/></sbot>
<fitness of="speed straightness clearance"/><fitness of="crashes" weight="-1"/>
<genetic population="6" generations="3" trials="2" seconds="2s"/></world>"""


@pytest.fixture
def tiny(tmp_path):
    (tmp_path / "tiny.xml").write_text(WORLD)
    return tmp_path / "tiny.xml"


def test_it_says_how_good_the_champion_is_and_how_to_see_it(call, tiny, tmp_path):
    result = call("evolve", tiny, "--out", tmp_path / "out", "--jobs", 1, "--test", 5, "--json", tmp_path / "r.json", "--seed",
                  3)
    assert result.exit_code == 0
    assert "3 generations of 6, 2 trials each, 32 genes, seed 3" in result.stdout
    assert "on 5 unseen starts" in result.stdout and "of top speed" in result.stdout and "of all robot-steps" in result.stdout
    summary = json.loads((tmp_path / "r.json").read_text())
    assert summary == json.loads((tmp_path / "out/summary.json").read_text())
    assert summary["generations"] == 3 and len(summary["best"]) == 3
    assert call("run", tmp_path / "out/champion.xml", "--seconds", 1).exit_code == 0
    assert call("check", tmp_path / "out/champion.xml").exit_code == 0


def test_options_replace_what_the_world_says(call, tiny, tmp_path):
    result = call("evolve", tiny, "--out", tmp_path / "out", "--generations", 2, "--population", 4, "--trials", 1, "--set",
                  "robots=2", "--test", 2, "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert (summary["generations"], summary["population"], summary["trials"]) == (2, 4, 1)


def test_resuming_needs_no_world_and_goes_on_for_longer(call, tiny, tmp_path):
    out = tmp_path / "out"
    call("evolve", tiny, "--out", out, "--generations", 1, "--test", 2, "--quiet")
    assert call("evolve", "--resume", out, "--generations", 2, "--test", 2, "--quiet").exit_code == 0
    assert call("evolve", tiny, "--resume", out, "--generations", 3, "--test", 2, "--quiet").exit_code == 0
    whole = tmp_path / "whole"
    call("evolve", tiny, "--out", whole, "--test", 2, "--quiet")
    assert json.loads((out / "champion.json").read_text()) == json.loads((whole / "champion.json").read_text())


def test_ctrl_c_keeps_everything_and_says_how_to_go_on(start, tiny, tmp_path):
    out = tmp_path / "out"
    process = start("evolve", tiny, "--out", out, "--generations", 1_000_000, "--test", 2, "--jobs", 2,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while not (out / "evolution.parquet").exists() or (out / "evolution.parquet").stat().st_size < 12_000:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in stderr
    assert "stopping after this generation; again to stop at once" in stderr
    assert f"go on with: formiga evolve --resume {out}" in stderr and "champion" in stdout
    assert sorted(os.listdir(out)) == ["champion.json", "champion.parquet", "champion.xml", "evolution.parquet", "fitness.png",
                                       "summary.json"]
    done = json.loads((out / "summary.json").read_text())["generations"]
    again = start("evolve", "--resume", out, "--generations", done + 1, "--test", 2, "--quiet")
    assert again.wait(60) == 0
    assert json.loads((out / "summary.json").read_text())["generations"] == done + 1


def test_a_kill_in_the_middle_leaves_an_evolution_that_goes_on(start, tiny, tmp_path):
    out = tmp_path / "out"
    process = start("evolve", tiny, "--out", out, "--generations", 1_000_000, "--quiet")
    deadline = time.monotonic() + 120
    while not (out / "evolution.parquet").exists() or (out / "evolution.parquet").stat().st_size < 12_000:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.wait()
    whole = [name for name in os.listdir(out) if not name.startswith(".")]
    assert whole == ["evolution.parquet"]
    from formiga.evolve.checkpoint import resume

    done = resume(out).generation
    assert done > 0
    assert start("evolve", "--resume", out, "--generations", done + 1, "--test", 2, "--quiet").wait(60) == 0


# -- what goes wrong --------------------------------------------------------------------------------------------------
def test_what_cannot_evolve_is_refused_in_one_line_and_leaves_nothing(refused, call, tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    typo = tmp_path / "typo.xml"
    typo.write_text(WORLD.replace("crashes", "crahses"))
    assert "typo.xml:3: <fitness> of: there is no term 'crahses'. Did you mean 'crashes'?" in refused("evolve", typo)
    assert "there is no term 'crahses'" in refused("check", typo)
    assert "no groups with a network" in refused("evolve", "corral")
    assert "there is no world 'avoyd'. Did you mean 'avoid'?" in refused("evolve", "avoyd")
    assert "no such folder; there is no evolution to resume" in refused("evolve", "--resume", "nowhere")
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in refused("evolve", tiny, "--cluster", "tcp://127.0.0.1:9")
    assert "is not the address of a Dask scheduler" in refused("evolve", tiny, "--cluster", "nonsense")
    assert sorted(os.listdir(tmp_path)) == ["tiny.xml", "typo.xml"]
    for arguments in ((), (tiny, "--resume", tmp_path, "--out", "x"), ("--resume", tmp_path, "--set", "robots=2")):
        result = call("evolve", *arguments)
        assert result.exit_code == 2 and "Usage" in result.stderr


def test_an_evolution_is_never_overwritten(refused, call, tiny, tmp_path):
    out = tmp_path / "out"
    call("evolve", tiny, "--out", out, "--generations", 1, "--test", 2, "--quiet")
    before = {name: (out / name).read_bytes() for name in os.listdir(out)}
    assert "there is an evolution already" in refused("evolve", tiny, "--out", out)
    assert "cannot go on with 9" in refused("evolve", "--resume", out, "--seed", 9)
    assert "another world" in refused("evolve", tiny, "--resume", out, "--set", "robots=2")
    assert {name: (out / name).read_bytes() for name in os.listdir(out)} == before
    (out / "evolution.parquet").write_bytes(before["evolution.parquet"][:100])
    assert "evolution.parquet: not an evolution, or cut short" in refused("evolve", "--resume", out)
    assert (out / "evolution.parquet").read_bytes() == before["evolution.parquet"][:100]


def test_an_element_of_the_users_own_evolves_in_threads_and_processes(call, tmp_path):
    (tmp_path / "mine.py").write_text("""
from dataclasses import dataclass
import numpy as np
from formiga.world.elements import element, number

@element("calm", role="fitness")
@dataclass(frozen=True)
class Calm:
    "Praises standing still."
    weight: float = number(1.0)
    def reward(self, view):
        return self.weight * (1.0 - np.abs(view.drive).mean(axis=-1) / 0.08)
""")
    (tmp_path / "w.xml").write_text(WORLD.replace('<fitness of="crashes" weight="-1"/>', "<calm/>"))
    for jobs in (1, 2):
        result = call("evolve", tmp_path / "w.xml", "--with", tmp_path / "mine.py", "--out", tmp_path / f"out{jobs}", "--jobs",
                      jobs, "--test", 2)
        assert result.exit_code == 0, result.output
        see = next(line for line in result.stdout.splitlines() if line.startswith("see it")).split()[2:]
        assert see == ["formiga", "run", f"{tmp_path}/out{jobs}/champion.xml", "--with", f"{tmp_path}/mine.py", "--picture",
                       "champion.png"]
    one, two = (json.loads((tmp_path / f"out{jobs}/champion.json").read_text()) for jobs in (1, 2))
    assert one == two


# -- the display ------------------------------------------------------------------------------------------------------
def test_the_headline_says_where_it_is_and_how_long_it_takes():
    report = Report(12, 40, [0.1, 0.612], [0.0, 0.431], 2310.4, 67.2)
    assert headline(report) == "generation 12 of 40   best 0.612   mean 0.431   2,310 evaluations/s   1:07 left"
    assert "from 0.000 to 0.612" in plot(report).plain


def test_a_curve_keeps_its_ends_however_long_it_is():
    assert sparkline([0.0, 0.5, 1.0], 0.0, 1.0) == "▁▅█" or sparkline([0.0, 0.5, 1.0], 0.0, 1.0) == "▁▄█"
    long = sparkline([value / 999 for value in range(1000)], 0.0, 1.0)
    assert len(long) <= 60 and long[-1] == "█" and list(long) == sorted(long)
    assert sparkline([0.3, 0.3], 0.3, 0.3) == "▁▁"
