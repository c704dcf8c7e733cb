"""A simple team, to learn from: one robot keeps the goal, the others run behind the ball and at it.

    formiga match chaser chaser

Every team sees itself playing from left to right. So the own goal is at negative x, and a robot with a smaller x than the ball
stands behind it.
"""

from __future__ import annotations

from formiga.soccer.programs.moves import Drive, clip, go
from formiga.soccer.team import Picture, Pitch, Robot, Team

KEEPER = 0       # the robot in the goal
BEHIND = 0.04    # m that a robot must be behind the ball before it runs at it


def in_our_area(see: Picture, pitch: Pitch) -> bool:
    """Whether the ball is in the own goal area. Only the goalkeeper may play it there: two defenders are a penalty."""
    return see.ball.x < -pitch.length / 2 + pitch.area_depth + 0.03 and abs(see.ball.y) < pitch.area_width / 2 + 0.03


def keep_goal(me: Robot, see: Picture, pitch: Pitch) -> Drive:
    """Stay on the goal line, as far up or down as the ball; kick it out if it comes near."""
    post = pitch.goal_width / 2
    if in_our_area(see, pitch) and me.x < see.ball.x:
        return go(me, see.ball.x + 0.1, see.ball.y, pitch, arrive=1.0)
    return go(me, -pitch.length / 2 + 0.06, clip(see.ball.y, -post, post), pitch)


def chase(me: Robot, see: Picture, pitch: Pitch, room: float) -> Drive:
    """Run at the ball if that sends it forwards; if not, go round it first."""
    ball = see.ball
    if me.x < ball.x - BEHIND:
        beyond = 0.1 if abs(ball.y) < pitch.goal_width / 2 else 0.0
        return go(me, min(ball.x, pitch.length / 2 - 0.06) + beyond, ball.y, pitch, arrive=1.0)
    around = room if me.y > ball.y else -room
    if abs(ball.y + around) > pitch.width / 2 - 0.05:           # no room there: the board is in the way
        around = -around
    return go(me, ball.x - room, ball.y + around, pitch)


def wait(me: Robot, see: Picture, pitch: Pitch) -> Drive:
    """Stay behind, ready for a ball that comes back."""
    return go(me, clip(see.ball.x - 0.4, -0.45, 0.3), -0.5 * see.ball.y, pitch)


def main() -> None:
    """Play."""
    with Team.from_arguments() as team:
        pitch = team.field
        for see in team:
            runners = [i for i in range(team.players) if i != KEEPER]
            near = min(runners, key=lambda i: see.own[i].distance(see.ball.x, see.ball.y), default=KEEPER)
            for i in runners:
                me = see.own[i]
                goes = i == near and not in_our_area(see, pitch)
                team.drive(i, *(chase(me, see, pitch, 0.12) if goes else wait(me, see, pitch)))
            if team.players > 1:
                team.drive(KEEPER, *keep_goal(see.own[KEEPER], see, pitch))
            else:
                team.drive(KEEPER, *chase(see.own[KEEPER], see, pitch, 0.12))


if __name__ == "__main__":
    main()
