"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any, TypeVar

import click

from formiga.errors import FormigaError

F = TypeVar("F", bound=Callable[..., Any])


def gather(**groups: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Hand options over in groups: those with the names of a dataclass's fields arrive as one such object.

        @click.option("--jobs")
        @click.option("--cluster")
        @gather(workers=Workers)                       # class Workers: jobs, cluster
        def command(workers): ...
    """
    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def gathered(**given: Any) -> Any:
            packed = {name: kind(**{each.name: given.pop(each.name) for each in fields(kind)}) for name, kind in groups.items()}
            return command(**given, **packed)

        return gathered

    return decorate


def own_elements(command: F) -> F:
    """--with FILE.py, repeatable."""
    return click.option("--with", "own", metavar="FILE.py", multiple=True,
                        help="Your own sensors, controllers ...: this Python file is run first. Repeatable.")(command)


def settings(command: F) -> F:
    """--set name=value, repeatable."""
    return click.option("--set", "settings", metavar="NAME=VALUE", multiple=True, callback=_pairs,
                        help="Replaces the value of a <param> of the world. Repeatable.")(command)


def rosbridge(command: F) -> F:
    """--rosbridge, with or without an address."""
    return click.option("--rosbridge", metavar="[HOST:]PORT", is_flag=False, flag_value="9090",
                        help="Serves ROS tools (roslibpy, roslibjs, Foxglove) over a websocket; alone: port 9090 of this "
                             "machine.")(command)


def programs(command: F) -> F:
    """--program GROUP=COMMAND, repeatable."""
    return click.option("--program", "programs", metavar="GROUP=COMMAND", multiple=True, callback=_programs,
                        help="Starts this program, which drives the group with a <remote> of that name. Repeatable.")(command)


def engine(command: F) -> F:
    """--engine planar|spatial."""
    return click.option("--engine", metavar="E",
                        help="Instead of the world's own: planar, or spatial for three dimensions.")(command)


def json_file(command: F) -> F:
    """--json FILE."""
    return click.option("--json", "json_path", metavar="FILE", help="Also writes the results as JSON.")(command)


def _pairs(ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"'{text}' is not NAME=VALUE, such as robots=30.", ctx, parameter)
        if name in pairs:
            raise click.BadParameter(f"'{name}' is set twice.", ctx, parameter)
        pairs[name] = value
    return pairs


def _programs(ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in given:
        name, equals, command = text.partition("=")
        if not equals or not name or not command.strip():
            raise click.BadParameter(f"'{text}' is not GROUP=COMMAND, such as swarm=\"./driver --fast\".", ctx, parameter)
        if name in pairs:
            raise click.BadParameter(f"'{name}' is given two programs.", ctx, parameter)
        pairs[name] = command
    return pairs


def load(own: tuple[str, ...]) -> None:
    """Run the files of --with."""
    from formiga import lab

    for file in own:
        lab.load_elements(file)


def refuse_unwritable(*paths: str | None) -> None:
    """Say now, not after a long run, that a result could not be written."""
    import os

    from formiga.files import whole_file

    for path in paths:
        if path is None:
            continue
        if os.path.isdir(path):
            raise FormigaError(f"{path}: is a folder; a file is needed.")
        try:
            with whole_file(path) as beside:
                beside.touch()
                raise _Writable
        except _Writable:
            continue


class _Writable(Exception):
    """It can be written; leave it as it was."""
