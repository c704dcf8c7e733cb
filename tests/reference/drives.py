"""Plain twins of the drives: each wheel's contact point by itself, and motion by integrating the differential equation."""

import numpy as np
from scipy.integrate import solve_ivp


def omni_twist(angles, directions, distance, rims):
    """vx, vy, omega whose velocities at the wheels' contact points, along where each rolls, are nearest to the rim speeds."""
    rows = []
    for a, b in zip(angles, directions, strict=True):
        place, rolls = distance * np.array([np.cos(a), np.sin(a)]), np.array([np.cos(b), np.sin(b)])
        # what each unit of vx, vy and omega moves the contact point by, along the rolling direction
        rows.append([rolls @ (1.0, 0.0), rolls @ (0.0, 1.0), rolls @ (-place[1], place[0])])
    return np.linalg.lstsq(np.array(rows), np.asarray(rims, float), rcond=None)[0]


def car_pose(pose, speed, angle, length, time):
    """Turn the rear axle about the point where the lines of both axles meet."""
    x, y, heading = pose
    if angle == 0.0:
        return np.array([x + speed * time * np.cos(heading), y + speed * time * np.sin(heading), heading])
    radius = length / np.tan(angle)
    centre = np.array([x, y]) + radius * np.array([-np.sin(heading), np.cos(heading)])
    turn = speed * time / radius
    c, s = np.cos(turn), np.sin(turn)
    return np.array([*(centre + np.array([[c, -s], [s, c]]) @ (np.array([x, y]) - centre)), heading + turn])


def pose_after(pose, twist, time):
    """Where a constant twist brings a pose: dx/dt = vx cos h - vy sin h, dy/dt = vx sin h + vy cos h, dh/dt = rate."""
    vx, vy, rate = twist

    def change(_, state):
        c, s = np.cos(state[2]), np.sin(state[2])
        return [vx * c - vy * s, vx * s + vy * c, rate]

    return solve_ivp(change, (0.0, time), pose, rtol=1e-12, atol=1e-13).y[:, -1]
