"""The console language: typed lines, script files, binds and aliases. It knows no simulation.

    parse(text, where)      text -> commands, or one ConsoleError with its line
    quote(words)            words -> text that parses to them
    canonical_key(text)     the one name of a key
    Console                 runs texts in simulated time; CommandSpec and Call are how others add commands
"""

from __future__ import annotations

from formiga.console.call import Call, CommandSpec
from formiga.console.console import Console, check_name
from formiga.console.definitions import Definition
from formiga.console.errors import ConsoleError
from formiga.console.keys import canonical_key
from formiga.console.parse import Command, Variable, parse, quote
from formiga.console.script import read_script
from formiga.console.task import Task

__all__ = ["Call", "Command", "CommandSpec", "Console", "ConsoleError", "Definition", "Task", "Variable", "canonical_key",
           "check_name", "parse", "quote", "read_script"]
