"""The signature's place in a message: one last physical line, outside of what it signs.

A file is the signed prefix, which ends in a line feed, and then ``auth: "<base64url>"`` and exactly one line feed.
Whether the value holds a good signature is not decided here.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MOST_AUTH = 16_384

_EXACT = re.compile(rb'auth: "([A-Za-z0-9_-]{1,%d})"\n' % MOST_AUTH)
MALFORMED = (
    'auth framing: final line is auth-like but violates exact framing (auth: "<base64url>" + exactly one LF, '
    "bounded size)"
)


class Trailer(NamedTuple):
    """A message's bytes, taken apart.

    Attributes:
        state: ``ok``, ``malformed`` (a last line that looks like a signature and is framed otherwise) or ``absent``.
        prefix: What is signed; the whole file unless the state is ``ok``.
        value: The signature's text; empty unless the state is ``ok``.
    """

    state: str
    prefix: bytes
    value: str = ""


def split_trailer(raw: bytes) -> Trailer:
    """Take a message's bytes apart."""
    start = raw.rfind(b"\n", 0, len(raw) - 1) + 1
    if exact := _EXACT.fullmatch(raw, start):
        return Trailer("ok", raw[:start], exact.group(1).decode("ascii"))
    rest = raw.rstrip(b"\r\n \t")
    last = rest[rest.rfind(b"\n") + 1 :]
    return Trailer("malformed" if last.startswith(b"auth:") else "absent", raw)
