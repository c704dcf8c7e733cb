"""What only the planar engine understands of a state."""

from __future__ import annotations

from dataclasses import dataclass

from formiga.state import Arrays, Floats, array


@dataclass(kw_only=True)
class PlanarState(Arrays):
    """With contact model `impulse`: the welds and pins of a world."""

    couplings: Floats = array("world coupling 8")   # rows: impulse.bodies.Joint
