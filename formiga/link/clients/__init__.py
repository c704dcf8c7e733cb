"""For programs without formiga: formiga_remote.py and formiga_remote.h, one file each, to be copied beside a program or named.

    cc -O2 -I $(python -c "from formiga.link.clients import FOLDER; print(FOLDER)") -o driver driver.c -lm

A Python program that formiga starts finds formiga_remote without that.
"""

from pathlib import Path

FOLDER = Path(__file__).parent

__all__ = ["FOLDER"]
