"""Plots of the quantities that `plot` named, in the panel."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.console import quote
from formiga.page.inspector import COLOURS
from formiga.view.frame import Frame

if TYPE_CHECKING:
    from formiga.page.panels import Panels

KEPT = 400             # moments of a plot
HINT = "NAME.QUANTITY, such as swarm.0.proximity, swarm.speed (the mean of a group), or what your controller remembers"


class Plots:
    """The folder with a field to ask for more, and a plot for each quantity of the session."""

    def __init__(self, panels: Panels) -> None:
        self._panels, gui = panels, panels.gui
        self.folder = gui.add_folder("Your plots")
        self._widgets: dict[tuple[str, int], Any] = {}            # path, lines -> plot
        self._past: dict[tuple[str, int], deque[tuple[float, ...]]] = {}
        with self.folder:
            self._field = gui.add_text("quantity", "", hint=HINT)
            gui.add_button_group("", ["plot", "remove all"]).on_click(self._clicked)

    def _clicked(self, event: Any) -> None:
        if event.target.value == "plot" and self._field.value.strip():
            self._panels.run(quote(["plot", self._field.value.strip(), "on"]), event)
        elif event.target.value != "plot":
            self._panels.run("plot none", event)

    def show(self, frame: Frame) -> None:
        """Take down the moment, and draw."""
        now = {(path, len(values)): values for path, values in frame.extra.get("plots", {}).items()}
        for key in [key for key in self._widgets if key not in now]:
            self._panels.drop(self._widgets.pop(key))
            del self._past[key]
        for key, values in now.items():
            past = self._past.setdefault(key, deque(maxlen=KEPT))
            if past and frame.time < past[-1][0]:
                past.clear()
            if not past or frame.time > past[-1][0]:
                past.append((frame.time, *values.tolist()))
            table = np.array(past)
            if key not in self._widgets:
                self._widgets[key] = self._made(*key)
            self._widgets[key].data = tuple(np.ascontiguousarray(column) for column in table.T)

    def forget(self) -> None:
        """Begin anew with the next moment."""
        for past in self._past.values():
            past.clear()

    def _made(self, path: str, lines: int) -> Any:
        series: Any = [{"label": "s"}]
        for number in range(lines):
            series.append({"label": path if lines == 1 else str(number), "stroke": COLOURS[number % len(COLOURS)],
                           "width": 1.5})
        with self.folder:
            empty = tuple(np.zeros(2) for _ in series)
            return self._panels.gui.add_uplot(empty, tuple(series), title=path, height=130, legend={"show": False},
                                              scales={"x": {"time": False}})


__all__ = ["Plots"]
