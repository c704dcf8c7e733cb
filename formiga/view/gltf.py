"""Meshes as files for the browser: binary glTF 2.0."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from formiga.view.mesh import Mesh, linear


def normals(mesh: Mesh) -> np.ndarray:
    """Directions (V, 3) out of the surface: the mean over the faces at each corner, large ones counting more."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    face = np.cross(b - a, c - a)
    total = np.zeros_like(mesh.vertices)
    for k in range(3):
        np.add.at(total, mesh.faces[:, k], face)
    return total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-30)


def glb(mesh: Mesh, glow: bool = False, opacity: float = 1.0) -> bytes:
    """The mesh as a binary glTF 2.0 file with one colour per corner, or with its picture; `glow`: as bright, in any light.

    trimesh can write one too, but then without a material, and the default of glTF is bare metal.
    """
    skin = mesh.skin
    parts = [mesh.vertices.astype("<f4"), (normals(mesh) if skin is None else skin.normals).astype("<f4"),
             (linear(mesh.colours) if skin is None else skin.place * (1, -1) + (0, 1)).astype("<f4"),  # pictures: from above
             mesh.faces.astype("<u4").reshape(-1)]
    if skin is not None:
        parts.append(np.frombuffer(skin.png + b"\0" * (-len(skin.png) % 4), np.uint8))
    starts = np.cumsum([0, *(part.nbytes for part in parts)])
    material: dict[str, Any] = {"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 0.62,
                                                         "baseColorFactor": [1.0, 1.0, 1.0, opacity]}}
    if skin is not None:
        material["pbrMetallicRoughness"]["baseColorTexture"] = {"index": 0}
    if opacity < 1.0:
        material["alphaMode"] = "BLEND"
    if glow:
        material["extensions"] = {"KHR_materials_unlit": {}}
    corners, third = len(mesh.vertices), "COLOR_0" if skin is None else "TEXCOORD_0"
    scene = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1, third: 2}, "indices": 3, "material": 0}]}],
        "materials": [material],
        "extensionsUsed": ["KHR_materials_unlit"] if glow else [],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": corners, "type": "VEC3",
             "min": parts[0].min(axis=0).tolist(), "max": parts[0].max(axis=0).tolist()},
            {"bufferView": 1, "componentType": 5126, "count": corners, "type": "VEC3"},
            {"bufferView": 2, "componentType": 5126, "count": corners, "type": "VEC3" if skin is None else "VEC2"},
            {"bufferView": 3, "componentType": 5125, "count": parts[3].size, "type": "SCALAR"},
        ],
        "bufferViews": [{"buffer": 0, "byteOffset": int(start), "byteLength": part.nbytes}
                        for part, start in zip(parts, starts)],
        "buffers": [{"byteLength": int(starts[-1])}],
    }
    if skin is not None:
        scene |= {"images": [{"bufferView": 4, "mimeType": "image/png"}], "textures": [{"source": 0}]}
    text = json.dumps(scene, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    data = b"".join(part.tobytes() for part in parts)

    def chunk(kind: bytes, content: bytes) -> bytes:
        return len(content).to_bytes(4, "little") + kind + content

    rest = chunk(b"JSON", text) + chunk(b"BIN\0", data)
    return b"glTF" + (2).to_bytes(4, "little") + (12 + len(rest)).to_bytes(4, "little") + rest


__all__ = ["glb", "normals"]
