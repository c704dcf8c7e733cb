"""What the elements of a world draw now: state and readings -> marks. It is called only when something looks.

An element draws from a copy of the first world, so a run has the same bits whether or not it is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from formiga import control, estimate, sense
from formiga.drawing import Drawings, Pen, Sheet
from formiga.engine import Engine, Model
from formiga.errors import FormigaError, WorldError
from formiga.sense import Readings
from formiga.state import Arrays, State
from formiga.world.elements import complaint, of
from formiga.world.model import Group, World
from formiga.world.own import own_mistakes

Wrong = Callable[[FormigaError], None]


class NothingYet(LookupError):
    """A memory that is asked for before it has begun: a controller has not decided before the first step."""


@dataclass(kw_only=True)
class Glance(State):
    """A copy of one world of a state. What is remembered can be looked at, and is not begun by that."""

    def remember(self, owner: str, name: str, first: Any) -> Any:
        """As in `State`, but a copy of what there is; first: None, if that is known to be there."""
        known = self.memory.get((owner, name))
        if first is None:
            if known is None:
                raise NothingYet(owner, name)
            first = known
        first = np.array(first)
        if known is None or known.shape != first.shape:
            return first
        known, begins = known.copy(), self.forgotten[owner, name]
        known[begins] = first[begins]
        return known


def glance(state: State) -> Glance:
    """The first world of a state."""
    given = {each.name: getattr(state, each.name) for each in fields(state)} | _first(state)
    if isinstance(state.own, Arrays):
        given["own"] = replace(state.own, **_first(state.own))
    given["memory"] = {key: values[:1].copy() for key, values in state.memory.items()}
    given["forgotten"] = {key: values[:1].copy() for key, values in state.forgotten.items()}
    given["genotypes"] = {name: genes[:1].copy() for name, genes in state.genotypes.items()}
    return Glance(**given)


def _first(arrays: Arrays) -> dict[str, Any]:
    return {name: getattr(arrays, name)[:1].copy() for name in arrays.declared()}


def draws(world: World) -> bool:
    """Whether anything in a world draws."""
    return any(element.draws for group in world.groups for element in _elements(group))


def draw_all(world: World, engine: Engine, model: Model, state: State, readings: Readings, wrong: Wrong | None = None) -> Sheet:
    """All that the elements draw of the first world, from readings of now.

    wrong: told what is wrong with an element's drawing, which is then left out; None: it is raised.
    """
    sheet, now = Sheet(), glance(state)
    for group, robots in zip(world.groups, world.slices, strict=True):
        known = {name: values[:1].copy() for name, values in readings[group.name].items()}
        for element in _elements(group):
            if not element.draws:
                continue
            pen = Pen(sheet, _layer(element), range(robots.start, robots.stop), group.robot.radius, group.robot.height)
            try:
                with own_mistakes():
                    _draw(element, _view(element, group, robots, known, (engine, model, now)), pen, now)
            except FormigaError as found:
                told = complaint(element, WorldError(f"<{of(element).tag}> of '{group.name}' cannot be drawn: {found}")) \
                    if isinstance(found, WorldError) else found
                if wrong is None:
                    raise told from found
                wrong(told)
    return sheet


def _draw(element: Any, view: Any, pen: Pen, now: State) -> None:
    try:
        element.draw(view, pen)
    except NothingYet as nothing:
        if now.step[0] > 0:
            owner, name = nothing.args
            there = ", ".join(each for whose, each in now.memory if whose == owner and not each.startswith("<")) or "nothing"
            raise WorldError(f"it asks for the memory '{name}'; there is: {there}.") from nothing


def _elements(group: Group) -> tuple[Any, ...]:
    return *group.sources, *group.carried["controller"]


def _layer(element: Any) -> str:
    """The name of an element, or its tag."""
    return of(element).tag if of(element).role == "controller" else str(element.name)


def _view(element: Any, group: Group, robots: slice, readings: dict[str, Any], run: tuple[Engine, Model, State]) -> Any:
    """What an element saw when it read, heard, estimated or decided; and all readings of its group."""
    engine, model, state = run
    role, world = of(element).role, model.world
    if role == "controller":
        return control.view_of(world, state, group, robots, readings)
    if role == "estimator":
        return estimate.view_of(world, state, group, robots, readings, element)
    return replace(sense.scene_of(engine, model, state, group, robots, element), readings=readings)


def together(*all_drawn: Drawings) -> Drawings:
    """Layers of the same name become one."""
    found: Drawings = {}
    for drawn in all_drawn:
        for layer, marks in drawn.items():
            found[layer] = (*found.get(layer, ()), *marks)
    return found


__all__ = ["draw_all", "draws", "glance", "together"]
