"""Compiles the contact kernels by using them once: `kernels.cache` runs this file in a process of its own."""

from formiga.engine.planar import pipeline
from formiga.world.model import Arena, Group, World
from formiga.world.placement import At
from formiga.world.robots import Disc


def main() -> None:
    """Two robots that touch, and no sensors: only what contacts need is compiled."""
    robots = Group(Disc(0.1, 0.1, 0.1), place=(At(0.0, 0.0, 0.0), At(0.15, 0.0, 0.0)))
    model = pipeline.build(World(things=(Arena(1.0, 1.0, walls=False),), groups=(robots,)))
    pipeline.answer_contacts(model, pipeline.init(model))


if __name__ == "__main__":
    main()
