"""All of it beside a run: orders from clients go in before a step, messages go out after it.

Without a message from a client the run has the same bits as without a bridge. Only topics that a client has subscribed are
computed, and no more often than a client wants them.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Sequence
from typing import Any

from formiga.errors import WorldError
from formiga.link.sockets import Address
from formiga.loop import Simulation
from formiga.ros.mailbox import Frames
from formiga.ros.moment import Moment
from formiga.ros.protocol import Board, encoded
from formiga.ros.server import Server
from formiga.ros.topics import MOST_ROBOTS, absolute, offer
from formiga.runs import Watch

Say = Callable[[str], None]


class Rosbridge(Watch):
    """Serves a run to clients of the rosbridge v2 protocol. It is open within `with`; say: told of what goes wrong, a line in a
    second at most."""

    every_step = True

    def __init__(self, address: Address, say: Say, token: str = "") -> None:
        self._say = say
        self._board = Board()
        self.server = Server(self._board, address, token)
        self._world: Any = None
        self._step = -1

    def __enter__(self) -> Rosbridge:
        self.server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.stop()

    @property
    def clients(self) -> int:
        """How many are connected."""
        return len(self.server.clients)

    @property
    def subscribed(self) -> int:
        """How many topics some client has subscribed."""
        return len(self._board.subscriptions)

    def use(self, simulation: Simulation) -> None:
        """Offer the topics of this run from now on."""
        if simulation.state.worlds != 1:
            raise WorldError(f"a rosbridge shows one world; these are {simulation.state.worlds}.")
        self._world, self._board.offer = simulation.world, offer(simulation)
        self._board.stamp = Moment(simulation).stamp
        for each in self._board.subscriptions.values():
            for subscription in each:
                subscription.due = 0.0                    # also of what is sent once
        if left := self._board.offer.left_out:
            self._say(f"rosbridge: {MOST_ROBOTS} robots have topics of their own; the other {left} are in /poses alone.")
        self.server.open()

    def before(self, shards: Sequence[Simulation]) -> dict[str, Any] | None:
        """What clients order."""
        if len(shards) != 1 or shards[0].state.worlds != 1:
            raise WorldError(f"a rosbridge shows one world; these are {sum(each.state.worlds for each in shards)}.")
        simulation = shards[0]
        step = int(simulation.state.step[0])
        if simulation.world is not self._world:
            self.use(simulation)
        elif step < self._step:
            self._board.offer.held.clear()                # time has begun again
        self._step = step
        return self._board.offer.held.orders(simulation.world, step)

    def after(self, shards: Sequence[Simulation]) -> None:
        """Hand over what clients have subscribed, and say what went wrong with them."""
        now, board, made = time.monotonic(), self._board, dict[tuple[str, str], Frames]()
        moment = Moment(shards[0])
        board.stamp = moment.stamp
        for name, subscriptions in board.subscriptions.items():
            wanted = {each.wanted.encoding for each in subscriptions if each.due <= now}
            topic = board.offer.shown.get(absolute(name))
            if not wanted or topic is None:
                continue
            try:
                message = topic.build(moment)
                made |= {(name, each): encoded(name, topic.type, message, each, moment.stamp) for each in wanted if message}
            except (TypeError, ValueError, struct.error) as wrong:  # of a reading that is no numbers
                self.server.notes.add(f"{name} cannot be sent: {wrong}")
        if made:
            self.server.hand_over(made, now)
        self.tell()

    def tell(self) -> None:
        """Say what went wrong with clients, if a line is due."""
        if line := self.server.notes.take():
            self._say(line)


__all__ = ["Rosbridge"]
