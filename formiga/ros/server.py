"""The sockets: a websocket server in a thread of its own. The run hands it messages and never waits for it.

It listens on this machine alone unless it is told otherwise. Then programs of this machine and pages that it serves itself may
connect; a page of another site has to know the token, ws://HOST:PORT/?token=..., and so has every client where it listens
further.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import secrets
import threading
import time
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import Server as Websockets
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed

from formiga.errors import FormigaError, reason
from formiga.link.bounded import Held, Socket
from formiga.link.guard import LOOPBACK, Refused, paced, refuse_origin
from formiga.link.sockets import Address, check, parse
from formiga.ros.mailbox import Frames
from formiga.ros.orders import shown
from formiga.ros.protocol import Board, Client

PORT = 9090             # of a rosbridge
LARGEST = 1 << 20       # bytes of a message from a client
MOST_CLIENTS = 64
MESSAGES = 2000         # that a client may send in a second, before it has to wait
WAITING = 8             # messages of a client that wait to be read
ALIVE = 20.0            # s after which a client is asked for a sign of life, and that it may take
AGAIN = 1.0             # s on the clock between two lines in the terminal, and between two on lost messages, at least
START = 10.0            # s that starting and stopping may take


class Server:
    """A server of one board. `start` binds it, or says in one message why not."""

    def __init__(self, board: Board, address: Address, token: str = "") -> None:
        self.board, self.host = board, address[0]
        self.port = address[1]                            # the real one, after `start`
        self.token = token or secrets.token_urlsafe(16)
        self.notes = Notes()
        self.clients: list[Client] = []
        self._held = Held()
        self._ready: asyncio.Event                        # there is an offer: clients are listened to
        self._lock = threading.Lock()                     # held for the swap of a dict
        self._fresh: dict[tuple[str, str], tuple[Frames, float]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="rosbridge", daemon=True)
        self._bound: Future[None] = Future()
        self._end: asyncio.Event

    @property
    def url(self) -> str:
        """Where clients connect; with the token, if they need it."""
        return f"ws://{self.host}:{self.port}" + (f"/?token={self.token}" if self.open_to_others else "")

    @property
    def open_to_others(self) -> bool:
        """Whether other machines can connect, because the user asked for that; then every client needs the token."""
        return self.host not in LOOPBACK

    def start(self) -> None:
        """Bind the port, and serve."""
        self._thread.start()
        try:
            self._bound.result(START)
        except OSError as wrong:
            raise FormigaError(words(wrong, self.host, self.port)) from wrong

    def stop(self) -> None:
        """Close all connections, and end the thread."""
        if self._thread.is_alive():
            with suppress(RuntimeError):                  # the loop has just ended
                self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join(START)

    def open(self) -> None:
        """The board has an offer: listen to the clients."""
        self._loop.call_soon_threadsafe(self._ready.set)

    def hand_over(self, made: dict[tuple[str, str], Frames], now: float) -> None:
        """Messages by topic and encoding, from the thread of the run. Those that have not been taken yet are replaced."""
        with self._lock:
            waits = bool(self._fresh)
            self._fresh.update({key: (frames, now) for key, frames in made.items()})
        if not waits:
            with suppress(RuntimeError):                  # the loop has ended
                self._loop.call_soon_threadsafe(self._share_out)

    def _share_out(self) -> None:
        with self._lock:
            fresh, self._fresh = self._fresh, {}
        for (topic, encoding), (frames, now) in fresh.items():
            for each in self.board.subscriptions.get(topic, ()):
                if each.wanted.encoding == encoding:
                    each.client.show(each, frames, now)

    # -- in its own thread ------------------------------------------------------------------------------------------------
    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        self._end, self._ready = asyncio.Event(), asyncio.Event()
        silent = logging.getLogger("formiga.ros.websockets")
        silent.setLevel(logging.CRITICAL + 1)             # it would log a traceback for every bad client
        made: Any = partial(Socket, of=self._held)
        try:
            server: Websockets = await serve(
                self._talk, self.host, self.port, process_request=self._admit, create_connection=made, compression=None,
                max_size=LARGEST, max_queue=WAITING, ping_interval=ALIVE, ping_timeout=ALIVE, logger=silent, server_header=None)
        except OSError as wrong:
            self._bound.set_exception(wrong)
            return
        self.port = next(iter(server.sockets)).getsockname()[1]
        self._bound.set_result(None)
        await self._end.wait()
        server.close(close_connections=False)
        for each in list(self._held.sockets):
            each.end()                                    # a polite goodbye would wait for an answer
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _admit(self, connection: Any, request: Any) -> Any:
        """An answer that refuses a client, or None."""
        name, origin = named(connection), request.headers.get("Origin")
        if len(self.clients) >= MOST_CLIENTS:
            self.notes.add(f"{name}: turned away, {MOST_CLIENTS} clients are connected already.")
            return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, f"{MOST_CLIENTS} clients are connected already.\n")
        given = parse_qs(urlsplit(request.path).query).get("token", [""])[0]
        if secrets.compare_digest(given.encode(errors="replace"), self.token.encode()):
            return None
        if self.open_to_others:
            self.notes.add(f"{name}: turned away, it does not know the token.")
            return connection.respond(HTTPStatus.FORBIDDEN, "the address needs its token: ws://HOST:PORT/?token=...\n")
        wrong_name = refuse_origin(None, request.headers.get("Host", ""), True)
        if not wrong_name and own_page(origin):
            return None
        what = "a client that has another name for this machine" if wrong_name else f"a page of {shown(origin)}"
        self.notes.add(f"{name}: {what} was turned away. If you trust it, let it connect to {self.url}/?token={self.token}")
        return connection.respond(HTTPStatus.FORBIDDEN, "a page of another site needs the token: ws://HOST:PORT/?token=...\n")

    async def _talk(self, connection: Any) -> None:
        """All of one connection."""
        if len(self.clients) >= MOST_CLIENTS:             # some came while this one shook hands
            await connection.close(1013, f"{MOST_CLIENTS} clients are connected already")
            return
        client = Client(self.board, named(connection), self.notes.add)
        self.clients.append(client)
        sender = asyncio.create_task(self._send(connection, client))
        receive = paced(connection, MESSAGES)
        try:
            await until(self._ready, connection)
            while await until(client.mailbox.room, connection):   # one that does not read its answers is not listened to
                client.hear(await receive())
        except Refused:
            self.notes.add(f"{client.name}: put out, it sends without end.")
        except (ConnectionClosed, OSError):
            if (closed := connection.protocol.close_sent) is not None and closed.code == 1009:
                self.notes.add(f"{client.name}: put out, its message was longer than {LARGEST >> 20} MB.")
        finally:
            client.close()
            sender.cancel()
            self.clients.remove(client)

    async def _send(self, connection: Any, client: Client) -> None:
        """Send what waits for a client, as fast as it reads."""
        told = 0.0
        with suppress(ConnectionClosed, OSError):
            while True:
                await client.mailbox.filled.wait()
                while (message := client.mailbox.take()) is not None:
                    for frame in message.frames:
                        await connection.send(frame, text=message.text)
                    if client.mailbox.lost and time.monotonic() - told > AGAIN:
                        told, lost, client.mailbox.lost = time.monotonic(), client.mailbox.lost, 0
                        client.status("warning", f"{lost} messages were left out: they came faster than they were read.")


async def until(event: asyncio.Event, connection: Any) -> bool:
    """Wait for an event, or the end of a connection; whether it was the event. Questions outlive the connection that they
    came by, and without anything to read their answers they would be answered into memory."""
    if event.is_set():
        return True
    both = [asyncio.ensure_future(each) for each in (event.wait(), connection.wait_closed())]
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in both:
            each.cancel()
    return event.is_set()


class Notes:
    """What goes wrong with clients, for the terminal: a line in a second, however much of it there is."""

    def __init__(self) -> None:
        self._last: deque[str] = deque(maxlen=1)
        self._count, self._told = 0, float("-inf")

    def add(self, text: str) -> None:
        """From the server's thread."""
        self._last.append(text)
        self._count += 1

    def take(self) -> str | None:
        """The line that is due, from any other thread."""
        now = time.monotonic()
        if not self._last or now - self._told < AGAIN:
            return None
        self._told, count, self._count = now, self._count, 0
        more = f" (and {count - 1:,} more)" if count > 1 else ""
        return f"rosbridge: {self._last.pop()}{more}"


def address_of(given: str) -> Address:
    """'9090', 'localhost:9090', '0.0.0.0:9090' -> (host, port)."""
    if given.isdecimal():
        return check((LOOPBACK[0], int(given)), "--rosbridge")
    if ":" not in given:
        raise FormigaError(f"--rosbridge '{given}' is no [HOST:]PORT, such as {PORT} or 0.0.0.0:{PORT}. A world's name stands "
                           "before it.")
    return parse(given, "--rosbridge")


def own_page(origin: str | None) -> bool:
    """Whether a client is no page, or one of this machine: a file that an application shows, or a local server's."""
    if origin is None or origin == "file://":
        return True
    try:
        return (urlsplit(origin).hostname or "") in LOOPBACK
    except ValueError:
        return False


def named(connection: Any) -> str:
    """'127.0.0.1:50222'."""
    address = connection.remote_address or ("a client", 0)
    return f"{address[0]}:{address[1]}"


def words(wrong: OSError, host: str, port: int) -> str:
    """Why a port cannot be had."""
    if wrong.errno == errno.EADDRINUSE:
        return f"port {port} of {host} is in use; give another one with --rosbridge [HOST:]PORT."
    why = os.strerror(wrong.errno) if wrong.errno else reason(wrong)  # asyncio's own words are longer
    if wrong.errno == errno.EACCES:
        return f"port {port} is not for you ({why}); give one from 1024 on with --rosbridge [HOST:]PORT."
    return f"{host}:{port} cannot be listened at ({why}); give another address with --rosbridge [HOST:]PORT."


__all__ = ["LARGEST", "MOST_CLIENTS", "Notes", "PORT", "Server", "address_of"]
