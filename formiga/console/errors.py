"""What is wrong with a text of the console language, and where it stands."""

from __future__ import annotations

from formiga.errors import FormigaError, Where


class ConsoleError(FormigaError):
    """A command that cannot be understood or carried out."""

    def __init__(self, message: str, where: Where | None = None) -> None:
        super().__init__(f"{where}: {message}" if where else message)


def placed(message: str, where: Where) -> str:
    """The message with its place in front, unless it names one itself, as a world that cannot be read does."""
    file, _, line = message.partition(": ")[0].rpartition(":")
    if (file and line.isdecimal()) or message.startswith(f"{where.file}: "):
        return message
    return f"{where}: {message}"


def brief(text: str, most: int = 64) -> str:
    """A text that a message repeats, cut if it is long."""
    return text if len(text) <= most else f"{text[:most]}..."


def listed(names: list[str], most: int = 20) -> str:
    """'a, b, c' or 'a, b, ... (37 in all)', so that an error stays a line that one can read."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])}, ... ({len(names)} in all)"
