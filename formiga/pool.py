"""A pool of workers: this process, the cores of this machine, or a Dask cluster. The results are the same, in order.

    with pool(jobs=8) as workers:
        fitness = workers.map(evaluate, tasks)

On a machine the work is shared out by joblib. On a cluster it could be too, by joblib's own Dask backend, but when a
worker is killed that one loses arguments larger than 1 kB, which it had scattered (FutureCancelledError), and it waits for
ever if the scheduler cannot unpickle a task. So a cluster is asked through distributed.Client: Dask runs the tasks of a
lost worker again elsewhere, since each carries all that it needs. Tasks travel as bytes, which only a worker opens: the
scheduler itself needs no formiga.
"""

from __future__ import annotations

import asyncio
import logging
import operator
import pickle
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from multiprocessing.resource_tracker import ensure_running
from typing import Any, Protocol, TypeVar

from formiga.errors import FormigaError, MissingExtra, whole

ADDRESS = re.compile(r"(?:(?:tcp|tls)://)?(?:[A-Za-z0-9_.\-]+|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})")
ANSWER = 8.0       # s, until a scheduler must have answered
ATTEMPTS = 3       # at a map whose local processes die
AHEAD = 2          # tasks of `each` for every local worker, so that none waits for the next
FLEET = 256        # tasks of `each` that are on a cluster at the same time
PAUSE = 0.1        # s, between two questions whether to stop
TAKEN = 5.0        # s, in which the manager of local processes takes the tasks that it was given
LINGER = 60        # s, that idle local processes stay
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}  # of libraries, in each of them
KILLED = f"a process that evaluated was killed, {ATTEMPTS} times; was the memory full? Lower the jobs."
LOGGERS = ("distributed", "distributed.client", "distributed.scheduler", "tornado.application")
Task = TypeVar("Task")
Result = TypeVar("Result")


class Pool(Protocol):
    """Workers that apply a function to tasks."""

    size: int | None  # how many at a time; None: not known
    elsewhere: bool   # whether tasks leave this process, and so arrive as copies

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> list[Result]:
        """[function(task) for task in tasks], in order. An exception of the function is raised here."""
        ...

    def each(self, function: Callable[[Task], Result], tasks: Iterable[Task],
             stop: Callable[[], bool] = lambda: False) -> Generator[Result, None, None]:
        """function(task) of every task, each as soon as it is there, in any order. Tasks are asked for as they are needed.

        stop: asked several times a second while tasks are under way elsewhere; true drops these, and nothing more comes.
        """
        ...


class PoolError(FormigaError):
    """No worker is left, or none answers."""


@contextmanager
def pool(jobs: int = 1, cluster: str | None = None, *, threads: bool = False, patience: float = 60.0) -> Iterator[Pool]:
    """Workers for the length of a block.

    jobs: so many at a time on this machine, in processes or in `threads`. cluster: the address of a Dask scheduler, whose
    workers do it instead. patience: so many seconds a cluster may be without any worker.
    """
    jobs = whole("jobs:", jobs, 1, 4096)
    if cluster is not None:
        with _connected(cluster) as client:
            yield Cluster(client, cluster, patience)
    elif jobs == 1:
        yield Alone()
    else:
        yield Local(jobs, threads)


class Alone:
    """This process, one task after another."""

    size: int | None = 1
    elsewhere = False

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> list[Result]:
        """[function(task) for task in tasks]."""
        return [function(task) for task in tasks]

    def each(self, function: Callable[[Task], Result], tasks: Iterable[Task],
             stop: Callable[[], bool] = lambda: False) -> Generator[Result, None, None]:
        """function(task) of every task, in order; stop is asked before each."""
        for task in tasks:
            if stop():
                return
            yield function(task)


class Local:
    """The cores of this machine."""

    def __init__(self, jobs: int, threads: bool) -> None:
        self.size: int | None = jobs
        self.jobs = jobs
        self.elsewhere = not threads
        warnings.filterwarnings("ignore", "A worker stopped while some jobs")  # it had grown, and another takes its place

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> list[Result]:
        """[function(task) for task in tasks]. If a process is killed, everything is evaluated again."""
        from concurrent.futures.process import BrokenProcessPool

        from joblib import Parallel, delayed

        # max_nbytes: arrays arrive as they are, not as read-only maps of a file
        parallel = Parallel(self.size, backend="loky" if self.elsewhere else "threading", max_nbytes=None)
        calls = [delayed(function)(task) for task in tasks]
        for _ in range(ATTEMPTS):
            with suppress(BrokenProcessPool):
                if self.elsewhere:
                    with _uninterrupted():
                        parallel([delayed(int)()] * 2)
                return list(parallel(calls))
        raise PoolError(KILLED)

    def each(self, function: Callable[[Task], Result], tasks: Iterable[Task],
             stop: Callable[[], bool] = lambda: False) -> Generator[Result, None, None]:
        """function(task) of every task, as they are done. If a process is killed, those under way are evaluated again."""
        from concurrent.futures.process import BrokenProcessPool

        source, attempts = iter(tasks), 0
        ready, waiting = list[Task](), dict[Future[Result], Task]()
        executor: Any = None
        try:
            while True:
                try:
                    if stop():
                        return
                    executor = executor or self._executor()
                    ready += islice(source, AHEAD * self.jobs - len(waiting) - len(ready))
                    while ready:
                        waiting[executor.submit(function, ready[0])] = ready[0]
                        del ready[0]
                    if not waiting:
                        return
                    for future in wait(waiting, PAUSE, FIRST_COMPLETED).done:
                        result = future.result()
                        del waiting[future]
                        yield result
                except BrokenProcessPool as wrong:
                    if (attempts := attempts + 1) == ATTEMPTS:
                        raise PoolError(KILLED) from wrong
                    ready, waiting, executor = [*ready, *waiting.values()], {}, None
        finally:
            if executor is not None and (waiting or not self.elsewhere):
                self._drop(executor, waiting)

    def _executor(self) -> Any:
        """Processes, which stay for the next time; or threads."""
        if not self.elsewhere:
            return ThreadPoolExecutor(self.jobs)
        from joblib.executor import get_memmapping_executor  # the one that `map` has, too: there is one in a process

        executor = get_memmapping_executor(self.jobs, timeout=LINGER, env=ONE_THREAD, max_nbytes=None)
        with _uninterrupted():
            for future in [executor.submit(int) for _ in range(self.jobs)]:
                future.result()
        return executor

    def _drop(self, executor: Any, waiting: Iterable[Future[Any]]) -> None:
        """End what is under way. Threads come to the end of their tasks."""
        if self.elsewhere:
            limit = time.monotonic() + TAKEN
            while not all(future.running() or future.done() for future in waiting) and time.monotonic() < limit:
                time.sleep(0.01)
            executor.shutdown(kill_workers=True)  # its manager would die of tasks that it has not taken, or that are cancelled
        else:
            for future in waiting:
                future.cancel()
            executor.shutdown()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the end of the block. Processes that start in it never see one: this process will end them.

    Otherwise they would print tracebacks, and joblib loses an interrupt while it starts them.
    """
    if sys.platform == "win32":  # has no signal masks
        yield
        return
    late: list[int] = []
    ensure_running()  # or joblib would start it in the block, and starting it unblocks signals again
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # inherited; but other threads still take signals
    main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, lambda number, frame: late.append(number)) if main else None
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if main:
            signal.signal(signal.SIGINT, handler)
        if late:
            signal.raise_signal(signal.SIGINT)


# -- a cluster --------------------------------------------------------------------------------------------------------
class Cluster:
    """The workers of a Dask scheduler."""

    elsewhere = True

    def __init__(self, client: Any, address: str, patience: float) -> None:
        self.size: int | None = None  # workers come and go
        self._client, self._address, self._patience = client, address, patience

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> list[Result]:
        """[function(task) for task in tasks]. Tasks of a worker that is lost are run again by another one."""
        from cloudpickle import dumps
        from toolz import pipe

        blobs = [dumps(partial(_evaluate, _version(), function, task)) for task in tasks]
        steps = ([step] * len(blobs) for step in (pickle.loads, operator.call))
        futures = []
        try:
            with self._blamed():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # that it is a large graph
                    futures = self._client.map(pipe, blobs, *steps, key="formiga", pure=False)
                return self._collect(futures)
        finally:
            for future in futures:
                future.release()  # tasks whose results are not awaited any more are not started

    def each(self, function: Callable[[Task], Result], tasks: Iterable[Task],
             stop: Callable[[], bool] = lambda: False) -> Generator[Result, None, None]:
        """function(task) of every task, as they are done. Tasks of a worker that is lost are run again by another one."""
        from cloudpickle import dumps
        from toolz import pipe

        source, waiting, some = iter(tasks), set[Any](), threading.Event()
        self._workers_seen = time.monotonic()
        try:
            with self._blamed():
                while True:
                    for task in islice(source, FLEET - len(waiting)):
                        blob = dumps(partial(_evaluate, _version(), function, task))
                        waiting.add(future := self._client.submit(pipe, blob, pickle.loads, operator.call, pure=False))
                        future.add_done_callback(lambda future: some.set())
                    if not waiting or stop():
                        return
                    if not some.wait(PAUSE) and time.monotonic() - self._workers_seen > 1.0:
                        self._look_around(list(waiting))
                    some.clear()
                    for future in [future for future in waiting if future.done()]:
                        result = future.result()
                        waiting.discard(future)
                        self._workers_seen = time.monotonic()
                        yield result
        finally:
            for future in waiting:
                with suppress(Exception):  # the scheduler may be gone
                    future.cancel()

    @contextmanager
    def _blamed(self) -> Iterator[None]:
        """What goes wrong with the workers, in words."""
        from distributed.scheduler import KilledWorker

        try:
            yield
        except KilledWorker as wrong:
            raise PoolError(f"a task took down every worker of {self._address} that tried it; was the memory full?") from wrong
        except ModuleNotFoundError as wrong:
            raise PoolError(f"a worker of {self._address} cannot import '{wrong.name}'; install it where the worker runs, in "
                            "the same version as here.") from wrong
        except CancelledError as wrong:
            raise PoolError(f"the Dask scheduler at {self._address} is gone, and the evaluations with it.") from wrong

    def _collect(self, futures: list[Any]) -> list[Any]:
        self._workers_seen = time.monotonic()
        results: list[Any] = []
        while len(results) < len(futures):
            future = futures[len(results)]
            try:
                results.append(future.result(timeout=1.0))
                self._workers_seen = time.monotonic()
            except TimeoutError:
                if future.status == "error":  # its own
                    raise
                self._look_around(futures)
        return results

    def _look_around(self, futures: list[Any]) -> None:
        """Raise what a later task has raised already; or that there is no worker, if that has lasted too long."""
        for future in futures:
            if future.status == "error":
                future.result()
        with suppress(TimeoutError, OSError):
            if self._client.sync(self._client.scheduler.ncores, callback_timeout=5.0):
                self._workers_seen = time.monotonic()
        if time.monotonic() - self._workers_seen > self._patience:
            raise PoolError(f"no worker has been at the Dask scheduler {self._address} for {self._patience:g} s; start one "
                            f"with `dask worker {self._address}`.")


def _evaluate(theirs: str, function: Callable[[Any], Any], task: Any) -> Any:
    """What a worker runs. Another version of formiga would give other results."""
    if theirs != _version():
        raise PoolError(f"a worker has formiga {_version()}, but {theirs} asks it; install the same version for both.")
    return function(task)


def _version() -> str:
    try:
        return version("formiga")
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "unknown"


async def _knock(address: str) -> None:
    """Fail unless a Dask server answers. A client would wait for ever for a server that accepts connections and is silent."""
    from distributed.comm.core import connect
    from distributed.security import Security

    safety = Security().get_connection_args("client")
    comm = await asyncio.wait_for(connect(address, timeout=ANSWER, **safety), ANSWER)
    comm.abort()


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """A client of the scheduler, without its chatter."""
    port = ADDRESS.fullmatch(address)
    if not port or not 0 < int(port[1]) < 2**16:
        raise PoolError(f"'{address[:80]}' is not the address of a Dask scheduler; one looks like tcp://192.168.0.7:8786.")
    address = address if "://" in address else f"tcp://{address}"
    try:
        from distributed import Client
    except ImportError as wrong:
        raise MissingExtra("a cluster needs Dask; install it with: pip install 'formiga[cluster]'") from wrong
    levels = {name: logging.getLogger(name).level for name in LOGGERS}
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    client = None
    try:
        try:
            with ThreadPoolExecutor(1) as thread:  # since a notebook has an event loop of its own
                thread.submit(asyncio.run, _knock(address)).result()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that versions differ; _evaluate checks the one that matters
                client = Client(address, timeout=ANSWER, set_as_default=False)
        except Exception as wrong:  # another kind of server answers with bytes that can mean anything
            raise PoolError(f"no Dask scheduler answers at {address}; start one with `dask scheduler`.") from wrong
        yield client
    finally:
        if client is not None:
            with suppress(Exception):
                client.close(timeout=2.0)
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


__all__ = ["Pool", "PoolError", "pool"]
