"""The referee: what truly happened -> what is called. It sees positions, and changes nothing by itself.

    play -> a call (kick-off, free ball, penalty, goal kick) -> the teams say where they want to stand -> everything is put in
    its place, STOP -> GAME_ON -> play

The clock runs only while the game is on. Every decision is logged with its reason. The constants of `mirosot` are those of
the paper's league as far as they are known; those of `vsss` are VSSReferee's, which referees games on FIRASim.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import hypot, inf
from typing import Any, NamedTuple

from formiga.errors import FormigaError, suggest
from formiga.soccer import league
from formiga.soccer.talk import BLUE, NAMES, YELLOW, Call, Foul, Game
from formiga.units import CM, MM
from formiga.world.field import Field

NO_TEAM = 2   # as Call.team
MOST_LOG = 100_000


@dataclass(frozen=True)
class Rules:
    """The constants of a rule book."""

    name: str
    stuck_seconds: float           # so long a ball may be stuck before it is a free ball
    stuck_distance: float = 0.0    # m; a ball is stuck that comes no further than this ...
    stuck_speed: float = 0.0       # m/s; ... or, where that is 0, one that is slower than this
    area_seconds: float = 10.0     # a ball that stays in a goal area for longer is a penalty: the keeper must clear it [FIRA]
    crowd_seconds: float = 0.0     # so long two of a team must be in it with the ball before it is a foul
    advantage: float = 0.0         # s that a foul in a goal area waits for what comes of it; 0: it is called at once
    placing: float = 1.0           # s from a call until everything is put in its place
    hurry: bool = True             # earlier, as soon as both teams have said where they want to stand
    after_goal: float = 0.0        # s more, if the call is for a goal
    standing: float = 1.0          # s from there until the game is on
    strict: bool = True            # where a robot may stand after a call is ruled; False: anywhere, if no two collide
    corner_kicks: bool = False     # a goal kick is from a corner of the goal area, not from before the goal
    hand: float = 0.0              # m by which things are put beside their places, at most
    calls: bool = True             # False: nothing is called, goals are counted: another program is the referee


RULES = {
    # a free ball: less than 5 cm in 10 s; 2 x 5 min: what is usual where Klancar et al. 2003 say nothing. The waits, the second
    # for which a crowd is none, and the hand are our choice: with an exact hand, two teams that do not change play the same
    # game after each kick-off, whatever the seed.
    "mirosot": Rules("mirosot", stuck_seconds=10.0, stuck_distance=5.0 * CM, crowd_seconds=1.0, hand=2.0 * MM),
    # stuck: 5 s under 0.1 m/s; a foul in the area is called after 3 s; 4 s before STOP, twice that after a goal, 4 s before
    # GAME_ON; placements are checked for collisions and for nothing else [VSSReferee]
    "vsss": Rules("vsss", stuck_seconds=5.0, stuck_speed=0.1, advantage=3.0, placing=4.0, hurry=False, after_goal=4.0,
                  standing=4.0, strict=False, corner_kicks=True),
    "none": Rules("none", stuck_seconds=inf, area_seconds=inf, placing=0.0, standing=0.0, calls=False),
}


class Snapshot(NamedTuple):
    """What truly is, after a step. P robots in each team."""

    time: float                    # s since the start of the match
    ball: Any                      # (4,) x y vx vy
    robots: Any                    # (2, P, >= 2) x y ...
    lost: str = ""                 # what happened to the ball that should not have, if it did


class Decision(NamedTuple):
    """A call, and why."""

    time: float                    # s since the start of the match
    clock: float                   # s played in this half
    kind: str                      # goal, kick-off, free ball, penalty, goal kick, stop, game on, half, end, remark
    call: Call | None              # None: nothing that teams are told
    why: str
    team: int = NO_TEAM             # of a goal: the team that scored


class Phase(Enum):
    """How far the game is after a call."""

    CALLED = "called"              # the teams may say where they want to stand
    STOPPED = "stopped"            # everything is in its place
    PLAYING = "playing"
    OVER = "over"


class Referee:
    """Follows one match. `begin` gives the first decision, `watch` those of each step; at most one of them is a call."""

    def __init__(self, field: Field, players: int, rules: str | Rules = "mirosot", *, halves: int = 2,
                 half_seconds: float = 300.0, first: int = BLUE) -> None:
        self.field, self.players, self.rules = field, players, find_rules(rules)
        self.halves, self.half_seconds, self._first = halves, half_seconds, first
        self.score = [0, 0]
        self.half, self.clock = 1, 0.0
        self.phase = Phase.CALLED
        self.call = Call(Foul.KICKOFF, first, 0, 1, 0.0)  # the last one
        self.foul = self.call                             # the last one after which everything is put in its place
        self.calls = 0                                    # how many there were
        self.log: list[Decision] = []
        self._time = self._since = 0.0                    # of the last look, and of the last call
        self._area_time = [[0.0] * players for _ in (BLUE, YELLOW)]  # s that each robot was in its own goal area
        self._in_goal = False
        self._scored = False                              # whether the last call was for a goal
        self._stuck, self._stuck_since = (0.0, 0.0), -1.0 # where the ball was when it was last seen to move, and when
        self._area_of, self._area_since = -1, 0.0         # whose goal area the ball is in, and for how long
        self._crowds: dict[Foul, float] = {}              # what two of a team in it are about to do, since when
        self._pending: dict[Foul, tuple[int, float]] = {} # fouls in it that were seen: whose ball it will be, since when

    @property
    def game(self) -> Game:
        """How it stands, for the teams."""
        return Game((self.score[BLUE], self.score[YELLOW]), self.half, self.clock, self.call, self.calls)

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        return self.phase is Phase.OVER

    @property
    def keepers(self) -> tuple[int, int]:
        """The goalkeepers: the robot of each team that was longest in its own goal area; at the start, robot 0. [VSSReferee]"""
        blue, yellow = (max(range(self.players), key=lambda number: (times[number], -number)) for times in self._area_time)
        return blue, yellow

    def begin(self, time: float = 0.0) -> list[Decision]:
        """The first kick-off; or, with rules that call nothing, the game is simply on."""
        self._time = time
        if not self.rules.calls:
            return [self._say("game on", Foul.GAME_ON, NO_TEAM, "no referee; goals are counted")]
        return [self._say("kick-off", Foul.KICKOFF, self._first, "the match begins")]

    def watch(self, now: Snapshot, ready: bool = False) -> list[Decision]:
        """What follows from a step. ready: both teams have said where they want to stand after this call."""
        passed, self._time = now.time - self._time, now.time
        waited = now.time - self._since + 1e-9  # sums of steps fall short by a rounding
        if self.phase is Phase.PLAYING:
            self.clock += passed
            return self._play(now, passed)
        placing = self.rules.placing + (self.rules.after_goal if self._scored else 0.0)
        if self.phase is Phase.CALLED and (waited >= placing or (ready and self.rules.hurry)):
            return [self._say("stop", Foul.STOP, NO_TEAM, f"everything is in its place for {words(self.foul)}")]
        if self.phase is Phase.STOPPED and waited >= self.rules.standing:
            return [self._say("game on", Foul.GAME_ON, NO_TEAM, words(self.foul))]
        return []

    def remark(self, why: str) -> Decision:
        """Put something into the log that is no call."""
        return self._note(Decision(self._time, self.clock, "remark", None, why))

    # -- the rules ----------------------------------------------------------------------------------------------------
    def _play(self, now: Snapshot, passed: float) -> list[Decision]:
        self._time_in_areas(now, passed)
        decided = self._ball_goal(now)
        if not decided and self.clock >= self.half_seconds - 1e-9:
            return [self._half_ends()]
        if decided or not self.rules.calls:
            return decided
        if now.lost:
            return [self._free_ball(now, now.lost)]
        return self._ball_area(now, passed) or self._ball_stuck(now)

    def _ball_goal(self, now: Snapshot) -> list[Decision]:
        """A goal: the ball's centre has passed the goal line. [digest; FIRA]"""
        x, y = float(now.ball[0]), float(now.ball[1])
        inside = abs(x) > self.field.length / 2 and abs(y) < self.field.goal_width / 2
        entered, self._in_goal = inside and not self._in_goal, inside
        if not entered:
            return []
        team = BLUE if x > 0.0 else YELLOW
        pending = next((foul for foul, (whose, _) in self._pending.items() if whose != team), None)
        if pending is Foul.GOAL_KICK:  # whose attackers were too many has not scored [VSSReferee]
            return [self._foul_in_area(Foul.GOAL_KICK, 1 - team, "so the goal does not count")]
        self.score[team] += 1
        why = f"goal for {NAMES[team]}, {self.score[BLUE]}:{self.score[YELLOW]}"
        if not self.rules.calls:
            return [self._note(Decision(now.time, self.clock, "goal", None, why, team))]
        return [self._say("goal", Foul.KICKOFF, 1 - team, why, scored=team)]

    def _ball_area(self, now: Snapshot, passed: float) -> list[Decision]:
        """Penalty: two defenders in their goal area with the ball, or a ball that stays there. Goal kick: two attackers."""
        where = next((team for team in (BLUE, YELLOW) if self._inside(team, now.ball)), None)
        if where is None:
            decided = [self._called_late()] if self._pending else []
            self._area_since, self._crowds, self._pending = 0.0, {}, {}
            return decided
        if where != self._area_of:
            self._area_of, self._area_since, self._crowds, self._pending = where, 0.0, {}, {}
        self._area_since += passed
        for team, foul in ((1 - where, Foul.GOAL_KICK), (where, Foul.PENALTY_KICK)):
            count = sum(self._inside(where, robot) for robot in now.robots[team])
            if count < 2:
                self._crowds.pop(foul, None)
            elif (now.time - self._crowds.setdefault(foul, now.time) >= self.rules.crowd_seconds - 1e-9
                  and foul not in self._pending):
                self._pending[foul] = (where if foul is Foul.GOAL_KICK else 1 - where, now.time)
        if self._pending and now.time - min(since for _, since in self._pending.values()) >= self.rules.advantage - 1e-9:
            return [self._called_late()]
        if self._area_since >= self.rules.area_seconds - 1e-9:
            return [self._say("penalty", Foul.PENALTY_KICK, 1 - where,
                              f"the ball was in {NAMES[where]}'s goal area for {self.rules.area_seconds:g} s")]
        return []

    def _called_late(self) -> Decision:
        """The foul in the goal area that was seen last. [VSSReferee]"""
        foul = max(self._pending, key=lambda each: self._pending[each][1])
        return self._foul_in_area(foul, self._pending[foul][0])

    def _foul_in_area(self, foul: Foul, team: int, more: str = "") -> Decision:
        if foul is Foul.GOAL_KICK:
            why = f"two {NAMES[1 - team]} attackers in {NAMES[team]}'s goal area"
        else:
            why = f"two {NAMES[1 - team]} defenders in their own goal area"
        kind = "goal kick" if foul is Foul.GOAL_KICK else "penalty"
        return self._say(kind, foul, team, why + (f"; {more}" if more else ""))

    def _ball_stuck(self, now: Snapshot) -> list[Decision]:
        x, y, vx, vy = (float(each) for each in now.ball[:4])
        if self.rules.stuck_distance > 0.0:
            moved = hypot(x - self._stuck[0], y - self._stuck[1]) >= self.rules.stuck_distance
        else:
            moved = hypot(vx, vy) >= self.rules.stuck_speed
        if moved or self._stuck_since < 0.0:
            self._stuck, self._stuck_since = (x, y), self.clock
        if self.clock - self._stuck_since < self.rules.stuck_seconds - 1e-9:
            return []
        limit = (f"moved less than {self.rules.stuck_distance / CM:g} cm" if self.rules.stuck_distance > 0.0 else
                 f"was slower than {self.rules.stuck_speed:g} m/s")
        return [self._free_ball(now, f"the ball {limit} for {self.rules.stuck_seconds:g} s")]

    def _free_ball(self, now: Snapshot, why: str) -> Decision:
        quadrant = league.quadrant(float(now.ball[0]), float(now.ball[1]))
        return self._say("free ball", Foul.FREE_BALL, NO_TEAM, why, quadrant)

    def _half_ends(self) -> Decision:
        if self.half >= self.halves:
            return self._say("end", Foul.HALT, NO_TEAM, f"the match is over, {self.score[BLUE]}:{self.score[YELLOW]}")
        why = f"half {self.half} is over, {self.score[BLUE]}:{self.score[YELLOW]}"
        self.half, self.clock = self.half + 1, 0.0
        team = self._first if self.half % 2 else 1 - self._first
        if not self.rules.calls:
            return self._note(Decision(self._time, self.clock, "half", None, why))
        return self._say("half", Foul.KICKOFF, team, why)

    # -- what it remembers --------------------------------------------------------------------------------------------
    def _say(self, kind: str, foul: Foul, team: int, why: str, quadrant: int = 0, scored: int = NO_TEAM) -> Decision:
        """Call something, and go on to what follows it."""
        self.call = Call(foul, team, quadrant, self.half, self._time)
        self.calls += 1
        self._since, self._scored = self._time, scored != NO_TEAM
        if foul is Foul.HALT:
            self.phase = Phase.OVER
        elif foul is Foul.GAME_ON:
            self.phase = Phase.PLAYING
        elif foul is Foul.STOP:
            self.phase = Phase.STOPPED
        else:
            self.phase, self.foul = Phase.CALLED, self.call
        self._forget()
        return self._note(Decision(self._time, self.clock, kind, self.call, why, scored))

    def _forget(self) -> None:
        """Begin to look anew: nothing was going on."""
        self._stuck, self._stuck_since = (0.0, 0.0), -1.0
        self._area_of, self._area_since = -1, 0.0
        self._crowds, self._pending = {}, {}
        if self.phase is not Phase.PLAYING:
            self._in_goal = False

    def _note(self, decision: Decision) -> Decision:
        if len(self.log) < MOST_LOG:
            self.log.append(decision)
        return decision

    def _time_in_areas(self, now: Snapshot, passed: float) -> None:
        for team, times in enumerate(self._area_time):
            for number, robot in enumerate(now.robots[team]):
                if self._inside(team, robot):
                    times[number] += passed

    def _inside(self, team: int, what: Any) -> bool:
        """Whether the middle of something is in a team's goal area, or in its goal."""
        side = league.side(team)
        return league.in_goal_area(self.field, side * float(what[0]), side * float(what[1]))


def words(call: Call) -> str:
    """A call in words: 'blue's kick-off', 'a free ball in quadrant 2'."""
    if call.foul is Foul.FREE_BALL:
        return f"a free ball in quadrant {call.quadrant}"
    name = {Foul.KICKOFF: "kick-off", Foul.PENALTY_KICK: "penalty", Foul.GOAL_KICK: "goal kick", Foul.FREE_KICK: "free kick",
            Foul.STOP: "stop", Foul.GAME_ON: "game on", Foul.HALT: "halt"}[call.foul]
    return f"{NAMES[call.team]}'s {name}" if call.team in (BLUE, YELLOW) else name


def find_rules(given: str | Rules) -> Rules:
    """The rules of that name."""
    if isinstance(given, Rules):
        return given
    if given not in RULES:
        raise FormigaError(f"there are no rules '{given}'.{suggest(given, RULES)} There are: {', '.join(RULES)}.")
    return RULES[given]


__all__ = ["Decision", "NO_TEAM", "Phase", "RULES", "Referee", "Rules", "Snapshot", "find_rules", "words"]
