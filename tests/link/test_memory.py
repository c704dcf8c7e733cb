"""Memories over a declared record: no torn reads, sealed, and nothing that is no such memory is taken for one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from formiga.link import Exchange, LinkError, Memory, Record
from formiga.link.memory import HEAD, make, open_memory
from tests.link.records import WEATHER

ROOT = Path(__file__).parents[2]
ENV = {**os.environ, "PYTHONPATH": str(ROOT)}
SIZE = 24 + 4 + 20 + 40 * 3 * 8 + 8


# -- declarations -----------------------------------------------------------------------------------------------------
def test_the_fields_follow_the_head_without_gaps():
    layout = WEATHER.layout
    assert layout.itemsize == SIZE
    at = 0
    for name, *_ in (*HEAD, *WEATHER.fields):
        assert layout.fields[name][1] == at
        at += layout.fields[name][0].itemsize


def test_a_record_is_little_endian_whatever_was_declared():
    assert Record("x", 1, (("a", ">f8"), ("b", np.int32))).layout["a"] == np.dtype("<f8")


@pytest.mark.parametrize("kind, fields, complaint", [
    (-1, (), "kind -1 is out of range"), ("a", (), "kind .a. is out of range"),
    (2**32, (), "kind 4294967296 is out of range; it must be from 0 to 4294967295"),
    (1, (("a", "O"),), "field 'a' is of type object; a memory holds numbers of a fixed size and bytes"),
    (1, (("a", "nonsense"),), r"fields are \(name, type\) or \(name, type, shape\)"),
    (1, (("a", "<f8"), ("a", "<f8")), "field 'a' occurs more than once"),
    (1, (("sequence", "<u4"),), "field 'sequence' occurs more than once"),
])
def test_a_record_that_no_memory_can_hold_is_refused_in_a_sentence(kind, fields, complaint):
    with pytest.raises(LinkError, match=f"record 'x': .*{complaint}"):
        Record("x", kind, fields)


def test_an_exchange_needs_the_fields_of_turns_in_both_records():
    with pytest.raises(LinkError, match="record 'bare' has no field 'state'; an exchange needs the fields TURN"):
        Exchange(WEATHER, Record("bare", 3, (("a", "<f8"),)))


# -- no torn reads ----------------------------------------------------------------------------------------------------
HAMMER = """
import os, sys
from formiga.link import Memory
from tests.link.records import WEATHER
memory = Memory(WEATHER, os.open(sys.argv[1], os.O_RDWR), writable=True)
print("writing", flush=True)
k = 0
while True:
    k += 1
    memory.values["frame"], memory.values["time"] = k, k
    memory.values["wind"] = k
    memory.write()
"""


def test_no_read_is_torn_while_another_process_writes_as_fast_as_it_can(tmp_path):
    memory, _ = make(WEATHER, tmp_path / "m")
    writer = subprocess.Popen([sys.executable, "-c", HAMMER, tmp_path / "m"], stdout=subprocess.PIPE, env=ENV)
    try:
        assert writer.stdout.readline() == b"writing\n"
        seen, end = set(), time.monotonic() + 120.0
        while len(seen) < 1000 and time.monotonic() < end:
            sequence = memory.read()
            if sequence is None:
                continue
            values = memory.values
            assert sequence % 2 == 0
            if values["frame"] > 0:
                assert values["time"] == values["frame"] and (values["wind"] == values["frame"]).all()
                seen.add(int(values["frame"]))
        assert len(seen) == 1000
    finally:
        writer.kill()
        writer.communicate()


# -- whose memory it is -----------------------------------------------------------------------------------------------
def test_another_process_can_neither_shrink_a_memory_nor_write_on_the_question():
    with Exchange(WEATHER, WEATHER) as exchange:
        for path in exchange.paths:
            with pytest.raises(OSError):
                os.truncate(path, 0)
            with pytest.raises(OSError):
                os.truncate(path, 1 << 20)
        file = os.open(exchange.paths[0], os.O_RDWR)
        with pytest.raises(OSError):
            os.write(file, b"rain")
        with pytest.raises(OSError):
            Memory(WEATHER, file, writable=True)
        os.close(file)


def test_memories_leave_nothing_behind_even_if_every_process_is_killed():
    program = ("from formiga.link import Exchange; from tests.link.records import WEATHER; import time; "
               "exchange = Exchange(WEATHER, WEATHER); print('made', flush=True); time.sleep(60)")
    before = set(os.listdir("/dev/shm"))
    maker = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=ENV)
    assert maker.stdout.readline() == b"made\n"
    maker.send_signal(signal.SIGKILL)
    maker.communicate()
    assert not {name for name in set(os.listdir("/dev/shm")) - before if "formiga" in name}


def test_an_exchange_that_cannot_be_made_leaves_no_file_open(tmp_path):
    (tmp_path / "weather-x").mkdir()
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(LinkError, match="weather-x: no memory could be made there \\(Is a directory\\)"):
        Exchange(WEATHER, WEATHER, name="x", folder=tmp_path)
    assert len(os.listdir("/proc/self/fd")) == before and not (tmp_path / "weather").exists()


@pytest.mark.parametrize("damage, complaint", [
    (lambda data: data[:100], f"it has 100 bytes; a memory of this kind has {SIZE}"),
    (lambda data: b"PNG" + data[3:], "this is no memory of formiga"),
    (lambda data: data[:8] + b"\x02" + data[9:], f"version 2, kind 71 and {SIZE} bytes; expected are version 1, kind 71"),
    (lambda data: data[:12] + b"\x02" + data[13:], "kind 2"),
])
def test_what_is_no_memory_is_refused_in_a_sentence(damage, complaint, tmp_path):
    made, _ = make(WEATHER, tmp_path / "weather")
    made.write()
    data = (tmp_path / "weather").read_bytes()
    (tmp_path / "weather").write_bytes(damage(data))
    with pytest.raises(LinkError, match=complaint):
        open_memory(WEATHER, str(tmp_path / "weather"))


def test_a_memory_that_is_not_there_is_a_clear_complaint(tmp_path):
    with pytest.raises(LinkError, match="nothing: cannot be opened as a memory"):
        open_memory(WEATHER, str(tmp_path / "nothing"))
