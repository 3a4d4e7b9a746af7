"""The words that hold a message back, as data: what is looked for, in which order, and what it is called.

After OACP 0.5.3, gate 3. ``hard_stops`` applies the table; what takes the edge off a word is in ``demotion``.
"""

from __future__ import annotations

from typing import NamedTuple


class Pattern(NamedTuple):
    """One thing to look for.

    Attributes:
        label: How records call it.
        regex: What is looked for; upper and lower case are alike unless the pattern says otherwise.
    """

    label: str
    regex: str


class WordClass(NamedTuple):
    """Patterns that are judged alike.

    Attributes:
        category: How records call the class.
        code: The reason code of a hit that nothing takes the edge off; empty where it only matters without a profile.
        is_demotable: Whether a guardrails section, a negation or a declaration can take the edge off.
        patterns: In the order in which they are judged.
    """

    category: str
    code: str
    is_demotable: bool
    patterns: tuple[Pattern, ...]


def _tight(word: str) -> str:
    """Return a pattern for a word that is no part of a path or of a compound."""
    return rf"(?<![\w/-]){word}(?![\w/-])"


def _option(name: str) -> str:
    return rf"(?<![\w-])--{name}(?![\w-])"


_SIDE_EFFECT = "hard_stop_external_side_effect"
_SENSITIVE = "hard_stop_sensitive_scope"
INSTALL_VERB = r"\binstall(?:s|ing)?\b"
PUBLIC_REPO = r"\bpublic\s+repo(?:sitor(?:y|ies)|\b)"
_CLAUSE = r"(?:(?!" + INSTALL_VERB + r")[^\n.!?;—–])*?"
_CONFIG = (
    r"\b(?:project|workspace|runtime|agent)\s+config(?:uration)?\b"
    r"|\bconfig(?:uration)?\s+(?:files?|settings?|templates?|ya?ml)\b|\bconfig\.ya?ml\b"
)

INSTALL_DEPENDENCY = Pattern("install dependency", INSTALL_VERB + _CLAUSE + r"\bdependenc(?:y|ies)\b")
PUBLIC_REPO_PATTERN = Pattern("public repo", PUBLIC_REPO)

DESTRUCTIVE = WordClass(
    "destructive_command",
    "hard_stop_destructive_command",
    False,
    (
        Pattern("rm -rf", r"(?<!\w)rm\s+-rf(?!\w)"),
        Pattern("--force", _option("force")),
        Pattern("--no-verify", _option("no-verify")),
        Pattern("--dangerously-skip-permissions", _option("dangerously-skip-permissions")),
    ),
)
SIDE_EFFECT = WordClass(
    "side_effect",
    _SIDE_EFFECT,
    True,
    tuple(Pattern(word, _tight(word)) for word in ("deploy", "publish", "merge")),
)
FIXED_SIDE_EFFECT = WordClass(
    "non_demotable_side_effect",
    _SIDE_EFFECT,
    False,
    (
        Pattern("push to main", r"\bpush(?:es|ing)?\s+to\s+main\b"),
        Pattern("rotate credentials", r"\brotat(?:es?|ing)\s+credentials?\b"),
        INSTALL_DEPENDENCY,
    ),
)
SENSITIVE = WordClass(
    "sensitive_scope",
    _SENSITIVE,
    True,
    (
        Pattern("auth", _tight("auth")),
        Pattern("secrets", _tight("secrets?")),
        Pattern("credentials", _tight("credentials?")),
        Pattern("config", _CONFIG),
    ),
)
CONTENT = WordClass(
    "content_sensitivity",
    "hard_stop_content_sensitivity",
    False,
    tuple(Pattern(word, _tight(word)) for word in ("pricing", "commercial")),
)
FIXED_SENSITIVE = WordClass(
    "non_demotable_sensitive_scope",
    _SENSITIVE,
    False,
    (PUBLIC_REPO_PATTERN, Pattern("memory SSOT", r"\bmemory\s+(?:ssot|single\s+source)\b")),
)
AMBIGUOUS = WordClass("ambiguous_scope", "file_scope_ambiguous", True, (Pattern("all files", r"\ball\s+files\b"),))
PROFILELESS = WordClass(
    "profileless_risk",
    "",
    False,
    (
        Pattern("pull request", r"(?-i:\bpull\s+requests?\b)"),
        Pattern("pull request", r"(?-i:\bPR\b)"),
        Pattern("github", r"\bgithub\b"),
        Pattern("commit", r"\bcommit(?:s|ted|ting)?\b"),
    ),
)

# The order of judgement: the first hit that stays hard is the reason.
CLASSES = (DESTRUCTIVE, SIDE_EFFECT, FIXED_SIDE_EFFECT, SENSITIVE, CONTENT, FIXED_SENSITIVE, AMBIGUOUS)
