"""The shipped tasks, or any world of yours, as standard learning environments.

    import gymnasium, formiga.envs                              # the import registers the ids
    env = gymnasium.make("formiga/Avoid-v0")

    env = formiga.make_env("aggregate", robots=20)              # one agent commands all robots
    env = formiga.make_vector_env("mine.xml", num_envs=1024)    # the same, many worlds in one call
    env = formiga.parallel_env("avoid", robots=4)               # PettingZoo: one agent for each robot
    env = formiga.make_env("soccer", opponents="chase")         # robot soccer: one robot of a team learns; see soccer/

Observations are readings in full readings, from 0 to 1, or from -1 to 1 where they have a sign: the inputs of the group's
network if it has one, else all that its robots read. Actions are shares of what a robot takes, from -1 to 1: wheel speeds in
top speeds, joints from their lowest to their highest order. `observe`, `without` and `actions` choose others. The reward of a
robot in a step is the weighted sum of the world's <fitness>.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from formiga.errors import MissingExtra, WorldError

if TYPE_CHECKING:
    from formiga.envs.parallel import SwarmParallelEnv
    from formiga.envs.single import SwarmEnv
    from formiga.envs.soccer.parallel import SoccerParallelEnv
    from formiga.envs.soccer.single import SoccerEnv
    from formiga.envs.soccer.task import Task
    from formiga.envs.soccer.vector import SoccerVectorEnv
    from formiga.envs.vector import SwarmVectorEnv
    from formiga.world.model import World

    Given = World | str | os.PathLike[str]
    Names = Sequence[str] | None

TASKS: dict[str, dict[str, Any]] = {
    "formiga/Avoid-v0": {"world": "avoid", "robots": 1},
    "formiga/Aggregate-v0": {"world": "aggregate"},
    "formiga/Avoid3D-v0": {"world": "avoid3d"},
    "formiga/Disperse-v0": {"world": "disperse"},
    "formiga/Hexapod-v0": {"world": "hexapod"},
    "formiga/Phototaxis-v0": {"world": "phototaxis", "robots": 1},
    "formiga/Soccer-v0": {"world": "soccer"},
}


def make_env(world: Given, render_mode: str | None = None, *, group: str = "", max_episode_steps: int | None = None,
             observe: Names | str = None, without: Names = None, actions: Names = None,
             **params: Any) -> SwarmEnv | SoccerEnv:
    """A gymnasium.Env whose agent commands all robots of a group at once and earns the mean of their rewards.

    world: the name of a shipped one, a file or a World; `params` replace its <param>s. group: the commanded one, if it is
    not the only one with a neural controller, or the only one. An episode lasts as long as a trial of the world's search, else
    its `seconds`.

    observe: names of the readings that are seen, or "all"; default: the inputs of the group's network, else all. without: names
    of readings that are left out. actions: what is ordered, of "drive", "joints", "leds", "message", "sound"; default: what
    the group's network orders, else all but lights and sounds.

    In a world with a <field> and no <fitness>, the agent drives one robot of a team, blue if no group is named. Then `params`
    are the options of `formiga.envs.soccer.task.Task`; with the names "soccer" and "soccer5", also players, preset, dt, tyres
    and shape.
    """
    with _extra():
        from formiga.envs.single import SwarmEnv
        from formiga.envs.soccer.single import SoccerEnv
    there, task = _read(world, params)
    if task is not None:
        _refuse_choice(observe, without, actions)
        return SoccerEnv(there, task, render_mode, group, max_episode_steps)
    return SwarmEnv(there, render_mode, group, max_episode_steps, observe=observe, without=without, actions=actions)


def make_vector_env(world: Given, num_envs: int = 1, render_mode: str | None = None, *, group: str = "",
                    max_episode_steps: int | None = None, threads: int = 1, observe: Names | str = None, without: Names = None,
                    actions: Names = None, **params: Any) -> SwarmVectorEnv | SoccerVectorEnv:
    """A gymnasium.vector.VectorEnv: as many of those worlds, all in one simulation; the other arguments as of `make_env`.

    World w is the same, bit for bit, whatever the number of worlds and of threads.
    """
    with _extra():
        from formiga.envs.soccer.vector import SoccerVectorEnv
        from formiga.envs.vector import SwarmVectorEnv
    there, task = _read(world, params)
    if task is not None:
        _refuse_choice(observe, without, actions)
        return SoccerVectorEnv(there, task, num_envs, render_mode, group, max_episode_steps, threads)
    return SwarmVectorEnv(there, num_envs, render_mode, group, max_episode_steps, threads, observe=observe, without=without,
                          actions=actions)


def parallel_env(world: Given, render_mode: str | None = None, *, group: str = "", max_episode_steps: int | None = None,
                 observe: Names | str = None, without: Names = None, actions: Names = None,
                 **params: Any) -> SwarmParallelEnv | SoccerParallelEnv:
    """A pettingzoo.ParallelEnv: one agent for each robot of the group, each with its own observation and reward; in a world
    with a <field>, of both teams, or of the one that `group` names. The other arguments as of `make_env`.
    """
    with _extra():
        from formiga.envs.parallel import SwarmParallelEnv
        from formiga.envs.soccer.parallel import SoccerParallelEnv
    there, task = _read(world, params)
    if task is not None:
        _refuse_choice(observe, without, actions)
        return SoccerParallelEnv(there, task, render_mode, group, max_episode_steps)
    return SwarmParallelEnv(there, render_mode, group, max_episode_steps, observe=observe, without=without, actions=actions)


def register() -> None:
    """Tell Gymnasium the ids of TASKS. Importing this package does it, if Gymnasium is there."""
    with _extra():
        import gymnasium
    for name, kwargs in TASKS.items():
        if name not in gymnasium.registry:
            gymnasium.register(name, entry_point="formiga.envs:make_env", vector_entry_point="formiga.envs:make_vector_env",
                               kwargs=kwargs)


def _read(world: Given, params: dict[str, Any]) -> tuple[World, Task | None]:
    """The world, and what there is to learn if it is one of soccer."""
    from formiga.envs.soccer import task  # when it is needed: it loads the compiler, and registering should be quick
    from formiga.lab import read_world
    from formiga.world.model import World

    if isinstance(world, str) and world in task.LEAGUES and not os.path.isfile(world):  # a file of that name goes first
        return task.read(world, params)
    given = world if isinstance(world, World) else read_world(world, **params)
    if given.pitch is not None and not given.fitness:
        return task.read(given, params if given is world else {})
    if params and given is world:
        raise WorldError(f"'{next(iter(params))}' is a parameter of a world's file, and this world was read already.")
    return given, None


def _refuse_choice(*given: Any) -> None:
    if any(each is not None for each in given):
        raise WorldError("observe, without, actions: robot soccer has an observation and an action of its own; these are for "
                         "worlds with a <fitness>.")


@contextmanager
def _extra() -> Iterator[None]:
    """Say what to install, if one of the two libraries is not there."""
    try:
        yield
    except ImportError as wrong:
        library = {"gymnasium": "Gymnasium", "pettingzoo": "PettingZoo"}.get((wrong.name or "").partition(".")[0])
        if library is None:
            raise
        raise MissingExtra(f"learning environments need {library}; install it with: pip install 'formiga[envs]'") from wrong


with suppress(MissingExtra):
    register()

__all__ = ["TASKS", "make_env", "make_vector_env", "parallel_env", "register"]
