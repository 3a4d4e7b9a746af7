"""Base64url without padding, in its one spelling (RFC 4648, section 5; RFC 7515, appendix C).

Two texts that stand for the same bytes would give one signed message two digests, and a replay a second life.
"""

from __future__ import annotations

import re

from restante.domain.errors import Unreadable

_DIGITS = re.compile(r"[A-Za-z0-9_-]+")


class BadAuth(Unreadable):
    """A signature, or what belongs to it, that is not built as the format says."""

    code = "bad_auth"

    def __init__(self, message: str) -> None:
        super().__init__(message, remedy="have it signed again")


def encode(data: bytes) -> str:
    """Return bytes as text."""
    import binascii

    text = binascii.b2a_base64(data, newline=False).rstrip(b"=")
    return text.translate(_TO_URL).decode("ascii")


_TO_URL = bytes.maketrans(b"+/", b"-_")
_FROM_URL = bytes.maketrans(b"-_", b"+/")


def is_base64url(text: object) -> bool:
    """Tell whether a value is text of these digits only, one at least."""
    return isinstance(text, str) and _DIGITS.fullmatch(text) is not None


def decode(text: str) -> bytes:
    """Return the bytes that a text stands for, in whatever spelling.

    Raises:
        BadAuth: It stands for none.
    """
    import binascii

    if not is_base64url(text):
        raise BadAuth("invalid base64url value")
    if len(text) % 4 == 1:
        raise BadAuth("invalid base64url length")
    return binascii.a2b_base64(text.encode("ascii").translate(_FROM_URL) + b"=" * (-len(text) % 4))


def decode_exact(text: str, name: str) -> bytes:
    """Return the bytes of a text that is spelled as ``encode`` spells it.

    Args:
        text: The text.
        name: What it is, for the error.

    Raises:
        BadAuth: It stands for no bytes, or has another spelling.
    """
    data = decode(text)
    if encode(data) != text:
        raise BadAuth(
            f"{name} is not the canonical base64url encoding of its bytes — "
            "non-zero unused pad bits give the same bytes a second spelling"
        )
    return data
