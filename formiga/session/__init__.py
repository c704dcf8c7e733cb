"""A world or a recording that a person works on, and the commands that it answers. `page/` puts it into a browser."""

from __future__ import annotations

from formiga.session.session import Session

__all__ = ["Session"]
