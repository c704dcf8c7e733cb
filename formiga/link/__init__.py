"""Programs in other processes: started and guarded, reached through shared memory in lock step or in real time, or by UDP.

Two records are declared, once, in a module that both sides import: what is asked, and what is answered.

    # heater.py
    from formiga.link import TURN, Record

    QUESTION = Record("room", 11, (*TURN, ("temperature", "<f8")))
    ANSWER = Record("heater", 12, (*TURN, ("power", "<f8", (2,))))

The program in the other process opens both memories and answers each question in turn:

    from formiga.link import Peer
    from heater import ANSWER, QUESTION

    with Peer.from_arguments(QUESTION, ANSWER) as peer:
        for room in peer:                              # waits for the next question
            peer.answer["power"] = 20.0 - room["temperature"], 0.0

This side starts it, asks and waits for the answer, or takes the newest one (`wait=0`):

    with Remote("the heater", [sys.executable, "thermostat.py"], Exchange(QUESTION, ANSWER)) as remote:
        for step in range(100):
            remote.question["temperature"] = 19.0
            remote.show(step, time=0.1 * step)
            power = remote.ask(step, wait=1.0)["power"]

A program may end, hang or write garbage: `ask` never raises and never waits longer than it was told, and
`remote.troubles()` says in one line what happened. A Record is bytes at fixed places, little-endian and without gaps, so the
other program may be written in any language; formiga/soccer/memory.h shows one in C.

process.py starts and guards, memory.py shares, exchange.py pairs two memories, datagrams.py carries them by UDP, remote.py and
peer.py are the two sides, sockets.py opens sockets, pace.py keeps up with the clock, clients/ is for programs without formiga.
Nothing in here knows what the records mean.
"""

from formiga.link.datagrams import Datagrams
from formiga.link.errors import LinkError
from formiga.link.exchange import Exchange, Reply
from formiga.link.memory import TURN, Memory, Record
from formiga.link.pace import Pace
from formiga.link.peer import Peer
from formiga.link.process import Program
from formiga.link.remote import Remote, Words

__all__ = ["TURN", "Datagrams", "Exchange", "LinkError", "Memory", "Pace", "Peer", "Program", "Record", "Remote", "Reply",
           "Words"]
