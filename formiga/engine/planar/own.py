"""What only the planar engine understands of a state."""

from __future__ import annotations

from dataclasses import dataclass

from formiga.state import Arrays, Floats, array


class Coupling:
    """Columns of `PlanarState.couplings`; for kernels `impulse.bodies` has a name for each number."""

    KIND = 0                            # PIN or WELD of impulse.bodies; 0: none
    BODIES = slice(1, 3)                # numbers of the two
    ENDS = slice(3, 8)                  # the point in both frames, and the heading of the one in the frame of the other


@dataclass(kw_only=True)
class PlanarState(Arrays):
    """With contact model `impulse`: the welds and pins of a world."""

    couplings: Floats = array("world coupling 8")   # columns: Coupling
