"""Where a sensor sits on its robot."""

from __future__ import annotations

from dataclasses import dataclass

from formiga.world.elements import angle, length, text

CHASSIS = "chassis"  # the part that every robot has: its pose is the robot's own


@dataclass(frozen=True, kw_only=True)
class Carried:
    """A sensor whose directions count from x of a part of its robot: on a turret they turn with it.

    A part is a body of the robot's model in space: 'chassis', 'turret' and 'arm' of an s-bot, any body of a <machine>'s file.
    In the plane there is only the chassis.
    """

    on: str = text(CHASSIS, doc="the part of the robot that carries it, such as a body of its file")

    @property
    def in_space(self) -> bool:
        """Whether its pose is one that only space has."""
        return self.on != CHASSIS


@dataclass(frozen=True, kw_only=True)
class Mounted(Carried):
    """A sensor with a pose in the frame of a part of its robot: x ahead, y to the left, z up.

        pose in the world = pose of the part, then (x, y, z), then roll about x, pitch about y and yaw about z, all of the part
    In the plane there is only the chassis, and on it x, y and yaw.
    """

    x: float = length(0.0, doc="of the sensor's middle, in the frame of that part")
    y: float = length(0.0, doc="of the sensor's middle, in the frame of that part")
    z: float | None = length(None, doc="the same; default: 0, but on chassis and turret of an s-bot the height "
                             "that it has in the robot")
    roll: float = angle(0.0, doc="about x, first")
    pitch: float = angle(0.0, doc="about y, then; positive: it looks down")
    yaw: float = angle(0.0, doc="about z, last")

    @property
    def beside(self) -> bool:
        """Whether it sits anywhere else than in the middle of the part that carries it, looking ahead."""
        return self.z is not None or any((self.x, self.y, self.roll, self.pitch, self.yaw))

    @property
    def moved(self) -> bool:
        """Whether it sits anywhere else than in the middle of the chassis, looking ahead."""
        return self.in_space or self.x != 0.0 or self.y != 0.0 or self.yaw != 0.0

    @property
    def in_space(self) -> bool:
        """Whether its pose is one that only space has."""
        return self.on != CHASSIS or self.z is not None or self.roll != 0.0 or self.pitch != 0.0


__all__ = ["CHASSIS", "Carried", "Mounted"]
