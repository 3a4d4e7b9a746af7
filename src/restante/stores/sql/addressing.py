"""Under which name a mailbox lies in a database: roles are called alike by different owners, all others are not."""

from __future__ import annotations


def place_of(address: str, owner: str) -> str:
    """Return the name in the database for an address of an owner.

    Sessions and worktrees are of one owner each, whoever asks. A role (``team/role``, without a scheme) is each
    owner's own; no role's name holds a ``@``.
    """
    return f"{address}@{owner}" if owner and is_role(address) else address


def is_role(place: str) -> bool:
    """Tell whether an address, or the name in the database for one, is a role's."""
    address = place.partition("@")[0]
    return "/" in address and ":" not in address


def address_at(place: str, owner: str) -> str:
    """Return the address that ``place_of`` was given."""
    end = f"@{owner}"
    address = place[: -len(end)] if owner and place.endswith(end) else place
    return address if place_of(address, owner) == place else place
