"""A real Dask cluster on this machine: one scheduler, two workers, each a process."""

import pytest

from tests.evolve.cluster import dask, free_port, stop


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
