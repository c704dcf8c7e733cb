"""The numbers that the report ("TR", TR/IRIDIA/2006-005) and the unsigned draft before it print, and nothing else."""

from formiga.studies.harness import Published

FIG15 = "Swarmod draft, Fig. 15"

FRACTIONS_ALONG_BEAM = Published(
    where=f"{FIG15}, column r1, two decimals as cut off by the figure",
    values=dict(enumerate((0.34, 0.40, 0.60, 1.58, -3.00, -0.76, -0.47, -0.37, -0.34, -0.35, -0.42, -0.60, -1.58, 1.87, 0.63))),
)
FRACTIONS_ALONG_WALL = Published(
    where=f"{FIG15}, column r2, two decimals as cut off by the figure",
    values=dict(enumerate((0.60, 0.70, 0.88, 1.56, -1.38, 0.11, 0.35, 0.46, 0.54, 0.62, 0.72, 0.88, 1.56, -0.63, 0.21))),
)
BEAM_DISTANCES = Published(
    where=f"{FIG15}, column 'distance' (cm)",
    values={"IR0": 5.220, "IR1": 6.087, "IR2": 9.07, "IR14": 9.542},
    tolerance=0.001,
    note="The figure omits the wall's coordinates; ours are recovered from its two ratio columns.",
)
HITS = Published(where=f"{FIG15}, column 'hit'", values={"sensors": [0, 1, 2, 14]})

REPORT_COEFFICIENTS = Published(
    where="TR eq. 3; reading against cm, taken as exponents 0..7 (the TR prints 2..8)",
    values={"c0": "35.76", "c1": "-16.01", "c2": "6.15", "c3": "-0.8072", "c4": "-0.0632", "c5": "0.0261", "c6": "-0.0026",
            "c7": "0.0001"},
)
DRAFT_COEFFICIENTS = Published(
    where="Swarmod draft, section IV; exponents 1..7 and o(d^8); the fifth is lost in the text",
    values={"c0": "35.7606", "c1": "-16.0115", "c2": "6.1513", "c3": "-0.8072", "c5": "0.0261", "c6": "-0.0026",
            "c7": "0.0001"},
)
TABLE_SIZE = Published(where="TR section 3.1: 0 to 15 cm with a precision of 1 mm", values={"entries": 151})

BLIND_SHARE = Published(where="TR section 3.1: 30 % of the adjacent reading", values={"tr": 0.30})
BLIND_SHARE_DRAFT = Published(where="draft, table 1: side IR spread ratio 0.35; 'approximately one-third' in the text",
                              values={"draft": 0.35})
IR_NOISE = Published(where="TR table 1: IR noise 15 %", values={"tr": 0.15})
AMBIENT = Published(where="draft: uniform in 0..4 reading units, added to every sensor", values={"low": 0.0, "high": 4.0})
IR_NOISE_DRAFT = Published(where="draft, section IV.4: uniformly distributed in the 15-20 % of reading",
                           values={"low": 0.15, "high": 0.20})
MOTION_NOISE = Published(where="draft, table 1: motor noise, position noise, orientation noise",
                         values={"motor": 0.01, "position": 0.05, "heading": 0.05},
                         note="printed without a unit; read as relative")

CAMPAIGN = Published(where="TR section 3.1; draft, section IV.2, table 2", values={
    "sensors": 15, "distances (cm, from the centre)": "8 to 33, step 1", "headings (deg)": "-180 to 170, step 10",
    "samples": 100, "readings": 15 * 26 * 36 * 100})
SPREAD_OVER_ANGLES = Published(where="draft, section IV.3: standard deviation over the angles of a distance", values={
    "least": 0.0813, "most": 1.6757})
AT_THE_WALL = Published(where="draft, section IV.3: close to the wall 'the sampled values are higher than 30'", values={
    "least": 30.0})
DROP = Published(where="draft, section IV.3: 'dropping at the distance of approximately 5 cm from the turret border'", values={
    "distance": 5.0})

FIG9 = "TR Fig. 9; draft, Fig. 1"
RADIUS = Published(where=f"{FIG9}: robots 1 and 2 are replaced 'up to the value of the radius', 5.8 + 3.0 cm", values={
    "radius": 8.8})
FIG4 = Published(where="draft, section III.4, Fig. 4", values={
    "a": "the displacement 2 affects the initially not collided position of 5",
    "b": "the resultant vector for 3 is almost null",
    "c": "the ending 1 and 5 show the largest displacement"})
FIG56 = Published(
    where="draft, section III.4, Figs. 5 and 6: a usual pack of 15 by 'short', a tight one by 'larger displacements'",
    values={"shorter": "usual"})
