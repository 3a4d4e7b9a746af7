"""The ``task_profile`` that a sender writes into a message's body: found, read, brought into one shape.

Format: OACP 0.5.3, a YAML block in the prose. A block outside code fences comes before one inside.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.bounded import bounded_copy
from restante.autonomy.policy import REPOSITORY
from restante.autonomy.vocabulary import ARTIFACTS, BASIC_FLAGS, NUMBERS, PRIORITIES, REASON_CODES, STRICT_CODES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Load = Callable[[str], object]

_HEADER = re.compile(r"([ \t]*)task_profile:(?=\s|$)")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)")
_LARGEST = 10**15
_FLAGS = (*BASIC_FLAGS, *ARTIFACTS, "sends_oacp_reply_only")


class Profile(NamedTuple):
    """A declared profile.

    Attributes:
        values: In the order of audit records; every flag is there, one that was not declared is False.
        is_complete: Whether the two numbers, the tier and the five basic flags were all declared.
        declared: The profile as it was written.
        expected_pauses: The codes that the sender expects to be held for; None where it does not say.
        warnings: What is wrong with ``expected_pauses``, in words; it is only advice.
    """

    values: dict[str, object]
    is_complete: bool
    declared: dict[str, object]
    expected_pauses: tuple[str, ...] | None = None
    warnings: tuple[str, ...] = ()


class Unparsable(NamedTuple):
    """A profile is there and cannot be used; ``why`` says what is wrong with it."""

    why: str


def extract_profile(body: str, load: Load) -> Profile | Unparsable | None:
    """Return the profile of a body, None where there is none.

    Args:
        body: The message's text.
        load: Reads YAML; whatever it raises means that the block cannot be read.
    """
    block = profile_block(body)
    if block is None:
        return None
    try:
        loaded = load(block)
    except Exception as error:  # noqa: BLE001 - a YAML reader raises what it likes; what cannot be read pauses
        return Unparsable(f"no YAML: {type(error).__name__}")
    declared = loaded.get("task_profile") if isinstance(loaded, dict) else None
    return normalize_profile(declared) if isinstance(declared, dict) else Unparsable("task_profile is no mapping")


def profile_block(body: str) -> str | None:
    """Return the lines of the block that counts, without its indentation; None where there is none."""
    lines = [line.removesuffix("\r") for line in body.split("\n")]
    fenced: list[int] = []
    fence = ""
    for number, line in enumerate(lines):
        mark = _FENCE.fullmatch(line)
        if mark and not fence and not ("`" in mark[1] and "`" in mark[2]):
            fence = mark[1]
        elif mark and fence and mark[1].startswith(fence) and not mark[2].strip():
            fence = ""
        elif _HEADER.match(line):
            if not fence:
                return _block(lines, number)
            fenced.append(number)
    return _block(lines, fenced[0]) if fenced else None


def _block(lines: list[str], first: int) -> str:
    header = _HEADER.match(lines[first])
    depth = len(header[1]) if header else 0
    block = [lines[first][depth:]]
    for line in lines[first + 1 :]:
        if line.strip() and len(line) - len(line.lstrip(" \t")) <= depth:
            break
        block.append(line[depth:])
    return "\n".join(block) + "\n"


def normalize_profile(declared: Mapping[object, object]) -> Profile | Unparsable:
    """Return a declared mapping in the shape of audit records; keys that mean nothing here are left out."""
    numbers: dict[str, object] = {key: declared.get(key) for key in NUMBERS}
    for key, value in numbers.items():
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LARGEST:
            return Unparsable(f"{key} is no number from 0")
    tier = declared.get("risk_tier")
    if tier not in PRIORITIES:
        return Unparsable("risk_tier is none of P0 to P3")
    repo = declared.get("target_repo") or ""
    if not isinstance(repo, str) or (repo and re.fullmatch(REPOSITORY, repo) is None):
        return Unparsable("target_repo is not owner/name")
    flags = {key: flag(declared.get(key, False)) for key in _FLAGS}
    reply = flag(declared.get("sends_oacp_reply", False))
    wrong = [key for key, value in {**flags, "sends_oacp_reply": reply}.items() if value is None]
    if wrong:
        return Unparsable(f"{wrong[0]} is neither true nor false")
    try:
        written = bounded_copy(dict(declared))
    except ValueError as error:
        return Unparsable(f"the profile {error}")
    assert isinstance(written, dict)
    grants = written.get("continuation_grants")
    grants = {} if grants is None else grants
    if not isinstance(grants, dict):
        return Unparsable("continuation_grants is no mapping")
    values = {**numbers, "risk_tier": tier, "target_repo": repo, **flags}
    if "sends_oacp_reply" in declared:
        values["sends_oacp_reply"] = reply
    values["continuation_grants"] = grants
    pauses, warnings = _expected_pauses(declared)
    return Profile(values, all(key in declared for key in BASIC_FLAGS), written, pauses, warnings)


def flag(value: object) -> bool | None:
    """Return what a boolean or the text of one says, None for anything else."""
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None


def _expected_pauses(declared: Mapping[object, object]) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    if "expected_pauses" not in declared:
        return None, ()
    pauses = declared["expected_pauses"]
    if not isinstance(pauses, list):
        return None, ("expected_pauses is no list",)
    codes = REASON_CODES | set(STRICT_CODES)
    known = [one for one in pauses if isinstance(one, str) and one in codes]
    warnings = [f"expected_pauses[{place}] is no reason code" for place, one in enumerate(pauses) if one not in known]
    return tuple(dict.fromkeys(known)), tuple(warnings)


def default_envelope(priority: object) -> dict[str, object]:
    """Return the envelope of a message whose type needs no profile: a short look and a reply, nothing else."""
    return {
        "estimated_minutes": 25,
        "expected_files_touched": 2,
        "risk_tier": priority if priority in PRIORITIES else "P2",
        "target_repo": "",
        **dict.fromkeys(BASIC_FLAGS, False),
        **dict.fromkeys(ARTIFACTS, False),
        "sends_oacp_reply_only": True,
        "continuation_grants": {},
    }
