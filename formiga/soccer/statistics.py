"""What a match looked like in numbers: possession, shots, saves, goals, and how far each robot ran.

Possession: the ball belongs to the team that touched it last, until the other one does. A shot: the ball leaves a robot fast
enough to reach the goal line of the other team, and towards its goal or near it. A save: the other team is the next to touch a
shot that was on goal. All of it counts only while the game is on.
"""

from __future__ import annotations

from math import hypot
from typing import Any

import numpy as np

from formiga.soccer import league
from formiga.soccer.talk import BLUE, NAMES, YELLOW
from formiga.state import Floats
from formiga.units import CM
from formiga.world.field import Field
from formiga.world.movables import GRAVITY, Ball

WIDE = 1.5             # a shot passes the goal line within so many goal widths; nearer than one, it is on goal
SLOWEST = 0.3          # m/s; what rolls slower is no shot
CLOSE = 1.0 * CM       # of a robot's circle to the ball: it touches it, where contacts are not listed
NO_TEAM = -1


class Statistics:
    """Counts, step by step. Robots have numbers: blue's, then yellow's."""

    def __init__(self, field: Field, ball: Ball, players: int, radius: float) -> None:
        self._field, self._players = field, players
        self._reach = radius + ball.radius
        self._slowing = ball.rolling * GRAVITY / 1.4      # m/s^2, of a ball that rolls; J = 2/5 m R^2
        self.seconds = 0.0
        self.possession = [0.0, 0.0]                      # s
        self.shots, self.on_goal, self.saves, self.goals, self.own_goals = ([0, 0] for _ in range(5))
        self.distance = np.zeros(2 * players)             # m
        self.touches = np.zeros(2 * players, np.int64)    # times that a robot came to the ball
        self.scored = np.zeros(2 * players, np.int64)
        self.last = NO_TEAM                                # the robot that touched it last
        self._touching: set[int] = set()
        self._shot: int | None = None                     # the team whose shot is on its way, and on goal
        self._before: Floats | None = None

    def see(self, dt: float, ball: Any, position: Floats, touching: set[int]) -> None:
        """A step of the game: ball (4,), positions (2 P, 2), and the robots that touched the ball in it."""
        self.seconds += dt
        if self._before is not None:
            self.distance += np.hypot(*(position - self._before).T)
        self._before = position.copy()
        for robot in sorted(touching - self._touching):
            self.touches[robot] += 1
        if touching:
            self._touched(touching)
        elif self._touching and self.last != NO_TEAM:
            self._left(ball)
        self._touching = touching
        if self.last != NO_TEAM:
            self.possession[self._team(self.last)] += dt

    def stopped(self, position: Floats | None = None) -> None:
        """The game was stopped, or all robots put elsewhere: to these positions (2 P, 2)."""
        self.last, self._shot, self._touching = NO_TEAM, None, set()
        self._before = None if position is None else position.copy()

    def goal(self, team: int) -> str:
        """A goal for a team; the scorer in words."""
        self.goals[team] += 1
        if self._shot != team:  # pushed over the line
            self.shots[team] += 1
            self.on_goal[team] += 1
        self._shot = None
        if self.last == NO_TEAM:
            return ""
        whose, number = self._team(self.last), self.last % self._players
        if whose == team:
            self.scored[self.last] += 1
            return f"by {NAMES[whose]} {number}"
        self.own_goals[whose] += 1
        return f"an own goal by {NAMES[whose]} {number}"

    def near(self, ball: Any, position: Floats) -> set[int]:
        """The robots that touch the ball, judged by distance alone."""
        gap = np.hypot(position[:, 0] - ball[0], position[:, 1] - ball[1]) - self._reach
        return set(np.flatnonzero(gap < CLOSE).tolist())

    def figures(self) -> dict[str, Any]:
        """Everything, for a result."""
        held = sum(self.possession)
        teams = {name: {
            "goals": self.goals[team], "own_goals": self.own_goals[team],
            "possession": round(self.possession[team] / held, 4) if held else 0.0,
            "shots": self.shots[team], "shots_on_goal": self.on_goal[team], "saves": self.saves[team],
            "touches": int(self.touches[self._robots(team)].sum()),
            "distance": round(float(self.distance[self._robots(team)].sum()), 3),
        } for team, name in enumerate(NAMES)}
        robots = {name: [{"touches": int(self.touches[robot]), "goals": int(self.scored[robot]),
                          "distance": round(float(self.distance[robot]), 3)}
                         for robot in range(self._robots(team).start, self._robots(team).stop)]
                  for team, name in enumerate(NAMES)}
        return {"seconds": round(self.seconds, 3), "teams": teams, "robots": robots}

    def _touched(self, touching: set[int]) -> None:
        if self._shot is not None and any(self._team(robot) != self._shot for robot in touching):
            self.saves[1 - self._shot] += 1
        self._shot = None
        teams = {self._team(robot) for robot in touching}
        if len(teams) == 1 or self.last == NO_TEAM:  # a ball that both teams touch is not lost yet
            self.last = min(touching)

    def _left(self, ball: Any) -> None:
        """The ball has left a robot: is it a shot?"""
        team = self._team(self.last)
        x, y, vx, vy = (league.side(team) * float(each) for each in ball)  # towards the goal at the right
        away = self._field.length / 2 - x
        speed = hypot(vx, vy)
        if vx <= 0.0 or away <= 0.0 or speed < SLOWEST:
            return
        path = away * speed / vx
        beside = abs(y + vy * away / vx)
        if speed**2 < 2.0 * self._slowing * path or beside > WIDE * self._field.goal_width / 2:
            return
        self.shots[team] += 1
        if beside <= self._field.goal_width / 2:
            self.on_goal[team] += 1
            self._shot = team

    def _team(self, robot: int) -> int:
        return BLUE if robot < self._players else YELLOW

    def _robots(self, team: int) -> slice:
        return slice(team * self._players, (team + 1) * self._players)


__all__ = ["Statistics"]
