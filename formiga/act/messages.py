"""What a link makes of the numbers of a message: they are cut at its limit."""

from __future__ import annotations

import numpy as np

from formiga.kernels import kernel


@kernel()
def send_world(w, limit, message):
    """A stage that decides: cut the numbers of messages (W, n, numbers) in place, and return 0, or 2 + the first robot whose
    message has a number that is none. Silence, which is NaN throughout, stays."""
    bad, numbers = -1, message.shape[2]
    for i in range(message.shape[1]):
        silent = 0
        for c in range(numbers):
            value = message[w, i, c]
            silent += np.isnan(value)
            if np.isinf(value) and bad < 0:
                bad = i
            elif abs(value) > limit:
                message[w, i, c] = limit if value > 0.0 else -limit
        if 0 < silent < numbers and bad < 0:
            bad = i
    return 0 if bad < 0 else 2 + bad
