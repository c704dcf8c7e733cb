"""A window's line: a socket for what people type and press, and for what they shall read. One JSON object a message.

From the window                         To the window
    {"run": "speed 2"}                      {"say": "...", "kind": "out" | "error" | "note" | "echo"}
    {"press": "w"}, {"release": "w"}        {"status": {...}}   some ten times a second
    {"blur": true}                          {"keys": [...]}     the keys that are bound
    {"complete": "spe"}                     {"complete": "spe", "words": ["speed"]}
    {"gallery": true}                       {"gallery": [...], "recent": [...]}, {"papers": [...]}
    {"paper": "swarmod"}                    {"paper": {"title": "...", "article": "..."}}  see studies/report.py
    {"turned": true}  the camera, by hand   {"faults": {"count": 3, "text": "..."}}  what failed in the laboratory itself
    {"folder": "runs"}                      {"listing": {...}}  worlds and recordings there: see open.py
    {"load": "runs/run.parquet"}            {"loaded": {"error": ""}}  a file of the open dialog, and what is wrong with it
    {"eye": true}                           {"eye": {...}}      where the window looks from: see cameras.pinhole
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.exceptions import ConnectionClosed

LONGEST = 20_000     # characters of a message
WAITING = 400        # messages that may wait for a slow window,
MOST = 4 << 20       # and characters of them


class Line:
    """One window's. `client` is viser's number for the same window."""

    def __init__(self, connection: Any, client: int) -> None:
        self.connection, self.client = connection, client
        self._waiting: deque[str] = deque()
        self._size = 0                     # characters that wait
        self._more = asyncio.Event()

    def send(self, message: dict[str, Any]) -> None:
        """Have it sent; of what a slow window cannot take in time the oldest is dropped. Only in the server's loop."""
        self._waiting.append(json.dumps(message))
        self._size += len(self._waiting[-1])
        while len(self._waiting) > WAITING or (self._size > MOST and len(self._waiting) > 1):
            self._size -= len(self._waiting.popleft())
        self._more.set()

    async def talk(self, heard: Callable[[Line, dict[str, Any]], None]) -> None:
        """Serve the line until either side ends it. What is not a JSON object ends it."""
        sender = asyncio.create_task(self._send_all())
        try:
            while True:
                message = await self.connection.recv()
                if len(message) > LONGEST:
                    await self.connection.close(1009, "too long")
                    return
                given = json.loads(message)
                if not isinstance(given, dict):
                    raise ValueError
                heard(self, given)
        except (ValueError, RecursionError):
            await self.connection.close(1007, "not a JSON object")
        except ConnectionClosed:
            pass
        finally:
            sender.cancel()

    async def _send_all(self) -> None:
        with suppress(ConnectionClosed):
            while True:
                await self._more.wait()
                self._more.clear()
                while self._waiting:
                    message = self._waiting.popleft()
                    self._size -= len(message)
                    await self.connection.send(message)


def client_of(path: str) -> tuple[int, str]:
    """(client, token) of '/line?client=3&token=abc'."""
    asked = parse_qs(urlsplit(path).query)
    client, token = asked.get("client", ["-1"])[0], asked.get("token", [""])[0]
    return (int(client) if client.isdecimal() and len(client) < 10 else -1), token


__all__ = ["Line", "client_of"]
