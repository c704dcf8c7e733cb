"""The console: a table of commands, and texts that run in simulated time.

    console = Console(say=print, clock=lambda: state.time)
    console.add([CommandSpec("pause", "pause", "Holds time still.", pause)])
    console.run("bind Space pause; wait 5; echo five seconds later")
    ...                  # after every step of the simulation:
    console.advance()

It is used from one thread. It knows no simulation: what a command does is in the command.

Trust. A world's own text may steer the world, and nothing else: a command that works on files is refused. An alias, a bind
and a variable remember whose text made them, and whatever goes through one of a world's is a world's text.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from formiga.console import limits
from formiga.console.call import Call, CommandSpec
from formiga.console.commands import language
from formiga.console.complete import completions
from formiga.console.definitions import Definition, Definitions, define
from formiga.console.errors import ConsoleError, brief, listed, placed
from formiga.console.keys import Key, known_key, read_key
from formiga.console.parse import CONSOLE, Command, Variable, Word, half_typed, parse
from formiga.console.script import read_script
from formiga.console.task import Frame, Task
from formiga.errors import FormigaError, Where, suggest

_NAME = re.compile(r"[+-]?\w[\w-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Value(NamedTuple):
    """What a variable holds, and whether trusted text put it there."""

    text: str
    trusted: bool


class Held(NamedTuple):
    """A key that is down: what it started, and what runs when it goes up."""

    task: Task
    release: Sequence[Command]
    trusted: bool


class Console:
    """Holds commands, aliases, binds, variables and history, and the tasks that run."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float],
                 complain: Callable[[str], None] | None = None) -> None:
        """say: takes every line of output; complain: takes errors, else `say` does; clock: simulated seconds."""
        self.say = say
        self.complain = complain or say
        self.clock = clock
        self.commands: dict[str, CommandSpec] = {}
        self.aliases = Definitions("aliases")
        self.binds = Definitions("binds")
        self.variables: dict[str, Value] = {}
        self.history: list[str] = []
        self.tasks: list[Task] = []          # started and not done
        self._provided: dict[str, tuple[Callable[[], object], bool]] = {}
        self._held: dict[tuple[Hashable, str], Held] = {}
        self._owed, self._charged = 0.0, time.monotonic()  # s on the clock that a world's own text has worked, see _charge
        self._running = 0                    # runs inside each other: a command may call `run`
        self._seen, self._lost = clock(), 0.0
        self.provide("time", clock)
        self.add(language(self))

    # -- what it knows
    def add(self, commands: Iterable[CommandSpec]) -> None:
        """Add commands. Two of one name are a fault of formiga, not of the user."""
        for spec in commands:
            if spec.name in self.commands or not _NAME.fullmatch(spec.name):
                raise ValueError(f"the command '{spec.name}' is there already, or that is no name for one")
            self.commands[spec.name] = spec

    def provide(self, name: str, value: Callable[[], object], trusted: bool = True) -> None:
        """A variable that is asked when it is used, such as $time. `var` cannot change it."""
        self._provided[name] = value, trusted

    def alias(self, name: str, text: str, where: str | Where = CONSOLE, trusted: bool = True) -> None:
        """Give a text a name that runs it."""
        place = _place(where)
        check_name(name, place)
        if name in self.commands:
            raise ConsoleError(f"'{name}' is a command; an alias needs a name of its own.", place)
        self.aliases.put(name, define(text, place, trusted))

    def bind(self, key: str, text: str, where: str | Where = CONSOLE, trusted: bool = True) -> None:
        """Let a key run a text. If it ran another one, that is said."""
        place = _place(where)
        try:
            name = str(read_key(key))
        except ConsoleError as wrong:
            raise ConsoleError(str(wrong), place) from wrong
        new = define(text, place, trusted)
        if new.takes:
            raise ConsoleError(f"a key gives no arguments, so ${new.takes} has no value.", place)
        old = self.binds.put(name, new)
        if old is not None and old.text != text:
            self.say(f"{place}: {name} ran '{brief(old.text)}' ({old.where}); now it runs '{brief(text)}'.")

    def set_variable(self, name: str, value: str, trusted: bool = True) -> None:
        """Give a variable a value."""
        if not _VARIABLE.fullmatch(name) or len(name) > limits.NAME:
            raise ConsoleError(f"'{brief(name)}' cannot be the name of a variable: letters a-z, digits and _, "
                               f"no digit first, at most {limits.NAME}.")
        if name in self._provided:
            raise ConsoleError(f"${name} is given by the laboratory and cannot be set.")
        if name not in self.variables and len(self.variables) >= limits.NAMES:
            raise ConsoleError(f"there are {limits.NAMES} variables already, the most that is allowed.")
        if not trusted and name in self.variables and self.variables[name].trusted:
            raise ConsoleError(f"${name} is yours; a world's own text may not change it.")
        self.variables[name] = Value(value, trusted)

    def value(self, name: str) -> Value:
        """What a variable holds now."""
        if name in self._provided:
            value, trusted = self._provided[name]
            return Value(_written(value()), trusted)
        if name in self.variables:
            return self.variables[name]
        known = [f"${one}" for one in self.known_variables()]
        meant = suggest(f"${name}"[: limits.NAME], known)
        raise ConsoleError(f"there is no variable '${brief(name)}'.{meant} Known: {listed(known)}. `var` sets one.")

    def known_variables(self) -> list[str]:
        return sorted({*self._provided, *self.variables})

    def no_command(self, name: str) -> ConsoleError:
        meant = suggest(name[: limits.NAME], [*self.commands, *self.aliases])
        return ConsoleError(f"there is no command '{brief(name)}'.{meant} `help` lists all.")

    def forget_untrusted(self) -> None:
        """Another world comes: end what the last one's text runs, and forget what it defined."""
        for task in list(self.tasks):
            if not task.trusted:
                task.stop()
        self._forget_done()
        self.aliases.forget_untrusted()
        self.binds.forget_untrusted()
        self.variables = {name: value for name, value in self.variables.items() if value.trusted}

    # -- running
    def run(self, text: str, where: str | Where = CONSOLE, trusted: bool = True, sender: Hashable = None) -> Task:
        """Run a text up to its first wait. Errors are said, not raised; the task knows them."""
        if where == CONSOLE:
            self._remember(text)
        task = Task(_place(where), sender, trusted)
        return self._start(task, lambda: Frame(parse(text, where), trusted))

    def run_file(self, path: str | Path, trusted: bool = True, sender: Hashable = None) -> Task:
        """Run a script file up to its first wait."""
        task = Task(Where(str(path), 1), sender, trusted)
        return self._start(task, lambda: Frame(parse(read_script(Path(path)), str(path)), trusted))

    def advance(self) -> None:
        """Let tasks go on whose time has come. Called after every step of the simulation."""
        for task in list(self.tasks):
            if task.waits is not None:
                self._go(task)
        self._forget_done()

    def stop(self, task: Task | None = None) -> None:
        """End a task, or all of them."""
        for one in [task] if task is not None else list(self.tasks):
            one.stop()
        self._forget_done()

    def now(self) -> float:
        """Seconds that have passed. The clock may go back, when a run starts again; then waits go on from there."""
        clock = self.clock()
        self._lost += max(0.0, self._seen - clock)
        self._seen = clock
        return clock + self._lost

    def _start(self, task: Task, first: Callable[[], Frame]) -> Task:
        self.tasks.append(task)
        self._go(task, first)
        self._forget_done()
        return task

    def _go(self, task: Task, first: Callable[[], Frame] | None = None) -> None:
        """Run a task to its next wait, its end or its first error.

        Other exceptions than FormigaError are faults of formiga: they end the task too, and are raised to the caller.
        """
        self._running += 1
        try:
            if self._running > limits.DEPTH:
                raise ConsoleError(f"commands start each other more than {limits.DEPTH} deep.")
            if first is not None:
                task.push(first())
            if task.waits is None or task.waits():
                task.waits = None
                self._work(task)
        except FormigaError as wrong:
            message = placed(str(wrong), task.where)
            task.end(message)
            self.complain(message)
        except BaseException:
            task.end("ended by a mistake inside formiga")
            raise
        finally:
            self._running -= 1

    def _work(self, task: Task) -> None:
        for _ in range(limits.BUDGET):
            found = task.next()
            if found is None:
                task.end()
                return
            command, frame = found
            task.where = command.where
            began = time.monotonic()
            self._execute(task, frame, command)
            if not frame.trusted:
                self._charge(began)
            if task.done:  # a command of this task stopped it
                return
            if task.waits is not None:
                if sum(one.waits is not None for one in self.tasks) > limits.TASKS:
                    raise ConsoleError(f"{limits.TASKS} scripts are waiting, the most that is allowed. `stop` ends them.")
                return
        if task.frames:
            raise ConsoleError(f"{limits.BUDGET} commands without a `wait`, the most that is allowed. Does something call "
                               "itself? Then put a `wait` of more than 0 s into it.")
        task.end()

    def _charge(self, began: float) -> None:
        """A world's own text has worked since `began`. All of it together owes time, which runs off while others work."""
        now = time.monotonic()
        self._owed = max(0.0, self._owed - limits.SHARE * (began - self._charged)) + now - began
        self._charged = now
        if self._owed > limits.SECONDS:
            raise ConsoleError(f"a world's own text works too long: more than {limits.SECONDS:g} s, and more than "
                               f"{100 * limits.SHARE:g} % of all time.")

    def _execute(self, task: Task, frame: Frame, command: Command) -> None:
        words, trusted = self._expand(command.words, frame)
        name, args = words[0], words[1:]
        spec = self.commands.get(name)
        if spec is not None:
            if spec.files and not trusted:
                raise ConsoleError(f"'{name}' works on files; a world's own text may not. Type it yourself, or put it into a "
                                   "script that you run with `exec`.")
            spec.run(Call(args, command.where, task.sender, trusted, self, spec, task))
            return
        alias = self.aliases.get(name)
        if alias is None:
            raise self.no_command(name)
        if len(args) != alias.takes:
            takes = f"{alias.takes} argument{'s' * (alias.takes != 1)}" if alias.takes else "no arguments"
            raise ConsoleError(f"the alias '{name}' takes {takes}, not {len(args)}. It is: {brief(alias.text)}")
        task.push(Frame(alias.commands, trusted and alias.trusted, args))

    def _expand(self, words: Sequence[Word], frame: Frame) -> tuple[list[str], bool]:
        """The words with their variables filled in, and whether everything in them is trusted."""
        trusted, left, result = frame.trusted, limits.EXPANDED, []
        for word in words:
            parts = []
            for part in word:
                if isinstance(part, Variable):
                    value = self._argument(part.name, frame) if part.name.isdecimal() else self.value(part.name)
                    trusted = trusted and value.trusted
                    part = value.text
                parts.append(part)
                left -= len(part)
                if left < 0:  # before it is joined: a variable may be long, and used often
                    raise ConsoleError(f"with its variables filled in the command has more than {limits.EXPANDED} characters, "
                                       "the most that is allowed.")
            result.append("".join(parts))
        return result, trusted

    def _argument(self, name: str, frame: Frame) -> Value:
        if int(name) > len(frame.args):
            raise ConsoleError(f"there is no argument ${name} here. Only an alias has arguments; when you define one, '...' "
                               f"keeps ${name} for later.")
        return Value(frame.args[int(name) - 1], frame.trusted)

    def _forget_done(self) -> None:
        self.tasks[:] = [task for task in self.tasks if not task.done]

    # -- keys
    def press(self, key: str, sender: Hashable = None) -> Task | None:
        """A key goes down. None if nothing is bound to it, or if it is down already and only repeats."""
        known = known_key(key)
        bind = self.binds.get(str(known)) if known else None
        if known is None or bind is None or (sender, known.base) in self._held:
            return None
        task = Task(bind.where, sender, bind.trusted)
        self._held[sender, known.base] = Held(task, _releases(bind), bind.trusted)
        return self._start(task, lambda: Frame(bind.commands, bind.trusted))

    def release(self, key: str, sender: Hashable = None) -> Task | None:
        """A key goes up: what its +name started ends, and -name runs, if there is one.

        With which other keys it is held does not matter: Shift may have been let go before.
        """
        known = known_key(key)
        return self._let_go(sender, known) if known else None

    def release_all(self, sender: Hashable = None) -> None:
        """All keys of one window go up: it lost the keyboard focus, or closed."""
        for owner, base in list(self._held):
            if owner == sender:
                self._let_go(sender, Key((), base))

    def _let_go(self, sender: Hashable, key: Key) -> Task | None:
        held = self._held.pop((sender, key.base), None)
        if held is None or not held.release:
            return None
        held.task.stop()
        known = [command for command in held.release if command.name in self.commands or command.name in self.aliases]
        task = Task(held.task.where, sender, held.trusted)
        return self._start(task, lambda: Frame(known, held.trusted))

    # -- typing
    def complete(self, text: str) -> list[str]:
        """What the last word of a half-typed line may become. Each replaces text[console.last_word(text):]."""
        return completions(self, text)

    def last_word(self, text: str) -> int:
        """Where the last word of a half-typed line begins."""
        try:
            return half_typed(text)[2]
        except ConsoleError:
            return len(text)

    def _remember(self, text: str) -> None:
        line = text.strip()
        if line and len(line) <= limits.LINE and self.history[-1:] != [line]:
            self.history.append(line)
            del self.history[: -limits.HISTORY]


def check_name(name: str, where: Where | None = None) -> None:
    """Complain about what cannot be the name of an alias."""
    if not _NAME.fullmatch(name) or len(name) > limits.NAME:
        raise ConsoleError(f"'{brief(name)}' cannot be the name of an alias: letters, digits, _ and -, "
                           f"perhaps with a + in front, at most {limits.NAME} characters.", where)


def _releases(bind: Definition) -> list[Command]:
    """'+forward 1; echo go' -> '-forward 1'."""
    return [Command(((f"-{command.name[1:]}",), *command.words[1:]), command.where)
            for command in bind.commands if command.name is not None and command.name.startswith("+")]


def _place(where: str | Where) -> Where:
    return where if isinstance(where, Where) else Where(where, 1)


def _written(value: object) -> str:
    """12.300000000000001 -> '12.3': a variable is for people."""
    if isinstance(value, float):
        return f"{value:.10g}" if math.isfinite(value) else str(value)
    return str(value)
