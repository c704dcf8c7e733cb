"""Processes of a Dask cluster on this machine."""

import socket
import subprocess
import sys


def dask(role, *options):
    """A scheduler or a worker, as a process."""
    return subprocess.Popen([sys.executable, "-m", f"distributed.cli.dask_{role}", "--host", "127.0.0.1", "--no-dashboard",
                             *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def stop(process):
    """End it, however busy it is."""
    process.kill()
    process.wait()


def free_port():
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
