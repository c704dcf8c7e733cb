"""Files around the package that say the same thing as another file: they may not come apart."""

from __future__ import annotations

import re
import stat
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import formiga

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def of_yaml(name: str):
    return yaml.safe_load((ROOT / name).read_text())


def recipe(target: str) -> list[str]:
    """The commands of a target of the Makefile, as a shell would see them."""
    body = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.M)
    assert body, f"the Makefile has no target {target}"
    return [line.strip().lstrip("@").replace("$(BIN)", ".venv/bin") for line in body.group(1).splitlines()]


# -- how to cite ------------------------------------------------------------------------------------------------------
def test_the_citation_names_the_version_and_the_licence_of_the_package():
    citation = of_yaml("CITATION.cff")
    assert citation["cff-version"] == "1.2.0" and {"message", "title", "authors"} <= citation.keys()
    assert str(citation["version"]) == PROJECT["project"]["version"] == formiga.__version__
    assert citation["license"] == PROJECT["project"]["license"]
    assert citation["keywords"] == PROJECT["project"]["keywords"]


# -- checks before a commit, and elsewhere ----------------------------------------------------------------------------
def test_the_hooks_before_a_commit_are_what_make_lint_runs():
    (repository,) = of_yaml(".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    assert [hook["entry"] for hook in repository["hooks"]] == recipe("lint")
    for hook in repository["hooks"]:
        assert hook["language"] == "system" and hook["pass_filenames"] is False and hook["always_run"] is True


def test_the_workflow_checks_out_sets_up_python_and_calls_the_script_of_this_project():
    workflow = of_yaml(".github/workflows/ci.yml")
    (job,) = workflow["jobs"].values()
    checkout, python, run = job["steps"]
    assert checkout["uses"].startswith("actions/checkout@") and python["uses"].startswith("actions/setup-python@")
    least = tuple(map(int, PROJECT["project"]["requires-python"].removeprefix(">=").split(".")))
    assert tuple(map(int, python["with"]["python-version"].split("."))) >= least
    assert run == {"run": ".ci/run"}
    assert (ROOT / ".ci" / "run").stat().st_mode & stat.S_IXUSR
    assert re.findall(r"^make (\w+)$", (ROOT / ".ci" / "run").read_text(), re.M) == ["lint", "test"]


def test_editors_break_lines_where_ruff_does():
    settings = (ROOT / ".editorconfig").read_text()
    assert f"max_line_length = {PROJECT['tool']['ruff']['line-length']}" in settings


def test_text_files_are_as_the_editor_settings_say():
    """UTF-8, a newline at the end, none at the end of a line but that."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a checkout")
    wrong = []
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.suffix in {".py", ".md", ".xml", ".toml", ".yml", ".yaml", ".js", ".css", ".fsh", ".cff"} and path.is_file():
            text = path.read_bytes().decode("utf-8")
            if "\r" in text or (text and not text.endswith("\n")) or re.search(r"[ \t]\n", text):
                wrong.append(name)
    assert not wrong


# -- types ------------------------------------------------------------------------------------------------------------
def test_the_wheel_says_that_the_package_has_types():
    """Everything below formiga/ is shipped, without exceptions; so py.typed is, which type checkers look for."""
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel == {"packages": ["formiga"]}
    assert (ROOT / "formiga" / "py.typed").read_bytes() == b""
