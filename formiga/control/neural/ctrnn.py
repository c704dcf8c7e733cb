"""The continuous-time recurrent network of evolutionary robotics. [Beer 1995, "On the dynamics of small CTRNNs"]"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from formiga.control.neural.network import OUTPUTS, Network
from formiga.control.neural.think import CTRNN
from formiga.errors import WorldError
from formiga.state import Floats
from formiga.world.elements import duration, element, integer, where


@element("ctrnn", role="controller")
@dataclass(frozen=True)
class Ctrnn(Network):
    """Beer's equations, for H neurons that all see each other and all inputs.

        tau_i dy_i/dt = -y_i + sum_j w_ij s(y_j + theta_j) + sum_k u_ik x_k,   y(0) = 0
        o_j = s(c_j + sum_i v_ji s(y_i + theta_i))
    One step of Euler's method for each control period. Weights u, w, v and biases theta, c lie in [-span, span]; time
    constants in [fastest, slowest], spread evenly over their logarithm.

    Genotype: for each neuron: tau_i, theta_i, u_i1 .. u_iI, w_i1 .. w_iH; then for each output: c_j, v_j1 .. v_jH.
    """

    hidden: int = integer(5, least=1, most=1024, doc="neurons")
    fastest: float = duration(0.1, above=0.0, doc="smallest time constant; not below the control period")
    slowest: float = duration(10.0, above=0.0, doc="largest time constant")

    KIND: ClassVar[int] = CTRNN

    def shape(self, inputs: int, outputs: int = OUTPUTS) -> tuple[int, ...]:
        """Inputs, neurons, outputs."""
        return (inputs, self.hidden, outputs)

    def size(self, inputs: int, outputs: int = OUTPUTS) -> int:
        """H (2 + I + H) + outputs (1 + H)"""
        return self.hidden * (2 + inputs + self.hidden) + outputs * (1 + self.hidden)

    def memory(self, inputs: int) -> int:
        """The states y."""
        return self.hidden

    def express(self, genes: Floats, inputs: int, dt: float) -> Floats:
        """tau = fastest (slowest / fastest)^((gene + 1) / 2); the rest times `span`."""
        if self.slowest < self.fastest:
            raise WorldError(f"{where(self)}<ctrnn> slowest: {self.slowest:g} s is below 'fastest', {self.fastest:g} s.")
        if self.fastest < dt * (1.0 - 1e-9):
            raise WorldError(f"{where(self)}<ctrnn> fastest: {self.fastest:g} s is below the control period, {dt:g} s; Euler's "
                             "method needs at least that.")
        expressed = self.span * genes
        taus = slice(0, self.hidden * (2 + inputs + self.hidden), 2 + inputs + self.hidden)
        expressed[:, taus] = self.fastest * (self.slowest / self.fastest) ** (0.5 * (genes[:, taus] + 1.0))
        return expressed
