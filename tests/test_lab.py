"""The public Python face: worlds by path and by name, a user's own elements, the shipped worlds and the examples."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import formiga
from formiga import lab
from formiga.errors import FormigaError, WorldError

ROOT = Path(__file__).parents[1]


pytestmark = pytest.mark.usefixtures("own_registry")


# -- the names at the top ---------------------------------------------------------------------------------------------
def test_every_public_name_can_be_had_and_is_listed():
    for name in formiga.__all__:
        assert getattr(formiga, name).__name__ == name
    assert set(formiga.__all__) <= set(dir(formiga))


# -- worlds -----------------------------------------------------------------------------------------------------------
def test_a_file_is_read_by_its_path_and_a_shipped_world_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corral").mkdir()  # a folder of that name, such as that of a recording, is not in the way
    assert formiga.read_world("corral").name == "corral"
    formiga.write_world(formiga.read_world("line"), "mine.xml")
    assert formiga.read_world("mine.xml") == formiga.read_world(tmp_path / "mine.xml") == formiga.read_world("line")
    with pytest.raises(WorldError, match=r"corral\.xml: no such file"):
        formiga.read_world("corral.xml")


def test_parameters_replace_those_of_the_file():
    assert formiga.read_world("corral", robots=5, side="3m").robots == 5
    with pytest.raises(WorldError, match=r"no param 'robot' to set\. Did you mean 'robots'"):
        formiga.read_world("corral", robot=5)


def test_simulate_takes_a_world_a_path_or_a_name(tmp_path):
    world = formiga.read_world("line")
    formiga.write_world(world, tmp_path / "w.xml")
    ends = [formiga.simulate(each, 1.0).state.position for each in (world, tmp_path / "w.xml", "line")]
    assert all(np.array_equal(ends[0], end) for end in ends)


def test_a_name_or_a_path_will_do_wherever_a_world_is_taken(tmp_path):
    formiga.write_world("line", tmp_path / "mine.xml")
    world = formiga.read_world("line")
    assert formiga.read_world(tmp_path / "mine.xml") == world
    runs = [formiga.Simulation(each, seed=3) for each in (world, "line", tmp_path / "mine.xml", str(tmp_path / "mine.xml"))]
    for run in runs:
        run.step()
        assert np.array_equal(run.state.position, runs[0].state.position)
    assert formiga.Simulation("avoid").world.search is not None  # the elements of all layers are known by then
    lab.check_world("line")
    assert formiga.make_env("avoid", robots=2).action_space.shape == (4,)
    with pytest.raises(WorldError, match="there is no world 'linee'"):
        formiga.Simulation("linee")
    with pytest.raises(WorldError, match="the name of a shipped one or a file, not as 42"):
        formiga.Simulation(42)


@pytest.mark.parametrize("name", lab.shipped_worlds())
def test_a_shipped_world_works_and_the_same_seed_gives_the_same_bits(name):
    world = formiga.read_world(name)
    lab.check_world(world)
    assert world.name == name and len(world.doc) > 20 and "\n" not in world.doc
    first, again, other = (formiga.simulate(world, 5.0, seed=seed, worlds=2, threads=threads).state
                           for seed, threads in ((1, 1), (1, 2), (2, 1)))
    for field in ("position", "heading", "drive", "crashes", "bodies"):
        np.testing.assert_array_equal(getattr(first, field), getattr(again, field))
    assert (first.step == round(5.0 / world.dt)).all()
    without_chance = name in ("line", "pulling", "quadruped", "hexapod", "trough", "omni", "car", "solid_car")
    assert without_chance or not np.array_equal(first.position, other.position)


def test_the_runner_of_line_turns_round_and_comes_back():
    """Straight on, half a circle to the left (wheels 1:2, so the centre's radius is 1.5 wheel bases), straight back."""
    world = formiga.read_world("line")
    run = formiga.simulate(world)
    assert run.state.heading[0, 0] == pytest.approx(np.pi, abs=0.05)
    np.testing.assert_allclose(run.state.position[0, 0], (0.0, 3 * world.groups[0].robot.wheel_base), atol=0.02)


def test_the_packed_robots_start_overlapping_and_are_apart_after_one_step():
    world = formiga.read_world("packed")
    reach = 2 * (world.groups[0].robot.radius + world.groups[0].robot.clearance)

    def nearest(state):
        apart = np.linalg.norm(state.position[0, :, None] - state.position[0, None], axis=-1)
        return apart[np.triu_indices(15, 1)].min()

    sim = formiga.Simulation(world)
    assert nearest(sim.state) < reach - 0.05
    sim.step()
    assert nearest(sim.state) > reach - 2e-6


# -- a user's own elements --------------------------------------------------------------------------------------------
def test_own_elements_are_known_after_loading_and_can_be_loaded_again():
    with pytest.raises(WorldError, match="<whiskers> is unknown"):
        formiga.read_world(ROOT / "examples/02_own_world.xml")
    for _ in range(2):
        formiga.load_elements(ROOT / "examples/02_own_elements.py")
        world = formiga.read_world(ROOT / "examples/02_own_world.xml")
        sim = formiga.Simulation(world, seed=1)
        assert sim.readings["roaches"]["whiskers"].shape == (1, 8, 2)


@pytest.mark.parametrize("source, words", [
    ("x = 1\ny = (\n", "mine.py:2: '(' was never closed"),
    ("x = 1\n\nx / 0\n", "mine.py:3: ZeroDivisionError: division by zero"),
    ("import no_such_library\n", "mine.py:1: ModuleNotFoundError: No module named 'no_such_library'"),
    ("def f():\n    raise ValueError('a\\nb')\nf()\n", "mine.py:2: ValueError: a b"),
    ("import sys\nsys.exit(3)\n", "mine.py:2: SystemExit: 3"),
    ("from formiga.world.elements import element\n@element('sbot', role='robot')\nclass S: pass\n",
     "mine.py:2: <sbot> is taken"),
])
def test_an_error_in_own_elements_is_one_line_with_its_place(source, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(source)
    with pytest.raises(FormigaError) as caught:
        formiga.load_elements("mine.py")
    assert str(caught.value).startswith(words) and "\n" not in str(caught.value)


def test_own_elements_that_are_not_there_are_one_line(tmp_path):
    with pytest.raises(FormigaError, match=r"none\.py: no such file"):
        formiga.load_elements(tmp_path / "none.py")
    with pytest.raises(FormigaError, match="is a directory"):
        formiga.load_elements(tmp_path)
    (tmp_path / "bytes.py").write_bytes(b"\xff\x00")
    with pytest.raises(FormigaError, match=r"bytes\.py:"):
        formiga.load_elements(tmp_path / "bytes.py")


def test_two_files_of_one_name_may_not_take_the_same_tag(tmp_path):
    source = (ROOT / "examples/02_own_elements.py").read_text()
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(source)
    formiga.load_elements(tmp_path / "a" / "mine.py")
    with pytest.raises(FormigaError, match="<whiskers> is taken"):
        formiga.load_elements(tmp_path / "b" / "mine.py")


# -- examples ---------------------------------------------------------------------------------------------------------
def example(name, *arguments):
    done = subprocess.run([sys.executable, str(ROOT / "examples" / name), *map(str, arguments)], capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_hello_prints_where_every_robot_is():
    run = formiga.simulate("corral", seconds=30, seed=7)
    lines = example("00_hello.py")
    assert [line.split()[2::2] for line in lines[1:]] == [[f"{x:+.3f}", f"{y:+.3f}"] for x, y in run.state.position[0]]


def test_walls_finds_some_robots_in_the_other_room_and_records_them(tmp_path):
    lines = example("01_walls.py", tmp_path)
    assert 0.0 < float(lines[0].split()[3]) < 3.0  # between nobody and as many as on the left
    assert lines[1].endswith("101 steps; running it again gives the same, bit for bit")
    assert formiga.read_world(tmp_path / "two_rooms.xml") == formiga.read_recording(tmp_path / "run.parquet").world


def test_own_controller_keeps_the_roaches_apart():
    """In 2,400 robot-steps they touch something in a few; without whiskers it would be hundreds."""
    words = example("02_own_controller.py")[0].split()
    assert words[:3] == ["after", "30", "s:"] and int(words[-2]) < 50


def test_the_notebook_of_localization_finds_the_robot_and_draws_it(tmp_path):
    lines = example("07_localization.py", tmp_path / "where.png")
    assert lines[0].startswith("step   1:") and lines[-1].startswith("from ranges:")
    assert float(lines[7].split()[-5]) < 0.3 and float(lines[-1].split()[2]) < 0.6
    assert (tmp_path / "where.png").stat().st_size > 10_000
