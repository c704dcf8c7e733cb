"""Session -> frame: poses, and what the open inspector and the overlays that are on need. Nothing else is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from formiga.comm.inbox import Inbox
from formiga.comm.traffic import COUNTS, traffic_of
from formiga.control.neural.activity import activity
from formiga.control.neural.network import Network
from formiga.engine.beams import Beams, moved, ring
from formiga.engine.drives import glide
from formiga.errors import FormigaError
from formiga.estimate.belief import located
from formiga.geometry import TURN, about_z, rotate, to_world
from formiga.sense import seated
from formiga.session.names import robot_name
from formiga.session.space import in_space
from formiga.state import Floats, Movable
from formiga.view.frame import Frame, Rays, blend, frame, thing_rows
from formiga.world.elements import of
from formiga.world.model import Group
from formiga.world.mount import Mounted
from formiga.world.placeholder import Placeholder

if TYPE_CHECKING:
    from formiga.session.session import Session

MOST_RAYS, MOST_LINKS = 6000, 4000
Before = tuple[Floats, Floats, Floats, Floats]  # places (N, 2) and headings (N,) of the robots, x y heading (M, 3) of
                                                # movables, and the poses (B, 7) of all bodies in space


def watch(session: Session, before: Before | None, share: float) -> Frame:
    """The frame of now; with `share` < 1 its poses are that far on the way from those `before`."""
    world, sim = session.world, session.sim
    if before is not None and (len(before[0]), len(before[2]), len(before[3])) != (
            world.robots, len(world.movables), sim.state.bodies.shape[1]):
        before = None
    shown: dict[str, Any] = {"selected": session.selected, "note": session.note()}
    if "beams" in session.overlays and (session.replay is None or _level(session)):
        shown["rays"] = rays(session)
    if "shifts" in session.overlays and before is not None:
        shown["shifts"] = shifts(session, *before[:2])
    if "contacts" in session.overlays and session.replay is None:
        shown["touches"] = touches(session)
    if "forces" in session.overlays:
        shown |= pulls(session)
    if "links" in session.overlays:
        shown["links"] = links(session)
    shown["drawings"] = session.layers.marks(share if before is not None else 1.0)
    binds = {key: bind.text for key, bind in session.console.binds.items()}
    extra: dict[str, Any] = {"summary": summary(session), "binds": binds, "layers": session.layers.switches()}
    if session.selected >= 0:
        extra["robot"] = inspect(session, session.selected)
    parts = sim.model.parts
    if share >= 1.0:
        before = None
    bodies = blend(before[3], sim.state.bodies[0], share) if parts and before is not None else None
    now = frame(world, sim.state, session.version, parts, bodies, extra=extra, **shown)
    if before is not None and not parts:
        position, heading, movables, _ = before
        now.place[:, :2] = position + share * (now.place[:, :2] - position)
        now.turn[:] = about_z(heading + share * (sim.state.heading[0] - heading))
        now.movables[:, :2] = movables[:, Movable.PLACE] + share * (now.movables[:, :2] - movables[:, Movable.PLACE])
        was, turned = movables[:, Movable.HEADING], sim.state.movables[0, :, Movable.HEADING]
        now.movables_turn[:] = about_z(was + share * (turned - was))
    return now


def summary(session: Session) -> dict[str, float]:
    """Figures of the whole group, for live plots."""
    state, world = session.sim.state, session.world
    if not world.robots:
        return {"speed": 0.0, "crashed": 0.0, "spread": 0.0}
    position = state.position[0]
    return {"speed": float(np.abs(speeds(session)).mean()),
            "crashed": float(state.crashed[0].mean()),
            "spread": float(np.sqrt(((position - position.mean(axis=0)) ** 2).sum(axis=-1).mean()))}


def twists(session: Session) -> Floats:
    """vx, vy, turning rate (N, 3) of all robots, as their drives say."""
    twist, world = np.zeros((session.world.robots, 3)), session.world
    for group, robots in zip(world.groups, world.slices, strict=True):
        if (drive := group.robot.drive) is not None:
            twist[robots] = drive.twist(session.sim.state.drive[0, robots, : len(drive.channels)])
    return twist


def speeds(session: Session) -> Floats:
    """Speed (N,) of all robots, m/s: ahead, less than 0 backwards; of a holonomic drive in any direction, and of a robot
    without a drive, such as one on legs, over the ground."""
    twist, world, state = twists(session), session.world, session.sim.state
    speed = twist[:, 0].copy()
    for group, robots in zip(world.groups, world.slices, strict=True):
        drive = group.robot.drive
        if drive is None:
            speed[robots] = np.hypot(state.velocity[0, robots, 0], state.velocity[0, robots, 1])
        elif drive.holonomic:
            speed[robots] = np.hypot(twist[robots, 0], twist[robots, 1])
    return speed


# -- overlays ---------------------------------------------------------------------------------------------------------
def rays(session: Session) -> Rays:
    """The beams of all robots, or of the selected one if they are too many."""
    world, sim = session.world, session.sim
    now = frame(world, sim.state, parts=sim.model.parts)
    starts, ends, shares = [np.empty((0, 3))], [np.empty((0, 3))], [np.empty(0)]
    total = sum(group.count * len(beams.origin) for group in world.groups for sensor in group.sensors
                if (beams := beams_of(sensor)) is not None)
    for group, robots in zip(world.groups, world.slices, strict=True):
        for sensor in group.sensors:
            beams = beams_of(sensor)
            if beams is None:
                continue
            chosen = robots
            if total > MOST_RAYS:
                if not robots.start <= session.selected < robots.stop:
                    continue
                chosen = slice(session.selected, session.selected + 1)
            reach = float(sensor.reach)
            if isinstance(sensor, Mounted) and sensor.in_space:
                if session.replay is not None:
                    continue  # a recording has no bodies to cast rays at
                start, way, hit = _from_part(session, group, sensor, beams, chosen)
            else:
                hit = np.minimum(sim.engine.cast(sim.model, sim.state, beams, reach, chosen)[0], reach)
                place, turn = now.place[chosen, None], now.turn[chosen, None]
                height = np.full((len(beams.origin), 1), 0.5 * group.robot.height)
                start = place + rotate(turn, np.column_stack([beams.origin, height]))
                way = rotate(turn, np.column_stack([beams.direction, 0.0 * height]))
            starts.append(start.reshape(-1, 3))
            ends.append((start + hit[..., None] * way).reshape(-1, 3))
            shares.append((hit / reach).ravel())
    return Rays(np.concatenate(starts), np.concatenate(ends), np.concatenate(shares))


def _from_part(session: Session, group: Group, sensor: Any, beams: Beams, robots: slice) -> tuple[Floats, Floats, Floats]:
    """Where the beams of a sensor on any part start, where they point, (n, B, 3), and how far they go (n, B)."""
    sim = session.sim
    origin, direction = seated(sensor, beams, group)
    distance = sim.engine.rays(sim.model, sim.state, origin, direction, float(sensor.reach), robots, sensor.on)[0]
    part = sim.state.bodies[0, sim.model.part_rows(sensor.on, robots)][:, None]
    return to_world(part, origin), rotate(part[..., TURN], direction), np.minimum(distance, sensor.reach)


def beams_of(sensor: Any) -> Beams | None:
    """The beams of a sensor that looks from a ring, such as <proximity> and <scanner>; None for the others. They are in the
    frame of the robot, or in the sensor's own if it sits where only space has a place."""
    if sensor is None or sensor.angles is None or sensor.mount is None or sensor.reach == np.inf:
        return None
    beams = ring(sensor.angles, sensor.mount)
    seated_in_plane = isinstance(sensor, Mounted) and sensor.moved and not sensor.in_space
    return moved(beams, sensor.x, sensor.y, sensor.yaw) if seated_in_plane else beams


def shifts(session: Session, position: Floats, heading: Floats) -> Floats:
    """How far contacts moved each robot that crashed: from where its wheels would have taken it, motion noise aside."""
    world, state = session.world, session.sim.state
    moved, twist = np.zeros((world.robots, 2)), twists(session)
    for i in np.flatnonzero(state.crashed[0]):
        dx, dy, _ = glide(heading[i], *twist[i], world.dt)
        moved[i] = state.position[0, i] - position[i] - (dx, dy)
    return moved


def touches(session: Session) -> Floats:
    """The contacts of the last step (K, 7): see Frame."""
    return session.sim.engine.contacts(session.sim.model, session.sim.state)


def pulls(session: Session) -> dict[str, Any]:
    """Forces at grips and joints (K, 7), and which robot holds which body (P, 2): see Frame. None in a recording."""
    sim = session.sim
    if not sim.model.parts or session.replay is not None:
        return {}
    robots, rows = session.world.robots, thing_rows(sim.model.parts)
    grips = [(holder, held if held < robots else robots + rows[held - robots])
             for holder, held in sim.engine.holding(sim.model, sim.state).tolist()]
    return {"forces": sim.engine.forces(sim.model, sim.state), "grips": np.array(grips, np.int64).reshape(-1, 2)}


def links(session: Session) -> Any:
    """Pairs of robots (P, 2) of which one heard the other in this step; where robots have no links, pairs of which at least one
    has a sensor that reaches the other, rim to rim."""
    from scipy.spatial import cKDTree

    world = session.world
    if world.media:
        return _talks(session)
    reach, radius = np.zeros(world.robots), np.zeros(world.robots)
    for group, robots in zip(world.groups, world.slices, strict=True):
        radius[robots] = group.robot.radius
        finite = [float(sensor.reach) for sensor in group.sensors if np.isfinite(sensor.reach)]
        reach[robots] = max(finite, default=0.0)
    if not reach.any():
        return np.empty((0, 2), np.int64)
    position = session.sim.state.position[0]
    pairs = cKDTree(position).query_pairs(float(reach.max() + 2.0 * radius.max()), output_type="ndarray")
    gap = np.linalg.norm(position[pairs[:, 0]] - position[pairs[:, 1]], axis=-1) - radius[pairs].sum(axis=-1)
    return pairs[gap <= reach[pairs].max(axis=-1)][:MOST_LINKS]


def _talks(session: Session) -> Any:
    """Pairs of robots (P, 2) of which one hears the other, each once."""
    pairs = [np.empty((0, 2), np.int64)]
    for group, robots in zip(session.world.groups, session.world.slices, strict=True):
        readings = own_readings(session, group) if group.links else {}
        for link in group.links:
            if (inbox := Inbox.at(session.sim.state, group, link, readings)) is not None:
                hears, row = np.nonzero(inbox.heard[0])
                pairs.append(np.column_stack([robots.start + hears, inbox.sender[0, hears, row]]))
    return np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0)[:MOST_LINKS]


# -- the inspector ----------------------------------------------------------------------------------------------------
def inspect(session: Session, robot: int) -> dict[str, Any]:
    """Everything about one robot."""
    world, sim = session.world, session.sim
    state = sim.state
    group, robots = next((group, robots) for group, robots in zip(world.groups, world.slices, strict=True)
                         if robots.start <= robot < robots.stop)
    i = robot - robots.start
    readings = {name: np.array(values[0, i]) for name, values in own_readings(session, group).items()}
    memory = {name: np.array(values[0, i]) for (owner, name), values in state.memory.items()
              if owner == f"{group.name}/<controller>" and values.ndim >= 2 and np.size(values[0, i])}
    layers: dict[str, Floats] = {}
    if isinstance(group.controller, Network):
        genes = state.genotypes.get(group.name)
        try:
            layers = activity(group.controller, group, readings, None if genes is None else genes[0], memory.get("neurons"),
                              world.dt)
        except (FormigaError, KeyError):
            layers = {}
    drive = group.robot.drive
    channels = dict(zip(drive.channels, map(float, state.drive[0, robot]), strict=False)) if drive else {}
    return {
        "name": robot_name(world, robot), "group": group.name, "robot": of(group.robot).tag, "number": robot,
        "x": float(state.position[0, robot, 0]), "y": float(state.position[0, robot, 1]),
        "heading": float(state.heading[0, robot]), "channels": channels,
        "rolls": drive.rolls if drive else (), "crashes": int(state.crashes[0, robot]),
        "crashed": bool(state.crashed[0, robot]), "alive": bool(state.alive[0, robot]),
        "driven": session.manual.includes(robot),
        "controller": of(group.controller).tag if group.controller is not None else "none",
        "readings": readings, "memory": memory, "layers": layers, "space": in_space(session, robot),
        "sensors": {source.name: source for source in group.sources}, "inboxes": _inboxes(session, group, i, readings),
        "located": located(group, readings, state.position[0, robot], state.heading[0, robot]),
    }


def _inboxes(session: Session, group: Group, i: int, readings: dict[str, Any]) -> dict[str, Any]:
    """Name of a link -> what robot i of a group sends and hears: message, inbox, names of senders, account."""
    state, world = session.sim.state, session.world
    robot, found = world.slices[world.groups.index(group)].start + i, {}
    for link in group.links:
        counts = traffic_of(state, group.name, link.name)
        if counts is None or link.name not in readings:
            continue
        sender = state.memory[f"{group.name}/{link.name}", "sender"][0, i]
        found[link.name] = {
            "sent": state.outbox[0, robot, world.media[link.name].columns].copy(),
            "inbox": Inbox.of(link, readings[link.name], sender),
            "senders": [robot_name(world, number) for number in sender[sender >= 0].tolist()],
            "counts": {name.removeprefix("messages_"): int(counts[0, i, column]) for name, column in COUNTS.items()}}
    return found


def own_readings(session: Session, group: Group) -> dict[str, Any]:
    """Name -> readings (W, n, ...) of a group's sensors, links and estimators, but not of those that a replay does not have."""
    known = {source.name: source for source in group.sources}
    try:
        return {name: values for name, values in session.sim.readings[group.name].items()
                if session.replay is None or _sees(session, group.name, name, known.get(name))}
    except FormigaError:
        return {}


def _sees(session: Session, group: str, name: str, sensor: Any) -> bool:
    """Whether a sensor says in a replay what it said in the run.

    One with a memory needs the whole run, one without its code says nothing. In space a recording has poses and no forces or
    angles, so only beams over a level floor are sure to be right.
    """
    if isinstance(sensor, Placeholder) or any(key[0] == f"{group}/{name}" for key in session.sim.state.memory):
        return False
    return _level(session) if beams_of(sensor) is not None else not session.sim.model.parts


def _level(session: Session) -> bool:
    return session.sim.model.level


__all__ = ["Before", "inspect", "links", "own_readings", "pulls", "rays", "shifts", "summary", "touches", "watch"]
