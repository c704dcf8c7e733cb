"""Monte Carlo localization in a world: it finds the robot, survives being put elsewhere, and refuses what it cannot use."""

import numpy as np
import pytest

from formiga.errors import WorldError
from formiga.estimate import belief
from formiga.locate import field, motion, recovery, resampling
from formiga.loop import Simulation
from formiga.map.grid import FREE, OCCUPIED
from formiga.noise import Noise
from formiga.world.reader import read

WORLD = """<world name="rooms" dt="0.1" seconds="60" engine="planar">
  <map file="rooms.png" resolution="10cm"/>
  <disc name="carts" count="2" radius="15cm" wheel_base="25cm" wheel_radius="5cm" top_speed="40cm/s" heading_noise="0.05">
    <scatter gap="20cm"/>
    {scanner}
    <odometry ticks="500"/>
    <monte_carlo {more}/>
    <proximity angles="0deg 20deg 45deg 80deg 280deg 315deg 340deg" mount="15cm" reach="50cm" response="linear" share="0"/>
    <turn_away/>
  </disc>
</world>"""
SCANNER = '<scanner beams="31" field="240deg" reach="6m" noise="1cm"/>'


def plan(folder):
    """A room of 8 m x 6 m with a few blocks, no two corners alike."""
    from PIL import Image

    cells = np.full((60, 80), FREE, np.int8)
    cells[0], cells[-1], cells[:, 0], cells[:, -1] = [OCCUPIED] * 4
    for row, column, rows, columns in ((20, 0, 4, 18), (40, 30, 20, 5), (12, 50, 6, 14), (0, 30, 9, 3), (35, 66, 3, 14)):
        cells[row:row + rows, column:column + columns] = OCCUPIED
    Image.fromarray(np.where(np.flipud(cells) == OCCUPIED, 0, 255).astype(np.uint8)).save(folder / "rooms.png")


@pytest.fixture
def rooms(tmp_path):
    plan(tmp_path)

    def made(more="", scanner=SCANNER, change=lambda text: text):
        more = more if "most" in more else f'most="4000" {more}'
        file = tmp_path / "rooms.xml"
        file.write_text(change(WORLD.format(more=more, scanner=scanner)))
        return read(str(file))
    return made


def errors(lab):
    return np.linalg.norm(lab.readings["carts"]["belief"][..., :2] - lab.state.position, axis=-1)


@pytest.mark.parametrize("more", ["", 'model="beam" most="2000"'], ids=["field", "beam"])
def test_most_robots_that_know_nothing_find_themselves(rooms, more):
    lab = Simulation(rooms(more), seed=5, worlds=6)
    for _ in range(300):
        lab.step()
    assert np.median(errors(lab)) < 0.1 and (errors(lab) < 0.5).mean() >= 0.75
    assert (lab.state.memory["carts/belief", "count"] < 2000).mean() > 0.7     # fewer particles as soon as it knows


def test_a_robot_that_knows_its_start_is_never_lost_and_says_how_sure_it_is(rooms):
    lab = Simulation(rooms('start="here" most="1000"'), seed=2, worlds=4)
    for _ in range(200):
        lab.step()
        assert errors(lab).max() < 0.6
    found = lab.readings["carts"]["belief"]
    off = found[..., belief.POSE] - np.concatenate([lab.state.position, lab.state.heading[..., None]], axis=-1)
    off[..., 2] = (off[..., 2] + np.pi) % (2.0 * np.pi) - np.pi
    assert found.shape == (4, 2, belief.COLUMNS) and np.abs(off[..., 2]).max() < 0.2
    assert (found[..., belief.XX] > 0.0).all() and np.sqrt(found[..., belief.XX]).max() < 0.5


def test_a_kidnapped_robot_is_found_again(rooms):
    lab = Simulation(rooms('start="here"'), seed=4, worlds=6)
    for _ in range(100):
        lab.step()
    lab.state.position[:, 0] = np.where(lab.state.position[:, 0] < 0.0, 1.0, -1.0) * (2.0, 1.0)
    lab.look_again()
    for _ in range(600):
        lab.step()
    assert (errors(lab)[:, 0] < 0.3).mean() >= 0.6


def test_every_robot_of_every_world_has_the_bits_that_it_has_alone(rooms):
    world = rooms("most=\"500\"")
    together, alone = Simulation(world, seed=3, worlds=3), Simulation(world, seed=3, worlds=1, first_world=2)
    for _ in range(40):
        together.step()
        alone.step()
    assert np.array_equal(together.readings["carts"]["belief"][2:], alone.readings["carts"]["belief"])


def test_a_look_counts_once(rooms):
    """Looking again at the same step changes neither the belief nor the run."""
    world = rooms('most="500"')
    one, other = Simulation(world, seed=3), Simulation(world, seed=3)
    for _ in range(30):
        one.step()
        other.step()
        before = other.readings["carts"]["belief"].copy()
        other.look_again()
        assert np.array_equal(other.readings["carts"]["belief"], before)
    assert np.array_equal(one.readings["carts"]["belief"], before)


@pytest.mark.parametrize("more, change, message", [
    ('scan="scaner"', None, "reads 'scaner'.*Did you mean 'scanner'"),
    ('odometry="encoders"', None, "reads 'encoders', but the robots carry"),
    ('map="plan"', None, "there is no <map> 'plan' in this world"),
    ('scan="odometry"', None, "<monte_carlo> scan: 'odometry' is <odometry>, which gives no distances. There are: scanner"),
    ('scan="proximity"', None, "rooms.xml:7: <monte_carlo> scan: 'proximity' is <proximity>, which gives no distances"),
    ('odometry="scanner"', None, "<monte_carlo> odometry: 'scanner' is <scanner>, which gives no poses. There are: odometry"),
    ('least="6000"', None, "rooms.xml:7: <monte_carlo> least: 6000 particles are more than `most`, 4000"),
    ('first="3999"', None, "rooms.xml:7: <monte_carlo> first: 3999 particles are fewer than `most`, 4000, which are chosen"),
    ('period="0.25s"', None, "rooms.xml:7: <monte_carlo> period: 0.25 s is no whole number of control periods of 0.1 s"),
    ('period="0.01s"', None, "rooms.xml:7: <monte_carlo> period: 0.01 s is no whole number of control periods of 0.1 s"),
    ('trust="1.5"', None, "rooms.xml:7: <monte_carlo> trust"), ('trust="0"', None, "rooms.xml:7: <monte_carlo> trust"),
    ("", lambda text: text.replace('<scatter gap="20cm"/>', '<at x="1.2" y="0"/><at x="30" y="0"/>'),
     r"rooms.xml:7: <monte_carlo>: robot 1 of 'carts' starts at \(30.00, 0.00\), of which the map 'map' knows nothing"),
    ("", lambda text: text.replace('<monte_carlo most="4000" />', "").replace("<odometry", '<monte_carlo/><odometry'),
     "reads 'odometry', which comes after it"),
])
def test_what_it_cannot_use_is_refused_with_a_message(rooms, more, change, message):
    with pytest.raises(WorldError, match=message):
        Simulation(rooms(more, change=change or (lambda text: text))).readings  # noqa: B018


@pytest.mark.parametrize("seat", ['roll="180deg"', 'pitch="10deg"'])
def test_a_scanner_that_does_not_lie_flat_is_refused(rooms, seat):
    in_space = lambda text: text.replace('"planar"', '"spatial"').replace('heading_noise="0.05"', 'height="30cm"')  # noqa: E731
    world = rooms(scanner=SCANNER.replace("<scanner", f"<scanner {seat}"), change=in_space)
    with pytest.raises(WorldError, match=r"rooms.xml:7: <monte_carlo> scan: 'scanner' sits on .* or has roll or pitch"):
        Simulation(world).readings  # noqa: B018


def test_a_map_without_a_free_cell_is_refused_with_a_message(rooms, tmp_path):
    from PIL import Image

    Image.new("L", (80, 60), 0).save(tmp_path / "black.png")
    solid = lambda text: text.replace('"rooms.png"', '"black.png" on="false"').replace(  # noqa: E731
        '<scatter gap="20cm"/>', '<at x="1" y="0"/><at x="-1" y="0"/>')
    with pytest.raises(WorldError, match=r"rooms.xml:7: <monte_carlo>: the map 'map' has no free cell"):
        Simulation(rooms(change=solid)).readings  # noqa: B018


@pytest.mark.parametrize("model", ["field", "beam"])
def test_kidnapped_filters_have_the_same_bits_alone_in_batches_and_after_a_reset(rooms, model):
    world = rooms(f'model="{model}" most="400"')

    def beliefs(first, worlds, before=0):
        lab, found = Simulation(world, seed=3, worlds=worlds, first_world=first), []
        for _ in range(before):
            lab.step()
        if before:
            lab.reset()
        for k in range(40):
            lab.step()
            if k == 20:
                lab.state.position[:, 0] = (2.0, 1.0)
                lab.look_again()
            found.append(lab.readings["carts"]["belief"].copy())
        return np.array(found)

    many = beliefs(0, 7)
    assert np.array_equal(many[:, 2:5], beliefs(2, 3)) and np.array_equal(many[:, 4:5], beliefs(4, 1))
    assert np.array_equal(many[:, 4:5], beliefs(4, 1, before=11))


def test_a_kidnapped_robot_draws_many_particles_until_it_is_found(rooms):
    lab = Simulation(rooms('start="here"'), seed=4, worlds=6)
    for _ in range(100):
        lab.step()
    lab.state.position[:, 0] = np.where(lab.state.position[:, 0] < 0.0, 1.0, -1.0) * (2.0, 1.0)
    lab.look_again()
    most = np.zeros((6, 2))
    for _ in range(100):
        lab.step()
        most = np.maximum(most, lab.state.memory["carts/belief", "count"])
    assert (most[:, 0] > 1000).mean() >= 0.8 and np.median(most[:, 1]) < 1000


def test_beams_that_meet_nothing_do_not_make_a_robot_doubt_where_it_is(rooms):
    short = SCANNER.replace('reach="6m"', 'reach="2m"')
    lab = Simulation(rooms('start="here" model="beam" most="2000"', short), seed=3, worlds=8)
    for _ in range(300):
        lab.step()
    assert (errors(lab) < 0.5).mean() >= 0.95


def test_a_filter_that_begins_in_a_world_that_runs_knows_where_it_is_now(rooms):
    lab = Simulation(rooms('start="here" most="1000"'), seed=2)
    for _ in range(150):
        lab.step()
    other = lab.edited(rooms('start="here" most="1001"'), lab.state.position[0], lab.state.heading[0], np.arange(2))
    assert np.hypot(*(lab.state.start[0, :, :2] - lab.state.position[0]).T).max() > 0.9
    assert errors(other).max() < 0.3


def test_it_draws_its_particles_hypotheses_and_belief(rooms):
    lab = Simulation(rooms('most="3000"'), seed=1)
    for _ in range(5):
        lab.step()
    kinds = [mark.kind for mark in lab.drawings()["belief"]]
    assert "particles" in kinds and "pose" in kinds
    cloud = next(mark for mark in lab.drawings()["belief"] if mark.kind == "particles")
    assert len(cloud.numbers) <= 2 * 1000


def test_beams_that_begin_on_the_rim_are_as_long_as_from_there(rooms):
    """Beams ahead alone: without the 15 cm the belief would be 4 cm ahead of the robot, on average."""
    rim = SCANNER.replace("<scanner", '<scanner mount="15cm"').replace("240deg", "60deg")
    lab = Simulation(rooms('start="here" most="1000" model="beam"', rim), seed=2, worlds=8)
    ahead = []
    for _ in range(150):
        lab.step()
        off = lab.readings["carts"]["belief"][..., :2] - lab.state.position
        ahead.append(off[..., 0] * np.cos(lab.state.heading) + off[..., 1] * np.sin(lab.state.heading))
    assert abs(np.mean(ahead[50:])) < 0.02


def test_a_scanner_that_sits_beside_the_middle_is_weighed_from_where_it_sits(rooms):
    moved = SCANNER.replace("<scanner", '<scanner x="12cm" y="3cm" yaw="30deg"')
    for model in ("field", "beam"):
        lab = Simulation(rooms(f'start="here" most="800" model="{model}"', moved), seed=2, worlds=2)
        for _ in range(150):
            lab.step()
        assert np.median(errors(lab)) < 0.06


# -- how much a scan says, and when it is asked ---------------------------------------------------------------------------
def memory(lab, name):
    return lab.state.memory["carts/belief", name]


STILL = lambda text: text.replace("<turn_away/>", "").replace('heading_noise="0.05"', "")  # noqa: E731
FEW = 'recover="false" beams="3" sigma="2m" most="500"'            # weights stay so even that nothing is resampled


def test_the_first_scan_chooses_from_as_many_particles_as_are_asked_for_and_counts_once(rooms):
    """The plain way: scatter 30,000, weigh them, and take 400 of them by their weights, which are even afterwards."""
    lab = Simulation(rooms('first="30000" most="400" trust="0.4" beams="11" sigma="25cm"'), seed=3, worlds=2)
    scans = lab.readings["carts"]["scanner"]
    noise, grid = Noise(lab.state.key, lab.state.step, slice(0, 2), "carts", "belief"), lab.world.map("map")
    scanner, starts = lab.world.groups[0].sensors[0], noise.starts("start")
    beams = np.linspace(0, 30, 11).round().astype(int)
    model = field.likelihood_field(grid, field.Mixture(0.6, 0.1, 0.3, sigma=0.25, reach=6.0))
    for w, i in np.ndindex(2, 2):
        drawn = np.zeros((30_000, 3))
        recovery.scatter(drawn, 1.0, starts[w, i], grid)
        ends = field.end_points(scans[w, i, beams], np.array(scanner.angles)[beams], 6.0)
        weights = resampling.normalized(0.4 * field.log_weights(drawn, ends, model))
        chosen = resampling.low_variance(weights, noise.uniform(0.0, 1.0, 1, "choose")[w, i, 0], 400)
        assert np.array_equal(memory(lab, "particles")[w, i], drawn[chosen])
    np.testing.assert_allclose(memory(lab, "weights"), 1.0 / 400, rtol=1e-12)
    assert (memory(lab, "count") == 400).all()


def test_more_robots_find_themselves_with_few_particles_if_the_first_scan_chooses_them_from_many(rooms):
    """Of 60 carts after 10 s; 300 particles are too few for 48 square metres and all headings."""
    found = {}
    for first in ("", 'first="30000"'):
        lab = Simulation(rooms(f'{first} most="300" trust="0.5" recover="false"'), seed=5, worlds=30)
        for _ in range(100):
            lab.step()
        found[first] = (errors(lab) < 0.5).sum()
    assert found[""] < 30 and found['first="30000"'] > 45


def test_a_first_draw_has_the_bits_alone_that_it_has_in_a_batch_and_is_none_where_the_start_is_known(rooms):
    world = rooms('first="3000" most="300"')
    together, alone = Simulation(world, seed=3, worlds=3), Simulation(world, seed=3, worlds=1, first_world=2)
    for _ in range(20):
        together.step()
        alone.step()
    assert np.array_equal(together.readings["carts"]["belief"][2:], alone.readings["carts"]["belief"])
    here = [Simulation(rooms(f'start="here" most="300" {more}'), seed=3).readings["carts"]["belief"]
            for more in ("", 'first="3000"')]
    assert np.array_equal(*here)


@pytest.mark.parametrize("change", [STILL, lambda text: text])
def test_with_a_period_each_scan_counts_that_it_is_time_for_and_no_other(rooms, change):
    """Whether the robot moves or not; every world by its own clock, so also after one of them has started again."""
    lab = Simulation(rooms(f'period="0.3s" {FEW}', change=change), seed=2, worlds=2)
    before = None
    for step in range(20):
        if step == 11:
            lab.reset([True, False])
        lab.readings  # noqa: B018
        weights = memory(lab, "weights").copy()
        if before is not None:
            changed = (weights != before).any(axis=(1, 2))
            clocks = lab.state.step
            assert changed.tolist() == (clocks % 3 == 0).tolist(), step
        before = weights
        lab.step()
    assert lab.state.step.tolist() == [9, 20] and (memory(lab, "count") == 500).all()


def test_without_a_period_a_robot_that_stands_still_looks_once(rooms):
    lab = Simulation(rooms(FEW, change=STILL), seed=2)
    lab.readings  # noqa: B018
    first = memory(lab, "weights").copy()
    for _ in range(10):
        lab.step()
        lab.readings  # noqa: B018
    assert np.array_equal(memory(lab, "weights"), first) and len(np.unique(first)) > 100


@pytest.mark.parametrize("model", ["field", "beam"])
def test_a_scan_that_counts_by_half_weighs_twice_what_it_weighs_once_in_full(rooms, model):
    """The same scan each time, of a robot that stands still: p^0.5 p^0.5 = p, and so with four quarters."""
    exact, found = SCANNER.replace('noise="1cm"', ""), {}
    for trust, looks in ((1.0, 1), (0.5, 2), (0.25, 4), (0.5, 1)):
        lab = Simulation(rooms(f'period="0.1s" trust="{trust}" model="{model}" {FEW}', exact, STILL), seed=2, worlds=2)
        for look in range(looks):
            if look:
                lab.step()
            lab.readings  # noqa: B018
        assert (memory(lab, "count") == 500).all()                  # nothing was resampled
        found[trust, looks] = memory(lab, "weights").copy()
    for looks in (2, 4):
        np.testing.assert_allclose(found[1.0 / looks, looks], found[1.0, 1], rtol=1e-9)
    power = found[1.0, 1] ** 0.5
    np.testing.assert_allclose(found[0.5, 1], power / power.sum(axis=-1, keepdims=True), rtol=1e-9)
    assert np.ptp(found[1.0, 1], axis=-1).min() > 1e-3


OMNI = '<omni name="carts" count="2" top_speed="1m/s"'
GLIDES = lambda text: (text.replace(text[text.index("<disc"):text.index(">", text.index("<disc"))], OMNI)  # noqa: E731
                       .replace("</disc>", "</omni>").replace("<turn_away/>", '<course moves="1 0.3 0.2 0.5"/>'))


@pytest.mark.parametrize("change, model, usual", [(str, motion.differential, motion.TurnErrors()),
                                                  (GLIDES, motion.omni, motion.GlideErrors())], ids=["disc", "omni"])
def test_the_errors_of_the_motion_model_are_multiples_of_its_usual_ones(rooms, change, model, usual):
    """The particles after a step are those of the library with its errors multiplied."""
    for by in (1.0, 0.3, 4.0):
        lab = Simulation(rooms(f'motion="{by}" period="0.1s" trust="0.01" {FEW}', change=change), seed=2, worlds=2)
        lab.readings  # noqa: B018
        for _ in range(3):
            particles, last = memory(lab, "particles").copy(), lab.readings["carts"]["odometry"].copy()
            lab.step()
            now, noise = lab.readings["carts"]["odometry"], Noise(lab.state.key, lab.state.step, slice(0, 2), "carts", "belief")
            model(particles, last, now, type(usual)(*(by * each for each in usual)), noise.starts("motion"))
            assert np.array_equal(memory(lab, "particles"), particles)


def test_particles_spread_by_as_much_as_the_errors_are_multiplied(rooms):
    """Of a way straight on that all have gone: its length differs from particle to particle by `motion` x 5 %."""
    for by in (0.5, 1.0, 2.0):
        lab = Simulation(rooms(f'motion="{by}" period="0.1s" trust="0.01" {FEW}', change=STILL), seed=2, worlds=20)
        lab.readings  # noqa: B018
        before, last = memory(lab, "particles").copy(), lab.readings["carts"]["odometry"].copy()
        lab.step({"carts": np.full((20, 2, 2), 0.4)})
        way = np.linalg.norm((lab.readings["carts"]["odometry"] - last)[..., :2], axis=-1)[..., None]
        far = np.linalg.norm((memory(lab, "particles") - before)[..., :2], axis=-1) / way
        assert far.std() == pytest.approx(0.05 * by, rel=0.02) and far.mean() == pytest.approx(1.0, abs=0.003)


# -- the shipped world ------------------------------------------------------------------------------------------------------
def test_carts_of_the_shipped_world_find_themselves_and_most_that_are_moved_find_themselves_again():
    lab = Simulation("localization", seed=2, worlds=8)

    def right():
        place = lab.readings["carts"]["belief"][..., :2]
        return np.hypot(*np.moveaxis(place - lab.state.position, -1, 0)) < 0.5

    for _ in range(120):
        lab.step()
    assert right().mean() >= 0.9
    lab.state.position[:, 0], lab.state.heading[:, 0] = ROOMS, np.linspace(-3.0, 3.0, 8)
    lab.look_again()
    assert not right()[:, 0].any()
    for _ in range(250):
        lab.step()
    assert right()[:, 0].sum() >= 6 and right()[:, 1:].mean() >= 0.9


ROOMS = [(-6.0, 3.0), (-2.0, 2.5), (1.5, 1.6), (5.6, 1.8), (-3.8, 0.0), (6.0, 0.4), (-6.0, -1.9), (3.6, -2.0)]     # one in each
