"""Pictures and films: what a window shows as PNG, a recording as one HTML file or as a video.

They take time, so they are made in a thread of their own; the session hears how it goes, and plays on.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from formiga.view.frame import Frame, frame
from formiga.view.scene import Scene

FRAMES = 20.0                    # a second of film
MOST_FRAMES = 3000
FILMS = (".mp4", ".webm", ".gif")
TIMEOUT = 30.0                   # s for a window to answer with a picture


def in_background(session: Session, work: Callable[[], str]) -> threading.Thread:
    """Do it beside the session, and tell what came of it."""

    def do() -> None:
        try:
            said, kind = work(), "note"
        except FormigaError as wrong:
            said, kind = str(wrong), "error"
        except (RuntimeError, TimeoutError) as wrong:
            said, kind = f"the window did not answer ({wrong}).", "error"
        session.post(lambda: session.say(said, kind))

    thread = threading.Thread(target=do, name="export", daemon=True)
    thread.start()
    return thread


def start(session: Session, path: Path, client: viser.ClientHandle | None) -> threading.Thread:
    """Export what the session shows: all of a recording, or the moment that is seen."""
    if path.suffix not in (".html", *FILMS):
        raise FormigaError(f"'{path}' must end in .html, {', '.join(FILMS)}.")
    frames = list(recorded(session.replay)) if session.replay else [session.frame(exact=True)]
    speed = 1.0 if not np.isfinite(session.speed) else session.speed
    if path.suffix == ".html":
        return in_background(session, lambda: html(path, frames, speed, session.overlays))
    if session.replay is None:
        raise FormigaError("a film needs a recording: `record`, `record off`, then `load` it.")
    if client is None:
        raise FormigaError("a film is taken in a window, and none is open.")
    return in_background(session, lambda: film(path, frames, speed, client, session.overlays))


def recorded(replay: Replay) -> Iterator[Frame]:
    """The moments of a recording as frames; every other one, or fewer, if they are too many."""
    poses, world = replay.poses, replay.sim.world
    every = max(1, -(-len(poses.time) // MOST_FRAMES))
    state = replay.sim.state
    for index in range(0, len(poses.time), every):
        now = frame(world, state)
        place, turn = now.place.copy(), now.turn.copy()
        place[:, 0], place[:, 1] = poses.x[index, 0], poses.y[index, 0]
        turn[:, 0], turn[:, 3] = np.cos(0.5 * poses.heading[index, 0]), np.sin(0.5 * poses.heading[index, 0])
        yield Frame(world, 0, int(replay.steps[index]), float(poses.time[index]), place, turn,
                    np.stack([poses.left[index, 0], poses.right[index, 0]], -1), now.leds, poses.crashed[index, 0],
                    poses.alive[index, 0], now.crashes)


# -- one file that opens by itself --------------------------------------------------------------------------------------
def html(path: Path, frames: list[Frame], speed: float, overlays: set[str]) -> str:
    """Write frames as a page with a player in it, that needs no server and no network."""
    with stage() as server:
        scene = Scene(server.scene)
        scene.overlays = overlays & {"trails", "circles", "names"}
        pose, camera = cameras.overview(frames[0].world), server.initial_camera
        camera.position, camera.look_at, camera.up, camera.fov = pose.position, pose.look_at, pose.up, pose.fov
        scene.show(frames[0])
        serializer = server.get_scene_serializer()
        for before, now in pairwise(frames):
            serializer.insert_sleep((now.time - before.time) / speed)
            scene.show(now)
        if len(frames) > 1:
            serializer.insert_sleep(1.0)
        page = serializer.as_html().encode()
    write(path, page)
    return f"saved {path}, {len(page) / 2**20:.1f} MB, {len(frames)} pictures"


@contextmanager
def stage() -> Iterator[viser.ViserServer]:
    """A server of our own that nobody watches, to compose a scene on."""
    server = Server(port=0)
    try:
        yield server.viser
    finally:
        server.stop()


# -- films --------------------------------------------------------------------------------------------------------------
def film(path: Path, frames: list[Frame], speed: float, client: viser.ClientHandle, overlays: set[str]) -> str:
    """Have a window render frame after frame, and write them as a video."""
    writer = _writer(path)
    times = np.array([each.time for each in frames])
    moments = np.arange(0.0, times[-1] + 1e-9, speed / FRAMES)
    shown = [frames[index] for index in np.searchsorted(times, moments, side="right") - 1]
    scene = Scene(client.scene)
    scene.overlays = overlays & {"trails", "circles", "names"}
    try:
        pictures = []
        for each in shown[:MOST_FRAMES]:
            with client.atomic():
                scene.show(each)
            pictures.append(render(client))
    finally:
        scene.clear()
    with whole_file(path) as beside:
        writer(beside, pictures)
    return f"saved {path}, {len(pictures)} pictures"


def _writer(path: Path) -> Callable[[Path, list[Any]], None]:
    import imageio.v3 as iio

    if path.suffix == ".gif":
        return lambda file, pictures: iio.imwrite(file, pictures, extension=".gif", plugin="pillow",
                                                  duration=1000.0 / FRAMES, loop=0)
    try:
        import imageio_ffmpeg  # noqa: F401
    except ImportError as missing:
        raise MissingExtra(f"{path.suffix} needs one more library: pip install 'formiga[video]'; .gif does not.") from missing
    codec = {".mp4": "libx264", ".webm": "libvpx-vp9"}[path.suffix]
    return lambda file, pictures: iio.imwrite(file, [even(each) for each in pictures], extension=path.suffix, plugin="FFMPEG",
                                              fps=FRAMES, codec=codec)


def even(picture: Any) -> Any:
    """Without its last row or column where the codecs would want an even number of them."""
    return picture[: picture.shape[0] // 2 * 2, : picture.shape[1] // 2 * 2, :3]


# -- pictures -------------------------------------------------------------------------------------------------------------
def render(client: viser.ClientHandle) -> Any:
    """What a window shows (height, width, 3), as large as it is there."""
    camera = client.camera
    size = max(2, camera.image_height), max(2, camera.image_width)
    return client.get_render(*size, transport_format="jpeg", timeout=TIMEOUT)[..., :3]


def png(picture: Any) -> bytes:
    """A picture as the bytes of a PNG file."""
    import imageio.v3 as iio

    buffer = io.BytesIO()
    iio.imwrite(buffer, picture, extension=".png")
    return buffer.getvalue()


def write(path: Path, data: bytes) -> None:
    """Write a file, all of it or nothing."""
    with whole_file(path) as beside:
        beside.write_bytes(data)


__all__ = ["film", "html", "in_background", "png", "recorded", "render", "start", "write"]
