"""Genotypes in files: JSON, so that a file from a stranger is numbers and nothing else.

    {"formiga": "genotype", "format": 1, "controller": "perceptron", "genes": [0.1, ...], "about": {...}}
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from formiga.errors import WorldError, reason
from formiga.files import write_whole
from formiga.state import Floats
from formiga.world.nodes import LARGEST_FILE

FORMAT = 1
LARGEST = LARGEST_FILE  # bytes; a recording takes no larger one


@dataclass(frozen=True)
class Genotype:
    """Genes, the tag of the network that they are for, and where they come from."""

    controller: str
    genes: Floats                                     # (size,) in [-1, 1]
    about: dict[str, Any] = field(default_factory=dict)


def write(path: str | os.PathLike[str], genotype: Genotype) -> None:
    """Write a genotype, all of it or nothing; every digit is kept."""
    content = {"formiga": "genotype", "format": FORMAT, "controller": genotype.controller, "about": genotype.about,
               "genes": [float(gene) for gene in genotype.genes]}
    write_whole(path, json.dumps(content, indent=1) + "\n", WorldError)


def read(path: str | os.PathLike[str]) -> Genotype:
    """The genotype in a file; WorldError with one sentence if it is none."""
    try:
        with open(path, "rb") as stream:
            data = stream.read(LARGEST + 1)
    except (OSError, ValueError) as wrong:
        raise WorldError(f"{path}: cannot be read ({reason(wrong)}).") from wrong
    try:
        if len(data) > LARGEST:
            raise ValueError("too large")
        content = json.loads(data, parse_constant=_refuse)
    except (ValueError, RecursionError) as wrong:
        raise WorldError(f"{path}: not a genotype, or cut short: not a whole JSON file{_about(wrong)}.") from wrong
    if not isinstance(content, dict) or content.get("formiga") != "genotype":
        raise WorldError(f"{path}: a JSON file, but not a genotype of formiga.")
    if type(content.get("format")) is not int or content["format"] != FORMAT:
        raise WorldError(f"{path}: a genotype of format {str(content.get('format'))[:20]}; this formiga reads format {FORMAT}.")
    genes, controller, about = content.get("genes"), content.get("controller"), content.get("about", {})
    if not isinstance(genes, list) or not all(type(gene) in (int, float) and -1.0 <= gene <= 1.0 for gene in genes):
        raise WorldError(f"{path}: its genes must be a list of numbers from -1 to 1.")
    if not isinstance(controller, str) or not isinstance(about, dict):
        raise WorldError(f"{path}: damaged; it does not say what controller it is for.")
    return Genotype(controller, np.array(genes, np.float64), about)


def _refuse(word: str) -> Any:
    raise _NoNumber(word)


class _NoNumber(ValueError):
    """NaN or Infinity, which JSON does not have."""


def _about(wrong: Exception) -> str:
    return f"; {wrong} is no number" if isinstance(wrong, _NoNumber) else ""
