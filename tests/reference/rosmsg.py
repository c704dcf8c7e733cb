"""A reader of ROS 1 messages that knows nothing but the text of their definition, as clients are given it."""

import struct

CODES = {"int8": "b", "byte": "b", "uint8": "B", "char": "B", "bool": "?", "int16": "h", "uint16": "H", "int32": "i",
         "uint32": "I", "int64": "q", "uint64": "Q", "float32": "f", "float64": "d"}


def definitions(text):
    """'' for the first one, else the name of the type -> its lines."""
    found, name = {"": []}, ""
    for line in text.splitlines():
        if set(line) == {"="}:
            continue
        if line.startswith("MSG: "):
            name = line.removeprefix("MSG: ")
            found[name] = []
        elif line and "=" not in line:
            found[name].append(line.split())
    return found


def read(text, given):
    """(the message, the bytes that were left over)."""
    return message(definitions(text), "", given)


def message(known, name, given):
    found = {}
    for kind, field in known[name]:
        if "[" not in kind:
            found[field], given = one(known, kind, given)
            continue
        kind, length = kind[:-1].split("[")
        if not length:
            length, given = one(known, "uint32", given)
        found[field] = []
        for _ in range(int(length)):
            value, given = one(known, kind, given)
            found[field].append(value)
    return found, given


def one(known, kind, given):
    if kind in CODES:
        size = struct.calcsize(f"<{CODES[kind]}")
        return struct.unpack(f"<{CODES[kind]}", given[:size])[0], given[size:]
    if kind == "string":
        length = int.from_bytes(given[:4], "little")
        return given[4:4 + length].decode(), given[4 + length:]
    if kind == "time":
        return dict(zip(("secs", "nsecs"), struct.unpack("<II", given[:8]), strict=True)), given[8:]
    return message(known, next(each for each in known if each.endswith(f"/{kind.split('/')[-1]}")), given)
