"""A whole evolution: the same champion however it was computed and however often it was interrupted."""

import json
import os
import signal

import pytest

import formiga
from formiga.errors import FormigaError
from formiga.evolve import champion, evolve
from formiga.evolve.checkpoint import CheckpointError
from formiga.evolve.checkpoint import resume as read
from formiga.world.reader import read_text

WORLD = """<world name="tiny" dt="0.1" seconds="5"><arena width="1" depth="1"/>
<sbot count="{robots}" name="swarm"><scatter/><proximity/>{more}<perceptron/></sbot>
<fitness of="speed straightness clearance"/><fitness of="crashes" weight="-1"/>
<{search} population="8" generations="6" trials="2" seconds="3s"/></world>"""
FEW = {"test": 5}


def world(search="genetic", robots=2, more=""):
    return read_text(WORLD.format(**locals()))


def told(folder):
    """The whole table of an evolution, and its champion's genes."""
    evolution = read(folder)
    genes = json.loads((folder / champion.GENOTYPE).read_text())["genes"]
    return {name: evolution.table(name) for name in evolution.columns}, genes


def same(one, other):
    tables = one[0].keys() == other[0].keys() and all((one[0][name] == other[0][name]).all() for name in one[0])
    return tables and one[1] == other[1]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """What comes out of seed 7."""
    folder = tmp_path_factory.mktemp("whole")
    evolve(folder, world(), 7, **FEW)
    return told(folder)


def test_an_evolution_leaves_everything_that_its_user_wants(tmp_path):
    reports = []
    outcome = evolve(tmp_path / "out", world("cma_es"), 3, progress=reports.append, **FEW)
    assert sorted(os.listdir(tmp_path / "out")) == ["champion.json", "champion.parquet", "champion.xml", "evolution.parquet",
                                                    "fitness.png", "summary.json"]
    assert [report.generation for report in reports] == [0, 1, 2, 3, 4, 5, 6] and len(reports[-1].best) == 6
    assert reports[-1].best == outcome.summary["best"] and reports[-1].seconds_left == 0.0
    assert (tmp_path / "out/fitness.png").read_bytes().startswith(b"\x89PNG")
    summary = outcome.summary["champion"]
    assert summary["trials"] == 5 and summary["fitness"]["low"] <= summary["fitness"]["mean"] <= summary["fitness"]["high"]


def test_the_champion_runs_wherever_a_world_runs(tmp_path):
    outcome = evolve(tmp_path / "out", world(), 3, **FEW)
    moved = tmp_path / "elsewhere"
    (tmp_path / "out").rename(moved)
    described = formiga.read_world(moved / "champion.xml")
    assert (described.groups[0].controller.stored[0] == outcome.champion.genes).all()
    replay = formiga.read_recording(moved / "champion.parquet")
    again = formiga.simulate(described, 3.0, replay.seed)
    assert again.state.position[0, :, 0] == pytest.approx(replay.poses().x[-1, 0], abs=0)


@pytest.mark.parametrize("jobs", [2, 3])
def test_jobs_change_nothing(jobs, uninterrupted, tmp_path):
    evolve(tmp_path / "out", world(), 7, jobs=jobs, **FEW)
    assert same(told(tmp_path / "out"), uninterrupted)


def test_processes_change_nothing_where_there_is_no_kernel(tmp_path):
    """A scanner has no kernel, so the readable loop runs, in processes."""
    loop = world(more='<scanner beams="3" reach="1"/>')
    for jobs in (1, 2):
        evolve(tmp_path / str(jobs), loop, 7, jobs=jobs, generations=2, **FEW)
    assert same(told(tmp_path / "1"), told(tmp_path / "2"))


def test_another_seed_gives_another_evolution(uninterrupted, tmp_path):
    evolve(tmp_path / "out", world(), 8, **FEW)
    assert not (told(tmp_path / "out")[0]["fitness"] == uninterrupted[0]["fitness"]).any()


@pytest.mark.parametrize("at", [1, 4])
def test_an_evolution_that_was_interrupted_goes_on_as_if_it_had_not_been(at, uninterrupted, tmp_path):
    asked = []
    outcome = evolve(tmp_path / "out", world(), 7, progress=lambda report: asked.append(report.generation),
                     stop=lambda: asked[-1] == at, **FEW)
    assert outcome.interrupted and outcome.evolution.generation == at
    evolve(tmp_path / "out", resume=True, jobs=2, **FEW)
    assert same(told(tmp_path / "out"), uninterrupted)


def test_an_evolution_that_is_done_can_go_on_for_longer(uninterrupted, tmp_path):
    evolve(tmp_path / "out", world(), 7, generations=3, **FEW)
    evolve(tmp_path / "out", world(), 7, generations=6, resume=True, **FEW)
    assert same(told(tmp_path / "out"), uninterrupted)
    with pytest.raises(CheckpointError, match="6 generations are done already; 2 are fewer"):
        evolve(tmp_path / "out", resume=True, generations=2, **FEW)


def test_training_choosing_and_testing_never_share_a_start():
    from formiga.evolve.trials import seed_for

    seeds = [seed_for(seed, purpose, number) for seed in range(3) for purpose in ("train", "choose", "test")
             for number in range(50)]
    assert len(set(seeds)) == len(seeds) and all(0 <= seed < 2**63 for seed in seeds)


def test_avoidance_is_learnt_from_scratch_in_a_few_generations(tmp_path):
    """Few and short, for speed; the shipped evolution goes on for longer. A start that nobody saw is the test."""
    outcome = evolve(tmp_path / "out", formiga.read_world("avoid"), 1, population=20, generations=20, trials=4, jobs=2, test=30)
    tested = outcome.champion.tested
    assert tested.fitness.mean() > max(0.5, float(outcome.evolution.table()[0].mean()) + 0.5)
    assert tested.speed.mean() > 0.6 and tested.crash_rate.mean() < 0.05


# -- a cluster --------------------------------------------------------------------------------------------------------
def test_a_cluster_gives_the_same_evolution_even_if_a_worker_is_killed(scheduler, workers, uninterrupted, tmp_path):
    def report(report):
        if report.generation == 2 and workers[0].poll() is None:
            workers[0].send_signal(signal.SIGKILL)

    evolve(tmp_path / "out", world(), 7, cluster=scheduler, progress=report, **FEW)
    assert same(told(tmp_path / "out"), uninterrupted)
    assert workers[0].wait(10) == -signal.SIGKILL


def test_a_cluster_that_does_not_answer_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("formiga.pool.ANSWER", 1.0)
    with pytest.raises(FormigaError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        evolve(tmp_path / "out", world(), cluster="tcp://127.0.0.1:9")
    assert not (tmp_path / "out").exists()


# -- what goes wrong --------------------------------------------------------------------------------------------------
def contents(folder):
    return {name: (folder / name).read_bytes() for name in os.listdir(folder)}


def test_a_folder_with_an_evolution_is_not_overwritten(tmp_path):
    evolve(tmp_path / "out", world(), generations=1, **FEW)
    before = contents(tmp_path / "out")
    with pytest.raises(CheckpointError, match="there is an evolution already; resume it, or choose another folder"):
        evolve(tmp_path / "out", world(), **FEW)
    with pytest.raises(CheckpointError, match="begun with seed 0, and cannot go on with 5"):
        evolve(tmp_path / "out", seed=5, resume=True, **FEW)
    with pytest.raises(CheckpointError, match="another world, or with other settings"):
        evolve(tmp_path / "out", world(robots=3), resume=True, **FEW)
    with pytest.raises(CheckpointError, match="another world, or with other settings"):
        evolve(tmp_path / "out", world(), resume=True, population=9, **FEW)
    assert contents(tmp_path / "out") == before


def test_a_checkpoint_cut_short_is_one_clear_error_and_stays_as_it_is(tmp_path):
    evolve(tmp_path / "out", world(), generations=2, **FEW)
    file = tmp_path / "out/evolution.parquet"
    file.write_bytes(file.read_bytes()[:-40])
    before = contents(tmp_path / "out")
    with pytest.raises(CheckpointError, match=r"evolution.parquet: not an evolution, or cut short"):
        evolve(tmp_path / "out", resume=True, **FEW)
    assert contents(tmp_path / "out") == before


@pytest.mark.parametrize("change, message", [
    (lambda text: text.replace("<perceptron/>", "<braitenberg/>"), "no groups with a network"),
    (lambda text: text.replace('of="crashes"', 'of="crahses"'),
     r"<text>:3: <fitness> of: there is no term 'crahses'. Did you mean 'crashes'"),
    (lambda text: "\n".join(line for line in text.splitlines() if "<fitness" not in line), "does not say what is good"),
])
def test_a_world_that_cannot_evolve_says_why(change, message, tmp_path):
    text = change(WORLD.format(search="genetic", robots=1, more=""))
    with pytest.raises(FormigaError, match=message):
        evolve(tmp_path / "out", read_text(text))
    assert not (tmp_path / "out").exists()


def test_an_interrupt_in_the_middle_of_a_generation_loses_that_generation_alone(uninterrupted, tmp_path):
    """Ctrl-C twice, or a machine that stops: what was told is there, and it goes on from there."""
    def at_once(report):
        if report.generation == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evolve(tmp_path / "out", world(), 7, progress=at_once, **FEW)
    assert os.listdir(tmp_path / "out") == ["evolution.parquet"]
    evolve(tmp_path / "out", resume=True, **FEW)
    assert same(told(tmp_path / "out"), uninterrupted)


def test_what_is_already_there_is_not_overwritten(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/summary.json").write_text("precious")
    with pytest.raises(CheckpointError, match=r"summary.json: is there already, and would be overwritten"):
        evolve(tmp_path / "out", world(), **FEW)
    assert os.listdir(tmp_path / "out") == ["summary.json"]


def test_an_evolution_that_fails_before_its_first_generation_leaves_nothing_to_trip_over(tmp_path, monkeypatch):
    def fails(*_, **__):
        raise MemoryError

    monkeypatch.setattr("formiga.evolve.run.attempt_all", fails)
    with pytest.raises(MemoryError):
        evolve(tmp_path / "out", world(), **FEW)
    assert os.listdir(tmp_path / "out") == []


def test_settings_that_were_fixed_at_the_start_are_refused_later(tmp_path):
    evolve(tmp_path / "out", world(), generations=1, **FEW)
    for change, message in (({"population": 9}, "population 8, and cannot go on with 9"), ({"trials": 5}, "trials 2, and")):
        with pytest.raises(CheckpointError, match=message):
            evolve(tmp_path / "out", resume=True, **change, **FEW)


def test_other_files_of_the_world_come_along_also_after_a_resume(tmp_path):
    """Another group's brain is a file; the champion's folder runs without it, wherever it is moved."""
    evolve(tmp_path / "first", world(), generations=1, **FEW)
    text = WORLD.format(search='genetic group="swarm"', robots=1, more="").replace(
        "<fitness", '<sbot name="old"><scatter/><proximity/><perceptron genotype="first/champion.json"/></sbot><fitness', 1)
    (tmp_path / "two.xml").write_text(text)
    evolve(tmp_path / "out", formiga.read_world(tmp_path / "two.xml"), generations=1, **FEW)
    evolve(tmp_path / "out", resume=True, generations=2, **FEW)
    (tmp_path / "out").rename(tmp_path / "moved")
    old = json.loads((tmp_path / "first/champion.json").read_text())["genes"]
    (tmp_path / "first/champion.json").unlink()
    moved = formiga.read_world(tmp_path / "moved/champion.xml")
    assert formiga.simulate(moved, 1.0).seconds == pytest.approx(1.0)
    assert moved.group("old").controller.stored[0].tolist() == old


def test_a_network_too_large_for_a_file_is_refused_before_it_evolves(tmp_path):
    text = WORLD.format(search="genetic", robots=1, more="").replace("<perceptron/>", '<mlp hidden="1024 1024"/>')
    with pytest.raises(FormigaError, match="genes is too large to be kept in a file"):
        evolve(tmp_path / "out", read_text(text))
