"""A message's fields as the YAML that OACP programs write, proven by reading it back before anybody gets it.

Plain words stay plain, what YAML could take for something else is quoted, text of several lines becomes a literal
block; whatever a block would change (an indented first line, tabs, a carriage return, trailing blank lines) is written
in double quotes with escapes, which hold any Unicode text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from restante.domain.errors import Refused
from restante.domain.limits import Limits, check_text
from restante.stores.oacp.reading import NotYaml, read_typed, read_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ORDER = (
    "id",
    "from",
    "to",
    "type",
    "priority",
    "created_at_utc",
    "expires_at",
    "channel",
    "autonomy_hint",
    "related_packet",
    "related_pr",
    "conversation_id",
    "parent_message_id",
    "context_keys",
    "subject",
    "body",
)
# Review telemetry has no place of its own in the format; it stands before the subject, as numbers.
TELEMETRY = ("model", "turns", "input_tokens", "output_tokens", "wall_time_s", "est_cost_usd")

_SPECIAL = frozenset(":#{}[],&*?|>'\"%@`")
_WORDS = frozenset(("true", "false", "yes", "no", "on", "off", "null", "~", "y", "n", "none"))
# What YAML 1.1 reads as a number, a date or a merge although no special character stands in it.
_TYPED = re.compile(r"[-+.0-9][-+.0-9_eExXa-fA-FoO]*|\.(?:inf|nan)|[-+]\.inf|<<|=", re.IGNORECASE)
_ESCAPES = {"\0": "\\0", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\x1b": "\\e", '"': '\\"', "\\": "\\\\"}
_ANY_SIZE = Limits(message_bytes=2**62)
_FREE = frozenset(("related_pr", *TELEMETRY[1:]))


def render(fields: Mapping[str, str | Sequence[str]]) -> bytes:
    """Return the bytes of a message, without a signature. Fields that are empty are left out.

    Raises:
        BadText: A field holds a lone surrogate.
        Refused: The format cannot hold a field as it is.
    """
    lines = []
    for name in (*ORDER[:-2], *TELEMETRY, *ORDER[-2:]):
        value = fields.get(name, "")
        if isinstance(value, str):
            check_text(value, _ANY_SIZE, what=name)
        if value:
            lines.append(_line(name, value) if isinstance(value, str) else _list(name, value))
    raw = "".join(lines).encode()
    _prove(raw, fields)
    return raw


def _prove(raw: bytes, fields: Mapping[str, str | Sequence[str]]) -> None:
    """Read what was rendered as receivers do, both as text and with types."""
    wanted = {
        name: value if isinstance(value, str) else [*value]
        for name, value in fields.items()
        if value and (name in ORDER or name in TELEMETRY)
    }
    try:
        if read_yaml(raw) == wanted:
            typed = read_typed(raw)
            if isinstance(typed, dict) and all(
                name in _FREE or typed.get(name) == value for name, value in wanted.items()
            ):
                return
    except NotYaml as error:
        raise Refused(f"the message cannot be written as YAML: {error.message}") from error
    raise Refused("the message would not arrive as it is: the format cannot hold it")


def _line(name: str, value: str) -> str:
    if name in {"body", "context_keys"} and "\n" in value and (head := _block(value)):
        indented = "".join(f"  {line}\n" for line in value.rstrip("\n").split("\n"))
        return f"{name}: {head}\n{indented}"
    if name in _FREE and re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", value):
        return f"{name}: {value}\n"
    return f"{name}: {_scalar(value)}\n"


def _list(name: str, values: Sequence[str]) -> str:
    return f"{name}: [{', '.join(_scalar(one) for one in values)}]\n"


def _block(value: str) -> str:
    """Return the head of the literal block that holds a text unchanged; empty when none does."""
    text = value.rstrip("\n")
    ends = len(value) - len(text)
    if ends > 1 or not text or text[0] in " \n" or not all(_is_printable(one) for one in text):
        return ""
    # A blank last line would count among the block's trailing line ends.
    if not text.rsplit("\n", 1)[-1].strip():
        return ""
    return "|" if ends else "|-"


def _is_printable(letter: str) -> bool:
    """Whether a literal block may hold a character: YAML 1.1's printable ones that are no line ends of it."""
    return (
        letter == "\n"
        or " " <= letter <= "~"
        or ("\xa0" <= letter <= "\ud7ff" and letter not in "\u2028\u2029")
        or ("\ue000" <= letter <= "\ufffd" and letter != "\ufeff")
        or letter >= "\U00010000"
    )


def _scalar(value: str) -> str:
    plain = (
        value == value.strip()
        and value[:1] not in ("-", "!", "")
        and not _SPECIAL.intersection(value)
        and value.lower() not in _WORDS
        and not _TYPED.fullmatch(value)
        and "\n" not in value
        and all(_is_printable(letter) for letter in value)
    )
    return value if plain else f'"{"".join(_escaped(letter) for letter in value)}"'


def _escaped(letter: str) -> str:
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    if _is_printable(letter):
        return letter
    code = ord(letter)
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
