"""Grey images from PNG and PGM files. Their size is read from the header and checked before a pixel is decoded."""

from __future__ import annotations

import os
import re
import struct
import warnings
from io import BytesIO
from typing import Any

import numpy as np

from formiga.errors import FormigaError, reason

LARGEST_FILE = 16 * 2**20    # bytes
MOST_PIXELS = 4096 * 4096
LONGEST_SIDE = 16384         # pixels
PNG = b"\x89PNG\r\n\x1a\n"
PGM = re.compile(rb"P[25](?:\s|#[^\n]*\n)++(\d{1,9})(?:\s|#[^\n]*\n)++(\d{1,9})(?:\s|#[^\n]*\n)++(\d{1,9})\s")


class MapError(FormigaError):
    """A file that is no map."""


def grey_image(file: str) -> Any:
    """The brightness of each pixel (rows, columns), 0 black to 1 white; the first row is the top of the image. Colours are
    averaged over their channels, what is transparent is white."""
    data = load(file, LARGEST_FILE)
    width, height = _size(file, data)
    if width < 1 or height < 1:
        raise MapError(f"{file}: {width} x {height} pixels are no map.")
    if width * height > MOST_PIXELS or max(width, height) > LONGEST_SIDE:
        raise MapError(f"{file}: {width} x {height} pixels are too many; a map has at most {MOST_PIXELS:,} pixels, and "
                       f"{LONGEST_SIDE:,} along a side. Make it smaller, with a larger resolution.")
    return _decoded(file, data)


def load(file: str, most: int) -> bytes:
    """The bytes of a file, if it is one and has at most so many."""
    try:
        if not os.path.isfile(file):  # a pipe would keep us waiting for ever
            raise MapError(f"{file}: {'is not a file' if os.path.exists(file) else 'no such file'}.")
        with open(file, "rb") as stream:
            data = stream.read(most + 1)
    except (OSError, ValueError) as wrong:  # ValueError: a null character in the name
        raise MapError(f"{file}: cannot be read ({reason(wrong)}).") from wrong
    if len(data) > most:
        raise MapError(f"{file}: larger than {most >> 20} MB." if most >> 20 else f"{file}: larger than {most >> 10} kB.")
    return data


def _size(file: str, data: bytes) -> tuple[int, int]:
    """Width and height, from the header."""
    if data.startswith(PNG):
        if len(data) < 24 or data[12:16] != b"IHDR":
            raise MapError(f"{file}: is a damaged PNG: it does not begin with its size.")
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    found = PGM.match(data[:4096])
    if found is None:
        raise MapError(f"{file}: is no image that can be a map; it must be a PNG, or a PGM (P2 or P5).")
    return int(found[1]), int(found[2])


def _decoded(file: str, data: bytes) -> Any:
    from PIL import Image, UnidentifiedImageError  # a tenth of a second, only for maps

    try:
        with warnings.catch_warnings(), Image.open(BytesIO(data), formats=("PNG", "PPM")) as picture:
            warnings.simplefilter("ignore")
            picture.load()
            if picture.mode.startswith("I"):                              # 16 bits
                return np.asarray(picture, np.float32) / 65535.0
            if picture.mode in ("1", "L"):
                return np.asarray(picture.convert("L"), np.float32) / 255.0
            colours = np.asarray(picture.convert("RGBA"), np.float32) / 255.0
    except UnidentifiedImageError as wrong:
        raise MapError(f"{file}: is a damaged image (its header is of no known kind).") from wrong
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, struct.error, MemoryError) as wrong:
        raise MapError(f"{file}: is a damaged image ({wrong}).") from wrong
    alpha = colours[..., 3]
    return alpha * colours[..., :3].mean(axis=-1) + (1.0 - alpha)


__all__ = ["LARGEST_FILE", "LONGEST_SIDE", "MOST_PIXELS", "MapError", "grey_image", "load"]
