"""Team programs: found, started, watched and ended. A program may be slow, dead or mad; the game goes on.

Why there is a guard. A simulator that is killed cannot end its teams, and what Linux offers for it (PR_SET_PDEATHSIG) follows
the thread that started them, not the program, and is undone by some programs. So each team gets a shell of one line that
reads from a pipe which only the simulator holds. When the simulator is gone, however it went, the pipe ends and the shell
kills the team's process group. This works for programs in any language.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from formiga.errors import suggest
from formiga.soccer.memory import Feed, Pitch, TeamError, places_in
from formiga.soccer.talk import NAMES, Call, Game, Sight

PROGRAMS = Path(__file__).parent / "programs"
NOT_TEAMS = ("__init__", "firasim_client", "moves")  # in that folder; the second one comes over the network
HOLD = 1.0                             # s of game time without an answer after which the robots stand still
SLICE = 0.02                           # s between two looks at a process that is waited for
TRIAL = 0.1                            # s: a team that gives a sign of life after it hung is waited for so long, to catch up
LONGEST_NAME = 40                      # characters of a network team's name
LOG = 64 * 1024                        # bytes of what a program printed that are kept: the last
GUARD = 'read -r _; kill -s KILL -- "-$1"'  # POSIX: dash knows no kill -KILL -- -pid
PYTHON = {"PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


# -- finding ----------------------------------------------------------------------------------------------------------
class TeamSpec(NamedTuple):
    """What a user meant by a team."""

    name: str
    command: tuple[str, ...]           # that starts its program; empty for a network team
    network: bool = False              # it comes by itself, through FIRASim's ports


def shipped() -> list[str]:
    """The teams that come with formiga."""
    return sorted(file.stem for file in PROGRAMS.glob("*.py") if file.stem not in NOT_TEAMS)


def find_team(text: str) -> TeamSpec:
    """The team that was typed: `colony`, `path/to/program.py`, `path/to/executable`, either with arguments, `network:NAME`."""
    if text == "network":
        return TeamSpec("network", (), network=True)
    if text.startswith("network:"):
        name = text.removeprefix("network:").strip()
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise TeamError(f"Team {text!r} has no name; after 'network:' come 1 to {LONGEST_NAME} printable characters.")
        return TeamSpec(name, (), network=True)
    if text in shipped():
        return TeamSpec(text, (sys.executable, "-m", f"formiga.soccer.programs.{text}"))
    words = [text]
    if not os.path.isfile(text):
        try:
            words = shlex.split(text) or [text]
        except ValueError as wrong:
            raise TeamError(f"Team {text!r} cannot be read: {wrong}.") from wrong
    if len(words) > 1 and words[0] in shipped():
        return TeamSpec(words[0], (*find_team(words[0]).command, *words[1:]))
    program = words[0]
    allowed = f"A team is {', '.join(shipped())}, network, network:NAME, or the path of a program."
    if "\0" in program or not os.path.exists(program):
        raise TeamError(f"Team '{program}' is unknown.{suggest(program, [*shipped(), 'network'])} {allowed}")
    if os.path.isdir(program):
        raise TeamError(f"Team '{program}' is a folder. {allowed}")
    path, name = os.path.abspath(program), Path(program).stem
    if path.endswith(".py"):
        return TeamSpec(name, (sys.executable, path, *words[1:]))
    if path.endswith((".c", ".cc", ".cpp")):
        raise TeamError(f"Team '{program}' is source text. Compile it (cc -O2 -o {name} {program} -lm) and give './{name}'.")
    if not os.access(path, os.X_OK):
        raise TeamError(f"Team '{program}' may not be executed. Make it executable (chmod +x), or give a Python program (.py).")
    return TeamSpec(name, (path, *words[1:]))


def environment() -> dict[str, str]:
    """Ours, and a Python that finds formiga, prints at once, and starts no threads for small matrices."""
    here = str(Path(__file__).parents[2])
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    return {**os.environ, **PYTHON, "PYTHONPATH": os.pathsep.join([*paths, here] if here not in paths else paths)}


# -- running ----------------------------------------------------------------------------------------------------------
class Program:
    """A process in a group of its own, its guard, and the last of what it printed."""

    def __init__(self, name: str, command: Sequence[str], files: Sequence[int]) -> None:
        self._printed, self._cut = bytearray(), False
        self._ended: str | None = None
        self._log, write = os.pipe()
        os.set_blocking(self._log, False)
        try:
            self._process = subprocess.Popen(list(command), stdin=subprocess.DEVNULL, stdout=write, stderr=write,
                                             pass_fds=files, start_new_session=True, env=environment())
        except (OSError, ValueError) as wrong:
            os.close(self._log)
            raise TeamError(f"Team {name}: '{command[0]}' cannot be started ({getattr(wrong, 'strerror', wrong)}).") from wrong
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
            raise TeamError(f"Team {name}: no shell could be started to guard it ({wrong.strerror}).") from wrong

    def ended(self) -> str | None:
        """How it ended, in words; None while it runs. It stays a zombie until `end`, so that nobody gets its number."""
        if self._ended is None:
            try:
                what = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:  # somebody else waited for it
                self._ended = "nobody knows how"
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
        """Take what it printed. Its pipe holds 64 KiB; who prints more between two pictures waits until we come by."""
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
        """Give it time to end, ask its group to end, end it. Its number is ours until the last lines: it is reaped there."""
        if patience > 0.0 and not self._gone(patience):
            self._signal(signal.SIGTERM)
            self._signal(signal.SIGCONT)  # a stopped process hears nothing
            self._gone(patience)
        self._signal(signal.SIGKILL)  # those that it started may still be there
        self._guard.kill()
        self._guard.communicate()
        with suppress(subprocess.TimeoutExpired):  # who is deep in the kernel (a dead disk) ends when it comes back
            self._process.wait(5.0)
        self.listen()
        os.close(self._log)

    def _gone(self, wait: float) -> bool:
        until = time.monotonic() + wait
        while self.ended() is None and time.monotonic() < until:
            self.listen()  # it may be writing its last words into a full pipe
            time.sleep(0.005)
        return self.ended() is not None

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


# -- playing ----------------------------------------------------------------------------------------------------------
class MemoryBridge:
    """A team program behind its two memories. [implements talk.Bridge]

    It is started as `command --memory SIGHT ORDERS --colour blue` and hears and says nothing else. In lock-step (`wait` > 0)
    each picture is waited for. Who misses one is reported, and not waited for until it answers again, so that a hung team
    costs little; its robots go on for HOLD seconds of game time, then stand.
    """

    def __init__(self, name: str, command: Sequence[str], colour: int, players: int, wheel_base: float, top_speed: float, *,
                 field: Any = None, period: float = Pitch().period, side: float = Pitch().side,
                 ball_radius: float = Pitch().ball_radius, patience: float = 10.0) -> None:
        """field: the world.field.Field whose sizes the team is told. patience: s for a first answer, in lock-step."""
        sizes = {key: float(getattr(field, key)) for key in Pitch._fields if hasattr(field, key)}
        pitch = Pitch(**sizes)._replace(side=side, wheel_base=wheel_base, top_speed=top_speed, ball_radius=ball_radius,
                                        period=period)
        self.name, self.colour, self.players = name, colour, players
        self._half_base, self._top, self._patience = 0.5 * wheel_base, top_speed, patience
        self._troubles: list[str] = []
        self._told: dict[str, float] = {}          # when each kind of trouble was last told
        self._now = self._heard = 0.0              # s of game time: the newest picture, and the newest answered
        self._answered, self._call = -1, -1
        self._places: tuple[int, list[list[float]]] = (-1, [])
        self._hung = self._dead = self._closed = self._silent = False
        self._how = ""                             # its program ended
        self._wheels = np.zeros((players, 2))
        self._feed = Feed(players, pitch, name=f"{name}-{NAMES[colour]}")
        try:
            arguments = ["--memory", *self._feed.paths, "--colour", NAMES[colour]]
            self._program = Program(name, [*command, *arguments], self._feed.files)
        except TeamError:
            self._feed.close()
            raise
        self._started = time.monotonic()

    # -- the match asks -----------------------------------------------------------------------------------------------
    @property
    def blue_attacks(self) -> int:
        """1: blue plays to the right, -1: to the left. Teams are told with the next picture."""
        return self._feed.blue_attacks

    @blue_attacks.setter
    def blue_attacks(self, way: int) -> None:
        self._feed.blue_attacks = way

    @property
    def alive(self) -> bool:
        """Whether its program runs."""
        return not (self._closed or self._is_dead())

    @property
    def pid(self) -> int:
        """Of its program; also the number of its process group."""
        return self._program.pid

    def start(self, wait: float) -> None:
        """Wait until the program has opened its memories, at most so many seconds and as long as a first answer is waited for.

        One that ended before could not start: TeamError, with the last line that it printed.
        """
        if not self.ready(min(wait, self._started + self._patience - time.monotonic())) and not self.alive:
            raise TeamError(f"Team {self.name} ({NAMES[self.colour]}) could not start: its program ended ({self._how}).")

    def failure(self) -> str:
        """Why the team could not play until now, '' if it could."""
        if not self._closed and self._is_dead():
            return f"its program ended ({self._how})"
        if self._answered < 0:
            return "it answered no picture"
        return "it does not answer any more" if self._hung or self._silent else ""

    def ready(self, wait: float) -> bool:
        """Wait until the program has opened its memories, at most so many seconds."""
        if self._closed:
            return False
        until = time.monotonic() + wait
        while not self._feed.opened:
            if self._is_dead() or time.monotonic() >= until:
                return False
            self._program.listen()
            self._feed.orders.wait(self._feed.orders.sequence, SLICE)
        return True

    def show(self, sight: Sight, game: Game) -> None:
        """Hand over a picture. Never waits."""
        if self._closed:
            return
        self._now, self._call = float(sight.time), int(game.frame)
        self._program.listen()
        self._feed.show(sight, game)

    def orders(self, frame: int, wait: float) -> Any:
        """Wheel speeds (P, 2), left and right, m/s at the rim, within the motors' limits. Never raises."""
        if self._closed or self._dead:
            return self._wheels
        before = self._answered
        self._take()
        if self._answered < frame:
            limit = wait
            if wait > 0.0 and self._hung:
                limit = min(wait, TRIAL) if self._answered > before else 0.0
            elif wait > 0.0 and self._answered < 0:
                limit = max(wait, self._started + self._patience - time.monotonic())
            self._wait(lambda: self._answered >= frame, limit)
            if self._answered < frame and not self._is_dead():
                self._missed(frame, limit, waited=wait > 0.0)
        if self._answered >= frame or (wait <= 0.0 and self._answered > before):
            self._caught_up()
        return self._wheels

    def tell(self, call: Call) -> None:
        """Nothing to do: the memory holds how the game stands, and the next picture brings the call with it."""

    def placement(self) -> Any:
        """Where it wants its robots, (P, 3) with NaN for those left open, if it has answered the last call; else None."""
        if self._closed or self._dead:
            return None
        self._take()
        call, places = self._places
        return places_in(places, self.players) if call == self._call else None

    def troubles(self) -> list[str]:
        """What went wrong since this was last asked."""
        if not self._closed:
            self._is_dead()
        told, self._troubles = self._troubles, []
        return told

    def log(self) -> str:
        """The last 64 KiB that the program printed."""
        if not self._closed:
            self._program.listen()
        return self._program.log()

    def close(self) -> None:
        """Tell the program that the game is over, then end it and all that it started."""
        if self._closed:
            return
        self._is_dead()  # an end before this one is a trouble
        self._closed = True
        self._wheels = np.zeros((self.players, 2))
        self._feed.close()
        self._program.end(patience=0.5)

    def __enter__(self) -> MemoryBridge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- watching -----------------------------------------------------------------------------------------------------
    def _wait(self, done: Callable[[], bool], limit: float) -> None:
        """Sleep until the answer is there, the program is dead, or the time is over."""
        until = time.monotonic() + limit
        while (left := until - time.monotonic()) > 0.0:
            sequence = self._feed.orders.sequence
            if not sequence & 1:
                self._take()
            if done():
                return
            began = time.monotonic()
            self._feed.orders.wait(sequence, min(left, SLICE))
            if time.monotonic() - began > 0.5 * SLICE:
                self._program.listen()
                if self._is_dead():
                    return

    def _take(self) -> None:
        """The newest answer that makes sense, as wheel speeds."""
        answer = self._feed.take()
        if answer is None:
            return
        if answer.damage == "head":
            self._complain("head", "wrote over the head of its memory; its orders are not followed")
        elif answer.damage == "frame":
            self._complain("frame", "answered a picture that it was never shown; its orders are not followed")
        elif answer.damage == "numbers":
            self._complain("numbers", "sent speeds that are no numbers; such robots stand still")
        if answer.frame < max(self._answered, 0):
            return
        if answer.frame > self._answered:
            self._answered, self._heard = answer.frame, self._now
        half, top = self._half_base, self._top
        self._wheels = np.array([(max(-top, min(top, v - omega * half)), max(-top, min(top, v + omega * half)))
                                 for v, omega in answer.speeds])
        self._places = (answer.placed_for, answer.places)

    def _missed(self, frame: int, limit: float, waited: bool) -> None:
        if waited and not self._hung:
            half = " (it stopped in the middle of writing one)" if self._feed.orders.sequence & 1 else ""
            self._complain("hung", f"answered no picture for {limit:.3g} s{half}; it is not waited for until it answers again")
            self._hung = True
        if self._now - self._heard >= HOLD:
            self._wheels = np.zeros((self.players, 2))
            if not waited and not self._silent:
                self._silent = True
                self._complain("hung", f"answered no picture for {HOLD:g} s of the game; its robots stand still")

    def _caught_up(self) -> None:
        if self._hung or self._silent:
            self._hung = self._silent = False
            self._complain("again", "answers again")

    def _is_dead(self) -> bool:
        if not self._dead and (how := self._program.ended()) is not None:
            self._dead, self._how = True, how
            self._wheels = np.zeros((self.players, 2))
            self._troubles.append(f"its program ended ({how})")
        return self._dead

    def _complain(self, kind: str, text: str) -> None:
        """One line of each kind in a second of the game; a mad program has enough to say to fill a disk."""
        if abs(self._now - self._told.get(kind, -1.0)) >= 1.0:
            self._told[kind] = self._now
            self._troubles.append(text)
            del self._troubles[:-100]


__all__ = ["MemoryBridge", "TeamSpec", "find_team", "shipped"]
