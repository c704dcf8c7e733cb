"""Teach an s-bot to drive fast and straight and touch nothing: PPO of stable-baselines3, in 64 worlds at once, three times.

pip install 'formiga[train]', then: python examples/04_train.py [FOLDER for the learning curves and the last policy]
"""

import sys
from pathlib import Path

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

import formiga
from formiga.envs.batch import Batch

WORLD = formiga.read_world("avoid", robots=1)
WORLDS, STEPS, EVERY, SEEDS = 64, 600_000, 25_000, (1, 2, 3)


class Swarm(VecEnv):
    """formiga's vector env as stable-baselines3 wants it. Both start a world again in the step that it ends in."""

    def __init__(self, env):
        self.env = env
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def reset(self):
        return self.env.reset(seed=self._seeds[0])[0]

    def step_async(self, actions):
        self.actions = actions

    def step_wait(self):
        seen, reward, ended, late, infos = self.env.step(self.actions)
        each = [{} for _ in range(self.num_envs)]
        for w in np.flatnonzero(ended | late):
            each[w] = {"terminal_observation": infos["final_obs"][w], "TimeLimit.truncated": bool(late[w])}
        return seen, reward, ended | late, each

    def close(self):
        self.env.close()

    def get_attr(self, name, indices=None):
        return [getattr(self.env, name) for _ in self._get_indices(indices)]

    def set_attr(self, name, value, indices=None):
        setattr(self.env, name, value)

    def env_method(self, name, *args, indices=None, **kwargs):
        raise NotImplementedError("the worlds of a batch are not objects of their own")

    def env_is_wrapped(self, wrapper, indices=None):
        return [False for _ in self._get_indices(indices)]


def judge(act, worlds=256, seed=1_000_000):
    """Mean reward of a step, and the share of episodes without a crash, in unseen worlds."""
    batch = Batch(WORLD, worlds)
    batch.reset(seed)
    earned = 0.0
    for _ in range(batch.limit):
        batch.step(act(batch.inputs[:, 0].astype(np.float32))[:, None])
        earned += batch.reward.mean()
    return earned / batch.limit, (batch.lab.state.crashes == 0).mean()


class Curve(BaseCallback):
    """Judges the policy, without the noise that it explores with, every so many steps."""

    def __init__(self):
        super().__init__()
        self.points = []

    def _on_step(self):
        if self.num_timesteps >= EVERY * len(self.points):
            self.points.append((self.num_timesteps, *judge(self.act)))
        return True

    def act(self, seen):
        return self.model.predict(seen, deterministic=True)[0]


def train(seed):
    """One run of PPO: the model, and its learning curve (points, 3) of steps, reward, share without a crash."""
    env = Swarm(formiga.make_vector_env(WORLD, WORLDS))
    env = VecNormalize(env, norm_obs=False, gamma=0.95)  # a crash costs as much as many steps earn
    model = PPO("MlpPolicy", env, seed=seed, n_steps=128, batch_size=1024, n_epochs=5, learning_rate=1e-3, gamma=0.95,
                policy_kwargs={"net_arch": [32, 32]}, device="cpu")
    curve = Curve()
    model.learn(STEPS, callback=curve)
    return model, np.array(curve.points)


def draw(curves, path):
    """The learning curves as a picture."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for seed, curve in curves.items():
        axes.plot(curve[:, 0] / 1000, curve[:, 1], label=f"PPO, seed {seed}")
    axes.set(xlabel="steps of a robot (thousands)", ylabel="reward of a step", title="formiga/Avoid-v0")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    torch.set_num_threads(1)
    blind, untouched = judge(lambda seen: np.ones((len(seen), 2)))
    print(f"straight ahead: {blind:.3f} a step, {untouched:.0%} of the episodes without a crash")
    curves = {}
    for seed in SEEDS:
        model, curves[seed] = train(seed)
        steps, reward, untouched = curves[seed][-1]
        print(f"PPO, seed {seed}: {reward:.3f} a step, {untouched:.0%} of the episodes without a crash ({steps:.0f} steps)")
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        draw(curves, folder / "training.png")
        model.save(folder / "avoid.zip")
