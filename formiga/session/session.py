"""A world, or a recording of one, that a person works on: it plays, it is paused, changed, driven, recorded.

One thread owns a session and everything in it: the one that calls `run`. Other threads hand over what is to be done with
`post`, and ask for pictures with `look`; they never wait for more than a step, and no step ever waits for them.

    opening.py   what can be opened -> a run       stepping.py   steps, and what is said about them
    changes.py   edits while it runs, undo         manual.py     robots under manual control
    watch.py     the session -> pictures           commands/     the console's commands
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from formiga import lab
from formiga.console import Console
from formiga.control import Programs
from formiga.errors import FormigaError
from formiga.loop import Simulation
from formiga.record.recorder import Recorder
from formiga.record.trust import HOW_TO_LOAD
from formiga.runs import Watch
from formiga.session import recent, settings
from formiga.session.changes import Changes
from formiga.session.commands import commands
from formiga.session.ground import Ground
from formiga.session.inbox import Inbox
from formiga.session.layers import Layers
from formiga.session.manual import Manual
from formiga.session.opening import Given, opened
from formiga.session.own_files import OwnFiles
from formiga.session.own_text import begin
from formiga.session.pace import Pace
from formiga.session.plots import sampled
from formiga.session.replay import Replay
from formiga.session.stepping import Steps
from formiga.session.tape import Tape
from formiga.session.values import VARIABLES, get
from formiga.session.watch import watch
from formiga.session.windows import Windows
from formiga.state import Floats, Movable
from formiga.supervisor import Note, Supervisor
from formiga.view.frame import Frame
from formiga.world.document import Document
from formiga.world.model import World
from formiga.world.own import own_mistakes

PAST = 100              # lines that are remembered

Hearer = Callable[[str, str, Any], None]  # kind ("out", "error", "note"), text, the window that it is for (None: all)


class Session:
    """One piece of work. `hear` gets everything that it says; `own_settings`: whether the user's file is run first.

    supervisor: accompanies the run, as a match does. It follows the session's pace, also through a pause. Meanwhile robots can
    be driven and everything that moves can be put somewhere else, but the world stays as it is and time does not begin again;
    `load` closes it, and so does the end of `run`. engine: instead of the world's own. own: Python files with elements of
    the user's own that are loaded already; when one changes, the run goes on with the new code.
    programs: group with a <remote> -> the command of the program that drives it, until another world is opened.
    """

    world: World
    sim: Simulation
    document: Document | None                              # the file that the world was read from, if it was
    replay: Replay | None

    def __init__(self, given: Given, *, seed: int = 0, parameters: dict[str, str] | None = None,
                 hear: Hearer | None = None, own_settings: bool = True, supervisor: Supervisor | None = None,
                 engine: str | None = None, own: Sequence[str] = (), programs: Mapping[str, str] | None = None) -> None:
        self.hearers: list[Hearer] = [hear] if hear else []
        self.past: deque[tuple[str, str]] = deque(maxlen=PAST)  # what was said lately, for windows that open later
        self.playing = False
        self.ended = False                             # the user has quit
        self.failed = False                            # whether the last step could not be taken
        self.touched = False                           # changed by hand since it began
        self.overlays: set[str] = set()                # that are shown
        self.layers = Layers(self)                     # of drawings
        self.plots: list[str] = []                     # quantities that are plotted, see plots.py
        self.version = 0                               # of the world: another one has to be drawn again
        self.windows: Windows | None = None            # of the page, if there is one
        self.first_followed: tuple[int, bool] | None = None  # robot that new windows follow, as a script said; with its eyes?
        self.sought = 0                                # jumps in recordings, by `seek`
        self.supervisor: Supervisor | None = None
        self.outside: Watch | None = None              # what accompanies the run for programs outside, such as a rosbridge
        self.manual = Manual()
        self.changes = Changes(self)
        self.steps = Steps(self)
        self.inbox: Inbox[Frame] = Inbox()
        self.pace = Pace()
        self.tape = Tape(self.say, self._list, self.layers.complain)
        self._remembers = own_settings
        self._selected = -1
        self._ground: Ground | None = None
        self._own = OwnFiles(own)
        self._opened = False
        self._open(given, seed, parameters, engine, programs)
        self.supervisor, self.touched = supervisor, supervisor is not None
        self.console = Console(say=self.say, clock=lambda: self.time, complain=lambda text: self.say(text, "error"))
        self.console.add(commands(self))
        for name in VARIABLES:
            self.console.provide(name, partial(get, self, name))
        settings.begin(self.console, own_settings)
        self._remember(given)
        self._run_own_text()

    # -- what is open -------------------------------------------------------------------------------------------------
    def open(self, given: Given, seed: int = 0, parameters: dict[str, str] | None = None) -> None:
        """Begin with a world or a recording. If it cannot be read, everything stays as it was."""
        self._open(given, seed, parameters)
        self.plots = list(sampled(self))
        self._jumped()
        self.console.forget_untrusted()
        self._remember(given)
        self._run_own_text()

    def _open(self, given: Given, seed: int, parameters: dict[str, str] | None, engine: str | None = None,
              programs: Mapping[str, str] | None = None) -> None:
        sim, document, replay = opened(given, seed, parameters, engine)
        if programs:
            attached = sim.world
            for group, command in programs.items():
                attached = lab.attach(attached, group, command)
            sim.programs = Programs(attached)
        self.tape.close("another world was opened")
        self._dismiss()
        self._end_programs()
        self.replay, self.world, self.sim, self.document = replay, sim.world, sim, document
        self.manual.clear()
        self.changes.clear()
        self.layers.forget()
        self._selected, self.touched, self.first_followed = -1, False, None
        if replay is not None and replay.recording.missing:
            tags = ", ".join(f"<{tag}>" for tag in replay.recording.missing)
            self.say(f"without its code {tags} shows nothing; {HOW_TO_LOAD}.", "note")
        if replay is not None and replay.drawings.wrong:
            self.say(replay.drawings.wrong, "note")

    def _remember(self, given: Given) -> None:
        """Put a file that was opened on the list of recent ones."""
        path = self.document.file if self.document is not None else self.replay.recording.path if self.replay else None
        if path is not None and not (isinstance(given, str) and lab.named_world(given) is not None):
            self._list(path)

    def _list(self, path: str | Path) -> None:
        if self._remembers:
            try:
                recent.note(path)
            except FormigaError as wrong:
                self.say(f"the list of recent files was not written: {wrong}", "error")

    def _run_own_text(self) -> None:
        if self.replay is None:
            begin(self.world, self.console)

    def _dismiss(self) -> None:
        supervisor, self.supervisor = self.supervisor, None
        if supervisor is not None:
            supervisor.close()

    def _end_programs(self) -> None:
        if self._opened:
            self.sim.close()
        self._opened = True

    def refuse_while_supervised(self, what: str) -> None:
        """An error that says what cannot be done while a supervisor accompanies the run."""
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
        """The robot that the inspector shows, or -1."""
        return self._selected

    @selected.setter
    def selected(self, robot: int) -> None:
        self._selected = robot if 0 <= robot < self.world.robots else -1

    @property
    def ground(self) -> Ground:
        """What stands in the world, for questions about places."""
        if self._ground is None or self._ground.world is not self.world:
            self._ground = Ground(self.world)
        self._ground.movables = self.sim.state.movables[0, :, Movable.PLACE].copy()
        return self._ground

    def poses(self) -> tuple[Floats, Floats]:
        """Positions (N, 2) and headings (N,) of all robots; copies."""
        return self.sim.state.position[0].copy(), self.sim.state.heading[0].copy()

    def note(self) -> Note | None:
        """What a supervisor shows, now or in the recording."""
        if self.replay:
            return self.replay.note
        return self.supervisor.note() if self.supervisor is not None else None

    def say(self, text: str, kind: str = "out", window: Any = None) -> None:
        """Tell all hearers."""
        self.past.append((kind, text))
        for hear in list(self.hearers):
            hear(kind, text, window)

    # -- from other threads -------------------------------------------------------------------------------------------
    def post(self, what: Callable[[], object]) -> bool:
        """Have something done between two steps. False: too much is waiting, and this was not taken."""
        return self.inbox.post(what)

    def look(self, timeout: float = 1.0) -> Frame | None:
        """What it looks like now, with all that was posted before. None if the session does not answer in time."""
        return self.inbox.look(timeout)

    # -- the thread that owns it --------------------------------------------------------------------------------------
    def run(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Play, until the user quits or `stop` says so. A recording that is being written is then closed, whole."""
        try:
            while not (stop() or self.ended):
                self.answer()
                self._own.look(self)
                if not self.steps.advance():
                    self.inbox.wait(self.steps.idle_time())
        except BaseException as wrong:
            self.tape.close(ending="failed" if isinstance(wrong, Exception) else "interrupted")
            raise
        else:
            self.tape.close()
        finally:
            self._dismiss()
            self.sim.close()

    def answer(self) -> None:
        """Do what was posted."""
        self.inbox.answer(self.frame, lambda wrong: self.say(str(wrong), "error"))

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
        """Simulated seconds per second, as measured lately; 0 while it is paused."""
        return self.pace.factor if self.playing else 0.0

    def play(self, on: bool = True) -> None:
        """Go on, or pause."""
        if on and self.replay and self.replay.index == self.replay.last:
            self.replay.show(0)
            self.steps.before = None
        if self.supervisor is not None and not self.playing:
            self.supervisor.resume()
        self.playing = on
        self.pace.restart(self.time)

    def step(self) -> None:
        """One step, or one recorded moment. An error pauses the session, and is said."""
        self.steps.take()

    def frame(self, exact: bool = False) -> Frame:
        """What it looks like now. While it plays slower than pictures are taken, poses are between the last two steps."""
        shown = watch(self, self.steps.before, 1.0 if exact else self.steps.share())
        shown.extra["plots"] = sampled(self)
        return shown

    # -- other states of the run --------------------------------------------------------------------------------------
    def use(self, world: World, sim: Simulation) -> None:
        """Go on with another run, of this world or an edited one."""
        drawn_again = world is not self.world
        sim.programs = self.sim.programs
        self.world, self.sim, self.touched = world, sim, True
        self._jumped(drawn_again)

    def _jumped(self, drawn_again: bool = True) -> None:
        """The run is in a state that does not follow from the last one; time may have gone back."""
        self.version += drawn_again
        self.steps.before = None
        self.pace.restart(self.time)
        self.console.now()

    def reset(self, seed: int | None = None) -> None:
        """Start again, with the same seed or another. Manual control ends: it is the run that the seed gives."""
        if self.replay:
            self.replay.show(0)
        else:
            self.refuse_while_supervised("it cannot begin again")
            with own_mistakes():
                sim = Simulation(self.world, self.seed if seed is None else seed)
            self.tape.close("the world was reset")
            sim.programs = self.sim.programs
            self.sim, self.touched = sim, False
            self.manual.clear()
        self._jumped(False)

    def seek(self, seconds: float) -> None:
        """Go to another moment of a recording."""
        if self.replay is None:
            raise FormigaError("only recordings have a timeline. `record` one, then `load` it.")
        self.replay.seek(seconds)
        self.sought += 1
        self._jumped(False)

    # -- manual control -----------------------------------------------------------------------------------------------
    def drive(self, robot: int, shares: tuple[float, ...] | None) -> None:
        """Order a robot's drive, as shares of the limits of its channels; None leaves it to its controller."""
        self._refuse_replay()
        self.manual.drive(self.world, robot, shares)
        self.touch(shares is not None)

    def steer(self, robot: int, axis: str, share: float) -> None:
        """Order a robot's drive as a driver does: a share of the top speed 'ahead', 'aside' (to the left) or 'turn' (left)."""
        self._refuse_replay()
        self.manual.steer(self.world, robot, axis, share)
        self.touch(True)

    def actuate(self, robot: int, name: str, value: float | None) -> None:
        """Order one channel of a robot's drive or one joint, by its name: a share of the limit for a channel, such as wheel_l
        and wheel_r, for a joint a number in the unit of its mode. None leaves it to the controller; channels go together.
        """
        self._refuse_replay()
        self.manual.actuate(self.world, robot, name, value, self.sim.model.moves_joints)
        self.touch(value is not None)

    def order(self, motor: str, value: float | None) -> None:
        """Order a motor of a joint of the world, in the unit of its mode; None: as the world's description has it."""
        self._refuse_replay()
        first = next((each.order for each in self.world.motors if each.name == motor), 0.0)
        self.sim.order(motor, first if value is None else value)
        self.touch(value is not None)

    def _refuse_replay(self) -> None:
        if self.replay:
            raise FormigaError("robots in a recording cannot be driven.")

    def touch(self, ordered: bool) -> None:
        """Something was ordered from outside: the run is no longer the one that its seed gives."""
        if ordered:
            self.touched = True
            self.tape.touch()

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


__all__ = ["Session"]
