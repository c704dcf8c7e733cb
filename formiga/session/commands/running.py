"""Commands that let time pass: pause, step, speed, reset, seek, bench, quit."""

from __future__ import annotations

import secrets
import time
from math import inf
from typing import TYPE_CHECKING

from formiga.console import Call, CommandSpec
from formiga.errors import FormigaError
from formiga.loop import Simulation
from formiga.world.own import own_mistakes

if TYPE_CHECKING:
    from formiga.session.session import Session

MOST_STEPS = 100_000    # in one command: the inbox waits meanwhile
OWN_STEPS = 100         # the same, in a world's own text


def commands(session: Session) -> list[CommandSpec]:
    """Those of a session."""

    def pause(call: Call) -> None:
        call.most(1)
        session.play(not call.switch(0, "the switch", default=session.playing))

    def play(call: Call) -> None:
        call.most(0)
        session.play()

    def step(call: Call) -> None:
        call.most(1)
        steps = call.whole(0, "N", least=1, most=MOST_STEPS if call.trusted else OWN_STEPS, default=1)
        session.play(False)
        for _ in range(steps):
            session.step()
            if session.ended or session.failed:
                break

    def speed(call: Call) -> None:
        call.most(1)
        if not call.args:
            call.say("max" if session.speed == inf else f"{session.speed:g}")
            return
        session.speed = inf if call.args[0] == "max" else call.number(0, "FACTOR", least=0.001, most=1e6)

    def reset(call: Call) -> None:
        call.most(0)
        session.reset()

    def seed(call: Call) -> None:
        call.most(1)
        if not call.args:
            call.say(str(session.seed))
        elif session.replay:
            raise FormigaError("a recording has the seed that it was recorded with.")
        else:
            session.reset(secrets.randbelow(2**31) if call.args[0] == "new" else call.whole(0, "N", least=0, most=2**63 - 1))
            call.say(f"seed {session.seed}")

    def seek(call: Call) -> None:
        call.exactly(1)
        session.seek(call.number(0, "SECONDS", least=0))

    def bench(call: Call) -> None:
        call.most(1)
        if not call.trusted:
            raise FormigaError("a world's own text may not hold up the laboratory with a bench.")
        limit = call.number(0, "SECONDS", least=0.1, most=10.0, default=1.0)
        call.say(measure(session, limit))
        session.pace.restart(session.time)

    def quit_(call: Call) -> None:
        call.most(0)
        if not call.trusted:
            raise FormigaError("a world's own text may not end the laboratory; that is for you to say.")
        session.ended = True

    return [
        CommandSpec("pause", "pause [on|off]", "Holds time still, or lets it go on; without an argument whichever it is not.",
                    pause, complete=_switch),
        CommandSpec("play", "play", "Lets time go on. At the end of a recording it starts again.", play),
        CommandSpec("step", "step [N]", "Pauses, and takes one step, or N.", step),
        CommandSpec("speed", "speed [FACTOR|max]", "Simulated seconds per second; max: as fast as it goes.", speed,
                    complete=lambda args: ("0.1", "0.5", "1", "2", "10", "max")),
        CommandSpec("reset", "reset", "Starts again with the same seed.", reset),
        CommandSpec("seed", "seed [N|new]", "Starts again with another seed; without an argument tells it.", seed,
                    complete=lambda args: ("new",)),
        CommandSpec("seek", "seek SECONDS", "Goes to that moment of a recording.", seek),
        CommandSpec("bench", "bench [SECONDS]", "Runs a copy of this world flat out for a second, and tells how fast that was.",
                    bench),
        CommandSpec("quit", "quit", "Ends the laboratory. A recording that is being written is kept, whole.", quit_),
    ]


def measure(session: Session, limit: float) -> str:
    """How fast a copy of the session's world runs, in words."""
    steps = 0
    with own_mistakes():
        copy = Simulation(session.world, session.seed)
        copy.programs = None  # those outside drive one run
        copy.step()  # may compile
        began = time.perf_counter()
        while time.perf_counter() - began < limit and not copy.state.done[0]:
            copy.step()
            steps += 1
    spent = max(time.perf_counter() - began, 1e-9)
    return (f"{steps / spent:,.0f} steps/s, {steps * session.world.robots / spent:,.0f} robot-steps/s, "
            f"{steps * session.world.dt / spent:,.0f} times real time")


def _switch(args: list[str]) -> tuple[str, ...]:
    return ("on", "off") if len(args) == 1 else ()
