"""A team that comes over the network, as programs for FIRASim do: UDP and protobuf, and nothing else of the simulator.

    python -m formiga.soccer.programs.firasim_client --colour blue

It hears pictures and calls, and sends wheel speeds. One robot keeps the goal, the one nearest to the ball pushes it towards
the other goal, the others wait behind it. Everything the protocol wants one to know is in here, so it can be copied as the
beginning of a team of your own; the names of messages and fields stand in formiga/soccer/wire/*.proto.
"""

from __future__ import annotations

import argparse
import contextlib
import select
import socket
from math import atan2, copysign, cos, hypot, pi, remainder, sin
from typing import Any

from formiga.soccer.wire.fira_pb2 import Environment, Packet
from formiga.soccer.wire.vssref_pb2 import BLUE, GAME_ON, KICKOFF, YELLOW, VSSRef_Command, VSSRef_Placement

FASTEST = 40.0          # rad/s of a wheel; a robot of FIRASim then drives 0.8 m/s
TURN = 12.0             # rad/s of a wheel for each rad that it looks the wrong way
NEAR = 0.10             # m: closer than this to where it wants to be, it drives slower
BEHIND = 0.12           # m behind the ball, from where to push it; as far aside on the way there


class Team:
    """The robots of one colour. Its own goal is at x = -side * length / 2."""

    def __init__(self, colour: str, side: int) -> None:
        self.yellow, self.side, self.half = colour == "yellow", side, 0.75
        self.plays, self.pushes = True, False

    def answer(self, seen: Environment) -> Packet:
        """A picture -> wheel speeds of all robots that are in it."""
        packet = Packet(answered=seen.lockstep)                  # a simulator in lock-step waits for this number
        robots = seen.frame.robots_yellow if self.yellow else seen.frame.robots_blue
        ball, goal = seen.frame.ball, self.side * seen.field.length / 2
        self.half = seen.field.length / 2
        away = {robot.robot_id: hypot(robot.x - ball.x, robot.y - ball.y) for robot in robots if robot.robot_id != 0}
        first = min(away, key=lambda robot: away[robot], default=0)
        for robot in robots:                                     # those switched off are not among them
            if robot.robot_id == 0:                              # the keeper stays in front of its goal, as high as the ball
                reach = seen.field.goal_width / 2
                x, y = -goal + self.side * 0.06, max(-reach, min(reach, ball.y))
            elif robot.robot_id == first:
                x, y = self.chase(ball, robot, goal)
            else:                                                # half-way home, where the ball is not, beside each other
                x, y = (ball.x - goal) / 2, -0.5 * ball.y + 0.15 * (robot.robot_id - 2)
            left, right = drive(robot, x, y) if self.plays else (0.0, 0.0)
            packet.cmd.robot_commands.add(id=robot.robot_id, yellowteam=self.yellow, wheel_left=left, wheel_right=right)
        return packet

    def chase(self, ball: Any, robot: Any, goal: float) -> tuple[float, float]:
        """Where to drive to push the ball into the other goal, which is at (goal, 0): behind the ball, then through it."""
        way = atan2(-ball.y, goal + 0.1 * self.side - ball.x)    # where the ball is to go
        bearing = atan2(ball.y - robot.y, ball.x - robot.x)      # where the ball is
        off = remainder(bearing - way, 2 * pi)
        self.pushes = abs(off) < (1.0 if self.pushes else 0.3)   # once begun it goes on for a while, so as not to dither
        if self.pushes:                                          # aim beyond the line to the goal, to come back onto it
            aim = bearing + max(-0.5, min(0.5, off))
            return robot.x + cos(aim), robot.y + sin(aim)
        aside = copysign(BEHIND, -off) if abs(off) > pi / 2 else 0.0  # from in front of the ball, around it
        return (ball.x - BEHIND * cos(way) - aside * sin(way), ball.y - BEHIND * sin(way) + aside * cos(way))

    def hear(self, call: VSSRef_Command) -> VSSRef_Placement | None:
        """A call of the referee -> where the robots want to stand. Without a referee the game is on."""
        self.plays = call.foul == GAME_ON
        if call.foul != KICKOFF:
            return None                                          # the referee's own places are good enough
        ours = call.teamcolor == (YELLOW if self.yellow else BLUE)
        placement = VSSRef_Placement()
        placement.world.teamColor = YELLOW if self.yellow else BLUE
        for robot, (x, y) in enumerate([(0.06 - self.half, 0.0), (-0.12 if ours else -0.30, 0.0), (-0.35, -0.25)]):
            heading = 0.0 if self.side > 0 else 180.0            # degrees, when things are put somewhere
            placement.world.robots.add(robot_id=robot, x=self.side * x, y=y, orientation=heading)
        return placement


def drive(robot: Any, x: float, y: float) -> tuple[float, float]:
    """Wheel speeds (rad/s, left and right) towards a place; backwards, if that needs less of a turn."""
    away = hypot(x - robot.x, y - robot.y)
    turn = remainder(atan2(y - robot.y, x - robot.x) - robot.orientation, 2 * pi)     # radians in a picture
    way = 1.0
    if abs(turn) > pi / 2:
        turn, way = remainder(turn + pi, 2 * pi), -1.0
    ahead = way * FASTEST * cos(turn) * min(1.0, away / NEAR)
    twist = TURN * turn if away > 0.01 else 0.0
    return ahead - twist, ahead + twist


def listener(address: tuple[str, int]) -> socket.socket:
    """A socket that hears an address, together with other programs if it is that of a group."""
    ear = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ear.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    ear.setblocking(False)
    ear.bind(address)
    if 224 <= int(address[0].split(".")[0]) < 240:
        for interface in ("127.0.0.1", "0.0.0.0"):               # loopback, and where the default route points
            with contextlib.suppress(OSError):                   # there may be no such route
                ear.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                               socket.inet_aton(address[0]) + socket.inet_aton(interface))
    return ear


def newest(ear: socket.socket) -> bytes | None:
    """The last packet of those that wait."""
    data = None
    while True:
        try:
            data = ear.recv(1024)
        except BlockingIOError:
            return data


def address(text: str) -> tuple[str, int]:
    """'127.0.0.1:20011' -> ('127.0.0.1', 20011)."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or not 0 < int(port) < 2**16:
        raise argparse.ArgumentTypeError(f"'{text}' is no address; one looks like 127.0.0.1:20011")
    try:
        return socket.gethostbyname(host), int(port)
    except OSError as wrong:
        raise argparse.ArgumentTypeError(f"{host} is no machine that is known here: {wrong.strerror}") from wrong


def main() -> None:
    """Play until the pictures end."""
    arguments = argparse.ArgumentParser(description="A soccer team for FIRASim's network protocol.")
    arguments.add_argument("--colour", choices=("blue", "yellow"), required=True)
    arguments.add_argument("--side", choices=("left", "right"), help="where our goal is; default: blue's is on the left")
    arguments.add_argument("--vision", type=address, default="224.0.0.1:10002", help="where pictures arrive")
    arguments.add_argument("--commands", type=address, default="127.0.0.1:20011", help="where commands go")
    arguments.add_argument("--referee", type=address, default="224.5.23.2:10003", help="where calls arrive")
    arguments.add_argument("--placement", type=address, default="224.5.23.2:10004", help="where placements go")
    arguments.add_argument("--patience", type=float, default=0.0, metavar="S",
                           help="end after so many seconds without pictures; 0: never")
    given = arguments.parse_args()
    left = given.side == "left" if given.side else given.colour == "blue"
    team = Team(given.colour, 1 if left else -1)
    try:
        ears, eyes = listener(given.referee), listener(given.vision)  # in this order: a picture comes after the last call
    except OSError as wrong:
        arguments.error(f"--referee and --vision must be addresses of this machine or of a group: {wrong.strerror}")
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if given.commands[0].startswith("127."):                     # the simulator is on this machine, so nothing has to leave it
        out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(given.commands[0]))
    print(f"{given.colour} listens at {given.vision[0]}:{given.vision[1]}", flush=True)
    heard = None
    while select.select([eyes], [], [], given.patience or None)[0]:
        if (data := newest(ears)) is not None and data != heard:  # calls are sent again each second
            heard = data
            if (placement := team.hear(VSSRef_Command.FromString(data))) is not None:
                out.sendto(placement.SerializeToString(), given.placement)
        if (data := newest(eyes)) is not None:
            out.sendto(team.answer(Environment.FromString(data)).SerializeToString(), given.commands)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
