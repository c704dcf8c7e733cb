"""The list of commands in reference/console.md, written from the commands: `python docs/commands.py` after one has changed."""

from __future__ import annotations

from pathlib import Path

from formiga.console import CommandSpec
from formiga.session import Session

PAGE = Path(__file__).with_name("reference") / "console.md"
BEGIN, END = "<!-- commands: written by docs/commands.py -->\n", "<!-- end of commands -->\n"
GROUPS = {  # module in which they are -> title
    "formiga.session.commands.running": "Time",
    "formiga.session.commands.looking": "Looking",
    "formiga.session.commands.editing": "Changing the world",
    "formiga.session.commands.switching": "Switching and driving",
    "formiga.session.commands.files": "Files",
    "formiga.console.commands": "The language itself",
}


def known() -> dict[str, CommandSpec]:
    """All commands of the laboratory."""
    return Session("line", own_settings=False).console.commands


def module_of(spec: CommandSpec) -> str:
    """Where a command is written; also if it is a part of another one."""
    return str(getattr(spec.run, "func", spec.run).__module__)


def listing() -> str:
    """All of them, in groups, each with what `help` says about it."""
    specs, parts = known(), []
    for module, title in GROUPS.items():
        helps = "\n\n".join("\n".join([spec.usage, *(f"    {line}" for line in spec.doc.strip().splitlines())])
                            for _, spec in sorted(specs.items()) if module_of(spec) == module)
        parts.append(f"### {title}\n\n```text\n{helps}\n```\n")
    return "\n" + "\n".join(parts) + "\n"


def renewed(page: str) -> str:
    """The page with the list of now."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + listing() + END + after


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
