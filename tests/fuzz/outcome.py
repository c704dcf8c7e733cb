"""What becomes of one world: refused in one message that says where, or run for some steps. Anything else is a failure."""

from __future__ import annotations

import re
import traceback
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from lxml import etree

from formiga import lab
from formiga.control.neural import Network
from formiga.errors import FormigaError
from formiga.loop import Simulation
from formiga.rollout import genes
from formiga.world import reader, writer
from tests.fuzz.generate import Case

STEPS = 4
MOST_TAKEN_OUT = 8
LONGEST_MESSAGE = 3000
UNSAID = ("outbox", "sound")   # NaN there is silence, or what the loudspeaker's element says
PLACE = re.compile(r"[^\n]*\.xml:\d+: \S[^\n]*")


class Outcome(NamedTuple):
    """`kind` is 'refused', 'ran' or 'failed'; `words` are the message, or what went wrong; `text` is the world."""

    kind: str
    words: str = ""
    text: str = ""


def outcome(given: Case, folder: Path) -> Outcome:
    """What becomes of a case, in this process. From a sensible world, what is refused is taken out until the rest runs."""
    for _ in range(MOST_TAKEN_OUT):
        found = attempt(given, folder)._replace(text=given.text)
        line = re.search(r"world\.xml:(\d+): ", found.words)
        if found.kind != "refused" or given.temper != "sensible" or line is None:
            break
        root = etree.fromstring(given.text)
        blamed = next((node for node in root.iter(etree.Element) if node.sourceline == int(line.group(1))), root)
        if blamed is root:
            break
        blamed.getparent().remove(blamed)
        given = replace(given, text=etree.tostring(root, encoding="unicode"))
    return found


def attempt(given: Case, folder: Path) -> Outcome:
    """Read, check, build and step the world of a case."""
    path = given.write(folder)
    try:
        world = reader.read(path)
        if given.seed % 3 == 0 and reader.read_text(writer.to_text(world), str(path)) != world:
            return Outcome("failed", "what was written is not what was read")
        if given.seed % 2 == 0:
            lab.check_world(world)
        blank = {group.name: np.zeros(genes(world, group)) for group in world.groups
                 if isinstance(group.controller, Network) and group.controller.genotype is None}
        simulation = Simulation(world, given.seed, genotypes=blank)
        for _ in range(STEPS):
            simulation.step()
        simulation.readings  # noqa: B018  all sensors look once more
    except FormigaError as refused:
        words = str(refused)
        if not PLACE.fullmatch(words):
            return Outcome("failed", f"a message without file and line: {words[:LONGEST_MESSAGE]}")
        if len(words) > LONGEST_MESSAGE:
            return Outcome("failed", f"a message of {len(words)} characters: {words[:LONGEST_MESSAGE]}")
        return Outcome("refused", words)
    except MemoryError:
        return Outcome("failed", f"out of memory\n{traceback.format_exc(limit=-4)}")
    except Exception:
        return Outcome("failed", traceback.format_exc(limit=-6))
    for name, values in simulation.state.arrays().items():
        known = np.nan_to_num(values, posinf=np.inf, neginf=-np.inf) if name in UNSAID else values
        if np.issubdtype(values.dtype, np.floating) and not np.isfinite(known).all():
            return Outcome("failed", f"state.{name} is not finite after {STEPS} steps")
    return Outcome("ran")
