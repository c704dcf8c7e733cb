"""--rosbridge, as processes: what they print, how they end, and what they refuse."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import threading

from websockets.sync.client import connect

from tests.ros.conftest import CARTS, say


def test_a_run_is_open_at_the_address_that_it_prints_keeps_to_the_clock_and_ends_with_ctrl_c(start, tmp_path):
    (tmp_path / "w.xml").write_text(CARTS)
    run = start("run", tmp_path / "w.xml", "--rosbridge", "127.0.0.1:0", "--seconds", "1000", stdout=subprocess.PIPE,
                stderr=subprocess.PIPE)
    late = threading.Timer(120, run.kill)
    late.start()
    try:
        line = run.stderr.readline()
        url = re.fullmatch(r"rosbridge: (ws://127\.0\.0\.1:\d+)\n", line)
        assert url, line
        with connect(url[1], proxy=None) as client:
            say(client, op="subscribe", topic="/clock")
            for _ in range(3):
                clock = json.loads(client.recv(timeout=60))["msg"]["clock"]
            assert clock["secs"] < 100                        # not as fast as it can
            run.send_signal(signal.SIGINT)
            out, err = run.communicate(timeout=60)
    finally:
        late.cancel()
        run.kill()
    assert run.returncode == 130 and "interrupted at" in err and "Traceback" not in err and "simulated" in out


def test_a_port_that_is_taken_and_what_does_not_go_with_it_are_one_message(refused, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert refused("run", "line", "--rosbridge", port) == (
            f"port {port} of 127.0.0.1 is in use; give another one with --rosbridge [HOST:]PORT.")
    assert "A world's name stands before it." in refused("run", "--rosbridge", "line")
    assert "leave --worlds and --script out" in refused("run", "line", "--rosbridge", "0", "--worlds", "2")
    (tmp_path / "a.fsh").write_text("echo a")
    assert "leave --worlds and --script out" in refused("run", "line", "--rosbridge", "0", "--script", tmp_path / "a.fsh")


def test_the_laboratory_serves_ros_tools_with_the_token_of_its_page_and_says_where(start):
    view = start("view", "line", "--no-browser", "--rosbridge", "0.0.0.0:0", "--port", "18017", stdout=subprocess.PIPE,
                 stderr=subprocess.PIPE)
    late = threading.Timer(120, view.kill)
    late.start()
    try:
        while not (url := re.fullmatch(r"rosbridge: ws://0\.0\.0\.0:(\d+)/\?token=(\S+)\n", line := view.stdout.readline())):
            assert line, view.stderr.read()
        with connect(f"ws://127.0.0.1:{url[1]}/?token={url[2]}", proxy=None) as client:
            say(client, op="subscribe", topic="/odom")
            assert json.loads(client.recv(timeout=60))["topic"] == "/odom"
            view.send_signal(signal.SIGINT)
            _, err = view.communicate(timeout=60)
    finally:
        late.cancel()
        view.kill()
    assert view.returncode == 0 and "Traceback" not in err, err
