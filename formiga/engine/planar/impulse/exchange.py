"""Between the state of a world and the working memory of its bodies; orders in, what drives did out."""

from __future__ import annotations

from math import cos, sin

from formiga.engine.drives import BICYCLE, LINEAR, OWN, TWO_WHEELS, followed, set_twist, turn_wheels
from formiga.geometry import TINY
from formiga.kernels import kernel

# Names of columns; one on each line would fill a page.
# isort: off
from formiga.engine.planar.impulse.bodies import (
    BOUNCES, HEADING, HIT, PRESSED, ROLL_X, ROLL_Y, SPIN, VX, VY, X, Y)
# isort: on


@kernel(inner=True, forceinline=True)
def listen(w, told, drives, wheels, twist):
    """What the drives shall do in this step, as twists (W, N, 3), from what they are told (W, N, D).

    The lags of speeds are part of the motion; a steering angle follows here. The twist of an OWN drive is there already.
    """
    for i in range(drives.kind.shape[0]):
        if drives.kind[i] == BICYCLE:
            wheels[w, i, 1] = followed(wheels[w, i, 1], told[w, i, 1], drives.share[i, 1], drives.most[i, 1])
            told[w, i, 1] = wheels[w, i, 1]
        elif drives.kind[i] == OWN:
            for k in range(drives.count[i]):
                wheels[w, i, k] = told[w, i, k]
        set_twist(w, i, drives, told, twist)


@kernel(inner=True, forceinline=True)
def load(w, position, heading, velocity, movables, bodies, work):
    """From the state into the working memory."""
    N, moving, mark = bodies.robots, work.moving, work.mark
    for b in range(moving.shape[0]):
        mark[b, HIT], mark[b, PRESSED], mark[b, BOUNCES] = False, False, 0
        if b < N:
            moving[b, X], moving[b, Y], moving[b, HEADING] = position[w, b, 0], position[w, b, 1], heading[w, b]
            moving[b, VX], moving[b, VY], moving[b, SPIN] = velocity[w, b, 0], velocity[w, b, 1], velocity[w, b, 2]
        else:
            row = movables[w, b - N]
            moving[b, X], moving[b, Y], moving[b, HEADING] = row[0], row[1], row[2]
            moving[b, VX], moving[b, VY], moving[b, SPIN] = row[3], row[4], row[5]
            moving[b, ROLL_X], moving[b, ROLL_Y] = row[6], row[7]


@kernel(inner=True, forceinline=True)
def roll_on(w, b, position, heading, wheels, wheel_angle, dt, drives, moving):
    """Wheel angles after a control period, from the way over the floor since its beginning, which the state still has.

        turn = theta' - theta,   (ahead, aside) = R(-(theta + turn/2)) d / sinc(turn/2)
        left, right: (ahead -+ base turn / 2) / radius;   others by the matrix of their drive
    Exact on any arc, also where motors lag or something was hit. A channel that is an angle stands at it.
    """
    half = 0.5 * (moving[b, HEADING] - heading[w, b])
    dx, dy = moving[b, X] - position[w, b, 0], moving[b, Y] - position[w, b, 1]
    c, s = cos(heading[w, b] + half), sin(heading[w, b] + half)
    stretch = (half + TINY) / (sin(half) + TINY)
    ahead, aside, r = stretch * (c * dx + s * dy), stretch * (c * dy - s * dx), drives.radius[b]
    if drives.kind[b] == TWO_WHEELS:
        wheel_angle[w, b, 0] += (ahead - half * drives.base[b]) / r
        wheel_angle[w, b, 1] += (ahead + half * drives.base[b]) / r
    elif drives.kind[b] == LINEAR:
        for k in range(drives.count[b]):
            wheel_angle[w, b, k] += (drives.rims[b, k, 0] * ahead + drives.rims[b, k, 1] * aside
                                     + drives.rims[b, k, 2] * 2.0 * half) / r
    elif drives.kind[b] == BICYCLE:
        wheel_angle[w, b, 0] += ahead / r
        wheel_angle[w, b, 1] = wheels[w, b, 1]
    else:
        turn_wheels(w, b, drives, wheels, dt, wheel_angle)


@kernel(inner=True, forceinline=True)
def store(w, position, heading, velocity, wheels, wheel_angle, twist, movables, dt, drives, bodies, work):
    """From the working memory into the state; drives as they turn now, and the twist that this is."""
    N, moving = bodies.robots, work.moving
    for b in range(moving.shape[0]):
        if b < N:
            roll_on(w, b, position, heading, wheels, wheel_angle, dt, drives, moving)
            position[w, b, 0], position[w, b, 1], heading[w, b] = moving[b, X], moving[b, Y], moving[b, HEADING]
            velocity[w, b, 0], velocity[w, b, 1], velocity[w, b, 2] = moving[b, VX], moving[b, VY], moving[b, SPIN]
            c, s = cos(moving[b, HEADING]), sin(moving[b, HEADING])
            ahead = moving[b, VX] * c + moving[b, VY] * s
            twist[w, b, 0], twist[w, b, 1] = ahead, moving[b, VY] * c - moving[b, VX] * s
            twist[w, b, 2] = moving[b, SPIN]
            if drives.kind[b] == TWO_WHEELS:
                half = 0.5 * moving[b, SPIN] * drives.base[b]
                wheels[w, b, 0], wheels[w, b, 1] = ahead - half, ahead + half
            elif drives.kind[b] == BICYCLE:  # its steering angle was set when the step began
                wheels[w, b, 0] = ahead
            elif drives.kind[b] == LINEAR:
                for k in range(drives.count[b]):
                    wheels[w, b, k] = (drives.rims[b, k, 0] * ahead + drives.rims[b, k, 1] * twist[w, b, 1]
                                       + drives.rims[b, k, 2] * moving[b, SPIN])
        else:
            row = movables[w, b - N]
            row[0], row[1], row[2] = moving[b, X], moving[b, Y], moving[b, HEADING]
            row[3], row[4], row[5] = moving[b, VX], moving[b, VY], moving[b, SPIN]
            row[6], row[7] = moving[b, ROLL_X], moving[b, ROLL_Y]
