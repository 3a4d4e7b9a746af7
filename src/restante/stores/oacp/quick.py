"""The short way to read what OACP programs write: a line for each field, without a YAML parser.

It answers only where YAML would say the same beyond doubt, and ``None`` for everything else; a property test holds it
to that. Ten thousand messages are listed in the time that YAML takes for a thousand.
"""

from __future__ import annotations

import re

# YAML takes a key of more than 1,024 characters for none.
_KEY = r"[a-z][a-z_]{0,99}"
# Printable for YAML 1.1 and no line end of it; what else a file may hold is left to YAML.
_ODD = re.compile("[^\n -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
# A plain word: nothing that YAML takes for a sign of its own, no outer space.
_PLAIN = r"[^\n:#{}\[\],&*?|>'\"%@`!\- ](?:[^\n:#{}\[\],&*?|>'\"%@`]*[^\n:#{}\[\],&*?|>'\"%@` ])?"
_QUOTED = r'"(?:[^"\\\n]|\\["\\n])*"'
_LIST = r"\[[A-Za-z0-9][A-Za-z0-9._-]*(?:, [A-Za-z0-9][A-Za-z0-9._-]*)*\]"
# A literal block: its first line is indented by exactly two, and its last one is not blank.
_BLOCK = r"\|-?\n  [^ \n][^\n]*(?:\n(?:  [^\n]*)?)*?"
_FIELD = re.compile(rf"({_KEY}): (?:({_PLAIN})|({_QUOTED})|({_LIST})|({_BLOCK}))\n(?=[a-z]|\Z)")
_ESCAPED = re.compile(r'\\(["\\n])')


def quick_fields(text: str) -> dict[str, object] | None:
    """Return a message's fields as ``reading.read_yaml`` would; ``None`` where YAML has to be asked."""
    if not text.endswith("\n") or _ODD.search(text):
        return None
    fields: dict[str, object] = {}
    place = 0
    match = _FIELD.match
    while place < len(text):
        found = match(text, place)
        if found is None:
            return None
        key, plain, quoted, many, block = found.groups()
        if key in fields:
            return None
        if plain is not None:
            fields[key] = plain
        elif quoted is not None:
            fields[key] = _unquoted(quoted)
        elif many is not None:
            fields[key] = many[1:-1].split(", ")
        else:
            value = _unfolded(block)
            if value is None:
                return None
            fields[key] = value
        place = found.end()
    return fields


def _unquoted(quoted: str) -> str:
    inner = quoted[1:-1]
    return _ESCAPED.sub(lambda one: "\n" if one[1] == "n" else one[1], inner) if "\\" in inner else inner


def _unfolded(block: str) -> str | None:
    head, _, body = block.partition("\n")
    lines = body.split("\n")
    # Blank lines at the end are a matter of chomping, and of how far they are indented.
    if not lines[-1].strip():
        return None
    text = "\n".join([line[2:] for line in lines])
    return text if head == "|-" else text + "\n"
