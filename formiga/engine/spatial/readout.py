"""MuJoCo -> state: poses and speeds as the rest of the laboratory knows them."""

from __future__ import annotations

from formiga.geometry import wrapped, yaw_of
from formiga.kernels import kernel


@kernel()
def poses(w, xpos, xquat, rows, chassis, movables, dt, step, bodies, position, heading, velocity, lying):
    """Fill world w: `bodies` from MuJoCo's (x y z, quaternion) of the bodies `rows`; of robots and of what lies about, the
    position and heading on the floor, and from what they were before, velocity and spin. Headings are not wrapped."""
    for b in range(rows.shape[0]):
        for k in range(3):
            bodies[w, b, k] = xpos[rows[b], k]
        for k in range(4):
            bodies[w, b, 3 + k] = xquat[rows[b], k]
    moved = step[w] > 0
    for i in range(chassis.shape[0]):
        b = chassis[i]
        x, y, theta = bodies[w, b, 0], bodies[w, b, 1], yaw(bodies, w, b)
        turn = wrapped(theta - heading[w, i])
        if moved:
            velocity[w, i, 0], velocity[w, i, 1] = (x - position[w, i, 0]) / dt, (y - position[w, i, 1]) / dt
            velocity[w, i, 2] = turn / dt
        position[w, i, 0], position[w, i, 1] = x, y
        heading[w, i] += turn
    for m in range(movables.shape[0]):
        b = movables[m]
        x, y, theta = bodies[w, b, 0], bodies[w, b, 1], yaw(bodies, w, b)
        turn = wrapped(theta - lying[w, m, 2])
        if moved:
            lying[w, m, 3], lying[w, m, 4], lying[w, m, 5] = (x - lying[w, m, 0]) / dt, (y - lying[w, m, 1]) / dt, turn / dt
        lying[w, m, 0], lying[w, m, 1] = x, y
        lying[w, m, 2] += turn


@kernel()
def yaw(bodies, w, b):
    """The heading of a body in `bodies`."""
    return yaw_of(bodies[w, b, 3], bodies[w, b, 4], bodies[w, b, 5], bodies[w, b, 6])
