"""How kernels are compiled: cached on disk, without Python's lock, and dividing as floating point does."""

from __future__ import annotations

from functools import partial

from numba import njit

# Without the lock, threads can run different worlds at the same time. `error_model`: x / 0 is infinite, not an exception;
# the check would cost time in every division.
kernel = partial(njit, cache=True, nogil=True, error_model="numpy")
