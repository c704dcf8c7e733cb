"""The commands of the language itself. Each gets a Call; its usage and doc are what `help` shows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from formiga.console.call import Call, CommandSpec
from formiga.console.errors import ConsoleError, brief, listed
from formiga.console.keys import NAMED, canonical_key
from formiga.console.parse import parse, quote
from formiga.console.script import SUFFIX, read_script
from formiga.console.task import Frame
from formiga.errors import suggest

if TYPE_CHECKING:
    from formiga.console.console import Console


def language(console: Console) -> list[CommandSpec]:
    """The commands that every console has. They complete what this console knows."""

    def names(args: list[str]) -> Iterable[str]:
        return [*console.commands, *console.aliases] if len(args) == 1 else ()

    def aliases(args: list[str]) -> Iterable[str]:
        return console.aliases if len(args) == 1 else ()

    def keys(args: list[str]) -> Iterable[str]:
        if len(args) == 1:
            return [*console.binds, *NAMED]
        return names(args[1:])

    def bound(args: list[str]) -> Iterable[str]:
        return console.binds if len(args) == 1 else ()

    def variables(args: list[str]) -> Iterable[str]:
        return console.variables if len(args) == 1 else ()

    return [
        CommandSpec("help", "help [NAME]", "Lists the commands, or explains one.", help_, complete=names),
        CommandSpec("echo", "echo TEXT...", "Says the text. $name is filled in: echo \"it is $time s\".", echo),
        CommandSpec("alias", "alias [NAME [TEXT]]", ALIAS, alias, complete=aliases),
        CommandSpec("unalias", "unalias NAME", "Forgets an alias.", unalias, complete=aliases),
        CommandSpec("bind", "bind [KEY [TEXT]]", BIND, bind, complete=keys),
        CommandSpec("unbind", "unbind KEY", "Forgets what a key runs.", unbind, complete=bound),
        CommandSpec("var", "var [NAME [VALUE]]", VAR, var, complete=variables),
        CommandSpec("wait", "wait SECONDS", WAIT, wait),
        CommandSpec("exec", "exec FILE", EXEC, exec_, files=True, complete=scripts),
        CommandSpec("stop", "stop", "Ends all scripts that are waiting, and goes on with its own line.", stop),
    ]


ALIAS = """Gives a text a name that runs it; without TEXT shows one, without NAME all.
alias dark "disable lamp; echo lights out"
alias go 'drive 0 $1 $2' takes two arguments; '...' keeps them for later, "..." would fill them in now.
alias blink 'toggle lamp; wait 1; blink' runs for ever; `stop` ends it.
An alias +name that a key is bound to runs when the key goes down, and -name, if there is one, when it goes up."""

BIND = """Runs a text when a key is pressed; without TEXT shows one bind, without KEY all.
bind Space pause
bind Ctrl+r "reset; echo again"
bind w +forward runs +forward when w goes down; when it goes up, what still runs of it ends, and -forward runs."""

VAR = """Gives a variable a value, to be used as $NAME or ${NAME}; without VALUE shows one, without NAME all."""

WAIT = """Lets simulated time pass before the next command of this line or script.
It goes on after the first step that is at least so much later; wait 0 does nothing."""

EXEC = """Runs the commands of a file: beside the script that says so, or in the current folder."""


def help_(call: Call) -> None:
    call.most(1)
    console = call.console
    if not call.args:
        width = max(len(spec.usage) for spec in console.commands.values())
        for name in sorted(console.commands):
            call.say(f"{console.commands[name].usage:{width}}  {console.commands[name].summary}")
        if console.aliases:
            call.say(f"aliases: {listed(sorted(console.aliases))}")
        return
    name = call.args[0]
    if name in console.commands:
        call.say(console.commands[name].usage)
        for line in console.commands[name].doc.strip().splitlines():
            call.say(f"  {line.strip()}")
    elif name in console.aliases:
        _show_alias(call, name)
    else:
        raise console.no_command(name)


def echo(call: Call) -> None:
    call.say(call.rest(0))


def alias(call: Call) -> None:
    if not call.args:
        for name in sorted(call.console.aliases):
            _show_alias(call, name)
        if not call.console.aliases:
            call.say("there are no aliases.")
    elif len(call.args) == 1:
        _known(call, call.args[0], call.console.aliases, "alias")
        _show_alias(call, call.args[0])
    else:
        call.console.alias(call.args[0], _text(call), call.where, call.trusted)


def unalias(call: Call) -> None:
    call.exactly(1)
    _known(call, call.args[0], call.console.aliases, "alias")
    call.console.aliases.drop(call.args[0], call.trusted)


def bind(call: Call) -> None:
    if not call.args:
        for key in sorted(call.console.binds):
            _show_bind(call, key)
        if not call.console.binds:
            call.say("no key is bound.")
    elif len(call.args) == 1:
        _show_bind(call, _bound(call))
    else:
        call.console.bind(call.args[0], _text(call), call.where, call.trusted)


def unbind(call: Call) -> None:
    call.exactly(1)
    call.console.binds.drop(_bound(call), call.trusted)


def var(call: Call) -> None:
    call.most(2)
    console = call.console
    if not call.args:
        for name in console.known_variables():
            call.say(quote(["var", name, console.value(name).text]))
    elif len(call.args) == 1:
        call.say(quote(["var", call.args[0], console.value(call.args[0]).text]))
    else:
        console.set_variable(call.args[0], call.args[1], call.trusted)


def wait(call: Call) -> None:
    call.exactly(1)
    call.wait(call.number(0, "SECONDS", least=0))


def exec_(call: Call) -> None:
    call.exactly(1)
    path = call.path(0, "FILE")
    call.task.push(Frame(parse(read_script(path), str(path)), call.trusted))


def stop(call: Call) -> None:
    call.most(0)
    for task in list(call.console.tasks):
        if task is not call.task and (call.trusted or not task.trusted):  # a world's text ends only its own
            task.stop()


def scripts(args: list[str]) -> Iterable[str]:
    """Script files and folders that a half-typed name may mean; at most a hundred."""
    if len(args) != 1:
        return []
    folder = os.path.dirname(args[0])
    try:
        with os.scandir(folder or ".") as entries:
            found = sorted((entry.name, entry.is_dir()) for entry in entries if not entry.name.startswith("."))
    except (OSError, ValueError):
        return []
    names = [name + "/" * is_folder for name, is_folder in found if is_folder or Path(name).suffix == SUFFIX]
    return [name for name in (os.path.join(folder, name) for name in names) if name.startswith(args[0])][:100]


def _text(call: Call) -> str:
    """The text behind a name or key: one quoted word is a program, several words are one command with these words."""
    return call.args[1] if len(call.args) == 2 else quote(call.args[1:])


def _show_alias(call: Call, name: str) -> None:
    call.say(f"alias {quote([name, call.console.aliases[name].text])}")


def _show_bind(call: Call, key: str) -> None:
    call.say(f"bind {quote([key, call.console.binds[key].text])}")


def _bound(call: Call) -> str:
    key = canonical_key(call.args[0])
    _known(call, key, call.console.binds, "bind of")
    return key


def _known(call: Call, name: str, table: Mapping[str, object], what: str) -> None:
    if name not in table:
        there = f" There are: {listed(sorted(table))}." if table else ""
        raise ConsoleError(f"there is no {what} '{brief(name)}'.{suggest(name, table)}{there}", call.where)
