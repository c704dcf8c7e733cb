"""Numbers by which a run is judged, one for each world: shipped ones, and those of the user.

    @formiga.measure
    def cohesion(sim):
        '''m, mean distance of the robots from their centre.'''
        off = sim.state.position - sim.state.position.mean(axis=1, keepdims=True)
        return np.hypot(off[..., 0], off[..., 1]).mean(axis=1)       # (worlds,)

A measure is asked at a moment of a run: at its end for the table of a sweep, at every recorded step for the table `metrics`. It
is a number for each world, which depends on that world alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.spatial import cKDTree

from formiga.control.neural import Network
from formiga.errors import FormigaError, WorldError, suggest
from formiga.estimate.belief import located
from formiga.loop import Simulation
from formiga.score import Score
from formiga.state import Floats
from formiga.world.elements import where
from formiga.world.model import Group, World
from formiga.world.own import own_line

Measure = Callable[[Simulation], Any]
_known: dict[str, Measure] = {}


def measure(function: Measure) -> Measure:
    """Make a function of a simulation, which returns a number for each world (worlds,), known by its name."""
    know(function.__name__, function)
    return function


def know(name: str, function: Measure) -> None:
    """Let the measure of that name be this function."""
    _known[name] = function


def known() -> dict[str, Measure]:
    """Name -> function, of all that there are."""
    return dict(_known)


def momentary() -> dict[str, Measure]:
    """Those of them that can be asked at any moment of any run: fitness is added up, and only where that was asked for."""
    return {name: function for name, function in _known.items() if function is not fitness}


def described() -> dict[str, str]:
    """Name -> the first line of its docstring, of all that there are."""
    return {name: (inspect.getdoc(function) or "").partition("\n")[0] for name, function in _known.items()}


def own(names: Any) -> dict[str, Measure]:
    """Those of some measures that do not come with formiga."""
    found = {name: find(name) for name in names}
    return {name: each for name, each in found.items() if each.__module__.partition(".")[0] != "formiga"}


def find(name: str) -> Measure:
    """The measure of that name."""
    if name not in _known:
        raise WorldError(f"there is no measure '{name}'.{suggest(name, _known)} There are: {', '.join(_known)}. One of your "
                         "own is a function with @formiga.measure above it, in a file that is loaded with --with.")
    return _known[name]


def taken(name: str, simulation: Simulation, function: Measure | None = None) -> Floats:
    """What a measure says of each world now (worlds,), checked; function: one that is not known by its name."""
    function = function or find(name)
    try:
        values = np.asarray(function(simulation))
    except FormigaError:
        raise
    except Exception as wrong:
        line = own_line(wrong)
        if line is None:
            raise
        raise WorldError(f"{line} (in the measure '{name}', of the world '{simulation.world.name}').") from wrong
    if values.shape != (simulation.state.worlds,) or values.dtype.kind not in "iufb":
        raise WorldError(f"{_place(function)}the measure '{name}' must return numbers of the shape (worlds,) = "
                         f"({simulation.state.worlds},), not {values.dtype} of the shape {values.shape}.")
    return values.astype(np.float64)


def _place(function: Measure) -> str:
    """Where a function was written; nothing of other objects that can be called."""
    found = inspect.unwrap(function)
    return f"{found.__code__.co_filename}:{found.__code__.co_firstlineno}: " if inspect.isfunction(found) else ""


# -- shipped ----------------------------------------------------------------------------------------------------------
@measure
def crashes(sim: Simulation) -> Any:
    """Robot-steps with a contact since the start."""
    return sim.state.crashes.sum(axis=1)


@measure
def contact_rate(sim: Simulation) -> Any:
    """Share of all robot-steps since the start with a contact."""
    return sim.state.crashes.sum(axis=1) / np.maximum(sim.state.step * sim.world.robots, 1)


@measure
def seconds(sim: Simulation) -> Any:
    """s of simulated time since the start; less than was asked for in a world that has ended."""
    return sim.state.step * sim.world.dt


@measure
def alive(sim: Simulation) -> Any:
    """Share of the robots that are not over their crash limit."""
    return _mean(sim.state.alive)


@measure
def displacement(sim: Simulation) -> Any:
    """m, mean distance of the robots from where they started, in a straight line."""
    way = sim.state.position - sim.state.start[..., :2]
    return _mean(np.hypot(way[..., 0], way[..., 1]))


@measure
def spread(sim: Simulation) -> Any:
    """m, mean distance of the robots from their centre."""
    if not sim.world.robots:
        return np.full(sim.state.worlds, np.nan)
    off = sim.state.position - sim.state.position.mean(axis=1, keepdims=True)
    return _mean(np.hypot(off[..., 0], off[..., 1]))


@measure
def nearest(sim: Simulation) -> Any:
    """m, mean distance of the robots' centres from that of the nearest other robot; none with fewer than two robots."""
    if sim.world.robots < 2:
        return np.full(sim.state.worlds, np.nan)
    return np.array([cKDTree(place).query(place, 2)[0][:, 1].mean() if np.isfinite(place).all() else np.nan
                     for place in sim.state.position])


@measure
def location_error(sim: Simulation) -> Any:
    """m, mean distance of the robots from where they believe to be: by the last estimator of each that locates it."""
    off = []
    for group, robots in zip(sim.world.groups, sim.world.slices, strict=True):
        found = located(group, sim.readings[group.name], sim.state.position[:, robots], sim.state.heading[:, robots])
        off += [errors for errors, _ in list(found.values())[-1:]]
    return _mean(np.concatenate(off, axis=1)) if off else np.full(sim.state.worlds, np.nan)


@measure
def fitness(sim: Simulation) -> Any:
    """What the world's <fitness> gives: the mean over the robots of a group and all steps that the run was asked for."""
    if sim not in _scores:
        raise WorldError("the measure 'fitness' is added up in every step of a run, as in a sweep; this run was not told to.")
    score, steps = _scores[sim]
    return score.total / steps


def _mean(values: Any) -> Any:
    """The mean over the robots (worlds,) of values (worlds, robots); NaN where there are none."""
    return values.mean(axis=1) if values.shape[1] else np.full(len(values), np.nan)


# -- fitness is added up ----------------------------------------------------------------------------------------------
_scores: WeakKeyDictionary[Simulation, tuple[Score, int]] = WeakKeyDictionary()


def add_up(sim: Simulation, steps: int) -> Score:
    """The score of a simulation that has not begun, for a run of so many steps; the caller advances both together."""
    score = Score(sim.world, sim.engine, sim.model, sim.state, judged(sim.world))
    _scores[sim] = score, steps
    return score


def judged(world: World) -> Group:
    """The group that the <fitness> of a world is about: the one that evolves, the only one with a network, or the first."""
    if not world.fitness:
        raise WorldError(f"{where(world)}world '{world.name}' has no fitness to measure; give it at least one "
                         "<fitness of=\"...\"/>.")
    if not world.groups:
        raise WorldError(f"{where(world)}world '{world.name}' has no robots whose fitness could be measured.")
    if world.search is not None and world.search.group:
        return world.group(world.search.group)
    networks = [group for group in world.groups if isinstance(group.controller, Network)]
    return networks[0] if len(networks) == 1 else world.groups[0]


__all__ = ["Measure", "add_up", "described", "find", "judged", "know", "known", "measure", "momentary", "own", "taken"]
