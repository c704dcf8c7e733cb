"""A world or a recording under somebody's hands, and the commands that it answers. `page/` puts it into a browser."""

from __future__ import annotations

from formiga.session.session import Session

__all__ = ["Session"]
