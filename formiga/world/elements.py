"""The registry of elements: what may stand in a world file, and what its attributes may be.

An element is a frozen dataclass. Its fields are its XML attributes; `@element` gives it a tag and a role, and from
then on the reader, the writer, the schema and `formiga list` know it. No other list of elements exists, so a user's
own file adds a sensor in the same way as ours do:

    @element("proximity", role="sensor")
    @dataclass(frozen=True)
    class Proximity:
        reach: float = length(0.15, above=0.0, doc="measured from the sensor")

The same checks run for a file and for Python: `Proximity(reach=-1)` raises too.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

from formiga.errors import Where, WorldError, suggest
from formiga.world import contract
from formiga.world.kinds import NAME, Kind

ROLES = {
    "thing": "what stands in the world and does not move by itself",
    "robot": "a kind of robot; its element is a group of them",
    "placement": "where the robots of a group start",
    "sensor": "state -> readings",
    "link": "what robots sent -> what each of them hears",
    "estimator": "readings -> a belief, which joins the readings",
    "controller": "readings -> orders",
    "actuator": "orders -> what the engine or the world does",
    "setting": "how the world runs; at most one of each",
    "fitness": "a term of the reward; their sum over a run is the fitness",
    "search": "how the world's controller is evolved; at most one",
    "page": "how people see and steer it in the laboratory; engines ignore it",
}

METHODS = {"sensor": ("read", "scene"), "link": ("hear", "scene"), "estimator": ("estimate", "view"),
           "controller": ("decide", "view"), "fitness": ("reward", "view"),
           "placement": ("place", "site")}  # each must have it; engine/place.py carries out the shipped placements itself
STAGES = {"sensor": ("scene",), "link": ("scene",), "estimator": ("view",), "controller": ("view", "orders"),
          "fitness": ("view", "reward")}  # what `stages` is given
SOURCES = ("sensor", "link", "estimator")  # what gives readings, in the order of a step
FORMER = {"reward": "praise"}  # what a method was called before; the old name still serves
RESERVED = ("world", "include", "param", "defaults", "object")  # the file's own elements; see model.py and reader.py


# -- fields: one function for each thing an attribute can be --------------------------------------------------------
def _field(kind: Kind, default: Any) -> Any:
    if default is dataclasses.MISSING:
        return dataclasses.field(metadata={"kind": kind})
    return dataclasses.field(default=default, metadata={"kind": kind})


REQUIRED = dataclasses.MISSING


def number(default: Any = REQUIRED, *, unit: str = "", least: float | None = None, above: float | None = None,
           most: float | None = None, doc: str = "") -> Any:
    """A number, with a unit of units.SCALES if it has one."""
    return _field(Kind("number", unit, least, above, most, doc=doc), default)


def length(default: Any = REQUIRED, **rules: Any) -> Any:
    """A length in metres."""
    return number(default, unit="m", **rules)


def angle(default: Any = REQUIRED, **rules: Any) -> Any:
    """An angle in radians."""
    return number(default, unit="rad", **rules)


def duration(default: Any = REQUIRED, **rules: Any) -> Any:
    """A time in seconds."""
    return number(default, unit="s", **rules)


def speed(default: Any = REQUIRED, **rules: Any) -> Any:
    """A speed in metres per second."""
    return number(default, unit="m/s", **rules)


def integer(default: Any = REQUIRED, *, least: float | None = None, most: float | None = None, doc: str = "") -> Any:
    """A whole number."""
    return _field(Kind("integer", "", least, None, most, doc=doc), default)


def numbers(default: Any = REQUIRED, *, unit: str = "", fewest: int = 1, most_of: int | None = None, group: int = 1,
            least: float | None = None, above: float | None = None, most: float | None = None, doc: str = "") -> Any:
    """A list of numbers, kept as a tuple."""
    return _field(Kind("number", unit, least, above, most, size=(fewest, most_of), group=group, doc=doc), default)


def integers(default: Any = REQUIRED, *, fewest: int = 1, most_of: int | None = None, least: float | None = None,
             most: float | None = None, doc: str = "") -> Any:
    """A list of whole numbers, kept as a tuple."""
    return _field(Kind("integer", "", least, None, most, size=(fewest, most_of), doc=doc), default)


def flag(default: Any = REQUIRED, *, doc: str = "") -> Any:
    """true or false."""
    return _field(Kind("flag", doc=doc), default)


def text(default: Any = REQUIRED, *, doc: str = "") -> Any:
    """Any text."""
    return _field(Kind("text", doc=doc), default)


def name(default: Any = REQUIRED, *, doc: str = "") -> Any:
    """A name that other elements, the console and the recording can use."""
    return _field(Kind("name", doc=doc), default)


def made_of(doc: str) -> Any:
    """The name of a <material>, or none."""
    return name(None, doc=doc)


def choice(default: Any = REQUIRED, *, options: tuple[str, ...], doc: str = "") -> Any:
    """One of a few words."""
    return _field(Kind("choice", options=options, doc=doc), default)


def colour(default: Any = REQUIRED, *, doc: str = "") -> Any:
    """#rrggbb."""
    return _field(Kind("colour", doc=doc), default)


def file(default: Any = REQUIRED, *, doc: str = "") -> Any:
    """A file, found beside the world file that names it. The reader turns it into a full path."""
    return _field(Kind("file", doc=doc), default)


# -- the registry ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Element:
    """One registered element."""

    tag: str
    role: str
    cls: type
    kinds: dict[str, Kind]

    @property
    def doc(self) -> str:
        """The first line of the class's docstring."""
        return (self.cls.__doc__ or "").strip().splitlines()[0]

    def default(self, attribute: str) -> Any:
        """Default of an attribute, or REQUIRED."""
        return self.cls.__dataclass_fields__[attribute].default  # type: ignore[attr-defined]

    @property
    def profiles(self) -> dict[str, dict[str, Any]]:
        """Named sets of defaults, such as the s-bot's `tr` and `draft`; the class keeps them in PROFILES."""
        return self.cls.PROFILES  # type: ignore[attr-defined]

    @property
    def aliases(self) -> dict[str, str]:
        """Former names of attributes, which are still read; the class keeps them in ALIASES."""
        return self.cls.ALIASES  # type: ignore[attr-defined]

    def profile(self, around: str | None = None) -> str | None:
        """The profile that counts where none is written: that of the robot `around` it, if it has one of that name."""
        if "profile" not in self.kinds:
            return None
        own = self.default("profile")
        return around if around in self.profiles else None if own is REQUIRED else own

    def defaults(self, profile: str | None = None) -> dict[str, Any]:
        """Values of the attributes that a file leaves out, under a profile. Required ones are not in it."""
        values = {attribute: self.default(attribute) for attribute in self.kinds}
        values.update(self.profiles.get(profile or "", {}), **({"profile": profile} if profile else {}))
        return {attribute: value if value is None else self.kinds[attribute].check(value)
                for attribute, value in values.items() if value is not REQUIRED}


_registry: dict[str, Element] = {}
_classes: dict[type, Element] = {}
T = TypeVar("T", bound=type)


def element(tag: str, role: str) -> Callable[[T], T]:
    """Register a frozen dataclass as the XML element `tag`."""
    if role not in ROLES:
        raise ValueError(f"no role '{role}'; there are: {', '.join(ROLES)}")

    if tag in RESERVED or not re.fullmatch(NAME, tag):
        raise WorldError(f"<{tag}> cannot be the tag of an element; choose another name")

    def register(cls: T) -> T:
        known = _registry.get(tag)
        if known and (known.cls.__module__, known.cls.__qualname__) != (cls.__module__, cls.__qualname__):
            raise WorldError(f"<{tag}> is taken by {known.cls.__module__}.{known.cls.__qualname__}; choose another tag")
        if not dataclasses.is_dataclass(cls):
            raise WorldError(f"<{tag}>: {cls.__name__} is no dataclass yet. Write @element(...) first, below it "
                             "@dataclass(frozen=True), then the class.")
        kinds = kinds_of(cls)
        for field in dataclasses.fields(cls):
            if field.name not in kinds:
                raise TypeError(f"{cls.__name__}.{field.name}: say what it may be, such as number(...) or length(...) "
                                "of formiga.world.elements")
        if role == "robot" and (taken := {"name", "count", "material", "wheel_material"} & set(kinds)):
            raise TypeError(f"{cls.__name__}.{min(taken)}: its group has that attribute; choose another name")
        _check_methods(cls, tag, role, kinds)
        contract.complete(cls, role, tag)
        for former, attribute in cls.ALIASES.items():  # type: ignore[attr-defined]
            if attribute not in kinds or former in kinds:
                raise TypeError(f"{cls.__name__}.ALIASES[{former!r}]: it stands for an attribute, and is none itself")
        for profile, values in cls.PROFILES.items():  # type: ignore[attr-defined]
            if unknown := set(values) - set(kinds):
                raise TypeError(f"{cls.__name__}.PROFILES[{profile!r}]: no attribute {min(unknown)!r}")
        _check_on_construction(cls, tag, kinds)
        known = Element(tag, role, cls, kinds)
        try:
            for profile in (None, *known.profiles):
                known.defaults(profile)
        except ValueError as wrong:
            raise TypeError(f"{cls.__name__} has a default that it would not accept: {wrong}") from wrong
        _registry[tag] = _classes[cls] = known
        return cls

    return register


def adopt(known: Element) -> None:
    """Register an element that another process has registered, and whose class came along by value."""
    _registry[known.tag] = _classes[known.cls] = known


def stand_in(tag: str, role: str, cls: type) -> Element:
    """An element that only its own instances know: nothing else can be made of it by its tag, which stays free."""
    kinds = kinds_of(cls)
    contract.complete(cls, role, tag)
    _check_on_construction(cls, tag, kinds)
    _classes[cls] = Element(tag, role, cls, kinds)
    return _classes[cls]


def again(module: str) -> None:
    """Register anew the elements of a module that has been imported, if they were forgotten since."""
    for known in _classes.values():
        if known.cls.__module__ == module:
            _registry.setdefault(known.tag, known)


def forget(tag: str) -> None:
    """Let another class have a tag. What was made of the old one goes on to work."""
    _registry.pop(tag, None)


def _check_methods(cls: type, tag: str, role: str, kinds: dict[str, Kind]) -> None:
    elsewhere = cls.__module__ in ("formiga.world.placement", "formiga.score")  # engine/place.py, and the terms of <fitness>
    if role not in METHODS or elsewhere:
        return
    method, given = METHODS[role]
    if role in (*SOURCES, "controller") and (draw := inspect.getattr_static(cls, "draw", None)) is not None:
        may = f"<{tag}> may draw with a method draw(self, view, pen)"
        if not callable(draw):
            raise WorldError(f"{may}; its draw is {draw!r}.")
        _check_arguments(draw, "draw", ("view", "pen"), may)
    former = FORMER.get(method, "")
    if former in vars(cls) and method not in vars(cls):
        setattr(cls, method, vars(cls)[former])
    needed = f"<{tag}> of the role '{role}' needs a method {method}(self, {given})"
    function, stages = inspect.getattr_static(cls, method, None), inspect.getattr_static(cls, "stages", None)
    if role in STAGES and stages is not None:
        _check_arguments(stages, "stages", STAGES[role], f"<{tag}> of the role '{role}': its kernels come from a method "
                                                         f"stages(self, {', '.join(STAGES[role])})")
    elif function is None:
        others = [name for name, value in vars(cls).items() if inspect.isfunction(value)]
        raise WorldError(f"{needed}; {cls.__name__} has none.{suggest(method, others)}")
    _check_arguments(function, method, (given,), needed)
    if role in SOURCES and "name" not in kinds and "name" not in contract.declared(cls):
        raise WorldError(f"<{tag}> of the role '{role}' needs a field name, under which its readings are found: "
                         f'name: str = name("{tag}").')


def _check_arguments(function: Any, name: str, given: tuple[str, ...], needed: str) -> None:
    if inspect.isfunction(function):
        try:
            inspect.signature(function).bind("self", *given)
        except TypeError:
            raise WorldError(f"{needed}, not {name}{inspect.signature(function)}.") from None


def _check_on_construction(cls: type, tag: str, kinds: dict[str, Kind]) -> None:
    # The check comes before the class's own __post_init__. Without one, @dataclass wrote an __init__ that calls none.
    first = "__post_init__" if "__post_init__" in contract.declared(cls) else "__init__"
    own = getattr(cls, first)

    @functools.wraps(own)
    def checked(self: Any, *values: Any, **named: Any) -> None:
        if first == "__post_init__":
            check(self, tag, kinds)
        own(self, *values, **named)
        if first == "__init__":
            check(self, tag, kinds)

    setattr(cls, first, checked)


def kinds_of(cls: type) -> dict[str, Kind]:
    """The attributes of a dataclass: those fields that say what they may be."""
    own = sorted(dataclasses.fields(cls), key=lambda field: bool(field.kw_only))  # what elements of a sort share comes last
    return {field.name: field.metadata["kind"] for field in own if "kind" in field.metadata}


def check(thing: Any, tag: str, kinds: dict[str, Kind]) -> None:
    """Bring the fields of a new `thing` into their canonical types, or raise WorldError."""
    for attribute, kind in kinds.items():
        value = getattr(thing, attribute)
        if value is None and thing.__dataclass_fields__[attribute].default is None:
            continue  # an attribute that may be absent
        try:
            object.__setattr__(thing, attribute, kind.check(value))
        except (ValueError, TypeError) as wrong:
            raise WorldError(f"<{tag}> {attribute}: {wrong}.") from wrong


def discover(package: str) -> None:
    """Import every file of a package, so that its elements register: a new file needs no list to be put into."""
    for module in pkgutil.iter_modules(import_module(package).__path__):
        import_module(f"{package}.{module.name}")


@contextmanager
def trial(module: str) -> Iterator[None]:
    """Let a module register its elements anew: those that it had are gone, and come back if the block fails."""
    before = dict(_registry)
    for tag in [tag for tag, known in _registry.items() if known.cls.__module__ == module]:
        del _registry[tag]
    try:
        yield
    except BaseException:
        _registry.clear()
        _registry.update(before)
        raise


def registered(role: str | None = None) -> dict[str, Element]:
    """All elements, or those of one role, by tag."""
    return {tag: known for tag, known in sorted(_registry.items()) if role in (None, known.role)}


def of(thing: object) -> Element:
    """The registered element that `thing` is an instance of."""
    if type(thing) in _classes:
        return _classes[type(thing)]
    raise WorldError(f"{type(thing).__name__} is not a registered element; put @element(tag, role) on its class")


def needed(thing: object, made: Any) -> Any:
    """What the `stages` of an element that has no other form returned; WorldError if that is None."""
    if made is None:
        tag, (method, given) = of(thing).tag, METHODS[of(thing).role]
        raise WorldError(f"{where(thing)}<{tag}> has no kernels in this world: its `stages` returned None. Give it a method "
                         f"{method}(self, {given}), too.")
    return made


def profiled(cls: type, profile: str, **changes: Any) -> Any:
    """An instance with the defaults of a named profile: `profiled(SBot, "draft", radius=0.06)`."""
    profiles = _classes[cls].profiles if cls in _classes else {}
    if profile not in profiles:
        raise WorldError(f"{cls.__name__} has no profile '{profile}'.{suggest(profile, profiles)} "
                         f"It has: {', '.join(profiles)}")
    return cls(**{"profile": profile, **profiles[profile], **changes})


def locate(thing: object, where: Where) -> None:
    """Remember which line of which file `thing` came from."""
    object.__setattr__(thing, "_where", where)


def origin(thing: object) -> Where | None:
    """The line and the file that `thing` came from, or None for what was built in Python."""
    return getattr(thing, "_where", None)  # `locate` has put it there, or not


def complaint(thing: object, wrong: WorldError) -> WorldError:
    """The same complaint with the place of `thing` in front, unless it names a place in that file already."""
    place = origin(thing)
    return wrong if place is None or str(wrong).startswith(f"{place.file}:") else WorldError(f"{place}: {wrong}")


def where(thing: object) -> str:
    """'arena.xml:31: ' for messages, or '' for what was built in Python."""
    return f"{origin(thing)}: " if origin(thing) else ""
