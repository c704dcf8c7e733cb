"""A row of robots between the ball and the own goal."""

from formiga.soccer.programs.moves import clip, go
from formiga.soccer.team import Team


def main() -> None:
    """Play."""
    with Team.from_arguments() as team:
        for see in team:
            for i, me in enumerate(see.own):
                beside = 0.1 * (i - (team.players - 1) / 2)
                team.drive(i, *go(me, clip(see.ball.x - 0.25, -0.66, 0.3), clip(see.ball.y + beside, -0.5, 0.5), team.field))


if __name__ == "__main__":
    main()
