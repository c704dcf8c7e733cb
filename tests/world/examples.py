"""Elements that only these tests have, one of each role that `formiga/world` leaves to others; and random worlds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from hypothesis import assume
from hypothesis import strategies as st

from formiga.errors import WorldError
from formiga.world import elements
from formiga.world.elements import choice, element, file, integer, kinds_of, length, name, number, numbers, text
from formiga.world.kinds import HUGE, LARGEST, TINY, Kind
from formiga.world.model import IN_ROBOT, MOST_CYLINDERS, Arena, Contact, Cylinders, Field, Group, World
from formiga.world.movables import MOVABLES
from formiga.world.placement import At
from formiga.world.solids import Joint, Material, Solid


@element("example_eye", role="sensor")
@dataclass(frozen=True)
class Eye:
    """Sees."""

    reach: float = length(above=0.0)
    profile: str = choice("tr", options=("tr", "draft", "odd"))
    noise: float = number(0.0, least=0.0, most=1.0)
    angles: tuple[float, ...] = numbers((0.0,), unit="rad", most_of=24)
    table: str | None = file(None)
    name: str = name("eye")

    PROFILES: ClassVar[dict[str, dict[str, Any]]] = {"tr": {}, "draft": {"noise": 0.05}, "odd": {"reach": 0.5}}

    def read(self, scene: Any) -> Any:
        """Never called: worlds of these tests are read and written only."""
        raise NotImplementedError


@element("example_mind", role="controller")
@dataclass(frozen=True)
class Mind:
    """Thinks."""

    weights: tuple[float, ...] | None = numbers(None, fewest=0)
    note: str = text("")

    def __post_init__(self) -> None:
        if self.note == "boom":
            raise ValueError("no booms")

    def decide(self, view: Any) -> Any:
        """Never called."""
        raise NotImplementedError


@element("example_horn", role="actuator")
@dataclass(frozen=True)
class Horn:
    """Hoots."""

    pitch: int = integer(440, least=-5, most=20_000)


@element("example_clock", role="setting")
@dataclass(frozen=True)
class Clock:
    """Ticks."""

    hands: int = integer(2)


ELEMENTS = {known.tag: known for known in map(elements.of, (Eye(1.0), Mind(), Horn(), Clock()))}
for tag in ELEMENTS:
    del elements._registry[tag]  # other tests shall not find them; conftest.py brings them back for ours


# -- random worlds, from what the registry says ---------------------------------------------------------------------
def values(kind: Kind) -> st.SearchStrategy[Any]:
    """Any value that the kind takes."""
    if kind.base in ("number", "integer"):
        one = _numbers(kind)
        if kind.size is None:
            return one
        fewest, most = kind.size
        sizes = [n for n in range(fewest, min(most or fewest + 8, fewest + 8) + 1) if n % kind.group == 0]
        return st.sampled_from(sizes).flatmap(lambda n: st.tuples(*[one] * n))
    return {
        "flag": st.booleans(),
        "choice": st.sampled_from(kind.options or ("",)),
        "text": st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
                        | st.sampled_from("\t\n\r${}<>&\"'")),
        "name": st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,5}", fullmatch=True),
        "colour": st.from_regex("#[0-9a-fA-F]{6}", fullmatch=True),
        "file": st.just(__file__),
    }[kind.base]


def _numbers(kind: Kind) -> st.SearchStrategy[Any]:
    low = kind.above if kind.above is not None else kind.least
    if kind.base == "integer":
        return st.integers(-LARGEST if low is None else int(low), LARGEST if kind.most is None else int(kind.most))
    if kind.above == 0.0:
        return st.floats(TINY, kind.most if kind.most is not None else HUGE)
    return st.floats(-HUGE if low is None else low, HUGE if kind.most is None else kind.most,
                     exclude_min=kind.above is not None)


COMMANDS = st.sampled_from(["toggle", "drive 0 1 1; wait 0.5", 'echo "it is $time s"', "+forward; echo 'a # b'  # why"])
TEXTS = {  # of attributes that take only some texts
    ("bind", "key"): st.sampled_from([*"aZ7?+", "ArrowUp", "space", "F5", "shift+ctrl+s"]),
    ("alias", "name"): st.from_regex(r"[+-]?[A-Za-z0-9_][A-Za-z0-9_-]{0,5}", fullmatch=True),
    ("bind", "run"): COMMANDS, ("alias", "run"): COMMANDS, ("script", "run"): COMMANDS,
}


@st.composite
def things(draw: Any, *roles: str) -> Any:
    """Any instance of any element of one of the roles."""
    known = [known for role in roles for known in elements.registered(role).values()]
    return draw(instances(draw(st.sampled_from(known))))


@st.composite
def instances(draw: Any, known: elements.Element) -> Any:
    given = {}
    for attribute, kind in known.kinds.items():
        default = known.default(attribute)
        if default is elements.REQUIRED or draw(st.booleans()):
            some = TEXTS[known.tag, attribute] if (known.tag, attribute) in TEXTS else values(kind)
            given[attribute] = draw(some if default is not None else st.none() | some)
    try:
        return known.cls(**given)
    except WorldError:
        assume(False)  # a rule between attributes, such as that of <zone>


@st.composite
def groups(draw: Any) -> Group:
    carried = {role: draw(st.lists(things(role), max_size=3)) for role in IN_ROBOT}
    place = carried["placement"]
    if len(place) > 1:
        place = [draw(instances(elements.of(At(0.0, 0.0)))) for _ in place]
    ats = sum(isinstance(rule, At) for rule in place)
    sensors = list({getattr(sensor, "name", id(sensor)): sensor for sensor in carried["sensor"]}.values())
    count = ats or draw(st.none() | st.integers(1, 1_000_000))
    robot, lights, actuators = draw(things("robot")), 0, []
    for part in carried["actuator"]:  # one <leds>, and only of robots that have some
        lights += (is_leds := elements.of(part).tag == "leds")
        actuators += [part] if not is_leds or (lights == 1 and robot.leds) else []
    return Group(robot, count, draw(st.just("") | values(kinds_of(Group)["name"])), tuple(place),
                 tuple(sensors), next(iter(carried["controller"]), None), tuple(actuators))


@st.composite
def worlds(draw: Any) -> World:
    own = {attribute: draw(values(kind)) for attribute, kind in kinds_of(World).items() if draw(st.booleans())}
    stand = draw(st.lists(things("thing"), max_size=4))
    movables = {thing.name: thing for thing in stand if isinstance(thing, MOVABLES)}  # their names are all different
    stand = [thing for thing in stand if not isinstance(thing, MOVABLES) or movables[thing.name] is thing]
    unique = {(type(thing), thing.name): thing for thing in stand if isinstance(thing, (Solid, Joint, Material))}
    stand = [thing for thing in stand if unique.get((type(thing), getattr(thing, "name", "")), thing) is thing]
    assume(sum(isinstance(thing, Arena) for thing in stand) < 2 and sum(isinstance(thing, Field) for thing in stand) < 2)
    assume(sum(thing.count for thing in stand if isinstance(thing, Cylinders)) <= MOST_CYLINDERS)
    settings = {type(setting): setting for setting in draw(st.lists(things("setting"), max_size=2))}
    contact = settings.pop(Contact, Contact())
    named = {group.name: group for group in draw(st.lists(groups(), max_size=3))}
    page = {(type(part), getattr(part, "key", getattr(part, "name", id(part)))): part
            for part in draw(st.lists(things("page"), max_size=3))}
    return World(**own, contact=contact, things=tuple(stand), groups=tuple(named.values()),
                 settings=tuple(settings.values()), page=tuple(page.values()))
