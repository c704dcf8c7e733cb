"""Pictures and films: what a window shows as PNG, a recording as one HTML file or as a video.

They take time, so they are made in a thread of their own; the session hears how it goes, and plays on. A film is painted by a
window, or from above if none is open.
"""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import viser

from formiga.errors import FormigaError
from formiga.files import whole_file
from formiga.page.server import Server
from formiga.page.sockets import large_answer
from formiga.session import Session
from formiga.session.film import (
    FILMS,
    NEEDS_RECORDING,
    Paint,
    Progress,
    film_reel,
    from_above,
    recorded,
    refuse_long,
    write_film,
)
from formiga.view import cameras
from formiga.view.canvas import Canvas
from formiga.view.frame import Frame

STILL = {"trails", "circles", "names"}  # overlays that need nothing but poses
TIMEOUT = 30.0                   # s for a window to answer with a picture
LOADING = 2.0                    # s that a new scene takes at least until a window has all of it
STEADY = 0.1                     # of 255, the mean difference of two pictures that are the same


class Job:
    """One piece of work beside the session, for a file of that name. `stop` ends it at the next picture, and leaves no file."""

    def __init__(self, session: Session, work: Callable[[Job], str], name: str = "") -> None:
        self._session, self._work, self._stop = session, work, threading.Event()
        self.name, self.share = name, 0.0      # share: of the work that is done
        self._thread = threading.Thread(target=self._do, name="export", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether it is still at work."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """End it early."""
        self._stop.set()

    def progress(self, done: int, of: int) -> None:
        """Note how far it is; this is where it ends if it was stopped."""
        if self._stop.is_set():
            raise FormigaError("the export was stopped; nothing was written.")
        self.share = done / max(of, 1)

    def _do(self) -> None:
        try:
            self._say(self._work(self), "note")
        except FormigaError as wrong:
            self._say(str(wrong), "error")
        except (RuntimeError, TimeoutError) as wrong:
            self._say(f"the window did not answer ({wrong}).", "error")
        except Exception as wrong:
            self._say(f"the export failed ({type(wrong).__name__}: {wrong}).", "error")
            raise

    def _say(self, text: str, kind: str) -> None:
        self._session.post(lambda: self._session.say(text, kind))


def export(session: Session, path: Path, client: viser.ClientHandle | None) -> Job:
    """Export what the session shows: all of a recording, or the moment that is seen. A film is drawn from above without a
    window.
    """
    if path.suffix not in (".html", *FILMS):
        raise FormigaError(f"'{path}' must end in .html, {', '.join(FILMS)}.")
    speed = session.speed if np.isfinite(session.speed) else 1.0
    if path.suffix != ".html":
        if session.replay is None:
            raise FormigaError(NEEDS_RECORDING)
        refuse_long(session.replay, speed)
    frames = list(recorded(session.replay, session.layers.off)) if session.replay else [session.frame(exact=True)]
    overlays = session.overlays & STILL
    if path.suffix == ".html":
        return Job(session, lambda job: html(job.progress, path, frames, speed, overlays), path.name)
    reel = film_reel(path.suffix)

    def film(job: Job) -> str:
        if client is None:
            paint = from_above(path, frames[0], "trails" in overlays)
            count = write_film(path, frames, speed, paint, reel, job.progress)
            return f"saved {path}, {count} pictures, drawn from above: no window is open"
        with on_stage(client, frames[0], overlays) as paint:
            return f"saved {path}, {write_film(path, frames, speed, paint, reel, job.progress)} pictures"

    return Job(session, film, path.name)


# -- one file that opens by itself --------------------------------------------------------------------------------------
def html(progress: Progress, path: Path, frames: list[Frame], speed: float, overlays: set[str]) -> str:
    """Write frames as a page with a player in it, that needs no server and no network."""
    with stage() as server:
        scene = Canvas(server.scene)
        scene.overlays = overlays
        pose, camera = cameras.overview(frames[0].world), server.initial_camera
        camera.position, camera.look_at, camera.up, camera.fov = pose.position, pose.look_at, pose.up, pose.fov
        scene.show(frames[0])
        serializer = server.get_scene_serializer()
        for number, (before, now) in enumerate(pairwise(frames)):
            progress(number, len(frames))
            serializer.insert_sleep((now.time - before.time) / speed)
            scene.show(now)
        if len(frames) > 1:
            serializer.insert_sleep(1.0)
        title = f"<title>{escape(frames[0].world.name)} - formiga</title>"
        page = serializer.as_html().replace("<title>Viser</title>", title, 1).encode()
    write(path, page)
    return f"saved {path}, {len(page) / 2**20:.1f} MB, {len(frames)} picture{'s' * (len(frames) != 1)}"


@contextmanager
def stage() -> Iterator[viser.ViserServer]:
    """A server of our own without windows, to compose a scene on."""
    server = Server(port=0)
    try:
        yield server.viser
    finally:
        server.stop()


# -- films --------------------------------------------------------------------------------------------------------------
@contextmanager
def on_stage(client: viser.ClientHandle, first: Frame, overlays: set[str]) -> Iterator[Paint]:
    """Have a window render frame after frame, from where it looks."""
    scene = Canvas(client.scene)  # of the same names, so in this window it hides what the session shows
    scene.overlays = overlays

    def paint(frame: Frame) -> Any:
        scene.show(frame)
        return render(client)

    try:
        scene.show(first)
        settle(client)
        yield paint
    finally:
        scene.clear()


def settle(client: viser.ClientHandle) -> None:
    """Until a window has loaded all bodies of a new scene: two pictures in a row that are the same, after a moment."""
    began, before = time.monotonic(), None
    while time.monotonic() - began < TIMEOUT:
        now = render(client).astype(int)
        alike = before is not None and before.shape == now.shape and np.abs(now - before).mean() < STEADY
        if alike and time.monotonic() - began > LOADING:
            return
        before = now
        time.sleep(0.2)


# -- pictures -------------------------------------------------------------------------------------------------------------
def render(client: viser.ClientHandle) -> Any:
    """What a window shows (height, width, 3), as large as it is there."""
    camera = client.camera
    size = max(2, camera.image_height), max(2, camera.image_width)
    with large_answer(client):
        return client.get_render(*size, transport_format="jpeg", timeout=TIMEOUT)[..., :3]


def png(picture: Any) -> bytes:
    """A picture as the bytes of a PNG file."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, format="PNG")
    return buffer.getvalue()


def write(path: Path, data: bytes) -> None:
    """Write a file, all of it or nothing."""
    with whole_file(path) as beside:
        beside.write_bytes(data)


__all__ = ["Job", "export", "html", "png", "recorded", "render", "write"]
