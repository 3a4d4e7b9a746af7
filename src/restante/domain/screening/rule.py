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
    from collections.abc import Callable, Iterator

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
