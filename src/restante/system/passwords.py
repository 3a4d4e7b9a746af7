"""Passwords as Argon2id hashes (extra ``serve``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import Refused

if TYPE_CHECKING:
    from argon2 import PasswordHasher

# The hash of a password that nobody knows.
_NOBODY = "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$Zm9yIG5vYm9keSwgd2l0aCBubyBwYXNzd29yZCBhdCBhbGw"


def hash_password(password: str) -> str:
    """Return the hash to keep of a password.

    Raises:
        Refused: The library for it is not installed.
    """
    return _hasher().hash(password)


def is_password(digest: str, password: str) -> bool:
    """Tell whether a password is right. Where there is no account it takes as long, so that nobody learns which are.

    Args:
        digest: The hash that was kept; empty where there is no account.
        password: What was given.
    """
    from argon2.exceptions import Argon2Error, InvalidHashError

    try:
        return bool(_hasher().verify(digest or _NOBODY, password)) and bool(digest)
    except (Argon2Error, InvalidHashError):
        return False


def _hasher() -> PasswordHasher:
    try:
        from argon2 import PasswordHasher
    except ImportError:
        raise Refused("the server's parts are not installed", remedy="pip install 'restante[serve]'") from None
    # The least of what OWASP recommends for Argon2id: 19 MiB, two passes, one lane.
    return PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
