"""The columns of the tables beside a recording, and a step of a run as their rows.

A row of `readings` and `beliefs` is what one sensor, link or estimator of one robot says at one step; one of `messages` is a
message that was heard. Their numbers are a list in the column `values`, in the order of the reading's array: a scanner of 181
beams is one row of 181 numbers. A row of `joints` is one joint of one robot, one of `orders` one number that it was ordered in
the step that led here, so the start has none; one of `metrics` is one measure of one world.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from formiga.comm.inbox import Inbox
from formiga.control import Orders
from formiga.loop import Simulation
from formiga.measures import Measure, taken
from formiga.record import drawings
from formiga.record.format import WORD
from formiga.world.model import Group, loudspeakers

INDICES = {"step": pa.int32(), "time": pa.float64(), "world": pa.int32()}
ROBOT = {"robot": pa.int32(), "group": WORD}
NUMBERS = pa.list_(pa.float64())
TABLES: dict[str, dict[str, pa.DataType]] = {
    "joints": ROBOT | {"joint": WORD, "position": pa.float64(), "effort": pa.float64(), "command": pa.float64()},
    "readings": ROBOT | {"sensor": WORD, "values": NUMBERS},
    "beliefs": ROBOT | {"estimator": WORD, "values": NUMBERS},
    "messages": ROBOT | {"link": WORD, "sender": pa.int32(), "range": pa.float64(), "bearing": pa.float64(), "values": NUMBERS},
    "orders": ROBOT | {"part": WORD, "name": WORD, "value": pa.float64()},
    "events": {"kind": WORD, "text": pa.string()},
    "drawings": drawings.COLUMNS,
    "metrics": {"metric": WORD, "value": pa.float64()},
}
PARTS = ["drive", "joint", "leds", "sound"]  # of orders
COLOURS, SOUND = ("red", "green", "blue"), ("intensity", "frequency")  # names, with the number of the LED or the loudspeaker


def schema_of(columns: Mapping[str, pa.DataType]) -> pa.Schema:
    """All columns of a table; only the group of a robot may be missing, in tables of earlier versions."""
    return pa.schema([pa.field(name, kind, nullable=name == "group") for name, kind in (INDICES | dict(columns)).items()])


SCHEMAS = {name: schema_of(columns) for name, columns in TABLES.items()}


class Words(NamedTuple):
    """Words as their numbers (rows,) in a list."""

    numbers: NDArray[np.int32]
    words: Sequence[str]


class Lists(NamedTuple):
    """A list of numbers in each row (rows, K)."""

    values: Any


Columns = dict[str, Any]  # of some rows; world and robot are numbers inside the shard


def array_of(values: Any, kind: pa.DataType) -> pa.Array:
    """A column. The arrays of the state go on, so all is copied."""
    if isinstance(values, Words):
        return pa.DictionaryArray.from_arrays(pa.array(values.numbers), pa.array(values.words, pa.string()))
    if isinstance(values, Lists):
        rows, each = values.values.shape
        return pa.ListArray.from_arrays(np.arange(rows + 1, dtype=np.int32) * each, np.array(values.values, np.float64).ravel())
    if pa.types.is_list(kind):
        return pa.array(list(values), type=kind)
    if pa.types.is_dictionary(kind):
        return pa.array(values, type=pa.string()).dictionary_encode()
    return pa.array(np.array(values), type=kind)


def size_of(columns: Columns) -> int:
    """How many numbers its lists hold."""
    return sum(values.values.size for values in columns.values() if isinstance(values, Lists))


def joints(shard: Simulation, step: int) -> Iterator[Columns]:
    """Where all joints are."""
    state = shard.state
    names = list(dict.fromkeys(joint.name for group in shard.world.groups for joint in group.robot.joints))
    for group, robots, rows in _each(shard):
        K = min(len(group.robot.joints), state.joint_position.shape[2])  # none in an engine without joints
        if K:
            codes = [names.index(joint.name) for joint in group.robot.joints[:K]]
            yield rows(K) | {"joint": Words(_tiled(codes, state.worlds * group.count), names), **{
                column: values[:, robots, :K].reshape(-1) for column, values in (
                    ("position", state.joint_position), ("effort", state.joint_effort), ("command", state.joint_command))}}


def readings(shard: Simulation, step: int) -> Iterator[Columns]:
    """What sensors read here; and what links receive whose messages the table `messages` does not have."""
    found = shard.readings
    for group, _, rows in _each(shard):
        beliefs = {each.name for each in group.estimators}
        apart = {link.name for link in group.links if Inbox.at(shard.state, group, link, found[group.name]) is not None}
        names = [name for name in found[group.name] if name not in beliefs | apart]
        yield from _said("sensor", names, found[group.name], rows)


def beliefs(shard: Simulation, step: int) -> Iterator[Columns]:
    """What estimators believe here."""
    found = shard.readings
    for group, _, rows in _each(shard):
        yield from _said("estimator", [each.name for each in group.estimators], found[group.name], rows)


def messages(shard: Simulation, step: int) -> Iterator[Columns]:
    """What was heard; range and bearing are NaN for a link that measures none."""
    found, state = shard.readings, shard.state
    for number, (group, robots) in enumerate(zip(shard.world.groups, shard.world.slices, strict=True)):
        for link in group.links:
            inbox = Inbox.at(state, group, link, found[group.name])
            if inbox is None:
                continue
            at = world, robot, _ = np.nonzero(inbox.heard)
            none = np.full(len(world), np.nan)
            yield {"world": world, "robot": robots.start + robot, "group": _one(number, len(world), _groups(shard)),
                   "link": _one(0, len(world), [link.name]), "sender": inbox.sender[at],
                   "range": none if inbox.range is None else inbox.range[at],
                   "bearing": none if inbox.bearing is None else inbox.bearing[at], "values": Lists(inbox.message[at])}


def orders(shard: Simulation, step: int) -> Iterator[Columns]:
    """What the robots were ordered: numbers for their drives, joints, LEDs and loudspeakers. What they send is heard, or lost:
    see `messages`."""
    if step == 0:
        return
    for group, _, rows in _each(shard):
        given, drive = shard.orders.get(group.name, Orders()), group.robot.drive
        named = ((given.drive, drive.channels if drive else ()), (given.joints, [joint.name for joint in group.robot.joints]),
                 (given.leds, [f"{name}_{led + 1}" for led in range(group.robot.leds) for name in COLOURS]),
                 (given.sound, [f"{name}_{each + 1}" for each in range(loudspeakers(group)) for name in SOUND]))
        for part, (values, names) in enumerate(named):
            if values is not None:
                yield rows(len(names)) | {
                    "part": _one(part, values.size, PARTS), "value": np.asarray(values, np.float64).reshape(-1),
                    "name": Words(_tiled(range(len(names)), values.shape[0] * values.shape[1]), names)}


def events(shard: Simulation, step: int) -> Iterator[Columns]:
    """What happened in the step that led here."""
    found = shard.engine.events(shard.model, shard.state) if step else []
    if found:
        yield {"world": [event.world for event in found], "kind": [event.kind for event in found],
               "text": [event.text for event in found]}


def metrics(shard: Simulation, measures: Mapping[str, Measure]) -> Iterator[Columns]:
    """What measures say of each world here."""
    for number, (name, measure) in enumerate(measures.items()):
        values = taken(name, shard, measure)
        yield {"world": np.arange(len(values)), "metric": _one(number, len(values), list(measures)), "value": values}


READERS = {"joints": joints, "readings": readings, "beliefs": beliefs, "messages": messages, "orders": orders, "events": events}


# -- rows of robots -----------------------------------------------------------------------------------------------------
def _each(shard: Simulation) -> Iterator[tuple[Group, slice, Any]]:
    """Group, its robots, and what gives the columns that tell the robot of each row, `each` rows for one."""
    for number, (group, robots) in enumerate(zip(shard.world.groups, shard.world.slices, strict=True)):
        def rows(each: int = 1, number: int = number, robots: slice = robots) -> Columns:
            worlds, count = shard.state.worlds, robots.stop - robots.start
            return {"world": np.repeat(np.arange(worlds), count * each),
                    "robot": np.tile(np.repeat(np.arange(robots.start, robots.stop), each), worlds),
                    "group": _one(number, worlds * count * each, _groups(shard))}

        yield group, robots, rows


def _said(column: str, names: Sequence[str], found: Mapping[str, Any], rows: Any) -> Iterator[Columns]:
    """A row for each robot and name."""
    for number, name in enumerate(names):
        shape = found[name].shape
        values = found[name].reshape(shape[0] * shape[1], prod(shape[2:]))
        yield rows() | {column: _one(number, len(values), names), "values": Lists(values)}


def _groups(shard: Simulation) -> list[str]:
    return [group.name for group in shard.world.groups]


def _one(number: int, rows: int, words: Sequence[str]) -> Words:
    """The same word in all rows."""
    return Words(np.full(rows, number, np.int32), words)


def _tiled(numbers: Sequence[int], times: int) -> NDArray[np.int32]:
    return np.tile(np.array(numbers, np.int32), times)


__all__ = ["READERS", "SCHEMAS", "TABLES", "Columns", "array_of", "metrics", "schema_of", "size_of"]
