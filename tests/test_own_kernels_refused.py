"""Kernels of a user's own that cannot be used: each is refused with its file and line; and what is allowed beside them."""

import re
from dataclasses import dataclass

import numpy as np
import pytest

import formiga
from formiga.engine.beams import ring
from formiga.errors import FormigaError, WorldError
from formiga.loop import Simulation
from formiga.world.elements import element, name
from formiga.world.reader import read_text

pytestmark = pytest.mark.usefixtures("own_registry")
HERE = r"test_own_kernels_refused.py:\d+: "


def own_sensor(stages, **more):
    made = {"__doc__": "Own.", "__module__": __name__, "stages": stages, "name": name("s"), "__annotations__": {"name": str}}
    element("s", role="sensor")(dataclass(frozen=True)(type("S", (), {**made, **more})))
    return read_text('<world><arena width="2" depth="2"/>\n<sbot name="a" count="2"><scatter/>\n<s/></sbot></world>', "w.xml")


@formiga.kernel
def fill_world(w, value, out):
    for i in range(out.shape[1]):
        out[w, i, 0] = value


@formiga.kernel
def bare_world():
    pass


@formiga.kernel
def untyped_world(w, value, out):
    out[w, 0, 0] = value.no_such_thing


@formiga.kernel
def allocating_world(w, value, out):
    out[w, 0, 0] = np.zeros(3)[0]


@formiga.kernel
def raising_world(w, value, out):
    fill_world(w, value, out)
    if w == 1:
        raise ValueError("not world 1")


def place(kernel):
    code = kernel.py_func.__code__
    return re.escape(f"{code.co_filename}:{code.co_firstlineno}: ")


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(("kernel", "given", "message"), [
    (untyped_world, (1.0,), r"the kernel untyped_world cannot be compiled for its arguments: Unknown attribute 'no_such_thing' "
                            r"of type float64, in line \d+: out\[w, 0, 0\] = value.no_such_thing$"),
    (allocating_world, (1.0,), r"the kernel allocating_world .*it makes an array: give it one as an argument, or write "
                               r"@formiga.kernel\(allocates=True\), in line \d+: out\[w, 0, 0\] = np.zeros\(3\)\[0\]$"),
    (fill_world, (), r"the kernel fill_world takes \(w, value, out\), the number of the world first; its stage gives 1 more, "
                     "not 2"),
    (fill_world, (1.0, 2.0), "the kernel fill_world takes .* its stage gives 3 more, not 2"),
    (bare_world, (), "the kernel bare_world takes no argument; its first must be the number of the world"),
    (fill_world, ("two",), "the kernel fill_world cannot take 'two' as an argument, only arrays, numbers, and tuples"),
    (fill_world, ([1.0],), r"the kernel fill_world cannot take \[1.0\] as an argument"),
    (fill_world, (2**70,), r"the kernel fill_world cannot take 1180591620717411303424 as an argument"),
    (fill_world, (np.array(["x"]),), "the kernel fill_world cannot take an array of <U1, only arrays of numbers"),
    (fill_world, (np.array([None]),), "the kernel fill_world cannot take an array of object, only arrays of numbers")])
def test_a_kernel_that_cannot_be_used_is_refused_with_its_file_and_line(kernel, given, message, compiled):
    def stages(self, scene):
        out = np.zeros((*scene.shape, 1))
        return out, [formiga.Stage(kernel, (*given, out))]

    with pytest.raises(FormigaError, match=place(kernel) + message) as raised:
        Simulation(own_sensor(stages), compiled=compiled).step()
    assert "\n" not in str(raised.value)


def test_numbers_of_numpy_are_numbers():
    def stages(self, scene):
        out = np.zeros((*scene.shape, 1))
        return out, [formiga.Stage(fill_world, (np.float32(0.5), out)), formiga.Stage(fill_world, (np.int32(2), out))]

    assert (Simulation(own_sensor(stages)).readings["a"]["s"] == 2.0).all()


@pytest.mark.parametrize("compiled", [True, False])
def test_an_exception_of_a_kernel_is_raised_as_it_is(compiled):
    def stages(self, scene):
        out = np.zeros((*scene.shape, 1))
        return out, [formiga.Stage(fill_world, (1.0, out)), formiga.Stage(raising_world, (1.0, out))]

    with pytest.raises(ValueError, match="not world 1") as raised:
        Simulation(own_sensor(stages), worlds=3, compiled=compiled).step()
    assert raised.traceback[-1].name == "raising_world"


@formiga.kernel(boundscheck=True)
def beyond_world(w, out):
    out[w, 0, 3] = 1.0


@pytest.mark.parametrize("compiled", [True, False])
def test_a_kernel_that_asks_for_it_has_its_indices_checked(compiled):
    def stages(self, scene):
        out = np.zeros((*scene.shape, 1))
        return out, [formiga.Stage(beyond_world, (out,))]

    with pytest.raises(IndexError, match="index 3 is out of bounds") as raised:
        Simulation(own_sensor(stages), compiled=compiled).step()
    assert raised.traceback[-1].name == "beyond_world"


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(("made", "message"), [
    (lambda out: out, r"w.xml:3: sensor 's': its `stages` must return an array of readings and a list of formiga.Stage, or "
                      "None, not ndarray"),
    (lambda out: (out[0], []), r"w.xml:3: sensor 's' must return an array \(worlds, robots, \.\.\.\) = \(1, 2, \.\.\.\), not "
                               r"\(2, 1\)"),
    (lambda out: (out, [fill_world]), HERE + "the method stages of S must give a list of formiga"),
    (lambda out: (out, [formiga.Stage(fill_world, (1.0, out), decides=True)]),
     HERE + "the method stages of S must give .* without decides=True, not Stage"),
    (lambda out: (out, [formiga.Stage(np.add, (out,))]), HERE + r"the method stages of S .*not Stage.*ufunc"),
    (lambda out: (out, [formiga.Stage(fill_world, out)]),
     HERE + "the arguments of the kernel fill_world must be a tuple, not ndarray")])
def test_stages_that_are_none_are_refused(made, message, compiled):
    described = own_sensor(lambda self, scene: made(np.zeros((*scene.shape, 1))))
    with pytest.raises(FormigaError, match=message) as raised:
        Simulation(described, compiled=compiled).step()
    assert "\n" not in str(raised.value)


def test_without_kernels_here_and_without_read_a_sensor_is_refused():
    described = own_sensor(lambda self, scene: None)
    message = (r"w.xml:3: <s> has no kernels in this world: its `stages` returned None. Give it a method read\(self, scene\), "
               r"too\.$")
    for compiled in (True, False):
        with pytest.raises(WorldError, match=message):
            Simulation(described, compiled=compiled).step()
    both = own_sensor(lambda self, scene: None, read=lambda self, scene: np.ones((*scene.shape, 1)))
    assert (Simulation(both).readings["a"]["s"] == 1.0).all()


def test_a_beam_of_a_users_kernel_works_in_space_over_a_level_floor():
    def stages(self, scene):
        out = np.zeros((*scene.shape, 1))
        cast = scene.cast_stages(ring((0.0,), scene.group.robot.radius), 3.0, out)
        return None if cast is None else (out, cast)

    described = own_sensor(stages)
    flat, space = (Simulation(described, 4, 2, engine=engine) for engine in ("planar", "spatial"))
    assert np.array_equal(flat.readings["a"]["s"], space.readings["a"]["s"]) and np.isfinite(flat.readings["a"]["s"]).all()


def test_what_a_method_stages_takes_is_checked_when_it_is_registered():
    with pytest.raises(WorldError, match=r"<s> of the role 'sensor': its kernels come from a method stages\(self, scene\), not "
                                         r"stages\(self\)\.$"):
        own_sensor(lambda self: None)


def test_a_class_that_inherits_read_and_gives_kernels_is_what_its_kernels_are():
    def stages(self, scene):
        out = np.zeros((*scene.shape, 1))
        return out, [formiga.Stage(fill_world, (3.0, out))]

    own_sensor(stages, read=lambda self, scene: np.ones((*scene.shape, 1)))
    first = element("s", role="sensor")

    parent = next(known.cls for tag, known in formiga.world.elements.registered("sensor").items() if tag == "s")
    child = dataclass(frozen=True)(type("S", (parent,), {"__doc__": "Own.", "__module__": __name__, "stages": stages}))
    first(child)
    described = read_text('<world><arena width="2" depth="2"/><sbot name="a"><scatter/><s/></sbot></world>')
    assert (Simulation(described, compiled=False).readings["a"]["s"] == 3.0).all()
