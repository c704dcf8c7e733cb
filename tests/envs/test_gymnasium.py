"""The environments as Gymnasium sees them: its own checks, the declared autoreset, one env against many."""

import subprocess
import sys
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import formiga
from formiga.envs import TASKS, register
from formiga.errors import FormigaError, MissingExtra, WorldError

SIZES = {"formiga/Avoid-v0": (15, 2), "formiga/Aggregate-v0": (138, 12), "formiga/Disperse-v0": (120, 16),
         "formiga/Phototaxis-v0": (23, 2), "formiga/Soccer-v0": (40, 2), "formiga/Avoid3D-v0": (30, 4),
         "formiga/Hexapod-v0": (39, 18)}


# -- the interface ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", TASKS)
def test_gymnasium_finds_nothing_to_complain_about(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(name, render_mode="rgb_array")
        check_env(env.unwrapped)
    assert (env.observation_space.shape, env.action_space.shape) == tuple((size,) for size in SIZES[name])
    assert env.observation_space.dtype == env.action_space.dtype == np.float32


@pytest.mark.parametrize("program", [
    "import gymnasium; gymnasium.make('formiga.envs:formiga/Avoid-v0').reset(seed=1)",
    "import gymnasium, formiga.envs; gymnasium.make('formiga/Avoid-v0').reset(seed=1)",
    "import sys, formiga.envs; assert not {'numba', 'matplotlib'} & sys.modules.keys()",
])
def test_a_new_process_finds_the_ids(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


def test_registering_twice_is_registering_once():
    register()
    register()
    assert set(TASKS) <= gymnasium.registry.keys()


def test_the_reward_is_the_mean_of_the_robots_and_observations_are_the_inputs_in_order():
    env = formiga.make_env("avoid", robots=3)
    env.reset(seed=8)
    for _ in range(50):
        seen, reward, ended, late, info = env.step(np.ones(6, np.float32))
    assert reward == pytest.approx(env.batch.reward.mean())
    assert np.array_equal(seen.reshape(3, 15), env.batch.inputs[0].astype(np.float32))
    assert (ended, late, info) == (False, False, {})


def test_time_truncates_and_crashes_terminate(own_world):
    env = formiga.make_env(own_world(limit=8))
    env.reset(seed=1)
    ends = [env.step(np.zeros(6))[2:4] for _ in range(50)]
    assert ends == [(False, False)] * 49 + [(False, True)]
    env = formiga.make_env(own_world(limit=8), max_episode_steps=300)
    env.reset(seed=1)
    ends = [env.step(np.ones(6))[2:4] for _ in range(299)]
    first = ends.index((True, False))
    assert ends[:first] == [(False, False)] * first and env.batch.lab.state.crashes.max() == 8
    assert env.step(np.ones(6))[1:4] == (0.0, True, False)  # and stays so


def test_an_env_may_be_used_after_it_was_closed_and_closed_again():
    for env in (formiga.make_env("avoid", robots=4), formiga.make_vector_env("avoid", 2, robots=4)):
        env.close()
        first, _ = env.reset(seed=1)
        assert env.step(env.action_space.sample())[0].shape == first.shape == env.observation_space.shape
        env.close()


# -- many worlds ------------------------------------------------------------------------------------------------------
def play(env, steps, seed):
    """All that a vector env returns; the actions of world w depend on w and the step alone."""
    size = env.single_action_space.shape
    actions = [np.random.default_rng(w).uniform(-0.3, 1, (steps, *size)) for w in range(env.num_envs)]
    yield env.reset(seed=seed)
    for t in range(steps):
        yield env.step(np.stack([each[t] for each in actions]).astype(np.float32))


def test_make_vec_uses_one_batch():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make_vec("formiga/Avoid-v0", num_envs=8, vectorization_mode="vector_entry_point")
    assert env.unwrapped.batch.lab.state.worlds == 8
    seen, infos = env.reset(seed=1)
    assert seen in env.observation_space and seen.shape == (8, 15) and infos == {}
    seen, reward, ended, late, infos = env.step(env.action_space.sample())
    assert seen in env.observation_space and seen.dtype == np.float32
    assert reward.shape == ended.shape == late.shape == (8,) and infos == {}
    assert gymnasium.make_vec("formiga/Avoid-v0", 2, robots=3, max_episode_steps=5).unwrapped.batch.limit == 5


def test_autoreset_is_that_of_gymnasiums_own_vector_env():
    ours = formiga.make_vector_env("avoid", 1, robots=4, max_episode_steps=11)
    theirs = SyncVectorEnv([lambda: formiga.make_env("avoid", robots=4, max_episode_steps=11)],
                           autoreset_mode=AutoresetMode.SAME_STEP)
    assert ours.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    for step, (one, other) in enumerate(zip(play(ours, 40, 6), play(theirs, 40, 6))):
        *arrays, infos = one
        assert all(np.array_equal(a, b) for a, b in zip(arrays, other[:-1]))
        assert infos.keys() == other[-1].keys() == ({"final_obs", "_final_obs", "final_info", "_final_info"}
                                                    if step and step % 11 == 0 else set())
        if infos:
            assert infos["final_obs"].dtype == other[-1]["final_obs"].dtype == object
            assert np.array_equal(infos["final_obs"][0], other[-1]["final_obs"][0])
            assert infos["final_info"] == other[-1]["final_info"] == {}
            assert infos["_final_obs"].tolist() == infos["_final_info"].tolist() == [True]


def test_only_the_worlds_that_are_over_start_again(own_world):
    env = formiga.make_vector_env(own_world(limit=4), 8, max_episode_steps=30)
    terminations = 0
    for seen, *rest in play(env, 90, 2):
        if len(rest) == 1:
            continue
        _, ended, late, infos = rest
        over = ended | late
        terminations += ended.sum()
        assert not (ended & late).any()
        assert (env.batch.lab.state.step == 0).tolist() == over.tolist()
        assert np.array_equal(seen, env.batch.inputs.reshape(8, -1).astype(np.float32))
        assert over.any() == bool(infos)
        if infos:
            assert [final is not None for final in infos["final_obs"]] == over.tolist() == infos["_final_obs"].tolist()
    assert terminations > 3


def test_one_env_is_world_0_of_many_bit_for_bit():
    one = formiga.make_env("disperse", max_episode_steps=25)
    actions = np.random.default_rng(0).uniform(-0.3, 1, (60, *one.action_space.shape)).astype(np.float32)
    expected = [one.reset(seed=3)[0]]
    for t in range(60):
        seen, _, ended, late, _ = one.step(actions[t])
        expected.append(one.reset()[0] if ended or late else seen)
    for worlds in (1, 5):
        many = [step[0] for step in play(formiga.make_vector_env("disperse", worlds, max_episode_steps=25), 60, 3)]
        assert all(np.array_equal(seen[0], row) for seen, row in zip(many, expected, strict=True))


SEEDED = [("disperse", {}, 25), ("avoid3d", {}, 8), ("soccer", {}, 25)]


@pytest.mark.parametrize("world, options, steps", SEEDED, ids=[each[0] for each in SEEDED])
def test_a_world_with_a_seed_of_its_own_is_the_single_env_of_that_seed_bit_for_bit(world, options, steps):
    """In the first episode and in those after it, whichever place it has in the list."""
    seeds = [9, 3, 3, 2**63 - 1]
    many = formiga.make_vector_env(world, 4, max_episode_steps=steps, **options)
    ones = [formiga.make_env(world, max_episode_steps=steps, **options) for _ in seeds]
    actions = np.random.default_rng(0).uniform(-0.3, 1, (2 * steps + 5, *ones[0].action_space.shape)).astype(np.float32)
    seen, expected = many.reset(seed=seeds)[0], [one.reset(seed=seed)[0] for one, seed in zip(ones, seeds, strict=True)]
    assert np.array_equal(seen[1], seen[2]) and not np.array_equal(seen[0], seen[1])
    for action in actions:
        assert np.array_equal(seen, expected)
        seen, rewards, *_ = many.step(np.stack([action] * 4))
        for k, one in enumerate(ones):
            expected[k], reward, ended, late, _ = one.step(action)
            assert rewards[k] == reward
            if ended or late:
                expected[k] = one.reset()[0]


def test_gymnasiums_wrappers_accept_it():
    from gymnasium.wrappers.vector import NormalizeReward, RecordEpisodeStatistics

    env = NormalizeReward(RecordEpisodeStatistics(formiga.make_vector_env("avoid", 3, robots=4, max_episode_steps=10)))
    env.reset(seed=1)
    for _ in range(10):
        *_, infos = env.step(env.action_space.sample())
    assert infos["episode"]["l"].tolist() == [10, 10, 10]


# -- pictures ---------------------------------------------------------------------------------------------------------
def test_a_picture_shows_the_robot_where_it_is():
    env = formiga.make_env("avoid", render_mode="rgb_array", robots=1)
    env.reset(seed=2)
    picture = env.render()
    assert picture.dtype == np.uint8 and picture.shape == (480, 480, 3)
    env.batch.lab.state.position[0, 0] = (0.5, 0.25)
    moved = env.render()
    colour = np.array(list(bytes.fromhex(env.batch.group.robot.colour[1:])))
    rows, columns = np.nonzero((np.abs(moved.astype(int) - colour) < 30).all(axis=-1))
    half = (0.5 + 0.03) * env.batch.world.arena.width  # of the picture: draw_world leaves a margin
    assert columns.mean() == pytest.approx(240 + 240 * 0.5 / half, abs=3)
    assert rows.mean() == pytest.approx(240 - 240 * 0.25 / half, abs=3)
    assert (picture != moved).any()


def test_every_world_of_a_vector_has_its_picture_and_without_a_mode_there_is_none():
    env = formiga.make_vector_env("avoid", 2, robots=4, render_mode="rgb_array")
    env.reset(seed=1)
    one, other = env.render()
    assert one.shape == other.shape and (one != other).any()
    assert formiga.make_env("avoid").render() is None and formiga.make_vector_env("avoid", 2).render() is None


# -- what goes wrong --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("call, error, complaint", [
    (lambda: formiga.make_env("avoidd"), WorldError, "no world 'avoidd'. Did you mean 'avoid'?"),
    (lambda: formiga.make_env("avoid", robot=3), FormigaError, "'robot'.*Did you mean 'robots'?"),
    (lambda: formiga.make_env("avoid", render_mode="human"), FormigaError, "'human' is unknown. It may be: rgb_array"),
    (lambda: formiga.make_env("avoid", max_episode_steps=0), WorldError, "max_episode_steps 0 is out of range"),
    (lambda: formiga.make_vector_env("avoid", 0, robots=4), WorldError, "at least 1"),
    (lambda: formiga.make_vector_env("avoid", 2, robots=4).reset(seed=2**63), WorldError, "seed .* out of range"),
    (lambda: formiga.make_vector_env("avoid", 2, robots=4).reset(seed=[1, 2, 3]), WorldError,
     "there are 3 seeds for 2 worlds. Allowed are one whole number for all, or a list with one for each"),
    (lambda: formiga.make_vector_env("avoid", 2, robots=4).reset(seed=[1, None]), WorldError, "seed 1"),
    (lambda: formiga.make_env("avoid", robots=4).reset(seed=[1]), WorldError, "seed"),
    (lambda: formiga.make_env(formiga.read_world("avoid"), robots=3), WorldError, "'robots' is a parameter of a world's file"),
    (lambda: formiga.make_env("avoid", group="swam"), WorldError, "no group 'swam'"),
])
def test_a_mistake_is_named(call, error, complaint):
    with pytest.raises(error, match=complaint):
        call()


@pytest.mark.parametrize("action", [np.zeros(3), np.zeros((1, 8)), np.full(8, np.nan), None])
def test_an_action_that_is_none_is_refused(action):
    env = formiga.make_env("avoid", robots=4)
    env.reset(seed=1)
    with pytest.raises(FormigaError, match="action"):
        env.step(action)


@pytest.mark.parametrize("library, make", [
    ("gymnasium", lambda: formiga.make_env("avoid", robots=4)),
    ("gymnasium", lambda: formiga.make_vector_env("avoid", 2, robots=4)),
    ("gymnasium", lambda: register()),
    ("pettingzoo", lambda: formiga.parallel_env("avoid", robots=4)),
])
def test_without_the_library_the_message_says_what_to_install(library, make, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    for module in ("single", "vector", "parallel"):
        monkeypatch.delitem(sys.modules, f"formiga.envs.{module}", raising=False)
    with pytest.raises(MissingExtra, match=r"pip install 'formiga\[envs\]'"):
        make()


def test_the_package_can_be_imported_without_gymnasium():
    program = "import sys; sys.modules['gymnasium'] = None; import formiga.envs; from formiga.envs.batch import Batch"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr


# -- what the manual says ---------------------------------------------------------------------------------------------
def test_the_manual_shows_the_training_script_as_it_is():
    root = Path(__file__).parents[2]
    script = (root / "examples" / "04_train.py").read_text(encoding="utf-8")
    assert f"```python\n{script}```" in (root / "docs" / "guides" / "environments.md").read_text(encoding="utf-8")


def test_the_example_runs():
    example = Path(__file__).parents[2] / "examples" / "03_environments.py"
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["one world", "1000 worlds", "four agents"]
