"""A process that tries worlds, one seed a line, within limits of memory and of time on the processor. `run.py` starts it."""

from __future__ import annotations

import faulthandler
import json
import resource
import signal
import sys
import tempfile
import warnings
from importlib import import_module
from pathlib import Path

from tests.fuzz.generate import case


def main() -> None:
    """Read lines 'seed seconds', write lines of JSON: [kind, words, text, seconds]."""
    memory, outcome = int(sys.argv[1]), import_module(sys.argv[2]).outcome
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + memory, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    faulthandler.register(signal.SIGXCPU, all_threads=False, chain=True)  # where it hangs, before the signal ends it
    faulthandler.enable(all_threads=False)
    for line in sys.stdin:
        seed, seconds = map(int, line.split())
        before = spent()
        resource.setrlimit(resource.RLIMIT_CPU, (int(before) + 1 + seconds, resource.RLIM_INFINITY))
        with tempfile.TemporaryDirectory(prefix="formiga-fuzz-") as folder:
            found = outcome(case(seed), Path(folder))
        print(json.dumps([*found, spent() - before]), flush=True)


def spent() -> float:
    """Seconds on the processor."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
