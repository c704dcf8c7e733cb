"""Networks without memory: a perceptron, and one with hidden layers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from formiga.control.neural.network import OUTPUTS, Network
from formiga.control.neural.think import LAYERED
from formiga.world.elements import element, integers


@element("perceptron", role="controller")
@dataclass(frozen=True)
class Perceptron(Network):
    """Inputs straight to the outputs: o_j = s(b_j + sum_k w_jk x_k), s(z) = 1 / (1 + exp(-z)).

    Genotype: for each output, such as the left and the right wheel: b_j, w_j1 .. w_jI. With the s-bot's 15 sensors 32 genes.
    """

    KIND: ClassVar[int] = LAYERED

    def shape(self, inputs: int, outputs: int = OUTPUTS) -> tuple[int, ...]:
        """Inputs and outputs, nothing between."""
        return (inputs, outputs)

    def size(self, inputs: int, outputs: int = OUTPUTS) -> int:
        """A bias and a weight for each input, for each unit of each layer."""
        return sum(after * (before + 1) for before, after in pairwise(self.shape(inputs, outputs)))


@element("mlp", role="controller")
@dataclass(frozen=True)
class Mlp(Perceptron):
    """A multi-layer perceptron: each unit is s(b + sum w h) of the layer before it.

    Genotype: layer by layer from the inputs, unit by unit: its bias, then its weight from each unit before.
    """

    hidden: tuple[int, ...] = integers((8,), most_of=8, least=1, most=1024, doc="units in each hidden layer")

    def shape(self, inputs: int, outputs: int = OUTPUTS) -> tuple[int, ...]:
        """With the hidden layers between."""
        return (inputs, *self.hidden, outputs)
