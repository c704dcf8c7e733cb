"""What the text says in numbers or in words; its plots have no numbers that could be read."""

from formiga.studies.harness import Published

PAPER = "J. Goncalves et al., ROBOTICA 2009"

FIT = Published(
    where=f"{PAPER}, section III, below eq. 2",
    values={"k1 (1/V)": 0.1881, "k2 (1/(V m))": 4.6779},
)
VOLTS = Published(
    where=f"{PAPER}, section III: 'its maximum is nearly 3.2 V', 'the value for 10 cm corresponds to nearly 2.33 V', both in "
          "front of the voltage divider",
    values={"10 cm": 2.33, "7 cm, the maximum": 3.2},
    tolerance=0.32,
    note="'nearly': a tenth of it",
)
SAMPLES = Published(
    where=f"{PAPER}, section III: 10 conversions of 8 bits, V_ref 2.56 V, in each robot sample; 256 robot samples for each "
          "distance",
    values={"conversions": 10, "V_ref (V)": 2.56, "robot samples": 256},
)
NOISE = Published(
    where="SimTwo, the authors' later simulator: a linear law of Var(v) beside the same k1 and k2; a figure in the text",
    values={"Var(v) at 0 (V^2)": 3e-5, "its growth (V^2/m)": 3e-5},
)
RANGE = Published(
    where=f"{PAPER}, section III: 'the sensor range from 7 to 100 cm'",
    values={"from (cm)": 7.0, "to (cm)": 100.0},
)
GATES = Published(
    where=f"{PAPER}, section IV.D",
    values={"angle (cm)": 1.2, "x or y (cm)": 5.0},
)
PERIOD = Published(
    where=f"{PAPER}, sections II.B and IV.C: 'at a 25 Hz rate', 'each 40 ms'",
    values={"period (ms)": 40.0},
)
UNCHANGED = Published(
    where=f"{PAPER}, section II.B: 'the generated code can be applied to the real robot without any changes'",
    values={"the same file": True},
)
SIMILAR = Published(
    where=f"{PAPER}, section II.B: the trajectory of the real robot 'is similar to the simulated'",
    values={},
    note="said of figures without numbers; 50 mm is ours",
)
