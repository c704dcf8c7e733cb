"""3. How it moves. Each engine is a module with the functions build, init, step, cast, light and rays."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from formiga.errors import WorldError, suggest

ENGINES = {"planar": "formiga.engine.planar.pipeline", "spatial": "formiga.engine.spatial.pipeline"}


def engine(name: str) -> ModuleType:
    """The engine of that name."""
    if name not in ENGINES:
        raise WorldError(f"there is no engine '{name}'.{suggest(name, ENGINES)} There are: {', '.join(ENGINES)}.")
    return import_module(ENGINES[name])
