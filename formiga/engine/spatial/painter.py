"""Images of what a robot sees, rendered by MuJoCo without a window. It needs OpenGL's EGL, and says so if there is none."""

from __future__ import annotations

from math import atan2, degrees, hypot
from typing import Any

import mujoco
import numpy as np

from formiga.engine.spatial.robots import UNSEEN
from formiga.errors import MissingExtra
from formiga.geometry import PLACE, TURN, matrix, multiply, to_world
from formiga.state import Floats

GEOMS = 10_000        # that a scene can hold
NEAR = 0.01           # m; what is closer is not drawn
AHEAD = 0.05          # m from the eye to the point that the camera looks at


class Painter:
    """Renders images of one size."""

    def __init__(self, mj: Any, width: int, height: int) -> None:
        self.size = width, height
        try:
            from mujoco.egl import GLContext

            self._context = GLContext(width, height)
        except Exception as wrong:  # what is missing shows as ImportError, AttributeError, RuntimeError ...
            raise MissingExtra("images are rendered with OpenGL's EGL, and this machine has none: on Debian and Ubuntu, "
                               f"apt install libegl1 libgl1-mesa-dri ({type(wrong).__name__}).") from wrong
        self._context.make_current()
        self._mj = mj
        mj.vis.global_.offwidth, mj.vis.global_.offheight = max(width, 640), max(height, 480)
        mj.vis.map.znear = NEAR / mj.stat.extent
        mj.vis.headlight.ambient[:], mj.vis.headlight.diffuse[:] = 0.5, 0.5
        self._scene = mujoco.MjvScene(mj, GEOMS)
        self._shown, self._camera, self._noted = mujoco.MjvOption(), mujoco.MjvCamera(), mujoco.MjvPerturb()
        self._shown.geomgroup[UNSEEN] = 0
        self._gl = mujoco.MjrContext(mj, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._gl)
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FREE

    def paint(self, data: Any, pose: Floats, eye: Floats, field: float, out: Any) -> None:
        """What a camera with the pose eye (7,) in the frame of a body with the pose (7,) sees along its x, into (h, w, 3);
        field: the angle of view from left to right."""
        self._context.make_current()
        place, (ahead, _, up) = to_world(pose, eye[PLACE]), matrix(multiply(pose[TURN], eye[TURN])).T
        width, height = self.size
        self._camera.lookat[:] = place + AHEAD * ahead
        self._camera.distance = AHEAD
        self._camera.azimuth = degrees(atan2(ahead[1], ahead[0]))
        self._camera.elevation = degrees(atan2(ahead[2], hypot(ahead[0], ahead[1])))
        self._mj.vis.global_.fovy = degrees(2.0 * np.arctan(np.tan(0.5 * field) * height / width))
        mujoco.mjv_updateScene(self._mj, data, self._shown, self._noted, self._camera, mujoco.mjtCatBit.mjCAT_ALL, self._scene)
        for camera in self._scene.camera:  # a free camera of MuJoCo's cannot roll
            camera.pos[:], camera.forward[:], camera.up[:] = place, ahead, up
        frame = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(frame, self._scene, self._gl)
        upside = np.empty_like(out)
        mujoco.mjr_readPixels(upside, None, frame, self._gl)
        out[...] = upside[::-1]
