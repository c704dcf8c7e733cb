"""Whose mistake it was: ours goes on with its traceback, that of a user's own file is one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from formiga import lab
from formiga.errors import FormigaError


@contextmanager
def own_mistakes() -> Iterator[None]:
    """What goes wrong in a file of the user's own, such as a controller, is their input: an error that names its line."""
    try:
        yield
    except FormigaError:
        raise
    except Exception as wrong:
        line = lab.own_line(wrong)
        if line is None:
            raise
        raise FormigaError(line) from wrong


__all__ = ["own_mistakes"]
