"""Which numbers archived messages have, kept in one comment line at the head of INBOX.md.

    <!-- restante archived: 1-41,43 -->

A message's number is its place in the mailbox and never changes. Those that stay in INBOX.md have, in the order of
the file, the numbers that are not archived; so the file alone tells them all, and a look at it needs no archive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_OPENING = b"<!-- restante archived: "
_CLOSING = b" -->"
_MOST_DIGITS = 12


class Numbers:
    """A set of numbers, small also when it holds many that follow each other.

    Args:
        ranges: First and last number of each stretch, in order, none touching the next.
    """

    __slots__ = ("ranges",)

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        self.ranges = list(ranges)

    @classmethod
    def of(cls, numbers: Iterable[int]) -> Numbers:
        """Build a set from any numbers."""
        ranges: list[tuple[int, int]] = []
        for number in sorted(set(numbers)):
            if ranges and number == ranges[-1][1] + 1:
                ranges[-1] = (ranges[-1][0], number)
            else:
                ranges.append((number, number))
        return cls(ranges)

    @classmethod
    def parse(cls, text: str, separator: str = ",") -> Numbers | None:
        """Read what ``str`` writes; ``None`` when it is not that."""
        ranges: list[tuple[int, int]] = []
        for word in text.split(separator) if text else ():
            begin, dash, end = word.partition("-")
            first, last = _number(begin), _number(end if dash else begin)
            if not 0 < first <= last or (ranges and first <= ranges[-1][1] + 1):
                return None
            ranges.append((first, last))
        return cls(ranges)

    def __str__(self) -> str:
        return self.text()

    def text(self, separator: str = ",") -> str:
        """Write the set as text."""
        return separator.join(str(first) if first == last else f"{first}-{last}" for first, last in self.ranges)

    def __contains__(self, number: int) -> bool:
        return any(first <= number <= last for first, last in self.ranges)

    def __iter__(self) -> Iterator[int]:
        for first, last in self.ranges:
            yield from range(first, last + 1)

    def next_free(self, after: int) -> int:
        """Return the first number behind ``after`` that is not in the set."""
        number = after + 1
        for first, last in self.ranges:
            if first <= number <= last:
                number = last + 1
        return number

    @property
    def newest(self) -> int:
        """The greatest number; 0 when there is none."""
        return self.ranges[-1][1] if self.ranges else 0


def archived_numbers(head: bytes) -> Numbers:
    """Read the comment in the head of INBOX.md; an empty set where there is none that makes sense."""
    for line in head.splitlines():
        if line.startswith(_OPENING) and line.endswith(_CLOSING):
            text = line[len(_OPENING) : -len(_CLOSING)].decode(errors="replace")
            return Numbers.parse(text) or Numbers()
    return Numbers()


def with_archived(head: bytes, numbers: Numbers) -> bytes:
    """Return the head of INBOX.md with the comment for these numbers."""
    lines = head.splitlines(keepends=True)
    bare = b"".join(line for line in lines if not line.startswith(_OPENING)).rstrip(b"\r\n")
    return b"%b\n\n%b%b%b\n" % (bare, _OPENING, str(numbers).encode(), _CLOSING)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else 0
