"""The user's own settings file: run at the start, written by `settings save`, never lost."""

import os

import pytest

from formiga.session import Session, settings
from tests.session.workspace import Workspace


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Where the settings file goes, for this test."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "formiga"


def fresh(own=True):
    """Another session, as it begins on another day, and what it said."""
    said: list[tuple[str, str]] = []
    session = Session("line", hear=lambda kind, text, window: said.append((kind, text)), own_settings=own)
    return session, said


def made(session):
    """Everything that the user can have defined."""
    console = session.console
    return [{name: each.text for name, each in table.items()} for table in (console.aliases, console.binds)]


def test_everybody_begins_with_some_keys_and_each_of_them_works(home):
    workspace = Workspace("corral")
    assert {"Space", ".", "r", "Ctrl+z"} <= set(workspace.session.console.binds)
    for key in sorted(workspace.session.console.binds):
        workspace.said.clear()
        if key != "p":  # writes a picture
            workspace.session.console.press(key)
            workspace.session.console.release(key)
        assert "$" not in str(workspace.said)
        errors = [text for kind, text in workspace.said if kind == "error" and "nothing to undo" not in text]
        assert not errors, key


def test_without_a_file_nothing_happens(home):
    session, said = fresh()
    assert not said and made(session) == made(fresh(own=False)[0]) and not home.exists()


def test_the_users_file_is_a_script_that_runs_first(home):
    home.mkdir(parents=True)
    (home / "settings.fsh").write_text("speed 3; overlay beams on\nalias hello 'echo hi $1'\nbind Space 'echo mine'\n")
    session, _ = fresh()
    assert session.speed == 3.0 and session.overlays == {"beams"} and session.console.binds["Space"].text == "echo mine"
    assert fresh(own=False)[0].speed == 1.0


@pytest.mark.parametrize("text, words", [("speed 3\nspeeed 4\nspeed 5\n", "settings.fsh:2: there is no command 'speeed'"),
                                         ("echo 'open\n", "settings.fsh:1: a ' opens here"), ("\xff", "is not UTF-8")])
def test_a_mistake_in_it_is_said_and_the_session_begins_all_the_same(home, text, words):
    home.mkdir(parents=True)
    (home / "settings.fsh").write_bytes(text.encode("latin-1"))
    session, said = fresh()
    assert [kind for kind, _ in said] == ["error"] and words in said[0][1]
    session.step()
    assert not session.failed


def test_a_folder_in_its_place_is_said_too(home):
    (home / "settings.fsh").mkdir(parents=True)
    _, said = fresh()
    assert "is not a plain file" in said[0][1]


HARD = ["alias go 'drive 0 $1 $2'", "alias +up 'drive 0 1 1; echo \"up\"'", "bind w +up",
        "bind ' ' 'echo \\\\ \"a b\" ; pause'", "bind ';' step", "unbind .", "bind Ctrl+Shift+ArrowUp \"echo it is \\$time\"",
        "alias ñ 'echo #'"]


@pytest.mark.parametrize("lines", [[], HARD[:1], HARD])
def test_what_is_saved_is_there_again_in_the_next_session(home, lines):
    session, said = fresh()
    for line in lines:
        session.console.run(line)
    session.console.run("settings save")
    assert not [text for kind, text in said if kind == "error"]
    again, complaints = fresh()
    assert made(again) == made(session) and not [text for kind, text in complaints if kind == "error"]
    again.console.run("settings save")
    assert made(fresh()[0]) == made(session)


def test_saving_twice_gives_the_same_file(home):
    session, _ = fresh()
    session.console.run("alias a 'echo 1'; settings save")
    first = (home / "settings.fsh").read_bytes()
    fresh()[0].console.run("settings save")
    assert (home / "settings.fsh").read_bytes() == first
    assert os.listdir(home) == ["settings.fsh"]


def test_what_the_user_wrote_himself_stays_as_it_is(home):
    home.mkdir(parents=True)
    mine = "# my own\nspeed 2\nalias a 'echo 1'\nbind F2 a\nbind F3 step"  # and no end of line
    (home / "settings.fsh").write_text(mine)
    session, _ = fresh()
    session.console.run("unbind F3; alias a 'echo 2'; bind F4 a; unbind Space; settings save")
    written = (home / "settings.fsh").read_text()
    assert written.startswith(mine + "\n" + settings.OURS)
    assert sorted(written.partition(settings.OURS)[2].splitlines()) == [
        'alias a "echo 2"', "bind F4 a", "unbind F3", "unbind Space"]
    again, _ = fresh()
    assert made(again) == made(session) and again.speed == 2.0
    again.console.run("bind Space pause; bind F3 step; alias a 'echo 1'; unbind F4; settings save")
    assert (home / "settings.fsh").read_text() == mine + "\n" + settings.OURS


def test_saving_does_not_run_the_users_commands_again(home):
    home.mkdir(parents=True)
    (home / "settings.fsh").write_text("speed 2\nstep 3\n")
    session, _ = fresh()
    session.console.run("speed 9; settings save")
    assert session.speed == 9.0 and session.sim.state.step[0] == 3


def test_what_a_world_defines_is_not_the_users(home, world_file):
    workspace = Workspace(world_file("""<sbot><at x="0" y="0"/></sbot><bind key="F7" run="step"/><bind key="Space" run="step"/>
                              <alias name="theirs" run="step"/>"""))
    workspace.run("alias mine step; settings save")
    text = (home / "settings.fsh").read_text()
    assert "mine" in text and "theirs" not in text and "F7" not in text and "Space" not in text


def test_a_file_that_cannot_be_understood_is_not_written_over(home):
    home.mkdir(parents=True)
    (home / "settings.fsh").write_text("echo 'open\n")
    workspace = Workspace("line")
    assert "settings.fsh:1: a ' opens here" in workspace.refused("settings save")
    assert (home / "settings.fsh").read_text() == "echo 'open\n"


def test_a_folder_that_cannot_be_made_is_refused(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    assert "cannot be made (Not a directory)" in Workspace("line").refused("settings save")


def test_settings_says_where_the_file_is(home):
    assert Workspace("line").run("settings").startswith(f"{home / 'settings.fsh'}: a script that every session runs first.")


def test_a_key_that_asks_for_the_selected_robot_asks_when_it_is_pressed(home):
    assert "$selected" in Workspace("line").session.console.binds["v"].text
