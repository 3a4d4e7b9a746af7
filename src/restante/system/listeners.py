"""Whose process is at the other end of a connection of this machine, where the system tells: Linux, in /proc/net."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from restante.domain.errors import Unsafe

if TYPE_CHECKING:
    from collections.abc import Iterator

# See proc(5): local address and port in hexadecimal, the state, the user; words of an address in the machine's order.
_FOUR, _SIX = "/proc/net/tcp", "/proc/net/tcp6"
_LISTENS, _CONNECTED = "0A", "01"
_LOCAL, _REMOTE, _STATE, _USER = 1, 2, 3, 7
_MAPPED = b"\0" * 10 + b"\xff\xff"


def check_is_ours(address: str, port: int, url: str) -> None:
    """Refuse to go on with what another user's process listens for; the administrator's is trusted with all here.

    Args:
        address: What was connected to, as a number.
        port: The same.
        url: As it is told.

    Raises:
        Unsafe: Another user listens there.
    """
    for user in _users(address, port):
        if not is_trusted(user):
            raise Unsafe(
                f"what listens at {url} belongs to another user of this machine (uid {user}); nothing was sent to it",
                remedy="start a server of your own: restante serve; or name one that can prove itself, by https",
            )


def is_anothers(client: tuple[str, int], server: tuple[str, int]) -> bool:
    """Tell whether a connection is known to come from another user of this machine.

    Args:
        client: Address, as a number, and port of who connected.
        server: The same of who was connected to.
    """
    ends = (_written_end(*client), _written_end(*server))
    users = {
        int(fields[_USER])
        for path in (_FOUR, _SIX)
        for fields in _lines(path, _CONNECTED)
        if _short(fields[_LOCAL]) == ends[0] and _short(fields[_REMOTE]) == ends[1]
    }
    return bool(users) and not any(map(is_trusted, users))


def is_trusted(user: int) -> bool:
    """Tell whether a user may have our secrets: ourselves, and who can read them anyway."""
    return user in (0, os.getuid(), os.geteuid()) or user == _nobody_known()


def _users(address: str, port: int) -> set[int]:
    """Return who listens: where several do, those that the system prefers. Empty where that cannot be told."""
    import socket

    try:
        packed = socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
    except OSError:
        return set()
    short = packed.removeprefix(_MAPPED) if len(packed) == 16 else packed
    four, six = _FOUR, _SIX
    if len(short) == 4:
        places = [(four, short), (six, _MAPPED + short), (four, bytes(4)), (six, bytes(16))]
    else:
        places = [(six, short), (six, bytes(16))]
    tables = {path: _listening(path) for path in {path for path, _ in places}}
    for path, place in places:
        if found := tables[path].get(f"{_written(place)}:{port:04X}"):
            return found
    return set()


def _listening(path: str) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for fields in _lines(path, _LISTENS):
        found.setdefault(fields[_LOCAL], set()).add(int(fields[_USER]))
    return found


def _lines(path: str, state: str) -> Iterator[list[str]]:
    """Yield the words of each connection that is in a state."""
    with suppress(OSError), open(path, encoding="ascii", errors="replace") as file:
        for line in file:
            fields = line.split(None, _USER + 1)
            if len(fields) > _USER and fields[_STATE] == state and fields[_USER].isdecimal():
                yield fields


def _written_end(address: str, port: int) -> str:
    """Return one end as the system writes it; empty where the address is no number."""
    import socket

    try:
        packed = socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
    except OSError:
        return ""
    return f"{_written(packed.removeprefix(_MAPPED))}:{port:04X}"


def _short(end: str) -> str:
    """Return one end with an address of the older kind as such, where the newer kind holds it."""
    mapped = _written(_MAPPED)
    return end.removeprefix(mapped) if len(end) > len(mapped) + 8 else end


def _written(packed: bytes) -> str:
    words = (packed[start : start + 4] for start in range(0, len(packed), 4))
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)


def _nobody_known() -> int:
    """Return the number that stands for users outside of a container, of whom nothing is known; -1 outside of any."""
    try:
        with open("/proc/self/uid_map", encoding="ascii") as file:
            if file.read().split() == ["0", "0", "4294967295"]:
                return -1
        with open("/proc/sys/kernel/overflowuid", encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return -1
