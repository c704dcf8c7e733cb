"""A recording of a world with elements of the user's own: it needs no code of theirs to be read, and runs none unasked."""

import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import formiga
from formiga.errors import FormigaError, RecordingError
from formiga.record.format import KEY, SEAL
from formiga.session import Session
from formiga.session.watch import inspect
from formiga.world import elements
from formiga.world.elements import of
from formiga.world.placeholder import Placeholder
from formiga.world.writer import to_text

OWN = """open("ran.txt", "a").write("ran ")
from dataclasses import dataclass
import numpy as np
from formiga.world.elements import element, integer, length, name, number, text
from own_helper import pace

@element("nose", role="sensor")
@dataclass(frozen=True)
class Nose:
    "Smells the middle."
    reach: float = length(1.0, above=0.0)
    name: str = name("smell")
    def read(self, scene):
        return np.linalg.norm(scene.state.position[:, scene.robots], axis=-1)[..., None] / self.reach

@element("hum", role="link")
@dataclass(frozen=True)
class Hum:
    "All robots hear the sum of what they say."
    numbers: int = integer(1, least=1)
    name: str = name("hum")
    def hear(self, scene):
        columns = scene.model.world.media[self.name].columns
        said = np.nan_to_num(scene.state.outbox[:, scene.robots, columns])
        return np.broadcast_to(said.sum(axis=1, keepdims=True), said.shape).copy()

@element("hunch", role="estimator")
@dataclass(frozen=True)
class Hunch:
    "Believes what it smells."
    name: str = name("hunch")
    def estimate(self, view):
        return view.reading("smell") + view.reading("hum")[..., :1]

@element("sniffer", role="controller")
@dataclass(frozen=True)
class Sniffer:
    "Turns where it smells."
    def decide(self, view):
        return pace() * np.concatenate([view.reading("smell"), 1.0 - view.reading("smell")], axis=-1)

@element("stone", role="thing")
@dataclass(frozen=True)
class Stone:
    "A thing of no consequence."
    word: str = text("")

@element("beetle", role="robot")
@dataclass(frozen=True)
class Beetle:
    "A robot."
    shine: float = number(1.0)
    wheel_base = radius = wheel_radius = 0.03
    clearance = height = mass = 0.05
    top_speed = 0.1
    motor_noise = position_noise = heading_noise = 0.0
    leds = 0
    colour = "#123456"

@element("order", role="fitness")
@dataclass(frozen=True)
class Order:
    "Unused."
    def reward(self, view):
        raise NotImplementedError
"""
WORLD = """<world name="own" dt="0.1" seconds="1"><arena width="1" depth="1"/><stone word="granite"/>
<beetle count="3" name="b" shine="0.5"><scatter/><nose reach="2"/><proximity angles="0 90" mount="0.03" reach="0.2"/>
<hum numbers="2"/><hunch/><sniffer/></beetle><order/></world>"""


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """A folder in which another process has recorded such a world; this one has never seen the code."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "mine.py").write_text(OWN)
    (folder / "own_helper.py").write_text("def pace():\n    return 0.05\n")
    (folder / "own.xml").write_text(WORLD)
    program = ("import formiga; formiga.load_elements('mine.py')\n"
               "print(formiga.simulate('own.xml', seed=3, worlds=2, out='.').metrics['simulated_seconds'])")
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    (folder / "ran.txt").unlink()
    return folder


def test_it_is_read_and_tabulated_without_its_code_and_nothing_of_it_is_run(there, monkeypatch):
    monkeypatch.chdir(there)
    before = set(elements._registry)
    recording = formiga.read_recording("run.parquet")
    assert recording.missing == ("beetle", "hum", "hunch", "nose", "order", "sniffer", "stone")
    assert recording.table().num_rows == 11 * 2 * 3 and np.ptp(recording.poses().x) > 0.0
    assert recording.code == {"own_helper.py": (there / "own_helper.py").read_text(), "mine.py": OWN}
    assert recording.world.groups[0].robot.radius == 0.03 and recording.world.groups[0].sensors[0].name == "smell"
    assert not os.path.exists("ran.txt") and set(elements._registry) == before
    assert str(there) not in json.dumps(recording.meta)  # where the user keeps their files is nobody's business
    with pytest.raises(RecordingError, match=r"cannot be run again without the code of <beetle>; load your own file"):
        recording.replay()


def test_the_laboratory_shows_it_and_says_what_is_missing(there, monkeypatch):
    monkeypatch.chdir(there)
    said = []
    session = Session("run.parquet", own_settings=False, hear=lambda kind, text, window: said.append((kind, text)))
    assert [kind for kind, _ in said] == ["note"] and "<nose>" in said[0][1] and "--run-code" in said[0][1]
    recorded = session.replay.recording.poses(0).x[:, 0]
    for step in range(10):
        assert np.array_equal(session.sim.state.position[0, :, 0], recorded[step])
        assert np.array_equal(session.frame(exact=True).place[:, 0], recorded[step])
        session.step()
    robot = inspect(session, 1)
    assert robot["robot"] == "beetle" and robot["controller"] == "sniffer"
    assert list(robot["readings"]) == ["proximity"]  # what is known is read, what is not is left out
    assert not os.path.exists("ran.txt")


def test_placeholders_are_written_as_they_were(there):
    world = formiga.read_recording(there / "run.parquet").world
    assert [of(each).tag for each in world.things] == ["arena", "stone"] and isinstance(world.things[1], Placeholder)
    text = to_text(world)
    assert '<stone word="granite"/>' in text and '<nose reach="2.0"/>' in text and 'shine="0.5"' in text and "<order/>" in text
    with pytest.raises(FormigaError, match="<stone> is unknown"):  # no other world may use them
        formiga.world.reader.read_text(text)


def test_its_code_runs_when_it_is_asked_for_and_gives_the_same_bits(there, own_registry, monkeypatch):
    monkeypatch.chdir(there)
    monkeypatch.setattr(formiga.world.own, "_loaded", {})
    try:
        recording = formiga.read_recording("run.parquet", run_code=True)
        assert (there / "ran.txt").read_text() == "ran " and recording.missing == ()
        assert recording.replay() is None
        assert formiga.read_recording("run.parquet").missing == ()  # it is loaded now
        assert formiga.read_recording("run.parquet", run_code=True).world == recording.world
        assert (there / "ran.txt").read_text() == "ran "
    finally:
        (there / "ran.txt").unlink(missing_ok=True)
        for name in [name for name in sys.modules if name == "own_helper" or name.startswith("formiga_own_mine")]:
            del sys.modules[name]


def test_a_file_of_ones_own_gives_the_code_as_well(there, own_registry, monkeypatch):
    monkeypatch.chdir(there)
    monkeypatch.syspath_prepend(str(there))
    monkeypatch.setattr(formiga.world.own, "_loaded", {})
    try:
        formiga.load_elements("mine.py")
        assert formiga.read_recording("run.parquet").replay() is None
    finally:
        (there / "ran.txt").unlink(missing_ok=True)
        del sys.modules["own_helper"]


def changed(there, tmp_path, change):
    """The recording with other words about the run."""
    table = pq.read_table(there / "run.parquet")
    meta = json.loads(pq.ParquetFile(there / "run.parquet").metadata.metadata[KEY])
    del meta[SEAL]
    change(meta)
    file = tmp_path / "changed.parquet"
    schema = pa.schema(table.schema, metadata={KEY: json.dumps(meta)})
    pq.write_table(table.cast(schema), file, row_group_size=1000)
    return file


@pytest.mark.parametrize("change, complaint", [
    (lambda meta: meta.update(own=7), "elements of the user's own makes no sense"),
    (lambda meta: meta["own"][0].update(role="spy"), "elements of the user's own makes no sense"),
    (lambda meta: meta["own"][0].update(tag="a b"), "elements of the user's own makes no sense"),
    (lambda meta: meta["own"][0].update(facts={"radius": "x"}), "elements of the user's own makes no sense"),
    (lambda meta: meta["own"][0].update(facts={"radius": 1e300}), "elements of the user's own makes no sense"),
    (lambda meta: meta["own"][0].update(attributes=["x"] * 100_000), "elements of the user's own makes no sense"),
    (lambda meta: meta["own"][0].update(attributes=["class", "__init__", "self"]), "has no attribute 'shine'"),
    (lambda meta: meta.update(code=[{"module": "m", "file": "../../x.py", "text": ""}]), "makes no sense"),
    (lambda meta: meta["own"].pop(0), "<beetle> is unknown"),
    (lambda meta: meta["own"][0].update(loose=True), "can be pushed, which cannot be read without its code"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_a_recording_that_was_changed_is_refused_in_one_sentence(there, tmp_path, change, complaint):
    with pytest.raises(RecordingError, match=complaint):
        formiga.read_recording(changed(there, tmp_path, change))


def test_code_that_fails_or_gives_something_else_is_one_sentence(there, tmp_path, own_registry, monkeypatch):
    monkeypatch.setattr(formiga.world.own, "_loaded", {})
    for text, complaint in (("1 / 0", "changed.parquet/mine.py:1: ZeroDivisionError"), ("", "does not give <beetle>")):
        file = changed(there, tmp_path, lambda meta, text=text: meta.update(code=[{"module": "m_gone", "file": "mine.py",
                                                                                  "text": text}]))
        with pytest.raises(FormigaError, match=complaint):
            formiga.read_recording(file, run_code=True)
        sys.modules.pop("m_gone", None)
