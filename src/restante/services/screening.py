"""Screening before a text leaves: what is in it that its sender should think about.

Size is not screened: ``domain.limits`` refuses what is too large, and nothing overrides that.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache
from typing import TYPE_CHECKING

from restante.domain.finding import Finding
from restante.domain.screening.actions import ACTIONS
from restante.domain.screening.rule import Table
from restante.domain.screening.secrets import SECRETS
from restante.domain.screening.text import excerpt, fold, line_starts, merged, with_copies

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from restante.domain.screening.rule import Rule
    from restante.ports import Scanner

    Range = tuple[int, int]

MOST_FINDINGS = 100

# Of a long secret its end may be shown, so that its owner can tell which it is.
_SHOWN_END = 2
_LONG_SECRET = 16


class RuleScanner:
    """Our own rules: token families, secrets in their usual places, destructive and production commands.

    Args:
        rules: What to look for instead, the specific before the general.
    """

    def __init__(self, rules: Sequence[Rule] | None = None) -> None:
        self._table = _own() if rules is None else Table(rules)

    def scan(self, text: str) -> list[Finding]:
        """Return the findings in order of appearance, each rule at most once a line."""
        folded = fold(text)
        found: list[Finding] = []
        known: set[int] = set()
        beside: list[Range] = []
        for rule in self._table.candidates(folded):
            for match in rule.matches(folded):
                start, end = folded.origin(*match.span())
                hidden: tuple[Range, ...] = ()
                if rule.is_secret:
                    hidden = (_hidden(folded.origin(match.end(1), match.end())[0], end),)
                    if not known.isdisjoint(range(start, end)):
                        # A more specific rule has found it, and its prefix may be shown; what stands beside it may not.
                        beside += _gaps(*hidden[0], known)
                        continue
                    known.update(range(start, end))
                found.append(Finding(rule.code, rule.title, 0, "", start, hidden))
        if beside:
            found[0] = found[0]._replace(hidden=(*found[0].hidden, *beside))
        return _told(text, found) if found else []


@cache
def _own() -> Table:
    """Return the table of our own rules; made by the first who screens."""
    return Table((*SECRETS, *ACTIONS))


def screen(text: str, scanners: Sequence[Scanner]) -> list[Finding]:
    """Return what all scanners find, in order of appearance, at most ``MOST_FINDINGS``.

    A secret that several find is told once, as the first of them calls it; what one of them found is hidden in the
    excerpts of all.
    """
    answers = [scanner.scan(text) for scanner in scanners]
    return answers[0] if len(answers) == 1 else _told(text, [one for answer in answers for one in answer])


def _hidden(start: int, end: int) -> Range:
    return start, end - _SHOWN_END if end - start >= _LONG_SECRET else end


def _gaps(start: int, end: int, known: set[int]) -> Iterable[Range]:
    """Yield the parts of a range that are not known."""
    begin = start
    for place in range(start, end + 1):
        if place == end or place in known:
            if begin < place:
                yield begin, place
            begin = place + 1


def _told(text: str, found: Iterable[Finding]) -> list[Finding]:
    """Return findings with line and excerpt, in order, without those that tell the same again."""
    starts = line_starts(text)
    kept: list[Finding] = []
    hidden: list[list[Range]] = []
    first_of: dict[tuple[str, int], int] = {}
    owner: dict[int, int] = {}
    for one in found:
        line = bisect_right(starts, one.at)
        places = [place for start, end in one.hidden for place in range(start, end)]
        again = first_of.get((one.code, line), next((owner[place] for place in places if place in owner), None))
        if again is None:
            again = len(kept)
            first_of[one.code, line] = again
            kept.append(one._replace(line=line))
            hidden.append([])
        hidden[again] += one.hidden
        owner.update(dict.fromkeys(places, again))
    complete = [one._replace(hidden=tuple(merged(own))) for one, own in zip(kept, hidden, strict=True)]
    return _with_excerpts(text, starts, sorted(complete, key=lambda one: one.at))


def _with_excerpts(text: str, starts: list[int], found: list[Finding]) -> list[Finding]:
    hidden = with_copies(text, [own for one in found for own in one.hidden])
    kept, rest = found[:MOST_FINDINGS], found[MOST_FINDINGS:]
    if rest:
        # What is not told must stay hidden all the same.
        kept[-1] = kept[-1]._replace(hidden=kept[-1].hidden + tuple(own for one in rest for own in one.hidden))
    told = []
    for one in kept:
        end = starts[one.line] if one.line < len(starts) else len(text)
        told.append(one._replace(excerpt=excerpt(text, (starts[one.line - 1], end), one.at, hidden)))
    return told
