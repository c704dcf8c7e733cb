"""How much connections may hold in memory, each and all together, and how many there may be."""

from __future__ import annotations

import asyncio
import json
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException
from urllib.request import urlopen

import pytest

from formiga.page.line import MOST, Line
from formiga.page.sockets import ALL, HELD, MOST_SOCKETS
from tests.page.clients import VERSION, alive, line, talk
from tests.page.conftest import until


def begin_message(lab, size=48 << 20, path="/"):
    """A raw connection that has announced a message of that size, and sent none of it."""
    raw = socket.create_connection(("127.0.0.1", lab.page.server.port), timeout=20)
    raw.sendall((f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{lab.page.server.port}\r\nUpgrade: websocket\r\n"
                 "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                 f"Sec-WebSocket-Protocol: {VERSION}\r\n\r\n").encode() + b"\x02\xff" + size.to_bytes(8, "big") + bytes(4))
    return raw


def in_loop(lab, what):
    """The result of a function that is called in the server's loop."""
    async def call():
        return what()

    return asyncio.run_coroutine_threadsafe(call(), lab.page.server.loop).result(10)


def pushed(raw, size, block=bytes(1 << 18)):
    """How much of so many bytes a connection took before it was ended."""
    sent = 0
    with suppress(OSError):
        while sent < size:
            raw.sendall(block)
            sent += len(block)
    return sent


def test_a_connection_that_does_not_finish_its_message_is_ended(lab):
    most = 0
    with begin_message(lab) as raw:
        sent = pushed(raw, 40 << 20)
        most = max(each.held for each in lab.page.server.held.sockets) if lab.page.server.held.sockets else 0
    assert HELD // 2 < sent < HELD + (24 << 20) and most <= HELD  # what the kernel holds for both sides is not ours
    alive(lab)


def test_a_message_of_many_empty_fragments_is_ended_too(lab):
    with begin_message(lab, 0) as raw:
        assert pushed(raw, 40 << 20, b"\x00\x80\x00\x00\x00\x00" * 4096) < 2 * HELD
    alive(lab)


def test_all_connections_together_hold_a_bounded_amount(lab):
    before, held = memory(), []
    opened = [begin_message(lab) for _ in range(60)]
    try:
        for _ in range(12):
            for raw in opened:
                pushed(raw, 1 << 18)
            held.append(in_loop(lab, lambda: sum(each.held for each in lab.page.server.held.sockets)))
        assert ALL // 2 < max(held) <= ALL + (1 << 20)
        assert memory() - before < 3 * ALL
        alive(lab)
    finally:
        for raw in opened:
            raw.close()


def memory():
    """Bytes that this process has in memory."""
    with open("/proc/self/statm") as facts:
        return int(facts.read().split()[1]) * 4096


def test_a_client_that_reads_nothing_is_not_listened_to(lab):
    """Each ping is answered; the answers to a client that takes none of them may not pile up."""
    ping = b"\x89\xfd" + bytes(4) + bytes(125)
    with begin_message(lab, 16) as raw:
        raw.settimeout(2.0)
        pushed(raw, 60 << 20, ping * 2000)
        waiting = in_loop(lab, lambda: max(
            (each.transport.get_write_buffer_size() for each in lab.page.server.held.sockets), default=0))
        assert waiting < 4 << 20
    alive(lab)


def test_more_connections_than_there_is_room_for_are_closed_at_once(lab):
    opened = [socket.create_connection(("127.0.0.1", lab.page.server.port), timeout=10) for _ in range(MOST_SOCKETS + 10)]
    try:
        until(lambda: sum(map(gone, opened)) >= 10)
        assert len(lab.page.server.held.sockets) <= MOST_SOCKETS
    finally:
        for each in opened:
            each.close()
    alive(lab)


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost: "])
def test_connections_that_ask_for_nothing_make_room_and_windows_stay(lab, said, monkeypatch):
    raw = []

    async def crowd(window):
        places = lab.page.server.held.sockets
        for _ in range(MOST_SOCKETS - len(places)):
            raw.append(socket.create_connection(("127.0.0.1", lab.page.server.port), timeout=10))
            raw[-1].sendall(said)
        while len(places) < MOST_SOCKETS:
            await asyncio.sleep(0.02)
        monkeypatch.setattr("formiga.link.bounded.SILENT", 1e9)   # none of them is silent yet
        with pytest.raises((OSError, HTTPException)):
            await asyncio.to_thread(fetch, lab)
        monkeypatch.setattr("formiga.link.bounded.SILENT", 0.0)   # now all are
        for _ in range(3):
            assert b"<html" in await asyncio.to_thread(fetch, lab)
        await window.send(json.dumps({"run": "echo still here"}))
        while "still here" not in await window.recv():
            pass

    try:
        talk(lab, line(lab), crowd)
    finally:
        for each in raw:
            each.close()
    monkeypatch.undo()
    alive(lab)


def fetch(lab):
    with urlopen(lab.page.url, timeout=20) as answer:
        return answer.read()


def gone(raw):
    """Whether the other side has closed a connection."""
    raw.settimeout(0.0)
    try:
        return raw.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def test_what_waits_for_a_window_that_does_not_read_is_bounded():
    async def fill():
        line = Line(None, 0)
        for number in range(60):
            line.send({"gallery": "x" * 500_000, "number": number})
        return line

    with ThreadPoolExecutor(1) as thread:
        full = thread.submit(lambda: asyncio.run(fill())).result()
    assert full._size <= MOST and full._size == sum(map(len, full._waiting))
    assert json.loads(full._waiting[-1])["number"] == 59
