"""Clients of the page that are no browsers: what they send, and whether the laboratory still works afterwards."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import viser
import websockets

from tests.page.conftest import until

VERSION = f"viser-v{viser.__version__}"


def address(lab, path="/"):
    return f"ws://127.0.0.1:{lab.page.server.port}{path}"


def talk(lab, path, what, **how):
    async def meet():
        async with websockets.connect(address(lab, path), subprotocols=[VERSION], max_size=None, **how) as socket:
            return await what(socket)

    with ThreadPoolExecutor(1) as thread:  # playwright may have a loop of its own in this one
        return thread.submit(lambda: asyncio.run(asyncio.wait_for(meet(), 60))).result()


def line(lab, client=7):
    return f"/line?client={client}&token={lab.page.token}"


def alive(lab):
    """The laboratory still steps, and a well-behaved line still works."""
    before = lab.poses()[2]
    lab.run("play")
    until(lambda: lab.poses()[2] > before)

    async def ask(socket):
        await socket.send(json.dumps({"run": "echo well"}))
        async for message in socket:
            if json.loads(message).get("say") == "well":
                return True
        return False

    assert talk(lab, line(lab, 99), ask)
