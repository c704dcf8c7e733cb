"""Robots that drive and turn away from what is near: a program of its own, which formiga asks in each control period.

    formiga run remote --program swarm=examples/programs/avoid.py
    formiga view remote            # and in another terminal: python examples/programs/avoid.py --udp 127.0.0.1:20100
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "formiga" / "link" / "clients"))  # or copy the file here

from formiga_remote import Robots

with Robots.from_arguments() as robots:
    for _ in robots:
        near, drive = robots.readings["proximity"], robots.orders["drive"]
        top = robots.channels["left"][1]               # m/s
        beams = near.shape[2]                          # counter-clockwise from ahead: the last are on the right
        for world in range(robots.worlds):
            for robot in range(robots.count):
                left = sum(float(near[world, robot, k]) for k in (0, 1, 2))
                right = sum(float(near[world, robot, beams - 1 - k]) for k in (0, 1, 2))
                free = left + right < 0.2
                drive[world, robot, 0] = top if free or left >= right else -0.5 * top
                drive[world, robot, 1] = top if free or left < right else -0.5 * top
