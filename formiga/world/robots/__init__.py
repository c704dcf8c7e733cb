"""Kinds of robots, one file each. A file here is found by itself; nothing else lists it."""

from formiga.world.elements import discover
from formiga.world.robots.disc import Disc
from formiga.world.robots.mirosot import MiroSot
from formiga.world.robots.sbot import SBot

discover(__name__)

__all__ = ["Disc", "MiroSot", "SBot"]
