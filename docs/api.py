"""reference/api.md and own-code.md, written from docstrings: `python docs/api.py` after one has changed."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("reference")
NOTE = "<!-- written by docs/api.py -->"
UNITS = ("Lengths are in metres, angles in radians, times in seconds; arrays begin with (worlds, robots), W and n for short; "
         "N are all robots of a world.")
ALL = ("*",)  # every public method and property of a class, its fields aside
Sections = dict[str, tuple[str, dict[str, Any]]]  # title -> (module, names; of a class those of its members that are listed)

PYTHON: Sections = {
    "Worlds": ("formiga", {"read_world": (), "write_world": (), "attach": (), "World": ALL}),
    "Runs": ("formiga", {"simulate": (), "Run": ALL, "Simulation": ALL, "Watch": ALL, "sweep": (), "measure": ()}),
    "        ": ("formiga.sweeps", {"Sweep": ALL}),
    "         ": ("formiga.plot.swept", {"swept": (), "heat": (), "figure": ()}),
    "": ("formiga.state", {"State": ("arrays", "declared", "worlds")}),
    "Recordings": ("formiga", {"read_recording": (), "read_table": ()}),
    " ": ("formiga.record.recording", {"Recording": ALL, "Poses": ()}),
    "Figures": ("formiga.plot", {"trajectories": (), "over_time": (), "visits": (), "look": (), "save": ()}),
    "Maps": ("formiga.map", {"read_map": (), "Grid": ALL, "MapError": ()}),
    "   ": ("formiga.map.rays", {"cast": ()}),
    "    ": ("formiga.map.distances", {"distances": ()}),
    "      ": ("formiga.engine.flatten", {"as_grid": ()}),
    "     ": ("formiga.map.walls", {"segments": (), "rectangles": (), "fill": (), "from_walls": ()}),
    "          ": ("formiga.map.lines", {"Lines": ALL, "lines_of": (), "lines_of_grid": (), "expected": ()}),
    "Localization": ("formiga.locate", {"draws": ()}),
    "           ": ("formiga.locate.motion", {
        name: () for name in ("differential", "omni", "TurnErrors", "GlideErrors", "follow", "seated", "relative")}),
    "            ": ("formiga.locate.field", {"Mixture": (), "likelihood_field": (), "log_weights": (), "end_points": ()}),
    "             ": ("formiga.locate.beams", {"log_weights": (), "probability": ()}),
    "              ": ("formiga.locate.resampling", {
        name: () for name in ("normalized", "reweigh", "effective", "low_variance", "kld_bound", "kld_resample", "Bins",
                           "KLD")}),
    "               ": ("formiga.locate.recovery", {"likeness": (), "watch": (), "scatter": (), "gather": ()}),
    "                ": ("formiga.locate.clusters", {"hypotheses": (), "spread": (), "Hypotheses": ()}),
    "                 ": ("formiga.locate.kalman", {
        name: () for name in ("predict", "correct", "gain_of", "distance", "nees", "fuse", "covariance_of", "ellipse")}),
    "                  ": ("formiga.locate.ranges", {
        name: () for name in ("search", "cost", "radial", "normalizer", "shift", "run_of_bad_luck", "Fix")}),
    "Learning": ("formiga", {"make_env": (), "make_vector_env": (), "parallel_env": ()}),
    "Evolution": ("formiga.evolve", {"evolve": (), "Outcome": ()}),
    "  ": ("formiga.rollout", {"rollout": ()}),
    "Supervisors of a run": ("formiga.supervisor", {"Supervisor": ALL, "Note": ALL, "Side": ()}),
    "Programs in other processes": ("formiga.link", {"Record": (), "Exchange": (), "Remote": ("show", "ask", "troubles"),
                                                     "Peer": ("from_arguments", "look", "reply")}),
    "Runs beside other programs": ("formiga.runs", {"Watch": ALL, "Together": (), "Paced": (), "Progress": ()}),
    "       ": ("formiga.ros", {"Rosbridge": ("use",)}),
    "Workers": ("formiga.pool", {"pool": ()}),
    "Errors": ("formiga.errors", {"FormigaError": (), "WorldError": (), "RecordingError": (), "MissingExtra": ()}),
}
OWN: Sections = {
    "Registering": ("formiga", {"element": (), "load_elements": ()}),
    "Attributes": ("formiga.world.elements", {
        name: () for name in ("number", "length", "angle", "duration", "speed", "integer", "numbers", "integers", "flag",
                              "text", "name", "made_of", "choice", "colour", "file")}),
    "Kernels": ("formiga", {"kernel": (), "Stage": ()}),
    "Sensors and links": ("formiga.sense", {"SensorView": ALL}),
    "": ("formiga.noise", {"Noise": ALL, "stream": (), "unit": (), "either": (), "gaussian": ()}),
    "    ": ("formiga.engine.above.neighbours", {"Neighbours": ()}),
    "     ": ("formiga.geometry", {name: () for name in ("wrapped", "cross", "crossing", "nearest_on_segment", "passes_disc",
                                                         "enters_disc", "enters_capsule", "arc", "rotated")}),
    " ": ("formiga.engine.beams", {"Beams": (), "ring": (), "moved": (), "directions": ()}),
    "Estimators": ("formiga.estimate", {"RobotView": ALL}),
    "Controllers": ("formiga.control", {"View": ALL, "Orders": ()}),
    "Drawing": ("formiga.drawing", {"Pen": ALL, "Mark": ()}),
    "Messages": ("formiga.comm.inbox", {"Inbox": ALL}),
    "  ": ("formiga.comm.traffic", {"account": (), "traffic_of": ()}),
    "   ": ("formiga.world.model", {"Medium": ALL}),
    "What an engine takes": ("formiga.engine.command", {"Command": ALL}),
    "Terms of fitness": ("formiga.score", {"RewardView": ALL}),
    "What the laboratory asks of an element": ("formiga.world.contract", {
        **{name: ALL for name in ("Drawing", "Source", "Link", "Controller", "Thing", "Placement")}, "Robot": (),
        **{name: ALL for name in ("Body", "Driven", "Jointed", "Gripping", "Looks", "Spatial")}, "Actuator": ()}),
    "The look of a robot": ("formiga.world.looks", {
        "Look": (), "Mount": (), "Shape": ALL,
        **{name: () for name in ("Box", "Prism", "Drum", "Lathe", "Ellipsoid", "Capsule", "Cylinder", "Triangles")}}),
}
PAGES: dict[str, tuple[str, Sections]] = {
    "api.md": (f"""# Python

{NOTE}

What the package offers to programs, from its docstrings. The names at the top come with `import formiga`; they are loaded when
they are first used. {UNITS}
Wherever a world is taken, a `World`, the name of a shipped one or the path of a file will do. What a sensor, an estimator, a
controller or a robot of your own may use is on [the next page](own-code.md).
""", PYTHON),
    "own-code.md": (f"""# Code of your own

{NOTE}

What elements of your own are made of, and what they are given, from the docstrings;
[a first world](../tutorials/first-world.md) shows how to begin. {UNITS}
""", OWN),
}

BRIEF = ("Attributes",)  # a line for each name


def written(page: str) -> str:
    """A page as it should be."""
    head, sections = PAGES[page]
    parts = [head]
    for title, (module, names) in sections.items():
        if title.strip():
            parts.append(f"## {title}\n")
        home = import_module(module)
        for name, members in names.items():
            thing = getattr(home, name)
            if title in BRIEF:
                parts.append(f"**`{name}{signature(thing)}`** {words(thing)}\n")
                continue
            parts.append(entry(f"{module}.{name}", thing))
            parts += [member(name, each, thing) for each in (public(thing) if members == ALL else members)]
    return re.sub(r"[ \t]+\n", "\n", "\n".join(parts))  # docstrings may end in a line of spaces


def public(thing: type) -> list[str]:
    """The public methods and properties of a class, those of its parents in formiga first, in the order of the source."""
    fields = set(getattr(thing, "__dataclass_fields__", ())) | set(getattr(thing, "_fields", ()))
    found: dict[str, None] = {}
    for parent in reversed(thing.__mro__):
        if parent.__module__.startswith("formiga."):
            for name, value in vars(parent).items():
                function = getattr(value, "fget", None) or getattr(value, "func", None) or getattr(value, "__func__", value)
                if not name.startswith("_") and name not in fields and inspect.isfunction(function):
                    found[name] = None
    return list(found)


def entry(name: str, thing: Any) -> str:
    """A function or a class."""
    given = inspect.isclass(thing) and (issubclass(thing, Exception) or name.endswith("View"))  # nothing that one makes oneself
    shown = name if given else f"{name}{signature(thing)}"
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
    parents = [each for each in reversed(thing.__mro__) if each.__name__.endswith("View") or each is thing]
    for line in "\n".join(inspect.getsource(each) for each in parents).splitlines():
        code, _, comment = line.partition("# ")
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
    for page in PAGES:
        (FOLDER / page).write_text(written(page), encoding="utf-8")
