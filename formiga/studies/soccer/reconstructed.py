"""Numbers of our choice for what the paper leaves open, and what FIRASim does. None of these is a published number.

The equations of the text that we have are garbled in places; which reading we took, and why, is in the manual.
"""

from formiga.studies.harness import Published
from formiga.units import CM

SIDE, MASS = 7.5 * CM, 0.5                   # of a square; I = M L^2/6
BALL = {"mass": 0.0459, "rolling": 0.02}     # kg, K_c; launched at 1 m/s
EQ8 = "Klancar et al. 2003, eq. 4-9, integrated by scipy"

# -- FIRASim: measured by us on the running program --------------------------------------------------------------------------
FIRASIM = Published(
    where="measured on a running FIRASim (ODE, 16 ms)",
    values={"both wheels at 20 rad/s: speed (m/s)": 0.400, "wheels at -10 and 10 rad/s: spin (rad/s)": 4.71,
            "a rolling ball's deceleration (m/s^2)": 0.0756, "ball into a wall: speed out for each m/s in": 0.5},
    note="The preset `firasim` is made of these.",
)
FIRASIM_SLID = ("ball launched sliding at 1.000 m/s: speed after 0.1 s (m/s)", 0.706, 0.005)  # it is asked every 16 ms
