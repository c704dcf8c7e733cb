"""Robot soccer: impulses, the ball, motors, pushing, figure 7, and games by real programs. `formiga study soccer`

Acceptance 1 to 10 of our digest of the paper, claim by claim. The paper gives almost no numbers; the few that it has are
definitions. What its equations say with numbers of our choice, by a general solver, is called reconstructed; what another
program does is measured; what we ask for ourselves is a law.
"""

from __future__ import annotations

from collections.abc import Iterator

from formiga.studies import harness
from formiga.studies.harness import Pool, Row, definition
from formiga.studies.soccer import fig7, game, hits, physics, published, pushing

RUNS = 20


class Study(harness.Study):
    """The claims, and figure 7."""

    runs = RUNS

    def rows(self, full: bool, workers: Pool) -> Iterator[Row]:
        """All claims; `full` drives for 10 minutes and plays whole games."""
        yield from sizes()
        yield from hits.rows()
        yield from physics.identities(10_000 if full else 1000)
        yield from physics.separation(10_000)
        yield from physics.ball_rolls()
        yield from physics.ball_bounces()
        yield from physics.motors()
        yield from pushing.no_penetration(600.0 if full else 10.0, RUNS)
        yield from pushing.tunnelling()
        yield from pushing.pushing()
        yield from pushing.substeps()
        yield from pushing.captured()
        yield from fig7.rows()
        yield from physics.as_firasim()
        yield from game.interface(300.0 if full else 5.0)
        yield from game.tournament(60.0 if full else 1.0, 7 if full else 3, jobs=2)

    def figures(self) -> dict[str, harness.Draw]:
        """Figure 7."""
        return {"soccer": fig7.figure}


def sizes() -> Iterator[Row]:
    """The set-up that the paper describes: our world of soccer is made with these numbers."""
    for found, name in ((published.SIZES, "set-up"), (published.STUDENT_TEAMS, "student league")):
        for what, value in found.values.items():
            yield definition(f"{name}: {what}", value, found.where, found.note)
