"""Both engines keep the promise of `engine.Engine`: every function, its parameters, every attribute of a model."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import formiga
from formiga.engine import ENGINES, Engine, Model, engine
from formiga.errors import WorldError
from formiga.world.reader import read_text

ROOT = Path(__file__).parents[2]
FUNCTIONS = [name for name, value in vars(Engine).items() if inspect.isfunction(value) and not name.startswith("_")]
ATTRIBUTES = [name for name, value in vars(Model).items() if isinstance(value, property)]


def parameters(function) -> list[tuple[str, object, object]]:
    return [(each.name, each.kind, each.default) for each in inspect.signature(function).parameters.values()]


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_has_every_function_of_the_promise_with_its_parameters(name):
    kept = engine(name)
    assert name == kept.NAME
    for function in FUNCTIONS:
        assert parameters(getattr(kept, function)) == parameters(getattr(Engine, function))[1:], function  # but for `self`


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_has_nothing_else_that_is_public(name):
    assert set(engine(name).__all__) == {"NAME", "Model", *FUNCTIONS}


@pytest.mark.parametrize("name", ENGINES)
def test_a_model_has_every_attribute_of_the_promise(name):
    model = formiga.Simulation("swarmod", engine=name).model
    missing = [each for each in ATTRIBUTES if not hasattr(model, each)]
    assert not missing


def test_mypy_accepts_both_engines(tmp_path):
    """Types too: what a function takes and gives, and the attributes of the models."""
    pytest.importorskip("mypy")  # `make lint` has it
    file = tmp_path / "kept.py"
    file.write_text("from formiga.engine import Engine, Model\nfrom formiga.engine.planar import pipeline as planar\n"
                    "from formiga.engine.spatial import pipeline as spatial\n"
                    "one: Engine = planar\nother: Engine = spatial\n"
                    "def models(a: planar.Model, b: spatial.Model) -> tuple[Model, Model]:\n    return a, b\n")
    done = subprocess.run([sys.executable, "-m", "mypy", str(file)], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_the_plane_does_not_have_is_answered_with_nothing():
    simulation = formiga.Simulation("swarmod", engine="planar")
    kept, model, state = simulation.engine, simulation.model, simulation.state
    assert kept.events(model, state) == [] and kept.inspect(model, state, 0) == {} and kept.as_it_stands(model, state) == {}
    assert kept.forces(model, state).shape == (0, 7) and kept.holding(model, state).shape == (0, 2)
    assert not model.keeps_contacts and kept.contacts(model, state).shape == (0, 7)
    with pytest.raises(WorldError, match="renders no images"):
        kept.paint(model, state, 4, 4, 1.0, None, slice(0, 1))


def test_contacts_of_the_last_step_are_those_of_the_bodies_that_hit():
    """A ball rolls against a wall 2 cm ahead: both bodies of a contact are the ball, N + 0, and what is fixed, -1."""
    world = read_text('<world dt="0.1"><arena width="1" depth="1"/><contact model="impulse"/>'
                      '<ball x="0.4587" y="0" vx="1" name="ball"/></world>')
    simulation = formiga.Simulation(world)
    simulation.step()
    assert simulation.model.keeps_contacts
    rows = simulation.engine.contacts(simulation.model, simulation.state)
    assert len(rows) >= 1 and {*rows[0, 5:7]} == {0.0, -1.0} and rows[0, 4] > 0.0
