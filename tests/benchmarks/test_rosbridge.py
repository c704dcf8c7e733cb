"""The bench of the rosbridge measures what it says: a real client in another process, with and without messages."""

import pytest

from formiga.benchmarks import rosbridge
from formiga.errors import FormigaError


def test_a_client_in_another_process_is_sent_the_scans_and_none_that_it_did_not_ask_for():
    given = rosbridge.world(robots=3)
    core, messages, size = rosbridge.measured(given, ["/carts_0/scan", "/carts_2/scan"], 0.5)
    assert core > 0.0 and messages > 0.0 and size / messages > 181 * 3    # bytes: at least three characters a beam
    _, messages, _ = rosbridge.measured(given, [], 0.2)
    assert messages == 0.0


def test_without_a_client_there_is_a_complaint_and_no_figure(monkeypatch):
    monkeypatch.setattr(rosbridge.sys, "executable", "/bin/false")
    monkeypatch.setattr(rosbridge, "PATIENCE", 0.2)
    monkeypatch.setattr(rosbridge, "WARM_UP", 0.1)
    with pytest.raises(FormigaError, match="nothing was measured"):
        rosbridge.measured(rosbridge.world(robots=1), ["/carts_0/scan"], 0.2)
