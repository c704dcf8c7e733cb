"""A console with a clock that tests move by hand, and a few commands that write down what they were asked."""

from dataclasses import dataclass, field

import pytest

from formiga.console import CommandSpec, Console, ConsoleError
from formiga.errors import WorldError


@dataclass
class Workspace:
    """A console, what it said, and what its commands did."""

    time: float = 0.0
    said: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    did: list = field(default_factory=list)

    def __post_init__(self):
        self.console = Console(self.said.append, lambda: self.time, self.errors.append)
        self.console.add([
            CommandSpec("do", "do WORDS...", "Writes down its words.", self.do),
            CommandSpec("+go", "+go [SPEED]", "Writes down that it goes.", self.do),
            CommandSpec("-go", "-go [SPEED]", "Writes down that it stops.", self.do),
            CommandSpec("save", "save FILE", "Writes down that it saved.", self.do, files=True),
            CommandSpec("load", "load FILE", "Fails as a world that cannot be read.", self.load, files=True),
            CommandSpec("fail", "fail", "Fails.", self.fail),
            CommandSpec("bug", "bug", "Has a mistake in it.", lambda call: 1 / 0),
        ])
        self.run, self.press, self.release = self.console.run, self.console.press, self.console.release

    def do(self, call):
        name = [] if call.spec.name == "do" else [call.spec.name]
        self.did.append(" ".join(name + call.args))

    def load(self, call):
        raise WorldError(f"{call.args[0]}:14: <lamp> has no attribute 'brihgt'.")

    def fail(self, call):
        raise ConsoleError("it did not work.")

    def pass_time(self, seconds, steps=1):
        """Simulated time goes on in equal steps, the console told after each."""
        start = self.time
        for step in range(1, steps + 1):
            self.time = start + seconds * step / steps
            self.console.advance()

    def fails(self, text, **how):
        """Run a text that must fail; the message."""
        before = len(self.errors)
        task = self.run(text, **how)
        assert task.failed and task.done and self.errors[before:] == [task.error]
        return task.error


@pytest.fixture
def workspace():
    return Workspace()
