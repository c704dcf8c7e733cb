"""What moves a robot over the floor, as a description: its channels, their limits, and the twist that they give.

Orders for a drive are one number for each channel. `act/` cuts them at the limits and adds the motors' noise, an engine carries
them out. A twist is vx, vy in m/s and the turning rate in rad/s, in the robot's frame, x ahead.

A drive is a page: the contract in `contract.py`, then one file for each drive. A drive of the user's own is a class that
inherits `Drive` (docs/guides/add-a-drive.md).
"""

from __future__ import annotations

from formiga.world.drives.contract import Drive, missing, tops, within
from formiga.world.drives.differential import Differential
from formiga.world.drives.omni import Omni
from formiga.world.drives.steered import Steered

__all__ = ["Differential", "Drive", "Omni", "Steered", "missing", "tops", "within"]
