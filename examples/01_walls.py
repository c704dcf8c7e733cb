"""Build a world in Python, write it as XML, run it 100 times, and count the robots that found the gap in the wall.

python examples/01_walls.py [FOLDER for the world and the recording]
"""

import sys

import formiga
from formiga.control.braitenberg import Braitenberg
from formiga.sense.proximity import Proximity
from formiga.units import CM
from formiga.world.model import Arena, Group, Wall, World
from formiga.world.placement import Scatter
from formiga.world.robots import SBot

GAP = 40 * CM


def two_rooms(robots: int) -> World:
    """Two rooms with a gap between them; all robots start in the left one."""
    wall = [Wall(points=(0.0, side * GAP / 2, 0.0, side * 0.75), name=f"wall{side}") for side in (-1, 1)]
    swarm = Group(SBot(), robots, "swarm", place=(Scatter(x=-0.75, width=1.3, depth=1.3),), sensors=(Proximity(),),
                  controller=Braitenberg())
    return World(name="two_rooms", things=(Arena(width=3.0, depth=1.5), *wall), groups=(swarm,))


world = two_rooms(robots=6)
run = formiga.simulate(world, seconds=60, seed=1, worlds=100)
right = (run.state.position[..., 0] > 0.0).sum(axis=1)  # of each world
print(f"after 60 s, {right.mean():.2f} of 6 robots are in the right room (from {right.min()} to {right.max()})")

if len(sys.argv) > 1:
    folder = sys.argv[1]
    recorded = formiga.simulate(world, seconds=10, seed=1, out=folder).recording
    formiga.write_world(world, f"{folder}/two_rooms.xml")
    again = formiga.read_recording(recorded)
    print(f"{recorded}: {len(again.steps)} steps; running it again gives", again.replay() or "the same, bit for bit")
