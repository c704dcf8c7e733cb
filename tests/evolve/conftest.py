"""Fixtures of a cluster on this machine."""

from tests.pool.cluster import scheduler, workers  # noqa: F401
