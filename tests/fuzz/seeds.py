"""What fuzzing begins with: the published fixtures where they are, and small ones of our own; and a plain mutator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.autonomy.fixtures import HARMLESS, ROOT, message, with_profile

from restante.autonomy.evaluate import evaluate
from restante.stores.oacp.audit_file import render_record
from restante.stores.oacp.rendering import render

from .targets import NOW, POLICY, load

if TYPE_CHECKING:
    import random

_FOLDERS = {
    "wire": ("signing", "intake"),
    "trailer": ("signing",),
    "profile": ("autonomy/messages",),
    "gate": ("autonomy/messages",),
    "record": ("autonomy/records", "autonomy/audits"),
    "policy": ("autonomy/configs", "intake"),
}
_MOST_BYTES = 20_000
# What means something to one of the readers.
_WORDS = (
    *(b"\n", b"\r\n", b": ", b"- ", b"|\n  ", b"'", b'"', b"\\", b"&a ", b"*a ", b"!!int ", b"{", b"}", b"[", b"]"),
    *(b"\t", b"\x00", b"\xff", "\u2028".encode(), b"---\n", b"...\n", b"? ", b"#", b"1:0:0", b".nan", b"9" * 400),
    *(b'auth: "', b"task_profile:\n  ", b"```oacp-guardrails\n", b"true", b"estimated_minutes: 1\n", b"final_state: "),
    *(b"rm -rf ", b"push to main", b"not ", b"%YAML 1.1\n", b"<<: ", b"~", b"={}", b"=", b"AAAA", b"e30"),
)


def seeds(name: str) -> list[bytes]:
    """Return what a target begins with."""
    found = [_own(name)]
    for folder in _FOLDERS[name]:
        for path in sorted((ROOT / folder).rglob("*.yaml")):
            raw = path.read_bytes()
            if len(raw) <= _MOST_BYTES:
                found.append(raw)
    return found


def _own(name: str) -> bytes:
    if name in ("profile", "gate"):
        return with_profile("Update one paragraph, do not deploy.", HARMLESS).encode()
    if name == "record":
        decision = evaluate(message(), "0" * 64, POLICY, [], now=NOW, receiver="codex", load=load).decision
        return render_record(decision)
    if name == "policy":
        return b"autonomy:\n  default_mode: auto_review\nsigning:\n  verify_mode: warn\n"
    raw = render(message())
    return raw if name == "wire" else raw + b'auth: "e30"\n'


def mutated(raw: bytes, other: bytes, dice: random.Random) -> bytes:
    """Return bytes with a few changes: some flipped, cut, doubled, replaced by words, or by a part of other bytes."""
    data = bytearray(raw)
    for _ in range(dice.randrange(1, 6)):
        at = dice.randrange(len(data) + 1)
        end = min(len(data), at + dice.choice((1, 1, 2, 8, 64, 500)))
        kind = dice.randrange(6)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << dice.randrange(8)
        elif kind == 1:
            del data[at:end]
        elif kind == 2:
            data[at:at] = data[at:end]
        elif kind == 3:
            data[at:end] = dice.choice(_WORDS)
        elif kind == 4:
            data[at:at] = dice.choice(_WORDS)
        else:
            start = dice.randrange(len(other) + 1)
            data[at:end] = other[start : start + dice.choice((4, 40, 400))]
    return bytes(data)
