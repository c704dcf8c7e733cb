"""Worlds of one batch that differ in numbers. `merge`: the compiled stages of all of them; `Apart`: each as a run of its own.

    compiled        one list of stages for the batch, in which arguments are each world's own; as fast as copies of one world
    one by one      every world with its own description, model and views of the batch's state, through the readable loop

They are made independently of each other, and a test holds them to the same bits.
"""

from formiga.differing.apart import Apart
from formiga.differing.merged import beginning, merge, sees_things

__all__ = ["Apart", "beginning", "merge", "sees_things"]
