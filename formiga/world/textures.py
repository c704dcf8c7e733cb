"""Pictures on things: PNG and JPEG files, read safely. Their size is checked before a pixel is decoded."""

from __future__ import annotations

import os
import warnings
from functools import lru_cache
from io import BytesIO
from typing import NamedTuple

from formiga.errors import WorldError
from formiga.map.images import MapError, load

LARGEST_FILE = 8 * 2**20     # bytes
LONGEST_SIDE = 2048          # pixels


class Texture(NamedTuple):
    """A picture, written anew from its pixels: what else a file holds is left behind."""

    width: int
    height: int
    png: bytes


def read_texture(file: str) -> Texture:
    """The picture in a file; WorldError with one sentence if there is none."""
    try:
        about = os.stat(file)
        return _read(file, about.st_mtime_ns, about.st_size)
    except OSError as wrong:
        raise WorldError(f"{file}: cannot be read ({wrong.strerror}).") from wrong


@lru_cache(maxsize=32)
def _read(file: str, changed: int, size: int) -> Texture:
    from PIL import Image, UnidentifiedImageError  # a tenth of a second, only for pictures

    try:
        data = load(file, LARGEST_FILE)
        with warnings.catch_warnings(), Image.open(BytesIO(data), formats=("PNG", "JPEG")) as picture:
            warnings.simplefilter("ignore")
            if max(picture.size) > LONGEST_SIDE:
                raise WorldError(f"{file}: {picture.width} x {picture.height} pixels are too many; a texture has at most "
                                 f"{LONGEST_SIDE} along a side. Make it smaller.")
            colours, out = picture.convert("RGBA"), BytesIO()
            flat = Image.new("RGB", colours.size, (255, 255, 255))
            flat.paste(colours, mask=colours.getchannel("A"))  # what is transparent is white
            flat.save(out, "PNG")
            return Texture(colours.width, colours.height, out.getvalue())
    except MapError as wrong:
        raise WorldError(str(wrong)) from wrong
    except (UnidentifiedImageError, Image.DecompressionBombError) as wrong:
        raise WorldError(f"{file}: is no picture that can be a texture; it must be a PNG or a JPEG of at most {LONGEST_SIDE} "
                         "pixels along a side.") from wrong
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, MemoryError) as wrong:
        raise WorldError(f"{file}: is a damaged picture ({wrong}).") from wrong


__all__ = ["LARGEST_FILE", "LONGEST_SIDE", "Texture", "read_texture"]
