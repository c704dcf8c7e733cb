"""Many worlds, each tried in a worker process that is started again when one of them kills it."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

SECONDS = 20            # on the processor, for one world
PATIENCE = 15           # times that by the clock, on a machine that does other things too
COMPILING = 200         # s, to compile kernels of which the world is the first user
MEMORY = 2 * 2**30      # bytes, besides those of a worker that has done nothing yet
COMPILER = "/numba/core/"   # in the stack of a process that compiles
LINES = 200             # of a stack that is kept
TRIAL = "tests.fuzz.outcome"   # the module whose `outcome` tries a world
ROOT = Path(__file__).parents[2]


class Result(NamedTuple):
    """What became of one seed: 'refused', 'ran' or 'failed'."""

    seed: int
    kind: str
    words: str
    text: str       # the world that failed; empty if it killed the process
    seconds: float


def run(seeds: Iterable[int], jobs: int = 1, tell: Callable[[Result], None] = lambda _: None) -> list[Result]:
    """Try the worlds of all seeds; `tell` hears of each as soon as it is done."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for seed in seeds:
        waiting.put(seed)
    done: list[Result] = []
    lock = threading.Lock()

    def work(_: int) -> None:
        with Worker() as worker:
            while True:
                try:
                    seed = waiting.get_nowait()
                except queue.Empty:
                    return
                result = worker.judge(seed)
                with lock:
                    done.append(result)
                    tell(result)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(work, range(jobs)))
    return sorted(done)


class Worker:
    """One process at a time; another one after each that was killed."""

    def __init__(self) -> None:
        self.process: Any = None
        self.stderr: Any = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def judge(self, seed: int) -> Result:
        """Try one world. One that takes too long because it compiles kernels has a second chance when they are compiled."""
        result = self.attempt(seed, SECONDS)
        if result.kind == "failed" and COMPILER in result.words:
            self.attempt(seed, COMPILING)
            result = self.attempt(seed, SECONDS)
        return result

    def attempt(self, seed: int, seconds: int) -> Result:
        process = self.process or self.start()
        timer = threading.Timer(PATIENCE * seconds, process.kill)
        timer.start()
        try:
            process.stdin.write(f"{seed} {seconds}\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if line:
            return Result(seed, *json.loads(line))
        code = process.wait()
        self.stderr.seek(0)
        stack = "".join(self.stderr.readlines()[-LINES:])
        self.end()
        slow = code in (-signal.SIGXCPU, -signal.SIGKILL)
        words = f"it took more than {seconds} s" if slow else f"it ended the process with code {code}"
        return Result(seed, "failed", f"{words}\n{stack}", "", float(seconds))

    def start(self) -> Any:
        self.stderr = tempfile.TemporaryFile("w+")  # noqa: SIM115  closed in `end`
        self.process = subprocess.Popen([sys.executable, "-m", "tests.fuzz.worker", str(MEMORY), TRIAL], cwd=ROOT, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr,
                                        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)})
        return self.process

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.stderr.close()
            self.process = None
