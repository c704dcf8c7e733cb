"""What the draft claims about bootstrap, in words; it prints no number."""

from formiga.studies.harness import Published

BETTER_START = Published(
    where="Swarmod draft (unsigned, before TR/IRIDIA/2006-005), section III.1: with many robots, packed in a small area, 'the "
          "stopping and not replacing mechanism' leads into the bootstrap problem; re-positioning gives 'another chance'",
    values={"evolves better from a pack": "reposition"},
    note="claimed without numbers; the network, the fitness, the budget and the test are ours",
)
LONGER_LIFE = Published(
    where="Swarmod draft, section III.1: under stop a controller that crashes 'has a very short life'; re-positioning gives "
          "'another chance during the simulation'",
    values={"survives longer": "reposition"},
)
EACH_STEP = Published(
    where="Swarmod draft, section III.1: kept in the collided position, 'the collision occurs at each time step of simulation, "
          "increasing the number of crashes and ending the simulation'",
    values={},
)
MORE_ROBOTS = Published(
    where="Swarmod draft, section III.1: 'the probability of falling into the bootstrap problem is higher with the increasing "
          "number of agents involved'",
    values={"survives shorter": True},
)
PACKED = Published(
    where="Swarmod draft, section III.1: it 'becomes more strict when the initial population is large, packed in a relative "
          "small area of simulated space'",
    values={"survives shorter": True},
)
