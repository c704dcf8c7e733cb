"""ROS tools without ROS: a rosbridge v2 server that shows a run as topics, and takes orders from them.

    definitions.py   message types as .msg files have them    binary.py    messages as ROS 1 puts them on the wire
    moment.py        what is true in one step, as arrays      messages.py  the same as messages
    topics.py        which topics a world has                 orders.py    what clients order, until it runs out
    rosapi.py        questions about topics and types         protocol.py  what one client says, and is answered
    mailbox.py       what waits for one client                server.py    the sockets, in a thread of their own
    bridge.py        all of it beside a run: a `Watch`

No package of ROS is needed, neither here nor by the client.
"""

from formiga.ros.bridge import Rosbridge

__all__ = ["Rosbridge"]
