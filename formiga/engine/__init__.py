"""3. How it moves: `planar` (numba, batched) and `spatial` (MuJoCo). One promise, `Engine`, which both keep.

An engine is a module. All that is above it uses the functions of `Engine` and the attributes of `Model`, and nothing else: no
part of the laboratory asks whether an engine has a function. What an engine cannot do, its `build` refuses with a message; or
it answers with the neutral value: no events, no forces, no stages. Neither engine imports the other.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from formiga.errors import WorldError, suggest
from formiga.world.mount import CHASSIS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from formiga.engine.above.hearing import Ears, Heard
    from formiga.engine.above.neighbours import Neighbours
    from formiga.engine.above.sampling import Response
    from formiga.engine.beams import Beams
    from formiga.engine.command import Command
    from formiga.engine.events import Event
    from formiga.engine.fixed import Fixed, Region
    from formiga.engine.parts import Part
    from formiga.engine.switches import Switches
    from formiga.kernels.program import Stage
    from formiga.state import Floats, State
    from formiga.world.model import World

ENGINES = {"planar": "formiga.engine.planar.pipeline", "spatial": "formiga.engine.spatial.pipeline"}
Own = Any  # the Model that this engine's `build` made; it has more attributes, which only this engine reads


class Model(Protocol):
    """What never changes during a run, as far as all engines have it. W worlds, N robots."""

    @property
    def world(self) -> World: ...
    @property
    def worlds(self) -> int:
        """W, copies counted."""
    @property
    def copies(self) -> int:
        """How often each world is there, with the same start and the same noise."""
    @property
    def first_world(self) -> int:
        """Number of the first world in the run, when several threads share it."""
    @property
    def variants(self) -> tuple[World, ...]:
        """The descriptions (W,) of worlds that differ; () if all are as `world` says."""
    @property
    def dt(self) -> float:
        """s, the control period."""
    @property
    def fixed(self) -> Fixed:
        """Walls and obstacles, seen from above."""
    @property
    def region(self) -> Region:
        """The arena, or the box around all that is fixed."""
    @property
    def lamps(self) -> Floats:
        """(L, 4) x y z intensity of the lamps that are on at some time."""
    @property
    def switches(self) -> Switches:
        """When these lamps are on."""
    @property
    def parts(self) -> tuple[Part, ...]:
        """The bodies whose poses are the rows of `state.bodies`; none in the plane."""
    @property
    def chassis(self) -> NDArray[Any]:
        """(N,) the row of `parts` with each robot's own pose; (0,) in the plane."""
    def part_rows(self, part: str, robots: slice) -> NDArray[Any]:
        """(n,) the rows of `parts` with a part of some robots, by its name; in the plane there are none."""
    @property
    def level(self) -> bool:
        """Whether beams in the plane of the floor see all that there is."""
    @property
    def made(self) -> dict[str, Any]:
        """What sensors made of the world's description, by name; filled when it is first asked for."""
    @property
    def uncompiled(self) -> str:
        """What keeps a step from being one compiled call, in words; '' if nothing does."""

    # -- what an engine can do ----------------------------------------------------------------------------------------------
    @property
    def poses(self) -> bool:
        """Whether bodies have heights, rolls and pitches: `state.bodies`."""
    @property
    def keeps_contacts(self) -> bool:
        """Whether `Engine.contacts` lists what touched in the last step."""
    @property
    def moves_joints(self) -> bool:
        """Whether joints of robots move: `state.joint_command` and the like have columns."""
    @property
    def solves_forces(self) -> bool:
        """Whether a solver computes forces between bodies, as <physics solver=""> chooses."""


class Engine(Protocol):
    """What both engines promise. Arrays have the world first; `robots` is a slice of the N robots, n of them."""

    NAME: str

    # -- making and starting ------------------------------------------------------------------------------------------------
    def build(self, world: World, worlds: int = 1, first_world: int = 0, copies: int = 1,
              variants: Sequence[World] = ()) -> Model:
        """Constants of a batch: worlds numbered from `first_world`, all of them once, then all again, `copies` times.
        variants: the descriptions (W,), copies counted, of worlds that differ in numbers; the first of them is `world`.
        WorldError says what this engine cannot do, CannotDiffer what must be the same in all worlds of a batch."""

    def variant(self, model: Own, world: World) -> Model:
        """The constants of one of the worlds that differ, for the stages of its elements; CannotDiffer as `build`."""

    def init(self, model: Own, seed: int = 0, start: tuple[Any, Any] | None = None) -> State:
        """All that changes, at the start. start: positions (W, N, 2) and headings (W, N), instead of the placement rules'."""

    def places(self, model: Own, keys: Any) -> tuple[Floats, Floats]:
        """Where the placement rules put the robots of worlds with these keys (K,): positions (K, N, 2), headings (K, N)."""

    def begin(self, model: Own, state: State, chosen: Any, position: Floats, heading: Floats, key: Any) -> None:
        """Start the chosen (W,) worlds again, in place: robots at position (W, N, 2), heading (W, N); noise from key (W,)."""

    # -- the step -----------------------------------------------------------------------------------------------------------
    def step(self, model: Own, state: State, command: Command) -> None:
        """Advance every world that has not ended by `model.dt`. The only way in."""

    def events(self, model: Own, state: State) -> list[Event]:
        """What happened in the last step: grips, joints that broke, zones entered; none in the plane."""

    # -- editing ------------------------------------------------------------------------------------------------------------
    def carry_on(self, old: Own, before: State, new: Own, state: State, kept: Any, still: Any) -> None:
        """Let the motion of `before` go on in a state of an edited world. kept (N,): the number that each robot had, or -1;
        still (N,): whether it is exactly where it was."""

    def put_down(self, model: Own, state: State) -> None:
        """After positions or headings were changed by hand: move what the engine itself goes on from."""

    def as_it_stands(self, model: Own, state: State) -> dict[int, dict[str, Any] | None]:
        """Things that are not where `world.things` has them, beside movables: number -> attributes, None for a broken joint."""

    # -- what sensors ask ---------------------------------------------------------------------------------------------------
    def cast(self, model: Own, state: State, beams: Beams, reach: float, robots: slice) -> Floats:
        """Distances (W, n, B) along beams fixed to each robot; infinity where nothing is within reach."""

    def cast_turned(self, model: Own, state: State, beams: Beams, turn: Floats, reach: float, robots: slice) -> Floats:
        """As `cast`, but each robot's beams are turned about where they start, by turn (W, n, B) in rad."""

    def cast_from(self, model: Own, state: State, poses: Floats, beams: Beams, reach: float) -> Floats:
        """Distances (W, n, P, B) along beams of a robot at any poses (W, n, P, 3) of x, y and heading, to walls and obstacles
        alone: what it would see there. From its true pose, with nothing else near, the bits of `cast`."""

    def rays(self, model: Own, state: State, origin: Floats, direction: Floats, reach: float, robots: slice,
             on: str = CHASSIS, through: Any = None) -> Floats:
        """Distances (W, n, B) along rays (B, 3) in the frame of a part of each robot: that of the chassis begins in the middle
        of its foot, x ahead, z up. Directions may be each robot's own, (W, n, B, 3); through, (B,) or (W, n, B): rays that do
        not see the ground."""

    def shadow(self, model: Own, state: State, angles: tuple[float, ...], mount: float, reach: float, cone: float,
               curve: tuple[float, ...], robots: slice) -> Floats:
        """Readings (W, n, sensors) of a ring of sensors by the shadow method; curve: readings from distance 0 to reach."""

    def sample(self, model: Own, state: State, angles: tuple[float, ...], mount: float, reach: float, cone: float,
               curve: Response, robots: slice) -> Floats:
        """The same from samples: those of a `Surface`, or generated by ray casting from a curve."""

    def light(self, model: Own, state: State, diodes: Any, robots: slice, on: str = CHASSIS) -> Floats:
        """Readings (W, n, S) of light sensors, `sense.light.Photodiodes`, on top of each robot. Their directions count from x
        of a part of it."""

    def look(self, model: Own, state: State, reach: float, most: int, robots: slice,
             on: str = CHASSIS) -> tuple[Floats, Any]:
        """Lights in sight (W, n, most, 6), nearest first: bearing from x of a part of each robot, elevation, distance, red,
        green, blue; how many (W, n)."""

    def hear(self, model: Own, state: State, ears: Ears, robots: slice, into: Heard) -> None:
        """What some robots hear of the messages in `state.outbox`; adds to the account `into.traffic`."""

    def neighbours(self, model: Own, state: State, reach: float, most: int, robots: slice) -> Neighbours:
        """The nearest others of each robot, at most so many of those whose centres are within reach; nearest first, those at
        the same distance by their numbers."""

    def line_of_sight(self, model: Own, state: State, origins: Floats, targets: Floats, walls_only: bool) -> Any:
        """Whether (W, n, P) nothing stands between origins (W, n, 2) or (W, n, P, 2) and targets (W, n, P, 2), seen from above:
        no wall, no fixed obstacle; and no robot unless walls_only. A robot in which a point lies is not in its way."""

    def paint(self, model: Own, state: State, width: int, height: int, field: float, eye: Floats, robots: slice,
              on: str = CHASSIS) -> Any:
        """Images (W, n, height, width, 3) from a camera with the pose eye (7,) in the frame of a part of each robot, which
        looks along its x; WorldError from an engine that has no colours."""

    def in_jaw(self, model: Own, state: State, robots: slice) -> NDArray[Any]:
        """Whether (W, n) a robot's gripper holds something, or would if it closed now; false in the plane."""

    def points(self, model: Own, state: State, local: Floats, robots: slice) -> Floats:
        """Points (W, n, B, 3) in each robot's frame, from the middle of its foot, as points of the world."""

    # -- what viewers ask, of the first world -------------------------------------------------------------------------------
    def contacts(self, model: Own, state: State) -> Floats:
        """Contacts of the last step (K, 7), columns as in `events.Touch`; none of a contact model without impulses."""

    def forces(self, model: Own, state: State) -> Floats:
        """Forces of grips and joints (K, 7), columns as in `events.Pull`."""

    def holding(self, model: Own, state: State) -> NDArray[Any]:
        """Closed grips (P, 2): the robot that holds, and the robot that is held, or N + the number in `world.things`."""

    def inspect(self, model: Own, state: State, robot: int) -> dict[str, Any]:
        """What a robot has besides what it has in the plane, by name: height, tilt, joints, grips; {} in the plane."""

    def inspect_thing(self, model: Own, state: State, index: int) -> dict[str, Any]:
        """What is true now of a thing, by its number in `world.things`: the pose of a <solid> that moves, what a <joint> bears
        and what its motors do; {} of all others, and in the plane."""

    def twist(self, model: Own, state: State) -> Floats:
        """(W, N, 3) vx, vy in m/s and turning rate in rad/s of each robot in its own frame, as its drive moved it in the last
        step. Each step fills the same array again, except in worlds where all robots have two wheels and no masses: there it
        is computed when this is called."""

    # -- the same as stages of a compiled program; None where the engine has no kernels: see formiga/compiled.py --------------
    def vary(self, model: Own, stages: Sequence[Stage]) -> list[Stage] | None:
        """The stages of the first world for all: what the engine keeps of a world's description is each one's own. None if the
        worlds differ in more than that."""

    def step_stages(self, model: Own, state: State) -> list[Stage] | None:
        """What `step` does with orders that are in the array `told`."""

    def told(self, model: Own, state: State) -> Floats:
        """(W, N, D) where stages write the orders of drives, cut and with noise, before `step_stages`."""

    def cast_stages(self, model: Own, state: State, beams: Beams, reach: float, robots: slice,
                    out: Floats) -> list[Stage] | None:
        """What `cast` does, into out (W, n, B)."""

    def hear_stages(self, model: Own, state: State, ears: Ears, robots: slice, into: Heard) -> list[Stage] | None:
        """What `hear` does."""

    def light_stages(self, model: Own, state: State, diodes: Any, robots: slice, out: Floats) -> list[Stage] | None:
        """What `light` does, into out (W, n, S)."""

    def neighbour_stages(self, model: Own, state: State, reach: float, robots: slice, out: Neighbours) -> list[Stage]:
        """What `neighbours` does, into out."""

    def sight_stages(self, model: Own, state: State, origins: Floats, targets: Floats, walls_only: bool,
                     out: Any) -> list[Stage]:
        """What `line_of_sight` does, into out (W, n, P)."""


def engine(name: str) -> Engine:
    """The engine of that name."""
    if name not in ENGINES:
        raise WorldError(f"there is no engine '{name}'.{suggest(name, ENGINES)} There are: {', '.join(ENGINES)}.")
    return cast(Engine, import_module(ENGINES[name]))


__all__ = ["ENGINES", "Engine", "Model", "engine"]
