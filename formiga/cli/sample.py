"""formiga sample: a proximity sensor before a wall, sampled into tables that <proximity> reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from formiga.cli import options
from formiga.units import SCALES

if TYPE_CHECKING:
    from pathlib import Path

    from formiga import sampling


def lengths(ctx: click.Context, parameter: click.Parameter, text: str | None) -> tuple[float, ...] | None:
    """'8cm:33cm:1cm', from, to and step; or '2cm,5cm,10cm'. In metres if no unit is given."""
    if text is None:
        return None
    try:
        if ":" not in text:
            return tuple(_length(part) for part in text.split(","))
        low, high, step = (_length(part) for part in text.split(":"))
        if not (step > 0.0 and (high - low) / step < 10_000):
            raise ValueError
        return tuple(low + n * step for n in range(int((high - low) / step + 1e-6) + 1))
    except (ValueError, OverflowError):
        raise click.BadParameter(f"'{text}' is not FROM:TO:STEP, such as 8cm:33cm:1cm, or a list such as 2cm,5cm,10cm.", ctx,
                                 parameter) from None


def _length(text: str) -> float:
    for unit in sorted(SCALES["m"], key=len, reverse=True):
        if text.strip().endswith(unit):
            return round(float(text.strip()[:-len(unit)]) * SCALES["m"][unit], 12)
    return float(text)


@click.command("sample")
@click.argument("world", default="swarmod")
@click.option("--out", metavar="DIR", required=True, help="Writes records.csv, surface.csv, curve.csv, polynomial.csv, "
              "exponential.csv and fit.json. Those of an earlier campaign are replaced.")
@click.option("--sensor", metavar="NAME", help="Which <proximity>, as NAME or GROUP.NAME; default: the first of the world.")
@click.option("--distances", callback=lengths, metavar="FROM:TO:STEP",
              help="Of the robot's centre from the wall; default: 8cm:33cm:1cm.")
@click.option("--turns", type=click.IntRange(4, 3600), default=36, show_default=True, metavar="N",
              help="Headings, evenly around.")
@click.option("--heights", callback=lengths, metavar="FROM:TO:STEP",
              help="Of the wall, or a list with commas; default: 10cm. Several need --engine spatial.")
@click.option("--samples", type=click.IntRange(1, 100_000), default=100, show_default=True, metavar="N", help="Of each.")
@options.engine
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, metavar="N",
              help="The same seed gives the same noise.")
@options.settings
@options.own_elements
@click.option("--quiet", is_flag=True, help="Prints complaints only.")
def command(world: str, out: str, sensor: str | None, distances: tuple[float, ...] | None, turns: int,
            heights: tuple[float, ...] | None, samples: int, engine: str | None, seed: int, settings: dict[str, str],
            own: tuple[str, ...], quiet: bool) -> None:
    """Sample a proximity sensor before a wall, over distance, angle and height, and fit curves to it.

    WORLD is a file or the name of a shipped world, by default swarmod. Its robot and its sensor are put before a wall. The
    readings are averaged over samples and heights into surface.csv (distance x angle), and over angles into curve.csv; a
    polynomial and an exponential are fitted to the curve. <proximity samples="curve.csv"/> and
    <proximity technique="sampling" samples="surface.csv"/> read them.

    After Ctrl-C no file is written.
    """
    from formiga import lab, sampling
    from formiga.cli.progress import Display, Signals

    options.load(own)
    given = {name: value for name, value in (("distances", distances), ("heights", heights)) if value is not None}
    plan = sampling.Plan(turns=turns, samples=samples, **given)
    described = lab.read_world(world, **settings)
    with lab.folder_for(out) as folder:
        options.refuse_unwritable(*(str(folder / name) for name in sampling.FILES))
        with Signals("after this distance", compiling=True) as signals, Display(described.name, 1.0, quiet) as show:
            try:
                records = sampling.sample(described, plan, sensor, seed=seed, engine=engine, progress=show, stop=signals.stop)
            except KeyboardInterrupt:
                raise click.Abort from None
        sampled, fitted = sampling.write(records, folder)
    if not quiet:
        click.echo(words(records, sampled, fitted, folder))


def words(records: sampling.Records, sampled: sampling.Curve, fitted: sampling.Fit, folder: Path) -> str:
    """The curve beside both fits, and what to write into a world."""
    peak, decay, floor = fitted.exponential
    lines = [f"{records.mean.size * records.plan.samples:,} readings of '{records.sensor.name}'", "",
             "distance   reading   over angles   polynomial   exponential"]
    for d, reading, spread in zip(sampled.distance, sampled.reading, sampled.spread, strict=True):
        near = d <= records.sensor.reach
        fits = (f"{fitted.polynomial_at(d):10.3f}   {fitted.exponential_at(d):11.3f}" if near else "")
        lines.append(f"{100 * d:5.2f} cm {reading:9.3f}   +- {spread:8.3f}   {fits}".rstrip())
    terms = " ".join(f"{c:.6g}" for c in fitted.polynomial)
    return "\n".join([*lines, "", f"polynomial:  {terms} (per cm), error {fitted.polynomial_error:.3g}",
                      f"exponential: peak=\"{peak:.6g}\" decay=\"{decay:.6g}\" floor=\"{floor:.6g}\", "
                      f"error {fitted.exponential_error:.3g}",
                      f"written into {folder}: <proximity samples=\"curve.csv\"/> or "
                      "<proximity technique=\"sampling\" samples=\"surface.csv\"/>"])


__all__ = ["command"]
