"""Where am I? A particle filter put together from `formiga.locate`, without a world: arrays in, arrays out.

python examples/07_localization.py [PICTURE.png]     each part between two `# %%` is a cell of a notebook
"""

# %% A map: a hall of 20 m x 12 m with a few pillars, in cells of 0.1 m
import sys

import numpy as np

from formiga.locate import clusters, draws, field, motion, ranges, recovery, resampling
from formiga.map import FREE, OCCUPIED, Grid
from formiga.map.rays import cast

cells = np.full((120, 200), FREE, np.int8)
cells[0], cells[-1], cells[:, 0], cells[:, -1] = [OCCUPIED] * 4
for row, column, rows, columns in ((30, 40, 8, 8), (80, 60, 10, 30), (55, 132, 40, 6), (20, 105, 6, 6), (100, 20, 20, 12)):
    cells[row:row + rows, column:column + columns] = OCCUPIED
cells.setflags(write=False)                        # so what is found for rays is kept
grid = Grid(cells, resolution=0.1)

# %% A robot that drives a course: its true poses, what its odometry says (3 % of slip), and its scans (2 cm of noise)
rng = np.random.default_rng(4)
angles, reach, steps = np.linspace(-np.pi / 2, np.pi / 2, 15), 8.0, 120
ordered = np.column_stack([np.full(steps, 0.15), np.zeros(steps), 0.04 * np.cos(0.06 * np.arange(steps))])
truth, odometry = [np.array([1.5, 6.0, -0.3])], [np.zeros(3)]
for way in ordered:
    truth.append(motion.seated(truth[-1], way))
    odometry.append(motion.seated(odometry[-1], way * (1.0 + 0.03 * rng.normal(size=3))))
truth, odometry = np.array(truth), np.array(odometry)
scans = np.minimum(cast(grid, truth, angles, reach), reach) + 0.02 * rng.normal(size=(steps + 1, 15))

# %% The filter: it begins anywhere, and after each step moves, weighs and resamples its particles
model = field.likelihood_field(grid, field.Mixture(hit=0.5, random=0.5, sigma=0.4, reach=reach))
particles = np.empty((60_000, 3))
recovery.scatter(particles, 1.0, draws(1, use=1), grid)
count, weights, errors = len(particles), np.full(len(particles), 1.0 / len(particles)), []
for k in range(1, steps + 1):
    motion.differential(particles, odometry[k - 1], odometry[k], motion.TurnErrors(0.3, 0.2, 0.2, 0.1), draws(1, step=k), count)
    ends = field.end_points(scans[k], angles, reach)
    log = field.log_weights(particles, ends, model, count)
    with np.errstate(divide="ignore"):
        weights = resampling.normalized(log + np.log(weights))
    found = clusters.hypotheses(particles, weights, count)
    if resampling.effective(weights) < 0.5 * count:
        count = int(resampling.kld_resample(particles, weights, count, draws(1, step=k, use=2), resampling.Bins(0.5),
                                            resampling.KLD(), least=300, most=len(particles)))
        weights = np.where(np.arange(len(particles)) < count, 1.0 / count, 0.0)
    errors.append(np.linalg.norm(found.pose[0, :2] - truth[k, :2]))
    if k in (1, 2, 3, 4, 6, 10, 40, 120):
        print(f"step {k:3}: {found.count} hypotheses, the heaviest {found.weight[0]:.0%} and {errors[-1]:.2f} m off; "
              f"{count:,} particles")
assert max(errors[60:]) < 0.5

# %% The same place from ranges to four beacons, 10 readings each, off by 0.5 m: no map, no odometry, no prior
beacons = np.repeat([(0.0, 0.0), (20.0, 0.0), (0.0, 12.0), (20.0, 12.0)], 10, axis=0)
measured = np.linalg.norm(beacons - truth[-1, :2], axis=-1) + 0.5 * rng.normal(size=40)
fix = ranges.search(beacons, measured, variances=0.25)
print(f"from ranges: {np.linalg.norm(fix.place - truth[-1, :2]):.2f} m off, J = {fix.cost:.0f} of 40 readings")

# %% A picture, if a file is named
if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (hall, curve) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    hall.imshow(cells, origin="lower", extent=(0, 20, 0, 12), cmap="Greys")
    hall.plot(*truth[:, :2].T, label="truth")
    hall.plot(*particles[:count, :2].T, ",", label="particles at the end")
    hall.legend()
    curve.semilogy(errors)
    curve.set(xlabel="step", ylabel="error of the heaviest hypothesis (m)")
    figure.savefig(sys.argv[1], dpi=130)
