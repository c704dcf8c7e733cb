"""A user's own sensor: what it may look at, and what it must return."""

import re

import numpy as np
import pytest

from formiga.engine.beams import ring
from formiga.errors import WorldError
from formiga.world.model import Wall
from formiga.world.robots import SBot
from tests.reference.lab import bench, drive


def test_an_own_sensor_casts_remembers_and_draws(own):
    def read(scene):
        count = scene.memory("count", np.zeros((scene.state.worlds, scene.group.count)))
        count += 1
        ahead = scene.cast(ring((0.0,), 0.058), 1.0)[..., 0]
        return np.stack([count, ahead, scene.noise.uniform(3.0, 4.0)[..., 0]], axis=-1)

    eye = own("sensor", name="eye", read=read)
    simulation = bench(SBot(), [(0, 0, 0), (-1, 0, 0)], (Wall((0.5, -1, 0.5, 1)),), sensors=[eye])
    first = simulation.readings["a"]["eye"]
    assert first.shape == (1, 2, 3)
    np.testing.assert_allclose(first[0, :, :2], [(1, 0.442), (1, 1.0 - 2 * 0.058)])
    drive(simulation, 0.0, 0.0)
    second = simulation.readings["a"]["eye"]
    assert (second[..., 0] == 2).all() and (second[..., 2] >= 3.0).all() and (second[..., 2] != first[..., 2]).all()
    simulation.reset()
    assert np.array_equal(simulation.readings["a"]["eye"], first)


@pytest.mark.parametrize("reading, shown", [(np.zeros((2, 3)), r"\(2, 3\)"), (np.zeros(5), r"\(5,\)"), (0.5, "float"),
                                            (None, "NoneType"), ([[1, 2]], "list")])
def test_a_sensor_that_returns_another_shape_is_named(own, reading, shown):
    simulation = bench(SBot(), [(0, 0, 0), (1, 0, 0)], sensors=[own("sensor", name="eye", read=lambda scene: reading)])
    message = r"sensor 'eye' must return an array \(worlds, robots, ...\) = \(1, 2, ...\), not " + shown
    with pytest.raises(WorldError, match=message):
        simulation.readings  # noqa: B018


@pytest.mark.parametrize("kind", [complex, object, "U5", "datetime64[s]"])
def test_readings_that_are_no_real_numbers_are_refused(own, kind):
    eye = own("sensor", name="eye", read=lambda scene: np.zeros((1, 2, 1), kind))
    simulation = bench(SBot(), [(0, 0, 0), (1, 0, 0)], sensors=[eye])
    with pytest.raises(WorldError, match=f"sensor 'eye' must return real numbers, not {re.escape(str(np.dtype(kind)))}"):
        simulation.readings  # noqa: B018
