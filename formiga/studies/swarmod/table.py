"""The look-up table and the sampling campaign that such a table comes from. [TR section 3.1; draft, section IV]

The default table was made so that it meets what is printed; that is listed as a definition. What can fail is what the
laboratory does with it: a virtual campaign before a wall has to find it again, through beams, bearings and noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from formiga import sampling
from formiga.sense import infrared_table
from formiga.sense.proximity import Proximity
from formiga.state import Floats
from formiga.studies.harness import Row, at_least, at_most, definition, reported
from formiga.studies.swarmod import infrared_fit, published, reconstructed
from formiga.studies.swarmod.bench import bench, put
from formiga.units import CM
from formiga.world.model import Contact, Group, Wall, World
from formiga.world.placement import At
from formiga.world.robots import SBot


def rows() -> Iterator[Row]:
    """Claim 2, and the campaign."""
    yield from definitions()
    yield from printed_digits()
    yield from campaign()
    yield from exponential()


def definitions() -> Iterator[Row]:
    """What the table was made by."""
    values = Proximity().values
    yield definition("look-up table: entries", len(values), published.TABLE_SIZE.where)
    for label, paper in (("report", published.REPORT_COEFFICIENTS), ("draft", published.DRAFT_COEFFICIENTS)):
        yield definition(f"table: coefficients that round to the {label}'s digits", len(paper.values), paper.where)
    yield definition("table: falls by at least 0.1 per cm, within 0.2 of the printed polynomial up to 6 cm", True,
                     "constraints of the linear program")
    yield definition("table: reading at 15 cm", 2.0, "the mean of the draft's ambient noise, chosen")
    for name, value in published.CAMPAIGN.values.items():
        yield definition(f"campaign: {name}", value, published.CAMPAIGN.where)


def printed_digits() -> Iterator[Row]:
    """What the printed digits allow, by linear programs that do not know the table; and the table derived again."""
    yield Row("printed digits: up to here a polynomial of degree 7 can fall (cm)", reconstructed.FALLS_UP_TO,
              infrared_fit.falls_up_to(7), 0.05, "reconstructed",
              note="found on a grid of 0.05 cm")
    yield Row("printed digits: a term of degree 8 that prints as 0.0000 lets it fall to 15 cm", True,
              infrared_fit.falls_up_to(8) >= 15.0, origin="reconstructed")
    refit = np.polynomial.polynomial.polyval(infrared_table.centimetres(), infrared_fit.fit())
    yield at_most("table: linear program solved again, largest difference", 5e-4,
                  float(np.abs(refit - Proximity().values).max()), "reconstructed")
    tail = Proximity(table="A").values
    yield reported("table: method A against B, largest difference", float(np.abs(tail - Proximity().values).max()),
                   "reconstructed")


# -- the campaign -----------------------------------------------------------------------------------------------------
def sampled(sensor: Proximity) -> sampling.Records:
    """The campaign of the texts on an s-bot with this sensor: 1,404,000 readings."""
    group = Group(SBot(), 1, "swarm", (At(0.0, 0.0, 0.0),), (sensor,))
    return sampling.sample(World(contact=Contact("none"), groups=(group,)), seed=3)


def campaign() -> Iterator[Row]:
    """The default sensor, sampled as the real one was."""
    records = sampled(Proximity())
    curve = sampling.curve(records)
    near = curve.distance <= Proximity().reach - 0.5 * CM  # beyond, intervals hold what is out of reach
    exact = np.interp(curve.distance[near] / CM, infrared_table.centimetres(), Proximity().values)
    yield at_most("campaign: the curve it finds against the table, largest difference", 0.1,
                  float(np.abs(curve.reading[near] - exact).max()),
                  note="the table bends by up to 1.93 per cm^2, at 2.2 cm; over an interval of 1 cm that adds 1.93 / 24 = 0.08")
    yield at_most("campaign: largest standard deviation over the angles of a distance",
                  published.SPREAD_OVER_ANGLES.values["most"], float(curve.spread[near].max()), "published",
                  where=published.SPREAD_OVER_ANGLES.where)
    yield at_least("campaign: smallest standard deviation over the angles of a distance",
                   published.SPREAD_OVER_ANGLES.values["least"], float(curve.spread[near].min()), "published",
                   where=published.SPREAD_OVER_ANGLES.where,
                   note="the real sensor reads otherwise at other angles; a beam does not, and leaves only interval and noise")
    fit = sampling.fit(curve, Proximity().reach)
    yield reported("campaign: error of the polynomial", fit.polynomial_error, note="of which the sensor's table is made")
    yield reported("campaign: error of the exponential", fit.exponential_error)
    yield at_least("pressed to the wall: lowest of 1000 readings of IR7", published.AT_THE_WALL.values["least"], pressed(),
                   "published", where=published.AT_THE_WALL.where)
    along = np.linspace(3.0, 15.0, 1201)
    steepest = along[np.argmin(np.gradient(fit.polynomial_at(along * CM), along))]
    yield reported("campaign: the curve is steepest at (cm; draft: a drop at about 5)", float(steepest), "published",
                   note=published.DROP.where)


def pressed() -> float:
    """The lowest of 1000 readings of IR7 whose robot touches a wall with its back."""
    sensor = Proximity()
    simulation = bench((sensor,), (Wall((-sensor.mount, -1.0, -sensor.mount, 1.0)),), worlds=1000)
    put(simulation, 0.0)
    return float(simulation.readings["swarm"]["proximity"][:, 0, 7].min())


def exponential() -> Iterator[Row]:
    """The other curve: an exponential sensor, sampled and fitted, and the fit of the table by another method."""
    told = 30.0, 4.0, 1.0
    sensor = Proximity(response="exponential", peak=told[0], decay=told[1] * CM, floor=told[2], noise=(0.0,), share=0.0)
    records = sampled(sensor)
    cells = records.along < sensor.reach  # every record, before it is averaged
    curve = sampling.Curve(*(np.asarray(each[cells]) for each in (records.along, records.mean[0], records.spread[0])))
    peak, decay, floor = sampling.fit(curve, sensor.reach).exponential
    for name, value, ours in zip(("peak", "decay (cm)", "floor"), told, (peak, decay / CM, floor), strict=True):
        yield Row(f"exponential: {name} that the fit of its samples finds", value, ours, 1e-9, "law")
    table = sampling.Curve(infrared_table.centimetres() * CM, Proximity().values, np.zeros(151))
    peak, decay, _ = sampling.fit(table, 0.1501).exponential
    for name, mine, other in zip(("peak", "decay (cm)"), (peak, decay / CM), simplex(Proximity().values), strict=True):
        yield Row(f"exponential of the table: {name}, Levenberg-Marquardt against a simplex search", other, mine, 2e-4, "law")


def simplex(values: Floats) -> Any:
    """peak and decay (cm) of the exponential without a floor that fits the table best, by Nelder and Mead's method."""
    from scipy.optimize import minimize

    d = infrared_table.centimetres()
    found = minimize(lambda p: float(np.sum((p[0] * np.exp(-d / p[1]) - values) ** 2)), (30.0, 5.0), method="Nelder-Mead",
                     options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 10_000})
    return found.x
