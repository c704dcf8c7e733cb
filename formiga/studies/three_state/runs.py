"""Runs of teams: several worlds at a time, with a kidnapping, or with a fork lift that takes away what is on the map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from formiga.loop import Simulation
from formiga.map.grid import Grid
from formiga.map.walls import rectangles
from formiga.state import Floats
from formiga.studies import harness
from formiga.studies.three_state.elements import STATE
from formiga.studies.three_state.machine import TRACKING
from formiga.world.model import Rectangle, World

SEED = 1
SECONDS = 1750.0
EVERY = 10                     # steps from one sample to the next: 1 s
RIGHT = 2.0                    # m; a rover with a smaller error is right
TOGETHER = 10                  # worlds of one task

# -- the building: 80 m x 65 m, 3 x 4 blocks of 20 m x 10 m, corridors of 5 m; reconstructed --------------------------------
SIZE = 80.0, 65.0
BLOCK, CORRIDOR, BLOCKS = (20.0, 10.0), 5.0, (3, 4)
PIECE = 5.0, 10.0, 55.0, 60.0  # m, x0 x1 y0 y1 of what is missing in the upper left corner; ours
MARGIN = 1.0                   # m of wall around the map


def blocks() -> Iterator[tuple[float, float]]:
    """The lower left corners of all blocks."""
    for i in range(BLOCKS[0]):
        for j in range(BLOCKS[1]):
            yield CORRIDOR + i * (BLOCK[0] + CORRIDOR), CORRIDOR + j * (BLOCK[1] + CORRIDOR)


def plan(piece: bool = True, resolution: float = 0.1) -> Any:
    """What is occupied (rows, columns), of the building and the margin around it; piece: whether one is missing."""
    def cells(low: float, high: float) -> slice:
        return slice(round((low + MARGIN) / resolution), round((high + MARGIN) / resolution))

    taken = np.ones([round((side + 2.0 * MARGIN) / resolution) for side in SIZE[::-1]], np.bool_)
    taken[cells(0.0, SIZE[1]), cells(0.0, SIZE[0])] = False
    for x, y in blocks():
        taken[cells(y, y + BLOCK[1]), cells(x, x + BLOCK[0])] = True
    if piece:
        taken[cells(*PIECE[2:]), cells(*PIECE[:2])] = False
    return taken


def turned(poses: Floats) -> Floats:
    """The images of poses (..., 3) after half a turn of the building."""
    return np.stack([SIZE[0] - poses[..., 0], SIZE[1] - poses[..., 1], poses[..., 2] + np.pi], axis=-1)


def somewhere(grid: Grid, number: int, seed: int) -> Floats:
    """Poses (number, 3) on free cells, anywhere."""
    rng = np.random.default_rng(seed)
    free = np.argwhere(grid.free)
    place = grid.centre_of(free[rng.integers(len(free), size=number)])
    return np.column_stack([place, rng.uniform(-np.pi, np.pi, number)])


# -- teams ------------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Team:
    """So many worlds with a team each, from number `first` of the run on."""

    rovers: int
    worlds: int = TOGETHER
    first: int = 0
    machine: str = "three"
    symmetric: bool = False       # nothing breaks the building's symmetry
    seconds: float = SECONDS
    kidnap: float | None = None   # s, when one rover that tracks and is right is carried elsewhere
    seed: int = SEED


@dataclass(frozen=True)
class Course:
    """What teams did, a sample a second."""

    error: Any                    # (W, T, N) m, float32: from the true to the believed place
    state: Any                    # (W, T, N) int8
    kidnapped: Any                # (W,) which rover was carried away, -1 for none
    reports: Any                  # (W,) instants of reports from then until it was no longer tracking, or until the end
    carried: Any                  # (W,) m, how far it was carried


def teams(rovers: int, runs: int, **given: Any) -> list[Team]:
    """Tasks of at most TOGETHER worlds for so many runs; the runs are the same however they are shared out."""
    return [Team(rovers, min(TOGETHER, runs - first), first, **given) for first in range(0, runs, TOGETHER)]


def joined(courses: list[Course]) -> Course:
    """Those of several tasks as one."""
    return Course(*(np.concatenate([getattr(course, name) for course in courses]) for name in Course.__dataclass_fields__))


def world_of(team: Team) -> World:
    """The world of the study with this team."""
    return harness.world("three_state", {"rovers": team.rovers, "machine": team.machine,
                                         "plan": "symmetric.png" if team.symmetric else "map.png"})


def perform(team: Team) -> Course:
    """Let the teams wander. What is true is compared with their beliefs here alone."""
    lab = Simulation(world_of(team), team.seed, team.worlds, first_world=team.first)
    watch, steps = Watch(lab), round(team.seconds / lab.world.dt)
    away = None if team.kidnap is None else round(team.kidnap / lab.world.dt)
    for step in range(steps):
        if step == away:
            watch.kidnap(team)
        if step % EVERY == 0:
            watch.sample()
        watch.count()
        lab.step()
    return watch.course()


class Watch:
    """Samples of a run, and what became of rovers that were carried away."""

    def __init__(self, lab: Simulation) -> None:
        self.lab = lab
        self.errors: list[Any] = []
        self.states: list[Any] = []
        worlds = lab.state.worlds
        self.rover, self.reports = np.full(worlds, -1), np.zeros(worlds, np.int64)
        self.carried = np.zeros(worlds)
        self._last = np.zeros(worlds, np.int64)
        self._open = np.zeros(worlds, np.bool_)

    def sample(self) -> None:
        """Errors and states of now."""
        error, state = watched(self.lab)
        self.errors.append(error)
        self.states.append(state)

    def kidnap(self, team: Team) -> None:
        """Carry the first rover that tracks and is right anywhere else, in each world that has one."""
        error, state = watched(self.lab)
        grid, now = self.lab.world.map("map"), self.lab.state
        for w in range(now.worlds):
            able = np.flatnonzero((state[w] == TRACKING) & (error[w] < RIGHT))
            if not len(able):
                continue
            rover = int(able[0])
            others = np.delete(now.position[w], rover, axis=0)
            for pose in somewhere(grid, 1000, harness.seed_of(team.seed, 2, team.first + w)):
                if np.hypot(*(others - pose[:2]).T).min(initial=np.inf) > 1.0 and roomy(grid, pose[:2]):
                    break
            self.carried[w] = np.hypot(*(pose[:2] - now.position[w, rover]))
            now.position[w, rover], now.heading[w, rover] = pose[:2], pose[2]
            self.rover[w], self._open[w] = rover, True
            self._last[w] = self._instants()[w, rover]
        self.lab.look_again()

    def count(self) -> None:
        """Count the instants at which rovers that were carried away hear reports, as long as they are tracking."""
        if not self._open.any():
            return
        _, state = watched(self.lab)
        instants = self._instants()
        for w in np.flatnonzero(self._open):
            rover, now = self.rover[w], instants[w, self.rover[w]]
            left = state[w, rover] != TRACKING
            self.reports[w] += 1 if left else max(0, now - self._last[w])
            self._last[w] = now
            self._open[w] = not left

    def _instants(self) -> Any:
        return self.lab.state.memory["rovers/belief", "instants"]

    def course(self) -> Course:
        """All of it."""
        return Course(np.array(self.errors, np.float32).swapaxes(0, 1), np.array(self.states, np.int8).swapaxes(0, 1),
                      self.rover, self.reports, self.carried)


def watched(lab: Simulation) -> tuple[Floats, Any]:
    """Errors (W, N), m, and states (W, N) of all rovers."""
    belief = lab.readings["rovers"]["belief"]
    return np.hypot(*np.moveaxis(belief[..., :2] - lab.state.position, -1, 0)), belief[..., STATE].astype(np.int64)


def roomy(grid: Grid, place: Any, radius: float = 0.6) -> bool:
    """Whether a rover fits at a place."""
    around = place + radius * np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=-1)
    return bool((grid.at(around) == 0).all() and grid.at(place) == 0)


ANGLES = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)


# -- the fork lift ------------------------------------------------------------------------------------------------------------
PALLET = 5.0                   # m, side; ours: only with pallets as large as this one lift reaches 50 % in the published time
LIFT_SPEED, HANDLING = 1.0, 3.0    # m/s, s for each operation
NEAR = 15.0                    # m, within which the lift chooses its next pallet; ours
LATEST = 1000.0                # s, when it begins although not all rovers are tracking
WORKS = 750.0                  # s, for which it works


@dataclass(frozen=True)
class Lift:
    """A run in which a fork lift takes pallets away until so much of the blocks is left."""

    occupancy: float
    run: int
    seconds: float = WORKS
    latest: float = LATEST
    seed: int = SEED


@dataclass(frozen=True)
class Changed:
    """What a team did while the lift worked, a sample a second."""

    began: float                  # s
    tracking: bool                # whether all were tracking by then
    before: Floats                # (N,) errors when it began
    error: Any                    # (T, N)
    state: Any                    # (T, N)
    left: float                   # share of the pallets that is there at the end


def change(lift: Lift) -> Changed:
    """Six rovers find themselves; then the lift works, and their map stays as it was."""
    world = world_of(Team(6))
    lab = Simulation(world, lift.seed, 1, first_world=1000 + lift.run)
    every, latest = 10 * EVERY, round(lift.latest / world.dt)
    while lab.state.step[0] < latest and not (lab.state.step[0] % every == 0 and (watched(lab)[1] == TRACKING).all()):
        lab.step()
    before, state = watched(lab)
    began, done = float(lab.state.step[0] * world.dt), bool((state == TRACKING).all())
    yard = Yard(harness.seed_of(lift.seed, 3, lift.run, round(100 * lift.occupancy)), lift.occupancy)
    lab = edited(lab, yard.world(world))
    errors, states, ready = [], [], yard.next_time(began)
    for step in range(round(lift.seconds / world.dt)):
        if lab.state.step[0] * world.dt >= ready:
            if yard.operate(lab.state.position[0]):
                lab = edited(lab, yard.world(world))
            ready = yard.next_time(lab.state.step[0] * world.dt)
        if step % EVERY == 0:
            error, state = watched(lab)
            errors.append(error[0])
            states.append(state[0])
        lab.step()
    return Changed(began, done, before[0], np.array(errors), np.array(states), yard.share)


def edited(lab: Simulation, world: World) -> Simulation:
    """The same run in a building with other pallets."""
    return lab.edited(world, lab.state.position[0], lab.state.heading[0], np.arange(world.robots))


class Yard:
    """The pallets of all blocks, and the lift that goes from one to the next."""

    def __init__(self, seed: int, occupancy: float) -> None:
        self.rng, self.occupancy = np.random.default_rng(seed), occupancy
        columns, rows = round(BLOCK[0] / PALLET), round(BLOCK[1] / PALLET)
        self.corners = np.array([(x + PALLET * i, y + PALLET * j) for x, y in blocks() for i in range(columns)
                                 for j in range(rows)])
        self.there = ~((self.corners == (PIECE[0], PIECE[2])).all(axis=1))      # the piece that is missing on the map, too
        self.places = self.there.copy()
        self.at = self.corners[self.rng.integers(len(self.corners))]
        self.goal = -1

    @property
    def share(self) -> float:
        """Of the places for pallets that are occupied."""
        return float(self.there.sum() / self.places.sum())

    def next_time(self, now: float) -> float:
        """Choose the next pallet, and say when the lift has taken it away or put it there."""
        removes = self.share > self.occupancy      # then it puts one down and takes another in turn
        able = np.flatnonzero(self.there if removes else self.places & ~self.there)
        away = np.hypot(*(self.corners[able] - self.at).T)
        near = able[away <= max(NEAR, away.min())]
        self.goal = int(self.rng.choice(near))
        way = float(np.hypot(*(self.corners[self.goal] - self.at)))
        self.at = self.corners[self.goal]
        return now + way / LIFT_SPEED + HANDLING

    def operate(self, rovers: Floats) -> bool:
        """Take the pallet away, or put it down where no rover is; whether anything has changed."""
        low, high = self.corners[self.goal] - 1.0, self.corners[self.goal] + PALLET + 1.0
        if not self.there[self.goal] and ((rovers > low) & (rovers < high)).all(axis=1).any():
            return False
        self.there[self.goal] = ~self.there[self.goal]
        return True

    def world(self, world: World) -> World:
        """A world whose map is only what the rovers know, and whose walls are around the pallets that are there."""
        resolution = PALLET
        rows, columns = round(SIZE[1] / resolution), round(SIZE[0] / resolution)
        taken = np.ones((rows + 2, columns + 2), np.bool_)                       # with a wall around the building
        taken[1:-1, 1:-1] = False
        for x, y in self.corners[self.there]:
            taken[1 + round(y / resolution), 1 + round(x / resolution)] = True
        solid = tuple(Rectangle(x=float(0.5 * (x0 + x1) - 1.0) * resolution, y=float(0.5 * (y0 + y1) - 1.0) * resolution,
                                width=float(x1 - x0) * resolution, depth=float(y1 - y0) * resolution, height=0.6)
                      for x0, y0, x1, y1 in rectangles(taken))
        known = tuple(replace(thing, on=False) for thing in world.things)
        return replace(world, things=(*known, *solid))


__all__ = ["RIGHT", "SECONDS", "Changed", "Course", "Lift", "Team", "Yard", "change", "joined", "perform", "plan", "somewhere",
           "teams", "turned", "world_of"]
