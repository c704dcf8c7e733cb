"""A floor plan: an image, or a map of ROS's map_server, whose occupied cells are walls."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import lru_cache
from math import cos, sin

from formiga.errors import WorldError
from formiga.map.grid import Grid
from formiga.map.images import LARGEST_FILE, MapError, load
from formiga.map.server import FREE_BELOW, OCCUPIED_ABOVE, Legend, grid_of, is_yaml, read_legend
from formiga.world.elements import angle, choice, colour, element, file, flag, length, made_of, name, number


@element("map", role="thing")
@dataclass(frozen=True)
class Map:
    """Walls from a floor plan: the dark pixels of a PNG or PGM image, or the occupied cells of a map_server YAML file.

    Robots cannot stand in occupied cells, and a beam ends at their edges. Between the two thresholds nothing is known of a
    cell: it is no wall, unless `unknown` is 'wall', but no robot is put there by chance. Robots may have the same cells as a
    grid: `view.map()`.
    """

    file: str = file(doc="PNG, PGM, or the YAML file of a map_server, which names the image beside it")
    resolution: float | None = length(None, least=0.0001, most=1000.0, doc="the side of a pixel; a YAML file has its own")
    x: float | None = length(None, doc="of the centre; default: 0, or as the YAML file's origin gives it")
    y: float | None = length(None, doc="of the centre; default: 0, or as the YAML file's origin gives it")
    heading: float | None = angle(None, doc="of the image's x axis; default: 0, or as the YAML file's origin gives it")
    occupied: float = number(OCCUPIED_ABOVE, least=0.0, most=1.0, doc="darkness above which a pixel is a wall; for images")
    free: float = number(FREE_BELOW, least=0.0, most=1.0, doc="darkness below which it is free; for images")
    negate: bool = flag(False, doc="true: bright pixels are walls")
    unknown: str = choice("open", options=("open", "wall"), doc="whether cells of which nothing is known are walls")
    height: float = length(0.1, above=0.0, doc="of the walls")
    colour: str = colour("#8f8a80")
    name: str = name("map")
    on: bool = flag(True, doc="false: as if it were not there; the laboratory can switch it")
    material: str | None = made_of("of the walls, in space: a <material>; default: `shell`, as robots are")

    def __post_init__(self) -> None:
        if is_yaml(self.file):
            given = [each for each in ("resolution", "negate", "occupied", "free")
                     if getattr(self, each) != Map.__dataclass_fields__[each].default]
            if given:
                raise WorldError(f"<map> {given[0]}: a YAML file has its own; leave it out.")
        elif self.resolution is None:
            raise WorldError("<map> needs 'resolution', such as 5cm: the side of a pixel. Only a YAML file has its own.")
        if self.free > self.occupied:
            raise WorldError(f"<map> free: {self.free:g} is above 'occupied', {self.occupied:g}.")
        self.grid  # noqa: B018  so that complaints come with the line of the world

    @property
    def grid(self) -> Grid:
        """Its cells, where they lie in the world."""
        try:
            legend = _legend(self.file, *_version(self.file)) if is_yaml(self.file) else Legend(
                self.file, self.resolution or 1.0, (0.0, 0.0, 0.0), self.negate, self.occupied, self.free)
            return _placed(self, legend, *_version(legend.image))
        except OSError as wrong:
            raise WorldError(f"<map> file: {self.file}: {wrong.strerror}.") from wrong
        except MapError as wrong:
            raise WorldError(f"<map> file: {wrong}") from wrong

    def bundle(self, attribute: str) -> dict[str, bytes] | None:
        """With a YAML file comes its image."""
        if not is_yaml(self.file):
            return None
        legend = read_legend(self.file)
        image = "image" + os.path.splitext(legend.image)[1]
        return {"map.yaml": legend.text(image).encode(), image: load(legend.image, LARGEST_FILE)}


def _version(file: str) -> tuple[int, int]:
    """When a file changed last, and its size: if they change, it is read again."""
    about = os.stat(file)
    return about.st_mtime_ns, about.st_size


@lru_cache(maxsize=32)
def _legend(file: str, changed: int, size: int) -> Legend:
    return read_legend(file)


@lru_cache(maxsize=32)
def _placed(plan: Map, legend: Legend, changed: int, size: int) -> Grid:
    """The grid of a map, where it lies in the world."""
    grid, own = _read(legend, changed, size), is_yaml(plan.file)
    if own and plan.x is None and plan.y is None and plan.heading is None:
        return grid
    x, y = grid.centre if own else (0.0, 0.0)
    x, y = x if plan.x is None else plan.x, y if plan.y is None else plan.y
    yaw = grid.yaw if plan.heading is None else plan.heading
    half = 0.5 * grid.shape[1] * grid.resolution, 0.5 * grid.shape[0] * grid.resolution
    return replace(grid, x=x - cos(yaw) * half[0] + sin(yaw) * half[1], y=y - sin(yaw) * half[0] - cos(yaw) * half[1], yaw=yaw)


@lru_cache(maxsize=8)
def _read(legend: Legend, changed: int, size: int) -> Grid:
    grid = grid_of(legend)
    grid.cells.setflags(write=False)  # all worlds share one array
    return grid


__all__ = ["Map"]
