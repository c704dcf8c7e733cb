"""Kernels in order, each tied to its arrays: a list that one compiled call runs, world by world and step by step.

    program = Program([Stage(fill_world, (position, cells)), Stage(drive_world, (wheels, dt, position))], worlds=256)
    program.run(0, 256, steps=100)

A stage is a kernel whose first argument is the number of a world. It is compiled once for its types of arguments, as a
function that takes a range of worlds and the address of a block of words: of each array the address, the shape and the
strides, of each number its 64 bits. So any kernels can be put together at run time, and nothing is compiled for the
combination. A few worlds at a time go through all their steps, so their state stays in the processor's cache. An argument that
is an `Each` has a value of its own in every world: then the stage has a block for each of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from inspect import signature
from linecache import getline
from operator import is_
from textwrap import shorten
from typing import Any, NamedTuple, NoReturn

import numpy as np
from llvmlite import ir
from numba import typeof
from numba import types as _types
from numba.core import sigutils
from numba.core.ccallback import CFunc as _CFunc
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numba.extending import intrinsic as _intrinsic

from formiga.errors import FormigaError
from formiga.kernels import OPTIONS, OnlyCompiled, kernel
from formiga.kernels.cache import Cache, content, give_up

types: Any = _types
CFunc: Any = _CFunc
intrinsic: Any = _intrinsic

WORD = ir.IntType(64)
LONGEST = 200        # characters of what numba says
NOISE = re.compile(r"\x1b\[[0-9;]*m|Failed in nopython mode pipeline \(step: [^)]*\)")
DETAILS = re.compile(r'\n\s*(?:File "|During: |There are \d+ candidate)')  # what follows is about numba
MAKES_ARRAY = "Only accept returning of array passed into the function"  # numba's message for a kernel without allocates=True
TOGETHER = 64        # robots, about, of the worlds that go through a stage together: enough that its start costs little
GO_ON, ENDED = 0, 1  # what a stage that `decides` may answer; more than ENDED: something is wrong
RAISED = -1          # a kernel of the user's own raised an exception: this number minus that of its stage


class Stage(NamedTuple):
    """A kernel `f(w, *arguments)`. One that `decides` returns GO_ON, or a number that ends the steps of this world; those of an
    element do not."""

    kernel: Any
    arguments: tuple[Any, ...]
    decides: bool = False


class Each:
    """An argument with a value of each world's own: `which` (W,) of the values it is. They are of one type: numbers, arrays, or
    tuples of them."""

    def __init__(self, values: Sequence[Any], which: Any) -> None:
        self.values, self.which = list(values), which

    def of(self, world: int) -> Any:
        """The value of a world."""
        return self.values[self.which[world]]


class Program:
    """Stages in order, for so many worlds. `stopped` (W,) has the number with which each world's steps ended, else GO_ON."""

    def __init__(self, stages: Sequence[Stage], worlds: int, robots: int = 1) -> None:
        """robots: in each world, about."""
        self.stopped = np.zeros(worlds, np.int64)
        self._stages = list(stages)
        self._together = max(1, TOGETHER // max(1, robots))
        self._given = [_given(stage, number, self.stopped) for number, stage in enumerate(stages)]  # keeps the arrays alive
        self._blocks = [_blocks(given, worlds) for given in self._given]
        self._table = np.array([(_entry(stage.kernel, _kind(stage, given), stage.decides).address, block.ctypes.data,
                                 block.strides[0] if len(block) > 1 else 0)
                                for stage, given, block in zip(stages, self._given, self._blocks, strict=True)],
                               np.int64).reshape(-1, 3)

    def run(self, first: int, last: int, steps: int = 1) -> bool:
        """So many steps of the worlds first .. last - 1; false if a stage found something wrong in one of them."""
        fine = bool(_run(self._table, first, last, steps, self._together, self.stopped))
        if not fine and (raised := self.stopped[first:last] <= RAISED).any():
            self._raise(first + int(np.argmax(raised)))
        return fine

    def _raise(self, w: int) -> NoReturn:
        """Raise the exception of a user's kernel in world w: it is run again from Python, which tells what and where."""
        own = self._stages[RAISED - int(self.stopped[w])].kernel
        with suppress(OnlyCompiled):  # it calls a kernel that Python cannot
            own.py_func(w, *(each.of(w) if isinstance(each, Each) else each
                             for each in self._stages[RAISED - int(self.stopped[w])].arguments))
        raise FormigaError(f"{_place(own)}the kernel {own.py_func.__name__} raised an exception in world {w}.")


@kernel()
def _run(stages, first, last, steps, together, stopped):
    fine = True
    for begin in range(first, last, together):
        end = min(last, begin + together)
        stopped[begin:end] = GO_ON
        for _ in range(steps):
            for k in range(stages.shape[0]):
                if stages[k, 2] == 0:
                    _call(stages[k, 0], begin, end, stages[k, 1])
                else:
                    for w in range(begin, end):
                        _call(stages[k, 0], w, w + 1, stages[k, 1] + w * stages[k, 2])
            going = False
            for w in range(begin, end):
                going |= stopped[w] == GO_ON
                fine &= stopped[w] == GO_ON or stopped[w] == ENDED
            if not going:
                break
    return fine


# -- a stage as a function of some worlds and an address ----------------------------------------------------------------
STAGE = """
def stage(first, last, block):
    given = load(block)
    stopped = given[0]
    for w in range(max(0, first), last):
        if stopped[w] == 0:
            {call}
"""
RAISES = """try:
                {call}
            except Exception:
                stopped[w] = -1 - given[1]"""  # a kernel of the user's own may


@cache
def _entry(kernel: Any, kind: Any, decides: bool) -> Any:
    """The compiled stage, from the cache or new."""
    given = ", ".join(f"given[{k}]" for k in range(1 if _ours(kernel) else 2, len(kind)))
    call = f"{'stopped[w] = ' * decides}kernel(w, {given})"
    source = STAGE.format(call=call if _ours(kernel) else RAISES.format(call=call))
    names: dict[str, Any] = {"kernel": kernel, "load": _loader(kind), "__name__": kernel.py_func.__module__}
    exec(source, names)
    made = CFunc(names["stage"], sigutils.normalize_signature("void(int64, int64, int64)"), {},
                 {**OPTIONS, "nopython": True, "_nrt": False, "no_cfunc_wrapper": False})
    made._cache = Cache(kernel.py_func, f"stage {source} {kind} {content(_loader)} {sorted(kernel.targetoptions.items())}")
    try:
        made.compile()
    except NumbaError as wrong:
        give_up()
        raise FormigaError(f"{_place(kernel)}the kernel {kernel.py_func.__name__} cannot be compiled for its arguments: "
                           f"{_reason(str(wrong), kernel.py_func.__code__.co_filename)}") from wrong
    return made


def _reason(said: str, file: str) -> str:
    """What numba says, in one line: what is wrong, and where in the file of the kernel."""
    said = NOISE.sub("", said)
    reason = shorten(DETAILS.split(said)[0], LONGEST, placeholder=" ...")
    if MAKES_ARRAY in said:
        reason += "; it makes an array: give it one as an argument, or write @formiga.kernel(allocates=True)"
    found = re.search(rf"at {re.escape(file)} \((\d+)\)", said)
    return f"{reason}, in line {found[1]}: {getline(file, int(found[1])).strip()}" if found else reason


def _ours(kernel: Any) -> bool:
    return bool(kernel.py_func.__module__.startswith("formiga."))


def _place(kernel: Any) -> str:
    code = kernel.py_func.__code__
    return f"{code.co_filename}:{code.co_firstlineno}: "


def _given(stage: Stage, number: int, stopped: Any) -> tuple[Any, ...]:
    """What a stage's function takes: its arguments behind `stopped`, and its number if its kernel may raise an exception."""
    kernel = stage.kernel
    if not isinstance(kernel, Dispatcher):
        raise FormigaError(f"a stage is a function with @kernel, not {kernel!r}.")
    if not isinstance(stage.arguments, tuple):
        raise FormigaError(f"{_place(kernel)}the arguments of the kernel {kernel.py_func.__name__} must be a tuple, not "
                           f"{type(stage.arguments).__name__}.")
    takes = signature(kernel.py_func)
    try:
        takes.bind(0, *stage.arguments)
    except TypeError:
        if not takes.parameters:
            raise FormigaError(f"{_place(kernel)}the kernel {kernel.py_func.__name__} takes no argument; its first must be the "
                               "number of the world.") from None
        raise FormigaError(f"{_place(kernel)}the kernel {kernel.py_func.__name__} takes {takes}, the number of the world first;"
                           f" its stage gives {len(stage.arguments)} more, not {len(takes.parameters) - 1}.") from None
    try:
        given = tuple(map(_plain, stage.arguments))
    except TypeError as wrong:
        raise FormigaError(f"{_place(kernel)}the kernel {kernel.py_func.__name__} {wrong}.") from wrong
    return (stopped, *given) if _ours(kernel) else (stopped, number, *given)


def _plain(value: Any) -> Any:
    """An argument that a kernel can take; a TypeError that says why if none can."""
    if isinstance(value, Each):
        values = [_plain(each) for each in value.values]
        if not all(alike(values[0], each) for each in values):
            raise TypeError("cannot take values of other types in some worlds of a batch than in the first")
        return Each(values, value.which)
    if isinstance(value, tuple):
        made: Any = tuple(map(_plain, value))
        same = all(map(is_, made, value))  # those of a NamedTuple have types that a kernel supports, and stay as they are
        return value if same else made if type(value) is tuple else type(value)(*made)
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biuf":
            raise TypeError(f"cannot take an array of {value.dtype}, only arrays of numbers")
        return value
    if isinstance(value, np.floating):
        return float(value)
    if isinstance(value, int | np.integer) and -(2**63) <= value < 2**63:
        return int(value) if isinstance(value, np.integer) else value
    if isinstance(value, float | np.bool_):
        return value
    raise TypeError(f"cannot take {value!r} as an argument, only arrays, numbers, and tuples of them")


def _kind(stage: Stage, given: tuple[Any, ...]) -> Any:
    try:
        return typeof(tuple(each.values[0] if isinstance(each, Each) else each for each in given))
    except ValueError as wrong:
        raise FormigaError(f"{_place(stage.kernel)}the kernel {stage.kernel.py_func.__name__} cannot take its arguments: "
                           f"{' '.join(str(wrong).split())[:LONGEST]}") from wrong


def _blocks(given: tuple[Any, ...], worlds: int) -> Any:
    """The arguments as words: one row (1, words), or one for each world (W, words) where some are `Each`."""
    if not any(isinstance(each, Each) for each in given):
        return np.array([_words(given)], np.int64)
    columns = []
    for each in given:
        if isinstance(each, Each):
            columns.append(np.array([_words(value) for value in each.values], np.int64)[each.which])
        else:
            columns.append(np.broadcast_to(np.array(_words(each), np.int64), (worlds, len(_words(each)))))
    return np.ascontiguousarray(np.concatenate(columns, axis=1))  # a block is read from its address on


def alike(one: Any, other: Any) -> bool:
    """Whether two arguments are of one type, so that one compiled stage serves both."""
    if isinstance(one, tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, np.ndarray):
        return (isinstance(other, np.ndarray) and one.dtype == other.dtype and one.ndim == other.ndim
                and _layout(one) == _layout(other) and one.flags.writeable == other.flags.writeable)
    return type(one) is type(other)


def _layout(array: Any) -> str:
    """As numba has it: an array of one row, say, is C and not F."""
    return "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else "A"


def _words(value: Any) -> list[int]:
    """An argument as 64-bit words, in the order in which `_loader` takes them."""
    if isinstance(value, tuple):
        return [word for each in value for word in _words(each)]
    if isinstance(value, np.ndarray):
        return [value.ctypes.data, *value.shape, *value.strides]
    return [int(np.float64(value).view(np.int64))] if isinstance(value, float) else [int(value)]


def _loader(kind: Any) -> Any:
    """A function for kernels: address of a block -> the tuple of arguments of this type."""

    @intrinsic
    def load(typing: Any, address: Any) -> Any:
        from numba.np.arrayobj import make_array, populate_array  # a fifth of a second, only when something is compiled

        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            block, taken = builder.inttoptr(given[0], WORD.as_pointer()), 0

            def take() -> Any:
                nonlocal taken
                word = builder.load(builder.gep(block, [ir.Constant(WORD, taken)]))
                word.set_metadata("invariant.load", builder.module.add_metadata([]))
                taken += 1
                return word

            def make(kind: Any) -> Any:
                if isinstance(kind, types.Array):
                    array = make_array(kind)(context, builder)
                    data = builder.inttoptr(take(), array.data.type)
                    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
                    shape, strides = ([take() for _ in range(kind.ndim)] for _ in range(2))
                    populate_array(array, data=data, shape=shape, strides=strides, itemsize=ir.Constant(WORD, size),
                                   meminfo=None)
                    return array._getvalue()
                if isinstance(kind, types.BaseTuple):
                    return context.make_tuple(builder, kind, [make(each) for each in kind])
                if isinstance(kind, types.Float) and kind.bitwidth == 64:
                    return builder.bitcast(take(), ir.DoubleType())
                if isinstance(kind, types.Boolean):
                    return builder.trunc(take(), ir.IntType(1))
                if isinstance(kind, types.Integer) and kind.bitwidth == 64:
                    return take()
                raise TypeError(f"a stage cannot take {kind}")

            return make(kind)

        return kind(types.int64), generate

    return load


@intrinsic
def _call(typing: Any, function: Any, first: Any, last: Any, block: Any) -> Any:
    """Call the stage at an address."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        stage = builder.inttoptr(given[0], ir.FunctionType(ir.VoidType(), [WORD] * 3).as_pointer())
        builder.call(stage, given[1:])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), generate


__all__ = ["ENDED", "Each", "GO_ON", "Program", "Stage", "alike"]
