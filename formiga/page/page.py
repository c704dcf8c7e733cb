"""A session in the browser: it draws, and hands over what the user does. It never holds up a step.

    with Page(session) as page:
        webbrowser.open(page.url)
        session.run()

A thread of its own asks the session for a frame, draws it, and asks again: no more frames are made than can be drawn.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import resources
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import viser
from viser import _messages

from formiga.console import quote
from formiga.errors import FormigaError, suggest
from formiga.page import export
from formiga.page import gallery as shown
from formiga.page.faults import Faults
from formiga.page.line import Line, client_of
from formiga.page.open import listing, recents
from formiga.page.panels import Panels
from formiga.page.server import PORT, Server
from formiga.session import Session
from formiga.session.names import robot_name, thing_names
from formiga.studies import report
from formiga.view import cameras
from formiga.view.cameras import Pose
from formiga.view.canvas import Canvas, Target
from formiga.view.frame import Frame

RATE, FLAT_OUT = 30.0, 10.0  # pictures a second, at most; and of a run as fast as it goes, too fast to follow by eye
HAND_OVER = 0.0002     # s after which a thread that draws gives way to the steps; Python's own 5 ms cost a tenth of the speed
STATUS = 0.2           # s between two messages about time and speed, and two looks at the panels
SCRIPTS = ("page.js", "open.js", "papers.js", "draw.js", "export.js")  # one function body in each window, in this order
SIDES = ("#1f6feb", "#f2c200", "#2da44e", "#cf4a22")  # colours of sides whose robots have none


class Page:
    """The page of one session, for any number of windows."""

    def __init__(self, session: Session, host: str = "127.0.0.1", port: int = PORT, gallery: bool = False,
                 paper: str = "") -> None:
        """gallery: whether the first window opens with the choice of worlds; paper: and with the page of this study's paper."""
        self.session, self._greet, self._paper = session, gallery or bool(paper), paper
        self.folder = os.getcwd()                              # that the open dialog shows, and nothing above it
        self.token = secrets.token_urlsafe(16)
        self.lines: dict[int, Line] = {}
        self.saved: dict[str, Pose] = {}                       # cameras that were saved by name
        self._followed: dict[int, tuple[int, bool]] = {}       # window -> robot, whether with its eyes
        self._framed: dict[int, tuple[str, float]] = {}        # window -> the camera it was given, and for which width / height
        self._turned: set[int] = set()                         # windows whose camera was moved by hand since
        self._version = -1
        self.faults = Faults(lambda text: session.post(lambda: session.say(text, "error")))
        self._drawn: Frame | None = None
        self._held = ""                                        # what is being dragged, by name
        self._keys = sorted(session.console.binds)
        self._job: export.Job | None = None                    # an export that is being made
        self._stop = threading.Event()
        self.server = Server(host, port, self._serve_line, self._failed)
        self._browser = self.server.viser
        self._browser.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(0, 114, 178))
        self.scene = Canvas(self._browser.scene)
        self.scene.on_pick(self._picked)
        self.scene.on_floor(lambda x, y, event: self.session.post(lambda: setattr(self.session, "selected", -1)))
        self.scene.on_drag(self._dragged)
        self.panels = Panels(self)
        self._browser.on_client_connect(self._opened)
        self._browser.on_client_disconnect(self._closed)
        self._frame_overview()
        session.windows = self
        session.hearers.append(self._heard)
        self._hand_over = sys.getswitchinterval()
        sys.setswitchinterval(HAND_OVER)
        self._thread = threading.Thread(target=self._draw, name="page", daemon=True)
        self._thread.start()

    def _failed(self, wrong: BaseException) -> None:
        """Something failed while the server served. What a person typed into a field may be wrong; the rest is our fault."""
        if isinstance(wrong, FormigaError):
            self.session.post(lambda: self.session.say(str(wrong), "error"))
        else:
            self.faults.take(wrong, "the page failed")

    @property
    def url(self) -> str:
        """Where it is."""
        return self.server.url

    @property
    def drawn(self) -> int:
        """The step that the windows were last shown, -1 before the first."""
        return self._drawn.step if self._drawn is not None else -1

    def close(self) -> None:
        """Close all windows' connections."""
        self._stop.set()
        if self._job is not None:
            self._job.stop()
        self._thread.join(5.0)
        sys.setswitchinterval(self._hand_over)
        self.session.windows = None
        with suppress(ValueError):
            self.session.hearers.remove(self._heard)
        self.server.stop()
        if count := self.faults.count:
            often = "once" if count == 1 else f"{count} times; the last time"
            self.session.say(f"the page failed {often}: {self.faults.last}", "error")

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, text: str, sender: int | None = None) -> None:
        """Have a line of the console's language carried out between two steps."""
        if not self.session.post(lambda: self.session.console.run(text, sender=sender)):
            self._heard("error", "too much is waiting; this was not done.", sender)

    # -- drawing ------------------------------------------------------------------------------------------------------
    def _draw(self) -> None:
        last_status, alone = 0.0, False
        while not self._stop.is_set():
            began = time.perf_counter()
            try:
                if alone:
                    self.panels.forget()  # no window was open, so the plots have missed something
                alone = not self._browser.get_clients()
                frame = None if alone else self.session.look()
                if frame is not None and not self._stop.is_set():
                    self._show(frame)
                    if began - last_status >= STATUS:
                        last_status = began
                        self.panels.show(frame)
                        self._tell_keys(sorted(frame.extra["binds"]))
                        self._send_all({"status": self._status(frame), "exporting": self._exporting()})
            except Exception as wrong:  # a mistake of ours; the run is not to blame, and goes on
                if not self._stop.is_set():
                    self.faults.take(wrong, "a picture could not be drawn")
                    self._send_all({"faults": self.faults.shown()})
            rate = RATE if self.session.speed < inf else FLAT_OUT
            self._stop.wait(max(0.002, 1.0 / rate - (time.perf_counter() - began)))

    def _show(self, frame: Frame) -> None:
        if frame.version != self._version:
            self._version = frame.version
            self._new_world(frame)
        self.scene.overlays = set(self.session.overlays)
        with self._browser.atomic():
            self.scene.show(frame)
        self._drawn = frame
        self._fit()
        for client, (robot, eyes) in list(self._followed.items()):
            if robot < len(frame.place):
                self._aim(cameras.first_person(frame, robot) if eyes else cameras.behind(frame, robot), client)

    def _new_world(self, frame: Frame) -> None:
        """Look at all of it, if it is another world and not the last one edited."""
        before = self._drawn.world if self._drawn is not None else None
        if before is None or (before.name, before.arena) != (frame.world.name, frame.world.arena):
            self._followed.clear()
            self._framed.clear()
            self._frame_overview()
            self.panels.forget()
        self.panels.new_world(frame)

    def _frame_overview(self) -> None:
        pose, camera = cameras.overview(self.session.world), self._browser.initial_camera
        camera.position, camera.look_at, camera.up, camera.fov = pose.position, pose.look_at, pose.up, pose.fov

    def _exporting(self) -> dict[str, Any] | None:
        """How far an export is, if one is being made."""
        job = self._job
        return {"file": job.name, "share": job.share} if job is not None and job.running else None

    def _status(self, frame: Frame) -> dict[str, Any]:
        session = self.session
        return {"world": frame.world.name, "robots": frame.world.robots, "seed": session.seed, "step": frame.step,
                "time": frame.time, "playing": session.playing, "factor": session.factor,
                "speed": "max" if session.speed == inf else f"{session.speed:g}",
                "recording": session.recorder is not None,
                "length": session.replay.seconds if session.replay else None,
                "recordingFile": session.replay is not None, "dark": self.scene.dark, "note": note(frame),
                "groups": [group.name for group in frame.world.groups],
                "editable": session.replay is None and session.supervisor is None, "faults": self.faults.shown()}

    # -- windows ------------------------------------------------------------------------------------------------------
    async def _opened(self, client: viser.ClientHandle) -> None:
        settings = json.dumps({"client": client.client_id, "token": self.token, "css": css(), "version": viser.__version__})
        client._websock_connection.queue_message(
            _messages.RunJavascriptMessage(f"const SETTINGS = {settings};\n" + "\n".join(map(_text, SCRIPTS))))

    async def _closed(self, client: viser.ClientHandle) -> None:
        number = client.client_id
        self._followed.pop(number, None)
        self._framed.pop(number, None)
        self._turned.discard(number)
        self.session.post(lambda: self.session.console.release_all(number))

    async def _serve_line(self, connection: Any, path: str) -> None:
        client, token = client_of(path)
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            await connection.close(1008, "not from this page")
            return
        line = self.lines[client] = Line(connection, client)
        line.send({"keys": self._keys, "past": list(self.session.past), "faults": self.faults.shown()})
        if self._greet:
            self._greet = False
            line.send({"open": "gallery"})
            if self._paper:
                self._answer(line, lambda: {"paper": shown.paper(self._paper)})
        try:
            await line.talk(self._line_heard)
        finally:
            if self.lines.get(client) is line:
                del self.lines[client]
            self.session.post(lambda: self.session.console.release_all(client))

    def _line_heard(self, line: Line, message: dict[str, Any]) -> None:
        """What a window says: see line.py. What makes no sense is ignored."""
        sender, console = line.client, self.session.console
        if isinstance(text := message.get("run"), str):
            self.run(text, sender)
        elif isinstance(pressed := message.get("press"), str):
            self.session.post(partial(console.press, pressed, sender))
        elif isinstance(released := message.get("release"), str):
            self.session.post(partial(console.release, released, sender))
        elif message.get("blur"):
            self.session.post(lambda: console.release_all(sender))
        elif isinstance(typed := message.get("complete"), str):
            self.session.post(partial(self._complete, line, typed))
        elif message.get("gallery"):
            line.send({"gallery": shown.gallery(), "recent": recents()})
            self._answer(line, lambda: {"papers": shown.papers()})
        elif isinstance(study := message.get("paper"), str):
            self._answer(line, lambda: {"paper": shown.paper(study)})
        elif message.get("turned"):
            self._turned.add(sender)
        elif isinstance(folder := message.get("folder"), str):
            line.send({"listing": listing(self.folder, folder)})
        elif isinstance(file := message.get("load"), str):
            self.session.post(partial(self._load, line, file))
        elif message.get("eye") and (eye := self._eye(sender)) is not None:
            line.send({"eye": eye})

    def _complete(self, line: Line, typed: str) -> None:
        console = self.session.console
        self._send(line, {"complete": typed, "words": console.complete(typed)[:200], "from": console.last_word(typed)})

    def _load(self, line: Line, file: str) -> None:
        """Open a file for the window that asks, and tell it whether that worked: its dialog stays until then."""
        task = self.session.console.run(f"load {quote([file])}; pause off", sender=line.client)
        self._send(line, {"loaded": {"error": (task.error or "").removeprefix("console:1: ")}})

    def _answer(self, line: Line, make: Callable[[], dict[str, Any]]) -> None:
        """Send what a window asked for, or say what is wrong with it."""
        try:
            line.send(make())
        except FormigaError as wrong:
            line.send({"say": str(wrong), "kind": "error"})

    def _heard(self, kind: str, text: str, window: Any) -> None:
        self._send_all({"say": text, "kind": kind})

    def _send(self, line: Line, message: dict[str, Any]) -> None:
        with suppress(RuntimeError):  # the server has ended
            self.server.loop.call_soon_threadsafe(line.send, message)

    def _send_all(self, message: dict[str, Any]) -> None:
        for line in list(self.lines.values()):
            self._send(line, message)

    def _tell_keys(self, keys: list[str]) -> None:
        """The windows keep bound keys from doing anything else."""
        if keys != self._keys:
            self._keys = keys
            self._send_all({"keys": keys})

    # -- the mouse ----------------------------------------------------------------------------------------------------
    def _picked(self, target: Target, event: Any) -> None:
        kind, index = target
        if kind == "robot":
            self.session.post(lambda: setattr(self.session, "selected", index))
        else:
            self.panels.choose(index)

    def _dragged(self, target: Target, phase: str, x: float, y: float, event: Any) -> None:
        """Move what is dragged along with the pointer; where it cannot stand, it stays behind."""
        kind, index = target
        world = self.session.world
        try:
            name = robot_name(world, index) if kind == "robot" else thing_names(world)[index]
        except (FormigaError, IndexError):
            return
        first, self._held = name != self._held, "" if phase == "end" else name
        self.session.post(lambda: self.session.changes.drag(kind, index, x, y, first))

    def _eye(self, client: int) -> dict[str, Any] | None:
        """Where a window looks from, so that what is drawn in it can be found on the floor."""
        handle = self._browser.get_clients().get(client)
        if handle is None:
            return None
        camera = handle.camera
        return cameras.pinhole(camera.position, camera.look_at, camera.up_direction, camera.fov, self._aspect(client))

    # -- cameras -----------------------------------------------------------------------------------------------------
    def cameras(self) -> list[str]:
        """Names of all cameras; one of the world or a saved one may have the name of another, and takes its place."""
        return list(dict.fromkeys(["overview", "top", *cameras.named(self.session.world), *self.saved]))

    def known_cameras(self, client: int) -> dict[str, Pose]:
        """All of them, as they fit into a window."""
        return self._poses(self._aspect(client))

    def _poses(self, aspect: float) -> dict[str, Pose]:
        world = self.session.world
        own = {"overview": cameras.overview(world, aspect), "top": cameras.top(world, aspect)}
        return own | cameras.named(world) | self.saved

    def _aspect(self, client: int) -> float:
        """Width / height of a window's scene."""
        handle = self._browser.get_clients().get(client)
        return handle.camera.image_width / max(1, handle.camera.image_height) if handle is not None else cameras.ASPECT

    def camera(self, name: str, sender: int | None) -> None:
        """Look from there, in the window that asked or in all."""
        known = self.cameras()
        if name not in known:
            raise FormigaError(f"there is no camera '{name}'.{suggest(name, known)} There are: {', '.join(known)}.")
        for client in self._windows(sender):
            self._followed.pop(client, None)
            self._give(name, client)
        self.panels.looks_from(name)

    def save_camera(self, name: str, sender: int | None) -> None:
        """Keep where a window looks from, under a name."""
        if name in ("overview", "top", *cameras.named(self.session.world)):
            raise FormigaError(f"there is a camera '{name}' already; choose another name.")
        for client in self._windows(sender)[:1]:
            camera = self._browser.get_clients()[client].camera
            x, y, z = camera.position.tolist(), camera.look_at.tolist(), camera.up_direction.tolist()
            self.saved[name] = Pose(tuple(x), tuple(y), tuple(z), float(camera.fov))
            return
        raise FormigaError("no window is open, so there is no camera to save.")

    def follow(self, robot: int | None, eyes: bool, sender: int | None) -> None:
        """Go with a robot, or stay."""
        for client in self._windows(sender):
            if robot is None:
                if self._followed.pop(client, None) is not None:
                    self._give("overview", client)
            else:
                self._followed[client] = (robot, eyes)

    def renumbered(self, now: dict[int, int]) -> None:
        """Robots were added or removed: a followed robot has another number, or is gone."""
        self._followed = {client: (now[robot], eyes) for client, (robot, eyes) in self._followed.items() if robot in now}

    def _give(self, name: str, client: int) -> None:
        """Look from a camera, and remember that, in case the window becomes wider or narrower."""
        self._framed[client] = (name, self._aspect(client))
        self._turned.discard(client)
        self._aim(self.known_cameras(client)[name], client)

    def _fit(self) -> None:
        """Show the whole world in new windows, and in those that have another shape since and whose camera was not turned."""
        for client, handle in self._browser.get_clients().items():
            if client not in self._framed:
                self._give("overview", client)
                if self.session.first_followed is not None:
                    self._followed[client] = self.session.first_followed
            elif client not in self._followed:
                name, aspect = self._framed[client]
                if abs(aspect - self._aspect(client)) > 0.02:
                    before = self._poses(aspect).get(name)
                    untouched = client not in self._turned or (
                        before is not None and np.allclose(handle.camera.position, before.position, atol=1e-2))
                    self._framed[client] = (name, self._aspect(client))
                    if untouched and name in self.cameras():
                        self._give(name, client)

    def _windows(self, sender: int | None) -> list[int]:
        """The window that asked, or all if it was not a window."""
        clients = self._browser.get_clients()
        return [sender] if sender in clients else list(clients)

    def _aim(self, pose: Pose, client: int) -> None:
        handle = self._browser.get_clients().get(client)
        if handle is None:
            return
        with handle.atomic():
            handle.camera.up_direction = pose.up
            handle.camera.position, handle.camera.look_at, handle.camera.fov = pose.position, pose.look_at, pose.fov

    # -- files --------------------------------------------------------------------------------------------------------
    def screenshot(self, path: Path | None, sender: int | None) -> bool:
        """What a window shows, into a file or as a download in that window. False: no window is open."""
        windows = self._windows(sender)
        if not windows:
            return False
        client = self._browser.get_clients()[windows[0]]
        frame = self.session.frame(exact=True)
        export.Job(self.session, lambda job: self._screenshot(client, frame, path))
        return True

    def _screenshot(self, client: viser.ClientHandle, frame: Frame, path: Path | None) -> str:
        picture = export.png(export.render(client))
        if path is None:
            client.send_file_download(f"{frame.world.name}.png", picture)
            return f"{frame.world.name}.png was sent to the browser"
        export.write(path, picture)
        return f"saved {path}"

    def export(self, path: Path | None, sender: int | None) -> None:
        """A recording, or what is seen now, as a file of its own; None stops the one that is being made."""
        if path is None:
            if self._job is not None:
                self._job.stop()
            return
        if self._job is not None and self._job.running:
            raise FormigaError("another export is being made; `export off` stops it.")
        windows = self._windows(sender)
        client = self._browser.get_clients()[windows[0]] if windows else None
        self._job = export.export(self.session, path, client)


def note(frame: Frame) -> dict[str, Any] | None:
    """What a supervisor shows, for a window: each side with its colour."""
    if frame.note is None:
        return None
    own = {group.name: group.robot.colour for group in frame.world.groups}
    sides = [{"name": side.name, "score": side.score, "colour": own.get(side.group) or SIDES[number % len(SIDES)]}
             for number, side in enumerate(frame.note.sides)]
    return {"title": frame.note.title, "clock": frame.note.clock, "text": frame.note.text, "sides": sides}


def css() -> str:
    """The style sheets of what is ours."""
    return "".join((_text("page.css"), _text("tools.css"), report.style(), _text("papers.css")))


def _text(name: str) -> str:
    return (resources.files("formiga.page") / name).read_text(encoding="utf-8")


__all__ = ["Page"]
