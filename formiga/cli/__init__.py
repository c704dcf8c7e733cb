"""The command line: one file per command. A command parses, calls the library, prints.

Exit codes: 0 done, 1 a study missed its numbers, a motion exploded, a team or a program outside did not go on to the end or
the page failed, 2 bad input, 70 a fault of formiga, 130 interrupted, 143 ended by SIGTERM, 129 by the end of its terminal.
Whatever goes wrong is one line on stderr; `formiga --debug COMMAND ...` shows the traceback above.
Commands import what is heavy inside their functions, so that `formiga --help` is quick.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from textwrap import shorten
from typing import Any, NoReturn

import click

from formiga.errors import FormigaError

COMMANDS = ("run", "view", "export", "match", "tournament", "evolve", "sweep", "check", "list", "schema", "bench", "study",
            "sample")
EXPLODED = UNFINISHED = PAGE_FAILED = 1
FAULT = 70                                                       # EX_SOFTWARE of sysexits.h
LONGEST = 200                                                    # characters of an error of another library
SIGNALLED = 128                                                  # and the signal's number, as shells count them
INTERRUPTED, BROKEN_PIPE = SIGNALLED + 2, SIGNALLED + 13         # by SIGINT, which is Ctrl-C; by SIGPIPE
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)      # not our mistake: there is no room for the output


class Ended(BaseException):
    """A signal other than Ctrl-C has ended a command, which has closed everything as after Ctrl-C."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Formiga(click.Group):
    """Finds commands by name, and turns what went wrong into one line and an exit code."""

    debug = False  # whether the traceback is shown, too

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the story, not of the alphabet."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command in the file of that name."""
        return import_module(f"formiga.cli.{cmd_name}").command if cmd_name in COMMANDS else None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. A reader that closes our output early, as `| head` does, has seen enough."""
        self.debug = bool(ctx.params.get("debug"))
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            silence()
            return BROKEN_PIPE
        return result

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Run a command and exit with its code."""
        try:
            code = super().main(args, prog_name or "formiga", **{**extra, "standalone_mode": False})
        except click.ClickException as wrong:
            wrong.show()
            code = 2
        except (click.Abort, KeyboardInterrupt):
            code = complain("interrupted", INTERRUPTED)
        except Ended as wrong:
            code = complain("interrupted", wrong.code)
        except (Exception, SystemExit) as wrong:
            if isinstance(wrong, SystemExit) and not _own_line(wrong):
                raise
            if self.debug:
                traceback.print_exception(wrong)
            code = blame(wrong, self.debug)
        sys.exit(code or 0)


def complain(message: str, code: int = 2) -> int:
    """One line on stderr; returns the exit code."""
    with suppress(OSError):
        click.echo(f"formiga: {printable(message)}", err=True)
    return code


def printable(text: str) -> str:
    """The text with characters that would command a terminal, or turn the text around, as '\\x9b': it may quote any file."""
    return "".join(each if each.isprintable() or each in "\n\t" else each.encode("unicode_escape").decode() for each in text)


def _own_line(error: BaseException) -> str | None:
    own = sys.modules.get("formiga.world.own")
    return own.own_line(error) if own else None


def blame(error: BaseException, debug: bool = False) -> int:
    """One line that says what went wrong: in the input, in the user's own code, in the machine, or in formiga."""
    if isinstance(error, FormigaError):
        return complain(str(error))
    line = _own_line(error)
    if line is not None:
        return complain(line)
    if isinstance(error, MemoryError):
        return complain(f"not enough memory ({error or 'out of memory'}); try fewer worlds or robots.")
    if isinstance(error, OSError) and error.errno in FULL:
        silence()
        return complain(f"the output cannot be written ({error.strerror}).")
    last = traceback.extract_tb(error.__traceback__)[-1]
    words = shorten(f"{type(error).__name__}: {error}", LONGEST, placeholder=" ...")
    hint = "" if debug else " `formiga --debug COMMAND ...` shows the traceback; please report it."
    return complain(f"a fault of formiga, not of your input: {words} ({os.path.basename(last.filename)}:{last.lineno}).{hint}",
                    FAULT)


def silence() -> None:
    """Our output has no reader any more: let what is still buffered go nowhere."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=Formiga, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="formiga")
@click.option("--debug", is_flag=True, envvar="FORMIGA_DEBUG", help="Shows the traceback of an error; also FORMIGA_DEBUG=1.")
def cli(debug: bool) -> None:
    """A multi-robot simulation laboratory: describe a world, run it, record it, compare it with what was published."""


def main() -> NoReturn:
    """The console script."""
    cli.main()


__all__ = ["cli", "main"]
