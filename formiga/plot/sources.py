"""What a figure is drawn from: a run, a recording, or the path of one."""

from __future__ import annotations

import os
from typing import Any

from formiga.errors import FormigaError, suggest
from formiga.record.recording import Recording, read_recording
from formiga.runs import Run
from formiga.world.model import World


def recording_of(data: Any) -> Recording:
    """The recording that it is, or that it has."""
    if isinstance(data, Recording):
        return data
    if isinstance(data, Run):
        found: Recording = data.recorded
        return found
    if isinstance(data, str | os.PathLike):
        return read_recording(data)
    raise FormigaError("a figure is drawn from a run that was recorded, a recording or the path of one, not from "
                       f"{type(data).__name__}.")


def robots_of(world: World, group: str | None) -> list[int]:
    """The numbers of the robots of a group, or of all."""
    names = [each.name for each in world.groups]
    if group is not None and group not in names:
        raise FormigaError(f"there is no group '{group}'.{suggest(group, names)} There are: {', '.join(names) or 'none'}.")
    return [robot for name, robots in zip(names, world.slices, strict=True) if group in (None, name)
            for robot in range(robots.start, robots.stop)]


__all__ = ["recording_of", "robots_of"]
