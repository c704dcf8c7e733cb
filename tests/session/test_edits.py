"""Every edit, while it runs: what it changes, what it leaves, and that it can be taken back."""

import numpy as np
import pytest

import formiga
from formiga.session import names
from formiga.world import elements
from formiga.world.placement import At
from tests.reference.lab import same_state
from tests.session.workspace import Workspace, same


def element(workspace, name):
    world = workspace.session.world
    return names.element(world, names.find(world, name))


# -- set and get ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("path, text, value", [
    ("left.intensity", "0.5", 0.5), ("left.x", "30cm", 0.3), ("right.on", "true", True),
    ("nest.colour", "'#ff0000'", "#ff0000"),
    ("swarm.proximity.noise", "0.25", (0.25,)), ("swarm.controller.cruise", "0.5", 0.5), ("contact.model", "stop", "stop"),
    ("contact.crash_limit", "7", 7), ("world.doc", "two words", "two words"), ("world.seconds", "2 s", 2.0),
    ("rovers.top_speed", "10cm/s", 0.1), ("rail.points", "-0.5 0.8 0.5 0.8", (-0.5, 0.8, 0.5, 0.8)),
    ("cylinder.1.radius", "9cm", 0.09), ("trees.seed", "4", 4), ("box.name", "crate", "crate"),
])
def test_set_changes_one_attribute_and_nothing_else(workspace, path, text, value):
    workspace.steps(3)
    before = workspace.session.world
    target = names.find(before, path.rpartition(".")[0])
    workspace.run(f"set {path} {text}")
    after = workspace.session.world
    old, new = names.element(before, target), names.element(after, target)
    attribute = path.rpartition(".")[2]
    assert getattr(new, attribute) == value != getattr(old, attribute)
    assert [name for name in names.kinds(old) if getattr(old, name) != getattr(new, name)] == [attribute]
    workspace.run("undo")
    assert workspace.session.world is before


def paths(world):
    for name in names.all_names(world):
        for attribute in names.kinds(names.element(world, names.find(world, name))):
            yield f"{name}.{attribute}"
    yield from (f"{group.name}.count" for group in world.groups)
    yield from (f"swarm.2.{attribute}" for attribute in ("x", "y", "heading"))


def test_what_get_tells_can_be_set_again_and_changes_nothing(workspace):
    """The law of both commands, for everything that has a value."""
    workspace.steps(2)
    session = workspace.session
    poses = session.poses()
    for path in paths(session.world):
        before = session.world
        text = workspace.run(f"get {path}")
        if path == "world.dt":
            continue  # setting it starts again: the clock counts steps
        assert not workspace.session.console.run(f"set {path} '{text}'").failed, workspace.said
        assert session.world == before, path
        assert np.array_equal(session.poses()[0], poses[0]) and np.array_equal(session.poses()[1], poses[1]), path


def test_a_profile_is_a_set_of_values_and_setting_it_writes_all_of_them(workspace):
    assert element(workspace, "swarm").profile == "draft"
    noise = {name: values for name, values in type(element(workspace, "swarm")).PROFILES.items()}
    workspace.run("set swarm.profile tr")
    for attribute, value in noise["tr"].items():
        assert getattr(element(workspace, "swarm"), attribute) == value
    workspace.run("set swarm.profile draft")
    for attribute, value in noise["draft"].items():
        assert getattr(element(workspace, "swarm"), attribute) == value


@pytest.mark.parametrize("path, words", [
    ("time", "0.3"), ("step", "3"), ("seed", "11"), ("speed", "1"), ("robots", "7"), ("playing", "false"), ("factor", "0.0"),
    ("selected", "none"), ("swarm.count", "4"), ("swarm.0.alive", "true"), ("car.0.controller", "none"), ("0.driven", "false"),
    ("left.on", "true"), ("right.on", "false"), ("world.name", "workspace"),
])
def test_get_tells_what_is_true_now(world, path, words):
    workspace = Workspace(world, seed=11)
    workspace.steps(3)
    assert workspace.run(f"get {path}")[:len(words)] == words


def test_get_tells_poses_and_readings_to_the_last_bit(workspace):
    workspace.steps(5)
    state = workspace.session.sim.state
    assert float(workspace.run("get swarm.1.x")) == state.position[0, 1, 0]
    assert float(workspace.run("get 1.heading")) == state.heading[0, 1]
    told = [float(word) for word in workspace.run("get swarm.1.proximity").split()]
    assert np.array_equal(told, workspace.session.sim.readings["swarm"]["proximity"][0, 1].ravel())


def test_a_period_can_only_change_before_the_first_step(workspace):
    workspace.run("set world.dt 0.05")
    assert workspace.session.world.dt == 0.05 and workspace.session.time == 0.0
    workspace.steps(1)
    assert "cannot change from 0.05 s to 0.1 s while the world runs" in workspace.refused("set world.dt 0.1")


# -- an edit of nothing in sight ----------------------------------------------------------------------------------------
def test_an_edit_that_nobody_feels_leaves_the_run_as_it_would_have_been(world):
    plain, edited = Workspace(world, seed=3), Workspace(world, seed=3)
    plain.steps(20)
    edited.steps(10)
    edited.run("set nest.colour '#00ff00'; set world.doc other")
    edited.steps(10)
    assert not same_state(plain.session.sim.state, edited.session.sim.state)


# -- robots -----------------------------------------------------------------------------------------------------------
def test_a_robot_that_is_put_somewhere_stands_there_and_nobody_else_has_moved(workspace):
    workspace.steps(3)
    before, heading = workspace.session.poses()
    workspace.run("move swarm.2 -1.3 50cm 90deg")
    position, now = workspace.session.poses()
    assert position[2].tolist() == [-1.3, 0.5] and now[2] == pytest.approx(np.pi / 2)
    others = np.arange(7) != 2
    assert np.array_equal(position[others], before[others]) and np.array_equal(now[others], heading[others])
    workspace.run("move car -1.2 -0.7")
    assert workspace.session.poses()[1][6] == 0.5  # it keeps its heading


def test_count_adds_robots_where_there_is_room_and_takes_the_last_ones_away(workspace):
    workspace.steps(3)
    before = workspace.session.poses()[0]
    workspace.run("set swarm.count 10")
    position = workspace.session.poses()[0]
    assert workspace.session.world.robots == 13 and np.array_equal(position[:4], before[:4])
    assert np.array_equal(position[10:], before[4:])
    gap = np.linalg.norm(position[:, None] - position[None, :], axis=-1) + 9 * np.eye(13)
    assert gap.min() > 0.05 + 0.058
    workspace.steps(3)
    workspace.run("set swarm.count 2")
    assert workspace.session.world.robots == 5
    workspace.run("undo; undo")  # one edit each, however many robots
    assert np.array_equal(workspace.session.poses()[0], before)


def test_a_count_for_which_there_is_no_room_changes_nothing(workspace):
    assert "there is no room for 4996 more of radius" in workspace.refused("set swarm.count 5000")


@pytest.mark.parametrize("line, name, robots", [("spawn swarm", "swarm.4", 8), ("spawn car 1 0", "car.1", 8),
                                                ("spawn sbot", "sbot.0", 8), ("spawn disc 1 0 90deg name=dot radius=4cm "
                                                                              "wheel_base=6cm top_speed=10cm/s", "dot.0", 8)])
def test_a_spawned_robot_says_its_name_and_goes_on_with_the_others(workspace, line, name, robots):
    workspace.steps(2)
    before = workspace.session.poses()[0]
    workspace.run("select car")
    assert workspace.run(line) == name
    session = workspace.session
    number = names.robot(session.world, name)
    assert session.world.robots == robots
    assert np.array_equal(np.delete(session.poses()[0], number, axis=0), before)
    assert names.robot_name(session.world, session.selected) == "car.0"  # whatever its number is by now
    workspace.steps(2)


def test_a_group_that_stands_where_it_was_told_stays_so_with_one_more(workspace):
    workspace.run("spawn car 1 0 1.5")
    car = workspace.session.world.group("car")
    assert car.count == 2 and car.place[1] == At(1.0, 0.0, 1.5)
    workspace.run("reset")
    assert workspace.session.poses()[0][-1].tolist() == [1.0, 0.0]


def test_removing_takes_all_that_were_named_by_the_names_that_they_had(workspace):
    workspace.steps(2)
    before = workspace.session.poses()[0]
    workspace.run("remove swarm.0 swarm.1 cylinder.0 cylinder.1 rovers")
    world = workspace.session.world
    assert [(group.name, group.count) for group in world.groups] == [("swarm", 2), ("car", 1)]
    assert not [thing for thing in world.things if getattr(thing, "name", "") == "cylinder"]
    assert np.array_equal(workspace.session.poses()[0], before[[2, 3, 6]])
    workspace.steps(2)


def test_the_last_robot_may_go_and_others_may_come(workspace):
    workspace.run("remove swarm rovers car")
    assert workspace.session.world.robots == 0
    workspace.steps(2)
    workspace.session.frame()
    assert workspace.run("list robots") == "no robots"
    workspace.run("spawn sbot 0 0; drive 0 1 1")
    workspace.steps(2)
    assert workspace.session.poses()[0][0, 0] > 0


def test_a_robot_that_is_disabled_stands_still_until_it_is_enabled(workspace):
    workspace.run("drive car 1 1; disable car swarm.1")
    before = workspace.session.poses()[0]
    workspace.steps(5)
    assert np.array_equal(workspace.session.poses()[0][[1, 6]], before[[1, 6]])
    workspace.run("enable car; toggle 1")
    workspace.steps(5)
    assert (workspace.session.poses()[0][[1, 6]] != before[[1, 6]]).any(axis=1).all()
    workspace.run("toggle swarm.3; undo")
    assert workspace.session.sim.state.alive.all()


def test_groups_are_switched_as_one(workspace):
    workspace.run("disable swarm")
    assert workspace.session.sim.state.alive[0].tolist() == [False] * 4 + [True] * 3
    workspace.run("toggle swarm")
    assert workspace.session.sim.state.alive.all()


# -- things -----------------------------------------------------------------------------------------------------------
def test_things_come_and_go_and_say_their_names(workspace):
    assert workspace.run("spawn lamp 0 0") == "lamp"
    assert workspace.run("spawn lamp 0.1 0") == "lamp2"
    assert workspace.run("spawn cylinder 30cm 0 radius=5cm name=left") == "left.1"  # two have that name now
    assert element(workspace, "left.1").x == 0.3
    assert workspace.run("spawn wall 'points=-1 0.95 1 0.95'") == "wall"
    workspace.run("remove lamp2 wall")
    assert "wall" not in names.thing_names(workspace.session.world)


@pytest.mark.parametrize("name, attribute", [("left", "on"), ("box", "on"), ("cylinder.1", "on"), ("arena", "walls"),
                                             ("trees", "on"), ("nest", "on"), ("rail", "on"), ("rock", "on")])
def test_every_thing_can_be_switched(workspace, name, attribute):
    workspace.run(f"disable {name}")
    assert getattr(element(workspace, name), attribute) is False
    workspace.steps(1)
    workspace.run(f"toggle {name}")
    assert getattr(element(workspace, name), attribute) is True
    workspace.run(f"toggle {name}; enable {name}")
    assert getattr(element(workspace, name), attribute) is True


def test_a_lamp_that_is_named_arena_is_a_lamp(workspace):
    workspace.run("spawn lamp 0 0 name=arena")
    workspace.run("disable arena.1")
    assert element(workspace, "arena.1").on is False and element(workspace, "arena.0").walls


def test_a_lamp_that_is_switched_off_is_not_seen_any_more(workspace):
    workspace.run("disable left")
    assert not workspace.session.sim.readings["swarm"]["light"].any()
    workspace.run("enable left")
    assert workspace.session.sim.readings["swarm"]["light"].any()


@pytest.mark.parametrize("name", ["left", "cylinder.0", "box", "rock", "rail", "nest"])
def test_a_thing_is_moved_by_its_middle(workspace, name):
    workspace.run(f"move {name} 1.2 -0.8")
    thing = element(workspace, name)
    middle = np.reshape(thing.points, (-1, 2)).mean(axis=0) if hasattr(thing, "points") else (thing.x, thing.y)
    assert middle == pytest.approx([1.2, -0.8])


def test_what_has_a_heading_is_turned_with_it(workspace):
    workspace.run("move box -1.2 0 45deg")
    assert element(workspace, "box").heading == pytest.approx(np.pi / 4)


def test_a_thing_cannot_be_put_onto_a_robot(workspace):
    x, y = workspace.session.poses()[0][0]
    assert "swarm.0 would stand in a wall or an obstacle" in workspace.refused(f"move box {x} {y}")
    assert "would stand in a wall" in workspace.refused(f"spawn cylinder {x} {y} radius=10cm")
    assert "would stand in a wall" in workspace.refused("set rovers.radius 2")
    workspace.run("set contact.model none")
    workspace.run(f"move box {x} {y}")  # they drive through it


# -- controllers ------------------------------------------------------------------------------------------------------
def test_a_group_gets_another_controller_with_its_own_values(workspace):
    workspace.run("controller swarm random_walk period=3s; step 5")
    assert element(workspace, "swarm.controller").period == 3.0
    workspace.run("controller swarm none; step 5")
    assert workspace.session.world.group("swarm").controller is None
    assert not workspace.session.sim.state.drive[0, :4].any()
    workspace.run("controller car turn_away; step 5")
    assert workspace.session.sim.state.drive[0, 6].any()


# -- undo -------------------------------------------------------------------------------------------------------------
def test_undo_goes_back_to_the_moment_before_the_edit_in_time_too(workspace):
    workspace.steps(5)
    before = workspace.everything()
    workspace.run("spawn swarm; step 7; drive 0 1 1; step 3")
    workspace.run("undo")
    session = workspace.session
    assert session.world is before["world"] and session.time == 0.5 and not session.manual.drives
    assert np.array_equal(session.sim.state.position, before["position"])
    assert workspace.refused("undo") == "there is nothing to undo."


def test_undo_goes_back_to_the_seed_too(workspace):
    workspace.run("step; set left.intensity 1; seed 5; undo")
    assert workspace.session.seed == workspace.session.sim.seed == 0
    workspace.run("reset")
    assert workspace.session.sim.seed == 0


def test_twenty_edits_can_be_undone(workspace):
    for number in range(25):
        workspace.run(f"set left.intensity {number + 1}")
    for _ in range(20):
        workspace.run("undo")
    assert element(workspace, "left").intensity == 5.0
    workspace.refused("undo")


# -- dragging ---------------------------------------------------------------------------------------------------------
def test_a_drag_moves_and_is_undone_as_one_even_if_it_began_where_nothing_can_stand(workspace):
    session = workspace.session
    before = session.poses()[0]
    session.changes.drag("robot", 6, 0.0, 0.6, first=True)  # in a cylinder
    assert np.array_equal(session.poses()[0], before) and not workspace.said
    for x in (-0.9, -0.8, -0.7):
        session.changes.drag("robot", 6, x, -0.8, first=False)
    assert session.poses()[0][6].tolist() == [-0.7, -0.8]
    workspace.run("undo")
    assert np.array_equal(session.poses()[0], before)
    workspace.refused("undo")


def test_a_dragged_thing_follows_and_the_next_drag_is_another_edit(workspace):
    session = workspace.session
    session.changes.drag("thing", 1, 0.5, 0.5, first=True)
    session.changes.drag("thing", 1, 0.6, 0.5, first=False)
    session.changes.drag("thing", 1, 0.7, 0.5, first=True)
    assert session.world.things[1].x == 0.7
    workspace.run("undo")
    assert session.world.things[1].x == 0.6
    workspace.run("undo")
    assert session.world.things[1].x == 1.0


@pytest.mark.parametrize("kind, index, x, y", [("robot", 99, 0, 0), ("thing", 99, 0, 0), ("thing", 0, 0, 0), ("thing", 8, 0, 0),
                                               ("robot", 0, np.nan, 0), ("robot", 0, np.inf, 0), ("thing", 1, 0, -np.inf),
                                               ("robot", 0, 1e9, 0), ("cloud", 0, 0, 0)])
def test_what_cannot_be_dragged_stays_without_a_word(workspace, kind, index, x, y):
    before = workspace.everything()
    workspace.session.changes.drag(kind, index, x, y, first=True)
    assert same(before, workspace.everything()) and not workspace.said


# -- a crowd ----------------------------------------------------------------------------------------------------------
def test_in_a_crowd_somebody_may_turn_where_he_stands():
    workspace = Workspace("packed")
    workspace.run("set 0.heading 1.0")
    assert workspace.session.poses()[1][0] == 1.0


# -- a user's own code ------------------------------------------------------------------------------------------------
BROKEN = """
from dataclasses import dataclass
from formiga.world.elements import element, number

@element("touchy", role="controller")
@dataclass(frozen=True)
class Touchy:
    '''Divides.'''
    by: float = number(1.0)

    def decide(self, view):
        import numpy as np
        if self.by == 0.0:
            raise ZeroDivisionError("by nothing")
        return np.ones((*view.shape, 2)) / self.by
"""


def test_a_mistake_in_the_users_own_controller_is_an_edit_that_failed(workspace, tmp_path, monkeypatch):
    monkeypatch.setattr(elements, "_registry", dict(elements._registry))
    monkeypatch.setattr(elements, "_classes", dict(elements._classes))
    file = tmp_path / "mine.py"
    file.write_text(BROKEN)
    formiga.load_elements(file)
    workspace.run("controller swarm touchy; step 2")
    before = workspace.everything()
    task = workspace.session.console.run("set swarm.controller.by 0")
    assert task.error == f"{file}:14: ZeroDivisionError: by nothing"
    assert same({key: value for key, value in before.items() if key != "tasks"}, workspace.everything())
    workspace.steps(2)


@pytest.mark.parametrize("line", ["spawn lamp", "spawn cylinder radius=8cm", "spawn rectangle width=30cm depth=10cm",
                                  "spawn zone radius=15cm"])
def test_a_thing_without_a_place_goes_where_there_is_room(workspace, line):
    """Nobody stands in it: an edit that buried a robot would have been refused."""
    before = len(workspace.session.world.things)
    for _ in range(5):
        workspace.run(line)
    assert len(workspace.session.world.things) == before + 5


def test_the_arena_does_not_shrink_past_a_robot(workspace):
    assert "would stand in a wall or an obstacle" in workspace.refused("set arena.width 0.2")


def test_many_robots_that_cannot_fit_are_refused_at_once(workspace):
    assert "there is no room for" in workspace.refused("set swarm.count 9999")


@pytest.mark.parametrize("line, name", [("move car 1.8 0", "car.0"), ("move 0 0 -1.2", "swarm.0"), ("move left 9 9", "left"),
                                        ("move box 0 5", "box"), ("set car.0.x 4", "car.0"), ("spawn swarm 0 2", "a robot"),
                                        ("spawn sbot -2 0", "a robot")])
def test_nothing_is_put_outside_of_the_arena(workspace, line, name):
    message = workspace.refused(line)
    assert message.startswith(f"{name} cannot be at (")
    assert message.endswith("that is outside the arena, which goes from (-1.5, -1) to (1.5, 1).")


def test_a_robot_is_not_dragged_out_of_the_arena(workspace):
    before = workspace.session.poses()[0]
    workspace.session.changes.drag("robot", 6, 1.9, 0.0, True)
    assert np.array_equal(workspace.session.poses()[0], before)
