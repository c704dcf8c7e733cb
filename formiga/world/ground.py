"""The ground in three dimensions: hills, holes, ramps, platforms. All of it needs engine="spatial"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from formiga.units import CM
from formiga.world.elements import angle, choice, colour, duration, element, file, integer, length, name, number


@element("terrain", role="thing")
@dataclass(frozen=True)
class Terrain:
    """Rough ground instead of the flat floor: hills from a picture, or from noise with a seed.

    Noise is a sum of three octaves of smooth random hills, each half as large and half as high as the one before, cut to
    0..amplitude. A picture is grey: black is the floor, white is `amplitude` above it.
    """

    width: float = length(above=0.0, doc="along x")
    depth: float = length(above=0.0, doc="along y")
    amplitude: float = length(4.0 * CM, above=0.0, doc="from the lowest to the highest point")
    grain: float = length(0.5, above=0.0, doc="distance of two hills, for noise")
    seed: int = integer(0, least=0, doc="of the noise")
    image: str | None = file(None, doc="PNG or JPEG, its first row at the largest y; instead of noise")
    cells: int = integer(100, least=2, most=1000, doc="along the longer side, for noise")
    x: float = length(0.0, doc="of the centre")
    y: float = length(0.0, doc="of the centre")
    flat: float = length(0.0, least=0.0, doc="of noise: within this distance of the centre the ground is level, to start from")
    material: str = name("ground")
    colour: str = colour("#b59a72")
    name: str = name("terrain")

    SPATIAL: ClassVar[bool] = True


@element("hole", role="thing")
@dataclass(frozen=True)
class Hole:
    """A pit in the flat floor, with upright walls along the axes."""

    x: float = length(doc="of the centre")
    y: float = length(doc="of the centre")
    width: float = length(above=0.0, doc="along x")
    depth: float = length(above=0.0, doc="along y")
    deep: float = length(0.3, above=0.0, doc="its bottom under the floor; the same for all holes of a world")
    name: str = name("hole")

    heading: ClassVar[float] = 0.0
    SPATIAL: ClassVar[bool] = True


@element("ramp", role="thing")
@dataclass(frozen=True)
class Ramp:
    """A wedge that robots drive up along its own x, from the floor to `height`."""

    x: float = length(doc="of the centre")
    y: float = length(doc="of the centre")
    width: float = length(above=0.0, doc="along its own x, the way up")
    depth: float = length(above=0.0, doc="along its own y")
    height: float = length(above=0.0)
    heading: float = angle(0.0)
    material: str = name("ground")
    colour: str = colour("#a9adb5")
    name: str = name("ramp")

    SPATIAL: ClassVar[bool] = True


@element("platform", role="thing")
@dataclass(frozen=True)
class Platform:
    """A raised floor: a step for robots that can climb it, a table for those on top."""

    x: float = length(doc="of the centre")
    y: float = length(doc="of the centre")
    width: float = length(above=0.0, doc="along its own x")
    depth: float = length(above=0.0, doc="along its own y")
    height: float = length(above=0.0)
    heading: float = angle(0.0)
    material: str = name("ground")
    colour: str = colour("#a9adb5")
    name: str = name("platform")

    SPATIAL: ClassVar[bool] = True


@element("physics", role="setting")
@dataclass(frozen=True)
class Physics:
    """How forces are solved in three dimensions. Only with engine="spatial".

    `direct` inverts matrices (Newton's method, dense); `iterative` takes conjugate gradients, so many rounds, and softer grips;
    `auto` is Newton's method on sparse matrices: as fast as any for free robots, and the fastest for large formations.
    """

    solver: str = choice("auto", options=("auto", "direct", "iterative"))
    iterations: int = integer(30, least=1, most=1000, doc="at most so many rounds in a step")
    step: float | None = duration(None, least=1e-5, most=0.1,
                                  doc="of the motion, a whole part of the control period; default: 20 ms for sliding bases, "
                                      "10 ms for wheels and solids, 2.5 ms for what bounces")
    gravity: float = number(9.81, least=0.0, doc="m/s^2")
    integrator: str = choice("auto", options=("auto", "implicit", "rk4"),
                             doc="`implicit` is Euler's method; `rk4`, Runge and Kutta's, is exact in free fall and takes four "
                                 "times as long; default: rk4 while nothing touches in worlds that only solids move in, else "
                                 "Euler's method in which free fall is exact unless something bounces")

    SPATIAL: ClassVar[bool] = True


FLOORS = (Terrain, Hole, Ramp, Platform)

__all__ = ["FLOORS", "Hole", "Physics", "Platform", "Ramp", "Terrain"]
