"""Messages as ROS 1 puts them on the wire, for clients that ask for `cbor-raw`.

Little-endian and without gaps; a string, and an array of any length, begins with its length as uint32.
[wiki.ros.org/msg; rosbridge v2 protocol, section 3.1.3]
"""

from __future__ import annotations

import struct
from typing import Any

from formiga.ros.definitions import Field, fields

CODES = {"int8": "b", "byte": "b", "uint8": "B", "char": "B", "bool": "?", "int16": "h", "uint16": "H", "int32": "i",
         "uint32": "I", "int64": "q", "uint64": "Q", "float32": "f", "float64": "d"}


def packed(kind: str, message: dict[str, Any]) -> bytes:
    """A message of that type as bytes."""
    out = bytearray()
    _pack(kind, message, out)
    return bytes(out)


def _pack(kind: str, message: dict[str, Any], out: bytearray) -> None:
    for each in fields(kind):
        value = message[each.name]
        if each.length is None:
            _pack_one(each.type, value, out)
        else:
            _pack_array(each, value, out)


def _pack_array(field: Field, values: Any, out: bytearray) -> None:
    if field.length == -1:
        out += struct.pack("<I", len(values))
    if field.type in ("uint8", "char"):
        out += bytes(values)
    elif field.type in CODES:
        out += struct.pack(f"<{len(values)}{CODES[field.type]}", *values)
    else:
        for value in values:
            _pack_one(field.type, value, out)


def _pack_one(kind: str, value: Any, out: bytearray) -> None:
    if kind in CODES:
        out += struct.pack(f"<{CODES[kind]}", value)
    elif kind == "string":
        text = value.encode()
        out += struct.pack("<I", len(text)) + text
    elif kind in ("time", "duration"):
        out += struct.pack("<II", value["secs"], value["nsecs"])
    else:
        _pack(kind, value, out)


__all__ = ["packed"]
