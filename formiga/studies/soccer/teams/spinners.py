"""They spin on the spot, and a robot near the ball spins faster: a ball that comes by is hit somewhere."""

from formiga.soccer.team import Team


def main() -> None:
    """Play."""
    with Team.from_arguments() as team:
        for see in team:
            for i, me in enumerate(see.own):
                near = me.distance(see.ball.x, see.ball.y) < 0.12
                away = me.bearing(see.ball.x, see.ball.y)
                team.drive(i, *((0.0, 25.0 if away < 0.0 else -25.0) if near else (0.5, 6.0 * away)))


if __name__ == "__main__":
    main()
