"""Acceptance 9 and 10: real team programs, in processes of their own, that see and say everything through shared memory."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from formiga.loop import Simulation
from formiga.soccer import league
from formiga.soccer.bridge import MemoryBridge, pitch_of
from formiga.soccer.match import Match
from formiga.soccer.roster import find_team
from formiga.soccer.talk import BLUE, NAMES, YELLOW, Sight
from formiga.soccer.tournament import Settings, Tournament
from formiga.studies.harness import Row, at_least, reported

LAW = "law"
FIRST, SECOND = "colony", "chaser"
TEAMS = Path(__file__).parent / "teams"
SEVEN = (FIRST, SECOND, *(str(TEAMS / f"{name}.py") for name in ("solo", "swarm", "wall", "spinners", "statues")))
SPEED = 20.0           # x real time: what is promised for a game of three against three
PATIENCE = 60.0        # s for an answer in lock-step: a busy machine is no reason to lose a picture


class Tape:
    """A bridge that remembers the pictures that it showed and the orders that it got; else it is the other."""

    def __init__(self, bridge: MemoryBridge) -> None:
        self._bridge = bridge
        self.shown: list[tuple[Sight, Any]] = []
        self.given: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bridge, name)

    def show(self, sight: Sight, game: Any) -> None:
        """Hand over a picture, and keep a copy."""
        copy = Sight(sight.frame, sight.time, *(np.array(part) for part in (sight.ball, sight.robots, sight.present)))
        self.shown.append((copy, game))
        self._bridge.show(sight, game)

    def orders(self, frame: int, wait: float) -> Any:
        """Wheel speeds, and keep a copy."""
        wheels = self._bridge.orders(frame, wait)
        self.given.append((frame, np.array(wheels)))
        return wheels


def program(world: Any, team: str, colour: int) -> MemoryBridge:
    """A team's program, started."""
    _, _, players = league.teams(world)
    spec = find_team(team)
    return MemoryBridge(spec.name, spec.command, colour, players, pitch_of(world), patience=PATIENCE)


class Played:
    """A whole game, and what there was to see of it."""

    def __init__(self, half_seconds: float, seed: int, kill_after: float | None = None) -> None:
        """kill_after: s after which yellow's program is killed."""
        world = league.world()
        simulation = Simulation(world, seed)
        self.ways: list[Any] = []
        with ExitStack() as stack:
            bridges = [stack.enter_context(program(world, team, colour)) for colour, team in enumerate((FIRST, SECOND))]
            self.tapes = [Tape(bridge) for bridge in bridges]
            self.pids = [bridge.pid for bridge in bridges]
            match = Match(world, (self.tapes[BLUE], self.tapes[YELLOW]), seed=seed, half_seconds=half_seconds,
                          patience=PATIENCE)
            match.before(simulation)  # both have answered their first picture: the clock runs from here
            self.sockets = sum(_sockets(pid) for pid in self.pids)
            began, worked = time.perf_counter(), time.process_time() + sum(map(_busy, self.pids))

            def after_each(match: Match) -> None:
                self.ways.append(np.concatenate([simulation.state.position[0].ravel(), simulation.state.movables[0, 0]]))
                if kill_after is not None and match.time >= kill_after and bridges[YELLOW].alive:
                    os.kill(bridges[YELLOW].pid, signal.SIGKILL)

            match.play(simulation, progress=after_each)
            self.elapsed = time.perf_counter() - began
            self.worked = time.process_time() + sum(map(_busy, self.pids)) - worked if self.sockets >= 0 else self.elapsed
            self.seconds, self.result, self.troubles = match.time, match.result(), match.troubles
            self.alive = [bridge.alive for bridge in bridges]

    def moved(self, team: int, last: float) -> float:
        """How far a team's robots went in the last so many seconds, m."""
        steps = np.array(self.ways)[-round(last / 0.033):, 6 * team:6 * team + 6].reshape(-1, 3, 2)
        return float(np.linalg.norm(np.diff(steps, axis=0), axis=-1).sum())


def _sockets(pid: int) -> int:
    """How many sockets a process has open; -1 where the system does not tell."""
    try:
        files = [os.readlink(file) for file in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return -1
    return sum(file.startswith("socket:") for file in files)


def _busy(pid: int) -> float:
    """Processor time (s) of another process; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # user and system


def against_recording(tape: Tape, team: str, colour: int) -> int:
    """How many answers of the same program to the recorded pictures differ from those of the game. No simulator runs."""
    world = league.world()
    answers = dict(tape.given)
    wrong = 0
    with program(world, team, colour) as bridge:
        for sight, game in tape.shown:
            bridge.show(sight, game)
            wheels = np.array(bridge.orders(sight.frame, PATIENCE))
            wrong += sight.frame in answers and not np.array_equal(wheels, answers[sight.frame])
    return wrong


def interface(half_seconds: float) -> Iterator[Row]:
    """Acceptance 9."""
    game, again, other = (Played(half_seconds, seed) for seed in (7, 7, 8))
    name = f"{FIRST} - {SECOND}, 2 x {half_seconds:g} s"
    yield Row(f"{name}: played to the end", True, bool(game.result["over"]), origin=LAW)
    yield Row(f"{name}: programs in processes of their own", 2, len({*game.pids} - {os.getpid()}), origin=LAW)
    yield Row(f"{name}: sockets that they have open", 0, game.sockets, origin=LAW)
    yield Row(f"{name}: pictures that they did not answer, and other troubles", 0, len(game.troubles), origin=LAW)
    yield reported(f"{name}: score", " : ".join(map(str, game.result["score"])))
    yield at_least(f"{name}: speed without a window, by the processor time of simulator and both programs (x real time)", SPEED,
                   max(each.seconds / each.worked for each in (game, again, other)),
                   note="The fastest of three games. With other work on both cores a game needs up to five times the processor "
                        "time, because its processes find their caches cold.")
    yield reported(f"{name}: speed without a window, by the clock (x real time)",
                   max(each.seconds / each.elapsed for each in (game, again, other)))
    for colour, team in enumerate((FIRST, SECOND)):
        wrong = against_recording(game.tapes[colour], team, colour)
        yield Row(f"{team} ({NAMES[colour]}) against the recorded pictures: answers that differ from the game's", 0, wrong,
                  origin=LAW)
    yield Row("lock-step, equal seeds: two games are the same in every bit", True, _same(game, again), origin=LAW)
    yield Row("lock-step, another seed: another game", False, _same(game, other), origin=LAW)
    killed = Played(half_seconds, seed=7, kill_after=0.5 * half_seconds)
    yield Row(f"{SECOND} killed in the first half: the game is played to the end", True, bool(killed.result["over"]),
              origin=LAW)
    yield Row(f"{SECOND} killed: its program is dead, {FIRST}'s robots drive on in the second half", True,
              killed.alive == [True, False] and killed.moved(BLUE, half_seconds) > 0.1, origin=LAW)


def _same(one: Played, other: Played) -> bool:
    return one.result["score"] == other.result["score"] and np.array_equal(np.array(one.ways), np.array(other.ways))


def tournament(half_seconds: float, teams: int, jobs: int) -> Iterator[Row]:
    """Acceptance 10."""
    with tempfile.TemporaryDirectory(prefix="formiga-study-") as folder:
        contest = Tournament(Path(folder) / "tournament", Settings(SEVEN[:teams], match={"half_seconds": half_seconds,
                                                                                         "patience": PATIENCE}))
        contest.play(jobs)
        table = contest.table
        name = f"tournament of {teams} teams, 2 x {half_seconds:g} s"
        yield Row(f"{name}: matches with a result", teams * (teams - 1) // 2, len(contest.results), origin=LAW,
                  note="; ".join(contest.failed.values()))
        yield Row(f"{name}: teams in the table", teams, len(table), origin=LAW)
        for place, row in enumerate(table, 1):
            yield reported(f"{name}: {place}. {row.team}", f"{row.points} points, {row.goals}:{row.against}")
