"""Run a world with a sensor and a controller of our own. `python examples/02_own_controller.py`"""

from pathlib import Path

import formiga

here = Path(__file__).parent
formiga.load_elements(here / "02_own_elements.py")  # the only way in: a world file alone never runs code
world = formiga.read_world(here / "02_own_world.xml")

lab = formiga.Simulation(world, seed=1)
for _ in range(300):
    lab.step()
felt = lab.readings["roaches"]["whiskers"]  # (worlds, robots, 2)
print(f"after {lab.state.step[0] * world.dt:g} s: {int(felt.any(axis=-1).sum())} of 8 feel something, "
      f"{int(lab.state.crashes.sum())} crashes")
