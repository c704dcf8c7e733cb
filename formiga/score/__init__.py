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

or with kernels that fill its reward, `stages(view, reward)`; then it is a part of compiled rollouts and environments.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from formiga.engine import Engine, Model
from formiga.engine.switches import ever_on
from formiga.errors import WorldError, suggest
from formiga.kernels import kernel
from formiga.kernels.kept import listed, run_kept
from formiga.kernels.program import GO_ON, Stage
from formiga.score.terms import AGGREGATION, CLEARANCE, COVERAGE, DISPERSION, GRID, LIGHT, TERMS, Facts, look_around, value
from formiga.sense.proximity import Proximity
from formiga.sense.surroundings import Surroundings
from formiga.state import Floats, State
from formiga.world.drives import Differential, tops
from formiga.world.elements import element, needed, number, of, text, where
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
class RewardView(Surroundings):
    """What a term of the user's own may look at after a step, all (worlds, robots of the group, ...): the truth."""

    readings: dict[str, Any]     # that the step was decided on
    owner: str                   # under which its kernels are kept

    @property
    def drive(self) -> Floats:
        """What the drives did in the step, such as rim speeds in m/s, (W, n, channels)."""
        return self.state.drive[:, self.robots]

    @property
    def crashed(self) -> Any:
        """Whether each robot touched something in the step, (W, n)."""
        return self.state.crashed[:, self.robots]

    @property
    def wheels(self) -> Floats:
        """An earlier name of `drive`."""
        return self.drive

    def stages_of(self, term: Any, reward: Floats) -> list[Stage] | None:
        """The kernels with which a term fills reward (W, n), checked; None if it has none here."""
        made = term.stages(self, reward)
        return None if made is None else listed(term, made)

    def run_stages(self, term: Any) -> Any:
        """The reward of a term that gives only kernels, for the readable loop."""
        return run_kept(self.state, self.owner, term, lambda readings: self._made(term, readings), self.readings).out.copy()

    def _made(self, term: Any, readings: dict[str, Any]) -> tuple[Floats, list[Stage]]:
        reward = np.zeros(self.shape)
        return reward, needed(term, replace(self, readings=readings).stages_of(term, reward))


class Score:
    """Rewards of one group in a batch of worlds, step after step.

    reward (W, n) is that of the last step; total (W,) the sum over steps of the group's mean.
    """

    def __init__(self, world: World, engine: Engine, model: Model, state: State, group: Group) -> None:
        self.factors, self.weights = plan(world, group)
        self.own = [term for term in world.fitness if not isinstance(term, Fitness)]
        self.engine, self.model, self.state = engine, model, state
        twist = engine.twist(model, state)  # (W, N, 3) of all robots; each step fills it again
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
            radius=group.robot.radius, first=self.robots.start, last=self.robots.stop, lamps=model.lamps,
            switches=model.switches, step=state.step, x0=region.x0, y0=region.y0, width=region.x1 - region.x0,
            depth=region.y1 - region.y0, centre=np.zeros(2), visited=np.zeros((W, GRID, GRID), np.bool_), share=np.zeros(W))

    def see(self, readings: dict[str, Any]) -> None:
        """Take the readings of the group that the coming step is decided on."""
        self.readings = readings
        if self.near is not None and self.uses[CLEARANCE]:
            self.facts = self.facts._replace(near=readings[self.near.name])

    def add(self, running: Any) -> Floats:
        """After a step: the rewards (W, n) of the worlds that took it, and 0 for the others."""
        score_all(running, self.factors, self.weights, self.uses, self.facts, self.reward, self.total)
        for which, term in enumerate(self.own):
            add_all(running, self._ask(term, which), self.reward, self.total)
        return self.reward

    @property
    def lacking(self) -> str:
        """The first term that has no kernels in any world, or nothing."""
        return next((f"the term <{of(term).tag}>" for term in self.own if not term.kernels), "")

    def stages(self, readings: dict[str, Any]) -> list[Stage] | None:
        """What `add` does for a world that took a step, as stages of a compiled program; None if a term has no kernels here.

        readings: the arrays in which the program has the readings of the group.
        """
        near = readings[self.near.name] if self.near is not None and self.uses[CLEARANCE] else self.facts.near
        facts = self.facts._replace(near=near, centre=np.zeros(2))
        found = [Stage(score_world, (self.factors, self.weights, self.uses, facts, self.reward, self.total))]
        for which, term in enumerate(self.own):
            reward = np.zeros(self.reward.shape)
            own = self._view(which, readings).stages_of(term, reward) if term.kernels else None
            if own is None:
                return None
            found += [*own, Stage(add_world, (reward, self.reward, self.total, which), decides=True)]
        return found

    def refuse(self, stopped: Any) -> None:
        """Say which term gave a reward that is not a finite number; stopped (W,): with what a program ended each world."""
        for code in stopped[stopped >= BAD_REWARD]:
            raise self._wrong(self.own[int(code) - BAD_REWARD], NOT_FINITE)

    def _view(self, which: int, readings: dict[str, Any]) -> RewardView:
        return RewardView(self.engine, self.model, self.state, self.group, self.robots, readings,
                          f"{self.group.name}/<fitness {which}>")

    def _ask(self, term: Any, which: int) -> Floats:
        reward = np.asarray(term.reward(self._view(which, self.readings)), np.float64)
        wrong = str(reward.shape) if reward.shape != self.reward.shape else NOT_FINITE if not np.isfinite(reward).all() else ""
        if wrong:
            raise self._wrong(term, wrong)
        return reward

    def _wrong(self, term: Any, wrong: str) -> WorldError:
        return WorldError(f"{where(term)}<{of(term).tag}> must give finite numbers of the shape (worlds, robots) "
                          f"= {self.reward.shape}, not {wrong}.")

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
        if factors[row, LIGHT] and not any(isinstance(thing, Lamp) and ever_on(thing) for thing in world.things):
            raise WorldError(f"{where(fitness)}<fitness> of 'light' needs a <lamp> that is on.")
        if factors[row, DISPERSION] and group.count < 2:
            raise WorldError(f"{where(fitness)}<fitness> of 'dispersion' needs at least two robots.")
    return factors, weights


def proximity_of(group: Group) -> Proximity | None:
    """The sensor that `clearance` goes by: the group's first ring of infra-red."""
    return next((sensor for sensor in group.sensors if isinstance(sensor, Proximity)), None)


BAD_REWARD = 2**40     # from here on: what a world's steps end with if a term gave no finite number, plus the term's number
NOT_FINITE = "with not-a-number or infinity among them"


@kernel()
def add_all(running, given, reward, total):
    """`add_world` for every world that took the step."""
    for w in range(reward.shape[0]):
        if running[w]:
            add_world(w, given, reward, total, 0)


@kernel()
def add_world(w, given, reward, total, which):
    """Add what one more term gave (W, n); total += the mean of the group. A stage that decides."""
    together = 0.0
    for i in range(reward.shape[1]):
        reward[w, i] += given[w, i]
        together += given[w, i]
    total[w] += together / reward.shape[1]
    return GO_ON if np.isfinite(together) else BAD_REWARD + which


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
