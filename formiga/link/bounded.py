"""How much the websockets of a server may hold in memory, each and all together.

A websocket message is kept until its last fragment has come, and messages wait until they are read. Without a bound a client
that never finishes its messages fills the memory. Here every byte that was received and not yet handed over is counted: a
connection that holds more than it may is ended at once, and when all together hold too much, the one that is furthest above
its share is. Connections that ask for nothing make room when all places are taken. A client that does not read what it is
sent is not listened to either, so answers to its pings do not pile up.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.frames import DATA_OPCODES, Frame
from websockets.protocol import State

HELD = 8 << 20          # bytes that one connection may hold
ALL = 64 << 20          # bytes that all connections may hold together, those aside that may hold more
FRAME = 512             # bytes that a received frame takes beside its content, about
MOST_SOCKETS = 128      # open connections, those that only fetch a file included
SILENT = 2.0            # s without a byte, after which one that has not finished its request makes room for another


class Held:
    """The open connections of one server, and what they hold."""

    def __init__(self) -> None:
        self.sockets: set[Socket] = set()

    def check(self) -> None:
        """End connections until all together hold no more than they may."""
        while self.sockets and sum(min(each.held, HELD) for each in self.sockets) > ALL:
            max(self.sockets, key=lambda each: each.held - each.most).end()

    def make_room(self) -> bool:
        """Whether there is a place for one more; the one that has been silent for the longest time goes if need be."""
        if len(self.sockets) < MOST_SOCKETS:
            return True
        waiting = [each for each in self.sockets if each.protocol.state is State.CONNECTING]
        longest = min(waiting, key=lambda each: each.heard, default=None)
        if longest is None or time.monotonic() - longest.heard < SILENT:
            return False
        longest.end()
        return True


class Socket(ServerConnection):
    """A connection that knows how many bytes it holds."""

    def __init__(self, *given: Any, of: Held, **named: Any) -> None:
        super().__init__(*given, **named)
        self.of, self.most = of, HELD
        self.heard = time.monotonic()  # when it sent something for the last time, or came
        self._frames = 0  # bytes of frames that no message has been made of yet

    @property
    def held(self) -> int:
        """Bytes that were received, and not handed over as a message."""
        return self._frames + len(self.protocol.reader.buffer)

    def end(self) -> None:
        """Close it without a goodbye, which would have to wait for an answer, and forget what it holds."""
        self.of.sockets.discard(self)
        self.protocol.reader.buffer.clear()
        self._frames = 0
        self.transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has come; one too many has to go."""
        super().connection_made(transport)
        if self.of.make_room():
            self.of.sockets.add(self)
        else:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has gone."""
        self.of.sockets.discard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came in, and see whether that is too much."""
        if self not in self.of.sockets:
            return
        self.heard = time.monotonic()
        super().data_received(data)
        if self.held > self.most:
            self.end()
        elif self.held > ALL // MOST_SOCKETS:  # below that, all of them together are not too much
            self.of.check()

    def process_event(self, event: Any) -> None:
        """Count the frames of messages."""
        if isinstance(event, Frame) and event.opcode in DATA_OPCODES:
            self._frames += FRAME + len(event.data)
        super().process_event(event)

    async def recv(self, decode: bool | None = None) -> Any:
        """The next message. Then only what waits behind it is held."""
        message = await super().recv(decode)
        self._frames = sum(FRAME + len(frame.data) for frame in self.recv_messages.frames.queue)
        return message

    def pause_writing(self) -> None:
        """The client does not read: then we do not, either."""
        super().pause_writing()
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        """It reads again."""
        super().resume_writing()
        if not self.recv_messages.paused:
            self.transport.resume_reading()


__all__ = ["ALL", "HELD", "MOST_SOCKETS", "Held", "Socket"]
