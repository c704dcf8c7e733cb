"""Meshes, textures, renders and objects: what is read, what is refused with its line, and that it survives being written."""

from __future__ import annotations

import struct
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.record.recorder import Recorder
from formiga.record.recording import read_recording
from formiga.view.gltf import glb
from formiga.view.skins import looks_of, shape_of
from formiga.world.document import Document
from formiga.world.meshes import read_mesh
from formiga.world.model import Solid
from formiga.world.reader import read, read_text
from formiga.world.solids import Render
from formiga.world.writer import to_text

CORNERS = [(0, 0, 0), (0.2, 0, 0), (0, 0.2, 0), (0, 0, 0.2)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
OBJ = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS) + "mtllib ../secret.mtl\n" + "".join(
    f"f {a + 1}//1 {b + 1} {c - 4}\n" for a, b, c in FACES)


def stl(faces=FACES):
    facets = b"".join(struct.pack("<12fH", 0, 0, 0, *np.ravel([CORNERS[k] for k in face]), 0) for face in faces)
    return b"\0" * 80 + struct.pack("<I", len(faces)) + facets


def ascii_stl():
    facets = "".join("facet normal 0 0 0\nouter loop\n" + "".join("vertex {} {} {}\n".format(*CORNERS[k]) for k in face)
                     + "endloop\nendfacet\n" for face in FACES)
    return f"solid thing\n{facets}endsolid\n".encode()


def world(folder, inner):
    (folder / "w.xml").write_text(f'<world name="w" engine="spatial">\n{inner}</world>')
    return read(folder / "w.xml")


@pytest.mark.parametrize(("file", "data"), [
    ("a.stl", stl()), ("b.stl", ascii_stl()), ("B.stl", ascii_stl().upper()), ("c.obj", OBJ.encode())])
def test_stl_and_obj_files_give_the_same_body(tmp_path, file, data):
    """A corner of a cube: it lies on the floor, and its three faces meet at its origin."""
    (tmp_path / file).write_bytes(data)
    mesh = read_mesh(str(tmp_path / file))
    assert len(mesh.vertices) == 4 and len(mesh.faces) == 4
    made = world(tmp_path, f'<solid name="t" shape="mesh" file="{file}" scale="0.5" mass="1" z="0.3"/>')
    assert read_text(to_text(made)) == made
    sim = Simulation(made)
    for _ in range(20):
        sim.step()
    assert sim.state.bodies[0, 0, 2] == pytest.approx(0.0, abs=2e-3)
    assert np.ptp(shape_of(made.things[0]).vertices, axis=0) == pytest.approx([0.1, 0.1, 0.1])


@pytest.mark.parametrize(("file", "data", "expected"), [
    ("a.stl", stl()[:-7], "is a damaged STL: it ends at byte 277, and 4 triangles end at 284"),
    ("a.stl", b"", "is a damaged STL"),
    ("a.stl", b"solid x\nvertex 1 2\n", "a.stl:2: is a damaged STL (a corner is not three numbers)"),
    ("a.stl", b"solid x\nvertex 1 2 3\n", "1 corners are not three for each triangle"),
    ("a.stl", stl([]), "it has no triangles"), ("a.stl", stl(FACES[:1]), "is a flat mesh"),
    ("a.obj", b"v 0 0 0\nf 1 2 3\n", "a.obj:2: is a damaged OBJ (there is no corner 2; there are 1 up to here)"),
    ("a.obj", b"v 0 0\n", "a.obj:1: is a damaged OBJ ('v' has 3 numbers, not 2)"),
    ("a.obj", b"v 0 x 0\n", "a.obj:1: is a damaged OBJ"), ("a.obj", OBJ.replace("0.2", "nan").encode(), "not at finite places"),
    ("a.ply", b"ply", "it must be an .stl or an .obj file"),
    ("a.obj", OBJ.encode() + b"f " + b"1 2 3 " * 40_000, "a mesh has at most 100,000"),
])
def test_a_broken_mesh_is_one_message_with_the_line_of_the_world(tmp_path, file, data, expected):
    (tmp_path / file).write_bytes(data)
    with pytest.raises(WorldError) as wrong:
        world(tmp_path, f'<solid shape="mesh" file="{file}"/>')
    text = str(wrong.value)
    assert text.startswith(f"{tmp_path}/w.xml:2: <solid> file: ") and expected in text and "\n" not in text


DOUBLED = '<object name="o0"><solid size="1 1 1"/></object>' + "".join(
    f'<object name="o{n}"><object name="a" like="o{n - 1}"/><object name="b" like="o{n - 1}"/></object>' for n in range(1, 60))


@pytest.mark.parametrize(("inner", "expected"), [
    ('<solid/>', "<solid> size: a box has 3 numbers, not 0"),
    ('<solid shape="mesh"/>', '<solid> file: a shape="mesh" has one, and no other shape'),
    ('<solid size="1" shape="sphere" file="../a.obj"/>', "<solid> file: the file must lie in the folder of"),
    ('<solid size="1" shape="sphere" texture="bad.png"/>', "<solid> texture: "),
    ('<floor texture="large.png"/>', "2049 x 1 pixels are too many; a texture has at most 2048 along a side"),
    ('<render of="nothing"/>', "<render> of: there is no <solid> 'nothing'"),
    ('<object name="o"/>', "<object> holds elements, or is like another (like), or comes from a file (file): one of these"),
    ('<object name="o" like="p"/>', "<object> like: there is no object 'p' before it"),
    ('<object name="o"><lamp x="0" y="0"/></object>', "<lamp> cannot stand in an <object>. Allowed here: <solid>, <joint>"),
    ('<object name="o" z="1"><solid size="1 1 1"/></object>', "<solid> z: in an object that is lifted or tilted"),
    ('<object name="a"><solid size="1 1 1" name="' + 200 * "s" + '"/></object>', "is not a name"),
    (DOUBLED, "<object>: the objects of a world have at most 500 parts"),
    ('<object name="o" file="w.xml"/>', "<object> goes in a circle"),
    ('<object name="o" file="../w.xml"/>', "<object> names '../w.xml', which is not in its own folder"),
])
def test_bad_looks_and_objects_are_one_message_with_their_line(tmp_path, monkeypatch, inner, expected):
    monkeypatch.setattr("formiga.world.reader.MOST_PLACED", 500)
    folder = tmp_path / "own"
    folder.mkdir()
    (tmp_path / "a.obj").write_text(OBJ)
    (folder / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    Image.new("RGB", (2049, 1)).save(folder / "large.png")
    with pytest.raises(WorldError) as wrong:
        Simulation(world(folder, inner))
    assert str(wrong.value).startswith(f"{folder}/w.xml:2: ") and expected in str(wrong.value)


CART = """<object name="cart" x="1" y="2" yaw="90deg">
  <material name="rubber" friction="1.2"/>
  <solid name="body" size="0.3 0.2 0.05" z="0.1"/>
  <object name="arm" x="0.2" z="0.2"><solid name="hand" size="0.05 0.05 0.05" z="0" material="rubber"/></object>
  <joint name="glue" kind="hinge" axis="1 0 0" one="body" other="arm.hand" x="0.2" y="0" z="0.1"/>
  <render of="body" shape="box" size="0.1 0.1 0.1" colour="#ff0000"/>
</object>
<object name="second" like="cart"/>
"""


def test_an_object_is_placed_as_one_and_used_again_under_another_name(tmp_path):
    made = world(tmp_path, CART)
    named = {thing.name: thing for thing in made.things}
    hand, glue = named["cart.arm.hand"], named["cart.glue"]
    assert (hand.x, hand.y, hand.z, hand.yaw) == pytest.approx((1.0, 2.2, 0.2, np.pi / 2))
    assert hand.material == "cart.rubber" and (glue.one, glue.other) == ("cart.body", "cart.arm.hand")
    assert glue.axis == pytest.approx((0.0, 1.0, 0.0))
    assert (named["second.arm.hand"].x, named["second.arm.hand"].y) == (0.2, 0.0)
    assert read_text(to_text(made)) == made
    (tmp_path / "cart.xml").write_text("<world>" + CART.partition('<object name="second')[0] + "</world>")
    assert "third.cart.body" in {thing.name for thing in world(tmp_path, '<object name="third" file="cart.xml"/>').things}


def test_a_file_with_objects_keeps_its_text_when_something_else_changes(tmp_path):
    world(tmp_path, CART + '<solid name="box" size="1 1 1"/>\n')
    document = Document.read(tmp_path / "w.xml")
    moved = [Solid(size=(1, 1, 1), name="box", x=3.0) if thing.name == "box" else thing for thing in document.world.things]
    text = document.text(type(document.world)(name="w", engine="spatial", things=tuple(moved)))
    assert '<object name="second" like="cart"/>' in text and 'x="3.0"' in text


def test_a_solid_is_drawn_as_its_renders_and_covered_with_its_picture(tmp_path):
    made = world(tmp_path, CART)
    body = next(thing for thing in made.things if thing.name == "cart.body")
    (look,) = looks_of(made, body)
    assert np.ptp(look.vertices, axis=0) == pytest.approx([0.1, 0.1, 0.1]) and look.colours[0].tolist() == [255, 0, 0]
    Image.new("RGB", (4, 4), (0, 200, 0)).save(tmp_path / "p.png")
    (look,) = looks_of(made, Solid(size=(1, 1, 1), texture=str(tmp_path / "p.png")))
    plain = replace(made, things=(Solid(size=(1, 1, 1), name="s", texture=str(tmp_path / "p.png")), Render(of="s")))
    assert looks_of(plain, plain.things[0])[0].skin is not None  # a render of the solid's own shape has its picture
    assert look.skin is not None and set(np.unique(look.skin.place)) == {0.0, 1.0}  # the whole picture on each side
    assert b"\x89PNG" in glb(look) and b"TEXCOORD_0" in glb(look)


def test_a_recording_carries_meshes_and_pictures(tmp_path):
    (tmp_path / "a.obj").write_text(OBJ)
    Image.new("RGB", (4, 4)).save(tmp_path / "p.png")
    made = world(tmp_path, '<solid name="t" shape="mesh" file="a.obj" texture="p.png"/>')
    sim = Simulation(made)
    with Recorder(tmp_path / "run.parquet", made) as record:
        record([sim])
        sim.step()
        record([sim])
    for file in ("a.obj", "p.png"):
        (tmp_path / file).unlink()
    thing = read_recording(tmp_path / "run.parquet").world.things[0]
    assert len(read_mesh(thing.file).faces) == 4 and looks_of(made, thing)[0].skin is not None
