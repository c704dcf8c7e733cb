"""What the robots of a group are told, as one row of numbers for each: shares of what each part takes.

    drive     for each channel a share of its limit, -1..1
    joints    for each joint -1..1 for its lowest to its highest order; a switch closes above 0
    leds      for each light red, green and blue, 0..1
    message   for each number of each link a share of the link's limit, -1..1
    sound     for each loudspeaker a share of its intensity, 0..1; its frequency stays
The order of a row is that of this table, whatever parts are in it. Shares beyond their range are cut. The outputs of networks
and the actions of learners are such rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from formiga.control.orders import Orders
from formiga.errors import WorldError, suggest
from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.state import Floats
from formiga.world.elements import of
from formiga.world.model import Group, loudspeakers

PARTS = ("drive", "joints", "leds", "message", "sound")
COLOURS = ("red", "green", "blue")


class Shares:
    """Rows of numbers (K,) for some parts of the robots of a group."""

    def __init__(self, group: Group, parts: Sequence[str], place: str) -> None:
        """place: in front of complaints, such as 'mine.xml:3: <mlp> outputs: '."""
        self.group, self._place = group, place
        for part in parts:
            if part not in PARTS:
                raise WorldError(f"{place}there is no part '{part}'.{suggest(part, PARTS)} There are: {', '.join(PARTS)}.")
        self.parts = tuple(part for part in PARTS if part in parts)
        for part in self.parts:
            if part not in parts_of(group):
                raise WorldError(f"{place}the robots of '{group.name}' have no {HAS[part]}, so '{part}' says nothing to them. "
                                 f"They take: {', '.join(parts_of(group)) or 'nothing'}.")
        self._refuse_endless()
        self.names = tuple(name for part in self.parts for name in _names(group, part))
        self.low = np.array([0.0 if name.startswith(("leds[", "sound[")) else -1.0 for name in self.names])
        self.high = np.ones(len(self.names))

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def columns(self) -> dict[str, slice]:
        """Part -> its columns of a row."""
        ends = np.cumsum([0, *(len(_names(self.group, part)) for part in self.parts)]).tolist()
        return {part: slice(ends[k], ends[k + 1]) for k, part in enumerate(self.parts)}

    @cached_property
    def limits(self) -> Floats:
        """Of the channels (D,) of the drive; none, if it is not in the row."""
        drive = self.group.robot.drive
        return np.array(drive.limits if drive is not None and "drive" in self.parts else (), np.float64)

    @cached_property
    def messages(self) -> dict[str, tuple[slice, float]]:
        """Link -> its columns of a row, and the limit of its numbers; none, if messages are not in the row."""
        if "message" not in self.parts:
            return {}
        ends = (self.columns["message"].start + np.cumsum([0, *(link.numbers for link in self.group.links)])).tolist()
        return {link.name: (slice(first, last), float(link.limit))
                for link, (first, last) in zip(self.group.links, pairwise(ends), strict=True)}

    def orders(self, shares: Any) -> Orders:
        """Rows (W, n, K) as orders."""
        cut = np.clip(shares, self.low, self.high)
        part = {name: cut[..., columns] for name, columns in self.columns.items()}
        return Orders(self.limits * part["drive"] if "drive" in part else None,
                      self._joints(part["joints"]) if "joints" in part else None,
                      self._leds(part["leds"]) if "leds" in part else None,
                      {link: limit * cut[..., columns] for link, (columns, limit) in self.messages.items()} or None,
                      self._sounds(part["sound"]) if "sound" in part else None)

    def stages(self, rows: Floats, drive: Floats, outbox: Callable[[str], Floats]) -> list[Stage] | None:
        """The same as kernels that fill drive (W, n, D) and outbox(link) (W, n, numbers); None for other parts.

        rows (W, n, K) is looked into in every step.
        """
        if not set(self.parts) <= {"drive", "message"}:
            return None
        stages = [Stage(share_world, (rows, self.columns["drive"].start, self.limits, drive))] if "drive" in self.parts else []
        return stages + [Stage(share_world, (rows, columns.start, np.full(columns.stop - columns.start, limit), outbox(link)))
                         for link, (columns, limit) in self.messages.items()]

    def from_signed(self, outputs: Floats) -> Floats:
        """Rows in their own ranges from rows (W, n, K) that are in -1..1 throughout, as the outputs of a network are."""
        return outputs if (self.low == -1.0).all() else np.where(self.low == 0.0, 0.5 * (outputs + 1.0), outputs)

    def _joints(self, shares: Floats) -> Floats:
        low, high = self._range
        return np.clip(0.5 * (low + high) + 0.5 * (high - low) * shares, low, high)

    def _leds(self, shares: Floats) -> Any:
        return np.rint(255.0 * shares).reshape(*shares.shape[:2], self.group.robot.leds, 3)

    def _sounds(self, shares: Floats) -> Floats:
        given = [part for part in self.group.actuators if of(part).tag == "loudspeaker"]
        loud = shares * [part.intensity for part in given]
        return np.stack([loud, np.broadcast_to([part.frequency for part in given], loud.shape)], axis=-1)

    @cached_property
    def _range(self) -> tuple[Floats, Floats]:
        """Of the joints (K,); a switch goes from 0 to 1."""
        low, high = self.group.robot.joint_range
        switch = np.array([joint.mode == "switch" for joint in self.group.robot.joints])
        return np.where(switch, np.maximum(low, 0.0), low), np.where(switch, np.minimum(high, 1.0), high)

    def _refuse_endless(self) -> None:
        if "message" in self.parts:
            for link in self.group.links:
                if link.limit is None or not np.isfinite(link.limit):
                    raise WorldError(f"{self._place}the messages of <{of(link).tag}> '{link.name}' of '{self.group.name}' have "
                                     "numbers of any size, so there is no range to take a share of. Declare one, such as "
                                     "limit=\"1\"; or leave the messages out.")
        if "joints" not in self.parts:
            return
        low, high = self._range
        for joint, known in zip(self.group.robot.joints, np.isfinite(low) & np.isfinite(high), strict=True):
            if not known:
                raise WorldError(f"{self._place}joint '{joint.name}' of '{self.group.name}' takes any {joint.mode}, so there "
                                 "is no range to take a share of. Declare one: joint_speed of an <sbot>, ctrlrange of a motor "
                                 f"in an MJCF file, Actuator(\"{joint.name}\", low=..., high=...) in a class of your own; or "
                                 "leave the joints out.")


HAS = {"drive": "drive", "joints": "joints", "leds": "lights", "message": "link", "sound": "<loudspeaker>"}


def parts_of(group: Group) -> tuple[str, ...]:
    """What the robots of a group can be told."""
    robot = group.robot
    has = {"drive": robot.drive is not None, "joints": bool(robot.joints), "leds": robot.leds > 0,
           "message": bool(group.links), "sound": loudspeakers(group) > 0}
    return tuple(part for part in PARTS if has[part])


def _names(group: Group, part: str) -> list[str]:
    """A name for each number of a part."""
    robot = group.robot
    if part == "drive":
        return [f"drive.{channel}" for channel in robot.drive.channels]
    if part == "joints":
        return [f"joints.{joint.name}" for joint in robot.joints]
    if part == "sound":
        return [f"sound[{speaker}]" for speaker in range(loudspeakers(group))]
    if part == "message":
        return [f"message.{link.name}[{k}]" for link in group.links for k in range(link.numbers)]
    return [f"leds[{light}].{colour}" for light in range(robot.leds) for colour in COLOURS]


@kernel()
def share_world(w, rows, first, limits, out):
    """Columns of rows (W, n, K) from `first` on, cut to -1..1, times limits (D,), into out (W, n, D)."""
    for i in range(rows.shape[1]):
        for k in range(limits.shape[0]):
            out[w, i, k] = limits[k] * min(1.0, max(-1.0, rows[w, i, first + k]))


__all__ = ["PARTS", "Shares", "parts_of"]
