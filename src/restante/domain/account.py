"""What an account of multi-user mode may be called, and how long its password is."""

import re
from datetime import datetime
from typing import NamedTuple

from restante.domain.errors import UsageError

LEAST_PASSWORD = 12
MOST_PASSWORD = 1024

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class Owner(NamedTuple):
    """Somebody to whom sessions belong, or may.

    Attributes:
        name: The account; empty for the person whose server it is.
        made: When the account was made; ``None`` where there is none of that name (any more).
        sessions: How many sessions are theirs.
    """

    name: str
    made: datetime | None
    sessions: int


class Dismissed(NamedTuple):
    """What became of the sessions of an account that was removed.

    Attributes:
        ended: How many were ended for good, with their mail.
        left: How many stay, shut out until the account is made again.
    """

    ended: int
    left: int


def check_account(name: str, password: str) -> None:
    """Refuse what is no name or no password of an account. The password is in no error.

    Raises:
        UsageError: One of the two is none.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is no name of an account", remedy="1 to 64 of: a-z 0-9 . _ -, not beginning with . _ -"
        )
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        raise UsageError(f"a password has {LEAST_PASSWORD} to {MOST_PASSWORD} characters", remedy="take another")
