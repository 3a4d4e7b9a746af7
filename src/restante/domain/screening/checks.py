"""What a pattern alone cannot tell: whether a value is a secret or a placeholder, what a command's flags say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_FILLERS = ("your", "placeholder", "redacted", "xxxx", "****", "....", "changeme", "change_me", "insert", "dummy")
# Beginnings of a value that stands somewhere else: a variable, a template, a vault's or a file's name.
_REFERENCES = ("$", "%(", "%s", "%{", "{", "[", "<", "!", "vault:", "op://", "ref+", "ssm:", "arn:", "env:", "@")
_PASSWORD_NAMES = ("passw", "passp", "pwd", "pass")
# Where one of these follows the name, the value describes a secret instead of being one.
_DESCRIBING = (
    " count limit budget name type url uri file path dir parser class length len size ttl expires expiry policy field "
    "label id ids input hint prompt text error reset rule regex pattern format index used usage manager service "
    "provider endpoint header prefix hash required valid visible enabled strength ref version mode max min algorithm "
    "source store banner consent domain jar scope "
)
_COMMON = (
    " password passwort passwd secret required optional username mismatch forgotten changed incorrect disabled "
    "undefined anything protected encrypted confirmation credential credentials "
)
_ALGORITHMS = ("sha", "base", "md5", "utf", "bcrypt", "argon", "oauth", "http", "pbkdf", "aes", "rsa", "ed25519")
# Texts, not compiled patterns: most sends never need them.
_WORDS = r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+"
_SHORT_NUMBERED = r"[A-Za-z]{1,8}[0-9]{1,4}|[vV]?[0-9]{1,8}"


def is_placeholder(value: str) -> bool:
    """Tell whether a value stands for one that the reader is to put in."""
    lowered = value.lower()
    return not lowered.strip("x*.#?_-•…") or any(one in lowered for one in _FILLERS)


def is_reference(value: str) -> bool:
    """Tell whether a value names a place where the real one is kept."""
    return value.startswith(_REFERENCES) or (value.startswith("%") and value.endswith("%"))


def is_wordy(value: str) -> bool:
    """Tell whether a value is made of words, as an identifier, a path or a sentence is, and not drawn at random."""
    parts = [part for part in re.split(r"[-_./:@+ \\]+", value) if part]
    return all(_is_word(part) or re.fullmatch(_SHORT_NUMBERED, part) for part in parts)


def _is_word(part: str) -> bool:
    words = [word for word in re.findall(_WORDS, part) if word.isalpha()]
    letters = sum(map(len, words))
    digits = sum(character.isdigit() for character in part)
    if letters + digits != len(part) or not words or digits > 2 or max(map(len, words)) > 20:
        return False
    return len(words) == 1 if letters < 4 else letters / len(words) >= 3


def is_token(match: re.Match[str]) -> bool:
    """Check a token family's match: what follows the family's prefix is not a placeholder."""
    return not is_placeholder(match[0][len(match[1]) :])


def is_credential_header(match: re.Match[str]) -> bool:
    """Check the value of an Authorization header, or of the word Bearer in a sentence."""
    value = match[2]
    if is_placeholder(value) or is_reference(value) or is_wordy(value):
        return False
    return match[1].lower().startswith("authorization") or (len(value) >= 16 and not value.isalpha()) or len(value) > 20


def is_login(match: re.Match[str]) -> bool:
    """Check the password part of ``scheme://user:password@host`` and of ``curl -u user:password``."""
    return not (is_reference(match[2]) or is_placeholder(match[2]))


def is_assigned_secret(match: re.Match[str]) -> bool:
    """Check a value that is given to a name like *token* or *password*."""
    suffix = match["suffix"] or ""
    if suffix[:1].islower() and suffix.lower() != "s":
        return False
    if any(f" {word} " in _DESCRIBING for word in _lower_words(suffix)):
        return False
    bare = match["bare"]
    if bare is not None and match.string[match.end() : match.end() + 1] in ("(", "["):
        return False
    value = next(one for one in (match["double"], match["single"], match["tick"], bare) if one is not None)
    is_password = match["name"].lower().startswith(_PASSWORD_NAMES)
    said = match["shown"].rstrip("\"'` \t")[-2:].lower() == "is"
    if said and not (is_password and re.search("[0-9]", value) and not value.lower().startswith(_ALGORITHMS)):
        return False
    return _is_secret(value.strip().rstrip(".,!?:"), is_password=is_password, is_quoted=bare is None)


def _lower_words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(_WORDS, name)]


def _is_secret(value: str, *, is_password: bool, is_quoted: bool) -> bool:
    if not value or is_placeholder(value) or is_reference(value) or " " in value or "://" in value:
        return False
    if value[0] in "/~." or value[1:3] in (":\\", ":/"):
        return False
    if value.isdigit():
        return len(value) >= (6 if is_password else 16)
    if value.isalpha():
        if not is_password or not is_quoted:
            return len(value) >= 12 and not _is_word(value)
        return len(value) >= 8 and value.isascii() and value.islower() and f" {value} " not in _COMMON
    if is_password:
        return len(value) >= 6 and not _is_password_field(value)
    return len(value) >= 12 and not is_wordy(value)


def _is_password_field(value: str) -> bool:
    parts = re.split(r"[-_./]+", value)
    lettered = [part for part in parts if part.isalpha()]
    return len(parts) > 1 and len(lettered) >= len(parts) - (len(parts) > 2) and is_wordy(value)


def _words(arguments: str) -> list[str]:
    return [word.strip("\"'") for word in arguments.split()]


def _has_flag(words: Sequence[str], short: str, *long: str) -> bool:
    """Tell whether a flag is among the words, alone, in a cluster, or as an abbreviation that GNU programs take."""
    for word in words:
        if word == "--":
            return False
        if word.startswith("--"):
            if len(word) > 4 and any(one.startswith(word) for one in long):
                return True
        elif word.startswith("-") and any(letter in word[1:] for letter in short) and word[1:].isalpha():
            return True
    return False


def is_forced_removal(match: re.Match[str]) -> bool:
    """Check the arguments of ``rm``: recursive and forced, however that is spelled."""
    words = _words(match[1])
    return _has_flag(words, "", "--no-preserve-root") or (
        _has_flag(words, "rR", "--recursive") and _has_flag(words, "f", "--force")
    )


def is_lossy_git(match: re.Match[str]) -> bool:
    """Check the arguments of ``git``: does it throw away commits or work?"""
    command, words = _git_command(match[1])
    if command == "push":
        lossy = _has_flag(words, "f", "--force", "--mirror") or _has_flag(words, "d", "--delete")
        return lossy or any(word.startswith(("+", ":")) and len(word) > 1 for word in words)
    if command == "clean":
        return _has_flag(words, "f", "--force") and not _has_flag(words, "n", "--dry-run")
    if command == "reset":
        return _has_flag(words, "", "--hard")
    if command in ("stash", "reflog"):
        return bool(words) and words[0] in ("clear", "drop", "expire", "delete")
    return command in ("filter-branch", "filter-repo")


def is_push_to_production(match: re.Match[str]) -> bool:
    """Check the arguments of ``git``: is something pushed to a remote or branch that is production?"""
    command, words = _git_command(match[1])
    targets = [word.rpartition(":")[2] for word in words[:4] if not word.startswith("-")]
    return command == "push" and any(target in ("prod", "production", "live") for target in targets)


def _git_command(arguments: str) -> tuple[str, list[str]]:
    words = _words(arguments)
    while words and words[0].startswith("-"):
        del words[: 2 if words[0] in ("-C", "-c", "--git-dir", "--work-tree", "--namespace") else 1]
    return (words[0].rstrip(",.:"), words[1:]) if words else ("", [])


def is_unbounded_delete(match: re.Match[str]) -> bool:
    """Check ``DELETE FROM name``: a statement, and without WHERE."""
    statement = re.split(r";|\n[ \t]*\n", match.string[match.start() : match.start() + 2000], maxsplit=1)
    if re.search(r"\bwhere\b", statement[0], re.IGNORECASE):
        return False
    if match[0].startswith("DELETE"):
        return True
    # In lower case it may be a sentence; then only a statement's end right after the name makes it one.
    return match.string[match.end() : match.end() + 1] in (";", "`", '"', "'", "\n", "")
