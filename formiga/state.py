"""2. What is true now: arrays with the world first. A single run is a batch of one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass
class State:
    """Everything that changes, and only that. W worlds, N robots (all groups, one after another)."""

    position: Floats               # (W, N, 2) m
    heading: Floats                # (W, N) rad, counter-clockwise from x; not wrapped
    wheels: Floats                 # (W, N, 2) m/s at the rim, left and right, as they really turned in the last step
    wheel_angle: Floats            # (W, N, 2) rad turned since the start, left and right
    leds: NDArray[np.uint8]        # (W, N, L, 3) red green blue; L of the robot with most lights
    crashed: NDArray[np.bool_]     # (W, N) touched something in the last step
    crashes: NDArray[np.int64]     # (W, N) steps with a crash since the start
    alive: NDArray[np.bool_]       # (W, N) false: over the crash limit, stays where it is for good
    done: NDArray[np.bool_]        # (W,) this world has ended and stays still until it is reset
    step: NDArray[np.int64]        # (W,) steps taken
    unresolved: NDArray[np.int64]  # (W,) steps after which some robots were still too close: too crowded
    key: NDArray[np.uint64]        # (W,) what the world's noise is hashed from
    memory: dict[tuple[str, str], Any] = field(default_factory=dict)  # (owner, name) -> (W, n, ...)
    forgotten: dict[tuple[str, str], Any] = field(default_factory=dict)  # (W,) worlds whose memory starts again
    genotypes: dict[str, Floats] = field(default_factory=dict)  # group -> (W, size) genes; a restart leaves them alone
    scratch: Any = None            # the engine's own; can be rebuilt from the rest at any time

    @property
    def worlds(self) -> int:
        """How many worlds run together."""
        return self.position.shape[0]

    def remember(self, owner: str, name: str, first: Any) -> Any:
        """An array that belongs to a sensor or a controller; `first` is what it starts as in a world that starts.

        The caller changes it in place. A world that was restarted gets `first` again when it is next asked for.
        """
        if (owner, name) not in self.memory:
            self.memory[owner, name] = np.array(first)
            self.forgotten[owner, name] = np.zeros(self.worlds, np.bool_)
        starting = self.forgotten[owner, name] | (self.step == 0)
        if starting.any():
            self.memory[owner, name][starting] = np.asarray(first)[starting]
            self.forgotten[owner, name][:] = False
        return self.memory[owner, name]

    def restart(self, mask: NDArray[np.bool_], fresh: State) -> None:
        """Take the masked worlds from a state that has just begun."""
        for name in ARRAYS:
            getattr(self, name)[mask] = getattr(fresh, name)[mask]
        for forgotten in self.forgotten.values():
            forgotten |= mask


ARRAYS = ("position", "heading", "wheels", "wheel_angle", "leds", "crashed", "crashes", "alive", "done", "step", "unresolved",
          "key")
