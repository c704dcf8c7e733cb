"""The shipped champions beside hand-written rules, in the same worlds, from the same 100 starts."""

from dataclasses import replace

import numpy as np

import formiga
from formiga.control.braitenberg import Braitenberg
from formiga.score import Score

RULES = {  # the best of a few pulls, for each
    "avoid": Braitenberg(), "disperse": Braitenberg(),
    "aggregate": Braitenberg(light="others", pull=2.0), "phototaxis": Braitenberg(light="light", pull=1.0),
}


def fitness(world: formiga.World, seed: int, trials: int) -> tuple[float, float, float]:
    """Mean fitness over trials, half the width of its 95 % confidence interval, and the share of steps with a crash."""
    lab, group = formiga.Simulation(world, seed, trials), world.groups[0]
    score = Score(world, lab.model, lab.state, group)
    steps = round(world.search.seconds / world.dt)
    for _ in range(steps):
        running = ~lab.state.done
        score.see(lab.readings[group.name])
        lab.step()
        score.add(running)
    each = score.total / steps
    crashes = lab.state.crashes.sum() / (lab.state.step.sum() * group.count)
    return float(each.mean()), float(1.98 * each.std(ddof=1) / np.sqrt(trials)), float(crashes)


if __name__ == "__main__":
    print(f"{'world':<12}{'champion':>18}{'crashes':>9}{'Braitenberg':>20}{'crashes':>9}")
    for name, rule in RULES.items():
        world = formiga.read_world(name)
        by_hand = replace(world, groups=(replace(world.groups[0], controller=rule),))
        evolved, written = (fitness(each, 2_024, 100) for each in (world, by_hand))
        print(f"{name:<12}{evolved[0]:>10.3f} ± {evolved[1]:.3f}{evolved[2]:>9.2%}"
              f"{written[0]:>12.3f} ± {written[1]:.3f}{written[2]:>9.2%}")
