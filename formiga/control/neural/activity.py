"""What the units of one robot's network say, layer by layer: for inspection, so plain and slow."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from formiga.control.neural.network import Network
from formiga.control.neural.think import CTRNN, LAYERED
from formiga.control.scaling import scaled
from formiga.state import Floats
from formiga.world.model import Group


def activity(network: Network, group: Group, readings: dict[str, Any], genes: Floats | None, neurons: Floats | None,
             dt: float) -> dict[str, Floats]:
    """Layer -> activations in 0..1. `readings` and `neurons` (what it keeps from step to step) are of one robot, `genes` of its
    world. A network without memory is shown as it would decide now, one with memory as it did in the last step."""
    given = [np.asarray(readings[name])[None, None] for name in network.sensors]
    x, outputs = scaled(given, network.scales(group, given))[0, 0], len(network.shares(group))
    own = None if genes is None else genes[None, :]
    weights = network.express(network.genes(group, len(x), own), len(x), dt)[0]
    layers = {"inputs": x}
    if network.KIND == LAYERED:
        shape, at, h = network.shape(len(x), outputs), 0, x
        for number, (before, after) in enumerate(pairwise(shape), start=1):
            block = weights[at:at + after * (before + 1)].reshape(after, before + 1)
            h, at = _sigmoid(block[:, 0] + block[:, 1:] @ h), at + block.size
            layers["outputs" if number == len(shape) - 1 else f"hidden {number}"] = h
        return layers
    if neurons is None or not len(neurons):
        return layers
    hidden = len(neurons)
    fires = neurons
    if network.KIND == CTRNN:
        fires = _sigmoid(neurons + weights[:hidden * (2 + len(x) + hidden)].reshape(hidden, -1)[:, 1])
    out = weights[-outputs * (1 + hidden):].reshape(outputs, 1 + hidden)
    return {**layers, "hidden": fires, "outputs": _sigmoid(out[:, 0] + out[:, 1:] @ fires)}


def _sigmoid(z: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-z)))


__all__ = ["activity"]
