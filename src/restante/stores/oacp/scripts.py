"""Pins of scripts in a receiver's policy: which scripts a running task may call, by the digest of what they are.

After OACP 0.5.4, sections 4.5 and 6.1 of the specification. Only the block ``envelope`` is written anew; what else the
file says, comments too, stays as it is, which is proven by reading it back.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import Refused
from restante.stores.oacp.library import yaml
from restante.stores.oacp.reading import read_policy

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# The block from its key to the next one at the margin; what stands at the margin behind it belongs to that.
_BLOCK = re.compile(r"^envelope[ \t]*:.*\n?(?:(?:[ \t]+.*|-.*|)(?:\n|\Z))*?(?=^[^\s#-]|^#|\Z)", re.MULTILINE)


class Pinned(NamedTuple):
    """A policy with a pin.

    Attributes:
        text: The policy, unsigned.
        outcome: ``added`` or ``refreshed``.
        total: How many pins it has.
    """

    text: bytes
    outcome: str
    total: int


def pin_script(text: bytes, script: str, sha256: str, env: Sequence[str]) -> Pinned:
    """Return a policy in which a script is pinned; an earlier pin of the same file is replaced.

    Args:
        text: The policy, without its signature.
        script: The script's path, absolute or from ``~``.
        sha256: Its digest.
        env: Names of variables that a caller may set for it.

    Raises:
        Unreadable: The policy is no YAML.
        Refused: It is no mapping, has pins that are none, or cannot be changed without changing more.
    """
    for name in env:
        if not _NAME.fullmatch(name):
            raise Refused(f"{name!r:.80} is no name of a variable", remedy="letters, digits and _, no digit first")
    config = read_policy(text) if text.strip() else {}
    envelope = {} if config is None or not isinstance(config, dict) else config.get("envelope")
    envelope = {} if envelope is None else envelope
    pins = envelope.get("trusted_scripts") if isinstance(envelope, dict) else None
    pins = [] if pins is None and isinstance(envelope, dict) else pins
    if not isinstance(config, dict | None) or not isinstance(pins, list) or not all(map(_is_pin, pins)):
        raise Refused("the policy or its envelope.trusted_scripts is malformed", remedy="mend it first")
    kept = [one for one in pins if not _is_same(str(one["path"]), script)]
    entry: dict[str, object] = {"path": script, "sha256": sha256, **({"env": list(env)} if env else {})}
    new = {**envelope, "trusted_scripts": [*kept, entry]}
    wanted = {**(config or {}), "envelope": new}
    changed = _with_block(text, yaml.dump({"envelope": new}, Dumper=yaml.CSafeDumper, sort_keys=False))
    if read_policy(changed) != wanted:
        raise Refused(
            "the policy cannot be changed without changing more than its envelope",
            remedy="write envelope: as a block of its own at the margin",
        )
    return Pinned(changed, "added" if len(kept) == len(pins) else "refreshed", len(kept) + 1)


def _is_pin(entry: object) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("path"), str) and isinstance(entry.get("sha256"), str)


def _is_same(one: str, other: str) -> bool:
    return os.path.realpath(os.path.expanduser(one)) == os.path.realpath(os.path.expanduser(other))


def _with_block(text: bytes, block: str) -> bytes:
    old = text.decode()
    found = _BLOCK.search(old)
    if found:
        return (old[: found.start()] + block + old[found.end() :]).encode()
    return (old + ("" if not old or old.endswith("\n") else "\n") + block).encode()
