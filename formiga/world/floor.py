"""How the flat floor looks: a picture that is laid over it like tiles."""

from __future__ import annotations

from dataclasses import dataclass

from formiga.errors import WorldError
from formiga.world.elements import element, file, length, name
from formiga.world.textures import read_texture


@element("floor", role="thing")
@dataclass(frozen=True)
class Floor:
    """A picture on the flat floor, laid side by side like tiles from the origin on.

    People see it; robots do not: a <zone> is what ground sensors read.
    """

    texture: str = file(doc="PNG or JPEG, in the folder of the world or below it")
    tile: float = length(1.0, above=0.0, doc="the width of one picture; it keeps its shape")
    name: str = name("floor")

    def __post_init__(self) -> None:
        try:
            read_texture(self.texture)
        except WorldError as wrong:
            raise WorldError(f"<floor> texture: {wrong}") from wrong


__all__ = ["Floor"]
