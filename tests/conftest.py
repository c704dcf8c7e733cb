"""Shared by all tests: one seeded generator each, hypothesis without luck, and elements that live for one test."""

import os
import signal
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import settings

from formiga import measures
from formiga.world import elements

settings.register_profile("formiga", derandomize=True, deadline=None, print_blob=False)
settings.load_profile("formiga")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell leaves it to what runs in its background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # or nothing that tests start would hear Ctrl-C


# -- what one worker runs alone -----------------------------------------------------------------------------------------
BROWSER = {"tests/benchmarks/test_view.py",  # one: two paint in software on all cores, and all other tests wait
           *(f"tests/page/test_{name}.py"
             for name in ("browser", "comfort", "drawings", "every_world", "looks", "papers", "soccer", "space", "tools"))}
SLOW = ("browser", "tests/docs/test_blocks.py", "tests/soccer/test_tournament.py", "tests/engine/test_impulse.py",
        "tests/session/test_wrong_input.py", "tests/test_lab.py", "tests/session/test_saving.py", "tests/laws/test_impacts.py",
        "tests/world/test_schema.py")  # these start first where no run is remembered
REMEMBERED = "formiga/seconds"         # of each scope, in pytest's own cache


def scope(nodeid):
    """What goes to one worker: a file, or those that share the browser."""
    file = nodeid.split("::")[0]
    return "browser" if file in BROWSER else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Tests that share something costly go to one worker: those of a file its fixtures, those of the page a browser.

    What took longest in the last run starts first, so that no worker is left alone with it at the end. A scheduler of our own:
    the mark xdist_group does nothing with pytest 9.2 and xdist 3.8, because node ids can no longer be changed.
    """
    from xdist.scheduler import LoadScopeScheduling

    kept = config.pluginmanager.has_plugin("cacheprovider")
    took = (kept and config.cache.get(REMEMBERED, {})) or {name: 1000.0 - place for place, name in enumerate(SLOW)}

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return scope(nodeid)

        def _assign_work_unit(self, node):
            slowest = max(self.workqueue, key=lambda name: took.get(name, 0.1 * len(self.workqueue[name])))
            self.workqueue.move_to_end(slowest, last=False)
            super()._assign_work_unit(node)

    return Together(config, log)


# -- the ten slowest files, at the end of every run ---------------------------------------------------------------------
_seconds: Counter[str] = Counter()


def pytest_runtest_logreport(report):
    """Of all workers: their reports come here."""
    _seconds[report.nodeid.split("::")[0]] += report.duration


def pytest_terminal_summary(terminalreporter):
    """Where the time of the suite goes: whoever adds a test sees what it costs."""
    if len(_seconds) > 10:
        terminalreporter.write_sep("=", "ten slowest files")
        for file, seconds in _seconds.most_common(10):
            terminalreporter.write_line(f"{seconds:7.1f} s  {file}")
        took = Counter()
        for file, seconds in _seconds.items():
            took[scope(file)] += seconds
        if len(_seconds) > 100 and terminalreporter.config.pluginmanager.has_plugin("cacheprovider"):  # a part says little
            terminalreporter.config.cache.set(REMEMBERED, {name: round(seconds, 1) for name, seconds in took.items()})
        terminalreporter.write_line(f"{_seconds.total():7.1f} s  all {len(_seconds)} files, added up over the workers")


@pytest.fixture(scope="session")
def chromium():
    """Where Chromium is. Without it a test is skipped at home, and fails where `CI` is set."""
    from formiga.benchmarks.browser import find

    if (program := find()) is None:
        if os.environ.get("CI"):
            pytest.fail("there is no Chromium; `make test` installs it, or type: sudo apt-get install chromium")
        pytest.skip("there is no Chromium; type: sudo apt-get install chromium")
    return program


@pytest.fixture
def rng():
    """The same numbers in every run."""
    return np.random.default_rng(20060305)


@pytest.fixture
def own():
    """own("controller", decide=f) or own("sensor", name="s", read=f): a user's element, registered for this test only."""
    kept = dict(elements._registry)

    def make(role, **attributes):
        attributes = {key: staticmethod(value) if callable(value) else value for key, value in attributes.items()}
        cls = dataclass(frozen=True)(type(f"Own{len(elements._registry)}", (), {"__doc__": "Own.", **attributes}))
        return elements.element(f"own-{len(elements._registry)}", role=role)(cls)()

    yield make
    elements._registry.clear()
    elements._registry.update(kept)


@pytest.fixture
def own_registry(monkeypatch):
    """Elements and measures that a test loads are gone after it."""
    monkeypatch.setattr(elements, "_registry", dict(elements._registry))
    monkeypatch.setattr(elements, "_classes", dict(elements._classes))
    monkeypatch.setattr(measures, "_known", dict(measures._known))
