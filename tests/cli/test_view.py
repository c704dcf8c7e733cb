"""formiga view, as a process: what it prints, what it serves, how it ends, and what it refuses."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import threading
import time
from urllib.request import urlopen

import pytest
import viser
from websockets.sync.client import connect

import formiga

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
OPEN = re.compile(r"the laboratory is open at (http://127\.0\.0\.1:(\d+))   \(Ctrl-C ends it\)\n")
COMPILING = re.compile("^compiling.*\n", re.MULTILINE)
STOPPING = "\nstopping the laboratory; again to stop at once\n"
SOON, LATE = 20, 120  # s in which it must have ended, and in which a test must; the machine may be busy


@pytest.fixture(autouse=True)
def nobodys_settings(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)


@pytest.fixture
def view(start):
    """view("line", ...) -> (the running process, the address that it printed, what it printed before)."""

    def run(*arguments, **options):
        process = start("view", *arguments, **{**PIPES, **options})
        late = threading.Timer(LATE, process.kill)  # a line that never comes fails its test, and holds up no other
        late.daemon = True
        late.start()
        before = ""
        while (found := OPEN.fullmatch(line := process.stdout.readline())) is None:
            assert line, f"it ended: {process.stderr.read()}"
            before += line
        return process, found[1], before

    return run


def end(process, number=signal.SIGINT):
    """(exit code, stdout, stderr without the word on compiling)"""
    process.send_signal(number)
    return ended(process)


def ended(process):
    stdout, stderr = process.communicate(timeout=SOON)
    return process.returncode, stdout, COMPILING.sub("", stderr)


def page(url):
    with urlopen(url, timeout=20) as answer:
        return answer.status, answer.headers.get_content_type(), answer.read()


# -- it opens ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_tells_where_it_is_serves_the_page_and_ends_with_0_on_a_signal(view, number):
    process, url, before = view("line", cold=number == signal.SIGINT)
    assert re.fullmatch(r"(port 8017 is in use; this is port \d+\.\n)?", before)  # somebody may use it
    status, kind, text = page(url)
    assert (status, kind) == (200, "text/html") and b"<html" in text
    assert end(process, number) == (0, "", STOPPING)


def test_it_ends_in_time_while_a_window_looks_on_and_the_world_runs_flat_out(view, tmp_path):
    (tmp_path / "fast.fsh").write_text("speed max")
    process, url, _ = view("corral", "--script", tmp_path / "fast.fsh")
    with connect(url.replace("http", "ws"), subprotocols=[f"viser-v{viser.__version__}"], max_size=None) as window:
        window.recv(timeout=SOON)
        assert end(process) == (0, "", STOPPING)


def test_without_a_world_the_default_one_plays(view):
    process, url, _ = view()
    assert page(url)[0] == 200
    assert end(process) == (0, "", STOPPING)


def test_a_port_in_use_gives_the_next_free_one_and_says_so(view):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process, url, before = view("line", "--port", port)
        mine = int(url.rpartition(":")[2])
        assert mine > port
        assert before == f"port {port} is in use; this is port {mine}.\n"
        assert end(process)[0] == 0


def test_a_browser_is_opened_if_there_is_a_screen_and_nobody_minds(view, monkeypatch, tmp_path):
    monkeypatch.setenv("BROWSER", f"{sys.executable} -c \"import sys; open('{tmp_path}/seen', 'w').write(sys.argv[1])\" %s")
    monkeypatch.setenv("DISPLAY", ":0")
    process, _, _ = view("line", "--no-browser")
    assert end(process)[0] == 0
    assert not (tmp_path / "seen").exists()
    process, url, _ = view("line")
    deadline = time.monotonic() + SOON
    while not (tmp_path / "seen").exists() or not (tmp_path / "seen").read_text():
        assert time.monotonic() < deadline, "no browser was opened"
        time.sleep(0.05)
    assert (tmp_path / "seen").read_text() == url
    assert end(process)[0] == 0


def test_a_recording_is_opened_like_a_world(view, call, tmp_path):
    assert call("run", "line", "--seconds", 2, "--out", tmp_path, "--quiet").exit_code == 0
    process, url, _ = view(tmp_path / "run.parquet")
    assert page(url)[0] == 200
    assert end(process) == (0, "", STOPPING)


def test_a_recording_of_own_elements_opens_without_their_code_which_runs_only_when_asked_for(view, call, tmp_path):
    (tmp_path / "mine.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'a').write('!')\nfrom dataclasses import dataclass\nimport numpy as np\n"
        "from formiga.world.elements import element\n@element('idle', role='controller')\n@dataclass(frozen=True)\n"
        "class Idle:\n    'Stands.'\n    def decide(self, view):\n        return np.zeros((*view.shape, 2))\n")
    (tmp_path / "w.xml").write_text("<world seconds='1'><arena width='1' depth='1'/><sbot><idle/></sbot></world>")
    assert call("run", tmp_path / "w.xml", "--with", tmp_path / "mine.py", "--out", tmp_path, "--quiet").exit_code == 0
    for options, runs in (((), "!"), (("--run-code",), "!!")):
        process, url, before = view(tmp_path / "run.parquet", *options)
        assert ("without its code <idle> shows nothing" in before) == (not options) and page(url)[0] == 200
        assert end(process) == (0, "", STOPPING)
        assert (tmp_path / "ran").read_text() == runs
    assert "--run-code is for a RECORDING" in call("view", "line", "--run-code").stderr


def test_who_lets_others_in_is_told(view):
    process, _, _ = view("line", "--host", "0.0.0.0")
    code, _, stderr = end(process)
    assert code == 0 and "others in your network can reach it, drive it, and write files with it.\n" in stderr


# -- it ends ----------------------------------------------------------------------------------------------------------
def test_quit_ends_it_with_0(view, tmp_path):
    (tmp_path / "short.fsh").write_text("speed max; wait 1; quit\n")
    process, _, _ = view("line", "--script", tmp_path / "short.fsh")
    assert ended(process) == (0, "", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_recording_that_is_being_written_is_kept_whole(view, number, tmp_path):
    (tmp_path / "keep.fsh").write_text("record keep.parquet; speed max; wait 5; record off; record other.parquet\n")
    process, _, _ = view("line", "--script", tmp_path / "keep.fsh")
    assert process.stdout.readline() == f"recorded {tmp_path}/keep.parquet\n"
    assert end(process, number) == (0, f"recorded {tmp_path}/other.parquet\n", STOPPING)
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "config", "keep.drawings.parquet", "keep.fsh", "keep.parquet", "other.drawings.parquet", "other.parquet"]
    assert [each.name for each in (tmp_path / "config" / "formiga").iterdir()] == ["recent.json"]  # the files of now, listed
    kept = formiga.read_recording(tmp_path / "keep.parquet")
    assert kept.poses().x.shape == (51, 1, 1) and not kept.touched
    assert formiga.read_recording(tmp_path / "other.parquet").touched  # it begins in the middle of a run


def test_it_goes_on_when_nobody_types_and_nobody_reads(view, tmp_path):
    """Its input is closed from the start, its output later: it is a server, and neither is a reason to end."""
    process, url, _ = view("line")
    process.stdout.close()
    time.sleep(0.5)
    assert process.poll() is None and page(url)[0] == 200
    process.send_signal(signal.SIGINT)
    assert process.wait(SOON) == 0
    assert COMPILING.sub("", process.stderr.read()) == STOPPING


def test_a_script_that_goes_wrong_is_said_and_the_laboratory_stays_open(view, tmp_path):
    (tmp_path / "wrong.fsh").write_text("speed 2\nset nothing.here 3\n")
    process, url, _ = view("line", "--script", tmp_path / "wrong.fsh")
    line = process.stderr.readline()
    while COMPILING.fullmatch(line):
        line = process.stderr.readline()
    assert line.startswith(f"formiga: {tmp_path}/wrong.fsh:2: there is nothing named 'nothing'.")
    assert page(url)[0] == 200
    assert end(process)[0] == 0


BREAK = """
from formiga.page.panels import Panels

forget, count = Panels.forget, []

def broken(panels):  # the page calls it again and again while no window is open
    count.append(1)
    if len(count) <= {times}:
        raise TypeError("no such thing")
    print("drawn again", flush=True) if len(count) == {times} + 1 else None
    forget(panels)

Panels.forget = broken
"""


@pytest.mark.parametrize("times, often", [(1, "once"), (3, "3 times; the last time")])
def test_what_failed_in_the_page_is_counted_at_the_end_and_the_exit_code_is_1(view, times, often, tmp_path):
    (tmp_path / "break.py").write_text(BREAK.format(times=times))
    process, _, _ = view("line", "--with", tmp_path / "break.py")
    assert process.stdout.readline() == "drawn again\n"
    code, stdout, stderr = end(process)
    wrong = r"a picture could not be drawn \(TypeError at page/page\.py:\d+: no such thing\)\.\n"
    assert (code, stdout) == (1, "")
    assert re.fullmatch(f"formiga: {wrong}{STOPPING}formiga: the page failed {often}: {wrong}", stderr)


def test_so_it_is_for_a_match_that_is_watched(call, monkeypatch):
    def forget(panels):
        match = panels.session.supervisor
        if (match is None or match.over) and not ends:
            ends.append(True)
            signal.raise_signal(signal.SIGINT)
        if fails:
            raise TypeError("no such thing")

    monkeypatch.setattr("formiga.page.panels.Panels.forget", forget)
    for fails in (True, False):
        ends = []
        result = call("match", "chaser", "chaser", "--view", "--no-browser", "--half", 1, "--halves", 1, "--quiet")
        assert result.exit_code == fails and ("formiga: the page failed " in result.stderr) == fails


# -- it refuses -------------------------------------------------------------------------------------------------------
def test_what_cannot_be_opened_is_one_line(refused, tmp_path):
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and then nothing")
    (tmp_path / "broken.xml").write_text("<world>\n<sbott/></world>")
    assert "there is no world 'coral'. Did you mean 'corral'?" in refused("view", "coral")
    assert "broken.xml:2: " in refused("view", tmp_path / "broken.xml")
    assert "broken.parquet: not a recording" in refused("view", tmp_path / "broken.parquet")
    assert "none.parquet: no such file" in refused("view", tmp_path / "none.parquet")
    assert "there is no param 'robts' to set" in refused("view", "corral", "--set", "robts=3")


def test_a_script_that_cannot_be_read_is_one_line(refused, tmp_path):
    (tmp_path / "open.fsh").write_text('speed 2\necho "half\n')
    assert "open.fsh:2: a \" opens here and is not closed" in refused("view", "line", "--script", tmp_path / "open.fsh")
    assert "none.fsh: there is no such file" in refused("view", "line", "--script", tmp_path / "none.fsh")


@pytest.mark.parametrize("host", ["203.0.113.7", "no.such.invalid", "127.0.0.1:8017"])
def test_an_address_that_is_not_of_this_machine_is_one_line(refused, host):
    assert f"'{host}' is not an address of this machine" in refused("view", "line", "--host", host)


@pytest.mark.parametrize("port", ["0", "65536", "-1", "http"])
def test_a_port_that_is_none_is_a_usage_error(call, port):
    result = call("view", "line", "--port", port)
    assert result.exit_code == 2 and "Invalid value for '--port'" in result.stderr
