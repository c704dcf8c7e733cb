"""How bright the LEDs of robots are."""

from __future__ import annotations

from dataclasses import dataclass

from formiga.world.elements import element, number
from formiga.world.sources import LED


@element("leds", role="actuator")
@dataclass(frozen=True)
class Leds:
    """The light of the LEDs that the robots have anyway, for <light>; a camera knows them by their colours alone.

    A lit LED is a source on its robot's rim, at 60 % of its height, that shines outwards:
        intensity x (red + green + blue) / (3 x 255)
    Orders light it, or `out leds` in the console; it stays lit until the next order. It does not shine on its own robot.
    """

    intensity: float = number(LED, least=0.0, doc="of one that is white and as bright as it can be, in m^2, as that of a "
                              "<lamp>; also without this element")
