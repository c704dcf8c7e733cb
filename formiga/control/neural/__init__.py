"""Neural controllers: scaled readings in, orders out, and a genotype that says everything in between.

A genotype is a flat vector of genes in [-1, 1]; the class of each network shows its layout. It comes from a file that the
world names, or from a search or a learner, one for each world.
"""

from __future__ import annotations

from formiga.control.neural.ctrnn import Ctrnn
from formiga.control.neural.elman import Elman
from formiga.control.neural.layered import Mlp, Perceptron
from formiga.control.neural.network import Network
from formiga.errors import WorldError
from formiga.world.elements import where
from formiga.world.model import Group, World


def learner(world: World, name: str = "") -> Group:
    """The group whose network is evolved: the one of that name, or the only one that has a network."""
    place = where(world.search) or where(world)
    if name:
        if name not in {group.name for group in world.groups}:
            there = ", ".join(f"'{group.name}'" for group in world.groups) or "none"
            raise WorldError(f"{place}there is no group '{name}' to evolve; there are: {there}.")
        group = world.group(name)
        if not isinstance(group.controller, Network):
            raise WorldError(f"{place}'{name}' cannot evolve: its controller is no network (<perceptron>, <mlp>, <elman> or "
                             "<ctrnn>).")
        return group
    found = [group for group in world.groups if isinstance(group.controller, Network)]
    if len(found) != 1:
        those = ", ".join(f"'{group.name}'" for group in found)
        then = ", so nothing can evolve"
        if found:
            then = f": {those}; say which one evolves, as in <genetic group=\"{found[0].name}\"/>"
        raise WorldError(f"{place}world '{world.name}' has {len(found) or 'no'} groups with a network (<perceptron>, <mlp>, "
                         f"<elman> or <ctrnn>){then}.")
    return found[0]


__all__ = ["Ctrnn", "Elman", "Mlp", "Network", "Perceptron", "learner"]
