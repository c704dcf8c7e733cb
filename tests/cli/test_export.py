"""formiga export: a recording becomes a film without a window, whole or not at all."""

from __future__ import annotations

import signal
import subprocess
import time

import imageio.v3 as iio
import numpy as np
import pytest
from PIL import Image

import formiga


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    formiga.simulate("drive", 3.0, out=folder)
    return folder / "run.parquet"


def test_a_recording_becomes_a_film(call, recording, tmp_path):
    result = call("export", recording, tmp_path / "a.mp4", "--trails")
    assert (result.exit_code, result.stdout) == (0, f"saved {tmp_path / 'a.mp4'}, 61 pictures\n")
    pictures = iio.imread(tmp_path / "a.mp4")
    assert len(pictures) == 61 and max(pictures.shape[1:3]) == 960
    assert np.abs(pictures[0].astype(int) - pictures[-1]).max() > 50      # robots have moved
    call("export", recording, tmp_path / "a.gif", "--speed", 2)
    with Image.open(tmp_path / "a.gif") as film:
        assert max(film.size) == 640
    call("export", recording, tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text().lstrip()[:9].lower() == "<!doctype"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.gif", "a.html", "a.mp4"]


def test_what_cannot_be_exported_is_refused(refused, recording, tmp_path):
    assert "must end in .html, .mp4, .webm, .gif" in refused("export", recording, tmp_path / "a.avi")
    assert "no such file" in refused("export", tmp_path / "none.parquet", tmp_path / "a.gif")
    assert "there is no world '7'" in refused("export", recording, tmp_path / "a.gif", "--world", 7)
    assert "at most 3000 pictures" in refused("export", recording, tmp_path / "a.gif", "--speed", 0.001)
    assert "cannot be written" in refused("export", recording, tmp_path / "none" / "a.gif")
    assert not list(tmp_path.iterdir())


def test_an_interrupted_export_leaves_no_file(start, recording, tmp_path):
    process = start("export", recording, tmp_path / "a.mp4", "--speed", 0.05, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until = time.monotonic() + 60
    while not list(tmp_path.glob(".a.mp4.*")) and time.monotonic() < until:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and errors.endswith("formiga: interrupted\n")
    assert not list(tmp_path.iterdir())


def test_layers_of_drawings_are_in_a_film_unless_they_are_hidden(call, tmp_path):
    formiga.simulate("line", 1.0, out=tmp_path)
    pictures = {}
    for name, more in (("all", ()), ("none", ("--hide", "other, odometry"))):
        call("export", tmp_path / "run.parquet", tmp_path / f"{name}.mp4", *more)
        pictures[name] = iio.imread(tmp_path / f"{name}.mp4").astype(int)
    assert (np.abs(pictures["all"] - pictures["none"]).max(axis=-1) > 60).sum() > 100
    (tmp_path / "run.drawings.parquet").write_bytes(b"PAR1")
    result = call("export", tmp_path / "run.parquet", tmp_path / "broken.gif")
    assert result.exit_code == 0 and "run.drawings.parquet: damaged" in result.stderr and result.stderr.count("\n") == 1
