"""Fuzz the laboratory with worlds by chance.

    python -m tests.fuzz --worlds 10000 --seed 0 --jobs 1       try the worlds of seeds 0 .. 9999
    python -m tests.fuzz --show 4711                            print the world of one seed, and try it in this process
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from itertools import count, islice
from pathlib import Path

from tests.fuzz.generate import TEMPERS, case
from tests.fuzz.outcome import outcome
from tests.fuzz.run import Result, run


def main() -> int:
    """0 if every world was refused with its place or ran, 1 if not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first world; the others follow")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--temper", choices=TEMPERS, help="only worlds of this kind")
    parser.add_argument("--show", type=int, metavar="SEED")
    given = parser.parse_args()
    if given.show is not None:
        return show(given.show)
    counts: Counter[str] = Counter()
    slowest = Result(0, "", "", "", 0.0)

    def tell(result: Result) -> None:
        nonlocal slowest
        counts[result.kind] += 1
        slowest = max(slowest, result, key=lambda each: each.seconds)
        if result.kind == "failed":
            print(f"-- seed {result.seed} failed: {result.words}\n{result.text or case(result.seed).text}", flush=True)
        if counts.total() % 500 == 0:
            print(f"{counts.total()} worlds: {dict(counts)}", flush=True)

    seeds = (seed for seed in count(given.seed) if given.temper in (None, case(seed).temper))
    run(islice(seeds, given.worlds), given.jobs, tell)
    print(f"{counts['ran']} ran, {counts['refused']} refused, {counts['failed']} failed; "
          f"the slowest, seed {slowest.seed}, took {slowest.seconds:.1f} s")
    return int(counts["failed"] > 0)


def show(seed: int) -> int:
    """Print a world and what becomes of it."""
    given = case(seed)
    print(f"seed {seed}, {given.temper}; files: {', '.join(given.files) or 'none'}\n{given.text}")
    with tempfile.TemporaryDirectory() as folder:
        found = outcome(given, Path(folder))
    if found.text != given.text:
        print(f"and without what was refused:\n{found.text}")
    print(f"{found.kind} {found.words}")
    return int(found.kind == "failed")


if __name__ == "__main__":
    sys.exit(main())
