"""What a link makes of the numbers of a message: they are cut at its limit."""

from __future__ import annotations

from formiga.kernels import kernel


@kernel()
def cut_world(w, limit, message):
    """Cut the numbers of messages (W, n, numbers) in place; silence, which is NaN, stays."""
    for i in range(message.shape[1]):
        for c in range(message.shape[2]):
            if message[w, i, c] > limit:
                message[w, i, c] = limit
            elif message[w, i, c] < -limit:
                message[w, i, c] = -limit
