"""Teams as a user names them: a shipped one, a program, or a place in the network.

    find_team("colony")                    formiga's own
    find_team("path/to/program.py")        a program in Python, or any executable, with arguments or without
    find_team("network:lions")             a program that comes by itself, through FIRASim's ports
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from formiga.errors import suggest
from formiga.soccer.memory import TeamError

PROGRAMS = Path(__file__).parent / "programs"
NOT_TEAMS = ("__init__", "firasim_client", "moves")  # in that folder; the second one comes over the network
LONGEST_NAME = 40                                    # characters of a team's name


class TeamSpec(NamedTuple):
    """A team that was found."""

    name: str
    command: tuple[str, ...]           # that starts its program; empty for a network team
    network: bool = False              # it comes by itself, through FIRASim's ports


def shipped() -> list[str]:
    """The teams that come with formiga."""
    return sorted(file.stem for file in PROGRAMS.glob("*.py") if file.stem not in NOT_TEAMS)


def find_team(text: str) -> TeamSpec:
    """The team that was typed: `colony`, `path/to/program.py`, `path/to/executable`, either with arguments, `network:NAME`."""
    if text == "network":
        return TeamSpec("network", (), network=True)
    if text.startswith("network:"):
        name = text.removeprefix("network:").strip()
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise TeamError(f"Team {text!r} has no name; after 'network:' come 1 to {LONGEST_NAME} printable characters.")
        return TeamSpec(name, (), network=True)
    if text in shipped():
        return TeamSpec(text, (sys.executable, "-m", f"formiga.soccer.programs.{text}"))
    words = [text]
    if not os.path.isfile(text):
        try:
            words = shlex.split(text) or [text]
        except ValueError as wrong:
            raise TeamError(f"Team {text!r} cannot be read: {wrong}.") from wrong
    if len(words) > 1 and words[0] in shipped():
        return TeamSpec(words[0], (*find_team(words[0]).command, *words[1:]))
    program = words[0]
    allowed = f"A team is {', '.join(shipped())}, network, network:NAME, or the path of a program."
    if "\0" in program or not os.path.exists(program):
        raise TeamError(f"Team '{program}' is unknown.{suggest(program, [*shipped(), 'network'])} {allowed}")
    if os.path.isdir(program):
        raise TeamError(f"Team '{program}' is a folder. {allowed}")
    path, name = os.path.abspath(program), Path(program).stem
    if path.endswith(".py"):
        return TeamSpec(name, (sys.executable, path, *words[1:]))
    if path.endswith((".c", ".cc", ".cpp")):
        raise TeamError(f"Team '{program}' is source text. Compile it (cc -O2 -o {name} {program} -lm) and give './{name}'.")
    if not os.access(path, os.X_OK):
        raise TeamError(f"Team '{program}' may not be executed. Make it executable (chmod +x), or give a Python program (.py).")
    return TeamSpec(name, (path, *words[1:]))


def count_names(names: Sequence[str], count: int) -> None:
    """A clear complaint if there is not one name for each team."""
    if len(names) != count:
        raise TeamError(f"{len(names)} names ({', '.join(names)}) for {count} teams; give one for each, in their order.")


def check_names(names: Sequence[str], count: int) -> None:
    """A clear complaint if these are not names for so many teams, as they are shown."""
    count_names(names, count)
    for name in names:
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise TeamError(f"{name!r} cannot be the name of a team; one has 1 to {LONGEST_NAME} printable characters.")
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise TeamError(f"two teams cannot both be named '{twice}'.")


__all__ = ["TeamSpec", "check_names", "count_names", "find_team", "shipped"]
