"""Films of recordings: which moments they show, and how pictures become a file. What paints them is the caller's choice.

A film is a whole file or none: one that is interrupted leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, contextmanager
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.errors import FormigaError, MissingExtra
from formiga.files import whole_file
from formiga.session.replay import Replay
from formiga.view.frame import Frame, flat_poses, frame, space_poses
from formiga.view.overhead import LONGEST, OF_GIF, Overhead

if TYPE_CHECKING:
    from formiga.session.session import Session

RATE = 20.0                      # pictures in a second of film
MOST_FRAMES = 3000
FILMS = (".mp4", ".webm", ".gif")
NEEDS_RECORDING = "a film needs a recording: `record`, `record off`, then `load` it."

Paint = Callable[[Frame], Any]             # a frame -> pixels (height, width, 3)
Progress = Callable[[int, int], None]      # pictures that are done, of how many; may raise to end it early
Reel = Callable[[Path], AbstractContextManager[Callable[[Any], None]]]  # a file -> what takes one picture after another


def refuse_long(replay: Replay, speed: float) -> None:
    """Say how long a film may be."""
    seconds = replay.seconds / speed
    if seconds * RATE > MOST_FRAMES:
        raise FormigaError(f"a film has at most {MOST_FRAMES} pictures, {MOST_FRAMES / RATE:g} s; this would have "
                           f"{seconds:g} s. A speed of {ceil(100 * replay.seconds * RATE / MOST_FRAMES) / 100:g} is enough.")


def recorded(replay: Replay, hidden: AbstractSet[str] = frozenset()) -> Iterator[Frame]:
    """The moments of a recording as frames; every other one, or fewer, if they are too many. hidden: layers of drawings."""
    poses, world = replay.poses, replay.sim.world
    every = max(1, -(-len(poses.time) // MOST_FRAMES))
    state = replay.sim.state
    for index in range(0, len(poses.time), every):
        now, position = frame(world, state), np.stack([poses.x[index, 0], poses.y[index, 0]], -1)
        moved = flat_poses(world, position, poses.heading[index, 0], poses.movables[index, 0])
        if replay.recording.parts:
            moved |= space_poses(world, replay.recording.parts, poses.bodies[index, 0])
        drawn = {layer: marks for layer, marks in replay.drawings.at(int(replay.steps[index])).items() if layer not in hidden}
        yield Frame(world, 0, int(replay.steps[index]), float(poses.time[index]), leds=now.leds, crashes=now.crashes,
                    drive=poses.drive[index, 0], crashed=poses.crashed[index, 0],
                    alive=poses.alive[index, 0], note=replay.note_at(int(replay.steps[index])), drawings=drawn, **moved)


def write_film(path: Path, frames: Sequence[Frame], speed: float, paint: Paint, reel: Reel, progress: Progress) -> int:
    """Paint frames at the pace of the recording times `speed`, and write them; how many pictures it has."""
    times = np.array([each.time for each in frames])
    moments = np.arange(times[0], times[-1] + 1e-9, speed / RATE)
    shown = np.searchsorted(times, moments, side="right") - 1
    last, picture = -1, None
    with whole_file(path) as beside, reel(beside) as add:
        for number, index in enumerate(shown.tolist()):
            progress(number, len(shown))
            if index != last:
                picture, last = paint(frames[index]), index
            add(picture)
        progress(len(shown), len(shown))
    return len(shown)


def film_from_above(session: Session, path: Path) -> str:
    """A film of what is replayed, at the speed that is chosen, made here and now without a window; what to tell about it."""
    if path.suffix not in FILMS:
        raise FormigaError(f"no page is open, so '{path}' must end in {', '.join(FILMS)}.")
    if session.replay is None:
        raise FormigaError(NEEDS_RECORDING)
    speed = session.speed if np.isfinite(session.speed) else 1.0
    refuse_long(session.replay, speed)
    frames, reel = list(recorded(session.replay, session.layers.off)), film_reel(path.suffix)
    paint = from_above(path, frames[0], "trails" in session.overlays)
    return f"saved {path}, {write_film(path, frames, speed, paint, reel, lambda done, of: None)} pictures, drawn from above"


def from_above(path: Path, first: Frame, trails: bool) -> Paint:
    """Paints frames without a window, as large as suits the kind of film."""
    return Overhead(first, trails, OF_GIF if path.suffix == ".gif" else LONGEST).picture


def film_reel(suffix: str) -> Reel:
    """What writes a film of that kind, picture by picture; an error that says what is missing."""
    if suffix == ".gif":
        return _gif
    try:
        import imageio_ffmpeg
    except ImportError as missing:
        raise MissingExtra(f"{suffix} needs one more library: pip install 'formiga[video]'; .gif does not.") from missing
    codec, kind = {".mp4": ("libx264", "mp4"), ".webm": ("libvpx-vp9", "webm")}[suffix]

    @contextmanager
    def video(file: Path) -> Iterator[Callable[[Any], None]]:
        opened: list[Any] = []

        def add(picture: Any) -> None:
            picture = _even(picture)
            if not opened:
                size = picture.shape[1], picture.shape[0]
                opened.append(imageio_ffmpeg.write_frames(str(file), size, fps=RATE, codec=codec, macro_block_size=2,
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
def _gif(file: Path) -> Iterator[Callable[[Any], None]]:
    """An animated GIF; its pictures wait in memory, 256 colours each."""
    from PIL import Image

    pictures: list[Image.Image] = []
    yield lambda picture: pictures.append(Image.fromarray(picture).quantize())
    pictures[0].save(file, format="GIF", save_all=True, append_images=pictures[1:], duration=1000.0 / RATE, loop=0)


def _even(picture: Any) -> Any:
    """Without its last row or column where the codecs would want an even number of them."""
    return picture[: picture.shape[0] // 2 * 2, : picture.shape[1] // 2 * 2, :3]


__all__ = ["FILMS", "MOST_FRAMES", "NEEDS_RECORDING", "RATE", "Paint", "Progress", "film_from_above", "film_reel", "from_above",
           "recorded", "refuse_long", "write_film"]
