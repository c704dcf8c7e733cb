"""Run a shipped world and look at where the robots are. `python examples/00_hello.py`"""

import formiga

run = formiga.simulate("corral", seconds=30, seed=7)

print(f"{run.seconds:g} s in {run.elapsed:.2f} s, {run.metrics['crashes']} crashes")
for robot, (x, y) in enumerate(run.state.position[0]):  # [world, robot]
    print(f"robot {robot:2}  {x:+.3f} m  {y:+.3f} m")
