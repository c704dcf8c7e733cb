"""What a controller gets: what the code of its robots may use, and what it alone has, such as its genes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from formiga.control.orders import Orders
from formiga.errors import WorldError
from formiga.estimate import RobotView
from formiga.kernels.kept import listed, run_kept
from formiga.kernels.program import Stage
from formiga.noise import Noise
from formiga.state import CONTROLLER, Floats, State
from formiga.world.contract import channels
from formiga.world.drives import Differential
from formiga.world.elements import needed, of, where
from formiga.world.model import Group, World


@dataclass(frozen=True)
class View(RobotView):
    """One group of robots, as its controller may use it: readings and beliefs, time, its own memory. No true poses."""

    outside: Any = None          # the `Driver` of a group that a program outside drives, while the run may ask it

    @property
    def steps(self) -> Any:
        """Steps that each world has taken, (W,)."""
        return self._state.step

    @property
    def genotype(self) -> Floats | None:
        """Genes (W, size) that this run gives each world's controller, or None: then its own count."""
        return self._state.genotypes.get(self.group.name)

    def outbox(self, link: str = "") -> Floats:
        """The messages (W, n, numbers) that the robots send until they are changed, for kernels that write them; NaN: none."""
        return self._state.outbox[:, self._robots, self._world.media[self._link(link).name].columns]

    def two_wheels(self) -> Differential:
        """The drive of the robots, for a controller that only makes sense on two wheels; a clear error if it is another."""
        drive = self.group.robot.drive
        if not isinstance(drive, Differential):
            has = "no drive" if drive is None else f"the channels {', '.join(drive.channels)}"
            controller = self.group.controller
            raise WorldError(f"{where(controller)}<{of(controller).tag}> drives two wheels, and the robots of "
                             f"'{self.group.name}' have {has}. <course>, a network or a controller of your own can drive them.")
        return drive

    def order_stages(self, controller: Any, orders: Any) -> list[Stage] | None:
        """The kernels with which a controller fills orders (W, n, D) and its outboxes, checked; None if it has none here."""
        made = controller.stages(self, orders)
        return None if made is None else listed(controller, made)

    def run_stages(self, element: Any, rules: Callable[[View, Floats], list[Stage]] | None = None) -> Any:
        """The orders of a controller that gives only kernels, for the readable loop. rules: instead of its method `stages`."""
        sent = {f"<outbox> {link.name}": self.outbox(link.name) for link in self.group.links}
        kept = run_kept(self._state, self._owner, element, lambda given: self._made(element, rules, given),
                        {**self.readings, **sent})
        messages = {link.name: kept.inputs[f"<outbox> {link.name}"].copy() for link in self.group.links
                    if f"<outbox> {link.name}" in kept.inputs}
        return Orders(kept.out.copy(), message=messages) if messages else kept.out.copy()

    def _made(self, controller: Any, rules: Any, given: dict[str, Any]) -> tuple[Any, list[Stage]]:
        orders = np.zeros((*self.shape, channels(self.group.robot)))
        view = _Apart(**{**vars(self), "readings": given})
        return orders, needed(controller, rules(view, orders) if rules else view.order_stages(controller, orders))

    @property
    def _owner(self) -> str:
        return f"{self.group.name}/{CONTROLLER}"

    @property
    def _subject(self) -> str:
        return f"{where(self.group.controller)}the controller of '{self.group.name}'"


class _Apart(View):
    """For a controller whose kernels run on their own: what they send is not in the state yet, but beside their readings."""

    def outbox(self, link: str = "") -> Floats:
        """Messages (W, n, numbers) as they were last, to be changed."""
        return np.asarray(self.readings[f"<outbox> {self._link(link).name}"])


def view_of(world: World, state: State, group: Group, robots: slice, readings: dict[str, Any], outside: Any = None) -> View:
    """What the controller of a group may know."""
    noise = Noise(state.key, state.step, robots, group.name, CONTROLLER)
    return View(group, readings, state, robots, world.dt, noise, world, outside=outside)


__all__ = ["View", "view_of"]
