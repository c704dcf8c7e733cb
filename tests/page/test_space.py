"""A world in three dimensions in a real browser: its parts, its forces, a robot's own camera, a recording and its export."""

from __future__ import annotations

import imageio.v3 as iio
import numpy as np
import pytest

from formiga.page.inspector import Inspector
from formiga.world.reader import read_text
from tests.page.conftest import until

pytestmark = pytest.mark.xdist_group("browser")

SPACE = """<world name="space" engine="spatial" dt="0.1" seconds="2">
  <arena width="1.4" depth="1"/>
  <hole x="0.5" y="0.3" width="0.2" depth="0.2"/>
  <solid name="crate" size="0.08 0.08 0.08" x="0.4" y="-0.3"/>
  <trigger x="-0.5" y="0.3" width="0.2" depth="0.2"/>
  <sbot name="swarm" model="detailed"><at x="-0.2" y="0" heading="0"/><at x="-0.07" y="0" heading="0"/></sbot>
</world>"""


@pytest.fixture
def lab(laboratory, folder, unharmed):
    laboratory.begin(read_text(SPACE))
    return laboratory


def test_a_window_shows_parts_forces_and_what_a_robot_sees(lab, window):
    def pull():
        lab.session.sim.state.joint_command[0, 0, 2] = 1.0  # the gripper closes
        lab.session.manual.drives.update({0: (-1.0, -1.0), 1: (1.0, 1.0)})

    lab.do(pull)
    lab.run("overlay forces on; step 5")
    until(lambda: {"over/forces", "over/grips", "robots/0/part/arm", "solids/0", "hole/1"} <= set(lab.page.scene._nodes.named))
    lab.run("select 0; camera eyes")

    def sees():
        eye, away = np.array(window.camera.position), lab.session.sim.state.position[0, 0]
        ahead = np.subtract(window.camera.look_at, eye)
        near = np.linalg.norm(eye[:2] - away) < 0.02 and 0.09 < eye[2] < 0.13
        return near and ahead[0] > 0.9 * np.linalg.norm(ahead)

    until(sees)
    assert not [text for kind, text in lab.said if kind == "error"]


def test_a_recording_in_space_is_played_and_exported_with_all_that_moves(lab, window, folder):
    lab.run("record run.parquet; step 4; record off; load run.parquet; seek 0.4; export run.html")
    lab.heard("saved run.html", "note")
    assert lab.session.replay is not None and lab.session.replay.index == 4
    until(lambda: "robots/0/part/turret" in lab.page.scene._nodes.named)
    tab, errors = window.context.new_page(), []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto((folder / "run.html").as_uri())

    def orange():
        """Pixels of the s-bots' rings, which are on their turrets."""
        picture = iio.imread(tab.screenshot(), extension=".png")[..., :3].astype(int)
        return int(((picture[..., 0] > 170) & (picture[..., 0] > 1.4 * picture[..., 1]) & (picture[..., 2] < 90)).sum())

    until(lambda: orange() > 100, 60)
    tab.close()  # which would keep the window behind it from painting
    assert not errors and not [text for kind, text in lab.said if kind == "error"]


def test_a_window_follows_the_robot_that_the_script_of_its_world_follows_until_it_looks_elsewhere(lab, open_window):
    lab.begin("hexapod")
    window = open_window(own=True)
    until(lambda: lab.page._followed.get(window.client) == (0, False))
    lab.run("step 200")
    until(lambda: abs(window.camera.look_at[0] - lab.poses()[0][0, 0]) < 0.6)
    window.type("camera overview")
    until(lambda: window.client not in lab.page._followed)


def test_a_bound_mouse_button_drives_a_car_of_solids_and_leaves_the_camera_alone(window, lab):
    window.type("load solid_car; pause off")
    until(lambda: lab.session.world.name == "solid_car" and lab.session.playing)
    lab.do(lambda: None)
    tab, orders = window.tab, lambda: lab.session.sim.state.motor_command[0].tolist()
    until(lambda: lab.session.console.binds.get("Alt+MouseLeft") is not None)
    tab.wait_for_timeout(500)  # until the window knows its keys
    client = next(iter(lab.page.server.viser.get_clients().values()))
    before = client.camera.position.copy()
    tab.mouse.move(300, 150)
    tab.keyboard.down("Alt")
    tab.mouse.down()
    until(lambda: orders() == [0.0, 0.0, 15.0, 15.0], message=lambda: str(orders()))
    tab.mouse.move(380, 180, steps=4)
    tab.mouse.up()
    tab.keyboard.up("Alt")
    until(lambda: orders() == [0.0, 0.0, 0.0, 0.0], message=lambda: str(orders()))
    tab.wait_for_timeout(400)
    assert client.camera.position == pytest.approx(before)


def test_the_inspector_tells_what_a_robot_has_only_in_space(lab):
    def grip():
        lab.session.sim.state.joint_command[0, 0] = (0.5, 0.5, 1.0)
        lab.session.selected = 0

    lab.do(grip)
    lab.run("step 5")
    text = Inspector().html(lab.do(lambda: lab.session.frame(exact=True)).extra["robot"], 0.5)
    state = lab.session.sim.state
    assert "<b>swarm.1</b>" in text and "holds" in text and f"<b>{np.linalg.norm(state.pull[0, 0]):.2f}</b> N" in text
    assert f"turret <b>{np.degrees(state.joint_position[0, 0, 0]):.1f}</b>°" in text and "z, tilt" in text
