"""What all links share: how far a message goes, what stops it, how it is late, lost or crowded out."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, inf, pi, sin
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from formiga.engine.above.hearing import AHEAD, BODIES, DOWN, NOTHING, PLANE, UP, WALLS, Ears, Heard
from formiga.errors import WorldError
from formiga.kernels import kernel
from formiga.kernels.program import Stage
from formiga.noise import channel
from formiga.state import Floats, State
from formiga.units import DEG
from formiga.world.elements import angle, choice, duration, integer, length, number, of, where
from formiga.world.model import World

if TYPE_CHECKING:
    from formiga.sense import SensorView

BEAMS = {"plane": PLANE, "ahead": AHEAD, "down": DOWN, "up": UP}
SIGHTS = {"none": NOTHING, "walls": WALLS, "bodies": BODIES}
MOST_LATE = 10_000   # periods that a message may be on its way
NEVER = 2.0**53      # periods from one message to the next, of a rate that is next to nothing
EVERYWHERE = 90.0 * DEG


@dataclass(frozen=True, kw_only=True)
class Antenna:
    """Sends the message of each robot to the others that have a link of the same name, once in every control period.

    A message that was decided in one period is heard in the next, and `delay` later. Robots that are not alive neither send nor
    hear. What can be pushed, such as a ball, stops no message.
    """

    range: float  # these three have defaults of their own in each kind of link
    sight: str
    name: str
    numbers: int = integer(1, least=1, most=1024, doc="in a message")
    most: int = integer(8, least=1, most=4096,
                        doc="messages that a robot can hear in a period; the nearest are heard, the others counted as dropped")
    loss: float = number(0.0, least=0.0, most=1.0, doc="probability that a message is not received")
    delay: float = duration(0.0, least=0.0, doc="beyond the next period; rounded to whole periods")
    rate: float = number(0.0, least=0.0,
                         doc="messages per second, 0: one in every period; the time from one to the next is rounded to periods")
    limit: float | None = number(None, above=0.0, doc="the numbers of a message are cut at this size; default: not cut")
    bits: int = integer(32, least=1, most=64, doc="of a number, for the account of what was sent")
    beam: str = choice("plane", options=tuple(BEAMS),
                       doc="where its messages go: around it, or into a cone along its heading, down or up")
    aperture: float = angle(EVERYWHERE, least=0.0, most=180.0 * DEG,
                            doc="half angle of the beam: from the plane of the floor, or from the axis of the cone")
    height: float | None = length(None, doc="of the antenna above the robot's foot; default: half of the robot's")

    MEASURES: ClassVar[bool] = False         # whether range and bearing of a sender are columns of what is heard

    @property
    def columns(self) -> int:
        """Numbers in a row of what is heard: whether there is a message, its range and bearing, itself."""
        return 1 + 2 * self.MEASURES + self.numbers

    def bounds(self, robot: Any) -> tuple[Any, Any]:
        """Of a row of what is heard: whether there is a message, range and bearing if they are measured, the numbers."""
        most = inf if self.limit is None else self.limit
        measured = ((0.0, self.range), (-pi, pi)) if self.MEASURES else ()
        rows = np.array([(0.0, 1.0), *measured, *[(-most, most)] * self.numbers])
        return rows[:, 0], rows[:, 1]

    @property
    def noises(self) -> tuple[float, float, bool]:
        """Of range (a share) and bearing (rad), and whether they are normal."""
        return 0.0, 0.0, False

    def hear(self, scene: SensorView) -> Floats:
        """What the robots hear: (W, n, most, columns), nearest first."""
        heard = self._memory(scene)
        begin_all(scene.state.step, heard.traffic)
        scene.engine.hear(scene.model, scene.state, self._ears(scene), scene.robots, heard)
        if queue := self._queue(scene, heard):
            late_all(*queue)
        return np.array(heard.inbox)

    def stages(self, scene: SensorView) -> Any:
        """The same as kernels."""
        heard = self._memory(scene)
        stages = scene.engine.hear_stages(scene.model, scene.state, self._ears(scene), scene.robots, heard)
        if stages is None:
            return None
        queue = self._queue(scene, heard)
        return heard.inbox, [Stage(begin_world, (scene.state.step, heard.traffic)), *stages,
                             *([Stage(late_world, queue)] if queue else [])]

    def held(self, dt: float) -> int:
        """Numbers in the inbox of one robot, and in its queue of messages that are on their way."""
        return self.most * (self.columns + 1) * (1 + self._late(dt))

    def _memory(self, scene: SensorView) -> Heard:
        W, n = scene.shape
        return Heard(scene.memory("inbox", np.broadcast_to(0.0, (W, n, self.most, self.columns))),
                     scene.memory("sender", np.broadcast_to(-1, (W, n, self.most))),
                     scene.memory("traffic", np.broadcast_to(0, (W, n, 4))))

    def _queue(self, scene: SensorView, heard: Heard) -> tuple[Any, ...]:
        """What `late_world` takes, with a queue as long as the delay; () if there is none."""
        periods, (W, n) = self._late(scene.dt), scene.shape
        if periods == 0:
            return ()
        inbox, sender = (scene.memory(f"late {name}", np.broadcast_to(blank, (W, n, periods, *now.shape[2:])))
                         for name, now, blank in (("inbox", heard.inbox, 0.0), ("sender", heard.sender, -1)))
        return scene.state.step, heard.inbox, heard.sender, inbox, sender

    def _late(self, dt: float) -> int:
        """Periods that a message is on its way beyond the next one."""
        periods = round(self.delay / dt)
        if periods > MOST_LATE:
            raise WorldError(f"{where(self)}<{of(self).tag}> delay: {self.delay:g} s are {periods} control periods; at most "
                             f"{MOST_LATE} are allowed.")
        return periods

    def _ears(self, scene: SensorView) -> Ears:
        """Made once for each model."""
        return scene.once(scene.owner, lambda world: _ears(world, scene.group, self, scene.dt))


def _ears(world: Any, group: Any, own: Any, dt: float) -> Ears:
    medium, N = world.media[own.name], world.robots
    reach, up, beam, edge = np.zeros(N), np.zeros(N), np.zeros(N, np.int64), np.zeros(N)
    period = np.ones(N, np.int64)
    for each, robots in zip(world.groups, world.slices, strict=True):
        for link in each.links:
            if link.name != own.name or not isinstance(link, Antenna):
                continue
            reach[robots], beam[robots] = link.range, BEAMS[link.beam]
            up[robots] = 0.5 * each.robot.height if link.height is None else link.height
            edge[robots] = sin(min(link.aperture, EVERYWHERE)) if link.beam == "plane" else cos(link.aperture)
            period[robots] = max(1, round(1.0 / max(link.rate * dt, 1.0 / NEVER))) if link.rate else 1
    range_noise, bearing_noise, normal = own.noises
    names = group.name, own.name
    return Ears(medium.first, medium.numbers, reach, up, beam, edge, period, float(reach.max(initial=0.0)), SIGHTS[own.sight],
                own.MEASURES, own.loss, range_noise, bearing_noise, normal, channel(*names, "loss"), channel(*names, "noise"))


def renumber(world: World, state: State, kept: Any, before: int) -> None:
    """After an edit: what is heard or on its way has the present numbers of its senders, and is gone where these are gone.

    kept (N,): the number that each robot had before, -1 for a newcomer; before: how many there were.
    """
    now = np.full(before, -1)
    now[kept[kept >= 0]] = np.flatnonzero(kept >= 0)
    for group in world.groups:
        for owner in (f"{group.name}/{link.name}" for link in group.links if isinstance(link, Antenna)):
            for inbox, sender in (("inbox", "sender"), ("late inbox", "late sender")):
                if (owner, sender) in state.memory:
                    _renumber(now, state.memory[owner, inbox], state.memory[owner, sender])


def _renumber(number: Any, inbox: Any, sender: Any) -> None:
    now = np.where(sender >= 0, number[sender], -1)
    order = np.argsort(now < 0, axis=-1, kind="stable")  # rows without a message come last, the others stay nearest first
    sender[...] = np.take_along_axis(now, order, axis=-1)
    inbox[...] = np.where(sender[..., None] >= 0, np.take_along_axis(inbox, order[..., None], axis=-2), 0.0)


@kernel()
def begin_world(w, step, traffic):
    """The account begins again with its world."""
    if step[w] == 0:
        traffic[w] = 0


@kernel()
def begin_all(step, traffic):
    """`begin_world` for every world."""
    for w in range(step.shape[0]):
        begin_world(w, step, traffic)


@kernel()
def late_world(w, step, inbox, sender, late_inbox, late_sender):
    """What is heard now goes to the end of the queue, and what is at its front is heard: late (W, n, periods, most, ...)."""
    if step[w] == 0:
        late_inbox[w], late_sender[w] = 0.0, -1
    at = step[w] % late_inbox.shape[2]
    for i in range(inbox.shape[1]):
        for k in range(inbox.shape[2]):
            late_sender[w, i, at, k], sender[w, i, k] = sender[w, i, k], late_sender[w, i, at, k]
            for c in range(inbox.shape[3]):
                late_inbox[w, i, at, k, c], inbox[w, i, k, c] = inbox[w, i, k, c], late_inbox[w, i, at, k, c]


@kernel()
def late_all(step, inbox, sender, late_inbox, late_sender):
    """`late_world` for every world."""
    for w in range(step.shape[0]):
        late_world(w, step, inbox, sender, late_inbox, late_sender)


__all__ = ["Antenna", "renumber"]
