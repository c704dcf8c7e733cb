"""Contracts: what an element has without saying it, and what a robot has to say."""

from dataclasses import dataclass

import pytest

import formiga.lab  # registers all shipped elements
from formiga.errors import WorldError
from formiga.world import elements
from formiga.world.contract import Actuator, channels, joint_names
from formiga.world.document import Document
from formiga.world.elements import element, length, name, number, numbers, speed
from formiga.world.reader import read_text
from formiga.world.schema import xsd
from formiga.world.writer import to_text


@pytest.fixture(autouse=True)
def registry():
    """Elements of one test are gone after it."""
    before = dict(elements._registry)
    yield
    elements._registry.clear()
    elements._registry.update(before)


def robot(**more):
    names = {"radius": length(0.1)} | more
    made = type("Own", (), {"__annotations__": {key: float for key, value in names.items() if hasattr(value, "metadata")},
                            **names, "__doc__": "Own."})
    return element("own_robot", role="robot")(dataclass(frozen=True)(made))


def test_a_robot_of_one_field_has_everything_that_the_laboratory_asks_for():
    own = robot()()
    assert (own.height, own.mass, own.outline, own.leds, own.joints, own.drive) == (0.1, 0.0, None, 0, (), None)
    assert not own.SPATIAL and not own.grips and own.prism and own.profile is None and own.start_posture == {}
    assert channels(own) == 0 and joint_names(own) == ()


def test_what_a_class_says_stays_as_it_is():
    own = robot(height=length(0.3), colour="#ff0000", joints=(Actuator("mast", "position", -1.0, 1.0),))()
    assert (own.height, own.colour, joint_names(own)) == (0.3, "#ff0000", ("mast",))


def test_a_wheel_base_makes_a_differential_drive():
    drive = robot(wheel_base=length(0.1), top_speed=speed(0.5))().drive
    assert drive.channels == ("left", "right") and drive.limits == (0.5, 0.5) and drive.wheel_base == 0.1


def test_a_robot_that_builds_its_own_part_is_seen_in_space_unless_it_says_that_it_is_a_prism():
    def build_part(self, build):
        """Nothing."""

    assert not robot(build_part=build_part).prism
    assert robot(build_part=build_part, prism=True).prism


@pytest.mark.parametrize("given, message", [
    ({"radius": None}, "<own_robot> of the role 'robot' needs a field or property radius"),
    ({"wheel_base": 0.1}, "<own_robot> of the role 'robot' has a wheel_base; it needs top_speed"),
])
def test_what_no_contract_can_guess_is_asked_for_when_the_class_is_registered(given, message):
    made = {"radius": 0.1} | given
    cls = dataclass(frozen=True)(type("Own", (), {"__doc__": "Own."} | {key: value for key, value in made.items() if value}))
    with pytest.raises(WorldError, match=message):
        element("own_robot", role="robot")(cls)


def test_a_thing_of_ones_own_stands_in_a_world_of_either_engine():
    from formiga.loop import Simulation

    @element("own_stone", role="thing")
    @dataclass(frozen=True)
    class Stone:
        """Lies there."""

        weight: float = number(1.0)

    assert not Stone().SPATIAL and Stone().on and not Stone().grippable and Stone().restitution == 0.0
    text = '<world engine="{}"><arena width="2" depth="2"/><own_stone weight="2"/><sbot/></world>'
    for engine in ("planar", "spatial"):
        Simulation(read_text(text.format(engine))).step()


# -- former names of attributes ---------------------------------------------------------------------------------------------
MOVES = '<world><arena width="1" depth="1"/><sbot><sequence moves="1 0 0" {}/></sbot></world>'


def test_a_former_name_of_an_attribute_is_read_and_the_new_one_is_written():
    old, new = (read_text(MOVES.format(given)) for given in ('outputs="0 0 1"', 'joints="0 0 1"'))
    assert old == new and old.groups[0].controller.joints == (0.0, 0.0, 1.0)
    assert 'joints="0.0 0.0 1.0"' in to_text(old) and "outputs" not in to_text(old)


def test_both_names_at_once_are_one_too_many():
    with pytest.raises(WorldError, match=r"<text>:1: <sequence> has 'joints' twice: 'outputs' is its former name"):
        read_text(MOVES.format('joints="0 0 1" outputs="0 0 1"'))


def test_the_schema_takes_a_former_name_too():
    from lxml import etree

    schema = etree.XMLSchema(etree.fromstring(xsd().encode()))
    assert schema.validate(etree.fromstring(MOVES.format('outputs="0 0 1"')))
    assert not schema.validate(etree.fromstring(MOVES.format('output="0 0 1"')))


def test_an_edited_document_gets_the_new_name_and_only_once(tmp_path):
    from dataclasses import replace

    path = tmp_path / "mine.xml"
    path.write_text(MOVES.format('outputs="0 0 1"'))
    document = Document.read(path)
    group = document.world.groups[0]
    moved = replace(group, controller=replace(group.controller, joints=(0.5, 0.0, 0.0)))
    text = document.kept(replace(document.world, groups=(moved,)), str(path))
    assert text is not None and 'joints="0.5 0.0 0.0"' in text and "outputs" not in text


def test_an_alias_stands_for_an_attribute_that_there_is():
    with pytest.raises(TypeError, match="ALIASES"):
        @element("own_controller", role="controller")
        @dataclass(frozen=True)
        class Wrong:
            """Wrong."""

            pace: tuple[float, ...] = numbers((1.0,))
            label: str = name("x")
            ALIASES = {"speed": "paces"}  # noqa: RUF012

            def decide(self, view):
                """Nothing."""




def test_a_sensor_of_few_words_has_no_ring_and_no_kernels():
    @element("few_words", role="sensor")
    @dataclass(frozen=True)
    class FewWords:
        """Reads the heading."""

        name: str = name("few_words")

        def read(self, scene):
            return scene.state.heading[:, scene.robots, None]

    own = FewWords()
    assert (own.angles, own.mount, own.full, own.beams, own.kernels) == (None, None, None, 1, False)
    assert own.prepare() is None and own.stages(None) is None


def test_only_kernels_that_a_class_of_a_users_own_declares_are_its():
    """Those that it inherits compute what its parent does."""
    from formiga.sense.proximity import Proximity

    @element("other_proximity", role="sensor")
    @dataclass(frozen=True)
    class Other(Proximity):
        """Reads the half."""

        def read(self, scene):
            return 0.5 * super().read(scene)

    @element("same_proximity", role="sensor")
    @dataclass(frozen=True)
    class Same(Proximity):
        """Reads the same."""

        def stages(self, scene):
            return super().stages(scene)

    assert (Proximity.kernels, Other.kernels, Same.kernels) == (True, False, True)


@pytest.mark.parametrize("engine", ["planar", "spatial"])
@pytest.mark.parametrize("name, value, message", [
    ("joints", None, "'joints' must be a tuple of Actuator, not None"),
    ("joints", [Actuator("a")], "'joints' must be a tuple of Actuator"),
    ("joints", ("a", "b"), "'joints' must be a tuple of Actuator"),
    ("joints", (Actuator("a"), Actuator("a")), "each of its 'joints' needs a name of its own, not 'a'"),
    ("joints", (Actuator("a", "wiggle"),), "joint 'a' has the mode 'wiggle'; there are: position, velocity, torque, switch"),
    ("joints", (Actuator("a", "position", 1.0, -1.0),), "joint 'a' takes orders from 1.0 to -1.0, which is no range"),
    ("joints", (Actuator("a", "position", float("nan"), 1.0),), "joint 'a' takes orders from nan to 1.0, which is no range"),
    ("leds", -1, "'leds' must be a whole number from 0 to 64, not -1"), ("leds", 1.5, "'leds' must be a whole number"),
    ("colour", "purple", "'colour' must be written as '#0072b2', not 'purple'"), ("colour", 5, "'colour' must be written as"),
    ("height", float("nan"), "'height' must be a finite number, above 0, not nan"), ("height", "x", "'height' must be"),
    ("friction", -1.0, "'friction' must be a finite number, at least 0, not -1.0"),
    ("position_noise", float("nan"), "'position_noise' must be a finite number"),
    ("build_part", "drum", "'build_part' must be a method, not 'drum'"),
    ("motor_noise", 2.0, "'motor_noise' must be from 0 to 1, not 2.0")])
def test_a_robot_that_is_not_as_its_contracts_say_is_refused_with_its_line(name, value, message, engine):
    robot(**{name: value, "mass": 1.0})
    text = f'<world name="w" engine="{engine}"><arena width="2" depth="2"/>\n<own_robot><at x="0" y="0"/></own_robot></world>'
    with pytest.raises(WorldError, match=r":2: <own_robot> is not as a robot has to be: " + message):
        formiga.lab.check_world(read_text(text))
