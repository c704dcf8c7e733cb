"""A match: the camera looks, the teams think in their own processes, the robots drive, the referee watches.

    with arrange("chaser", "colony", seed=7) as match:
        match.play(Simulation(match.world, seed=7))
        print(match.result())

A step is before -> sim.step -> after. `after` ends with a picture for the teams, `before` begins with their answers: so they
have the whole period to think. In lock-step `before` waits for both, and the same seed gives the same game, bit for bit;
otherwise a team that is late drives on with its last orders.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from math import inf, isfinite
from typing import Any

import numpy as np

from formiga.errors import FormigaError, whole
from formiga.link.pace import Pace
from formiga.loop import Simulation
from formiga.noise import Noise, world_key
from formiga.soccer import league, placing
from formiga.soccer.camera import Camera
from formiga.soccer.referee import NOBODY, Decision, Phase, Referee, Rules, Scene, words
from formiga.soccer.statistics import Statistics
from formiga.soccer.talk import BLUE, NAMES, YELLOW, Bridge, Call, Foul, Game
from formiga.state import Floats, State
from formiga.supervisor import Note, Side
from formiga.world.model import World

PATIENCE = 1.0           # s on the clock that a lock-step match waits for an answer
WAIT = 60.0              # s that a match in real time waits for its teams before it begins without them
MOST_TROUBLES = 1000     # that a result keeps
NOTE_FOR = 3.0           # s that a goal stays on the board
REPLACING = 0.25         # of the time on the clock may go into putting robots and the ball where another program wants them
BURST = 0.05             # s of it at once
LOG = 2000               # characters of a dead program's last words that a result keeps
HALVES = ("before the match", "first half", "second half")


class Match:
    """One match between two bridges. It starts no simulation: the owner of one calls `before` and `after` around each step.

    halves of half_seconds each. rules: `mirosot`, `vsss`, or `none` if somebody else is the referee. lockstep: wait for both
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
        robot = world.group(NAMES[BLUE]).robot
        self.statistics = Statistics(self.field, self.ball, self.players, robot.radius)
        self.troubles: list[dict[str, Any]] = []
        self.goals: list[dict[str, Any]] = []
        self.interrupted = False
        self.on = np.ones((2, self.players), np.bool_)        # false: switched off by a trainer
        self._robot = robot
        self._top = np.array([world.group(name).robot.top_speed for name in NAMES])[:, None, None]
        self._shape = placing.shape_of(robot)
        self._board = placing.Board(self.field)
        self._who = _numbers(world)                           # (2, P) in the arrays of the state
        self._number = {int(who): number for number, who in enumerate(self._who.ravel())}
        self._ball = world.movables.index(self.ball)
        self._key = np.array([world_key(seed, 0)], np.uint64)
        self._vision = (camera or Camera()).start(seed, world.dt)
        self._patience = patience if lockstep else 0.0
        self._wait = wait
        self._hub = hub
        self._steps = 0                                       # that were watched
        self._frame = -1                                      # of the last picture
        self._waiting, self._since = True, 0.0                # for the teams, before the match; since when, on the clock
        self._wishes: list[Any] = [None, None]                # where the teams want to stand after this call
        self._safe: tuple[Floats, Floats, Floats] | None = None  # position, heading and ball when all was well
        self._said = (-inf, "")                               # when, and what the board shows for a while
        self._pace = Pace(inf, world.dt)
        self._saved, self._replaced, self._complained = BURST, 0.0, -inf  # s to put things elsewhere in; when, on the clock
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
        wheels[~self.on] = 0.0
        np.clip(wheels, -self._top, self._top, out=wheels)
        return {name: wheels[team][None] for team, name in enumerate(NAMES)}

    def after(self, sim: Simulation) -> None:
        """After a step: the referee, the statistics, and whatever is put elsewhere; then a picture for the teams."""
        self._steps += 1
        lost = self._mend(sim.state)
        for replacement in self._hub.replacements() if self._hub is not None else ():
            self._replace_in_time(sim, replacement)
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
        self._mend(sim.state)
        if not self.lockstep:  # what has to be compiled or loaded for the first call is not late then
            self._settled(self.referee.call)
            self._hand(1.0)
        self._since = time.monotonic()
        if self.lockstep:  # it waits for the first answers anyway
            self._kick_off()
        self._show(sim.state)

    def _wait_for_teams(self) -> None:
        for bridge in self.bridges:
            bridge.start(0.0)
        missing = [bridge.name for bridge in self.bridges if not _is_there(bridge)]
        if missing and time.monotonic() - self._since < self._wait:
            self._said = (self.time, f"waiting for {' and '.join(missing)}")
            return
        for name in missing:
            self.trouble(name, f"was not there after {self._wait:g} s; the match begins without it")
        self._said = (-inf, "")
        self._kick_off()

    def _kick_off(self) -> None:
        self._waiting = False
        for decision in self.referee.begin(self.time):
            self._tell(decision)

    def _judge(self, sim: Simulation, lost: str) -> None:
        state = sim.state
        ball = state.movables[0, self._ball]
        seen = [*ball[:2].tolist(), *ball[3:5].tolist()]
        position = state.position[0, self._who.ravel()]
        if self.referee.phase is Phase.PLAYING:
            self.statistics.see(self.world.dt, seen, position, self._touching(state, seen, position))
        robots = position.reshape(2, self.players, 2).tolist()
        ready = all(wish is not None for wish in self._wishes)
        for decision in self.referee.watch(Scene(self.time, seen, robots, lost), ready):
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
        who = self._who.ravel()
        robots = np.concatenate([state.position[0, who], state.heading[0, who, None], state.velocity[0, who]], axis=1)
        ball = state.movables[0, self._ball]
        sight = self._vision.look(self.time, ball[[0, 1, 3, 4]], robots.reshape(2, self.players, 6), self.on)
        game = self.game
        for bridge in self.bridges:
            bridge.show(sight, game)
        self._frame = sight.frame

    @property
    def game(self) -> Game:
        """How it stands, for the teams."""
        if self._waiting:
            return Game((0, 0), 0, 0.0, Call(Foul.HALT, NOBODY, 0, 0, 0.0), 0)
        return self.referee.game

    def _take(self, into: Floats, orders: Any) -> None:
        """What a bridge says; nothing that it could say stops the game."""
        try:
            into[...] = np.nan_to_num(np.asarray(orders, np.float64), nan=0.0, posinf=0.0, neginf=0.0)
        except (TypeError, ValueError):
            into[...] = 0.0

    def _touching(self, state: State, ball: list[float], position: Floats) -> set[int]:
        """Who touched the ball in the last step."""
        touches = getattr(state.scratch, "touches", None)
        if touches is None:
            return self.statistics.near(ball, position)
        bodies = touches[0, :int(state.scratch.touching[0]), 5:7].astype(np.int64).tolist()
        name = self.world.robots + self._ball
        return {self._number[other] for pair in bodies if name in pair
                for other in pair if other != name and other in self._number}

    # -- putting things elsewhere ---------------------------------------------------------------------------------------
    def _place(self, state: State) -> None:
        """Everything to its place after a call."""
        placed = self._settled(self.referee.foul)
        for remark in placed.remarks:
            self.referee.remark(remark)
        self._put_ball(state, *placed.ball)
        for team in (BLUE, YELLOW):
            for number in range(self.players):
                self._put_robot(state, team, number, placed.robots[team, number])
        if self.referee.rules.hand > 0.0:
            self._shake(state, self.referee.rules.hand)
        self._wishes = [None, None]
        self.statistics.stopped(state.position[0, self._who.ravel()])
        self._keep(state)

    def _settled(self, call: Call) -> placing.Placed:
        return placing.settle(self.field, self._robot, self.ball.radius, self.players, call,
                              (self._wishes[BLUE], self._wishes[YELLOW]), self.referee.keepers)

    def _hand(self, hand: float) -> Floats:
        """By how much (1 + 2 P, 3) it is off this time, at most `hand`."""
        draw = Noise(self._key, np.array([self.referee.calls], np.int64), slice(0, 1 + 2 * self.players), "soccer", "hand")
        return np.asarray(draw.uniform(-hand, hand, 3)[0])

    def _shake(self, state: State, hand: float) -> None:
        """Nobody's hand is exact: everything stands a little beside its place, as far as there is room."""
        off, bodies = self._hand(hand), self._bodies(state)
        for at, (name, _) in enumerate(bodies):
            shape = self._shape if at else placing.disc(self.ball.radius)
            x, y, heading = self._pose(state, at) + off[at] / (1.0, 1.0, self._robot.side / 2)
            pose = (float(x), float(y), float(heading))
            if not placing.blocked(self._board, shape, pose, bodies[:at] + bodies[at + 1:]):
                bodies[at] = (name, shape.at(*pose))
                if at:
                    self._put_robot(state, *divmod(at - 1, self.players), pose)
                else:
                    self._put_ball(state, *pose[:2])

    def _pose(self, state: State, at: int) -> Floats:
        """Where the ball (0) or a robot (1 to 2 P) is: x y heading."""
        if at == 0:
            return np.array([*state.movables[0, self._ball, :2], 0.0])
        robot = self._who.flat[at - 1]
        return np.array([*state.position[0, robot], state.heading[0, robot]])

    def _put_ball(self, state: State, x: float, y: float, vx: float = 0.0, vy: float = 0.0) -> None:
        state.movables[0, self._ball] = 0.0
        state.movables[0, self._ball, :2] = x, y
        state.movables[0, self._ball, 3:5] = vx, vy
        self._vision.cut()

    def _put_robot(self, state: State, team: int, number: int, pose: Any) -> None:
        robot = self._who[team, number]
        state.position[0, robot], state.heading[0, robot] = pose[:2], pose[2]
        state.velocity[0, robot] = 0.0
        state.drive[0, robot] = 0.0
        self._vision.cut()

    def _replace_in_time(self, sim: Simulation, replacement: Any) -> None:
        """`_replace`, as long as that takes no more than a share of the time on the clock: a flood must not stop the game."""
        now = time.monotonic()
        self._saved = min(BURST, self._saved + REPLACING * (now - self._replaced))
        self._replaced = now
        if self._saved <= 0.0:
            if now - self._complained > 1.0:
                self.trouble("simulator", "more replacements than it has time for; some were left out")
                self._complained = now
            return
        self._replace(sim, replacement)
        self._saved -= time.monotonic() - now

    def _replace(self, sim: Simulation, replacement: Any) -> None:
        """What a trainer or another referee asks for. Where something is in the way, the nearest place that is free."""
        state = sim.state
        for place in replacement.robots:
            if not (place.team in (BLUE, YELLOW) and 0 <= place.robot < self.players):
                continue
            self.on[place.team, place.robot] = place.on
            if np.isfinite((place.x, place.y, place.heading)).all():
                pose = self._room(state, f"{NAMES[place.team]} {place.robot}", self._shape, (place.x, place.y, place.heading))
                self._put_robot(state, place.team, place.robot, pose)
        if replacement.ball is not None:
            x, y, vx, vy = replacement.ball
            x, y, _ = self._room(state, "the ball", placing.disc(self.ball.radius), (x, y, 0.0))
            self._put_ball(state, x, y, vx, vy)
        self.statistics.stopped(state.position[0, self._who.ravel()])
        self._keep(state)

    def _room(self, state: State, name: str, shape: placing.Shape, pose: league.Pose) -> league.Pose:
        others = [(other, body) for other, body in self._bodies(state) if other != name]
        return placing.nearest(self.field, pose, lambda at: placing.blocked(self._board, shape, at, others))

    def _bodies(self, state: State) -> list[tuple[str, placing.Shape]]:
        """Everything that can be in the way, with its name: the ball, blue's robots, yellow's."""
        names = ["the ball", *(f"{NAMES[team]} {number}" for team in (BLUE, YELLOW) for number in range(self.players))]
        shapes = [placing.disc(self.ball.radius), *[self._shape] * (2 * self.players)]
        return [(name, shape.at(*self._pose(state, at))) for at, (name, shape) in enumerate(zip(names, shapes, strict=True))]

    def _mend(self, state: State) -> str:
        """Put back what left the field or is not a number any more, which should never be; what happened to the ball."""
        ball, who = state.movables[0, self._ball], self._who.ravel()
        half = (self.field.length / 2, self.field.width / 2)
        lost = ""
        x, y = abs(ball[0]), abs(ball[1])
        beyond = x > half[0] or y > half[1] or x + y > half[0] + half[1] - self.field.corner  # perhaps only in a goal
        if not np.isfinite(ball).all() or (beyond and not placing.inside(ball[:2], self._board.outline.points)):
            lost = "the ball left the field" if np.isfinite(ball).all() else "the ball's place was not a number"
            x, y = (0.0, 0.0) if self._safe is None else self._safe[2].tolist()
            self._put_ball(state, x, y)
            self.trouble("simulator", f"{lost}; it was put back")
        poses = np.column_stack([state.position[0, who], state.heading[0, who], state.velocity[0, who], state.drive[0, who]])
        wrong = ~np.isfinite(poses).all(axis=1) | (np.abs(poses[:, 0]) > half[0] + self.field.goal_depth) | (
            np.abs(poses[:, 1]) > half[1])
        for at in np.flatnonzero(wrong):
            team, number = divmod(int(at), self.players)
            if self._safe is None:
                raise FormigaError(f"{NAMES[team]} {number} is not on the field at the start.")
            self._put_robot(state, team, number, (*self._safe[0][at], self._safe[1][at]))
            state.wheel_angle[0, who[at]] = np.nan_to_num(state.wheel_angle[0, who[at]])
            self.trouble("simulator", f"{NAMES[team]} {number} left the field; it was put back")
        if not lost and not wrong.any():
            self._keep(state)
        return lost

    def _keep(self, state: State) -> None:
        """Remember this, in case that the next step goes wrong."""
        who = self._who.ravel()
        self._safe = state.position[0, who].copy(), state.heading[0, who].copy(), state.movables[0, self._ball, :2].copy()

    # -- what goes wrong ------------------------------------------------------------------------------------------------
    def trouble(self, who: str, text: str) -> None:
        """Take down what went wrong."""
        if len(self.troubles) < MOST_TROUBLES:
            self.troubles.append({"time": round(self.time, 3), "who": who, "what": text})

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
        score, referee = self.referee.score, self.referee
        winner = None if score[BLUE] == score[YELLOW] else NAMES[int(score[YELLOW] > score[BLUE])]
        log = [{"time": round(each.time, 3), "half": 0 if each.call is None else each.call.half, "clock": round(each.clock, 3),
                "what": each.kind, "call": None if each.call is None else each.call.foul.name,
                "team": None if each.call is None or each.call.team == NOBODY else NAMES[each.call.team],
                "quadrant": 0 if each.call is None else each.call.quadrant, "why": each.why} for each in referee.log]
        return {
            "blue": self.names[BLUE], "yellow": self.names[YELLOW], "score": list(score), "winner": winner,
            "over": self.over, "interrupted": self.interrupted, "seed": self.seed, "players": self.players,
            "rules": referee.rules.name, "dt": self.world.dt, "lockstep": self.lockstep,
            "halves": referee.halves, "half_seconds": referee.half_seconds,
            "simulated_seconds": round(self.time, 3), "goals": self.goals, "statistics": self.statistics.figures(),
            "calls": log, "troubles": self.troubles, "failures": self._failures if self._closed else self._failed(),
            "last_words": self._words if self._closed else self._last_words(),
            "pace": {**self._pace.figures(self.time), "frames": self._frame + 1},
        }

    def _last_words(self) -> dict[str, str]:
        """What programs printed that are not alive any more."""
        return {name: bridge.log()[-LOG:] for name, bridge in zip(NAMES, self.bridges, strict=True)
                if not getattr(bridge, "alive", True) and hasattr(bridge, "log")}

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


def _numbers(world: World) -> Any:
    """The robots of blue and yellow (2, P), as numbers in the arrays of the state."""
    slices = {group.name: robots for group, robots in zip(world.groups, world.slices, strict=True)}
    return np.array([np.arange(slices[name].start, slices[name].stop) for name in NAMES])


def _is_there(bridge: Any) -> bool:
    """Whether a team is ready to play: its program has opened the memory, or somebody has sent commands."""
    if hasattr(bridge, "ready"):
        return bool(bridge.ready(0.0))
    return getattr(bridge, "heard", 1) > 0


# -- from what people type ------------------------------------------------------------------------------------------------
def arrange(blue: str, yellow: str, *, players: int = 3, preset: str | None = None, rules: str | None = None,
            lockstep: bool | None = None, seed: int = 0, halves: int = 2, half_seconds: float = 300.0,
            camera: Camera | None = None, dt: float | None = None, patience: float = PATIENCE, wait: float = WAIT,
            network: dict[str, Any] | None = None, names: Sequence[str] = ()) -> Match:
    """A match between two teams as people name them; their programs are started, and ended by `close`.

    With a network team, the preset is `firasim`, the rules are `vsss` and there is no lock-step, unless something else is
    asked for; otherwise `mirosot`, twice, and lock-step. network: addresses, as Network takes them.
    """
    from formiga.soccer.bridge import MemoryBridge, pitch_of
    from formiga.soccer.roster import find_team

    specs = [find_team(text) for text in (blue, yellow)]
    online = any(spec.network for spec in specs)
    world = league.world(players, preset or ("firasim" if online else "mirosot"), dt)
    field, ball, _ = league.teams(world)
    robot = world.group(NAMES[BLUE]).robot
    with ExitStack() as stack:
        hub: Any = None
        if online:
            from formiga.soccer.network import Network

            hub = stack.enter_context(Network(players, field, robot.wheel_radius, robot.top_speed, ball.radius,
                                              **(network or {})))
        bridges: list[Any] = []
        for team, spec in enumerate(specs):
            name = names[team] if names else spec.name + (" 2" if team and spec.name == specs[BLUE].name else "")
            if spec.network:
                bridge: Any = hub.bridge(team, name, wait)
            else:
                bridge = MemoryBridge(name, spec.command, team, players, pitch_of(world))
            stack.callback(bridge.close)
            bridges.append(bridge)
        match = Match(world, (bridges[BLUE], bridges[YELLOW]), seed=seed, halves=halves, half_seconds=half_seconds,
                      camera=camera, rules=rules or ("vsss" if online else "mirosot"),
                      lockstep=not online if lockstep is None else lockstep, patience=patience, wait=wait, hub=hub)
        stack.pop_all()
    return match


__all__ = ["Match", "PATIENCE", "WAIT", "arrange"]
