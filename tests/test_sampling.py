"""The virtual bench: what it samples is what the sensor does, and what it writes is read back."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from formiga import sampling
from formiga.cli import cli
from formiga.errors import FormigaError
from formiga.loop import Simulation
from formiga.sampling import Plan
from formiga.sense.infrared_table import EXPONENTIAL_LENGTH, EXPONENTIAL_PEAK, centimetres, method_b
from formiga.sense.proximity import Proximity
from formiga.units import CM
from formiga.world.model import Contact, Group, Wall, World
from formiga.world.placement import At
from formiga.world.reader import read, read_text
from formiga.world.robots import SBot

FEW = Plan(tuple(0.01 * d for d in range(7, 24)), 36, samples=1)


def world(attributes='noise="0" share="0"', engine="planar"):
    return read_text(f'<world engine="{engine}"><sbot name="swarm"><at x="0" y="0"/><proximity {attributes}/></sbot></world>')


def readings(sensor, wall, engine):
    """Of one s-bot at the origin, before a wall."""
    group = Group(SBot(), 1, "a", (At(0.0, 0.0, 0.0),), (sensor,))
    lab = Simulation(World(engine=engine, contact=Contact("none"), things=(wall,), groups=(group,)))
    return lab.readings["a"]["proximity"][0, 0]


def test_a_beam_reads_at_every_angle_what_the_table_says_of_the_distance_along_it():
    """Without noise and shares each record is one entry of the table: TR eq. 2 gives the distance."""
    records = sampling.sample(world(), FEW)
    table, along = method_b(), records.along
    expected = np.where(along <= 0.15, table[np.rint(np.where(along <= 0.15, along, 0.0) / 0.001).astype(int)], 0.0)
    edge = np.abs(np.where(along <= 0.15, along, 0.0) / 0.001 % 1.0 - 0.5) < 1e-6  # half way between two entries
    np.testing.assert_allclose(records.mean[0][~edge], expected[~edge], atol=1e-9)
    assert not records.spread.any() and (records.mean > 0.0).mean() > 0.1


def test_the_curve_is_the_sensor_s_own_response_and_its_fit_recovers_an_exponential():
    records = sampling.sample(world('noise="0" share="0" response="exponential" peak="30" decay="4cm" floor="1"'), FEW)
    curve = sampling.curve(records)
    inside = curve.distance < 0.14
    np.testing.assert_allclose(curve.reading[inside], 30.0 * np.exp(-curve.distance[inside] / 0.04) + 1.0, rtol=0.01)
    exact = sampling.Curve(np.linspace(0.01, 0.15, 20), 30.0 * np.exp(-np.linspace(0.01, 0.15, 20) / 0.04) + 1.0, np.zeros(20))
    assert sampling.fit(exact, 0.15).exponential == pytest.approx((30.0, 0.04, 1.0), rel=1e-6)


def test_the_default_exponential_is_the_fit_of_the_default_table():
    fit = sampling.fit(sampling.Curve(centimetres() * CM, method_b(), np.zeros(151)), 0.1501)
    assert fit.exponential == pytest.approx((EXPONENTIAL_PEAK, EXPONENTIAL_LENGTH, 0.0), rel=1e-5)
    np.testing.assert_allclose(fit.polynomial_at(centimetres() * CM), method_b(), atol=1e-6)  # of degree 8 itself


def test_noise_averages_out_and_no_two_samples_share_it():
    records = sampling.sample(world('share="0"'), Plan((0.09, 0.1), 4, samples=400))
    seen = records.mean > 0.0
    relative = records.spread[seen] / records.mean[seen]
    assert relative == pytest.approx(0.15 / np.sqrt(3.0), rel=0.15)
    assert len(np.unique(relative)) == seen.sum()


def test_in_space_a_wall_below_the_sensors_is_not_seen_and_the_mean_over_heights_has_its_share():
    records = sampling.sample(world(engine="spatial"), Plan((0.09, 0.10), 8, (0.03, 0.09), 1))
    flat = sampling.sample(world(), Plan((0.09, 0.10), 8, samples=1))
    assert not records.mean[0].any()
    np.testing.assert_allclose(records.mean[1], flat.mean[0], atol=0.3)  # an entry of the table beside it at the most
    np.testing.assert_allclose(sampling.surface(records)[2], sampling.surface(flat)[2] / 2, atol=0.3)


@pytest.mark.parametrize("engine", ["planar", "spatial"])
def test_files_of_the_bench_are_read_by_proximity_as_a_curve_and_as_a_surface(tmp_path, engine):
    records = sampling.sample(world(), FEW)
    curve, _ = sampling.write(records, tmp_path)
    gaps, angles, surface = sampling.surface(records)
    wall = Wall((-0.058 - 0.052, -5, -0.058 - 0.052, 5))
    still = {"noise": (0.0,), "share": 0.0}
    for name, technique in (("curve.csv", "ray"), ("polynomial.csv", "ray"), ("surface.csv", "sampling")):
        sensor = Proximity(samples=str(tmp_path / name), technique=technique, **still)
        reading = readings(sensor, wall, engine)
        if technique == "ray":
            assert reading[7] == pytest.approx(np.interp(0.052, curve.distance, curve.reading), rel=0.05)
        else:  # straight behind, and IR6, whose axis is 20 degrees beside the wall's nearest point
            for n, aside in ((7, 0.0), (6, 20.0)):
                rows = [np.interp(0.052, gaps, surface[:, np.argmin(np.abs(angles - side * np.radians(aside)))])
                        for side in (1, -1)]
                assert min(rows) - 0.05 <= reading[n] <= max(rows) + 0.05
            assert not reading[[0, 14]].any()


@pytest.mark.parametrize("text, attributes, wrong", [
    ("0,0,1\n0.1,0,x\n", 'technique="sampling"', r"t\.csv:2: '0.1,0,x' is not 'distance in m, angle in rad, reading'"),
    ("0,0,1\n0.1,1,2\n", 'technique="sampling"', r"t\.csv: a table needs .* found 2 readings of 2 distances and 2 angles"),
    ("0,0,1\n0.1,0,1\n0,0,2\n", 'technique="sampling"',
     r"t\.csv:3: distance 0 m and angle 0 rad have a reading already, in line 1"),
    ("0,0,1\n\n-0.1,0,2\n", 'technique="sampling"', r"t\.csv:3: a distance of -0.1 m is below 0"),
    ("0,0,1\n0.1,0,0.5\n", "", r't\.csv: has three columns\. .* is for technique="sampling"'),
])
def test_a_surface_that_is_none_or_that_a_single_beam_cannot_use_is_refused(tmp_path, text, attributes, wrong):
    (tmp_path / "t.csv").write_text(text)
    (tmp_path / "w.xml").write_text(f'<world><sbot><proximity samples="t.csv" {attributes}/></sbot></world>')
    with pytest.raises(FormigaError, match=wrong):
        Simulation(read(str(tmp_path / "w.xml")))


@pytest.mark.parametrize("plan, attributes, engine, wrong", [
    ({"distances": (0.05, 0.1)}, "", "planar", "would stand in it"),
    ({"distances": (0.1,)}, "", "planar", "at least 2 distances"),
    ({"distances": (0.2, 0.1)}, "", "planar", "that ascend"),
    ({"heights": (0.1, 0.2)}, "", "planar", "the plane has none"),
    ({}, 'technique="shadow"', "spatial", "in space take ray or cone"),
    ({}, 'x="2cm"', "planar", "sits off the robot's axis"),
])
def test_campaigns_that_make_no_sense_are_refused(plan, attributes, engine, wrong):
    with pytest.raises(FormigaError, match=wrong):
        sampling.sample(world(attributes, engine), Plan(**plan))


def test_a_sensor_is_found_by_its_name_and_a_world_without_one_says_so():
    with pytest.raises(FormigaError, match=r"has no <proximity> 'front'\. It has: swarm.proximity"):
        sampling.sample(world(), FEW, "front")
    with pytest.raises(FormigaError, match="has no <proximity>"):
        sampling.sample(read_text("<world><sbot/></world>"), FEW)


def test_the_command_writes_all_files_and_a_stopped_one_none(tmp_path, monkeypatch):
    arguments = ["sample", "swarmod", "--out", str(tmp_path / "out"), "--samples", "2", "--distances", "8cm:24cm:2cm"]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(sampling.FILES)
    facts = json.loads((tmp_path / "out" / "fit.json").read_text())
    assert facts["samples"] == 9 * 36 * 15 * 2 and len(facts["polynomial"]["coefficients_per_cm"]) > 3
    assert "exponential: peak=" in done.output
    monkeypatch.setattr("formiga.cli.progress.Signals.stop", lambda self: True)
    arguments[3] = str(tmp_path / "none")
    assert CliRunner().invoke(cli, arguments).exit_code != 0
    assert not (tmp_path / "none").exists()
