"""Whichever workers evaluate, the results are the same; when none is left, it says so instead of waiting."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from formiga import pool as module
from formiga.errors import FormigaError, MissingExtra
from formiga.pool import PoolError, pool
from tests.pool.cluster import dask, free_port, stop


def work():
    """A function that workers get by value, since they cannot import this file; and its tasks."""
    def evaluate(task):
        return float(np.random.Generator(np.random.Philox(key=task[0])).normal() + task[1].sum())

    return evaluate, [(number, np.full(500, float(number))) for number in range(40)]


# -- on this machine --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("options", [{"jobs": 2}, {"jobs": 2, "threads": True}, {"jobs": 3, "threads": True}], ids=str)
def test_however_many_share_the_work_the_results_are_the_same_and_in_order(options):
    evaluate, tasks = work()
    expected = [evaluate(task) for task in tasks]
    with pool() as alone, pool(**options) as workers:
        assert alone.map(evaluate, tasks) == workers.map(evaluate, tasks) == workers.map(evaluate, iter(tasks)) == expected
        assert workers.map(evaluate, []) == []


@pytest.mark.parametrize("options", [{}, {"jobs": 2}, {"jobs": 2, "threads": True}], ids=str)
def test_what_a_task_raises_is_raised(options):
    def fail(task):
        raise FormigaError(f"task {task}")

    with pool(**options) as workers, pytest.raises(FormigaError, match="task 5"):
        workers.map(fail, [5])


def test_an_array_arrives_as_it_was_and_can_be_written():
    with pool(jobs=2) as workers:
        assert workers.map(lambda array: array.flags.writeable, [np.zeros(1_000_000)] * 2) == [True, True]


def test_a_local_process_that_is_killed_costs_time_and_no_result(tmp_path):
    def killed_once(task):
        mark = tmp_path / "killed"
        if task == 3 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return task * task

    with pool(jobs=2) as workers:
        assert workers.map(killed_once, range(8)) == [task * task for task in range(8)]
        (tmp_path / "killed").unlink()
        assert sorted(workers.each(killed_once, range(8))) == [task * task for task in range(8)]
        with pytest.raises(PoolError, match="was killed, 3 times"):
            workers.map(lambda task: os.kill(os.getpid(), signal.SIGKILL), range(2))


@pytest.mark.parametrize("options", [{}, {"jobs": 2}, {"jobs": 2, "threads": True}], ids=str)
def test_each_gives_every_result_once_asks_for_few_tasks_ahead_and_stops_when_it_is_told(options):
    evaluate, tasks = work()
    given = []

    def some():
        for task in tasks:
            given.append(task[0])
            yield task

    with pool(**options) as workers:
        assert sorted(workers.each(evaluate, some())) == sorted(evaluate(task) for task in tasks)
        assert list(workers.each(evaluate, [])) == []
        given.clear()
        first = workers.each(evaluate, some())
        next(first)
        assert len(given) <= 2 * 2 + 1
        first.close()
        done = []
        for result in workers.each(evaluate, some(), stop=lambda: len(done) > 4):
            done.append(result)
        assert 5 <= len(done) <= 9
        with pytest.raises(ZeroDivisionError):
            list(workers.each(lambda task: 1 // task, [1, 0, 1]))


def test_each_drops_processes_that_are_at_work_when_it_stops(tmp_path):
    def slowly(task):
        (tmp_path / str(os.getpid())).touch()
        time.sleep(600.0 if task else 0.0)

    with pool(jobs=2) as workers:
        began = time.monotonic()
        assert list(workers.each(slowly, [0, 1, 1, 1, 1], stop=lambda: len(os.listdir(tmp_path)) == 2)) in ([], [None])
        assert time.monotonic() - began < 300.0
    deadline = time.monotonic() + 60
    while any(os.path.exists(f"/proc/{name}") for name in os.listdir(tmp_path)):
        assert time.monotonic() < deadline, "a process is still there"
        time.sleep(0.05)


def test_no_jobs_are_refused():
    with pytest.raises(FormigaError, match="jobs: 0 is out of range"), pool(jobs=0):
        pass


# -- on a cluster -----------------------------------------------------------------------------------------------------
def test_a_cluster_gives_the_same_results_and_shows_what_a_task_raises(scheduler, workers):
    evaluate, tasks = work()

    def fail(task):
        if task == 30:
            raise TimeoutError("of its own")
        time.sleep(0.02)
        return task

    with pool(cluster=scheduler) as crowd, pool(cluster=scheduler.removeprefix("tcp://")) as same:
        assert crowd.map(evaluate, tasks) == same.map(evaluate, tasks) == [evaluate(task) for task in tasks]
        assert crowd.map(evaluate, []) == list(crowd.each(evaluate, [])) == []
        assert sorted(crowd.each(evaluate, tasks)) == sorted(evaluate(task) for task in tasks)
        assert list(crowd.each(evaluate, tasks, stop=lambda: True)) == []
        with pytest.raises(TimeoutError, match="of its own"):
            list(crowd.each(fail, range(40)))
        with pytest.raises(TimeoutError, match="of its own"):
            crowd.map(fail, range(40))


def test_a_worker_that_is_killed_in_the_middle_changes_no_result(scheduler, workers, tmp_path):
    evaluate, tasks = work()

    def slowly(task):
        (tmp_path / str(os.getpid())).touch()
        time.sleep(0.1)
        return evaluate(task)

    def kill_when_busy():
        while not (tmp_path / str(workers[0].pid)).exists():
            time.sleep(0.01)
        time.sleep(0.35)  # by now it holds results that are not collected, and is at work on another
        workers[0].kill()

    killer = threading.Thread(target=kill_when_busy)
    killer.start()
    with pool(cluster=scheduler) as crowd:
        assert crowd.map(slowly, tasks) == [evaluate(task) for task in tasks]
    killer.join()
    assert workers[0].wait(10) == -signal.SIGKILL
    assert (tmp_path / str(workers[1].pid)).exists()


def test_a_worker_that_cannot_import_a_module_is_one_clear_error(scheduler, workers, tmp_path, monkeypatch):
    (tmp_path / "only_here_and_now.py").write_text("def evaluate(task): return task")
    monkeypatch.syspath_prepend(tmp_path)
    from only_here_and_now import evaluate

    with pool(cluster=scheduler) as crowd:
        with pytest.raises(PoolError, match="cannot import 'only_here_and_now'; install it where the worker runs"):
            crowd.map(evaluate, [1, 2])
        monkeypatch.setattr(module, "_version", lambda: "0.0.1")
        with pytest.raises(PoolError, match=r"a worker has formiga .*, but 0\.0\.1 asks it"):
            crowd.map(abs, [1, 2])


def test_without_any_worker_it_says_so_when_its_patience_ends(scheduler):
    began = time.monotonic()
    with pool(cluster=scheduler, patience=1.5) as crowd, pytest.raises(PoolError, match="start one with `dask worker tcp:"):
        crowd.map(abs, [1])
    assert 1.5 < time.monotonic() - began < 8.0


def test_a_scheduler_that_goes_away_is_one_clear_error():
    pytest.importorskip("distributed")
    port = free_port()
    process = dask("scheduler", "--port", str(port))
    try:
        with pool(cluster=f"127.0.0.1:{port}") as crowd:
            threading.Timer(0.5, process.kill).start()
            with pytest.raises(PoolError, match="is gone"):
                crowd.map(abs, [1])
    finally:
        stop(process)


@pytest.mark.parametrize("listens", [False, True], ids=["nobody", "somebody else"])
def test_an_address_where_no_scheduler_answers_is_one_clear_error(listens, monkeypatch, capfd):
    pytest.importorskip("distributed")
    assert module.ANSWER < 10.0
    monkeypatch.setattr(module, "ANSWER", 1.0)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        if listens:
            silent.listen()
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        with pytest.raises(PoolError, match=f"no Dask scheduler answers at {address}; start one with `dask scheduler`"):
            pool(cluster=address).__enter__()
    assert time.monotonic() - began < 5.0
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("address", ["", "8786", "host", "tcp://", "tcp://host", "http://host:80", "host:99999", "host:0",
                                     "tcp://a b:1", "tcp://host:8786\n", "inproc://1/2/3"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(PoolError, match="is not the address of a Dask scheduler; one looks like tcp"):
        pool(cluster=address).__enter__()


def test_without_dask_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"pip install 'formiga\[cluster\]'"):
        pool(cluster="tcp://127.0.0.1:8786").__enter__()


# -- Ctrl-C -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("where", ["jobs=2", "jobs=2, threads=True", "cluster={scheduler!r}"])
def test_an_interrupt_ends_it_soon_and_quietly(where, scheduler):
    program = f"""
import sys, time
from formiga.pool import pool
try:
    with pool({where.format(scheduler=scheduler)}) as workers:
        print("ready", flush=True)
        workers.map(time.sleep, [2.0] * 40)
except KeyboardInterrupt:
    sys.exit(130)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to all processes of the group
        _, errors = process.communicate(timeout=10)
        assert process.returncode == 130 and "Traceback" not in errors, errors
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
