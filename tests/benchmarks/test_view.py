"""What the bench of the laboratory measures, and that it leaves nothing behind. Speeds are never asserted."""

from __future__ import annotations

import glob
import os
import tempfile
import threading
import time
from contextlib import suppress

import pytest

from formiga.benchmarks import browser, view

FIELDS = {"robots", "client", "steps_per_s_closed", "steps_per_s_open", "ratio", "target", "sent_per_s", "painted_per_s",
          "others", "rounds"}


@pytest.fixture
def quick(monkeypatch):
    for name, value in {"ROBOTS": (6,), "BLOCK": 0.3, "ROUNDS": 2, "SETTLE": 0.1, "ENOUGH": 600.0}.items():
        monkeypatch.setattr(view, name, value)


def test_without_chromium_a_program_that_reads_is_the_window(quick, monkeypatch, capsys):
    monkeypatch.setattr(browser, "find", lambda: None)
    (row,) = view.run()["rows"]
    assert row.keys() == FIELDS
    assert (row["robots"], row["client"], row["rounds"], row["painted_per_s"]) == (6, "reader", 2, None)
    assert row["steps_per_s_closed"] > 0 and row["sent_per_s"] > 0
    assert row["ratio"] == pytest.approx(row["steps_per_s_open"] / row["steps_per_s_closed"])
    assert "No real window was measured" in capsys.readouterr().out


def test_no_round_begins_when_enough_time_has_passed(quick, monkeypatch):
    monkeypatch.setattr(browser, "find", lambda: None)
    (row,) = view.measure(6, rounds=1000, block=0.1, enough=0.0)
    assert row["rounds"] == 1


def test_a_browser_that_does_not_open_in_time_costs_its_row_and_no_other(quick, monkeypatch):
    monkeypatch.setattr(browser, "find", lambda: "/bin/true")
    assert [row["client"] for row in view.measure(6, rounds=1, block=0.1, enough=1.0)] == ["reader"]


def test_other_work_on_the_machine_is_noticed(quick, monkeypatch, capsys):
    monkeypatch.setattr(browser, "find", lambda: None)
    monkeypatch.setattr(view, "_worked", lambda: 1.5 * time.perf_counter())
    (row,) = view.run()["rows"]
    assert row["others"] == pytest.approx(1.5, abs=0.1)
    assert "Other programs took 1.5 cores meanwhile" in capsys.readouterr().out


def test_no_thread_and_no_process_is_left(quick, monkeypatch):
    monkeypatch.setattr(browser, "find", lambda: None)
    before = threading.active_count()
    with pytest.raises(ZeroDivisionError), view.Laboratory(6) as lab:
        window = view.Reader(lab.page)
        try:
            lab.wait_for(lambda: lab.windows and lab.pictures)
            raise ZeroDivisionError
        finally:
            window.close()
    assert window._process.returncode is not None
    end = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.05)
    assert threading.active_count() <= before


def gone(group):
    """Whether no process of a group is left; those that have ended may still wait to be noticed by whoever started them."""
    for stat in glob.glob("/proc/[0-9]*/stat"):
        with suppress(OSError), open(stat) as file:
            state, _, theirs = file.read().rpartition(")")[2].split()[:3]
            if int(theirs) == group and state not in "ZX":
                return False
    return True


@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("end", [None, KeyboardInterrupt])
def test_a_browser_paints_and_is_gone_afterwards_whatever_happened(end, chromium, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(browser, "stand_back", lambda process: None)  # other tests run, and it would wait for them
    with suppress(KeyboardInterrupt), browser.Browser(chromium) as opened:
        tab = opened.open("data:text/html,hello")
        first, late = tab.pictures(), time.monotonic() + 30
        while tab.pictures() <= first:
            assert time.monotonic() < late, "it paints nothing"
            time.sleep(0.05)
        tab.close()
        assert not gone(opened._process.pid)
        if end is not None:
            raise end
    assert not os.listdir(tmp_path)
    late = time.monotonic() + 10
    while not gone(opened._process.pid):
        assert time.monotonic() < late, "a process of the browser is left"
        time.sleep(0.05)


def test_a_program_that_is_no_browser_is_refused_and_leaves_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(browser.Late, match="/bin/true did not start"), browser.Browser("/bin/true"):
        pass
    assert not os.listdir(tmp_path)
