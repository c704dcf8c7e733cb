"""Hills, holes, ramps, zones; explosions, and what is refused in space."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from formiga.control.sequence import Sequence
from formiga.errors import WorldError
from formiga.loop import Simulation
from formiga.world.model import Arena, Ball, Group, Hole, Joint, Material, Platform, Puck, Ramp, Solid, Terrain, Trigger, World
from formiga.world.placement import Grid, Scatter
from formiga.world.robots import SBot
from tests.engine.space import drive, events, spatial


# -- the ground ----------------------------------------------------------------------------------------------------------------
def test_a_robot_drives_up_a_ramp_and_stays_up_on_the_platform():
    ramp, top = Ramp(x=0.4, y=0, width=0.4, depth=0.4, height=0.08), Platform(x=0.8, y=0, width=0.4, depth=0.4, height=0.08)
    sim = drive(Simulation(spatial(ramp, top, robot=SBot(base="wheels"))), 10.0, (0.08, 0.08))
    assert sim.state.bodies[0, sim.model.chassis[0], 2] == pytest.approx(0.08, abs=3e-3)


def test_a_robot_falls_into_a_hole_and_no_deeper_than_its_bottom():
    hole = Hole(x=0.3, y=0, width=0.2, depth=0.4, deep=0.15)
    sim = drive(Simulation(spatial(hole, robot=SBot())), 5.0, (0.08, 0.08))
    z = sim.state.bodies[0, sim.model.chassis[0], 2]
    assert -0.16 < z < -0.02


def test_on_hills_nobody_falls_through_and_everybody_is_slower():
    def speed(*ground):
        group = Group(SBot(), count=6, name="r", place=(Grid(spacing=0.4, heading=0.3),),
                      controller=Sequence(moves=(60, 0.06, 0.08)))
        sim = Simulation(World(engine="spatial", things=ground, groups=(group,)))
        start, total = sim.state.position.copy(), 0.0
        for _ in range(100):
            sim.step()
            total += np.hypot(*np.moveaxis(sim.state.position - start, -1, 0)).mean()
            start = sim.state.position.copy()
            assert sim.state.bodies[0, :, 2].min() > -2e-3
        return total

    assert speed(Terrain(width=4, depth=4, amplitude=0.04, grain=0.3, seed=1)) < speed()


def test_what_lies_about_lies_on_the_ground_wherever_that_is():
    hills = Terrain(width=3, depth=3, amplitude=0.3, grain=0.5, seed=2)
    for ground in (hills, Platform(x=0.3, y=0.3, width=0.4, depth=0.4, height=0.2)):
        sim = Simulation(spatial(ground, Puck(x=0.3, y=0.3, radius=0.05), robot=SBot(), at=[(-0.5, -0.5, 0.0)]))
        before = sim.state.bodies[0, sim.model.movables[0], 2]
        drive(sim, 1.0)
        assert 0.0 < before < 0.35 and np.hypot(*(sim.state.movables[0, 0, :2] - 0.3)) < 0.3


@pytest.mark.parametrize(("shape", "size", "high"), [("cylinder", (0.4, 0.06), 0.2), ("cylinder", (0.06, 0.4), 0.03),
                                                     ("capsule", (0.06, 0.4), 0.03), ("sphere", (0.1,), 0.05)])
def test_a_solid_that_lies_on_its_side_starts_on_the_floor(shape, size, high):
    sim = Simulation(spatial(Solid(shape=shape, size=size, roll=pi / 2)))
    assert sim.state.bodies[0, 0, 2] == pytest.approx(high, abs=1e-6)
    assert drive(sim, 0.5).state.bodies[0, 0, 2] == pytest.approx(high, abs=5e-3)


def test_scattered_robots_keep_clear_of_solids_and_holes():
    group = Group(SBot(), count=6, name="r", place=(Scatter(),))
    for thing in (Solid(size=(1.6, 1.6, 0.5), fixed=True), Hole(x=0, y=0, width=2, depth=2)):
        sim = Simulation(World(engine="spatial", things=(Arena(width=3.2, depth=3.2), thing), groups=(group,)))
        assert np.abs(sim.state.position[0]).max(axis=1).min() > 0.8
        assert sim.state.bodies[0, sim.model.chassis, 2].min() > -0.01


def test_robots_settle_on_the_ground_alone():
    """A ball on its way to a robot and a stone above it touch nobody before the clock starts."""
    stone = Solid(name="stone", size=(0.1,), shape="sphere", z=0.3, mass=2.0)
    sim = Simulation(spatial(Ball(x=-0.2, y=0, vx=2.0, mass=0.5, felt=True), stone, robot=SBot()))
    assert sim.state.position[0, 0] == pytest.approx([0.0, 0.0], abs=1e-3)
    assert sim.state.bodies[0, sim.model.chassis[0], 3] == pytest.approx(1.0, abs=1e-3)


def test_a_fixed_solid_can_be_gripped():
    sim = Simulation(spatial(Solid(name="post", size=(0.1, 0.3, 0.2), x=0.12, fixed=True), robot=SBot()))
    sim.state.joint_command[0, 0, 2] = 1.0
    assert [event.kind for event in events(sim, 2.0, (-0.08, -0.08))] == ["grip"]
    assert sim.state.grips[0, 0, 2] > 3.0


def test_a_terrain_from_a_picture_is_as_high_as_it_is_white(tmp_path):
    from PIL import Image

    from formiga.engine.ground import terrain_heights

    grey = np.zeros((20, 40), np.uint8)
    grey[:10, 20:] = 255  # upper right: large y, large x
    Image.fromarray(grey).save(tmp_path / "hill.png")
    terrain = Terrain(width=2.0, depth=1.0, amplitude=0.3, image=str(tmp_path / "hill.png"))
    height = terrain_heights(terrain)
    assert height.shape == (20, 40) and height[-1, -1] == pytest.approx(0.3) and height[0, 0] == height[-1, 0] == 0.0
    sim = Simulation(spatial(Terrain(width=2.0, depth=1.0, amplitude=0.3, image=str(tmp_path / "hill.png")), robot=SBot(),
                             at=[(0.7, 0.3, 0.0), (-0.7, 0.0, 0.0)]))
    assert sim.state.bodies[0, sim.model.chassis, 2] == pytest.approx([0.3, 0.0], abs=2e-3)
    Image.fromarray(np.full((10, 10), 128, np.uint8)).save(tmp_path / "grey.png")
    sim = Simulation(spatial(Terrain(width=2.0, depth=1.0, amplitude=0.3, image=str(tmp_path / "grey.png")), robot=SBot()))
    assert sim.state.bodies[0, sim.model.chassis[0], 2] == pytest.approx(0.3 * 128 / 255, abs=2e-3)
    Image.fromarray(np.tile(np.linspace(0, 65535, 40).astype(np.uint16), (20, 1))).save(tmp_path / "fine.png")
    fine = terrain_heights(Terrain(width=2.0, depth=1.0, amplitude=0.3, image=str(tmp_path / "fine.png")))
    assert fine[5] == pytest.approx(np.linspace(0, 0.3, 40), abs=1e-3)
    (tmp_path / "broken.png").write_bytes(b"no picture")
    with pytest.raises(WorldError, match="cannot be read as a picture"):
        terrain_heights(Terrain(width=1, depth=1, image=str(tmp_path / "broken.png")))


def test_the_same_seed_gives_the_same_hills_and_another_seed_others():
    from formiga.engine.ground import terrain_heights

    one, other = (terrain_heights(Terrain(width=2, depth=1, seed=seed)) for seed in (1, 2))
    assert one.shape == (51, 101) and one.min() == 0.0 and one.max() == pytest.approx(0.04)
    assert np.abs(one - other).max() > 0.01
    level = terrain_heights(Terrain(width=2, depth=2, seed=1, flat=0.5, grain=0.2))
    assert np.ptp(level[40:61, 40:61]) < 1e-12


# -- zones, explosions, refusals ------------------------------------------------------------------------------------------
def test_a_trigger_knows_who_comes_and_goes():
    sim = Simulation(spatial(Trigger(x=0.2, y=0, width=0.1, depth=0.2, name="gate"), robot=SBot()))
    found = events(sim, 5.0, (0.08, 0.08))
    assert [(event.kind, event.text) for event in found] == [("enter", "r.0 comes into 'gate'"), ("leave", "r.0 leaves 'gate'")]
    assert found[0].time == pytest.approx(0.15 / 0.08, abs=0.15)


def test_a_motion_that_explodes_ends_its_world_and_says_when_and_where():
    sim = Simulation(spatial(robot=SBot(), at=[(0, 0, 0), (0.5, 0, 0)]), worlds=1)
    drive(sim, 0.5, (0.08, 0.08), (0.08, 0.08))
    sim.state.own.integration[0, 1 + sim.model.mj.nq + 4] = 1e9  # a speed, of the second robot
    before = sim.state.position.copy()
    sim.step()
    event = sim.state.scratch.events[-1]
    assert event.kind == "explode" and "exploded at 0.5 s" in event.text and "r.1" in event.text
    assert sim.state.done[0] and np.isfinite(sim.state.position).all()
    assert_array_equal(sim.state.position, before)
    sim.step()  # and nothing more happens


@pytest.mark.parametrize(("things", "message"), [
    ([Solid(size=(0.1,), shape="sphere"), Joint(one="solid", other="nobody", x=0, y=0, z=0)], "nothing called 'nobody'"),
    ([Solid(size=(0.1,), shape="sphere"), Joint(one="solid", other="solid", x=0, y=0, z=0)], "with itself"),
    ([Solid(size=(0.1,), shape="sphere", material="wod"), Material(name="wood")], "no material 'wod'. Did you mean 'wood'"),
    ([Terrain(width=1e3, depth=1, grain=1e-3)], "too fine for 1000 m"),
    ([Terrain(width=1, depth=1), Hole(x=0, y=0, width=0.1, depth=0.1)], "one <terrain>, or holes"),
    ([Hole(x=0, y=0, width=0.1, depth=0.1), Hole(x=1, y=0, width=0.1, depth=0.1, deep=0.5)], "equally deep"),
])
def test_what_cannot_be_built_is_refused(things, message):
    with pytest.raises(WorldError, match=message.replace("(", r"\(")):
        Simulation(spatial(*things))


@pytest.mark.parametrize(("make", "message"), [
    (lambda: Solid(size=(0.1, 0.1)), "a box has 3 numbers"),
    (lambda: Joint(one="a", other="b", x=0, y=0, z=0, lower=-1.0), "both limits"),
    (lambda: Joint(one="a", other="b", x=0, y=0, z=0, kind="ball", motor=1.0), "only hinge and slider"),
    (lambda: Joint(one="a", other="b", x=0, y=0, z=0, kind="slider", break_force=1.0), "can break"),
    (lambda: Joint(one="a", other="b", x=0, y=0, z=0, kind="hinge", axis=(0, 0, 0)), "no direction"),
    (lambda: Joint(one="a", other="b", x=0, y=0, z=0, kind="universal", axis=(2, 0, 0)), "not the same"),
])
def test_elements_that_make_no_sense_are_refused(make, message):
    with pytest.raises(WorldError, match=message):
        make()


@pytest.mark.parametrize(("things", "message"), [
    ([Solid(name="a", size=(0.4, 0.4, 0.4)), Solid(name="b", size=(0.4, 0.4, 0.4), x=0.05)], "'a' and 'b' overlap by 0.35 m"),
    ([Solid(name="a", size=(0.4, 0.4, 0.4), z=-0.1)], "the ground and 'a' overlap"),
    ([Solid(name="a", size=(0.4, 0.4, 0.4), fixed=True)], "'a' and 'r.0' overlap|'r.0' and 'a' overlap"),
])
def test_who_starts_deep_inside_something_is_refused(things, message):
    with pytest.raises(WorldError, match=message):
        Simulation(spatial(*things, robot=SBot(), at=[(0.1 if things[-1].fixed else 2.0, 0.0, 0.0)]))


def test_two_of_a_name_are_refused():
    for kind in ({"one": "floor", "other": "a"}, {"one": "floor", "other": "b"}):
        with pytest.raises(WorldError, match="second joint with the name 'joint'"):
            spatial(Solid(name="a", size=(0.1, 0.1, 0.1)), Solid(name="b", size=(0.1, 0.1, 0.1)), *(
                Joint(x=0, y=0, z=0, **kind) for _ in range(2)))
    with pytest.raises(WorldError, match="second solid with the name 'solid'"):
        spatial(Solid(size=(0.1, 0.1, 0.1)), Solid(size=(0.1, 0.1, 0.1)))


def test_the_plane_refuses_what_needs_space_and_space_what_needs_the_plane():
    with pytest.raises(WorldError, match="<terrain> needs three dimensions"):
        Simulation(World(things=(Terrain(width=1, depth=1),)))
    with pytest.raises(WorldError, match="position_noise"):
        Simulation(spatial(robot=SBot(position_noise=0.1)))
    with pytest.raises(WorldError, match="cannot slide: this ground is not level"):
        Simulation(spatial(Terrain(width=1, depth=1), robot=SBot(base="sliding")))
