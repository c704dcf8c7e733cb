"""Spread out: away from the robots that are heard, the nearer the more. Messages and bearings are all that it goes by."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin

from formiga.comm.inbox import BEARING, HEARD, RANGE
from formiga.control.view import View
from formiga.errors import WorldError
from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.state import Floats
from formiga.world.elements import element, name, number, of, where


@element("spread", role="controller")
@dataclass(frozen=True)
class Spread:
    """Drives away from the robots it hears, and sends how many it hears.

        away = - sum over messages of (1 - range / reach) (cos bearing, sin bearing)
        wheels = top speed x (gain away_x -/+ gain away_y), cut at the top speed
    This is the repulsive potential of [Howard, Mataric & Sukhatme 2002] with a linear fall; reach is the range of the link. The
    message is the number of messages heard.
    """

    link: str = name("range_and_bearing", doc="a link that measures ranges and bearings, with messages of one number")
    gain: float = number(1.0, above=0.0)

    def stages(self, view: View, wheels: Floats) -> list[Stage]:
        """The kernel that fills wheels (W, n, 2) and the outbox."""
        inbox, link = view.inbox(self.link), view.sensor(self.link)
        if inbox.range is None or link.numbers != 1:
            raise WorldError(f"{where(self)}<spread> needs a link that measures ranges and bearings, with messages of one "
                             f"number; '{self.link}' is <{of(link).tag}> with {link.numbers}.")
        top = view.two_wheels().top_speed
        return [Stage(spread_world, (view.reading(self.link), link.range, self.gain, top, wheels, view.outbox(self.link)))]


@kernel()
def spread_world(w, inbox, reach, gain, top, wheels, message):
    """The rule, robot by robot; inbox (W, n, most, columns) -> wheels (W, n, 2), message (W, n, 1)."""
    for i in range(inbox.shape[1]):
        x, y, count = 0.0, 0.0, 0
        for k in range(inbox.shape[2]):
            if inbox[w, i, k, HEARD] == 0.0:
                break
            share = 1.0 - inbox[w, i, k, RANGE] / reach
            x, y = x - share * cos(inbox[w, i, k, BEARING]), y - share * sin(inbox[w, i, k, BEARING])
            count += 1
        wheels[w, i, 0] = top * min(1.0, max(-1.0, gain * (x - y)))
        wheels[w, i, 1] = top * min(1.0, max(-1.0, gain * (x + y)))
        message[w, i, 0] = count
