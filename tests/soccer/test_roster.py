"""Teams as a user names them, and what their programs load and do."""

import os
import subprocess
import sys
from math import atan2, cos, hypot, sin
from pathlib import Path

import numpy as np
import pytest

from formiga.soccer import memory
from formiga.soccer.bridge import MemoryBridge
from formiga.soccer.memory import TeamError
from formiga.soccer.roster import find_team, shipped
from formiga.soccer.talk import BLUE

HERE = Path(memory.__file__).parent
ENV = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}


# -- finding ----------------------------------------------------------------------------------------------------------
def test_teams_are_found_by_name_and_by_path(tmp_path):
    assert shipped() == ["chaser", "colony"]
    assert find_team("colony") == ("colony", (sys.executable, "-m", "formiga.soccer.programs.colony"), False)
    assert find_team("network") == ("network", (), True)
    assert find_team("network:ants of Lisbon") == ("ants of Lisbon", (), True)
    (tmp_path / "my ants.py").write_text("")
    assert find_team(str(tmp_path / "my ants.py")) == ("my ants", (sys.executable, str(tmp_path / "my ants.py")), False)
    assert find_team(f"'{tmp_path / 'my ants.py'}' --brave").command[-1] == "--brave"
    (tmp_path / "bees").write_text("#!/bin/sh\n")
    (tmp_path / "bees").chmod(0o755)
    assert find_team(str(tmp_path / "bees")) == ("bees", (str(tmp_path / "bees"),), False)


@pytest.mark.parametrize("text, complaint", [
    ("colny", r"Team 'colny' is unknown. Did you mean 'colony'\? A team is chaser, colony, network, network:NAME, or the "
              "path of a program."),
    ("", "is unknown"),
    ("network: ", "Team 'network: ' has no name"),
    ("network:" + 41 * "a", "1 to 40 printable characters"),
    ("network:a\nb", "1 to 40 printable characters"),
    ("'open", "cannot be read: No closing quotation"),
    ("{here}", "is a folder"),
    ("{here}/plain", r"may not be executed. Make it executable \(chmod \+x\)"),
    ("{here}/team.c", r"is source text. Compile it \(cc -O2 -o team .*team.c -lm\) and give './team'"),
])
def test_what_is_no_team_is_a_clear_complaint(text, complaint, tmp_path):
    (tmp_path / "plain").write_text("")
    (tmp_path / "team.c").write_text("")
    with pytest.raises(TeamError, match=complaint):
        find_team(text.format(here=tmp_path))


def test_a_program_that_cannot_be_started_is_a_clear_complaint_and_leaves_nothing(tmp_path):
    (tmp_path / "text").write_text("no program\n")
    (tmp_path / "text").chmod(0o755)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(TeamError, match=r"Team x: '.*text' cannot be started \(Exec format error\)"):
        MemoryBridge("x", [str(tmp_path / "text")], BLUE, 3)
    assert len(os.listdir("/proc/self/fd")) == before


# -- a light start ----------------------------------------------------------------------------------------------------
def test_a_team_program_loads_nothing_heavy():
    code = ("import sys, formiga.soccer.programs.colony as _; "
            "print(*[m for m in ('numba', 'lxml', 'scipy', 'pyarrow', 'matplotlib', 'formiga.world') if m in sys.modules])")
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=ENV).stdout == "\n"


# -- moves ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(20))
def test_going_to_a_point_gets_there_and_stays(seed):
    """Whatever way it looks at first; the robot here does at once what it is told."""
    from formiga.soccer.programs.moves import go
    from formiga.soccer.team import Pitch, Robot

    rng = np.random.default_rng(seed)
    x, y, heading = rng.uniform(-0.6, 0.6), rng.uniform(-0.5, 0.5), rng.uniform(-np.pi, np.pi)
    to_x, to_y = rng.uniform(-0.6, 0.6), rng.uniform(-0.5, 0.5)
    for _ in range(150):
        v, omega = go(Robot(x, y, heading, 0.0, 0.0, 0.0, True), to_x, to_y, Pitch())
        assert abs(v) + abs(omega) * 0.0375 <= 1.32 + 1e-9
        x, y, heading = x + 0.033 * v * cos(heading), y + 0.033 * v * sin(heading), heading + 0.033 * omega
    assert hypot(to_x - x, to_y - y) < 0.03


def test_a_ball_is_foreseen_as_it_rolls():
    """Against small steps of the law m + J/R^2 = 1.4 m with dry and viscous friction. [Klancar et al. 2003, eq. 4-9]"""
    from formiga.soccer.programs.moves import rolled
    from formiga.soccer.team import Ball, Pitch

    for vx, vy, after in [(0.5, 0.3, 0.5), (0.8, -0.9, 0.4), (-0.2, 0.0, 3.0), (0.9, 0.1, 1.0)]:
        x, y, u, v = 0.0, 0.0, vx, vy
        for _ in range(int(after / 0.001)):
            speed = hypot(u, v)
            slower = 0.001 * (0.02 * 9.81 + 0.005 / 0.046 * speed) / 1.4
            u, v = (0.0, 0.0) if speed <= slower else (u * (1 - slower / speed), v * (1 - slower / speed))
            x, y = x + 0.001 * u, y + 0.001 * v
            if abs(x) > 0.75 - 0.02135 and x * u > 0.0:
                u *= -0.7
            if abs(y) > 0.65 - 0.02135 and y * v > 0.0:
                v *= -0.7
        assert rolled(Ball(0.0, 0.0, vx, vy), after, Pitch()) == pytest.approx((x, y), abs=0.03), atan2(vy, vx)
