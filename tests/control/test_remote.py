"""<remote>: a program outside drives as the same controller inside, and whatever becomes of it, the run goes on."""

import gc
import os
import pickle
import shutil
import socket
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import formiga
from formiga.control import Orders, programs
from formiga.control.remote import RemoteControl, standing
from formiga.control.turns import turns_of
from formiga.errors import WorldError
from formiga.link import Exchange, LinkError
from formiga.link.datagrams import BYE, HELLO, bare
from formiga.loop import Simulation
from formiga.world.elements import element
from formiga.world.reader import read_text

DRIVERS = Path(__file__).parent / "remote_drivers.py"
CLIENTS = Path(formiga.__file__).parent / "link" / "clients"
WORLD = """<world name="driven" dt="0.1"{}><arena width="1.2" depth="1"/><cylinder x="0" y="0" radius="0.1" name="post"/>
<sbot count="4" name="swarm"><scatter/><proximity/>{}<remote {}/></sbot></world>"""


def world(remote="", more="", about=""):
    return read_text(WORLD.format(about, more, remote), "driven.xml")


def program(what):
    return [sys.executable, str(DRIVERS), what]


def drive_inside(view):
    """What every program of remote_drivers.py answers."""
    near = view.reading("proximity")
    return np.stack([0.02 + 0.001 * near[..., 0], 0.03 - 0.001 * near[..., 1]], axis=-1)


@pytest.fixture
def inside(own_registry):
    @element("inside", role="controller")
    @dataclass(frozen=True)
    class Inside:
        """The same, in this process."""

        def decide(self, view):
            return drive_inside(view)

    return lambda given: replace(given, groups=(replace(given.groups[0], controller=Inside()),))


@pytest.fixture(scope="module")
def avoiders(tmp_path_factory):
    """The commands of the examples, in Python and in C."""
    examples, made = Path(__file__).parents[2] / "examples" / "programs", tmp_path_factory.mktemp("avoid") / "avoid"
    commands = [[sys.executable, str(examples / "avoid.py")]]
    if shutil.which("cc") is not None:
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-std=c11", "-I", CLIENTS, "-o", made,
                        examples / "avoid.c", "-lm"], check=True)
        commands.append([str(made)])
    return commands


def path_of(lab, steps=60):
    with lab:
        for _ in range(steps):
            lab.step()
        assert not list(lab.log.told), list(lab.log.told)
        return lab.state.position.copy(), lab.state.heading.copy(), lab.state.crashes.copy()


def guest(lab, what):
    """A program at the port of a run."""
    driver = lab.programs.driver(lab.world.groups[0], lab.state.worlds, lab.world.dt, lab.readings["swarm"])
    assert driver.open()
    child = subprocess.Popen([*program(what), "--udp", f"127.0.0.1:{driver.address[1]}"], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
    assert driver.ready(30.0)
    return child


def until(true, limit=30.0):
    end = time.monotonic() + limit
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


# -- the same bits ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("what", ["numpy", "plain"])
@pytest.mark.parametrize("engine", ["planar", "spatial"])
def test_a_program_drives_as_the_same_controller_does_inside(what, engine, inside):
    given = replace(world(), engine=engine)
    expected = path_of(Simulation(inside(given), seed=5, worlds=3))
    found = path_of(Simulation(formiga.attach(given, "swarm", program(what)), seed=5, worlds=3))
    for a, b in zip(expected, found, strict=True):
        assert_array_equal(a, b)
    assert np.ptp(found[0]) > 0.05


def test_the_readable_loop_and_the_compiled_halves_give_the_same_bits():
    given = formiga.attach(world(), "swarm", program("numpy"))
    compiled = Simulation(given, seed=2, worlds=2)
    found = path_of(compiled)
    assert compiled._halves._look is not None, "the compiled way was not taken"
    for a, b in zip(found, path_of(Simulation(given, seed=2, worlds=2, compiled=False)), strict=True):
        assert_array_equal(a, b)


def test_by_udp_it_is_the_same_and_lost_or_doubled_datagrams_change_nothing(inside):
    given = world('port="0"')
    expected = path_of(Simulation(inside(given), seed=5, worlds=2))
    with Simulation(given, seed=5, worlds=2) as lab:
        child = guest(lab, "numpy")
        exchange, lost = lab.programs.drivers["swarm"]._udp, []
        send = exchange.port.send

        def unreliable(data, to=None):
            lost.append(len(lost) % 9 == 4)
            if not lost[-1]:
                send(data, to)
            if len(lost) % 7 == 3:
                send(data, to)

        exchange.port.send = unreliable
        for _ in range(60):
            lab.step()
        assert sum(lost) > 3
        found = lab.state.position, lab.state.heading, lab.state.crashes
        for a, b in zip(expected, found, strict=True):
            assert_array_equal(a, b)
        lines = list(lab.log.told)
    assert [line.partition(" 127")[0] for line in lines] == ["swarm: waits for a program at UDP", "swarm: a program at"], lines
    assert child.wait(30.0) == 0, child.stdout.read()


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("how", ["memory", "udp"])
def test_the_examples_in_c_and_python_drive_alike(how, avoiders):
    given = formiga.read_world("remote")
    paths = []
    for command in avoiders:
        if how == "memory":
            paths.append(path_of(Simulation(formiga.attach(given, "swarm", command), seed=1, worlds=2)))
            continue
        free = replace(given, groups=(replace(given.groups[0], controller=RemoteControl(port=0)),))
        with Simulation(free, seed=1, worlds=2) as lab:
            driver = lab.programs.driver(free.groups[0], 2, free.dt, lab.readings["swarm"])
            driver.open()
            child = subprocess.Popen([*command, "--udp", f"127.0.0.1:{driver.address[1]}"])
            assert driver.ready(30.0)
            for _ in range(60):
                lab.step()
            paths.append((lab.state.position.copy(), lab.state.heading.copy()))
        assert child.wait(30.0) == 0
    assert_array_equal(paths[0][0], paths[1][0])
    assert np.ptp(paths[0][1]) > 0.1


def test_worlds_of_a_batch_and_threads_have_one_program(inside):
    given = formiga.attach(world(), "swarm", program("numpy"))
    run = formiga.simulate(given, 2.0, seed=9, worlds=5, threads=4)
    assert_array_equal(run.state.position, formiga.simulate(inside(world()), 2.0, seed=9, worlds=5, threads=4).state.position)


def test_messages_lights_and_clocks_go_both_ways():
    given = formiga.attach(world(more='<radio numbers="2" range="5"/>'), "swarm", program("talk"))
    with Simulation(given) as lab:
        lab.step()
        outbox = lab.state.outbox
        assert np.isnan(outbox).all(), "a message with a part that is no number was sent"
        assert any("a message with a part that is no number" in line for line in lab.log.told)
        assert lab.state.leds[0, 0, 0].tolist() == [200, 0, 0] and not lab.state.leds[0, 1:].any()
    given = formiga.attach(world(more='<radio numbers="1" range="5"/>'), "swarm", program("talk"))
    with Simulation(given, worlds=2) as lab:
        for step in range(4):
            lab.step()
            assert_array_equal(lab.state.outbox[..., 0], np.full((2, 4), 1.0 + 0.1 * step))
        assert_array_equal(lab.orders["swarm"].drive[..., 0], np.full((2, 4), 0.01))  # each heard another
        lab.reset(np.array([True, False]))
        lab.step()
        assert_array_equal(lab.state.outbox[..., 0], [[1.0] * 4, [1.0 + 0.1 * 4] * 4])


# -- a world is only a world ------------------------------------------------------------------------------------------
def test_checking_reading_and_copying_a_world_starts_nothing(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a process or a socket was made")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(socket, "socket", refuse)
    given = formiga.attach(world('port="20100"'), "swarm", "nothing --at all")
    copy = pickle.loads(pickle.dumps(given))
    assert copy == given
    formiga.lab.check_world(copy)
    lab = Simulation(copy)
    assert lab.readings and lab.programs.commands == {"swarm": ("nothing", "--at", "all")}
    assert pickle.loads(pickle.dumps(lab.programs)).commands == lab.programs.commands


def test_a_command_is_no_part_of_a_world_file(tmp_path):
    with pytest.raises(WorldError, match="<remote> has no attribute 'command'"):
        world('command="rm -rf /"')
    formiga.write_world(formiga.attach(world(), "swarm", "./driver"), tmp_path / "out.xml")
    assert "driver" not in (tmp_path / "out.xml").read_text().replace("driven", "")


@pytest.mark.parametrize("group, command, complaint", [
    ("swam", "./driver", "no group 'swam' for a program to drive. Did you mean 'swarm'"),
    ("swarm", "", "the program of 'swarm' is empty"),
    ("swarm", "'./driver", "the program of 'swarm', './driver, is no command: a quotation has no end"),
])
def test_a_program_for_nothing_is_refused(group, command, complaint):
    with pytest.raises(WorldError, match=complaint):
        formiga.attach(world(), group, command)


def test_a_group_with_another_controller_is_refused_with_its_line():
    text = WORLD.format("", "", "").replace("<remote />", "<random_walk/>")
    with pytest.raises(WorldError, match=r"driven.xml:2: 'swarm' has <random_walk>; a program drives a group with <remote/>"):
        formiga.attach(read_text(text, "driven.xml"), "swarm", "./driver")


def test_without_a_program_the_robots_stand_and_one_line_says_what_to_do():
    with Simulation(world()) as lab:
        for _ in range(30):
            lab.step()
        assert not lab.state.drive.any()
        assert len(lab.log.told) == 1 and "driven.xml:2: <remote> has no program" in lab.log.told[0]
        assert "--program swarm=COMMAND" in lab.log.told[0]


# -- what can go wrong ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("command, complaint", [
    (program("exit"), r"the program of 'swarm' could not start: its program ended \(exit code 1: no licence\)"),
    (["./not-there"], r"the program of 'swarm': './not-there' cannot be started \(No such file"),
])
def test_a_program_that_cannot_start_is_an_error_with_its_last_line(command, complaint):
    lab = Simulation(formiga.attach(world(), "swarm", command))
    with pytest.raises(LinkError, match=complaint):
        lab.step()


def test_a_drive_beyond_all_measure_is_that_of_full_speed_and_no_warning():
    with warnings.catch_warnings(), Simulation(formiga.attach(world(), "swarm", program("huge"))) as lab:
        warnings.simplefilter("error")
        for _ in range(30):
            lab.step()
        assert not list(lab.log.told)
        assert lab.state.drive[0, 1] == pytest.approx(lab.world.groups[0].robot.drive.limits)


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:port"])
def test_a_program_with_an_address_that_is_none_ends_with_one_line(address, avoiders):
    for command in avoiders:
        done = subprocess.run([*command, "--udp", address], capture_output=True, text=True, timeout=30.0)
        assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, (command, done.stderr)


def test_a_late_program_answers_no_question_that_was_asked_before_it_came(avoiders):
    given = formiga.read_world("remote")
    with Simulation(given) as lab:
        turns = turns_of(given.group("swarm"), 1, lab.readings["swarm"])
    for command in avoiders:
        with Exchange(turns.question, turns.answer) as exchange:
            asked = exchange.question
            asked["worlds"], asked["robots"], asked["period"], asked["group"] = 1, 5, 0.1, b"swarm"
            asked["words"], asked["table"] = len(turns.table), turns.table.encode()
            exchange.show(7, 0.7)
            child = subprocess.Popen([*command, "--memory", *exchange.paths], pass_fds=exchange.files)
            try:
                until(lambda each=exchange: each.opened)
                assert exchange.answered.values["frame"] == -1
                exchange.show(8, 0.8)
                assert exchange.answer(8, 30.0).frame == 8
            finally:
                exchange.close()
                assert child.wait(30.0) == 0


TROUBLES = {"die": "its program ended (signal 9, killed)", "raise": "its program ended (exit code 1: ValueError: bad idea)",
            "head": "the program wrote over the head of its memory; its answers are not used",
            "future": "the program answered a question that it was never shown; its answers are not used",
            "nan": "the program sent a drive that is no number; such robots stand still",
            "lights": "the program ordered leds beyond what they take; such an order is cut",
            "hang": "the program answered no question for 0.2 s"}


@pytest.mark.parametrize("what", TROUBLES)
def test_whatever_a_program_does_the_run_goes_on_and_one_line_says_what_it_did(what):
    with Simulation(formiga.attach(world('wait="0.2" silence="0.5"'), "swarm", program(what))) as lab:
        for _ in range(10):
            lab.step()
        assert lab.state.drive.all()
        pid = lab.programs.drivers["swarm"]._remote.pid
        for _ in range(40):
            lab.step()
        assert lab.state.step[0] == 50
        lines = [line for line in lab.log.told if TROUBLES[what] in line]
        assert len(lines) == 1 and lines[0].startswith("swarm: "), list(lab.log.told)
        assert len(lab.log.told) <= 2
        if what == "nan":
            assert not lab.state.drive[0, 1].any() and lab.state.drive[0, [0, 2, 3]].all()
        elif what == "lights":
            assert lab.state.leds[0, 0, 0, 0] == 255 and lab.state.drive.all()
        else:
            assert not lab.state.drive.any()
    assert gone(pid)


def test_in_real_time_nothing_is_waited_for_and_silence_stops_the_robots():
    with Simulation(formiga.attach(world('wait="0" silence="1"'), "swarm", program("silent"))) as lab:
        drives = []
        while lab.state.step[0] < 200 and not any("answered no question for 1 s" in line for line in lab.log.told):
            lab.step()
            drives.append(lab.state.drive.any())
            time.sleep(0.01)
        lab.step()
        assert any(drives) and not lab.state.drive.any()


def test_nothing_is_left_behind_also_if_nothing_is_closed():
    lab = Simulation(formiga.attach(world(), "swarm", program("numpy")))
    lab.step()
    pid, files = lab.programs.drivers["swarm"].pid, len(os.listdir("/proc/self/fd"))
    del lab
    gc.collect()
    until(lambda: gone(pid))
    assert len(os.listdir("/proc/self/fd")) < files


def test_a_run_that_ends_with_an_error_or_as_it_should_ends_its_program():
    pids = []

    class Fails(formiga.Watch):
        every_step = True

        def after(self, shards):
            pids.append(shards[0].programs.drivers["swarm"].pid)
            if len(pids) == 5:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        formiga.simulate(formiga.attach(world(), "swarm", program("numpy")), 2.0, watch=Fails())
    assert len(set(pids)) == 1 and gone(pids[0])


def test_a_program_that_never_begins_is_told_with_the_time_that_it_was_waited_for(monkeypatch):
    """Not with the 0.01 s of each later answer."""
    monkeypatch.setattr(programs, "PATIENCE", 0.3)
    with Simulation(formiga.attach(world('wait="0.01"'), "swarm", program("never"))) as lab:
        lab.step()
        lab.step()
        (line,) = lab.log.told
    assert float(line.partition("answered no question for ")[2].partition(" s;")[0]) >= 0.3


# -- udp --------------------------------------------------------------------------------------------------------------
def test_one_program_drives_a_second_one_waits_and_comes_when_the_first_has_left():
    with Simulation(world('port="0" wait="0.05"')) as lab:
        first = guest(lab, "leave")
        address = lab.programs.drivers["swarm"].address
        second = subprocess.Popen([*program("numpy"), "--udp", f"127.0.0.1:{address[1]}"])
        try:
            end = time.monotonic() + 30.0
            while sum("drives now" in line for line in lab.log.told) < 2:
                lab.step()
                assert time.monotonic() < end, list(lab.log.told)
            assert first.wait(30.0) == 0
            assert any("has left" in line for line in lab.log.told)
        finally:
            lab.close()
            assert second.wait(30.0) == 0


def test_garbage_floods_and_strangers_are_dropped_and_told_in_few_lines():
    with Simulation(world('port="0"')) as lab:
        child = guest(lab, "numpy")
        driver = lab.programs.drivers["swarm"]
        size = driver.turns.answer.layout.itemsize
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            stranger.connect(driver.address)
            answer = driver.turns.answer.head.ljust(size, b"\0")
            junk = [b"", b"x", os.urandom(60_000), answer, answer[:-1], answer + b"\0", bare(HELLO), bare(BYE), bare(BYE)[:9]]
            for _ in range(40):
                for each in junk * 3:
                    stranger.send(each)
                lab.step()
            assert lab.state.drive.all(), "the program that drives was cut off"
        assert len(driver._udp.port.told._sources) <= 2
        assert 1 < len(lab.log.told) < 12, list(lab.log.told)
        assert any("that we dropped" in line for line in lab.log.told)
    assert child.wait(30.0) == 0


def test_programs_that_come_and_leave_all_the_time_are_told_in_few_lines():
    with Simulation(world('port="0"')) as lab:
        lab.step()
        address = lab.programs.drivers["swarm"].address
        for _ in range(100):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as restless:
                for kind in (HELLO, BYE, HELLO, BYE):
                    restless.sendto(bare(kind), address)
            lab.step()
        assert any("drives now" in line for line in lab.log.told) and any("has left" in line for line in lab.log.told)
        assert len(lab.log.told) < 100, list(lab.log.told)[:20]
        assert len(lab.programs.drivers["swarm"]._before) < 100


def test_a_port_that_is_taken_is_told_once_and_the_robots_stand():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with Simulation(world(f'port="{port}"')) as lab:
            for _ in range(20):
                lab.step()
            assert not lab.state.drive.any() and len(lab.log.told) == 1
            assert f"no program can come to UDP 127.0.0.1:{port} (address already in use)" in lab.log.told[0]


def test_a_group_that_fits_no_datagram_is_refused_with_its_size_and_the_remedy():
    with Simulation(world('port="0"'), worlds=200) as lab:
        lab.step()
        turns = lab.programs.drivers["swarm"].turns
        size = turns.question.layout.itemsize
        assert size > 65_507 and f"has {size:,} bytes, and a datagram holds 65,507" in lab.log.told[0]
        assert "Take fewer worlds, robots or readings" in lab.log.told[0] and len(lab.log.told) == 1


def test_a_port_is_only_of_this_machine():
    with Simulation(world('port="0"')) as lab:
        lab.step()
        assert lab.programs.drivers["swarm"].address[0] == "127.0.0.1"


# -- standing ---------------------------------------------------------------------------------------------------------
def test_standing_robots_are_silent():
    orders = standing(world(more='<radio numbers="2"/>').groups[0], 2)
    assert isinstance(orders, Orders) and not orders.drive.any() and np.isnan(orders.message["radio"]).all()
