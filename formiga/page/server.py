"""The web server: viser on loopback, with a guard at its door.

viser serves its page and its socket to any client. A laboratory writes files when it is told to, so here only pages that
this server itself has served may speak to it: a request from another site's page is turned away, also one whose name was
made to point here. No client can flood it or fill its memory (`sockets.py`), garbage ends the connection that it came from and
nothing else, and viser's own doors to the outside (sharing, uploads) are shut.

Beside viser's own messages each window has a second socket, its *line* (`line.py`): what people type and press. It comes in on
the same port. The few places where this file reaches into viser's insides are why its version is pinned in pyproject.toml.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import warnings
from collections.abc import Awaitable, Callable
from functools import partial
from math import isfinite
from typing import Any

import rich
import viser
from viser import _messages, infra
from websockets.exceptions import ConnectionClosed

from formiga.errors import FormigaError, reason
from formiga.link.guard import LOOPBACK, MESSAGES, Refused, paced, refuse_origin
from formiga.page.faults import is_ours
from formiga.page.sockets import Held, bounded_sockets

PORT = 8017
MOST_WINDOWS = 64              # connections, two for each window
TYPED = 100                    # messages that a line may send in a second: more than a person types or scrubs
SHUT = (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect, _messages.FileTransferStartUpload)

FaultHandler = Callable[[BaseException], None]       # told of what fails in our own code while the server serves
LineHandler = Callable[[Any, str], Awaitable[None]]  # a websocket, and the path that it asked for


def _raise(wrong: BaseException) -> None:
    raise wrong


EXPECTED = (Refused, ConnectionClosed, OSError)  # how connections end


class Bell(asyncio.Event):
    """The event with which viser's buffers wake their senders, safe to set from any thread.

    viser sets it from the thread that writes, and once more in its loop. An asyncio.Event that is set from another thread
    walks through its waiters while the loop changes them ("deque mutated during iteration"), so there only the value is set.
    """

    def set(self) -> None:
        """From the loop: wake all waiters, also if the value was set before."""
        self._value = True
        if asyncio._get_running_loop() is not None:
            for waiter in self._waiters:
                if not waiter.done():
                    waiter.set_result(True)


class Server:
    """A viser server that is safe to leave open. `on_line` serves the windows' lines; `on_fault` hears of our own failures."""

    def __init__(self, host: str = "127.0.0.1", port: int = PORT, on_line: LineHandler | None = None,
                 on_fault: FaultHandler = _raise) -> None:
        free = free_port(host, port)
        rich.get_console().quiet = True                                   # viser prints; we speak for ourselves
        warnings.filterwarnings("ignore", "Queued a .* on a closed connection")  # a window closed while we wrote to it
        logging.getLogger("websockets").setLevel(logging.CRITICAL + 1)    # it logs a traceback for every bad client
        self.host, self.on_line, self.on_fault = host, on_line, on_fault
        self.held = Held()
        with bounded_sockets(self.held):
            self.viser = viser.ViserServer(host=host, port=free, verbose=False)
        self._socket = self.viser._websock_server
        self._socket._broadcast_buffer.message_event = Bell()
        self._socket._client_connect_cb.insert(0, self._guard)
        self._socket.disconnect_all_clients()                             # those that came before the guard
        for message in SHUT:
            self._socket._incoming_handlers.pop(message, None)
        updates = self._socket._incoming_handlers[_messages.GuiUpdateMessage]
        updates[:] = [partial(self._update, handler) for handler in updates]
        self.loop = self.viser.get_event_loop()
        self.loop.call_soon_threadsafe(self.loop.set_exception_handler, self._loop_failed)
        executor = self.viser._thread_executor                            # it calls what we gave to widgets and to the mouse
        executor.submit = partial(executor.submit, self._called)          # type: ignore[method-assign,call-arg]

    @property
    def port(self) -> int:
        """The port it really has: the next free one, if the one that was asked for is taken."""
        return self.viser.get_port()

    @property
    def url(self) -> str:
        """Where the page is."""
        name = "127.0.0.1" if self.host in ("0.0.0.0", "::", *LOOPBACK) else self.host
        return f"http://{name}:{self.port}"

    @property
    def open_to_others(self) -> bool:
        """Whether other machines can connect, because the user asked for that."""
        return self.host not in LOOPBACK

    def stop(self) -> None:
        """Close all windows' connections and end."""
        for connection in list(self._socket._live_connections.values()):
            self.loop.call_soon_threadsafe(connection.transport.abort)  # a polite goodbye waits for an answer
        self.viser.stop()

    def _called(self, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Call a callback. viser would print a traceback of what fails in it, and the page would not show it."""
        try:
            return function(*given, **named)
        except Exception as wrong:
            self.on_fault(wrong)

    async def _update(self, handler: Callable[..., Any], client: int, message: Any) -> None:
        """Let a window change an element's value, if it can have that one. viser would set whatever it is told to."""
        element = self.viser.gui._gui_input_handle_from_uuid.get(str(message.uuid))
        if element is not None and fits(element, message.updates):
            await handler(client, message)

    def _loop_failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Something failed in the server's loop: mostly a client that sent garbage or went away."""
        wrong = context.get("exception")
        if isinstance(wrong, Exception) and not isinstance(wrong, EXPECTED) and is_ours(wrong):
            self.on_fault(wrong)

    async def _guard(self, client: infra.WebsockClientConnection) -> None:
        """Before viser reads a word: may they come in, and are they here for their line?"""
        client._state.message_buffer.message_event = Bell()
        connection = self._socket._live_connections[client.client_id]
        assert connection.request is not None
        headers = connection.request.headers
        reason = refuse_origin(headers.get("Origin"), headers.get("Host", ""), self.host in LOOPBACK)
        if len(self._socket._live_connections) > MOST_WINDOWS:
            reason = "too many windows"
        try:
            if reason:
                await connection.close(1008, reason)
                raise Refused
            path = connection.request.path
            its_line = path.startswith("/line")
            connection.recv = paced(connection, TYPED if its_line else MESSAGES)  # type: ignore[method-assign,assignment]
            if its_line:
                if self.on_line is not None:
                    await self.on_line(connection, path)
                raise Refused
        except BaseException as wrong:
            if isinstance(wrong, Exception) and not isinstance(wrong, EXPECTED):
                self.on_fault(wrong)
            client._state.message_buffer.set_done()
            self._socket._client_state_from_id.pop(client.client_id, None)
            self._socket._live_connections.pop(client.client_id, None)
            raise


def free_port(host: str, port: int) -> int:
    """The first free port from `port` on; 0 for any. viser would look too, but for ever, and does not say why it cannot."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.bind(address)
    except (OSError, UnicodeError) as wrong:
        raise FormigaError(f"'{host}' is not an address of this machine ({reason(wrong)}).") from wrong
    for each in range(port, 65536) if port else (0,):
        try:
            with socket.socket(family, kind, protocol) as trial:
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                trial.bind((address[0], each, *address[2:]))
                return each
        except PermissionError as wrong:
            raise FormigaError(f"port {each} is not for you ({wrong.strerror}); those from 1024 on are.") from wrong
        except OSError:
            continue
    raise FormigaError(f"no port from {port} to 65535 is free; give another one with --port.")


def fits(element: Any, updates: Any) -> bool:
    """Whether a window may change an element so: its value alone, to one of the same type, and one of those it offers."""
    if not isinstance(updates, dict) or updates.keys() != {"value"}:
        return False
    value, now = updates["value"], element.value
    if isinstance(now, int | float) and not isinstance(now, bool):
        return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    offered = isinstance(element, viser.GuiDropdownHandle | viser.GuiButtonGroupHandle)
    return isinstance(value, type(now)) and (not offered or value in element.options)


__all__ = ["PORT", "Server", "fits", "free_port", "refuse_origin"]
