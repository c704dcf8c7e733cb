"""Teams that speak FIRASim's protocol over the network, as the match sees them.

One hub has the sockets: pictures and calls go out, commands, replacements and placements come in, in a thread of its own.
Each team that plays over the network has a bridge to it (network_bridge.py). Whatever arrives, the simulator never waits for
it (unless it is asked to, in lock-step) and never spends more than a share of a core on it.
"""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from formiga.errors import FormigaError, whole
from formiga.link import sockets
from formiga.link.complaints import Complaints
from formiga.link.sockets import LOOPBACK, Address, parse, written
from formiga.soccer.network_bridge import NetworkBridge
from formiga.soccer.talk import NAMES, Call, Foul, Game, Sight
from formiga.soccer.wire import messages
from formiga.soccer.wire.messages import Garbage, Limits, Place, Replacement

VISION, COMMANDS = ("224.0.0.1", 10002), (LOOPBACK, 20011)               # where FIRASim and VSSReferee have them
REFEREE, PLACEMENT = ("224.5.23.2", 10003), ("224.5.23.2", 10004)

TAKEN = ", by FIRASim or another match perhaps"                              # a port that is in use
AGAIN = 1.0             # s on the clock after which the last call is sent once more
WAKE = 0.2              # s after which the thread looks around, if nothing arrives
BATCH = 16              # packets that are read from one socket before it is the other's turn
HURRY = 0.001           # s that the simulator waits for the thread to have read its batch, outside of lock-step
SHARE = 0.25            # of a core that reading may cost
FLOOD = 500             # packets dropped within a second, from which on we read ...
NAP = 0.002             # ... only so often (s): what waits is read in one go, which is cheaper
REPEAT = 0.5            # s after which a picture that is waited for is sent once more, in lock-step


class Network:
    """The hub of all network teams of a match.

    ball_radius: m, the height at which pictures show the ball. vision: where pictures go, multicast or not. commands: where
    we listen for commands and replacements; port 0 is any. referee: where calls go; None: nowhere, because another program
    referees. placement: where we listen for placements, or None. interface: the address of the interface that multicast goes
    through. Unless this or an address says so, nothing leaves this machine, and nothing from another one is heard.
    """

    def __init__(self, players: int, field: Any, wheel_radius: float, top_speed: float, ball_radius: float, *,
                 vision: Sequence[Address] = (VISION,), commands: Address = COMMANDS,
                 referee: Address | Sequence[Address] | None = REFEREE, placement: Address | None = PLACEMENT,
                 interface: str = LOOPBACK) -> None:
        whole("players", players, 1, 99)
        if (size := messages.longest(players)) > messages.LONGEST:
            raise FormigaError(f"a picture of {players} against {players} can have {size:,} bytes, and network teams read "
                               f"{messages.LONGEST:,}; let fewer robots play.")
        self.players, self._field, self._ball_radius = players, messages.field(field), ball_radius
        self._limits = Limits(players, wheel_radius, top_speed, field.length / 2 + field.goal_depth, field.width / 2)
        self._complaints = Complaints()

        self._reading = threading.Lock()               # held while a batch is read

        # everything below is shared with the thread, and only touched with this lock held
        self._lock = threading.Condition()
        self._wheels = [[(0.0, 0.0)] * players for _ in NAMES]  # lists, because a thread that writes them is quick
        self._heard = [0, 0]                           # packets with commands, of each team
        self._answered = [0, 0]                        # the picture that each team answered last ...
        self._echoes = [False, False]                  # ... and whether it says so itself
        self._shown = 0                                # the picture that was sent last
        self._ball: tuple[float, float, float, float] | None = None
        self._places: dict[tuple[int, int], Place] = {}
        self._wanted: list[Any] = [None, None]         # placements (P, 3)
        self._call: tuple[Call, bytes, float] | None = None  # the last one, and when it was sent

        self._bridges: dict[int, NetworkBridge] = {}
        self._frame: int | None = None                 # of the last picture, and its bytes
        self._picture = b""
        self._unsent: set[tuple[str, Address]] = set()  # what could not be sent, and was complained about
        self._strange: dict[str, bool] = {}            # sender -> whether it is this machine
        self._closed = False
        self._open(vision, commands, referee, placement, interface)
        self._thread = threading.Thread(target=self._listen, name="network teams", daemon=True)
        self._thread.start()

    # -- what a match does with it ------------------------------------------------------------------------------------
    def bridge(self, colour: int, name: str = "", patience: float = 0.0) -> NetworkBridge:
        """The team of a colour. When all bridges that were handed out are closed, so is the hub.

        patience: how long its first answer is waited for in lock-step, in seconds.
        """
        if colour in self._bridges:
            raise FormigaError(f"the {NAMES[colour]} team plays over the network already.")
        self._bridges[colour] = NetworkBridge(self, colour, name or f"network {NAMES[colour]}", patience)
        return self._bridges[colour]

    def replacements(self) -> list[Replacement]:
        """What trainers have put somewhere else since this was last asked; of two orders for one thing the newer counts."""
        self._catch_up(self._commands, self._hear_packet, HURRY)
        with self._lock:
            found = Replacement(self._ball, tuple(self._places.values()))
            self._ball, self._places = None, {}
        return [found] if found.ball or found.robots else []

    def close(self) -> None:
        """End the thread and give the sockets back."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._lock.notify_all()
        self._bell.send(b"x")
        self._thread.join(timeout=1.0)
        for each in (self._out, self._commands, self._placement, self._bell, self._door):
            if each is not None:
                each.close()

    def __enter__(self) -> Network:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- what its bridges do with it ----------------------------------------------------------------------------------
    def show(self, sight: Sight, game: Game) -> None:
        """Send a picture, once, whichever bridge hands it over."""
        if sight.frame == self._frame or self._closed:
            return
        self._picture, self._frame = messages.picture(sight, game, self._field, self._ball_radius), sight.frame
        with self._lock:
            self._shown = messages.number(sight.frame)
        self._send("pictures", self._picture, self.vision)

    def orders(self, colour: int, frame: int, wait: float) -> tuple[Any, bool]:
        """The newest wheel speeds of a team, and whether they answer that picture; wait: at most so many seconds for it."""
        asked = messages.number(frame)
        self._catch_up(self._commands, self._hear_packet, -1.0 if wait > 0.0 else HURRY)
        until = time.monotonic() + wait
        while True:
            left = until - time.monotonic()
            with self._lock:
                if left > 0.0:
                    self._lock.wait_for(lambda: self._closed or self._answered[colour] == asked, min(left, REPEAT))
                answered = self._answered[colour] == asked
                if answered or self._closed or left <= REPEAT:
                    if wait > 0.0 and not answered:    # the program that named pictures may be gone, and its successor may not
                        self._echoes[colour] = False
                    return np.array(self._wheels[colour]), answered
                call = self._call
            if call is not None:                       # a program may have come just now, and know nothing yet
                self._send("calls", call[1], self.referee)
            self._send("pictures", self._picture, self.vision)

    def stand(self, colour: int, heard: int) -> bool:
        """Forget the wheel speeds of a team of which so many packets came; False: there is a newer one, and nothing is done."""
        with self._lock:
            if self._heard[colour] != heard:
                return False
            self._wheels[colour] = [(0.0, 0.0)] * self.players
            return True

    def tell(self, call: Call) -> None:
        """Send a call, once, whichever bridge hands it over; and again each second, for programs that did not receive it."""
        self._catch_up(self._placement, self._hear_placement)          # what was said before it does not answer it
        with self._lock:
            if self._closed or (self._call is not None and self._call[0] == call):
                return
            if call.foul <= Foul.KICKOFF:              # they will answer with other places than last time
                self._wanted = [None, None]
            data = messages.call(call)
            self._call = call, data, time.monotonic()
        self._send("calls", data, self.referee)

    def wanted(self, colour: int) -> Any:
        """A team's placement since the last foul, or None."""
        self._catch_up(self._placement, self._hear_placement)
        with self._lock:
            return None if self._wanted[colour] is None else self._wanted[colour].copy()

    def heard(self, colour: int) -> int:
        """How many packets with commands have come for a team."""
        with self._lock:
            return self._heard[colour]

    def troubles(self) -> list[str]:
        """What is wrong with what arrives, or cannot be sent; once."""
        return self._complaints.take()

    def leave(self, bridge: NetworkBridge) -> None:
        """A bridge is closed; the last one closes the door."""
        bridge.closed = True
        if all(each.closed for each in self._bridges.values()):
            self.close()

    # -- sockets ------------------------------------------------------------------------------------------------------
    def _open(self, vision: Sequence[Address], commands: Address, referee: Any, placement: Address | None,
              interface: str) -> None:
        interface = sockets.check((interface, 0), "--interface")[0]
        calls = () if referee is None else (referee,) if isinstance(referee[0], str) else referee
        self.vision = [sockets.check(each, "--vision", 1) for each in vision]
        self.referee = [sockets.check(each, "--referee", 1) for each in cast(Sequence[Address], calls)]
        self.placement = None if placement is None else sockets.check(placement, "--placement")
        self._alone = interface.startswith("127.")     # packets of other machines are not heard
        self._fall_back(interface)
        groups = {each[0] for each in (*self.vision, *self.referee) if sockets.is_multicast(each)}
        self._out = sockets.sender(interface, groups)
        self._placement: socket.socket | None = None
        try:
            self._commands = sockets.listener(sockets.check(commands, "--commands"), "--commands", interface, TAKEN)
            self.commands: Address = self._commands.getsockname()
            try:
                if self.placement is not None:
                    self._placement = sockets.listener(self.placement, "--placement", interface, TAKEN)
                    self.placement = self._placement.getsockname()
            except FormigaError:
                self._commands.close()
                raise
        except FormigaError:
            self._out.close()
            raise
        self._bell, self._door = socket.socketpair()

    def _fall_back(self, interface: str) -> None:
        """Where multicast does not arrive, speak to this machine alone, and say so."""
        ways = [*self.vision, *self.referee, *([self.placement] if self.placement else [])]
        groups = {each[0] for each in ways if sockets.is_multicast(each)}
        silent = {group for group in groups if not sockets.arrives(group, interface)}
        if not silent:
            return
        here = LOOPBACK if interface == sockets.ANYWHERE else interface
        self.vision = sockets.instead(self.vision, here, silent)
        self.referee = sockets.instead(self.referee, here, silent)
        if self.placement is not None:
            self.placement = sockets.instead([self.placement], here, silent)[0]
        places = [f"{what} {', '.join(map(written, at))}" for what, at in (
            ("pictures go to", self.vision), ("calls go to", self.referee),
            ("placements are taken at", [self.placement] if self.placement else [])) if at]
        self._complaints.say(f"multicast to {' and '.join(sorted(silent))} does not arrive on {interface}, so "
                             f"{'; '.join(places)}. Only one program can listen at each; name an address for every program "
                             "with --vision and --referee.")

    def _send(self, what: str, data: bytes, addresses: Sequence[Address]) -> None:
        for address in addresses:
            try:
                self._out.sendto(data, address)
            except BlockingIOError:                    # the socket is full; the next picture is better anyway
                continue
            except OSError as wrong:
                if (what, address) not in self._unsent and not self._closed:
                    self._unsent.add((what, address))
                    self._complaints.say(f"{what} cannot be sent to {written(address)} ({wrong.strerror}); still trying.")
            else:
                self._unsent.discard((what, address))

    # -- the thread ---------------------------------------------------------------------------------------------------
    def _listen(self) -> None:
        """Read what arrives, until the hub is closed.

        Reading may cost a share of a core and no more: the debt is the time that was worked beyond that share. A program
        that sends faster than we may read loses packets, in the kernel, where it costs us nothing.
        """
        with selectors.DefaultSelector() as poll:
            poll.register(self._commands, selectors.EVENT_READ, self._hear_packet)
            if self._placement is not None:
                poll.register(self._placement, selectors.EVENT_READ, self._hear_placement)
            poll.register(self._door, selectors.EVENT_READ)
            self._listen_by(poll)

    def _listen_by(self, poll: selectors.BaseSelector) -> None:
        debt, worked, looked = 0.0, time.thread_time(), time.monotonic()
        while True:
            ready = poll.select(WAKE)
            if self._closed:
                return
            dropped = self._complaints.dropped
            for key, _ in ready:
                if key.data is not None:
                    self._catch_up(cast(socket.socket, key.fileobj), key.data)
            now, work = time.monotonic(), time.thread_time()
            self._look_around(now)
            debt = max(-SHARE * WAKE, debt + (work - worked) - SHARE * (now - looked))
            worked, looked = work, now
            if debt > 0.0:
                time.sleep(debt / SHARE)
            elif self._complaints.dropped > dropped and self._complaints.recent > FLOOD:
                time.sleep(NAP)

    def _catch_up(self, ear: socket.socket | None, hear: Callable[[bytes, Address], None], patience: float = -1.0) -> None:
        """What has arrived counts, also if the thread had no time for it yet: so a game in lock-step can be played again.

        patience: how long to wait for the thread if it reads just now, in seconds; -1: until it has read its batch.
        """
        if ear is not None and self._reading.acquire(timeout=patience):
            try:
                self._drain(ear, hear)
            finally:
                self._reading.release()

    def _drain(self, ear: socket.socket, hear: Callable[[bytes, Address], None]) -> None:
        for _ in range(BATCH):
            try:
                data, source = ear.recvfrom(messages.MOST_BYTES + 1)
            except OSError:                            # nothing is left
                return
            try:
                hear(data, source)
            except Garbage as wrong:
                self._complaints.add(source, str(wrong))

    def _look_around(self, now: float) -> None:
        """What is due: the last call once more, and complaints."""
        with self._reading:
            self._complaints.look_around(now)
        with self._lock:
            if self._call is None or now - self._call[2] < AGAIN:
                return
            call, data, _ = self._call
            self._call = call, data, now
        self._send("calls", data, self.referee)

    def _hear_packet(self, data: bytes, source: Address) -> None:
        packet = messages.read_packet(data, self._limits)
        if packet.wheels or packet.replacement:
            with self._lock:
                for team, robot, left, right in packet.wheels:
                    self._wheels[team][robot] = left, right
                for team in {order[0] for order in packet.wheels}:
                    self._heard[team] += 1
                    self._echoes[team] |= packet.answered > 0
                    if packet.answered:
                        self._answered[team] = packet.answered
                    elif not self._echoes[team]:       # an old program: what comes after a picture answers it
                        self._answered[team] = self._shown
                if packet.replacement:
                    self._ball = packet.replacement.ball or self._ball
                    self._places |= {(place.team, place.robot): place for place in packet.replacement.robots}
                self._lock.notify_all()
        if packet.strangers:
            self._complaints.note(source, f"speaks of robots that are not there (those of a team are 0 to {self.players - 1}); "
                                          "that is left out")
        if packet.wrong:
            self._complaints.add(source, packet.wrong)

    def _hear_placement(self, data: bytes, source: Address) -> None:
        if self._alone and not self._from_here(source[0]):
            raise Garbage("came from another machine, and only this one may play (--interface)")
        places, wrong = messages.read_placement(data, self._limits)
        with self._lock:
            for place in places:
                if self._wanted[place.team] is None:
                    self._wanted[place.team] = np.full((self.players, 3), np.nan)
                self._wanted[place.team][place.robot] = place.x, place.y, place.heading
        if wrong:
            self._complaints.add(source, wrong)

    def _from_here(self, host: str) -> bool:
        if host not in self._strange:
            if len(self._strange) > 1000:
                self._strange.clear()
            self._strange[host] = sockets.is_ours(host)
        return self._strange[host]


__all__ = ["Network", "Place", "Replacement", "parse"]
