"""The networks with matrices, one robot at a time: slow, different from the kernels, and like the textbooks."""

from itertools import pairwise

import numpy as np


def s(z):
    return 1.0 / (1.0 + np.exp(-z))


def layered(weights, sizes, x):
    """Outputs of a layered network; weights in the genotype's layout."""
    h, at = np.asarray(x, float), 0
    for before, after in pairwise(sizes):
        block = np.reshape(weights[at:at + after * (before + 1)], (after, before + 1))
        h, at = s(block[:, 0] + block[:, 1:] @ h), at + block.size
    assert at == len(weights)
    return h


def elman(weights, inputs, hidden, xs):
    """Outputs for a sequence of inputs."""
    block = np.reshape(weights[:hidden * (1 + inputs + hidden)], (hidden, -1))
    out = np.reshape(weights[block.size:], (2, 1 + hidden))
    h, outputs = np.zeros(hidden), []
    for x in xs:
        h = s(block[:, 0] + block[:, 1:1 + inputs] @ x + block[:, 1 + inputs:] @ h)
        outputs.append(s(out[:, 0] + out[:, 1:] @ h))
    return np.array(outputs)


def ctrnn(weights, inputs, hidden, xs, dt):
    """Outputs for a sequence of inputs; Euler's method with the given step."""
    block = np.reshape(weights[:hidden * (2 + inputs + hidden)], (hidden, -1))
    out = np.reshape(weights[block.size:], (2, 1 + hidden))
    tau, theta, u, w = block[:, 0], block[:, 1], block[:, 2:2 + inputs], block[:, 2 + inputs:]
    y, outputs = np.zeros(hidden), []
    for x in xs:
        y = y + dt / tau * (-y + w @ s(y + theta) + u @ x)
        outputs.append(s(out[:, 0] + out[:, 1:] @ s(y + theta)))
    return np.array(outputs)
