"""The Gate: between the Remote, which speaks UDP, and a robot on a serial line. It serves the protocol of formiga's <remote>.

    python gate.py --serial /dev/pts/7 [--udp 20116] [--vision 20117] [--lost 0.05 --doubled 0.05 --late 0.05 --seed 1]

It needs the standard library alone. The robot begins each turn with a frame of what it measured; the Gate asks the Remote, and
passes the answer on. It works by the robot's turns and not by a clock: each frame of the robot gets a frame back, which is of
the kind 'N' if there is no answer for it. Poses from a camera over the arena come as datagrams to another port, and go into the
question. To try a bad network, it loses, doubles and delays datagrams, by a seed and the number of the turn.

    frame        DELIMITER, stuffed(kind u1, number u4, body, CRC-16), DELIMITER
    'S' robot    clock f8 (s), 3 encoders i4 (ticks), 6 infrared u2 (sums of the converter's samples)
    'R' gate     3 rim speeds f4 (m/s)
    'N' gate     nothing: no answer in this turn
    'E' robot    the run is over
    datagram of the camera: FORMIGAV, x y heading f8
"""

import binascii
import os
import random
import selectors
import socket
import struct
import sys
import time
from math import inf, isfinite, nan, pi

DELIMITER, ESCAPE, FLIP = 0x7E, 0x7D, 0x20       # as HDLC has them
LONGEST = 256                                    # bytes of a frame; what goes on longer is no frame
FRAME, SENSORS, REFERENCE, EYE = struct.Struct("<cI"), struct.Struct("<d3i6H"), struct.Struct("<3f"), struct.Struct("<8s3d")
CHECK = struct.Struct("<H")
TICKS = 12_000                                   # of a turn of a wheel
VOLTS = 2.56 / (255 * 10)                        # V of one step of a sum of 10 samples of 8 bits
TOP = 0.6                                        # m/s of a rim

MAGIC, VERSION, QUESTION, ANSWER, HELLO, BYE, BODY = b"FORMIGA\0", 1, 21, 22, 23, 24, 24
HEAD, PLAIN = struct.Struct("<8s4I"), struct.Struct("<IIqdIId32s")
PERIOD, AGAIN = 0.04, 0.05                       # s from turn to turn; s on the clock until a question is sent again
ARRAYS = (("own clock f8", "1", 8), ("own crashed u1", "1 1", 8), ("reading infrared f8", "1 1 6", 48),
          ("reading encoders f8", "1 1 3", 24), ("reading camera f8", "1 1 3", 24))
ORDERS = ["order drive f8 48 1 1 3", *(f"channel wheel{k} -{TOP} {TOP}" for k in range(3))]
FIRST, ANSWERED = 96, 72                         # byte of the table; bytes of an answer
IP_RECVERR = 11                                  # of Linux: a datagram to a port that is closed is told


# -- frames on the serial line --------------------------------------------------------------------------------------------
def framed(kind, number, body=b""):
    """The bytes of a frame."""
    data = FRAME.pack(kind, number) + body
    data += CHECK.pack(binascii.crc_hqx(data, 0xFFFF))
    stuffed = bytearray()
    for byte in data:
        stuffed += bytes((ESCAPE, byte ^ FLIP)) if byte in (DELIMITER, ESCAPE) else bytes((byte,))
    return bytes((DELIMITER, *stuffed, DELIMITER))


def unframed(stuffed):
    """Kind, number and body of what stood between two delimiters; None if its check is wrong."""
    data, escaped = bytearray(), False
    for byte in stuffed:
        if escaped:
            data.append(byte ^ FLIP)
        elif byte != ESCAPE:
            data.append(byte)
        escaped = byte == ESCAPE and not escaped
    if len(data) < FRAME.size + CHECK.size or CHECK.pack(binascii.crc_hqx(bytes(data[:-2]), 0xFFFF)) != bytes(data[-2:]):
        return None
    return (*FRAME.unpack_from(data), bytes(data[FRAME.size:-CHECK.size]))


class Line:
    """Frames from a stream of bytes. What is garbled ends at the next delimiter."""

    def __init__(self):
        self.bytes, self.garbled = bytearray(), 0

    def take(self, data):
        """The frames that end in these bytes: (kind, number, body), or None for one whose check is wrong."""
        found = []
        for byte in data:
            if byte != DELIMITER:
                self.bytes.append(byte)
                del self.bytes[:-LONGEST]
            elif self.bytes:
                found.append(unframed(self.bytes))
                self.garbled += found[-1] is None
                self.bytes.clear()
        return found


# -- the Remote's side ----------------------------------------------------------------------------------------------------
def table():
    """The table of a question, and the bytes at which its arrays begin."""
    room = 0
    while True:                                  # its own length moves the places that it tells
        places, place = [], FIRST + room
        for _, _, size in ARRAYS:
            places.append(place)
            place += size
        words = "\n".join([*(f"{name} {at} {shape}" for (name, shape, _), at in zip(ARRAYS, places)), *ORDERS]) + "\n"
        if len(words) <= room:
            return words.encode(), places, place
        room = -(-len(words) // 8) * 8


class Remote:
    """The program at the other end of the UDP port."""

    def __init__(self, port, wait):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", port))
        if sys.platform == "linux":
            self.socket.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)
        self.wait, self.peer, self.hung = wait, None, False
        self.words, self.places, size = table()
        self.question, self.sequence, self.garbage, self.stale, self.unsent = bytearray(size), 0, 0, 0, 0
        self.write(-1, 0.0, (nan,) * 6, (0.0,) * 3, (nan,) * 3)

    def write(self, number, clock, volts, angles, pose, state=1):
        """The question of a turn."""
        self.sequence = (self.sequence + 2) & 0xFFFFFFFF
        HEAD.pack_into(self.question, 0, MAGIC, VERSION, QUESTION, len(self.question), self.sequence)
        PLAIN.pack_into(self.question, BODY, 1, state, number, clock, 1, len(self.words), PERIOD, b"rover")
        self.question[FIRST: FIRST + len(self.words)] = self.words
        for at, numbers in zip((self.places[0], *self.places[2:]), ((clock,), volts, angles, pose)):
            struct.pack_into(f"<{len(numbers)}d", self.question, at, *numbers)

    def send(self):
        """The question as it stands. One that cannot be sent is one that was lost."""
        if self.peer is not None:
            try:
                self.socket.sendto(self.question, self.peer)
            except ConnectionRefusedError:
                self.leave()
            except OSError:
                self.unsent += 1

    def leave(self):
        """Its port is closed: the program is gone, and another one may come."""
        print(f"the program at {self.peer[0]}:{self.peer[1]} is gone" if self.peer else "a program is gone", flush=True)
        self.peer = None

    def listen(self):
        """(number, rim speeds) of an answer that has arrived; None if what arrived is none."""
        try:
            data, source = self.socket.recvfrom(2048)
        except ConnectionRefusedError:
            self.leave()
            return None
        except OSError:                          # nothing has arrived
            return None
        magic, version, kind, size, _ = HEAD.unpack_from(data.ljust(BODY, b"\0"))
        if magic != MAGIC or version != VERSION or size != len(data):
            self.garbage += 1
        elif kind == HELLO and (self.peer is None or self.hung or self.peer == source):
            if self.peer != source:
                print(f"a program at {source[0]}:{source[1]} drives now", flush=True)
            self.peer, self.hung = source, False
            self.send()
        elif kind == BYE and source == self.peer:
            self.peer = None
        elif kind == ANSWER and size == ANSWERED and source == self.peer:
            number, rims = struct.unpack_from("<q", data, 32)[0], struct.unpack_from("<3d", data, 48)
            if all(isfinite(rim) for rim in rims):
                return number, tuple(max(-TOP, min(TOP, rim)) for rim in rims)
            self.garbage += 1
        else:
            self.garbage += 1
        return None

    def ask(self, number, copies):
        """Rim speeds for this turn; None if there are none in time. A program that does not answer is not waited for again."""
        for _ in range(copies):
            self.send()
        until, again = time.monotonic() + (0.0 if self.hung else self.wait), time.monotonic() + AGAIN
        while self.peer is not None:
            left = until - time.monotonic()
            self.socket.settimeout(max(min(left, AGAIN), 1e-4))
            answer = self.listen()
            if answer is not None and answer[0] == number:
                self.hung = False
                return answer[1]
            self.stale += answer is not None
            if left <= 0.0:
                if not self.hung:
                    print(f"turn {number}: the program did not answer for {self.wait:g} s", flush=True)
                self.hung = True
                return None
            if time.monotonic() > again:
                again = time.monotonic() + AGAIN
                self.send()
        return None


# -- the Gate -------------------------------------------------------------------------------------------------------------
class Gate:
    """Both sides, and what goes wrong in between."""

    def __init__(self, serial, remote, vision, chances, seed):
        self.serial, self.remote, self.vision, self.seed = serial, remote, vision, seed
        self.chances = chances                   # (of a lost datagram, of a doubled question, of an answer that is too late)
        self.pose, self.lost, self.doubled, self.late = (nan,) * 3, 0, 0, 0

    def turn(self, frame):
        """The frame that answers a frame of the robot; None if it was the last."""
        if frame is None or frame[0] not in b"SE" or (frame[0] == b"S" and len(frame[2]) != SENSORS.size):
            return framed(b"N", 0)
        kind, number, body = frame
        if kind == b"E":
            self.remote.write(number, 0.0, (nan,) * 6, (0.0,) * 3, self.pose, state=0)
            self.remote.send()
            return None
        clock, *counted = SENSORS.unpack(body)
        self.look()
        self.remote.write(number, clock, [each * VOLTS for each in counted[3:]],
                          [each * (2.0 * pi / TICKS) for each in counted[:3]], self.pose)
        draw = random.Random(self.seed * 1_000_003 + number)
        lost, back, doubled, late = (draw.random() < chance for chance in (self.chances[0], *self.chances))
        self.lost, self.doubled, self.late = self.lost + lost + (back and not lost), self.doubled + doubled, self.late + late
        rims = None if lost else self.remote.ask(number, 1 + doubled)
        return framed(b"N", number) if rims is None or back or late else framed(b"R", number, REFERENCE.pack(*rims))

    def look(self):
        """Take what the camera has sent."""
        while True:
            try:
                data = self.vision.recv(256)
            except OSError:
                return
            if len(data) == EYE.size and data[:8] == b"FORMIGAV":
                self.pose = EYE.unpack(data)[1:]

    def run(self):
        """Until the robot says that the run is over, or the line is gone."""
        line, arrivals = Line(), selectors.DefaultSelector()
        arrivals.register(self.serial, selectors.EVENT_READ)
        arrivals.register(self.remote.socket, selectors.EVENT_READ)
        while True:
            ready = [key.fileobj for key, _ in arrivals.select(1.0)]
            if self.remote.socket in ready:
                self.remote.socket.settimeout(0.0)
                self.remote.stale += self.remote.listen() is not None
            if self.serial in ready:
                try:
                    data = os.read(self.serial, 4096)
                except OSError:
                    data = b""
                if not data:
                    print("the serial line is gone", flush=True)
                    return
                for frame in line.take(data):
                    answer = self.turn(frame)
                    if answer is None:
                        print(f"over: {self.lost} lost, {self.doubled} doubled, {self.late} late, {line.garbled} garbled, "
                              f"{self.remote.stale} stale, {self.remote.garbage} garbage", flush=True)
                        return
                    try:
                        os.write(self.serial, answer)
                    except OSError:              # the line is gone, which the next read tells
                        break


def option(name, default):
    """The word after an option."""
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv[:-1] else default


def number(name, default, kind=int, most=inf):
    """The number after an option, from 0 to `most`."""
    word = option(name, default)
    try:
        value = kind(word)
    except ValueError:
        value = -1
    if not 0 <= value <= most:
        raise SystemExit(f"{name} {word}: is no {'whole number' if kind is int else 'number'} from 0 to {most:g}")
    return value


def opened(path):
    """A serial device, without any translation of its bytes."""
    import termios  # of POSIX alone
    import tty

    try:
        serial = os.open(path, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(serial)
    except (OSError, termios.error) as wrong:
        raise SystemExit(f"--serial {path}: is no serial device that can be opened ({wrong.args[-1]})") from wrong
    return serial


def bound(made, name, port):
    """A socket at a port; `made` makes it."""
    try:
        return made(port)
    except OSError as wrong:
        raise SystemExit(f"{name} {port}: cannot be opened ({wrong.strerror})") from wrong


def eye(port):
    """Where the camera sends its poses."""
    vision = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    vision.bind(("127.0.0.1", port))
    vision.setblocking(False)
    return vision


def main():
    """Open both sides, and relay."""
    path = option("--serial", "")
    if not path:
        raise SystemExit(f"use: {sys.argv[0]} --serial DEVICE [--udp PORT] [--vision PORT]")
    wait, seed = number("--wait", "1", float), number("--seed", "0")
    chances = [number(each, "0", float, 1.0) for each in ("--lost", "--doubled", "--late")]
    udp, watched = number("--udp", "0", most=65535), number("--vision", "0", most=65535)
    serial = opened(path)
    remote, vision = bound(lambda port: Remote(port, wait), "--udp", udp), bound(eye, "--vision", watched)
    print(f"udp {remote.socket.getsockname()[1]} vision {vision.getsockname()[1]}", flush=True)
    Gate(serial, remote, vision, chances, seed).run()


if __name__ == "__main__":
    main()
