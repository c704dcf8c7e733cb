"""10. State -> tables. `recorder.py` writes a run; `recording.py` reads it and can run it again."""
