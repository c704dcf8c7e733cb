"""Records that tests declare, in a module that child processes load quickly."""

from formiga.link import TURN, Record

QUESTION = Record("room", 11, (*TURN, ("temperature", "<f8"), ("doors", "<i4", (2,))))
ANSWER = Record("heater", 12, (*TURN, ("power", "<f8", (2,))))
WEATHER = Record("weather", 71, (("station", "<u4"), *TURN, ("wind", "<f8", (40, 3)), ("sunny", "<u1", (8,))))
