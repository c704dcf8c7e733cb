"""Processes of the command line that start warm: each is forked from one that has imported formiga already.

A process of its own costs two seconds, nearly all of them for imports. A fork of a process that has done them, and nothing
else, is as real: its own id, signals, pipes, current folder, environment, and Python's own way of ending. What happens while a
process imports is tested with processes that start cold (`start(..., cold=True)`, test_errors.py).

    python -m tests.cli.warm SOCKET      the one that the others are forked from
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
POLL = 0.02  # s between two looks


class Warm:
    """The process that the others are forked from."""

    def __init__(self, folder: Path) -> None:
        self.address = str(folder / "warm")
        self._process = subprocess.Popen([sys.executable, "-m", "tests.cli.warm", self.address], cwd=ROOT)
        deadline = time.monotonic() + 120
        while not os.path.exists(self.address):
            assert self._process.poll() is None and time.monotonic() < deadline, "it does not start"
            time.sleep(POLL)

    def start(self, *arguments: str, cwd: Path, env: dict[str, str], stdin=None, stdout=None, stderr=None) -> Child:
        """Like Popen(["formiga", *arguments], text=True, ...)."""
        return Child(self.address, arguments, cwd, env, (stdin, stdout, stderr))

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


class Child:
    """What subprocess.Popen is, for a process that somebody else forked."""

    def __init__(self, address, arguments, cwd, env, streams) -> None:
        self.returncode = None
        ours, theirs, self.stdin, self.stdout, self.stderr = [], [], None, None, None
        for number, given in enumerate(streams):
            if given == subprocess.PIPE:
                read, write = os.pipe()
                theirs.append(write)
                ours.append(write)
                setattr(self, ("stdin", "stdout", "stderr")[number], os.fdopen(read, encoding="utf-8"))
            elif given == subprocess.DEVNULL:
                theirs.append(os.open(os.devnull, os.O_RDWR))
                ours.append(theirs[-1])
            else:
                theirs.append(number if given is None else given if isinstance(given, int) else given.fileno())
        self._line = socket.socket(socket.AF_UNIX)
        self._line.connect(address)
        request = json.dumps({"arguments": arguments, "cwd": str(cwd), "env": env}).encode()
        socket.send_fds(self._line, [len(request).to_bytes(4, "big")], theirs)
        self._line.sendall(request)
        for each in ours:
            os.close(each)
        self.pid = int.from_bytes(self._line.recv(8), "big")

    def poll(self):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def wait(self, timeout=None):
        if self.returncode is None:
            if not select.select([self._line], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("formiga", timeout)
            self.returncode = int.from_bytes(self._line.recv(4), "big", signed=True)
            self._line.close()
        return self.returncode

    def communicate(self, timeout=None):
        """All of what it still says, after its end."""
        said = {"stdout": None, "stderr": None}

        def read(name, stream):
            said[name] = stream.read() if not stream.closed else ""

        readers = [threading.Thread(target=read, args=(name, getattr(self, name)), daemon=True) for name in said
                   if getattr(self, name) is not None]
        for reader in readers:
            reader.start()
        self.wait(timeout)
        for reader in readers:
            reader.join(timeout)
        return said["stdout"], said["stderr"]

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)


# -- the other side ---------------------------------------------------------------------------------------------------
def serve(address: str) -> dict | None:
    """Fork for each request, and tell how each fork ended. In the fork: the request."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{address}.tmp")
    listener.listen()
    os.rename(f"{address}.tmp", address)
    waiting: dict[int, socket.socket] = {}
    while os.getppid() != 1:
        if select.select([listener], [], [], POLL)[0]:
            line, _ = listener.accept()
            size, streams, _, _ = socket.recv_fds(line, 4, 3)
            request = json.loads(line.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL))
            pid = os.fork()
            if pid == 0:
                for number, stream in enumerate(streams):
                    os.dup2(stream, number)
                for each in (listener, line, *waiting.values()):
                    each.close()
                os.closerange(3, max(streams) + 1)
                return request
            for stream in streams:
                os.close(stream)
            line.sendall(pid.to_bytes(8, "big"))
            waiting[pid] = line
        while waiting:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            with waiting.pop(pid) as line, contextlib.suppress(OSError):
                line.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
    return None


if __name__ == "__main__":
    from formiga import lab  # what the commands import
    from formiga.__main__ import main
    from formiga.cli import bench, check, evolve, list, run, schema, study, view  # noqa: F401
    from formiga.evolve import champion, figure  # noqa: F401
    from formiga.page import page  # noqa: F401
    from formiga.session import headless  # noqa: F401

    for world in ("line", "corral"):
        lab.Simulation(world).step()  # loads its kernels
    assert threading.active_count() == 1, "a fork has only one thread"  # BLAS and Arrow start theirs again by themselves
    asked = serve(sys.argv[1])
    if asked is not None:
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["env"])
        sys.argv = ["formiga", *asked["arguments"]]
        main()
