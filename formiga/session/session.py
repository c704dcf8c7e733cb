"""A world, or a recording of one, under somebody's hands: it plays, it is paused, changed, driven, recorded.

One thread owns a session and everything in it: the one that calls `run`. Others hand over what is to be done with `post`,
and ask for pictures with `look`; they never wait for more than a step, and no step ever waits for them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import inf, isfinite
from pathlib import Path
from typing import Any

from formiga import lab
from formiga.console import Console
from formiga.console.errors import brief
from formiga.control import as_orders, decide_all, merge_all
from formiga.engine import engine as find_engine
from formiga.errors import FormigaError, suggest
from formiga.loop import Simulation
from formiga.record.recorder import Recorder
from formiga.record.recording import Recording
from formiga.record.trust import HOW_TO_LOAD
from formiga.session import recent, settings
from formiga.session.commands import commands
from formiga.session.drives import WHEELS, by_hand, names
from formiga.session.edit import FAR, Change, moved, pushed, same_robots, same_things
from formiga.session.ground import Ground
from formiga.session.inbox import Inbox
from formiga.session.names import group_of, movable_number, robot_name
from formiga.session.own_files import OwnFiles
from formiga.session.own_text import begin
from formiga.session.pace import BLOCK, IDLE, Pace
from formiga.session.plots import sampled
from formiga.session.replay import Replay
from formiga.session.tape import Tape
from formiga.session.values import VARIABLES, get
from formiga.session.watch import Before, watch
from formiga.state import Floats
from formiga.supervisor import Note, Supervisor
from formiga.view.frame import Frame
from formiga.world.document import Document
from formiga.world.model import World
from formiga.world.own import own_mistakes

UNDO = 20               # edits that can be taken back
PAST = 100              # lines that are remembered
SAID = 3                # events that are said in a second; `events` lists all

Given = str | World | Recording           # a shipped world's name, a file of either kind, or what was read from one
Hearer = Callable[[str, str, Any], None]  # kind ("out", "error", "note"), text, who it is for (None: everybody)


class Session:
    """What somebody works on. `hear` is told everything that it says; `own_settings`: whether the user's file is run first.

    supervisor: accompanies the run, as a match does. It follows the session's pace, also through a pause. Meanwhile robots can
    be driven and everything that moves can be put somewhere else, but the world stays as it is and time does not begin again;
    `load` closes the supervisor, and so does the end of `run`. engine: instead of the world's own. own: Python files with
    elements of the user's own that are loaded already; when one changes, the run goes on with the new code.
    """

    def __init__(self, given: Given | Document, *, seed: int = 0, parameters: dict[str, str] | None = None,
                 hear: Hearer | None = None, own_settings: bool = True, supervisor: Supervisor | None = None,
                 engine: str | None = None, own: Sequence[str] = ()) -> None:
        self.hearers: list[Hearer] = [hear] if hear else []
        self.past: deque[tuple[str, str]] = deque(maxlen=PAST)  # what was said lately, for who comes later
        self.playing = False
        self.ended = False                             # somebody said quit
        self.failed = False                            # whether the last step could not be taken
        self.touched = False                           # changed by hand since it began
        self.robot_steps = 0                           # steps that all robots together have taken, whatever was reset
        self.overlays: set[str] = set()                # that somebody looks at
        self.plots: list[str] = []                     # quantities that are plotted, see plots.py
        self.version = 0                               # of the world: another one has to be drawn again
        self.eyes: Any = None                          # whoever has cameras: the page, if there is one
        self.replay: Replay | None = None
        self.sought = 0                                # jumps in recordings, by `seek`
        self.document: Document | None = None          # the file that the world was read from, if it was
        self.supervisor: Supervisor | None = None
        self.drives: dict[int, tuple[float, float]] = {}  # robot -> wheel speeds as shares of the top speed
        self.outs: dict[tuple[int, str], float] = {}   # robot, further motor -> what somebody tells it
        self.inbox: Inbox[Frame] = Inbox()
        self.pace = Pace()
        self.tape = Tape(self.say, self._list)
        self._remembers = own_settings
        self._selected = -1
        self._undo: deque[tuple[World, Simulation, Document | None]] = deque(maxlen=UNDO)
        self._drag_begins = True                       # whether the next place that something is dragged to can be undone
        self._ground: Ground | None = None
        self._before: Before | None = None             # poses one step ago
        self._stepped = 0.0                            # when that was, on the clock
        self._second, self._said = 0, 0                # in which second events were last said, and how many
        self._own = OwnFiles(own)
        self._open(given, seed, parameters, engine)
        self.supervisor, self.touched = supervisor, supervisor is not None
        self.console = Console(say=self.say, clock=lambda: self.time, complain=lambda text: self.say(text, "error"))
        self.console.add(commands(self))
        for name in VARIABLES:
            self.console.provide(name, partial(get, self, name))
        settings.begin(self.console, own_settings)
        self._remember(given)
        self._run_own_text()

    # -- what is open -------------------------------------------------------------------------------------------------
    def open(self, given: Given | Document, seed: int = 0, parameters: dict[str, str] | None = None) -> None:
        """Begin with a world or a recording. If it cannot be read, everything stays as it was."""
        self._open(given, seed, parameters)
        self.plots = list(sampled(self))
        self._changed()
        self.console.forget_untrusted()
        self._remember(given)
        self._run_own_text()

    def _remember(self, given: Given | Document) -> None:
        """Put a file that was opened on the list of recent ones."""
        path = self.document.file if self.document is not None else self.replay.recording.path if self.replay else None
        if path is not None and not (isinstance(given, str) and given in lab.shipped_worlds()):
            self._list(path)

    def _list(self, path: str | Path) -> None:
        if self._remembers:
            try:
                recent.note(path)
            except FormigaError as wrong:
                self.say(f"the list of recent files was not written: {wrong}", "error")

    def _open(self, given: Given | Document, seed: int, parameters: dict[str, str] | None, engine: str | None = None) -> None:
        document = None
        with own_mistakes():
            source: World | Recording
            if isinstance(given, Document):
                document, source = given, given.world
            elif not isinstance(given, str):
                source = given
            elif given.endswith(".parquet"):
                source = lab.read_recording(given)
            else:
                document = lab.read_document(given, **(parameters or {}))
                source = document.world
            if isinstance(source, Recording):
                if engine is not None:
                    raise FormigaError(f"{source.path}: a recording has the engine that it was recorded with.")
                replay = Replay(source, parameters)
                sim = replay.sim
            else:
                if engine is not None:
                    find_engine(engine)
                    source = replace(source, engine=engine)
                replay, sim = None, _started(source, seed)
        self.tape.close("another world was opened")
        self._dismiss()
        self.replay, self.world, self.sim, self.document = replay, sim.world, sim, document
        self._let_go()
        self._undo.clear()
        self._selected, self.touched = -1, False
        if replay is not None and replay.recording.missing:
            tags = ", ".join(f"<{tag}>" for tag in replay.recording.missing)
            self.say(f"without its code {tags} shows nothing; {HOW_TO_LOAD}.", "note")

    def _run_own_text(self) -> None:
        if self.replay is None:
            begin(self.world, self.console)

    def _dismiss(self) -> None:
        supervisor, self.supervisor = self.supervisor, None
        if supervisor is not None:
            supervisor.close()

    def _refuse_while_supervised(self, what: str) -> None:
        if self.supervisor is not None:
            raise FormigaError(f"the {self.supervisor.name} is under way, so {what}. `load` another world ends it.")

    @property
    def time(self) -> float:
        """Simulated seconds since the start."""
        return float(self.sim.state.step[0] * self.world.dt)

    @property
    def seed(self) -> int:
        """Of the run."""
        return self.sim.seed

    @property
    def selected(self) -> int:
        """The robot that somebody looks at, or -1."""
        return self._selected

    @selected.setter
    def selected(self, robot: int) -> None:
        self._selected = robot if 0 <= robot < self.world.robots else -1

    @property
    def ground(self) -> Ground:
        """What stands in the world, for questions about places."""
        if self._ground is None or self._ground.world is not self.world:
            self._ground = Ground(self.world)
        self._ground.movables = self.sim.state.movables[0, :, :2].copy()
        return self._ground

    def poses(self) -> tuple[Floats, Floats]:
        """Where everybody is (N, 2) and looks (N,); copies."""
        return self.sim.state.position[0].copy(), self.sim.state.heading[0].copy()

    def note(self) -> Note | None:
        """What a supervisor shows, now or in the recording."""
        if self.replay:
            return self.replay.note
        return self.supervisor.note() if self.supervisor is not None else None

    def say(self, text: str, kind: str = "out", who: Any = None) -> None:
        """Tell whoever listens."""
        self.past.append((kind, text))
        for hear in list(self.hearers):
            hear(kind, text, who)

    # -- from other threads -------------------------------------------------------------------------------------------
    def post(self, what: Callable[[], object]) -> bool:
        """Have something done between two steps. False: too much is waiting, and this was not taken."""
        return self.inbox.post(what)

    def look(self, timeout: float = 1.0) -> Frame | None:
        """What it looks like now, with all that was posted before. None if the session does not answer in time."""
        return self.inbox.look(timeout)

    # -- the thread that owns it --------------------------------------------------------------------------------------
    def run(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Play, until somebody says quit or stop. A recording that is being written is then closed, whole."""
        try:
            while not (stop() or self.ended):
                self.answer()
                self._own.look(self)
                if not self._advance():
                    self.inbox.wait(self._nap())
        except BaseException as wrong:
            self.tape.close(ending="failed" if isinstance(wrong, Exception) else "interrupted")
            raise
        else:
            self.tape.close()
        finally:
            self._dismiss()

    def answer(self) -> None:
        """Do what was posted."""
        self.inbox.answer(self.frame, lambda wrong: self.say(str(wrong), "error"))

    def _advance(self) -> bool:
        """Take the steps that are due; whether there are more already."""
        if not self.playing:
            return False
        self.pace.measure(self.time)
        end, due = self.pace.clock() + BLOCK, self.pace.due()
        while self.playing and (due == inf or self._next() <= due):
            if self.pace.clock() > end:
                self.pace.give_up(self.time)
                return True
            self.step()
        return False

    def _nap(self) -> float:
        """Seconds on the clock until something is due by itself."""
        return self.pace.until(self._next()) if self.playing else IDLE

    def _next(self) -> float:
        """Simulated time of the next step."""
        return self.replay.next_time if self.replay else self.time + self.world.dt

    @property
    def speed(self) -> float:
        """Simulated seconds per second that it should go; inf: as fast as it can."""
        return self.pace.speed

    @speed.setter
    def speed(self, speed: float) -> None:
        self.pace.speed = speed
        self.pace.restart(self.time)

    @property
    def factor(self) -> float:
        """Simulated seconds per second, as it really was lately; 0 while it is paused."""
        return self.pace.factor if self.playing else 0.0

    def play(self, on: bool = True) -> None:
        """Go on, or pause."""
        if on and self.replay and self.replay.index == self.replay.last:
            self.replay.show(0)
            self._before = None
        if self.supervisor is not None and not self.playing:
            self.supervisor.resume()
        self.playing = on
        self.pace.restart(self.time)

    def step(self) -> None:
        """One step, or one recorded moment. What goes wrong pauses it, and is said."""
        self.failed = False
        wanted = self.speed < inf or "shifts" in self.overlays
        before = (*self.poses(), self.sim.state.movables[0, :, :3].copy(), self.sim.state.bodies[0].copy()) if wanted else None
        try:
            with own_mistakes():
                self._step()
        except FormigaError as wrong:
            self.failed = True
            self.say(f"{wrong}{' Paused.' if self.playing else ''}", "error")
        if self.failed:
            self.playing = False
        else:
            self._before, self._stepped = before, self.pace.clock()
        self.console.advance()

    def _step(self) -> None:
        if self.replay:
            self.failed = not self.replay.forward()
        elif self.sim.state.done[0]:
            self.failed = True
            why = self.sim.log.exploded[0].text if self.sim.log.exploded else "somebody is over the crash limit"
            self.say(f"the world ended at {self.time:g} s: {why}. `reset` starts again.", "note")
        elif self.supervisor is not None:
            self._step_supervised(self.supervisor)
        else:
            self.sim.step(by_hand(self.world, self.drives, self.outs))
            self._stepped_on()

    def _step_supervised(self, supervisor: Supervisor) -> None:
        """One step, unless it is over. Robots that are driven by hand do not follow the supervisor's orders."""
        if not supervisor.over:
            if not self.playing:
                supervisor.resume()
            theirs = {name: as_orders(self.world.group(name), 1, given, open=True)
                      for name, given in (supervisor.before(self.sim) or {}).items()}
            self.sim.step(merge_all(by_hand(self.world, self.drives, self.outs) or {}, theirs))
            supervisor.after(self.sim)
            self._stepped_on()
        if supervisor.over:
            self.playing = False
            note = supervisor.note()
            outcome = f": {note.outcome}" if note is not None and note.outcome else ""
            self.say(f"the {supervisor.name} is over{outcome}.", "note")

    def _stepped_on(self) -> None:
        self.robot_steps += self.world.robots
        self.tape.take(self.sim, self.note())
        self._say_events()

    def _say_events(self) -> None:
        """What happened in the last step, a few in a second: of the run, or on the clock if it goes as fast as it can.

        A motion that exploded has ended the world, and pauses.
        """
        events = getattr(self.sim.state.scratch, "events", ())
        if not events:
            return
        second = int(self.pace.clock() if self.speed == inf else self.time / max(1.0, self.speed))
        if second != self._second:
            self._second, self._said = second, 0
        for event in events:
            if event.kind == "explode":
                self.failed = True
                self.say(f"{event.text}.{' Paused.' if self.playing else ''}", "error")
                continue
            self._said += 1
            if self._said <= SAID:
                self.say(f"{event.time:g} s: {event.text}")
            elif self._said == SAID + 1:
                self.say("... and more; `events` lists them")

    # -- pictures -----------------------------------------------------------------------------------------------------
    def frame(self, exact: bool = False) -> Frame:
        """What it looks like now. While it plays slower than pictures are taken, poses are between the last two steps."""
        share = 1.0
        if self.playing and not exact and self.speed < inf and self._before is not None:
            period = (self._next() - self.time) / self.speed
            share = min(1.0, (self.pace.clock() - self._stepped) / period) if period > 0.0 else 1.0
        shown = watch(self, self._before, share)
        shown.extra["plots"] = sampled(self)
        return shown

    # -- changes ------------------------------------------------------------------------------------------------------
    def change(self, change: Change, *, try_out: bool = True, undo: bool = True) -> None:
        """Go on in an edited world. If that cannot run, nothing has changed, and the error says why.

        try_out: take a step in a copy first, because sensors and controllers say only then what they miss.
        """
        if self.replay:
            raise FormigaError("a recording cannot be changed. `load` a world, or `save` this moment as one.")
        with own_mistakes():
            if change.world is not self.world:
                self._refuse_while_supervised("its world stays as it is")
                self._refuse_to_bury(change)
            if try_out:
                self.sim.edited(change.world, change.position, change.heading, change.kept).step()
            new = self.sim.edited(change.world, change.position, change.heading, change.kept)
        if change.alive is not None:
            new.state.alive[0] = change.alive
        if change.movables is not None:
            new.state.movables[0] = change.movables
            new.look_again()
        if undo:
            self._undo.append((self.world, self.sim, self.document))
        now = {int(before): number for number, before in enumerate(change.kept) if before >= 0}
        alike = len(now) == len(change.kept) == self.world.robots and same_things(self.world, change.world)
        alike = alike and new.model.parts == self.sim.model.parts
        if self.eyes is not None:
            self.eyes.renumbered(now)
        self.drives = {now[robot]: shares for robot, shares in self.drives.items() if robot in now}
        told = {(now[robot], name): value for (robot, name), value in self.outs.items() if robot in now}
        self.outs = {(robot, name): value for (robot, name), value in told.items()
                     if name in names(group_of(change.world, robot).robot, new.model.spatial)}
        selected = now.get(self.selected, -1)
        self._use(change.world, new)
        self.selected = selected
        if alike:
            self.tape.touch()
        else:
            self.tape.replace(new)

    def _refuse_to_bury(self, change: Change) -> None:
        """Say whom an edit would put into a wall. Who stands in one already, in a crowd, is no reason."""
        if change.world.contact.model == "none":
            return
        before = self.ground.buried(self.sim.state.position[0])
        for robot in sorted(Ground(change.world).buried(change.position)):
            if int(change.kept[robot]) not in before:
                raise FormigaError(f"{robot_name(change.world, robot)} would stand in a wall or an obstacle.")

    def drag(self, kind: str, index: int, x: float, y: float, first: bool) -> None:
        """Move a robot or a thing along with a pointer; the `first` place begins another drag, which can be undone as one.

        Where it cannot stand it stays behind, without a word.
        """
        self._drag_begins = first or self._drag_begins
        if not (isfinite(x) and isfinite(y) and max(abs(x), abs(y)) <= FAR):
            return
        position, heading = self.poses()
        with suppress(FormigaError):
            if kind == "robot" or movable_number(self.world, index) >= 0:
                self.ground.refuse_outside(kind, x, y)
            if kind == "thing" and (number := movable_number(self.world, index)) >= 0:
                if self.ground.in_the_way(position, x, y, self.ground.size[number], thing=number):
                    return
                change = pushed(self.world, position, heading, self.sim.state.movables[0], number, x, y)
            elif kind == "thing" and index < len(self.world.things):
                change = same_robots(moved(self.world, index, x, y), position, heading)
            elif kind == "robot" and index < self.world.robots and not self.ground.in_the_way(
                    position, x, y, group_of(self.world, index).robot.radius, index):
                position[index] = (x, y)
                change = same_robots(self.world, position, heading)
            else:
                return
            self.change(change, try_out=False, undo=self._drag_begins)
            self._drag_begins = False

    def undo(self) -> None:
        """Go back to before the last edit, in time too."""
        if not self._undo:
            raise FormigaError("there is nothing to undo.")
        self._refuse_while_supervised("time does not go back")
        self.tape.close("an edit was undone")
        self._let_go()
        world, sim, self.document = self._undo.pop()
        self._use(world, sim)
        self.selected = -1

    def begin_again(self, world: World, document: Document | None, why: str) -> None:
        """Start the run again in another reading of its world; can be undone. If that cannot run, nothing has changed."""
        self._refuse_while_supervised("its world stays as it is")
        with own_mistakes():
            sim = _started(world, self.seed)
        self.tape.close(why)
        self._undo.append((self.world, self.sim, self.document))
        self._let_go()
        self.document = document
        self._use(world, sim)
        self.selected, self.touched = -1, False

    def _use(self, world: World, sim: Simulation) -> None:
        drawn_again = world is not self.world
        self.world, self.sim, self.touched = world, sim, True
        self._changed(drawn_again)

    def _changed(self, drawn_again: bool = True) -> None:
        """The run has jumped to another state: nothing is on the way from the last one, and time may have gone back."""
        self.version += drawn_again
        self._before = None
        self.pace.restart(self.time)
        self.console.now()

    def reset(self, seed: int | None = None) -> None:
        """Start again, with the same seed or another. Nobody is driven any more: it is the run that the seed gives."""
        if self.replay:
            self.replay.show(0)
        else:
            self._refuse_while_supervised("it cannot begin again")
            with own_mistakes():
                sim = Simulation(self.world, self.seed if seed is None else seed)
            self.tape.close("the world was reset")
            self.sim, self.touched = sim, False
            self._let_go()
        self._changed(False)

    def seek(self, seconds: float) -> None:
        """Be at another moment of a recording."""
        if self.replay is None:
            raise FormigaError("only recordings have a timeline. `record` one, then `load` it.")
        self.replay.seek(seconds)
        self.sought += 1
        self._changed(False)

    def drive(self, robot: int, shares: tuple[float, float] | None) -> None:
        """Take a robot's wheels, as shares of its top speed; None gives them back to its controller."""
        if self.replay:
            raise FormigaError("nobody can drive in a recording.")
        if shares is None:
            self.drives.pop(robot, None)
            return
        if not getattr(group_of(self.world, robot).robot, "wheels", True):
            raise FormigaError(f"{robot_name(self.world, robot)} has no two wheels to be driven by; `out` tells its motors.")
        self.drives[robot] = shares
        self.touched = True
        self.tape.touch()

    def out(self, robot: int, name: str, value: float | None) -> None:
        """Tell one motor of a robot something, by its name: a share of the top speed for wheel_l and wheel_r, for others
        what the motor takes. None gives it back to the controller; both wheels go together.
        """
        known = names(group_of(self.world, robot).robot, self.sim.model.spatial)
        if name not in known:
            space = " (in the plane; there are more in space)" if not self.sim.model.spatial else ""
            raise FormigaError(f"{robot_name(self.world, robot)} has no output '{brief(name)}'.{suggest(brief(name), known)} "
                               f"It has: {', '.join(known) or 'none'}{space}.")
        if name in WHEELS:
            shares = list(self.drives.get(robot, (0.0, 0.0)))
            if value is not None:
                shares[WHEELS.index(name)] = value
            self.drive(robot, None if value is None else (shares[0], shares[1]))
            return
        if self.replay:
            raise FormigaError("nobody can drive in a recording.")
        if value is None:
            self.outs.pop((robot, name), None)
            return
        self.outs[robot, name] = value
        self.touched = True
        self.tape.touch()

    def _let_go(self) -> None:
        """Nobody drives anybody."""
        self.drives.clear()
        self.outs.clear()

    # -- recording ----------------------------------------------------------------------------------------------------
    @property
    def recorder(self) -> Recorder | None:
        """What writes the recording, if there is one being written."""
        return self.tape.recorder

    def record(self, path: str | Path) -> None:
        """Record from now on, into a file that is there, whole, when it is stopped."""
        if self.replay:
            raise FormigaError("this is a recording already.")
        self.tape.begin(path, self.sim, self.touched or bool(self.sim.state.step[0]), self.note())


def _started(world: World, seed: int) -> Simulation:
    """A run at its start, after sensors and controllers had an occasion to say what they miss."""
    trial = Simulation(world, seed)
    decide_all(world, trial.state, trial.readings)
    return Simulation(world, seed)


__all__ = ["Session"]
