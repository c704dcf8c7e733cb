"""A match: the camera looks, the teams think in their own processes, the robots drive, the referee watches.

    with arrange("chaser", "colony", seed=7) as match:      # soccer/arrange.py
        match.play(Simulation(match.world, seed=7))
        print(match.result())

A step is before -> sim.step -> after. `after` ends with a picture for the teams, `before` begins with their answers: so they
have the whole period to think. In lock-step `before` waits for both, and the same seed gives the same game, bit for bit;
otherwise a team that is late drives on with its last orders.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from math import inf, isfinite
from typing import Any

import numpy as np

from formiga.errors import FormigaError, whole
from formiga.link.pace import Pace
from formiga.loop import Simulation
from formiga.soccer import league
from formiga.soccer.camera import Camera
from formiga.soccer.pieces import Pieces
from formiga.soccer.placing import Placed
from formiga.soccer.referee import NO_TEAM, Decision, Phase, Referee, Rules, Snapshot, words
from formiga.soccer.statistics import Statistics
from formiga.soccer.talk import BLUE, NAMES, YELLOW, Bridge, Call, Foul, Game
from formiga.state import Floats, State
from formiga.supervisor import Note, Side
from formiga.world.model import World

PATIENCE = 1.0           # s on the clock that a lock-step match waits for an answer
WAIT = 60.0              # s that a match in real time waits for its teams before it begins without them
MOST_TROUBLES = 1000     # that a result keeps
NOTE_FOR = 3.0           # s that a goal stays on the board
LOG = 2000               # characters of a dead program's last words that a result keeps
HALVES = ("before the match", "first half", "second half")


class Match:
    """One match between two bridges. It starts no simulation: the owner of one calls `before` and `after` around each step.

    halves of half_seconds each. rules: `mirosot`, `vsss`, or `none` if another program is the referee. lockstep: wait for both
    teams' answers to each picture, up to `patience` seconds on the clock. wait: without lock-step, the match begins when both
    teams are there, or after so many seconds on the clock. hub: the network, whose trainers may put things elsewhere. The
    kick-off is blue's if the seed is even. [implements supervisor.Supervisor]
    """

    name = "match"

    def __init__(self, world: World, bridges: tuple[Bridge, Bridge], *, seed: int = 0, halves: int = 2,
                 half_seconds: float = 300.0, camera: Camera | None = None, rules: str | Rules = "mirosot",
                 lockstep: bool = True, patience: float = PATIENCE, wait: float = WAIT, hub: Any = None) -> None:
        self.world, self.bridges, self.seed, self.lockstep = world, bridges, seed, lockstep
        self.field, self.ball, self.players = league.teams(world)
        if not (isfinite(half_seconds) and half_seconds > 0.0):
            raise FormigaError(f"a half of {half_seconds:g} s cannot be played; the time must be above 0.")
        self.referee = Referee(self.field, self.players, rules, halves=whole("halves:", halves, 1, 2),
                               half_seconds=half_seconds, first=BLUE if seed % 2 == 0 else YELLOW)
        self.statistics = Statistics(self.field, self.ball, self.players, world.group(NAMES[BLUE]).robot.radius)
        self.troubles: list[dict[str, Any]] = []
        self.goals: list[dict[str, Any]] = []
        self.refusals: list[dict[str, Any]] = []              # wishes for places that were not followed
        self.interrupted = False
        self._top = np.array([world.group(name).robot.top_speed for name in NAMES])[:, None, None]
        self._vision = (camera or Camera()).start(seed, world.dt)
        self.pieces = Pieces(world, seed, self._vision.cut, partial(self.trouble, "simulator"))
        self._patience = patience if lockstep else 0.0
        self._wait = wait
        self._hub = hub
        self._steps = 0                                       # that were watched
        self._frame = -1                                      # of the last picture
        self._waiting, self._since = True, 0.0                # for the teams, before the match; since when, on the clock
        self._waited, self._unplayed = 0.0, 0                 # s simulated, and pictures, of that
        self._wishes: list[Any] = [None, None]                # where the teams want to stand after this call
        self._said = (-inf, "")                               # when, and what the board shows for a while
        self._pace = Pace(inf, world.dt)
        self._closed, self._words, self._failures = False, dict[str, str](), dict[str, str]()

    # -- one step -----------------------------------------------------------------------------------------------------
    def meet(self) -> None:
        """Wait until both teams' programs have started; TeamError for one that ended before it could."""
        for bridge in self.bridges:
            bridge.start(inf if self.lockstep else self._wait)

    def before(self, sim: Simulation) -> dict[str, Any]:
        """Wheel speeds for the next step, group -> (1, P, 2): what the teams want, while the game is on."""
        if first := self._frame < 0:
            self._begin(sim)
        wheels = np.zeros((2, self.players, 2))
        for team, bridge in enumerate(self.bridges):
            self._take(wheels[team], bridge.orders(self._frame, self._patience))
            if self.referee.phase is Phase.CALLED and not self._waiting and (wish := bridge.placement()) is not None:
                self._wishes[team] = wish
        if first:  # the time in which programs load is not that of the match
            self._pace = Pace(inf, self.world.dt)
        if self.referee.phase is not Phase.PLAYING:
            wheels[...] = 0.0
        wheels[~self.pieces.on] = 0.0
        np.clip(wheels, -self._top, self._top, out=wheels)
        return {name: wheels[team][None] for team, name in enumerate(NAMES)}

    def after(self, sim: Simulation) -> None:
        """After a step: the referee, the statistics, and whatever is put elsewhere; then a picture for the teams."""
        self._steps += 1
        lost = self.pieces.mend(sim.state)
        for replacement in self._hub.replacements() if self._hub is not None else ():
            if self.pieces.replace_in_time(sim.state, replacement):
                self._placed(sim.state)
        if self._waiting:
            self._wait_for_teams()
        elif not self.over:
            self._judge(sim, lost)
        self._hear()
        sim.look_again()
        self._show(sim.state)
        self._pace.step()
        if self.over:
            self._pace.end()

    def resume(self) -> None:
        """The match was paused since the last step: that time is not counted."""
        self._pace.rest()

    @property
    def time(self) -> float:
        """Simulated seconds since the first picture."""
        return self._steps * self.world.dt

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        return self.referee.over

    @property
    def share(self) -> float:
        """How much of the playing time is over."""
        done = (self.referee.half - 1) * self.referee.half_seconds + self.referee.clock
        return 1.0 if self.over else min(1.0, done / (self.referee.halves * self.referee.half_seconds))

    def _begin(self, sim: Simulation) -> None:
        if sim.world is not self.world and (sim.world.robots, sim.world.dt) != (self.world.robots, self.world.dt):
            raise FormigaError(f"this match is played in '{self.world.name}', not in '{sim.world.name}'.")
        self.pieces.mend(sim.state)
        if not self.lockstep:  # what has to be compiled or loaded for the first call is not late then
            self._settled()
            self.pieces.error(1.0, self.referee.calls)
        self._since = time.monotonic()
        if self.lockstep:  # it waits for the first answers anyway
            self._kick_off()
        self._show(sim.state)

    def _wait_for_teams(self) -> None:
        for bridge in self.bridges:
            bridge.start(0.0)
        missing = [bridge.name for bridge in self.bridges if not bridge.there]
        if missing and time.monotonic() - self._since < self._wait:
            self._said = (self.time, f"waiting for {' and '.join(missing)}")
            return
        for name in missing:
            self.trouble(name, f"was not there after {self._wait:g} s; the match begins without it")
        self._said = (-inf, "")
        self._waited, self._unplayed = self.time, self._frame + 1
        self._pace.count_from_here()
        self._kick_off()

    def _kick_off(self) -> None:
        self._waiting = False
        for decision in self.referee.begin(self.time):
            self._tell(decision)

    def _judge(self, sim: Simulation, lost: str) -> None:
        state = sim.state
        ball, position = self.pieces.ball_now(state).tolist(), self.pieces.positions(state)
        if self.referee.phase is Phase.PLAYING:
            self.statistics.see(self.world.dt, ball, position, self._touching(sim, ball, position))
        robots = position.reshape(2, self.players, 2).tolist()
        ready = all(wish is not None for wish in self._wishes)
        for decision in self.referee.watch(Snapshot(self.time, ball, robots, lost), ready):
            if decision.kind == "goal":
                self._goal(decision)
            self._tell(decision)
            if decision.call is not None and decision.call.foul is Foul.STOP:
                self._place(state)
            elif decision.call is not None and decision.call.foul is not Foul.GAME_ON:
                self._wishes = [None, None]
                self.statistics.stopped()

    def _tell(self, decision: Decision) -> None:
        if decision.kind in ("goal", "half", "end"):
            self._said = (self.time, decision.why)
        if decision.call is not None:
            for bridge in self.bridges:
                bridge.tell(decision.call)

    def _goal(self, decision: Decision) -> None:
        by = self.statistics.goal(decision.team)
        self.goals.append({"team": NAMES[decision.team], "half": self.referee.half, "clock": round(decision.clock, 3),
                           "score": list(self.referee.score), "by": by})

    def _show(self, state: State) -> None:
        sight = self._vision.look(self.time, self.pieces.ball_now(state), self.pieces.robots_now(state), self.pieces.on)
        game = self.game
        for bridge in self.bridges:
            bridge.show(sight, game)
        self._frame = sight.frame

    @property
    def game(self) -> Game:
        """How it stands, for the teams."""
        if self._waiting:
            return Game((0, 0), 0, 0.0, Call(Foul.HALT, NO_TEAM, 0, 0, 0.0), 0)
        return self.referee.game

    def _take(self, into: Floats, orders: Any) -> None:
        """What a bridge says; nothing that it could say stops the game."""
        try:
            into[...] = np.nan_to_num(np.asarray(orders, np.float64), nan=0.0, posinf=0.0, neginf=0.0)
        except (TypeError, ValueError):
            into[...] = 0.0

    def _touching(self, sim: Simulation, ball: list[float], position: Floats) -> set[int]:
        """The robots that touched the ball in the last step."""
        if not sim.model.keeps_contacts:
            return self.statistics.near(ball, position)
        return self.pieces.touching(sim.engine.contacts(sim.model, sim.state))

    def _place(self, state: State) -> None:
        """Everything to its place after a call."""
        placed = self._settled()
        for remark in placed.remarks:
            self.referee.remark(remark.text)
            self.bridges[remark.team].note(remark.text)
            if len(self.refusals) < MOST_TROUBLES:
                self.refusals.append({"time": round(self.time, 3), "call": words(self.referee.foul), "team": NAMES[remark.team],
                                      "robot": remark.robot, "why": remark.text})
        self.pieces.place(state, placed)
        if self.referee.rules.hand > 0.0:
            self.pieces.shake(state, self.referee.rules.hand, self.referee.calls)
        self._wishes = [None, None]
        self._placed(state)

    def _settled(self) -> Placed:
        return self.pieces.settled(self.referee, (self._wishes[BLUE], self._wishes[YELLOW]))

    def _placed(self, state: State) -> None:
        """Things were put elsewhere: no robot ran there."""
        self.statistics.stopped(self.pieces.positions(state))
        self.pieces.keep(state)

    # -- what goes wrong ------------------------------------------------------------------------------------------------
    def trouble(self, source: str, text: str) -> None:
        """Take down what went wrong."""
        if len(self.troubles) < MOST_TROUBLES:
            self.troubles.append({"time": round(self.time, 3), "who": source, "what": text})

    def _hear(self) -> None:
        for bridge in self.bridges:
            for line in bridge.troubles():
                self.trouble(bridge.name, line)

    # -- the whole of it ------------------------------------------------------------------------------------------------
    def play(self, sim: Simulation, *, speed: float = inf, record: Any = None, progress: Callable[[Match], None] | None = None,
             stop: Callable[[], bool] = lambda: False) -> None:
        """Play to the end, or until `stop` says so; `speed` simulated seconds in one on the clock, inf: as fast as it goes.

        record: a Recorder, which gets every step and the board. progress is called after each step.
        """
        Simulation(self.world, self.seed).step()  # whatever has to be compiled or loaded is not late later
        self.meet()
        if record is not None:
            record([sim])
            record.note(self.note())
        self.before(sim)  # the first picture goes out, and in lock-step both programs have started
        self._pace = Pace(speed, self.world.dt)
        while not self.over:
            if stop():
                self.interrupted = True
                break
            if self._waiting and speed == inf:
                time.sleep(self.world.dt)
            self._pace.wait()
            sim.step(self.before(sim))
            self.after(sim)
            if record is not None:
                record([sim])
                record.note(self.note())
            if progress is not None:
                progress(self)
        self._pace.end()
        self._hear()

    def note(self) -> Note:
        """How it stands: the scoreboard."""
        left = 0.0 if self._waiting else self.referee.clock
        minutes, seconds = divmod(int(left + 1e-6), 60)
        half = 0 if self._waiting else self.referee.half
        sides = tuple(map(Side, NAMES, self.names, self.game.score))
        return Note("the end" if self.over else HALVES[half], f"{minutes}:{seconds:02d}", self._remark(), sides)

    @property
    def names(self) -> tuple[str, str]:
        """Of the teams."""
        return self.bridges[BLUE].name, self.bridges[YELLOW].name

    def _remark(self) -> str:
        if self.time - self._said[0] < NOTE_FOR or self.over:
            return self._said[1]
        return "" if self.referee.phase is Phase.PLAYING else words(self.referee.foul)

    def result(self) -> dict[str, Any]:
        """Everything about the match, as JSON takes it."""
        score, referee, waited = self.referee.score, self.referee, self.time if self._waiting else self._waited
        winner = None if score[BLUE] == score[YELLOW] else NAMES[int(score[YELLOW] > score[BLUE])]
        log = [{"time": round(each.time, 3), "half": 0 if each.call is None else each.call.half, "clock": round(each.clock, 3),
                "what": each.kind, "call": None if each.call is None else each.call.foul.name,
                "team": None if each.call is None or each.call.team == NO_TEAM else NAMES[each.call.team],
                "quadrant": 0 if each.call is None else each.call.quadrant, "why": each.why} for each in referee.log]
        return {
            "blue": self.names[BLUE], "yellow": self.names[YELLOW], "score": list(score), "winner": winner,
            "over": self.over, "interrupted": self.interrupted, "seed": self.seed, "players": self.players,
            "rules": referee.rules.name, "strict": referee.rules.strict, "collisions": self.pieces.robot.shape,
            "dt": self.world.dt, "lockstep": self.lockstep, "halves": referee.halves, "half_seconds": referee.half_seconds,
            "simulated_seconds": round(self.time, 3), "waited_seconds": round(waited, 3),
            "played_seconds": round(self.statistics.seconds, 3), "goals": self.goals, "statistics": self.statistics.figures(),
            "calls": log, "refusals": self.refusals, "troubles": self.troubles,
            "failures": self._failures if self._closed else self._failed(),
            "last_words": self._words if self._closed else self._last_words(),
            "pace": {**self._pace.figures(self.time - waited), "frames": self._frame + 1 - self._unplayed},
        }

    def _last_words(self) -> dict[str, str]:
        """What programs printed that are not alive any more."""
        return {name: bridge.log()[-LOG:] for name, bridge in zip(NAMES, self.bridges, strict=True) if not bridge.alive}

    def _failed(self) -> dict[str, str]:
        """The teams that could not play to the end, and why."""
        return {name: why for name, bridge in zip(NAMES, self.bridges, strict=True) if (why := bridge.failure())}

    def close(self) -> None:
        """End both teams' programs, and give everything back."""
        if not self._closed:
            self._words, self._failures, self._closed = self._last_words(), self._failed(), True
        with ExitStack() as stack:
            if self._hub is not None:
                stack.callback(self._hub.close)
            for bridge in self.bridges:
                stack.callback(bridge.close)

    def __enter__(self) -> Match:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


__all__ = ["Match", "PATIENCE", "WAIT"]
