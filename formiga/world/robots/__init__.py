"""Kinds of robots, one file each. A file here is found by its element; nothing else lists it."""

from formiga.world.robots.disc import Disc
from formiga.world.robots.sbot import SBot

__all__ = ["Disc", "SBot"]
