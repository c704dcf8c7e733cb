"""The field of robot soccer: a board around it, two goals, corner blocks, lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from formiga.units import CM
from formiga.world.elements import choice, colour, element, made_of, numbers
from formiga.world.elements import length as metres

CROSS_FROM_SIDE = 25.0 * CM   # free-ball crosses, from the side of the field [VSSS]


@element("field", role="thing")
@dataclass(frozen=True)
class Field:
    """The field of robot soccer, around the origin; goals at its left and right ends. [FIRA MiroSot; IEEE VSSS]

    Profile `small` is the league of three against three of the paper [Klancar et al. 2003]: 1.5 m x 1.3 m. `middle` is that
    of five against five. The corners are filled by triangles, so that no ball is lost in them.
    """

    profile: str = choice("small", options=("small", "middle"), doc="three against three, or five against five")
    length: float = metres(1.5, above=0.0, doc="along x, from goal line to goal line")
    width: float = metres(1.3, above=0.0, doc="along y")
    goal_width: float = metres(40.0 * CM, above=0.0)
    goal_depth: float = metres(15.0 * CM, above=0.0)
    corner: float = metres(7.0 * CM, least=0.0, doc="side of the triangle that fills a corner; 0: none")
    circle: float = metres(20.0 * CM, least=0.0, doc="radius of the centre circle")
    area_width: float = metres(70.0 * CM, least=0.0, doc="of the goal area, along y")
    area_depth: float = metres(15.0 * CM, least=0.0, doc="of the goal area, along x")
    penalty_spot: float = metres(37.5 * CM, least=0.0, doc="of the penalty mark, from the centre line")
    crosses: tuple[float, ...] | None = numbers(None, unit="m", fewest=2, most_of=2, least=0.0,
                                                doc="x and y of the free-ball crosses; default: penalty_spot, and 25 cm from "
                                                    "the side")
    height: float = metres(5.0 * CM, above=0.0, doc="of the board")
    line_colour: str = colour("#e8ece6")
    colour: str = colour("#1f2a24", doc="of the floor")
    material: str | None = made_of("of the board, in space: a <material>; default: `shell`, as robots are")

    walls: ClassVar[bool] = True  # as an arena's
    GROUPS: ClassVar[tuple[str, str]] = ("blue", "yellow")  # of robots that defend the goal at negative x, at positive x

    PROFILES: ClassVar[dict[str, dict[str, Any]]] = {
        "small": {},
        "middle": {"length": 2.2, "width": 1.8, "circle": 25.0 * CM, "area_width": 50.0 * CM, "area_depth": 15.0 * CM},
    }

    @property
    def cross(self) -> tuple[float, float]:
        """The free-ball cross at positive x and y, m; so (0.375, 0.4) in the small league."""
        if self.crosses is not None:
            return self.crosses[0], self.crosses[1]
        return self.penalty_spot, self.width / 2 - CROSS_FROM_SIDE

    @property
    def board(self) -> list[tuple[float, float]]:
        """The corners of the board, counter-clockwise, closed by itself: the goals are part of it."""
        x, y, g, d, c = self.length / 2, self.width / 2, self.goal_width / 2, self.goal_depth, self.corner
        right = [(x, -y + c), (x, -g), (x + d, -g), (x + d, g), (x, g), (x, y - c)]
        corners = [(x - c, y), (-x + c, y)] if c > 0.0 else []
        left = [(-px, -py) for px, py in right]
        return [*right, *corners, *left, *[(-px, -py) for px, py in corners]]


__all__ = ["Field"]
