"""What the robots of a group shall do until the next step, how it is checked, and how several that order are merged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from formiga.errors import WorldError, suggest
from formiga.sense import Readings
from formiga.state import Floats
from formiga.world.contract import channels, joint_names
from formiga.world.elements import of, where
from formiga.world.model import Group, loudspeakers


@dataclass(frozen=True)
class Orders:
    """One array over (worlds, robots of the group, ...) for each part of a robot, or None: as this controller ordered it last.

    In orders that come from outside, None and a number that is NaN leave that part to the controller.
    """

    drive: Any = None      # (W, n, D) one number for each channel of `robot.drive`, such as the rim speeds of two wheels in m/s
    joints: Any = None     # (W, n, K) one for each of `robot.joints`, in the unit of its mode
    leds: Any = None       # (W, n, lights, 3) 0..255
    message: Any = None    # (W, n, numbers) for robots with one link, or name of a link -> such an array; a row of NaN: silence
    sound: Any = None      # (W, n, loudspeakers, 2) intensity in m^2 and frequency in Hz of each <loudspeaker>


def as_orders(group: Group, worlds: int, given: Any, place: str = "", *, open: bool = False) -> Orders:
    """Orders from what a controller returned or a caller gave, checked. Numbers for the drive alone are a short form.

    open: NaN is allowed, and leaves a robot's drive, a joint, a light or a sound to its controller.
    """
    if type(given) is np.ndarray and given.dtype == np.float64 and given.shape == (worlds, group.count, channels(group.robot)):
        if open:
            _refuse_half_open(group, given)
        return Orders(given)
    if given is None and open:
        raise WorldError(f"the orders of '{group.name}' are None. Leave the group out, or give `Orders`, or numbers (worlds, "
                         f"robots, {channels(group.robot)}) for its drive.")
    if given is None:
        raise WorldError(f"{place}the controller of '{group.name}' returned no orders. It returns `Orders`, or numbers "
                         f"(worlds, robots, {channels(group.robot)}) for the drive.")
    orders = given if isinstance(given, Orders) else Orders(given)
    drive, joints, leds, sound, message = orders.drive, orders.joints, orders.leds, orders.sound, orders.message
    if drive is not None:
        drive = _numbers(group, "drive", drive, (worlds, group.count, channels(group.robot)), place)
        if open:
            _refuse_half_open(group, drive)
    if joints is not None:
        joints = _numbers(group, "joints", joints, (worlds, group.count, len(group.robot.joints)), place)
        _refuse_out_of_range(group, joints, place, open)
    if leds is not None:
        leds = _lights(group, worlds, leds, place, open)
    if sound is not None:
        sound = _sounds(group, worlds, sound, place, open)
    if message is not None:
        message = _messages(group, worlds, message, place)
    return Orders(drive, joints, leds, message, sound)


def merge(above: Orders, below: Orders | None) -> Orders:
    """`above`, with `below` where it has no order: None, or NaN for a robot's drive, a joint, a light or a sound."""
    if below is None:
        return above
    return Orders(_over(above.drive, below.drive), _over(above.joints, below.joints),
                  _over(above.leds, below.leds), _over_all(above.message, below.message), _over(above.sound, below.sound))


def merge_all(above: dict[str, Orders], below: dict[str, Orders]) -> dict[str, Orders]:
    """The same for groups by name."""
    return below | {name: merge(orders, below.get(name)) for name, orders in above.items()}


def settle(orders: Orders, before: Floats, width: int) -> Orders:
    """Orders in which nothing is open: a drive that nothing orders stands still, a joint keeps its command in `before`.

    before (W, n, K), width: numbers that the drive takes.
    """
    drive, joints = orders.drive, orders.joints
    if drive is not None and joints is None and not np.isnan(drive).any():
        return orders
    if drive is None:
        drive = np.zeros((*before.shape[:2], width))
    elif np.isnan(drive).any():
        drive = np.where(np.isnan(drive), 0.0, drive)
    if joints is not None and np.isnan(joints).any():
        joints = np.where(np.isnan(joints), before[..., : joints.shape[2]] if before.shape[2] else 0.0, joints)
    return replace(orders, drive=drive, joints=joints)


def _over(above: Any, below: Any) -> Any:
    if above is None or below is None:
        return below if above is None else above
    open = np.isnan(above)
    return np.where(open, below, above) if open.any() else above


def _over_all(above: Any, below: Any) -> Any:
    """The same for messages, link by link."""
    if above is None or below is None:
        return below if above is None else above
    return below | {name: _over(message, below.get(name)) for name, message in above.items()}


def _numbers(group: Group, what: str, given: Any, shape: tuple[int, ...], place: str) -> Floats:
    names = joint_names(group.robot) if what == "joints" else group.robot.drive.channels if group.robot.drive else ()
    if not names:
        raise WorldError(f"{place}the robots of '{group.name}' have no {what} to be told anything.")
    described = f"{place}the orders of '{group.name}' for {'its drive' if what == 'drive' else 'joints'} ({', '.join(names)})"
    try:
        values = np.asarray(given)
        if values.dtype.kind not in "iufb":
            raise TypeError
        values = values.astype(np.float64, copy=False)
    except (TypeError, ValueError) as wrong:
        kind = f"one of {given.dtype}" if isinstance(given, np.ndarray) else type(given).__name__
        raise WorldError(f"{described} must be an array of numbers (worlds, robots, {len(names)}), not {kind}.") from wrong
    if values.shape != shape:
        raise WorldError(f"{described} must have the shape (worlds, robots, {len(names)}) = {shape}, not {values.shape}.")
    return values


def _refuse_half_open(group: Group, drive: Floats) -> None:
    if np.isfinite(drive).all():
        return
    free = np.isnan(drive)
    if (odd := np.argwhere(free.any(axis=2) != free.all(axis=2))).size:
        raise WorldError(f"the orders of '{group.name}' for the drive of robot {odd[0, 1]} are numbers and NaN. Give all "
                         "numbers, or make all NaN: then its controller drives it.")
    if (odd := np.argwhere(np.isinf(drive))).size:
        raise WorldError(f"an order of '{group.name}' for the drive of robot {odd[0, 1]} is infinite.")


def _refuse_out_of_range(group: Group, joints: Floats, place: str, open: bool) -> None:
    if not np.isfinite(joints).all() and (odd := np.argwhere(np.isinf(joints) | (np.isnan(joints) & (not open)))).size:
        _, robot, joint = odd[0]
        raise WorldError(f"{place}the order for joint '{group.robot.joints[joint].name}' of robot {robot} of '{group.name}' is "
                         f"not a number: {joints[tuple(odd[0])]}.")
    low, high = group.robot.joint_range
    if (beyond := (joints < low) | (joints > high)).any():
        _, robot, joint = odd = np.argwhere(beyond)[0]
        motor = group.robot.joints[joint]
        raise WorldError(f"{place}the order for joint '{motor.name}' of robot {robot} of '{group.name}' is "
                         f"{joints[tuple(odd)]:g}; it takes {motor.low:g} to {motor.high:g} ({motor.mode}).")


def _messages(group: Group, worlds: int, given: Any, place: str) -> dict[str, Floats]:
    """Name of a link -> messages (W, n, numbers), from those or from messages for the only link."""
    links = {link.name: link for link in group.links}
    if not links:
        raise WorldError(f"{place}the robots of '{group.name}' have no link to send a message with. Give them a <radio> or a "
                         "<range_and_bearing>.")
    if not isinstance(given, dict):
        if len(links) > 1:
            raise WorldError(f"{place}the robots of '{group.name}' have several links: give messages as a dict, by the names "
                             f"{', '.join(links)}.")
        given = {next(iter(links)): given}
    messages: dict[str, Floats] = {}
    for name, message in given.items():
        if name not in links:
            raise WorldError(f"{place}the robots of '{group.name}' have no link '{name}'.{suggest(str(name), links)} They "
                             f"have: {', '.join(links)}.")
        shape = worlds, group.count, links[name].numbers
        described = f"{place}the messages of '{group.name}' over '{name}'"
        values = _array(message, described)
        if values.dtype.kind not in "iufb" or values.shape != shape:
            raise WorldError(f"{described} must be numbers of the shape (worlds, robots, numbers) = {shape}, not "
                             f"{values.dtype} of the shape {values.shape}.")
        messages[name] = values.astype(np.float64, copy=False)
        refuse_message(group, name, messages[name], place)
    return messages


def refuse_message(group: Group, link: str, messages: Floats, place: str) -> None:
    """WorldError if one of the messages (W, n, numbers) has a number that is none, and is not silence either."""
    silent = np.isnan(messages)
    if (odd := np.argwhere((silent.any(axis=2) != silent.all(axis=2)) | np.isinf(messages).any(axis=2))).size:
        raise WorldError(f"{place}the messages of '{group.name}' over '{link}': that of robot {odd[0, 1]} has "
                         f"{messages[tuple(odd[0])]}. Give finite numbers, or make all of them NaN: then it sends none.")


def _array(given: Any, described: str) -> Any:
    try:
        return np.asarray(given)
    except ValueError as wrong:
        raise WorldError(f"{described} must be an array; these are rows of different lengths.") from wrong


def _lights(group: Group, worlds: int, given: Any, place: str, open: bool) -> Any:
    lights = group.robot.leds
    try:
        colours = np.asarray(given)
    except ValueError as wrong:
        raise WorldError(f"{place}the lights of '{group.name}' must have the shape (worlds, robots, {lights}, 3); these are "
                         "rows of different lengths.") from wrong
    free = np.isnan(colours) if open and colours.dtype.kind == "f" else np.zeros(colours.shape, np.bool_)
    if colours.dtype.kind not in "iuf" or not (free | ((colours >= 0) & (colours <= 255))).all():
        raise WorldError(f"{place}the lights of '{group.name}' must be numbers from 0 to 255.")
    try:
        kind = np.float64 if free.any() else np.uint8
        return np.broadcast_to(colours, (worlds, group.count, lights, 3)).astype(kind)
    except ValueError as wrong:
        raise WorldError(f"{place}the lights of '{group.name}' must have the shape (worlds, robots, {lights}, 3), not "
                         f"{colours.shape}.") from wrong


def _sounds(group: Group, worlds: int, given: Any, place: str, open: bool) -> Floats:
    shape = worlds, group.count, loudspeakers(group), 2
    if not shape[2]:
        raise WorldError(f"{place}the robots of '{group.name}' have no <loudspeaker> to make a sound with.")
    described = f"{place}the sounds of '{group.name}'"
    values = _array(given, described)
    if values.dtype.kind not in "iuf" or values.shape != shape:
        raise WorldError(f"{described} must be numbers of the shape (worlds, robots, loudspeakers, 2) = {shape}, not "
                         f"{values.dtype} of the shape {values.shape}.")
    sound = values.astype(np.float64, copy=False)
    free = np.isnan(sound) & open
    if (odd := np.argwhere(~(free | (np.isfinite(sound) & (sound >= 0.0))))).size:
        what = ("intensity", "frequency")[odd[0, 3]]
        raise WorldError(f"{described}: the {what} that robot {odd[0, 1]} is told is {sound[tuple(odd[0])]:g}; it must be 0 or "
                         "more.")
    return sound


def bad_order(group: Group, world: int, robot: int, readings: Readings | None) -> WorldError:
    """The complaint about a drive order that is not a finite number: of the sensor first, if it read such a number itself."""
    what = "a wheel speed" if all(group.robot.drive.rolls) else "a speed or an angle"
    ordered = f"the controller of '{group.name}' ordered {what} that is not a number, for robot {robot}."
    for test in (np.isnan, np.isinf):
        for sensor in group.sources:
            reading = (readings or {}).get(group.name, {}).get(sensor.name)
            if reading is not None and reading.dtype.kind == "f" and (found := test(reading[world, robot])).any():
                value = reading[world, robot][found].flat[0]
                return WorldError(f"{where(sensor)}the {of(sensor).role} '{sensor.name}' (<{of(sensor).tag}>) of "
                                  f"'{group.name}' read {value} for robot {robot}, and {ordered}")
    return WorldError(f"{where(group.controller)}{ordered}")
