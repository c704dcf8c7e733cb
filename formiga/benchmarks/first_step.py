"""A process of its own that takes its first step, says so, goes on a little, and says how much memory it needed.

    python -m formiga.benchmarks.first_step 10000
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import formiga


def main(robots: int) -> None:
    """One line at the first step, one with the figures at the end."""
    simulation = formiga.Simulation(formiga.read_world("avoid24", robots=robots))
    simulation.step()
    print("stepped", flush=True)
    for _ in range(50):
        simulation.step()
    print(json.dumps({"memory_mb": peak()}))


def peak() -> float:
    """The most memory that this process ever held, MB; 0 on Windows, where Python has no call for it.

    From /proc where there is one: getrusage's figure starts from that of the process that started this one.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    except (OSError, StopIteration):
        pass
    try:
        import resource
    except ImportError:
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main(int(sys.argv[1]))
