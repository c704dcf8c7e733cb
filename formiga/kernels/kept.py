"""Programs that are kept from step to step: `Bound` of any stages, `run_kept` of one element in the readable loop.

    sensor.read, controller.decide, estimator.estimate and fitness.reward of an element that gives only `stages` are `run_kept`.

A program holds arrays of the state, so it is made again when one of them was replaced by another, when a memory starts again,
or when genes have changed. Readings are new arrays in every step; the program of one element holds copies, which are filled
before it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter, is_
from textwrap import shorten
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from formiga.errors import FormigaError
from formiga.kernels.program import LONGEST, Program, Stage

Made = tuple[Any, Sequence[Stage]]     # the array that is filled, and the stages that fill it
Inputs = dict[str, Any]


class Bound:
    """A program of stages that hold arrays of one state. memory: what the elements of these stages remember in it."""

    def __init__(self, state: Any, stages: Sequence[Stage], robots: int, memory: Mapping[Any, Any]) -> None:
        self.program = Program(stages, state.worlds, robots)
        self._held = holding(state, stages)
        self._arrays = self._held(state)
        self._memory = dict(memory)
        self._genes = {name: genes.copy() for name, genes in state.genotypes.items()}

    def current(self, state: Any) -> bool:
        """Whether all that the program holds is still what it was made from."""
        return (all(map(is_, self._arrays, self._held(state)))
                and all(state.memory.get(key) is memory and not state.forgotten[key].any()
                        for key, memory in self._memory.items())
                and state.genotypes.keys() == self._genes.keys()
                and all(np.array_equal(state.genotypes[name], genes) for name, genes in self._genes.items()))


class Kept:
    """The program of one element, with copies of the readings that it takes."""

    def __init__(self, state: Any, owner: str, element: Any, make: Callable[[Inputs], Made],
                 readings: Mapping[str, Any]) -> None:
        self.element = element
        inputs = {name: np.array(reading) for name, reading in readings.items()}
        self.out, stages = make(inputs)     # filled again by every run
        memory = {key: memory for key, memory in state.memory.items() if key[0] == owner}
        self._bound = Bound(state, stages, self.out.shape[1], memory)
        given = list(arrays_of(stages))
        self.inputs = {name: copy for name, copy in inputs.items() if any(np.may_share_memory(copy, each) for each in given)}

    def current(self, state: Any, readings: Mapping[str, Any]) -> bool:
        """Whether the program still holds what it was made from, and takes readings of these shapes."""
        return self._bound.current(state) and all(readings[name].shape == copy.shape and readings[name].dtype == copy.dtype
                                                  for name, copy in self.inputs.items())

    def run(self, readings: Mapping[str, Any]) -> None:
        """Fill `out` from these readings."""
        for name, copy in self.inputs.items():
            copy[...] = readings[name]
        self._bound.program.run(0, len(self.out))


def run_kept(state: Any, owner: str, element: Any, make: Callable[[Inputs], Made],
             readings: Mapping[str, Any] | None = None) -> Kept:
    """Run the stages of an element for all worlds of a `State`, into `out` of what is returned.

    owner: as of the element's memories; its program is kept under that name. make(readings): the array that they fill, and the
    stages; it is given copies of the readings.
    """
    given: Mapping[str, Any] = readings or {}
    kept = state.kept.get(owner)
    if kept is None or kept.element is not element or not kept.current(state, given):
        kept = state.kept[owner] = Kept(state, owner, element, make, given)
    state.touch(owner)
    kept.run(given)
    return kept


def listed(element: Any, made: Any) -> list[Stage]:
    """The stages that an element gave; FormigaError with file and line of its method if they are none."""
    given = made if isinstance(made, list) else [made]
    odd = [each for each in given if not (isinstance(each, Stage) and isinstance(each.kernel, Dispatcher) and not each.decides)]
    if not odd and isinstance(made, list):
        return made
    code = type(element).stages.__code__
    words = shorten(repr((odd or given)[0]), LONGEST, placeholder=" ...")
    raise FormigaError(f"{code.co_filename}:{code.co_firstlineno}: the method stages of {type(element).__name__} must give a "
                       f"list of formiga.Stage(kernel, arguments), each with a function that has @formiga.kernel and without "
                       f"decides=True, not {words}.")


def holding(state: Any, stages: Sequence[Stage]) -> Callable[[Any], tuple[Any, ...]]:
    """A function of a state: those of its arrays that these stages hold of this one, whole or as a view."""
    given = list(arrays_of(stages))
    names = [name for name, values in state.arrays().items() if any(np.may_share_memory(values, each) for each in given)]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda state: tuple(attrgetter(name)(state) for name in names)


def arrays_of(stages: Sequence[Stage]) -> Iterator[Any]:
    """All arrays among the arguments of stages, also those in tuples; but for those that each world has of its own."""
    waiting = [argument for stage in stages for argument in stage.arguments]
    while waiting:
        each = waiting.pop()
        if isinstance(each, np.ndarray):
            yield each
        elif isinstance(each, tuple):
            waiting += each


__all__ = ["Bound", "Kept", "arrays_of", "holding", "listed", "run_kept"]
