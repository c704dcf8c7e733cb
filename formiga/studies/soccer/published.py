"""What the paper prints, and nothing else. It has no numbers for its figure 7, and hardly any others.

G. Klancar, M. Lepetic, R. Karba, B. Zupancic, "Robot soccer collision modelling and validation in multi-agent simulator",
Mathematical and Computer Modelling of Dynamical Systems 9(2), 2003, pp. 137-150.
"""

from formiga.studies.harness import Published

SIZES = Published(
    where="Klancar et al. 2003, description of the set-up (Small League MiroSot)",
    values={"robots in a team": 3, "field, length (m)": 1.5, "field, width (m)": 1.3, "side of a robot (cm)": 7.5,
            "sample time (ms)": 33.0},
    note="The side is garbled in the text that we have; 7.5 cm is also MiroSot's rule.",
)
STUDENT_TEAMS = Published(where="Klancar et al. 2003: a local league of 15 students in 7 teams", values={"teams": 7})
