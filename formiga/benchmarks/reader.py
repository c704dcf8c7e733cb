"""A program that is connected like a window of the laboratory, and throws away all that it is sent.

    python -m formiga.benchmarks.reader ws://127.0.0.1:8017

It costs next to nothing itself, so it shows what a window costs the simulation when another machine paints.
It ends with its input.
"""

from __future__ import annotations

import os
import sys
import threading
from importlib.metadata import version

import msgspec
from websockets.sync.client import connect
from websockets.typing import Subprotocol

CAMERA = {"type": "ViewerCameraMessage", "wxyz": [1, 0, 0, 0], "position": [0, -3, 3], "fov": 0.9, "near": 0.01, "far": 100,
          "image_height": 800, "image_width": 1280, "look_at": [0, 0, 0], "up_direction": [0, 0, 1]}


def main(address: str) -> None:
    """Connect, say where the camera is, as windows do, and read."""
    threading.Thread(target=_end_with_input, daemon=True).start()
    with connect(address, subprotocols=[Subprotocol(f"viser-v{version('viser')}")], max_size=None, compression=None) as socket:
        socket.send(msgspec.msgpack.encode(CAMERA))
        for _ in socket:
            pass


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
