"""What all networks share: where their inputs come from, where their genes come from, and what their outputs do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from formiga.control.neural import genotype as genotypes
from formiga.control.neural.think import begin_world, think_all, think_world
from formiga.control.scaling import Scale, givers, scale_of, scale_stages, scaled
from formiga.control.shares import PARTS, Shares
from formiga.control.view import View
from formiga.errors import WorldError
from formiga.kernels.program import Stage
from formiga.state import Floats
from formiga.world.elements import complaint, file, number, of, text, where
from formiga.world.model import Group

OUTPUTS = 2  # of a network for two wheels, the left and the right one
DRIVE = ("drive",)


@dataclass(frozen=True)
class Network:
    """A network that moves a robot. Its outputs drive it: one for each channel of the drive, such as each of two wheels; with
    `outputs` also its joints, one for each, its lights, three for each, and its messages, one for each number.

        x_k = reading_k / full of its sensor, cut to 0..1; a reading whose range has numbers below 0 is scaled to -1..1
        channel_j = limit_j (2 o_j - 1), o_j in (0, 1): the j-th output; the limit of a wheel is its top speed
        joint_j = low_j + (high_j - low_j) o_j;  light_j = 255 o_j;  number_j of a message = limit (2 o_j - 1)
    """

    inputs: str = text("proximity", doc="names of readings; they are the inputs, one after another")
    outputs: str = text("drive", doc="what it orders: one or more of drive, joints, leds, message; always in this order")
    span: float = number(10.0, above=0.0, doc="a gene of 1 is a weight or a bias of this size")
    genotype: str | None = file(None, doc="a JSON file with its genes, such as `formiga evolve` writes")

    KIND: ClassVar[int]

    @property
    def sensors(self) -> list[str]:
        """The names in `inputs`."""
        return self.inputs.replace(",", " ").split()

    def shape(self, inputs: int, outputs: int = OUTPUTS) -> tuple[int, ...]:
        """Units in each layer, from the inputs to the outputs."""
        raise NotImplementedError

    def size(self, inputs: int, outputs: int = OUTPUTS) -> int:
        """How many genes it has."""
        raise NotImplementedError

    def express(self, genes: Floats, inputs: int, dt: float) -> Floats:
        """Genes (G, size) in [-1, 1] -> weights, biases ... in the same places."""
        return self.span * genes

    def memory(self, inputs: int) -> int:
        """How many numbers it keeps from step to step."""
        return 0

    @cached_property
    def stored(self) -> Floats | None:
        """The genes (1, size) in its file, or None."""
        if self.genotype is None:
            return None
        try:
            found = genotypes.read(self.genotype)
        except WorldError as wrong:
            raise complaint(self, wrong) from wrong
        if found.controller != of(self).tag:
            raise WorldError(f"{where(self)}{self.genotype}: a genotype of a <{found.controller[:40]}>, not of a "
                             f"<{of(self).tag}>.")
        return found.genes[None, :]

    def shares(self, group: Group) -> Shares:
        """What its outputs order, for the robots of a group; a clear error if they do not take that."""
        return _shares(_Itself(self), _Itself(group))

    def _make_shares(self, group: Group) -> Shares:
        place = f"{where(self)}<{of(self).tag}> outputs: "
        names = self.outputs.replace(",", " ").split()
        if not names:
            raise WorldError(f"{place}it names nothing to be ordered. It may name: {', '.join(PARTS)}.")
        return Shares(group, names, place)

    def decide(self, view: View) -> Any:
        """Channels of the drive (W, n, D), such as wheel speeds; or `Orders`, if the outputs are not the drive alone."""
        x, shares = self.look(view), self.shares(view.group)
        genes = self.genes(view.group, x.shape[-1], view.genotype)
        rows = np.empty((*view.shape, len(shares)))
        neurons = view.memory("neurons", np.zeros((*view.shape, self.memory(x.shape[-1]))))
        shape, plain = self.shape(x.shape[-1], len(shares)), shares.parts == DRIVE
        limits = shares.limits if plain else np.ones(len(shares))
        think_all(self.KIND, np.array(shape), self.express(genes, x.shape[-1], view.dt), view.dt, limits, x, neurons,
                  np.empty((2, max(shape))), rows)
        return rows if plain else shares.orders(shares.from_signed(rows))

    def stages(self, view: View, drive: Floats) -> list[Stage] | None:
        """The same as kernels that fill drive (W, n, D) and the outbox; None if it orders anything else."""
        shares = self.shares(view.group)
        plain = shares.parts == DRIVE
        rows, limits = (drive, shares.limits) if plain else (np.empty((*view.shape, len(shares))), np.ones(len(shares)))
        after = [] if plain else shares.stages(rows, drive, view.outbox)
        if after is None:
            return None
        readings = self._readings(view)
        stages, x = scale_stages(readings, self.scales(view.group, readings))
        inputs = x.shape[-1]
        weights = self.express(self.genes(view.group, inputs, view.genotype), inputs, view.dt)
        neurons = view.memory("neurons", np.zeros((*view.shape, self.memory(inputs))))
        shape = self.shape(inputs, len(shares))
        stages.append(Stage(begin_world, (view.noise.source()[1], neurons)))
        stages.append(Stage(think_world, (self.KIND, np.array(shape), weights, view.dt, limits, x, neurons,
                                          np.empty((2, max(shape))), rows)))
        return stages + after

    def look(self, view: View) -> Floats:
        """The inputs (W, n, I)."""
        readings = self._readings(view)
        return scaled(readings, self.scales(view.group, readings))

    def _readings(self, view: View) -> list[Any]:
        self.refuse_unknown(view.group)
        return [view.reading(name) for name in self.sensors]

    def refuse_unknown(self, group: Group) -> None:
        """WorldError if an input is none of the group's readings."""
        carried = givers(group)
        if not self.sensors:
            raise WorldError(f"{where(self)}<{of(self).tag}> inputs: it names no sensor. '{group.name}' carries: "
                             f"{', '.join(carried) or 'none'}.")
        for name in self.sensors:
            if name not in carried:
                raise WorldError(f"{where(self)}<{of(self).tag}> inputs: '{group.name}' carries no sensor '{name}'; it "
                                 f"carries: {', '.join(carried) or 'none'}.")

    def scales(self, group: Group, readings: Sequence[Any]) -> list[Scale]:
        """How each of its readings (W, n, ...) becomes inputs."""
        return _scales(_Itself(self), _Itself(group), tuple(reading.shape[2:] for reading in readings))

    def _make_scales(self, group: Group, shapes: tuple[tuple[int, ...], ...]) -> list[Scale]:
        carried = givers(group)
        found = [scale_of(carried[name], group, shape) for name, shape in zip(self.sensors, shapes, strict=True)]
        for scale in found:
            if not scale.bounded:
                raise WorldError(f"{where(self)}<{of(self).tag}> inputs: <{of(carried[scale.name]).tag}> has no full reading "
                                 "to be measured in (a property `full`), nor a range (a method `bounds`), so it cannot feed a "
                                 "network.")
        return found

    def genes(self, group: Group, inputs: int, given: Floats | None) -> Floats:
        """The genes in force: those that were given for each world (W, size), else those of the file (1, size)."""
        genes = self.stored if given is None else given
        tag, size = of(self).tag, self.size(inputs, len(self.shares(group)))
        if genes is None:
            raise WorldError(f"{where(self)}<{tag}> of '{group.name}' has no genotype yet. `formiga evolve` finds one; or "
                             f"name a file with its {size} genes: genotype=\"champion.json\".")
        if genes.shape[-1] != size:
            origin = f"{self.genotype}: " if given is None else ""
            raise WorldError(f"{where(self)}{origin}{genes.shape[-1]} genes, but <{tag}> of '{group.name}' with "
                             f"{inputs} inputs has {size}.")
        return genes


# -- made once for each network and group, since the readable loop asks in every step ---------------------------------------
class _Itself:
    """Stands for one object: elements of a user's own may have fields that cannot be hashed."""

    __slots__ = ("thing",)

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __hash__(self) -> int:
        return id(self.thing)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and other.thing is self.thing


@lru_cache(maxsize=256)
def _shares(network: _Itself, group: _Itself) -> Shares:
    made: Shares = network.thing._make_shares(group.thing)
    return made


@lru_cache(maxsize=256)
def _scales(network: _Itself, group: _Itself, shapes: tuple[tuple[int, ...], ...]) -> list[Scale]:
    made: list[Scale] = network.thing._make_scales(group.thing, shapes)
    return made


__all__ = ["Network", "OUTPUTS"]
