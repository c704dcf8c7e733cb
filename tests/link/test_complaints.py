"""How few lines are made of however many datagrams."""

from types import SimpleNamespace

import pytest

from formiga.link import complaints
from formiga.link.complaints import AGAIN, CHANGES, Complaints


@pytest.fixture
def clock(monkeypatch):
    """The clock of the module, which the test sets."""
    now = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(complaints, "time", SimpleNamespace(monotonic=lambda: now.seconds))
    return now


def test_of_a_flood_of_comings_a_few_are_told_at_once_then_one_a_second_and_the_others_counted(clock):
    told = Complaints()
    for number in range(1000):
        told.change(f"{number} drives now")
    told.look_around(clock.seconds)
    first = told.take()
    assert first[0] == "0 drives now" and len(first) <= CHANGES + 1
    clock.seconds += AGAIN
    told.look_around(clock.seconds)
    assert told.take() == [f"programs came or left {1000 - len(first):,} times more"]
    clock.seconds += 100.0 * AGAIN
    told.look_around(clock.seconds)
    told.change("the last one drives now")
    assert told.take() == ["the last one drives now"]
