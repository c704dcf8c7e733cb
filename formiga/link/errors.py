"""What goes wrong between programs."""

from formiga.errors import FormigaError


class LinkError(FormigaError):
    """A program that cannot be started, or a memory that cannot be made, opened or understood."""


__all__ = ["LinkError"]
