"""The panel on the right: what is looked at, how, and what can be changed. Every widget writes a line for the console."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import viser

from formiga.console import quote
from formiga.errors import FormigaError
from formiga.page.inspector import COLOURS, Inspector
from formiga.page.params import Params
from formiga.page.plots import Plots
from formiga.session import names, saving
from formiga.view.frame import Frame
from formiga.view.overlays import OVERLAYS
from formiga.world.elements import of, registered
from formiga.world.model import World

if TYPE_CHECKING:
    from formiga.page.page import Page

FIGURES = {"speed": "mean speed (cm/s)", "crashed": "touching (%)", "spread": "spread (m)"}  # of the whole group, over time
SCALES = {"speed": 100.0, "crashed": 100.0, "spread": 1.0}
WORDS = {"beams": "beams, by distance", "circles": "collision circles", "contacts": "contacts and impulses",
         "forces": "forces and grips", "links": "links by sensor reach", "names": "names", "shifts": "re-positioning",
         "trails": "trails"}
KEPT = 240             # points of a plot
WIDTH = 330            # of the panel, pixels
TEMPLATES = {          # what can be added by a click, and what a new one is like
    "sbot": "", "disc": "radius=8.5cm wheel_base=14cm top_speed=10cm/s", "lamp": "z=30cm", "cylinder": "radius=8cm",
    "rectangle": "width=30cm depth=10cm", "zone": "radius=15cm", "wall": "'points=-0.2 0 0.2 0'",
}
PUSHED = {"ball": "", "puck": "radius=5cm", "block": "width=10cm depth=10cm"}  # the same, where there is something to push them
TYPING = 0.8           # s without a key, after which a field is taken to be complete
MOST_HIDDEN = 200      # widgets that are kept hidden before the first of them is removed: viser's page takes all that has come
                       # as one batch, removals first, and an update of a widget that is gone is an error there. A page in
                       # the background takes no batch for minutes


class Panels:
    """All widgets. They are shared: what is chosen in one window is seen in all."""

    def __init__(self, page: Page) -> None:
        self.page, self.session, self.gui = page, page.session, page.server.viser.gui
        self.inspector = Inspector()
        self._edited: dict[str, Any] = {}                  # label -> widget, of the object that is being edited
        self._shape: tuple[Any, ...] = ()                  # which object, and which widgets
        self.typing: set[str] = set()                     # labels of fields that are being typed into
        self._past: deque[tuple[float, ...]] = deque(maxlen=KEPT)
        self._sought = self.session.sought                 # jumps in a recording that the plots know of
        self._names: list[str] = []
        self._hidden: deque[Any] = deque()                 # widgets that were dropped
        self._lock = threading.RLock()                     # viser calls back from threads of its own
        self._build()

    def run(self, text: str, event: Any = None) -> None:
        """A line for the console, from the window where it happened."""
        client = event.client if event is not None else None
        self.page.run(text, client.client_id if client is not None else None)

    def _writes(self, widget: Any, *words: str, switch: tuple[str, str] = ("on", "off"),
                is_on: Callable[[], bool] | None = None) -> None:
        """Let a widget write a line when it is changed in a window: these words, then its value. Not when `show` changes it.

        is_on: whether what a box switches is on. A click means the opposite; the box itself may have been set back by `show`
        between the click and this call.
        """

        async def changed(event: Any) -> None:  # in the server's loop, right after the value came: a thread could be too late
            if event.client is not None:
                value = event.target.value if is_on is None else not is_on()
                self.run(quote([*words, (switch[0] if value else switch[1]) if isinstance(value, bool) else value]), event)

        widget.on_update(changed)

    def _write_file(self, line: str, event: Any) -> None:
        name = quote([self._file.value or self.session.world.name])
        self.run(line.format(name), event)

    def _save(self, event: Any) -> None:
        """Save the world; ask before a file is replaced that formiga did not write."""
        path = Path(f"{(self._file.value or self.session.world.name).removesuffix('.xml')}.xml")
        if not saving.taken(path):
            self.run(quote(["save", str(path)]), event)
            return
        other = saving.unused(path)
        asked = (event.client or self.page.server.viser).gui.add_modal(f"{path.name} is a file of your own")
        with asked:
            self.gui_of(event).add_markdown(
                f"**{path}** was not written by formiga, or was edited since. Robots would start where they are now; comments "
                "and params are kept where nothing changed.")
            answers = {f"Save as {other.name}": ["save", str(other)], f"Replace {path.name}": ["save", str(path), "force"],
                       "Cancel": []}
            for label, words in answers.items():
                self.gui_of(event).add_button(label).on_click(partial(self._answered, asked, words))

    def gui_of(self, event: Any) -> Any:
        """The widgets of the window where something happened."""
        return event.client.gui if event.client is not None else self.gui

    def _answered(self, asked: Any, words: list[str], event: Any) -> None:
        asked.close()
        if words:
            self.run(quote(words), event)

    # -- building -----------------------------------------------------------------------------------------------------
    def _build(self) -> None:
        self.gui.set_panel_label("formiga")
        self.gui.main_panel.dock_right()
        self.gui.main_panel.set_width(WIDTH)
        tabs = self.gui.add_tab_group()
        with tabs.add_tab("Inspect", viser.Icon.EYE):
            self._inspect = self.gui.add_html(self.inspector.html(None, 0.0))
            with self.gui.add_folder("All robots over time", visible=False) as self._over_time:
                self._plots = {name: self.gui.add_uplot(
                    (np.zeros(2), np.zeros(2)), ({"label": "s"}, {"label": label, "stroke": COLOURS[k], "width": 1.5}),
                    title=label, height=120, legend={"show": False}, scales={"x": {"time": False}})
                    for k, (name, label) in enumerate(FIGURES.items())}
            self._own_plots = Plots(self)
        with tabs.add_tab("Look", viser.Icon.CAMERA):
            self._overlays = {}
            with self.gui.add_folder("Show"):
                for name in OVERLAYS:
                    self._overlays[name] = self.gui.add_checkbox(WORDS[name], name in self.session.overlays)
                    self._writes(self._overlays[name], "overlay", name, is_on=partial(self._has_overlay, name))
            with self.gui.add_folder("Drawings", visible=False) as self._drawings:
                self._layers: dict[str, Any] = {}          # boxes of layers that there were; see `_show_layers`
            with self.gui.add_folder("Camera"):
                self._cameras = self.gui.add_dropdown("from", ["overview", "top"], initial_value="overview")
                self._writes(self._cameras, "camera")
                follow = self.gui.add_button_group("selected robot", ["follow", "its eyes", "stay"])
                follow.on_click(lambda event: self.run({"follow": "follow", "its eyes": "follow $selected first",
                                                        "stay": "follow off"}[event.target.value], event))
            self._dark = self.gui.add_checkbox("dark", False)
            self._dark.on_update(lambda event: self._darken(event.target.value))
            with self.gui.add_folder("Keys", expand_by_default=False):
                self._keys = self.gui.add_html("")
        with tabs.add_tab("Change", viser.Icon.PENCIL):
            self._params = Params(self)
            self._object = self.gui.add_dropdown("what", ["world"], initial_value="world")
            self._object.on_update(lambda event: self._edit(event.target.value))
            self._fields = self.gui.add_folder("Attributes")
            with self.gui.add_folder("Add and remove"):
                self._kind = self.gui.add_dropdown("kind", ["sbot"], initial_value="sbot")
                self.gui.add_button_group("", ["add", "undo"]).on_click(self._changed)
                self.gui.add_button_group("what is chosen", ["remove", "on / off"]).on_click(partial(self._acted, False))
                self.gui.add_button_group("selected robot", ["remove", "on / off"]).on_click(partial(self._acted, True))
        with tabs.add_tab("Files", viser.Icon.FILE):
            self._file = self.gui.add_text("file", "")
            self.gui.add_button("Save world as it stands (.xml)").on_click(self._save)
            for label, line in (("Screenshot (download)", "screenshot"),
                                ("Export page (.html)", "export {}.html"), ("Export film (.gif)", "export {}.gif")):
                button = self.gui.add_button(label)
                button.on_click(partial(self._write_file, line))

    def _darken(self, dark: bool) -> None:
        self.page.scene.dark = dark
        self.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(0, 114, 178), dark_mode=dark)

    def _has_overlay(self, name: str) -> bool:
        return name in self.session.overlays

    # -- following the session ----------------------------------------------------------------------------------------
    def show(self, frame: Frame) -> None:
        """Some ten times a second: the inspector, the plots, and whatever the console has changed meanwhile."""
        with self._lock:
            if self._sought != self.session.sought:
                self._sought = self.session.sought
                self.forget()
            self.set(self._inspect, "content", self.inspector.html(frame.extra.get("robot"), frame.time))
            for name, box in self._overlays.items():
                self.set(box, "value", name in self.session.overlays)
            self._show_layers(frame.extra["layers"])
            self._plot(frame)
            self._own_plots.show(frame)
            self._params.show()
            keys = "".join(f"<tr><td style='padding-right:12px'><b>{escape(key)}</b></td><td>{escape(text)}</td></tr>"
                           for key, text in sorted(frame.extra["binds"].items()))
            table = f"<table style='font-size:12px'><tr><td><b>`</b></td><td>console</td></tr>{keys}</table>"
            self.set(self._keys, "content", table)
            self.set(self._cameras, "options", tuple(self.page.cameras()))

    def _show_layers(self, layers: dict[str, bool]) -> None:
        """A box for each layer of drawings; they come with the layers."""
        for name in [name for name in self._layers if name not in layers]:
            self.drop(self._layers.pop(name))
        for name, on in layers.items():
            if name not in self._layers:
                with self._drawings:
                    self._layers[name] = self.gui.add_checkbox(name, on)
                self._writes(self._layers[name], "layer", name, is_on=partial(self._has_layer, name))
            self.set(self._layers[name], "value", on)
        self.set(self._drawings, "visible", bool(layers))

    def _has_layer(self, name: str) -> bool:
        return name not in self.session.layers.off

    def _plot(self, frame: Frame) -> None:
        figures = frame.extra["summary"]
        if self._past and frame.time <= self._past[-1][0]:
            if frame.time == self._past[-1][0]:
                return
            self._past.clear()
        self._past.append((frame.time, *(SCALES[name] * figures[name] for name in FIGURES)))
        table = np.array(self._past)
        if len(table) > 1:
            self.set(self._over_time, "visible", True)  # before there is anything to plot it would be an empty box
        if self._over_time.visible:
            for column, plot in enumerate(self._plots.values(), start=1):
                plot.data = (table[:, 0], table[:, column])

    def forget(self) -> None:
        """Begin all plots anew: what comes next does not follow what they show, and no line may join the two."""
        with self._lock:
            self._past.clear()
            self._own_plots.forget()
            self.inspector.forget()

    def new_world(self, frame: Frame) -> None:
        """The world is another one, or has changed."""
        with self._lock:
            world = frame.world
            objects = editable(world)
            if objects != self._names:
                self._names = objects
                chosen = self._object.value if self._object.value in objects else objects[0]
                self._object.options = tuple(objects)
                self.set(self._object, "value", chosen)
            kinds = [*TEMPLATES, *(PUSHED if world.contact.model == "impulse" else ())]
            self._kind.options = tuple(dict.fromkeys([*(group.name for group in world.groups), *kinds]))
            self._edit(self._object.value)

    def looks_from(self, camera: str) -> None:
        """Show the camera that was chosen last, in whatever window; only another one can be chosen from the list."""
        with self._lock:
            self.set(self._cameras, "options", tuple(self.page.cameras()))
            self.set(self._cameras, "value", camera)

    def choose(self, thing: int) -> None:
        """Edit the thing that was clicked."""
        found = names.thing_names(self.session.world)
        if thing < len(found):
            with self._lock:
                self.set(self._object, "value", found[thing])

    def drop(self, widget: Any) -> None:
        """Take a widget away: at once to the eye, and for good when no update of it can still be on its way."""
        widget.visible = False
        self._hidden.append(widget)
        if len(self._hidden) > MOST_HIDDEN:
            self._hidden.popleft().remove()

    @staticmethod
    def set(widget: Any, attribute: str, value: Any) -> None:
        """Only what differs is sent."""
        if getattr(widget, attribute) != value:
            setattr(widget, attribute, value)

    # -- editing ------------------------------------------------------------------------------------------------------
    def _edit(self, name: str) -> None:
        """Show the attributes of an object as fields. The same ones as before get new values, and are not made again."""
        with self._lock:
            facts = attributes(self.session.world, name)
            shape = (name, *((label, fact.options) for label, fact in facts.items()))
            if shape != self._shape:
                for widget in self._edited.values():
                    self.drop(widget)
                self._shape = shape
                with self._fields:
                    self._edited = {label: self._made(label, fact) for label, fact in facts.items()}
            for label, fact in facts.items():
                if label not in self.typing:
                    self.set(self._edited[label], "value", fact.value)

    def _made(self, label: str, fact: Fact) -> Any:
        """A field for an attribute."""
        if isinstance(fact.value, bool):
            widget: Any = self.gui.add_checkbox(label, fact.value, hint=fact.doc or None)
        elif fact.options:
            widget = self.gui.add_dropdown(label, list(fact.options), initial_value=fact.value, hint=fact.doc or None)
        else:
            return self.typed(label, fact.words, fact.value, fact.doc)
        self._writes(widget, *fact.words, switch=("true", "false"))
        return widget

    def typed(self, label: str, words: tuple[str, ...], value: str, doc: str = "") -> Any:
        """A field to type in. It is taken after a moment without typing: a half-typed number is a number too."""
        field = self.gui.add_text(label, value, hint=doc or None)
        timer: list[threading.Timer] = []

        def take(event: Any) -> None:
            self.typing.discard(label)
            self.run(quote([*words, field.value]), event)

        def typed(event: Any) -> None:
            if event.client is None:
                return
            for each in timer:
                each.cancel()
            self.typing.add(label)
            timer[:] = [threading.Timer(TYPING, take, [event])]
            timer[0].daemon = True
            timer[0].start()

        field.on_update(typed)
        return field

    def _changed(self, event: Any) -> None:
        kind, made = self._kind.value, TEMPLATES | PUSHED
        self.run("undo" if event.target.value == "undo" else f"spawn {quote([kind])} {made.get(kind, '')}", event)

    def _acted(self, on_robot: bool, event: Any) -> None:
        name = "$selected" if on_robot else quote([self._object.value])
        self.run(f"{'remove' if event.target.value == 'remove' else 'toggle'} {name}", event)


class Fact(NamedTuple):
    """An attribute as a field shows it, and the words that change it."""

    words: tuple[str, ...]
    value: Any                         # a text, or True or False
    options: tuple[str, ...] = ()
    doc: str = ""


def attributes(world: World, name: str) -> dict[str, Fact]:
    """Label -> fact, of an object; nothing if the world has changed and has it no more."""
    try:
        target = names.find(world, name)
    except FormigaError:
        return {}
    facts: dict[str, Fact] = {}
    if target.kind == "group":
        group = world.groups[target.index]
        tag = of(group.controller).tag if group.controller is not None else "none"
        facts["controller"] = Fact(("controller", name), tag, (*registered("controller"), "none"))
        facts["count"] = Fact(("set", f"{name}.count"), str(group.count), doc="how many robots")
    thing = names.element(world, target)
    for attribute, kind in names.kinds(thing).items():
        value = getattr(thing, attribute)
        shown = value if kind.base in ("flag", "choice") else "" if value is None else short(kind.format(value))
        facts[attribute] = Fact(("set", f"{name}.{attribute}"), shown, kind.options, kind.doc)
    return facts


def editable(world: World) -> list[str]:
    """The names of everything that has attributes."""
    return list(names.all_names(world))


def short(text: str) -> str:
    """0.057999999999999996 -> 0.058, for people; what they do not touch is not written back."""
    words = text.split(" ")
    try:
        return " ".join(f"{float(word):.6g}" for word in words)
    except ValueError:
        return text


__all__ = ["Panels", "attributes", "editable", "short"]
