"""`formiga` and `python -m formiga`: the command line, which Ctrl-C ends with one line from the first moment on.

This file imports nothing but what Python itself has loaded already: whatever it imported could be interrupted.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any


def main() -> None:
    """The console script."""
    import _signal  # type: ignore[import-not-found]  # the C part of `signal`, which takes no time
    from _thread import interrupt_main

    def interrupted(number: int, frame: FrameType | None) -> None:
        if _importing(frame):
            leave()
        raise KeyboardInterrupt

    def swallowed(what: Any) -> None:
        if what.exc_type is KeyboardInterrupt:  # in a callback of a library, which goes on as if nothing had happened
            interrupt_main()
        else:
            sys.__unraisablehook__(what)

    def leave(*_: object) -> None:
        os.write(2, b"\nformiga: interrupted\n")  # behind the ^C of the terminal
        os._exit(130)

    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:  # not where Ctrl-C is ignored, as in `&` of a script
        _signal.signal(_signal.SIGINT, interrupted)
        sys.unraisablehook = swallowed
    try:
        from formiga.cli import main as run

        run()
    except KeyboardInterrupt:
        leave()
    finally:
        if _signal.getsignal(_signal.SIGINT) is interrupted:
            _signal.signal(_signal.SIGINT, leave)  # while Python ends


def _importing(frame: FrameType | None) -> bool:
    """Whether a module is being imported: an exception in there may be swallowed, or become another one."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


if __name__ == "__main__":
    main()
