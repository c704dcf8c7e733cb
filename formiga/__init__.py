"""formiga: a multi-robot simulation laboratory.

    import formiga

    world = formiga.read_world("corral")
    run = formiga.simulate(world, seconds=60, seed=7, worlds=16)
    print(run.metrics)

The names below are loaded when first used, so `import formiga` is quick and opens nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it, which would be one more import before Ctrl-C is guarded (__main__.py)
if TYPE_CHECKING:
    from typing import Any

    from formiga.envs import make_env, make_vector_env, parallel_env
    from formiga.kernels import kernel
    from formiga.kernels.program import Stage
    from formiga.lab import attach, load_elements, read_recording, read_table, read_world, simulate, write_world
    from formiga.loop import Simulation
    from formiga.measures import measure
    from formiga.runs import Run, Watch
    from formiga.world.elements import element
    from formiga.world.model import World

    sweep: Any
    __version__: str

_HOMES = {
    "attach": "formiga.lab", "read_world": "formiga.lab", "write_world": "formiga.lab", "simulate": "formiga.lab",
    "load_elements": "formiga.lab",
    "read_recording": "formiga.lab", "read_table": "formiga.lab", "Simulation": "formiga.lab", "Run": "formiga.lab",
    "Watch": "formiga.lab", "measure": "formiga.measures", "sweep": "formiga.sweeps",
    "element": "formiga.world.elements", "World": "formiga.world.model",
    "kernel": "formiga.kernels", "Stage": "formiga.kernels.program",
    "make_env": "formiga.envs", "make_vector_env": "formiga.envs", "parallel_env": "formiga.envs",
}
__all__ = ["Run", "Simulation", "Stage", "Watch", "World", "attach", "element", "kernel", "load_elements", "make_env",
           "make_vector_env", "measure", "parallel_env", "read_recording", "read_table", "read_world", "simulate",
           "sweep", "write_world"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name == "plot":  # a package, which is not loaded with formiga
        from importlib import import_module

        return import_module("formiga.plot")
    if name not in _HOMES:
        raise AttributeError(f"module 'formiga' has no attribute '{name}'; it has: {', '.join(__all__)}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def _version() -> str:
    """Looked up when asked for: that takes longer than the rest of this import."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("formiga")
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "0.1.0"


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
