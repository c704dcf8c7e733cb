"""Where compiled kernels are kept, and when one is compiled again."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import formiga
from formiga.kernels import kernel
from formiga.kernels.cache import ALONE, _write, content

INNER = '''"""Called from another file."""
from formiga.kernels import kernel

FACTOR = 2

@kernel(inner=True)
def scaled(x):
    """Scaled."""
    return FACTOR * x
'''
OUTER = '''from formiga.kernels import cache, kernel
from inner import scaled

@kernel()
def total(values):
    result = 0.0
    for x in values:
        result += below(scaled(x))
    return result

@kernel()
def below(x):
    return x + 1

if __name__ == "__main__":
    import numpy as np
    compiled = []
    cache.listeners.append(compiled.append)
    print(total(np.ones(3)), len(compiled))
'''


def run(folder: Path, **environment: str) -> str:
    """What a process of its own prints: a sum, and how many kernels it had to compile."""
    clean = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    place = {"PYTHONPATH": str(Path(formiga.__file__).parents[1]), "XDG_CACHE_HOME": str(folder / "home"), ALONE: "1"}
    done = subprocess.run([sys.executable, "outer.py"], cwd=folder, capture_output=True, text=True, check=True,
                          env=clean | place | environment)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A folder with two files of kernels, compiled once."""
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "inner.py").write_text(INNER)
    (folder / "outer.py").write_text(OUTER)
    assert run(folder).startswith("9.0 ")
    return folder


def kept(folder: Path) -> set[str]:
    return {file.name for file in (folder / "home" / "formiga" / "kernels").glob("*.kernel")}


def test_a_kernel_is_compiled_once_whatever_its_comments_and_wherever_it_stands(compiled, tmp_path):
    (tmp_path / "inner.py").write_text("# a comment\n\n" + INNER.replace('"""Scaled."""', '"""In other words."""'))
    (tmp_path / "outer.py").write_text(OUTER.replace("result = 0.0", "result = 0.0  # the sum"))
    (tmp_path / "home").symlink_to(compiled / "home")
    assert run(compiled) == run(tmp_path) == "9.0 0"


@pytest.mark.parametrize(("before", "after", "result"), [
    ("FACTOR = 2", "FACTOR = 3", "12.0"),                  # a value in another file
    ("FACTOR * x", "FACTOR * x * x * 4", "27.0")])        # an instruction in another file
def test_a_change_in_what_a_kernel_calls_compiles_it_again(compiled, tmp_path, before, after, result):
    """Numba alone would go on running the old version of a function that is called from another file."""
    (tmp_path / "inner.py").write_text(INNER.replace(before, after))
    (tmp_path / "outer.py").write_text(OUTER)
    (tmp_path / "home").symlink_to(compiled / "home")
    number, compiled_now = run(tmp_path).split()
    assert number == result and int(compiled_now) >= 2


def test_a_kernel_in_any_folder_runs_what_its_callees_are_now(compiled, tmp_path):
    """Nothing lists the files or folders that hold kernels: a package that was made a minute ago is as good as ours.

    Each form of the callee is tried in a process of its own, and the first form again at the end: it is still kept.
    """
    package, deeper = tmp_path / "fresh", tmp_path / "fresh" / "deeper"
    deeper.mkdir(parents=True)
    for folder in (package, deeper):
        (folder / "__init__.py").touch()
    (package / "outer.py").write_text(OUTER.replace("from inner import", "from fresh.deeper.inner import"))
    (tmp_path / "outer.py").write_text("import runpy; runpy.run_module('fresh.outer', run_name='__main__')")
    (tmp_path / "home").symlink_to(compiled / "home")
    results = []
    for callee in (INNER, INNER.replace("FACTOR = 2", "FACTOR = 5"), INNER.replace("FACTOR * x", "FACTOR - x"), INNER):
        (deeper / "inner.py").write_text(callee)
        shutil.rmtree(deeper / "__pycache__", ignore_errors=True)  # it goes by seconds, and this test is quicker
        results.append(run(tmp_path).split())
    assert [number for number, _ in results] == ["9.0", "18.0", "6.0", "9.0"]
    assert results[-1][1] == "0" and all(int(made) > 0 for _, made in results[1:3])


def test_no_file_of_ours_compiles_by_another_way_than_kernel():
    """`numba.njit` alone would keep a kernel under the name of its own file, and run old versions of what it calls."""
    root = Path(formiga.__file__).parent
    others = {path.relative_to(root).as_posix() for path in root.rglob("*.py")
              for node in ast.walk(ast.parse(path.read_text()))
              if isinstance(node, ast.ImportFrom | ast.Import)
              and any(name in {"njit", "jit", "vectorize", "guvectorize", "cfunc"} or name.startswith("numba.njit")
                      for name in (alias.name for alias in node.names)
                      if isinstance(node, ast.Import) or (node.module or "").startswith("numba"))}
    assert others == {"kernels/__init__.py"}


def test_a_kernel_is_linked_with_those_that_were_kept(compiled, tmp_path):
    """Also with one that has no form for Python."""
    (tmp_path / "inner.py").write_text(INNER)
    (tmp_path / "outer.py").write_text(OUTER.replace("x + 1", "x + 2"))
    (tmp_path / "home").symlink_to(compiled / "home")
    assert run(tmp_path) == "12.0 2"


def test_a_kernel_for_kernels_alone_refuses_a_call_from_python():
    """Nothing was compiled that Python could call; numba would jump to address 0."""
    @kernel(inner=True)
    def doubled(x):
        return 2.0 * x

    @kernel()
    def quadrupled(x):
        return doubled(doubled(x))

    assert quadrupled(1.5) == 6.0 and doubled.py_func(1.5) == 3.0
    with pytest.raises(TypeError, match=r"doubled\(\) is for kernels alone"):
        doubled(1.5)


def test_a_damaged_file_is_compiled_again(compiled):
    names = kept(compiled)
    for name in names:
        (compiled / "home" / "formiga" / "kernels" / name).write_bytes(b"not a kernel")
    assert run(compiled).startswith("9.0 ")
    assert kept(compiled) == names
    assert run(compiled) == "9.0 0"


def test_a_file_with_any_damage_is_compiled_again(compiled):
    """Whatever the bytes say: a length beyond all memory, a name of nothing, other instructions."""
    for k, file in enumerate(sorted((compiled / "home" / "formiga" / "kernels").glob("*.kernel"))):
        whole = file.read_bytes()
        middle = len(whole) // 2
        file.write_bytes([b"\x80\x05\x8e" + b"\xff" * 100,                                          # a pickle of 2**64 bytes
                          whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1:],
                          whole + b"more"][k % 3])
    number, compiled_now = run(compiled).split()
    assert number == "9.0" and int(compiled_now) == 3
    assert run(compiled) == "9.0 0"


def test_a_kernel_that_cannot_be_kept_leaves_no_part_of_a_file(tmp_path):
    (tmp_path / "a.kernel").mkdir()  # in the way
    _write(tmp_path / "a.kernel", b"instructions")
    assert [each.name for each in tmp_path.iterdir()] == ["a.kernel"]


KNOWS = """
import enum, types
inner = types.ModuleType("inner"); inner.DEEP = 1
consts = types.ModuleType("consts"); consts.GAIN = 0.05; consts.OTHER = 1; consts.inner = inner
class Mode(enum.IntEnum):
    FAST = 1
def called(x, by=2.0):
    return x * by
def one(x):
    return x + 1
both = (one, called)
def drive(x):
    return both[0](x) + called(x) * consts.GAIN * consts.inner.DEEP + Mode.FAST
"""


@pytest.mark.parametrize(("before", "after", "same"), [
    ("GAIN = 0.05", "GAIN = 0.1", False),                  # of a module that the kernel refers to as consts.GAIN
    ("DEEP = 1", "DEEP = 2", False),                       # of a module in that module
    ("FAST = 1", "FAST = 2", False),                       # a member of an enumeration
    ("x + 1", "x + 2", False),                             # a function in a tuple of functions
    ("by=2.0", "by=3.0", False),                           # what an argument is if it is not given
    ("OTHER = 1", "OTHER = 2", True)])                     # what the kernel does not use
def test_all_values_that_a_kernel_refers_to_count(before, after, same):
    once, again = {"__name__": "mine"}, {"__name__": "mine"}
    exec(KNOWS, once)
    exec(KNOWS.replace(before, after), again)
    assert (content(once["drive"]) == content(again["drive"])) == same


def test_processes_that_need_the_same_kernel_compile_it_once_together(tmp_path):
    (tmp_path / "inner.py").write_text(INNER)
    (tmp_path / "outer.py").write_text(OUTER)
    code = ("import sys; sys.argv = ['outer.py']; import outer, numpy as np; from numba.core import event; n = [];"
            "event.register('numba:compile', type('L', (event.Listener,), {'on_start': lambda s, e: n.append(e), "
            "'on_end': lambda s, e: None})()); assert outer.total(np.ones(3)) == 9.0; print(len(n))")
    place = {"PYTHONPATH": str(Path(formiga.__file__).parents[1]), "XDG_CACHE_HOME": str(tmp_path / "home"), ALONE: "1"}
    clean = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    several = [subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True,
                                env=clean | place) for _ in range(3)]
    counts = [int(each.communicate()[0]) for each in several]
    assert [each.returncode for each in several] == [0, 0, 0]
    assert sum(counts) == len(kept(tmp_path)) == 3


def test_without_a_home_that_can_be_written_the_kernels_are_elsewhere(tmp_path):
    (tmp_path / "inner.py").write_text(INNER)
    (tmp_path / "outer.py").write_text(OUTER)
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert run(tmp_path, XDG_CACHE_HOME=str(blocked), TMPDIR=str(tmp_path)).startswith("9.0 ")
    assert list((tmp_path / f"formiga-{os.getuid()}" / "kernels").glob("*.kernel"))


def test_a_folder_that_others_may_write_into_is_not_used(compiled, tmp_path):
    """What lies in it is executed."""
    home = tmp_path / "home" / "formiga"
    home.mkdir(parents=True)
    home.chmod(0o777)
    (tmp_path / "inner.py").write_text(INNER)
    (tmp_path / "outer.py").write_text(OUTER)
    assert run(tmp_path, TMPDIR=str(tmp_path)).startswith("9.0 ")
    assert not (home / "kernels").exists() or not list((home / "kernels").glob("*.kernel"))
