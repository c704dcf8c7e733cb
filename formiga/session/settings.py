"""What users keep from one session to the next: a script of their own. Before it, the binds of every session.

The settings file is a script like any other. `settings save` writes binds and aliases below a line of its own in it, and
leaves what stands above that line alone.
"""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

from formiga.console import Console, parse, quote, read_script
from formiga.errors import FormigaError
from formiga.files import write_whole

OURS = "# -- from here on written by `settings save`; write your own commands above this line --\n"
DEFINE = ("alias", "unalias", "bind", "unbind")


def path() -> Path:
    """The user's own settings file."""
    return folder() / "settings.fsh"


def folder() -> Path:
    """Where a user's settings are kept."""
    own = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(own) / "formiga"


def begin(console: Console, own: bool = True) -> None:
    """Run the binds of every session, then the user's own file, if there is one. A mistake in it ends the file, and is said."""
    console.run(defaults(), "defaults.fsh")
    if own and os.path.exists(path()):
        console.run_file(path())


def defaults() -> str:
    """The script of the first binds."""
    return (resources.files("formiga.session") / "defaults.fsh").read_text(encoding="utf-8")


def save(console: Console) -> Path:
    """Write the user's binds and aliases into the settings file, as far as its upper part does not make them already."""
    target = path()
    upper = read_script(target).partition(OURS)[0] if os.path.exists(target) else ""
    before = _defined(console, upper)
    lines = [upper, "\n" * (upper != "" and not upper.endswith("\n")), OURS]
    for word, mine, given in (("alias", console.aliases, before.aliases), ("bind", console.binds, before.binds)):
        kept = {}
        for name, shown in sorted(mine.items()):
            made = shown if shown.trusted else shown.under  # what a world's own text hides
            if made is not None:
                kept[name] = made.text
        lines += [f"{quote([word, name, text])}\n" for name, text in kept.items()
                  if name not in given or given[name].text != text]
        lines += [f"{quote([f'un{word}', name])}\n" for name in sorted(given) if name not in kept]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise FormigaError(f"{target.parent}: cannot be made ({wrong.strerror}).") from wrong
    write_whole(target, "".join(lines))
    return target


def _defined(console: Console, upper: str) -> Console:
    """A console that knows what the first binds and the upper part of the user's file define, and has done nothing else."""
    other = Console(say=lambda text: None, clock=lambda: 0.0)
    other.add([spec for name, spec in console.commands.items() if name not in other.commands])  # an alias may not be one
    other.run(defaults(), "defaults.fsh")
    for command in parse(upper, str(path())):
        words = [part for word in command.words for part in word]
        if command.name in DEFINE and all(isinstance(part, str) for part in words):
            other.run(quote(["".join(map(str, word)) for word in command.words]))
    return other


__all__ = ["begin", "defaults", "folder", "path", "save"]
