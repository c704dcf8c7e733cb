"""Runs of one world, compared bit for bit: of two simulations, of the compiled and the readable loop, of environments."""

from __future__ import annotations

import numpy as np

from formiga.envs.batch import Batch
from formiga.loop import Simulation


def assert_same(one, other, worlds=slice(None)):
    """That two simulations have the same state and remember the same, in all worlds or in those that are chosen."""
    for array, values in one.state.arrays().items():
        assert np.array_equal(values[worlds], other.state.arrays()[array][worlds], equal_nan=True), array
    assert one.state.memory.keys() == other.state.memory.keys()
    for key, memory in one.state.memory.items():
        assert np.array_equal(memory[worlds], other.state.memory[key][worlds]), key


def both(described, steps=40, seed=5, again=None, **given):
    """(compiled, readable) simulations of three worlds after as many steps; the worlds in `again` start again halfway."""
    labs = tuple(Simulation(described, seed, 3, compiled=compiled, **given) for compiled in (True, False))
    for lab in labs:
        for step in range(steps):
            if again is not None and step == steps // 2:
                lab.reset(np.array(again))
            lab.step()
    return labs


def episodes(batch, steps):
    """What all robots see and earn; world w starts again every 7, 11 and 13 steps, as w is 0, 1 or 2."""
    batch.reset(seed=3)
    told = []
    for step in range(1, steps):
        actions = np.random.default_rng(step).uniform(-1.0, 1.0, (3, batch.inputs.shape[1], 2))
        batch.step(actions[: len(batch.ended)])
        told.append([batch.inputs.copy(), batch.reward.copy(), batch.lab.state.position.copy()])
        over = np.array([step % every == 0 for every in (7, 11, 13)])[: len(batch.ended)]
        if over.any():
            batch.restart(over)
        told[-1].append(batch.inputs.copy())
    return told


def assert_episodes_depend_on_nothing_else(described, steps, compiled):
    """Neither on those of other worlds, nor on those before, nor on threads, nor on whether the loop is compiled.

    compiled: whether the world steps in one compiled call.
    """
    batch = Batch(described, 3, group="swarm")
    assert bool(batch._step_parts) == compiled
    first = episodes(batch, steps)
    for again in (batch, Batch(described, 3, group="swarm", threads=2), Batch(described, 3, group="swarm", compiled=False)):
        for one, other in zip(first, episodes(again, steps), strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    for one, alone in zip(first, episodes(Batch(described, 1, group="swarm"), steps), strict=True):
        assert all(np.array_equal(a[:1], b) for a, b in zip(one, alone, strict=True))
