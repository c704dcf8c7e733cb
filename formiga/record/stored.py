"""The tables of a run that has ended: in the folder that was asked for, or in one that goes when the run is forgotten."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from formiga.errors import RecordingError, reason
from formiga.record.recording import Recording, read_recording, read_table
from formiga.record.tables import POSES, framed

RECORDING = "run.parquet"  # in its folder


class Stored:
    """The tables beside a recording, as a `Run` gives them."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def table(self, name: str = POSES) -> pa.Table:
        """One of them, of Arrow."""
        return read_table(self.path, name)

    def frame(self, name: str = POSES) -> Any:
        """One of them, of pandas."""
        return framed(self.table(name))

    @property
    def tables(self) -> list[str]:
        """Their names."""
        return self.recording.tables

    @property
    def recording(self) -> Recording:
        """All that was recorded."""
        return read_recording(self.path)


def stored_for_now() -> Stored:
    """Where to record a run that was given no folder: a temporary one, which is removed with the object."""
    try:
        folder = tempfile.mkdtemp(prefix="formiga-run-")
    except OSError as wrong:
        raise RecordingError(f"the tables of the run have no place: {reason(wrong)}. Say where they go, with `out`.") from wrong
    stored = Stored(Path(folder) / RECORDING)
    weakref.finalize(stored, _remove, folder)
    return stored


def _remove(folder: str) -> None:
    with suppress(OSError):
        shutil.rmtree(folder)


__all__ = ["RECORDING", "Stored", "stored_for_now"]
