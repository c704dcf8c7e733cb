"""How deep robots, ball and board are in each other, measured without the engine: plain numpy, all worlds at once.

Squares and walls by the separating-axis rule over all sides of both, the ball by its distance to a square and to a wall.
A depth is the way by which one of the two would have to move; 0 if they are apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.loop import Simulation
from formiga.soccer.league import teams
from formiga.state import Movable


def depths(simulation: Simulation) -> dict[str, Any]:
    """The deepest overlap (W,) of each kind, m; and whether the ball's centre, or a robot's, has left the board (W,)."""
    state = simulation.state
    field, ball, _ = teams(simulation.world)
    half = simulation.world.groups[0].robot.side / 2
    board = np.array(field.board)
    walls = np.stack([board, np.roll(board, -1, axis=0)], axis=1)
    centre = state.movables[:, 0, Movable.PLACE]
    corners = square(state.position, state.heading, half)
    one, other = np.triu_indices(corners.shape[1], 1)
    return {
        "robot and robot": polygons_depth(corners[:, one], corners[:, other]).max(-1, initial=0.0),
        "robot and board": polygons_depth(corners[:, :, None], walls[None, None]).max((1, 2)),
        "ball and robot": np.maximum(ball.radius - from_square(centre, state.position, state.heading, half), 0.0).max(-1),
        "ball and board": np.max([np.maximum(ball.radius - from_wall(centre, wall), 0.0) for wall in walls], axis=0),
        "outside": ~inside(centre, board) | ~inside(state.position, board).all(-1),
    }


def square(position: Any, heading: Any, half: float) -> Any:
    """Corners (..., 4, 2) of squares around positions (..., 2), counter-clockwise."""
    c, s = np.cos(heading)[..., None], np.sin(heading)[..., None]
    x, y = half * np.array([1.0, -1.0, -1.0, 1.0]), half * np.array([1.0, 1.0, -1.0, -1.0])
    return position[..., None, :] + np.stack([c * x - s * y, s * x + c * y], axis=-1)


def beyond(one: Any, other: Any) -> Any:
    """How far all of `other` (..., M, 2) is beyond the best of the sides of `one` (..., K, 2), counter-clockwise; (...,)."""
    side = np.roll(one, -1, axis=-2) - one
    normal = np.stack([side[..., 1], -side[..., 0]], axis=-1) / np.sqrt((side**2).sum(-1))[..., None]
    return ((normal @ other.swapaxes(-1, -2)).min(-1) - (normal * one).sum(-1)).max(-1)


def polygons_depth(one: Any, other: Any) -> Any:
    """Of two convex polygons (..., K, 2) in each other; a wall is one of two sides."""
    return np.maximum(-np.maximum(beyond(one, other), beyond(other, one)), 0.0)


def from_square(point: Any, position: Any, heading: Any, half: float) -> Any:
    """From points (W, 2) to squares around positions (W, N, 2): (W, N), negative inside."""
    gap = point[:, None] - position
    c, s = np.cos(heading), np.sin(heading)
    own = np.abs(np.stack([c * gap[..., 0] + s * gap[..., 1], c * gap[..., 1] - s * gap[..., 0]], axis=-1)) - half
    return np.linalg.norm(np.maximum(own, 0.0), axis=-1) + np.minimum(own.max(-1), 0.0)


def from_wall(point: Any, wall: Any) -> Any:
    """From points (..., 2) to a wall (2, 2)."""
    along = wall[1] - wall[0]
    share = np.clip((point - wall[0]) @ along / (along @ along), 0.0, 1.0)
    return np.linalg.norm(point - wall[0] - share[..., None] * along, axis=-1)


def inside(point: Any, outline: Any) -> Any:
    """Whether points (..., 2) lie in a polygon (K, 2): a ray to the right crosses it an odd number of times."""
    x, y = point[..., 0, None], point[..., 1, None]
    (x0, y0), (x1, y1) = outline.T, np.roll(outline, -1, axis=0).T
    with np.errstate(divide="ignore", invalid="ignore"):
        crosses = ((y0 > y) != (y1 > y)) & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
    return crosses.sum(-1) % 2 == 1
