"""An evolution goes on from its file as if nothing had happened; a file that is not one is refused in one line."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from formiga.evolve import CmaEs, Genetic
from formiga.evolve import checkpoint as module
from formiga.evolve.checkpoint import FILE, CheckpointError, begin, resume
from formiga.record.format import SEAL
from formiga.world.model import Arena, World

GENETIC = Genetic(population=6, generations=5)
WORLD = World(name="small", things=(Arena(1.0, 1.0),), search=GENETIC)
SIZE = 4


def evaluate(genes):
    """Fitness and one more column."""
    return np.sin(9.0 * genes).sum(axis=1), {"crash_rate": np.abs(genes[:, 0])}


def advance(evolution, generations):
    for _ in range(generations):
        fitness, further = evaluate(evolution.ask())
        evolution.tell(fitness, **further)
    return evolution


@pytest.fixture
def folder(tmp_path):
    """An evolution after three of five generations."""
    advance(begin(tmp_path, WORLD, SIZE, seed=3), 3)
    return tmp_path


def rewrite(folder, change_meta=None, change_table=None, text=None):
    """The same file, but for a change."""
    table = pq.read_table(folder / FILE)
    meta = json.loads(table.schema.metadata[b"formiga"])
    del meta[SEAL]
    if change_meta:
        change_meta(meta)
    if change_table:
        table = change_table(table)
    pq.write_table(table.replace_schema_metadata({"formiga": text if text is not None else json.dumps(meta)}), folder / FILE)


def refused(folder, message):
    """One line that names the file, and the file is left as it is."""
    before = (folder / FILE).read_bytes()
    with pytest.raises(CheckpointError, match=message) as caught:
        resume(folder)
    assert str(caught.value).startswith(str(folder / FILE)) and "\n" not in str(caught.value)
    assert (folder / FILE).read_bytes() == before


# -- going on ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("search", [GENETIC, replace(GENETIC, selection="truncation", crossover=0.5),
                                    CmaEs(population=6, generations=5)], ids=["tournament", "truncation", "cma_es"])
@pytest.mark.parametrize("stops", [0, 1, 4])
def test_an_interrupted_evolution_is_the_uninterrupted_one_bit_for_bit(search, stops, tmp_path):
    world = replace(WORLD, search=search)
    whole = advance(begin(tmp_path / "whole", world, SIZE, seed=9), 5)
    advance(begin(tmp_path / "parts", world, SIZE, seed=9), stops)
    parts = resume(tmp_path / "parts")
    assert parts.generation == stops and not parts.done
    advance(parts, 5 - stops)
    assert parts.done
    assert_array_equal(parts.table(), whole.table())
    assert_array_equal(parts.ask(), whole.ask())
    assert pq.read_table(tmp_path / "parts" / FILE).equals(pq.read_table(tmp_path / "whole" / FILE))


def test_what_was_told_is_read_back(folder):
    evolution = resume(folder)
    fresh = begin(folder / "again", WORLD, SIZE, seed=3)
    for generation in range(3):
        fitness, further = evaluate(fresh.ask())
        assert_array_equal(evolution.table()[generation], fitness)
        assert_array_equal(evolution.table("crash_rate")[generation], further["crash_rate"])
        assert_array_equal(evolution.genes(generation, 2), fresh.ask()[2])
        fresh.tell(fitness, **further)
    assert (evolution.world, evolution.search, evolution.seed, evolution.size) == (WORLD, GENETIC, 3, SIZE)
    generation, individual, best = evolution.best()
    assert best == evolution.table().max() == evaluate(evolution.genes(generation, individual)[None])[0][0]


def test_the_file_is_a_plain_table_that_others_can_read(folder):
    table = pq.read_table(folder / FILE)
    assert table.schema.names == ["generation", "individual", "fitness", "crash_rate"]
    assert table.schema.types == [pa.int32(), pa.int32(), pa.float64(), pa.float64()]
    assert table.column("generation").to_pylist() == [0] * 6 + [1] * 6 + [2] * 6
    assert table.column("individual").to_pylist() == list(range(6)) * 3
    meta = json.loads(table.schema.metadata[b"formiga"])
    assert (meta["format"], meta["kind"], meta["seed"], meta["size"]) == (1, "evolution", 3, SIZE)
    assert meta["search"]["element"] == "genetic" and "numpy" in meta["versions"]


def test_an_evolution_may_be_resumed_with_more_generations(folder):
    longer = advance(resume(folder, generations=8), 5)
    assert longer.done and longer.generation == resume(folder).generation == 8
    assert_array_equal(longer.table()[:5], advance(begin(folder / "short", WORLD, SIZE, seed=3), 5).table())
    with pytest.raises(CheckpointError, match="all 8 generations are done"):
        advance(longer, 1)


def test_what_cannot_be_told_is_refused_and_not_written(folder):
    evolution, before = resume(folder), (folder / FILE).read_bytes()
    with pytest.raises(Exception, match="crash_rate of individual 0 in generation 3 is nan"):
        evolution.tell(np.zeros(6), crash_rate=np.full(6, np.nan))
    with pytest.raises(CheckpointError, match=r"brings the columns fitness, but those before it have fitness, crash_rate\."):
        evolution.tell(np.zeros(6))
    assert evolution.generation == 3 and (folder / FILE).read_bytes() == before


def test_an_evolution_does_not_begin_over_another_or_without_a_search_or_too_large(folder, tmp_path):
    before = (folder / FILE).read_bytes()
    with pytest.raises(CheckpointError, match="there is an evolution already"):
        begin(folder, WORLD, SIZE)
    assert (folder / FILE).read_bytes() == before
    with pytest.raises(CheckpointError, match="has no search"):
        begin(tmp_path / "a", World(), SIZE)
    with pytest.raises(CheckpointError, match="Lower 'generations' or 'population'"):
        begin(tmp_path / "b", World(search=Genetic(population=100_000, generations=1000)), SIZE)
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match="cannot be made"):
        begin(tmp_path / "file" / "c", WORLD, SIZE)


# -- files from strangers ---------------------------------------------------------------------------------------------
def test_a_file_cut_short_anywhere_is_refused(folder):
    whole = (folder / FILE).read_bytes()
    for length in [0, 1, 4, 100, len(whole) // 2, len(whole) - 9, len(whole) - 1]:
        (folder / FILE).write_bytes(whole[:length])
        refused(folder, "not an evolution, or cut short")


def test_a_file_with_flipped_bits_is_refused_or_gives_the_same_fitness(folder, rng):
    whole, fitness = (folder / FILE).read_bytes(), resume(folder).table()
    for _ in range(300):
        bits = bytearray(whole)
        bits[rng.integers(len(bits))] ^= 1 << rng.integers(8)
        (folder / FILE).write_bytes(bits)
        try:
            assert_array_equal(resume(folder).table(), fitness)
        except CheckpointError as wrong:
            assert str(folder / FILE) in str(wrong)


def test_what_is_no_evolution_is_refused(folder, tmp_path):
    (folder / FILE).write_bytes(b"garbage" * 1000)
    refused(folder, "not a whole Parquet file")
    pq.write_table(pa.table({"a": [1]}), folder / FILE)
    refused(folder, "a Parquet file, but not an evolution of formiga")
    with pytest.raises(CheckpointError, match="no such file; there is no evolution to resume"):
        resume(tmp_path / "nowhere")
    (tmp_path / "folder" / FILE).mkdir(parents=True)
    with pytest.raises(CheckpointError, match="not a file"):
        resume(tmp_path / "folder")
    with pytest.raises(CheckpointError, match="cannot be the name"):
        resume("a\0b")


@pytest.mark.parametrize("key, value, message", [
    ("format", 2, "an evolution of format 2 .*reads format 1"), ("format", True, "of format True"),
    ("kind", "run", "a file of formiga, but not an evolution"), ("size", 2**31 - 1, "genes: 2147483647 is out of range"),
    ("seed", -1, "does not say 'seed'"), ("seed", 1.5, "does not say 'seed'"), ("seed", 4, "gives other genes"),
    ("size", 5, "gives other genes"), ("size", "4", "does not say 'size'"), ("size", 10**8, "lower 'population'"),
    ("generations", 2, "18 rows do not make 2 generations of 6"), ("generations", None, "does not say 'generations'"),
    ("search", {"element": "genetic"}, "its search is not that of its world"), ("search", [], "does not say 'search'"),
    ("world", "<world/>", "its search is not that of its world"), ("world", "<world", "its world cannot be read"),
    ("world", "<world><include file='x'/></world>", "includes other files"), ("world", 7, "does not say 'world'"),
    ("files", {"../../x": "AA=="}, "does not say 'files'"), ("population_check", "0" * 64, "damaged: telling its fitness"),
])
def test_what_the_file_says_must_be_true(folder, key, value, message):
    rewrite(folder, lambda meta: meta.update({key: value}))
    refused(folder, message)


@pytest.mark.parametrize("text", ["", "[]", "nonsense", "[" * 100_000, '{"format": 1'])
def test_what_cannot_be_read_about_it_is_refused(folder, text):
    rewrite(folder, text=text)
    refused(folder, "it is damaged")


def test_another_version_is_named(folder):
    rewrite(folder, lambda meta: meta.update(population_check="0", versions={**meta["versions"], "numpy": "1.2.3"}))
    refused(folder, r"made by another version .*numpy 1\.2\.3, here ")


def column(name, values, kind=None):
    """Replace a column of the table."""
    def change(table):
        field = pa.field(name, kind or table.schema.field(name).type, nullable=False)
        return table.set_column(table.schema.get_field_index(name), field, pa.array(values(table[name].to_numpy()), field.type))
    return change


@pytest.mark.parametrize("change, message", [
    (column("fitness", lambda values: np.where(np.arange(18) == 7, np.nan, values)), "'fitness' has a value that is not a fin"),
    (column("crash_rate", lambda values: values + np.inf), "'crash_rate' has a value that is not a finite"),
    (column("fitness", lambda values: -values), "gives other genes"),
    (column("fitness", lambda values: values, pa.float32()), "its column 'fitness' is not one"),
    (column("generation", lambda values: values[::-1]), "not in the order"),
    (column("individual", lambda values: values * 0), "not in the order"),
    (lambda table: table.slice(0, 17), "17 rows do not make 3 generations of 6"),
    (lambda table: table.slice(0, 12), "12 rows do not make 3 generations of 6"),
    (lambda table: table.drop_columns(["fitness"]), "its columns are not those of an evolution"),
    (lambda table: table.append_column("generation ", table["fitness"]), "its column 'generation ' is not one"),
])
def test_the_rows_must_be_those_of_an_evolution(folder, change, message):
    rewrite(folder, change_table=change)
    refused(folder, message)


def test_more_rows_than_memory_holds_are_refused_before_they_are_read(folder, monkeypatch):
    monkeypatch.setattr(module, "MOST_CELLS", 71)  # it has 72
    refused(folder, "18 rows are more than an evolution has")


def test_a_flipped_bit_in_the_words_about_an_evolution_is_noticed(folder):
    """Of the world and its numbers, too, which would still be a world and numbers."""
    whole = (folder / FILE).read_bytes()
    at = whole.index(b'width=\\"1.0')
    (folder / FILE).write_bytes(whole[:at + 8] + b"3" + whole[at + 9:])
    refused(folder, "what it says about the evolution cannot be read; it is damaged")


def test_an_evolution_of_before_there_were_seals_goes_on(folder):
    rewrite(folder)
    assert resume(folder).generation == 3
