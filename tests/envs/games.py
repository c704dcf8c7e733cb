"""Games of robot soccer for the tests of its environments."""


import numpy as np

from formiga.envs.soccer.batch import SoccerBatch
from formiga.envs.soccer.task import Task
from formiga.soccer import league

EVERYBODY = range(6)
TOP, BASE = 60.0 * 0.022, 0.075  # m/s at the rim and m between the wheels, of the league's robot


def games(worlds=1, agents=EVERYBODY, steps=None, **options):
    """A batch of the league's games."""
    return SoccerBatch(league.world(dt=0.025), worlds, agents=agents, task=Task(**options), steps=steps)


def course(batch, steps, seed=5):
    """Everything after every step, under actions that depend on the world and the step alone; held, so that robots go far."""
    W, A = batch.reward.shape
    actions = np.stack([np.random.default_rng([1, w]).uniform(-1.5, 1.5, (steps // 8 + 1, A, 2)) for w in range(W)], axis=1)
    batch.reset(seed)
    seen = [[batch.inputs.copy()]]
    for t in range(steps):
        batch.step(actions[t // 8])
        seen.append([each.copy() for each in (batch.inputs, batch.reward, batch.terms, batch.ended, batch.late)])
        batch.restart(batch.over)
        seen.append([batch.inputs.copy(), batch.lab.state.key.copy()])
    return seen


def same(one, other, worlds=slice(None)):
    """Whether two courses agree bit for bit in the first worlds."""
    return all(np.array_equal(a[worlds], b[worlds]) for left, right in zip(one, other) for a, b in zip(left, right))


def about_to_score(batch, side):
    """Everybody out of the way, the ball in front of a goal and rolling into it."""
    state = batch.lab.state
    state.position[..., 0], state.position[..., 1], state.heading[...] = np.linspace(-0.5, 0.5, 6), 0.5, 0.0
    state.velocity[...], state.movables[...] = 0.0, 0.0
    state.movables[:, 0, 0], state.movables[:, 0, 3] = 0.7 * side, 1.0 * side
    batch.look_again()
