"""Our own hard stops: every part of a message, as a reader would understand it, not as it is spelled.

They look at subject and context keys as well as the body, at full-width letters, look-alikes and invisible joiners, and
at the commands of ``strict_lexicon``. They only ever add a reason to pause. Off, evaluation is the published one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.demotion import Reader
from restante.autonomy.hard_stops import scan_text
from restante.autonomy.letters import PLAIN
from restante.autonomy.lexicon import DESTRUCTIVE, FIXED_SIDE_EFFECT
from restante.autonomy.strict_lexicon import BY_CATEGORY, HIDDEN, INSTRUCTIONS, RULES, code_of
from restante.autonomy.vocabulary import STRICT_CODES
from restante.domain.screening.text import fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from restante.autonomy.demotion import Declared
    from restante.autonomy.hard_stops import Scan
    from restante.domain.screening.text import Folded

FIELDS = ("subject", "context_keys", "body")
STRICT_ORDER = {code: number for number, code in enumerate(STRICT_CODES)}
# Overrides of the writing direction, and tag characters outside the flags that are spelled with them.
_HIDDEN = "[\u202d\u202e]|(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0020-\U000e007f]"
_OF_REVIEWS = frozenset({DESTRUCTIVE.category, FIXED_SIDE_EFFECT.category})


class StrictHit(NamedTuple):
    """One place that our own hard stops found.

    Attributes:
        label: The rule's name, or the label of the published table.
        code: The reason code.
        title: What it is, in words.
        field: The part of the message it stands in.
        start: Where it begins there, in code points of the original.
        end: Where it ends, exclusive.
    """

    label: str
    code: str
    title: str
    field: str
    start: int
    end: int


def scan_strictly(message: Mapping[str, object], declared: Declared, base: Scan) -> tuple[StrictHit, ...]:
    """Return what stands in a message, each thing once a place.

    Args:
        message: The message's fields.
        declared: What it says of itself; None for its profile and its type's exemption where it is a review's.
        base: What the published table found in the body; it is not told again.
    """
    known = {(hit.label, hit.start) for hit in base.hits if hit.is_hard}
    found: list[StrictHit] = []
    for field in FIELDS:
        text = message.get(field)
        if not isinstance(text, str):
            continue
        hits = {(hit.label, hit.start): hit for hit in _found(field, text, declared)}
        found += [hit for key, hit in hits.items() if field != "body" or key not in known]
    return tuple(sorted(found, key=lambda hit: (FIELDS.index(hit.field), hit.start, hit.end, hit.label)))


def _found(field: str, text: str, declared: Declared) -> Iterator[StrictHit]:
    for match in re.finditer(_HIDDEN, text):
        yield StrictHit("hidden text", HIDDEN, "hides what it says", field, *match.span())
    folded = fold(text.translate(PLAIN))
    yield from _from_table(field, folded, declared)
    for rule in RULES:
        for match in rule.matches(folded):
            yield StrictHit(rule.code, code_of(rule), rule.title, field, *folded.origin(*match.span()))
    yield from _instructions(field, folded, declared)


def _from_table(field: str, folded: Folded, declared: Declared) -> Iterator[StrictHit]:
    is_review = declared.profile is None and not declared.needs_none
    judged = declared._replace(needs_none=True) if is_review else declared
    for hit in scan_text(folded.text, judged).hits:
        if hit.is_hard and (not is_review or hit.category in _OF_REVIEWS):
            place = folded.origin(hit.start, hit.end)
            yield StrictHit(hit.label, BY_CATEGORY[hit.category], hit.category.replace("_", " "), field, *place)


def _instructions(field: str, folded: Folded, declared: Declared) -> Iterator[StrictHit]:
    reader = Reader(folded.text, declared)
    for rule in INSTRUCTIONS:
        if rule.code.startswith("release.") and declared.says("external_side_effects"):
            continue
        for match in rule.matches(folded):
            if not reader.is_set_aside(*match.span(1)):
                yield StrictHit(rule.code, code_of(rule), rule.title, field, *folded.origin(*match.span(1)))


def logged_strict(hits: tuple[StrictHit, ...]) -> list[dict[str, object]]:
    """Return all hits as audit records list them."""
    return [
        {
            "pattern": hit.label,
            "category": hit.code,
            "title": hit.title,
            "field": hit.field,
            "span": {"start": hit.start, "end": hit.end},
        }
        for hit in hits
    ]
