"""Mailbox addresses: ``worktree:<path>``, ``oacp:<project>/<agent>``, ``<team>/<role>``, ``session:<id>``."""

import re
from enum import StrEnum
from typing import NamedTuple

from restante.domain.errors import BadAddress

# ASCII only: a name that can hold look-alike letters or invisible characters can pass for another.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


class Home(StrEnum):
    """Which kind of mailbox an address names."""

    WORKTREE = "worktree"
    OACP = "oacp"
    ROLE = "role"
    SESSION = "session"


class Address(NamedTuple):
    """The name of a mailbox.

    Attributes:
        home: The kind of mailbox.
        name: What stands behind the scheme: a path, ``project/agent``, ``team/role`` or a session id.
    """

    home: Home
    name: str

    def __str__(self) -> str:
        return self.name if self.home is Home.ROLE else f"{self.home}:{self.name}"


def parse_address(text: str) -> Address:
    """Read an address.

    Raises:
        BadAddress: No form matches; the text is named as it was given.
    """
    scheme, colon, rest = text.partition(":")
    if colon and scheme == Home.WORKTREE and rest and "\0" not in rest:
        return Address(Home.WORKTREE, rest)
    if colon and scheme == Home.SESSION and _SESSION.fullmatch(rest):
        return Address(Home.SESSION, rest)
    pair, home = (rest, Home.OACP) if colon and scheme == Home.OACP else (text, Home.ROLE)
    if all(_NAME.fullmatch(part) for part in pair.split("/")) and pair.count("/") == 1:
        return Address(home, pair)
    raise BadAddress(
        f"{text!r} is not a mailbox address",
        remedy="write worktree:PATH, oacp:PROJECT/AGENT, TEAM/ROLE or session:ID; "
        "names are ASCII letters, digits, '.', '_' and '-'",
    )
