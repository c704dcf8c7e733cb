"""reference/api.md, written from the docstrings of the names that it lists: `python docs/api.py` after one has changed."""

from __future__ import annotations

import inspect
from dataclasses import MISSING
from importlib import import_module
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("reference") / "api.md"
HEAD = """# Python

<!-- written by docs/api.py -->

What the package offers to programs, from its docstrings. The names at the top come with `import formiga`; they are loaded when
they are first used. Lengths are in metres, angles in radians, times in seconds; arrays begin with (worlds, robots).
Wherever a world is taken, a `World`, the name of a shipped one or the path of a file will do.
"""
SECTIONS = {  # title -> (module, names; a name with a list: those of its members that are listed)
    "Worlds": ("formiga", {"read_world": [], "write_world": [], "World": ["robots", "group", "arena", "movables", "slices"]}),
    "Runs": ("formiga", {"simulate": [], "Run": [],
                         "Simulation": ["readings", "orders", "step", "reset", "look_again", "pen", "drawings"]}),
    "Recordings": ("formiga", {"read_recording": [], "read_table": []}),
    "": ("formiga.record.recording", {"Recording": ["table", "poses", "blocks", "frames", "replay", "code", "touched", "notes"],
                                      "Poses": []}),
    "Elements of your own": ("formiga", {"element": [], "load_elements": []}),
    " ": ("formiga.sense", {"SensorView": ["cast", "cast_turned", "rays", "light", "look", "memory", "once", "dt"]}),
    "  ": ("formiga.control", {"View": ["reading", "memory", "shape", "crashed"], "Orders": []}),
    "Drawing": ("formiga.drawing", {
        "Pen": ["points", "lines", "polygon", "text", "pose", "particles", "grid", "path", "layer", "on", "clear"],
        "Mark": []}),
    "Attributes of an element": ("formiga.world.elements", {
        name: [] for name in ("number", "length", "angle", "duration", "speed", "integer", "numbers", "integers", "flag",
                              "text", "name", "choice", "colour", "file")}),
    "The look of a robot": ("formiga.world.looks", {
        "Look": [], "Mount": [], "Shape": ["moved", "on"],
        **{name: [] for name in ("Box", "Prism", "Drum", "Lathe", "Ellipsoid", "Capsule", "Cylinder", "Triangles")}}),
    "Learning": ("formiga", {"make_env": [], "make_vector_env": [], "parallel_env": []}),
    "Evolution": ("formiga.evolve", {"evolve": [], "Outcome": []}),
    "   ": ("formiga.rollout", {"rollout": []}),
    "Supervisors of a run": ("formiga.supervisor", {"Supervisor": ["over", "before", "after", "resume", "note", "close"],
                                                    "Note": ["headline", "outcome"], "Side": []}),
    "Programs in other processes": ("formiga.link", {"Record": [], "Exchange": [], "Remote": ["show", "ask", "troubles"],
                                                     "Peer": ["from_arguments", "look", "reply"]}),
    "Workers": ("formiga.pool", {"pool": []}),
    "Errors": ("formiga.errors", {"FormigaError": [], "WorldError": [], "RecordingError": [], "MissingExtra": []}),
}

BRIEF = ("Attributes of an element",)  # a line for each name


def written() -> str:
    """The page as it should be."""
    parts = [HEAD]
    for title, (module, names) in SECTIONS.items():
        if title.strip():
            parts.append(f"## {title}\n")
        home = import_module(module)
        for name, members in names.items():
            thing = getattr(home, name)
            if title in BRIEF:
                parts.append(f"**`{name}{signature(thing)}`** {words(thing)}\n")
                continue
            parts.append(entry(f"{module}.{name}", thing))
            parts += [member(name, each, thing) for each in members]
    return "\n".join(parts)


def entry(name: str, thing: Any) -> str:
    """A function or a class."""
    shown = name if inspect.isclass(thing) and issubclass(thing, Exception) else f"{name}{signature(thing)}"
    fields = "" if not inspect.isclass(thing) else attributes(thing)
    return f"### {name.rpartition('.')[2]}\n\n```text\n{shown}\n```\n\n{words(thing)}\n{fields}"


def member(owner: str, name: str, thing: type) -> str:
    """A method or a property of a class."""
    found = inspect.getattr_static(thing, name, None)
    function = getattr(found, "fget", None) or getattr(found, "func", None)  # a property, or a cached one
    if function is not None:
        return f"**`{owner}.{name}`** {words(function)}\n"
    if callable(getattr(thing, name, None)):
        return f"**`{owner}.{name}{signature(getattr(thing, name), skip=1)}`** {words(getattr(thing, name))}\n"
    return f"**`{owner}.{name}`**\n"


def attributes(thing: type) -> str:
    """The fields of a class whose source explains each of them in a comment."""
    rows = []
    for line in inspect.getsource(thing).splitlines():
        code, _, comment = line.partition("#")
        name = code.partition(":")[0].strip()
        if comment and ":" in code and name.isidentifier() and not name.startswith("_") and not line.startswith(" " * 5):
            rows.append(f"| `{name}` | {plain(comment.strip())} |")
    return "\n| field | |\n|---|---|\n" + "\n".join(rows) + "\n" if rows else ""


def signature(thing: Any, skip: int = 0) -> str:
    """As it is written in the source, without the types' long names; `skip` leaves out self."""
    given = inspect.signature(thing)
    parameters = [each.replace(annotation=inspect.Parameter.empty) for each in list(given.parameters.values())[skip:]]
    shown = [each.replace(default=Plain("REQUIRED")) if each.default is MISSING
             else each.replace(default=Plain("...")) if inspect.isfunction(each.default) else each for each in parameters]
    return str(given.replace(parameters=shown, return_annotation=inspect.Signature.empty))


class Plain(str):
    """A default in words: the address of a function would be another one each time."""

    def __repr__(self) -> str:
        return str(self)


def words(thing: Any) -> str:
    """A docstring as Markdown: indented equations and examples become code."""
    out, code = [], False
    for line in (inspect.getdoc(thing) or "").splitlines():
        if line.startswith("    ") != code and line.strip():
            code = not code
            out.append("```text" if code else "```")
        out.append(line[4:] if code else plain(line))
    return "\n".join([*out, *(["```"] if code else [])])


def plain(line: str) -> str:
    """A line of text in which nothing but code in backquotes has a meaning to Markdown."""
    parts = line.split("`")
    parts[::2] = [part.replace("<", "&lt;").replace("|", "&#124;").replace("*", "\\*").replace("_", "\\_").replace("#", "\\#")
                  for part in parts[::2]]
    return "`".join(parts)


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
