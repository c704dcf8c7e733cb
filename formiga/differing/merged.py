"""The stages of worlds that differ, as one list: arguments that differ become each world's own.

The elements of each different world are asked for their stages over a state of a single world, a probe. What a stage of the
batch is given is then one of these:
    the same in all probes         it stays
    an array that has the world first, such as the state, readings, or genes for each world: it stays, and the rows of worlds
                                   whose probe computed others are filled in
    anything else that differs     an `Each`: noises, gains, tables, ranges, whatever an element gives its kernels
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from formiga.errors import CannotDiffer
from formiga.kernels.program import Each, alike
from formiga.state import State
from formiga.world.contract import shipped
from formiga.world.model import World

PARTS = ("look", "decide", "move")
Path = tuple[Any, ...]                # where an argument stands: part, numbers of the stage and the argument, places in tuples
Make = Callable[[World, State], Any]  # the parts of a step of a world, over a state


class Filled(NamedTuple):
    """An array of the batch that has the world first, and the row that a probe has for it."""

    path: Path
    array: Any
    row: Any


class Probe(NamedTuple):
    """The parts of a step of one world over its row of the state, and what its elements remember at the start."""

    world: int
    parts: Any
    memory: dict[Any, Any]


def sees_things(world: World, made: dict[str, Any]) -> bool:
    """Whether an element may have looked at the things of a world when it gave its stages. Those that ship have two ways, maps
    and `made`; one of the user's own may do so anywhere."""
    elements = [each for group in world.groups for each in (*group.sources, *group.carried["controller"])]
    return bool(made or world.maps) or not all(shipped(type(each)) for each in elements)


def beginning(state: State) -> dict[Any, Any]:
    """Which memories (W, n) start again when their elements are asked for stages; of others, all do."""
    return {key: forgotten | (state.step == 0).reshape(-1, *[1] * (forgotten.ndim - 1))
            for key, forgotten in state.forgotten.items()}


def merge(variants: Sequence[World], state: State, make: Make, parts: Any, begins: dict[Any, Any]) -> str:
    """Make `parts`, the stages of the first world for all, those of each world. Returns what some world does in another way, so
    that they cannot be one list; parts are then as they were.

    begins: what `beginning` said before `parts` were made.
    """
    kinds: dict[tuple[int, int], list[int]] = {}
    for w, world in enumerate(variants):
        kinds.setdefault((id(world.things), id(world.groups)), []).append(w)
    rows = list(kinds.values())
    probes = [_probed(variants[worlds[0]], worlds[0], state, make) for worlds in rows]
    for probe in probes:
        if probe.parts.lacking:
            return str(probe.parts.lacking)
        for name in PARTS:
            if [stage.kernel for stage in getattr(probe.parts, name)] != [stage.kernel for stage in getattr(parts, name)]:
                return "what works in another way in some worlds of the batch"
    which = np.zeros(len(variants), np.int64)
    for number, worlds in enumerate(rows):
        which[worlds] = number
    merging = _Merging(len(variants), which, [probe.world for probe in probes])
    made = {name: [stage._replace(arguments=tuple(
        merging.of((name, number, k), mine, [getattr(probe.parts, name)[number].arguments[k] for probe in probes])
        for k, mine in enumerate(stage.arguments))) for number, stage in enumerate(getattr(parts, name))] for name in PARTS}
    held = [*state.arrays().values(), *state.memory.values()]
    arrays = {id(each.array): each.array for each in merging.filled[0]}
    own = {number for number, array in arrays.items() if not any(np.may_share_memory(array, each) for each in held)}
    filled = [[each for each in each_kind if id(each.array) in own] for each_kind in merging.filled]
    for worlds, probe, rest in zip(rows, probes, filled, strict=True):
        if _fill(state, probe, rest, begins):  # then it may differ from world to world of this kind, too
            for w in worlds[1:]:
                other = _probed(variants[w], w, state, make)
                _fill(state, other, [each._replace(row=_at(other.parts, each.path)) for each in rest], begins)
    for name in PARTS:
        setattr(parts, name, made[name])
    return ""


def _probed(world: World, number: int, state: State, make: Make) -> Probe:
    probe = copy(state)
    probe.own = copy(state.own)
    probe.show(state, slice(number, number + 1))
    probe.memory, probe.forgotten, probe.kept = {}, {}, {}
    probe.genotypes = {name: genes[number:number + 1] for name, genes in state.genotypes.items()}
    return Probe(number, make(world, probe), probe.memory)


class _Merging:
    """Arguments of all worlds from those of the probes, the first of which is that of the batch's first world."""

    def __init__(self, worlds: int, which: Any, numbers: Sequence[int]) -> None:
        self.worlds, self.which, self.numbers = worlds, which, numbers
        self.filled: list[list[Filled]] = [[] for _ in numbers]

    def of(self, path: Path, mine: Any, probed: Sequence[Any]) -> Any:
        """An argument of the batch: its own, or an `Each`."""
        values = [self._value(path, mine, probed[0], each, number) for number, each in enumerate(probed)]
        return mine if all(value is mine or _equal(value, mine) for value in values) else Each(values, self.which)

    def _value(self, path: Path, mine: Any, first: Any, probed: Any, number: int) -> Any:
        """What a stage of one world is given, with arrays that have the world first as all worlds share them."""
        if probed is mine:
            return mine
        world = self.numbers[number]
        if isinstance(mine, tuple) and type(mine) is type(probed) and len(mine) == len(probed) == len(first):
            parts = [self._value((*path, k), *each, number) for k, each in enumerate(zip(mine, first, probed, strict=True))]
            if all(part is one for part, one in zip(parts, mine, strict=True)):
                return mine
            return tuple(parts) if type(mine) is tuple else type(mine)(*parts)
        if isinstance(mine, np.ndarray) and mine.shape[:1] == (self.worlds,) and first.shape[:1] == (1,):
            if not (isinstance(probed, np.ndarray) and probed.shape == first.shape and probed.dtype == first.dtype):
                raise CannotDiffer("how many numbers the robots read or remember", world)
            self.filled[number].append(Filled(path, mine, probed))
            return mine
        if not alike(mine, probed):
            raise CannotDiffer("the kind of the numbers that the robots work with", world)
        return probed


def _fill(state: State, probe: Probe, filled: Sequence[Filled], begins: dict[Any, Any]) -> bool:
    """Write what a probe computed into the rows of its world, in arrays and in memories that start; whether that was needed."""
    changed = False
    for each in filled:
        if each.row.tobytes() != each.array[probe.world].tobytes():
            if not each.array.flags.writeable:
                raise CannotDiffer("numbers that an element keeps for all worlds at once", probe.world)
            each.array[probe.world], changed = each.row[0], True
    for key, memory in probe.memory.items():
        kept = state.memory[key]
        if kept.shape[1:] != memory.shape[1:]:
            raise CannotDiffer(f"how many numbers '{key[0]}' remembers", probe.world)
        starts = begins[key][probe.world] if key in begins and begins[key].shape == kept.shape[:2] \
            else np.ones(kept.shape[1:2], np.bool_)
        if kept[probe.world][starts].tobytes() != memory[0][starts].tobytes():
            kept[probe.world][starts], changed = memory[0][starts], True
    return changed


def _at(parts: Any, path: Path) -> Any:
    name, number, *places = path
    found = getattr(parts, name)[number].arguments
    for place in places:
        found = found[place]
    return found


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, np.ndarray):
        return one is other or (one.shape == other.shape and one.tobytes() == other.tobytes())
    return bool(one is other or _bits(one) == _bits(other))


def _bits(number: Any) -> Any:
    """A number so that 0.0 and -0.0 are two, and NaN is one."""
    return np.float64(number).tobytes() if isinstance(number, float) else number


__all__ = ["beginning", "merge", "sees_things"]
