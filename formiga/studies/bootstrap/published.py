"""What the draft claims about bootstrap, in words; it prints no number."""

from formiga.studies.harness import Published

BETTER_START = Published(
    where="Swarmod draft (unsigned, before TR/IRIDIA/2006-005), section III.1: with many robots, packed in a small area, 'the "
          "stopping and not replacing mechanism' leads into the bootstrap problem; re-positioning gives 'another chance'",
    values={"evolves better from a pack": "reposition"},
    note="claimed without numbers; the network, the fitness, the budget and the test are ours",
)
