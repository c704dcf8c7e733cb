"""Speed tables: one file per published or promised speed. `formiga bench [NAME]` runs them."""

from __future__ import annotations

import json
import os
import platform
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from formiga.errors import FormigaError, suggest
from formiga.files import write_whole

BENCHES: dict[str, str] = {
    "avoid24": "24 beams, no noise, up to 10,000 robots, against plain C++; memory and time to the first step",
    "swarmod": "15 noisy beams, crowds that are moved apart, up to 1,000 worlds, against plain C++",
    "comm": "messages with range, bearing and a line of sight, up to 8 a robot, up to 10,000 robots, against plain C++",
    "rollout": "a generation of evolution: 100 genotypes x 10 trials x 1,000 steps, on one core and on two, against plain C++",
    "envs": "steps of a reinforcement-learning environment, 1 to 1,024 worlds, against VMAS if it is installed",
    "soccer": "games of robot soccer, 1 and 1,000 worlds, alone and as a learning environment, against VMAS if it is installed",
    "scanner": "range scanners of 181 beams of 30 m among up to 5,000 walls, against trying every wall",
    "locate": "localization: particle-beams and rays through a grid against plain C++, fixes from ranges, a whole run of R01",
    "s3": "s-bots in space: tables 5.1 to 5.4 of the swarm-bot simulator, free, connected, and their sensors",
    "own": "a sensor of 50 neighbours of a user's own, as a kernel and with building blocks, against the same written by us",
    "remote": "round trips a second to a program in another process, by shared memory and UDP; scans of 10 robots by rosbridge",
    "differ": "1,000 worlds with numbers of their own in one batch, against 1,000 copies of one world",
    "view": "steps of the laboratory with and without a window that looks on, 128 and 1,000 robots",
}
_LIBRARIES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run(names: list[str], json_path: str | None = None, full: bool = False) -> None:
    """Run these benches, or all; print their tables, and write them to a file if one is named."""
    for name in names:
        if name not in BENCHES:
            raise FormigaError(f"there is no bench '{name}'.{suggest(name, BENCHES)} There are: {', '.join(BENCHES)}.")
    if json_path is not None and not Path(json_path).parent.is_dir():
        raise FormigaError(f"{json_path}: there is no folder '{Path(json_path).parent}'.")
    for library in _LIBRARIES:  # one core; each row also says how many cores were busy
        os.environ.setdefault(library, "1")
    results = []
    for name in names or list(BENCHES):
        module = import_module(f"formiga.benchmarks.{name}")
        results.append({"bench": name, **module.run(full), "machine": machine()})
    if json_path is not None:
        write_whole(json_path, json.dumps(results[0] if len(results) == 1 else results, indent=2) + "\n")


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    from formiga.benchmarks import cpp

    return {"cpu": cpp.cpu(), "cores": os.cpu_count(), "python": platform.python_version(), "numpy": version("numpy"),
            "numba": version("numba"), "compiler": cpp.version()}
