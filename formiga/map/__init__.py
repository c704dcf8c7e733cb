"""Maps as arrays: occupancy grids from images, their walls, distances and beams. No world, no state, no XML.

    images.py      PNG and PGM files -> grey arrays, within limits
    server.py      the YAML file of ROS's map_server, which names an image
    grid.py        the occupancy grid: occupied, free and unknown cells, and where they are
    walls.py       occupied cells -> straight walls and rectangles, and back
    distances.py   how far each cell is from the nearest wall
    rays.py        beams from any poses, many at once
"""

from formiga.map.grid import FREE, OCCUPIED, UNKNOWN, Grid
from formiga.map.images import MapError
from formiga.map.server import read_map

__all__ = ["FREE", "OCCUPIED", "UNKNOWN", "Grid", "MapError", "read_map"]
