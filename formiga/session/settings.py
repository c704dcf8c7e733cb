"""What people keep from one session to the next: a script of theirs, and the binds that everybody starts with."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

from formiga.console import Console, quote
from formiga.errors import FormigaError
from formiga.files import write_whole

MINE = "# written by `settings save`: binds and aliases of the formiga laboratory\n"


def path() -> Path:
    """The user's own settings file."""
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(folder) / "formiga" / "settings.fsh"


def begin(console: Console, own: bool = True) -> None:
    """The binds that everybody has, then the user's own file, if there is one. A mistake in it is said, and costs nothing else."""
    console.run(defaults(), "defaults.fsh")
    if own and path().exists():
        console.run_file(path())


def defaults() -> str:
    """The script of the first binds."""
    return (resources.files("formiga.session") / "defaults.fsh").read_text(encoding="utf-8")


def save(console: Console) -> Path:
    """Write the user's binds and aliases into the settings file. What stood there is kept as settings.fsh.before."""
    fresh = Console(say=lambda text: None, clock=lambda: 0.0)
    fresh.add([spec for name, spec in console.commands.items() if name not in fresh.commands])
    fresh.run(defaults(), "defaults.fsh")
    lines = [MINE]
    for word, mine, given in (("alias", console.aliases, fresh.aliases), ("bind", console.binds, fresh.binds)):
        for name, shown in sorted(mine.items()):
            made = shown if shown.trusted else shown.under  # what a world's own text hides
            if made is not None and (name not in given or given[name].text != made.text):
                lines.append(quote([word, name, made.text]) + "\n")
        lines += [f"un{word} {quote([name])}\n" for name in sorted(given) if name not in mine]
    target = path()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not target.read_text(encoding="utf-8").startswith(MINE):
            os.replace(target, target.with_name("settings.fsh.before"))
    except (OSError, ValueError) as wrong:
        raise FormigaError(f"{target}: cannot be written ({getattr(wrong, 'strerror', None) or wrong}).") from wrong
    write_whole(target, "".join(lines))
    return target


__all__ = ["begin", "defaults", "path", "save"]
