"""Drive robots of formiga from a program of your own. One file, the standard library alone: copy it beside your program.

    from formiga_remote import Robots

    with Robots.from_arguments() as robots:            # --memory QUESTION ANSWER, or --udp 127.0.0.1:20100
        for turn in robots:                            # once in each control period, until the run is over
            near, drive = robots.readings["proximity"], robots.orders["drive"]
            for world in range(robots.worlds):
                for robot in range(robots.count):
                    drive[world, robot, 0] = 0.05      # what is not written stays as it was

Arrays are numpy's where it is installed, else memoryviews of the same shape; both are filled anew in each turn. The orders are
sent when the loop comes round. docs/reference/remote.md has the bytes.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import socket
import struct
import sys
import time
from contextlib import suppress

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

MAGIC, VERSION, QUESTION, ANSWER, HELLO, BYE, TAKEN = b"FORMIGA\0", 1, 21, 22, 23, 24, 25
HEAD, TURN, PLAIN = struct.Struct("<8s4I"), struct.Struct("<IIqd"), struct.Struct("<IIqdIId32s")  # from bytes 0, 24, 24
SEQUENCE, BODY, TABLE, FIRST_ORDER = 5, 24, 96, 48                                          # the first one in words of 32 bits
TYPES = {"f8": "d", "f4": "f", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u8": "Q", "u4": "I", "u2": "H", "u1": "B"}
SPIN = 60e-6 if (os.cpu_count() or 1) > 1 else 0.0     # s that a question is looked for before this program sleeps
LOOK = 0.1                                             # s of one sleep
TRY = 0.5                                              # s after which HELLO is sent again
NUMBER = {"x86_64": 202, "aarch64": 98, "riscv64": 98}.get(platform.machine()) if sys.platform == "linux" else None
futex = ctypes.CDLL(None).syscall if NUMBER else None


class Robots:
    """The robots of one group in all worlds of a run: what they read, and what they shall do."""

    def __init__(self, link):
        self.link, self.text, self.frame = link, None, -1
        self.own, self.readings, self.orders, self.messages = {}, {}, {}, {}
        self.channels, self.joints = {}, {}            # name -> (least, most); name -> (mode, least, most)
        self._take()

    @classmethod
    def from_arguments(cls, arguments=None):
        """From what the program was started with: --memory QUESTION ANSWER, or --udp HOST:PORT."""
        given = list(sys.argv[1:] if arguments is None else arguments)
        if "--memory" in given and len(given) > given.index("--memory") + 2:
            return cls(Memories(*given[given.index("--memory") + 1:][:2]))
        if "--udp" in given and len(given) > given.index("--udp") + 1:
            return cls(Datagrams(given[given.index("--udp") + 1]))
        raise SystemExit(f"use: {sys.argv[0]} --memory QUESTION ANSWER, or --udp HOST:PORT")

    def __iter__(self):
        while self.look():
            yield self.frame
            self.send()

    def look(self):
        """Wait for the next question; false when there are no more."""
        while self.link.look(self.frame):
            self._take()
            if self.state == 0:
                return False
            if self.frame >= 0:
                return True
        return False

    def send(self):
        """Send the orders as they stand, as the answer to this question. The loop does this by itself."""
        TURN.pack_into(self.link.answer, BODY, self.worlds, 1, self.frame, self.time)
        self.link.send()

    def _take(self):
        """Read the plain numbers of a question; and its table, if it has changed."""
        data = self.link.question
        (self.worlds, self.state, self.frame, self.time, self.count, words, self.period, group) = PLAIN.unpack_from(data, BODY)
        text = bytes(data[TABLE: TABLE + words])
        if text != self.text or data is not self._data:
            self.text, self._data, self.group = text, data, group.rstrip(b"\0").decode()
            self._read_table(text.decode())

    _data = None

    def _read_table(self, text):
        for known in (self.own, self.readings, self.orders, self.messages, self.channels, self.joints):
            known.clear()
        orders, size = [], FIRST_ORDER
        for line in text.splitlines():
            what, name, *rest = line.split()
            if what in ("own", "reading"):
                place, shape = int(rest[1]), [int(number) for number in rest[2:]]
                getattr(self, "own" if what == "own" else "readings")[name] = array(self.link.question, rest[0], place, shape)
            elif what in ("order", "message"):
                place, shape = int(rest[1]), [int(number) for number in rest[2:]]
                size = max(size, place + (length(rest[0], shape) + 7) // 8 * 8)
                orders.append((what, name, rest[0], place, shape))
            elif what == "channel":
                self.channels[name] = (float(rest[0]), float(rest[1]))
            elif what == "joint":
                self.joints[name] = (rest[0], float(rest[1]), float(rest[2]))
        self.link.make_answer(size)
        for what, name, kind, place, shape in orders:
            numbers = array(self.link.answer, kind, place, shape)
            (self.orders if what == "order" else self.messages)[name] = numbers
            fill = 0.0 if name == "drive" and what == "order" else float("nan")   # NaN: as before; a message of NaN: silence
            count = length(kind, shape) // 8
            struct.pack_into(f"<{count}d", self.link.answer, place, *[fill] * count)

    def close(self):
        """Leave: the robots stand still."""
        self.link.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def length(kind, shape):
    """Bytes of an array."""
    size = int(kind[1:])
    for number in shape:
        size *= number
    return size


def array(data, kind, place, shape):
    """The array of a type like f8 and a shape that begins at a byte."""
    part = memoryview(data)[place: place + length(kind, shape)]
    return numpy.frombuffer(part, "<" + kind).reshape(shape) if numpy else part.cast(TYPES[kind], shape)  # type: ignore[call-overload]


class Memories:
    """Two files that both programs have mapped. Each is written by one of them, under a sequence that is odd meanwhile."""

    def __init__(self, question, answer):
        self.asked, self.answered = mapped(question, QUESTION, False), mapped(answer, ANSWER, True)
        self.question, self.answer = bytearray(len(self.asked)), bytearray(len(self.answered))
        self.words, self.own_words = memoryview(self.asked).cast("I"), memoryview(self.answered).cast("I")
        self.bell = numpy.frombuffer(self.asked, "u1").ctypes.data + 4 * SEQUENCE if numpy else None
        self.own_bell = ctypes.addressof(ctypes.c_char.from_buffer(self.answered)) + 4 * SEQUENCE
        self.body, self.seen, self.parent = memoryview(self.answered)[BODY:], -1, os.getppid()
        while not self.read():
            time.sleep(0.001)

    def make_answer(self, size):
        """The answer begins as it stands in its memory, which formiga has filled."""
        self.answer[:] = self.answered
        self.answer_body = memoryview(self.answer)[BODY:]
        TURN.pack_into(self.answer, BODY, 0, 1, -1, 0.0)
        self.send()                                    # says: I am here

    def read(self):
        """Copy the question, if it is not being written."""
        before = self.words[SEQUENCE]
        if before & 1:
            return False
        self.question[:] = self.asked
        if self.words[SEQUENCE] != before:
            return False
        self.seen = before
        return True

    def look(self, frame):
        """Wait for another question than the last one; false when formiga has gone."""
        words, seen, until = self.words, self.seen, time.perf_counter() + SPIN
        while True:
            if words[SEQUENCE] != seen:
                if self.read():
                    return True
            elif time.perf_counter() > until:
                if os.getppid() != self.parent:        # killed, perhaps, before it could end this program
                    return False
                if self.bell and futex:
                    span = struct.pack("ll", 0, int(LOOK * 1e9))
                    futex(NUMBER, ctypes.c_void_p(self.bell), 0, ctypes.c_uint32(seen), span, None, 0)
                else:
                    time.sleep(0.0002)

    def send(self):
        """Write the answer, and wake formiga."""
        words = self.own_words
        number = words[SEQUENCE] | 1
        words[SEQUENCE] = number
        self.body[:] = self.answer_body
        words[SEQUENCE] = (number + 1) & 0xFFFFFFFF
        if futex:
            futex(NUMBER, ctypes.c_void_p(self.own_bell), 1, 1 << 30, None, None, 0)

    def close(self):
        """The memories go with the process."""


def mapped(path, kind, writable):
    """A memory that formiga made."""
    with open(path, "r+b" if writable else "rb") as file:
        memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ)
    magic, version, found, size, _ = HEAD.unpack_from(memory, 0)
    if magic != MAGIC or version != VERSION or found != kind or size != len(memory):
        raise SystemExit(f"{path}: no memory of formiga of kind {kind} and version {VERSION}.")
    return memory


class Datagrams:
    """The same memories as datagrams. One that is lost is asked for again, and answered again as it was."""

    def __init__(self, address):
        host, _, port = address.rpartition(":")
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 18)
        try:
            self.socket.connect((host or "127.0.0.1", int(port)))
        except (OSError, OverflowError, ValueError) as wrong:
            raise SystemExit(f"{address}: is no address like 127.0.0.1:20100 ({wrong}).") from wrong
        self.question, self.answer, self.known, self.refused, self.answered = bytearray(), bytearray(), False, 0, None
        while not self.look(-2):
            pass

    def make_answer(self, size):
        """An answer of that many bytes."""
        self.answer = bytearray(size)
        HEAD.pack_into(self.answer, 0, MAGIC, VERSION, ANSWER, size, 0)

    def look(self, frame):
        """Wait for another question than that of this number; false when formiga has gone."""
        until, heard = time.perf_counter() + SPIN, time.monotonic()
        self.say(HELLO if not self.known else 0)
        while True:
            try:
                self.socket.settimeout(0.0 if time.perf_counter() < until else TRY)
                data = self.socket.recv(65536)
            except BlockingIOError:
                continue
            except TimeoutError:
                self.say(HELLO)
                continue
            except ConnectionRefusedError:             # nothing listens there: not yet, or no longer
                if self.known:
                    return False
                time.sleep(0.05)
                self.say(HELLO)
                continue
            if len(data) < BODY or data[:8] != MAGIC:
                continue
            kind, size = struct.unpack_from("<II", data, 12)
            if kind == TAKEN and not self.known:
                self.refused += 1
                if time.monotonic() - heard > 5.0:
                    raise SystemExit("another program drives these robots.")
            elif kind == QUESTION and size == len(data) > TABLE:
                self.known = True
                number = struct.unpack_from("<q", data, 32)[0]
                if number == frame and self.answered == frame and struct.unpack_from("<I", data, 28)[0]:
                    self.socket.send(self.answer)      # the answer was lost
                    continue
                if len(data) == len(self.question):
                    self.question[:] = data
                else:
                    self.question = bytearray(data)
                return True

    def send(self):
        """Send the answer."""
        self.answered = struct.unpack_from("<q", self.answer, 32)[0]
        self.try_to_send(self.answer)

    def say(self, kind):
        """A head and nothing else."""
        if kind:
            self.try_to_send(HEAD.pack(MAGIC, VERSION, kind, BODY, 0))

    def try_to_send(self, data):
        """A datagram that is refused is one that was lost."""
        with suppress(OSError):
            self.socket.send(data)

    def close(self):
        """Say goodbye."""
        self.say(BYE)
        self.socket.close()
