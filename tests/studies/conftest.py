"""A study's quick form is run once for all tests that look at its result: all tests of a file here run in one worker."""

import json

import pytest

from formiga import studies
from tests.studies.shelf import shelf

__all__ = ["result", "shelf"]


@pytest.fixture(scope="module")
def result(request, tmp_path_factory):
    """What came of the quick form of the module's STUDY: the folder with all that it wrote, its exit code, its JSON."""
    folder = tmp_path_factory.mktemp("study")
    code = studies.run(request.module.STUDY, json_path=str(folder / "result.json"), out_dir=str(folder / "out"))
    return folder, code, json.loads((folder / "result.json").read_text())
