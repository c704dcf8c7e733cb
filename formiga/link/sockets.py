"""Sockets for datagrams: to send, to listen, and to know whether multicast arrives where it should.

Multicast travels through one interface, the loopback one unless another is asked for. A program joins a group wherever the
machine's default route points, mostly not on loopback. On Linux it still receives what is sent there, if any socket of this
machine is a member of that group on loopback: so a sender joins the groups that it sends to.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import Iterable, Sequence

from formiga.errors import reason
from formiga.link.errors import LinkError

Address = tuple[str, int]
LOOPBACK = "127.0.0.1"
ANYWHERE = "0.0.0.0"
BUFFER = 1 << 17        # bytes that may wait to be read: some hundred commands. More would only be older
PROBE = 0.3             # s that a datagram to ourselves may take


def parse(text: str, what: str = "address") -> Address:
    """'127.0.0.1:20011' -> ('127.0.0.1', 20011)."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal():
        raise LinkError(f"{what} '{text}' is not like HOST:PORT, 127.0.0.1:20011 say.")
    return check((host, int(port)), what)


def check(address: Address, what: str, least: int = 0) -> Address:
    """The address with its host as a number, or a clear complaint. Port 0 means any, so nothing can be sent to it."""
    host, port = address
    if not least <= port <= 65535:
        raise LinkError(f"{what}: port {port} is out of range; it must be from {least} to 65535.")
    try:
        return socket.gethostbyname(host), port
    except (OSError, UnicodeError) as wrong:
        raise LinkError(f"{what}: '{host}' is no address of a machine ({reason(wrong)}).") from wrong


def written(address: Address) -> str:
    """('127.0.0.1', 20011) -> '127.0.0.1:20011'."""
    return f"{address[0]}:{address[1]}"


def is_multicast(address: Address) -> bool:
    """Whether an address is that of a group."""
    return ipaddress.ip_address(address[0]).is_multicast


def sender(interface: str, groups: Iterable[str]) -> socket.socket:
    """A socket that sends through an interface, and whose groups are heard there. It never waits."""
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        out.setblocking(False)
        out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 1)
        out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
        out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(interface))
    except OSError as wrong:
        out.close()
        raise LinkError(f"no interface of this machine has the address {interface} ({wrong.strerror}).") from wrong
    for group in groups:
        join(out, group, interface)
    return out


def listener(address: Address, option: str, interface: str = LOOPBACK, hint: str = "") -> socket.socket:
    """A socket that hears what arrives at an address: one of ours, or that of a group. It never waits.

    option: of the command line, by which another address is given; hint: which program may have it. A group is joined on
    `interface` and where the default route points, because that is where other programs send to.
    """
    host, port = address
    ear = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        ear.setblocking(False)
        ear.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        if is_multicast(address):                      # each listener gets a copy; else the last one would get all
            ear.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        ear.bind(address)
    except OSError as wrong:
        ear.close()
        if wrong.errno == errno.EADDRINUSE:
            raise LinkError(f"port {port} of {host} is in use{hint}; "
                               f"give another one with {option} HOST:PORT.") from wrong
        if wrong.errno == errno.EACCES:
            raise LinkError(f"port {port} is not for you ({wrong.strerror}); "
                               f"give one from 1024 on with {option} HOST:PORT.") from wrong
        raise LinkError(f"{written(address)} is no address of this machine ({wrong.strerror}); "
                           f"give another one with {option} HOST:PORT.") from wrong
    if is_multicast(address):
        for each in dict.fromkeys((interface, LOOPBACK, ANYWHERE)):
            join(ear, host, each)
    return ear


def join(member: socket.socket, group: str, interface: str) -> bool:
    """Become a member of a group on an interface; false where that is not possible."""
    try:
        member.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group) + socket.inet_aton(interface))
    except OSError as wrong:
        return wrong.errno == errno.EADDRINUSE         # it is one already: 0.0.0.0 meant the same interface
    return True


def arrives(group: str, interface: str) -> bool:
    """Whether what we send to a group comes back to this machine: some containers and networks carry no multicast."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ear, sender(interface, (group,)) as out:
            ear.bind((group, 0))                       # a port of our own, so that no other program receives it
            ear.settimeout(PROBE)
            join(ear, group, interface)
            out.sendto(b"", ear.getsockname())
            ear.recv(1)
            return True
    except OSError:
        return False


def instead(addresses: Sequence[Address], interface: str, silent: set[str]) -> list[Address]:
    """The addresses, with those of silent groups exchanged for the same ports of this machine."""
    return list(dict.fromkeys((interface, port) if host in silent else (host, port) for host, port in addresses))


def is_ours(host: str) -> bool:
    """Whether an address is one of this machine. The kernel lets no other machine use one as sender."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
            trial.bind((host, 0))
        return True
    except OSError:
        return False


__all__ = ["ANYWHERE", "Address", "LOOPBACK", "arrives", "check", "instead", "is_multicast", "is_ours", "join", "listener",
           "parse", "sender", "written"]
