"""One rule of screening.

A rule's pattern is compiled when one of its keywords stands in the text and not before: compiling the whole table
takes longer than everything else a send does. In a pattern of a secret, group 1 is what may be shown of it.
Patterns repeat nothing without a bound where something must follow, so that hostile text costs time in proportion
to its length.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from restante.domain.screening.text import Folded


class Rule:
    """One thing to look for.

    Args:
        code: Stable name; its first part is the kind: secret, destructive, production, credential.
        title: What it is, in words.
        keywords: One of these must stand in the text; in lower case unless ``exact``.
        pattern: What is looked for.
        also: One of these must stand in the text, too.
        check: Decides about a match of the pattern.
        exact: Upper and lower case differ.
    """

    __slots__ = ("_also", "_check", "_compiled", "_exact", "_keywords", "_pattern", "code", "title")

    def __init__(
        self,
        code: str,
        title: str,
        keywords: tuple[str, ...],
        pattern: str,
        *,
        also: tuple[str, ...] = (),
        check: Callable[[re.Match[str]], bool] | None = None,
        exact: bool = False,
    ) -> None:
        self.code = code
        self.title = title
        self._keywords = keywords
        self._pattern = pattern
        self._also = also
        self._check = check
        self._exact = exact
        self._compiled: re.Pattern[str] | None = None

    @property
    def is_secret(self) -> bool:
        """Whether a match must not be shown."""
        return self.code.startswith("secret.")

    @property
    def is_compiled(self) -> bool:
        """Whether the pattern was needed so far."""
        return self._compiled is not None

    @property
    def keywords(self) -> tuple[str, ...]:
        """The words one of which must stand in the text."""
        return self._keywords

    @property
    def is_exact(self) -> bool:
        """Whether upper and lower case differ."""
        return self._exact

    def may_match(self, folded: Folded) -> bool:
        """Tell whether the words are there without which the pattern cannot match."""
        text = folded.text if self._exact else folded.lowered
        return any(word in text for word in self._keywords) and (
            not self._also or any(word in text for word in self._also)
        )

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled by the first who asks for it."""
        if self._compiled is None:
            self._compiled = re.compile(self._pattern, re.ASCII if self._exact else re.ASCII | re.IGNORECASE)
        return self._compiled

    def accepts(self, match: re.Match[str]) -> bool:
        """Decide about a match of the pattern."""
        return self._check is None or self._check(match)

    def matches(self, folded: Folded) -> Iterator[re.Match[str]]:
        """Yield what the rule finds."""
        if self.may_match(folded):
            yield from filter(self.accepts, self.pattern.finditer(folded.text))


class Table:
    """Rules, with a way to those whose keywords stand in a text: nearly all texts hold hardly any.

    Args:
        rules: What to look for, the specific before the general.
    """

    __slots__ = ("_exact", "_lowered", "_rules")

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._exact = _by_rarest([(place, one) for place, one in enumerate(rules) if one.is_exact])
        self._lowered = _by_rarest([(place, one) for place, one in enumerate(rules) if not one.is_exact])

    def candidates(self, folded: Folded) -> list[Rule]:
        """Return the rules that may find something, in the order of the table."""
        places: set[int] = set()
        for text, groups in ((folded.text, self._exact), (folded.lowered, self._lowered)):
            for letter, words in groups:
                if letter in text:
                    for word, owners in words:
                        if word in text:
                            places.update(owners)
        return [self._rules[place] for place in sorted(places)]


# Letters from rare to frequent, as in most texts; what is not among them, such as capitals, is rarer still.
_FREQUENCY = "zqjxkvbwpyfgmhcldurnsoitae "

_Words = list[tuple[str, list[int]]]


def _by_rarest(rules: list[tuple[int, Rule]]) -> list[tuple[str, _Words]]:
    """Return keywords with the places of their rules, gathered under the letter of theirs that is rarest."""
    owners: dict[str, list[int]] = {}
    for place, rule in rules:
        for word in rule.keywords:
            owners.setdefault(word, []).append(place)
    groups: dict[str, _Words] = {}
    for word, places in owners.items():
        groups.setdefault(min(word, key=_FREQUENCY.find), []).append((word, places))
    return list(groups.items())
