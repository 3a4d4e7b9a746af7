"""What installing changes, and what doctor says."""

from typing import NamedTuple


class FileChange(NamedTuple):
    """One file that installing changes.

    Attributes:
        path: Where, as text.
        before: Its bytes now; ``None`` when there is no file.
        after: Its bytes then; ``None`` when it is removed.
        what: What the change is, in a few words.
    """

    path: str
    before: bytes | None
    after: bytes | None
    what: str


class Plan(NamedTuple):
    """Everything that installing or removing would change, and what a person should know first."""

    changes: tuple[FileChange, ...]
    notes: tuple[str, ...] = ()


class Check(NamedTuple):
    """One line of ``doctor``.

    Attributes:
        name: What was looked at.
        ok: Whether it is as it should be; ``None`` when it could not be told.
        detail: What was found.
        remedy: The command that mends it; empty when it is well.
    """

    name: str
    ok: bool | None
    detail: str
    remedy: str = ""
