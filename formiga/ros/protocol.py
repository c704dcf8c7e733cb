"""What one client says, in the rosbridge v2 protocol, and what it is answered. No sockets in here.

Taken: subscribe, unsubscribe, advertise, unadvertise, publish, call_service, set_level. Anything else is answered with a
`status`, once. [github.com/RobotWebTools/rosbridge_suite, ROSBRIDGE_PROTOCOL.md]
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Any

import cbor2
import msgspec

from formiga.errors import FormigaError, suggest
from formiga.ros import rosapi
from formiga.ros.binary import packed
from formiga.ros.definitions import plain_name
from formiga.ros.mailbox import Frames, Mailbox
from formiga.ros.messages import Message
from formiga.ros.orders import TWISTS, shown
from formiga.ros.topics import Offer, Taken, absolute

LEVELS = ("none", "error", "warning", "info")
ENCODINGS = {"none": "json", "png": "json", "cbor": "cbor", "cbor-raw": "cbor-raw"}  # compression -> how it is sent
RATE = 500.0            # messages of a topic in a second on the clock that a client is sent, at most
QUEUE = 100             # messages of a topic that may wait for a client, at most
IDS = 16                # subscriptions of a client to one topic
FRAGMENT = 256          # characters, the shortest fragment
ADVERTISED = 1000       # topics that a client may announce to publish on
AGAIN = 1.0             # s on the clock after which the same status is sent again
STATUSES = 20           # that a client is sent in a second, at most
IGNORED = {"status", "auth", "unadvertise_service"}  # that need no answer


class Subscription:
    """One client's interest in one topic."""

    def __init__(self, client: Client, topic: str) -> None:
        self.client, self.topic = client, topic
        self.ids: dict[str, Wanted] = {}    # id that the client gave it -> what it wants there
        self.due = 0.0                      # when the next message may be sent, on the clock
        self.wanted = Wanted()

    def settle(self) -> None:
        """Of several wishes: the highest rate, the longest queue, and the other things as last said."""
        *_, last = self.ids.values()
        self.wanted = Wanted(min(each.period for each in self.ids.values()), max(each.queue for each in self.ids.values()),
                             last.encoding, last.fragment)


@dataclass(frozen=True)
class Wanted:
    """How a client wants messages of a topic."""

    period: float = 1.0 / RATE    # s on the clock between two messages, at least
    queue: int = 1                # messages that may wait
    encoding: str = "json"
    fragment: int = 0             # characters of a frame, at most; 0: any


@dataclass
class Board:
    """What all clients share. The subscriptions are replaced, never changed, so that any thread may look at them."""

    offer: Offer = field(default_factory=Offer)
    stamp: dict[str, int] = field(default_factory=dict)
    subscriptions: dict[str, tuple[Subscription, ...]] = field(default_factory=dict)

    def add(self, subscription: Subscription) -> None:
        """From now on."""
        others = self.subscriptions.get(subscription.topic, ())
        if subscription not in others:
            self.subscriptions = self.subscriptions | {subscription.topic: (*others, subscription)}

    def remove(self, subscription: Subscription) -> None:
        """No longer."""
        left = tuple(each for each in self.subscriptions.get(subscription.topic, ()) if each is not subscription)
        kept = {topic: each for topic, each in self.subscriptions.items() if topic != subscription.topic}
        self.subscriptions = kept | ({subscription.topic: left} if left else {})


class Client:
    """One client. note: told of what it does wrong, for the terminal."""

    def __init__(self, board: Board, name: str, note: Callable[[str], None]) -> None:
        self._board, self._note, self.name = board, note, name
        self.mailbox = Mailbox()
        self.subscriptions: dict[str, Subscription] = {}
        self._advertised: dict[str, str] = {}   # topic -> type
        self._level = LEVELS.index("warning")
        self._told: dict[str, float] = {}       # status -> when it was last sent; inf: once is enough
        self._second, self._statuses = 0.0, 0
        self._does: dict[str, Callable[[dict[str, Any]], None]] = {
            "subscribe": self._subscribe, "unsubscribe": self._unsubscribe, "advertise": self._advertise,
            "unadvertise": self._unadvertise, "publish": self._publish, "call_service": self._call,
            "set_level": self._set_level}

    def hear(self, said: str | bytes) -> None:
        """Do what a message says. What is wrong with it is told to the client, and noted."""
        try:
            given = msgspec.json.decode(said)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as wrong:
            self.complain(f"this is no JSON: {wrong}.")
            return
        number = given.get("id") if isinstance(given, dict) else None
        number = number if isinstance(number, str | int) and len(str(number)) <= 256 else None
        try:
            if not isinstance(given, dict) or not isinstance(given.get("op"), str):
                raise FormigaError("a message is an object with a text 'op', such as {\"op\": \"subscribe\", ...}.")
            if (do := self._does.get(given["op"])) is not None:
                do(given)
            elif given["op"] not in IGNORED:
                self.complain(f"the op '{shown(given['op'])}' is not supported. There are: {', '.join(self._does)}.", number,
                              once=True)
        except Unsupported as wrong:
            self.complain(str(wrong), number, once=True)
        except FormigaError as wrong:
            self.complain(str(wrong), number)

    def close(self) -> None:
        """It has gone."""
        for each in self.subscriptions.values():
            self._board.remove(each)
        self.subscriptions = {}

    # -- what it is sent --------------------------------------------------------------------------------------------------
    def complain(self, text: str, number: str | int | None = None, *, once: bool = False) -> None:
        """An error, to the client and to the terminal."""
        self._note(f"{self.name}: {text}")
        self.status("error", text, number, once=once)

    def status(self, level: str, text: str, number: str | int | None = None, *, once: bool = False) -> None:
        """A `status`, unless the client has just been told, or does not want it."""
        now = time.monotonic()
        if LEVELS.index(level) > self._level or now < self._told.get(text, -inf):
            return
        if now - self._second >= 1.0:
            self._second, self._statuses = now, 0
        self._statuses += 1
        if self._statuses > STATUSES:
            return
        if len(self._told) > 10 * STATUSES:
            self._told.clear()
        self._told[text] = inf if once else now + AGAIN
        about = {} if number is None else {"id": number}
        self.mailbox.answer(Frames((msgspec.json.encode({"op": "status", **about, "level": level, "msg": text}),)))

    def show(self, subscription: Subscription, frames: Frames, now: float) -> None:
        """A message of a topic, if it may be sent already."""
        wanted = subscription.wanted
        if now < subscription.due:
            return
        there = self._board.offer.shown.get(absolute(subscription.topic))
        subscription.due = inf if there is not None and there.latched else now + wanted.period
        if wanted.fragment and frames.text and frames.size > wanted.fragment:
            frames = fragments(frames, wanted.fragment, f"{subscription.topic}:{now}")
        self.mailbox.put(subscription.topic, frames, wanted.queue)

    # -- what it says -----------------------------------------------------------------------------------------------------
    def _subscribe(self, given: dict[str, Any]) -> None:
        topic, kind = text(given, "topic"), given.get("type")
        offer = self._board.offer
        there = offer.shown.get(absolute(topic))
        if there is None:
            listens = " It is one to publish on." if absolute(topic) in offer.taken else suggest(absolute(topic), offer.shown)
            raise Unsupported(f"there is no topic '{shown(topic)}' to subscribe to.{listens} /rosapi/topics lists all.")
        if isinstance(kind, str) and kind and plain_name(kind) != there.type:
            raise FormigaError(f"{topic} has the type {there.type}, not '{shown(kind)}'.")
        compression = given.get("compression") or "none"
        if not isinstance(compression, str) or compression not in ENCODINGS:
            raise FormigaError(f"the compression '{shown(compression)}' is not supported. There are: {', '.join(ENCODINGS)}.")
        if compression == "png":
            self.status("warning", "png is not supported; messages are sent as they are.", once=True)
        wanted = Wanted(max(1.0 / RATE, 1e-3 * number(given, "throttle_rate")),
                        int(min(QUEUE, max(1.0, number(given, "queue_length")))), ENCODINGS[compression],
                        int(number(given, "fragment_size", FRAGMENT)))
        mine = self.subscriptions.setdefault(topic, Subscription(self, topic))
        if len(mine.ids) >= IDS and str(given.get("id")) not in mine.ids:
            raise FormigaError(f"there are {IDS} subscriptions of yours to {topic}; unsubscribe first.")
        mine.ids[str(given.get("id"))[:256]] = wanted
        mine.due = 0.0
        mine.settle()
        self._board.add(mine)

    def _unsubscribe(self, given: dict[str, Any]) -> None:
        topic = text(given, "topic")
        mine = self.subscriptions.get(topic)
        if mine is None:
            return
        mine.ids.pop(str(given["id"])[:256], None) if given.get("id") is not None else mine.ids.clear()
        if mine.ids:
            mine.settle()
            return
        self._board.remove(mine)
        self.mailbox.forget(topic)
        del self.subscriptions[topic]

    def _advertise(self, given: dict[str, Any]) -> None:
        topic, kind = text(given, "topic"), plain_name(text(given, "type"))
        there = self._there(self._board.offer, topic)
        if kind not in there.types:
            raise FormigaError(f"{topic} takes {' or '.join(there.types)}, not '{shown(kind)}'.")
        if len(self._advertised) >= ADVERTISED and topic not in self._advertised:
            raise FormigaError(f"no more than {ADVERTISED} topics can be advertised.")
        self._advertised[topic] = kind

    def _unadvertise(self, given: dict[str, Any]) -> None:
        self._advertised.pop(text(given, "topic"), None)

    def _publish(self, given: dict[str, Any]) -> None:
        topic, message = text(given, "topic"), given.get("msg")
        offer = self._board.offer                # the same for the topic and for its order: the run may exchange it meanwhile
        there = self._there(offer, topic)
        if not isinstance(message, dict):
            raise FormigaError(f"{topic}: msg must be an object with the fields of {there.types[0]}.")
        kind = self._advertised.get(topic, there.types[0])
        if there.types == TWISTS and "twist" in message:
            kind = TWISTS[1]  # it says by itself what it is
        try:
            offer.held.put(there.take(message, kind))
        except FormigaError as wrong:
            raise FormigaError(f"{topic}: {wrong}") from wrong

    def _there(self, offer: Offer, topic: str) -> Taken:
        """The topic that clients publish on."""
        taken, name = offer.taken, absolute(topic)
        if name not in taken:
            what = "is one to subscribe to" if name in offer.shown else "does not exist"
            few = ", ".join(list(taken)[:3])
            raise Unsupported(f"nothing can be published on '{shown(topic)}': it {what}.{suggest(name, taken)} Robots listen "
                              f"to {few or 'nothing'}{', ...' if len(taken) > 3 else ''}.")
        return taken[name]

    def _call(self, given: dict[str, Any]) -> None:
        service = text(given, "service")
        answered: dict[str, Any] = {"op": "service_response", "service": service, "result": True}
        if given.get("id") is not None:
            answered["id"] = given["id"]
        try:
            answered["values"] = rosapi.answer(service, given.get("args"), self._board.offer, self._board.stamp)
        except FormigaError as wrong:
            answered |= {"result": False, "values": str(wrong)}
        self.mailbox.answer(Frames((msgspec.json.encode(answered),)))

    def _set_level(self, given: dict[str, Any]) -> None:
        if given.get("level") not in LEVELS:
            raise FormigaError(f"level must be one of {', '.join(LEVELS)}, not '{shown(given.get('level'))}'.")
        self._level = LEVELS.index(given["level"])


class Unsupported(FormigaError):
    """Something that does not exist here. The client is told once."""


def text(given: dict[str, Any], name: str) -> str:
    """A field that is a text, not an endless one."""
    value = given.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= 256:
        raise FormigaError(f"'{shown(given['op'])}' needs a {name}, a text of 1 to 256 characters.")
    return value


def number(given: dict[str, Any], name: str, least: float = 0.0) -> float:
    """A field that is a number from `least` on; 0 where it is left out."""
    value = given.get(name)
    if not value:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormigaError(f"{name} must be a number, not {shown(value)}.")
    return float(min(max(value, least), 1e9))


def encoded(topic: str, kind: str, message: Message, encoding: str, stamp: dict[str, int]) -> Frames:
    """A message as it is sent. topic: as the client names it; stamp: the simulated time."""
    if encoding == "json":
        return Frames((msgspec.json.encode({"op": "publish", "topic": topic, "msg": message}),))
    if encoding == "cbor-raw":
        message = {"secs": stamp["secs"], "nsecs": stamp["nsecs"], "bytes": packed(kind, message)}
    return Frames((cbor2.dumps({"op": "publish", "topic": topic, "msg": message}),), False)


def fragments(whole: Frames, size: int, number: str) -> Frames:
    """A message as several frames of `size` characters."""
    said = whole.frames[0].decode()
    parts = [said[start : start + size] for start in range(0, len(said), size)]
    return Frames(tuple(msgspec.json.encode({"op": "fragment", "id": number, "data": part, "num": place, "total": len(parts)})
                        for place, part in enumerate(parts)))


__all__ = ["Board", "Client", "Subscription", "encoded", "fragments"]
