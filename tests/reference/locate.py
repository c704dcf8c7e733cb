"""The plain twins of `formiga.locate` and of `formiga.map.lines`: one filter, one particle, one beam after another."""

import math

import numpy as np
from scipy import stats

from formiga.noise import unit


def normals(start, index):
    """Two normal numbers of a stream."""
    far, way = math.sqrt(-2.0 * math.log(1.0 - unit(start, 2 * index))), 2.0 * math.pi * unit(start, 2 * index + 1)
    return far * math.cos(way), far * math.sin(way)


def wrap(angle):
    return math.remainder(angle, 2.0 * math.pi)


def differential(particles, before, after, errors, start):
    """Table 5.6, line by line."""
    out = particles.copy()
    dx, dy = after[0] - before[0], after[1] - before[1]
    way = math.hypot(dx, dy)
    rot1 = 0.0 if way < 1e-3 else wrap(math.atan2(dy, dx) - before[2])
    rot2 = wrap(after[2] - before[2] - rot1)
    small1, small2 = (min(abs(rot), math.pi - abs(rot)) for rot in (rot1, rot2))
    for p in range(len(out)):
        (a, b), (c, _) = normals(start, 2 * p), normals(start, 2 * p + 1)
        one = rot1 + a * math.sqrt((errors[0] * small1) ** 2 + (errors[1] * way) ** 2)
        far = way + b * math.sqrt((errors[2] * way) ** 2 + errors[3] ** 2 * (small1 ** 2 + small2 ** 2))
        two = rot2 + c * math.sqrt((errors[0] * small2) ** 2 + (errors[1] * way) ** 2)
        heading = out[p, 2] + one
        out[p] = out[p, 0] + far * math.cos(heading), out[p, 1] + far * math.sin(heading), wrap(heading + two)
    return out


def omni(particles, before, after, errors, start):
    """Way ahead, way aside and turn of the odometry, each with an error."""
    out = particles.copy()
    turn = wrap(after[2] - before[2])
    c, s = math.cos(before[2]), math.sin(before[2])
    ahead, aside = np.array([[c, s], [-s, c]]) @ (after[:2] - before[:2])
    way = math.hypot(ahead, aside)
    for p in range(len(out)):
        (a, b), (t, _) = normals(start, 2 * p), normals(start, 2 * p + 1)
        off = math.sqrt((errors[0] * way) ** 2 + (errors[1] * turn) ** 2)
        spin = math.sqrt((errors[2] * turn) ** 2 + (errors[3] * way) ** 2)
        c, s = math.cos(out[p, 2]), math.sin(out[p, 2])
        out[p, :2] += np.array([[c, -s], [s, c]]) @ (ahead + off * a, aside + off * b)
        out[p, 2] = wrap(out[p, 2] + turn + spin * t)
    return out


def field_log_weights(particles, ends, hit, grid, short, decay, random):
    """Table 6.3 with a logarithm for each beam."""
    out = []
    for x, y, heading in particles:
        total = 0.0
        for end in ends:
            if np.isnan(end).any():
                continue
            c, s = math.cos(heading), math.sin(heading)
            row, column = grid.cell_of(np.array([x + c * end[0] - s * end[1], y + s * end[0] + c * end[1]]))
            inside = 0 <= row < grid.shape[0] and 0 <= column < grid.shape[1]
            near = float(hit[row, column]) if inside else 0.0
            total += math.log(near + max(1e-12, short * math.exp(-decay * math.hypot(*end)) + random))
        out.append(total)
    return np.array(out)


def beam_probability(z, true, mixture):
    """Eqs. 6.4 to 6.11 with scipy's distributions."""
    if z >= mixture.reach:
        return mixture.most
    hit = stats.truncnorm(-true / mixture.sigma, (mixture.reach - true) / mixture.sigma, true, mixture.sigma).pdf(z)
    short = stats.truncexpon(mixture.decay * true, 0.0, 1.0 / mixture.decay).pdf(z) if z <= true else 0.0
    return mixture.hit * hit + mixture.short * short + mixture.random / mixture.reach


def low_variance(weights, first, size):
    """The particle in whose share of the sum each stride falls."""
    edges = np.cumsum(weights)
    return np.array([min(int(np.searchsorted(edges, edges[-1] * (m + first) / size, side="right")), len(weights) - 1)
                     for m in range(size)])


def kld_bound(k, epsilon, quantile):
    """Fox's bound as he prints it."""
    if k <= 1:
        return 1
    a = 2.0 / (9.0 * (k - 1))
    return math.ceil((k - 1) / (2.0 * epsilon) * (1.0 - a + math.sqrt(a) * quantile) ** 3)


def kld_resample(particles, weights, start, bins, rule, least, most, share=0.0, others=None):
    """Draw until there are enough; a share of them from others."""
    edges, occupied, out, at = np.cumsum(weights), set(), [], unit(start, 0)
    turns = round(2.0 * math.pi / bins.angle)
    while len(out) < most and (len(out) < least or len(out) < kld_bound(len(occupied), rule.epsilon, rule.quantile)):
        if unit(start, 1 + len(out)) < share:
            pose = others[len(out)]
        else:
            pose = particles[min(int(np.searchsorted(edges, at * edges[-1], side="right")), len(weights) - 1)]
            at = (at + 0.5 * (math.sqrt(5.0) - 1.0)) % 1.0
        out.append(pose)
        occupied.add(cell(pose, bins.length, turns))
    return np.array(out)


def gather(particles, count, places, known, sigma, start):
    """Each particle beyond the first ones around the next of the places that count, and its number."""
    out, drawn = particles.copy(), np.full(len(particles), -1)
    turn = [r for r in range(len(known)) if known[r]]
    for p in range(count, len(particles) if turn else 0):
        drawn[p] = turn[(p - count) % len(turn)]
        east, north = normals(start, 3 * p)[0], normals(start, 3 * p + 1)[0]
        out[p] = *(places[drawn[p]] + sigma * np.array([east, north])), math.pi * (2.0 * unit(start, 6 * p + 4) - 1.0)
    return out, drawn


def cell(pose, length, turns):
    heading = math.floor((wrap(pose[2]) + math.pi) * turns / (2.0 * math.pi))
    return math.floor(pose[0] / length), math.floor(pose[1] / length), min(turns - 1, max(0, heading))


def clusters(particles, length, angle):
    """Which particles are in one cluster: sets of their numbers, by a search from bin to bin."""
    turns, bins = round(2.0 * math.pi / angle), {}
    for p, pose in enumerate(particles):
        bins.setdefault(cell(pose, length, turns), []).append(p)
    found = []
    while bins:
        waiting, members = [next(iter(bins))], set()
        while waiting:
            here = waiting.pop()
            members |= set(bins.pop(here, ()))
            waiting += [other for other in bins if abs(other[0] - here[0]) <= 1 and abs(other[1] - here[1]) <= 1
                        and (other[2] - here[2]) % turns in (0, 1, turns - 1)]
        found.append(members)
    return found


def expected(lines, pose, sensor, reach):
    """The nearest wall of a map of lines along one beam, each by solving for its crossing."""
    c, s = math.cos(pose[2]), math.sin(pose[2])
    origin = pose[:2] + np.array([[c, -s], [s, c]]) @ sensor[:2]
    u = np.array([math.cos(pose[2] + sensor[2]), math.sin(pose[2] + sensor[2])])
    best, wall = math.inf, -1
    for k, (x0, y0, x1, y1) in enumerate(lines.ends):
        start, edge = np.array([x0, y0]), np.array([x1 - x0, y1 - y0])
        if u @ lines.normals[k] >= 0.0 or abs(np.linalg.det(np.column_stack([u, -edge]))) < 1e-12:
            continue
        along, share = np.linalg.solve(np.column_stack([u, -edge]), start - origin)
        if 0.0 < along <= reach and 0.0 <= share <= 1.0 and along < best:
            best, wall = along, k
    return best, wall
