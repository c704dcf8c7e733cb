"""2. What is true now: arrays with the world first. A single run is a batch of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formiga.errors import WorldError

Floats = NDArray[np.float64]
NOTHING_TO_KEEP = nullcontext()
Past = dict[tuple[str, str], tuple[Any, Any]]  # (owner, name) -> a memory, and which of it starts again


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
    motion: Floats                 # (W, N, 3) m/s, m/s, rad/s: velocity and spin; with contact model `impulse`, else zero
    loose: Floats                  # (W, M, 8) of each thing that can be pushed: x y heading, vx vy spin, and the velocity at
                                   # which a ball's surface rolls
    joints: Floats                 # (W, J, 8) welds and pins: kind, two bodies, the point in each one's frame, an angle; in
                                   # space (W, J, 29): holds, force and torque on `other`, and how its two bodies are held
    outputs: Floats                # (W, N, K) what each robot's further motors were told last: those of `robot.outputs`
    angles: Floats                 # (W, N, K) rad or m, where they are
    torques: Floats                # (W, N, K) N m or N, with which they push
    pull: Floats                   # (W, N, 3) N, with which what it holds and who holds it pull at a robot, in its own frame
    grips: Floats                  # (W, N, 17) grippers: 0 open, 1 rigid, 2 loose; what it holds (a robot's number, or N + a
                                   # body's); N, or -1 if it was torn open; 11 numbers of how; x y z of the force on it, N
    bodies: Floats                 # (W, B, 7) x y z, and a quaternion w x y z, of everything that moves: `model.parts`
    space: Floats                  # (W, S) all that motion in space goes on from. The last six are empty in the plane
    unresolved: NDArray[np.int64]  # (W,) steps after which some robots were still too close: too crowded
    key: NDArray[np.uint64]        # (W,) what the world's noise is hashed from
    memory: dict[tuple[str, str], Any] = field(default_factory=dict)  # (owner, name) -> (W, n, ...)
    forgotten: dict[tuple[str, str], Any] = field(default_factory=dict)  # (W, n) robots whose memory starts again
    genotypes: dict[str, Floats] = field(default_factory=dict)  # group -> (W, size) genes; a restart leaves them alone
    scratch: Any = None            # the engine's own; can be rebuilt from the rest at any time
    halted: bool = False           # the run is being ended: an engine leaves a long step in the middle

    @property
    def worlds(self) -> int:
        """How many worlds run together."""
        return self.position.shape[0]

    def refuse_halted(self) -> None:
        """Leave a step of a run that is being ended by another thread."""
        if self.halted:
            raise KeyboardInterrupt

    def remember(self, owner: str, name: str, first: Any) -> Any:
        """An array that belongs to a sensor or a controller; `first` (W, n, ...) is what it starts as.

        The caller changes it in place. A world that was restarted, or a robot that came later, gets `first` when it is next
        asked for; so does everybody if the memory is to have another shape than before.
        """
        key, first = (owner, name), np.asarray(first)
        if key not in self.memory or self.memory[key].shape != first.shape:
            self.memory[key] = first.copy()
            self.forgotten[key] = np.zeros(first.shape[:2], np.bool_)
        memory, forgotten = self.memory[key], self.forgotten[key]
        starting = forgotten | _for_each(self.step == 0, forgotten)
        if starting.any():
            memory[starting] = first[starting]
            forgotten[...] = False
        return memory

    def memory_stays(self, worlds: NDArray[np.bool_]) -> AbstractContextManager[None]:
        """Sensors and controllers may run for all worlds; the memory of the masked (W,) ones is afterwards as it was.

        With those that have ended, the end of a world is the same however many steps the others of its batch still take.
        """
        return self._keeping(worlds.copy()) if self.memory and worlds.any() else NOTHING_TO_KEEP

    @contextmanager
    def _keeping(self, mask: NDArray[np.bool_]) -> Iterator[None]:
        kept = [(key, memory, memory[mask]) for key, memory in self.memory.items()]
        yield
        for key, memory, before in kept:
            if self.memory[key] is memory:  # else it has been made anew, with another shape
                memory[mask] = before

    def sensors_remember(self) -> Past:
        """A copy of what the sensors remember, to be taken before they look, for `unlook`."""
        return {key: (memory.copy(), self.forgotten[key].copy()) for key, memory in self.memory.items() if _of_sensor(key)}

    def unlook(self, past: Past) -> None:
        """Let the sensors remember what they did before they looked: they look again at the same step, which counts once."""
        for key, memory in self.memory.items():
            if not _of_sensor(key):
                continue
            before, forgotten = past.get(key, (None, True))
            if before is not None and before.shape == memory.shape:
                memory[...] = before
                self.forgotten[key] |= forgotten  # and whatever has begun again since then
            else:
                self.forgotten[key][...] = True

    def forget(self, mask: NDArray[np.bool_]) -> None:
        """Let the memory of everybody in the masked (W,) worlds start again."""
        for forgotten in self.forgotten.values():
            forgotten |= _for_each(mask, forgotten)

    def restart(self, mask: NDArray[np.bool_], fresh: State) -> None:
        """Take the masked worlds from a state that has just begun."""
        for name in ARRAYS:
            getattr(self, name)[mask] = getattr(fresh, name)[mask]
        self.forget(mask)

    def go_on(self, before: State, kept: NDArray[np.int64]) -> None:
        """Take over from the state of the same worlds with other robots, all but poses and memories.

        kept (N,): the number that each robot had `before`, -1 for one that was not there.
        """
        stayed = kept >= 0
        lights = min(self.leds.shape[2], before.leds.shape[2])
        self.leds[:, stayed, :lights] = before.leds[:, kept[stayed], :lights]
        for name in ("wheels", "wheel_angle", "motion", "crashed", "crashes", "alive"):
            getattr(self, name)[:, stayed] = getattr(before, name)[:, kept[stayed]]
        for name in ("done", "step", "unresolved", "key"):
            getattr(self, name)[...] = getattr(before, name)

    def recall(self, before: State, owner: str, kept: NDArray[np.int64], count: int) -> None:
        """Take over what a sensor or a controller remembers of the robots of its group; there were `count` of them before.

        kept (n,): as in `go_on`, but numbers inside the group.
        """
        stayed = kept >= 0
        for key in [key for key in before.memory if key[0] == owner]:
            old, forgotten = before.memory[key], before.forgotten[key]
            if forgotten.shape != (before.worlds, count):  # nothing about robots
                self.memory[key], self.forgotten[key] = old.copy(), forgotten.copy()
                continue
            self.memory[key] = np.zeros((len(old), len(kept), *old.shape[2:]), old.dtype)
            self.forgotten[key] = np.ones((len(old), len(kept)), np.bool_)  # newcomers have nothing to remember
            self.memory[key][:, stayed] = old[:, kept[stayed]]
            self.forgotten[key][:, stayed] = forgotten[:, kept[stayed]]


ARRAYS = ("position", "heading", "wheels", "wheel_angle", "leds", "crashed", "crashes", "alive", "done", "step", "motion",
          "loose", "joints", "outputs", "angles", "torques", "pull", "grips", "bodies", "space", "unresolved", "key")


Kinds = dict[str, tuple[tuple[int, ...], Any]]
CONTROLLER = "<controller>"  # owns the memory (group/<controller>, name); sensors own theirs as group/sensor


def _of_sensor(key: tuple[str, str]) -> bool:
    return not key[0].endswith(f"/{CONTROLLER}")


def kinds_of(state: State) -> Kinds:
    """Name of each array -> its shape and its type of numbers, which stay the same for good."""
    return {name: (array.shape, array.dtype) for name in ARRAYS for array in (getattr(state, name),)}


def refuse_others(state: State, kinds: Kinds) -> None:
    """WorldError if an array was replaced by one of another shape or type: kernels would read and write beside it."""
    for name, (shape, dtype) in kinds.items():
        array = getattr(state, name)
        if not (isinstance(array, np.ndarray) and array.shape == shape and array.dtype == dtype):
            raise WorldError(f"state.{name} must stay an array of {dtype} of the shape {shape}; it has become "
                             f"{getattr(array, 'dtype', type(array).__name__)} {getattr(array, 'shape', '')}.")


def _for_each(worlds: NDArray[np.bool_], like: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """A mask (W,) as one that goes with `like` (W, n)."""
    return worlds.reshape(-1, *[1] * (like.ndim - 1))


def nothing_in_space(worlds: int) -> dict[str, Any]:
    """The arrays of an engine that knows no third dimension, no further motors and no grippers."""
    return {"outputs": np.zeros((worlds, 0, 0)), "angles": np.zeros((worlds, 0, 0)), "torques": np.zeros((worlds, 0, 0)),
            "pull": np.zeros((worlds, 0, 3)), "grips": np.zeros((worlds, 0, 17)), "bodies": np.zeros((worlds, 0, 7)),
            "space": np.zeros((worlds, 0))}
