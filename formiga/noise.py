"""Counter-based noise: a number is a hash of (seed, world, robot, step, channel, index), never the next of a sequence.

    start = stream(key, robot, step, channel)      # in a kernel: where the numbers of one robot, step and use begin
    unit(start, 0), either(start, 1, 0.5), gaussian(start, 1, 0.1)      # number 0, number 1, numbers 2 and 3 of them

So a result does not depend on how many worlds run together, on threads, or on the order of evaluation. The hash is the
finaliser of SplitMix64 [Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators"]: the coordinates
are folded in one after another, and the numbers of one stream are SplitMix64 started from there.
"""

from __future__ import annotations

from math import cos, log, pi, sqrt
from typing import Any
from zlib import crc32

import numpy as np

from formiga.kernels import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@kernel("uint64(uint64)")
def mix(z):
    """SplitMix64's finaliser: a bijection of 64 bits in which every input bit moves about half of the output's."""
    z = (z ^ (z >> _S30)) * _M1
    z = (z ^ (z >> _S27)) * _M2
    return z ^ (z >> _S31)


@kernel("uint64(uint64, int64)")
def fold(key, coordinate):
    """A new key from an old one and one more coordinate."""
    return mix(key ^ mix(np.uint64(coordinate) + GOLDEN)) + GOLDEN


@kernel("uint64(int64, int64)")
def world_key(seed, world):
    """The key of one world of a run."""
    return fold(fold(GOLDEN, seed), world)


@kernel("uint64(uint64, int64, int64, int64)")
def stream(key, robot, step, channel):
    """Where the numbers of one robot, step and channel begin."""
    return fold(fold(fold(key, robot), step), channel)


@kernel("float64(uint64, int64)")
def unit(start, index):
    """Number `index` of a stream, uniform in [0, 1)."""
    return (mix(start + GOLDEN * np.uint64(index + 1)) >> _S11) * (1.0 / 9007199254740992.0)


@kernel("float64(uint64, int64, float64)")
def either(start, index, half):
    """Number `index` of a stream, uniform in [-half, half)."""
    return half * (2.0 * unit(start, index) - 1.0)


@kernel("float64(uint64, int64, float64)")
def gaussian(start, index, sigma):
    """Number `index` of a stream, Gaussian with mean 0, by Box and Muller from its numbers 2 index and 2 index + 1."""
    return sigma * sqrt(-2.0 * log(1.0 - unit(start, 2 * index))) * cos(2.0 * pi * unit(start, 2 * index + 1))


def channel(*names: str) -> int:
    """The channel of a named device: the same on every machine, unlike `hash`."""
    return crc32("/".join(names).encode())


@kernel()
def _fill(keys, steps, first, channel, out):
    for w in range(out.shape[0]):
        for i in range(out.shape[1]):
            start = stream(keys[w], first + i, steps[w], channel)
            for k in range(out.shape[2]):
                out[w, i, k] = unit(start, k)


@kernel()
def _fill_normal(keys, steps, first, channel, sigma, out):
    for w in range(out.shape[0]):
        for i in range(out.shape[1]):
            start = stream(keys[w], first + i, steps[w], channel)
            for k in range(out.shape[2]):
                out[w, i, k] = gaussian(start, k, sigma)


@kernel()
def starts_of(keys, steps, first, channel, out):
    """Where the numbers of robots out (W, N) begin."""
    for w in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[w, i] = stream(keys[w], first + i, steps[w], channel)


class Noise:
    """Random numbers for one device of one group at this step, in shape (worlds, robots, size)."""

    def __init__(self, keys: Any, steps: Any, robots: slice, *names: str) -> None:
        self._keys, self._steps, self._robots, self._names = keys, steps, robots, names

    def held(self, steps: int) -> Noise:
        """The same noise, but new only every so many steps. Not for kernels, which divide steps[w] themselves."""
        return Noise(self._keys, self._steps // steps, self._robots, *self._names, "held")

    def source(self, *uses: str) -> tuple[Any, Any, int, int]:
        """Keys (W,), steps (W,), number of the first robot and channel, for a kernel that draws by itself: `stream`, `unit`.

        In a kernel, `stream(keys[w], first + i, steps[w], channel)` is where the numbers of robot i begin.
        """
        return self._keys, self._steps, self._robots.start, channel(*self._names, *uses)

    def starts(self, *uses: str) -> Any:
        """Where the numbers (W, N) of each robot begin, for functions of `formiga.locate` and the like: `stream` for all."""
        out = np.empty((len(self._keys), self._robots.stop - self._robots.start), np.uint64)
        starts_of(self._keys, self._steps, self._robots.start, channel(*self._names, *uses), out)
        return out

    def uniform(self, low: float, high: float, size: int = 1, use: str = "") -> Any:
        """Uniform in [low, high), (W, N, size). Two draws in one step differ only if their `use` differs."""
        out = np.empty((len(self._keys), self._robots.stop - self._robots.start, size))
        _fill(self._keys, self._steps, self._robots.start, channel(*self._names, use), out)
        return low + (high - low) * out

    def normal(self, sigma: float, size: int = 1, use: str = "") -> Any:
        """Gaussian with mean 0, (W, N, size), by Box and Muller's transform."""
        out = np.empty((len(self._keys), self._robots.stop - self._robots.start, size))
        _fill_normal(self._keys, self._steps, self._robots.start, channel(*self._names, use), sigma, out)
        return out


__all__ = ["Noise", "channel", "either", "fold", "gaussian", "mix", "starts_of", "stream", "unit", "world_key"]
