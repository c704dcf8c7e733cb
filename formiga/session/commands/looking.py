"""Commands that change what one sees, and nothing else: list, info, events, select, overlay, layer, plot, camera, follow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from formiga import lab
from formiga.console import Call, CommandSpec
from formiga.loop import EVENTS
from formiga.session import names
from formiga.session.commands import arguments
from formiga.session.plots import MOST, quantity
from formiga.session.values import describe
from formiga.view.overlays import OVERLAYS
from formiga.world.elements import SOURCES, of, registered
from formiga.world.model import Group

if TYPE_CHECKING:
    from formiga.session.session import Session

LISTS = ("robots", "things", "worlds", "sensors", "links", "estimators", "controllers", "kinds", "binds", "aliases", "cameras",
         "overlays")


def commands(session: Session) -> list[CommandSpec]:
    """Those of a session."""

    def list_(call: Call) -> None:
        call.most(1)
        what = call.word(0, "SECTION", LISTS, default="all")
        for section in (("robots", "things") if what == "all" else (what,)):
            for each in listing(session, section):
                call.say(each)

    def info(call: Call) -> None:
        call.most(1)
        call.say(describe(session, call.args[0] if call.args else None))

    def events(call: Call) -> None:
        call.most(1)
        count = call.whole(0, "N", least=1, most=EVENTS, default=10)
        log = session.sim.log
        for event in list(log.last)[-count:]:
            call.say(f"{event.time:g} s: {event.text}")
        call.say(f"in all: {log.words()}" if log.counts else
                 "a recording keeps no events." if session.replay else "nothing has happened yet.")

    def select(call: Call) -> None:
        call.exactly(1)
        session.selected = -1 if call.args[0] == "none" else names.robot(session.world, call.args[0])

    def overlay(call: Call) -> None:
        call.least(1)
        call.most(2)
        name = call.word(0, "NAME", (*OVERLAYS, "none"))
        if name == "none":
            call.most(1)
            session.overlays.clear()
        elif call.switch(1, "the switch", default=name not in session.overlays):
            session.overlays.add(name)
        else:
            session.overlays.discard(name)

    def layer(call: Call) -> None:
        call.most(2)
        session.layers.marks()  # also before the first picture
        known = session.layers.switches()
        if not call.args:
            call.say(", ".join(f"{name}: {'on' if on else 'off'}" for name, on in known.items()) or "nothing is drawn.")
            return
        if call.args[0] in ("all", "none") and call.args[0] not in known:
            call.most(1)
            for name in known:
                session.layers.switch(name, call.args[0] == "all")
            return
        name = call.word(0, "NAME", (*known, "all", "none"))
        session.layers.switch(name, call.switch(1, "the switch", default=not known[name]))

    def plot(call: Call) -> None:
        call.most(2)
        if not call.args:
            call.say(", ".join(session.plots) or "nothing is plotted.")
            return
        path = call.args[0]
        if path == "none":
            call.most(1)
            session.plots.clear()
        elif call.switch(1, "the switch", default=path not in session.plots):
            quantity(session, path)
            if path not in session.plots and len(session.plots) == MOST:
                raise call.wrong(f"there are {MOST} plots already; plot none removes them.")
            session.plots = [*(each for each in session.plots if each != path), path]
        else:
            session.plots = [each for each in session.plots if each != path]

    def quantity_names(args: list[str]) -> Iterable[str]:
        if len(args) > 1:
            return ("on", "off")
        here = arguments.completed_quantities(session, args[0])
        return [*session.plots, *here, "none"]

    def camera(call: Call) -> None:
        call.most(2)
        if session.windows is None:
            call.say("no page is open, so there is no camera.")
        elif not call.args:
            call.say(", ".join(session.windows.cameras()))
        elif call.args[0] == "save":
            session.windows.save_camera(call.word(1, "NAME"), call.sender)
        else:
            call.most(1)
            if call.args[0] == "eyes":
                if session.selected < 0:
                    raise call.wrong("no robot is selected; click one, or `follow ROBOT eyes`.")
                session.windows.follow(session.selected, True, call.sender)
            else:
                session.windows.camera(call.args[0], call.sender)

    def follow(call: Call) -> None:
        call.most(2)
        if call.args[:1] == ["off"]:
            call.most(1)
            go_with(None, False, call)
            return
        if call.args and call.args[0] != "none":  # as $selected is without a selection
            robot = names.robot(session.world, call.args[0])
        elif not call.args and session.selected >= 0:
            robot = session.selected
        elif session.windows is None:
            call.say("no page is open, so there is no camera.")
            return
        else:
            raise call.wrong("no robot is selected; click one, or name it.")
        how = call.word(1, "HOW", ("behind", "eyes", "first"), default="behind")  # first: what eyes were called before
        go_with(robot, how != "behind", call)

    def go_with(robot: int | None, eyes: bool, call: Call) -> None:
        if call.sender is None:  # a script: it may run before the first window opens
            session.first_followed = None if robot is None else (robot, eyes)
        if session.windows is not None:
            session.windows.follow(robot, eyes, call.sender)

    def robots(args: list[str]) -> Iterable[str]:
        return [*(group.name for group in session.world.groups),
                *(names.robot_name(session.world, robot) for robot in range(min(session.world.robots, 200))), "none", "off"]

    def cameras(args: list[str]) -> Iterable[str]:
        return [*session.windows.cameras(), "eyes"] if session.windows is not None else ()

    return [
        CommandSpec("list", "list [SECTION]", f"Lists what there is. Sections: {', '.join(LISTS)}.", list_,
                    complete=lambda args: LISTS),
        CommandSpec("info", "info [NAME]", "Everything about a robot, a group, a thing, or the run.", info,
                    complete=lambda args: arguments.completed_names(session.world, args[-1])),
        CommandSpec("events", "events [N]", "What happened in space: grips, broken joints, zones. The last 10, or N.", events),
        CommandSpec("select", "select ROBOT|none", "Shows a robot in the inspector.", select, complete=robots),
        CommandSpec("overlay", "overlay NAME [on|off]", f"Shows or hides {', '.join(OVERLAYS)}; none hides all.", overlay,
                    complete=lambda args: (*OVERLAYS, "none") if len(args) == 1 else ("on", "off")),
        CommandSpec("layer", "layer [NAME [on|off]]", LAYER, layer,
                    complete=lambda args: (*session.layers.names, "all", "none") if len(args) == 1 else ("on", "off")),
        CommandSpec("plot", "plot [NAME.QUANTITY [on|off]]", PLOT, plot, complete=quantity_names),
        CommandSpec("camera", "camera [NAME|save NAME]", CAMERA, camera, complete=cameras),
        CommandSpec("follow", "follow [ROBOT [behind|eyes]] | follow off", FOLLOW, follow, complete=robots),
    ]


LAYER = """Shows or hides a layer of what code has drawn, such as odometry; or all of them, or none.
Without an argument, lists them. New layers are shown."""

PLOT = """Plots a quantity over time in the page, under Inspect; without an argument tells which, none removes all.
plot swarm.3.proximity: of a robot, a line for each number; plot swarm.proximity: the mean of its group.
QUANTITY is x, y, heading, speed, left, right, crashes, crashed, alive, a sensor, or what a controller or a sensor of yours
remembers under that name (view.memory); plot ball.vx: of a thing."""

CAMERA = """Looks from there: overview, top, one of the world's, or one that you saved; eyes: as the selected robot does."""

FOLLOW = """Goes with a robot, over its shoulder or with its eyes: from its camera, which turns and leans with it."""


def listing(session: Session, section: str) -> list[str]:
    """The lines of a list."""
    world, console = session.world, session.console
    if section == "robots":
        return [_group(group) for group in world.groups] or ["no robots"]
    if section == "things":
        return [f"{name}: {of(thing).tag}{'' if names.attribute(thing, 'on', True) else ' (off)'}"
                for name, thing in zip(names.thing_names(world), world.things, strict=True)] or ["no things"]
    if section == "worlds":
        wrong: list[str] = []
        known = lab.known_worlds(lambda error: wrong.append(str(error)))
        return [f"{name}: {lab.read_world(name).doc}" for name in known] + wrong
    if section in ("sensors", "links", "estimators", "controllers"):
        return [f"{tag}: {known.doc}" for tag, known in registered(section[:-1]).items()]
    if section == "kinds":
        return [f"{tag}: {known.doc}" for role in ("robot", "thing") for tag, known in registered(role).items()]
    if section == "binds":
        return [f"{key}: {console.binds[key].text}" for key in sorted(console.binds)] or ["no key is bound"]
    if section == "aliases":
        return [f"{name}: {console.aliases[name].text}" for name in sorted(console.aliases)] or ["no aliases"]
    if section == "overlays":
        return [f"{name}: {'on' if name in session.overlays else 'off'}" for name in OVERLAYS]
    return list(session.windows.cameras()) if session.windows is not None else ["no page is open"]


def _group(group: Group) -> str:
    parts = {f"{role}s": ", ".join(source.name for source in group.carried[role]) for role in SOURCES}
    carried = "; ".join(f"{what}: {names or 'none'}" for what, names in parts.items() if names or what == "sensors")
    controller = of(group.controller).tag if group.controller is not None else "none"
    return f"{group.name}: {group.count} x {of(group.robot).tag}; {carried}; controller: {controller}"
