"""Gate 3: a message's words. Each hit is found, judged and logged; the first that stays hard is the reason."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.demotion import HARD, NOTES, Declared, Reader
from restante.autonomy.lexicon import CLASSES, FIXED_SIDE_EFFECT, PROFILELESS, SIDE_EFFECT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from restante.autonomy.lexicon import WordClass


class Hit(NamedTuple):
    """One place where a pattern stands.

    Attributes:
        label: What was found.
        category: The class it belongs to.
        code: The reason code where it stays hard.
        start: Where it begins, in code points.
        end: Where it ends, exclusive.
        basis: What the judgement rests on.
    """

    label: str
    category: str
    code: str
    start: int
    end: int
    basis: str

    @property
    def is_hard(self) -> bool:
        """Whether nothing takes the edge off the hit."""
        return self.basis in HARD


class Scan(NamedTuple):
    """What gate 3 found.

    Attributes:
        hits: In the order of judgement.
        blocker: The first hard one, None where nothing stops.
        notes: What the record logs of those before it: code and label, each once.
    """

    hits: tuple[Hit, ...] = ()
    blocker: Hit | None = None
    notes: tuple[tuple[str, str], ...] = ()

    @property
    def is_risky_without_profile(self) -> bool:
        """Whether a message without a profile plainly asks for more than a look."""
        risky = {SIDE_EFFECT.category, FIXED_SIDE_EFFECT.category, PROFILELESS.category}
        return any(hit.category in risky and hit.basis != "guardrails_fence" for hit in self.hits)


def scan_text(text: str, declared: Declared) -> Scan:
    """Return what stands in a text, judged by what its sender declared.

    Args:
        text: The body, or another part of a message.
        declared: What the message says of itself.
    """
    reader = Reader(text, declared)
    classes = CLASSES if declared.profile is not None or declared.needs_none else (*CLASSES, PROFILELESS)
    hits = tuple(hit for kind in classes for hit in _hits(text, kind, reader))
    blocker = next((hit for hit in hits if hit.is_hard), None)
    before = hits[: hits.index(blocker)] if blocker else hits
    notes = [("guardrails_section_skipped", "oacp-guardrails") for _ in reader.fences]
    # What stands in a guardrails section, what a reply may mention, and the verbs of a type that asks for nothing are
    # logged whatever stops the message.
    is_free = declared.profile is None and declared.needs_none
    notes += [
        (NOTES["profileless_type"], hit.label) for hit in hits if is_free and hit.category == SIDE_EFFECT.category
    ]
    notes += [(NOTES[hit.basis], hit.label) for hit in hits if hit.basis in ("guardrails_fence", "reply_only_advisory")]
    notes += [
        (NOTES[hit.basis], hit.label)
        for hit in before
        if hit.basis in NOTES and not (is_free and hit.category == SIDE_EFFECT.category)
    ]
    return Scan(hits, blocker, tuple(dict.fromkeys(notes)))


def _hits(text: str, kind: WordClass, reader: Reader) -> list[Hit]:
    return [
        Hit(pattern.label, kind.category, kind.code, *match.span(), reader.basis(kind, pattern, *match.span()))
        for pattern in kind.patterns
        for match in re.finditer(pattern.regex, text, re.IGNORECASE)
    ]


def logged(hits: Sequence[Hit]) -> list[dict[str, object]]:
    """Return all hits as audit records list them."""
    ordered = sorted(hits, key=lambda hit: (hit.start, hit.end, hit.category, hit.label))
    return [
        {
            "pattern": hit.label,
            "category": hit.category,
            "span": {"start": hit.start, "end": hit.end},
            "demotion_basis": hit.basis,
        }
        for hit in ordered
    ]
