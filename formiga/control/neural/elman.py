"""Elman's simple recurrent network. [Elman 1990, "Finding structure in time"]"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from formiga.control.neural.network import OUTPUTS, Network
from formiga.control.neural.think import ELMAN
from formiga.world.elements import element, integer


@element("elman", role="controller")
@dataclass(frozen=True)
class Elman(Network):
    """A hidden layer that also sees itself one step ago.

        h_i(t) = s(b_i + sum_k u_ik x_k(t) + sum_j w_ij h_j(t-1)),  h(0) = 0
        o_j(t) = s(c_j + sum_i v_ji h_i(t))
    Genotype: for each hidden unit: b_i, u_i1 .. u_iI, w_i1 .. w_iH; then for each output: c_j, v_j1 .. v_jH.
    """

    hidden: int = integer(5, least=1, most=1024, doc="units in the hidden layer")

    KIND: ClassVar[int] = ELMAN

    def shape(self, inputs: int, outputs: int = OUTPUTS) -> tuple[int, ...]:
        """Inputs, hidden, outputs."""
        return (inputs, self.hidden, outputs)

    def size(self, inputs: int, outputs: int = OUTPUTS) -> int:
        """H (1 + I + H) + outputs (1 + H)"""
        return self.hidden * (1 + inputs + self.hidden) + outputs * (1 + self.hidden)

    def memory(self, inputs: int) -> int:
        """The hidden layer."""
        return self.hidden
