"""All robots stand in the goal's mouth and stay there."""

from formiga.soccer.programs.moves import go
from formiga.soccer.team import Team


def main() -> None:
    """Play."""
    with Team.from_arguments() as team:
        for see in team:
            for i, me in enumerate(see.own):
                team.drive(i, *go(me, -0.68, 0.12 * (i - (team.players - 1) / 2), team.field))


if __name__ == "__main__":
    main()
