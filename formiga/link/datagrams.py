"""The same exchange by UDP, for a program that is started elsewhere: each datagram is a whole memory, byte for byte.

The program sends HELLO, the bare head of a memory, and gets the newest question; then it answers every question in turn. One
program at a time: another one is sent TAKEN until the first says BYE or has been silent for FORGET. A datagram that was lost
is asked for again. Whatever else arrives is dropped, and told in one line a second.

    exchange = Datagrams(QUESTION, ANSWER, ("127.0.0.1", 20100))       # in place of Exchange(QUESTION, ANSWER)
"""

from __future__ import annotations

import selectors
import socket
import time
from typing import Any

import numpy as np

from formiga.link.complaints import Complaints
from formiga.link.errors import LinkError
from formiga.link.exchange import Exchange, check_turns
from formiga.link.memory import BODY, MAGIC, SEQUENCE, VERSION, Record
from formiga.link.sockets import BUFFER, Address, written

HELLO, BYE, TAKEN = 23, 24, 25     # kinds of datagrams that are a head and nothing else
LARGEST = 65_507                   # bytes in a datagram of IPv4
AGAIN = 0.05                       # s on the clock after which a question that has no answer is sent again
FORGET = 2.0                       # s on the clock of silence after which another program may come
AT_ONCE = 256                      # datagrams that are read before the run goes on: a flood must not hold it up


def bare(kind: int) -> bytes:
    """A datagram that is a head and nothing else."""
    return MAGIC + VERSION.to_bytes(4, "little") + kind.to_bytes(4, "little") + BODY.to_bytes(4, "little") + bytes(4)


class Port:
    """The socket, and the program at its other end, if there is one. `told` has what went wrong, and which programs came."""

    def __init__(self, address: Address) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self.socket.setblocking(False)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
            self.socket.bind(address)
        except OSError as wrong:
            self.socket.close()
            raise LinkError(f"no program can come to UDP {written(address)} "
                            f"({(wrong.strerror or 'it is no address').lower()}); it needs another port.") from wrong
        self.address: Address = self.socket.getsockname()
        self.peer: Address | None = None
        self.heard = 0.0                                   # s on the clock, from the peer
        self.told = Complaints()
        self._arrivals = selectors.DefaultSelector()
        self._arrivals.register(self.socket, selectors.EVENT_READ)

    def send(self, data: Any, to: Address | None = None) -> None:
        """To the program, or somewhere else. A datagram that cannot be sent is one that was lost."""
        to = to or self.peer
        if to is not None:
            try:
                self.socket.sendto(data, to)
            except BlockingIOError:
                return
            except OSError as wrong:
                self.told.add(to, f"could not be answered ({wrong.strerror})")

    def wait(self, seconds: float) -> None:
        """Until something has arrived, at most so long."""
        self._arrivals.select(seconds)

    def close(self) -> None:
        """Close the socket."""
        self._arrivals.close()
        self.socket.close()

    def admit(self, source: Address) -> bool:
        """Whether the program at an address may drive, now that it said hello."""
        now = time.monotonic()
        if self.peer is not None and self.peer != source and now - self.heard < FORGET:
            self.told.note(source, f"wants to drive, but a program at {written(self.peer)} does; it has to wait")
            self.send(bare(TAKEN), source)
            return False
        if self.peer != source:
            self.told.change(f"a program at {written(source)} drives now")
        self.peer, self.heard = source, now
        return True

    def dismiss(self) -> None:
        """The program said goodbye."""
        self.told.change(f"the program at {written(self.peer or self.address)} has left")
        self.peer = None


class Sent:
    """The question, in place of a memory: to write it is to send it."""

    def __init__(self, record: Record, port: Port) -> None:
        self._port = port
        self._data = bytearray(record.head.ljust(record.layout.itemsize, b"\0"))
        self._words = memoryview(self._data).cast("I")
        self.values = np.frombuffer(self._data, record.layout)[0:1].reshape(())
        self.sent = 0.0                                    # s on the clock

    def write(self) -> None:
        """Send it under a new sequence."""
        self._words[SEQUENCE] = (self._words[SEQUENCE] + 2) & 0xFFFFFFFF
        self.repeat()

    def repeat(self) -> None:
        """Send it once more, as it was."""
        self.sent = time.monotonic()
        self._port.send(self._data)

    def close(self) -> None:
        """The socket is closed with the answer."""


class Received:
    """The answer, in place of a memory: to look at its sequence is to take what has arrived."""

    def __init__(self, record: Record, port: Port, question: Sent) -> None:
        self._port, self._question, self._head = port, question, record.head
        self._data = bytearray(record.head.ljust(record.layout.itemsize, b"\0"))
        self._next = bytearray(record.layout.itemsize + 1)  # one more: a longer datagram is not taken for a whole one
        self._start, self._body = memoryview(self._next)[: len(self._head)], memoryview(self._next)[:-1]
        self.values = np.frombuffer(self._data, record.layout)[0:1].reshape(())
        self.intact, self._count = True, 0

    @property
    def sequence(self) -> int:
        """Grows by two with every answer."""
        for _ in range(AT_ONCE):
            try:
                size, source = self._port.socket.recvfrom_into(self._next)
            except BlockingIOError:
                break
            except OSError:
                continue                                   # of a datagram that was sent earlier: its receiver is gone
            self._take(size, source)
        return self._count

    def read(self, tries: int = 1) -> int:
        """What was taken last is in `values`."""
        return self._count

    def write(self) -> None:
        """Nothing: only the program writes answers."""

    def wait(self, sequence: int, seconds: float, spin: float = 0.0) -> None:
        """Until another answer has arrived, at most so long; the question is sent again if it may have been lost."""
        until = time.monotonic() + min(spin, seconds)
        while time.monotonic() < until:
            if self.sequence != sequence:
                return
        self._port.wait(seconds)
        if self.sequence == sequence and time.monotonic() - self._question.sent > AGAIN:
            self._question.repeat()

    def close(self) -> None:
        """Close the socket."""
        self._port.close()

    def _take(self, size: int, source: Address) -> None:
        port = self._port
        if size == len(self._body) and self._start == self._head:
            if source == port.peer:
                self._data[BODY:] = self._body[BODY:]
                port.heard = time.monotonic()
                self._count += 2
            else:
                port.told.add(source, "is an answer of a program that has not said hello, or has been silent for too long")
            return
        told = bytes(self._next[: BODY - 4]) if size == BODY else b""
        if told == bare(HELLO)[:-4]:
            if port.admit(source):
                self._question.repeat()
        elif told == bare(BYE)[:-4] and source == port.peer:
            port.dismiss()
        elif bytes(self._next[:8]) == MAGIC and size >= BODY:
            kind = int.from_bytes(self._next[12:16], "little")
            port.told.add(source, f"is of kind {kind} and {min(size, len(self._next)):,} bytes; an answer is of kind "
                                  f"{int.from_bytes(self._head[12:16], 'little')} and {len(self._body):,} bytes")
        else:
            port.told.add(source, "is no datagram of formiga")


class Datagrams(Exchange):
    """Questions and answers as datagrams, with a program that comes by itself."""

    def __init__(self, question: Record, answer: Record, address: Address, *, name: str = "link") -> None:
        check_turns(question, answer)
        for record in (question, answer):
            if record.layout.itemsize > LARGEST:
                raise LinkError(f"'{record.name}' of '{name}' has {record.layout.itemsize:,} bytes, and a datagram holds "
                                f"{LARGEST:,}. Take fewer worlds, robots or readings, or let formiga start the program: shared "
                                "memory has no such limit.")
        self._files, self._named = [], []
        self.port = Port(address)
        asked = Sent(question, self.port)
        self._begin(name, asked, Received(answer, self.port, asked))

    @property
    def opened(self) -> bool:
        """Whether a program is there."""
        return self.answered.sequence >= 0 and self.port.peer is not None

    def lines(self) -> list[str]:
        """What was wrong with what arrived, and which programs came and left, since this was last asked."""
        self.port.told.look_around(time.monotonic())
        return self.port.told.take()


__all__ = ["BYE", "Datagrams", "HELLO", "LARGEST", "TAKEN", "bare"]
