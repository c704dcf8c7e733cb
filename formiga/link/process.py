"""Child processes that are started, watched and ended, whatever becomes of them or of us.

Why there is a guard. A simulator that is killed cannot end its children, and what Linux offers for it (PR_SET_PDEATHSIG)
follows the thread that started them, not the program, and is undone by some programs. So each child gets a shell of one line
that reads from a pipe which only this process holds. When this process is gone, however it went, the pipe ends and the shell
kills the child's process group. This works for programs in any language.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from formiga.errors import reason
from formiga.link.errors import LinkError

LOG = 64 * 1024                        # bytes of what a program printed that are kept: the last
GUARD = 'read -r _; kill -s KILL -- "-$1"'  # POSIX: dash knows no kill -KILL -- -pid
PYTHON = {"PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def environment() -> dict[str, str]:
    """Ours, and a Python that finds formiga and formiga_remote, prints at once, and starts no threads for small matrices."""
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    ours = (str(Path(__file__).parents[2]), str(Path(__file__).with_name("clients")))
    return {**os.environ, **PYTHON, "PYTHONPATH": os.pathsep.join(dict.fromkeys((*paths, *ours)))}


class Program:
    """A process in a group of its own, its guard, and the last of what it printed.

    name: of the program, in messages. files: descriptors that it inherits.
    """

    def __init__(self, name: str, command: Sequence[str], files: Sequence[int] = ()) -> None:
        if sys.platform != "linux":  # Windows has no process groups, and not every Python on macOS has waitid
            raise LinkError(f"{name}: formiga starts, watches and ends programs on Linux only. Start it yourself: a team can "
                            "play through the network (`network`), a program can answer through plain files (an Exchange or a "
                            "Feed with a folder).")
        self._printed, self._cut = bytearray(), False
        self._ended: str | None = None
        self._log, write = os.pipe()
        os.set_blocking(self._log, False)
        try:
            self._process = subprocess.Popen(list(command), stdin=subprocess.DEVNULL, stdout=write, stderr=write,
                                             pass_fds=files, start_new_session=True, env=environment())
        except (OSError, ValueError) as wrong:
            os.close(self._log)
            raise LinkError(f"{name}: '{command[0]}' cannot be started ({reason(wrong)}).") from wrong
        finally:
            os.close(write)
        self.pid = self._process.pid
        try:
            self._guard = subprocess.Popen(["/bin/sh", "-c", GUARD, "formiga-guard", str(self.pid)], stdin=subprocess.PIPE,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        except OSError as wrong:
            self._signal(signal.SIGKILL)
            self._process.wait()
            os.close(self._log)
            raise LinkError(f"{name}: no shell could be started to guard it ({wrong.strerror}).") from wrong

    def ended(self) -> str | None:
        """How it ended, in words; None while it runs. It stays a zombie until `end`, so its number is not used again."""
        if self._ended is None:
            try:
                what = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:  # it was waited for elsewhere in this process
                self._ended = "its exit code is unknown"
                return self._ended
            if what is not None:
                self.listen()
                self._ended = self._how(what.si_code, what.si_status)
        return self._ended

    def _how(self, code: int, status: int) -> str:
        if code != os.CLD_EXITED:
            return f"signal {status}, {(signal.strsignal(status) or 'unknown').lower()}"
        last = [line for line in self.log().splitlines() if line.strip()][-1:]
        return f"exit code {status}" + (f": {last[0].strip()[:200]}" if status and last else "")

    def listen(self) -> None:
        """Take what it printed. Its pipe holds 64 KiB; a program that prints more between two calls blocks until the next."""
        try:
            new = os.read(self._log, LOG)
        except (BlockingIOError, OSError):
            return
        self._printed += new
        if len(self._printed) > LOG:
            del self._printed[: len(self._printed) - LOG]
            self._cut = True

    def log(self) -> str:
        """The last that it printed."""
        return ("...\n" if self._cut else "") + self._printed.decode("utf-8", "replace")

    def end(self, patience: float) -> None:
        """Wait for its end, ask its group to end, kill it: `patience` seconds for each of the first two. It is reaped last."""
        if patience > 0.0 and not self._gone(patience):
            self._signal(signal.SIGTERM)
            self._signal(signal.SIGCONT)  # a stopped process receives no other signal
            self._gone(patience)
        self._signal(signal.SIGKILL)  # processes that it started may still be there
        self._guard.kill()
        self._guard.communicate()
        with suppress(subprocess.TimeoutExpired):  # a process that is deep in the kernel (a dead disk) ends when it returns
            self._process.wait(5.0)
        self.listen()
        os.close(self._log)

    def _gone(self, wait: float) -> bool:
        until = time.monotonic() + wait
        while self.ended() is None and time.monotonic() < until:
            self.listen()  # it may be printing into a full pipe
            time.sleep(0.005)
        return self.ended() is not None

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


__all__ = ["LOG", "Program", "environment"]
