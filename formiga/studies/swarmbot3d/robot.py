"""Acceptance 1, 7 and 8: the s-bot as a machine. It drives, grips, pulls, holds, and lifts or does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import pi
from typing import Any

import numpy as np

from formiga.geometry import wrap, yaw
from formiga.loop import Simulation
from formiga.sense.traction import Traction
from formiga.state import Grip
from formiga.studies.harness import Row, at_most, reported
from formiga.studies.swarmbot3d.scene import APART, ARM, TOP, drive, grip, height, holds, world
from formiga.units import CM
from formiga.world.robots.sbot import ARM_SHARE, SBot
from formiga.world.solids import Solid

LAW = "law"
MODELS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("simplified, sliding", {"model": "simple", "base": "auto"}),
    ("simplified, on wheels", {"model": "simple", "base": "wheels"}), ("detailed", {"model": "detailed"}))
WAY, TURN = 2.0 * TOP, 2.0 * TOP / SBot().wheel_base     # m in 2 s, rad in 1 s
BACKWARDS = -TOP


# -- 1: driving -----------------------------------------------------------------------------------------------------------
def driving() -> Iterator[Row]:
    """4 rad/s for 2 s, and opposite for 1 s."""
    for name, robot in MODELS:
        lab = Simulation(world([(0.0, 0.0, 0.0)], **robot))
        drive(lab, 0.0, 0.5)  # it settles on its wheels
        start = lab.state.position[0, 0].copy()
        drive(lab, TOP, 2.0)
        way = float(np.linalg.norm(lab.state.position[0, 0] - start))
        yield Row(f"{name}: way in 2 s at 4 rad/s (m)", WAY, way, 0.02 * WAY, LAW)
        lab.reset()
        drive(lab, 0.0, 0.5)
        before = float(lab.state.heading[0, 0])
        drive(lab, [[-TOP, TOP]], 1.0)
        turn = float(lab.state.heading[0, 0]) - before
        yield Row(f"{name}: turn in 1 s with opposite wheels (rad)", TURN, turn, 0.03 * TURN, LAW)


# -- 7: grips -------------------------------------------------------------------------------------------------------------
def tug_of_war(team: int, friction: float = 1.0, seconds: float = 3.0, **robot: Any) -> tuple[bool, float, list[str]]:
    """Two chains pull at each other; the first robot of the first one grips the first of the other.

    Returns whether that grip held, the largest force that was felt in it (N), and what happened.
    """
    poses = [(-APART * k, 0.0, 0.0) for k in range(team)] + [(APART * (1 + k), 0.0, pi) for k in range(team)]
    lab = Simulation(world(poses, friction=friction, **robot))
    grip(lab, *(number for number in range(2 * team) if number != team))
    said = drive(lab, 0.0, 0.5)
    force = 0.0
    for _ in range(round(10 * seconds)):
        said += drive(lab, BACKWARDS, 0.1)
        force = max(force, float(lab.state.grips[0, 0, Grip.FORCE]))
    return holds(lab, 0), force, said


def gripping() -> Iterator[Row]:
    """A grip holds 5 N, gives at its limit, and makes two robots one body."""
    five = 5.0 / (SBot().mass * 9.81)  # a treel this slippery pulls with 5 N and not more
    held, force, _ = tug_of_war(1, five)
    yield Row("grip of 14.72 N, pulled with 5 N: holds", True, held, origin=LAW)
    yield Row("    force in the grip (N)", 5.0, force, 0.25, LAW)
    held, force, _ = tug_of_war(2)
    yield Row("tug of war, two against two: the grip between them holds", True, held, origin=LAW)
    yield reported("    force in it (N): twice an s-bot's friction, below 14.72", force)
    held, _, said = tug_of_war(3)
    yield Row("tug of war, three against three: it breaks", True, not held, origin=LAW)
    yield reported(f"    the laboratory says: {next((text for text in said if 'loses' in text), 'nothing')}", "")
    held, _, said = tug_of_war(1, five, grip_force=4.0)
    yield Row("grip of 4 N, pulled with 5 N: breaks", True, not held and any("loses" in text for text in said), origin=LAW)
    yield from as_one()
    yield from traction()


def as_one() -> Iterator[Row]:
    """A gripped pair, driven at random: what changes between the two."""
    lab = Simulation(world([(0.0, 0.0, 0.0), (APART, 0.0, 2.0)]))
    grip(lab, 0)
    drive(lab, 0.0, 0.2)  # they hold on
    draw, turret = np.random.default_rng(3), _row(lab, 0, "turret")
    other = _row(lab, 1, "turret")
    apart, turned = [], []
    start = lab.state.position[0].copy()
    for _ in range(10):
        drive(lab, draw.uniform(-TOP, TOP, (2, 2)), 1.0)
        one, two = lab.state.bodies[0, turret], lab.state.bodies[0, other]
        apart.append(float(np.linalg.norm(one[:2] - two[:2])))
        turned.append(float(yaw(two[3:]) - yaw(one[3:])))
    moved = float(np.linalg.norm(lab.state.position[0] - start, axis=1).max())
    yield at_most("gripped pair, 10 s at random: change of their distance (mm)", 1.0, 1e3 * float(np.ptp(apart)))
    yield at_most("gripped pair: change of the angle between their turrets (deg)", 2.0,
                  float(np.degrees(np.ptp(np.unwrap(turned)))))
    yield reported("    how far they came meanwhile (cm)", 100.0 * moved)


def traction() -> Iterator[Row]:
    """A robot is pulled by 5 N from eight sides; what its traction sensor says."""
    worst, size = 0.0, []
    for k in range(8):
        heading = k * pi / 4
        poses = [(0.0, 0.0, 0.0), (APART, 0.0, heading)]
        lab = Simulation(world(poses, sensors=(Traction(),), friction=5.0 / (SBot().mass * 9.81)))
        grip(lab, 0)
        drive(lab, 0.0, 0.2)
        drive(lab, [[BACKWARDS, BACKWARDS], [0.0, 0.0]], 1.0)
        felt, strong = lab.readings["r"]["traction"][0, 1]
        error = wrap(felt - (pi - heading - (lab.state.heading[0, 1] - heading)))
        worst = max(worst, abs(float(np.degrees(error))))
        size.append(float(strong))
    yield at_most("traction, pulled from eight sides: error of its direction (deg)", 5.0, worst)
    yield Row("traction, pulled from eight sides: mean force (N)", 5.0, float(np.mean(size)), 0.5, LAW)


# -- 8: lifting -----------------------------------------------------------------------------------------------------------
BOX = 6.0 * CM, 6.0 * CM, 7.5 * CM                                          # what is lifted, if it is no robot
BOX_AT = SBot().radius + 0.95 * SBot().grip_reach + 0.5 * BOX[0]            # m from the middle of the robot to that of the box
ARM_LONG = SBot().radius + SBot().grip_reach - SBot().arm_pivot[0]          # m, on which `lift_force` is a torque
ROSE = 1.0 * CM                                                             # what rose higher is lifted
GRAVITY = 9.81


def lift(mass: float | None, held_back: int = 0, seconds: float = 4.0, **robot: Any) -> tuple[float, float]:
    """A detailed s-bot grips the upper edge of a box, or another s-bot if there is no mass, and raises its arm.

    held_back: so many others hold it from behind, each the one before it. Returns how far the load rose (m), and how far the
    robot tipped (degrees).
    """
    poses = [(-APART * k, 0.0, 0.0) for k in range(1 + held_back)] + ([(APART, 0.0, 0.0)] if mass is None else [])
    box = () if mass is None else (Solid(size=BOX, x=BOX_AT, mass=mass, name="box"),)
    lab = Simulation(world(poses, box, model="detailed", **robot))
    drive(lab, 0.0, 0.5)
    grip(lab, *range(1 + held_back))
    drive(lab, 0.0, 0.2)
    body = lab.model.chassis[-1] if mass is None else len(lab.model.parts) - 1
    start = float(lab.state.bodies[0, body, 2])
    rose, tipped = 0.0, 0.0
    for _ in range(round(10 * seconds)):
        lab.state.joint_command[0, 0, ARM] = 0.3
        drive(lab, 0.0, 0.1)
        if not holds(lab, 0):
            break
        rose = max(rose, float(lab.state.bodies[0, body, 2]) - start)
        w, x, y, z = lab.state.bodies[0, lab.model.chassis[0], 3:]
        tipped = max(tipped, abs(float(np.degrees(np.arcsin(np.clip(2.0 * (w * y - z * x), -1.0, 1.0))))))
    return rose, tipped


def lift_between() -> float:
    """Two s-bots hold a third between them in loose grasps and raise their arms; how far it rose (m)."""
    lab = Simulation(world([(-APART, 0.0, 0.0), (APART, 0.0, pi), (0.0, 0.0, 0.0)], model="detailed", grasp="loose"))
    drive(lab, 0.0, 0.5)
    grip(lab, 0, 1)
    drive(lab, 0.0, 0.2)
    start = float(height(lab)[2])
    rose = 0.0
    for _ in range(30):
        lab.state.joint_command[0, :2, ARM] = 0.3
        drive(lab, 0.0, 0.1)
        rose = max(rose, float(height(lab)[2]) - start)
    return rose


def threshold(lifts: Callable[[float], bool], low: float, high: float, rounds: int = 6) -> float:
    """Where between `low` and `high` the answer changes, by halving."""
    rising = lifts(high)
    for _ in range(rounds):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if lifts(middle) == rising else (middle, high)
    return 0.5 * (low + high)


def lifting() -> Iterator[Row]:
    """What an s-bot lifts with the 6.87 N of its gripper, and what statics says. The text gives no torque and no sizes.

        m g (x - x_axis) <= F l - T_arm            the load hangs at x, the arm is l long, T_arm is the torque of its own weight
    A robot that no other one holds from behind would turn over its foremost support with little more; it is only reported.
    """
    bot, pivot = SBot(), SBot().arm_pivot[0]
    own = ARM_SHARE * bot.mass * GRAVITY * 0.5 * (ARM_LONG - 1.0 * CM)  # N m: its middle is that of the rod
    needed = (bot.mass * GRAVITY * (APART - pivot) + own) / ARM_LONG
    found = threshold(lambda force: lift(None, 2, 2.0, lift_force=force, grip_force=60.0)[0] > ROSE, 8.0, 24.0)
    yield Row("force at the gripper that lifts another s-bot, held by 2 from behind (N)", needed, found, 0.05 * needed, LAW)
    rose, tipped = lift(None, 2)
    yield reported("one s-bot lifts another with 6.87 N, held by 2 from behind: rises (cm), tips (deg)",
                   f"{100 * rose:.1f}, {tipped:.0f}",
                   note=f"6.87 N is just the weight of an s-bot, and at the end of an arm of {100 * ARM_LONG:.0f} cm it is "
                        f"{bot.lift_force * ARM_LONG:.2f} N m. The other one's middle is {100 * (APART - pivot):.1f} cm from "
                        f"the arm's axis: {needed * ARM_LONG:.2f} N m. These masses and this force cannot lift it.")
    yield Row("two s-bots, one on each side, lift a third with 6.87 N each", True, lift_between() > ROSE, origin=LAW)
    heaviest = (bot.lift_force * ARM_LONG - own) / (GRAVITY * (BOX_AT - pivot))
    found = threshold(lambda mass: lift(mass, 2, 2.0)[0] > 1e-3, 0.2, 0.8)
    yield Row("heaviest box that leaves the floor, held by 2 from behind (kg): torque", heaviest, found, 0.05 * heaviest, LAW)
    for mass, held_back in ((0.1, 0), (0.3, 0), (0.7, 0), (0.3, 2), (0.7, 2)):
        rose, tipped = lift(mass, held_back)
        by = f", held by {held_back} from behind" if held_back else ""
        yield reported(f"lifting {mass:g} kg at the gripper{by}: rises (cm), robot tips (deg)",
                       f"{100 * rose:.1f}, {tipped:.0f}")


def _row(lab: Simulation, robot: int, name: str) -> int:
    return next(row for row, part in enumerate(lab.model.parts) if part.robot == robot and part.name == name)


__all__ = ["driving", "gripping", "height", "lifting", "tug_of_war"]
