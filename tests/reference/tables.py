"""The rows of tables of a run, by nested loops over a simulation that stands at a step: slow, and obviously right."""

from __future__ import annotations

from formiga.comm.inbox import Inbox


def rows(lab, name, step):
    """Dicts of one step of a table, world after world."""
    found = {"joints": joints, "readings": readings, "beliefs": beliefs, "messages": messages, "orders": orders}[name]
    where = {"step": step, "time": step * lab.world.dt}
    return [where | row for world in range(lab.state.worlds) for row in found(lab, world, step)]


def robots(lab):
    number = 0
    for group in lab.world.groups:
        yield group, [(i, {"robot": number + i, "group": group.name}) for i in range(group.count)]
        number += group.count


def joints(lab, world, step):
    for group, each in robots(lab):
        for _, robot in each:
            for k, joint in enumerate(group.robot.joints[: lab.state.joint_position.shape[2]]):
                at = world, robot["robot"], k
                yield {"world": world, **robot, "joint": joint.name, "position": lab.state.joint_position[at],
                       "effort": lab.state.joint_effort[at], "command": lab.state.joint_command[at]}


def said(lab, world, column, sources_of):
    for group, each in robots(lab):
        for source in sources_of(group):
            for i, robot in each:
                values = lab.readings[group.name][source.name][world, i]
                yield {"world": world, **robot, column: source.name, "values": [float(value) for value in values.reshape(-1)]}


def readings(lab, world, step):
    return said(lab, world, "sensor", lambda group: group.sensors)


def beliefs(lab, world, step):
    return said(lab, world, "estimator", lambda group: group.estimators)


def messages(lab, world, step):
    for group, each in robots(lab):
        for link in group.links:
            inbox = Inbox.at(lab.state, group, link, lab.readings[group.name])
            for i, robot in each:
                for row in range(inbox.heard.shape[2]):
                    if inbox.heard[world, i, row]:
                        yield {"world": world, **robot, "link": link.name, "sender": int(inbox.sender[world, i, row]),
                               "range": float(inbox.range[world, i, row]), "bearing": float(inbox.bearing[world, i, row]),
                               "values": inbox.message[world, i, row].tolist()}


def orders(lab, world, step):
    for group, each in robots(lab) if step else ():
        given = lab.orders[group.name]
        for part, values, names in (("drive", given.drive, group.robot.drive and group.robot.drive.channels),
                                    ("joint", given.joints, [joint.name for joint in group.robot.joints])):
            for i, robot in each if values is not None else ():
                for k, channel in enumerate(names):
                    yield {"world": world, **robot, "part": part, "name": channel, "value": float(values[world, i, k])}
