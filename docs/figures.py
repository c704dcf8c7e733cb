"""The pictures of guides/figures.md, made by the code of that page: `python docs/figures.py` after one has changed.

Look at them before you commit them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
PAGE, PICTURES = HERE / "guides" / "figures.md", HERE / "pictures"


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    shown = set(re.findall(r"\(\.\./pictures/(\w+\.png)\)", text))
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        for block in re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            exec(compile(block, str(PAGE), "exec"), {"__name__": "__main__"})
        for name in sorted(shown):
            (PICTURES / name).write_bytes(Path(folder, name).read_bytes())
            print(PICTURES / name)
        os.chdir(HERE)


if __name__ == "__main__":
    main()
