"""The paper's numbers. [ROBOTICA 2009, probabilistic shaping; R05]"""

from formiga.studies.harness import Published

TABLES = "Tables II to VI, one run of at least 5 km each"

MEAN = Published(
    where=f"{TABLES}, column mean (m)",
    values={"nominal": 0.32, "p_A 0.8": 0.36, "p_A 0.6": 0.39, "boost": 0.46, "deficit": 0.41, "single silence": 0.40,
            "extensive silence": 0.40, "sigma_tag 0.3": 0.37, "sigma_tag 0.4": 0.49})
LARGEST = Published(
    where=f"{TABLES}, column maximum (m)",
    values={"nominal": 1.27, "p_A 0.8": 1.44, "p_A 0.6": 1.54, "boost": 1.59, "deficit": 1.44, "single silence": 1.46,
            "extensive silence": 1.47, "sigma_tag 0.3": 1.36, "sigma_tag 0.4": 1.65})
SPREAD = Published(
    where=f"{TABLES}, column standard deviation (m)",
    values={"nominal": 0.17, "p_A 0.8": 0.19, "p_A 0.6": 0.22, "boost": 0.29, "deficit": 0.23, "single silence": 0.22,
            "extensive silence": 0.22, "sigma_tag 0.3": 0.20, "sigma_tag 0.4": 0.26})
SILENCE = Published(where="Text behind Table V: silence is always detected, and there is no false alarm",
                    values={"false alarms": 0})
RARELY = Published(where="Text, by its reference [12]: accuracy holds even if less than 30 % of the estimates are reliable",
                   values={"share": 0.3})
BOUND = Published(where="Conclusions: the error is always below 2 m", values={"error (m)": 2.0})
KIDNAP = Published(where="Section on the kidnapped robot: recovery in less than 2 T_e, with one wholly wrong estimate",
                   values={"estimates": 2, "wrong estimates": 1})
SECONDS = Published(where="Section on computing time: one estimate on a common PC of 2009", values={"one estimate (s)": 0.12})
