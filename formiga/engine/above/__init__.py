"""A world seen from above: what both engines use to place robots, to cast beams over a level floor, and to see lights.

`constants.py` has what never changes (`Above`), `looking.py` the functions; the other files are their kernels.
"""
