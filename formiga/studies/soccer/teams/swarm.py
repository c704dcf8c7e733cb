"""All robots drive at the ball, always."""

from formiga.soccer.team import Team


def main() -> None:
    """Play."""
    with Team.from_arguments() as team:
        for see in team:
            for i, me in enumerate(see.own):
                team.drive(i, 0.8, 8.0 * me.bearing(see.ball.x, see.ball.y))


if __name__ == "__main__":
    main()
