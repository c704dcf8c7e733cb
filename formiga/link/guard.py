"""What a server of websockets asks of its clients: that they are not the pages of other sites, and how much they send."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.server import ServerConnection

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MESSAGES, BYTES = 500, 64 << 20  # that one connection may send in a second, before it has to wait
STRIKES = 5                      # seconds in a row that it may have to wait, before it is put out


class Refused(Exception):
    """This connection ends here."""


def refuse_origin(origin: str | None, host: str, loopback: bool) -> str:
    """Why a page may not speak to this server, or ''. Programs that are no browsers send no origin, and may."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        if loopback and name not in LOOPBACK:
            return "wrong host"
        return "" if origin is None or urlsplit(origin).netloc == host else "another site's page"
    except ValueError:
        return "wrong address"


def paced(connection: ServerConnection, messages: int = MESSAGES) -> Callable[..., Awaitable[Any]]:
    """Receive at most so much in a second. A client that sends more has to wait; one that does not stop is disconnected."""
    recv, count, size, began, strikes = connection.recv, 0, 0, 0.0, 0

    async def receive(*given: Any, **named: Any) -> Any:
        nonlocal count, size, began, strikes
        now = asyncio.get_running_loop().time()
        if now - began > 1.0:
            strikes = 0 if now - began > 2.0 else strikes
            count, size, began = 0, 0, now
        elif count >= messages or size >= BYTES:
            strikes += 1
            if strikes > STRIKES:
                connection.transport.abort()
                raise Refused
            await asyncio.sleep(began + 1.0 - now)
            count, size, began = 0, 0, asyncio.get_running_loop().time()
        message = await recv(*given, **named)
        count, size = count + 1, size + len(message)
        return message

    return receive


__all__ = ["BYTES", "LOOPBACK", "MESSAGES", "Refused", "paced", "refuse_origin"]
