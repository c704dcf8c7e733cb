"""The car of solids and motor joints: driven by keys and by a script, without a line of Python."""

from __future__ import annotations

from math import tan

import pytest

from tests.session.workspace import Workspace


@pytest.fixture
def workspace():
    return Workspace("solid_car")


def value(workspace, path):
    workspace.run(f"get {path}")
    return float(workspace.said[-1][1].split()[0])


def test_the_arrow_keys_drive_the_car_and_get_says_where_it_is_now(workspace):
    """15 rad/s on wheels of 4 cm radius are 0.6 m/s; a trailer follows."""
    start = value(workspace, "car.body.x")
    workspace.session.console.press("ArrowUp")
    workspace.steps(40)
    assert 0.9 < value(workspace, "car.body.x") - start < 1.2
    assert value(workspace, "car.left.speed") == pytest.approx(15.0, abs=0.3)
    gap = value(workspace, "car.body.x") - value(workspace, "car.trailer.bed.x")
    assert gap == pytest.approx(0.32, abs=0.02)
    workspace.session.console.press("ArrowLeft")
    workspace.steps(10)
    assert value(workspace, "car.steer_l.at") == pytest.approx(0.45, abs=0.02) and value(workspace, "car.body.yaw") > 0.3
    for key in ("ArrowUp", "ArrowLeft"):
        workspace.session.console.release(key)
    workspace.steps(40)
    assert abs(value(workspace, "car.left.speed")) < 0.1


def test_a_script_drives_it_and_a_mouse_button_is_a_key(workspace):
    """The tour goes ahead for 1 s, then round with its wheels at 0.5 rad: v tan(0.5) / L = 1.19 rad/s. A trailer, and rear
    wheels of the same speed, take up to a fifth of that."""
    workspace.run("tour")
    workspace.steps(30)
    before = value(workspace, "car.body.yaw")
    workspace.steps(20)
    assert 0.8 < (value(workspace, "car.body.yaw") - before) / (12 * 0.04 * tan(0.5) / 0.22) < 1.0
    workspace.run("out car.left off; plot car.hitch.force; get car.left.order")
    assert float(workspace.said[-1][1]) == 0.0
    workspace.session.console.press("Alt+MouseLeft")
    workspace.run("get car.left.order")
    assert float(workspace.said[-1][1]) == 15.0
    assert workspace.refused("out car.lft 1").startswith("out: there is no motor 'car.lft'. Did you mean 'car.left'?")


def test_a_motor_that_is_misspelt_is_not_taken_for_a_robot(workspace):
    """Also where there are robots."""
    workspace.run("spawn sbot 0 0.8 name=bot; spawn sbot 0.4 0.8 name=other")
    for name in ("car.lft", "lft", "car.steer_l.2"):
        assert workspace.refused(f"out {name} 1").startswith(f"out: there is no motor '{name}'.")
    assert "has no wheel, joint, light or sound 'lft'" in workspace.refused("out bot.0.lft 1")
