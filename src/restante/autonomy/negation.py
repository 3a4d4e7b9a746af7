"""Is a word negated where it stands? "Do not deploy" asks for no deployment.

Everything here errs on the side of no: a negation that is not plainly there takes the edge off nothing.
After OACP 0.5.3, gate 3.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from restante.autonomy.lexicon import INSTALL_VERB, PUBLIC_REPO

# A term that is part of a compound or a flag (--no-cache) negates nothing, but it casts doubt on what does.
_WORDS = (
    r"(?:do\s+not|does\s+not|don['’]t|doesn['’]t|no|not|never|out\s+of\s+scope|exclude[sd]?|avoid|refrain\s+from|"
    r"prohibited|forbidden|skip|without)"
)
_TERM = rf"(?<![\w-]){_WORDS}(?![\w-])"
_DOUBTFUL = rf"\b{_WORDS}\b"
_HEADING_TERM = _TERM.replace("|skip|without", "")
_BREAKS = "\n.!?;—–"
_REACH = 160
# How much of a clause is looked at for a negation that must govern; a longer one governs nothing.
_CLAUSE = 400
_HEADING = r"[ \t]{0,3}#{1,6}(?:[ \t]|$)"
_DOCUMENT = r"(?:docs?|documentation|content|changes?|files?)"
_TOUCH = r"(?:touch|edit|update|change|modify|use|touching|editing|updating|changing|modifying|using)"
_GOVERNS_INSTALL = re.compile(rf"({_TERM})(?::[ \t]*|[ \t]+)(?:run[ \t]+package[ \t]+)?\Z", re.IGNORECASE)
_GOVERNS_PUBLIC = re.compile(
    rf"({_TERM})(?::[ \t]*(?:anything[ \t]+(?:on|in)[ \t]+)?|[ \t]+(?:(?:any|all)[ \t]+"
    rf"|publish(?:ing)?[ \t]+(?:(?:the[ \t]+)?{_DOCUMENT}[ \t]+)?to[ \t]+|{_TOUCH}[ \t]+)?)(?:the[ \t]+)?\Z",
    re.IGNORECASE,
)


class Surroundings:
    """A text, and what its clauses and headings say about a place in it.

    Args:
        text: The text that words are looked for in.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts: list[int] = []
        self._under: list[bool] = []

    def negates(self, start: int) -> bool:
        """Tell whether what begins at ``start`` is negated, by its clause or by the heading it stands under."""
        clause = _clause(self.text[max(0, start - _REACH) : start])
        return re.search(_TERM, clause, re.IGNORECASE) is not None or self._is_under_negation(start)

    def governs_install(self, start: int, end: int) -> bool:
        """Tell whether a negation governs exactly this mention of installing a dependency."""
        return self._governs(_GOVERNS_INSTALL, INSTALL_VERB, start, end)

    def governs_public_repo(self, start: int, end: int) -> bool:
        """Tell whether a negation governs exactly this mention of a public repository."""
        return self._governs(_GOVERNS_PUBLIC, PUBLIC_REPO, start, end)

    def _governs(self, form: re.Pattern[str], cue: str, start: int, end: int) -> bool:
        own = self.text[start:end]
        if any(one in own for one in _BREAKS) or re.search(_DOUBTFUL, own, re.IGNORECASE):
            return False
        clause = _clause(self.text[max(0, start - _CLAUSE) : start])
        if len(clause) == _CLAUSE:
            return False
        last = max((earlier.end() for earlier in re.finditer(cue, clause, re.IGNORECASE)), default=0)
        clause = clause[last:]
        terms = re.findall(_DOUBTFUL, clause, re.IGNORECASE)
        return len(terms) == 1 and form.search(clause) is not None

    def _is_under_negation(self, start: int) -> bool:
        if not self._starts:
            self._starts = [0, *(match.end() for match in re.finditer("\n", self.text))]
            self._under = _under_negation(self.text.split("\n"))
        return self._under[bisect_right(self._starts, start) - 1]


def _clause(before: str) -> str:
    """Return what stands between the last break of clauses and the end of a text."""
    return before[max(before.rfind(one) for one in _BREAKS) + 1 :]


def _under_negation(lines: list[str]) -> list[bool]:
    """Return for each line whether the nearest heading above it, with no blank line between, negates."""
    result: list[bool] = []
    under = False
    for line in lines:
        result.append(under)
        text = line.rstrip()
        if not text:
            under = False
        elif text.endswith(":") or re.match(_HEADING, text):
            under = re.search(_HEADING_TERM, text, re.IGNORECASE) is not None
    return result
