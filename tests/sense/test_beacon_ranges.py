"""Beacons and the ranges to them: closed forms, spreads over many worlds, and faults."""

from dataclasses import replace

import numpy as np
import pytest

from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.sense.beacon_ranges import ANSWERS, FACTOR, BeaconRanges, table_of, true_beacons
from formiga.world.beacons import Beacons
from formiga.world.model import Wall
from formiga.world.reader import read_text
from formiga.world.robots import Disc
from tests.reference.lab import bench
from tests.runs import both

LATTICE = {"columns": 4, "rows": 3, "spacing": 2.0}


def ranges(beacons, sensor, pose=(0.0, 0.0, 0.0), worlds=1, seed=0, things=()):
    simulation = bench(Disc(0.05, 0.1, 0.1), [pose], [beacons, *things], sensors=[sensor], worlds=worlds, seed=seed)
    return simulation.readings["a"]["ranges"][:, 0], simulation


def truth(beacons, simulation):
    return true_beacons(table_of(beacons), simulation.state.key)[:, 0]


def test_a_lattice_goes_up_each_column_and_points_stand_where_they_are_given():
    assert Beacons(**LATTICE, x=1.0).places[:4].tolist() == [[1.0, 0.0], [1.0, 2.0], [1.0, 4.0], [3.0, 0.0]]
    assert Beacons(points=(1.0, 2.0, 3.0, 4.0), y=0.5).places.tolist() == [[1.0, 2.5], [3.0, 4.5]]


def test_without_errors_a_range_is_the_distance_through_walls_and_beyond_reach_there_is_none():
    found, _ = ranges(Beacons(points=(3.0, 4.0, 6.0, 8.1)), BeaconRanges(reach=10.0, sigma=0.0), things=[Wall((1, -9, 1, 9))])
    np.testing.assert_allclose(found, [[5.0, np.nan]])


@pytest.mark.parametrize("factor, heard", [(0.5, (1.5, 3.5, 7.5, np.nan)), (2.0, (6.0, np.nan, np.nan, np.nan))])
def test_a_factor_scales_the_range_and_with_it_the_reach(factor, heard):
    """Half as far: heard from twice the reach. [R05, power boost and deficit]"""
    beacons = Beacons(points=(3.0, 0.0, 7.0, 0.0, 15.0, 0.0, 17.0, 0.0), scaled=1.0, factor=factor)
    np.testing.assert_allclose(ranges(beacons, BeaconRanges(sigma=0.0))[0], [heard])


def test_errors_and_answers_have_their_spreads_and_a_scaled_beacon_scales_its_error():
    beacons = Beacons(points=(5.0, 0.0), scaled=1.0, factor=0.5)
    found = ranges(beacons, BeaconRanges(answer=0.6), worlds=20_000)[0]
    heard = found[~np.isnan(found)]
    assert len(heard) / len(found) == pytest.approx(0.6, abs=0.012)
    assert heard.mean() == pytest.approx(2.5, abs=0.02) and heard.std() == pytest.approx(0.5, rel=0.03)
    assert ranges(Beacons(points=(0.1, 0.0)), BeaconRanges(), worlds=1000)[0].min() == 0.0


def test_true_places_are_drawn_once_for_a_world_and_seed_and_not_at_every_reading():
    beacons, sensor = Beacons(points=(3.0, 4.0) * 2000, misplaced=0.3), BeaconRanges(sigma=0.0)
    found, simulation = ranges(beacons, sensor, worlds=2)
    off = truth(beacons, simulation)[..., :2] - beacons.places
    assert off.std(axis=(0, 1)) == pytest.approx((0.3, 0.3), rel=0.05) and abs(off.mean()) < 0.02
    np.testing.assert_allclose(found, np.hypot(*(off + (3.0, 4.0)).transpose(2, 0, 1)))
    simulation.step()
    np.testing.assert_array_equal(simulation.readings["a"]["ranges"][:, 0], found)
    assert not np.array_equal(found[0], found[1]) and not np.array_equal(found, ranges(beacons, sensor, worlds=2, seed=1)[0])


def test_so_many_beacons_are_faulty_in_each_world_and_others_in_another():
    beacons = Beacons(**LATTICE, scaled=0.25, factor=0.5, silent=0.5, mute=(0,))
    _, simulation = ranges(beacons, BeaconRanges(), worlds=50)
    table = truth(beacons, simulation)
    assert (table[..., FACTOR] == 0.5).sum(axis=1).tolist() == [3] * 50
    silent = table[..., ANSWERS] == 0.0
    assert silent[:, 0].all() and set(silent.sum(axis=1)) == {6, 7}      # the mute one is among the drawn, or is one more
    assert silent[:, 1:].mean() == pytest.approx(0.5, abs=0.06) and len({tuple(row) for row in silent}) > 40


def test_silent_moved_and_switched_off_beacons_and_a_blackout():
    sensor = BeaconRanges(sigma=0.0, reach=100.0, blackout=(0.1, 0.3))
    beacons = Beacons(points=(3.0, 4.0, 5.0, 0.0), mute=(1,), moved=(0, 3.0, 4.0))
    found, simulation = ranges(beacons, sensor)
    np.testing.assert_allclose(found, [[10.0, np.nan]])
    heard = []
    for _ in range(4):
        simulation.step()
        heard.append(not np.isnan(simulation.readings["a"]["ranges"][0, 0, 0]))
    assert heard == [False, False, True, True]
    assert np.isnan(ranges(Beacons(points=(1.0, 1.0), on=False), sensor)[0]).all()


@pytest.mark.parametrize("change", [{"on": False}, {"mute": (0, 1)}])
def test_beacons_are_switched_while_a_run_goes_on_and_back_again(change):
    beacons = Beacons(points=(3.0, 4.0, 5.0, 0.0))
    _, simulation = ranges(beacons, BeaconRanges(sigma=0.0, reach=9.0))
    read = []
    for thing in (replace(beacons, **change), beacons):
        world = replace(simulation.world, things=(thing,))
        simulation = simulation.edited(world, simulation.state.position[0], simulation.state.heading[0], np.arange(1))
        for _ in range(2):
            simulation.step()
        read.append(simulation.readings["a"]["ranges"][0, 0])
    assert np.isnan(read[0]).all()
    np.testing.assert_allclose(read[1], (5.0, 5.0))


@pytest.mark.parametrize("steps", [0, 3])
def test_a_restart_with_another_seed_draws_the_beacons_of_a_new_run(steps):
    beacons, sensor = Beacons(**LATTICE, misplaced=0.3, silent=0.3, scaled=0.3, factor=0.5), BeaconRanges(reach=50.0)
    _, again = ranges(beacons, sensor, worlds=2, seed=1)
    _, fresh = ranges(beacons, sensor, worlds=2, seed=9)
    again.advance(5)
    again.reset(seed=9)
    for simulation in (again, fresh):
        simulation.advance(steps)
    np.testing.assert_array_equal(again.readings["a"]["ranges"], fresh.readings["a"]["ranges"])


FILE = """<world dt="0.1"><contact model="none"/><beacons columns="3" rows="3" spacing="2m" misplaced="0.2" silent="0.2"/>
<disc name="a" count="2" radius="5cm" wheel_base="10cm" top_speed="1m/s"><at x="1" y="1" heading="0"/>
<at x="0" y="0" heading="1"/>
<beacon_ranges answer="0.8"/><displacement noise="0.1"/><course moves="1 0.5 0 0.3" repeat="true"/></disc></world>"""


def test_the_compiled_step_and_one_world_of_a_batch_give_the_same_bits():
    for name in ("ranges", "displacement"):
        compiled, readable = (each.readings["a"][name] for each in both(read_text(FILE), steps=25, again=[True, False, False]))
        np.testing.assert_array_equal(compiled, readable)
        assert compiled.shape[:2] == (3, 2)
    alone = Simulation(read_text(FILE), first_world=2)
    batch = Simulation(read_text(FILE), worlds=3)
    for _ in range(7):
        alone.step()
        batch.step()
    np.testing.assert_array_equal(alone.readings["a"]["ranges"][0], batch.readings["a"]["ranges"][2])


def test_both_engines_have_beacons():
    file = FILE.replace("<world", '<world engine="spatial"')
    simulation = Simulation(read_text(file), worlds=1)
    flat = Simulation(read_text(FILE), worlds=1)
    np.testing.assert_allclose(simulation.readings["a"]["ranges"], flat.readings["a"]["ranges"], atol=0.05)


@pytest.mark.parametrize("text, words", [
    ('<beacons points="0 0 1 1" mute="2"/>', "mute: there is no beacon 2; they are numbered 0 to 1."),
    ('<beacons points="0 0 1 1" moved="0.5 1 1"/>', "moved: there is no beacon 0.5"),
    ('<beacons columns="4096" rows="2"/>', "8192 beacons; at most 4096"),
    ('<beacons name="tags" points="0 0"/>', "there are no <beacons> 'beacons' in this world. There are: tags."),
])
def test_beacons_that_cannot_be_are_refused(text, words):
    robot = '<disc radius="5cm" wheel_base="10cm" top_speed="1m/s"><beacon_ranges/></disc>'
    file = f'<world><arena width="4" depth="4"/>{text}{robot}</world>'
    with pytest.raises(WorldError, match="<text>:1") as refused:
        _ = Simulation(read_text(file)).readings
    assert words in str(refused.value)


def test_a_blackout_that_ends_before_it_begins_is_refused():
    with pytest.raises(WorldError, match="from 2 s until 1 s; the end comes first"):
        BeaconRanges(blackout=(2.0, 1.0))


def test_rings_are_drawn_around_the_beacons_that_answer():
    simulation = Simulation(read_text(FILE))
    mark, other = simulation.drawings()["ranges"]      # one of each robot
    rings = mark.numbers.reshape(-1, 64, 6)
    assert len(rings) > 2 and mark.kind == other.kind == "lines"
    heard = simulation.readings["a"]["ranges"][0, 0]
    places = Beacons(columns=3, rows=3, spacing=2.0).places[heard > 0.0]
    np.testing.assert_allclose(np.linalg.norm(rings[: len(places), :, :2] - places[:, None], axis=-1),
                               np.repeat(heard[heard > 0.0][:, None], 64, axis=1), rtol=1e-5)
