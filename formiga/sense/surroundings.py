"""Where the robots of a group truly are, and what is around them: fast building blocks for sensors and terms of fitness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from formiga.engine import Engine, Model
from formiga.engine.above.neighbours import Neighbours, no_neighbours
from formiga.errors import whole
from formiga.kernels.program import Stage
from formiga.state import Floats, State
from formiga.world.model import Group


@dataclass(frozen=True)
class Surroundings:
    """The robots of a group among all others. A method that ends in `stages` is the same for kernels: arrays, and the stages of
    a compiled program that fill them."""

    engine: Engine
    model: Model
    state: State
    group: Group
    robots: slice          # of the state's arrays

    @property
    def shape(self) -> tuple[int, int]:
        """(worlds, robots)."""
        return self.state.worlds, self.group.count

    @property
    def dt(self) -> float:
        """Seconds from one step to the next."""
        return self.model.dt

    @property
    def position(self) -> Floats:
        """True centres of the robots, (W, n, 2) in m."""
        return self.state.position[:, self.robots]

    @property
    def heading(self) -> Floats:
        """True headings of the robots, (W, n) in rad."""
        return self.state.heading[:, self.robots]

    def neighbours(self, reach: float, most: int) -> Neighbours:
        """The nearest others of each robot whose centres are within reach, of any group, at most so many; nearest first."""
        return self.engine.neighbours(self.model, self.state, reach, _most(most), self.robots)

    def neighbour_stages(self, reach: float, most: int) -> tuple[Neighbours, list[Stage]]:
        """`neighbours` for kernels: the arrays, and the stages that fill them."""
        out = no_neighbours(*self.shape, _most(most))
        return out, self.engine.neighbour_stages(self.model, self.state, reach, self.robots, out)

    def line_of_sight(self, origins: Floats, targets: Floats, walls_only: bool = True) -> Any:
        """Whether (W, n, P) nothing stands between origins (W, n, 2) or (W, n, P, 2) and targets (W, n, P, 2), seen from above.

        Walls and fixed obstacles are in the way, and so are robots unless walls_only: each as the circle around it, but for
        those in which an origin or its target lies. Nothing sees a target that is NaN.
        """
        return self.engine.line_of_sight(self.model, self.state, origins, targets, walls_only)

    def sight_stages(self, origins: Floats, targets: Floats, walls_only: bool = True) -> tuple[Any, list[Stage]]:
        """`line_of_sight` for kernels: booleans (W, n, P), and the stages that fill them, from what the points are by then."""
        out = np.zeros(targets.shape[:3], np.bool_)
        return out, self.engine.sight_stages(self.model, self.state, origins, targets, walls_only, out)


def _most(most: int) -> int:
    return whole("most:", most, 1, 2**31)


__all__ = ["Neighbours", "Surroundings"]
