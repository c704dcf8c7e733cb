"""formiga check: is a world file right?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from formiga.cli import complain, options
from formiga.errors import FormigaError

if TYPE_CHECKING:
    from formiga.world.model import World


@click.command("check")
@click.argument("world", nargs=-1, required=True)
@options.engine
@options.settings
@options.own_elements
def command(world: tuple[str, ...], engine: str | None, settings: dict[str, str], own: tuple[str, ...]) -> int:
    """Say whether world files are right.

    Reads each WORLD, places its robots, reads every sensor and lets every controller decide once. A complaint says
    file and line, what is wrong and what is allowed. The exit code is 2 if any world is wrong.
    """
    from formiga import lab

    options.load(own)
    code = 0
    for path in world:
        try:
            with lab.own_mistakes():
                described = lab.read_world(path, **settings)
                lab.check_world(described, engine)
        except FormigaError as wrong:
            code = complain(str(wrong))
        else:
            click.echo(f"{click.format_filename(path)}: ok: {describe(described, engine)}")
    return code


def describe(world: World, engine: str | None = None) -> str:
    """'20 robots in 1 group, 6 obstacles, planar'."""
    from formiga.world import maps, model

    bodies = (model.Wall, model.Rectangle, model.Polygon, model.Cylinder, maps.Map)
    obstacles = sum(thing.count if isinstance(thing, model.Cylinders) else isinstance(thing, bodies)
                    for thing in world.things)
    return (f"{counted(world.robots, 'robot')} in {counted(len(world.groups), 'group')}, "
            f"{counted(obstacles, 'obstacle')}, {engine or world.engine}")


def counted(number: int, thing: str) -> str:
    """'1 robot', '2 robots'."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
