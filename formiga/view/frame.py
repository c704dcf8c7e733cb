"""The state of one world at one moment, as needed by a scene, a picture or an inspector.

A frame holds copies, so it can be drawn while the simulation goes on. It has poses in three dimensions, whichever engine made
them. In space it also has the pose of every body that moves: turrets, arms, wheels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from formiga.drawing import Drawings
from formiga.engine.parts import Part
from formiga.geometry import PLACE, TURN, about_z, between
from formiga.state import Floats, State
from formiga.supervisor import Note
from formiga.world.looks import CHASSIS
from formiga.world.model import Ball, World


class Rays(NamedTuple):
    """Beams of sensors, M of them, in the world's frame."""

    start: Floats      # (M, 3) m
    end: Floats        # (M, 3) m, where it hit or how far it reaches
    share: Floats      # (M,) distance / reach; 1: it met nothing


@dataclass(frozen=True)
class Frame:
    """N robots, all groups one after another, as in the state; M things that can be pushed, as in `world.movables`."""

    world: World
    version: int                   # grows whenever `world` is another one: then everything has to be drawn again
    step: int
    time: float                    # s
    place: Floats                  # (N, 3) m, of the middle of the body's foot
    turn: Floats                   # (N, 4) quaternion w x y z
    drive: Floats                  # (N, D) what the drives did in the last step
    leds: Any                      # (N, L, 3) 0..255
    crashed: Any                   # (N,) touched something in the last step
    alive: Any                     # (N,)
    crashes: Any                   # (N,)
    selected: int = -1             # the robot that is selected, or -1
    rays: Rays | None = None       # if beams are shown
    shifts: Floats | None = None   # (N, 2) m by which contacts moved each robot in the last step
    links: Any = None              # (P, 2) pairs of robots within each other's reach
    movables: Any = None           # (M, 3) m, of the foot of what can be pushed, or the middle of a ball; None: at the start
    movables_turn: Any = None      # (M, 4) quaternion w x y z; how a ball rolled is not in it
    touches: Floats | None = None  # (K, 7) contacts of the last step: columns of `engine.events.Touch`
    note: Note | None = None       # what a supervisor shows
    bodies: Floats | None = None   # (B, 7) x y z and a quaternion w x y z of everything that moves in space; None in the plane
    parts: tuple[Part, ...] = ()   # what each row of `bodies` belongs to
    forces: Floats | None = None   # (K, 7) forces of grips and joints: columns of `engine.events.Pull`
    grips: Any = None              # (P, 2) robots that hold something, and what: a robot or N + a row of `bodies`
    drawings: Drawings = field(default_factory=dict)  # what code has drawn, in the layers that are shown
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.movables is None:
            start = [(thing.x, thing.y, thing.heading) for thing in self.world.movables]
            for name, value in movables_poses(self.world, np.array(start).reshape(-1, 3)).items():
                object.__setattr__(self, name, value)


def frame(world: World, state: State, version: int = 0, parts: tuple[Part, ...] = (), bodies: Floats | None = None,
          **more: Any) -> Frame:
    """The first world of a state, as a frame; parts: those of the engine's model, () in the plane.

    bodies: poses (B, 7) to show instead of the state's own, such as those between two steps.
    """
    poses = flat_poses(world, state.position[0], state.heading[0], state.movables[0])
    if parts:
        poses |= space_poses(world, parts, state.bodies[0] if bodies is None else bodies)
    return Frame(world, version, int(state.step[0]), float(state.step[0] * world.dt), drive=state.drive[0].copy(),
                 leds=state.leds[0].copy(), crashed=state.crashed[0].copy(), alive=state.alive[0].copy(),
                 crashes=state.crashes[0].copy(), **{**poses, **more})


def flat_poses(world: World, position: Floats, heading: Floats, movables: Floats) -> dict[str, Any]:
    """All poses of a frame, of bodies that stand upright on the floor: places (N, 2), headings (N,), x y heading (M, ...)."""
    return {"place": np.column_stack([position, np.zeros(len(position))]), "turn": about_z(heading),
            **movables_poses(world, movables)}


def space_poses(world: World, parts: tuple[Part, ...], bodies: Floats) -> dict[str, Any]:
    """All poses of a frame, from those of the bodies (B, 7) in space."""
    here, things = rows_of(parts, CHASSIS), _movables_rows(world, parts)
    poses = {"bodies": bodies.copy(), "parts": parts, "place": bodies[here, PLACE], "turn": bodies[here, TURN]}
    if len(things):
        poses |= {"movables": bodies[things, PLACE], "movables_turn": bodies[things, TURN]}
    return poses


@lru_cache(maxsize=256)
def rows_of(parts: tuple[Part, ...], name: str) -> Any:
    """For each robot in order, the row of its part of this name; -1 if it has none. () in the plane."""
    rows = np.full(max((part.robot for part in parts), default=-1) + 1, -1)
    for row, part in enumerate(parts):
        if part.robot >= 0 and part.name == name:
            rows[part.robot] = row
    return rows


@lru_cache(maxsize=64)
def thing_rows(parts: tuple[Part, ...]) -> dict[int, int]:
    """Number of a thing in `world.things` -> the row of its body, for those that move in space."""
    return {part.thing: row for row, part in enumerate(parts) if part.thing >= 0}


def _movables_rows(world: World, parts: tuple[Part, ...]) -> list[int]:
    rows = thing_rows(parts)
    return [rows[index] for index, thing in enumerate(world.things) if thing in world.movables and index in rows]


def blend(before: Floats, after: Floats, share: float) -> Floats:
    """Poses (B, 7) at `share` of the way from one to another; rotations take the short way round."""
    return np.column_stack([before[:, PLACE] + share * (after[:, PLACE] - before[:, PLACE]),
                            between(before[:, TURN], after[:, TURN], share)])


def movables_poses(world: World, poses: Floats) -> dict[str, Any]:
    """`movables` and `movables_turn` of a frame, from x y heading (M, ...)."""
    place = np.zeros((len(poses), 3))
    place[:, :2] = poses[:, :2]
    place[:, 2] = [thing.radius if isinstance(thing, Ball) else 0.0 for thing in world.movables]
    return {"movables": place, "movables_turn": about_z(poses[:, 2])}


__all__ = ["Frame", "Rays", "blend", "flat_poses", "frame", "movables_poses", "rows_of", "space_poses",
           "thing_rows"]
