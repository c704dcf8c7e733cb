"""The paper's numbers. [Abrate et al. 2009, ROBOTICA 2009]"""

from formiga.studies.harness import Published

SUCCESS = Published(
    where="Table I, correct localization, 30 runs for each number of rovers",
    values={1: 0.70, 3: 0.83, 4: 1.0, 5: 1.0, 6: 1.0, 7: 1.0},
    note="a share of 30 runs has a standard deviation of up to 0.09; speed, thresholds and the irregularity's shape are not "
         "published")
FINAL = Published(where="Section III.A, Fig. 2: mean error of six rovers after 1750 s, 100 runs", values={"error (m)": 0.4})
FOUR = Published(where="Section III.B: with four rovers the error is below this after nearly 1000 s", values={"error (m)": 2.5})
BOUNCE = Published(where="Section III.A, Fig. 3: from the mean first to the mean last switch to tracking",
                   values={"time (s)": 180.0})
RATIO = Published(where="Section III.A, Fig. 4: last switch of SMCL by that of 3SMCL, 30 runs", values={"ratio": 2.0})
CHANGES = Published(where="Section III.C, Fig. 6: in tracking while pallets are moved, one run for each occupancy",
                    values={"before (m)": 0.3, "mean error (m)": 0.5, "largest error (m)": 1.2})
SETTLED = Published(where="Section III.C: all rovers are tracking after about", values={"time (s)": 600.0})
