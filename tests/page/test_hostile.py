"""Windows that are not ours, garbage, floods, scripts without an end: each costs its sender, and no other client."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import msgspec
import pytest
import viser
import websockets

from formiga.errors import FormigaError
from formiga.page.server import TYPED, Bell, Server, refuse_origin
from tests.page.clients import alive, line, talk
from tests.page.conftest import until


@pytest.mark.parametrize("path", ["/", "/line"])
@pytest.mark.parametrize("garbage", [
    b"\x00\xff garbage", "not even bytes", b"\x81\xa4type\xa7Nothing", "[1, 2", "[]", "{}", "3", "null", '{"run": 3}',
    '{"press": []}', '{"run": "' + "x" * 30000 + '"}', "[" * 5000])
def test_garbage_ends_the_connection_that_it_came_from_and_nothing_else(lab, path, garbage, capfd):
    async def send(socket):
        await socket.send(garbage)
        await asyncio.sleep(0.2)

    with suppress(websockets.exceptions.ConnectionClosed):
        talk(lab, line(lab) if path == "/line" else path, send)
    alive(lab)
    assert "Traceback" not in capfd.readouterr().err


def test_messages_that_are_well_formed_and_make_no_sense_are_ignored(lab, capfd):
    kinds = ["GuiUpdateMessage", "ShareUrlRequest", "CommandTriggerMessage", "SceneNodeClickMessage", "FileTransferStartUpload",
             "GuiFormSubmitMessage", "TransformControlsUpdateMessage", "ViewerCameraMessage"]

    async def send(socket):
        for kind in kinds:
            nonsense = {"type": kind, "uuid": "nobody", "updates": {"value": [1] * 50}, "name": "/nothing"}
            await socket.send(msgspec.msgpack.encode(nonsense))
            await asyncio.sleep(0.05)

    for _ in kinds:
        with suppress(websockets.exceptions.ConnectionClosed):
            talk(lab, "/", send)
    alive(lab)
    assert "Traceback" not in capfd.readouterr().err


CAMERA = {"type": "ViewerCameraMessage", "wxyz": (1.0, 0.0, 0.0, 0.0), "position": (0.0, 0.0, 1.0), "fov": 1.0, "near": 0.1,
          "far": 10.0, "image_height": 100, "image_width": 100, "look_at": (0.0, 0.0, 0.0), "up_direction": (0.0, 0.0, 1.0)}
WRONG = [None, "x", "", float("nan"), [], {}, -1e308, ["a"] * 3, True, 10**18, "\x1b[2J", b"xx", "$time; echo other"]


async def become_a_window(lab, socket):
    """Say where it looks from, and wait for the world: what a window does is only listened to after that."""
    windows = len(lab.page._browser.get_clients())
    await socket.send(msgspec.msgpack.encode(CAMERA))
    await asyncio.get_running_loop().run_in_executor(None, until, lambda: (
        len(lab.page._browser.get_clients()) > windows and lab.page._version == lab.session.version))


def test_no_element_of_the_panels_takes_a_value_that_it_cannot_have(lab):
    """viser would cast it, set it for all windows, and call what belongs to the element; or set any other attribute of it."""
    elements, before = {}, {}

    async def send(socket):
        await become_a_window(lab, socket)
        elements.update(lab.page._browser.gui._gui_input_handle_from_uuid)
        texts = {uuid for uuid, element in elements.items() if isinstance(element, viser.GuiTextHandle)}  # which take any text
        before.update({uuid: (each.value, each.visible, list(each._impl.update_cb)) for uuid, each in elements.items()})
        for uuid in elements:
            values = [value for value in WRONG if not isinstance(value, str if uuid in texts else bool)]
            others = [{"update_cb": []}, {"removed": True}, {"visible": False}, 3]
            for updates in [*({"value": value} for value in values), *others]:
                await socket.send(msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": uuid, "updates": updates}))
                await asyncio.sleep(0.003)  # no flood
        await socket.send(msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": [], "updates": {"value": 1}}))
        await asyncio.sleep(0.5)

    with suppress(websockets.exceptions.ConnectionClosed):
        talk(lab, "/", send)
    alive(lab)
    now = lab.page._browser.gui._gui_input_handle_from_uuid
    assert len(elements) > 20 and {type(element).__name__ for element in elements.values()} >= {
        "GuiButtonGroupHandle", "GuiButtonHandle", "GuiCheckboxHandle", "GuiDropdownHandle", "GuiTextHandle"}
    for uuid, (value, visible, callbacks) in before.items():
        if uuid in now:
            assert (now[uuid].value, now[uuid].visible, now[uuid]._impl.update_cb) == (value, visible, callbacks)
    assert not lab.faults()


def test_a_field_with_a_character_that_no_command_holds_is_one_complaint_and_no_fault(lab):
    elements = lab.page._browser.gui._gui_input_handle_from_uuid
    typed = {lab.page.panels._file._impl.uuid: "a\x1b",
             next(uuid for uuid, each in elements.items() if getattr(each, "label", "").startswith("Export page")): True}

    async def send(socket):
        await become_a_window(lab, socket)
        for uuid, value in typed.items():
            await socket.send(msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"value": value}}))
        await asyncio.get_running_loop().run_in_executor(None, until, lambda: any("U+001B" in text for _, text in lab.said))

    try:
        talk(lab, "/", send)
    finally:
        lab.page.panels._file.value = ""  # the laboratory is that of all tests here
    assert not lab.faults()


def test_a_client_that_floods_waits_and_the_others_do_not(lab):
    lab.run("speed 1; play")

    async def flood(socket):
        sent = 0
        try:
            async with asyncio.timeout(3.0):
                while sent < 50_000:
                    await socket.send(json.dumps({"run": "echo flood"}))
                    sent += 1
        except TimeoutError:
            pass
        await asyncio.get_running_loop().run_in_executor(None, alive, lab)
        return time.monotonic() - began, sum(text == "flood" for _, text in lab.said)

    began = time.monotonic()
    spent, floods = talk(lab, line(lab), flood, close_timeout=1)
    assert spent < 10.0
    assert 0 < floods <= (spent + 1.0) * TYPED


@pytest.mark.parametrize("origin", ["http://evil.example", "http://127.0.0.1:1", "null", "file://"])
@pytest.mark.parametrize("path", ["/", "/line"])
def test_another_sites_page_may_not_speak_to_it(lab, origin, path):
    async def send(socket):
        await socket.send(json.dumps({"run": "speed 9"}))
        await socket.recv()

    with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
        talk(lab, line(lab) if path == "/line" else "/", send, origin=origin)
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1008
    assert lab.session.speed == 1.0


@pytest.mark.parametrize("origin, host, loopback, allowed", [
    (None, "127.0.0.1:8017", True, True), ("http://127.0.0.1:8017", "127.0.0.1:8017", True, True),
    ("http://localhost:9000", "localhost:9000", True, True), ("http://[::1]:8017", "[::1]:8017", True, True),
    ("http://evil.example:8017", "evil.example:8017", True, False), (None, "evil.example", True, False),
    (None, "", True, False),
    ("http://localhost:1", "localhost:2", True, False), ("http://[", "localhost", True, False), (None, "[", True, False),
    ("http://lab.example:8017", "lab.example:8017", False, True), ("http://evil.example", "lab.example:8017", False, False),
])
def test_who_may_come_in(origin, host, loopback, allowed):
    assert (refuse_origin(origin, host, loopback) == "") is allowed


def test_a_line_needs_the_token_that_only_the_page_knows(lab):
    async def send(socket):
        await socket.send(json.dumps({"run": "speed 9"}))
        await socket.recv()

    for path in ("/line", "/line?client=0", "/line?client=0&token=guess", "/line?client=-1&token="):
        with pytest.raises(websockets.exceptions.ConnectionClosed):
            talk(lab, path, send)
    assert lab.session.speed == 1.0


LOOPS = {
    "calls itself": '<alias name="again" run="again"/><script run="again"/>',
    "calls itself, deeper and deeper": '<alias name="down" run="down; echo up"/><script run="down"/>',
    "two that call each other": '<alias name="ping" run="pong"/><alias name="pong" run="ping"/><script run="ping"/>',
    "waits no time": '<alias name="idle" run="wait 0; idle"/><script run="idle"/>',
}


@pytest.mark.parametrize("loop", LOOPS)
def test_a_worlds_script_that_loops_for_ever_is_stopped_with_a_message(lab, loop, tmp_path):
    file = tmp_path / "loop.xml"
    file.write_text(f'<world name="loop"><arena width="1" depth="1"/><sbot><scatter/></sbot>{LOOPS[loop]}</world>')
    lab.do(lambda: lab.session.open(str(file)), timeout=20)
    until(lambda: any(kind == "error" and "loop.xml:1" in text and names_a_limit(text) for kind, text in lab.said),
          message=lambda: str(lab.said))
    alive(lab)


def names_a_limit(text):
    return any(word in text for word in ("10000", "10,000", "32"))


def test_a_worlds_script_that_loops_with_waits_leaves_the_laboratory_usable(lab, tmp_path):
    file = tmp_path / "blink.xml"
    file.write_text('<world name="blink"><arena width="1" depth="1"/><lamp x="0" y="0" name="lamp"/><sbot><scatter/></sbot>'
                    '<alias name="blink" run="toggle lamp; wait 0.1; blink"/><script run="blink"/></world>')
    lab.do(lambda: lab.session.open(str(file)))
    lab.run("speed max; play")
    until(lambda: lab.poses()[2] > 50)
    alive(lab)
    lab.run("load line")
    assert not [task for task in lab.session.console.tasks if not task.trusted]


@pytest.mark.parametrize("text", ["save stolen.xml", "screenshot stolen.png", "record stolen.parquet", "load line",
                                  "exec x.fsh", "export x.html", "settings save"])
@pytest.mark.parametrize("how", ["script", "bind", "alias"])
def test_a_worlds_own_text_may_not_touch_files(lab, text, how, tmp_path):
    inside = {"script": f'<script run="{text}"/>', "bind": f'<bind key="F9" run="{text}"/>',
              "alias": f'<alias name="innocent" run="{text}"/>'}
    file = tmp_path / "thief.xml"
    file.write_text(f'<world name="thief"><arena width="1" depth="1"/><sbot><scatter/></sbot>{inside[how]}</world>')
    lab.do(lambda: lab.session.open(str(file)))
    if how == "bind":
        lab.do(lambda: lab.session.console.press("F9"))
    if how == "alias":
        lab.run("innocent")
    lab.heard("thief.xml:1", "error")
    assert {each.name for each in tmp_path.iterdir()} <= {"thief.xml", "config"}
    assert lab.session.world.name == "thief"


def test_a_port_in_use_gives_the_next_free_one():
    first = Server(port=0)
    try:
        second = Server(port=first.port)
        assert second.port > first.port
        second.stop()
    finally:
        first.stop()


def test_the_last_port_in_use_is_refused_and_does_not_hang():
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", 65535))
        taken.listen()
        with pytest.raises(FormigaError, match="no port from 65535 to 65535 is free"):
            Server(port=65535)


def test_an_address_of_another_machine_is_refused_at_once():
    with pytest.raises(FormigaError, match="is not an address of this machine"):
        Server(host="203.0.113.7")


def test_a_client_that_does_not_stop_flooding_is_put_out(lab):
    async def flood(socket):
        async def forever():
            while True:
                await socket.send(json.dumps({"run": "echo flood"}))

        await asyncio.wait_for(forever(), 30)

    with pytest.raises(websockets.exceptions.ConnectionClosed):
        talk(lab, line(lab), flood, close_timeout=1)
    alive(lab)


def test_the_server_listens_on_loopback_only(lab):
    with open("/proc/net/tcp") as table:
        listening = {line.split()[1] for line in list(table)[1:] if line.split()[3] == "0A"}
    port = f":{lab.page.server.port:04X}"
    assert [each for each in listening if each.endswith(port)] == [f"0100007F{port}"]


def test_a_worlds_own_text_may_not_end_the_laboratory(lab, tmp_path):
    file = tmp_path / "rude.xml"
    file.write_text('<world name="rude"><arena width="1" depth="1"/><sbot><scatter/></sbot><script run="quit"/></world>')
    lab.do(lambda: lab.session.open(str(file)))
    lab.heard("rude.xml:1: a world's own text may not end the laboratory", "error")
    alive(lab)


def test_a_worlds_many_scripts_together_cannot_freeze_it(lab, tmp_path):
    busy = '<alias name="busy" run="set lamp.intensity 0.5; set lamp.intensity 0.6; busy"/>' + 20 * '<script run="busy"/>'
    file = tmp_path / "busy.xml"
    file.write_text('<world name="busy"><arena width="1" depth="1"/><lamp x="0" y="0" name="lamp"/><sbot><scatter/></sbot>'
                    f"{busy}</world>")
    lab.do(lambda: lab.session.open(str(file)), timeout=40)
    assert sum(kind == "error" for kind, _ in lab.said) == 20
    alive(lab)


def test_edits_leave_nothing_behind_in_the_page(lab):
    """Every new window is sent all messages that wait: they may not grow with every switch of a lamp."""
    lab.do(lambda: lab.session.open("lamps"))

    def waiting():
        return len(lab.page.server.viser._websock_server._broadcast_buffer.message_from_id)

    counts = []
    for _ in range(30):
        lab.run("toggle west")
        lab.page._show(lab.session.look())
        counts.append(waiting())
    assert max(counts[10:]) - min(counts[10:]) < 20


def test_a_picture_that_goes_wrong_does_not_end_the_run(lab, monkeypatch):
    monkeypatch.setattr("formiga.session.watch.summary", lambda session: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        lab.session.look()
    monkeypatch.undo()
    alive(lab)


def test_who_is_followed_keeps_being_followed_when_others_go(lab):
    lab.page._followed = {0: (5, False), 1: (2, True)}
    lab.run("remove 2")
    assert lab.page._followed == {0: (4, False)}


def test_a_film_that_would_be_cut_is_refused(lab):
    lab.run("load line; record long.parquet; step 1600; record off; load long.parquet; export long.gif")
    lab.heard("a film has at most 3000 pictures, 150 s; this would have 160 s. A speed of 1.07 is enough.", "error")


def test_another_thread_rings_a_bell_without_touching_who_waits_and_the_loop_wakes_them():
    """asyncio.Event walks through its waiters in the wrong thread: "deque mutated during iteration", now and then."""
    async def ring():
        bell = Bell()
        waits = asyncio.create_task(bell.wait())
        await asyncio.sleep(0)
        with ThreadPoolExecutor(1) as thread:
            thread.submit(bell.set).result()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not waits.done() and bell.is_set()
        bell.set()
        assert await asyncio.wait_for(waits, 1.0)

    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(ring())).result()
