"""Robot soccer: impulses, the ball, motors, pushing, figure 7, and games by real programs. `formiga study soccer`

Acceptance 1 to 10 of our digest of the paper, claim by claim. The paper gives almost no numbers; what its equations say with
numbers of our choice is called reconstructed, what we ask for ourselves is a law.
"""

from __future__ import annotations

from collections.abc import Iterator

from formiga.soccer import league
from formiga.studies import harness
from formiga.studies.harness import Pool, Row, compare
from formiga.studies.soccer import fig7, game, physics, published
from formiga.units import CM

RUNS = 20


class Study(harness.Study):
    """The claims, and figure 7."""

    runs = RUNS

    def rows(self, full: bool, workers: Pool) -> Iterator[Row]:
        """All claims; `full` drives for 10 minutes and plays whole games."""
        yield from sizes()
        yield from physics.impulse_table()
        yield from physics.identities(10_000 if full else 1000)
        yield from physics.separation(10_000)
        yield from physics.ball_rolls()
        yield from physics.ball_bounces()
        yield from physics.motors()
        yield from physics.no_penetration(600.0 if full else 10.0, RUNS)
        yield from physics.pushing()
        yield from fig7.rows()
        yield from physics.as_firasim()
        yield from game.interface(300.0 if full else 5.0)
        yield from game.tournament(60.0 if full else 1.0, 7 if full else 3, jobs=2)

    def figures(self) -> dict[str, harness.Draw]:
        """Figure 7."""
        return {"soccer": fig7.figure}


def sizes() -> Iterator[Row]:
    """The set-up that the paper describes, as our world of soccer has it."""
    world = league.world()
    field, _, players = league.teams(world)
    ours = (players, field.length, field.width, world.groups[0].robot.side / CM, 1e3 * world.dt)
    yield from compare("set-up:", published.SIZES, dict(zip(published.SIZES.values, ours, strict=True)))
