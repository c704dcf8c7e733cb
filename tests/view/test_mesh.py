"""Solids are closed, of the right size, and become files for the browser."""

from __future__ import annotations

import json
from math import pi, tau

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formiga.view.bodies import BULB, bulb, post
from formiga.view.gltf import glb, normals
from formiga.view.mesh import Mesh, annulus, box, drum, linear, plate, prism, rgb, triangles
from formiga.view.robots import robot_meshes
from formiga.world.looks.outlines import area, circle, cross, rectangle
from formiga.world.robots import SBot

SOLIDS = {"box": box(0, 1, 0, 2, 0, 3), "drum": drum(1.0, 0.0, 2.0, 64, 0.1), "annulus": annulus(0.5, 1.0, 64, 0.1),
          "bulb": bulb("#ffffff"), "post": post(0.3), "low post": post(0.0),
          "corner": prism([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], 0.0, 1.0)}


def volume(mesh: Mesh) -> float:
    """By the divergence theorem; positive only if faces look outwards."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def is_closed(mesh: Mesh) -> bool:
    """Every edge is walked once in each direction, as often as the other way round."""
    _, corner = np.unique(mesh.vertices.round(9), axis=0, return_inverse=True)
    faces = corner.reshape(-1)[mesh.faces]
    there = np.sort((faces * len(corner) + np.roll(faces, -1, axis=1)).ravel())
    back = np.sort((np.roll(faces, -1, axis=1) * len(corner) + faces).ravel())
    return bool(np.array_equal(there, back))


@pytest.mark.parametrize("mesh", SOLIDS.values(), ids=SOLIDS)
def test_solids_are_closed_and_look_outwards(mesh):
    assert is_closed(mesh)
    assert volume(mesh) > 0.0


@pytest.mark.parametrize("name, expected", [
    ("box", 6.0), ("corner", 3.0), ("annulus", pi * (1.0 - 0.25) * 0.1), ("bulb", 4 / 3 * pi * BULB**3)])
def test_solids_have_the_volume_of_what_they_are(name, expected):
    assert volume(SOLIDS[name]) == pytest.approx(expected, rel=0.1)


@given(st.integers(3, 24), st.randoms(use_true_random=False))
def test_any_star_shaped_outline_is_cut_without_gaps_or_overlaps(corners, random):
    """The areas of the triangles add up to that of the outline, and none is turned over."""
    around = np.sort([random.random() for _ in range(corners)]) * tau
    reach = np.array([0.2 + random.random() for _ in range(corners)])
    outline = np.column_stack([reach * np.cos(around), reach * np.sin(around)])
    if area(outline) <= 0.0:  # the middle lies outside
        outline = outline[::-1]
    cut = triangles(outline)
    areas = [float(cross(outline[a], outline[b], outline[c])) for a, b, c in cut]
    assert len(cut) == corners - 2
    assert sum(areas) == pytest.approx(area(outline), abs=1e-9)


def test_an_outline_that_crosses_itself_is_drawn_somehow():
    assert len(triangles(np.array([(0.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0)]))) == 2


def test_the_way_around_an_outline_does_not_matter():
    corners = [(0, 0), (2, 0), (2, 1), (0, 1)]
    assert volume(prism(corners, 0, 1)) == volume(prism(corners[::-1], 0, 1)) == pytest.approx(2.0)
    assert normals(plate(corners[::-1]))[:, 2] == pytest.approx(np.ones(4))
    assert area(rectangle(2.0, 3.0)) == pytest.approx(12.0) and area(circle(1.0)) > 0.0


def test_normals_of_a_drum_point_away_from_its_axis():
    mesh = drum(1.0, 0.0, 2.0, 32)
    direction = normals(mesh)
    side = np.abs(direction[:, 2]) < 0.5
    assert direction[side, :2] == pytest.approx(mesh.vertices[side, :2], abs=0.05)  # of 32 sides
    assert np.linalg.norm(direction, axis=1) == pytest.approx(np.ones(len(direction)))


def test_a_mesh_written_for_the_browser_can_be_read_by_others():
    trimesh = pytest.importorskip("trimesh")
    mesh = robot_meshes(SBot()).flat.body
    data = glb(mesh)
    read = trimesh.load(trimesh.util.wrap_as_stream(data), file_type="glb", process=False).geometry.popitem()[1]
    assert read.vertices == pytest.approx(mesh.vertices, abs=1e-6)
    assert np.array_equal(read.faces, mesh.faces)


def test_a_glowing_mesh_needs_no_light():
    data = glb(bulb("#ff0000"), glow=True, opacity=0.5)
    scene = json.loads(data[20:20 + int.from_bytes(data[12:16], "little")])
    assert scene["extensionsUsed"] == ["KHR_materials_unlit"]
    assert scene["materials"][0]["alphaMode"] == "BLEND"
    assert len(data) == int.from_bytes(data[8:12], "little") and len(data) % 4 == 0


def test_screen_colours_become_shares_of_light():
    """Black and white stay; the middle of the screen's scale is about a fifth of the light. [IEC 61966-2-1]"""
    assert linear([0, 255]) == pytest.approx([0.0, 1.0])
    assert linear(128) == pytest.approx(0.2159, abs=1e-4)
    assert rgb("#0072b2") == (0, 114, 178)
