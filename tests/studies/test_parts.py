"""A full study that is interrupted goes on with the parts that it has, and only where its code is the same."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
import pytest

from formiga import studies
from formiga.pool import pool
from formiga.studies import parts

LOG = "log.txt"


@dataclass(frozen=True)
class Task:
    number: int
    folder: str
    stops: int = -1      # Ctrl-C at this one, the first time


def work(task):
    with open(os.path.join(task.folder, LOG), "a") as log:
        log.write(f"{task.number}\n")
    if task.number == task.stops and not os.path.exists(flag := os.path.join(task.folder, "stopped")):
        open(flag, "w").close()
        raise KeyboardInterrupt
    return {"squares": np.arange(task.number) ** 2, "inf": float("inf")}


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def log(folder):
    return sorted(map(int, (folder / LOG).read_text().split()))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_second_run_does_what_the_first_one_left(home, jobs):
    tasks = [Task(number, str(home), stops=3 if jobs == 1 else -1) for number in range(6)]
    heard = []
    with pool(jobs) as workers:
        if jobs == 1:
            with pytest.raises(KeyboardInterrupt), parts.remembered(workers, "made_up", heard.append) as hands:
                hands.map(work, tasks)
            assert log(home) == [0, 1, 2, 3] and heard == ["1 of 6 parts", "2 of 6 parts", "3 of 6 parts"]
        with parts.remembered(workers, "made_up") as hands:
            found = hands.map(work, tasks)
    assert hands.found == (3 if jobs == 1 else 0)
    assert log(home) == ([0, 1, 2, 3, 3, 4, 5] if jobs == 1 else [0, 1, 2, 3, 4, 5])
    assert all(np.array_equal(each["squares"], np.arange(k) ** 2) and each["inf"] == np.inf for k, each in enumerate(found))
    assert not (home / "formiga" / "studies" / "made_up").exists()      # it has ended


def test_parts_of_other_code_and_of_other_tasks_are_not_taken(home, monkeypatch):
    one, other = Task(1, "a"), Task(2, "a")
    assert parts.key_of(work, one) == parts.key_of(work, Task(1, "a")) != parts.key_of(work, other)
    before = parts.key_of(work, one)
    monkeypatch.setattr(parts, "code", lambda: "other code")
    assert parts.key_of(work, one) != before


def test_a_damaged_part_is_done_again(home):
    with pool(1) as workers, parts.remembered(workers, "made_up") as hands:
        task = Task(4, str(home))
        hands.map(work, [task])
        folder = home / "formiga" / "studies" / "made_up"
        next(folder.iterdir()).write_bytes(b"\x80\x05garbage")
        assert len(hands.map(work, [task])[0]["squares"]) == 4 and log(home) == [4, 4]


def test_a_full_study_that_is_killed_goes_on_and_gives_the_same(tmp_path, shelf):
    """In a process of its own: interrupted in its second part, run again, and compared with one that was not interrupted."""
    body = "yield from (reported(f'part {k}', part) for k, part in enumerate(workers.map(slow, range(4))))"
    shelf.add("long", body)
    file = shelf.folder / "long" / "study.py"
    log_file = tmp_path / "parts.txt"
    file.write_text(file.read_text() + f'''

def slow(task):
    import time
    with open({str(log_file)!r}, "a") as log:
        log.write(f"{{task}}\\\\n")
    time.sleep(0.7)
    return task * 1.5
'''.replace("\\\\n", "\\n"))
    program = f"""
import sys
from formiga import studies
from formiga.studies import every, paper, report, results, harness
studies.__path__ = [{str(shelf.folder)!r}]
import formiga.world.shipped as shipped
sys.exit(studies.run("long", full=True, json_path={str(tmp_path / "out.json")!r}))
"""
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}

    def start():
        return subprocess.Popen([sys.executable, "-c", program], env=environment)

    first = start()
    until = time.monotonic() + 60
    while not (log_file.exists() and len(log_file.read_text().split()) >= 2) and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(0.1)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert log_file.read_text().split() == ["0", "1"]
    assert start().wait(60) == 0
    assert log_file.read_text().split() == ["0", "1", "1", "2", "3"]
    rows = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert [row["ours"] for row in rows] == [0.0, 1.5, 3.0, 4.5]


def test_the_quick_form_keeps_no_parts(home, shelf):
    shelf.add("good")
    assert studies.run("good") == 0 and not (home / "formiga" / "studies" / "good").exists()
