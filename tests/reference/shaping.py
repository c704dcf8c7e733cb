"""Probabilistic shaping in plain Python, a loop over steps and readings: the twin of formiga/studies/shaping/method.py.

It searches a square grid and refines it again and again, where the study searches circles and polishes. It has no fault
vectors.
"""

import numpy as np


def cost(place, rows):
    """J of one place."""
    return sum((np.hypot(*(place - row[:2])) - row[2]) ** 2 / row[3] for row in rows)


def best_place(rows, about, width=9.0):
    """The least J: a grid of 0.25 m around a point, then ever finer ones around the best of it."""
    rows, centre, step = np.array(rows), np.array(about, float), 0.25
    side = int(width / step)
    while step > 1e-9:
        offsets = step * np.arange(-side, side + 1)
        places = centre + np.stack(np.meshgrid(offsets, offsets), axis=-1).reshape(-1, 2)
        away = np.linalg.norm(places[:, None] - rows[:, :2], axis=-1)
        J = ((away - rows[:, 2]) ** 2 / rows[:, 3]).sum(axis=1)
        centre = places[J.argmin()]
        side, step = 4, 0.5 * step
    return centre, J.min()


def run(ranges, ways, places, *, steps=10, tags=4, sigma=1.0, misplaced=0.2, share=0.05, threshold=1.35):
    """Delivered positions (T, 2) of one robot, from ranges (T, K) and ways (T, 2): the readings of a period."""
    position, known, delivered, last = np.zeros(2), False, [], None
    for t in range(len(ranges)):
        position = position + ways[t]
        if (t + 1) % steps == 0:
            period = ranges[t - steps + 1: t + 1]
            if last is None:
                last = nearest(period, tags)
            rows = []
            for j in range(steps):
                since = ways[t - steps + j + 2: t + 1]
                for k in last:
                    if not np.isnan(period[j, k]):
                        grown = sum(share**2 * (way @ way) for way in since)
                        rows.append([*(places[k] + since.sum(axis=0)), period[j, k], sigma**2 + misplaced**2 + grown])
            place, J = best_place(rows, places[list(last)].mean(axis=0))
            if J / len(rows) < threshold or not known:
                position, known = place, True
            last = nearest(period, tags)
        delivered.append(position)
    return np.array(delivered)


def nearest(period, tags):
    """The beacons with the least mean reading."""
    heard = ~np.isnan(period)
    mean = np.where(heard.any(axis=0), np.where(heard, period, 0.0).sum(axis=0) / np.maximum(heard.sum(axis=0), 1), np.inf)
    return tuple(np.argsort(mean)[:tags])
