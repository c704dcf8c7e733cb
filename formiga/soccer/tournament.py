"""A round robin: each team against each other, matches in processes of their own, the results in a folder.

    DIR/tournament.json        the teams, and how they play
    DIR/matches/0007.json      the result of a match, written whole when it is over
    DIR/replays/0007.parquet   the match itself, if it was asked for
    DIR/table.json             the table so far

Whatever ends it, the same call goes on with the matches that have no result yet. A match's seed follows from the
tournament's, the pair and the round, so it does not matter in which order, or how many at a time, they are played.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from formiga.errors import FormigaError, reason, whole
from formiga.files import write_whole
from formiga.noise import channel, fold, world_key
from formiga.soccer.roster import check_names, find_team

FILE, TABLE, MATCHES, REPLAYS = "tournament.json", "table.json", "matches", "replays"
FORMAT = 1
WIN, DRAW = 3, 1       # points
MOST_TEAMS = 200
LARGEST = 50_000_000   # bytes of a result
LOOK = 0.02            # s between two looks whether to stop
GRACE = 10.0           # s that a match may take to end its teams, before it is killed


class TournamentError(FormigaError):
    """A tournament that cannot be played, or a folder that has another one."""


class Fixture(NamedTuple):
    """A match that is to be played."""

    number: int
    round: int
    blue: int              # in the list of teams
    yellow: int
    seed: int

    @property
    def name(self) -> str:
        """Of its files."""
        return f"{self.number:04d}"


@dataclass(frozen=True)
class Settings:
    """All about a tournament that its results depend on."""

    teams: tuple[str, ...]
    rounds: int = 1                # how often each pair meets
    both: bool = False             # in each round twice: once in each colour
    seed: int = 0
    match: dict[str, Any] = field(default_factory=dict)  # for match.arrange: players, half_seconds, halves, preset, rules ...
    replays: bool = False
    labels: tuple[str, ...] = ()   # the names of the teams; if none are given, their own, a second of one name with a number
    online: tuple[bool, ...] = ()  # the teams that come through the network

    def __post_init__(self) -> None:
        if not 2 <= len(self.teams) <= MOST_TEAMS:
            raise TournamentError(f"{len(self.teams)} teams make no tournament; it needs 2 to {MOST_TEAMS}.")
        whole("rounds", self.rounds, 1, 1000)
        whole("seed", self.seed, 0, 2**63 - 1)
        if self.labels and not self.online:  # as a user gives them
            check_names(self.labels, len(self.teams))
        if not self.online:  # found once: later, in the folder, a program may be gone; the others play on
            specs = [find_team(text) for text in self.teams]
            names = list(self.labels) or [spec.name for spec in specs]
            labels = [name if names[:at].count(name) == 0 else f"{name} {names[:at].count(name) + 1}"
                      for at, name in enumerate(names)]
            object.__setattr__(self, "labels", tuple(labels))
            object.__setattr__(self, "online", tuple(spec.network for spec in specs))

    def fixtures(self) -> list[Fixture]:
        """All matches, in the order in which they are played. Colours change from round to round.

        A program that comes through the network plays the colour that it was told: network teams are always blue.
        """
        network = self.online
        found: list[Fixture] = []
        for number in range(self.rounds):
            for one, other in combinations(range(len(self.teams)), 2):
                blue, yellow = (other, one) if (number + one + other) % 2 == 0 else (one, other)
                if network[one] != network[other]:
                    blue, yellow = (one, other) if network[one] else (other, one)
                for turn in range(2 if self.both else 1):
                    pair = (blue, yellow) if turn == 0 or network[one] or network[other] else (yellow, blue)
                    found.append(Fixture(len(found), number, *pair, self._seed(number, turn, *pair)))
        return found

    def _seed(self, *coordinates: int) -> int:
        key = fold(world_key(self.seed, 0), channel("soccer", "tournament"))
        for each in coordinates:
            key = fold(key, each)
        return int(key) >> 1  # a seed has 63 bits


class Row(NamedTuple):
    """A team in the table."""

    team: str
    played: int
    won: int
    drawn: int
    lost: int
    goals: int
    against: int

    @property
    def points(self) -> int:
        """Three for a win, one for a draw."""
        return WIN * self.won + DRAW * self.drawn

    @property
    def difference(self) -> int:
        """Of goals."""
        return self.goals - self.against


def table(labels: Sequence[str], results: Sequence[tuple[int, int, tuple[int, int]]]) -> list[Row]:
    """The table after results (blue team, yellow team, score): by points, then by the difference of goals, goals, name."""
    counts = [[0] * 6 for _ in labels]
    for blue, yellow, (for_blue, for_yellow) in results:
        for team, ours, theirs in ((blue, for_blue, for_yellow), (yellow, for_yellow, for_blue)):
            won, drawn = int(ours > theirs), int(ours == theirs)
            counts[team] = [a + b for a, b in zip(counts[team], (1, won, drawn, 1 - won - drawn, ours, theirs), strict=True)]
    rows = [Row(label, *count) for label, count in zip(labels, counts, strict=True)]
    return sorted(rows, key=lambda row: (-row.points, -row.difference, -row.goals, row.team))


class Tournament:
    """A tournament in a folder. `play` plays what is left of it."""

    def __init__(self, folder: str | os.PathLike[str], settings: Settings) -> None:
        self.folder, self.settings = Path(folder), settings
        self.fixtures, self.labels = settings.fixtures(), settings.labels
        self.results: dict[int, dict[str, Any]] = {}
        self.failed: dict[int, str] = {}       # matches of this call that came to no result, and why
        self._open()

    @property
    def left(self) -> list[Fixture]:
        """The matches that have no result."""
        return [fixture for fixture in self.fixtures if fixture.number not in self.results]

    @property
    def table(self) -> list[Row]:
        """As it stands."""
        scores = [(fixture, self.results[fixture.number]["score"]) for fixture in self.fixtures
                  if fixture.number in self.results]
        return table(self.labels, [(fixture.blue, fixture.yellow, (score[0], score[1])) for fixture, score in scores])

    def play(self, jobs: int = 1, *, progress: Callable[[Fixture, dict[str, Any] | None], None] | None = None,
             stop: Callable[[], bool] = lambda: False) -> bool:
        """Play the matches that are left, `jobs` at a time; False if `stop` said so before the end.

        progress hears of every match that has ended, and its result; None: it came to none, see `failed`.
        """
        jobs = whole("jobs", jobs, 1, 1024)
        if sys.platform == "win32":
            raise TournamentError("a tournament waits for its matches by pipes, which Windows cannot do; play single matches.")
        if any(self.settings.online):
            jobs = 1  # there is only one set of ports, and real time needs the machine for itself
        self.failed.clear()
        waiting = iter(self.left)
        workers: list[Worker] = []
        try:
            while not stop():
                for worker in workers:
                    if worker.fixture is None and (fixture := next(waiting, None)) is not None:
                        worker.play(fixture)
                while len(workers) < jobs and (fixture := next(waiting, None)) is not None:
                    workers.append(Worker(self.folder))
                    workers[-1].play(fixture)
                playing = {worker.answers: worker for worker in workers if worker.fixture is not None}
                if not playing:
                    return True
                for answers in select.select(list(playing), [], [], LOOK)[0]:
                    worker = playing[answers]
                    fixture, why = worker.ended()
                    if worker.gone:
                        workers.remove(worker)
                    result = self._ended(fixture, why)
                    if progress is not None:
                        progress(fixture, result)
            return False
        finally:
            _end([worker.process for worker in workers])

    # -- the folder ---------------------------------------------------------------------------------------------------
    def _open(self) -> None:
        about = json.loads(json.dumps({"format": FORMAT, **asdict(self.settings)}))
        file = self.folder / FILE
        if file.exists():
            found = _read(file)
            if found != about:
                different = [name for name in about if not isinstance(found, dict) or found.get(name) != about[name]]
                raise TournamentError(f"{self.folder}: has another tournament ({', '.join(different)} differ); go on with the "
                                      "same teams and options, or choose another folder.")
        else:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as wrong:
                raise TournamentError(f"{self.folder}: cannot be made a folder ({wrong.strerror}).") from wrong
            if any(self.folder.iterdir()):
                raise TournamentError(f"{self.folder}: is not empty, and has no tournament; choose another folder.")
            write_whole(file, json.dumps(about, indent=1) + "\n", TournamentError)
        for name in (MATCHES, *([REPLAYS] if self.settings.replays else [])):
            try:
                (self.folder / name).mkdir(exist_ok=True)
            except OSError as wrong:
                raise TournamentError(f"{self.folder / name}: cannot be made a folder ({wrong.strerror}).") from wrong
        for fixture in self.fixtures:
            result = read_result(self.folder, self.labels, fixture)
            if result is not None:
                self.results[fixture.number] = result

    def _ended(self, fixture: Fixture, why: str) -> dict[str, Any] | None:
        result = read_result(self.folder, self.labels, fixture)
        if result is None:
            self.failed[fixture.number] = why or "its result cannot be read"
            return None
        self.results[fixture.number] = result
        rows = [{"team": row.team, "points": row.points, **row._asdict()} for row in self.table]
        write_whole(self.folder / TABLE, json.dumps({"left": len(self.left), "table": rows}, indent=1) + "\n", TournamentError)
        return result


class Worker:
    """A process that plays matches, one after the other: to start it takes longer than a short match.

    It ends when its standard input does, so that none outlives us, whatever happens.
    """

    def __init__(self, folder: Path) -> None:
        self.fixture: Fixture | None = None    # that it plays now
        self.gone = False                      # whether the process has ended
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  (open as long as the process runs)
        try:
            self.process = subprocess.Popen([sys.executable, "-m", "formiga.soccer.fixture", str(folder)],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said,
                                            start_new_session=True)  # Ctrl-C is for us; we tell the matches
        except OSError as wrong:
            raise TournamentError(f"a match cannot be started ({wrong.strerror or wrong}).") from wrong

    @property
    def answers(self) -> Any:
        """Where it says that a match has ended."""
        return self.process.stdout

    def play(self, fixture: Fixture) -> None:
        """Begin a match."""
        self.fixture = fixture
        assert self.process.stdin is not None
        with suppress(OSError):  # it is gone, which `ended` will tell
            self.process.stdin.write(b"%d\n" % fixture.number)
            self.process.stdin.flush()

    def ended(self) -> tuple[Fixture, str]:
        """The match that has ended, and why it came to no result; '' if it did not fail."""
        fixture, self.fixture = self.fixture, None
        assert fixture is not None
        if line := self.answers.readline():
            return fixture, str(json.loads(line)["why"])
        self.gone = True
        code = self.process.wait()
        self._said.seek(0)
        said = self._said.read().decode(errors="replace").strip().splitlines()
        return fixture, said[-1] if said else f"its process ended ({f'signal {-code}' if code < 0 else f'exit code {code}'})"


def read_settings(folder: str | os.PathLike[str]) -> Settings:
    """The settings of the tournament in a folder."""
    found = _read(Path(folder) / FILE)
    try:
        if found.pop("format") != FORMAT:
            raise ValueError("format")
        return Settings(**{**found, **{name: tuple(found[name]) for name in ("teams", "labels", "online")}})
    except (AttributeError, KeyError, TypeError, ValueError) as wrong:
        raise TournamentError(f"{Path(folder) / FILE}: not a tournament that this formiga can read.") from wrong


def read_result(folder: Path, labels: Sequence[str], fixture: Fixture) -> dict[str, Any] | None:
    """The stored result of a match; None if there is none, or not a whole one, or that of another match."""
    try:
        result = _read(folder / MATCHES / f"{fixture.name}.json")
    except TournamentError:
        return None
    same = isinstance(result, dict) and result.get("over") is True and result.get("seed") == fixture.seed and (
        (result.get("blue"), result.get("yellow")) == (labels[fixture.blue], labels[fixture.yellow]))
    score = result.get("score") if same else None
    if not isinstance(score, list) or len(score) != 2 or any(type(goals) is not int or goals < 0 for goals in score):
        return None
    failures = result.get("failures", {})
    if not isinstance(failures, dict) or any(colour not in ("blue", "yellow") or not isinstance(why, str)
                                             for colour, why in failures.items()):
        return None
    return dict(result)


def _read(file: Path) -> Any:
    try:
        if file.stat().st_size > LARGEST:
            raise TournamentError(f"{file}: too large for what it should be.")
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as wrong:
        raise TournamentError(f"{file}: cannot be read ({reason(wrong)}).") from wrong


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End matches that are being played; they end their teams."""
    for process in processes:
        with suppress(OSError):
            process.send_signal(signal.SIGTERM)
        with suppress(OSError):
            assert process.stdin is not None
            process.stdin.close()
    for process in _until(time.monotonic() + GRACE, processes):
        process.kill()
    for process in processes:
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _until(deadline: float, processes: Sequence[subprocess.Popen[bytes]]) -> Iterator[subprocess.Popen[bytes]]:
    """Those that have not ended by then."""
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            yield process


__all__ = ["Fixture", "Row", "Settings", "Tournament", "TournamentError", "read_result", "read_settings", "table"]
