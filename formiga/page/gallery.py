"""The shipped worlds, grouped, each with a line and a picture."""

from __future__ import annotations

import base64
from functools import cache
from typing import Any

from formiga import lab

PICTURES = "pictures"   # beside the worlds; made by docs/screenshots.py
OTHERS = "Others"


@cache
def gallery() -> list[dict[str, Any]]:
    """[{"name": topic, "worlds": [{"name", "doc", "picture"}]}], in the order in which the topics first appear."""
    topics: dict[str, list[dict[str, str]]] = {}
    for name, file in lab.shipped_worlds().items():
        world = lab.read_world(name)
        picture = file.parent / PICTURES / f"{name}.webp"
        data = f"data:image/webp;base64,{base64.b64encode(picture.read_bytes()).decode()}" if picture.exists() else ""
        topics.setdefault(world.topic or OTHERS, []).append({"name": name, "doc": world.doc, "picture": data})
    order = sorted(topics, key=lambda topic: (topic == OTHERS, topic != "First steps", topic))
    return [{"name": topic, "worlds": topics[topic]} for topic in order]


__all__ = ["gallery"]
