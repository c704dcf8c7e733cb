"""What sensors ask of a world seen from above: beams, lights, and the techniques of rings of sensors.

All of them look only at poses, lights and the cell list, so both engines use them: the spatial one over a level floor.
state.scratch is a `SightWorkspace`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from formiga.engine.above.beams import cast_all, look_world
from formiga.engine.above.between import between_all, between_world, pairs
from formiga.engine.above.cells import Cells, fill_world, make
from formiga.engine.above.constants import Above
from formiga.engine.above.hearing import Ears, Heard, hear_all, hear_world
from formiga.engine.above.hidden import make_nearby
from formiga.engine.above.light import light_all, light_world
from formiga.engine.above.neighbours import Neighbours, neighbours_all, neighbours_world, no_neighbours
from formiga.engine.above.outlines import cast_outlines
from formiga.engine.above.own_beams import cast_own, cast_own_outlines, walk_own
from formiga.engine.above.poses import cast_poses, outline_poses, walk_poses
from formiga.engine.above.sampling import Response, Samples, sample_all, samples
from formiga.engine.above.shadow import BINS, BLOCK, shadow_all, watch
from formiga.engine.above.sight import look_all
from formiga.engine.above.walk import walk_all, walk_look_world
from formiga.engine.beams import Beams
from formiga.kernels.program import Stage
from formiga.state import Floats, State
from formiga.world.mount import CHASSIS


def cast(model: Above, state: State, beams: Beams, reach: float, robots: slice) -> Floats:
    """Distances (W, n, B) from the sensors of some robots along their beams; infinity where nothing is within reach."""
    out = np.empty((state.worlds, robots.stop - robots.start, len(beams.origin)))
    far = beams.furthest + reach
    if model.outlines:
        cast_outlines(state.position, state.heading, state.movables, robots.start, robots.stop,
                      model.sees(beams.furthest, reach), *beams.columns, far, reach, model.outlines, state.scratch.stand, out)
        return out
    if model.walks(far):
        walk_all(state.position, state.heading, robots.start, robots.stop, model.radius, model.widest, model.fixed.shapes,
                 model.walk(beams.furthest), state.scratch.cells, *beams.columns, far, reach, out)
        return out
    cast_all(state.position, state.heading, robots.start, robots.stop, model.radius, model.widest, model.fixed.shapes,
             model.sight(far), state.scratch.cells, *beams.columns, far, reach, np.empty(len(beams.origin)), out)
    return out


def cast_turned(model: Above, state: State, beams: Beams, turn: Floats, reach: float, robots: slice) -> Floats:
    """As `cast`, but each robot's beams are turned about where they start, by turn (W, n, B) in rad."""
    out, work = np.empty(turn.shape), np.empty((3, turn.shape[2]))
    far = beams.furthest + reach
    if model.outlines:
        cast_own_outlines(state.position, state.heading, state.movables, robots.start, robots.stop,
                          model.sees(beams.furthest, reach), *beams.columns, turn, far, reach, model.outlines,
                          state.scratch.stand, work, out)
        return out
    if model.walks(far):
        walk_own(state.position, state.heading, robots.start, robots.stop, model.radius, model.widest, model.fixed.shapes,
                 model.walk(beams.furthest), state.scratch.cells, *beams.columns, turn, far, reach, work, out)
        return out
    cast_own(state.position, state.heading, robots.start, robots.stop, model.radius, model.widest, model.fixed.shapes,
             model.sight(far), state.scratch.cells, *beams.columns, turn, far, reach, work, out)
    return out


def cast_from(model: Above, state: State, poses: Floats, beams: Beams, reach: float) -> Floats:
    """Distances (W, n, P, B) along beams fixed to a robot at poses (W, n, P, 3) of x, y and heading: to walls and obstacles
    alone. Infinity where nothing is within reach."""
    worlds, far = len(poses), beams.furthest + reach
    flat = np.ascontiguousarray(poses, np.float64).reshape(worlds, -1, 3)
    position, heading = flat[..., :2].copy(), flat[..., 2].copy()
    out = np.empty((*heading.shape, len(beams.origin)))
    if model.outlines:
        corners = state.scratch.stand.corners
        outline_poses(position, heading, model.sees(beams.furthest, reach), *beams.columns, reach, len(model.outlines.radius),
                      corners, out)
    elif model.walks(far):
        walk_poses(position, heading, model.fixed.shapes, model.walk(beams.furthest), *beams.columns, far, reach, out)
    else:
        cast_poses(position, heading, model.fixed.shapes, model.sight(far), make(worlds, 0, model.region, 1.0), *beams.columns,
                   far, reach, np.empty(len(beams.origin)), out)
    return out.reshape(*poses.shape[:3], -1)


def shadow(model: Above, state: State, angles: tuple[float, ...], mount: float, reach: float, cone: float,
           curve: tuple[float, ...], robots: slice) -> Floats:
    """Readings (W, n, sensors) of a ring of sensors by the shadow method: see `shadow.py`.

    curve: readings at equally spaced distances from 0 to reach.
    """
    out = np.empty((state.worlds, robots.stop - robots.start, len(angles)))
    shadow_all(state.position, state.heading, state.movables, robots.start, robots.stop, model.radius, model.widest,
               model.movable_radius, model.fixed.shapes, model.near(mount + reach), state.scratch.cells,
               watch(angles, mount, reach, cone, curve), np.empty(2 * BINS), np.zeros(BINS // BLOCK, np.bool_), out)
    return out


def sample(model: Above, state: State, angles: tuple[float, ...], mount: float, reach: float, cone: float,
           curve: Response, robots: slice) -> Floats:
    """Readings (W, n, sensors) of a ring of sensors from samples that were generated by ray casting: see `sampling.py`."""
    out = np.empty((state.worlds, robots.stop - robots.start, len(angles)))
    key = angles, mount, reach, cone, curve
    if key not in model.samples:
        model.samples[key] = samples(model.radius, model.fixed.shapes[:, 4], model.movable_radius, *key)
    tables: Samples = model.samples[key]
    sample_all(state.position, state.heading, state.movables, robots.start, robots.stop, model.radius, model.widest,
               model.movable_radius, model.fixed.shapes, model.near(mount + reach), state.scratch.cells, tables, out)
    return out


def light(model: Above, state: State, diodes: Any, robots: slice, on: str = CHASSIS) -> Floats:
    """Readings (W, n, S) of the light sensors of some robots; diodes: `sense.light.Photodiodes`."""
    return light_facing(model, state, diodes, robots, state.heading)


def light_facing(model: Above, state: State, diodes: Any, robots: slice, facing: Floats) -> Floats:
    """The same where sensors sit on a part whose x points to facing (W, N)."""
    out = np.empty((state.worlds, robots.stop - robots.start, len(diodes.ux)))
    light_all(state.position, state.heading, facing, state.leds, robots.start, robots.stop,
              model.radius, model.height, model.widest, model.tallest, model.fixed.shapes, model.fixed.heights,
              state.scratch.cells, model.shining, diodes, state.key, state.step, out)
    return out


def look(model: Above, state: State, reach: float, most: int, robots: slice, on: str = CHASSIS) -> tuple[Floats, Any]:
    """The lights that some robots see around them, the nearest first: rows (W, n, most, 6) of bearing and elevation in rad,
    distance over the floor, red, green, blue; and how many there are (W, n)."""
    shape = state.worlds, robots.stop - robots.start
    blobs, found = np.zeros((*shape, most, 6)), np.zeros(shape, np.int64)
    look_all(state.position, state.heading, state.leds, robots.start, robots.stop, model.radius, model.height, model.widest,
             model.tallest, model.fixed.shapes, model.fixed.heights, state.scratch.cells, model.shining, model.colours,
             state.step, reach, blobs, found)
    return blobs, found


def neighbours(model: Above, state: State, reach: float, most: int, robots: slice) -> Neighbours:
    """The nearest others of some robots, at most so many of those whose centres are within reach, nearest first."""
    out = no_neighbours(state.worlds, robots.stop - robots.start, most)
    N = len(model.radius)
    neighbours_all(state.position, state.heading, robots.start, robots.stop, float(reach), state.scratch.cells, np.empty(N),
                   np.empty(N, np.int64), np.arange(N), out)
    return out


def line_of_sight(model: Above, state: State, origins: Any, targets: Any, walls_only: bool) -> Any:
    """Whether (W, n, P) nothing stands between origins (W, n, 2) or (W, n, P, 2) and targets (W, n, P, 2): see `between.py`."""
    origins, targets = pairs(np.asarray(origins, np.float64), np.asarray(targets, np.float64))
    out = np.empty(targets.shape[:3], np.bool_)
    between_all(state.position, origins, targets, walls_only, model.radius, model.widest, model.fixed.shapes, model.between(),
                state.scratch.cells, out)
    return out


# -- the same as stages of a compiled program ------------------------------------------------------------------------------
def cast_stages(model: Above, state: State, beams: Beams, reach: float, robots: slice, out: Floats) -> list[Stage] | None:
    """What `cast` does, into out (W, n, B); None among bodies of any outline."""
    if model.outlines:
        return None
    far = beams.furthest + reach
    if model.walks(far):
        return [Stage(walk_look_world, (
            state.position, state.heading, robots.start, robots.stop, model.radius, model.widest, model.fixed.shapes,
            model.walk(beams.furthest), own_cells(state), *beams.columns, far, reach, out))]
    return [Stage(look_world, (
        state.position, state.heading, robots.start, robots.stop, model.radius, model.widest, model.fixed.shapes,
        model.sight(far), own_cells(state), *beams.padded, far, reach, np.empty(len(beams.padded[0])), out))]


def light_stages(model: Above, state: State, diodes: Any, robots: slice, out: Floats) -> list[Stage] | None:
    """What `light` does, into out (W, n, S)."""
    cells = own_cells(state)
    return [Stage(fill_world, (state.position, cells)), Stage(light_world, (
        state.position, state.heading, state.heading, state.leds, robots.start, robots.stop, model.radius, model.height,
        model.widest, model.tallest, model.fixed.shapes, model.fixed.heights, cells, model.shining, diodes, state.key,
        state.step, out))]


def neighbour_stages(model: Above, state: State, reach: float, robots: slice, out: Neighbours) -> list[Stage]:
    """What `neighbours` does, into out."""
    cells, N = own_cells(state), len(model.radius)
    work = np.empty(N), np.empty(N, np.int64), np.arange(N)
    return [Stage(fill_world, (state.position, cells)), Stage(neighbours_world, (
        state.position, state.heading, robots.start, robots.stop, float(reach), cells, *work, out))]


def sight_stages(model: Above, state: State, origins: Any, targets: Any, walls_only: bool, out: Any) -> list[Stage]:
    """What `line_of_sight` does, into out (W, n, P)."""
    origins, targets = pairs(origins, targets)
    cells = own_cells(state)
    between = Stage(between_world, (origins, targets, bool(walls_only), model.radius, model.widest, model.fixed.shapes,
                                    model.between(), cells, out))
    return [between] if walls_only else [Stage(fill_world, (state.position, cells)), between]


def own_cells(state: State) -> Cells:
    """The cell lists with working memory that no other thread has."""
    cells: Cells = state.scratch.cells
    return cells._replace(cell=np.empty_like(cells.cell))


def hear(model: Above, state: State, ears: Ears, foot: Floats, robots: slice, into: Heard) -> None:
    """What some robots hear; foot (W, N): height of all robots' feet in m."""
    hear_all(*_hearing(model, state, ears, foot, robots, into))


def hear_stages(model: Above, state: State, ears: Ears, foot: Floats, robots: slice, into: Heard) -> list[Stage]:
    """What `hear` does, as a stage of a compiled program."""
    return [Stage(hear_world, _hearing(model, state, ears, foot, robots, into))]


def _hearing(model: Above, state: State, ears: Ears, foot: Floats, robots: slice, into: Heard) -> tuple[Any, ...]:
    top = float(ears.up.max(initial=0.0))
    level = not foot.any() and top <= min(model.height.min(initial=top), model.fixed.heights.min(initial=top))
    return (state.position, state.heading, foot, state.alive, state.outbox, robots.start, robots.stop, ears, level,
            model.radius, model.height, model.widest, model.fixed.shapes, model.fixed.heights, model.near(ears.reach),
            model.between(), own_cells(state), state.key, state.step,
            make_nearby(len(model.radius), len(model.fixed.shapes)), *into)


__all__ = ["cast", "cast_from", "cast_stages", "cast_turned", "hear", "hear_stages", "light", "light_stages", "line_of_sight",
           "look", "neighbour_stages", "neighbours", "own_cells", "sample", "shadow", "sight_stages"]
