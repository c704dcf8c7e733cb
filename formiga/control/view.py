"""What a controller sees: what the code of its robots may know, and what it alone has, such as its genes."""

from __future__ import annotations

from dataclasses import dataclass

from formiga.errors import WorldError
from formiga.estimate import RobotView
from formiga.state import CONTROLLER, Floats
from formiga.world.drives import Differential
from formiga.world.elements import of, where


@dataclass(frozen=True)
class View(RobotView):
    """One group of robots, as its controller may know it: readings and beliefs, time, its own memory. No true poses."""

    @property
    def genotype(self) -> Floats | None:
        """Genes (W, size) that this run gives each world's controller, or None: then its own count."""
        return self._state.genotypes.get(self.group.name)

    def two_wheels(self) -> Differential:
        """The drive of the robots, for a controller that only makes sense on two wheels; a clear error if it is another."""
        drive = self.group.robot.drive
        if not isinstance(drive, Differential):
            has = "no drive" if drive is None else f"the channels {', '.join(drive.channels)}"
            controller = self.group.controller
            raise WorldError(f"{where(controller)}<{of(controller).tag}> drives two wheels, and the robots of "
                             f"'{self.group.name}' have {has}. <course>, a network or a controller of your own can drive them.")
        return drive

    @property
    def _owner(self) -> str:
        return f"{self.group.name}/{CONTROLLER}"

    @property
    def _complains(self) -> str:
        return f"{where(self.group.controller)}the controller of '{self.group.name}'"
