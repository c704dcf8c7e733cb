"""The outermost ring: one folder per published system. Only the command line imports one."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path

from formiga.errors import FormigaError, suggest

# Every folder here is a study; the first line of its __init__ says what it is.
STUDIES = {module.name: (import_module(f"{__name__}.{module.name}").__doc__ or "").splitlines()[0]
           for module in pkgutil.iter_modules(__path__) if module.ispkg}


def run(name: str, full: bool = False, jobs: int = 1, json_path: str | None = None, out_dir: str | None = None,
        cluster: str | None = None) -> int:
    """Reproduce a published system: print it row by row, write JSON and figures. 0: all met, 1: something missed."""
    if name not in STUDIES:
        raise FormigaError(f"there is no study '{name}'.{suggest(name, STUDIES)} There are: {', '.join(STUDIES)}.")
    from formiga.studies import harness

    module = import_module(f"formiga.studies.{name}.study")
    study = module.Study() if hasattr(module, "Study") else module
    return harness.run(name, study, full, jobs, json_path, Path(out_dir) if out_dir else None, cluster)
