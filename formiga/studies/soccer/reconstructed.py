"""What follows from the paper's equations with numbers of our choice, evaluated by hand; and what FIRASim does.

The equations of the text that we have are garbled in places; which reading we took, and why, is in the manual. None of these
is a published number.
"""

from formiga.studies.harness import Published
from formiga.units import CM

# -- impacts: squares of 7.5 cm, M = 0.5 kg, I = M L^2/6; A at 1 m/s ---------------------------------------------------------
SIDE, MASS = 7.5 * CM, 0.5
EQ21 = "Klancar et al. 2003, eq. 21, evaluated"
OFFSET = {  # B rests at (0.075, 0.03): p = (0.0375, 0.015), n = (-1, 0). eps -> j (N s), v_a, v_b (m/s), omega of both (rad/s)
    0.5: {"j": 0.30242, "v_a": 0.39516, "v_b": 0.60484, "omega_a": 9.67742, "omega_b": 9.67742},
    0.0: {"j": 0.20161, "v_a": 0.59677, "v_b": 0.40323, "omega_a": 6.45161, "omega_b": 6.45161},
    1.0: {"j": 0.40323, "v_a": 0.19355, "v_b": 0.80645, "omega_a": 12.90323, "omega_b": 12.90323},
}
HEAD_ON = {"j": 1.0, "v_a": -1.0, "v_b": 1.0, "omega_a": 0.0, "omega_b": 0.0}   # both at 1 m/s, centred, eps 1
CORNER = {"j": 0.3, "v_a": 0.4, "omega_a": 24.0}                                # into a wall, r = (0.0375, 0.0375), eps 0.5
TABLE_TOLERANCE = 1e-5

# -- the ball: m = 0.0459 kg, K_c = 0.02, v0 = 1 m/s ------------------------------------------------------------------------
BALL = {"mass": 0.0459, "rolling": 0.02}
DRY = {"deceleration (m/s^2)": 0.14014, "time to stop (s)": 7.136, "way to stop (m)": 3.568}          # f_v = 0
VISCOUS = {"time to stop (s)": 4.800, "way to stop (m)": 2.104}                                       # f_v = 0.01 N s/m
PER_AXIS_45 = 2.523                                                                                   # m, f_v = 0
PER_AXIS_20 = {"way (m)": 3.178, "bearing at the end (deg)": 7.5}
EQ8 = "Klancar et al. 2003, eq. 4-9, evaluated"

# -- FIRASim: measured by us on the running program ------------------------------------------------------------------
FIRASIM = Published(
    where="measured on a running FIRASim (ODE, 16 ms)",
    values={"both wheels at 20 rad/s: speed (m/s)": (0.400, 1e-3),
            "wheels at -10 and 10 rad/s: spin (rad/s)": (4.71, 0.01),
            "a rolling ball's deceleration (m/s^2)": (0.0756, 2e-4),
            "ball launched sliding at 1.000 m/s: speed after 0.1 s (m/s)": (0.706, 0.005),
            "ball into a wall: speed out for each m/s in": (0.5, 0.01)},
)
