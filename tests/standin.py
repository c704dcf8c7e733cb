"""Stand-ins for platforms that this machine is not: python -m tests.standin FOLDER COMMAND [COMMAND ...]

For Windows and macOS, each in a process of its own: import every module of formiga, and run commands such as "check line".
FOLDER gets what was printed, in win32.txt and darwin.txt; "{platform}" in a command is replaced by the platform's name.

Modules that only POSIX has cannot be imported, functions that the platform lacks are gone, and sys.platform has its name.
Libraries of others are loaded before that: they have their own builds for each platform. So this shows what formiga itself asks
of a platform, and nothing of how it runs there.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import select
import shlex
import signal
import sys
import traceback
from contextlib import suppress

LIBRARIES = ("asyncio", "ctypes", "matplotlib", "multiprocessing", "numba", "numpy", "platform", "pyarrow.parquet", "rich",
             "scipy", "selectors", "shutil", "socket", "subprocess", "tempfile", "threading", "click", "gymnasium",
             "pettingzoo", "mujoco", "viser", "joblib", "google.protobuf", "lxml.etree", "webbrowser", "http.server",
             "urllib.request")
MODULES = ("fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "syslog")            # of POSIX alone
LINUX = ("memfd_create", "MFD_CLOEXEC", "MFD_ALLOW_SEALING", "waitid", "pipe2", "sched_setscheduler", "sched_getaffinity",
         "sched_setaffinity", "SCHED_IDLE", "sched_param", "eventfd", "posix_fadvise")
POSIX = ("getuid", "geteuid", "getgid", "getpgid", "killpg", "fork", "forkpty", "setsid", "mkfifo", "WNOHANG", "O_CLOEXEC",
         "uname", "getloadavg", "nice", "wait3", "wait4", "pread", "register_at_fork", "set_blocking")
SIGNALS = ("SIGKILL", "SIGHUP", "SIGCONT", "SIGSTOP", "SIGUSR1", "SIGUSR2", "SIGXCPU", "SIGPIPE", "SIGALRM", "SIGCHLD",
           "SIGQUIT", "setitimer", "pthread_kill", "pthread_sigmask", "sigwait")
POLLS = ("poll", "epoll", "POLLIN")
NOT_OURS = ("torch", "vmas")  # a benchmark of another library may lack it


def load() -> None:
    """The libraries of others."""
    for name in LIBRARIES:
        with suppress(ImportError):
            importlib.import_module(name)


def pretend(platform: str) -> None:
    """Take away what that platform has not."""
    gone = [(os, LINUX), (select, ("epoll",))] if platform == "darwin" else [
        (os, LINUX + POSIX), (signal, SIGNALS), (select, POLLS)]
    for module, names in gone:
        for name in names:
            module.__dict__.pop(name, None)
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    sys.platform = platform


def every_module() -> None:
    """Import all of formiga; ImportError if one cannot be."""
    import formiga

    def wrong(name: str) -> None:
        raise ImportError(name)

    found = [each.name for each in pkgutil.walk_packages(formiga.__path__, "formiga.", onerror=wrong)]
    for name in found:
        try:
            if not name.endswith("__main__"):
                importlib.import_module(name)
        except ModuleNotFoundError as missing:
            if (missing.name or "").split(".")[0] not in NOT_OURS:
                raise ImportError(f"{name}: {missing}") from missing
    print(f"{len(found)} modules")


def play(platform: str, commands: list[str]) -> None:
    """All of it on one platform; what is printed says which exit code each command had."""
    pretend(platform)
    every_module()
    from formiga.cli import cli

    for each in commands:
        try:
            cli.main(shlex.split(each.replace("{platform}", platform)), prog_name="formiga")
        except SystemExit as end:
            print(f"exit {end.code or 0}", flush=True)


def main(folder: str, *commands: str) -> int:
    """Both platforms, side by side."""
    load()
    children = []
    for platform in ("win32", "darwin"):
        if (child := os.fork()) == 0:
            code = 1
            try:
                with open(os.path.join(folder, f"{platform}.txt"), "w", encoding="utf-8") as out:
                    sys.stdout = sys.stderr = out
                    try:
                        play(platform, list(commands))
                        code = 0
                    except BaseException:
                        traceback.print_exc()
            finally:
                os._exit(code)
        children.append(child)
    return max(os.waitpid(child, 0)[1] for child in children) and 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
