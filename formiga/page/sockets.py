"""The sockets of the page: bounded ones (`link/bounded.py`), for a server that viser makes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import viser
import websockets.asyncio.server

from formiga.link.bounded import ALL, HELD, MOST_SOCKETS, Held, Socket

PICTURE = 40 << 20      # bytes that one connection may hold while a window has been asked for a picture of itself

_making = threading.Lock()


@contextmanager
def bounded_sockets(of: Held) -> Iterator[None]:
    """Within this, a server that viser makes has sockets of ours. viser has no setting for that, so its call is amended."""
    plain = websockets.asyncio.server.serve
    with _making:
        made: Any = partial(Socket, of=of)
        websockets.asyncio.server.serve = partial(plain, create_connection=made)  # type: ignore[misc,assignment]
        try:
            yield
        finally:
            websockets.asyncio.server.serve = plain  # type: ignore[misc]


@contextmanager
def large_answer(client: viser.ClientHandle) -> Iterator[None]:
    """Within this, a window may send something as large as a picture of itself."""
    socket = client._viser_server._websock_server._live_connections.get(client.client_id)
    if not isinstance(socket, Socket):
        yield
        return
    socket.most = PICTURE
    try:
        yield
    finally:
        socket.most = HELD


__all__ = ["ALL", "HELD", "MOST_SOCKETS", "PICTURE", "Held", "Socket", "bounded_sockets", "large_answer"]
