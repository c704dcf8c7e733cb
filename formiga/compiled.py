"""The step of `loop.py` as kernels: what looks, what decides and what moves, for a world all of whose parts have kernels.

    parts = stages_of(world, engine, model, state)         # parts.lacking says what has no kernel, if something has none
    Program([*parts.look, *parts.decide, *parts.move], state.worlds).run(0, state.worlds, steps=100)

`Simulation.step`, rollouts and environments are made of these parts. Each stage is a kernel that the readable loop calls too,
so both give the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from formiga import control, differing, estimate, sense
from formiga.act.messages import send_world
from formiga.act.motors import order_world, running_world, stand_world
from formiga.control import bad_order, refuse_message
from formiga.engine import Engine, Model
from formiga.kernels.kept import Bound
from formiga.kernels.program import ENDED, Program, Stage
from formiga.sense import Readings
from formiga.state import Floats, State, kinds_of, refuse_others
from formiga.world import contract
from formiga.world.contract import channels
from formiga.world.elements import SOURCES, of, where
from formiga.world.model import World


@dataclass
class Stages:
    """Stages of one step, and the arrays between them. Working memory is its own, so each thread needs one."""

    running: Stage                                                   # ends the steps of a world that is done
    look: list[Stage] = field(default_factory=list)                  # state -> readings
    decide: list[Stage] = field(default_factory=list)                # readings -> orders
    move: list[Stage] = field(default_factory=list)                  # orders -> state
    readings: Readings = field(default_factory=dict)                 # group -> sensor -> (W, n, ...)
    orders: dict[str, Floats] = field(default_factory=dict)          # group -> channels of its drive (W, n, D)
    lacking: str = ""                                                # what has no kernel; then it cannot be used

    @property
    def step(self) -> list[Stage]:
        """A whole step."""
        return [self.running, *self.look, *self.decide, *self.move]


def stages_of(world: World, engine: Engine, model: Model, state: State, outside: str = "", programs: bool = False) -> Stages:
    """The parts of a step. outside: the name of a group whose orders come from outside; programs: so do those of groups that
    programs drive."""
    if not model.variants:
        return _stages_of(world, engine, model, state, outside, programs)
    begins = differing.beginning(state)
    parts = _stages_of(world, engine, model, state, outside, programs)
    if parts.lacking:
        return parts
    if not differing.sees_things(world, model.made):
        varied = [engine.vary(model, stages) for stages in (parts.look, parts.decide, parts.move)]
        if None not in varied:
            parts.look, parts.decide, parts.move = (stages or [] for stages in varied)
            return parts
    parts.lacking = differing.merge(model.variants, state, lambda each, probe: _stages_of(
        each, engine, engine.variant(model, each), probe, outside, programs), parts, begins)
    return parts


def _stages_of(world: World, engine: Engine, model: Model, state: State, outside: str, programs: bool) -> Stages:
    parts = Stages(Stage(running_world, (state.done, state.drive), decides=True))
    move = engine.step_stages(model, state)
    if move is None:
        parts.lacking = model.uncompiled
        return parts
    if lacking := without_kernels(world, outside, programs):
        parts.lacking = lacking
        return parts
    told = engine.told(model, state)
    for group, robots in zip(world.groups, world.slices, strict=True):
        readings = parts.readings[group.name] = {}
        for source in group.sources:
            sees = estimate.view_of(world, state, group, robots, readings, source) if source in group.estimators \
                else sense.scene_of(engine, model, state, group, robots, source)
            made = sees.stages_of(source)
            if made is None:
                parts.lacking = _named(source)
                return parts
            readings[source.name], stages = made
            parts.look += stages
        drive = group.robot.drive
        orders = np.zeros((state.worlds, group.count, channels(group.robot)))
        if group.controller is None and group.name != outside:
            parts.move.append(Stage(stand_world, (robots.start, robots.stop, told)))
            continue
        if drive is None:
            parts.lacking = f"'{group.name}', which has no drive,"
            return parts
        parts.orders[group.name] = orders
        if group.name != outside and not group.controller.outside:
            view = control.view_of(world, state, group, robots, readings)
            decide = view.order_stages(group.controller, orders)
            if decide is None:
                parts.lacking = _named(group.controller)
                return parts
            parts.decide += decide
            parts.decide += [Stage(send_world, (inf if link.limit is None else link.limit, view.outbox(link.name)),
                                   decides=True) for link in group.links]
        parts.move.append(Stage(order_world, (orders, robots.start, drive.limits, drive.motor_noise, state.key, state.step,
                                              told), decides=True))
    parts.move += move
    return parts


def without_kernels(world: World, outside: str = "", programs: bool = False) -> str:
    """The first source of readings or controller that has no kernels in any world, or nothing; found without asking one for its
    stages. programs: controllers that pass on what programs outside order need none."""
    for group in world.groups:
        controller = () if group.name == outside else group.carried["controller"]
        for element in (*group.sources, *controller):
            if not (element.kernels or (programs and element in controller and element.outside)):
                return _named(element)
    return ""


def _named(element: Any) -> str:
    role, tag = of(element).role, of(element).tag
    return f"the {role} '{element.name}' (<{tag}>)" if role in SOURCES else f"the {role} <{tag}>"


def shipped(element: Any) -> bool:
    """Whether an element comes with formiga. The kernels of those that do let their memory begin again at step 0."""
    return contract.shipped(type(element))


class Steps:
    """Whole steps of a simulation as a compiled program, made when it is first needed, and again when it is not current."""

    def __init__(self, world: World, engine: Engine, model: Model, state: State) -> None:
        self.given = world, engine, model, state
        self.lacking = without_kernels(world)       # what has no kernel, as far as that is known
        self._bound: Bound | None = None
        self._readings: Readings = {}
        self.orders: dict[str, Floats] = {}     # group -> numbers for its drive in the last step
        self._kinds = kinds_of(state)

    def bind(self) -> None:
        """Make the program now, if there can be one."""
        if not self.lacking:
            self._bound = self._bind()

    def take(self, steps: int) -> bool:
        """Take so many steps; false, and nothing has happened, if something in the world has no kernel."""
        world, _, _, state = self.given
        if self.lacking:
            return False
        if self._bound is None or not self._bound.current(state):
            self._bound = self._bind()
        if self._bound is None:
            return False
        if not self._bound.program.run(0, state.worlds, steps):
            refuse_orders(world, state, self._bound.program.stopped, self.orders, self._readings)
        return True

    def _bind(self) -> Bound | None:
        world, _, _, state = self.given
        refuse_others(state, self._kinds)
        parts = stages_of(*self.given)
        self.lacking = parts.lacking
        if self.lacking:
            return None
        self._readings, self.orders = parts.readings, parts.orders
        return Bound(state, parts.step, world.robots, state.memory)


class Halves:
    """A step in two compiled calls: what all robots read, and what follows from their orders. Programs answer between them."""

    def __init__(self, world: World, engine: Engine, model: Model, state: State) -> None:
        self._given = world, engine, model, state
        driven = any(group.outside for group in world.groups)
        self.lacking = without_kernels(world, programs=True) if driven else "a program outside"
        self.readings: Readings = {}
        self.orders: dict[str, Floats] = {}
        self._bound: Bound | None = None               # of all stages, to know whether they are current
        self._look: Program | None = None
        self._move: Program | None = None
        self._kinds = kinds_of(state)

    def look(self) -> bool:
        """Fill `readings`, and the orders of groups whose controllers have kernels; false if something has none."""
        world, _, _, state = self._given
        if self._bound is None or not self._bound.current(state):
            refuse_others(state, self._kinds)
            parts = stages_of(*self._given, programs=True)
            self.lacking = parts.lacking
            if self.lacking:
                return False
            self.readings, self.orders = parts.readings, parts.orders
            self._look = Program([parts.running, *parts.look, *parts.decide], state.worlds, world.robots)
            self._move = Program([parts.running, *parts.move], state.worlds, world.robots)
            self._bound = Bound(state, parts.step, world.robots, state.memory)
        return self._take(self._look)

    def move(self, decided: dict[str, Any]) -> bool:
        """What follows from the orders of programs, group -> `Orders`; false, and nothing has happened, if they order more than
        drives."""
        if any(each.drive is None or each.joints is not None or each.leds is not None or each.sound is not None
               or each.message is not None for each in decided.values()):
            return False
        for name, orders in decided.items():
            self.orders[name][...] = orders.drive
        return self._take(self._move)

    def orders_of(self, decided: dict[str, Any]) -> dict[str, Any]:
        """All orders, of programs and of the controllers that have decided."""
        return {name: control.Orders(drive.copy()) for name, drive in self.orders.items()} | decided

    def _take(self, program: Program | None) -> bool:
        world, _, _, state = self._given
        if program is not None and not program.run(0, state.worlds):
            refuse_orders(world, state, program.stopped, self.orders, self.readings)
        return True


def refuse_orders(world: World, state: State, stopped: Any, orders: dict[str, Floats], readings: Readings) -> None:
    """Say which order or message was not finite; stopped (W,): with what a program ended each world."""
    for group, robots in zip(world.groups, world.slices, strict=True):
        for link in group.links:
            sent = state.outbox[stopped > ENDED][:, robots, world.media[link.name].columns]
            refuse_message(group, link.name, sent, where(group.controller))
    for group in world.groups:
        for w, i in np.argwhere(~np.isfinite(orders.get(group.name, np.zeros((0, 0, 2)))).all(axis=-1)):
            if stopped[w] > ENDED:
                raise bad_order(group, int(w), int(i), readings)


__all__ = ["Halves", "Stages", "Steps", "refuse_orders", "stages_of"]
