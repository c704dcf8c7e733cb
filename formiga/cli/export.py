"""formiga export: a recording as a film or as one page, without a window."""

from __future__ import annotations

from pathlib import Path

import click

from formiga.cli import options
from formiga.errors import FormigaError


@click.command("export")
@click.argument("recording", metavar="RECORDING")
@click.argument("file", metavar="FILE")
@click.option("--speed", type=click.FloatRange(0.0, min_open=True), default=1.0, show_default=True, metavar="X",
              help="Simulated seconds in a second of film.")
@click.option("--world", "number", default="0", show_default=True, metavar="N", help="Which world of a batch.")
@click.option("--trails", is_flag=True, help="Shows where robots came from.")
@click.option("--hide", metavar="LAYERS", default="", help="Leaves out these layers of drawings, with commas between them.")
@click.option("--quiet", is_flag=True, help="Shows no progress bar.")
@options.own_elements
def command(recording: str, file: str, speed: float, number: str, trails: bool, hide: str, quiet: bool,
            own: tuple[str, ...]) -> None:
    """Turn a recording into a film from above: FILE ends in .mp4, .webm or .gif; or in .html, for a page that opens by itself.

    No browser and no screen is needed. Ctrl-C ends it, and leaves no file.
    """
    from formiga import lab
    from formiga.cli.progress import Display, Signals
    from formiga.session.film import FILMS, film_reel, from_above, recorded, refuse_long, write_film
    from formiga.session.replay import Replay

    path = Path(file)
    if path.suffix not in (".html", *FILMS):
        raise FormigaError(f"'{file}' must end in .html, {', '.join(FILMS)}.")
    options.load(own)
    options.refuse_unwritable(file)
    replay = Replay(lab.read_recording(recording), {"world": number})
    if path.suffix != ".html":
        reel = film_reel(path.suffix)
        refuse_long(replay, speed)
    if replay.drawings.wrong:
        click.echo(f"formiga: {replay.drawings.wrong}", err=True)
    frames = list(recorded(replay, {each.strip() for each in hide.split(",")}))
    with Signals("after this picture") as signals, Display(path.name, replay.seconds / speed, quiet) as show:

        def progress(done: int, of: int) -> None:
            if signals.stop():
                raise click.Abort
            show(done / max(of, 1))

        if path.suffix == ".html":
            from formiga.page.export import html

            click.echo(html(progress, path, frames, speed, {"trails"} if trails else set()))
            return
        count = write_film(path, frames, speed, from_above(path, frames[0], trails), reel, progress)
    click.echo(f"saved {path}, {count} pictures")
