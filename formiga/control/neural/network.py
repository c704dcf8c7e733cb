"""What all networks share: where their inputs come from, where their genes come from, and what their outputs do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from formiga.control.neural import genotype as genotypes
from formiga.control.neural.think import begin_world, scale_world, think_all, think_world
from formiga.control.view import View
from formiga.errors import WorldError
from formiga.kernels.program import Stage
from formiga.state import Floats
from formiga.world.contract import channels
from formiga.world.elements import complaint, file, number, of, text, where
from formiga.world.model import Group

OUTPUTS = 2  # of a network for two wheels, the left and the right one


@dataclass(frozen=True)
class Network:
    """A network that drives a robot: it has an output for each channel of the drive, such as each of two wheels.

        x_k = reading_k / full of its sensor, cut to 0..1
        channel_j = limit_j (2 o_j - 1), o_j in (0, 1): the j-th output; the limit of a wheel is its top speed
    """

    inputs: str = text("proximity", doc="names of sensors; their readings, one after another, are the inputs")
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

    def decide(self, view: View) -> Floats:
        """Channels of the drive (W, n, D), such as wheel speeds."""
        x, limits = self.look(view), self.limits(view.group)
        genes = self.genes(view.group, x.shape[-1], view.genotype)
        drive = np.empty((*view.shape, len(limits)))
        neurons = view.memory("neurons", np.zeros((*view.shape, self.memory(x.shape[-1]))))
        shape = self.shape(x.shape[-1], len(limits))
        think_all(self.KIND, np.array(shape), self.express(genes, x.shape[-1], view.dt), view.dt, limits, x, neurons,
                  np.empty((2, max(shape))), drive)
        return drive

    def limits(self, group: Group) -> Floats:
        """Of the channels (D,) of the robots that it drives."""
        if group.robot.drive is None:
            raise WorldError(f"{where(self)}<{of(self).tag}> drives robots, and those of '{group.name}' have no drive.")
        return np.array(group.robot.drive.limits, np.float64)

    def stages(self, view: View, drive: Floats) -> list[Stage]:
        """The same as kernels that fill drive (W, n, D)."""
        full = self.scales(view.group)  # says what is missing
        stages, x = scale_stages([view.reading(name) for name in self.sensors], full)
        inputs = x.shape[-1]
        weights = self.express(self.genes(view.group, inputs, view.genotype), inputs, view.dt)
        neurons = view.memory("neurons", np.zeros((*view.shape, self.memory(inputs))))
        limits = self.limits(view.group)
        shape = self.shape(inputs, len(limits))
        stages.append(Stage(begin_world, (view.noise.source()[1], neurons)))
        stages.append(Stage(think_world, (self.KIND, np.array(shape), weights, view.dt, limits, x, neurons,
                                          np.empty((2, max(shape))), drive)))
        return stages

    def look(self, view: View) -> Floats:
        """The inputs (W, n, I)."""
        full = self.scales(view.group)  # says what is missing
        return scaled([view.reading(name) for name in self.sensors], full)

    def scales(self, group: Group) -> list[float]:
        """For each sensor that it reads, the reading that counts as one."""
        carried = {sensor.name: sensor for sensor in group.sensors}
        if not self.sensors:
            raise WorldError(f"{where(self)}<{of(self).tag}> inputs: it names no sensor. '{group.name}' carries: "
                             f"{', '.join(carried) or 'none'}.")
        for name in self.sensors:
            if name not in carried:
                raise WorldError(f"{where(self)}<{of(self).tag}> inputs: '{group.name}' carries no sensor '{name}'; it "
                                 f"carries: {', '.join(carried) or 'none'}.")
            if carried[name].full is None:
                raise WorldError(f"{where(self)}<{of(self).tag}> inputs: <{of(carried[name]).tag}> has no full reading to be "
                                 "measured in (a property `full`), so it cannot feed a network.")
        return [float(carried[name].full) for name in self.sensors]

    def genes(self, group: Group, inputs: int, given: Floats | None) -> Floats:
        """The genes in force: those that were given for each world (W, size), else those of the file (1, size)."""
        genes = self.stored if given is None else given
        tag, size = of(self).tag, self.size(inputs, channels(group.robot))
        if genes is None:
            raise WorldError(f"{where(self)}<{tag}> of '{group.name}' has no genotype yet. `formiga evolve` finds one; or "
                             f"name a file with its {size} genes: genotype=\"champion.json\".")
        if genes.shape[-1] != size:
            origin = f"{self.genotype}: " if given is None else ""
            raise WorldError(f"{where(self)}{origin}{genes.shape[-1]} genes, but <{tag}> of '{group.name}' with "
                             f"{inputs} inputs has {size}.")
        return genes


def scaled(readings: list[Any], full: list[float]) -> Floats:
    """Readings (W, n, ...) of several sensors as one array of inputs (W, n, I) in 0..1."""
    parts = [np.clip(np.asarray(reading, np.float64).reshape(*reading.shape[:2], -1) / one, 0.0, 1.0)
             for reading, one in zip(readings, full, strict=True)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)


def scale_stages(readings: list[Floats], full: list[float], x: Floats | None = None) -> tuple[list[Stage], Floats]:
    """What `scaled` does as stages of a compiled program, and the inputs x (W, n, I) that they fill."""
    ends = np.cumsum([0, *(reading.shape[2] for reading in readings)]).tolist()
    if x is None:
        x = np.zeros((*readings[0].shape[:2], ends[-1]))
    return [Stage(scale_world, (reading, one, at, x)) for reading, one, at in zip(readings, full, ends, strict=False)], x


__all__ = ["Network", "OUTPUTS", "scale_stages", "scaled"]
