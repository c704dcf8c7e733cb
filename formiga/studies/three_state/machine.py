"""The state machine of a rover, as arrays: what it makes of the reports of its teammates.

    machine = Machine(RULES["three"], Thresholds(), Windows())
    state, instants = machine.next(state, instants, residuals, apart)

A residual is how far the reports of one instant are from what the rover itself believes at that instant, on average over
the teammates that sent one. The accordance mu is the mean of the last n residuals (eq. 5). The paper compares old reports with
the present belief instead; but the rover has moved since, by 1.5 m in ten instants.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from formiga.state import Floats

GLOBAL, TRACKING, UNDECIDED = 0, 1, 2                                    # flags of Algorithm 1
NAMES = {GLOBAL: "global", TRACKING: "tracking", UNDECIDED: "undecided"}


class Thresholds(NamedTuple):
    """m; the paper says 'empirically determined'."""

    g2u: float = 5.0     # mean distance between hypotheses
    u2p: float = 1.5     # accordance
    u2g: float = 8.0
    p2u: float = 5.0


class Windows(NamedTuple):
    """Report instants over which the accordance is averaged."""

    u2p: int = 10
    u2g: int = 20
    p2u: int = 10


class Rules(NamedTuple):
    """Which machine it is."""

    between: bool        # with the state between global and tracking
    sure: bool           # as corrected: undecided -> global when reports disagree; printed: when they agree
    back: int            # where tracking goes when reports disagree


RULES = {"three": Rules(True, True, UNDECIDED),      # 3SMCL, with the two errors of Algorithm 1 corrected
         "printed": Rules(True, False, GLOBAL),      # Algorithm 1 as it is printed
         "two": Rules(False, True, GLOBAL)}          # SMCL of the same authors, without the state in between


class Machine(NamedTuple):
    """A machine with its numbers."""

    rules: Rules
    thresholds: Thresholds = Thresholds()
    windows: Windows = Windows()

    @property
    def longest(self) -> int:
        """Residuals that it looks back at."""
        return max(self.windows)

    def next(self, state: Any, instants: Any, residuals: Floats, apart: Floats) -> tuple[Any, Any]:
        """States and report instants since the last change (...), after an instant at which reports came.

        residuals (..., K): the newest first; apart (...): the mean distance between hypotheses, m. Algorithm 1, lines 50 ff:
            global -> undecided    apart < g2u
            undecided -> tracking  instants > n_u2p and mu <= u2p
            undecided -> global    instants > n_u2g and mu >= u2g     (printed: mu <= u2g)
            tracking -> undecided  instants > n_p2u and mu >= p2u     (printed: to global)
        With two states: global -> tracking as undecided -> tracking, tracking -> global. The first test that holds counts.
        """
        (g2u, u2p, u2g, p2u), rules = self.thresholds, self.rules
        mu = {name: residuals[..., :n].mean(axis=-1) for name, n in self.windows._asdict().items()}
        enough = {name: instants > n for name, n in self.windows._asdict().items()}
        unsure = state == (UNDECIDED if rules.between else GLOBAL)
        disagree = mu["u2g"] >= u2g if rules.sure else mu["u2g"] <= u2g
        tests = [((state == GLOBAL) & (apart < g2u) & rules.between, UNDECIDED),
                 (unsure & enough["u2p"] & (mu["u2p"] <= u2p), TRACKING),
                 (unsure & enough["u2g"] & disagree & rules.between, GLOBAL),
                 ((state == TRACKING) & enough["p2u"] & (mu["p2u"] >= p2u), rules.back)]
        after = np.select([test for test, _ in tests], [to for _, to in tests], state)
        resets = np.select([test for test, _ in tests], [False, True, True, True], False)
        return after, np.where(resets, 0, instants)


__all__ = ["GLOBAL", "NAMES", "RULES", "TRACKING", "UNDECIDED", "Machine", "Rules", "Thresholds", "Windows"]
