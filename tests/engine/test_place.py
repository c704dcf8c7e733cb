"""Where robots start: every rule keeps what it promises, for every seed, alone or in a batch, or says why it cannot."""

import time

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from formiga.errors import FormigaError, WorldError
from formiga.lab import check_world, load_elements, read_recording, simulate
from formiga.loop import Simulation
from formiga.session.replay import Replay
from formiga.world import elements
from formiga.world.model import Arena, Ball, Block, Contact, Cylinder, Cylinders, Field, Group, Polygon, Rectangle, Wall, World
from formiga.world.placement import At, Connected, Grid, Scatter
from formiga.world.reader import read_text
from formiga.world.robots import Disc, SBot
from tests.reference.lab import fixed, overlaps

ROOM = Arena(2.0, 1.6)


def start(*groups, things=(ROOM,), seed=0, worlds=1, contact=None, **more):
    return Simulation(World(contact=contact or Contact(), things=things, groups=groups), seed, worlds, **more)


def gaps(position, radius):
    """Rim to rim, for every pair (N, N); infinite on the diagonal."""
    between = np.linalg.norm(position[:, None] - position[None], axis=-1) - radius[:, None] - radius[None]
    np.fill_diagonal(between, np.inf)
    return between


def test_at_puts_each_robot_exactly_there():
    simulation = start(Group(SBot(), None, "a", (At(0.1, 0.2, 0.3), At(-0.4, 0.5, -7.0))), worlds=3)
    assert np.array_equal(simulation.state.position, np.tile([[0.1, 0.2], [-0.4, 0.5]], (3, 1, 1)))
    assert np.array_equal(simulation.state.heading, np.tile([0.3, -7.0], (3, 1)))


def test_a_heading_that_is_not_given_is_drawn_uniformly():
    heading = start(Group(SBot(), 1, "a", (At(0.0, 0.0),)), worlds=4000).state.heading[:, 0]
    assert heading.min() >= 0.0 and heading.max() < 2 * np.pi
    counts = np.histogram(heading, 16, (0, 2 * np.pi))[0]
    assert np.abs(counts - 250).max() < 4.5 * np.sqrt(250)


@pytest.mark.parametrize("rule", [Scatter(heading=1.5), Grid(0.3, heading=1.5), Connected(heading=1.5)])
def test_a_heading_that_is_given_is_everybody_s(rule):
    assert (start(Group(SBot(), 5, "a", (rule,)), worlds=2).state.heading == 1.5).all()


@pytest.mark.parametrize("count, columns, shape", [(6, 3, (2, 3)), (9, 0, (3, 3)), (4, 4, (1, 4)), (5, 1, (5, 1))])
def test_a_grid_has_rows_and_columns_around_its_centre(count, columns, shape):
    places = start(Group(Disc(0.05, 0.1, 0.1), count, "a", (Grid(0.25, columns, 0.1, -0.2),))).state.position[0]
    rows, cols = np.unique(np.round(places[:, 1], 9)), np.unique(np.round(places[:, 0], 9))
    assert (len(rows), len(cols)) == shape
    assert np.allclose(np.diff(rows), 0.25) and np.allclose(np.diff(cols), 0.25)
    np.testing.assert_allclose((places.min(0) + places.max(0)) / 2, (0.1, -0.2), atol=1e-12)


@pytest.mark.parametrize("gap", [0.0, 0.04])
@pytest.mark.parametrize("seed", range(8))
def test_scatter_touches_no_wall_no_obstacle_and_nobody(seed, gap):
    things = (Arena(2.0, 1.6), Wall((-0.5, -0.2, 0.5, 0.3)), Cylinder(0.6, -0.4, 0.15), Cylinders(3, 0.05, 0.02))
    big, small = Group(Disc(0.12, 0.1, 0.1, 0.02), 4, "big", (Scatter(gap),)), Group(SBot(), 8, "small", (Scatter(gap),))
    simulation = start(big, small, things=things, seed=seed, worlds=3)
    for position in simulation.state.position:
        assert (np.abs(position) < (1.0, 0.8)).all()
        assert overlaps(position, simulation.model.safety + gap, *fixed(simulation))[1] <= 1e-12
        assert overlaps(position, simulation.model.safety + gap / 2, (), ())[0] <= 1e-12
    simulation.step()
    assert not simulation.state.crashed.any()


def test_scatter_fills_its_own_region_and_no_other():
    position = start(Group(Disc(0.01, 0.1, 0.1), 200, "a", (Scatter(x=0.5, y=-0.3, width=0.6, depth=0.4),))).state.position[0]
    assert (np.abs(position - (0.5, -0.3)) <= (0.3, 0.2)).all()
    assert np.ptp(position[:, 0]) > 0.55 and np.ptp(position[:, 1]) > 0.35


def test_scatter_is_uniform_over_the_arena():
    position = start(Group(Disc(0.001, 0.1, 0.1), 1, "a"), worlds=4000).state.position[:, 0]
    counts = np.histogram2d(position[:, 0], position[:, 1], 5, ((-1.0, 1.0), (-0.8, 0.8)))[0]
    assert np.abs(counts - 160).max() < 4.5 * np.sqrt(160)


@pytest.mark.parametrize("thing, outline", [
    (Rectangle(0.0, 0.0, 1.0, 1.0), 0.5),
    (Polygon((-0.5, -0.5, 0.5, -0.5, 0.5, 0.5, -0.5, 0.5)), 0.5),
])
def test_nobody_is_scattered_into_an_obstacle(thing, outline):
    """An obstacle is solid, even though its outline is what beams and bodies meet."""
    simulation = start(Group(Disc(0.03, 0.1, 0.1), 40, "a"), things=(Arena(2.0, 2.0), thing), worlds=2)
    inside = (np.abs(simulation.state.position) < outline).all(-1)
    assert not inside.any(), f"{inside.sum()} of {inside.size} are inside"


def test_scattered_cylinders_do_not_stand_in_an_obstacle():
    simulation = start(things=(Arena(2.0, 2.0), Rectangle(0.0, 0.0, 1.2, 1.2), Cylinders(10, 0.05)))
    assert not (np.abs(fixed(simulation)[1][:, :2]) < 0.6).all(-1).any()


@pytest.mark.parametrize("rule", [Scatter(), Connected()])
def test_groups_avoid_each_other_whichever_is_written_first(rule):
    """Robots whose places are given stand where they are given, so those that are thrown must go round them."""
    thrown, given = Group(SBot(), 3, "thrown", (rule,)), Group(SBot(), 1, "given", (At(0.0, 0.0, 0.0),))
    for groups in ((given, thrown), (thrown, given)):
        for seed in range(30):
            simulation = start(*groups, things=(Arena(0.9, 0.9),), seed=seed)
            assert overlaps(simulation.state.position[0], simulation.model.safety, (), ())[0] == 0.0


@pytest.mark.parametrize("count", [2, 6, 15])
def test_a_connected_group_is_connected_and_keeps_its_gaps(count):
    """d_ij > 6 cm for all pairs, and the graph of d_ij < 15 cm is connected; in the arena, and off its walls. [S1]"""
    things = (Arena(1.5, 1.5), Cylinder(0.3, 0.3, 0.1))
    for seed in range(10):
        simulation = start(Group(SBot(), count, "a", (Connected(),)), things=things, seed=seed, worlds=4)
        for position in simulation.state.position:
            between = gaps(position, simulation.model.radius)
            assert between.min() > 0.06
            assert connected_components(between < 0.15)[0] == 1
            assert overlaps(position, simulation.model.safety, *fixed(simulation))[1] == 0.0
            assert (np.abs(position) < 0.75).all()


def test_a_connected_group_of_other_numbers_keeps_those():
    rule = Connected(gap=0.1, reach=0.12, x=1.0, width=1.0, depth=1.0)
    simulation = start(Group(Disc(0.04, 0.1, 0.1), 8, "a", (rule,)), things=(), seed=3)
    between = gaps(simulation.state.position[0], simulation.model.radius)
    assert between.min() > 0.1 and connected_components(between < 0.12)[0] == 1
    assert (np.abs(simulation.state.position[0] - (1.0, 0.0)) <= 0.5).all()


@pytest.mark.parametrize("rule", [Scatter(), Connected()])
def test_places_are_the_same_for_a_seed_and_do_not_depend_on_the_batch(rule):
    group = Group(SBot(), 6, "a", (rule,))
    batch, again = start(group, seed=5, worlds=6).state, start(group, seed=5, worlds=6).state
    assert np.array_equal(batch.position, again.position) and np.array_equal(batch.heading, again.heading)
    for k in range(6):
        alone = start(group, seed=5, first_world=k).state
        assert np.array_equal(alone.position[0], batch.position[k]) and np.array_equal(alone.heading[0], batch.heading[k])
    assert not np.isclose(batch.position, start(group, seed=6, worlds=6).state.position).any()
    assert not np.isclose(batch.position[0], batch.position[1]).any()


def test_scattered_cylinders_are_the_same_in_every_run_and_change_with_their_own_seed():
    things = lambda seed: (Arena(3.0, 3.0), Cylinders(12, 0.1, 0.05, seed))  # noqa: E731
    one, other = start(things=things(0), seed=1), start(things=things(0), seed=2)
    assert np.array_equal(fixed(one)[1], fixed(other)[1])
    assert not np.isclose(fixed(one)[1][:, :2], fixed(start(things=things(1)))[1][:, :2]).any()
    discs = fixed(one)[1]
    assert gaps(discs[:, :2], discs[:, 2]).min() >= 0.05 - 1e-12
    assert (np.abs(discs[:, :2]) <= 1.5 - 0.15 + 1e-12).all()


def test_two_lots_of_cylinders_avoid_each_other():
    discs = fixed(start(things=(Arena(2.0, 2.0), Cylinders(8, 0.1, name="a"), Cylinders(20, 0.03, name="b"))))[1]
    assert len(discs) == 28 and gaps(discs[:, :2], discs[:, 2]).min() >= -1e-12


@pytest.mark.parametrize("rule, words", [(Scatter(), "or lower 'count'"), (Connected(), "'gap'")])
def test_who_does_not_fit_is_told_how_many_did(rule, words):
    with pytest.raises(WorldError) as error:
        start(Group(SBot(), 100, "a", (rule,)), things=(Arena(1.0, 0.8),))
    message = str(error.value)
    assert message.startswith("100 robots of radius 0.058 m do not fit in 1 m x 0.8 m; placed ") and words in message
    assert 5 < int(message.split("placed ")[1].split(".")[0]) < 32


def test_cylinders_that_do_not_fit_are_told_how_many_did():
    with pytest.raises(WorldError, match=r"50 cylinders of radius 0.2 m do not fit in 1 m x 1 m; placed \d+\."):
        start(things=(Arena(1.0, 1.0), Cylinders(50, 0.2)))


@pytest.mark.parametrize("rule", [Scatter(), Connected()])
def test_without_an_arena_or_a_region_there_is_nowhere_to_go(rule):
    with pytest.raises(WorldError, match="'a' has nowhere to go: give the world an <arena>"):
        start(Group(SBot(), 2, "a", (rule,)), things=())
    with pytest.raises(WorldError, match="no <arena>"):
        start(things=(Cylinders(2, 0.1),))


@pytest.mark.parametrize("things", [(Wall((0, -1, 0, 1)),), (Cylinder(0.0, 0.0, 0.2),), (Cylinder(0.0, 0.0, 3.0),)])
@pytest.mark.parametrize("rule", [At(0.03, 0.0), Grid(0.2, 1, 0.03)])
def test_a_robot_whose_place_is_in_a_wall_is_refused_by_name(things, rule):
    message = r"robot 0 of 'a' at \(0.03, 0\) stands in a wall or an obstacle; its radius is 0.058 m"
    with pytest.raises(WorldError, match=message):
        start(Group(SBot(), 1, "a", (rule,)), things=things)
    start(Group(SBot(), 1, "a", (rule,)), things=things, contact=Contact("none"))


OUTSIDE = '''<world engine="{engine}"><arena width="2" depth="1" walls="{walls}"/>
  <sbot name="a" count="1">
    {rule}
  </sbot>
</world>'''


@pytest.mark.parametrize("rule", ['<at x="5" y="0"/>', '<at x="0" y="-0.7"/>', '<grid spacing="1" x="5" y="0"/>'])
@pytest.mark.parametrize("engine", ["planar", "spatial"])
def test_a_robot_whose_place_is_outside_a_walled_arena_is_refused_with_its_line(engine, rule, tmp_path):
    path = tmp_path / "w.xml"
    path.write_text(OUTSIDE.format(engine=engine, walls="true", rule=rule))
    message = r"w\.xml:3: robot 0 of 'a' at \(.*\) stands outside the arena, whose walls go from \(-1, -0.5\) to \(1, 0.5\)\.$"
    with pytest.raises(WorldError, match=message):
        check_world(path)
    path.write_text(OUTSIDE.format(engine=engine, walls="false", rule=rule))  # an arena without walls is only a region
    check_world(path)
    path.write_text(OUTSIDE.format(engine=engine, walls="true", rule=rule).replace("<arena", "<!--").replace('"true"/>', "-->"))
    check_world(path)


def test_a_hundred_thousand_robots_are_scattered_and_take_a_step():
    began = time.perf_counter()
    simulation = start(Group(SBot(), 100_000, "a"), things=(Arena(120.0, 100.0),), seed=1)
    assert time.perf_counter() - began < 10.0  # a second or so; 10 leaves room for a busy machine
    order = np.argsort(simulation.state.position[0, :, 0])
    x, y = simulation.state.position[0, order].T
    for lag in range(1, 60):  # neighbours along x; whoever is further away in x cannot touch
        near = x[lag:] - x[:-lag] < 0.176
        assert (np.hypot(x[lag:] - x[:-lag], y[lag:] - y[:-lag])[near] > 0.176).all()
    simulation.step({"a": np.full((1, 100_000, 2), 0.08)})
    assert np.isfinite(simulation.state.position).all()


@pytest.mark.parametrize("things", [
    (Arena(2.0, 1.0), Ball(x=5.0)), (Arena(2.0, 1.0), Ball(x=1.0)), (Arena(2.0, 1.0), Ball(radius=5.0)),
    (Field(), Ball(x=0.95)), (Field(), Ball(x=0.745, y=0.4)), (Wall((0, -1, 0, 1)), Block(0.04, 0.0, width=0.1, depth=0.1)),
])
def test_a_loose_thing_that_starts_in_a_wall_or_outside_is_refused_by_name(things):
    with pytest.raises(WorldError, match=rf"'{things[-1].name}' at .* stands in a wall or an obstacle, or outside"):
        start(things=things, contact=Contact("impulse"))


def test_a_field_whose_goals_and_corners_do_not_fit_is_refused():
    with pytest.raises(WorldError, match=r"do not fit into 1\.5 m x 1\.3 m"):
        start(things=(Field(goal_width=3.0),), contact=Contact("impulse"))


# -- placements of one's own --------------------------------------------------------------------------------------------
OWN = """
from dataclasses import dataclass
import numpy as np
from formiga.world.elements import element, length

@element("ring", role="placement")
@dataclass(frozen=True)
class Ring:
    "On a circle, each robot somewhere on its part of it."
    radius: float = length(0.3, above=0.0)

    def place(self, site):
        {body}
"""
RING = """part = 2 * np.pi / site.group.count
        angle = part * (np.arange(site.group.count) + site.noise.uniform(0.0, 0.4)[..., 0])
        return self.radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1), angle"""
RINGED = """<world engine="{engine}"><arena width="2" depth="2"/>
<sbot name="a" count="4"><ring radius="{radius}"/></sbot>
<sbot name="b" count="6"><scatter/></sbot></world>"""


@pytest.fixture
def ringed(own_registry, tmp_path):
    """ringed(body, radius, engine) -> a world with a placement of the user's own."""

    def make(body=RING, radius=0.4, engine="planar"):
        (tmp_path / "ring.py").write_text(OWN.format(body=body))
        load_elements(tmp_path / "ring.py")
        return read_text(RINGED.format(radius=radius, engine=engine), "w.xml")

    return make


@pytest.mark.parametrize("engine", ["planar", "spatial"])
def test_a_placement_of_the_users_own_places_and_others_are_scattered_around_it(ringed, engine):
    world = ringed(engine=engine)
    many, alone = Simulation(world, 5, 3), Simulation(world, 5, 1, first_world=2)
    place, heading = many.state.position[:, :4], many.state.heading[:, :4]
    assert np.hypot(*place.transpose(2, 0, 1)) == pytest.approx(np.full((3, 4), 0.4), abs=1e-6)
    assert place == pytest.approx(0.4 * np.stack([np.cos(heading), np.sin(heading)], axis=-1), abs=1e-6)
    assert len({tuple(each.ravel()) for each in place}) == 3 and (gaps(many.state.position[0], np.full(10, 0.058)) > 0.0).all()
    assert np.array_equal(many.state.position[2], alone.state.position[0])


@pytest.mark.parametrize("body, words", [
    ("return np.zeros((3, 2))",
     r"w\.xml:2: <ring> of 'a' must return positions as an array of numbers \(1, 4, 2\), not float64 \(3, 2\)"),
    ("return None", r"must return positions as an array of numbers \(1, 4, 2\), not NoneType"),
    ("return np.full((1, 4, 2), np.nan)", "returned positions of which that of robot 0 in world 0 is not a number"),
    ("return np.zeros((1, 4, 2)), np.zeros(4)", r"must return headings as an array of numbers \(1, 4\), not float64 \(4,\)"),
    ("return np.zeros((1, 4, 2)), None, 3", "must return positions, or positions and headings; it returned 3 values"),
    ("return np.full((1, 4, 2), 9.0)", r"w\.xml:2: robot 0 of 'a' at \(9, 9\) stands outside the arena"),
])
def test_what_a_placement_of_the_users_own_gets_wrong_is_said_with_its_line(ringed, body, words):
    with pytest.raises(WorldError, match=words):
        Simulation(ringed(body))


def test_a_placement_without_a_method_is_refused_when_its_file_is_loaded(own_registry, tmp_path):
    (tmp_path / "ring.py").write_text(OWN.format(body="pass").replace("def place(self, site)", "def put(self)"))
    with pytest.raises(FormigaError, match=r"<ring> of the role 'placement' needs a method place\(self, site\); Ring has none"):
        load_elements(tmp_path / "ring.py")


@pytest.mark.parametrize("engine", ["planar", "spatial"])
def test_a_recording_of_it_is_replayed_without_its_code(ringed, engine, tmp_path, monkeypatch):
    run = simulate(ringed(engine=engine), seconds=0.5, seed=3, out=tmp_path)
    monkeypatch.setattr(elements, "_registry", {tag: known for tag, known in elements._registry.items() if tag != "ring"})
    recording = read_recording(run.recording)
    replay = Replay(recording)
    assert np.array_equal(replay.sim.state.position[0, :, 0], recording.poses().x[0, 0])
    with pytest.raises(WorldError, match="the code of this placement is not here: it is known only from a recording"):
        Simulation(recording.world)
