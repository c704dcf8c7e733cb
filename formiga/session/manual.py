"""What a person orders robots to do, while their controllers decide the rest."""

from __future__ import annotations

from formiga.console.errors import brief
from formiga.control import Orders
from formiga.errors import FormigaError, suggest
from formiga.session.drives import WHEELS, by_hand, names
from formiga.session.names import group_of, robot_name
from formiga.world.model import World

Shares = tuple[float, float]            # left and right wheel, from -1 to 1 of the top speed


class Manual:
    """Orders by hand, kept by robot: they hold until they are given back to the controller."""

    def __init__(self) -> None:
        self.drives: dict[int, Shares] = {}                 # robot -> what its drive is ordered
        self.joints: dict[tuple[int, str], float] = {}      # (robot, joint) -> its order

    def orders(self, world: World) -> dict[str, Orders] | None:
        """Group -> orders, with NaN for everything that is left to the controllers; None if there are none."""
        return by_hand(world, self.drives, self.joints)

    def drive(self, world: World, robot: int, shares: Shares | None) -> None:
        """Order a robot's drive; None leaves it to the controller."""
        if shares is None:
            self.drives.pop(robot, None)
            return
        if not set(WHEELS) <= set(names(group_of(world, robot).robot, False)):
            raise FormigaError(f"{robot_name(world, robot)} has no two wheels to be driven by; `out` orders its joints.")
        self.drives[robot] = shares

    def actuate(self, world: World, robot: int, name: str, value: float | None, joints: bool) -> None:
        """Order a wheel or a joint of a robot, by its name; None leaves it to the controller, and both wheels go together.

        joints: whether the engine moves joints.
        """
        known = names(group_of(world, robot).robot, joints)
        if name not in known:
            space = "" if joints else " (in the plane; there are more in space)"
            raise FormigaError(f"{robot_name(world, robot)} has no wheel or joint '{brief(name)}'."
                               f"{suggest(brief(name), known)} It has: {', '.join(known) or 'none'}{space}.")
        if name in WHEELS:
            left, right = self.drives.get(robot, (0.0, 0.0))
            shares = None if value is None else (value, right) if name == WHEELS[0] else (left, value)
            self.drive(world, robot, shares)
        elif value is None:
            self.joints.pop((robot, name), None)
        else:
            self.joints[robot, name] = value

    def includes(self, robot: int) -> bool:
        """Whether a robot, or one of its joints, is under manual control."""
        return robot in self.drives or any(each == robot for each, _ in self.joints)

    def carry_on(self, now: dict[int, int], world: World, joints: bool) -> None:
        """Keep the orders of robots that stay in an edited world, and of joints that they still have.

        now: old number -> new number of each robot that stays.
        """
        self.drives = {now[robot]: shares for robot, shares in self.drives.items() if robot in now}
        told = {(now[robot], name): value for (robot, name), value in self.joints.items() if robot in now}
        self.joints = {(robot, name): value for (robot, name), value in told.items()
                       if name in names(group_of(world, robot).robot, joints)}

    def clear(self) -> None:
        """Leave all robots to their controllers."""
        self.drives.clear()
        self.joints.clear()


__all__ = ["Manual"]
