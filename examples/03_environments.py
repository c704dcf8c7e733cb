"""The same task three times: for one learner, for a thousand worlds at once, and for a swarm of learners.

pip install 'formiga[envs]', then: python examples/03_environments.py
"""

import gymnasium
import numpy as np

import formiga
import formiga.envs  # tells Gymnasium the ids


def turn_from(seen):
    """Wheel speeds (..., 2) from the 15 proximity readings (..., 15) of an s-bot, IR0 left of the gap in front."""
    left, right = seen[..., :5].max(axis=-1), seen[..., -5:].max(axis=-1)
    return np.stack([1.0 - 2.0 * right, 1.0 - 2.0 * left], axis=-1).clip(-1.0, 1.0)


# One robot, one agent.
env = gymnasium.make("formiga/Avoid-v0")
seen, _ = env.reset(seed=7)
earned, over = 0.0, False
while not over:
    seen, reward, ended, late, _ = env.step(turn_from(seen).astype(np.float32))
    earned, over = earned + reward, ended or late
print(f"one world:   {earned / 300:.3f} a step")

# A thousand worlds of four robots, in one call. Worlds whose episode is over start again by themselves.
worlds = formiga.make_vector_env("avoid", 1000, robots=4)
seen, _ = worlds.reset(seed=7)
earned = 0.0
for _ in range(300):
    seen, rewards, *_ = worlds.step(turn_from(seen.reshape(1000, 4, 15)).reshape(1000, 8))
    earned += rewards.mean()
print(f"1000 worlds: {earned / 300:.3f} a step")

# Four robots, four agents.
swarm = formiga.parallel_env("avoid", robots=4)
seen, _ = swarm.reset(seed=7)
earned = dict.fromkeys(swarm.agents, 0.0)
while swarm.agents:
    seen, rewards, *_ = swarm.step({agent: turn_from(seen[agent]) for agent in swarm.agents})
    for agent, reward in rewards.items():
        earned[agent] += reward
print("four agents:", ", ".join(f"{agent} {sum_ / 300:.3f}" for agent, sum_ in earned.items()))
