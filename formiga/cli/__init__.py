"""The command line: one file per command. A command parses, calls the library, prints.

Exit codes: 0 done, 1 a study missed its numbers or a motion exploded, 2 bad input, 130 interrupted. Bad input is one line on
stderr.
Commands import what is heavy inside their functions, so that `formiga --help` is quick.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

import click

from formiga.errors import FormigaError

COMMANDS = ("run", "view", "match", "tournament", "evolve", "check", "list", "schema", "bench", "study")  # as in the help
EXPLODED = 1
INTERRUPTED, BROKEN_PIPE = 130, 141                              # as shells count them: 128 + the signal
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)      # not our mistake: there is no room for the output


class Formiga(click.Group):
    """Finds commands by name, and turns what went wrong into one line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the story, not of the alphabet."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command in the file of that name."""
        return import_module(f"formiga.cli.{cmd_name}").command if cmd_name in COMMANDS else None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Who closes our output early, as `| head` does, has seen enough."""
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
        except FormigaError as wrong:
            code = complain(str(wrong))
        except MemoryError as wrong:
            code = complain(f"not enough memory ({wrong or 'out of memory'}); try fewer worlds or robots.")
        except OSError as wrong:
            if wrong.errno not in FULL:
                raise
            silence()
            code = complain(f"the output cannot be written ({wrong.strerror}).")
        except Exception as wrong:
            code = complain(blame(wrong))
        sys.exit(code or 0)


def complain(message: str, code: int = 2) -> int:
    """One line on stderr; returns the exit code."""
    with suppress(OSError):
        click.echo(f"formiga: {message}", err=True)
    return code


def blame(error: Exception) -> str:
    """The line of the user's own file that raised an error; an error of ours goes on, with its traceback."""
    lab = sys.modules.get("formiga.lab")
    line = lab.own_line(error) if lab else None
    if line is None:
        raise error
    return str(line)


def silence() -> None:
    """Nobody reads our output any more: let what is still buffered go nowhere."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=Formiga, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="formiga")
def cli() -> None:
    """A multi-robot simulation laboratory: describe a world, run it, record it, compare it with what was published."""


def main() -> NoReturn:
    """The console script."""
    cli.main()


__all__ = ["cli", "main"]
