"""Images and map_server files, good and bad."""

import os
import struct
import zlib
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from formiga.map import FREE, OCCUPIED, UNKNOWN, Grid, MapError, read_map
from formiga.map.images import PNG, grey_image
from formiga.map.server import read_legend


def picture(rng, shape=(6, 9)):
    return rng.choice([0, 205, 254], shape).astype(np.uint8)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def header(width, height):
    return PNG + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))


@pytest.mark.parametrize("name", ["a.png", "a.pgm"])
def test_an_image_is_read_as_it_was_written(rng, tmp_path, name):
    given = picture(rng)
    Image.fromarray(given).save(tmp_path / name)
    assert grey_image(str(tmp_path / name)) * 255 == pytest.approx(given)


def test_plain_and_16_bit_and_coloured_images_are_read(tmp_path):
    (tmp_path / "plain.pgm").write_text("P2 # a comment\n# another\n3 2\n# and one more\n100\n0 50 100\n100 50 0\n")
    assert grey_image(str(tmp_path / "plain.pgm")) == pytest.approx(np.array([[0, 0.5, 1], [1, 0.5, 0]]), abs=0.003)
    deep = np.array([[0, 65535, 32768]], np.uint16)
    Image.fromarray(deep).save(tmp_path / "deep.png")
    assert grey_image(str(tmp_path / "deep.png")) == pytest.approx(deep / 65535)
    Image.fromarray(np.array([[[255, 0, 0, 255], [0, 0, 0, 0]]], np.uint8)).save(tmp_path / "colour.png")
    assert grey_image(str(tmp_path / "colour.png")) == pytest.approx(np.array([[1 / 3, 1.0]]))   # transparent: paper


def test_a_map_server_file_says_where_its_image_lies(rng, tmp_path):
    Image.fromarray(picture(rng)).save(tmp_path / "a.pgm")
    (tmp_path / "a.yaml").write_text("image: a.pgm\nresolution: 0.050000\norigin: [-10.0, -5.5, 0.5]\nnegate: 0\n"
                                     "occupied_thresh: 0.65\nfree_thresh: 0.196\nmode: trinary\n")
    grid = read_map(tmp_path / "a.yaml")
    assert (grid.resolution, grid.x, grid.y, grid.yaw) == (0.05, -10.0, -5.5, 0.5)
    plain = read_map(tmp_path / "a.pgm", 0.05, (-10.0, -5.5, 0.5))
    assert np.array_equal(grid.cells, plain.cells)
    (tmp_path / "n.yaml").write_text("image: a.pgm\nresolution: 1\nnegate: 1\n")
    assert np.array_equal(read_map(tmp_path / "n.yaml").occupied, ~plain.occupied)   # and 205 is bright, too


@pytest.mark.parametrize("lines, expected", [
    ("", [OCCUPIED, UNKNOWN, UNKNOWN, UNKNOWN, FREE]),
    ("occupied_thresh: 0.55\nfree_thresh: 0.45\n", [OCCUPIED, OCCUPIED, UNKNOWN, FREE, FREE]),
    ("occupied_thresh: 0.55\n", [OCCUPIED, OCCUPIED, UNKNOWN, UNKNOWN, FREE]),
    ("mode: scale\n", [OCCUPIED, UNKNOWN, UNKNOWN, UNKNOWN, FREE]),
    ("mode: raw\n", [FREE, OCCUPIED, UNKNOWN, UNKNOWN, UNKNOWN]),
    *((f"negate: {yes}\n", [FREE, UNKNOWN, UNKNOWN, OCCUPIED, OCCUPIED]) for yes in ("1", "true", "True")),
    *((f"negate: {no}\n", [OCCUPIED, UNKNOWN, UNKNOWN, UNKNOWN, FREE]) for no in ("0", "false", "False")),
])
def test_a_map_server_file_says_what_its_shades_mean(lines, expected, tmp_path):
    """Shades whose p = 1 - brightness is 1, 0.6, 0.5, 0.3 and 0."""
    Image.fromarray(np.array([[0, 100, 128, 178, 255]], np.uint8)).save(tmp_path / "a.png")
    (tmp_path / "a.yaml").write_text("image: a.png\nresolution: 1\n" + lines)
    assert read_map(tmp_path / "a.yaml").cells.tolist() == [expected]


BAD_IMAGES = {
    "huge.png": (header(40_000, 40_000) + chunk(b"IDAT", zlib.compress(b"\0")), "40000 x 40000 pixels are too many"),
    "huge.pgm": (b"P5 40000 40000 255\n" + bytes(100), "40000 x 40000 pixels are too many"),
    "long.png": (header(60_000, 10) + chunk(b"IDAT", b""), "60000 x 10 pixels are too many"),
    "bomb.png": (header(4000, 4000) + chunk(b"IDAT", zlib.compress(b"\0")), "damaged image"),
    "cut.png": (header(50, 50) + chunk(b"IDAT", zlib.compress(bytes(range(250)) * 10))[:60], "damaged image"),
    "head.png": (PNG + b"\0\0", "damaged PNG"),
    "none.png": (b"<html>", "is no image that can be a map; it must be a PNG, or a PGM"),
    "empty.png": (b"", "is no image that can be a map"),
    "jpeg.png": (b"\xff\xd8\xff\xe0" + bytes(100), "is no image that can be a map"),
    "cut.pgm": (b"P5 50 50 255\n" + bytes(40), "damaged image"),
    "letters.pgm": (b"P2 2 2 255\n1 2 x 4\n", "damaged image"),
    "blank.pgm": (b"P5" + b" " * 4000 + b"x", "is no image that can be a map"),
    "flat.pgm": (b"P5 0 50 255\n", "0 x 50 pixels are no map"),
    "text.png": (header(5, 5) + chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(50_000_000))) + chunk(b"IDAT", b""),
                 "damaged image"),
}


@pytest.mark.parametrize("name", BAD_IMAGES)
def test_a_bad_image_gives_one_line_with_its_name(name, tmp_path):
    data, expected = BAD_IMAGES[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(MapError, match=expected) as wrong:
        grey_image(str(tmp_path / name))
    assert str(wrong.value).startswith(f"{tmp_path / name}: ") and "\n" not in str(wrong.value)


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    refused = {"absent.png": "no such file", "pipe.png": "is not a file", "a\0b.png": "no such file|cannot be"}
    for name, expected in refused.items():
        with pytest.raises(MapError, match=expected):
            grey_image(f"{tmp_path}/{name}")
    with pytest.raises(MapError, match="needs a resolution"):
        read_map(tmp_path / "a.png")


@pytest.mark.parametrize("given, expected", [
    ({"resolution": float("nan")}, "resolution must be a number from 0.0001 to 1000 m, not nan"),
    ({"resolution": 0.0}, "resolution must be a number"),
    ({"resolution": "5cm"}, "resolution must be a number from 0.0001 to 1000 m, not '5cm'"),
    ({"resolution": 0.05, "origin": (1.0, 2.0)}, "origin must be three numbers x, y, yaw, not"),
    ({"resolution": 0.05, "origin": (1.0, 2.0, float("inf"))}, "origin must be three numbers"),
])
def test_what_an_image_is_given_in_python_is_checked_as_in_a_file(tmp_path, given, expected):
    Image.fromarray(np.zeros((4, 4), np.uint8)).save(tmp_path / "a.png")
    with pytest.raises(MapError, match=expected):
        read_map(tmp_path / "a.png", **given)
    with pytest.raises(MapError, match="has resolution, origin and negate itself"):
        read_map(tmp_path / "a.yaml", 0.05)


GOOD = "image: a.pgm\nresolution: 0.05\n"
BOMB = "image: &a [x, x, x, x]\nresolution: [*a, *a, *a]\n"
BAD_YAML = [
    ("resolution: 0.05\n", 1, "there is no 'image'"),
    ("image: a.pgm\n", 1, "there is no 'resolution'"),
    ("", 1, "there is no 'image'"),
    (GOOD + "resolutoin: 2\n", 3, "'resolutoin' is unknown. Did you mean 'resolution'"),
    (GOOD + "image: b.pgm\n", 3, "'image' is there twice"),
    ("image: a.pgm\nresolution: fine\n", 2, "'resolution' must be a number from 0.0001 to 1000, not fine"),
    ("image: a.pgm\nresolution: .nan\n", 2, "must be a number"),
    ("image: a.pgm\nresolution: 0\n", 2, "must be a number"),
    (GOOD + "origin: [1.0, 2.0]\n", 3, "'origin' must be three numbers"),
    (GOOD + "origin: 5\n", 3, "'origin' must be three numbers"),
    (GOOD + "origin: [1.0, .inf, 0.0]\n", 3, "'origin' must be three numbers"),
    (GOOD + "origin:\n  - 1.0\n  - [2.0]\n", 5, "nested"),
    (GOOD + "negate: perhaps\n", 3, "'negate' must be 0 or 1"),
    (GOOD + "mode: fuzzy\n", 3, "mode 'fuzzy' is unknown"),
    (GOOD + "occupied_thresh: 0.1\nfree_thresh: 0.2\n", 4, "free_thresh 0.2 is above occupied_thresh 0.1"),
    (GOOD + "mode: !!python/object/apply:os.system ['true']\n", 3, "the tag 'tag:yaml.org,2002:python/object"),
    (GOOD + "mode: !own trinary\n", 3, "the tag '!own' is not taken"),
    (BOMB, 1, "anchors and aliases are not taken"),
    ("- image: a.pgm\n", 1, "nested"),
    ("just words\n", 1, "nested"),
    ("image: {a: b}\nresolution: 1\n", 1, "nested"),
    ("image: [a.pgm]\nresolution: 1\n", 1, "'image' must be the name of a file"),
    ("image: 'a.pgm\nresolution: 1\n", 3, "is not YAML"),
    ("image: a.pgm\n\tresolution: 1\n", 2, "is not YAML"),
    (GOOD + "---\nimage: b.pgm\n", 4, "nested"),
    ("image: b.pgm\nresolution: 1\n", 1, "there is no image 'b.pgm' beside this file"),
    ("image: ../a.pgm\nresolution: 1\n", 1, "is not in the folder of this file"),
    ("image: /etc/passwd\nresolution: 1\n", 1, "is not in the folder of this file"),
    ("image: link.pgm\nresolution: 1\n", 1, "is not in the folder of this file"),
    ("[" * 5000, 1, "nested"),
]


@pytest.mark.parametrize("text, line, expected", BAD_YAML)
def test_a_bad_map_server_file_gives_one_line_with_file_and_line(text, line, expected, tmp_path, rng):
    Image.fromarray(picture(rng)).save(tmp_path / "a.pgm")
    os.symlink("/etc/passwd", tmp_path / "link.pgm")
    file = tmp_path / "m.yaml"
    file.write_text(text)
    with pytest.raises(MapError) as wrong:
        read_legend(str(file))
    assert str(wrong.value).startswith(f"{file}:{line}: ") and expected in str(wrong.value)
    assert "\n" not in str(wrong.value)


def test_a_map_server_file_that_is_none_is_refused(tmp_path):
    (tmp_path / "m.yaml").write_bytes(b"\xff\xfe\x00" * 5)
    with pytest.raises(MapError, match="is not YAML"):
        read_legend(str(tmp_path / "m.yaml"))
    (tmp_path / "m.yaml").write_bytes(b"#" * 100_000)
    with pytest.raises(MapError, match="larger than 64 kB"):
        read_legend(str(tmp_path / "m.yaml"))


# -- damage by chance ----------------------------------------------------------------------------------------------------------
def encoded(kind):
    stream = BytesIO()
    Image.fromarray(picture(np.random.default_rng(3))).save(stream, kind)
    return stream.getvalue()


GOOD_FILES = {"a.png": encoded("PNG"), "b.pgm": encoded("PPM"), "c.pgm": b"P2\n# made by hand\n3 2\n255\n0 5 9\n255 7 8\n",
              "d.yaml": b"image: a.png\nresolution: 0.05\norigin: [1.0, -2.5, 0.3]\nnegate: 0\nmode: trinary\n"}


@given(st.sampled_from(sorted(GOOD_FILES)), st.data())
@settings(max_examples=200, deadline=None)
def test_however_a_file_is_damaged_it_is_read_or_refused(tmp_path_factory, name, data):
    folder = tmp_path_factory.getbasetemp() / "damaged"
    folder.mkdir(exist_ok=True)
    (folder / "a.png").write_bytes(GOOD_FILES["a.png"])
    damaged = bytearray(GOOD_FILES[name])
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        change = data.draw(st.sampled_from(["set", "insert", "cut"]))
        if change == "set":
            damaged[at] = data.draw(st.integers(0, 255))
        elif change == "insert":
            damaged[at:at] = data.draw(st.binary(max_size=6))
        else:
            del damaged[at + 1:]
    (folder / f"x{name}").write_bytes(damaged)
    try:
        assert isinstance(read_map(folder / f"x{name}", None if name.endswith("yaml") else 0.05), Grid)
    except MapError as wrong:
        assert str(folder) in str(wrong) and "\n" not in str(wrong)
