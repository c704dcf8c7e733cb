"""How a session takes its steps: when they are due, what drives the robots in them, and what is said about them."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from formiga.control import Orders, as_orders, merge_all
from formiga.errors import FormigaError
from formiga.session.pace import BLOCK, IDLE
from formiga.session.watch import Before
from formiga.state import Movable
from formiga.supervisor import Supervisor
from formiga.world.own import own_mistakes

if TYPE_CHECKING:
    from formiga.session.session import Session

SAID = 3                # events that are said in a second; `events` lists all


class Steps:
    """The steps of one session, of its run or its replay."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.robot_steps = 0                        # of all robots together, whatever was reset
        self.before: Before | None = None           # poses one step ago; None after a jump to another state
        self._taken = 0.0                           # when the last step was taken, on the clock
        self._second, self._said = 0, 0             # the second in which events were last said, and how many

    @property
    def next_time(self) -> float:
        """Simulated time of the next step."""
        session = self._session
        return session.replay.next_time if session.replay else session.time + session.world.dt

    def advance(self) -> bool:
        """Take the steps that are due, for a moment at most; whether there are more already."""
        session = self._session
        pace = session.pace
        if not session.playing:
            return False
        pace.measure(session.time)
        end, due = pace.clock() + BLOCK, pace.due()
        while session.playing and (due == inf or self.next_time <= due):
            if pace.clock() > end:
                pace.give_up(session.time)
                return True
            self.take()
        return False

    def idle_time(self) -> float:
        """Seconds on the clock until the next step is due."""
        return self._session.pace.until(self.next_time) if self._session.playing else IDLE

    def share(self) -> float:
        """How much of the time until the next step has passed, for pictures between two steps; 1 if there are none."""
        session = self._session
        if not session.playing or session.speed == inf or self.before is None:
            return 1.0
        period = (self.next_time - session.time) / session.speed
        return min(1.0, (session.pace.clock() - self._taken) / period) if period > 0.0 else 1.0

    def take(self) -> None:
        """One step, or one recorded moment. An error pauses the session, and is said."""
        session = self._session
        session.failed = False
        state, wanted = session.sim.state, session.speed < inf or "shifts" in session.overlays
        before = (*session.poses(), state.movables[0, :, Movable.POSE].copy(), state.bodies[0].copy()) if wanted else None
        try:
            with own_mistakes():
                self._step()
        except FormigaError as wrong:
            session.failed = True
            session.say(f"{wrong}{' Paused.' if session.playing else ''}", "error")
        if session.failed:
            session.playing = False
        else:
            self.before, self._taken = before, session.pace.clock()
        session.console.advance()

    def _step(self) -> None:
        session = self._session
        if session.replay:
            session.failed = not session.replay.forward()
        elif session.sim.state.done[0]:
            session.failed = True
            why = session.sim.log.exploded[0].text if session.sim.log.exploded else "a robot is over the crash limit"
            session.say(f"the world ended at {session.time:g} s: {why}. `reset` starts again.", "note")
        elif session.supervisor is not None:
            self._step_supervised(session.supervisor)
        else:
            outside = session.outside
            given = outside.before([session.sim]) if outside is not None else None
            session.touch(bool(given))
            session.sim.step(self._merged(given))
            if outside is not None:
                outside.after([session.sim])
            self._taken_on()

    def _step_supervised(self, supervisor: Supervisor) -> None:
        """One step, unless it is over. Manual control of a robot goes before the supervisor's orders."""
        session = self._session
        if not supervisor.over:
            if not session.playing:
                supervisor.resume()
            session.sim.step(self._merged(supervisor.before(session.sim)))
            supervisor.after(session.sim)
            self._taken_on()
        if supervisor.over:
            session.playing = False
            note = supervisor.note()
            outcome = f": {note.outcome}" if note is not None and note.outcome else ""
            session.say(f"the {supervisor.name} is over{outcome}.", "note")

    def _merged(self, given: dict[str, Any] | None) -> dict[str, Orders]:
        """Orders from outside, with those by hand above them."""
        world = self._session.world
        ordered = {name: as_orders(world.group(name), 1, orders, open=True) for name, orders in (given or {}).items()}
        return merge_all(self._session.manual.orders(world) or {}, ordered)

    def _taken_on(self) -> None:
        session = self._session
        self.robot_steps += session.world.robots
        session.tape.take(session.sim, session.note())
        for line in session.sim.log.news():
            session.say(line, "note")
        self._say_events()

    def _say_events(self) -> None:
        """Say what happened in the last step, a few events in a second: of the run, or on the clock at full speed.

        A motion that exploded has ended the world, and pauses.
        """
        session = self._session
        events = session.sim.engine.events(session.sim.model, session.sim.state)
        if not events:
            return
        second = int(session.pace.clock() if session.speed == inf else session.time / max(1.0, session.speed))
        if second != self._second:
            self._second, self._said = second, 0
        for event in events:
            if event.kind == "explode":
                session.failed = True
                session.say(f"{event.text}.{' Paused.' if session.playing else ''}", "error")
                continue
            self._said += 1
            if self._said <= SAID:
                session.say(f"{event.time:g} s: {event.text}")
            elif self._said == SAID + 1:
                session.say("... and more; `events` lists them")


__all__ = ["Steps"]
