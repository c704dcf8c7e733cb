"""formiga list: what there is."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import click

from formiga.cli import complain, options
from formiga.errors import FormigaError, Hear, left_out, suggest

if TYPE_CHECKING:
    from formiga.world.elements import Element
    from formiga.world.kinds import Kind

ROLES = {"robots": "robot", "sensors": "sensor", "links": "link", "estimators": "estimator", "controllers": "controller",
         "placements": "placement", "things": "thing", "actuators": "actuator", "settings": "setting",
         "fitness": "fitness", "searches": "search", "page": "page"}
SECTIONS = ("worlds", *ROLES, "studies", "benches")


@click.command("list")
@click.argument("section", required=False, type=click.Choice(SECTIONS), metavar="[SECTION]")
@click.argument("name", required=False)
@options.own_elements
def command(section: str | None, name: str | None, own: tuple[str, ...]) -> int:
    """Show what there is, a line each.

    SECTION is worlds, robots, sensors, links, estimators, controllers, placements, things, actuators, settings, fitness,
    searches, page, studies or benches. With a NAME too, everything about that one: `formiga list sensors proximity`.
    What cannot be read is left out and told, and the exit code is then 2.
    """
    options.load(own)
    wrong: dict[str, None] = {}                           # each message once: a study has worlds, too

    def hear(error: FormigaError) -> None:
        wrong[str(error)] = None

    if section is None:
        found = {each: entries(each, hear) for each in SECTIONS}
        click.echo("\n\n".join("\n".join([each, *_table(lines, "  ")]) for each, lines in found.items() if lines))
    elif name is None:
        click.echo("\n".join(_table(entries(section, hear))))
    else:
        known = entries(section, hear)
        if name not in known:
            for each in wrong:
                complain(each)                            # it may be what was asked for
            raise FormigaError(f"there is no '{name}' among the {section}.{suggest(name, known)} "
                               f"There are: {', '.join(known)}.")
        click.echo("\n".join(details(section, name, known[name])))
        wrong.clear()                                     # it is about others
    return max(map(complain, wrong), default=0)


def entries(section: str, hear: Hear | None = None) -> dict[str, str]:
    """Name -> one line, of everything in a section. With `hear` what cannot be read is left out, and told."""
    from formiga.world.brought import bring_all
    from formiga.world.elements import registered

    if section == "worlds":
        return _worlds(hear)
    if section in ROLES:
        with left_out(hear):
            bring_all()
        return {tag: known.doc for tag, known in registered(ROLES[section]).items()}
    if section == "studies":
        return dict(import_module("formiga.studies").known(hear))
    return dict(import_module("formiga.benchmarks").BENCHES)


def _worlds(hear: Hear | None) -> dict[str, str]:
    from formiga import lab

    found = {}
    for name, file in lab.known_worlds(hear).items():
        with left_out(hear):
            found[name] = lab.read_world(file).doc
    return found


def details(section: str, name: str, doc: str) -> list[str]:
    """Everything about one thing."""
    from formiga.world.elements import registered

    if section == "worlds":
        return [doc, *_world(name)]
    if section in ROLES:
        return [doc, *_element(registered(ROLES[section])[name])]
    return [doc]


def _world(name: str) -> list[str]:
    from formiga import lab
    from formiga.cli.check import describe
    from formiga.world.nodes import load, parse

    file = lab.known_worlds()[name]
    nodes = parse(name, load(str(file), f"{name}: "), None).children
    params = {node.attributes["name"]: node.attributes["value"] for node in nodes if node.tag == "param"}
    return [describe(lab.read_world(name)), str(file), *_table({name: f"param, default {value}"
                                                                for name, value in params.items()}, "  ")]


def _element(element: Element) -> list[str]:
    from formiga.world.elements import kinds_of
    from formiga.world.model import Group

    lines = _table({name: _attribute(kind, element, name) for name, kind in element.kinds.items()}, "  ")
    if element.role == "robot":
        group = {name: f"{kind.describe()}; {kind.doc}" for name, kind in kinds_of(Group).items()}
        lines += ["of its group:", *_table(group, "  ")]
    for profile, values in element.profiles.items():
        changed = ", ".join(f"{name} {_short(element.kinds[name].format(value))}" for name, value in values.items())
        lines.append(f"profile {profile}: {changed or 'as above'}")
    if element.cls.__module__.startswith("formiga."):
        lines.append(f"in Python: from {element.cls.__module__} import {element.cls.__name__}")
    return lines


def _attribute(kind: Kind, element: Element, name: str) -> str:
    from formiga.world.elements import REQUIRED

    default = element.default(name)
    unit = f" {kind.unit}" if kind.unit else ""
    if default is REQUIRED:
        given = "required"
    elif default is None:
        given = "optional"
    else:
        given = f"default {_short(kind.format(kind.check(default)))}{unit}"
    return "; ".join(filter(None, (", ".join(filter(None, (kind.describe(), kind.range()))), given, kind.doc)))


def _short(text: str) -> str:
    words = [_number(word) for word in text.split(" ")]
    return " ".join(words) if len(words) <= 4 else f"{' '.join(words[:3])} ... ({len(words)} numbers)"


def _number(word: str) -> str:
    """0.057999999999999996 -> 0.058, as it is shown; a whole number stays as it is."""
    try:
        return word if word.isdigit() else f"{float(word):.6g}"
    except ValueError:
        return word


def _table(lines: dict[str, str], margin: str = "") -> list[str]:
    width = max(map(len, lines), default=0)
    return [f"{margin}{name:<{width}}  {text}".rstrip() for name, text in lines.items()]
