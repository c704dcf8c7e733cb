"""A session under test, and what it said."""

from __future__ import annotations

import re

import numpy as np

from formiga.session import Session


class Workspace:
    """A session and what it said since it was last asked."""

    def __init__(self, given, **settings):
        self.said: list[tuple[str, str]] = []
        self.session = Session(given, hear=lambda kind, text, window: self.said.append((kind, text)), own_settings=False,
                               **settings)

    def run(self, text: str) -> str:
        """Carry out a line that has to work; what it said."""
        self.said.clear()
        task = self.session.console.run(text)
        assert not task.failed, task.error
        assert not [words for kind, words in self.said if kind == "error"], self.said
        return "\n".join(words for _, words in self.said)

    def refused(self, text: str) -> str:
        """A line that must not work: its one message, after making sure that it changed nothing."""
        before = self.everything()
        self.said.clear()
        task = self.session.console.run(text)
        assert task.failed, f"{text!r} was carried out: {self.said}"
        assert [kind for kind, _ in self.said] == ["error"], self.said
        message = self.said[0][1]
        assert re.match(r"[^\n]+:\d+: [^\n]+[^\s:,]$", message), message  # a place, and one line
        assert same(before, self.everything()), f"{text!r} changed something"
        return message.removeprefix("console:1: ")

    def everything(self) -> dict:
        """All that a command could have changed."""
        session = self.session
        state = session.sim.state
        arrays = {name: getattr(state, name).copy() for name in ("position", "heading", "drive", "alive", "crashes", "step",
                                                                  "movables")}
        console = session.console
        return arrays | {
            "sim": session.sim, "world": session.world, "seed": session.seed, "drives": dict(session.manual.drives),
            "outs": dict(session.manual.joints),
            "speed": session.speed, "playing": session.playing, "ended": session.ended, "touched": session.touched,
            "selected": session.selected, "overlays": set(session.overlays), "version": session.version,
            "undo": len(session.changes), "recorder": session.recorder, "replay": session.replay,
            "aliases": dict(console.aliases), "binds": dict(console.binds), "variables": dict(console.variables),
            "tasks": list(console.tasks)}

    def steps(self, count: int) -> None:
        for _ in range(count):
            self.session.step()
            assert not self.session.failed, self.said


def same(one: dict, other: dict) -> bool:
    """Whether two accounts of everything are the same, bit for bit."""
    return all(np.array_equal(value, other[name]) if isinstance(value, np.ndarray) else value == other[name]
               for name, value in one.items())
