"""The networks' arithmetic, robot by robot. The layouts are those of the genotypes, told in each network's class."""

from __future__ import annotations

from math import exp

from formiga.kernels import kernel

LAYERED, ELMAN, CTRNN = range(3)


@kernel()
def think_all(kind, shape, weights, dt, limits, x, neurons, room, drive):
    """Channels drive (W, n, D), at most their limits (D,), from inputs x (W, n, I).

    weights (W, size), or (1, size) for all worlds alike.
    room (2, widest layer): working memory.
    """
    for w in range(x.shape[0]):
        think_world(w, kind, shape, weights, dt, limits, x, neurons, room, drive)


@kernel()
def begin_world(w, step, neurons):
    """At the start of a run, a network remembers nothing."""
    if step[w] == 0:
        for i in range(neurons.shape[1]):
            for h in range(neurons.shape[2]):
                neurons[w, i, h] = 0.0


@kernel(inline="always")
def think_world(w, kind, shape, weights, dt, limits, x, neurons, room, drive):
    """The same for world w; weights (W, size), or (1, size) for all worlds alike."""
    row = w % weights.shape[0]
    for i in range(x.shape[1]):
        if kind == LAYERED:
            layered(w, i, row, shape, weights, limits, x, room, drive)
        elif kind == ELMAN:
            elman(w, i, row, shape, weights, limits, x, neurons, room, drive)
        else:
            ctrnn(w, i, row, shape, weights, dt, limits, x, neurons, room, drive)


@kernel()
def sigmoid(z):
    """s(z) = 1 / (1 + exp(-z))"""
    return 1.0 / (1.0 + exp(-z))


@kernel()
def layered(w, i, row, shape, weights, limits, x, room, drive):
    """Layer after layer; the two rows of `room` are the layer before and the one that is being computed."""
    at = 0
    for layer in range(1, shape.shape[0]):
        before, now = room[(layer + 1) % 2], room[layer % 2]
        for j in range(shape[layer]):
            z = weights[row, at]
            at += 1
            for k in range(shape[layer - 1]):
                z += weights[row, at] * (x[w, i, k] if layer == 1 else before[k])
                at += 1
            now[j] = sigmoid(z)
    outputs = room[(shape.shape[0] - 1) % 2]
    for side in range(limits.shape[0]):
        drive[w, i, side] = limits[side] * (2.0 * outputs[side] - 1.0)


@kernel()
def elman(w, i, row, shape, weights, limits, x, neurons, room, drive):
    """The hidden layer, then the outputs."""
    inputs, H = shape[0], shape[1]
    now = room[0]
    at = 0
    for h in range(H):
        z = weights[row, at]
        for k in range(inputs):
            z += weights[row, at + 1 + k] * x[w, i, k]
        for j in range(H):
            z += weights[row, at + 1 + inputs + j] * neurons[w, i, j]
        now[h] = sigmoid(z)
        at += 1 + inputs + H
    for h in range(H):
        neurons[w, i, h] = now[h]
    steer(w, i, row, at, H, weights, limits, now, drive)


@kernel()
def ctrnn(w, i, row, shape, weights, dt, limits, x, neurons, room, drive):
    """One step of Euler's method, then the outputs."""
    inputs, H = shape[0], shape[1]
    fires, change = room[0], room[1]
    each = 2 + inputs + H
    for j in range(H):
        fires[j] = sigmoid(neurons[w, i, j] + weights[row, j * each + 1])
    for h in range(H):
        at = h * each
        z = -neurons[w, i, h]
        for k in range(inputs):
            z += weights[row, at + 2 + k] * x[w, i, k]
        for j in range(H):
            z += weights[row, at + 2 + inputs + j] * fires[j]
        change[h] = dt / weights[row, at] * z
    for h in range(H):
        neurons[w, i, h] += change[h]
        fires[h] = sigmoid(neurons[w, i, h] + weights[row, h * each + 1])
    steer(w, i, row, H * each, H, weights, limits, fires, drive)


@kernel()
def steer(w, i, row, at, H, weights, limits, hidden, drive):
    """o_j = s(c_j + sum_i v_ji h_i); channel_j = limit_j (2 o_j - 1)"""
    for side in range(limits.shape[0]):
        z = weights[row, at]
        for h in range(H):
            z += weights[row, at + 1 + h] * hidden[h]
        at += 1 + H
        drive[w, i, side] = limits[side] * (2.0 * sigmoid(z) - 1.0)
