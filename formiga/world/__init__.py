"""1. What is there: the description of a world. Frozen dataclasses, the XML reader and writer, robots, placement."""
