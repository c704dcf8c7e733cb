"""Imports point one way: towards the description of the world.

Data flows down LAYERS. A file may import from its own package and from the layers above it, never from one below, and
not from its neighbours on the same layer. Imports inside functions count: they are imports, only later.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

LAYERS: list[set[str]] = [
    # the first ring; these may use each other, and nothing else of ours
    {"units", "errors", "files", "geometry", "kernels", "noise"},
    {"console", "drawing", "link", "map"},        # link: programs in other processes, whatever their records mean
    {"locate", "plan", "vision", "mind"},         # with map, libraries of arrays: no world, no state, no XML in them
    {"world"},
    {"state"},
    {"engine"},
    {"sense"},
    {"comm"},
    {"estimate"},
    {"control"},
    {"act"},
    {"score"},
    {"differing"},
    {"batch", "compiled", "sketch"},
    {"loop"},
    {"measures", "runs", "supervisor"},
    {"pool"},
    {"ros", "rollout", "sampling"},
    {"record", "view"},
    {"swarm", "evolve", "plot", "soccer"},
    {"lab", "", "envs"},                          # lab.py is the public Python face; "" is formiga itself, __init__.py
    {"session", "sweeps"},
    {"studies"},
    {"page"},
    {"benchmarks"},
    {"cli", "__main__"},
]
KNOWN = {name: depth for depth, layer in enumerate(LAYERS) for name in layer}
FRIENDS = [LAYERS[0], {"lab", "", "envs"}, {"cli", "__main__"}]  # neighbours that may use each other
ENGINES = {"planar", "spatial"}
RINGS = {("studies", "cli"), ("studies", "page"), ("benchmarks", "cli")}  # what may import the outermost rings
SHARED_BY_STUDIES = "harness"                            # the one part of studies/ that every study may use
UNDER_HARNESS = {"parts"}                                # what it is made of, which uses no other part
AROUND_STUDIES = {"paper", "results", "report", "every"}  # about all studies: they use the harness and each other
HEAVY = ["numba", "mujoco", "pyarrow", "matplotlib", "lxml"]


# -- reading imports --------------------------------------------------------------------------------------------------
def module_name(file: Path) -> str:
    """formiga/world/reader.py -> 'formiga.world.reader'; formiga/world/__init__.py -> 'formiga.world.__init__'."""
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


def imports(source: str, module: str, modules: set[str]) -> Iterator[tuple[int, str]]:
    """(line, module of ours) for every import in `source`, wherever it stands.

    `from formiga import units` is an import of formiga.units if there is such a module, else of formiga itself.
    Imports written as import_module("formiga.x") are read too.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:  # relative: drop the file's own name, then one more package for each further dot
                base = ".".join(module.split(".")[: -node.level] + base.split(".") * bool(base))
            names = [f"{base}.{alias.name}" if f"{base}.{alias.name}" in modules else base for alias in node.names]
        elif (isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module"
              and node.args and isinstance(node.args[0], ast.Constant)):
            names = [str(node.args[0].value)]
        else:
            continue
        yield from ((node.lineno, name) for name in dict.fromkeys(names) if name.split(".")[0] == "formiga")


def top(module: str) -> str:
    """The part of formiga that a module belongs to: 'formiga.world.reader' -> 'world', 'formiga' -> ''."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] != "__init__" else ""


def complaint(importer: str, imported: str) -> str | None:
    """Why `importer` may not import `imported`, or None if it may."""
    above, below = top(imported), top(importer)
    for name in (above, below):
        if name not in KNOWN:
            return f"formiga.{name} has no layer; place '{name}' in LAYERS of tests/test_layers.py"
    if above == below:
        return siblings(importer, imported) if above == "studies" else engines(importer, imported)
    if KNOWN[above] < KNOWN[below]:
        if above in ("studies", "benchmarks") and (above, below) not in RINGS:
            return f"only the command line imports formiga.{above}, and the page's gallery the studies"
        return None
    if any({above, below} <= friends for friends in FRIENDS):
        return None
    if KNOWN[above] == KNOWN[below]:
        return f"formiga.{above} is a neighbour of formiga.{below}, on the same layer; neither may use the other"
    return f"formiga.{above} is below formiga.{below}; imports point up, towards the description of the world"


def siblings(importer: str, imported: str) -> str | None:
    """Studies stand alone: none imports another, and what they share does not import them."""
    ours, theirs = (module.split(".")[2:3] for module in (importer, imported))
    if not theirs or ours == ["__init__"] or theirs in (ours, [SHARED_BY_STUDIES]):
        return None
    if ours == [SHARED_BY_STUDIES] and theirs[0] in UNDER_HARNESS:
        return None
    if ours[0] in AROUND_STUDIES and theirs[0] in AROUND_STUDIES:
        return None
    return f"studies do not import each other; share through formiga.studies.{SHARED_BY_STUDIES}"


def engines(importer: str, imported: str) -> str | None:
    """Neither engine imports the other, and what both use imports neither."""
    ours, theirs = (ENGINES.intersection(module.split(".")[2:3] if top(module) == "engine" else ())
                    for module in (importer, imported))
    if not theirs or ours == theirs:
        return None
    if not ours:
        return f"formiga.engine.{min(theirs)} is an engine; what stands beside the engines does not use one"
    return "engines do not import each other; what both use stands beside them, as in formiga.engine.above"


def package_modules(files: list[Path]) -> set[str]:
    return {module_name(file).removesuffix(".__init__") for file in files} | {
        module_name(file.parent / "x").removesuffix(".x") for file in files}


# -- the package as it is ---------------------------------------------------------------------------------------------
FILES = sorted((ROOT / "formiga").rglob("*.py"))
MODULES = package_modules(FILES)


def test_every_import_points_up():
    wrong = [
        f"{file.relative_to(ROOT)}:{line}: imports {imported}: {reason}"
        for file in FILES
        for line, imported in imports(file.read_text(encoding="utf-8"), module_name(file), MODULES)
        if (reason := complaint(module_name(file), imported))
    ]
    assert not wrong, "\n" + "\n".join(wrong)


def test_every_part_of_formiga_has_a_layer():
    unknown = sorted({top(module_name(file)) for file in FILES} - KNOWN.keys())
    assert not unknown, f"place {', '.join(unknown)} in LAYERS of tests/test_layers.py: what is above, what is below?"


@pytest.mark.parametrize("modules", ["formiga", "formiga.cli"])
def test_importing_is_light_and_opens_no_socket(modules):
    """In a new interpreter, whose audit hook sees every socket, also one opened from C."""
    program = f"""
import sys
sockets = []
sys.addaudithook(lambda event, args: sockets.append(event) if event.startswith("socket.") else None)
import {modules}
heavy = [name for name in {HEAVY!r} if name in sys.modules]
sys.exit(f"imported: {{heavy}}, sockets: {{sockets}}" if heavy or sockets else 0)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


# -- the reader and the rules themselves, on made-up imports ----------------------------------------------------------
@pytest.mark.parametrize("source, expected", [
    ("import formiga.world.reader", ["formiga.world.reader"]),
    ("from formiga.world import reader, World", ["formiga.world.reader", "formiga.world"]),
    ("from formiga import units, simulate", ["formiga.units", "formiga"]),
    ("from . import loop", ["formiga.engine"]),
    ("from ..world.reader import read", ["formiga.world.reader"]),
    ("def f():\n    if True:\n        from formiga import units", ["formiga.units"]),
    ("import importlib\nimportlib.import_module('formiga.units')", ["formiga.units"]),
    ("import numpy\nfrom formigary import x", []),
])
def test_imports_are_found_wherever_and_however_they_are_written(source, expected):
    modules = {"formiga", "formiga.units", "formiga.world", "formiga.world.reader", "formiga.engine"}
    assert [name for _, name in imports(source, "formiga.engine.planar", modules)] == expected


@pytest.mark.parametrize("importer, imported", [
    ("formiga.engine.planar.pipeline", "formiga.world.model"),
    ("formiga.engine.planar.pipeline", "formiga.engine.planar.contact"),
    ("formiga.engine.spatial.pipeline", "formiga.engine.above.looking"),
    ("formiga.studies.soccer.physics", "formiga.engine.planar.impulse.bodies"),
    ("formiga.noise", "formiga.errors"),
    ("formiga.__init__", "formiga.lab"),
    ("formiga.lab", "formiga.record.table"),
    ("formiga.studies.swarmod.study", "formiga.studies.harness"),
    ("formiga.studies.swarmod.study", "formiga.studies.swarmod.published"),
    ("formiga.studies.swarmod.study", "formiga"),
    ("formiga.studies.__init__", "formiga.studies.swarmod"),
    ("formiga.studies.every", "formiga.studies.report"),
    ("formiga.studies.harness", "formiga.studies.parts"),
    ("formiga.page.gallery", "formiga.studies"),
    ("formiga.cli.study", "formiga.studies.swarmod.study"),
    ("formiga.cli.bench", "formiga.benchmarks.avoid24"),
])
def test_an_import_that_points_up_is_allowed(importer, imported):
    assert complaint(importer, imported) is None


@pytest.mark.parametrize("importer, imported, reason", [
    ("formiga.world.reader", "formiga.sense.proximity", "is below"),
    ("formiga.engine.spatial.pipeline", "formiga.engine.planar.pipeline", "engines do not import each other"),
    ("formiga.engine.planar.contact", "formiga.engine.spatial", "engines do not import each other"),
    ("formiga.engine.above.looking", "formiga.engine.planar.contact", "is an engine"),
    ("formiga.engine.start", "formiga.engine.spatial.model", "is an engine"),
    ("formiga.errors", "formiga.world", "is below"),
    ("formiga.loop", "formiga", "is below"),
    ("formiga.record.table", "formiga.view.page", "neighbour"),
    ("formiga.lab", "formiga.studies.swarmod", "is below"),
    ("formiga.__init__", "formiga.cli", "is below"),
    ("formiga.benchmarks.avoid24", "formiga.studies.harness", "only the command line"),
    ("formiga.studies.swarmod.study", "formiga.studies.soccer.study", "each other"),
    ("formiga.studies.harness", "formiga.studies.swarmod", "each other"),
    ("formiga.studies.report", "formiga.studies.swarmod", "each other"),
    ("formiga.studies.swarmod.study", "formiga.studies.results", "each other"),
    ("formiga.studies.parts", "formiga.studies.results", "each other"),
    ("formiga.gadgets.thing", "formiga.world", "place 'gadgets' in LAYERS"),
    ("formiga.loop", "formiga.gadgets", "place 'gadgets' in LAYERS"),
])
def test_an_import_that_points_down_or_sideways_is_refused(importer, imported, reason):
    assert reason in (complaint(importer, imported) or "allowed")


def test_the_drawing_of_the_packages_shows_every_part_in_its_row():
    """docs/pictures/packages.svg: what stands further down in LAYERS is drawn lower."""
    drawn = {name: int(y) for y, name in re.findall(r'y="(\d+)" text-anchor="middle">(\w+)<',
                                                    (ROOT / "docs/pictures/packages.svg").read_text(encoding="utf-8"))}
    there = {top(module_name(file)) for file in FILES} - {"", "__main__", "worlds"}
    assert drawn.keys() == there, "docs/packages.py draws them"
    assert all((drawn[one] < drawn[other]) == (KNOWN[one] < KNOWN[other]) for one in there for other in there)
