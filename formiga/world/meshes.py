"""Triangles from STL and OBJ files. A file may come from anywhere: it is only data, its size is limited, and it names no other.

STL is read in both of its forms. Of an OBJ its corners (v), faces (f) and places in a picture (vt) count; materials, groups and
normals are left out, and no file that it names is opened.
"""

from __future__ import annotations

import os
import re
import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from formiga.errors import WorldError
from formiga.map.images import MapError, load

LARGEST_FILE = 16 * 2**20    # bytes
MOST_FACES = 100_000
HEADER, FACET = 84, 50       # bytes of a binary STL: in front, and of each facet
FLAT = 1e-4                  # a mesh that is thinner than this share of its length has no inside
NUMBER = rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
VERTEX = re.compile(rb"^\s*vertex" + 3 * (rb"\s+(" + NUMBER + rb")") + rb"\s*$", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Triangles:
    """A surface, in the units and the frame of its file."""

    vertices: Any        # (V, 3)
    faces: Any           # (F, 3) indices, counter-clockwise seen from outside
    places: Any = None   # (F, 3, 2) of each corner of each face in a picture, from its lower left corner; None: not said


def read_mesh(file: str) -> Triangles:
    """The surface in an STL or OBJ file; WorldError with one sentence if there is none."""
    try:
        about = os.stat(file)
        return _read(file, about.st_mtime_ns, about.st_size)
    except OSError as wrong:
        raise WorldError(f"{file}: cannot be read ({wrong.strerror}).") from wrong


@lru_cache(maxsize=64)
def _read(file: str, changed: int, size: int) -> Triangles:
    try:
        data = load(file, LARGEST_FILE)
    except MapError as wrong:
        raise WorldError(str(wrong)) from wrong
    kind = os.path.splitext(file)[1].lower()
    if kind == ".stl":
        found = _stl(file, data)
    elif kind == ".obj":
        found = _obj(file, data)
    else:
        raise WorldError(f"{file}: is no mesh that can be read; it must be an .stl or an .obj file.")
    _refuse_odd(file, found)
    for each in (found.vertices, found.faces):
        each.setflags(write=False)  # all solids of this file share it
    return found


def _refuse_odd(file: str, mesh: Triangles) -> None:
    """Complain of a surface without triangles, without an inside, or with numbers that are none."""
    if len(mesh.faces) == 0:
        raise WorldError(f"{file}: is a damaged mesh: it has no triangles.")
    if not np.isfinite(mesh.vertices).all() or np.abs(mesh.vertices).max() > 1e9:
        raise WorldError(f"{file}: is a damaged mesh: some of its corners are not at finite places.")
    spread = np.linalg.svd(mesh.vertices - mesh.vertices.mean(axis=0), compute_uv=False)
    if len(spread) < 3 or spread[2] <= FLAT * spread[0]:
        raise WorldError(f"{file}: is a flat mesh: all of its corners lie in one plane, so it has no inside.")


def _refuse_many(file: str, faces: int) -> None:
    if faces > MOST_FACES:
        raise WorldError(f"{file}: has {faces:,} triangles; a mesh has at most {MOST_FACES:,}. Simplify it.")


# -- STL --------------------------------------------------------------------------------------------------------------
def _stl(file: str, data: bytes) -> Triangles:
    count = struct.unpack("<I", data[HEADER - 4 : HEADER])[0] if len(data) >= HEADER else -1
    if len(data) == HEADER + FACET * count:
        _refuse_many(file, count)
        facet = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
        corners = np.frombuffer(data, facet, count, HEADER)["corners"].astype(np.float64).reshape(-1, 3)
    elif data.lstrip()[:5].lower() == b"solid":
        found = VERTEX.findall(data)
        for number, line in enumerate(data.split(b"\n"), 1):
            if line.lstrip()[:6].lower() == b"vertex" and not VERTEX.match(line):
                raise WorldError(f"{file}:{number}: is a damaged STL (a corner is not three numbers).")
        if len(found) % 3:
            raise WorldError(f"{file}: is a damaged STL: {len(found):,} corners are not three for each triangle.")
        _refuse_many(file, len(found) // 3)
        corners = np.array(found, np.float64).reshape(-1, 3)
    else:
        raise WorldError(f"{file}: is a damaged STL: it ends at byte {len(data):,}, and "
                         f"{max(count, 0):,} triangles end at {HEADER + FACET * max(count, 0):,}.")
    vertices, index = np.unique(corners, axis=0, return_inverse=True) if len(corners) else (corners, np.empty(0, np.int64))
    return Triangles(vertices, index.reshape(-1, 3))


# -- OBJ --------------------------------------------------------------------------------------------------------------
def _obj(file: str, data: bytes) -> Triangles:
    vertices: list[tuple[float, ...]] = []
    pictured: list[tuple[float, ...]] = []
    faces: list[tuple[int, ...]] = []
    places: list[tuple[int, ...]] = []
    for number, line in enumerate(data.decode("utf-8", errors="replace").splitlines(), 1):
        words = line.split()
        try:
            if words[:1] == ["v"]:
                vertices.append(_numbers(words, 3))
            elif words[:1] == ["vt"]:
                pictured.append(_numbers(words, 2))
            elif words[:1] == ["f"]:
                _refuse_many(file, len(faces) + len(words) - 3)
                corners = [_corner(word, len(vertices), len(pictured)) for word in words[1:]]
                if len(corners) < 3:
                    raise ValueError(f"a face with {len(corners)} corners")
                for k in range(1, len(corners) - 1):  # a fan
                    chosen = corners[0], corners[k], corners[k + 1]
                    faces.append(tuple(corner for corner, _ in chosen))
                    places.append(tuple(place for _, place in chosen))
        except ValueError as wrong:
            raise WorldError(f"{file}:{number}: is a damaged OBJ ({wrong}).") from wrong
    table = np.array(places, np.int64).reshape(-1, 3)
    shown = np.array(pictured, np.float64)[table] if len(faces) and pictured and (table >= 0).all() else None
    return Triangles(np.array(vertices, np.float64).reshape(-1, 3), np.array(faces, np.int64).reshape(-1, 3), shown)


def _numbers(words: list[str], count: int) -> tuple[float, ...]:
    """The first numbers behind the word that begins a line."""
    if len(words) <= count:
        raise ValueError(f"'{words[0]}' has {count} numbers, not {len(words) - 1}")
    return tuple(map(float, words[1 : count + 1]))


def _corner(word: str, vertices: int, places: int) -> tuple[int, int]:
    """'3', '3/1', '3//2' or '-1/-1/-1' -> the numbers of a corner and of its place in a picture (-1: none), from 0."""
    first, _, rest = word.partition("/")
    place = rest.partition("/")[0]
    return _index(first, vertices), _index(place, places) if place else -1


def _index(text: str, count: int) -> int:
    number = int(text)
    index = number - 1 if number > 0 else count + number
    if number == 0 or not 0 <= index < count:
        raise ValueError(f"there is no corner {number}; there are {count} up to here")
    return index


__all__ = ["LARGEST_FILE", "MOST_FACES", "Triangles", "read_mesh"]
