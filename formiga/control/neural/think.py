"""The networks' arithmetic, robot by robot. The layouts are those of the genotypes, told in each network's class."""

from __future__ import annotations

from math import exp

from formiga.kernels import kernel

LAYERED, ELMAN, CTRNN = range(3)


@kernel()
def think_all(kind, shape, weights, dt, top, x, neurons, room, wheels):
    """Wheel speeds (W, n, 2) from inputs x (W, n, I). weights (W, size), or (1, size) for all worlds alike.

    room (2, widest layer): working memory.
    """
    for w in range(x.shape[0]):
        think_world(w, kind, shape, weights, dt, top, x, neurons, room, wheels)


@kernel()
def scale_world(w, reading, full, at, x):
    """Readings (W, n, B) of one sensor -> its inputs x[..., at : at + B], in full readings, cut to 0..1."""
    for i in range(reading.shape[1]):
        for k in range(reading.shape[2]):
            x[w, i, at + k] = min(1.0, max(0.0, reading[w, i, k] / full))


@kernel()
def begin_world(w, step, neurons):
    """At the start of a run, a network remembers nothing."""
    if step[w] == 0:
        for i in range(neurons.shape[1]):
            for h in range(neurons.shape[2]):
                neurons[w, i, h] = 0.0


@kernel(inline="always")
def think_world(w, kind, shape, weights, dt, top, x, neurons, room, wheels):
    """The same for world w; weights (W, size), or (1, size) for all worlds alike."""
    row = w % weights.shape[0]
    for i in range(x.shape[1]):
        if kind == LAYERED:
            layered(w, i, row, shape, weights, top, x, room, wheels)
        elif kind == ELMAN:
            elman(w, i, row, shape, weights, top, x, neurons, room, wheels)
        else:
            ctrnn(w, i, row, shape, weights, dt, top, x, neurons, room, wheels)


@kernel()
def sigmoid(z):
    """s(z) = 1 / (1 + exp(-z))"""
    return 1.0 / (1.0 + exp(-z))


@kernel()
def layered(w, i, row, shape, weights, top, x, room, wheels):
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
    wheels[w, i, 0], wheels[w, i, 1] = top * (2.0 * outputs[0] - 1.0), top * (2.0 * outputs[1] - 1.0)


@kernel()
def elman(w, i, row, shape, weights, top, x, neurons, room, wheels):
    """The hidden layer, then the wheels."""
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
    steer(w, i, row, at, H, weights, top, now, wheels)


@kernel()
def ctrnn(w, i, row, shape, weights, dt, top, x, neurons, room, wheels):
    """One step of Euler's method, then the wheels."""
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
    steer(w, i, row, H * each, H, weights, top, fires, wheels)


@kernel()
def steer(w, i, row, at, H, weights, top, hidden, wheels):
    """o_j = s(c_j + sum_i v_ji h_i); wheel = top (2 o - 1)"""
    for side in range(2):
        z = weights[row, at]
        for h in range(H):
            z += weights[row, at + 1 + h] * hidden[h]
        at += 1 + H
        wheels[w, i, side] = top * (2.0 * sigmoid(z) - 1.0)
