"""The nearest one runs behind the ball and shoots; the others wait in the own half."""

from formiga.soccer.programs.moves import go
from formiga.soccer.team import Team


def main() -> None:
    """Play."""
    with Team.from_arguments() as team:
        for see in team:
            near = min(range(team.players), key=lambda i: see.own[i].distance(see.ball.x, see.ball.y))
            for i, me in enumerate(see.own):
                if i != near:
                    team.drive(i, *go(me, -0.5, 0.3 * (1 - 2 * (i % 2)), team.field))
                elif me.x < see.ball.x - 0.05:
                    team.drive(i, 1.0, 8.0 * me.bearing(see.ball.x + 0.05, see.ball.y))
                else:
                    team.drive(i, *go(me, see.ball.x - 0.15, see.ball.y + (0.12 if me.y > see.ball.y else -0.12), team.field))


if __name__ == "__main__":
    main()
