"""Two memories of one program, seen from the side that asks: a question goes out, an answer comes back."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, NamedTuple

from formiga.link.errors import LinkError
from formiga.link.memory import TURN, Memory, Record, make

SLICE = 0.02                   # s of one sleep while waiting: a writer that wakes no readers is seen after it


class Reply(NamedTuple):
    """What the answer memory held, as far as it makes sense."""

    frame: int                 # of the question that it answers; -1: none
    damage: str                # "": none, "head": the head was overwritten, "frame": that question was never asked
    values: Any                # the answer record, until the next `take`; meaningless if it is damaged


def check_turns(*records: Record) -> None:
    """LinkError if a record lacks the fields by which an exchange works in turns."""
    for record in records:
        if missing := [name for name, _ in TURN if name not in (record.layout.names or ())]:
            raise LinkError(f"record '{record.name}' has no field '{missing[0]}'; an exchange needs the fields TURN of "
                            "formiga.link in both records.")


class Exchange:
    """Both memories, without a program: any process that can open their paths may answer.

    folder: plain files there, named as the records, instead of memfds.
    """

    def __init__(self, question: Record, answer: Record, *, name: str = "link", folder: str | os.PathLike[str] | None = None,
                 ) -> None:
        check_turns(question, answer)
        self._files: list[int] = []
        self._named: list[Path] = []
        memories: list[Memory] = []
        try:
            for record, asks in ((question, True), (answer, False)):
                path = None
                if folder is not None:
                    path = Path(folder) / (record.name if asks else f"{record.name}-{name}")
                    path.parent.mkdir(parents=True, exist_ok=True)
                memory, file = make(record, path, f"{name}-{record.name}", read_only=asks)
                self._files.append(file)
                memories.append(memory)
                self._named += [path] if path is not None else []
        except LinkError:
            self._release(memories)
            raise
        self._begin(name, *memories)

    def _begin(self, name: str, asked: Any, answered: Any) -> None:
        """Take two memories, or what does as well: the question has not been asked, and nothing has opened the answer."""
        self.name, self.newest, self.closed = name, -1, False
        self.asked, self.answered = asked, answered
        for memory, state in ((self.asked, 1), (self.answered, 0)):
            memory.values["state"], memory.values["frame"] = state, -1
            memory.write()

    @property
    def question(self) -> Any:
        """The fields of the next question, to be filled before `show`."""
        return self.asked.values

    @property
    def files(self) -> tuple[int, int]:
        """The descriptors that a child process inherits (`pass_fds`)."""
        return self._files[0], self._files[1]

    @property
    def paths(self) -> list[str]:
        """What the other process opens: by their names, or inherited."""
        return [str(path) for path in self._named] or [f"/dev/fd/{file}" for file in self._files]

    def show(self, frame: int, time: float) -> None:
        """Put the question, with its number and its time (s), where the program sees it. Never waits."""
        self.newest = max(self.newest, frame)
        self.asked.values["frame"], self.asked.values["time"] = frame, time
        self.asked.write()

    @property
    def opened(self) -> bool:
        """Whether a program has opened its memories."""
        return self.answered.read() is not None and int(self.answered.values["state"]) == 1

    def take(self) -> Reply | None:
        """Read the answer and believe nothing: the other program can write anything at any time. None: it is being written."""
        memory = self.answered
        if memory.read(tries=8) is None:
            return None
        if not memory.intact:
            return Reply(-1, "head", memory.values)
        frame = int(memory.values["frame"])
        return Reply(frame, "", memory.values) if -1 <= frame <= self.newest else Reply(-1, "frame", memory.values)

    def answer(self, frame: int, wait: float) -> Reply | None:
        """The answer to a question, or to a later one; None if there is none within `wait` seconds."""
        end = time.monotonic() + wait
        while True:
            sequence = self.answered.sequence
            reply = self.take() if not sequence & 1 else None
            if reply is not None and reply.frame >= frame:
                return reply
            left = end - time.monotonic()
            if left <= 0.0:
                return None
            self.answered.wait(sequence, min(left, SLICE))

    def close(self) -> None:
        """Tell the program that it may end, and release the memories."""
        if self.closed:
            return
        self.closed = True
        self.asked.values["state"] = 0
        self.asked.write()
        self._release([self.asked, self.answered])

    def _release(self, memories: list[Any]) -> None:
        for memory in memories:
            memory.close()
        for file in self._files:
            os.close(file)
        for path in self._named:
            path.unlink(missing_ok=True)

    def __enter__(self) -> Exchange:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


__all__ = ["SLICE", "Exchange", "Reply", "check_turns"]
