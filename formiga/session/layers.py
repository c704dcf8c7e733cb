"""What code draws into a session's world: which layers there are, which of them are shown, and the marks of now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from formiga.drawing.marks import MOST_LAYERS, Drawings, blend
from formiga.errors import FormigaError
from formiga.world.own import own_mistakes

if TYPE_CHECKING:
    from formiga.session.session import Session

MOST_SAID = 5              # notes and complaints of one run


class Layers:
    """New layers are shown. A layer keeps its switch while the world is open, also while nothing is drawn into it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.off: set[str] = set()              # that are hidden
        self.forget()

    def forget(self) -> None:
        """Another world was opened."""
        self.names: list[str] = []              # of the layers that were seen
        self._said: set[str] = set()
        self._key: tuple[Any, ...] = ()         # what `_now` was drawn from
        self._now: Drawings = {}
        self._before: Drawings = {}             # one step before `_now`; empty if that is not known
        self._step = -1

    def marks(self, share: float = 1.0) -> Drawings:
        """What is drawn now, in the layers that are on; poses are at `share` of the way from the step before."""
        self._look()
        return self.shown(blend(self._before, self._now, share) if share < 1.0 and self._before else self._now)

    def shown(self, drawings: Drawings) -> Drawings:
        """Those of the layers that are on, of any moment."""
        return {layer: marks for layer, marks in drawings.items() if layer not in self.off}

    def switches(self) -> dict[str, bool]:
        """Layer -> whether it is on, in the order in which they came."""
        return {name: name not in self.off for name in self.names}

    def switch(self, name: str, on: bool) -> None:
        """Show or hide a layer."""
        (self.off.discard if on else self.off.add)(name)

    def complain(self, wrong: FormigaError) -> None:
        """Say once what is wrong with a drawing. The run goes on."""
        self._say(str(wrong), "error")

    def _look(self) -> None:
        """Draw, unless nothing has changed since the last time."""
        session = self._session
        sim, replay = session.sim, session.replay
        step = int(sim.state.step[0])
        if replay is None:
            try:
                with own_mistakes():
                    key: tuple[Any, ...] = (sim, step, sim.readings if sim.draws else None, sim.sheet.changes)
            except FormigaError:  # the next step raises it
                key = (None,)
        else:
            key = (replay, step)
        if len(key) == len(self._key) and all(one is other or (isinstance(one, int) and one == other)
                                              for one, other in zip(key, self._key, strict=True)):
            return
        followed = bool(self._key) and key[0] is self._key[0] and step == self._step + 1
        self._before = self._now if followed else {}
        self._key, self._step = key, step
        if key[0] is None:
            self._now = {}
        else:
            self._now = self._named(replay.drawings.at(step) if replay is not None else
                                    sim.drawings(self.complain, lambda text: self._say(text, "note")))

    def _named(self, drawn: Drawings) -> Drawings:
        """Without layers that are more than there can be switches."""
        for name in drawn:
            if name not in self.names and len(self.names) < MOST_LAYERS:
                self.names.append(name)
            elif name not in self.names:
                self._say(f"at most {MOST_LAYERS} layers are drawn; '{name}' is one more", "note")
        return {name: marks for name, marks in drawn.items() if name in self.names}

    def _say(self, text: str, kind: str) -> None:
        if text not in self._said and len(self._said) < MOST_SAID:
            self._said.add(text)
            self._session.say(text, kind)


__all__ = ["Layers"]
