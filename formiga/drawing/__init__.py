"""What any code may draw into a world: eight kinds of marks, in layers. Arrays in, arrays out: no world, no page, no picture.

    marks.py   what was drawn, as plain arrays that can be recorded, sent and painted; what is allowed in them
    pen.py     the one way to draw: `Pen`
"""

from formiga.drawing.marks import COLOURS, KINDS, Drawings, Mark, same
from formiga.drawing.pen import Pen, Sheet

__all__ = ["COLOURS", "KINDS", "Drawings", "Mark", "Pen", "Sheet", "same"]
