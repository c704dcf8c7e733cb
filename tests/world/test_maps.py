"""<map>: walls from images, in both engines; what is wrong with one, with file and line."""

import shutil

import numpy as np
import pytest
from PIL import Image, ImageDraw

from formiga.engine.flatten import as_grid, flatten, plan_of
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.map.rays import cast
from formiga.map.walls import fill, from_walls
from formiga.world.maps import Map
from formiga.world.model import World
from formiga.world.reader import read, read_text
from formiga.world.shipped import world_of
from formiga.world.writer import to_text
from tests.map.test_files import BAD_IMAGES, BAD_YAML

ROBOTS = ('<disc count="6" radius="0.1" wheel_base="0.15" top_speed="0.3"><scanner reach="30" beams="37" field="360deg"/>'
          '<proximity reach="0.3" mount="0.1"/></disc>')


def draw(folder, name="plan.png"):
    """A room of 6 m x 4 m with an inner wall, a round pillar, a slanting one, and a corner of which nothing is known."""
    plan = Image.new("L", (120, 80), 254)
    pen = ImageDraw.Draw(plan)
    pen.rectangle((0, 0, 119, 79), outline=0, width=2)
    pen.rectangle((60, 0, 61, 50), fill=0)
    pen.ellipse((20, 20, 35, 35), fill=0)
    pen.line((80, 70, 105, 40), fill=0, width=3)
    pen.rectangle((2, 60, 30, 77), fill=205)
    plan.save(folder / name)


def world(folder, attributes='file="plan.png" resolution="5cm"', engine="planar", more=ROBOTS):
    draw(folder)
    draw(folder, "plan.pgm")
    (folder / "plan.yaml").write_text("image: plan.pgm\nresolution: 0.05\norigin: [1.0, -2.0, 0.4]\n")
    (folder / "w.xml").write_text(f'<world engine="{engine}">\n  <map {attributes}/>\n{more}</world>\n')
    return read(folder / "w.xml")


@pytest.mark.parametrize("attributes", ['file="plan.png" resolution="5cm"', 'file="plan.yaml"',
                                        'file="plan.yaml" x="3" heading="2"',
                                        'file="plan.pgm" resolution="0.1" x="2" y="-1" heading="30deg"'])
def test_images_to_walls_and_back_are_the_same_cells(tmp_path, attributes):
    made = world(tmp_path, attributes)
    grid, fixed = made.maps["map"], flatten(made)
    local = grid.local_of(fixed.segments.reshape(-1, 2, 2)).reshape(-1, 4)
    assert np.abs(local - local.round()).max() < 1e-9                       # on the edges of cells
    assert np.array_equal(fill(local.round(), grid.shape), grid.occupied)
    if grid.yaw == 0.0:
        again = from_walls(np.zeros((0, 5)), fixed.outlines, (*grid.corners[0], *grid.corners[2]), grid.resolution)
        assert np.array_equal(again.occupied, grid.occupied)


def test_an_image_lies_around_its_centre_and_a_map_server_file_where_its_origin_says(tmp_path):
    grid = world(tmp_path).maps["map"]
    assert (grid.x, grid.y, grid.centre) == (-3.0, -2.0, (0.0, 0.0))
    grid = world(tmp_path, 'file="plan.yaml"').maps["map"]
    assert (grid.x, grid.y, grid.yaw) == (1.0, -2.0, 0.4)
    grid = world(tmp_path, 'file="plan.yaml" x="7" y="8" heading="0"').maps["map"]
    assert grid.centre == pytest.approx((7.0, 8.0)) and grid.yaw == 0.0


@pytest.mark.parametrize("engine", ["planar", "spatial"])
@pytest.mark.parametrize("attributes", ['file="plan.png" resolution="5cm" height="0.5"', 'file="plan.yaml" height="0.5"'])
def test_beams_on_the_walls_of_a_map_are_those_over_its_cells(tmp_path, engine, attributes):
    """Exact for walls of cells, so within half a cell of what was drawn."""
    simulation = Simulation(world(tmp_path, attributes, engine), 5, 4 if engine == "planar" else 1)
    state, scanner, grid = simulation.state, simulation.world.groups[0].sensors[0], simulation.world.maps["map"]
    poses = np.concatenate([state.position, state.heading[..., None]], axis=-1)
    seen = simulation.engine.cast_from(simulation.model, state, poses[:, :, None], scanner.fan, 30.0)[:, :, 0]
    assert np.abs(seen - cast(grid, poses, scanner.angles, 30.0)).max() < 1e-9
    assert np.array_equal(simulation.readings["disc"]["scanner"] < seen + 1e-12, np.ones(seen.shape, bool))  # robots hide walls


def test_both_engines_see_the_same_walls_also_over_hills(tmp_path):
    """Boxes of MuJoCo stand where the walls of the plane are."""
    hill = '<ramp x="30" y="30" width="1" depth="1" height="0.1"/>'
    made = world(tmp_path, 'file="plan.yaml" height="0.5"', "spatial", hill + ROBOTS.replace('count="6"', 'count="1"'))
    space = Simulation(made, 3)
    assert not space.model.level
    plane = space.engine.cast_from(space.model, space.state, np.concatenate(
        [space.state.position, space.state.heading[..., None]], axis=-1)[:, :, None], made.groups[0].sensors[0].fan, 30.0)
    assert space.readings["disc"]["scanner"] == pytest.approx(plane[:, :, 0], abs=1e-3)


@pytest.mark.parametrize("engine", ["planar", "spatial"])
def test_robots_are_put_on_free_cells_stay_there_and_read_0_inside_walls(tmp_path, engine):
    simulation = Simulation(world(tmp_path, 'file="plan.yaml" height="0.5"', engine, ROBOTS.replace(
        "</disc>", "<random_walk/></disc>")), 1, 8 if engine == "planar" else 1)
    grid = simulation.world.maps["map"]
    assert (grid.at(simulation.state.position) == 0).all()
    for _ in range(200):
        simulation.step()
    assert (grid.at(simulation.state.position) != 100).all()
    inside = grid.centre_of(np.argwhere(grid.occupied)[::40])
    poses = np.concatenate([inside, np.ones((len(inside), 1))], axis=-1)
    poses = np.broadcast_to(poses, (simulation.state.worlds, 6, *poses.shape))
    assert not simulation.engine.cast_from(simulation.model, simulation.state, poses,
                                           simulation.world.groups[0].sensors[0].fan, 30.0).any()


def test_a_robot_cannot_be_put_into_a_wall(tmp_path):
    with pytest.raises(WorldError, match=r"w.xml:3: robot 0 of 'disc' at \(-1.6, 0.6\) stands in a wall or an obstacle"):
        Simulation(world(tmp_path, more='<disc radius="0.1" wheel_base="0.15" top_speed="0.3"><at x="-1.6" y="0.6"/></disc>'))


def test_robots_that_find_no_room_are_told_to_enlarge_the_map_not_an_arena(tmp_path):
    with pytest.raises(WorldError, match=r"w.xml:3: 99 robots .* do not fit in 6 m x 4 m; .* Enlarge the free part of <map>"):
        Simulation(world(tmp_path, more='<disc count="99" radius="0.4" wheel_base="0.15" top_speed="0.3"/>'))


def test_unknown_cells_are_walls_only_if_asked(tmp_path):
    open_, closed = (flatten(world(tmp_path, f'file="plan.png" resolution="5cm" unknown="{how}"')) for how in ("open", "wall"))
    assert len(closed.outlines) > len(open_.outlines)
    off = flatten(world(tmp_path, 'file="plan.png" resolution="5cm" on="false"'))
    assert len(off.shapes) == 0


def test_a_map_is_written_and_read_back(tmp_path):
    made = world(tmp_path, 'file="plan.png" resolution="5cm" x="1" heading="0.5" unknown="wall" colour="#aabbcc"')
    again = read_text(to_text(made), str(tmp_path / "x.xml"))
    assert again == made and np.array_equal(again.maps["map"].cells, made.maps["map"].cells)


@pytest.mark.parametrize("attributes", ['file="plan.png" resolution="5cm"', 'file="deep/plan.yaml"'])
def test_a_recording_brings_its_map_along(tmp_path, attributes):
    from formiga.lab import simulate
    from formiga.record.recording import read_recording

    (tmp_path / "deep/er").mkdir(parents=True)
    draw(tmp_path / "deep/er", "plan.pgm")
    (tmp_path / "deep/plan.yaml").write_text("image: er/plan.pgm\nresolution: 0.05\norigin: [1.0, -2.0, 0.1]\n")
    made = world(tmp_path, attributes)
    run = simulate(made, 1.0, out=tmp_path / "out")
    grid = made.maps["map"]
    shutil.rmtree(tmp_path / "deep")
    (tmp_path / "plan.png").unlink()
    again = read_recording(run.recording).world.maps["map"]
    assert np.array_equal(again.cells, grid.cells)
    assert (again.x, again.y, again.yaw, again.resolution) == (grid.x, grid.y, grid.yaw, grid.resolution)


def test_an_image_that_has_changed_is_read_again(tmp_path):
    before = world(tmp_path).maps["map"]
    Image.new("L", (10, 10), 0).save(tmp_path / "plan.png")
    after = read(tmp_path / "w.xml").maps["map"]
    assert before.shape == (80, 120) and after.shape == (10, 10)


def test_robots_have_the_map_by_its_name(tmp_path):
    made = world(tmp_path, 'file="plan.png" resolution="5cm" name="office"')
    assert made.map("office") is made.maps["office"]
    with pytest.raises(WorldError, match=r"no <map> 'offcie' in this world. Did you mean 'office'\? There are: office."):
        made.map("offcie")
    with pytest.raises(WorldError, match=r"There are: none"):
        World().map()


def test_the_walls_of_any_world_are_a_grid_too():
    """A robot that casts in it sees what its scanner sees, to within a cell or two along the beam: cells have a thickness."""
    made = read_text('<world><arena width="4" depth="3"/><cylinder x="1" y="0.5" radius="0.3"/><rectangle x="-1" y="0" '
                     'width="0.5" depth="1" heading="0.6"/><disc radius="0.1" wheel_base="0.15" top_speed="0.3">'
                     '<at x="0" y="-1" heading="1"/><scanner reach="9" beams="90" field="360deg"/></disc></world>')
    simulation, grid = Simulation(made), as_grid(made, 0.02)
    seen = simulation.readings["disc"]["scanner"][0, 0]
    there = cast(grid, [0.0, -1.0, 1.0], made.groups[0].sensors[0].angles, 9.0)
    assert grid.shape == (150, 200)
    assert np.median(np.abs(seen - there)) < 0.03 and np.quantile(np.abs(seen - there), 0.9) < 0.06
    assert grid.at([1.0, 0.5]) == grid.at([-1.0, 0.0]) == 100


# -- what is wrong ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("attributes, expected", [
    ('file="plan.png"', "w.xml:2: <map> needs 'resolution', such as 5cm"),
    ('file="absent.png" resolution="5cm"', "w.xml:2: <map> file: no file 'absent.png' beside"),
    ('file="plan.png" resolution="0"', "w.xml:2: <map> resolution: 0 is out of range"),
    ('file="plan.yaml" resolution="5cm"', "w.xml:2: <map> resolution: a YAML file has its own"),
    ('file="plan.yaml" negate="true"', "w.xml:2: <map> negate: a YAML file has its own"),
    ('file="plan.png" resolution="5cm" free="0.9"', "w.xml:2: <map> free: 0.9 is above 'occupied', 0.65"),
    ('file="w.xml" resolution="5cm"', "w.xml: is no image that can be a map"),
    ('file="plan.png" resolution="5cm"/><map file="plan.yaml"', "second map with the name 'map'"),
])
def test_a_bad_map_gives_one_message_with_file_and_line(tmp_path, attributes, expected):
    with pytest.raises(WorldError) as wrong:
        world(tmp_path, attributes)
    assert expected in str(wrong.value) and f"{tmp_path}/w.xml:2: " in str(wrong.value) and "\n" not in str(wrong.value)


@pytest.mark.parametrize("name", BAD_IMAGES)
def test_a_bad_image_is_refused_at_the_line_of_its_map(name, tmp_path):
    data, expected = BAD_IMAGES[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(WorldError, match=expected) as wrong:
        world(tmp_path, f'file="{name}" resolution="5cm"')
    assert str(wrong.value).startswith(f"{tmp_path}/w.xml:2: <map> file: {tmp_path}/{name}: ")


@pytest.mark.parametrize("text, line, expected", BAD_YAML[::4])
def test_a_bad_map_server_file_is_refused_at_the_line_of_its_map(text, line, expected, tmp_path):
    draw(tmp_path, "a.pgm")
    (tmp_path / "link.pgm").symlink_to("/etc/passwd")
    (tmp_path / "bad.yaml").write_text(text)
    with pytest.raises(WorldError) as wrong:
        world(tmp_path, 'file="bad.yaml"')
    assert str(wrong.value).startswith(f"{tmp_path}/w.xml:2: <map> file: {tmp_path}/bad.yaml:{line}: ")
    assert expected in str(wrong.value)


def test_a_photograph_has_too_many_walls(tmp_path, rng):
    Image.fromarray((255 * (rng.random((1000, 1000)) < 0.5)).astype(np.uint8)).save(tmp_path / "noise.png")
    made = world(tmp_path, 'file="noise.png" resolution="5cm"')
    with pytest.raises(WorldError, match=r"w.xml:2: <map> its cells have [\d,]+ straight walls; at most 200,000"):
        Simulation(made)


@pytest.mark.parametrize("shade", [0, 128])
def test_a_chequered_map_has_few_straight_walls_and_too_many_patches(tmp_path, shade):
    """Occupied or unknown: the lines between its squares are straight from side to side."""
    Image.fromarray(np.where(np.indices((640, 640)).sum(axis=0) % 2, 255, shade).astype(np.uint8)).save(tmp_path / "chess.png")
    with pytest.raises(WorldError, match=r"w.xml:2: <map> its cells have 204,800 separate patches; at most 200,000"):
        Simulation(world(tmp_path, 'file="chess.png" resolution="5cm"'))


def test_in_space_a_map_has_a_limited_number_of_boxes(tmp_path, rng):
    Image.fromarray((255 * (rng.random((200, 200)) < 0.6)).astype(np.uint8)).save(tmp_path / "noise.png")
    with pytest.raises(WorldError, match=r"w.xml:2: <map> in space its walls would be [\d,]+ boxes; at most 5,000"):
        Simulation(world(tmp_path, 'file="noise.png" resolution="50cm"', "spatial"))


def test_walls_of_a_map_are_few(tmp_path):
    """Runs, not cells: the office has thousands of occupied cells."""
    office = world_of("office")
    plan = plan_of(next(thing for thing in office.things if isinstance(thing, Map)))
    assert office.maps["map"].occupied.sum() > 8_000 and len(plan.walls) < 250 and len(plan.blocks) < 120
