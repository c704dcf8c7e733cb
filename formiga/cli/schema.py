"""formiga schema: the XML schema, for editors."""

from __future__ import annotations

import click

from formiga.cli import options


@click.command("schema")
@click.option("--out", metavar="FILE", help="Into a file instead of to the screen.")
@options.own_elements
def command(out: str | None, own: tuple[str, ...]) -> None:
    """Print the XML schema of world files.

    Editors complete and check with it.
    """
    from formiga import lab  # noqa: F401  registers all sensors and controllers
    from formiga.files import write_whole
    from formiga.world.brought import bring_all
    from formiga.world.schema import xsd

    options.load(own)
    bring_all()
    if out is None:
        click.echo(xsd(), nl=False)
    else:
        write_whole(out, xsd())
