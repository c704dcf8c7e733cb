"""Sweeps: each row is its run alone, however the runs were shared out; and what is refused."""

import json
import os
import signal

import numpy as np
import pyarrow.parquet as pq
import pytest

import formiga
from formiga import measures
from formiga.engine.events import Event
from formiga.engine.spatial import pipeline
from formiga.errors import FormigaError
from formiga.evolve import champion  # noqa: F401  registers what worlds name
from formiga.sweeps import SweepError, run, sweep, trial
from formiga.world.own import load_elements
from formiga.world.reader import read_text

GRID = {"robots": [2, 5], "side": [0.8, 1.2]}
ALL = "fitness crashes contact_rate displacement spread nearest alive"
OWN = '''
import formiga
import numpy as np
from dataclasses import dataclass
from formiga.world.elements import name

@formiga.measure
def corner(sim):
    """m, distance of the first robot from the corner."""
    return np.hypot(*(sim.state.position[:, 0] - 0.5).T) + OFFSET

@formiga.measure
def broken(sim):
    return 1 / len([])

@formiga.measure
def two(sim):
    return [1.0, 2.0]

OFFSET = 3.0

@formiga.element("blind", role="sensor")
@dataclass(frozen=True)
class Blind:
    "Reads nothing, slowly."
    name: str = name("blind")

    def read(self, scene):
        return np.zeros((*scene.shape, 1))
'''


@pytest.fixture
def own(tmp_path, own_registry):
    """A file of the user's own, loaded, that is forgotten afterwards."""
    (tmp_path / "mine.py").write_text(OWN)
    load_elements(tmp_path / "mine.py")
    return tmp_path / "mine.py"


def whole(folder):
    return (folder / "sweep.parquet").read_bytes()


# -- the rows ---------------------------------------------------------------------------------------------------------
def test_each_row_is_that_run_alone_measured_with_numpy(tiny):
    frame = sweep(tiny, GRID, seeds=3, seed=5, measure=ALL).frame()
    assert len(frame) == 12 and list(frame.columns) == ["robots", "side", "run", "seed", *ALL.split(), "seconds", "ended"]
    for row in frame.itertuples():
        world = formiga.read_world(tiny, robots=row.robots, side=row.side)
        sim = formiga.Simulation(world, 5, 1, first_world=row.run)
        start = sim.state.position[0].copy()
        for _ in range(30):
            sim.step()
        place, crashes = sim.state.position[0], int(sim.state.crashes.sum())
        apart = np.linalg.norm(place[:, None] - place[None], axis=-1) + np.eye(row.robots) * 9
        assert (row.crashes, row.contact_rate, row.seconds, row.ended) == (crashes, crashes / 30 / row.robots, 3.0, "complete")
        expected = (np.linalg.norm(place - start, axis=1).mean(), np.linalg.norm(place - place.mean(0), axis=1).mean(),
                    apart.min(0).mean())
        assert (row.displacement, row.spread, row.nearest) == pytest.approx(expected, abs=1e-12) and row.alive == 1.0


def test_runs_are_the_worlds_of_simulate_and_points_share_their_random_numbers(tiny):
    frame = sweep(tiny, {"robots": [2, 4]}, seeds=6, seed=9, measure="crashes").frame()
    for robots, rows in frame.groupby("robots"):
        state = formiga.simulate(formiga.read_world(tiny, robots=robots), seed=9, worlds=6).state
        assert rows.crashes.tolist() == state.crashes.sum(axis=1).tolist()


def test_fitness_is_that_of_a_rollout():
    """With a network, whose stored genes a rollout takes for one of its own genotypes; and through the readable loop."""
    from formiga.rollout import rollout

    world = formiga.read_world("avoid")
    genes = world.groups[0].controller.stored[0]
    tried = rollout(world, genes[None], seed=4, trials=5, seconds=6.0)
    found = sweep("avoid", seeds=5, seed=4, seconds=6.0)
    assert found.measures == ("fitness", "contact_rate")
    assert found.table["fitness"].to_numpy().tolist() == tried.fitness[0].tolist()


def test_the_loop_and_kernels_measure_the_same(own, tiny):
    """A sensor of one's own without a kernel makes the readable loop run."""
    slow = tiny.with_name("slow.xml")
    slow.write_text(tiny.read_text().replace("<proximity/>", "<proximity/><blind/>"))
    assert formiga.Simulation(formiga.read_world(slow)).advance(1) is False
    fast, loop = (sweep(file, {"robots": [3]}, seeds=4, measure=ALL).table.drop_columns(["seed"]) for file in (tiny, slow))
    assert fast.equals(loop)


def test_a_world_that_ends_early_says_so_and_its_row_does_not_depend_on_the_others(tmp_path):
    text = """<world name="ends" dt="0.1" seconds="6"><param name="gap" value="1"/><arena width="1.2" depth="1.2"/>
<contact crash_limit="1"/><sbot count="3"><scatter/><proximity reach="${gap * cm}"/><braitenberg/></sbot></world>"""
    (tmp_path / "ends.xml").write_text(text)
    frame = sweep(tmp_path / "ends.xml", {"gap": [0.5, 1]}, seeds=8, seconds=2.0, measure="alive crashes").frame()
    early = frame[frame.ended == "early"]
    assert 0 < len(early) < len(frame)
    assert (early.seconds < 2.0).all() and (frame[frame.ended == "complete"].seconds == 2.0).all()
    for row in frame.itertuples():
        sim = formiga.Simulation(formiga.read_world(tmp_path / "ends.xml", gap=row.gap), 0, 1, first_world=row.run)
        while sim.state.step[0] < 20 and not sim.state.done[0]:
            sim.step()
        state = sim.state
        assert (row.seconds, row.alive, row.crashes) == (state.step[0] * 0.1, state.alive.mean(), state.crashes.sum())
        assert row.ended == ("early" if sim.state.done[0] else "complete")


def test_the_worlds_of_a_sweep_can_come_from_a_function(tiny):
    text = tiny.read_text()

    def make(robots, side):
        return read_text(text.replace('value="2"', f'value="{robots}"').replace('value="1"', f'value="{side}"'))

    assert sweep(make, GRID, seeds=2).table.drop_columns([]).equals(sweep(tiny, GRID, seeds=2).table)
    with pytest.raises(SweepError, match="must return a World, not str"):
        sweep(lambda robots: "corral", {"robots": [1]})
    with pytest.raises(SweepError, match=r"takes \(robots\), and the sweep gives it \(robots, side\) by name: got an"):
        sweep(lambda robots: make(robots, 1), GRID)
    with pytest.raises(SweepError, match=r"takes \(robots, side\), .* missing a required argument: 'side'"):
        sweep(make, {"robots": [1]})


def test_a_motion_that_explodes_is_a_row_that_says_so_and_the_others_go_on(tmp_path, monkeypatch):
    """At 0.4 s, in space, each run whose number is 1 more than a multiple of 3."""
    step = pipeline.step

    def bad(model, state, command):
        step(model, state, command)
        for w in np.flatnonzero((state.step == 4) & ~state.done & ((model.first_world + np.arange(state.worlds)) % 3 == 1)):
            state.done[w] = True
            state.scratch.events.append(Event(int(w), 0.4, "explode", "the motion exploded"))

    monkeypatch.setattr(pipeline, "step", bad)
    (tmp_path / "s.xml").write_text("""<world name="s" dt="0.1" seconds="1" engine="spatial"><arena width="2" depth="2"/>
        <sbot count="2" name="swarm"><scatter/><proximity/><braitenberg/></sbot><fitness of="speed"/></world>""")
    for measure in ("fitness", "displacement"):
        for seeds in (2, 5):                     # the second time from run 2 on
            frame = sweep(tmp_path / "s.xml", {}, seeds=seeds, measure=measure, out=tmp_path / measure).frame()
        assert frame.ended.tolist() == ["complete", "exploded", "complete", "complete", "exploded"]
        assert frame.seconds.tolist() == pytest.approx([1.0, 0.4, 1.0, 1.0, 0.4])


def test_truth_values_and_texts_are_parameters_too(tiny):
    frame = sweep(tiny, {"mode": ["reposition", "stop"]}, seeds=2).frame()
    assert frame["mode"].tolist() == ["reposition"] * 2 + ["stop"] * 2


# -- shared out -------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The bytes of the table that one process makes without an interruption."""
    from tests.sweeps.conftest import WORLD

    folder = tmp_path_factory.mktemp("alone")
    (folder / "tiny.xml").write_text(WORLD)
    sweep(folder / "tiny.xml", GRID, seeds=5, measure=ALL, out=folder / "out")
    assert sorted(os.listdir(folder / "out")) == ["runs.jsonl", "sweep.json", "sweep.parquet", "sweep.png"]
    return whole(folder / "out")


@pytest.mark.parametrize("jobs", [2, 3])
def test_jobs_change_no_byte_of_the_table(jobs, alone, tiny, tmp_path):
    sweep(tiny, GRID, seeds=5, measure=ALL, out=tmp_path / "out", jobs=jobs)
    assert whole(tmp_path / "out") == alone


def test_batches_change_no_byte_of_the_table(alone, tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "runs_at_once", lambda world, steps: 2)
    sweep(tiny, GRID, seeds=5, measure=ALL, out=tmp_path / "out")
    assert whole(tmp_path / "out") == alone
    assert len((tmp_path / "out/runs.jsonl").read_text().splitlines()) == 4 * 3


def test_a_cluster_gives_the_same_table_even_if_a_worker_is_killed(scheduler, workers, alone, tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "runs_at_once", lambda world, steps: 1)
    monkeypatch.setattr("formiga.pool.ANSWER", 60.0)  # of a scheduler that is only starting, on a busy machine

    def progress(done, total):
        if done > 5 and workers[0].poll() is None:
            workers[0].send_signal(signal.SIGKILL)

    sweep(tiny, GRID, seeds=5, measure=ALL, out=tmp_path / "out", cluster=scheduler, progress=progress)
    assert whole(tmp_path / "out") == alone and workers[0].wait(10) == -signal.SIGKILL


def test_large_worlds_are_shared_out_by_memory_and_work():
    world = formiga.read_world("corral", robots=20)
    assert trial.runs_at_once(world, 100, robots=200) == 10 and trial.runs_at_once(world, 1000, robot_steps=60_000) == 3
    assert trial.runs_at_once(world, 10**12) == 1


# -- measures of the user's own ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_measure_of_ones_own_goes_wherever_the_runs_go(jobs, own, tiny):
    frame = sweep(tiny, {"robots": [1]}, seeds=3, measure="corner", jobs=jobs).frame()
    state = formiga.simulate(formiga.read_world(tiny, robots=1), worlds=3).state
    assert frame.corner.tolist() == (np.hypot(*(state.position[:, 0] - 0.5).T) + 3.0).tolist()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_mistake_in_a_measure_is_one_line_with_its_place_and_point(jobs, own, tiny, tmp_path):
    with pytest.raises(FormigaError, match=r"with robots=3: .*mine\.py:14: ZeroDivisionError") as refused:
        sweep(tiny, {"robots": [3]}, seeds=2, measure="broken", jobs=jobs, out=tmp_path / "out")
    assert "\n" not in str(refused.value) and not (tmp_path / "out").exists()


def test_a_measure_that_gives_no_number_for_each_world_is_refused(own, tiny):
    with pytest.raises(FormigaError, match=r"'two' must return numbers of the shape \(worlds,\) = \(3,\)"):
        sweep(tiny, {"robots": [3]}, seeds=3, measure="two")


def test_another_text_of_a_measure_makes_another_sweep(own, tiny, tmp_path):
    sweep(tiny, seeds=1, measure="corner", out=tmp_path / "out")
    own.write_text(OWN.replace("OFFSET = 3.0", "OFFSET = 4.0"))
    load_elements(own)
    with pytest.raises(SweepError, match=r"the user's own code \(--with\) differs"):
        sweep(tiny, seeds=2, measure="corner", out=tmp_path / "out")


# -- what is refused --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("options, message", [
    ({"parameters": {"robts": [1]}}, r"tiny\.xml:1: there is no param 'robts' to set. Did you mean 'robots'"),
    ({"parameters": {"robots": [2, "many"], "side": [1, 2]}}, "several kinds"),
    ({"parameters": {"robots": [2, 3, 0]}}, r"with robots=0: .*count"),
    ({"parameters": {"robots": [2, 900]}}, r"with robots=900: .*900 robots .* do not fit"),
    ({"measure": "fitnes"}, "there is no measure 'fitnes'. Did you mean 'fitness'"), ({"measure": [max]}, "given by its name"),
    ({"measure": "crashes crashes"}, "asked for twice"), ({"seconds": -1.0}, "-1.0 s cannot be simulated"),
    ({"engine": "quantum"}, "no engine 'quantum'"), ({"jobs": 0}, "jobs: 0 is out of range"),
    ({"seed": -1}, "seed -1 is out of range"), ({"cluster": "nonsense"}, "not the address of a Dask scheduler"),
])
def test_what_cannot_be_swept_is_one_sentence_and_leaves_nothing(options, message, tiny, tmp_path):
    with pytest.raises(FormigaError, match=message) as refused:
        sweep(tiny, **{"parameters": {}, "seeds": 1, "out": tmp_path / "out", **options})
    assert "\n" not in str(refused.value)
    left = [] if not (tmp_path / "out").exists() else os.listdir(tmp_path / "out")
    assert left in ([], ["runs.jsonl", "sweep.json"], ["sweep.json", "runs.jsonl"])
    assert not left or (tmp_path / "out/runs.jsonl").stat().st_size > 0  # the runs before the point that failed


def test_a_world_that_was_read_already_has_no_parameters_any_more(tiny):
    with pytest.raises(FormigaError, match="'robots' is a parameter of a world's file, and this world was read already"):
        sweep(formiga.read_world(tiny), {"robots": [1]})
    assert len(sweep(formiga.read_world(tiny), seeds=2).table) == 2


def test_fitness_needs_a_world_that_has_one_and_a_run_that_adds_it_up(tiny):
    with pytest.raises(FormigaError, match="world 'corral' has no fitness to measure"):
        sweep("corral", measure="fitness")
    with pytest.raises(FormigaError, match="this run was not told to"):
        measures.taken("fitness", formiga.Simulation(tiny))


def test_the_table_says_what_it_is(tiny, tmp_path):
    sweep(tiny, {"robots": [1, 2]}, seeds=2, out=tmp_path / "out")
    about = json.loads(pq.read_table(tmp_path / "out/sweep.parquet").schema.metadata[b"formiga"])
    assert (about["kind"], about["world"], about["parameters"], about["seeds"]) == ("sweep", "tiny", ["robots"], 2)
    assert "formiga" in about["versions"] and about["measures"] == ["fitness", "contact_rate"]


# -- programs outside -------------------------------------------------------------------------------------------------
def test_robots_that_no_program_drives_are_refused_and_those_that_one_drives_are_swept(tmp_path):
    with pytest.raises(SweepError, match=r"remote\.xml:\d+: no program drives 'swarm', so its robots would stand in all runs"):
        sweep("remote", {"robots": [2, 3]}, seeds=1, seconds=1)
    (tmp_path / "ahead.py").write_text(
        "from formiga_remote import Robots\nwith Robots.from_arguments() as robots:\n    for _ in robots:\n"
        "        robots.orders['drive'][:] = 0.05\n")

    def driven(robots):
        return formiga.attach(formiga.read_world("remote", robots=str(robots)), "swarm", [str(tmp_path / "ahead.py")])

    made = sweep(driven, {"robots": [2, 3]}, seeds=1, seconds=1, measure="displacement")
    assert (made.table["displacement"].to_numpy() > 0.02).all()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_program_that_dies_ends_the_sweep_and_no_run_of_standing_robots_is_in_the_table(tmp_path, jobs):
    (tmp_path / "dies.py").write_text(
        "from formiga_remote import Robots\nwith Robots.from_arguments() as robots:\n    for _ in robots:\n"
        "        if robots.count == 3 and robots.frame == 5:\n            raise ValueError('no legs left')\n"
        "        robots.orders['drive'][:] = 0.05\n")

    def driven(robots):
        return formiga.attach(formiga.read_world("remote", robots=str(robots)), "swarm", [str(tmp_path / "dies.py")])

    with pytest.raises(SweepError, match=r"with robots=3: swarm: its program ended \(exit code 1: ValueError: no legs left\), "
                                         r"so its robots stood still; these runs do not count\."):
        sweep(driven, {"robots": [2, 3]}, seeds=1, seconds=1, measure="displacement", jobs=jobs, out=tmp_path / "out")
    assert not (tmp_path / "out" / "sweep.parquet").exists()
