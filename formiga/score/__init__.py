"""How well did they do: fitness for evolution, reward for learning; the same numbers for both.

    <fitness of="speed straightness clearance"/>      the product of three terms, in every step, for every robot
    <fitness of="crashes" weight="-1"/>               ... plus -1 times another

A robot's reward in a step is the weighted sum of the world's <fitness> elements. The fitness of a trial is the mean over
all robots of the group and all steps of the trial, also those that a world that ended early never took.

A term of your own is an element of role 'fitness' in a file of yours, with a method `reward(view)`:

    @formiga.element("near_origin", role="fitness")
    @dataclass(frozen=True)
    class NearOrigin:
        weight: float = number(1.0)

        def reward(self, view):
            return self.weight / (1.0 + np.hypot(*np.moveaxis(view.position, -1, 0)))   # (worlds, robots)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from formiga.engine import Model
from formiga.errors import WorldError, suggest
from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.score.terms import AGGREGATION, CLEARANCE, COVERAGE, DISPERSION, GRID, LIGHT, TERMS, Facts, look_around, value
from formiga.sense.proximity import Proximity
from formiga.state import Floats, State
from formiga.world.drives import Differential, tops
from formiga.world.elements import element, number, of, text, where
from formiga.world.model import Group, Lamp, World


@element("fitness", role="fitness")
@dataclass(frozen=True)
class Fitness:
    """A product of terms, with a weight; all <fitness> of a world are added up."""

    of: str = text(doc=f"one or more of {', '.join(TERMS)}; several are multiplied")
    weight: float = number(1.0)

    @property
    def terms(self) -> list[int]:
        """The numbers of its terms."""
        names = self.of.replace(",", " ").split()
        for term in names:
            if term not in TERMS:
                raise WorldError(f"{where(self)}<fitness> of: there is no term '{term}'.{suggest(term, TERMS)} "
                                 f"There are: {', '.join(TERMS)}.")
        if twice := [term for term in names if names.count(term) > 1]:
            raise WorldError(f"{where(self)}<fitness> of: it names '{twice[0]}' twice.")
        if not names:
            raise WorldError(f"{where(self)}<fitness> of: it names no term. There are: {', '.join(TERMS)}.")
        return [TERMS[term][0] for term in names]


@dataclass(frozen=True)
class RewardView:
    """What a term of the user's own may look at, all (worlds, robots of the group, ...)."""

    position: Floats             # m, true, after the step
    heading: Floats
    drive: Floats                # what the drive did, such as rim speeds in m/s
    crashed: Any
    readings: dict[str, Any]     # that the step was decided on
    dt: float

    @property
    def wheels(self) -> Floats:
        """An earlier name of `drive`."""
        return self.drive


class Score:
    """Rewards of one group in a batch of worlds, step after step.

    reward (W, n) is that of the last step; total (W,) the sum over steps of the group's mean.
    """

    def __init__(self, world: World, model: Model, state: State, group: Group, twist: Floats) -> None:
        """twist (W, N, 3): of all robots, `engine.twist`; its numbers are read after each step."""
        self.factors, self.weights = plan(world, group)
        self.own = [term for term in world.fitness if not isinstance(term, Fitness)]
        self.state, self.dt = state, model.dt
        self.readings: dict[str, Any] = {}
        self.uses = self.factors.any(axis=0)
        self.group, self.near = group, proximity_of(group)
        self.robots = world.slices[world.groups.index(group)]
        region, drive = model.region, group.robot.drive
        two_wheels = isinstance(drive, Differential)
        top, turn = (1.0, 1.0) if drive is None else (each or 1.0 for each in tops(drive))
        W, n = state.worlds, group.count
        self.reward, self.total = np.zeros((W, n)), np.zeros(W)
        self.facts = Facts(
            position=state.position, wheels=state.drive, twist=twist, two_wheels=two_wheels, driven=drive is not None,
            velocity=state.velocity, heading=state.heading, crashed=state.crashed,
            near=np.zeros((W, n, 0)), full=self.near.full if self.near else 1.0, top=top, turn=turn,
            radius=group.robot.radius, first=self.robots.start,
            last=self.robots.stop, lamps=model.lamps, x0=region.x0, y0=region.y0, width=region.x1 - region.x0,
            depth=region.y1 - region.y0, centre=np.zeros(2), visited=np.zeros((W, GRID, GRID), np.bool_), share=np.zeros(W))

    def see(self, readings: dict[str, Any]) -> None:
        """Take the readings of the group that the coming step is decided on."""
        self.readings = readings
        if self.near is not None and self.uses[CLEARANCE]:
            self.facts = self.facts._replace(near=readings[self.near.name])

    def add(self, running: Any) -> Floats:
        """After a step: the rewards (W, n) of the worlds that took it, and 0 for the others."""
        score_all(running, self.factors, self.weights, self.uses, self.facts, self.reward, self.total)
        for term in self.own:
            reward = self._ask(term)[running]
            self.reward[running] += reward
            self.total[running] += reward.mean(axis=1)
        return self.reward

    def stages(self, readings: dict[str, Any]) -> list[Stage]:
        """What `add` does for a world that took a step, as a stage of a compiled program; terms of the user's own have none.

        readings: the arrays in which the program has the readings of the group.
        """
        near = readings[self.near.name] if self.near is not None and self.uses[CLEARANCE] else self.facts.near
        facts = self.facts._replace(near=near, centre=np.zeros(2))
        return [Stage(score_world, (self.factors, self.weights, self.uses, facts, self.reward, self.total))]

    def _ask(self, term: Any) -> Floats:
        state, robots = self.state, self.robots
        given = term.reward(RewardView(state.position[:, robots], state.heading[:, robots], state.drive[:, robots],
                                      state.crashed[:, robots], self.readings, self.dt))
        reward = np.asarray(given, np.float64)
        wrong = str(reward.shape) if reward.shape != self.reward.shape else \
            "with not-a-number or infinity among them" if not np.isfinite(reward).all() else ""
        if wrong:
            raise WorldError(f"{where(term)}<{of(term).tag}> must give finite numbers of the shape (worlds, robots) "
                             f"= {self.reward.shape}, not {wrong}.")
        return reward

    def restart(self, mask: Any) -> None:
        """Forget what was in the masked worlds."""
        for array in (self.reward, self.total, self.facts.visited, self.facts.share):
            array[mask] = 0


def plan(world: World, group: Group) -> tuple[Any, Any]:
    """The world's <fitness> as factors (F, T), which terms each multiplies, and weights (F,); checked."""
    ours = [term for term in world.fitness if isinstance(term, Fitness)]
    factors, weights = np.zeros((len(ours), len(TERMS)), np.bool_), np.zeros(len(ours))
    for row, fitness in enumerate(ours):
        weights[row] = fitness.weight
        factors[row, fitness.terms] = True
        name = {number: name for name, (number, _) in TERMS.items()}
        if factors[row, CLEARANCE] and proximity_of(group) is None:
            raise WorldError(f"{where(fitness)}<fitness> of 'clearance' looks at <proximity>, which '{group.name}' does not "
                             "carry.")
        for term in (AGGREGATION, DISPERSION, COVERAGE):
            if factors[row, term] and world.arena is None:
                raise WorldError(f"{where(fitness)}<fitness> of '{name[term]}' is measured in the arena, and this world has no "
                                 "<arena>.")
        if factors[row, LIGHT] and not any(isinstance(thing, Lamp) and thing.on for thing in world.things):
            raise WorldError(f"{where(fitness)}<fitness> of 'light' needs a <lamp> that is on.")
        if factors[row, DISPERSION] and group.count < 2:
            raise WorldError(f"{where(fitness)}<fitness> of 'dispersion' needs at least two robots.")
    return factors, weights


def proximity_of(group: Group) -> Proximity | None:
    """The sensor that `clearance` goes by: the group's first ring of infra-red."""
    return next((sensor for sensor in group.sensors if isinstance(sensor, Proximity)), None)


@kernel()
def score_all(running, factors, weights, uses, facts, reward, total):
    """The rewards of every world that took the step."""
    for w in range(reward.shape[0]):
        if running[w]:
            score_world(w, factors, weights, uses, facts, reward, total)
        else:
            reward[w] = 0.0


@kernel(inline="always")
def score_world(w, factors, weights, uses, facts, reward, total):
    """reward[i] = sum over <fitness> of weight x product of its terms; total += the mean of the group."""
    look_around(w, uses, facts)
    together = 0.0
    for i in range(facts.first, facts.last):
        sum_of_terms = 0.0
        for f in range(weights.shape[0]):
            product = weights[f]
            for term in range(uses.shape[0]):
                if factors[f, term]:
                    product *= value(term, w, i, facts)
            sum_of_terms += product
        reward[w, i - facts.first] = sum_of_terms
        together += sum_of_terms
    total[w] += together / (facts.last - facts.first)


__all__ = ["Fitness", "Score", "TERMS", "plan", "score_world"]
