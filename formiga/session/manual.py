"""What a person orders robots to do, while their controllers decide the rest."""

from __future__ import annotations

from formiga.console.errors import brief
from formiga.control import Orders
from formiga.errors import FormigaError, suggest
from formiga.session.drives import Shares, by_hand, channel_names, names, shown, steered
from formiga.session.names import group_of, robot_name
from formiga.world.model import World


class Manual:
    """Orders by hand, kept by robot: they hold until they are given back to the controller."""

    def __init__(self) -> None:
        self.drives: dict[int, Shares] = {}                 # robot -> what its drive is ordered
        self.wishes: dict[int, dict[str, float]] = {}       # robot -> axis -> share, of those that are steered
        self.joints: dict[tuple[int, str], float] = {}      # (robot, joint, light or sound) -> its order

    def orders(self, world: World) -> dict[str, Orders] | None:
        """Group -> orders, with NaN for everything that is left to the controllers; None if there are none."""
        return by_hand(world, self.drives, self.joints)

    def drive(self, world: World, robot: int, shares: Shares | None) -> None:
        """Order a robot's drive; None leaves it to the controller."""
        self.wishes.pop(robot, None)
        if shares is None:
            self.drives.pop(robot, None)
            return
        known = channel_names(group_of(world, robot).robot)
        if not known:
            raise FormigaError(f"{robot_name(world, robot)} has no drive; `out` orders its joints.")
        if len(shares) != len(known):
            raise FormigaError(f"{robot_name(world, robot)} is driven by {len(known)} numbers ({', '.join(known)}), not "
                               f"{len(shares)}.")
        self.drives[robot] = shares

    def steer(self, world: World, robot: int, axis: str, share: float) -> None:
        """Order a robot's drive as a driver does: a share of its top speed ahead, aside or turning; the other axes stay."""
        drive = group_of(world, robot).robot.drive
        if drive is None:
            raise FormigaError(f"{robot_name(world, robot)} has no drive; `out` orders its joints.")
        wish = self.wishes.get(robot, {}) | {axis: share}
        self.drives[robot], self.wishes[robot] = steered(drive, wish), wish

    def actuate(self, world: World, robot: int, name: str, value: float | None, joints: bool) -> None:
        """Order a channel of the drive, a joint, a light or a sound of a robot, by its name; None leaves it to the controller,
        and all channels of a drive go together.

        joints: whether the engine moves joints.
        """
        known = names(group_of(world, robot), joints)
        if name not in known:
            space = "" if joints else " (in the plane; there are more in space)"
            raise FormigaError(f"{robot_name(world, robot)} has no wheel, joint, light or sound '{brief(name)}'."
                               f"{suggest(brief(name), known)} It has: {', '.join(shown(known)) or 'none'}{space}.")
        own = channel_names(group_of(world, robot).robot)
        if name in own:
            shares = dict(zip(own, self.drives.get(robot, (0.0,) * len(own)), strict=True))
            self.drive(world, robot, None if value is None else tuple((shares | {name: value}).values()))
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
        self.drives = {now[robot]: shares for robot, shares in self.drives.items() if robot in now
                       and len(channel_names(group_of(world, now[robot]).robot)) == len(shares)}
        self.wishes = {now[robot]: wish for robot, wish in self.wishes.items() if now.get(robot) in self.drives}
        told = {(now[robot], name): value for (robot, name), value in self.joints.items() if robot in now}
        self.joints = {(robot, name): value for (robot, name), value in told.items()
                       if name in names(group_of(world, robot), joints)}

    def clear(self) -> None:
        """Leave all robots to their controllers."""
        self.drives.clear()
        self.wishes.clear()
        self.joints.clear()


__all__ = ["Manual"]
