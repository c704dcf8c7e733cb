"""Some hundred worlds of the fuzzer, and the fuzzer itself: it must see what it is there to see."""

from collections import Counter

import pytest

from formiga.errors import FormigaError
from formiga.world.elements import registered
from tests.fuzz import generate, outcome, run

WORLDS = 200
FIRST = 1_000_000   # not the seeds that people try by hand


@pytest.fixture(scope="module")
def results():
    """Every world of the quick form, tried in a worker."""
    return run.run(range(FIRST, FIRST + WORLDS))


def test_every_world_is_refused_with_its_place_or_runs(results):
    failed = [f"seed {result.seed}: {result.words}\n{result.text}" for result in results if result.kind == "failed"]
    assert not failed, "\n\n".join(failed)


def test_some_worlds_run_and_some_are_refused(results):
    kinds = Counter(result.kind for result in results)
    assert kinds["ran"] > WORLDS // 5 and kinds["refused"] > WORLDS // 5, kinds


def test_a_seed_is_one_world_and_every_element_appears():
    assert generate.case(7) == generate.case(7) != generate.case(8)
    text = "".join(generate.case(seed).text for seed in range(1500))
    assert not [tag for tag in registered() if f"<{tag} " not in text and f"<{tag}/" not in text]


def test_what_is_wrong_with_a_world_is_noticed(tmp_path, monkeypatch):
    given = generate.Case(1, "wrong", '<world dt="0.1"><arena width="2" depth="2"/></world>')

    def raising(error):
        def fail(*_, **__):
            raise error
        return fail

    assert outcome.outcome(given, tmp_path).kind == "ran"
    for error, part in ((FormigaError("it is wrong."), "without file and line"),
                        (FormigaError("w.xml:1: a\nb"), "without file and line"),
                        (KeyError("x"), "KeyError"), (MemoryError(), "out of memory"),
                        (FormigaError(f"w.xml:1: {'x' * 5000}"), "a message of 5009 characters")):
        monkeypatch.setattr(outcome, "Simulation", raising(error))
        found = outcome.outcome(given, tmp_path)
        assert found.kind == "failed" and part in found.words, found
    monkeypatch.setattr(outcome, "Simulation", raising(FormigaError("w.xml:1: it is wrong.")))
    assert outcome.outcome(given, tmp_path).kind == "refused"


def test_a_world_that_hangs_or_eats_memory_costs_one_worker_and_says_where(monkeypatch):
    monkeypatch.setattr(run, "SECONDS", 1)
    monkeypatch.setattr(run, "TRIAL", "tests.fuzz.killers")
    hung, eaten, fine = run.run([1, 2, 3])
    assert hung.kind == "failed" and "took more than 1 s" in hung.words and "killers.py" in hung.words
    assert eaten.kind == "failed" and "it ended the process with code 1" in eaten.words and "MemoryError" in eaten.words
    assert fine.kind == "ran"
