"""Where compiled kernels are kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import formiga
from formiga import kernels


def folder(tmp_path: Path, package: Path, **environment: str) -> str:
    """The cache folder that a process of its own would use."""
    code = "from formiga import kernels; print(kernels.FOLDER, kernels.FIRST)"
    clean = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True,
                          env=clean | {"PYTHONPATH": str(package)} | environment)
    return done.stdout.strip()


def copy(tmp_path: Path) -> Path:
    """A copy of what the cache looks at."""
    root, package = Path(formiga.__file__).parent, tmp_path / "copy"
    for file in (*root.glob("*.py"), *root.glob("engine/**/*.py")):
        there = package / "formiga" / file.relative_to(root)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(file.read_bytes())
    return package


def test_a_change_in_any_file_with_kernels_begins_a_new_cache_and_old_ones_are_forgotten(tmp_path):
    """Numba alone would go on running the old version of a function that is called from another file."""
    package, home = copy(tmp_path), tmp_path / "home"
    seen = []
    for number in range(kernels.KEPT + 2):
        geometry = package / "formiga" / "geometry.py"
        geometry.write_text(geometry.read_text() + f"\n# {number}\n")
        first = folder(tmp_path, package, XDG_CACHE_HOME=str(home))
        again = folder(tmp_path, package, XDG_CACHE_HOME=str(home))
        assert first.endswith(" True") and again == first.replace("True", "False")
        seen.append(first.split()[0])
    assert len(set(seen)) == len(seen)
    assert sorted(map(str, (home / "formiga").iterdir())) == sorted(seen[-kernels.KEPT:])


def test_without_a_home_that_can_be_written_the_cache_is_elsewhere(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    used = folder(tmp_path, copy(tmp_path), XDG_CACHE_HOME=str(blocked), TMPDIR=str(tmp_path))
    assert used.startswith(str(tmp_path / "formiga-")) and used.endswith(" True")
