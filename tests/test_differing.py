"""Worlds of a batch that differ: each has the bits that it has alone, on every path; what cannot differ is refused by name."""

import json
from dataclasses import dataclass

import numpy as np
import pandas
import pyarrow as pa
import pytest

import formiga
from formiga.control import Orders
from formiga.engine import drives
from formiga.errors import CannotDiffer, WorldError
from formiga.lab import read_document, read_world, simulate
from formiga.loop import Simulation
from formiga.record.recording import read_recording
from formiga.record.variants import worlds_of
from formiga.world import elements, variants
from formiga.world.contract import wrong
from formiga.world.model import Cylinder

WORLD = """<world name="w" dt="0.1" seconds="4">
  {params}
  <arena width="1.6" depth="1.4"/><cylinder x="0.2" y="0.1" radius="${radius}"/><wall points="-0.5 ${y} -0.1 0.3"/>
  <polygon points="-0.3 -0.3, -0.1 -0.3, -0.2 ${corner}"/><rectangle x="${x}" y="-0.4" width="0.2" depth="0.1"/>
  <lamp x="0.5" y="0.4" intensity="${intensity}"/><lamp x="-0.5" y="-0.4" on="${on}"/>
  <sbot count="5" name="swarm" motor_noise="${motor}" top_wheel_speed="${top}"><scatter gap="${gap}"/>
    <proximity noise="${noise}" reach="${reach}" table="${table}"/><light noise="${blur}" reach="${far}"/>
    {link}
    <odometry ticks="${ticks}"/>
    <braitenberg gain="${gain}" light="light"/></sbot>
  <disc count="2" name="idle" position_noise="${slip}" radius="5cm" wheel_base="8cm" top_speed="10cm/s">
    <at x="${first}" y="-0.6"/><at x="-0.4" y="-0.6" on="${awake}"/><random_walk period="0.7s"/></disc>
</world>"""
LINK = '<range_and_bearing range="${range}" loss="${loss}" range_noise="${hiss}"/>'
CASES = {"radius": (0.08, 0.03, 0.1), "y": (0.2, 0.25, 0.3), "corner": (-0.1, -0.15, -0.2), "x": (0.5, 0.4, 0.6),
         "intensity": (0.25, 0.0, 2.0), "on": ("true", "false", "true"), "motor": (0.01, 0.0, 0.3), "top": (4.0, 3.0, 2.5),
         "gap": (0.0, 0.02, 0.05), "noise": (0.05, 0.0, 0.3), "reach": (0.15, 0.1, 0.5), "table": ("B", "A", "A"),
         "blur": (0.05, 0.0, 0.2), "far": (10.0, 0.3, 1.0), "range": (0.8, 0.3, 3.0), "loss": (0.1, 0.6, 0.9),
         "hiss": (0.02, 0.0, 0.4), "ticks": (0, 12, 100), "gain": (5.0, 1.0, 0.1), "slip": (0.05, 0.0, 0.5),
         "first": (0.4, 0.3, 0.5), "awake": ("true", "false", "true")}
LATER = ("range", "loss", "hiss")   # of the link
OTHER = np.array([0, 1, 0, 2])      # which of the values each of four worlds has


@pytest.fixture
def file(tmp_path):
    """The world, without its link unless that is asked for."""
    def write(link=False, name="w.xml", more=""):
        params = "".join(f'<param name="{name}" value="{values[0]}"/>' for name, values in CASES.items())
        text = WORLD.replace("{params}", params + more).replace("{link}", LINK if link else "")
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def same_readings(lab, other, k, at=0):
    """Whether world k of a batch reads what a world of another simulation reads, by default its only one."""
    assert lab.readings.keys() == other.readings.keys()
    return all(np.array_equal(reading[k], other.readings[group][name][at]) for group, found in lab.readings.items()
               for name, reading in found.items())


def talking(lab):
    """The same simulation, in which all robots send a message in each step."""
    lab.state.outbox[...] = 0.5
    return lab


def alone(path, values, k, steps, seed=4):
    """World k of a batch as a run of its own."""
    lab = talking(Simulation(read_world(path, **values), seed, first_world=k))
    lab.advance(steps)
    return lab


def assert_each_is_as_alone(lab, path, params, steps, seed=4):
    for k in range(lab.state.worlds):
        one = alone(path, {name: values[k] for name, values in params.items()}, k, steps, seed)
        assert same_readings(lab, one, k)
        for name, values in one.state.arrays().items():
            assert values[0].tobytes() == lab.state.arrays()[name][k].tobytes(), (name, k)
        for key, memory in one.state.memory.items():
            assert memory[0].tobytes() == lab.state.memory[key][k].tobytes(), (key, k)


# -- the same bits ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", CASES)
def test_a_world_of_a_batch_is_as_it_is_alone_on_both_paths(file, name):
    path, params = file(link=name in LATER), {name: [CASES[name][k] for k in OTHER]}
    fast, slow = (talking(Simulation(path, 4, params=params, compiled=compiled)) for compiled in (True, False))
    assert fast.advance(15)                     # one compiled call
    for _ in range(15):
        slow.step()
    assert_same_everywhere(fast, slow)
    assert_each_is_as_alone(fast, path, params, 15)
    copies = talking(Simulation(path, 4, 4))
    copies.advance(15)
    kept = [np.array_equal(copies.state.position[k], fast.state.position[k]) and same_readings(fast, copies, k, k)
            for k in range(4)]
    assert kept[0] and not kept[1], "the param changes something, and only in the worlds that have another value"


def assert_same_everywhere(fast, slow):
    for name, values in fast.state.arrays().items():
        assert values.tobytes() == slow.state.arrays()[name].tobytes(), name


def test_many_params_at_once_in_any_order_of_steps_blocks_looks_orders_and_resets(file, rng):
    path = file(link=True)
    params = {name: [values[k] for k in rng.integers(0, 3, 6)] for name, values in CASES.items()}
    labs = [talking(Simulation(path, 4, params=params, compiled=compiled)) for compiled in (True, False)]
    turn = rng.uniform(-0.05, 0.05, (6, 5, 2))
    turn[::2, :3] = np.nan                      # those go on as their controller decides
    for lab in labs:
        lab.advance(4) or [lab.step() for _ in range(4)]
        _ = lab.readings
        lab.step({"swarm": turn})
        lab.step()
        lab.step({"swarm": Orders(leds=np.full((6, 5, 8, 3), 200.0))})
        _ = lab.readings
        lab.reset(np.arange(6) % 3 == 0, seed=9)
        lab.step()
        lab.advance(3) or [lab.step() for _ in range(3)]
    assert_same_everywhere(*labs)
    assert labs[0].orders.keys() == labs[1].orders.keys()
    assert all(same_readings(*labs, k, k) for k in range(6))


def test_a_look_at_worlds_that_have_run_changes_nothing_that_they_remember(file):
    path, params = file(), {"ticks": [0, 12, 0, 100], "gain": [5.0, 4.0, 3.0, 2.0]}
    lab = Simulation(path, 4, params=params)
    assert lab.advance(8)
    for _ in range(2):                          # the first look finds memories that the compiled stages have made
        _ = lab.readings
        lab.advance(6)
    _ = lab.readings
    assert_each_is_as_alone(lab, path, params, 20)


def test_threads_change_no_bit_and_copies_share_start_and_noise(file):
    path, params = file(), {"radius": [0.03, 0.05, 0.07, 0.09, 0.1], "gain": [5.0, 4.0, 3.0, 2.0, 1.0]}
    runs = [simulate(path, 2.0, 3, params=params, threads=threads) for threads in (1, 2, 5)]
    for run in runs[1:]:
        assert_same_everywhere(runs[0], run)
    twice = Simulation(path, 3, 2, copies=2, params={"gain": [5.0, 5.0, 5.0, 1.0]})
    assert twice.advance(20)
    assert np.array_equal(twice.state.position[0], twice.state.position[2])
    assert not np.array_equal(twice.state.position[1], twice.state.position[3])
    assert np.array_equal(twice.state.start[1], twice.state.start[3])


def test_networks_may_have_files_of_their_own_and_given_genes(tmp_path, rng):
    world = """<world name="n" dt="0.1"><param name="genes" value="0.json"/><param name="span" value="10"/>
    <arena width="1" depth="1"/><sbot count="3" name="swarm"><scatter/><proximity/>
    <perceptron genotype="${genes}" span="${span}"/></sbot></world>"""
    (tmp_path / "n.xml").write_text(world)
    blank = read_world_without_genes(tmp_path, world)
    size = formiga.rollout.genes(blank, blank.groups[0])
    for k in range(3):
        (tmp_path / f"{k}.json").write_text(json.dumps(
            {"formiga": "genotype", "format": 1, "controller": "perceptron", "about": {},
             "genes": rng.uniform(-1.0, 1.0, size).tolist()}))
    params = {"genes": ["0.json", "1.json", "2.json", "1.json"]}
    lab = Simulation(tmp_path / "n.xml", 4, params=params)
    assert lab.advance(20)
    assert_each_is_as_alone(lab, tmp_path / "n.xml", params, 20)
    genes, spans = rng.uniform(-1.0, 1.0, (3, size)), [10.0, 2.0, 10.0]
    given = Simulation(tmp_path / "n.xml", 4, params={"span": spans}, genotypes={"swarm": genes})
    assert given.advance(20)
    for k in range(3):
        one = Simulation(read_world(tmp_path / "n.xml", span=spans[k]), 4, first_world=k, genotypes={"swarm": genes[k]})
        one.advance(20)
        assert np.array_equal(one.state.position[0], given.state.position[k])


def read_world_without_genes(folder, text):
    (folder / "blank.xml").write_text(text.replace('genotype="${genes}"', ""))
    return read_world(folder / "blank.xml")


# -- elements that look at things, remember, or have no kernels ---------------------------------------------------------------
@formiga.kernel
def beacon_world(w, position, first, bearing_to, gain, out):
    """How far each robot is from a place, times a gain."""
    for i in range(out.shape[1]):
        x, y = bearing_to[0] - position[w, first + i, 0], bearing_to[1] - position[w, first + i, 1]
        out[w, i, 0] = gain[w] * np.sqrt(x * x + y * y)


@formiga.kernel
def count_world(w, memory, out):
    """A memory that counts."""
    for i in range(out.shape[1]):
        memory[w, i, 0] += 1.0
        out[w, i, 0] = memory[w, i, 0]


@pytest.fixture
def own():
    """Sensors of a user's own: one that looks at the things of the world, one that remembers, one without kernels."""
    @formiga.element("test-beacon", role="sensor")
    @dataclass(frozen=True)
    class Beacon:
        """Distance to the first cylinder."""

        gain: float = elements.number(1.0)
        name: str = elements.name("beacon")

        def stages(self, scene):
            place = next((thing.x, thing.y) for thing in scene.model.world.things if isinstance(thing, Cylinder))
            out = np.zeros((*scene.shape, 1))
            return out, [formiga.Stage(beacon_world, (scene.state.position, scene.robots.start, np.array(place),
                                                      np.full(scene.shape[0], self.gain), out))]

    @formiga.element("test-count", role="sensor")
    @dataclass(frozen=True)
    class Count:
        """Counts from a number."""

        start: float = elements.number(0.0)
        name: str = elements.name("count")

        def stages(self, scene):
            memory, out = scene.memory("count", np.full((*scene.shape, 1), self.start)), np.zeros((*scene.shape, 1))
            return out, [formiga.Stage(count_world, (memory, out))]

    @formiga.element("test-plain", role="sensor")
    @dataclass(frozen=True)
    class Plain:
        """In Python alone; as many numbers as it is told."""

        size: float = elements.number(2.0)
        name: str = elements.name("plain")

        def read(self, scene):
            seen = scene.memory("seen", np.zeros((*scene.shape, 1)))
            seen += self.size
            return np.repeat(seen, 3, axis=-1) + scene.noise.uniform(0.0, self.size, 3)

    yield
    for tag in ("test-beacon", "test-count", "test-plain"):
        elements.forget(tag)


OWN = """<world name="o" dt="0.1">{params}<arena width="2" depth="1"/><cylinder x="${{x}}" y="0" radius="0.05"/>
<sbot count="2" name="swarm"><at x="${{at}}" y="0.3"/><at x="-0.5" y="-0.3"/>{sensors}<random_walk/></sbot></world>"""


@pytest.mark.parametrize(("sensors", "params", "one_call"), [
    ('<test-beacon gain="${gain}"/>', {"x": [0.0, 0.1, 0.2, 0.1]}, True),
    ('<test-beacon gain="${gain}"/>', {"gain": [1.0, 2.0, 1.0, 2.0], "at": [0.5, 0.5, 0.4, 0.4]}, True),
    ('<test-count start="${start}"/>', {"start": [0.0, 5.0, 7.0, 5.0]}, True),
    ('<test-plain size="${gain}"/><ground reads="grey"/>', {"gain": [1.0, 2.0, 3.0, 2.0], "x": [0.0, 0.1, 0.2, 0.1]}, False)])
def test_own_elements_see_the_things_and_remember_the_start_of_their_own_world(own, tmp_path, sensors, params, one_call):
    usual = "".join(f'<param name="{name}" value="{value}"/>' for name, value in
                    {"x": 0.0, "gain": 1.0, "at": 0.5, "start": 0.0}.items())
    path = tmp_path / "o.xml"
    path.write_text(OWN.format(params=usual, sensors=sensors))
    lab = Simulation(path, 4, params=params)
    assert lab.advance(3) == one_call
    for _ in range(4 if one_call else 7):
        lab.step()
    mask = np.array([False, True, True, False])
    lab.reset(mask)
    lab.step()
    for k in range(4):
        one = Simulation(read_world(path, **{name: values[k] for name, values in params.items()}), 4, first_world=k)
        for _ in range(7):
            one.step()
        if mask[k]:
            one.reset()
        one.step()
        assert np.array_equal(one.state.position[0], lab.state.position[k])
        assert same_readings(lab, one, k), k


# -- reading ----------------------------------------------------------------------------------------------------------
TEXT = """<world name="t" dt="0.1">
  <param name="side" value="2"/><param name="r" value="0.05"/><param name="name" value="plain"/>
  <param name="part" value="a.xml"/><param name="gap" value="${r / 2}"/><param name="noise" value="0.1"/>
  <param name="motors" value="draft"/>
  <defaults><cylinder radius="${r}"/><proximity noise="${noise}"/></defaults>
  <zone x="0" y="0" radius="0.1" name="${name}"/><arena width="${side}" depth="2"/><include file="${part}"/>
  <cylinder x="0" y="${side / 8}"/>
  <defaults><cylinder radius="${r / 2}" height="0.2"/></defaults><cylinder x="0.3" y="0"/><rectangle x="-0.5" y="0" width="0.1"
   depth="${min(r, 0.08)}"/>
  <sbot count="3" profile="${motors}"><scatter gap="${gap}"/><proximity/><braitenberg/></sbot><sbot/>
</world>"""
VALUES = {"side": [2.0, 2.5, 3], "r": [0.05, 0.02, "4cm"], "name": ["plain", "other"], "part": ["a.xml", "b.xml"],
          "noise": [0.1, 0.2, 0], "motors": ["tr", "draft"], "gap": [0, 0.01, "1cm"]}


def test_variants_are_what_reading_each_alone_gives_and_share_what_is_the_same(tmp_path, rng):
    (tmp_path / "t.xml").write_text(TEXT)
    (tmp_path / "a.xml").write_text('<world><cylinder x="-0.3" y="0"/><param name="inner" value="${side / 4}"/></world>')
    (tmp_path / "b.xml").write_text('<world><param name="inner" value="${r}"/><lamp x="${inner}" y="0"/></world>')
    params = {name: [values[k] for k in rng.integers(0, len(values), 60)] for name, values in VALUES.items()}
    found = variants.read(tmp_path / "t.xml", params).worlds
    for k, world in enumerate(found):
        expected = read_world(tmp_path / "t.xml", **{name: values[k] for name, values in params.items()})
        assert world == expected
        assert [str(thing._where) for thing in world.things] == [str(thing._where) for thing in expected.things]
    few = variants.read(tmp_path / "t.xml", {"noise": [0.1, 0.2, 0.1]}).worlds
    assert few[0] is few[2] and few[0].things is few[1].things and few[0].groups is not few[1].groups
    assert few[0].groups[1] is few[1].groups[1] is not few[0].groups[0]
    document = read_document(tmp_path / "t.xml", r=0.03)
    assert variants.read(document, {"side": [2, 3]}).worlds[1] == read_world(tmp_path / "t.xml", r=0.03, side=3)


@pytest.mark.parametrize(("params", "said"), [
    ({"radios": [1, 2]}, "there is no param 'radios' to set. Did you mean 'radius'?"),
    ({"radius": [0.05, -1.0]}, r"w.xml:3: <cylinder> radius: .*\(world 1 of the batch, with radius = -1.0\)"),
    ({"radius": [0.05, 0.06, 0.07], "x": [0.4, 0.5]}, "'x' has 2 values and there are 3 worlds"),
    ({"radius": []}, "'radius' has no values"), ({"radius": [0.05, float("nan")]}, "w.xml:3: <cylinder> radius"),
    ({"radius": [0.05, None]}, "param 'radius' cannot be None"),
    ({"radius": [[0.05], [0.06]]}, r"param 'radius' cannot be \[0.05\]"),
    (np.array([0.05, 0.06]), "params must be a dict"), ([0.05], "params must be a dict")])
def test_params_that_cannot_be_read_are_one_message(file, params, said):
    with pytest.raises(WorldError, match=said) as wrong:
        Simulation(file(), params=params)
    assert "\n" not in str(wrong.value)


def test_values_may_be_columns_of_pandas_and_of_arrow(file):
    values = [0.05, 0.06, 0.05]
    for column in (pandas.Series(values, index=[4, 5, 9]), pa.array(values), pa.chunked_array([values[:1], values[1:]])):
        assert variants.read(file(), {"radius": column}).worlds == variants.read(file(), {"radius": values}).worlds


def test_each_robot_is_looked_at_once_however_many_worlds_have_it(file, monkeypatch):
    seen = []
    monkeypatch.setattr(drives, "wrong", lambda robot: seen.append(robot) or wrong(robot))
    lab = Simulation(file(), params={"gain": np.linspace(1.0, 5.0, 30), "radius": np.linspace(0.02, 0.1, 30)})
    assert lab.advance(1) and len(seen) == 2       # two groups
    seen.clear()
    assert Simulation(file(), params={"motor": [0.0, 0.1, 0.0, 0.1]}).advance(1) and len(seen) == 3
    monkeypatch.setattr(drives, "wrong", lambda robot: "it is tired" if robot.motor_noise == 0.1 else "")
    with pytest.raises(WorldError, match="<sbot> is not as a robot has to be: it is tired"):
        Simulation(file(), params={"motor": [0.0, 0.1]})


def test_params_need_the_file_of_a_world_and_as_many_values_as_worlds(file):
    with pytest.raises(WorldError, match="'radius' is a parameter of a world's file, and this world was read already"):
        simulate(read_world(file()), 1.0, params={"radius": [0.05, 0.06]})
    with pytest.raises(WorldError, match="'radius' has 2 values and there are 3 worlds"):
        simulate(file(), 1.0, worlds=3, params={"radius": [0.05, 0.06]})
    run = simulate(file(), 0.5, worlds=3, params={"radius": 0.05})     # one value: copies of that world
    assert run.state.worlds == 3 and run.varied is None and run.world == read_world(file(), radius=0.05)


# -- what cannot differ -------------------------------------------------------------------------------------------------
STRICT = """<world name="s" dt="0.1" seconds="2">{params}<arena width="${side}" depth="2"/>
<contact model="${contact}"/><cylinders count="${many}" radius="${r}" height="${high}"/><lamp x="0" y="0"/>
<disc count="${robots}" name="swarm" radius="${size}" wheel_base="0.08" top_speed="0.1"><scatter/>
<proximity angles="${angles}"/><scanner beams="${beams}"/>
<radio numbers="${words}" delay="${late}"/><braitenberg/></disc></world>"""
STRICT_PARAMS = {"side": 2, "contact": "reposition", "many": 3, "r": 0.05, "high": 0.1, "robots": 2, "size": 0.05,
                 "angles": "10deg -10deg", "beams": 5, "words": 1, "late": 0}


def strict(tmp_path):
    params = "".join(f'<param name="{name}" value="{value}"/>' for name, value in STRICT_PARAMS.items())
    path = tmp_path / "s.xml"
    path.write_text(STRICT.replace("{params}", params))
    return path


@pytest.mark.parametrize(("name", "other", "said"), [
    ("side", 2.5, "the extent of the arena"), ("contact", "stop", "<contact>"),
    ("many", 4, "the number of walls and obstacles"),
    ("high", 0.05, "the height of the lowest obstacle"), ("robots", 3, "the number of robots in 'swarm'"),
    ("size", 0.06, "the radius of the robots of 'swarm'"), ("angles", "10deg 0deg -10deg", "how many numbers the robots read"),
    ("beams", 7, "how many numbers the robots read from 'scanner'"), ("words", 2, "the messages of the robots"),
    ("late", 0.2, "")])
def test_what_cannot_differ_is_refused_with_the_name_of_the_param(tmp_path, name, other, said):
    path, usual = strict(tmp_path), STRICT_PARAMS[name]
    params = {name: [usual, usual, other], "r": [0.05, 0.04, 0.06]}
    if name == "late":                      # a queue more is another list of kernels: then one by one, and right
        lab = Simulation(path, params=params)
        assert not lab.advance(1)
        return
    with pytest.raises(CannotDiffer, match=f"s.xml:1: param '{name}' changes {said}.* which all worlds of a batch share "
                                           rf"\(world 2 has {name} = {other}\); run these worlds one by one, or sweep them."):
        simulate(path, 1.0, params=params)
    for threads in (1, 3):                  # whatever the number of threads
        with pytest.raises(CannotDiffer, match=name):
            simulate(path, 1.0, params=params, threads=threads, record=["readings"])


def test_space_and_bodies_with_masses_are_refused_by_name(tmp_path):
    path = strict(tmp_path)
    with pytest.raises(CannotDiffer, match="param 'r' changes the world, and in space all worlds of a batch are alike"):
        simulate(path, 1.0, engine="spatial", params={"r": [0.05, 0.06]})
    path.write_text(path.read_text().replace('value="reposition"', 'value="impulse"'))
    with pytest.raises(CannotDiffer, match="param 'r' changes the world, and with the contact model impulse"):
        simulate(path, 1.0, params={"r": [0.05, 0.06]})


# -- recordings -----------------------------------------------------------------------------------------------------------
def test_a_recording_of_worlds_that_differ_can_be_run_again(file, tmp_path):
    params = {"radius": [0.03, 0.05, 0.03, 0.1], "gain": [5.0, 1.0, 5.0, 2.0], "table": ["A", "B", "A", "A"],
              "motor": [0.0, 0.1, 0.0, 0.2], "first": [0.4, 0.3, 0.4, 0.5]}
    run = simulate(file(), 2.0, 3, params=params, out=tmp_path / "out", record=["readings"])
    found = read_recording(run.recording)
    assert found.format == 4 and found.worlds == 4
    assert found.varied.worlds == tuple(read_world(file(), **{name: values[k] for name, values in params.items()})
                                        for k in range(4))
    assert found.replay() is None and found.replay(threads=1) is None
    assert found.described(3).things != found.described(0).things
    plain = simulate(file(), 2.0, 3, worlds=4, out=tmp_path / "plain")
    assert read_recording(plain.recording).format == 1


def test_a_damaged_account_of_what_differs_is_refused(file, tmp_path):
    worlds = variants.read(file(), {"radius": [0.03, 0.05]}).worlds
    good = {"which": [-1, 0], "changes": [[[1, "radius", "0.05"]]]}
    assert worlds_of(good, 2, worlds[0], None) == worlds
    for bad in (None, {}, {**good, "which": [-1]}, {**good, "which": [-1, 1]}, {**good, "which": [-1, True]},
                {**good, "more": 1}, {**good, "changes": [[[99, "radius", "0.05"]]]},
                {**good, "changes": [[[1, "radios", "0.05"]]]},
                {**good, "changes": [[[1, "radius", "-1"]]]}, {**good, "changes": [[[1, "radius", 5]]]},
                {**good, "changes": [7]},
                {**good, "changes": [[[1, "radius"]]]}, {**good, "changes": [[["1", "radius", "0.05"]]]}):
        assert worlds_of(bad, 2, worlds[0], None) is None, bad
