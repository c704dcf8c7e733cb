"""How much a text may ask for. Generous to people, and small enough that a hostile world cannot hang the laboratory."""

from __future__ import annotations

TEXT = 1_000_000     # characters of one text or script file (bytes, for a file)
LINE = 10_000        # characters of a line, with what backslashes join to it
EXPANDED = 10_000    # characters of a command after its variables were filled in, and of an alias or a bind
BUDGET = 10_000      # commands that a task runs without waiting
SECONDS = 5.0        # on the clock, that all of a world's own text together may work ahead of time ...
SHARE = 0.25         # ... and the share of all time that it may work in the long run
DEPTH = 32           # aliases and scripts inside each other
TASKS = 64           # scripts that wait at the same time
NAMES = 1_000        # aliases; as many binds, and as many variables
NAME = 64            # characters of a name
HISTORY = 1_000      # typed lines that are remembered
