"""Pictures and films: what a window shows as PNG, a recording as one HTML file or as a video.

They take time, so they are made in a thread of their own; the session hears how it goes, and plays on.
"""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import viser

from formiga.errors import FormigaError, MissingExtra
from formiga.files import whole_file
from formiga.page.server import Server
from formiga.session import Session
from formiga.session.replay import Replay
from formiga.view import cameras
from formiga.view.frame import Frame, flat_poses, frame, space_poses
from formiga.view.scene import Scene

FRAMES = 20.0                    # a second of film
MOST_FRAMES = 3000
FILMS = (".mp4", ".webm", ".gif")
STILL = {"trails", "circles", "names"}  # overlays that need nothing but poses
TIMEOUT = 30.0                   # s for a window to answer with a picture
LOADING = 2.0                    # s that a new scene takes at least until a window has all of it
STEADY = 0.1                     # of 255, the mean difference of two pictures that are the same
PROGRESS = 2.0                   # s between two words about how far it is

Reel = Callable[[Path], AbstractContextManager[Callable[[Any], None]]]  # a file -> what takes one picture after another


class Job:
    """One piece of work beside the session. `stop` ends it at the next picture, and leaves no file."""

    def __init__(self, session: Session, work: Callable[[Job], str]) -> None:
        self._session, self._work, self._stop, self._told = session, work, threading.Event(), time.monotonic()
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
        """Tell how far it is, now and then; the place where it ends if somebody stopped it."""
        if self._stop.is_set():
            raise FormigaError("the export was stopped; nothing was written.")
        if time.monotonic() - self._told > PROGRESS:
            self._told = time.monotonic()
            self._say(f"exporting, {done} of {of}; `export off` stops it", "note")

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
    """Export what the session shows: all of a recording, or the moment that is seen."""
    if path.suffix not in (".html", *FILMS):
        raise FormigaError(f"'{path}' must end in .html, {', '.join(FILMS)}.")
    speed = session.speed if np.isfinite(session.speed) else 1.0
    if path.suffix != ".html":
        _refuse_film(session, speed, client)
    frames = list(recorded(session.replay)) if session.replay else [session.frame(exact=True)]
    overlays = session.overlays & STILL
    if path.suffix == ".html":
        return Job(session, lambda job: html(job, path, frames, speed, overlays))
    assert client is not None
    reel = film_reel(path.suffix)
    return Job(session, lambda job: film(job, path, frames, speed, overlays, client, reel))


def _refuse_film(session: Session, speed: float, client: viser.ClientHandle | None) -> None:
    """Say why no film can be made."""
    if session.replay is None:
        raise FormigaError("a film needs a recording: `record`, `record off`, then `load` it.")
    seconds = session.replay.seconds / speed
    if seconds * FRAMES > MOST_FRAMES:
        raise FormigaError(f"a film has at most {MOST_FRAMES} pictures, {MOST_FRAMES / FRAMES:g} s; this would have "
                           f"{seconds:g} s. A higher `speed` makes it shorter.")
    if client is None:
        raise FormigaError("a film is taken in a window, and none is open.")


def recorded(replay: Replay) -> Iterator[Frame]:
    """The moments of a recording as frames; every other one, or fewer, if they are too many."""
    poses, world = replay.poses, replay.sim.world
    every = max(1, -(-len(poses.time) // MOST_FRAMES))
    state = replay.sim.state
    for index in range(0, len(poses.time), every):
        now, position = frame(world, state), np.stack([poses.x[index, 0], poses.y[index, 0]], -1)
        moved = flat_poses(world, position, poses.heading[index, 0], poses.loose[index, 0])
        if replay.recording.parts:
            moved |= space_poses(world, replay.recording.parts, poses.bodies[index, 0])
        yield Frame(world, 0, int(replay.steps[index]), float(poses.time[index]), leds=now.leds, crashes=now.crashes,
                    wheels=np.stack([poses.left[index, 0], poses.right[index, 0]], -1), crashed=poses.crashed[index, 0],
                    alive=poses.alive[index, 0], **moved)


# -- one file that opens by itself --------------------------------------------------------------------------------------
def html(job: Job, path: Path, frames: list[Frame], speed: float, overlays: set[str]) -> str:
    """Write frames as a page with a player in it, that needs no server and no network."""
    with stage() as server:
        scene = Scene(server.scene)
        scene.overlays = overlays
        pose, camera = cameras.overview(frames[0].world), server.initial_camera
        camera.position, camera.look_at, camera.up, camera.fov = pose.position, pose.look_at, pose.up, pose.fov
        scene.show(frames[0])
        serializer = server.get_scene_serializer()
        for number, (before, now) in enumerate(pairwise(frames)):
            job.progress(number, len(frames))
            serializer.insert_sleep((now.time - before.time) / speed)
            scene.show(now)
        if len(frames) > 1:
            serializer.insert_sleep(1.0)
        page = serializer.as_html().encode()
    write(path, page)
    return f"saved {path}, {len(page) / 2**20:.1f} MB, {len(frames)} picture{'s' * (len(frames) != 1)}"


@contextmanager
def stage() -> Iterator[viser.ViserServer]:
    """A server of our own that nobody watches, to compose a scene on."""
    server = Server(port=0)
    try:
        yield server.viser
    finally:
        server.stop()


# -- films --------------------------------------------------------------------------------------------------------------
def film(job: Job, path: Path, frames: list[Frame], speed: float, overlays: set[str], client: viser.ClientHandle,
         reel: Reel) -> str:
    """Have a window render frame after frame, and write them as a video."""
    times = np.array([each.time for each in frames])
    moments = np.arange(0.0, times[-1] + 1e-9, speed / FRAMES)
    shown = np.searchsorted(times, moments, side="right") - 1
    scene = Scene(client.scene)  # of the same names, so in this window it hides what the session shows
    scene.overlays = overlays
    last = -1
    try:
        scene.show(frames[0])
        settle(client)
        with whole_file(path) as beside, reel(beside) as add:
            for number, index in enumerate(shown):
                job.progress(number, len(shown))
                if index != last:
                    scene.show(frames[index])
                    picture, last = render(client), index
                add(picture)
    finally:
        scene.clear()
    return f"saved {path}, {len(shown)} pictures"


def film_reel(suffix: str) -> Reel:
    """What writes a film of that kind, picture by picture; an error that says what is missing."""
    if suffix == ".gif":
        return gif
    try:
        import imageio_ffmpeg
    except ImportError as missing:
        raise MissingExtra(f"{suffix} needs one more library: pip install 'formiga[video]'; .gif does not.") from missing
    codec, kind = {".mp4": ("libx264", "mp4"), ".webm": ("libvpx-vp9", "webm")}[suffix]

    @contextmanager
    def video(file: Path) -> Iterator[Callable[[Any], None]]:
        opened: list[Any] = []

        def add(picture: Any) -> None:
            picture = even(picture)
            if not opened:
                size = picture.shape[1], picture.shape[0]
                opened.append(imageio_ffmpeg.write_frames(str(file), size, fps=FRAMES, codec=codec, macro_block_size=2,
                                                          ffmpeg_log_level="quiet", output_params=["-f", kind]))
                opened[0].send(None)
            opened[0].send(np.ascontiguousarray(picture))

        try:
            yield add
        finally:
            for each in opened:
                each.close()

    return video


@contextmanager
def gif(file: Path) -> Iterator[Callable[[Any], None]]:
    """An animated GIF; its pictures wait in memory, 256 colours each."""
    from PIL import Image

    pictures: list[Image.Image] = []
    yield lambda picture: pictures.append(Image.fromarray(picture).quantize())
    pictures[0].save(file, format="GIF", save_all=True, append_images=pictures[1:], duration=1000.0 / FRAMES, loop=0)


def even(picture: Any) -> Any:
    """Without its last row or column where the codecs would want an even number of them."""
    return picture[: picture.shape[0] // 2 * 2, : picture.shape[1] // 2 * 2, :3]


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


__all__ = ["Job", "export", "png", "recorded", "render", "write"]
