"""How a state starts, whichever engine moves it: the keys of its worlds, given starts, and worlds that begin again."""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.engine import Model
from formiga.engine.place import switched_on
from formiga.errors import WorldError
from formiga.noise import world_key
from formiga.state import Floats, State
from formiga.world.model import World


def keys_of(model: Model, seed: int) -> Any:
    """What the starts and the noise of the worlds of a seed are hashed from (W / copies,)."""
    return np.array([world_key(seed, model.first_world + w) for w in range(model.worlds // model.copies)], np.uint64)


def everywhere(model: Model, *starts: Any) -> tuple[Any, ...]:
    """Arrays over worlds, repeated for each copy of them."""
    return starts if model.copies == 1 else tuple(np.concatenate([array] * model.copies) for array in starts)


def given(start: tuple[Any, Any], worlds: int, robots: int) -> tuple[Floats, Floats]:
    """A start that the caller chose, checked: positions (W, N, 2) and headings (W, N)."""
    try:
        position, heading = (np.array(part, np.float64) for part in start)
    except (TypeError, ValueError) as wrong:
        raise WorldError("a start must be two arrays of numbers: positions (worlds, robots, 2), headings (worlds, robots).") \
            from wrong
    if position.shape != (worlds, robots, 2) or heading.shape != (worlds, robots):
        raise WorldError(f"a start has positions ({worlds}, {robots}, 2) and headings ({worlds}, {robots}), not "
                         f"{position.shape} and {heading.shape}.")
    if not (np.isfinite(position).all() and np.isfinite(heading).all()):
        raise WorldError("a start has finite numbers only; these are not.")
    return position, heading


def begin_again(world: World, state: State, chosen: Any, position: Floats, heading: Floats, key: Any) -> None:
    """All arrays of the chosen (W,) worlds as they start, but for robots at position (W, N, 2) and heading (W, N), the key (W,)
    of the noise, and what a description sets at the start: robots that are switched on, and movables."""
    state.clear(chosen)
    state.alive[chosen] = switched_on(world)
    state.position[chosen], state.heading[chosen], state.key[chosen] = position[chosen], heading[chosen], key[chosen]
    state.movables[chosen] = movables_start(world)
    state.note_start()
    state.forget(chosen)


def movables_start(world: World) -> Floats:
    """The rows of `State.movables` at the start (M, 8)."""
    return np.array([(*start_of(thing), 0.0, 0.0, 0.0) for thing in world.movables]).reshape(-1, 8)


def start_of(thing: Any) -> tuple[float, ...]:
    """x y heading vx vy of a movable at the start."""
    return thing.x, thing.y, thing.heading, thing.vx, thing.vy


__all__ = ["begin_again", "everywhere", "given", "keys_of", "movables_start", "start_of"]
