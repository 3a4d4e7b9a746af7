"""What installing changes, and what doctor says."""

from typing import NamedTuple

from restante.domain.text import visible


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

    @property
    def diff(self) -> str:
        """The changes as a unified diff, with nothing in it that a terminal would act on; empty for none."""
        from difflib import unified_diff

        lines: list[str] = []
        for change in self.changes:
            before = (change.before or b"").decode(errors="backslashreplace").splitlines()
            after = (change.after or b"").decode(errors="backslashreplace").splitlines()
            names = (
                "/dev/null" if change.before is None else change.path,
                "/dev/null" if change.after is None else change.path,
            )
            lines.extend(visible(line) for line in unified_diff(before, after, *names, lineterm=""))
        return "\n".join(lines) + "\n" if lines else ""


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
