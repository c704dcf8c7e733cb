"""Commands in this process (`call`) and in one of their own (`start`); elements of a test's own stay in that test."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from formiga import lab  # noqa: F401  what it registers is for all tests, whichever comes first
from formiga.cli import FAULT, cli
from formiga.world.brought import bring_all
from tests.cli.warm import Warm

bring_all()      # the same: a module that is imported in one test alone would be forgotten after it
ROOT = Path(__file__).parents[2]


@pytest.fixture
def call(own_registry):
    """call("run", "corral", ...) -> click's result: exit_code, stdout, stderr. No command may end in a traceback."""

    def run(*arguments: object):
        result = CliRunner().invoke(cli, [str(each) for each in arguments], prog_name="formiga")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code != FAULT, result.stderr
        return result

    return run


@pytest.fixture
def refused(call):
    """refused("run", ...) -> the one line on stderr, after checking that it is one, with exit code 2 and no output."""

    def run(*arguments: object) -> str:
        result = call(*arguments)
        assert (result.exit_code, result.stdout) == (2, ""), result.output
        assert result.stderr.startswith("formiga: ") and result.stderr.count("\n") == 1, result.stderr
        return result.stderr.removeprefix("formiga: ").strip()

    return run


@pytest.fixture(scope="session")
def warm(tmp_path_factory):
    """A process that has imported formiga, from which others are forked."""
    warm = Warm(tmp_path_factory.mktemp("warm"))
    yield warm
    warm.close()


@pytest.fixture
def start(warm):
    """start("run", ...) -> a running process, which is gone after the test. cold=True: one that imports everything itself."""
    started = []

    def run(*arguments: object, cold: bool = False, **options):
        words, env = [str(each) for each in arguments], os.environ | {"COLUMNS": "100"}
        process = subprocess.Popen([sys.executable, "-m", "formiga", *words], cwd=ROOT, text=True, env=env, **options) if cold \
            else warm.start(*words, cwd=ROOT, env=env, **options)
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
