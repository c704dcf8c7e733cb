"""A match from what a user types: two teams by name, and the terms on which they play."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from formiga.soccer import league
from formiga.soccer.bridge import MemoryBridge, pitch_of
from formiga.soccer.camera import Camera
from formiga.soccer.match import PATIENCE, WAIT, Match
from formiga.soccer.referee import find_rules
from formiga.soccer.roster import count_names, find_team
from formiga.soccer.talk import BLUE, NAMES, YELLOW, Bridge


@dataclass(frozen=True)
class Terms:
    """How a match is played; None is the usual with such teams.

    With a network team, the preset is `firasim`, the rules are `vsss` and there is no lock-step; otherwise `mirosot`, twice,
    and lock-step. network: addresses, as Network takes them. The others as of Match.
    """

    players: int = 3               # in each team
    preset: str | None = None      # of league.world
    dt: float | None = None        # s between two pictures
    collisions: str | None = None  # of league.COLLISIONS; None: square
    rules: str | None = None
    strict: bool | None = None     # whether a place that the rules do not allow is refused; None: as the rules have it
    lockstep: bool | None = None
    halves: int = 2
    half_seconds: float = 300.0
    camera: Camera | None = None
    patience: float = PATIENCE
    wait: float = WAIT
    network: dict[str, Any] | None = None


def arrange(blue: str, yellow: str, terms: Terms = Terms(), *, seed: int = 0, names: Sequence[str] = (),
            **changed: Any) -> Match:
    """A match between two teams as a user names them (roster.py); their programs are started, and ended by `close`.

    names: of the teams, as they are shown. changed: single fields of `terms`, such as players=5.
    """
    terms = replace(terms, **changed)
    specs = [find_team(text) for text in (blue, yellow)]
    online = any(spec.network for spec in specs)
    count_names(names or NAMES, len(specs))
    world = league.world(terms.players, terms.preset or ("firasim" if online else "mirosot"), terms.dt,
                         shape=terms.collisions or "square")
    rules = find_rules(terms.rules or ("vsss" if online else "mirosot"))
    if terms.strict is not None:
        rules = replace(rules, strict=terms.strict)
    with ExitStack() as stack:
        hub: Any = None
        if online:
            from formiga.soccer.network import Network

            field, ball, players = league.teams(world)
            robot = world.group(NAMES[BLUE]).robot
            hub = stack.enter_context(Network(players, field, robot.wheel_radius, robot.top_speed, ball.radius,
                                              **(terms.network or {})))
        bridges: list[Bridge] = []
        for team, spec in enumerate(specs):
            name = names[team] if names else spec.name + (" 2" if team and spec.name == specs[BLUE].name else "")
            bridge: Bridge
            if spec.network:
                bridge = hub.bridge(team, name, terms.wait)
            else:
                bridge = MemoryBridge(name, spec.command, team, terms.players, pitch_of(world))
            stack.callback(bridge.close)
            bridges.append(bridge)
        match = Match(world, (bridges[BLUE], bridges[YELLOW]), seed=seed, halves=terms.halves, half_seconds=terms.half_seconds,
                      camera=terms.camera, rules=rules,
                      lockstep=not online if terms.lockstep is None else terms.lockstep, patience=terms.patience,
                      wait=terms.wait, hub=hub)
        stack.pop_all()
    return match


__all__ = ["Terms", "arrange"]
