"""The outermost ring: one folder per published system. Only the command line imports one."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path

from formiga.errors import FormigaError, suggest


def known() -> dict[str, str]:
    """Name -> what it is, of all studies: every folder here is one, and the first line of its __init__ says what."""
    return {module.name: (import_module(f"{__name__}.{module.name}").__doc__ or "").partition("\n")[0]
            for module in pkgutil.iter_modules(__path__) if module.ispkg}


def require(name: str) -> None:
    """Refuse a study that does not exist."""
    if name not in (there := known()):
        raise FormigaError(f"there is no study '{name}'.{suggest(name, there)} There are: {', '.join(there)}.")


def run(name: str, full: bool = False, jobs: int = 1, json_path: str | None = None, out_dir: str | None = None,
        cluster: str | None = None) -> int:
    """Reproduce a published system: print it row by row, write JSON and figures. 0: all met, 1: something missed."""
    require(name)
    from formiga.studies import harness

    study: harness.Study = import_module(f"{__name__}.{name}.study").Study()
    return harness.run(name, study, full, jobs, json_path, Path(out_dir) if out_dir else None, cluster)
