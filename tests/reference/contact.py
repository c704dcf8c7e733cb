"""The plain twin of re-positioning: the digest's `resolve`, over all pairs, in the order of their numbers.

It has no cell lists and no sweep: `swept` says that a move led through something fixed, where the engine stops short
and this twin has nothing to say.
"""

import numpy as np

from tests.reference.lab import distance_to_segment

TOUCH, NOTHING = 1e-8, 1e-9


def resolve(centres, safety, walls, cylinders, mode, limit=30):
    """(centres, which crashed, rounds, swept) after at most `limit` rounds of the synchronous rule."""
    return counted(centres, safety, walls, cylinders, mode, limit)[:4]


def counted(centres, safety, walls, cylinders, mode, limit=30):
    """The same, and how many objects each collided with, added up over the rounds."""
    centres = np.array(centres, float)
    objects = np.zeros(len(centres), int)
    crashed = np.zeros(len(centres), bool)
    swept = False
    for rounds in range(limit + 1):
        hit = [j for j in range(len(centres)) if contacts(j, centres, safety, walls, cylinders)]
        if not hit:
            return centres, crashed, rounds, swept, objects
        if rounds == limit:
            return centres, crashed, limit + 1, swept, objects
        crashed[hit] = True
        target = centres.copy()
        for j in hit:
            found = contacts(j, centres, safety, walls, cylinders)
            objects[j] += len(found)
            way = -escape(j, found, centres, safety[j], mode)
            target[j] = centres[j] + way
            swept |= passes(centres[j], target[j], safety[j], walls, cylinders)
            if mode == "published":
                target[j], through = go_back(centres[j], way, safety[j], walls, cylinders)
            else:
                target[j], through = push_out(target[j], safety[j], walls, cylinders)
            if swept or through:
                return centres, crashed, rounds, True, objects
        centres = target


def contacts(j, centres, safety, walls, cylinders):
    """(kind, vector to it, overlap) of everything that the collision circle of j overlaps."""
    found = []
    for i in range(len(centres)):
        v = centres[i] - centres[j]
        if i != j and (overlap := safety[i] + safety[j] - np.linalg.norm(v)) > TOUCH:
            found.append(("robot", v, overlap))
    return found + fixed_contacts(centres[j], safety[j], walls, cylinders, TOUCH)


def fixed_contacts(p, rs, walls, cylinders, least):
    found = []
    for x0, y0, x1, y1 in walls:
        a, e = np.array([x0, y0]), np.array([x1 - x0, y1 - y0])
        v = a + np.clip((p - a) @ e / (e @ e), 0.0, 1.0) * e - p
        if (overlap := rs - np.linalg.norm(v)) > least:
            found.append(("fixed", v, overlap))
    for x, y, r in cylinders:
        v = np.array([x, y]) - p
        if (overlap := rs + r - np.linalg.norm(v)) > least:
            found.append(("cylinder", v, overlap))
    return found


def escape(j, found, centres, rs, mode):
    """The way that j flees from; it moves against it."""
    resultant, deepest = np.zeros(2), 0.0
    for kind, v, overlap in found:
        deepest = max(deepest, overlap / 2 if kind == "robot" else overlap)
        if kind != "fixed" and mode == "published":  # "computed in the same way for cylindrical objects or other robots"
            resultant += v
        else:
            resultant += v / np.linalg.norm(v) * overlap
    size = np.linalg.norm(resultant)
    if size < NOTHING:
        return np.zeros(2)
    return min(rs, size if mode == "published" else 1.01 * deepest) * resultant / size


def go_back(p, way, rs, walls, cylinders):
    """Along the line of escape: back by the overlap with what is there, until nothing is [TR Fig. 9]; whether it took too long.

    What was overlapped before, and the way leads out of, does not count.
    """
    s = np.linalg.norm(way)
    if s == 0.0:
        return p, False
    u = way / s

    def counts(walls, cylinders):
        return not any(v @ u <= 0.0 for _, v, _ in fixed_contacts(p, rs, walls, cylinders, TOUCH))

    ahead = [each for each in walls if counts([each], ())], [each for each in cylinders if counts((), [each])]
    for _ in range(3_000):
        found = fixed_contacts(p + s * u, rs, *ahead, 1e-13)
        if not found or s <= 0.0:
            return p + max(0.0, s) * u, False
        s -= max(overlap for _, _, overlap in found)
    return p, True


def push_out(p, rs, walls, cylinders):
    """Out of the deepest fixed thing, and again; whether a push led through something."""
    through = False
    for _ in range(8):
        found = fixed_contacts(p, rs, walls, cylinders, TOUCH)
        if not found:
            break
        _, v, overlap = max(found, key=lambda contact: contact[2])
        out = p - overlap * v / np.linalg.norm(v)
        through |= passes(p, out, rs, walls, cylinders)
        p = out
    return p, through


def passes(p, q, rs, walls, cylinders):
    """Whether anything fixed is nearer to the middle of the way from p to q than to both ends, and within rs of it."""
    for t in np.linspace(0.0, 1.0, 9)[1:-1]:
        m = p + t * (q - p)
        for x0, y0, x1, y1 in walls:
            gap = distance_to_segment(m, (x0, y0), (x1, y1))
            ends = (distance_to_segment(p, (x0, y0), (x1, y1)), distance_to_segment(q, (x0, y0), (x1, y1)))
            if gap < rs and gap < min(ends):
                return True
        for x, y, r in cylinders:
            if np.linalg.norm(m - (x, y)) < min(rs + r, np.linalg.norm(p - (x, y)), np.linalg.norm(q - (x, y))):
                return True
    return False
