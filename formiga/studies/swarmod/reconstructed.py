"""What the texts leave out, as it was recovered; each value with how. None of these is a published number."""

# The wall of the draft's Fig. 15, from its r1 and r2 (cm): robot at the origin, heading 0, beams of 15 cm from its centre.
FIG15_WALL = (9.861, -9.830, 0.684, 11.315)

# Beyond this (cm) no polynomial of degree 7 that rounds to the printed digits goes on falling. [digest of S1]
FALLS_UP_TO = 9.19

# Beam against a robot of 5.8 cm whose centre is H away, sensor at 6.0 cm: distance (cm) by angle off the centre (deg).
DISC_DISTANCES = {
    17.6: {0: 5.8000, 5: 5.9395, 10: 6.4032, 15: 7.4100},
    20.0: {0: 8.2000, 5: 8.3920, 10: 9.0509, 15: 10.7022},
    26.8: {0: 15.0000},
}

# TR eq. 4 evaluated: (left, right) rad/s, steps -> x, y (cm), heading (rad) from (0, 0, 0), dt 0.1 s.
KINEMATICS = {
    "4, 4": ((4.0, 4.0), 1, (0.8, 0.0, 0.0)),
    "2, 4": ((2.0, 4.0), 1, (0.59982273, 0.01262971, 0.04210526)),
    "-4, 4": ((-4.0, 4.0), 1, (0.0, 0.0, 0.16842105)),
    "2, 4 x 100": ((2.0, 4.0), 100, (-12.492804, 21.105096, 4.2105263)),
}

# Displacements (cm) of the re-positioning rule, by mode.
MIDDLE_OF_CHAIN = {"minimal": (5.6, 0.0, 5.6), "published": (8.8, 0.0, 8.8)}        # 3 robots, centres 12 cm apart
COLLAPSED_CHAIN = {"minimal": (27.2, 13.6, 0.0, 13.6, 27.2)}                        # 5 robots, centres 4 cm apart
PAIR = {"minimal": (0.25, 0.25), "published": (8.8, 8.8)}                           # overlapping by 0.5 cm
