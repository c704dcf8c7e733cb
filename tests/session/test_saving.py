"""`save` writes the world as it stands, and reading it again gives the same picture."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import formiga
from formiga import lab
from formiga.loop import Simulation
from formiga.session import Session
from formiga.world import contract
from formiga.world.elements import of
from formiga.world.model import Joint, Solid, World
from formiga.world.sources import as_at
from tests.session.workspace import Workspace


def saved(workspace, tmp_path, name="saved.xml"):
    """The world that was written, and a session of it."""
    document = workspace.session.document
    moved = document and b"<object" in document.data and workspace.session.sim.state.step[0]
    anew = "; its comments, params and arithmetic could not be kept" if moved else ""
    assert workspace.run(f"save {tmp_path / name}") == f"saved {tmp_path / name}{anew}"  # parts of objects that have moved
    return Workspace(str(tmp_path / name))


def same_picture(one: Session, other: Session) -> bool:
    """Whether all is where it was: poses to the last bit, and the description but for where those start that move; the clock
    of what is switched goes on.

    In space robots are set down anew, so rounding is allowed, and on rough ground what they settle by: a centimetre or so.
    """
    a, b = one.poses(), other.poses()
    lying = [session.sim.state.movables[0, :, [0, 1, 3, 4]] for session in (one, other)]
    near = slack(one)
    return (np.allclose(a[0], b[0], 0.0, near) and np.allclose(a[1], b[1], 0.0, 20.0 * near) and np.allclose(*lying, 0.0, near)
            and described(as_at(one.world, one.time)) == described(other.world))


def slack(session: Session) -> float:
    """m that robots may be away from where they were."""
    model = session.sim.model
    return 0.0 if not model.poses else 1e-2 if not all(machine.sliding for machine in model.machines) else 2e-6


def described(world: World) -> World:
    """The world, but for where those start that move."""
    places = ("x", "y", "z", "heading", "vx", "vy", "roll", "pitch", "yaw")
    things = [replace(thing, **{name: 0.0 for name in places if name in of(thing).kinds})
              if thing in world.movables or isinstance(thing, Solid) else thing for thing in world.things
              if not isinstance(thing, Joint)]  # which go with them
    return replace(world, things=tuple(things), groups=tuple(replace(group, place=()) for group in world.groups))


@pytest.mark.parametrize("name", sorted(lab.shipped_worlds()))
@pytest.mark.parametrize("steps", [0, 25])
def test_every_shipped_world_loads_to_the_same_picture(name, steps, tmp_path):
    workspace = Workspace(name, seed=4)
    workspace.steps(steps)
    again = saved(workspace, tmp_path)
    assert same_picture(workspace.session, again.session)
    frame, other = workspace.session.frame(exact=True), again.session.frame(exact=True)
    near = slack(workspace.session)
    assert np.allclose(frame.place, other.place, 0.0, 4.0 * near) and np.allclose(frame.turn, other.turn, 0.0, 10.0 * near)
    if not workspace.session.world.robots:
        assert np.allclose(frame.bodies[:, :3], other.bodies[:, :3], 0.0, 1e-3)
    again.steps(2)


def test_what_has_not_moved_is_saved_as_it_was_written(tmp_path, monkeypatch):
    """Robots on wheels that have come to rest, and solids in objects; the file is named by a relative path."""
    (tmp_path / "own").mkdir()
    (tmp_path / "other").mkdir()
    Image.new("RGB", (4, 4)).save(tmp_path / "own" / "p.png")
    (tmp_path / "own" / "w.xml").write_text("""<world engine="spatial"><!-- kept --><object name="o" x="10cm" yaw="33deg">
        <solid name="a" size="0.1 0.1 0.1" x="0.5" texture="p.png"/>
        <solid name="b" size="0.1 0.1 0.1" x="0.7" z="1" roll="0.3"/>
        <joint kind="hinge" one="a" other="b" x="0.6" y="0" z="0.5" axis="0.3 1 0" motor="0"/></object>
        <sbot base="wheels"><at x="0.1" y="-1" heading="30deg"/><at x="0.1" y="1" heading="0"/></sbot></world>""")
    monkeypatch.chdir(tmp_path)
    workspace = Workspace("own/w.xml")
    assert saved(workspace, tmp_path / "other").session.world == workspace.session.world
    assert "<!-- kept -->" in (tmp_path / "other" / "saved.xml").read_text()


@pytest.mark.parametrize("name", sorted(set(lab.shipped_worlds()) - {"solid_car"}))  # which has no robots
def test_edits_are_in_it(name, tmp_path):
    workspace = Workspace(name, seed=1)
    group = workspace.session.world.groups[0].name
    workspace.steps(5)
    channels = contract.channels(workspace.session.world.groups[0].robot)
    drive = f"drive 0 {'1 ' * channels}; " if channels else ""
    workspace.run(f"set {group}.count {workspace.session.world.groups[0].count + 2}; "
                  "spawn lamp 0 0 name=extra on=false intensity=0.75; "
                  f"spawn sbot; {drive}step 5; remove 0; controller {group} none")
    workspace.run("""set world.doc 'as it was; "quoted" ${x}'""")
    again = saved(workspace, tmp_path)
    assert same_picture(workspace.session, again.session)
    lamp = next(thing for thing in again.session.world.things if getattr(thing, "name", "") == "extra")
    assert (lamp.on, lamp.intensity) == (False, 0.75)
    assert again.session.world.groups[0].controller is None and again.session.world.groups[-1].name.startswith("sbot")
    assert again.session.world.doc == 'as it was; "quoted" ${x}'


def test_what_a_world_brings_for_people_is_kept(world_file, tmp_path):
    (tmp_path / "phases.fsh").write_text("wait 1\necho a second\n")
    workspace = Workspace(world_file("""<arena width="2" depth="2"/><lamp x="0" y="0"/><sbot><scatter/></sbot>
        <bind key="w" run="+go"/><alias name="+go" run="drive 0 1 1"/><script file="phases.fsh"/>
        <script run="echo 'hello'; wait 1"/><camera x="1" y="1" z="1" name="corner" fov="40deg"/>"""))
    workspace.run("disable lamp; step 3")
    again = saved(workspace, tmp_path)
    texts = [getattr(each, "text", each) for each in again.session.world.page]  # a script file is now in the world itself
    assert texts == [getattr(each, "text", each) for each in workspace.session.world.page] and len(texts) == 5
    assert not again.session.world.things[1].on
    assert ("out", "hello") in again.said


def test_saving_again_gives_the_same_file(workspace, tmp_path):
    workspace.steps(3)
    again = saved(workspace, tmp_path)
    saved(again, tmp_path, "second.xml")
    assert (tmp_path / "saved.xml").read_bytes() == (tmp_path / "second.xml").read_bytes()


def test_everything_survives(workspace, tmp_path):
    workspace.run("set swarm.profile tr; set swarm.proximity.noise 0.3; set box.heading 10deg; "
                  "disable rock trees; enable right; "
                  "move rail 0 -0.9; set contact.crash_limit 9; step 4")
    again = saved(workspace, tmp_path)
    assert same_picture(workspace.session, again.session)


def test_saving_changes_nothing_in_the_run(workspace, tmp_path, world):
    plain = Simulation(world)
    for _ in range(10):
        plain.step()
    workspace.steps(5)
    workspace.run(f"save {tmp_path / 'a.xml'}")
    workspace.steps(5)
    assert np.array_equal(workspace.session.sim.state.position, plain.state.position)


def test_a_moment_that_could_not_be_read_again_is_not_written(workspace, tmp_path):
    """A robot inside a wall, as only a crowd can push one."""
    workspace.session.sim.state.position[0, 6] = (-1.5, -0.7)
    message = workspace.refused(f"save {tmp_path / 'a.xml'}")
    assert "robot 0 of 'car' at (-1.5, -0.7) stands in a wall" in message and not (tmp_path / "a.xml").exists()


@pytest.mark.parametrize("name, words", [("a.txt", "does not end in .xml"), ("a", "does not end in .xml"),
                                         ("none/a.xml", "cannot be written (No such file or directory)"),
                                         ("folder.xml", "cannot be written (Is a directory)")])
def test_what_cannot_be_written_is_refused(workspace, folder, name, words):
    (folder / "folder.xml").mkdir()
    assert words in workspace.refused(f"save {name}")
    assert [path.name for path in folder.iterdir()] == ["folder.xml"]


def test_a_file_that_was_there_is_replaced_as_a_whole(workspace, folder):
    (folder / "a.xml").write_text("mine")
    workspace.run("save a.xml force")
    assert formiga.read_world("a.xml").robots == 7 and [path.name for path in folder.iterdir()] == ["a.xml"]


def test_a_world_file_of_ones_own_is_not_replaced_unless_that_is_said(world_file, folder):
    file = world_file('<!-- mine --><param name="side" value="2"/><arena width="${side}" depth="2"/><sbot><scatter/></sbot>')
    workspace, before = Workspace("mine.xml"), (folder / "mine.xml").read_bytes()
    message = workspace.refused("save mine.xml")
    assert "mine.xml was not written by formiga" in message
    assert "`save mine.xml force` replaces it; `save mine-2.xml` keeps it." in message
    assert (folder / "mine.xml").read_bytes() == before
    workspace.run("save mine-2.xml; step 2; save mine-2.xml")          # its own file may be replaced
    assert "${side}" in (folder / "mine-2.xml").read_text()
    workspace.run("save mine.xml force; step; save mine.xml")
    text = (folder / "mine.xml").read_text()
    assert "<!-- mine -->" in text and 'value="2"' in text and 'width="${side}"' in text and file
    (folder / "mine.xml").write_text(text.replace("<!-- mine -->", "<!-- edited by hand -->"))
    assert "edited since" in workspace.refused("save mine.xml")
    assert "Allowed: force" in workspace.refused("save mine.xml please")


def test_robots_that_did_not_move_keep_their_rule(world_file, folder):
    world_file('<arena width="2" depth="2"/><lamp x="0" y="0"/><sbot count="3"><scatter/></sbot>'
               '<sbot name="b"><at x="0.5" y="0"/></sbot>')
    workspace = Workspace("mine.xml")
    workspace.run("move lamp 0.5 0.5; save a.xml")
    assert "<scatter/>" in (folder / "a.xml").read_text() and same_picture(workspace.session, Workspace("a.xml").session)
    workspace.run("step; save a.xml")
    assert "<scatter/>" not in (folder / "a.xml").read_text()


def test_a_screenshot_without_a_window_is_drawn_from_above(workspace, folder):
    assert "saved workspace-1.png, drawn from above: no window is open" in workspace.run("screenshot")
    workspace.run("screenshot here.svg")
    assert (folder / "workspace-1.png").read_bytes()[:4] == b"\x89PNG" and (folder / "here.svg").exists()


def test_a_robot_that_is_switched_off_stays_off(workspace, tmp_path):
    workspace.run("disable swarm.2 car; step 5")
    again = saved(workspace, tmp_path)
    assert again.session.sim.state.alive[0].tolist() == workspace.session.sim.state.alive[0].tolist()
    again.run("enable swarm.2; step 5")
    assert again.session.sim.state.alive[0, 2]
