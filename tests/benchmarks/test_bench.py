"""What a bench prints and writes. Speeds are never asserted: they are the machine's."""

from __future__ import annotations

import json

import pytest

from formiga import benchmarks
from formiga.benchmarks import avoid24, cpp, measure, swarmod
from formiga.errors import FormigaError

FIELDS = {"robots", "worlds", "robot_steps_per_s", "contact_rate", "cpp_ratio"}


@pytest.fixture
def tiny(monkeypatch):
    """Benches of a blink."""
    quick = measure.measure
    for bench in (avoid24, swarmod):
        monkeypatch.setattr(bench, "SIZES", ((1, 8), (2, 4)))
        monkeypatch.setattr(bench, "measure",
                            lambda world, worlds, blocks: quick(world, worlds, blocks=2, block=1e-4, warm_up=5))
    starts = {"cold_start_s": 9.0, "cached_start_s": 1.0, "memory_mb": 200.0}
    monkeypatch.setattr(avoid24, "start_twice", lambda: starts)


@pytest.mark.parametrize("name", benchmarks.BENCHES)
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


def test_all_benches_write_a_list(tiny, tmp_path):
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
