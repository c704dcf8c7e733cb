"""The plain twin of the openings that <wander> finds: each beam is asked, and its neighbours."""

import math

TURN = 2.0 * math.pi


def bearings(scan, angles, open):
    """The ends (low, high) of each run of long beams, counter-clockwise: half way to the short beams beside it."""
    B = len(scan)
    long = [far >= open for far in scan]
    if all(long):
        return [(-math.pi, math.pi)]
    found = []
    for b in range(B):
        if long[b] and not long[b - 1]:                            # here one begins
            run = [b]
            while long[(run[-1] + 1) % B]:
                run.append((run[-1] + 1) % B)
            before, after = angles[b - 1], angles[(run[-1] + 1) % B]
            low = angles[b] - 0.5 * ((angles[b] - before) % TURN)
            high = angles[run[-1]] + 0.5 * ((after - angles[run[-1]]) % TURN)
            found.append((low, low + (high - low) % TURN))
    return found
