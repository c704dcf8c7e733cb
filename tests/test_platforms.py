"""No import keeps formiga off Windows or macOS; what only Linux has is behind the parts that need it, and they say so.

Neither platform is at hand. tests/standin.py takes away what they lack; see there what that shows and what it does not.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import formiga
from formiga.kernels import cache
from formiga.record.recording import read_recording
from tests import standin

ROOT = Path(__file__).parents[1]
MODULES = {*standin.MODULES, "crypt", "nis", "posix", "readline", "spwd"}
NAMES = {(module.__name__, name) for module, names in standin.LACKS["win32"].items() for name in names}
INSIDE_FUNCTIONS = {                               # where a function uses one, and why that is right
    "formiga/batch.py": "how much memory the machine has; without it no world is too large",
    "formiga/benchmarks/browser.py": "ends Chromium with its children; there is no browser to measure with where it cannot",
    "formiga/benchmarks/first_step.py": "peak memory, where there is no /proc; without both it is 0, unknown",
    "formiga/benchmarks/remote.py": "ticks of /proc of a program that was started, so on Linux",
    "formiga/benchmarks/view.py": "ticks of /proc/stat, which only Linux has",
    "formiga/files.py": "owners of folders; Windows has a branch of its own",
    "formiga/kernels/cache.py": "locks between processes that compile; without them a kernel may be compiled twice",
    "formiga/link/memory.py": "memfds and their seals, which only Linux has",
    "formiga/link/process.py": "starts programs on Linux only, and refuses elsewhere",
    "formiga/pool.py": "signal masks; Windows has a branch of its own",
    "formiga/studies/migration/processes.py": "a pseudo-terminal, beside programs that are started, so on Linux",
    "formiga/studies/migration/programs/gate.py": "a serial device of POSIX; started by the study, so on Linux",
    "formiga/studies/soccer/game.py": "kills a program that was started, so on Linux; ticks of /proc",
    "formiga/sweeps/journal.py": "a lock on the folder of a sweep; without it two processes may write into one",
    "formiga/world/machine/spec.py": "limits of a trial process; without them the caller's clock is the limit",
}


def posix_uses(tree: ast.AST) -> list[ast.AST]:
    """The nodes that import a module of POSIX alone, or name an attribute, such as os.fork, that Windows lacks."""
    return [node for node in ast.walk(tree) if
            (isinstance(node, ast.Import) and any(each.name.split(".")[0] in MODULES for each in node.names))
            or (isinstance(node, ast.ImportFrom) and not node.level and ((node.module or "").split(".")[0] in MODULES
                or any((node.module, each.name) in NAMES for each in node.names)))
            or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and (node.value.id, node.attr) in NAMES)]


def in_functions(tree: ast.AST) -> set[ast.AST]:
    """Everything inside a function or a method."""
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return {inner for function in functions for inner in ast.walk(function)}


def test_no_module_needs_what_only_posix_has_and_functions_do_so_in_a_named_list():
    words = re.compile(r"import (" + "|".join(MODULES) + r")\b|from (os|signal|select) |"
                       r"\b(os|signal|select)\.(" + "|".join(name for _, name in NAMES) + r")\b")
    found = set()
    for file in sorted((ROOT / "formiga").rglob("*.py")):
        text, name = file.read_text(encoding="utf-8"), file.relative_to(ROOT).as_posix()
        tree = ast.parse(text if words.search(text) else "")  # parsing all of them takes seconds
        if uses := posix_uses(tree):
            inside = in_functions(tree)
            assert all(node in inside for node in uses), f"{name}: needs POSIX when it is imported"
            found.add(name)
    assert found == set(INSIDE_FUNCTIONS)


@pytest.mark.parametrize("text, wrong", [
    ("import os\nimport fcntl", 1), ("try:\n    import resource\nexcept ImportError:\n    resource = None", 1),
    ("from termios import tcgetattr", 1), ("def f():\n    import fcntl", 0), ("from formiga import pwd\nfrom . import grp", 0),
    ("MEMORY = os.sysconf('SC_PHYS_PAGES')", 1), ("class A:\n    end = signal.SIGKILL", 1), ("from os import fork", 1),
    ("def f():\n    return os.getuid()", 0), ("os.getpid(), signal.SIGTERM", 0)])
def test_the_check_sees_them(text, wrong):
    tree = ast.parse(text)
    assert len([node for node in posix_uses(tree) if node not in in_functions(tree)]) == wrong


@pytest.mark.skipif(sys.platform != "linux", reason="it forks, and compares with Linux")
def test_every_module_imports_and_planar_worlds_run_without_what_only_linux_and_posix_have(tmp_path):
    """The same bits as here; and what cannot be done there is one message, with the exit code of wrong input."""
    here = formiga.simulate("line", 1.0)
    home = {"LOCALAPPDATA": str(Path(cache.FOLDER).parents[1]), "XDG_CACHE_HOME": str(Path(cache.FOLDER).parents[1])}
    run = subprocess.run(
        [sys.executable, "-m", "tests.standin", str(tmp_path), "check line",
         f"run line --seconds 1 --quiet --out '{tmp_path}/{{platform}}'", "match chaser colony --half 0.1"],
        cwd=ROOT, env=os.environ | home | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300, check=False)
    for platform in ("win32", "darwin"):
        said = (tmp_path / f"{platform}.txt").read_text()
        assert run.returncode == 0, run.stderr + said
        modules, checked, zero, ran, refused, two = said.splitlines()
        assert int(modules.split()[0]) > 300 and checked == "line: ok: 1 robot in 1 group, 0 obstacles, planar"
        assert (zero, ran, two) == ("exit 0", "exit 0", "exit 2")
        assert refused.startswith("formiga: Team chaser: shared memory without a file needs Linux: this system has no memfd")
        recorded = read_recording(tmp_path / platform / "run.parquet").poses()
        np.testing.assert_array_equal(recorded.x[-1, 0], here.state.position[0, :, 0])
