"""The ball and the robots of a match in the state: where they are, and how they are put elsewhere.

A referee puts them to their places after a call, a trainer wherever it wants, and what left the field is put back.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.engine.events import Touch
from formiga.errors import FormigaError
from formiga.noise import Noise, world_key
from formiga.soccer import league, placing
from formiga.soccer.referee import Referee
from formiga.soccer.talk import BLUE, NAMES, YELLOW
from formiga.state import Floats, Movable, State
from formiga.world.model import World

if TYPE_CHECKING:
    from formiga.soccer.wire.messages import Replacement  # only a match with a network team loads protobuf

REPLACING = 0.25         # of the time on the clock may go into putting robots and the ball where another program wants them
BURST = 0.05             # s of it at once


class Pieces:
    """The ball (number 0) and the robots (blue's from 1 on, then yellow's) of a world of soccer.

    moved: called whenever one was put elsewhere. trouble: told what went wrong.
    """

    def __init__(self, world: World, seed: int, moved: Callable[[], None], trouble: Callable[[str], None]) -> None:
        self.field, self.ball, self.players = league.teams(world)
        self.robot = world.group(NAMES[BLUE]).robot
        self.rows = _rows(world)                              # (2, P) of the robots in the arrays of the state
        self.all = self.rows.ravel()                          # (2 P)
        self.ball_row = world.movables.index(self.ball)
        self.on = np.ones((2, self.players), np.bool_)        # false: switched off by a trainer
        self._moved, self._trouble = moved, trouble
        self._number = {int(row): number for number, row in enumerate(self.all)}
        self._ball_body = world.robots + self.ball_row        # the ball among the bodies of a contact
        self._shape, self._ball_shape = placing.shape_of(self.robot), placing.disc(self.ball.radius)
        self._board = placing.Board(self.field)
        self._key = np.array([world_key(seed, 0)], np.uint64)
        self._safe: tuple[Floats, Floats, Floats] | None = None  # position, heading and ball when all was well
        self._saved, self._replaced, self._complained = BURST, 0.0, -inf  # s left for replacing; when, on the clock

    # -- where they are -----------------------------------------------------------------------------------------------
    def positions(self, state: State) -> Floats:
        """Of the robots (2 P, 2); a copy."""
        return state.position[0, self.all]

    def ball_now(self, state: State) -> Floats:
        """x y vx vy of the ball; a copy."""
        return state.movables[0, self.ball_row, [Movable.X, Movable.Y, Movable.VX, Movable.VY]]

    def robots_now(self, state: State) -> Floats:
        """x y heading vx vy spin of the robots (2, P, 6)."""
        rows = self.all
        robots = np.concatenate([state.position[0, rows], state.heading[0, rows, None], state.velocity[0, rows]], axis=1)
        return robots.reshape(2, self.players, 6)

    def touching(self, contacts: Floats) -> set[int]:
        """The robots (0 to 2 P - 1) that touched the ball; contacts (K, 7): of the last step, as engines list them."""
        bodies = contacts[:, Touch.BODIES].astype(np.int64).tolist()
        ball = self._ball_body
        return {self._number[other] for pair in bodies if ball in pair
                for other in pair if other != ball and other in self._number}

    def _pose(self, state: State, at: int) -> Floats:
        """x y heading of the ball (0) or a robot (1 to 2 P)."""
        if at == 0:
            return np.array([*state.movables[0, self.ball_row, Movable.PLACE], 0.0])
        robot = self.all[at - 1]
        return np.array([*state.position[0, robot], state.heading[0, robot]])

    def _bodies(self, state: State) -> list[tuple[str, placing.Shape]]:
        """Everything that can be in the way, with its name: the ball, blue's robots, yellow's."""
        names = ["the ball", *(f"{NAMES[team]} {number}" for team in (BLUE, YELLOW) for number in range(self.players))]
        shapes = [self._ball_shape, *[self._shape] * (2 * self.players)]
        return [(name, shape.at(*self._pose(state, at))) for at, (name, shape) in enumerate(zip(names, shapes, strict=True))]

    # -- one of them --------------------------------------------------------------------------------------------------
    def put_ball(self, state: State, x: float, y: float, vx: float = 0.0, vy: float = 0.0) -> None:
        """Put the ball somewhere."""
        state.movables[0, self.ball_row] = 0.0
        state.movables[0, self.ball_row, Movable.PLACE] = x, y
        state.movables[0, self.ball_row, [Movable.VX, Movable.VY]] = vx, vy
        self._moved()

    def put_robot(self, state: State, team: int, number: int, pose: Any) -> None:
        """Let a robot stand at x y heading."""
        robot = self.rows[team, number]
        state.position[0, robot], state.heading[0, robot] = pose[:2], pose[2]
        state.velocity[0, robot] = 0.0
        state.drive[0, robot] = 0.0
        self._moved()

    # -- after a call -------------------------------------------------------------------------------------------------
    def settled(self, referee: Referee, wishes: tuple[Any, Any]) -> placing.Placed:
        """The places after a referee's last call for which things are placed: see placing.settle."""
        rules, corner = referee.rules, 0
        if rules.corner_kicks:  # VSSReferee draws lots, too
            draw = Noise(self._key, np.array([referee.calls], np.int64), slice(0, 1), "soccer", "goal kick")
            corner = 1 if draw.uniform(-1.0, 1.0, 1).item() >= 0.0 else -1
        return placing.settle(self.field, self.robot, self.ball.radius, self.players, referee.foul, wishes, referee.keepers,
                              strict=rules.strict, corner=corner)

    def place(self, state: State, placed: placing.Placed) -> None:
        """Put everything to its place."""
        self.put_ball(state, *placed.ball)
        for team in (BLUE, YELLOW):
            for number in range(self.players):
                self.put_robot(state, team, number, placed.robots[team, number])

    def error(self, most: float, calls: int) -> Floats:
        """Errors (1 + 2 P, 3) of the hand that places things after call number `calls`, at most `most` (m)."""
        draw = Noise(self._key, np.array([calls], np.int64), slice(0, 1 + 2 * self.players), "soccer", "hand")
        return np.asarray(draw.uniform(-most, most, 3)[0])

    def shake(self, state: State, most: float, calls: int) -> None:
        """A hand is not exact: everything stands a little beside its place, as far as there is room."""
        off, bodies = self.error(most, calls), self._bodies(state)
        for at, (name, _) in enumerate(bodies):
            shape = self._shape if at else self._ball_shape
            x, y, heading = self._pose(state, at) + off[at] / (1.0, 1.0, self.robot.side / 2)
            pose = (float(x), float(y), float(heading))
            if not placing.blocked(self._board, shape, pose, bodies[:at] + bodies[at + 1:]):
                bodies[at] = (name, shape.at(*pose))
                if at:
                    self.put_robot(state, *divmod(at - 1, self.players), pose)
                else:
                    self.put_ball(state, *pose[:2])

    # -- as another program wants it ----------------------------------------------------------------------------------
    def replace_in_time(self, state: State, replacement: Replacement) -> bool:
        """`replace`, unless that takes more than a share of the time on the clock: a flood must not stop the game."""
        now = time.monotonic()
        self._saved = min(BURST, self._saved + REPLACING * (now - self._replaced))
        self._replaced = now
        if self._saved <= 0.0:
            if now - self._complained > 1.0:
                self._trouble("more replacements than it has time for; some were left out")
                self._complained = now
            return False
        self.replace(state, replacement)
        self._saved -= time.monotonic() - now
        return True

    def replace(self, state: State, replacement: Replacement) -> None:
        """What a trainer or another referee asks for. Where something is in the way, the nearest place that is free."""
        for place in replacement.robots:
            if not (place.team in (BLUE, YELLOW) and 0 <= place.robot < self.players):
                continue
            self.on[place.team, place.robot] = place.on
            if np.isfinite((place.x, place.y, place.heading)).all():
                pose = self._room(state, f"{NAMES[place.team]} {place.robot}", self._shape, (place.x, place.y, place.heading))
                self.put_robot(state, place.team, place.robot, pose)
        if replacement.ball is not None:
            x, y, vx, vy = replacement.ball
            x, y, _ = self._room(state, "the ball", self._ball_shape, (x, y, 0.0))
            self.put_ball(state, x, y, vx, vy)

    def _room(self, state: State, name: str, shape: placing.Shape, pose: league.Pose) -> league.Pose:
        others = [(other, body) for other, body in self._bodies(state) if other != name]
        return placing.nearest(self.field, pose, lambda at: placing.blocked(self._board, shape, at, others))

    # -- what went wrong ----------------------------------------------------------------------------------------------
    def mend(self, state: State) -> str:
        """Put back what left the field or is not a number any more, which should never be; what happened to the ball."""
        ball = state.movables[0, self.ball_row]
        half = (self.field.length / 2, self.field.width / 2)
        lost = ""
        x, y = abs(ball[0]), abs(ball[1])
        beyond = x > half[0] or y > half[1] or x + y > half[0] + half[1] - self.field.corner  # perhaps only in a goal
        if not np.isfinite(ball).all() or (beyond and not placing.inside(ball[:2], self._board.outline.points)):
            lost = "the ball left the field" if np.isfinite(ball).all() else "the ball's place was not a number"
            x, y = (0.0, 0.0) if self._safe is None else self._safe[2].tolist()
            self.put_ball(state, x, y)
            self._trouble(f"{lost}; it was put back")
        poses = np.column_stack([state.position[0, self.all], state.heading[0, self.all], state.velocity[0, self.all],
                                 state.drive[0, self.all]])
        wrong = ~np.isfinite(poses).all(axis=1) | (np.abs(poses[:, 0]) > half[0] + self.field.goal_depth) | (
            np.abs(poses[:, 1]) > half[1])
        for at in np.flatnonzero(wrong):
            team, number = divmod(int(at), self.players)
            if self._safe is None:
                raise FormigaError(f"{NAMES[team]} {number} is not on the field at the start.")
            self.put_robot(state, team, number, (*self._safe[0][at], self._safe[1][at]))
            state.wheel_angle[0, self.all[at]] = np.nan_to_num(state.wheel_angle[0, self.all[at]])
            self._trouble(f"{NAMES[team]} {number} left the field; it was put back")
        if not lost and not wrong.any():
            self.keep(state)
        return lost

    def keep(self, state: State) -> None:
        """Remember these places, in case that the next step goes wrong."""
        self._safe = (state.position[0, self.all].copy(), state.heading[0, self.all].copy(),
                      state.movables[0, self.ball_row, Movable.PLACE].copy())


def _rows(world: World) -> Any:
    """The robots of blue and yellow (2, P), as rows of the arrays of the state."""
    slices = {group.name: robots for group, robots in zip(world.groups, world.slices, strict=True)}
    return np.array([np.arange(slices[name].start, slices[name].stop) for name in NAMES])


__all__ = ["Pieces"]
