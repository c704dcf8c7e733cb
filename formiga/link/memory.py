"""Shared memory over a declared record: one writer, any number of readers, no locks.

A memory is a file that is mapped. Ours are memfds, which have no name and vanish with the last process that holds them: a
killed simulator leaves nothing behind, a program that ends removes nothing, and Python's resource tracker does not know
them. They are sealed: a program that shrinks its memory would kill the simulator with a bus error, and one that writes into a
memory that it should only read would deceive it; the kernel refuses both. Where the other side cannot inherit memfds, two
plain files serve as well.

Each memory begins with HEAD; the fields of its Record follow. `sequence` is a seqlock: it is odd while the memory is written,
and a reader whose copy began and ended at the same even number has a whole record.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from formiga.link.errors import LinkError

MAGIC, VERSION = b"FORMIGA\0", 1
HEAD = (
    ("magic", "S8"),           # FORMIGA and a zero
    ("version", "<u4"),        # 1
    ("kind", "<u4"),           # of the record
    ("size", "<u4"),           # bytes, of the whole memory
    ("sequence", "<u4"),       # odd while the memory is written; counts on by two for each writing
)
TURN = (                       # fields by which an Exchange works in turns
    ("state", "<u4"),          # question: 1 while there is work, 0 when the program may end. answer: 1 once it was opened
    ("frame", "<i8"),          # question: its number, -1 before the first. answer: that of the question it answers
    ("time", "<f8"),           # s, of that question
)
SPIN = 60e-6 if (os.cpu_count() or 1) > 1 else 0.0   # s: what comes within it needs no sleep; never on one core
SEQUENCE = 20 // 4             # the sequence is this 32-bit word; the ones before it never change
BODY = 24                      # a writing copies what follows the sequence


@dataclass(frozen=True)
class Record:
    """What a memory holds, as a program on the other side sees it: fields at fixed places, little-endian, without gaps.

    fields: (name, type) or (name, type, shape) each, as numpy has them; place a number at a multiple of its size, or a
    compiler of another language may leave gaps. kind: the number by which a reader knows that it has opened the right memory.
    """

    name: str
    kind: int
    fields: tuple[Any, ...]
    layout: np.dtype[Any] = field(init=False, repr=False, compare=False)  # with HEAD

    def __post_init__(self) -> None:
        if not isinstance(self.kind, int) or not 0 <= self.kind < 2**32:
            raise LinkError(f"record '{self.name}': kind {self.kind!r} is out of range; it must be from 0 to {2**32 - 1}.")
        try:
            layout = np.dtype([*HEAD, *self.fields]).newbyteorder("<")
        except (TypeError, ValueError) as wrong:
            raise LinkError(f"record '{self.name}': fields are (name, type) or (name, type, shape): {wrong}.") from wrong
        for name in layout.names or ():
            if layout[name].base.kind not in "biufS":
                raise LinkError(f"record '{self.name}': field '{name}' is of type {layout[name].base}; a memory holds numbers "
                                "of a fixed size and bytes.")
        object.__setattr__(self, "layout", layout)

    @property
    def head(self) -> bytes:
        """The first 20 bytes of such a memory, which never change."""
        first = np.zeros((), self.layout)
        first["magic"], first["version"], first["kind"], first["size"] = MAGIC, VERSION, self.kind, self.layout.itemsize
        return first.tobytes()[: 4 * SEQUENCE]


# -- waiting ----------------------------------------------------------------------------------------------------------
class _Span(ctypes.Structure):
    """struct timespec."""

    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


_FUTEX = {"x86_64": 202, "aarch64": 98, "riscv64": 98}.get(platform.machine()) if sys.platform == "linux" else None
_WAIT, _WAKE, _ALL = 0, 1, 2**31 - 1
_WEAKLY_ORDERED = platform.machine() != "x86_64"
if _FUTEX is not None:
    _syscall = ctypes.CDLL(None, use_errno=True).syscall
    _syscall.argtypes = [ctypes.c_long, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p,
                         ctypes.c_uint32]
_gate = threading.Lock()


def _fence() -> None:
    """Nothing written or read before this is seen after it.

    x86 keeps the order by itself. Elsewhere a lock's release followed by its acquisition orders what stands on both sides.
    """
    if _WEAKLY_ORDERED:
        for _ in range(2):
            with _gate:
                pass


class Memory:
    """One memory, mapped, with a private copy in `values`: a writer fills the copy and writes, a reader reads it anew."""

    def __init__(self, record: Record, file: int, writable: bool) -> None:
        self.record, self.size = record, record.layout.itemsize
        if os.fstat(file).st_size < self.size:
            raise LinkError(f"it has {os.fstat(file).st_size} bytes; a memory of this kind has {self.size}.")
        self._map = mmap.mmap(file, self.size, access=mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ)
        self._bytes = memoryview(self._map)
        self._words = self._bytes.cast("I") if sys.byteorder == "little" else _refuse_big_endian()
        self._address = np.frombuffer(self._map, np.uint8).ctypes.data + 4 * SEQUENCE
        self._copy = bytearray(self.size)
        self._copy_bytes = memoryview(self._copy)
        self.values = np.frombuffer(self._copy, record.layout)[0:1].reshape(())
        self._head = record.head

    @property
    def sequence(self) -> int:
        """As it stands in the memory now; odd while the memory is written."""
        return self._words[SEQUENCE]

    @property
    def intact(self) -> bool:
        """Whether the copy that was read last has the head of its record."""
        return self._copy[: 4 * SEQUENCE] == self._head

    @property
    def found(self) -> bytes:
        """The first 20 bytes, as they stand in the memory now."""
        return bytes(self._bytes[: 4 * SEQUENCE])

    def begin(self) -> None:
        """Write the head of a new memory."""
        self._bytes[: 4 * SEQUENCE] = self._copy_bytes[: 4 * SEQUENCE] = self._head

    def write(self) -> None:
        """Put the copy into the memory and wake the readers that wait for it. One writer at a time."""
        words, number = self._words, self._words[SEQUENCE] | 1
        words[SEQUENCE] = number
        _fence()
        self._bytes[BODY:] = self._copy_bytes[BODY:]
        _fence()
        words[SEQUENCE] = (number + 1) & 0xFFFFFFFF
        if _FUTEX is not None:
            _syscall(_FUTEX, self._address, _WAKE, _ALL, None, None, 0)

    def read(self, tries: int = 64) -> int | None:
        """Copy the memory; the sequence of what was read, or None if every try met a writer at work."""
        words, source, target = self._words, self._bytes, self._copy_bytes
        for attempt in range(tries):
            before = words[SEQUENCE]
            if not before & 1:
                _fence()
                target[:] = source
                _fence()
                if words[SEQUENCE] == before:
                    return before
            if attempt > 8:  # the writer was stopped in the middle: yield the core to it
                time.sleep(20e-6)
        return None

    def wait(self, sequence: int, seconds: float, spin: float = 0.0) -> None:
        """Sleep until the memory's sequence is no longer this one, at most so long; also if its writer wakes no readers.

        spin: s for which it is looked at before sleeping, because to be woken takes longer than a quick answer.
        """
        words = self._words
        if words[SEQUENCE] != sequence or seconds <= 0.0:
            return
        if spin > 0.0:
            until = time.monotonic() + min(spin, seconds)
            while time.monotonic() < until:
                if words[SEQUENCE] != sequence:
                    return
        if _FUTEX is not None:
            span = _Span(int(seconds), int(seconds % 1.0 * 1e9))
            _syscall(_FUTEX, self._address, _WAIT, sequence, ctypes.byref(span), None, 0)
            return
        end, nap = time.monotonic() + seconds, 20e-6
        while self._words[SEQUENCE] == sequence and time.monotonic() < end:
            time.sleep(nap)
            nap = min(1.5 * nap, 1e-3)

    def close(self) -> None:
        """Unmap it."""
        self._words.release()
        self._bytes.release()
        self._map.close()


def _refuse_big_endian() -> Any:
    raise LinkError("the memories are little-endian; this computer is not.")


# -- making and opening -----------------------------------------------------------------------------------------------
_F_ADD_SEALS, _SEAL_SEAL, _SEAL_SHRINK, _SEAL_GROW = 1033, 1, 2, 4  # <linux/fcntl.h>; not every Python's fcntl has them
_SEAL_FUTURE_WRITE = 16        # since Linux 5.1: later maps of the file can only read


def make(record: Record, path: Path | None = None, name: str = "", *, read_only: bool = False) -> tuple[Memory, int]:
    """A new memory and its file: a sealed memfd, or a plain file at `path`. read_only: for other processes, if a memfd."""
    name = name or record.name
    try:
        if path is not None:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        elif sys.platform == "linux":
            file = os.memfd_create(f"formiga-{name}", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        else:
            raise LinkError("shared memory without a file needs Linux: this system has no memfd_create. Give a folder for "
                            "plain files instead, or let programs play through the network.")
        os.ftruncate(file, record.layout.itemsize)
        memory = Memory(record, file, writable=True)
    except OSError as wrong:
        raise LinkError(f"{path or name}: no memory could be made there ({wrong.strerror}).") from wrong
    memory.begin()
    if path is None:
        import fcntl  # Linux, as memfds are

        if read_only:
            with suppress(OSError):  # an older kernel: a program could write into its own question, and deceive itself
                fcntl.fcntl(file, _F_ADD_SEALS, _SEAL_FUTURE_WRITE)
        fcntl.fcntl(file, _F_ADD_SEALS, _SEAL_SHRINK | _SEAL_GROW | _SEAL_SEAL)
    return memory, file


def open_memory(record: Record, path: str, *, writable: bool = False) -> Memory:
    """A memory that another process made."""
    try:
        file = os.open(path, os.O_RDWR if writable else os.O_RDONLY)
    except OSError as wrong:
        raise LinkError(f"{path}: cannot be opened as a memory ({wrong.strerror}).") from wrong
    try:
        memory = Memory(record, file, writable)
    except (LinkError, OSError, ValueError) as wrong:
        raise LinkError(f"{path}: {wrong}") from wrong
    finally:
        os.close(file)
    found = memory.found
    if found != record.head:
        memory.close()
        if found[:8] != MAGIC:
            raise LinkError(f"{path}: this is no memory of formiga (it does not begin with FORMIGA).")
        version, what, size = (int.from_bytes(found[k : k + 4], "little") for k in (8, 12, 16))
        raise LinkError(f"{path}: this memory has version {version}, kind {what} and {size} bytes; expected are version "
                        f"{VERSION}, kind {record.kind} and {record.layout.itemsize} bytes.")
    return memory


__all__ = ["BODY", "HEAD", "Memory", "Record", "SEQUENCE", "SPIN", "TURN", "make", "open_memory"]
