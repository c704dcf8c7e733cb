"""An outline as convex parts, and its inertia."""

from __future__ import annotations

from itertools import pairwise

from formiga.errors import WorldError

Corner = tuple[float, float]


def turn(a: Corner, b: Corner, c: Corner) -> float:
    """Twice the area of a triangle, positive if a b c go counter-clockwise. [Klancar et al. 2003, eq. 10]"""
    return (a[0] - b[0]) * (a[1] - c[1]) - (a[0] - c[0]) * (a[1] - b[1])


def area(corners: list[Corner]) -> float:
    """Of a polygon; positive if its corners go counter-clockwise."""
    return 0.5 * sum(a[0] * b[1] - a[1] * b[0] for a, b in pairwise([*corners, corners[0]]))


def inertia(corners: list[Corner], mass: float) -> float:
    """About the origin, of a plate of even thickness; a square of side L has mass L^2/6."""
    edges = list(pairwise([*corners, corners[0]]))
    crosses = [a[0] * b[1] - a[1] * b[0] for a, b in edges]
    moments = [cross * (a[0] ** 2 + a[1] ** 2 + a[0] * b[0] + a[1] * b[1] + b[0] ** 2 + b[1] ** 2)
               for cross, (a, b) in zip(crosses, edges, strict=True)]
    return mass / 6.0 * sum(moments) / sum(crosses)


def convex_parts(outline: tuple[Corner, ...]) -> list[list[Corner]]:
    """The outline, counter-clockwise and without corners on straight lines; cut into convex parts if it has dents.

    Ears are clipped off one by one; then neighbours are joined again as long as the result is convex. [Hertel & Mehlhorn 1983]
    """
    corners = tidy(outline)
    if is_convex(corners):
        return [corners]
    parts, rest = [], list(corners)
    while len(rest) > 3:
        for i in range(len(rest)):
            a, b, c = rest[i - 1], rest[i], rest[(i + 1) % len(rest)]
            if turn(a, b, c) > 0.0 and not any(_inside(p, a, b, c) for p in rest if p not in (a, b, c)):
                parts.append([a, b, c])
                del rest[i]
                break
        else:
            raise WorldError("the outline crosses itself.")
    return _joined([*parts, rest])


def tidy(outline: tuple[Corner, ...]) -> list[Corner]:
    """Counter-clockwise, each corner once, none in the middle of a straight side. A crossing outline is refused."""
    corners = [corner for corner, following in zip(outline, [*outline[1:], outline[0]], strict=True) if corner != following]
    size = abs(area(corners)) if len(corners) > 2 else 0.0
    if size < 1e-12:
        raise WorldError("the outline has no area.")
    if area(corners) < 0.0:
        corners.reverse()
    corners = _bends(corners, 1e-9 * size)
    last = len(corners) - 1
    if any(_cross(corners, i, j) for i in range(last) for j in range(i + 2, last + 1) if (i, j) != (0, last)):
        raise WorldError("the outline crosses itself.")
    return corners


def _bends(corners: list[Corner], least: float) -> list[Corner]:
    """The corners at which the outline really turns."""
    around = zip([corners[-1], *corners[:-1]], corners, [*corners[1:], corners[0]], strict=True)
    return [corner for before, corner, after in around if abs(turn(before, corner, after)) > least]


def is_convex(corners: list[Corner]) -> bool:
    """Whether a counter-clockwise polygon has no dent."""
    return all(turn(corners[i - 2], corners[i - 1], corners[i]) > 0.0 for i in range(len(corners)))


def _inside(p: Corner, a: Corner, b: Corner, c: Corner) -> bool:
    return turn(a, b, p) >= 0.0 and turn(b, c, p) >= 0.0 and turn(c, a, p) >= 0.0


def _cross(corners: list[Corner], i: int, j: int) -> bool:
    """Whether two sides that are not neighbours meet."""
    a, b = corners[i], corners[i + 1]
    c, d = corners[j], corners[(j + 1) % len(corners)]
    boxes_apart = any(max(a[k], b[k]) < min(c[k], d[k]) or max(c[k], d[k]) < min(a[k], b[k]) for k in (0, 1))
    return not boxes_apart and turn(a, b, c) * turn(a, b, d) <= 0.0 and turn(c, d, a) * turn(c, d, b) <= 0.0


def _joined(parts: list[list[Corner]]) -> list[list[Corner]]:
    for i in range(len(parts)):
        for j in range(i + 1, len(parts)):
            if both := _union(parts[i], parts[j]):
                return _joined([part for k, part in enumerate(parts) if k not in (i, j)] + [both])
    return parts


def _union(one: list[Corner], other: list[Corner]) -> list[Corner] | None:
    """Two polygons that share a side as one, if that is convex."""
    for i, (a, b) in enumerate(pairwise([*one, one[0]])):
        for j, (c, d) in enumerate(pairwise([*other, other[0]])):
            if (a, b) == (d, c):
                both = one[i + 1:] + one[:i + 1]       # from b round to a ...
                both += (other[j + 1:] + other[:j + 1])[1:-1]  # ... and on, from a round to b
                corners = _bends(both, 1e-9 * area(both))
                return corners if is_convex(corners) else None
    return None
