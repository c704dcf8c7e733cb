"""Rows of shares: from what a network or a learner says to orders for drive, joints and lights."""

import numpy as np
import pytest

import formiga
from formiga.control.neural import Ctrnn, Elman, Mlp, Perceptron
from formiga.control.neural.activity import activity
from formiga.control.shares import Shares, parts_of
from formiga.errors import WorldError
from formiga.evolve import evolve
from formiga.loop import Simulation
from formiga.rollout import genes, lacking, rollout
from formiga.score import Score
from formiga.world.model import Group
from formiga.world.reader import read_text
from formiga.world.robots import SBot
from formiga.world.robots.omni import Omni
from formiga.world.shipped import shipped_worlds
from tests.engine.test_articulated import ARM

LIT = """<world dt="0.1" seconds="1"><arena width="1.2" depth="1.2"/>
<sbot count="2" name="ants"><scatter/><proximity/>{}</sbot><fitness of="speed"/></world>"""
LEGS = """<world engine="spatial" dt="0.04" seconds="1"><arena width="4" depth="4" walls="false"/>
<machine name="dog" file="{}" posture="stand" radius="20cm"><at x="0" y="0" heading="0"/><motors/><inclinometer/>{}</machine>
<fitness of="speed"/></world>"""


def legs(network, file="hexapod"):
    robot = shipped_worlds()[file].parent / "robots" / f"{file}.xml"
    return read_text(LEGS.format(robot, network))


# -- rows -------------------------------------------------------------------------------------------------------------
def test_a_row_is_in_the_order_of_the_parts_whatever_order_they_are_asked_in():
    group = Group(SBot(joint_speed=2.0, leds=1), 1, "ants")
    assert parts_of(group) == ("drive", "joints", "leds")
    rows = Shares(group, ["leds", "joints", "drive"], "")
    assert rows.names == ("drive.left", "drive.right", "joints.turret", "joints.arm", "joints.grip", "leds[0].red",
                          "leds[0].green", "leds[0].blue")
    assert rows.low.tolist() == [-1] * 5 + [0] * 3 and rows.high.tolist() == [1] * 8


def test_shares_reach_from_end_to_end_and_are_cut_there(rng):
    group = Group(SBot(joint_speed=2.0, leds=1), 1, "ants")
    rows, top = Shares(group, ["drive", "joints", "leds"], ""), group.robot.top_speed
    low, middle, high = (rows.orders(np.full((1, 1, 8), share)) for share in (-1.0, 0.0, 1.0))
    assert low.drive[0, 0].tolist() == [-top, -top] and high.drive[0, 0].tolist() == [top, top]
    assert low.joints[0, 0].tolist() == [-2, -2, 0] and middle.joints[0, 0].tolist() == [0, 0, 0.5]
    assert high.joints[0, 0].tolist() == [2, 2, 1]                        # a switch closes above 0.5
    assert not low.leds.any() and (high.leds == 255).all() and high.leds.shape == (1, 1, 1, 3)
    beyond = rows.orders(np.full((1, 1, 8), 7.0))
    assert all(np.array_equal(getattr(beyond, part), getattr(high, part)) for part in ("drive", "joints", "leds"))


def test_every_order_of_a_joint_is_in_its_range(rng):
    """Whatever the rounding: an order beyond it would be refused."""
    group = legs("").groups[0]
    low, high = group.robot.joint_range
    joints = Shares(group, ["joints"], "").orders(rng.uniform(-1.2, 1.2, (50, 1, 18))).joints
    assert (joints >= low).all() and (joints <= high).all()


def test_outputs_of_a_network_are_rows_too():
    rows = Shares(Group(SBot(leds=1), 1, "ants"), ["drive", "leds"], "")
    assert rows.from_signed(np.array([[[-1.0, 1.0, -1.0, 0.0, 1.0]]])).tolist() == [[[-1.0, 1.0, 0.0, 0.5, 1.0]]]


@pytest.mark.parametrize("robot, parts, complaint", [
    (SBot(), ["wheels"], "there is no part 'wheels'. There are: drive, joints, leds, message"),
    (SBot(), ["joint"], "there is no part 'joint'. Did you mean 'joints'?"),
    (Omni(), ["joints"], "have no joints, so 'joints' says nothing to them. They take: drive"),
    (SBot(leds=0), ["leds"], "have no lights"),
    (SBot(), ["message"], "have no link"),
    (SBot(), ["joints"], "joint 'turret' of 'ants' takes any velocity, .* Declare one: joint_speed of an <sbot>"),
])
def test_what_a_robot_does_not_take_is_refused(robot, parts, complaint):
    with pytest.raises(WorldError, match=complaint):
        Shares(Group(robot, 1, "ants"), parts, "")


def test_a_network_talks_with_the_same_bits_in_kernels_and_in_the_loop(rng):
    """It drives, and sends what it decides to a network that hears it."""
    world = read_text(LIT.format('<range_and_bearing numbers="2" limit="3" most="1"/>'
                                 '<elman inputs="range_and_bearing proximity" outputs="drive message"/>'))
    network = world.groups[0].controller
    assert genes(world, world.groups[0]) == network.size(15 + 5, 4)
    given = rng.uniform(-0.1, 0.1, (3, network.size(20, 4)))
    assert lacking(world, world.groups[0]) == ""
    fast, plain = (rollout(world, given, 3, 2, compiled=compiled) for compiled in (True, False))
    assert np.array_equal(fast.fitness, plain.fitness) and len(np.unique(fast.speed)) == 6
    labs = [Simulation(world, 5, genotypes={"ants": given[0]}, compiled=compiled) for compiled in (True, False)]
    for _ in range(5):
        for lab in labs:
            lab.step()
        assert np.array_equal(labs[0].state.outbox, labs[1].state.outbox) and (np.abs(labs[0].state.outbox) < 3.0).all()
    assert labs[0].readings["ants"]["range_and_bearing"].any()


# -- networks ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("network", [Perceptron(outputs="drive leds"), Mlp(hidden=(3,), outputs="leds drive"),
                                     Elman(hidden=3, outputs="drive, leds"), Ctrnn(hidden=3, outputs="leds")])
def test_a_network_has_an_output_for_each_number_of_its_row(network, rng):
    world = read_text(LIT.format(""))
    object.__setattr__(world.groups[0], "controller", network)
    wide = 24 + 2 * ("drive" in network.outputs)
    assert genes(world, world.groups[0]) == network.size(15, wide)
    given = rng.uniform(-1, 1, (2, network.size(15, wide)))
    lab = Simulation(world, genotypes={"ants": given[0]})
    lab.step()
    assert lab.state.drive.any() == ("drive" in network.outputs) and len(np.unique(lab.state.leds)) > 4
    readings = {name: reading[0, 0] for name, reading in lab.readings["ants"].items()}
    neurons = lab.state.memory.get(("ants/<controller>", "neurons"))
    said = activity(network, world.groups[0], readings, given[0], None if neurons is None else neurons[0, 0], world.dt)
    assert len(said["outputs"]) == wide
    fast, plain = (rollout(world, given, 3, 2, compiled=compiled) for compiled in (True, False))
    assert np.array_equal(fast.fitness, plain.fitness)


@pytest.mark.parametrize("tag", ["perceptron", "mlp", "elman", "ctrnn"])
def test_a_network_walks(tag, rng):
    """Eighteen joints from what the robot feels of itself; a batch of genotypes gives each what it earns alone."""
    world = legs(f'<{tag} inputs="motors inclinometer" outputs="joints"/>')
    network, group = world.groups[0].controller, world.groups[0]
    size = genes(world, group)
    assert size == network.size(39, 18)
    given = rng.uniform(-0.2, 0.2, (3, size))
    tried = rollout(world, given, seed=1, trials=1)
    assert np.isfinite(tried.fitness).all() and len(np.unique(tried.fitness)) == 3 and (tried.speed >= 0.0).all()
    assert rollout(world, given[1:2], seed=1, trials=1).fitness[0] == tried.fitness[1]


def test_speed_on_legs_is_the_way_ahead():
    """The sum of v . ahead dt is the way along x, as long as the heading stays near 0."""
    world = formiga.read_world("hexapod")
    lab = Simulation(world)
    score = Score(world, lab.engine, lab.model, lab.state, world.groups[0])
    start = lab.state.position[0, 0].copy()
    for _ in range(100):
        lab.step()
        score.add(~lab.state.done)
    way = lab.state.position[0, 0] - start
    assert score.total[0] * world.dt == pytest.approx(np.hypot(*way), rel=0.05)
    assert way[0] > 0.7


def test_an_articulated_robot_evolves(tmp_path):
    world = legs('<perceptron inputs="inclinometer" outputs="joints"/>', "quadruped")
    outcome = evolve(tmp_path, world, 5, generations=2, population=4, trials=1, test=1)
    assert np.isfinite(outcome.champion.tested.fitness).all()


def test_a_network_that_names_nothing_to_order_says_so():
    with pytest.raises(WorldError, match="<perceptron> outputs: it names nothing to be ordered"):
        world = read_text(LIT.format('<perceptron outputs=" "/>'))
        genes(world, world.groups[0])


def test_a_joint_without_a_range_is_refused_with_the_line_of_the_network(tmp_path):
    (tmp_path / "arm.xml").write_text(ARM)
    (tmp_path / "w.xml").write_text('<world engine="spatial"><arena width="4" depth="4"/>\n<machine name="arm" file="arm.xml" '
                                    'fixed="true">\n<inclinometer/><perceptron inputs="inclinometer" outputs="joints"/>'
                                    '</machine></world>')
    world = formiga.read_world(tmp_path / "w.xml")
    with pytest.raises(WorldError, match=r"w.xml:3: <perceptron> outputs: joint 'bend' of 'arm' takes any velocity"):
        genes(world, world.groups[0])
