"""2. What is true now: arrays with the world first. A single run is a batch of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, fields
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from formiga.errors import WorldError

Floats = NDArray[np.float64]
NOTHING_TO_KEEP = nullcontext()
ARRAY = "array"  # key of a field's metadata
Past = dict[tuple[str, str], tuple[Any, Any]]  # (owner, name) -> a memory, and which of it starts again


class Array(NamedTuple):
    """The declaration of one array of the state."""

    axes: tuple[str, ...]       # 'world', 'robot', 'body' ...: names of lengths, or a number
    dtype: Any
    kept: str                   # by an edit: 'robot', with each robot that stays; 'world', as it is; '', begins again
    columns: tuple[str, ...]    # of a recording that it fills
    first: float                # what it starts as


def array(axes: str, dtype: Any = np.float64, *, kept: str = "", columns: str = "", first: float = 0) -> Any:
    """Declare an array: a field of `Arrays`. Its axes are words with spaces between them, such as 'world robot 2'."""
    return field(metadata={ARRAY: Array(tuple(axes.split()), dtype, kept, tuple(columns.split()), first)})


@dataclass(kw_only=True)
class Arrays:
    """Arrays that are declared once, with `array`. All that is done to every one of them is derived from the declaration."""

    @classmethod
    @cache
    def declared(cls) -> dict[str, Array]:
        """Name -> declaration."""
        return {each.name: each.metadata[ARRAY] for each in fields(cls) if ARRAY in each.metadata}

    @classmethod
    def new(cls, sizes: Mapping[str, int], **given: Any) -> Self:
        """All arrays as they start, with lengths of axes from `sizes`; but for those that are given, and other fields."""
        made = {name: np.full([int(axis) if axis.isdecimal() else sizes[axis] for axis in each.axes], each.first, each.dtype)
                for name, each in cls.declared().items() if name not in given}
        return cls(**made, **given)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Name -> array, with those of a substate as `own.name`."""
        found = {name: getattr(self, name) for name in self.declared()}
        for each in fields(self):
            if isinstance(part := getattr(self, each.name), Arrays):
                found |= {f"{each.name}.{name}": values for name, values in part.arrays().items()}
        return found

    def clear(self, chosen: NDArray[np.bool_]) -> None:
        """All arrays of the chosen (W,) worlds as they start."""
        for name, each in self.declared().items():
            getattr(self, name)[chosen] = each.first
        for field_ in fields(self):
            if isinstance(part := getattr(self, field_.name), Arrays):
                part.clear(chosen)

    def show(self, other: Arrays, rows: slice) -> None:
        """Let all arrays be those of `other`, for some of its worlds: not copies."""
        for name in self.declared():
            setattr(self, name, getattr(other, name)[rows])
        for each in fields(self):
            if isinstance(part := getattr(self, each.name), Arrays):
                part.show(getattr(other, each.name), rows)

    @classmethod
    def together(cls, parts: Sequence[Self], **others: Any) -> Self:
        """The worlds of all parts, one after another."""
        joined: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in cls.declared()}
        for each in fields(cls):
            if isinstance(first := getattr(parts[0], each.name), Arrays):
                joined[each.name] = type(first).together([getattr(part, each.name) for part in parts])
        return cls(**joined, **others)


class Movable:
    """Columns of `State.movables`."""

    X, Y, HEADING, VX, VY, SPIN, ROLL_X, ROLL_Y = range(8)
    PLACE, POSE, MOTION, VELOCITY, ROLL = slice(0, 2), slice(0, 3), slice(0, 6), slice(3, 5), slice(6, 8)


class Grip:
    """Columns of `State.grips`."""

    MODE = 0                # OPEN, RIGID, or LOOSE: the held body may turn
    HELD = 1                # number of the robot that is held, or N + that of another body
    FORCE = 2               # N, on the gripper; TORN after it was pulled open
    AIM = slice(3, 14)      # how the two bodies hold together, in the engine's own terms
    PULL = slice(14, 17)    # N, x y z
    OPEN, RIGID, LOOSE, TORN = 0.0, 1.0, 2.0, -1.0


class Load:
    """Columns of `State.loads`: N and N m, in the world's frame. A torque is about the middle of the mass of its own body."""

    FORCE_ONE, TORQUE_ONE, FORCE_OTHER, TORQUE_OTHER = slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 12)
    NAMES = ("force_one", "torque_one", "force_other", "torque_other")


@dataclass(kw_only=True)
class State(Arrays):
    """Everything that changes, and only that. Its axes:

        world W   robot N, all groups one after another   channel D, of the drive with most   light L   joint K   speaker
        movable M, of world.movables   body B, of the engine's model.parts   word X, of messages: `world.media`
        motor, of world.motors   load, of the engine's joints of the world
    """

    position: Floats = array("world robot 2", columns="x y")                  # m
    heading: Floats = array("world robot", columns="heading")                 # rad, counter-clockwise from x; not wrapped
    start: Floats = array("world robot 3", kept="robot")                      # x y heading at which it was put into the world
    drive: Floats = array("world robot channel", kept="robot", columns="left right")  # what the drive did in the last step,
    #                                           in the units of its channels: rim speeds in m/s, or a speed and a steering angle
    wheel_angle: Floats = array("world robot channel", kept="robot")          # rad, turned since the start
    leds: NDArray[np.uint8] = array("world robot light 3", np.uint8, kept="robot")  # red green blue
    sound: Floats = array("world robot speaker 2", kept="robot", first=np.nan)  # intensity in m^2 and frequency in Hz of each
    #                                           loudspeaker; NaN: as its <loudspeaker> says
    outbox: Floats = array("world robot word", kept="robot", first=np.nan)    # messages; NaN: it sends none
    crashed: NDArray[np.bool_] = array("world robot", np.bool_, kept="robot", columns="crashed")  # contact in the last step
    crashes: NDArray[np.int64] = array("world robot", np.int64, kept="robot")  # steps with a contact since the start
    alive: NDArray[np.bool_] = array("world robot", np.bool_, kept="robot", columns="alive")  # false: stays where it is
    done: NDArray[np.bool_] = array("world", np.bool_, kept="world")          # ended; stands still until it is reset
    step: NDArray[np.int64] = array("world", np.int64, kept="world")          # steps taken
    velocity: Floats = array("world robot 3", kept="robot", columns="vx vy spin")  # m/s, m/s, rad/s; zero where bodies have
    #                                           no masses: contact models reposition, stop and none
    movables: Floats = array("world movable 8")                               # columns: Movable
    joint_command: Floats = array("world robot joint")                        # last command, in the unit of the joint's mode
    joint_position: Floats = array("world robot joint")                       # rad or m
    joint_effort: Floats = array("world robot joint")                         # N m or N
    motor_command: Floats = array("world motor")                              # of `world.motors`, in the unit of each mode
    motor_effort: Floats = array("world motor")                               # N m or N
    loads: Floats = array("world load 12")                                    # of joints of the world; columns: Load
    pull: Floats = array("world gripper 3")                                   # N, of all grips on a robot, in its own frame
    grips: Floats = array("world gripper 17")                                 # columns: Grip
    bodies: Floats = array("world body 7", columns="z qw qx qy qz")           # x y z, quaternion w x y z
    unresolved: NDArray[np.int64] = array("world", np.int64, kept="world")    # steps that ended with overlaps: too crowded
    key: NDArray[np.uint64] = array("world", np.uint64, kept="world")         # from which the world's noise is hashed
    own: Any = None                # arrays that only the engine understands, typed: its own subclass of Arrays
    memory: dict[tuple[str, str], Any] = field(default_factory=dict)  # (owner, name) -> (W, n, ...)
    forgotten: dict[tuple[str, str], Any] = field(default_factory=dict)  # (W, n) robots whose memory starts again
    genotypes: dict[str, Floats] = field(default_factory=dict)  # group -> (W, size) genes; a restart leaves them alone
    scratch: Any = None            # the engine's working memory; can be rebuilt from the rest at any time
    kept: dict[str, Any] = field(default_factory=dict)  # programs of elements' stages by owner: `kernels/kept.py`; as scratch
    undo: Past | None = None       # while sensors look: what they remembered before, of those memories that they asked for
    halted: bool = False           # the run is being ended: an engine leaves a long step in the middle

    @property
    def worlds(self) -> int:
        """How many worlds run together."""
        return self.position.shape[0]

    def refuse_halted(self) -> None:
        """Leave a step of a run that is being ended by another thread."""
        if self.halted:
            raise KeyboardInterrupt

    def note_start(self) -> None:
        """Let the robots of worlds that have not begun start where they are now."""
        begins = self.step == 0
        self.start[begins, :, :2], self.start[begins, :, 2] = self.position[begins], self.heading[begins]

    def remember(self, owner: str, name: str, first: Any) -> Any:
        """An array that belongs to a sensor or a controller; `first` (W, n, ...) is what it starts as.

        The caller changes it in place. A world that was restarted, or a robot that came later, gets `first` when it is next
        asked for; so does every robot if the memory is to have another shape than before.
        """
        if first is None:
            raise WorldError(f"{owner}: memory '{name}' needs what it starts as, an array (worlds, robots, ...); only a method "
                             "draw may leave that out.")
        key, first = (owner, name), np.asarray(first)
        self._note(key)
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

    def begin_look(self) -> None:
        """From now on, note what sensors and estimators remembered before they changed it, for `unlook`."""
        self.undo = {}

    def end_look(self) -> Past:
        """What was noted since `begin_look`: of the memories that were asked for alone, since a filter may have megabytes."""
        past, self.undo = self.undo or {}, None
        return past

    def touch(self, owner: str) -> None:
        """Kernels of an element that hold its memories are about to change them."""
        if self.undo is not None:
            for key in [key for key in self.memory if key[0] == owner]:
                self._note(key)

    def _note(self, key: tuple[str, str]) -> None:
        if self.undo is not None and key not in self.undo and _of_sensor(key):
            known = self.memory.get(key)
            self.undo[key] = (None, True) if known is None else (known.copy(), self.forgotten[key].copy())

    def unlook(self, past: Past) -> None:
        """Let the sensors remember what they did before they looked: they look again at the same step, which counts once."""
        for key, (before, forgotten) in past.items():
            memory = self.memory.get(key)
            if memory is not None and before is not None and before.shape == memory.shape:
                memory[...] = before
                self.forgotten[key] |= forgotten  # and whatever has begun again since then
            elif memory is not None:
                self.forgotten[key][...] = True

    def forget(self, mask: NDArray[np.bool_]) -> None:
        """Let all memory of the masked (W,) worlds start again."""
        for forgotten in self.forgotten.values():
            forgotten |= _for_each(mask, forgotten)

    def restart(self, mask: NDArray[np.bool_], fresh: State) -> None:
        """Take the masked worlds from a state that has just begun."""
        for values, begun in zip(self.arrays().values(), fresh.arrays().values(), strict=True):
            values[mask] = begun[mask]
        self.forget(mask)

    def go_on(self, before: State, kept: NDArray[np.int64]) -> None:
        """Take over from the state of the same worlds with other robots, all but poses and memories.

        kept (N,): the number that each robot had `before`, -1 for one that was not there.
        """
        stayed = kept >= 0
        for name, declared in self.declared().items():
            now, then = getattr(self, name), getattr(before, name)
            if declared.kept == "world":
                now[...] = then
            elif declared.kept == "robot":
                both = tuple(slice(min(sizes)) for sizes in zip(now.shape[2:], then.shape[2:], strict=True))
                now[:, stayed, *both] = then[:, kept[stayed], *both]

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


class Kinds(NamedTuple):
    """Shape and type of numbers of each array, which stay the same for good."""

    names: tuple[str, ...]
    kinds: tuple[tuple[tuple[int, ...], Any], ...]
    values: Callable[[State], tuple[Any, ...]]


CONTROLLER = "<controller>"  # owner of a controller's memory: group/<controller>; that of a sensor is group/sensor


def _of_sensor(key: tuple[str, str]) -> bool:
    return not key[0].endswith(f"/{CONTROLLER}")


def kinds_of(state: State) -> Kinds:
    """The kinds of all arrays."""
    arrays = state.arrays()
    return Kinds(tuple(arrays), tuple((values.shape, values.dtype) for values in arrays.values()), attrgetter(*arrays))


def refuse_others(state: State, kinds: Kinds) -> None:
    """WorldError if an array was replaced by one of another shape or type: kernels would read and write beside it."""
    for name, (shape, dtype), given in zip(kinds.names, kinds.kinds, kinds.values(state), strict=True):
        if not (isinstance(given, np.ndarray) and given.shape == shape and given.dtype == dtype):
            now = f"{given.dtype} {given.shape}" if isinstance(given, np.ndarray) else type(given).__name__
            raise WorldError(f"state.{name} must stay an array of {dtype} of the shape {shape}; it has become {now}.")


def _for_each(worlds: NDArray[np.bool_], like: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """A mask (W,) as one that goes with `like` (W, n)."""
    return worlds.reshape(-1, *[1] * (like.ndim - 1))
