"""What a world brings along for people: keys, commands and cameras of the laboratory. Engines ignore it.

The texts are in the language of `formiga.console`. They are parsed when the world is read, so a mistake in one is a mistake in
the world; they run only in the laboratory, where a world's own text may not touch files.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from formiga.console import ConsoleError, canonical_key, check_name, parse, read_script
from formiga.errors import Where, WorldError
from formiga.units import DEG
from formiga.world.elements import angle, element, file, length, name, text

_HERE = Where("run", 1)


@element("bind", role="page")
@dataclass(frozen=True)
class Bind:
    """A key or a mouse button that runs commands: `+name` when it goes down and `-name` when it is let go."""

    key: str = text(doc="w, 7, ArrowUp, Space, F5, Ctrl+s, MouseRight, Alt+MouseLeft ...")
    run: str = text(doc="commands, separated by ;")

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "key", canonical_key(self.key))
        except ConsoleError as wrong:
            raise WorldError(f"<bind> key: {wrong}") from wrong
        _check("bind", self.run)


@element("alias", role="page")
@dataclass(frozen=True)
class Alias:
    """A new command, made of others."""

    name: str = text(doc="letters, digits, _ and -, perhaps with a + in front")
    run: str = text(doc="commands, separated by ;  $1 to $9 are its arguments")

    def __post_init__(self) -> None:
        try:
            check_name(self.name)
        except ConsoleError as wrong:
            raise WorldError(f"<alias> name: {wrong}") from wrong
        _check("alias", self.run)


@element("script", role="page")
@dataclass(frozen=True)
class Script:
    """Commands that run when the laboratory opens the world: written here, or in a file."""

    run: str | None = text(None, doc="commands, separated by ;")
    file: str | None = file(None, doc="a script, such as phases.fsh")

    def __post_init__(self) -> None:
        if (self.run is None) == (self.file is None):
            raise WorldError("<script> has either commands (run) or a file with them (file).")
        if self.file is None:
            _check("script", self.text)
            return
        try:
            parse(self.text, self.file)
        except ConsoleError as wrong:
            raise WorldError(f"<script> file: {wrong}") from wrong

    @cached_property
    def text(self) -> str:
        """The commands, as they were when the world was read."""
        return self.run if self.run is not None else read_script(Path(str(self.file)))


@element("camera", role="page")
@dataclass(frozen=True)
class Camera:
    """A place to look from."""

    x: float = length()
    y: float = length()
    z: float = length(doc="above the floor")
    look_x: float = length(0.0, doc="where it looks")
    look_y: float = length(0.0, doc="where it looks")
    look_z: float = length(0.0, doc="where it looks")
    fov: float = angle(50.0 * DEG, above=0.0, most=3.0, doc="how much it sees from top to bottom")
    name: str = name("camera")

    def __post_init__(self) -> None:
        if (self.x, self.y, self.z) == (self.look_x, self.look_y, self.look_z):
            raise WorldError("<camera> looks at the place where it stands; give another look_x, look_y or look_z.")


def _check(tag: str, commands: str) -> None:
    """Whether an attribute `run` can be parsed and says anything; it has no lines of its own, only that of its element."""
    try:
        found = parse(commands, _HERE)
    except ConsoleError as wrong:
        raise WorldError(f"<{tag}> run: {str(wrong).removeprefix(f'{_HERE}: ')}") from wrong
    if not found:
        raise WorldError(f"<{tag}> run: there is no command in it.")


__all__ = ["Alias", "Bind", "Camera", "Script"]
