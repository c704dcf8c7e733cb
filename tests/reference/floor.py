"""The plain twin of the painted floor: shapes of a geometry library, asked one place and one zone after another."""

from shapely import affinity
from shapely.geometry import Point, box


def colour_at(zones, x, y, bare):
    """'#rrggbb' at a place: the last zone that is on and covers it."""
    seen = bare
    for zone in zones:
        if zone.radius > 0.0:
            covered = Point(x, y).distance(Point(zone.x, zone.y)) <= zone.radius
        else:
            shape = box(-zone.width / 2, -zone.depth / 2, zone.width / 2, zone.depth / 2)
            shape = affinity.rotate(shape, zone.heading, origin=(0, 0), use_radians=True)
            covered = affinity.translate(shape, zone.x, zone.y).covers(Point(x, y))
        if zone.on and covered:
            seen = zone.colour
    return seen
