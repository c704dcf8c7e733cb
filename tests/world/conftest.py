"""The example elements are registered while a module of these tests runs, and at no other time."""

import pytest

from formiga.world import elements
from tests.world import examples


@pytest.fixture(scope="module", autouse=True)
def example_elements():
    elements._registry.update(examples.ELEMENTS)
    yield
    for tag in examples.ELEMENTS:
        del elements._registry[tag]
