"""What takes the edge off a word: a guardrails section, a negation, a mere mention, the sender's declaration.

After OACP 0.5.3, gate 3. A declaration counts only where the profile is complete and does not contradict itself.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.lexicon import (
    AMBIGUOUS,
    DESTRUCTIVE,
    FIXED_SENSITIVE,
    FIXED_SIDE_EFFECT,
    INSTALL_DEPENDENCY,
    PROFILELESS,
    PUBLIC_REPO_PATTERN,
    SENSITIVE,
    SIDE_EFFECT,
)
from restante.autonomy.negation import Surroundings
from restante.autonomy.vocabulary import ARTIFACTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.autonomy.lexicon import Pattern, WordClass

HARD = frozenset({"affirmative", "non_demotable"})
# basis -> code of the note that an audit record logs for it
NOTES = {
    "guardrails_fence": "lexical_advisory_guardrails",
    "negated": "lexical_advisory_negated",
    "reference_only": "lexical_advisory_reference_only",
    "profile_false": "lexical_advisory_declared",
    "profile_true": "lexical_advisory_declared",
    "policy_allowed": "lexical_advisory_declared",
    "reply_only_advisory": "lexical_advisory_reply_only",
    "profileless_type": "side_effect_verb_demoted_for_profileless_type",
}
_OPENING = re.compile(r"^[ \t]*```oacp-guardrails[ \t]*\r?\n", re.MULTILINE)
_CLOSING = re.compile(r"^[ \t]*```[ \t]*\r?$", re.MULTILINE)
_MERGE_SETTING = re.compile(r"merge(?:[- ]commit)?\s+(?:method|settings?|strategy|mode)\b", re.IGNORECASE)
_IN_CLAUSE = r"[^.!?;\n]{0,80}?"
_WHAT_AN_INSTALL_BRINGS = re.compile(
    rf"\bwhat\s+(?:a\s+)?(?:pip\s+)?install\b{_IN_CLAUSE}\b(?:pulls|installs|includes|requires)\b{_IN_CLAUSE}"
    rf"\bdependenc(?:y|ies)\b|\b(?:install/build|package\s+installs?)\b{_IN_CLAUSE}\bread\s+as\b{_IN_CLAUSE}"
    r"\bdependenc(?:y|ies)\b",
    re.IGNORECASE,
)
_AROUND_MENTION = 240


class Declared(NamedTuple):
    """What a message declares of itself, as far as it is believed.

    Attributes:
        profile: The declared profile; None where the message has none.
        is_complete: Whether the profile declares everything that a complete one does.
        is_sound: Whether it does not contradict itself; of one that does, only what it denies is believed.
        external: What the policy says about external side effects.
        needs_none: Whether the message's type needs no profile.
    """

    profile: Mapping[str, object] | None = None
    is_complete: bool = False
    is_sound: bool = False
    external: str = "pause"
    needs_none: bool = False

    def says(self, flag: str) -> bool | None:
        """Return what a believed profile says of a flag; None where there is nothing to believe."""
        if self.profile is None or not self.is_complete:
            return None
        said = self.profile.get(flag) is True
        return said if self.is_sound or not said else None

    @property
    def only_replies(self) -> bool:
        """Whether a believed profile says that a reply is all that leaves."""
        others = ("external_side_effects", *ARTIFACTS)
        return self.says("sends_oacp_reply_only") is True and not any(self.says(flag) for flag in others)


class Reader:
    """A text and what its sender declared; tells for each hit what it rests on.

    Args:
        text: The text that was searched.
        declared: What the message says of itself.
    """

    def __init__(self, text: str, declared: Declared) -> None:
        self.fences = guardrails(text)
        self._text = text
        self._declared = declared
        self._around = Surroundings(text)
        self._is_undeclared = declared.profile is None and not declared.needs_none

    def basis(self, kind: WordClass, pattern: Pattern, start: int, end: int) -> str:
        """Return why a hit is hard, or what takes the edge off it."""
        if kind is PROFILELESS:
            return "profileless_risk"
        if kind is DESTRUCTIVE:
            return "non_demotable"
        if kind.is_demotable and self._is_fenced(start, end):
            return "guardrails_fence"
        if self._is_undeclared and kind in (SIDE_EFFECT, FIXED_SIDE_EFFECT):
            return "profileless_risk"
        if kind is SIDE_EFFECT:
            return self._side_effect(pattern, start)
        if kind is FIXED_SIDE_EFFECT:
            return self._fixed_side_effect(pattern, start, end)
        if kind is SENSITIVE:
            return "negated" if self._around.negates(start) else self._sensitive()
        if kind is AMBIGUOUS:
            return "negated" if self._around.negates(start) else "affirmative"
        if kind is FIXED_SENSITIVE:
            governed = pattern is PUBLIC_REPO_PATTERN and self._around.governs_public_repo(start, end)
            return "negated" if governed else "non_demotable"
        return "reply_only_advisory" if self._declared.only_replies else "non_demotable"

    def is_set_aside(self, start: int, end: int) -> bool:
        """Tell whether a place stands in a guardrails section or is negated."""
        return self._is_fenced(start, end) or self._around.negates(start)

    def _side_effect(self, pattern: Pattern, start: int) -> str:
        if self._around.negates(start):
            return "negated"
        if pattern.label == "merge" and _MERGE_SETTING.match(self._text, start):
            return "reference_only"
        declared = self._declared
        if declared.profile is None:
            return "profileless_type"
        external = declared.says("external_side_effects")
        if external is False:
            return "profile_false"
        if external and declared.external == "allow":
            return "policy_allowed"
        return "profile_true" if pattern.label == "merge" and declared.says("merges_pr") else "affirmative"

    def _fixed_side_effect(self, pattern: Pattern, start: int, end: int) -> str:
        if pattern is INSTALL_DEPENDENCY:
            if self._is_mention(start, end):
                return "reference_only"
            if self._around.governs_install(start, end):
                return "negated"
            return "profile_true" if self._declared.says("touches_dependencies") else "non_demotable"
        rotates = pattern.label == "rotate credentials"
        return "profile_true" if rotates and self._declared.says("touches_auth_config_or_secrets") else "non_demotable"

    def _sensitive(self) -> str:
        said = self._declared.says("touches_auth_config_or_secrets")
        return "affirmative" if said is None else "profile_true" if said else "profile_false"

    def _is_mention(self, start: int, end: int) -> bool:
        first = max(0, start - _AROUND_MENTION)
        found = _WHAT_AN_INSTALL_BRINGS.finditer(self._text[first:end])
        return any(first + one.start() <= start and first + one.end() >= end for one in found)

    def _is_fenced(self, start: int, end: int) -> bool:
        at = bisect_right(self.fences, (start, len(self._text) + 1)) - 1
        return at >= 0 and self.fences[at][0] <= start and end <= self.fences[at][1]


def guardrails(text: str) -> list[tuple[int, int]]:
    """Return where the guardrails sections of a text are; one that is never closed is none."""
    sections: list[tuple[int, int]] = []
    opening = _OPENING.search(text)
    while opening is not None:
        closing = _CLOSING.search(text, opening.end())
        if closing is None:
            break
        sections.append((opening.end(), closing.start()))
        opening = _OPENING.search(text, closing.end())
    return sections
