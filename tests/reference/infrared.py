"""A triangulating infrared sensor, one sample after another."""

from math import floor


def volts(distance, normals, *, k1=0.1881, k2=4.6779, spread=3e-5, per_m=3e-5, fold=0.07, reference=2.56, steps=255):
    """The reading of one sensor at a distance in m (None: nothing within reach), from one normal number for each conversion."""
    if distance is None:
        return 0.0
    exact = 1.0 / (k1 + k2 * distance) if distance >= fold else distance / fold / (k1 + k2 * fold)
    sigma = (len(normals) * (spread + per_m * distance)) ** 0.5   # of one conversion; their mean has Var(v)
    total = 0
    for normal in normals:
        seen = min(max(exact + sigma * normal, 0.0), reference)
        step = floor(seen / reference * steps)
        total += step + (seen / reference * steps - step > 0.5)
    return reference * total / (len(normals) * steps)
