"""A group that a program in another process drives."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from formiga.control.orders import Orders
from formiga.control.view import View
from formiga.errors import WorldError, suggest
from formiga.world.contract import channels
from formiga.world.elements import duration, element, integer, locate, of, origin, where
from formiga.world.model import Group, World
from formiga.world.shipped import Given, world_of


@element("remote", role="controller")
@dataclass(frozen=True)
class RemoteControl:
    """A program in another process, in any language, gets the readings of all robots of the group and answers with orders.

    A world file never names a command: the program is given with `formiga run WORLD --program GROUP=COMMAND`, or
    `formiga.attach` in Python, and talks through shared memory; or it comes by itself to a UDP port of this machine. Without
    one the robots stand still. docs/tutorials/remote.md begins with a program of ten lines.
    """

    wait: float = duration(1.0, least=0.0, doc="on the clock, for each answer; 0: real time, the newest counts")
    silence: float = duration(1.0, above=0.0, doc="simulated, without an answer, after which the robots stand still")
    port: int | None = integer(None, least=0, most=65535, doc="of UDP on this machine, for a program that comes by itself; "
                                                              "0: any that is free")
    outside: ClassVar[bool] = True
    command: ClassVar[tuple[str, ...]] = ()    # of the program that `attach` gave; no field, so no attribute of XML

    def decide(self, view: View) -> Orders:
        """What its program answers; the robots stand still where none is asked, as in a check."""
        return standing(view.group, view.shape[0]) if view.outside is None else view.outside.orders(view)


def standing(group: Group, worlds: int) -> Orders:
    """Orders of robots that stand still and say nothing."""
    silent = {link.name: np.full((worlds, group.count, link.numbers), np.nan) for link in group.links}
    drive = np.zeros((worlds, group.count, channels(group.robot))) if group.robot.drive is not None else None
    return Orders(drive, message=silent or None)


def attach(world: Given, group: str, program: str | Sequence[str]) -> World:
    """The same world, whose group with a <remote> is driven by a program that is started with the first step of each run.

    program: the command, as a list, or as one line of a shell without its signs: ["driver.py"], "./driver --fast". A file that
    ends in .py is run by the Python that runs formiga. The command is no attribute of the element, so a world file cannot name
    it, and `write_world` does not write it.
    """
    world = world_of(world)
    try:
        command = tuple(shlex.split(program) if isinstance(program, str) else map(str, program))
    except ValueError as wrong:
        raise WorldError(f"the program of '{group}', {program}, is no command: a quotation has no end.") from wrong
    if command and command[0].endswith(".py"):
        command = sys.executable, *command
    if not command:
        raise WorldError(f"the program of '{group}' is empty. Give a command, such as \"./driver --fast\".")
    found = next((each for each in world.groups if each.name == group), None)
    if found is None:
        names = [each.name for each in world.groups]
        raise WorldError(f"{where(world)}there is no group '{group}' for a program to drive.{suggest(group, names)} There are: "
                         f"{', '.join(names) or 'none'}.")
    if not isinstance(found.controller, RemoteControl):
        has = "no controller" if found.controller is None else f"<{of(found.controller).tag}>"
        raise WorldError(f"{where(found)}'{group}' has {has}; a program drives a group with <remote/>.")
    mind = replace(found.controller)
    object.__setattr__(mind, "command", command)
    driven = replace(found, controller=mind)
    for new, old in ((mind, found.controller), (driven, found)):
        if (place := origin(old)) is not None:
            locate(new, place)
    attached = replace(world, groups=tuple(driven if each is found else each for each in world.groups))
    if (place := origin(world)) is not None:
        locate(attached, place)
    return attached


__all__ = ["RemoteControl", "attach", "standing"]
