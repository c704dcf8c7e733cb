"""Changes of a session's world while it runs: edits, drags, and how they are taken back."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from formiga.errors import FormigaError
from formiga.loop import Simulation
from formiga.session.edit import FAR, Change, moved, pushed, same_robots, same_things
from formiga.session.ground import Ground
from formiga.session.names import group_of, movable_number, robot_name
from formiga.session.opening import started
from formiga.world.document import Document
from formiga.world.model import World
from formiga.world.own import own_mistakes

if TYPE_CHECKING:
    from formiga.session.session import Session

UNDO = 20               # edits that can be taken back


class Moment(NamedTuple):
    """A run before an edit."""

    world: World
    sim: Simulation
    document: Document | None


class Changes:
    """Applies edits to one session's run, and remembers what was there before them."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._undo: deque[Moment] = deque(maxlen=UNDO)
        self._drag_begins = True        # whether the next place of a drag is the first, to which `undo` goes back

    def __len__(self) -> int:
        """How many edits can be taken back."""
        return len(self._undo)

    def apply(self, change: Change, *, try_out: bool = True, undo: bool = True) -> None:
        """Go on in an edited world. If that cannot run, nothing has changed, and the error says why.

        try_out: take a step in a copy first, because sensors and controllers say only then what they miss.
        """
        session = self._session
        if session.replay:
            raise FormigaError("a recording cannot be changed. `load` a world, or `save` this moment as one.")
        with own_mistakes():
            if change.world is not session.world:
                session.refuse_while_supervised("its world stays as it is")
                self._refuse_to_bury(change)
            if try_out:
                trial = session.sim.edited(change.world, change.position, change.heading, change.kept)
                trial.programs = None  # those outside are not asked
                trial.step()
            new = session.sim.edited(change.world, change.position, change.heading, change.kept)
        if change.alive is not None:
            new.state.alive[0] = change.alive
        if change.movables is not None:
            new.state.movables[0] = change.movables
            new.look_again()
        if undo:
            self._remember()
        now = {int(before): number for number, before in enumerate(change.kept) if before >= 0}
        alike = len(now) == len(change.kept) == session.world.robots and same_things(session.world, change.world)
        alike = alike and new.model.parts == session.sim.model.parts
        if session.windows is not None:
            session.windows.renumbered(now)
        if session.first_followed is not None:
            robot, eyes = session.first_followed
            session.first_followed = (now[robot], eyes) if robot in now else None
        session.manual.carry_on(now, change.world, new.model.moves_joints)
        selected = now.get(session.selected, -1)
        session.use(change.world, new)
        session.selected = selected
        if alike:
            session.tape.touch()
        else:
            session.tape.replace(new)

    def drag(self, kind: str, index: int, x: float, y: float, first: bool) -> None:
        """Move a robot or a thing along with a pointer; the `first` place begins another drag, which can be undone as one.

        Where it cannot stand it stays behind, without a message.
        """
        session, world = self._session, self._session.world
        self._drag_begins = first or self._drag_begins
        if not (isfinite(x) and isfinite(y) and max(abs(x), abs(y)) <= FAR):
            return
        position, heading = session.poses()
        number = movable_number(world, index) if kind == "thing" else -1
        with suppress(FormigaError):
            if kind == "robot" or number >= 0:
                session.ground.refuse_outside(kind, x, y)
            if number >= 0:
                if session.ground.in_the_way(position, x, y, session.ground.size[number], thing=number):
                    return
                change = pushed(world, position, heading, session.sim.state.movables[0], number, x, y)
            elif kind == "thing" and index < len(world.things):
                change = same_robots(moved(world, index, x, y), position, heading)
            elif kind == "robot" and index < world.robots and not session.ground.in_the_way(
                    position, x, y, group_of(world, index).robot.radius, index):
                position[index] = (x, y)
                change = same_robots(world, position, heading)
            else:
                return
            self.apply(change, try_out=False, undo=self._drag_begins)
            self._drag_begins = False

    def undo(self) -> None:
        """Go back to before the last edit, in time too."""
        session = self._session
        if not self._undo:
            raise FormigaError("there is nothing to undo.")
        session.refuse_while_supervised("time does not go back")
        session.tape.close("an edit was undone")
        session.manual.clear()
        world, sim, session.document = self._undo.pop()
        session.use(world, sim)
        session.selected = -1

    def begin_again(self, world: World, document: Document | None, why: str) -> None:
        """Start the run again in another reading of its world; can be undone. If that cannot run, nothing has changed."""
        session = self._session
        session.refuse_while_supervised("its world stays as it is")
        with own_mistakes():
            sim = started(world, session.seed)
        session.tape.close(why)
        self._remember()
        session.manual.clear()
        session.document = document
        session.use(world, sim)
        session.selected, session.touched = -1, False

    def clear(self) -> None:
        """Forget all edits: another world was opened."""
        self._undo.clear()

    def _remember(self) -> None:
        session = self._session
        self._undo.append(Moment(session.world, session.sim, session.document))

    def _refuse_to_bury(self, change: Change) -> None:
        """Name the robot that an edit would put into a wall. One that stands in a wall already, in a crowd, is no reason."""
        session = self._session
        if change.world.contact.model == "none":
            return
        before = session.ground.buried(session.sim.state.position[0])
        for robot in sorted(Ground(change.world).buried(change.position)):
            if int(change.kept[robot]) not in before:
                raise FormigaError(f"{robot_name(change.world, robot)} would stand in a wall or an obstacle.")


__all__ = ["Changes"]
