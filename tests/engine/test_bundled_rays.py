"""Rays in space that go together find what each finds alone."""

import numpy as np

from formiga.engine.spatial.looking import NO_GROUND, SEEN, _beyond_itself, _bundles, _from_rims
from formiga.loop import Simulation
from formiga.world.reader import read_text

WORLD = """<world engine="spatial"><arena width="2" depth="2"/><cylinder x="0.5" y="0.2" radius="0.2"/>
  <solid name="crate" size="0.2 0.2 0.2" x="-0.4" y="0.3"/><sbot model="detailed"><at x="0" y="0" heading="30deg"/></sbot>
  </world>"""


def test_rays_that_go_together_find_what_each_finds_alone(rng):
    """Places and what is seen are mixed at random, so that the order of the calls is not that of the rays."""
    sim = Simulation(read_text(WORLD))
    mj, data, own, reach = sim.model.mj, sim.state.scratch.data, int(sim.model.hold[0]), 0.9
    places = rng.uniform(-0.09, 0.09, (7, 3)) + (0.0, 0.0, 0.1)
    starts, blind = places[rng.integers(0, 7, 400)], rng.random(400) < 0.4
    ways = rng.normal(0.0, 1.0, (400, 3)) * (1.0, 1.0, 0.5) - (0.0, 0.0, 0.2)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    together = _from_rims(mj, data, starts, ways, _bundles(starts, blind), own, reach)
    alone = np.array([_beyond_itself(mj, data, start, way, own, reach, NO_GROUND if each else SEEN)
                      for start, way, each in zip(starts, ways, blind)])
    for found in (together, alone):  # what lies beyond is left to the caller
        found[found > reach] = np.inf
    assert 60 < np.isfinite(alone).sum() < 380 and len(set(alone[np.isfinite(alone)])) > 50
    np.testing.assert_allclose(together, alone, atol=1e-9)
