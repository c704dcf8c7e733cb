"""The map files of ROS's map_server: a few lines of YAML that name an image, its resolution and its place.

    image: office.pgm
    resolution: 0.05              # m, of a pixel
    origin: [-10.0, -5.0, 0.0]    # x, y and yaw of the lower left corner
    negate: 0                     # 1: white is occupied
    occupied_thresh: 0.65         # darker than this is occupied
    free_thresh: 0.196            # brighter than this is free; what is between them is unknown
    mode: trinary                 # or scale, which is read in the same way, or raw
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from formiga.errors import suggest
from formiga.map.grid import Grid, trinary
from formiga.map.images import MapError, grey_image, load

OCCUPIED_ABOVE, FREE_BELOW = 0.65, 0.196     # map_server's own
LARGEST_YAML = 64 * 2**10                    # bytes
KEYS = ("image", "resolution", "origin", "negate", "occupied_thresh", "free_thresh", "mode")
MODES = ("trinary", "scale", "raw")
FINEST, COARSEST = 1e-4, 1e3                 # m, of a cell
FARTHEST = 1e9                               # m, of the origin


@dataclass(frozen=True)
class Legend:
    """How an image is read as a map."""

    image: str
    resolution: float
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    negate: bool = False
    occupied: float = OCCUPIED_ABOVE
    free: float = FREE_BELOW
    raw: bool = False

    def text(self, image: str) -> str:
        """The same as YAML, with another name for the image."""
        lines = {"image": image, "resolution": repr(self.resolution), "origin": f"[{', '.join(map(repr, self.origin))}]",
                 "negate": int(self.negate), "occupied_thresh": repr(self.occupied), "free_thresh": repr(self.free),
                 "mode": "raw" if self.raw else "trinary"}
        return "".join(f"{key}: {value}\n" for key, value in lines.items())


def read_map(file: str | os.PathLike[str], resolution: float | None = None,
             origin: tuple[float, float, float] = (0.0, 0.0, 0.0), negate: bool = False) -> Grid:
    """The grid in a file: an image with a resolution in m, or a YAML file, which has all of that itself."""
    path = os.fspath(file)
    if is_yaml(path):
        if resolution is not None or any(origin) or negate:
            raise MapError(f"{path}: a YAML file has resolution, origin and negate itself; leave them out.")
        return grid_of(read_legend(path))
    if resolution is None:
        raise MapError(f"{path}: an image needs a resolution: the side of a pixel in m.")
    if not isinstance(resolution, int | float) or not FINEST <= resolution <= COARSEST:
        raise MapError(f"{path}: resolution must be a number from {FINEST:g} to {COARSEST:g} m, not {resolution!r}.")
    if (place := _pose(origin)) is None:
        raise MapError(f"{path}: origin must be three numbers x, y, yaw, not {origin!r}.")
    return grid_of(Legend(path, float(resolution), place, bool(negate)))


def is_yaml(file: str) -> bool:
    """Whether a file is of map_server's kind, by its name."""
    return file.lower().endswith((".yaml", ".yml"))


def grid_of(legend: Legend) -> Grid:
    """The grid of an image."""
    cells = trinary(grey_image(legend.image), legend.occupied, legend.free, legend.negate, legend.raw)
    return Grid(cells, legend.resolution, *legend.origin)


def read_legend(file: str) -> Legend:
    """What a YAML file has. Its image lies in the same folder or below it, links resolved: a map may come from anywhere."""
    found = _entries(file, load(file, LARGEST_YAML))
    for key in ("image", "resolution"):
        if key not in found:
            raise MapError(f"{file}:1: there is no '{key}'; a map needs image and resolution.")
    image, line = found["image"]
    if not isinstance(image, str) or not image:
        raise MapError(f"{file}:{line}: 'image' must be the name of a file.")
    low = _number(file, found, "free_thresh", FREE_BELOW, 0.0, 1.0)
    high = _number(file, found, "occupied_thresh", OCCUPIED_ABOVE, 0.0, 1.0)
    if low > high:
        raise MapError(f"{file}:{found.get('free_thresh', found.get('occupied_thresh', ('', 1)))[1]}: free_thresh {low:g} is "
                       f"above occupied_thresh {high:g}.")
    mode, line_of_mode = found.get("mode", ("trinary", 1))
    if mode not in MODES:
        raise MapError(f"{file}:{line_of_mode}: mode '{str(mode)[:40]}' is unknown. It may be: {', '.join(MODES)}.")
    return Legend(_beside(file, image, line), _number(file, found, "resolution", 0.0, FINEST, COARSEST), _origin(file, found),
                  _flag(file, found, "negate"), high, low, mode == "raw")


def _beside(file: str, image: str, line: int) -> str:
    """The full path of an image that a YAML file names."""
    folder = os.path.dirname(os.path.abspath(file))
    path = os.path.abspath(os.path.join(folder, image))
    inside = not os.path.isabs(image) and "\0" not in image and path.startswith(os.path.join(folder, ""))
    if not inside or not os.path.realpath(path).startswith(os.path.join(os.path.realpath(folder), "")):
        raise MapError(f"{file}:{line}: image '{image[:80]}' is not in the folder of this file; it lies there, or below it, "
                       "and has a relative path.")
    if not os.path.isfile(path):
        raise MapError(f"{file}:{line}: there is no image '{image[:80]}' beside this file.")
    return path


# -- YAML: one mapping of names to values, or to lists of values; nothing else is taken ---------------------------------------
def _entries(file: str, data: bytes) -> dict[str, tuple[Any, int]]:
    """Name -> (text or list of texts, line). Tags, anchors, aliases and anything nested are refused where they begin."""
    import yaml

    found: dict[str, tuple[Any, int]] = {}
    key, inside = "", False
    values: list[str] | None = None
    try:
        for event in yaml.parse(data, Loader=yaml.SafeLoader):
            line = event.start_mark.line + 1
            if isinstance(event, yaml.NodeEvent):
                _refuse_special(file, line, event)
            if isinstance(event, yaml.MappingStartEvent) and not inside and not found:
                inside = True
            elif isinstance(event, yaml.SequenceStartEvent) and key and values is None:
                values = []
            elif isinstance(event, yaml.SequenceEndEvent) and values is not None:
                found[key], key, values = (values, line), "", None
            elif isinstance(event, yaml.ScalarEvent) and values is not None:
                values.append(event.value)
            elif isinstance(event, yaml.ScalarEvent) and key:
                found[key], key = (event.value, line), ""
            elif isinstance(event, yaml.ScalarEvent) and inside:
                key = _known(file, line, event.value, found)
            elif isinstance(event, yaml.MappingEndEvent):
                inside = False
            elif isinstance(event, yaml.NodeEvent):
                raise MapError(f"{file}:{line}: a map is one list of names and values, such as resolution: 0.05; nothing in it "
                               "is nested.")
    except yaml.YAMLError as wrong:
        line = wrong.problem_mark.line + 1 if isinstance(wrong, yaml.MarkedYAMLError) and wrong.problem_mark else 1
        raise MapError(f"{file}:{line}: is not YAML ({' '.join(str(wrong).split())[:120]}).") from wrong
    return found


def _refuse_special(file: str, line: int, event: Any) -> None:
    import yaml

    if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
        raise MapError(f"{file}:{line}: anchors and aliases are not taken, only names with plain values.")
    if event.tag is not None:
        raise MapError(f"{file}:{line}: the tag '{event.tag[:60]}' is not taken, only names with plain values.")


def _known(file: str, line: int, key: str, found: dict[str, Any]) -> str:
    if key not in KEYS:
        raise MapError(f"{file}:{line}: '{key[:40]}' is unknown.{suggest(key, KEYS)} A map has: {', '.join(KEYS)}.")
    if key in found:
        raise MapError(f"{file}:{line}: '{key}' is there twice.")
    return key


def _number(file: str, found: dict[str, Any], key: str, default: float, least: float, most: float) -> float:
    given, line = found.get(key, (default, 1))
    try:
        value = float(given)
    except (TypeError, ValueError):
        value = float("nan")
    if not least <= value <= most:
        raise MapError(f"{file}:{line}: '{key}' must be a number from {least:g} to {most:g}, not {str(given)[:40]}.")
    return value


def _origin(file: str, found: dict[str, Any]) -> tuple[float, float, float]:
    given, line = found.get("origin", ([0.0, 0.0, 0.0], 1))
    pose = _pose(given)
    if pose is None:
        raise MapError(f"{file}:{line}: 'origin' must be three numbers [x, y, yaw], not {str(given)[:60]}.")
    return pose


def _pose(given: Any) -> tuple[float, float, float] | None:
    """Three numbers x, y and yaw; None if these are none."""
    try:
        x, y, yaw = (float(value) for value in given)
    except (TypeError, ValueError):
        return None
    return (x, y, yaw) if all(abs(value) <= FARTHEST for value in (x, y, yaw)) and not isinstance(given, str) else None


def _flag(file: str, found: dict[str, Any], key: str) -> bool:
    given, line = found.get(key, ("0", 1))
    if given not in ("0", "1", "true", "false", "True", "False"):
        raise MapError(f"{file}:{line}: '{key}' must be 0 or 1, not {str(given)[:40]}.")
    return given in ("1", "true", "True")


__all__ = ["Legend", "grid_of", "is_yaml", "read_legend", "read_map"]
