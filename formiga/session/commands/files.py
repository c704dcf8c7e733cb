"""Commands that read and write files: load, save, record, screenshot, export, settings. A world's own text may use none."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from formiga import lab
from formiga.console import Call, CommandSpec
from formiga.session import saving, settings
from formiga.session.commands import arguments
from formiga.session.film import film_from_above
from formiga.view.picture import KINDS, Picture

if TYPE_CHECKING:
    from formiga.session.session import Session

MOST_NAMES = 10_000


def commands(session: Session) -> list[CommandSpec]:
    """Those of a session."""

    def load(call: Call) -> None:
        call.least(1)
        parameters, name = arguments.pairs(call, call.args[1:]), call.args[0]
        if lab.named_world(name) is None:
            name = str(call.path(0, "WORLD"))
        session.open(name, session.seed if session.replay is None else 0, parameters)
        call.say(f"{session.world.name}: {session.world.doc}" if session.world.doc else session.world.name)

    def save(call: Call) -> None:
        call.least(1)
        call.most(2)
        path = call.path(0, "FILE")
        if path.suffix != ".xml":
            raise call.wrong(f"'{path}' does not end in .xml, as a world file does.")
        call.say(saving.save(session, path, call.word(1, "HOW", ("force",), default="") == "force"))

    def record(call: Call) -> None:
        call.most(1)
        if call.args == ["off"]:
            if session.recorder is None:
                call.say("nothing is being recorded.")
            session.tape.close()
            return
        path = call.path(0, "FILE") if call.args else unused(session.world.name, ".parquet")
        if path.suffix != ".parquet":
            raise call.wrong(f"'{path}' does not end in .parquet, as a recording does.")
        session.record(path)
        call.say(f"recording into {path}; `record off` ends it")

    def screenshot(call: Call) -> None:
        call.most(1)
        path = call.path(0, "FILE") if call.args else None
        if path is not None and path.suffix not in KINDS:
            raise call.wrong(f"'{path}' must end in {', '.join(KINDS)}.")
        windows = session.windows if path is None or path.suffix == ".png" else None
        if windows is not None and windows.screenshot(path, call.sender):
            return
        picture = Picture(session.world, path or unused(session.world.name, ".png"))
        picture([session.sim])
        picture.save()
        call.say(f"saved {picture.path}, drawn from above: no window is open")

    def export(call: Call) -> None:
        call.exactly(1)
        if session.windows is None:
            call.say("nothing is being exported." if call.args == ["off"] else film_from_above(session, call.path(0, "FILE")))
            return
        session.windows.export(None if call.args == ["off"] else call.path(0, "FILE"), call.sender)

    def keep(call: Call) -> None:
        call.most(1)
        if call.args:
            call.word(0, "WHAT", ("save",))
            call.say(f"saved {settings.save(call.console)}")
        else:
            call.say(f"{settings.path()}: a script that every session runs first. `settings save` writes your binds and "
                     "aliases there.")

    def worlds(args: list[str]) -> Iterable[str]:
        return lab.known_worlds(hear=lambda wrong: None) if len(args) == 1 else ()

    return [
        CommandSpec("load", "load WORLD|RECORDING [NAME=VALUE...]", LOAD, load, files=True, complete=worlds),
        CommandSpec("save", "save FILE.xml [force]", SAVE, save, files=True,
                    complete=lambda args: ("force",) if len(args) == 2 else ()),
        CommandSpec("record", "record [FILE.parquet|off]", "Records from now on, until `record off`.", record, files=True,
                    complete=lambda args: ("off",)),
        CommandSpec("screenshot", "screenshot [FILE.png]", "What the window shows, as a file; without FILE as a download.",
                    screenshot, files=True),
        CommandSpec("export", "export FILE|off", EXPORT, export, files=True, complete=lambda args: ("off",)),
        CommandSpec("settings", "settings [save]", "Your own settings file, and how to write it.", keep, files=True,
                    complete=lambda args: ("save",)),
    ]


SAVE = """Writes the world as it stands now, robots where they are.
In space they are put down upright and at rest, with open grippers; solids and joints are as they are.
Comments, params and arithmetic of the world's file are kept where nothing changed.
A file that formiga did not write, or that was edited since, is replaced only with force."""

LOAD = """Opens a shipped world, a study's, a world file or a recording.
load corral robots=30 replaces a parameter of the world, load run.parquet world=3 plays that world of a batch."""

EXPORT = """A recording, or what is seen now, as .html that opens by itself; a recording also as .mp4, .webm or .gif.
It is made beside the run, and a bar shows how far it is; export off stops it. A film is painted by the window, or drawn from
above if none is open."""


def unused(name: str, suffix: str) -> Path:
    """A name in the current folder that nothing has yet: corral-1.parquet."""
    for number in range(1, MOST_NAMES):
        path = Path(f"{name}-{number}{suffix}")
        if not path.exists():
            return path
    return Path(f"{name}{suffix}")
