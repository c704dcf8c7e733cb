"""Stand-ins for platforms that this machine is not: python -m tests.standin FOLDER COMMAND [COMMAND ...]

For Windows and macOS, each in a process of its own: import every module of formiga, and run commands such as "check line".
FOLDER gets what was printed, in win32.txt and darwin.txt; "{platform}" in a command is replaced by the platform's name.

Modules and functions that the platform lacks are removed, and sys.platform has its name. Other libraries are loaded before
that: they have their own builds for each platform. So this shows which calls of formiga the platform does not have, and nothing
of how formiga runs there.
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
MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")            # Windows has none of them
# Names in typeshed (the stubs of mypy) that macOS lacks, and that Windows lacks with Python 3.11; without most constants.
LINUX = """
MFD_ALLOW_SEALING MFD_CLOEXEC O_DIRECT O_LARGEFILE O_NOATIME O_PATH O_RSYNC O_TMPFILE P_PIDFD SCHED_BATCH SCHED_IDLE
SCHED_RESET_ON_FORK copy_file_range eventfd eventfd_read eventfd_write fdatasync getrandom getresgid getresuid
getxattr listxattr memfd_create pidfd_open pipe2 posix_fadvise posix_fallocate removexattr sched_getaffinity
sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setparam sched_setscheduler setresgid
setresuid setxattr splice waitid waitid_result"""
POSIX = """
CLD_CONTINUED CLD_DUMPED CLD_EXITED CLD_KILLED CLD_STOPPED CLD_TRAPPED F_LOCK F_TEST F_TLOCK F_ULOCK NGROUPS_MAX
O_ACCMODE O_ASYNC O_CLOEXEC O_DIRECTORY O_DSYNC O_FSYNC O_NDELAY O_NOCTTY O_NOFOLLOW O_NONBLOCK O_SYNC PRIO_PGRP
PRIO_PROCESS PRIO_USER P_ALL P_PGID P_PID SCHED_FIFO SCHED_OTHER SCHED_RR WCONTINUED WCOREDUMP WEXITED WEXITSTATUS
WIFCONTINUED WIFEXITED WIFSIGNALED WIFSTOPPED WNOHANG WNOWAIT WSTOPPED WSTOPSIG WTERMSIG WUNTRACED chown chroot
confstr confstr_names ctermid environb fchdir fchmod fchown fork forkpty fpathconf fstatvfs fwalk get_blocking getegid
getenvb geteuid getgid getgrouplist getgroups getloadavg getpgid getpgrp getpriority getsid getuid initgroups killpg
lchown lockf login_tty major makedev minor mkfifo mknod nice openpty pathconf pathconf_names posix_spawn posix_spawnp
pread preadv pwrite pwritev readv register_at_fork sched_get_priority_max sched_get_priority_min sched_param
sched_yield sendfile set_blocking setegid seteuid setgid setgroups setpgid setpgrp setpriority setregid setreuid
setsid setuid spawnlp spawnlpe spawnvp spawnvpe statvfs sync sysconf sysconf_names tcgetpgrp tcsetpgrp ttyname uname
wait wait3 wait4 writev"""
SIGNALS = """
SIGALRM SIGBUS SIGCHLD SIGCONT SIGHUP SIGIO SIGIOT SIGKILL SIGPIPE SIGPROF SIGQUIT SIGSTOP SIGSYS SIGTRAP SIGTSTP
SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM SIGWINCH SIGXCPU SIGXFSZ SIG_BLOCK SIG_SETMASK SIG_UNBLOCK alarm
getitimer pause pthread_kill pthread_sigmask setitimer siginterrupt sigpending sigwait"""
LINUX_SIGNALS = "SIGCLD SIGPOLL SIGPWR SIGRTMAX SIGRTMIN SIGSTKFLT pidfd_send_signal sigtimedwait sigwaitinfo"
LACKS = {  # platform -> module -> names
    "darwin": {os: LINUX.split(), signal: LINUX_SIGNALS.split(), select: ["epoll"]},
    "win32": {os: [*LINUX.split(), *POSIX.split()], signal: [*LINUX_SIGNALS.split(), *SIGNALS.split()],
              select: ["epoll", "poll", "POLLIN"]}}
NOT_OURS = ("torch", "vmas")  # a benchmark of another library may lack it


def load() -> None:
    """Import the other libraries."""
    for name in LIBRARIES:
        with suppress(ImportError):
            importlib.import_module(name)


def pretend(platform: str) -> None:
    """Take away what that platform lacks."""
    for module, names in LACKS[platform].items():
        for name in names:
            module.__dict__.pop(name, None)
    for name in MODULES if platform == "win32" else ():
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
