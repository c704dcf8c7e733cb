"""A scene on a real viser server that nobody watches: what it would send, and what comes back."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from formiga.engine.fixed import Region
from formiga.errors import FormigaError
from formiga.geometry import about_z
from formiga.view import overlays
from formiga.view.mesh import rgb
from formiga.view.nodes import as_light
from formiga.view.overlays import OVERLAYS
from formiga.view.palette import DEAD
from formiga.view.pointer import Hold, anchor
from formiga.view.things import THICK, glow_of, scattered, sides
from formiga.world.model import Arena, Cylinder, Cylinders, Group, Lamp, Rectangle, World
from formiga.world.robots import Disc, SBot


def handle(scene, name):
    return scene._nodes.named[name].handle


def names(scene) -> set[str]:
    return {name for name in scene._nodes.named if not name.startswith("light/")}


@contextmanager
def sent(scene):
    """The messages that are queued meanwhile."""
    queue, messages = scene.api._queue_scene_message, []
    scene.api._queue_scene_message = lambda message: (messages.append(message), queue(message))[1]
    yield messages
    scene.api._queue_scene_message = queue


def click(scene, x, y, modifier=None, z=3.0):
    """Straight down on (x, y)."""
    event = SimpleNamespace(ray_origin=(x, y, z), ray_direction=(0.0, 0.0, -1.0), modifier=modifier)
    asyncio.run(scene._pointer.clicked(event))


# -- what is drawn ----------------------------------------------------------------------------------------------------
def test_robots_are_where_the_frame_says(scene, frame):
    frame = replace(frame, turn=about_z(np.arange(5.0)))
    scene.show(frame)
    for at, robots in enumerate(frame.world.slices):
        for part in ("body", "paint"):
            node = handle(scene, f"robots/{at}/{part}")
            assert node.batched_positions == pytest.approx(frame.place[robots], abs=1e-6)
            assert node.batched_wxyzs == pytest.approx(frame.turn[robots], abs=1e-6)


def test_everything_in_a_world_has_a_node(scene, frame):
    scene.show(frame)
    assert {"floor", "grid", "arena", "walls", "boxes", "rounds", "polygon/3", "lamp/5/post", "lamp/5/bulb", "lamp/5/light",
            "zone/6", "robots/0/body", "robots/1/paint"} <= names(scene)
    assert len(handle(scene, "walls").batched_positions) == 2  # a chain of two
    assert handle(scene, "rounds").batched_scales == pytest.approx(np.array([(0.1, 0.1, 0.1)]))


def test_a_frame_that_is_the_same_sends_nothing(scene, frame):
    scene.overlays = set(OVERLAYS)
    scene.show(frame)
    with sent(scene) as messages:
        scene.show(frame)
        scene.show(replace(frame, step=0))
    assert messages == []


def test_a_frame_in_which_robots_move_sends_a_handful_of_arrays(scene, frame):
    scene.show(frame)
    with sent(scene) as messages:
        scene.show(replace(frame, step=1, place=frame.place + (0.01, 0.0, 0.0)))
    assert len(messages) == 2 * len(frame.world.groups)


def test_an_edit_keeps_the_nodes_that_it_does_not_touch(scene, frame):
    """Nothing flickers, and a drag that edits what it drags goes on."""
    scene.show(frame)
    before = {name: handle(scene, name) for name in names(scene)}
    things = list(frame.world.things)
    things[2], things[5] = replace(things[2], x=0.2), replace(things[5], x=-1.5)
    scene.show(replace(frame, world=replace(frame.world, things=tuple(things)), version=2))
    assert {name: handle(scene, name) for name in names(scene)} == before
    assert handle(scene, "boxes").batched_positions[0, 0] == pytest.approx(0.2)
    assert handle(scene, "lamp/5/bulb").position[0] == pytest.approx(-1.5)


def test_another_world_takes_the_place_of_the_last(scene, frame, still):
    scene.show(frame)
    other = World(groups=(Group(SBot(), 1),))
    scene.show(still(other, np.zeros((1, 2)), version=2))
    assert names(scene) == {"floor", "grid", "robots/0/body", "robots/0/paint"}


def test_things_may_change_their_kind(scene, frame):
    """What stands at an index after an edit has nothing to do with what stood there before."""
    first, *rest = frame.world.things
    scene.show(frame)
    for version in range(2, 2 + len(rest)):
        rest = [*rest[1:], rest[0]]
        scene.show(replace(frame, world=replace(frame.world, things=(first, *rest)), version=version))
        assert all(not part.handle._impl.removed for part in scene._nodes.named.values())


def test_cleared_is_cleared_and_can_be_drawn_again(scene, frame):
    scene.show(frame)
    scene.clear()
    assert names(scene) == set()
    assert not any(name.startswith("/formiga") for name in scene.api._handle_from_node_name)
    scene.show(frame)
    assert "robots/0/body" in names(scene)


def test_a_thing_that_is_off_lies_flat_and_a_lamp_that_is_off_has_no_light(scene, frame):
    things = (Arena(4.0, 3.0), Lamp(0.0, 0.0, on=False), Lamp(1.0, 0.0, intensity=0.0), Lamp(-1.0, 0.0))
    scene.show(replace(frame, world=replace(frame.world, things=things)))
    assert {name for name in names(scene) if name.endswith("/light")} == {"lamp/3/light"}
    off = Rectangle(0.0, 0.0, 1.0, 1.0)
    object.__setattr__(off, "on", False)
    scene.show(replace(frame, world=replace(frame.world, things=(off,)), version=2))
    assert handle(scene, "boxes").batched_scales[0, 2] < 0.01


def test_robots_that_leave_an_open_arena_still_have_a_floor_and_lines_below_them(scene, frame):
    for walls, wider in ((True, 1.0), (False, 20.0)):
        scene.show(replace(frame, world=replace(frame.world, things=(Arena(4.0, 3.0, walls=walls),)), version=2 + walls))
        region, grid = scene._pointer.region, handle(scene, "grid")
        assert region.x1 - region.x0 == pytest.approx(4.0 + wider, abs=0.5)
        assert (grid.width, grid.height) == pytest.approx((4.0, 3.0) if walls else (24.0, 23.0))
        assert grid.cell_size == 0.1


def test_a_high_arena_is_glass_above_a_kerb(scene, frame):
    scene.show(replace(frame, world=replace(frame.world, things=(Arena(4.0, 3.0, height=0.4),))))
    assert handle(scene, "glass").opacity < 0.5
    assert handle(scene, "arena").batched_scales[:, 2].max() < 0.1
    click(scene, 0.0, 1.5)  # glass is not in the way of a click


def test_scattered_obstacles_are_drawn_where_robots_meet_them(scene, frame):
    from formiga.engine.flatten import flatten

    things = (Arena(4.0, 3.0), Cylinders(5, 0.05, seed=1), Cylinder(0.0, 0.0, 0.1), Cylinders(3, 0.08, seed=2, name="more"))
    world = replace(frame.world, things=things)
    places = scattered(world, flatten(world).shapes)
    discs = flatten(world).discs
    assert sorted(map(tuple, places[1])) == sorted(map(tuple, discs[discs[:, 2] == 0.05, :2].tolist()))
    assert sorted(map(tuple, places[3])) == sorted(map(tuple, discs[discs[:, 2] == 0.08, :2].tolist()))
    scene.show(replace(frame, world=world))
    assert len(handle(scene, "field").batched_positions) == 8


def test_the_inner_faces_of_an_arena_are_the_lines_that_robots_meet():
    north, south, east, west = sides(Arena(4.0, 3.0, x=1.0, y=2.0))
    assert north[1] - THICK / 2 == pytest.approx(3.5) and south[1] + THICK / 2 == pytest.approx(0.5)
    assert east[0] - THICK / 2 == pytest.approx(3.0) and west[0] + THICK / 2 == pytest.approx(-1.0)


def test_dead_robots_are_grey_and_crashed_ones_have_a_ring(scene, frame):
    crashed = np.array([False, True, False, False, True])
    scene.show(replace(frame, crashed=crashed, alive=np.array([True, True, False, True, True])))
    colours = handle(scene, "robots/0/paint").batched_colors
    assert colours[2].tolist() == as_light(rgb(DEAD)).tolist() and colours[0].tolist() != colours[2].tolist()
    rings = handle(scene, "over/crashed")
    assert rings.batched_positions == pytest.approx(frame.place[crashed], abs=1e-6)
    assert rings.batched_scales[:, 0] == pytest.approx([0.058, 0.085])
    scene.show(frame)
    assert not rings.visible and handle(scene, "robots/0/paint").batched_colors[2].tolist() == colours[0].tolist()


def test_the_selected_robot_has_a_halo(scene, frame):
    scene.show(replace(frame, selected=4))
    halo = handle(scene, "over/selected")
    assert halo.visible and halo.batched_positions == pytest.approx(frame.place[[4]], abs=1e-6)
    assert halo.batched_scales[:, 0] == pytest.approx(1.5 * 0.085)
    scene.show(replace(frame, selected=-1))
    assert not halo.visible


def test_the_halo_of_a_large_robot_is_near_it(scene, still):
    world = World(things=(Arena(4.0, 3.0),), groups=(Group(Disc(0.4, 0.3, 0.1), 1, "big"),))
    scene.show(still(world, np.zeros((1, 2)), selected=0))
    assert handle(scene, "over/selected").batched_scales[:, 0] == pytest.approx(0.45)


def test_overlays_come_and_go(scene, frame):
    rays = overlays.Rays(np.zeros((2, 3)), np.ones((2, 3)), np.ones(2))
    full = replace(frame, rays=rays, links=[(0, 1)], shifts=np.full((5, 2), 0.01))
    scene.overlays = set(OVERLAYS)
    scene.show(full)
    scene.show(replace(full, step=1, place=full.place + 0.1))
    shown = {name for name in names(scene) if name.startswith("over/") and handle(scene, name).visible}
    assert {"over/beams", "over/links", "over/circles", "over/shifts", "over/trail/0", "over/name/3"} <= shown
    assert handle(scene, "over/circles").batched_scales[:, 0] == pytest.approx([0.088] * 3 + [0.085] * 2)
    scene.overlays = set()
    scene.show(replace(full, step=2))
    assert not [name for name in names(scene) if name.startswith("over/") and handle(scene, name).visible]


def test_an_unknown_overlay_is_refused(scene, frame):
    scene.overlays = {"trials"}
    with pytest.raises(FormigaError, match=r"no overlay 'trials'\. Did you mean 'trails'\?"):
        scene.show(frame)


def test_dark_surroundings_change_colours_and_nothing_else(scene, frame):
    scene.show(frame)
    place, before = handle(scene, "robots/0/body").batched_positions.copy(), handle(scene, "floor").color
    scene.dark = True
    assert handle(scene, "floor").color != before and sum(handle(scene, "floor").color) < sum(before)
    assert handle(scene, "robots/0/body").batched_positions == pytest.approx(place)


def test_a_white_lamp_is_drawn_yellow_and_a_coloured_one_as_it_is():
    assert glow_of("#ffffff") == "#ffcc33" and glow_of("#ff0000") == "#ff0000"


# -- what comes back ----------------------------------------------------------------------------------------------------
def test_a_click_finds_who_stands_there(scene, frame):
    picked, floored = [], []
    scene.on_pick(lambda target, event: picked.append((target, event.modifier)))
    scene.on_floor(lambda x, y, event: floored.append((x, y)))
    scene.show(frame)
    for number, (x, y) in enumerate(frame.place[:, :2]):
        click(scene, x, y)
        assert picked.pop() == (("robot", number), None)
    for index, (x, y) in {0: (0.0, 1.505), 1: (-0.5, 0.0), 2: (1.0, 1.0), 3: (-0.75, -0.9), 4: (1.0, -1.0), 5: (1.5, 0.0),
                          6: (0.5, 0.5)}.items():
        click(scene, x, y, modifier="shift")
        assert picked.pop() == (("thing", index), "shift")
    click(scene, 0.3, -1.2)
    assert picked == [] and floored == [pytest.approx((0.3, -1.2))]


def test_a_click_finds_robots_where_they_are_now(scene, frame):
    picked = []
    scene.on_pick(lambda target, event: picked.append(target))
    scene.show(frame)
    scene.show(replace(frame, step=1, place=frame.place + (0.0, 0.3, 0.0)))
    click(scene, 0.5, -0.5)
    click(scene, 0.5, -0.2)
    assert picked == [("robot", 0)]


def test_callbacks_may_be_coroutines(scene, frame):
    picked = []

    async def later(target, event):
        await asyncio.sleep(0)
        picked.append(target)

    scene.on_pick(later)
    scene.show(frame)
    click(scene, 0.5, -0.5)
    assert picked == [("robot", 0)]


def drag(scene, name, instance, phase, start, end, eye=(0.0, 0.0, 10.0)):
    camera = SimpleNamespace(position=np.array(eye))
    asyncio.run(scene._pointer.drag(name, SimpleNamespace(
        phase=phase, instance_index=instance, client_id=3, client=SimpleNamespace(camera=camera), start_position=start,
        end_position=end)))


def test_a_drag_moves_what_it_holds_without_a_jump(scene, frame):
    """The hand takes the robot at its rim, 6 cm above the floor; the robot's middle keeps its distance from the hand."""
    dragged = []
    scene.on_drag(lambda target, phase, x, y, event: dragged.append((target, phase, x, y)))
    scene.show(frame)
    drag(scene, "robots/0/paint", 1, "start", (0.85, -0.5, 0.06), (0.85, -0.5, 0.06))
    drag(scene, "robots/0/paint", 1, "update", (0.85, -0.5, 0.06), (1.05, -0.1, 0.06))
    drag(scene, "robots/0/paint", 1, "end", (0.85, -0.5, 0.06), (1.05, -0.1, 0.06))
    assert [(target, phase) for target, phase, *_ in dragged] == [(("robot", 1), p) for p in ("start", "update", "end")]
    assert dragged[0][2:] == pytest.approx((0.8, -0.5)) and dragged[2][2:] == pytest.approx((1.0, -0.1))
    assert scene._pointer.holds == {}


def test_a_drag_ends_at_the_edge_of_the_floor_and_waits_while_the_pointer_is_in_the_sky():
    region, hold = Region(-1.0, -1.0, 1.0, 1.0), Hold((0.0, 0.0, 0.0), (0.1, 0.0))
    assert hold.follow((0.0, -5.0, 1.0), (0.0, -4.0, 0.9), region) == pytest.approx((0.1, 1.0))
    assert hold.follow((0.0, -5.0, 1.0), (0.5, -4.0, 1.2), region) == pytest.approx((0.1, 1.0))
    assert hold.follow((0.0, 0.0, 1.0), (0.2, 0.3, 0.0), region) == pytest.approx((0.3, 0.3))


def test_what_has_no_grip_cannot_be_dragged(scene, frame):
    def held():
        return {name for name, part in scene._nodes.named.items() if getattr(part.handle._impl, "drag_cb", [])}

    scene.show(frame)
    assert {"robots/0/body", "boxes", "lamp/5/post", "polygon/3"} <= held() and "arena" not in held()
    scene.draggable = {"robot"}
    assert held() == {"robots/0/body", "robots/0/paint", "robots/1/body", "robots/1/paint"}
    scene.draggable = set()
    assert held() == set()
    scene.draggable = {"thing"}
    assert "boxes" in held() and "robots/0/body" not in held()


@pytest.mark.parametrize("target, expected", [
    (("robot", 3), (-1.5, 0.5)), (("thing", 2), (1.0, 1.0)), (("thing", 1), (-1 / 3, 1 / 3)), (("thing", 0), (0.0, 0.0))])
def test_everything_has_a_point_to_drag_it_by(frame, target, expected):
    assert anchor(frame, target) == pytest.approx(expected)


def test_looking_at_frames_needs_no_browser_parts():
    """Only modules that draw into a browser import viser."""
    program = ("import sys, formiga.view, formiga.view.frame, formiga.view.cameras, formiga.view.overlays\n"
               "sys.exit('viser' in sys.modules or 'trimesh' in sys.modules)")
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0
