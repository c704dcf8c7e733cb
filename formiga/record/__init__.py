"""8. State -> tables. `recorder.py` writes a run, `recording.py` reads it and runs it again; `format.py` is the format."""
