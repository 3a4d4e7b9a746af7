"""What happened since a cursor: how far the book was told, and which things that are not in the book yet.

A cursor names such things by a check of their names, so that they are not told again when they are in the book.
"""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import UsageError
from restante.domain.mailbox import Changes

if TYPE_CHECKING:
    from restante.domain.mailbox import Change
    from restante.domain.message import Message
    from restante.stores.oacp.book import Book, Case, Line
    from restante.stores.oacp.room import Room

_FORM = re.compile(r"o1\.([0-9a-f]{8})\.([0-9a-f]{0,16})\.([0-9]{1,15})((?:\.[0-9a-f]{8})*)")


class Place(NamedTuple):
    """How far a mailbox was told.

    Attributes:
        number: Of the last change in the book.
        named: What else was told.
    """

    number: int
    named: frozenset[str]


def parse_cursor(book: Book, cursor: str) -> Place:
    """Read a cursor.

    Raises:
        UsageError: It is not one of this mailbox's.
    """
    if not cursor:
        return Place(0, frozenset())
    match = _FORM.fullmatch(cursor)
    if match and match[1] == _check(book.address) and int(match[3]) <= book.last:
        # One from before there was a book fits any that begins now.
        is_before_all = not match[2] and int(match[3]) == 0
        if match[2] == book.tag or is_before_all:
            return Place(int(match[3]), frozenset(match[4].split(".")[1:]))
    raise UsageError(f"{cursor!r} is not a cursor of {book.address}", remedy="begin with an empty cursor")


class Teller:
    """Tells what happened.

    Args:
        book: The book.
        news: Lines that it lacks.
        room: Where messages are read.
        cases: The cases of the book, after the news happened.
    """

    def __init__(self, book: Book, news: list[Line], room: Room, cases: dict[str, Case]) -> None:
        self._book = book
        # They have no number yet, and come after all that have one.
        self._news = [{**line, "n": book.last + 1} for line in news]
        self._messages = _Messages(room, cases)

    def tip(self) -> str:
        """Return the cursor behind everything."""
        told = self._book.changes(self._news, self._messages)
        return self._text(self._book.last, {_check(name) for _, name, _ in told})

    def page(self, place: Place, limit: int, book: Book) -> Changes:
        """Return at most ``limit`` changes behind a place, and the cursor behind those.

        Args:
            place: What the cursor said.
            limit: At most so many.
            book: The book, with its shelf where the place lies before that.
        """
        named = set(place.named)
        found: list[Change] = []
        for number, name, one in book.changes(book.lines, self._messages):
            if number <= place.number:
                continue
            if len(found) >= limit:
                return Changes(tuple(found), self._text(number - 1, named))
            if _check(name) not in named:
                found.append(one)
            named.discard(_check(name))
        for _, name, one in self._book.changes(self._news, self._messages):
            if len(found) < limit and _check(name) not in named:
                found.append(one)
                named.add(_check(name))
        return Changes(tuple(found), self._text(self._book.last, named))

    def _text(self, place: int, named: set[str]) -> str:
        return ".".join(("o1", _check(self._book.address), self._book.tag, str(place), *sorted(named)))


class _Messages(dict[str, "Message"]):
    """Messages by id, each read when it is asked for."""

    def __init__(self, room: Room, cases: dict[str, Case]) -> None:
        super().__init__()
        self._room = room
        self._cases = cases

    def __contains__(self, message_id: object) -> bool:
        case = self._cases.get(str(message_id))
        return case is not None and not isinstance(self._room.message(case), str)

    def __getitem__(self, message_id: str) -> Message:
        message = self._room.message(self._cases[message_id])
        if isinstance(message, str):
            raise KeyError(message_id)
        return message


def _check(text: str) -> str:
    return f"{zlib.crc32(text.encode(errors='replace')):08x}"
