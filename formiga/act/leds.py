"""How bright the LEDs of robots are."""

from __future__ import annotations

from dataclasses import dataclass

from formiga.world.elements import element, number
from formiga.world.sources import LED


@element("leds", role="actuator")
@dataclass(frozen=True)
class Leds:
    """How bright the LEDs of the robots are for <light>. An <omnicamera> sees their colours, and needs no <leds>.

    A lit LED is a source on its robot's rim, at 60 % of its height, that shines outwards:
        intensity x (red + green + blue) / (3 x 255)
    `Orders(leds=...)` lights it, or `out red 1` in the console, until the next order. Its own robot does not see it.
    """

    intensity: float = number(LED, least=0.0, doc="of one that is white and as bright as it can be, in m^2, as that of a "
                              "<lamp>; also without this element")
