"""Processes that tests look after: the children of a process, and whether they are gone."""

import time
from pathlib import Path

SLOW = 60.0  # s on the clock for what must come; the machine may be busy


def children(pid):
    """All processes that a process has started, and those that they have."""
    try:
        found = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
    return found + [each for child in found for each in children(child)]


def gone(pid):
    """Whether a process is no more, or only waits to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def all_gone(pids):
    """Wait until all of them are gone."""
    end = time.monotonic() + SLOW
    while not all(map(gone, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    return all(map(gone, pids))
