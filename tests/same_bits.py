"""Compare this checkout with another one, bit for bit: every world that both ship, its rollout and its recording.

    python -m tests.same_bits ../formiga-before         prints what differs; exit 1 if anything does
    python -m tests.same_bits --measure                 prints the hashes of one checkout as JSON; used by the line above

For a refactoring: what a user computes must not change by a bit. Arrays that were renamed are found under their former names.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

import numpy as np

FORMER = {"drive": "wheels", "velocity": "motion", "movables": "loose", "joint_command": "outputs", "joint_position": "angles",
          "joint_effort": "torques"}  # name of a state's array -> its name before
ARRAYS = ("position", "heading", "drive", "wheel_angle", "leds", "crashed", "crashes", "alive", "done", "step", "velocity",
          "movables", "joint_command", "joint_position", "joint_effort", "pull", "bodies", "unresolved", "key")
STEPS, WORLDS, SECONDS = 60, 3, 3.0


def bits(values: object) -> str:
    return sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:16]


def measured(name: str) -> dict[str, str]:
    """Hashes of a shipped world: state and readings after some steps, compiled and not; a rollout; a recording."""
    import formiga
    from formiga.rollout import genes, rollout

    world, found = formiga.read_world(name), {}
    for compiled in (True, False):
        lab = formiga.Simulation(world, 5, WORLDS, compiled=compiled)
        for _ in range(STEPS):
            lab.step()
        way = "compiled" if compiled else "readable"
        for array in ARRAYS:
            given = vars(lab.state).get(array, vars(lab.state).get(FORMER.get(array, array)))
            found[f"{way} {array}"] = bits(given) if given.size else "none"
        for group, readings in lab.readings.items():
            found |= {f"{way} reading {group}/{sensor}": bits(values) for sensor, values in readings.items()}
    thinker = next((group for group in world.groups if hasattr(group.controller, "genotype")), None)
    if thinker is not None and world.fitness:
        genotypes = np.random.default_rng(3).uniform(-1.0, 1.0, (4, genes(world, thinker)))
        found["rollout fitness"] = bits(rollout(world, genotypes, 7, 2, SECONDS).fitness)
    with tempfile.TemporaryDirectory() as folder:
        run = formiga.simulate(world, SECONDS, seed=7, worlds=2, out=folder, threads=1)
        table = formiga.read_recording(run.recording).table
        table = table() if callable(table) else table  # a property before
        found |= {f"recording {column}": bits(table[column].to_numpy()) for column in table.column_names if column != "group"}
    return found


def everything() -> dict[str, dict[str, str]]:
    import formiga.worlds

    folder = Path(next(iter(formiga.worlds.__path__)))
    return {file.stem: measured(file.stem) for file in sorted(folder.glob("*.xml"))}


def of_checkout(folder: Path) -> dict[str, dict[str, str]]:
    """The hashes that the code of another checkout gives, with this script and this Python."""
    done = subprocess.run([sys.executable, str(Path(__file__).resolve()), "--measure"], cwd=folder, check=True,
                          env=os.environ | {"PYTHONPATH": str(folder)}, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", nargs="?", type=Path, help="the folder of another checkout")
    parser.add_argument("--measure", action="store_true")
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(everything()))
        return 0
    if given.other is None or not (given.other / "formiga").is_dir():
        parser.error("name the folder of another checkout")
    here, there = of_checkout(Path(__file__).resolve().parents[1]), of_checkout(given.other.resolve())
    different = {(world, what): (there[world][what], here[world].get(what)) for world in sorted(here.keys() & there.keys())
                 for what in there[world] if there[world][what] != here[world].get(what)}
    for (world, what), (before, now) in different.items():
        print(f"{world}: {what} was {before}, is {now}")
    print(f"{len(here.keys() & there.keys())} worlds, {sum(len(there[world]) for world in here.keys() & there.keys())} hashes, "
          f"{len(different)} different; not compared: {', '.join(sorted(here.keys() ^ there.keys())) or 'none'}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
