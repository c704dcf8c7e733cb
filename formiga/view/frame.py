"""What one world looks like at one moment: all that a scene, a picture or an inspector needs to know.

A frame holds copies, so whoever draws may take their time while the simulation goes on. It has poses in three
dimensions, whichever engine made them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from formiga.state import Floats, State
from formiga.world.model import Ball, World


class Rays(NamedTuple):
    """Beams of sensors, M of them, in the world's frame."""

    start: Floats      # (M, 3) m
    end: Floats        # (M, 3) m, where it hit or how far it reaches
    share: Floats      # (M,) distance / reach; 1: it met nothing


class Scoreboard(NamedTuple):
    """How a match stands."""

    blue: str              # the team's name
    yellow: str
    score: tuple[int, int]
    clock: str             # '4:31'
    half: str              # 'first half'
    note: str = ""         # what the referee called last: 'FREE BALL'


@dataclass(frozen=True)
class Frame:
    """N robots, all groups one after another, as in the state; M things that can be pushed, as in `world.loose`."""

    world: World
    version: int                   # grows whenever `world` is another one: then everything has to be drawn again
    step: int
    time: float                    # s
    place: Floats                  # (N, 3) m, of the middle of the body's foot
    turn: Floats                   # (N, 4) quaternion w x y z
    wheels: Floats                 # (N, 2) m/s
    leds: Any                      # (N, L, 3) 0..255
    crashed: Any                   # (N,) touched something in the last step
    alive: Any                     # (N,)
    crashes: Any                   # (N,)
    selected: int = -1             # the robot that somebody looks at, or -1
    rays: Rays | None = None       # if somebody wants to see beams
    shifts: Floats | None = None   # (N, 2) m by which contacts moved each robot in the last step
    links: Any = None              # (P, 2) pairs of robots within each other's reach
    loose: Any = None              # (M, 3) m, of the foot of what can be pushed, or of the middle of a ball; None: at the start
    loose_turn: Any = None         # (M, 4) quaternion w x y z; how a ball rolled is not in it
    touches: Floats | None = None  # (K, 7) contacts of the last step: x y, normal x y, impulse (N s), body A, body B. A body is
                                   # a robot, or N + m for a loose thing, or -1; the normal points to A
    scoreboard: Scoreboard | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.loose is None:
            start = [(thing.x, thing.y, getattr(thing, "heading", 0.0)) for thing in self.world.loose]
            for name, value in loose_poses(self.world, np.array(start).reshape(-1, 3)).items():
                object.__setattr__(self, name, value)


def frame(world: World, state: State, version: int = 0, **more: Any) -> Frame:
    """The first world of a state, as a frame."""
    position, heading = state.position[0], state.heading[0]
    place = np.zeros((len(position), 3))
    place[:, :2] = position
    return Frame(world, version, int(state.step[0]), float(state.step[0] * world.dt), place, upright(heading),
                 state.wheels[0].copy(), state.leds[0].copy(), state.crashed[0].copy(), state.alive[0].copy(),
                 state.crashes[0].copy(), **{**loose_poses(world, state.loose[0]), **more})


def loose_poses(world: World, poses: Floats) -> dict[str, Any]:
    """`loose` and `loose_turn` of a frame, from x y heading (M, ...)."""
    place = np.zeros((len(poses), 3))
    place[:, :2] = poses[:, :2]
    place[:, 2] = [thing.radius if isinstance(thing, Ball) else 0.0 for thing in world.loose]
    return {"loose": place, "loose_turn": upright(poses[:, 2])}


def upright(heading: Floats) -> Floats:
    """Quaternions (N, 4), w x y z, of turns about the vertical."""
    turn = np.zeros((len(heading), 4))
    turn[:, 0], turn[:, 3] = np.cos(0.5 * heading), np.sin(0.5 * heading)
    return turn


__all__ = ["Frame", "Rays", "Scoreboard", "frame", "loose_poses", "upright"]
