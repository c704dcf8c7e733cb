"""Units. Inside formiga everything is SI; a paper's centimetres are converted where they are written down."""

from math import pi

MM = 1e-3
CM = 1e-2
DEG = pi / 180.0
RPM = 2.0 * pi / 60.0

# What an attribute of a world file may carry behind its number, by the SI unit it means.
SCALES: dict[str, dict[str, float]] = {
    "": {},
    "m": {"m": 1.0, "cm": CM, "mm": MM, "km": 1e3},
    "rad": {"rad": 1.0, "deg": DEG},
    "s": {"s": 1.0, "ms": 1e-3, "min": 60.0, "h": 3600.0},
    "m/s": {"m/s": 1.0, "cm/s": CM, "mm/s": MM, "km/h": 1.0 / 3.6},
    "rad/s": {"rad/s": 1.0, "deg/s": DEG, "rpm": RPM},
    "kg": {"kg": 1.0, "g": 1e-3},
    "N": {"N": 1.0, "mN": 1e-3},
}
