"""Shared by all tests: one seeded generator each, and hypothesis without luck."""

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("formiga", derandomize=True, deadline=None, print_blob=False)
settings.load_profile("formiga")


@pytest.fixture
def rng():
    """The same numbers in every run."""
    return np.random.default_rng(20060305)
