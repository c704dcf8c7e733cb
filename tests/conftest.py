"""Shared by all tests: one seeded generator each, hypothesis without luck, and elements that live for one test."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import settings

from formiga.world import elements

settings.register_profile("formiga", derandomize=True, deadline=None, print_blob=False)
settings.load_profile("formiga")


@pytest.fixture
def rng():
    """The same numbers in every run."""
    return np.random.default_rng(20060305)


@pytest.fixture
def own():
    """own("controller", decide=f) or own("sensor", name="s", read=f): a user's element, registered for this test only."""
    kept = dict(elements._registry)

    def make(role, **attributes):
        attributes = {key: staticmethod(value) if callable(value) else value for key, value in attributes.items()}
        cls = dataclass(frozen=True)(type(f"Own{len(elements._registry)}", (), {"__doc__": "Own.", **attributes}))
        return elements.element(f"own-{len(elements._registry)}", role=role)(cls)()

    yield make
    elements._registry.clear()
    elements._registry.update(kept)
