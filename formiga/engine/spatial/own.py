"""What only the spatial engine understands of a state."""

from __future__ import annotations

from dataclasses import dataclass

from formiga.state import Arrays, Floats, array


class Coupling:
    """Columns of `SpatialState.couplings`."""

    HOLDS = 0                           # 1, or 0 after it broke
    WRENCH = slice(1, 7)                # N, N m: force and torque on `other`
    FORCE, TORQUE = slice(1, 4), slice(4, 7)
    STATUS = slice(0, 7)

    @staticmethod
    def equality(k: int) -> slice:
        """The 11 numbers by which equality k (0 or 1) of MuJoCo holds the two bodies."""
        return slice(7 + 11 * k, 18 + 11 * k)


@dataclass(kw_only=True)
class SpatialState(Arrays):
    """MuJoCo's own."""

    integration: Floats = array("world number")     # mjSTATE_INTEGRATION: all that the motion goes on from
    couplings: Floats = array("world coupling 29")  # welds, pins and joints of the world; columns: Coupling
