"""What a session asks of the page that shows it: cameras, pictures and films. `page.Page` keeps this."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol


class Windows(Protocol):
    """The open windows of a session. sender: the window that a command came from; None: any, or all of them."""

    def cameras(self) -> list[str]:
        """Names of all cameras."""

    def camera(self, name: str, sender: Any) -> None:
        """Look from a camera."""

    def save_camera(self, name: str, sender: Any) -> None:
        """Keep where a window looks from, under a name."""

    def follow(self, robot: int | None, eyes: bool, sender: Any) -> None:
        """Let the camera go with a robot, behind it or as its eyes; None: stay."""

    def renumbered(self, now: dict[int, int]) -> None:
        """Robots were added or removed: old number -> new number of those that stay."""

    def screenshot(self, path: Path | None, sender: Any) -> bool:
        """Save what a window shows, or send it as a download; False if no window is open."""

    def export(self, path: Path | None, sender: Any) -> None:
        """Write a recording, or what is seen now, as a file of its own; None stops the export."""


__all__ = ["Windows"]
