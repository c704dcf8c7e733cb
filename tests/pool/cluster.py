"""A real Dask cluster on this machine: one scheduler, two workers, each a process."""

import socket
import subprocess
import sys

import pytest


def dask(role, *options):
    """A scheduler or a worker, as a process."""
    return subprocess.Popen([sys.executable, "-m", f"distributed.cli.dask_{role}", "--host", "127.0.0.1", "--no-dashboard",
                             *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def stop(process):
    """End it, however busy it is."""
    process.kill()
    process.wait()


def free_port():
    """A port that is free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def scheduler():
    """The address of a Dask scheduler on this machine, without workers."""
    pytest.importorskip("distributed")
    address = f"tcp://127.0.0.1:{free_port()}"
    process = dask("scheduler", "--port", address.rpartition(":")[2])
    yield address
    stop(process)


@pytest.fixture
def workers(scheduler):
    """Two of its workers, as processes."""
    processes = [dask("worker", scheduler, "--no-nanny", "--nthreads", "1") for _ in range(2)]
    yield processes
    for process in processes:
        stop(process)
