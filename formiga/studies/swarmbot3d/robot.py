"""Acceptance 1, 7 and 8: the s-bot as a machine. It drives, grips, pulls, holds, and lifts or does not."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any

import numpy as np

from formiga.geometry import wrap, yaw
from formiga.loop import Simulation
from formiga.sense.traction import Traction
from formiga.state import Grip
from formiga.studies.harness import Row, at_most, reported
from formiga.studies.swarmbot3d.scene import APART, ARM, GRIP, TOP, drive, grip, height, holds, world
from formiga.units import CM
from formiga.world.robots.sbot import SBot
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
def lift(mass: float, held_back: int = 0) -> tuple[float, float]:
    """A detailed s-bot grips the upper edge of a box of 6 x 6 x 7.5 cm and raises its arm for 4 s.

    held_back: so many others hold it from behind, each the one before it. Returns how far the box rose (m), and how far the
    robot tipped (degrees).
    """
    poses = [(-APART * k, 0.0, 0.0) for k in range(1 + held_back)]
    box = 6.0 * CM
    lab = Simulation(world(poses, (Solid(size=(box, box, 7.5 * CM), x=SBot().radius + 0.95 * SBot().grip_reach + 0.5 * box,
                                         mass=mass, name="box"),), model="detailed"))
    drive(lab, 0.0, 0.5)
    grip(lab, *range(1 + held_back))
    drive(lab, 0.0, 0.2)
    body = len(lab.model.parts) - 1
    start = float(lab.state.bodies[0, body, 2])
    rose, tipped = 0.0, 0.0
    for _ in range(40):
        lab.state.joint_command[0, 0, ARM] = 0.3
        lab.state.joint_command[0, :, GRIP] = 1.0
        drive(lab, 0.0, 0.1)
        if not holds(lab, 0):
            break
        rose = max(rose, float(lab.state.bodies[0, body, 2]) - start)
        w, x, y, z = lab.state.bodies[0, lab.model.chassis[0], 3:]
        tipped = max(tipped, abs(float(np.degrees(np.arcsin(np.clip(2.0 * (w * y - z * x), -1.0, 1.0))))))
    return rose, tipped


def lifting() -> Iterator[Row]:
    """What an s-bot lifts with 6.87 N at its gripper. Nothing is claimed: the text gives no sizes."""
    for mass, held_back in ((0.1, 0), (0.3, 0), (0.7, 0), (0.3, 2), (0.7, 2)):
        rose, tipped = lift(mass, held_back)
        by = f", held by {held_back} from behind" if held_back else ""
        yield reported(f"lifting {mass:g} kg at the gripper{by}: rises (cm), robot tips (deg)",
                       f"{100 * rose:.1f}, {tipped:.0f}",
                       note="An s-bot of 0.7 kg stands on casters 4.5 cm ahead of its middle; 0.7 kg at 11 cm turns it over. "
                            "Held from behind it stands, but 6.87 N at the gripper is just the weight: it lacks the lever.")


def _row(lab: Simulation, robot: int, name: str) -> int:
    return next(row for row, part in enumerate(lab.model.parts) if part.robot == robot and part.name == name)


__all__ = ["driving", "gripping", "height", "lifting", "tug_of_war"]
