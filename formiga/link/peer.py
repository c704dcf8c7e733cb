"""The side of the program that was started: it sees questions and answers them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any, Self

from formiga.link.errors import LinkError
from formiga.link.memory import SPIN, Record, open_memory

LOOK = 0.002  # s: a writer that wakes no readers is looked at this often


class Peer:
    """Both memories, opened by the program that answers. Iterate over the questions; fill `answer` in the loop, which sends it.

    What is not filled anew stays as it was.
    """

    def __init__(self, question: Record, answer: Record, question_path: str, answer_path: str) -> None:
        self._asked = open_memory(question, question_path)
        self._answered = open_memory(answer, answer_path, writable=True)
        self.frame = -1                                # of the question that was seen last
        if all(self._asked.read() is None for _ in range(100)):
            raise LinkError(f"{question_path}: its writer stopped in the middle of a question.")
        self._answered.read()
        self.answer["frame"], self.answer["state"] = -1, 1
        self.send()

    @classmethod
    def from_arguments(cls, question: Record, answer: Record, arguments: Sequence[str] | None = None) -> Self:
        """From what a Remote started the program with: --memory QUESTION ANSWER. Other arguments are the program's own."""
        parser = argparse.ArgumentParser(description="A program that answers through shared memory; formiga starts it.")
        parser.add_argument("--memory", nargs=2, required=True, metavar=("QUESTION", "ANSWER"), help="the two memories")
        given, _ = parser.parse_known_args(arguments)
        return cls(question, answer, *given.memory)

    @property
    def question(self) -> Any:
        """The fields of the question that was read last."""
        return self._asked.values

    @property
    def answer(self) -> Any:
        """The fields of the answer."""
        return self._answered.values

    def look(self) -> Any:
        """Wait for the next question, the newest: a slow program misses some. None when there are no more."""
        asked, values, spin = self._asked, self._asked.values, SPIN
        while True:
            sequence = asked.sequence
            if not sequence & 1 and asked.read() is not None:
                if values["state"] == 0:
                    return None
                if values["frame"] not in (-1, self.frame):
                    self.frame = int(values["frame"])
                    return values
            asked.wait(sequence, LOOK, spin)
            spin = 0.0

    def reply(self) -> None:
        """Send the answer to the question that was seen last. The loop does this by itself."""
        self.answer["frame"], self.answer["time"] = self.frame, self.question["time"]
        self.send()

    def send(self) -> None:
        """Write the answer as it stands."""
        self._answered.write()

    def __iter__(self) -> Iterator[Any]:
        while (values := self.look()) is not None:
            yield values
            self.reply()

    def close(self) -> None:
        """Release the memories."""
        self._asked.close()
        self._answered.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


__all__ = ["Peer"]
